"""Live graphics in a real browser over a real server: where they lie, that they go, and who may work the desk."""

import io
import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from bench.phone_server import patient_page
from overruler.apps.web.guard import AccessPolicy
from overruler.apps.web.live.app import make_live_app
from overruler.picture.answer_style import YES_COLOUR
from tests.apps.web.live_table import CAMERA, SIZES_MM, Table, air, served, until
from tests.chromium import browser as browser
from tests.chromium import needs_browser
from tests.tables import SIZE_PX
from tests.waiting import LONG_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

CORE = tuple(int(YES_COLOUR[i : i + 2], 16) for i in (1, 3, 5))


def call(address: str, post: bool = False) -> Any:
    with urllib.request.urlopen(
        urllib.request.Request(address, method="POST" if post else "GET")
    ) as answer:
        return json.load(answer)


@pytest.fixture
def table() -> Table:
    return Table()


@pytest.fixture
def home(table: Table) -> Iterator[str]:
    with served(air(table)) as (address, _):
        until(lambda: call(f"{address}/api/live")["calibrated"])
        yield address


@pytest.fixture
def ruled(home: str) -> str:
    call(f"{home}/api/live/do/pick?from=p01&to=p02", post=True)
    until(lambda: call(f"{home}/api/live")["ruling"])
    return home


@pytest.fixture
def page(browser: "Browser") -> Iterator["Page"]:
    size: ViewportSize = {"width": SIZE_PX[0], "height": SIZE_PX[1]}
    found = patient_page(browser, viewport=size, reduced_motion="reduce")
    yield found
    found.context.close()


def shown(page: "Page") -> Any:
    """The page as pixels (H, W, 4), its ground left transparent."""
    return np.array(Image.open(io.BytesIO(page.screenshot(omit_background=True))).convert("RGBA"))


def ends(one: str = "p01", other: str = "p02") -> Any:
    """The closest points of a pair in the picture (2, 2), from nothing but the truth."""
    a, b = (np.array(Table().places[name]) for name in (one, other))
    way = (b - a) / np.linalg.norm(b - a)
    places = [a + way * SIZES_MM[one] / 2, b - way * SIZES_MM[other] / 2]
    return CAMERA.project(np.column_stack([places, np.zeros(2)]))


# --- in the browser ---


