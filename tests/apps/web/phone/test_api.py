"""The HTTP API: photos in, scenes, rulings, pictures and bundles out; bad requests are one line, and keep nothing."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from overruler.apps import bundles
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.apps.web.faults import TaskFailed
from overruler.apps.web.phone.endpoints import openapi_document
from overruler.apps.web.phone.request_options import Choices, usual_boards
from overruler.apps.web.phone.store import Store
from overruler.apps.web.phone.worker_tasks import FIXES_FILE
from overruler.lens import Lens, default_sigmas
from overruler.rules import ask
from overruler.scene import Scene
from tests.apps.web.desk import (
    OTHER_BOARD,
    OTHER_BOARD_PX,
    UNREADABLE,
    Ready,
    client,
    ended,
    jpeg,
    measured,
    scene,
)

RANGE = {"question": "range", "from": "p01", "to": "p02"}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[TestClient]:
    with client(monkeypatch, tmp_path / "store") as found:
        yield found


def tasks(api: TestClient) -> list[tuple[str, list[Any]]]:
    """What the workers were given to do."""
    workers: Ready = api.app.state.service.workers  # type: ignore[attr-defined]
    return workers.done


def kept(tmp_path: Path) -> list[Path]:
    return (
        list((tmp_path / "store" / "measurements").glob("*"))
        if (tmp_path / "store" / "measurements").exists()
        else []
    )


# --- photos ---


def test_a_photo_becomes_a_scene(api: TestClient) -> None:
    name = measured(api)
    found = Scene.from_json(api.get(f"/api/measurements/{name}/scene").json())
    assert [piece.id for piece in found.pieces] == [piece.id for piece in scene().pieces]
    assert api.get("/api/measurements").json()[0] == api.get(f"/api/measurements/{name}").json()


def test_the_workers_are_given_the_typed_request(api: TestClient) -> None:
    measured(api, marker_mm="42.5", dictionary="DICT_4X4_50", game="xwing", bases="27,50")
    assert tasks(api)[-1][1] == [
        MeasureRequest(
            Path("photo.jpg"),
            marker_mm=42.5,
            dictionary="DICT_4X4_50",
            game="xwing",
            bases="27,50",
        )
    ]


def test_a_board_is_chosen_by_its_name_and_its_file_laid_beside_the_photo(
    api: TestClient, tmp_path: Path
) -> None:
    table = api.get("/api/about").json()["tables"][0]
    answer = api.post(
        "/api/measurements", params={"game": "legion", "table": table}, content=jpeg()
    )
    name = answer.json()["id"]
    ended(api, name)
    assert (
        f'name = "{table}"'
        in (tmp_path / "store" / "measurements" / name / "board.toml").read_text()
    )


BAD: dict[str, dict[str, str]] = {
    "nothing known of the table": {"game": "legion"},
    "two things known": {"marker_mm": "60", "table": "6x3 ft"},
    "a board nobody has": {"table": "../../etc/passwd"},
    "a lens nobody has": {"marker_mm": "60", "lens": "/etc/passwd"},
    "no game": {"marker_mm": "60", "game": "chess"},
    "no number": {"marker_mm": "sixty"},
    "a size below nothing": {"marker_mm": "-3"},
    "an option of the command line": {"marker_mm": "60", "scene": "/tmp/x"},
    "an option in a value": {"marker_mm": "60", "bases": "27 --scene /tmp/x"},
    "three points": {"points": "0,0=0,0;1,0=10,0;0,1=0,10"},
    "points without places": {"points": "a;b;c;d"},
    "no family of markers": {"marker_mm": "60", "dictionary": "DICT_9X9"},
}


@pytest.mark.parametrize("wish", BAD.values(), ids=BAD.keys())
def test_a_wish_that_makes_no_sense_is_refused_and_nothing_is_kept(
    api: TestClient, wish: dict[str, str], tmp_path: Path
) -> None:
    answer = api.post("/api/measurements", params=wish, content=jpeg())
    assert answer.status_code == 422
    assert answer.json()["error"]
    assert not kept(tmp_path)


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"points": "0,0=0,0"}, "points: 4"),
        ({"marker_mm": "60", "bases": "27 --scene"}, "bases: "),
        ({"marker_mm": "60", "dictionary": "DICT_9X9"}, "dictionary: "),
        ({"marker_mm": "60", "table": "6x3 ft"}, "table and marker_mm exclude each other"),
    ],
)
def test_a_refused_wish_is_told_by_the_names_of_its_parameters(
    api: TestClient, wish: dict[str, str], said: str
) -> None:
    error = api.post("/api/measurements", params=wish, content=jpeg()).json()["error"]
    assert error.startswith(said)
    assert not error.startswith("--")


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"<svg/>", 415), (b"", 415), (b"\xff\xd8\xff", 422), (b"MZ" + bytes(99), 415)],
)
def test_what_is_no_photo_is_refused_and_nothing_is_kept(
    api: TestClient, body: bytes, status: int, tmp_path: Path
) -> None:
    answer = api.post("/api/measurements", params={"marker_mm": "60"}, content=body)
    assert answer.status_code == status
    assert not kept(tmp_path)


@pytest.mark.parametrize("told", [True, False])
def test_a_body_beyond_the_limit_is_refused_and_nothing_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, told: bool
) -> None:
    with client(monkeypatch, tmp_path / "store", most_bytes=50_000) as api:
        photo = jpeg() + bytes(60_000)
        body = photo if told else (photo[k : k + 1000] for k in range(0, len(photo), 1000))
        answer = api.post("/api/measurements", params={"marker_mm": "60"}, content=body)
    assert answer.status_code == 413
    assert "0.05 MB" in answer.json()["error"]
    assert not kept(tmp_path)


def test_what_cannot_be_measured_says_so_and_can_be_measured_otherwise(api: TestClient) -> None:
    name = measured(api, jpeg((64, 64)))
    found = api.get(f"/api/measurements/{name}").json()
    assert (found["state"], found["step"], found["unmeasurable"]) == ("failed", UNREADABLE, True)
    assert api.get(f"/api/measurements/{name}/scene").status_code == 404
    points = "1,1=0,600;60,1=900,600;60,60=900,0;1,60=0,0"
    answer = api.post(
        f"/api/measurements/{name}/again", params={"game": "legion", "points": points}
    )
    assert answer.status_code == 202
    ended(api, answer.json()["id"])
    assert tasks(api)[-1][1][0].point == tuple(points.split(";"))


def test_deleting_leaves_nothing(api: TestClient, tmp_path: Path) -> None:
    name = measured(api)
    assert api.delete(f"/api/measurements/{name}").status_code == 204
    assert api.get(f"/api/measurements/{name}").status_code == 404
    assert not kept(tmp_path)


def test_a_socket_tells_how_it_ended(api: TestClient) -> None:
    name = measured(api)
    headers = {"host": "localhost"}
    with api.websocket_connect(f"/api/measurements/{name}/watch", headers=headers) as socket:
        assert socket.receive_json()["state"] == "done"
    with api.websocket_connect("/api/measurements/nothing/watch", headers=headers) as socket:
        assert socket.receive_json()["state"] == "failed"


def test_who_watches_a_photo_is_told_that_it_was_removed(
    api: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(*_: Any) -> None:
        await asyncio.sleep(4)
        raise TaskFailed("too late")

    monkeypatch.setattr(Ready, "run_task", slow)
    sent = api.post("/api/measurements", params={"marker_mm": "60"}, content=jpeg())
    path = f"/api/measurements/{sent.json()['id']}"
    with api.websocket_connect(f"{path}/watch", headers={"host": "localhost"}) as socket:
        assert socket.receive_json()["state"] == "queued"
        api.delete(path)
        told = socket.receive_json()
    assert (told["state"], told["step"]) == ("failed", "the measurement was removed meanwhile")


@pytest.mark.parametrize(("wide", "table"), [(OTHER_BOARD_PX, OTHER_BOARD), (320, "")])
def test_a_photo_s_markers_tell_its_table_in_one_measurement(
    api: TestClient, wide: int, table: str
) -> None:
    sent = api.post(
        "/api/measurements", params={"markers": "known"}, content=jpeg((wide, 240))
    ).json()
    found = ended(api, sent["id"])
    assert found["state"] == "done"
    assert found["table"] == (table or sent["table"])
    assert len(api.get("/api/measurements").json()) == 1


def test_only_known_markers_can_tell_a_table(api: TestClient) -> None:
    answer = api.post("/api/measurements", params={"markers": "some"}, content=jpeg())
    assert answer.status_code == 422
    assert "markers" in answer.json()["error"]


def test_a_photo_measured_again_keeps_its_lens(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    matrix = np.array([[900.0, 0, 160], [0, 900, 120], [0, 0, 1]])
    Lens((320, 240), matrix, np.zeros(5), np.diag(default_sigmas(matrix) ** 2)).save(
        tmp_path / "phone.toml"
    )
    text = (tmp_path / "phone.toml").read_text()
    choices = Choices(usual_boards(), {"phone": text})
    with client(monkeypatch, tmp_path / "store", choices=choices) as api:
        name = measured(api, lens="phone")
        for lens, kept in (({}, True), ({"lens": ""}, False)):
            wish = {"game": "legion", "marker_mm": "50", **lens}
            answer = api.post(f"/api/measurements/{name}/again", params=wish)
            ended(api, answer.json()["id"])
            request = tasks(api)[-1][1][0]
            assert (request.lens is not None) is kept
            assert request.marker_mm == 50


# --- questions ---


def test_an_answer_is_that_of_the_range_engine(api: TestClient) -> None:
    name = measured(api)
    told = api.post(f"/api/measurements/{name}/ask", json=RANGE).json()
    verdict = ask(scene(), RANGE)
    assert told["answer"] == json.loads(json.dumps(verdict.to_json()))
    assert told["sentence"] == verdict.sentence()
    assert set(told["clauses"]) == set(verdict.rules)
    assert told["drawing"]["line"].startswith("M")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"question": "fly"}',
        b'{"question": "range", "from": "p01"}',
        b"\xff",
        b"9" * 30_000,
    ],
)
def test_a_bad_question_is_one_line(api: TestClient, body: bytes) -> None:
    name = measured(api)
    answer = api.post(f"/api/measurements/{name}/ask", content=body)
    assert answer.status_code in (413, 422)
    assert "\n" not in answer.json()["error"]
    assert "Traceback" not in answer.text


def test_bands_and_arcs_are_lines_on_the_photo(api: TestClient) -> None:
    name = measured(api)
    rings = api.get(f"/api/measurements/{name}/bands", params={"piece": "p03"}).json()
    assert [ring["name"] for ring in rings] == ["1", "2", "3", "4", "5"]
    inches = api.get(
        f"/api/measurements/{name}/bands", params={"piece": "p03", "lines_mm": "152.4,203.2"}
    ).json()
    assert len(inches) == 2
    arcs = api.get(f"/api/measurements/{name}/arcs", params={"piece": "p05"}).json()
    assert "bullseye" in [arc["name"] for arc in arcs]
    assert api.get(f"/api/measurements/{name}/bands", params={"piece": "p99"}).status_code == 422
    assert (
        api.get(
            f"/api/measurements/{name}/bands", params={"piece": "p03", "lines_mm": "1e99"}
        ).status_code
        == 422
    )


def test_the_photo_is_served_small_and_whole(api: TestClient) -> None:
    name = measured(api)
    small, whole = (
        api.get(f"/api/measurements/{name}/photo", params={"size": size})
        for size in ("shown", "full")
    )
    assert small.headers["content-type"] == whole.headers["content-type"] == "image/jpeg"
    assert whole.content.startswith(b"\xff\xd8")
    assert api.get(f"/api/measurements/{name}/photo", params={"size": "huge"}).status_code == 422


@pytest.mark.parametrize("path", ["/api/measurements", "/api/measurements/{id}"])
def test_a_method_that_is_not_there_is_told_those_that_are(api: TestClient, path: str) -> None:
    answer = api.patch(path.format(id=measured(api)))
    told = {
        method.upper() for method in openapi_document()["paths"][path] if method != "parameters"
    }
    assert answer.status_code == 405
    assert answer.json()["error"].startswith("PATCH means nothing here: use ")
    assert set(answer.headers["allow"].split(", ")) == told | {"HEAD"}


def test_a_picture_is_asked_for_with_its_question(api: TestClient) -> None:
    name = measured(api)
    answer = api.get(f"/api/measurements/{name}/picture", params={"question": json.dumps(RANGE)})
    assert answer.headers["content-type"] == "image/png"
    task, arguments = tasks(api)[-1]
    assert (task, arguments[-1]) == ("picture", [RANGE])
    assert (
        api.get(f"/api/measurements/{name}/picture", params={"question": "{}"}).status_code == 422
    )


def test_corrections_are_checked_before_they_are_tried(api: TestClient) -> None:
    name = measured(api)
    fixes = {"schema": "overruler/fix/1", "fix": [{"do": "remove", "id": "p01"}]}
    assert api.put(f"/api/measurements/{name}/fixes", json=fixes).status_code == 200
    task, arguments = tasks(api)[-1]
    assert (task, json.loads(arguments[-1])) == ("correct", fixes)
    done = len(tasks(api))
    fixes["fix"] = [{"do": "fly", "id": "p01"}]
    answer = api.put(f"/api/measurements/{name}/fixes", json=fixes)
    assert answer.status_code == 422
    assert "fix[0].do" in answer.json()["error"]
    assert len(tasks(api)) == done


@pytest.mark.parametrize(("status", "wait"), [(422, None), (503, "5"), (500, None)])
def test_a_correction_that_comes_to_nothing_says_whose_fault_it_is(
    status: int, wait: str | None, api: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = measured(api)

    async def fail(*_: Any, **__: Any) -> None:
        raise TaskFailed("nothing came of it", status=status)

    monkeypatch.setattr(Ready, "run_task", fail)
    fixes = {"schema": "overruler/fix/1", "fix": []}
    answer = api.put(f"/api/measurements/{name}/fixes", json=fixes)
    assert (answer.status_code, answer.headers.get("retry-after")) == (status, wait)
    assert answer.json() == {"error": "nothing came of it"}


def test_nobodys_corrections_are_lost(api: TestClient) -> None:
    name = measured(api)
    place, fixes = f"/api/measurements/{name}/fixes", {"schema": "overruler/fix/1", "fix": []}
    seen = api.get(f"/api/measurements/{name}/table")
    assert seen.headers["etag"] == f'"{seen.json()["version"]}"'
    first = api.put(place, json=fixes, headers={"if-match": seen.headers["etag"]})
    assert (first.status_code, first.json()["version"]) == (200, seen.json()["version"] + 1)
    done = len(tasks(api))
    second = api.put(place, json=fixes, headers={"if-match": seen.headers["etag"]})
    assert second.status_code == 412
    assert "somebody else" in second.json()["error"]
    assert len(tasks(api)) == done
    assert (
        api.put(place, json=fixes, headers={"if-match": first.headers["etag"]}).status_code == 200
    )
    assert (
        api.put(place, json=fixes).status_code == 200
    )  # a program that does not ask is not refused
    assert (
        api.post(f"/api/measurements/{name}/ask", json=RANGE).json()["version"]
        == first.json()["version"] + 2
    )


def test_a_bundle_holds_all_that_the_ruling_rests_on(api: TestClient, tmp_path: Path) -> None:
    name = measured(api)
    folder = tmp_path / "store" / "measurements" / name
    (folder / FIXES_FILE).write_text('{"schema": "overruler/fix/1", "fix": []}')
    answer = api.get(f"/api/measurements/{name}/bundle", params={"question": json.dumps(RANGE)})
    members = bundles.unpack_zip(answer.content, "bundle.zip")
    assert members["photo.jpg"] == (folder / "photo.jpg").read_bytes()
    assert members["scene.json"] == (folder / "scene.json").read_bytes()
    assert json.loads(members["answer.json"])["range"] == ask(scene(), RANGE).answer["range"]
    assert json.loads(members["bundle.json"])["measure"] == [
        "photo.jpg",
        "--marker-mm=60.0",
        "--game=legion",
        "--fix=fix.json",
    ]


@pytest.mark.parametrize(
    "path", ["", "/scene", "/table", "/photo", "/bands", "/picture", "/bundle", "/link", "/arcs"]
)
@pytest.mark.parametrize("name", ["nothing", "234567892345", "..%2f..%2fetc", "%00"])
def test_what_is_not_there_is_said_not_to_be(api: TestClient, path: str, name: str) -> None:
    params = {"question": json.dumps(RANGE), "piece": "p01"}
    answer = api.get(f"/api/measurements/{name}{path}", params=params)
    assert answer.status_code == 404
    assert answer.json()["error"]


def test_links_are_drawn_as_codes(api: TestClient) -> None:
    name = measured(api)
    told = api.get(f"/api/measurements/{name}/link").json()
    assert told["url"] == f"http://localhost/m/{name}"
    assert told["path"].count("h1") > told["size"] ** 2 / 4
    assert told["this_machine_only"]


def test_what_nobody_foresaw_is_told_without_its_insides(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with client(monkeypatch, tmp_path / "store") as found:
        monkeypatch.setattr(Store, "newest", lambda store, most: 1 / 0)
        quiet = TestClient(found.app, base_url="http://localhost", raise_server_exceptions=False)
        answer = quiet.get("/api/measurements")
    assert answer.status_code == 500
    assert "Division" not in answer.text
    assert "error" in answer.json()
