"""Full disks, databases that another program holds, killed servers: nothing is lost, nothing sticks."""

import asyncio
import errno
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

from overruler import writing
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.apps.web.faults import StoreUnavailable, TaskFailed
from overruler.apps.web.phone import current_states, disk_room, measurements
from overruler.apps.web.phone.store import (
    DONE,
    PROBE_BYTES,
    QUEUED,
    RESULT_BYTES,
    Measurement,
    Store,
)
from overruler.errors import BadInput
from tests.apps.web.desk import Ready, client, ended, jpeg, measured
from tests.waiting import LONG_S

WISH = {"game": "legion", "marker_mm": "60"}
Write = Callable[..., Any]


class Fault:
    """A disk that fails from its n-th write on, until it is mended."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = 1_000_000
        self.count = 0
        monkeypatch.setattr(os, "replace", self._failing(os.replace, self._full))
        monkeypatch.setattr(Store, "add", self._failing(Store.add, self._locked))

    def leave_room(self, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
        """Leave so many bytes free: a larger file is not written."""
        usage = SimpleNamespace(free=size)
        monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
        replace = os.replace

        def replace_small(source: str, target: Path) -> None:
            if os.path.getsize(source) > size:
                self._full()
            replace(source, target)

        monkeypatch.setattr(os, "replace", replace_small)

    def _failing(self, write: Write, fail: Callable[[], None]) -> Write:
        def attempt(*told: Any) -> Any:
            self.count += 1
            if self.count > self.left:
                fail()
            return write(*told)

        return attempt

    @staticmethod
    def _full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    @staticmethod
    def _locked() -> None:
        raise StoreUnavailable("database is locked")


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits for what a person would wait for."""
    monkeypatch.setattr(current_states, "ADD_PATIENCE_S", 0.05)
    monkeypatch.setattr(current_states, "ADD_INTERVAL_S", 0.01)
    monkeypatch.setattr(current_states, "SAVE_INTERVAL_S", 0.05)
    monkeypatch.setattr(measurements, "HEALTH_INTERVAL_S", -1.0)


@contextmanager
def held(database: Path) -> Iterator[None]:
    """Another program writes to the database for as long as this lasts."""
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def send(found: TestClient) -> Any:
    return found.post("/api/measurements", params=WISH, content=jpeg())


def until_told(found: TestClient, name: str, words: str) -> None:
    """Wait until a photo that is not measured yet says these words."""
    end_s = time.monotonic() + LONG_S
    while words not in (state := found.get(f"/api/measurements/{name}").json()).get("step", ""):
        assert state["state"] in ("queued", "measuring")
        assert time.monotonic() < end_s, f"it says {state}"
        time.sleep(0.02)


def until_stored(store: Path, name: str, state: str) -> None:
    """Wait until a row has a state, as another program reads it."""
    end_s = time.monotonic() + LONG_S
    row = None
    while time.monotonic() < end_s:
        with closing(sqlite3.connect(store / "measurements.sqlite")) as other:
            row = other.execute("SELECT state FROM measurements WHERE id = ?", (name,)).fetchone()
        if row == (state,):
            return
        time.sleep(0.02)
    raise AssertionError(f"{name} never became {state}: {row}")


def in_loop(found: TestClient, work: Callable[[], Any]) -> Any:
    """Do something where the server does its work."""
    assert found.portal is not None
    return found.portal.call(work)


def correct(service: Any, name: str) -> None:
    """End a measurement with other results."""
    measurement = service.find(name)
    service._states.begin(measurement)
    service.update_measurement(measurement.in_state(DONE, "again", {"pieces": 9}))


