"""Who is let in: by name, from where, with which key."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from overruler.apps import serve
from overruler.apps.markers import board_file
from overruler.apps.web.address import ServerAddress
from overruler.apps.web.guard import KEY_COOKIE, AccessPolicy, refusal_page
from overruler.errors import BadInput
from overruler.picture.sheets.marker_cards import CardSet
from tests.apps.web.desk import client, jpeg, measured

KEY = "correct-horse"
LAN = AccessPolicy(frozenset({"localhost", "192.168.1.5"}), KEY)
NOTHING_KEPT = "measurements"


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[TestClient]:
    with client(monkeypatch, tmp_path / "store") as found:
        yield found


@pytest.fixture
def lan(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[TestClient]:
    with client(monkeypatch, tmp_path / "store", LAN) as found:
        yield found


def send(found: TestClient, **headers: str) -> int:
    wish = {"game": "legion", "marker_mm": "60"}
    status: int = found.post(
        "/api/measurements", params=wish, content=jpeg(), headers=headers
    ).status_code
    return status


@pytest.mark.parametrize("host", ["localhost", "localhost:8321", "LOCALHOST:80"])
def test_its_own_name_is_answered(local: TestClient, host: str) -> None:
    assert local.get("/api/about", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8321", "localhost.evil.example", "192.168.1.5", "", "[::1]x"],
)
def test_a_name_turned_to_this_machine_is_refused(local: TestClient, host: str) -> None:
    answer = local.get("/api/about", headers={"host": host})
    assert answer.status_code == 421
    assert "Host" in answer.json()["error"]


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://localhost:1", "http://localhost.evil.example", "x"],
)
def test_a_page_of_another_site_is_refused_and_nothing_is_kept(
    local: TestClient, origin: str, tmp_path: Path
) -> None:
    assert send(local, origin=origin) == 403
    assert not list((tmp_path / "store").glob(f"{NOTHING_KEPT}/*"))


def test_its_own_page_and_programs_are_served(local: TestClient) -> None:
    assert send(local, origin="http://localhost") == 202
    assert send(local) == 202


@pytest.mark.parametrize("mode", ["no-cors", "cors"])
def test_another_site_cannot_even_read(local: TestClient, mode: str) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": mode}
    assert local.get("/api/measurements", headers=headers).status_code == 403


def test_a_link_on_another_site_may_lead_here(local: TestClient) -> None:
    assert (
        local.get(
            "/", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
        ).status_code
        == 200
    )


def test_a_socket_from_another_site_is_refused(local: TestClient) -> None:
    name = measured(local)
    address = f"/api/measurements/{name}/watch"
    with local.websocket_connect(
        address, headers={"host": "localhost", "origin": "http://localhost"}
    ) as socket:
        assert socket.receive_json()["state"] == "done"
    with (
        pytest.raises(WebSocketDisconnect),
        local.websocket_connect(
            address, headers={"host": "localhost", "origin": "http://evil.example"}
        ) as socket,
    ):
        socket.receive_json()


# --- the key ---


@pytest.mark.parametrize(
    "path", ["/", "/api/about", "/api/measurements", "/m/234567892345", "/api/openapi.json"]
)
@pytest.mark.parametrize("key", [None, "", "wrong", KEY + "x", KEY[:-1], "ключ"])
def test_without_the_key_nothing_is_told(lan: TestClient, path: str, key: str | None) -> None:
    answer = lan.get(path, params=None if key is None else {"key": key})
    assert answer.status_code == 401
    assert "key" in answer.json()["error"]
    assert "set-cookie" not in answer.headers


def test_the_key_in_the_address_becomes_a_cookie(lan: TestClient) -> None:
    answer = lan.get("/", params={"key": KEY})
    assert answer.status_code == 200
    cookie = answer.headers["set-cookie"]
    assert all(word in cookie for word in (f"{KEY_COOKIE}={KEY}", "HttpOnly", "SameSite=Strict"))
    assert lan.get("/api/about").status_code == 200
    lan.cookies.clear()
    assert lan.get("/api/about").status_code == 401


def test_a_program_sends_the_key_as_bearer(lan: TestClient) -> None:
    assert lan.get("/api/about", headers={"authorization": f"Bearer {KEY}"}).status_code == 200
    assert lan.get("/api/about", headers={"authorization": "Bearer wrong"}).status_code == 401
    assert send(lan, authorization=f"Bearer {KEY}") == 202


def test_the_pages_own_files_are_open_to_all(lan: TestClient) -> None:
    assert lan.get("/static/app.js").status_code == 200
    assert lan.get("/static/../store").status_code != 200


def test_a_wrong_key_keeps_nothing(lan: TestClient, tmp_path: Path) -> None:
    assert send(lan, authorization="Bearer wrong") == 401
    assert not list((tmp_path / "store").glob(f"{NOTHING_KEPT}/*"))


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/about", "/nowhere"])
def test_every_answer_is_guarded(local: TestClient, path: str) -> None:
    headers = local.get(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers


def test_two_boards_of_one_name_are_refused_at_the_start(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.toml" for name in ("first", "second")]
    for path, width in zip(paths, (900, 1200), strict=True):
        path.write_text(board_file(CardSet(), width, 900, "club"))
    parser = argparse.ArgumentParser()
    serve.add_arguments(parser)
    place = ServerAddress(("127.0.0.1",), 8321, False, None)
    both = [part for path in paths for part in ("--board", str(path))]
    with pytest.raises(BadInput, match=r"first.toml and .*second.toml are both called 'club'"):
        serve.read_settings(parser.parse_args(both), place)
    twice = parser.parse_args(["--board", str(paths[0]), "--board", str(paths[0])])
    assert serve.read_settings(twice, place).choices.board_sizes_mm()["club"] == (900, 900)


def test_a_program_without_the_key_is_told_in_json(lan: TestClient) -> None:
    assert "key" in lan.get("/api/about").json()["error"]
    assert "Scan the code" in lan.get("/", headers={"accept": "text/html"}).text


@pytest.mark.parametrize("path", ["/nothing", "/api/measurements/234567892345/picture"])
def test_a_person_who_opens_an_old_link_sees_a_page(local: TestClient, path: str) -> None:
    shown = local.get(path, headers={"accept": "text/html"})
    assert shown.status_code == 404
    assert shown.headers["content-type"].startswith("text/html")
    assert "Nothing is here" in shown.text
    assert local.get(path).json()["error"]


def test_a_person_is_told_what_is_missing_of_a_table_that_is_there(local: TestClient) -> None:
    path = f"/api/measurements/{measured(local)}/table?photo=7"
    shown = local.get(path, headers={"accept": "text/html"})
    assert shown.status_code == 404
    assert local.get(path).json()["error"] in shown.text
    assert "was removed" not in shown.text


def test_what_a_page_is_told_is_shown_as_text() -> None:
    assert b"&lt;i&gt; $reason" in refusal_page(404, "<i> $reason").body
