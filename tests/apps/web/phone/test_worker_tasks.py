"""What a worker answers when a task comes to nothing: whose fault it is decides the status."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from overruler.apps.settings.measure_request import MeasureRequest
from overruler.apps.web.phone import worker_tasks
from overruler.apps.web.phone.worker_tasks import FIXES_FILE, FOUND_FILE, SCENE_FILE
from tests.reports import report

REQUEST = MeasureRequest(photo=Path("photo.jpg"), marker_mm=60.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a measurement whose report is in memory."""
    made = tmp_path / "measurement"
    made.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(worker_tasks._reports, str(made), report())
    return made


def correct(folder: Path, piece: str) -> tuple[str, Any]:
    """Have a piece removed from the table; the kind and the value of the answer."""
    fixes = {"schema": "overruler/fix/1", "fix": [{"do": "remove", "id": piece}]}
    arguments = [REQUEST, json.dumps(fixes)]
    kind, value, _ = worker_tasks._run_task("correct", str(folder), arguments, lambda text: None)
    return kind, value


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_correction_that_cannot_be_made_is_its_senders_fault(folder: Path) -> None:
    kind, value = correct(folder, "p99")
    assert (kind, value["status"]) == ("failed", 422)
    assert "there is no piece 'p99'" in value["message"]
    assert texts(folder) == {}


def test_what_should_not_happen_is_told_with_its_trace(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setitem(worker_tasks.TASKS, "correct", fail)
    kind, value = correct(folder, "p01")
    assert (kind, "ZeroDivisionError" in value["message"]) == ("failed", True)
    assert "in fail\n" in value["trace"]


@pytest.mark.parametrize("room", [0, 1, 2])
def test_a_correction_for_which_there_is_no_room_changes_nothing(
    room: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk takes so many of its three files."""
    assert correct(folder, "p01")[0] == "done"
    before = texts(folder)
    assert before.keys() == {FIXES_FILE, FOUND_FILE, SCENE_FILE}
    written: list[Path] = []
    write = Path.write_bytes

    def fill(path: Path, data: bytes) -> int:
        if len(written) == room:
            raise OSError(28, "No space left on device")
        written.append(path)
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", fill)
    kind, value = correct(folder, "p02")
    assert (kind, value["status"]) == ("failed", 503)
    assert "No space left" in value["message"]
    assert texts(folder) == before


def test_a_measurement_that_is_removed_meanwhile_is_no_fault_of_the_server(folder: Path) -> None:
    os.rmdir(folder)
    kind, value = correct(folder, "p01")
    assert (kind, value["status"]) == ("failed", 404)
    assert "removed" in value["message"]