@pytest.mark.parametrize("writes", range(4))
def test_whichever_write_fails_a_photo_is_kept_or_refused(
    writes: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    fault = Fault(monkeypatch)
    with client(monkeypatch, store) as found:
        fault.count, fault.left = 0, writes
        answer = send(found)
        if answer.status_code == 503:
            assert answer.headers["retry-after"]
            assert str(tmp_path) not in answer.text
            assert not list((store / "measurements").glob("*"))
        else:
            assert answer.status_code == 202
            assert ended(found, answer.json()["id"])["state"] == "done"
        fault.left = 1_000_000
        if answer.status_code == 202:
            until_stored(store, answer.json()["id"], "done")
        name = measured(found)
    with closing(Store(store)) as again:
        assert len(again.newest(10)) == 1 + (answer.status_code == 202)
        assert again.find(name)


def test_a_lock_delays_and_loses_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store = tmp_path / "store"
    with client(monkeypatch, store) as found:
        monkeypatch.setattr(current_states, "ADD_PATIENCE_S", 20.0)
        before = measured(found)
        service = found.app.state.service  # type: ignore[attr-defined]
        with held(store / "measurements.sqlite"):
            in_loop(found, lambda: correct(service, before))
            assert found.get(f"/api/measurements/{before}").json()["pieces"] == 9
            health = found.get("/api/health")
            assert (health.status_code, health.json()["ok"]) == (503, False)
            assert "locked" in health.json()["problems"][0]
        name = measured(found)
        until_stored(store, name, "done")
        assert found.get("/api/health").json() == {"ok": True, "problems": []}
    with closing(Store(store)) as again:
        saved = again.find(before)
    assert saved is not None
    assert saved.found == {"pieces": 9}


def test_a_lock_that_stays_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store = tmp_path / "store"
    with client(monkeypatch, store) as found:
        with held(store / "measurements.sqlite"):
            answer = send(found)
            assert found.get("/api/measurements").json() == []  # reading goes on
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert "locked" in answer.json()["error"]
        assert not list((store / "measurements").glob("*"))
        measured(found)


def test_a_full_disk_is_told_by_health_and_by_every_upload(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with client(monkeypatch, tmp_path / "store") as found:
        fault = Fault(monkeypatch)
        fault.left = 0
        for _ in range(3):
            answer = send(found)
            assert answer.status_code == 503
            assert "No space left" in answer.json()["error"]
        health = found.get("/api/health").json()
        assert not health["ok"]
        assert "No space left" in health["problems"][0]
        fault.left = 1_000_000
        assert found.get("/api/health").json()["ok"]
        measured(found)


@pytest.mark.parametrize("spare", [-RESULT_BYTES - 20_000, -1, 1_000_000])
def test_health_is_well_only_where_the_largest_photo_finds_room(
    spare: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A file of a few kilobytes still fits where a photo does not."""
    photo = jpeg((640, 480))
    with client(monkeypatch, tmp_path / "store", most_bytes=len(photo)) as found:
        room = len(photo) + RESULT_BYTES + spare
        Fault(monkeypatch).leave_room(monkeypatch, room)
        health = found.get("/api/health")
        answer = found.post("/api/measurements", params=WISH, content=photo)
    assert room > PROBE_BYTES
    assert answer.status_code == (202 if room > len(photo) else 503)
    assert health.status_code == (200 if spare >= 0 else 503)
    assert spare >= 0 or "MB are left on the disk" in health.json()["problems"][0]


def test_on_a_full_disk_a_photo_is_deleted_nevertheless(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    with client(monkeypatch, store) as found:
        name = measured(found)
        until_stored(store, name, DONE)
        execute, folder = Store._execute, store / "measurements" / name

        def lack_room(store: Store, statement: str, *values: Any) -> list[Any]:
            if statement.startswith("DELETE") and folder.exists():
                raise StoreUnavailable("database or disk is full")
            return execute(store, statement, *values)

        monkeypatch.setattr(Store, "_execute", lack_room)
        assert found.delete(f"/api/measurements/{name}").status_code == 204
        assert not folder.exists()
        assert found.get("/api/measurements").json() == []


def test_a_photo_whose_results_found_no_room_is_measured_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(disk_room, "ROOM_INTERVAL_S", 0.02)
    tasks, has_room = Ready.run_task, threading.Event()

    async def run_task(self: Ready, *told: Any, **more: Any) -> Any:
        if not has_room.is_set():
            raise TaskFailed("the disk: No space left on device", lacks_room=True)
        return await tasks(self, *told, **more)

    def probe(store: Store) -> None:
        if not has_room.is_set():
            raise StoreUnavailable("No space left on device")

    monkeypatch.setattr(Ready, "run_task", run_task)
    monkeypatch.setattr(Store, "probe_disk", probe)
    with client(monkeypatch, tmp_path / "store") as found:
        name = send(found).json()["id"]
        until_told(found, name, "as soon as there is room")
        has_room.set()
        assert ended(found, name)["state"] == "done"
        has_room.clear()
        monkeypatch.setattr(Store, "probe_disk", lambda store: None)
        again = ended(found, send(found).json()["id"])
    assert (again["state"], again["step"]) == ("failed", "the disk: No space left on device")


def test_a_folder_that_is_removed_is_told_and_the_next_photo_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    with client(monkeypatch, store) as found:
        name = measured(found)
        shutil.rmtree(store / "measurements")
        for path in ("photo", "scene", "table", "bundle"):
            params = {"question": '{"question": "range", "from": "p01", "to": "p02"}'}
            answer = found.get(f"/api/measurements/{name}/{path}", params=params)
            assert answer.status_code == 404, path
            assert len(answer.json()["error"].splitlines()) == 1
        measured(found)


# --- stopped servers ---


def unfinished(store: Path, resumes: int = 0) -> str:
    """The id of a photo that a killed server had taken."""
    with closing(Store(store)) as before:
        name = before.new_id()
        request = MeasureRequest(Path("photo.jpg"), marker_mm=60.0, game="legion")
        before.path_of(name, "photo.jpg").write_bytes(jpeg())
        found = {"resumes": resumes} if resumes else {}
        before.add(Measurement(name, time.time(), QUEUED, "", "legion", "", request, found))
    return name


def test_what_a_killed_server_had_taken_is_measured_by_the_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name = unfinished(tmp_path / "store")
    with client(monkeypatch, tmp_path / "store") as found:
        assert ended(found, name)["state"] == "done"


def test_a_photo_that_stops_every_server_is_not_measured_for_ever(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name = unfinished(tmp_path / "store", current_states.MAX_RESUMES)
    with client(monkeypatch, tmp_path / "store") as found:
        state = found.get(f"/api/measurements/{name}").json()
    assert state["state"] == "failed"
    assert "measure the photo again" in state["step"]


def test_a_second_server_on_one_store_is_refused_and_harms_nothing(tmp_path: Path) -> None:
    name = unfinished(tmp_path / "store")
    with closing(Store(tmp_path / "store")) as first:
        kept = first.find(name)
        with pytest.raises(BadInput, match="another server uses it"):
            Store(tmp_path / "store")
        assert first.find(name) == kept
    Store(tmp_path / "store").close()


def test_a_clock_that_jumps_makes_no_photo_expire(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with client(monkeypatch, tmp_path / "store") as found:
        name = measured(found)
        store = found.app.state.service.store  # type: ignore[attr-defined]
        for jump_s in (9e9, 1e6):
            monkeypatch.setattr(time, "time", lambda now_s=jump_s: now_s)
            assert in_loop(found, lambda: store.remove_expired(30.0)) == 0
            assert measured(found) != name
        assert len(found.get("/api/measurements").json()) == 3


def test_a_clock_that_was_not_set_yet_costs_no_photo(tmp_path: Path) -> None:
    now_s = time.time()
    old_s = now_s - 5 * 86_400
    with closing(Store(tmp_path)) as before:
        request = MeasureRequest(Path("photo.jpg"), marker_mm=60.0)
        names = {}
        for created_s in (0.0, 86_400.0 * 365, old_s, now_s + 9e8):
            names[created_s] = before.new_id()
            before.add(Measurement(names[created_s], created_s, DONE, "", "", "", request))
    with closing(Store(tmp_path)) as store:
        assert store.remove_expired(2.0) == 1
        left = store.newest(9)
    assert {each.id for each in left} == set(names.values()) - {names[old_s]}
    assert all(abs(each.created_s - now_s) < 60 for each in left)


def test_many_uploads_wait_for_one_lock_and_keep_nobody_else_waiting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(current_states, "ADD_PATIENCE_S", 0.3)
    monkeypatch.setattr(current_states, "ADD_INTERVAL_S", 0.05)
    attempts: list[Measurement] = []

    def refuse(store: Store, measurement: Measurement) -> None:
        attempts.append(measurement)
        raise StoreUnavailable("database is locked")

    monkeypatch.setattr(Store, "add", refuse)
    with closing(Store(tmp_path)) as store:
        states = current_states.CurrentStates(store)
        row = Measurement("2" * 12, 0.0, QUEUED, "", "legion", "", MeasureRequest(Path("a.jpg")))

        async def add_many() -> list[Any]:
            adding = [states.add_row(row) for _ in range(30)]
            return await asyncio.gather(*adding, return_exceptions=True)

        told = asyncio.run(add_many())
    assert {type(each) for each in told} == {StoreUnavailable}
    assert len(attempts) <= 8


def test_a_relative_store_is_one_place_wherever_somebody_goes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(Store(Path("store"))) as store:
        monkeypatch.chdir("/")
        name = store.new_id()
        assert store.path_of(name) == tmp_path / "store" / "measurements" / name
        assert store.path_of(name).is_dir()


def test_what_cannot_be_written_says_why_without_the_path() -> None:
    with pytest.raises(writing.WriteFailed) as failure:
        writing.write_atomically("/nowhere/at/all", "x")
    assert failure.value.reason == "No such file or directory"
