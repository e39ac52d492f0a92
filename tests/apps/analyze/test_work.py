"""Whole films through the command: killed and gone on with, on workers that die, damaged."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from overruler.apps import cli
from overruler.apps.analyze.engines import dask_engine

pytest.importorskip("av", reason="films need PyAV")
pq = pytest.importorskip("pyarrow.parquet", reason="tables need pyarrow")
from tests.apps.analyze import film as table  # noqa: E402

TABLES = ("moves.parquet", "positions.parquet", "scenes.jsonl")


def arguments(video: Path, out: Path) -> list[str]:
    board = video.with_suffix(".toml")
    return ["analyze", str(video), "--board", str(board), "--bases", "27,50", "--segment-s", "5", "--out", str(out)]


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return table.written(tmp_path_factory.mktemp("film") / "game.mkv")


@pytest.fixture(scope="module")
def unbroken(video: Path) -> Path:
    """The folder of results of a run that nothing disturbed."""
    out = video.parent / "unbroken"
    assert cli.main(arguments(video, out)) == 0
    return out / "game"


def test_the_move_is_found_where_and_when_it_was(unbroken: Path) -> None:
    (move,) = pq.read_table(unbroken / "moves.parquet").to_pylist()
    ends = [(move["from_x_mm"], move["from_y_mm"]), (move["to_x_mm"], move["to_y_mm"])]
    assert np.allclose(ends, [table.STARTS, table.ENDS], atol=0.5)
    assert (move["start_s"], move["end_s"]) == pytest.approx(table.MOVES_S, abs=0.3)
    straight = float(np.hypot(*np.subtract(table.ENDS, table.STARTS)))
    assert move["distance_mm"] == pytest.approx(straight, abs=0.5)
    assert move["path_mm"] == pytest.approx(straight, abs=0.7)


def test_killed_in_its_middle_it_goes_on_to_the_same_results(video: Path, unbroken: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "overruler", *arguments(video, tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        while not (kept := segments(tmp_path / "game")):
            assert running.poll() is None, "it ended before it could be killed"
            time.sleep(0.02)
        running.send_signal(signal.SIGKILL)
    assert not (tmp_path / "game" / "moves.parquet").exists()
    made_ns = kept[0].stat().st_mtime_ns
    assert cli.main(arguments(video, tmp_path)) == 0
    assert kept[0].stat().st_mtime_ns == made_ns
    assert [(tmp_path / "game" / name).read_bytes() for name in TABLES] == [
        (unbroken / name).read_bytes() for name in TABLES
    ]


def segments(folder: Path) -> list[Path]:
    return sorted((folder / ".segments").glob("*.json"))


def deadly(spec: tuple[int, str]) -> int:
    """Squares a number; the first worker that meets 3 is killed."""
    number, folder = spec
    if number == 3:
        try:
            (Path(folder) / "killed").touch(exist_ok=False)
        except FileExistsError:
            return 9
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2


def test_work_of_a_worker_that_is_killed_is_done_by_another(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="the dask engine needs Dask")
    specs: Sequence[tuple[int, str]] = [(number, str(tmp_path)) for number in range(6)]
    found = dict(dask_engine(2, None)(deadly, specs))
    assert found == {spec: spec[0] ** 2 for spec in specs}
    assert (tmp_path / "killed").exists()


def test_a_film_cut_off_in_the_middle_of_a_move_is_told_as_far_as_it_goes(
    video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = video.read_bytes()
    cut = tmp_path / "cut.mkv"
    cut.write_bytes(data[: len(data) * 6 // 10])
    cut.with_suffix(".toml").write_bytes(video.with_suffix(".toml").read_bytes())
    assert cli.main(arguments(cut, tmp_path)) == 0
    assert "cut: the film can be read to" in capsys.readouterr().err
    assert len(pq.read_table(tmp_path / "cut" / "moves.parquet")) == 1


@pytest.mark.parametrize("data", [b"", b"nothing of the kind", None], ids=["empty", "no film", "no index"])
def test_what_cannot_be_read_is_one_clear_line(
    data: bytes | None, video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(video.read_bytes()[200_000:] if data is None else data)
    command = arguments(broken, tmp_path / "out")
    command[3] = str(video.with_suffix(".toml"))
    assert cli.main(command) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"overruler: {broken}: is ")
