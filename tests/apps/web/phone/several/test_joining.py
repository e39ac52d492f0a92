"""A photo more of a table: measured with the others, undone, deleted, and in the bundle."""

import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from overruler.apps.web.phone.measurements import MeasurementService
from overruler.apps.web.phone.several import joining
from overruler.apps.web.phone.worker_tasks import EARLIER_FILE, FOUND_FILE, screen_photo_file
from tests.apps.web.desk import client, ended, jpeg, measured, scene

QUESTION = json.dumps({"question": "range", "from": "p01", "to": "p02"})


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[TestClient]:
    with client(monkeypatch, tmp_path / "store") as found:
        yield found


def at(name: str, what: str = "") -> str:
    return f"/api/measurements/{name}{what}"


def added(api: TestClient, name: str, photo: bytes | None = None) -> dict[str, Any]:
    answer = api.post(at(name, "/photos"), content=photo or jpeg())
    assert answer.status_code == 202, answer.text
    return dict(ended(api, answer.json()["id"]))


def listed(api: TestClient) -> list[str]:
    return [one["id"] for one in api.get("/api/measurements").json()]


def test_all_photos_are_measured_together_and_take_the_place_of_one(api: TestClient) -> None:
    first = measured(api)
    both = added(api, first)
    assert (both["state"], both["photos"], both["before"]) == ("done", 2, first)
    request = api.app.state.service.workers.done[-1][1][0]  # type: ignore[attr-defined]
    assert (request.photo, request.more) == (Path("photo.jpg"), (Path("photo2.jpg"),))
    assert listed(api) == [both["id"]]
    assert api.get(at(first)).json()["after"] == both["id"]
    for number, status in (("1", 200), ("2", 200), ("3", 404), ("../1", 422)):
        answer = api.get(at(both["id"], "/photo"), params={"size": "full", "number": number})
        assert answer.status_code == status
    packed = api.get(at(both["id"], "/bundle"), params={"question": QUESTION}).content
    assert {"photo.jpg", "photo2.jpg"} <= set(zipfile.ZipFile(io.BytesIO(packed)).namelist())


@pytest.mark.parametrize(
    ("photo", "statuses"), [("0", (200, 200)), ("1", (404, 200)), ("7", (404, 404))]
)
def test_a_photo_that_is_not_there_is_not_drawn_upon(
    api: TestClient, photo: str, statuses: tuple[int, int]
) -> None:
    first = measured(api)
    for name, status in zip((first, added(api, first)["id"]), statuses, strict=True):
        for answer in (
            api.get(at(name, "/table"), params={"photo": photo}),
            api.post(at(name, "/ask"), params={"photo": photo}, content=QUESTION),
            api.get(at(name, "/bands"), params={"photo": photo, "piece": "p01"}),
        ):
            assert answer.status_code == status
            assert status == 200 or "counted from 0" in answer.json()["error"]


def test_the_photo_added_last_is_taken_out_again(api: TestClient) -> None:
    first = measured(api)
    both = added(api, first)
    assert api.delete(at(both["id"], "/photos")).json()["id"] == first
    assert listed(api) == [first]
    assert api.delete(at(first, "/photos")).status_code == 404


def test_a_table_is_deleted_with_every_photo_of_it(api: TestClient) -> None:
    first = measured(api)
    other = measured(api)
    both = added(api, first)
    assert api.delete(at(both["id"])).status_code == 204
    assert listed(api) == [other]
    assert api.get(at(first)).status_code == 404


def in_server(api: TestClient, act: Callable[[MeasurementService], None]) -> None:
    """Do something with the service in the thread of its server."""
    assert api.portal is not None
    api.portal.call(act, api.app.state.service)  # type: ignore[arg-type, attr-defined]


def store_another(
    api: TestClient, name: str, state: str = "done", new: str = "222222222222"
) -> str:
    """Store a measurement like another one, as a server that knew no order did; return its id."""

    def store(service: MeasurementService) -> None:
        shutil.copytree(service.store.path_of(name), service.store.path_of(new))
        service.store.add(replace(service.find(name), id=new, state=state))

    in_server(api, store)
    return new


def branched(api: TestClient) -> tuple[str, list[str]]:
    """A table to which two phones added a photo each, as servers once let them."""
    first = measured(api)
    one = added(api, first)["id"]
    other = store_another(api, one)
    in_server(api, lambda service: service.link_after(service.find(other)))
    return first, [one, other]


@pytest.mark.parametrize("chosen", [0, 1, 2])
def test_no_photo_of_a_table_outlives_it(api: TestClient, tmp_path: Path, chosen: int) -> None:
    other = measured(api)
    first, ends = branched(api)
    assert api.delete(at([first, *ends][chosen])).status_code == 204
    assert [each.name for each in (tmp_path / "store" / "measurements").iterdir()] == [other]
    assert listed(api) == [other]


def test_a_photo_that_failed_or_whose_table_is_long_gone_is_removed_too(
    api: TestClient, tmp_path: Path
) -> None:
    first, ends = branched(api)
    in_server(api, lambda service: service.remove(first))  # its time was up
    failed = store_another(api, added(api, ends[0])["id"], "failed", "333333333333")
    assert api.get(at(failed)).json()["before"] == ends[0]
    assert api.delete(at(ends[1])).status_code == 204
    assert not list((tmp_path / "store" / "measurements").iterdir())


