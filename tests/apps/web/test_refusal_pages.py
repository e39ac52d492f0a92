"""Where nothing is there: a browser is shown a page that says why, a program is told in JSON."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from overruler.apps.web.live.app import make_live_app
from tests.apps.web.desk import client
from tests.apps.web.live_table import Table, air

BROWSER = {"accept": "text/html"}


@pytest.fixture
def phone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[TestClient]:
    with client(monkeypatch, tmp_path / "store") as found:
        yield found


@pytest.fixture
def live() -> TestClient:
    """The live server before its camera has shown anything."""
    services = air(Table())
    app = make_live_app(services)
    app.state.desk = services.desk  # its lifespan, which starts the watcher, does not run
    return TestClient(app, base_url="http://localhost")


def check(server: TestClient, path: str, reason: str) -> None:
    told, shown = server.get(path), server.get(path, headers=BROWSER)
    assert (told.status_code, shown.status_code) == (404, 404)
    assert told.json() == {"error": reason}
    assert shown.headers["content-type"].startswith("text/html")
    assert "Nothing is here" in shown.text
    assert "Not Found" not in shown.text


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/api/live/picture.jpg", "there is no such picture now"),
        ("/api/live/frozen.jpg", "there is no such picture now"),
        ("/api/live/scene", "the table has not been measured yet"),
        ("/static/nothing.js", "there is no such file"),
    ],
)
def test_the_live_server_says_what_is_not_there(live: TestClient, path: str, reason: str) -> None:
    check(live, path, reason)
    assert reason in live.get(path, headers=BROWSER).text


def test_a_question_about_no_table_is_refused_in_json(live: TestClient) -> None:
    answer = live.post("/api/live/ask", content=b"{}", headers=BROWSER)
    assert answer.status_code == 404
    assert answer.json() == {"error": "the table has not been measured yet"}


def test_a_file_that_is_none_of_the_pages_is_refused_as_all_else(phone: TestClient) -> None:
    check(phone, "/static/nothing.js", "there is no such file")


def test_a_path_that_neither_server_has_is_refused_alike(
    phone: TestClient, live: TestClient
) -> None:
    reason = "nothing is at /nothing: see how the address is spelt"
    check(phone, "/nothing", reason)
    check(live, "/nothing", reason)
