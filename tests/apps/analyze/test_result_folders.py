"""A folder of results tells of one run over one film: nothing of another is replaced by it, or left in it."""

import shutil
import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np
import pytest

from overruler.apps import cli
from overruler.bases import Base
from overruler.errors import BadInput, MissingExtra
from overruler.track import Tick, TrackedPosition
from overruler.writing import WriteFailed

av = pytest.importorskip("av", reason="films need PyAV")
pq = pytest.importorskip("pyarrow.parquet", reason="tables need pyarrow")
from overruler.apps.analyze import pipeline, tables  # noqa: E402
from overruler.apps.analyze.companions import remove_clips  # noqa: E402
from overruler.apps.analyze.result_folders import (  # noqa: E402
    SOURCE_FILE,
    check_nothing_lost,
    write_source,
)
from overruler.apps.recording.recorder import Recorder  # noqa: E402
from tests.apps.analyze import film as table  # noqa: E402

OF_ONE_RUN = ("rulings.parquet", "rulings.csv", "allowances.parquet", "allowances.csv", "clips")
"""What a run writes only where it is asked for."""


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return table.written(tmp_path_factory.mktemp("film") / "game.mkv", until_s=5.0)


def analyzed(video: Path, board: Path, out: Path, *more: str) -> int:
    words = ["analyze", str(video), "--board", str(board), "--bases", "27,50", "--out", str(out)]
    return cli.main([*words, *more])


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def test_a_folder_tells_of_its_last_run_in_the_unit_asked_for(
    video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = video.with_suffix(".toml")
    first = ["--game", "inches", "--units", "mm", "--allowance", "p01=100mm", "--clips", "gif"]
    assert analyzed(video, board, tmp_path, *first, "--allowance", "p02=100mm") == 0
    folder = tmp_path / "game"
    before = names(folder)
    assert set(OF_ONE_RUN) <= before
    if "timeline.otio" in before:
        assert str(video) in (folder / "timeline.otio").read_text(encoding="utf-8")
    move, excess = capsys.readouterr().out.splitlines()[1:3]
    (row,) = pq.read_table(folder / "moves.parquet").to_pylist()
    length = f"{row['path_mm']:.1f} ± {1.96 * row['path_sigma_mm']:.1f} mm"
    begin = f"  {row['start_s']:8.1f} s  {row['piece']}  "
    assert move == f"{begin}{length} along its way ({row['path_mm'] / 25.4:.2f} in)"
    said = f"{begin}moved farther than it may: {length}, 100 mm allowed, with probability 1.00"
    assert excess == said
    (folder / "mine.txt").touch()
    assert analyzed(video, board, tmp_path, "--units", "in") == 0
    assert names(folder) == before - set(OF_ONE_RUN) | {"mine.txt"}
    move = capsys.readouterr().out.splitlines()[1]
    length = f"{row['path_mm'] / 25.4:.2f} ± {1.96 * row['path_sigma_mm'] / 25.4:.2f} in"
    assert move == f"{begin}{length} along its way ({row['path_mm']:.1f} mm)"


@pytest.mark.parametrize("left", [0, 1000])
def test_a_segment_that_a_power_cut_left_in_part_is_analyzed_again(
    video: Path, tmp_path: Path, left: int
) -> None:
    board = video.with_suffix(".toml")
    assert analyzed(video, board, tmp_path) == 0
    told = (tmp_path / "game" / "moves.csv").read_bytes()
    (part,) = (tmp_path / "game" / ".segments").iterdir()
    whole = part.read_bytes()
    part.write_bytes(whole[:left])
    (tmp_path / "game" / "moves.csv").unlink()
    assert analyzed(video, board, tmp_path) == 0
    assert (tmp_path / "game" / "moves.csv").read_bytes() == told
    assert part.read_bytes() == whole


def test_clips_of_an_earlier_run_go_and_nothing_else(tmp_path: Path) -> None:
    clips = tmp_path / "clips"
    clips.mkdir()
    for name in ("001.gif", "002.webm", "1000.gif", "01.gif", "best.gif", "001.gif.txt"):
        (clips / name).touch()
    remove_clips(tmp_path, but=["001.gif"])
    assert names(clips) == {"001.gif", "01.gif", "best.gif", "001.gif.txt"}


def test_results_of_another_film_are_kept(
    video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, board = tmp_path / "games", video.with_suffix(".toml")
    copies = [tmp_path / place / "game.mkv" for place in ("copy", "other")]
    for copy in copies:
        copy.parent.mkdir()
        shutil.copyfile(video, copy)
    copy, other = copies
    with other.open("ab") as file:
        file.write(b"another")
    assert analyzed(video, board, out) == 0
    assert analyzed(copy, board, out) == 0, "a film that was moved is the same film"
    told = (out / "game" / "report.html").read_bytes()
    capsys.readouterr()
    assert analyzed(other, board, out) == 2
    assert capsys.readouterr().err == (
        f"overruler: --out: {out / 'game'}: holds the results of {copy}, "
        f"which those of {other} would replace: name another folder\n"
    )
    assert (out / "game" / "report.html").read_bytes() == told
    assert analyzed(tmp_path / "typo" / "game.mkv", board, out) == 2
    assert "no such file" in capsys.readouterr().err
    with copy.open("ab") as file:
        file.write(b"it goes on")
    assert analyzed(copy, board, out) == 0, "a film that grows is the same film"


def test_a_broadcast_is_recorded_into_a_folder_of_its_own(
    video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "game"
    Recorder(folder, game=False).close()
    Recorder(folder, game=False).close()  # nothing was recorded
    write_source(folder, ())
    with pytest.raises(BadInput, match="holds the results of an earlier broadcast or film"):
        Recorder(folder, game=False)
    assert analyzed(video, video.with_suffix(".toml"), tmp_path) == 2
    assert f"{folder}: holds the results of a broadcast, which" in capsys.readouterr().err
    (folder / ".source.json").rename(folder / "scenes.jsonl")  # as an earlier version left it
    with pytest.raises(BadInput, match="holds the results of an earlier broadcast or film"):
        Recorder(folder, game=False)


def _recorder_of_a_tick(folder: Path) -> Recorder:
    recorder = Recorder(folder, game=False)
    spot = TrackedPosition("p01", Base.circle(27.0), 100.0, 200.0, 0.1, "static", seen=True)
    recorder.record_tick(Tick(1.0, (spot,)))
    return recorder


def test_a_broadcast_whose_folder_is_gone_is_written_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can play it again."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / "stick"
    recorder = _recorder_of_a_tick(folder)
    shutil.rmtree(folder)
    folder.touch()
    with pytest.raises(WriteFailed, match=r"the recording is in .* instead") as told:
        recorder.finish()
    (elsewhere,) = tmp_path.glob("overruler-*")
    assert str(elsewhere) in str(told.value)
    assert {"positions.csv", "report.html"} <= names(elsewhere)


def test_where_nothing_can_be_written_a_broadcast_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / "full"
    recorder = _recorder_of_a_tick(folder)

    def full(path: Path, texts: object) -> None:
        raise WriteFailed(path, "No space left on device")

    monkeypatch.setattr(tables, "write_parts_atomically", full)
    with pytest.raises(WriteFailed, match=r"scenes.jsonl: cannot be written: No space"):
        recorder.finish()
    assert [*tmp_path.iterdir()] == [folder]
    Recorder(folder, game=False).close()  # it holds no results


def test_a_missing_library_of_tables_is_told_before_the_work(
    video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match="tables need pyarrow"):
        Recorder(tmp_path / "broadcast", game=False)
    assert not (tmp_path / "broadcast").exists()
    monkeypatch.setattr(pipeline, "analyze_films", pytest.fail)
    assert analyzed(video, video.with_suffix(".toml"), tmp_path) == MissingExtra.exit_code
    assert "tables need pyarrow" in capsys.readouterr().err


def test_a_film_that_lies_among_the_clips_is_kept(
    video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clip = tmp_path / "001" / "clips" / "001.webm"
    clip.parent.mkdir(parents=True)
    shutil.copyfile(video, clip)
    assert analyzed(clip, video.with_suffix(".toml"), tmp_path) == 2
    said = f"--out: {clip}: lies where clips are written, and would be lost: name another folder"
    assert capsys.readouterr().err == f"overruler: {said}\n"
    assert clip.read_bytes() == video.read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.mkv", "a.mkv"], "VIDEO: a.mkv is named twice: name each once"),
        (["a.mkv", "sub/../a.mkv"], "VIDEO: a.mkv and sub/../a.mkv are one file: name each once"),
        (["a.mkv", "b.mkv", "--fix", "f.toml"], "--fix corrects one film: analyze that film alone"),
    ],
)
def test_what_goes_with_no_several_films_is_refused_at_once(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["analyze", *words, "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"overruler: {said}\n"


def test_a_photo_that_cannot_be_measured_is_named(
    video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photos = tmp_path / "turns"
    photos.mkdir()
    cv2.imwrite(str(photos / "turn1.png"), np.full((300, 400, 3), 128, np.uint8))
    assert analyzed(photos, video.with_suffix(".toml"), tmp_path / "out") == 3
    err = capsys.readouterr().err
    assert err.startswith(
        f"overruler: none of the photos can be measured: {photos / 'turn1.png'}: "
    )
    assert not (tmp_path / "out").exists()


def test_a_note_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    film = tmp_path / "game.mkv"
    film.touch()
    for text in ("", "{}", '{"films": [3]}'):
        (tmp_path / SOURCE_FILE).write_text(text, encoding="utf-8")
        check_nothing_lost(tmp_path, [film])