def test_who_takes_out_one_of_two_photos_leaves_the_other(api: TestClient) -> None:
    first, ends = branched(api)
    assert api.delete(at(ends[0], "/photos")).json()["after"] == ends[1]
    assert listed(api) == [ends[1]]
    assert "after" not in api.delete(at(ends[1], "/photos")).json()
    assert listed(api) == [first]


def test_what_another_photo_was_added_to_is_not_built_upon(api: TestClient) -> None:
    first = measured(api)
    both = added(api, first)
    for answer in (
        api.post(at(first, "/photos"), content=jpeg()),
        api.put(at(first, "/fixes"), json={"schema": "overruler/fix/1", "fix": []}),
    ):
        told = answer.json()
        assert (answer.status_code, told["after"]) == (409, both["id"])
        assert "another photo was added to this table" in told["error"]
    three = added(api, both["id"])
    assert api.delete(at(both["id"], "/photos")).status_code == 409
    assert listed(api) == [three["id"]]


def test_while_one_photo_is_sent_another_is_refused(api: TestClient) -> None:
    first = measured(api)
    service = api.app.state.service  # type: ignore[attr-defined]
    service.joins.add(first)  # another phone sends
    refused = api.post(at(first, "/photos"), content=jpeg())
    assert refused.status_code == 409
    assert "another photo of this table is being sent" in refused.json()["error"]
    service.joins.discard(first)
    assert added(api, first)["state"] == "done"
    assert not service.joins


def test_a_photo_that_cannot_be_joined_keeps_nobody_from_adding_another(api: TestClient) -> None:
    first = measured(api)
    service = api.app.state.service  # type: ignore[attr-defined]
    assert api.post(at(first, "/photos"), content=b"<svg>").status_code == 415
    assert not service.joins
    one = added(api, first)["id"]
    store_another(api, one, "failed")
    api.delete(at(one, "/photos"))
    assert added(api, first)["state"] == "done"


def test_a_table_deleted_while_a_photo_is_sent_keeps_nothing_of_it(
    api: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = measured(api)
    service = api.app.state.service  # type: ignore[attr-defined]
    enqueue = type(service).enqueue_measurement

    async def after_removal(self: Any, *args: Any) -> Any:
        joining.remove_table(service, first)
        return await enqueue(self, *args)

    monkeypatch.setattr(type(service), "enqueue_measurement", after_removal)
    assert api.post(at(first, "/photos"), content=jpeg()).status_code == 404
    assert not list((tmp_path / "store" / "measurements").iterdir())
    assert not listed(api)


def test_a_photo_that_shows_nothing_leaves_the_table_as_it_is(api: TestClient) -> None:
    name = measured(api)
    answer = api.post(at(name, "/photos"), content=b"<svg>")
    assert answer.status_code == 415
    assert listed(api) == [name]


def test_corrections_go_with_the_photos(api: TestClient, tmp_path: Path) -> None:
    first = measured(api)
    store = tmp_path / "store" / "measurements"
    (store / first / FOUND_FILE).write_text(json.dumps(scene().to_json()))
    fix = {"do": "name", "id": "p01", "unit": "Guards"}
    fixes = {"schema": "overruler/fix/1", "fix": [fix]}
    (store / first / "fix.json").write_text(json.dumps(fixes))
    both = added(api, first)
    earlier = json.loads((store / both["id"] / EARLIER_FILE).read_text())
    assert earlier["fix"] == [fix]
    assert earlier["found"] == scene().to_json()


def test_a_correction_that_is_being_made_goes_with_a_photo_added_meanwhile(
    api: TestClient, tmp_path: Path
) -> None:
    first = measured(api)
    service, store = api.app.state.service, tmp_path / "store" / "measurements"  # type: ignore[attr-defined]
    lock = service.fix_lock(first)
    assert api.portal is not None
    api.portal.call(lock.acquire)  # somebody corrects
    with ThreadPoolExecutor() as pool:
        adding = pool.submit(added, api, first)
        assert not wait([adding], timeout=1.0).done
        (store / first / FOUND_FILE).write_text(json.dumps(scene().to_json()))
        fix = {"do": "name", "id": "p01", "unit": "Guards"}
        fixes = {"schema": "overruler/fix/1", "fix": [fix]}
        (store / first / "fix.json").write_text(json.dumps(fixes))
        in_server(api, lambda _: lock.release())
        both = adding.result()
    assert json.loads((store / both["id"] / EARLIER_FILE).read_text())["fix"] == [fix]


def test_corners_shown_by_hand_join_no_photo(api: TestClient) -> None:
    points = "0,0=0,600;100,0=900,600;100,100=900,0;0,100=0,0"
    answer = api.post(
        "/api/measurements", params={"game": "legion", "points": points}, content=jpeg()
    )
    name = answer.json()["id"]
    ended(api, name)
    refused = api.post(at(name, "/photos"), content=jpeg())
    assert refused.status_code == 422
    assert "markers" in refused.json()["error"]


def test_the_copies_for_screens_are_told_apart() -> None:
    assert [screen_photo_file(name) for name in ("photo.jpg", "photo2.png")] == [
        "shown.jpg",
        "shown2.jpg",
    ]
