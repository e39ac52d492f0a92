"""What is kept, for how long, and that no name from outside becomes a path."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from overruler.apps.settings.measure_request import MeasureRequest
from overruler.apps.web.phone.store import DAY_S, DONE, FAILED, MEASURING, Measurement, Store, is_id
from overruler.errors import BadInput

REQUEST = MeasureRequest(
    Path("photo.jpg"), board=Path("board.toml"), game="legion", player=("red=Anna", "blue=Ben")
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "store")) as store:
        yield store


def added(store: Store, **changes: Any) -> Measurement:
    found = Measurement(
        store.new_id(), time.time(), DONE, "", "legion", "6x3 ft", REQUEST, {"pieces": 3}
    )
    changed: Measurement = replace(found, **changes)
    store.add(changed)
    store.path_of(changed.id, "photo.jpg").write_bytes(b"photo")
    return changed


def test_what_is_added_is_found_again(store: Store, tmp_path: Path) -> None:
    one = added(store)
    assert store.find(one.id) == one
    store.close()
    with closing(Store(tmp_path / "store")) as again:
        assert again.find(one.id) == one


def test_why_a_measurement_failed_names_photos_by_their_numbers(store: Store) -> None:
    why = "photo2.jpg shows another table than the other photos"
    failed = added(store).in_state(FAILED, why, {})
    assert failed.to_json()["step"] == "photo 2 shows another table than the other photos"


def test_the_arguments_that_an_older_server_stored_are_read(store: Store) -> None:
    found = added(store)
    recorded = json.dumps(["photo.jpg", "--marker-mm=42.5", "--bases=27,50", "--game", "legion"])
    store._database.execute(
        "UPDATE measurements SET arguments = ? WHERE id = ?", (recorded, found.id)
    )
    request = MeasureRequest(Path("photo.jpg"), marker_mm=42.5, bases="27,50", game="legion")
    assert store.find(found.id) == replace(found, request=request)


def test_what_a_stopped_server_left_has_failed(store: Store, tmp_path: Path) -> None:
    one = added(store, state=MEASURING)
    store.close()
    with closing(Store(tmp_path / "store")) as again:
        found = again.find(one.id)
    assert found is not None
    assert found.state == FAILED
    assert "again" in found.step


@pytest.mark.parametrize(
    "name",
    [
        "",
        "..",
        "../../etc/passwd",
        "a" * 12 + "/..",
        "x'; DROP TABLE",
        "a" * 13,
        "io" * 6,
        "é" * 12,
    ],
)
def test_nothing_but_an_id_is_looked_for(store: Store, name: str) -> None:
    assert not is_id(name)
    assert store.find(name) is None
    with pytest.raises(ValueError, match="not an id"):
        store.path_of(name)


def test_ids_are_many_and_of_their_form(store: Store) -> None:
    names = {store.new_id() for _ in range(50)}
    assert len(names) == 50
    assert all(map(is_id, names))


def test_the_old_goes_and_the_new_stays(store: Store) -> None:
    old, new = added(store, created_s=time.time() - 3 * DAY_S), added(store)
    assert store.remove_expired(2.0) == 1
    assert store.find(old.id) is None
    assert not store.path_of(old.id).exists()
    assert store.find(new.id) == new
    assert store.path_of(new.id, "photo.jpg").exists()


def test_folders_that_belong_to_nothing_go_after_a_day(store: Store) -> None:
    lost, fresh = store.path_of(store.new_id()), store.path_of(store.new_id())
    os.utime(lost, (time.time() - 2 * DAY_S,) * 2)
    store.remove_expired(30)
    assert not lost.exists()
    assert fresh.exists()


def test_newest_come_first(store: Store) -> None:
    names = [added(store, created_s=float(k)).id for k in (3, 1, 2)]
    assert [found.id for found in store.newest(2)] == [names[0], names[2]]


def test_only_its_owner_may_read_it(store: Store, tmp_path: Path) -> None:
    assert (tmp_path / "store").stat().st_mode & 0o077 == 0
    assert store.path_of(store.new_id()).stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="--store"):
        Store(tmp_path / "file" / "store")
