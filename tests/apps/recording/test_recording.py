"""A broadcast is on the disk while it runs: killed, it is lost but for its last seconds, and it can go on."""

import json
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from overruler.apps import cli
from overruler.apps.recording import recorder as recording
from overruler.bases import Base
from overruler.errors import BadInput, CannotMeasure
from overruler.track import Move, Tick, TrackedPosition
from tests.waiting import LONG_S

pq = pytest.importorskip("pyarrow.parquet", reason="tables need pyarrow")
from overruler.apps.analyze.event_log import EventLog, add_news, no_events  # noqa: E402
from overruler.apps.recording.journal import Part, PartWriter, read_part  # noqa: E402
from overruler.apps.recording.recorder import Recorder, finish_recording  # noqa: E402

MOVE_S = 10.0
"""When the piece of these broadcasts moves, after their beginning."""


def ticks(from_s: float, to_s: float, at_mm: float = 100.0) -> Iterable[Tick]:
    """A piece that moves by 50 mm at `MOVE_S`, looked at ten times a second."""
    for tenth in range(round((to_s - from_s) * 10)):
        time_s = from_s + tenth / 10
        is_over = time_s >= from_s + MOVE_S
        x_mm = at_mm + 50.0 * is_over
        spot = TrackedPosition("p01", Base.circle(27.0), x_mm, 200.0, 0.1, "static", seen=True)
        yield Tick(time_s, (spot,), (move(time_s, at_mm),) if tenth == MOVE_S * 10 else ())


def move(end_s: float, at_mm: float) -> Move:
    ends = (at_mm, 200.0), (at_mm + 50.0, 200.0)
    return Move("p01", end_s - 1.0, end_s, *ends, 50.0, 0.2, 50.0, 0.3, ends)


def record(recorder: Recorder, played: Iterable[Tick]) -> None:
    for tick in played:
        recorder.record_tick(tick)


def last_part(folder: Path, until_s: float) -> Part:
    """The last part that is on the disk, once it tells of the time."""
    end_s = time.monotonic() + LONG_S
    while time.monotonic() < end_s:
        parts = sorted((folder / ".recording").glob("part-*.jsonl"))
        part = read_part(parts[-1]) if parts else None
        if part is not None and part.read_to_s >= until_s:
            return part
        time.sleep(0.01)
    raise AssertionError(f"nothing of {until_s} s was written")


def killed(folder: Path, to_s: float = 23.0) -> Path:
    """A folder as a broadcast leaves it that is killed then."""
    running = folder.with_name(f"{folder.name}-running")
    recorder = Recorder(running, game=False)
    record(recorder, ticks(0.0, to_s))
    last_part(running, to_s - recording.NEWS_INTERVAL_S)
    shutil.copytree(running, folder)
    recorder.finish()
    return folder


def moves(folder: Path) -> list[float]:
    """When the moves ended that the results tell of."""
    return [row["end_s"] for row in pq.read_table(folder / "moves.parquet").to_pylist()]


def test_a_killed_broadcast_is_lost_but_for_its_last_seconds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = killed(tmp_path / "cast")
    assert cli.main(["live", "--record", str(folder)]) == 0
    assert moves(folder) == [MOVE_S]
    rows = pq.read_table(folder / "positions.parquet").to_pylist()
    assert 23.0 - recording.NEWS_INTERVAL_S <= rows[-1]["time_s"] < 23.0
    assert f"{folder / 'report.html'}" in capsys.readouterr().out
    assert not (folder / ".recording").exists()
    with pytest.raises(BadInput, match="holds no recording that was cut off: name a SOURCE"):
        finish_recording(folder)
    with pytest.raises(BadInput, match="holds the results of an earlier broadcast"):
        Recorder(folder, game=False)


def test_a_finished_broadcast_leaves_no_journal(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "cast", game=False)
    record(recorder, ticks(0.0, 23.0))
    recorder.finish()
    assert moves(tmp_path / "cast") == [MOVE_S]
    assert not (tmp_path / "cast" / ".recording").exists()