@needs_browser
@pytest.mark.parametrize("pair", [("p01", "p02"), ("p02", "p03")])
def test_the_line_lies_where_the_camera_sees_it_and_the_ground_is_clear(
    home: str, page: "Page", pair: tuple[str, str]
) -> None:
    call(f"{home}/api/live/do/pick?from={pair[0]}&to={pair[1]}", post=True)
    page.goto(f"{home}/overlay?show=lines")
    page.wait_for_selector("#lines path", state="attached")
    pixels, (start, end) = shown(page), ends(*pair)
    assert (pixels[SIZE_PX[1] // 2, SIZE_PX[0] - 5] == 0).all()
    rows, columns = np.nonzero((pixels == (*CORE, 255)).all(-1))
    places = np.column_stack([columns, rows]) - start
    along = (end - start) / np.linalg.norm(end - start)
    share = places @ along / np.linalg.norm(end - start)
    middle = (share > 0.2) & (share < 0.8) & (np.abs(places @ [-along[1], along[0]]) < 12)
    assert middle.sum() > 60
    assert abs((places[middle] @ [-along[1], along[0]]).mean()) < 1.0
    plain = pixels[..., 3][middle_of(start, end)]
    assert plain == 255


def middle_of(start: Any, end: Any) -> tuple[int, int]:
    x, y = (start + end) / 2
    return round(float(y)), round(float(x))


@needs_browser
def test_a_plate_is_as_clear_as_it_is_meant_and_a_matte_is_its_alpha(
    ruled: str, page: "Page"
) -> None:
    page.goto(f"{ruled}/overlay?show=verdict")
    page.wait_for_selector("#verdict rect", state="attached")
    pixels = shown(page)
    plate = np.round(0.88 * 255)
    assert (np.abs(pixels[..., 3].astype(int) - plate) <= 1).sum() > 10_000
    inside = np.nonzero(pixels[..., 3] > 0)
    assert inside[0].max() < 0.95 * SIZE_PX[1] + 3  # the safe area, and half a stroke
    assert inside[1].min() > 0.05 * SIZE_PX[0] - 3
    page.goto(f"{ruled}/overlay?show=verdict&matte=1")
    page.wait_for_selector("#verdict rect", state="attached")
    matte = shown(page)
    assert (matte[..., 3] == 255).all()
    assert np.abs(matte[..., 0].astype(int) - pixels[..., 3]).max() <= 2


@needs_browser
def test_nothing_stays_on_air_without_the_server_and_all_comes_back_with_it(
    table: Table, page: "Page"
) -> None:
    with served(air(table)) as (home, _):
        until(lambda: call(f"{home}/api/live")["calibrated"])
        call(f"{home}/api/live/do/pick?from=p01&to=p02", post=True)
        page.goto(f"{home}/overlay")
        page.wait_for_selector("#lines path", state="visible")
    page.wait_for_selector("html[data-air=off]", state="attached")
    until(lambda: (shown(page) == 0).all())
    again = air(table)
    with served(again, int(home.rpartition(":")[2])):
        until(lambda: again.desk.scene() is not None)
        again.desk.pick("p02", "p03")
        page.wait_for_selector("html[data-air=on] #lines path", state="visible")


@needs_browser
def test_the_desk_works_by_mouse_and_by_keyboard(home: str, page: "Page") -> None:
    page.goto(f"{home}/control")
    page.click("[data-id=p01]")
    page.click("[data-id=p02]")
    page.wait_for_selector("#headline:has-text('p01 → p02: range')")
    page.keyboard.press("s")
    page.wait_for_selector("#headline:has-text('p02 → p01: range')")
    page.focus("[data-id=p03]")
    page.keyboard.press("b")
    until(lambda: call(f"{home}/api/live")["bands"] == ["p03"])
    page.keyboard.press("z")
    page.wait_for_selector("[data-do=close][aria-pressed=true]")
    page.keyboard.press("z")
    page.wait_for_selector("[data-do=close][aria-pressed=false]")
    page.keyboard.press("Escape")
    until(lambda: call(f"{home}/api/live")["pair"] is None)


@needs_browser
def test_a_close_look_shows_the_frozen_picture_of_the_gap(ruled: str, page: "Page") -> None:
    call(f"{ruled}/api/live/do/close", post=True)
    page.goto(f"{ruled}/overlay")
    page.wait_for_selector("#stage.large image[href]", state="attached")
    page.wait_for_load_state("networkidle")
    until(lambda: (shown(page)[..., 3] == 255).all())
    box = call(f"{ruled}/api/live")["frozen"]["box_px"]
    assert all(box[0] < x < box[0] + box[2] and box[1] < y < box[1] + box[3] for x, y in ends())


@needs_browser
def test_nine_pages_at_once_are_all_told(ruled: str, browser: "Browser") -> None:
    first = patient_page(browser)
    pages = [first, *(first.context.new_page() for _ in range(8))]
    for number, one in enumerate(pages):
        one.goto(f"{ruled}/overlay?show={('bands', 'lines', 'verdict')[number % 3]}")
    for one in pages:
        one.wait_for_selector("html[data-air=on]")
    first.context.close()


# --- what goes off the air ---


def test_a_ruling_goes_when_its_piece_is_touched_and_comes_back_for_where_it_stands(
    table: Table, ruled: str
) -> None:
    before = call(f"{ruled}/api/live")["ruling"]["distance_mm"]
    table.hand = True
    until(lambda: call(f"{ruled}/api/live")["ruling"] is None)
    assert any("p02" in text for text in call(f"{ruled}/api/live")["waiting"])
    table.places["p02"] = (330.0, 150.0)
    table.show_pictures(6)
    assert call(f"{ruled}/api/live")["ruling"] is None
    table.hand = False
    until(lambda: call(f"{ruled}/api/live")["ruling"])
    gap = np.hypot(180, 100) - (SIZES_MM["p01"] + SIZES_MM["p02"]) / 2
    found = call(f"{ruled}/api/live")["ruling"]["distance_mm"]
    assert found == pytest.approx(gap, abs=0.01)
    assert found != pytest.approx(before, abs=1)


def test_a_ruling_comes_back_though_the_table_is_not_at_rest_elsewhere(
    table: Table, ruled: str
) -> None:
    before = call(f"{ruled}/api/live")["ruling"]["distance_mm"]
    table.restless = True
    table.hand = True
    until(lambda: call(f"{ruled}/api/live")["ruling"] is None)
    table.places["p02"] = (330.0, 150.0)
    table.show_pictures(6)
    table.hand = False
    until(lambda: call(f"{ruled}/api/live")["ruling"])
    assert call(f"{ruled}/api/live")["ruling"]["distance_mm"] != pytest.approx(before, abs=1)


def test_a_camera_that_is_unplugged_is_said_and_shows_nothing_until_it_is_back(
    table: Table, ruled: str
) -> None:
    table.plugged = False
    until(lambda: not call(f"{ruled}/api/live")["on_air"])
    assert "no more pictures" in call(f"{ruled}/api/live")["lost"]
    with urllib.request.urlopen(f"{ruled}/overlay.png") as answer:
        assert np.array(Image.open(answer))[..., 3].max() == 0
    table.plugged = True
    until(lambda: call(f"{ruled}/api/live")["on_air"])
    until(lambda: call(f"{ruled}/api/live")["ruling"])
    with urllib.request.urlopen(f"{ruled}/overlay.png?width=1200") as answer:
        assert np.array(Image.open(answer))[..., 3].max() == 255


def test_clients_that_never_read_and_clients_that_talk_nonsense_hold_nobody_up(
    table: Table, ruled: str
) -> None:
    port = int(ruled.rpartition(":")[2])
    hello = (
        f"GET /api/live/air HTTP/1.1\r\nHost: localhost:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    ).encode()
    with ExitStack() as open_:
        deaf = [
            open_.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(5)
        ]
        for line in deaf:
            line.sendall(hello)
        for rubbish in (
            b"\x00\xff" * 500,
            hello + b"\xff" * 4000,
            hello + b"\x81\x85abcdzzzzz" * 20,
        ):
            with socket.create_connection(("127.0.0.1", port)) as line:
                line.sendall(rubbish)
        air = ruled.replace("http", "ws") + "/api/live/air"
        readers = [open_.enter_context(connect(air)) for _ in range(15)]
        call(f"{ruled}/api/live/do/swap", post=True)
        for reader in readers:  # nobody waits for the deaf ones: they never read
            until(lambda one=reader: json.loads(one.recv(LONG_S)).get("pair") == ["p02", "p01"])


# --- who may ---


def test_the_key_for_overlays_shows_and_does_nothing_else(table: Table) -> None:
    door = AccessPolicy(frozenset({"localhost"}), "desk-key")
    with TestClient(
        make_live_app(air(table, door, "air-key")), base_url="http://localhost"
    ) as client:
        for path in ("/overlay", "/overlay.png"):
            assert client.get(f"{path}?key=air-key").status_code == 200
            assert client.get(f"{path}?key=wrong").status_code == 401
        assert "set-cookie" not in client.get("/overlay?key=air-key").headers
        for path in ("/control", "/api/live", "/api/live/picture.jpg"):
            assert client.get(f"{path}?key=air-key").status_code == 401
        assert client.post("/api/live/do/clear?key=air-key").status_code == 401
        assert client.post("/api/live/do/clear?key=desk-key").status_code == 200


def test_the_state_is_told_to_those_with_a_key(table: Table) -> None:
    with served(air(table, AccessPolicy(frozenset({"localhost"}), "desk-key"), "air-key")) as (
        home,
        _,
    ):
        address = home.replace("http", "ws") + "/api/live/air"
        for key in ("air-key", "desk-key"):
            with connect(f"{address}?key={key}") as told:
                assert json.loads(told.recv(LONG_S))["version"] >= 1
                assert json.loads(told.recv(LONG_S))["beat"] >= 1
        for refused in (address, f"{address}?key=wrong"):
            with pytest.raises(InvalidStatus), connect(refused):
                pass


def test_pages_of_other_sites_may_not_press_buttons(table: Table) -> None:
    with TestClient(make_live_app(air(table)), base_url="http://localhost") as client:
        assert (
            client.post("/api/live/do/clear", headers={"origin": "http://elsewhere"}).status_code
            == 403
        )
        assert client.get("/api/live", headers={"host": "elsewhere"}).status_code == 421


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ("do/pick?from=p01", "to"),
        ("do/pick?from=p01&to=p77", "p77"),
        ("do/fly", "fly"),
        ("do/close", "ruling"),
    ],
)
def test_what_cannot_be_done_is_said(home: str, asked: str, named: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        call(f"{home}/api/live/{asked}", post=True)
    assert caught.value.code == 422
    assert named in json.load(caught.value)["error"]


def test_programs_may_ask_what_they_like_of_the_table_as_it_stands(home: str) -> None:
    question = json.dumps({"question": "range", "from": "p01", "to": "p03"}).encode()
    with urllib.request.urlopen(
        urllib.request.Request(f"{home}/api/live/ask", question, method="POST")
    ) as answer:
        told = json.load(answer)
    gap = np.hypot(270, 130) - 27
    assert told["distance_mm"] == pytest.approx(gap)
    assert told["range"] == int(gap // 152.4) + 1
