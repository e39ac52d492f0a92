"""Whole films through the command: killed and gone on with, on workers that die, damaged."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from overruler.apps import cli
from overruler.apps.analyze import clips, companions, overlay, pipeline, segment, segment_task
from overruler.apps.analyze import video as drawn
from overruler.apps.analyze.engines import dask_engine
from overruler.referee import Referee
from overruler.writing import WriteFailed

av = pytest.importorskip("av", reason="films need PyAV")
pq = pytest.importorskip("pyarrow.parquet", reason="tables need pyarrow")
from overruler.apps.analyze.merge import FilmResults, merge_segments  # noqa: E402
from overruler.apps.analyze.segment import load_segment  # noqa: E402
from overruler.picture.films.film_encoding import write_mp4  # noqa: E402
from overruler.picture.raster import render_layer  # noqa: E402
from tests.apps.analyze import film as table  # noqa: E402
from tests.tables import SIZE_PX, camera_over  # noqa: E402

TABLES = ("moves.parquet", "positions.parquet", "scenes.jsonl")


def arguments(video: Path, out: Path) -> list[str]:
    board = video.with_suffix(".toml")
    return [
        "analyze",
        str(video),
        "--board",
        str(board),
        "--bases",
        "27,50",
        "--segment-s",
        "5",
        "--out",
        str(out),
    ]


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


def test_the_process_of_a_segment_has_settled_in_on_whatever_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def analysed(*_: object) -> dict[str, object]:
        told.append(f"analysed, OpenCV's threads: {cv2.getNumThreads()}")
        return {}

    cv2.setNumThreads(2)
    monkeypatch.setattr(segment_task, "limit_malloc_arenas", lambda: told.append("shared"))
    monkeypatch.setattr(segment_task, "analyze_segment", analysed)
    segment_task.run_task(
        segment_task.SegmentTask(
            segment.Segment("", "", Referee(None), 0.0, 1.0), tmp_path / "part.json"
        )
    )
    assert told == ["shared", "analysed, OpenCV's threads: 1"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system's library decides")
def test_what_a_segment_leaves_free_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[bytearray] = []

    def scattered(*_: object) -> dict[str, object]:
        pieces = [bytearray(b"x" * 60_000) for _ in range(2000)]
        held.extend(pieces[::50])  # what is kept lies between what is not
        return {}

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    monkeypatch.setattr(segment_task, "analyze_segment", scattered)
    task = segment_task.SegmentTask(
        segment.Segment("", "", Referee(None), 0.0, 1.0), tmp_path / "part.json"
    )
    before = resident()
    segment_task.run_task(task)
    assert resident() - before < 20e6


def test_killed_in_its_middle_it_goes_on_to_the_same_results(
    video: Path, unbroken: Path, tmp_path: Path
) -> None:
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


def test_a_film_that_grows_while_it_is_read_is_told(
    video: Path, unbroken: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state, known = pipeline._file_state, []

    def grown(path: Path) -> tuple[int, int] | None:
        known.append(path)
        size, time_ns = state(path) or (0, 0)
        return size + len(known), time_ns

    monkeypatch.setattr(pipeline, "_file_state", grown)
    assert cli.main(arguments(video, unbroken.parent)) == 0
    assert known == [video, video]
    assert "game: the film changed while it was read" in capsys.readouterr().err


def test_a_full_disk_ends_the_analysis_instead_of_leaving_a_part_out(
    video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fill(work: object, tasks: Sequence[segment_task.SegmentTask]) -> Iterator[Any]:
        yield tasks[0], None
        yield tasks[-1], WriteFailed(tasks[-1].path, "No space left on device")

    monkeypatch.setattr(pipeline, "serial_engine", fill)
    assert cli.main(arguments(video, tmp_path)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("cannot be written: No space left on device")
    assert not list((tmp_path / "game").glob("[!.]*"))


@pytest.mark.parametrize(
    "data", [b"", b"nothing of the kind", None], ids=["empty", "no film", "no index"]
)
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
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("count", [0, 1])
def test_films_of_one_picture_and_of_none(
    count: int, video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = shortened(video, tmp_path / "short.mkv", count)
    status = cli.main(arguments(short, tmp_path))
    if count:
        assert status == 0
        assert len(pq.read_table(tmp_path / "short" / "positions.parquet")) == 2
        assert len(pq.read_table(tmp_path / "short" / "moves.parquet")) == 0
    else:
        assert status == 3
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("overruler: ")
        assert "picture" in line


def shortened(video: Path, path: Path, count: int) -> Path:
    """The first pictures of a film as a film."""
    with av.open(str(video)) as whole, av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10, options={"crf": "16", "threads": "1"})
        stream.width, stream.height, stream.pix_fmt = *SIZE_PX, "yuv420p"
        for picture in [next(whole.decode(video=0)) for _ in range(count)]:
            container.mux(stream.encode(picture))
        container.mux(stream.encode() if count else [])
        if not count:
            container.start_encoding()
    path.with_suffix(".toml").write_bytes(video.with_suffix(".toml").read_bytes())
    return path


# --- the recording, drawn over ---


def test_the_recording_is_drawn_over_and_keeps_its_times(
    video: Path, unbroken: Path, tmp_path: Path
) -> None:
    out = tmp_path / "drawn.mp4"
    assert cli.main([*arguments(video, unbroken.parent), "--video", str(out)]) == 0
    before, after = pictures(video), pictures(out)
    assert list(after) == pytest.approx(list(before), abs=1e-3)
    changed = {time_s: np.abs(after[time_s] - before[time_s]).max(-1) for time_s in (1.5, 6.0)}
    middle = [(a + b) / 2 for a, b in zip(table.STARTS, table.ENDS, strict=True)]
    rim = table.STANDS[0] + 25.0, table.STANDS[1]
    assert strongest(changed[1.5], rim) > 60  # a base's outline
    assert strongest(changed[1.5], middle) < 40  # nothing has moved there yet
    assert strongest(changed[6.0], middle) > 60  # the way that the piece took
    assert strongest(changed[6.0], (40.0, 330.0)) < 40


def merged(unbroken: Path) -> FilmResults:
    parts = sorted((unbroken / ".segments").glob("*.json"))
    return merge_segments("film", [load_segment(path) for path in parts])


@pytest.mark.parametrize("kind", companions.CLIP_KINDS)
def test_a_clip_shows_the_move_and_then_its_ruling(
    video: Path, unbroken: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clips, "MAX_WIDTH_PX", {".gif": 320, ".webm": 640})  # small ones are quick
    film = merged(unbroken)
    assert clips.write_clips(video, film, tmp_path, kind) == (f"001.{kind}",)
    shown = clip_pictures(tmp_path / f"001.{kind}")
    middle = [(a + b) / 2 for a, b in zip(table.STARTS, table.ENDS, strict=True)]
    gap = [(a + b) / 2 for a, b in zip(table.ENDS, table.STANDS, strict=True)]
    change = np.abs(shown[-1] - shown[0]).max(-1)
    scale = shown[0].shape[1] / SIZE_PX[0]
    for place in (middle, gap):  # the way, and the line of the ruling
        u, v = np.rint(camera_over(9.0).project(np.array([*place, 0.0])) * scale).astype(int)
        assert change[v - 2 : v + 3, u - 2 : u + 3].max() > 60
    assert change[: change.shape[0] // 20].max() < 40


def clip_pictures(path: Path) -> list[np.ndarray[tuple[int, ...], np.dtype[np.int16]]]:
    with av.open(str(path)) as container:
        decoded = container.decode(video=0)
        return [picture.to_ndarray(format="bgr24").astype(np.int16) for picture in decoded]


def test_a_folder_of_photos_has_no_clips(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["analyze", str(tmp_path), "--out", str(tmp_path), "--clips", "gif"]) == 2
    assert "clips are made of films" in capsys.readouterr().err


def test_what_is_carried_is_drawn_in_part_as_it_would_be_on_the_whole(unbroken: Path) -> None:
    film = merged(unbroken)
    size, (move, *_) = (SIZE_PX[0] // 2, SIZE_PX[1] // 2), film.moves
    carried, named = overlay.Overlay(film, size).drawings_at((move["start_s"] + move["end_s"]) / 2)
    assert "<text" in named.svg  # drawn last: a way hides no name
    assert "<text" not in carried.svg
    left, top, right, bottom = carried.box_px
    assert 0 <= left < right <= size[0]
    assert 0 <= top < bottom <= size[1]
    assert (right - left) * (bottom - top) < size[0] * size[1] / 4
    head = f'<svg width="{size[0]}" height="{size[1]}" viewBox="0 0 {SIZE_PX[0]} {SIZE_PX[1]}"'
    whole = render_layer(
        re.sub(r'<svg width="\d+" height="\d+" viewBox="[^"]*"', head, carried.svg), size
    ).astype(int)
    part = render_layer(carried.svg, (right - left, bottom - top)).astype(int)
    assert whole[..., 3].max() > 200
    assert np.abs(whole[top:bottom, left:right] - part).max() <= 8
    whole[top:bottom, left:right] = 0
    assert not whole.any()


def test_pictures_that_come_at_no_fixed_rate_keep_their_times(tmp_path: Path) -> None:
    times = [0.0, 0.04, 0.25, 0.25, 1.5, 1.501]
    black = np.zeros((48, 64, 3), np.uint8)
    assert (
        write_mp4(((time_s, black) for time_s in times), (64, 48), 29.97, tmp_path / "film.mp4")
        == 6
    )
    with av.open(str(tmp_path / "film.mp4")) as container:
        found = [picture.time for picture in container.decode(video=0)]
    assert found == pytest.approx(times, abs=1e-4)


def pictures(path: Path) -> dict[float, np.ndarray[tuple[int, ...], np.dtype[np.int16]]]:
    with av.open(str(path)) as container:
        return {
            round(one.time, 3): one.to_ndarray(format="bgr24").astype(np.int16)
            for one in container.decode(video=0)
        }


def strongest(
    changed: np.ndarray[tuple[int, ...], np.dtype[np.int16]], at_mm: Sequence[float]
) -> int:
    """The greatest change within some pixels of a place on the board."""
    u, v = np.rint(camera_over(9.0).project(np.array([*at_mm, 0.0]))).astype(int)
    return int(changed[v - 6 : v + 7, u - 6 : u + 7].max())


def test_a_film_that_cannot_be_drawn_to_its_end_leaves_what_was_there(
    video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "drawn.mp4"
    out.write_bytes(b"what was there")

    def fails(_: object, time_s: float) -> list[overlay.Drawing]:
        if time_s > 0.5:
            raise KeyboardInterrupt
        return []

    monkeypatch.setattr(overlay.Overlay, "drawings_at", fails)
    with pytest.raises(KeyboardInterrupt):
        drawn.write_video(video, FilmResults("game"), out)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"what was there"]


@pytest.mark.parametrize(
    ("films", "out", "wrong"),
    [
        (["a.mkv", "b.mkv"], "o.mp4", "one film"),
        (["."], "o.mp4", "one film"),
        (["a.mkv"], "o.avi", ".mp4"),
    ],
)
def test_drawn_films_that_cannot_be_are_refused_at_once(
    films: list[str], out: str, wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(tmp_path / name) for name in films]
    assert (
        cli.main(["analyze", *given, "--out", str(tmp_path), "--video", str(tmp_path / out)]) == 2
    )
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("overruler: --video: ")
    assert wrong in line