def test_a_killed_broadcast_goes_on_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = killed(tmp_path / "cast")
    cut = last_part(folder, 1.0)
    monkeypatch.setattr(time, "time", lambda: cut.ended_s + 100.0)
    recorder = Recorder(folder, game=False)
    begin_s = recorder.go_on()
    assert begin_s == pytest.approx(cut.read_to_s + 100.0)
    record(recorder, ticks(begin_s, begin_s + 20.0, at_mm=150.0))
    last_part(folder, begin_s + 15.0)
    again = shutil.copytree(folder, tmp_path / "again")  # it is killed once more
    recorder.finish()
    finish_recording(again)
    for results in (folder, again):
        assert moves(results) == pytest.approx([MOVE_S, begin_s + MOVE_S])
        assert {row["piece"] for row in pq.read_table(results / "moves.parquet").to_pylist()} == {
            "p01"
        }
        told = f"from {cut.read_to_s:.0f} s to {begin_s:.0f} s: nothing was recorded"
        assert told in (results / "report.html").read_text(encoding="utf-8")


def test_another_evening_is_another_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = killed(tmp_path / "cast")
    late_s = last_part(folder, 1.0).ended_s + recording.MAX_BREAK_S + 1.0
    monkeypatch.setattr(time, "time", lambda: late_s)
    with pytest.raises(BadInput, match="was cut off: name another folder; `overruler live --rec"):
        Recorder(folder, game=False).go_on()
    finish_recording(folder)
    assert moves(folder) == [MOVE_S]


def test_two_broadcasts_are_not_recorded_into_one_folder(tmp_path: Path) -> None:
    running = Recorder(tmp_path, game=False)
    record(running, ticks(0.0, 12.0))
    last_part(tmp_path, 1.0)
    for begin in (lambda: Recorder(tmp_path, game=False), lambda: finish_recording(tmp_path)):
        with pytest.raises(BadInput, match="a broadcast is recorded into it"):
            begin()
    running.finish()
    assert moves(tmp_path) == [MOVE_S]


def test_a_table_that_was_never_measured_leaves_nothing(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, game=False)
    record(recorder, [Tick(0.0, ()), Tick(30.0, ())])
    with pytest.raises(CannotMeasure, match="never measured"):
        recorder.finish()
    assert not [*tmp_path.iterdir()]


def test_a_log_is_its_news_one_after_the_other() -> None:
    for interval in (1, 7, 103):
        log, data = EventLog(0.0), no_events()
        for number, tick in enumerate(ticks(0.0, 21.0)):
            log.record_tick(tick)
            if number % interval == 0:
                add_news(data, json.loads(json.dumps(log.take_news())))
        add_news(data, log.take_news())
        assert json.loads(json.dumps(log.data())) == json.loads(json.dumps(data))


def test_a_part_is_read_as_far_as_it_is_whole(tmp_path: Path) -> None:
    """A power cut ends a file anywhere, or with zeros."""
    (part,) = (killed(tmp_path / "cast") / ".recording").glob("part-*")
    whole = part.read_bytes()
    times = [0.0, *(json.loads(line)["read_to_s"] for line in whole.splitlines()[1:])]
    for end in (*range(0, len(whole), 97), len(whole)):
        for rest in (b"", b"\0" * 5, b"\0\0\n{}\n"):
            part.write_bytes(whole[:end] + rest)
            told = read_part(part)
            lines = whole[:end].count(b"\n")
            assert (told.read_to_s if told else None) == (times[lines - 1] if lines else None)


def test_a_full_disk_cuts_no_line_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "part-0001.jsonl"
    is_full = [False, True, True, False, False]
    whole = PartWriter._write_waiting

    def write(writer: PartWriter) -> None:
        if is_full.pop(0):
            with path.open("ab") as file:
                file.write(b'{"marks": [{"ti')
            raise OSError(28, "No space left on device")
        whole(writer)

    monkeypatch.setattr(PartWriter, "_write_waiting", write)
    writer = PartWriter(path, 0.0, 0.0, game=True)
    log = EventLog(0.0)
    for tick in ticks(0.0, 0.4):
        log.record_tick(tick)
        writer.add(log.take_news() | {"read_to_s": tick.time_s})
    writer.close()
    part = read_part(path)
    assert part is not None
    assert (part.events, part.game) == (log.data(), True)
    assert part.read_to_s == pytest.approx(0.3)
    assert caplog.text.count("No space left on device: a power cut would lose") == 1
