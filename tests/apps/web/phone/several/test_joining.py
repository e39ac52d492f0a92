"""A photo more of a table: measured with the others, undone, deleted, and in the bundle."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

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
