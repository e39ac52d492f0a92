"""The desk and the overlay as people see them: nothing lies over anything, and viewers read names."""

import json
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np
import pytest

from bench.phone_server import patient_page
from overruler.apps.web.guard import AccessPolicy
from overruler.apps.web.live.app import LiveServices, make_live_app
from overruler.apps.web.live.desk import Desk
from overruler.apps.web.live.look import LookFile
from overruler.apps.web.live.watcher import TableStatus
from overruler.fixes import Fix
from overruler.frame import Frame, Shot
from overruler.report import Report
from overruler.track import TrackedPosition
from tests.apps.web.desk import scene
from tests.apps.web.live.test_show import PNG
from tests.apps.web.live_table import Table, air, served, serving, until
from tests.apps.web.page_geometry import lasting
from tests.chromium import browser as browser
from tests.chromium import needs_browser
from tests.reports import camera, pieces, report
from tests.screens import barriers, boxes, complaints, overlaps, small_letters, small_targets
from tests.waiting import LONG_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIZES = [(1280, 800), (1920, 1080)]
LINE_WIDTH = """() => Math.max(...[...document.querySelectorAll("#lines path[stroke-width]")].map((one) => {
    const { strokeWidth, vectorEffect } = getComputedStyle(one);
    return parseFloat(strokeWidth) * (vectorEffect === "non-scaling-stroke" ? 1 : one.getScreenCTM().a);
}))"""
"""Width of the thickest line on the screen."""
COUNT_ANIMATIONS = "window.started = 0; addEventListener('animationstart', () => { started += 1; })"


class StillTable:
    """A watcher of a table on which nothing moves: two crowded squads and some others."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.stopped = threading.Event()
        squads = [(300 + 60 * (k % 5), 420 + 60 * (k // 5)) for k in range(10)]
        loose = [(140.0 + 150 * k, 800.0) for k in range(6)]
        spots = camera().unproject(np.array([*squads, *loose], float))
        crowd = tuple(
            replace(pieces()[0], id=f"p{10 + k}", x_mm=float(x), y_mm=float(y))
            for k, (x, y) in enumerate(spots)
        )
        found = replace(scene(), pieces=(*pieces(), *crowd), covariance=None)
        self.report: Report = replace(report(), scene=found)
        self.shot = Shot.of(Frame(report().frame.pixels, "table"))
        self.number = 1

    def tell(self) -> None:
        spots = tuple(
            TrackedPosition(one.id, one.base, one.x_mm, one.y_mm, 0.2, "static", True)
            for one in self.report.scene.pieces
        )
        self.desk.update_table(TableStatus(self.report, spots, None, (), self.number), self.shot)

    def start(self) -> None:
        def watch() -> None:
            while not self.stopped.wait(0.05):
                self.tell()

        threading.Thread(target=watch, daemon=True).start()

    def stop(self) -> None:
        self.stopped.set()

    def correct(self, fixes: Sequence[Fix]) -> None:
        names = {fix.id: fix.labels.get("new_id", fix.id) for fix in fixes}
        renamed = tuple(
            replace(one, id=names.get(one.id, one.id)) for one in self.report.scene.pieces
        )
        self.report = replace(self.report, scene=replace(self.report.scene, pieces=renamed))
        self.number += 1


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    look = tmp_path_factory.mktemp("look") / "look.toml"
    look.write_text('schema = "overruler/look/1"\nlogo = "club.png"\n', encoding="utf-8")
    look.with_name("club.png").write_bytes(PNG)
    desk = Desk(LookFile(look))
    watcher: Any = StillTable(desk)
    door = AccessPolicy(frozenset({"localhost"}))
    with serving(make_live_app(LiveServices(desk, watcher, door))) as (address, _):
        until(lambda: desk.scene() is not None)
        yield address


@pytest.fixture
def named(home: str) -> str:
    """A table with names, players and a ruling on air, and all of a show."""
    squad = [{"do": "name", "id": f"p{k}", "unit": "Guards", "player": "red"} for k in (10, 11)]
    ship = {"do": "name", "id": "p02", "unit": "Raiders", "player": "blue"}
    body = {"schema": "overruler/fix/1", "fix": [*squad, ship]}
    post(home, "fix", json.dumps(body).encode())
    post(home, "do/pick?from=p10&to=p02")
    for name, score in (("red", "3"), ("blue", "5")):
        post(home, f"do/score?player={name}&score={score}")
    post(home, "do/round?text=Round+2")
    post(home, f"do/caption?{urlencode({'title': 'Table 4', 'line': 'The last turn'})}")
    post(home, "do/player?player=red&name=Anna")
    return home


def post(home: str, path: str, body: bytes | None = None) -> Any:
    asked = urllib.request.Request(f"{home}/api/live/{path}", body, method="POST")
    with urllib.request.urlopen(asked) as answer:
        return json.load(answer)


def opened(browser: "Browser", address: str, size: tuple[int, int], **more: Any) -> "Page":
    return patient_page(browser, viewport={"width": size[0], "height": size[1]}, **more)


def label_faults(page: "Page") -> list[str]:
    """Labels of pieces that lie over each other or over a base."""
    tags, bases = boxes(page, ".tag rect"), boxes(page, ".piece path")
    return [f"labels over {what}" for what in overlaps(tags, tags) + overlaps(tags, bases)]


def control_faults(page: "Page", width: float, height: float = np.inf) -> list[str]:
    """Controls that lie over each other or out of the window."""
    found = boxes(page, "button, select, input, a[href], p:not(#tally), #picture, #program")
    over = [f"controls {one} and {other} overlap" for one, other in overlaps(found, found)]
    aside = ["out on the right"] if found[:, 2].max() > width else []
    return over + aside + (["below the fold"] if found[:, 3].max() > height else [])


@needs_browser
@pytest.mark.parametrize("size", SIZES)
def test_on_the_desk_nothing_lies_over_anything_and_all_is_in_sight(
    named: str, browser: "Browser", size: tuple[int, int]
) -> None:
    page = opened(browser, named, size)
    complained = complaints(page)
    page.goto(f"{named}/control")
    page.wait_for_selector(".tag rect", state="attached")
    until(lambda: len(boxes(page, ".tag rect")) > 12)  # few have no room
    until(lambda: not label_faults(page))
    for mode in range(1, 9) if size == SIZES[0] else (8,):
        page.keyboard.press(str(mode))
        assert lasting(lambda: control_faults(page, *size)) == [], f"under key {mode}"
        assert lasting(lambda: small_letters(page)) == []  # labels are placed anew
        assert small_targets(page) == []
    assert barriers(page) == []
    assert complained == []
    page.context.close()


@needs_browser
def test_a_long_name_pushes_nothing_out_of_the_window(named: str, browser: "Browser") -> None:
    unit = {"do": "name", "id": "p10", "unit": "W" * 40}
    post(named, "fix", json.dumps({"schema": "overruler/fix/1", "fix": [unit]}).encode())
    post(named, "do/pick?from=p10&to=p02")
    page = opened(browser, named, (1366, 768))
    page.goto(f"{named}/control")
    page.wait_for_selector("#headline:has-text('WWW')")
    until(lambda: boxes(page, "button, #air, #headline")[:, 2].max() <= 1366)
    until(lambda: page.evaluate("document.documentElement.scrollWidth") <= 1366)
    until(lambda: not label_faults(page))
    (picture,) = boxes(page, "#picture")
    until(lambda: boxes(page, ".tag rect")[:, 0].min() >= picture[0])
    until(lambda: page.locator("[data-tag=p10] text").text_content() == f"{'W' * 8}… p10")
    assert "W" * 40 in str(page.get_attribute("[data-id=p10]", "aria-label"))
    lines = "[...document.querySelectorAll('#detail .measure')].map((one) => one.getClientRects().length)"
    assert set(page.evaluate(lines)) == {1}  # no line ends between a number and its unit
    assert "viewers read" in page.inner_text("#detail")
    page.context.close()


class FirstLook(Table):
    """A table whose first look takes as long as a test wants."""

    def __init__(self) -> None:
        super().__init__()
        self.looked = threading.Event()

    def look(self, frame: Frame) -> Report:
        self.looked.wait(LONG_S)
        return super().look(frame)


@needs_browser
def test_the_list_of_questions_says_that_the_table_is_measured(browser: "Browser") -> None:
    table = FirstLook()
    with served(air(table)) as (address, _):
        page = opened(browser, address, (1280, 800))
        page.goto(f"{address}/control")
        page.wait_for_selector("#question:disabled")
        until(lambda: "measuring the table …" in page.inner_text("#question"))
        assert barriers(page) == []
        table.looked.set()
        page.wait_for_selector("#question:enabled")
        assert page.input_value("#question") == "Range"
        page.context.close()


@needs_browser
def test_a_click_near_a_small_base_picks_the_nearest(home: str, browser: "Browser") -> None:
    page = opened(browser, home, (1280, 800))
    page.goto(f"{home}/control")
    page.wait_for_selector(".piece")
    page.keyboard.press("2")
    left, _, right, bottom = boxes(page, "[data-id=p11] path")[0]
    page.mouse.click((left + right) / 2, bottom + 8)
    until(lambda: post(home, "do/live")["bands"] == ["p11"])
    post(home, "do/clear")
    page.context.close()


@needs_browser
def test_viewers_read_names_and_see_players_colours_on_any_mat(
    named: str, browser: "Browser"
) -> None:
    page = opened(browser, named, (1280, 720), reduced_motion="reduce")
    complained = complaints(page)
    page.goto(f"{named}/overlay")
    page.wait_for_selector("#verdict text", state="attached")
    told = {"Guards", "Raiders", "Anna", "3", "Round 2", "Table 4"}
    until(lambda: told <= set(page.locator("svg text").all_text_contents()))
    words = page.locator("svg text").all_text_contents()
    assert not [text for text in words if "p10" in text or "p02" in text]
    assert page.locator("#verdict rect[fill='#e5383b']").count() == 1  # the red player's
    assert page.locator("#lines rect[fill='#4d8dff']").count() == 1  # at the blue player's base
    until(lambda: page.locator("#show > g > g > image[href^='blob:']").count() == 1)  # the logo

    def stand_apart() -> bool:
        plates = boxes(page, "#ruling, #scoreboard, #caption, #show image")
        return len(plates) == 4 and not overlaps(plates, plates)

    until(stand_apart)
    height = page.evaluate(
        "() => Math.min(...[...document.querySelectorAll('#words text, #told text')]"
        ".map((one) => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a))"
    )
    assert height > 13  # of 720 lines, though this picture is but 960 pixels wide on them
    assert barriers(page) == []
    assert complained == []
    page.context.close()


@needs_browser
def test_what_comes_on_air_eases_in_unless_somebody_wants_it_calm(
    named: str, browser: "Browser"
) -> None:
    for motion, moves in (("no-preference", True), ("reduce", False)):
        page = opened(browser, named, (1280, 720), reduced_motion=motion)
        page.add_init_script(COUNT_ANIMATIONS)  # one may be over before anybody looks
        page.goto(f"{named}/overlay")
        page.wait_for_selector("#verdict text", state="attached")
        until(lambda page=page: not page.evaluate("document.getAnimations().length"))
        assert (page.evaluate("started") > 0) == moves
        page.context.close()


@needs_browser
def test_names_and_lines_keep_their_size_while_the_gap_is_shown_large(
    named: str, browser: "Browser"
) -> None:
    page = opened(browser, named, (1280, 720), reduced_motion="reduce")
    page.goto(f"{named}/overlay")
    page.wait_for_selector("#lines .upright text", state="attached")
    before, width_px = np.diff(boxes(page, "#lines .upright")[:, 1::2]), page.evaluate(LINE_WIDTH)
    post(named, "do/close")
    page.wait_for_selector("#stage.large", state="attached")
    same = pytest.approx(before, rel=0.05)
    until(lambda: np.diff(boxes(page, "#lines .upright")[:, 1::2]) == same)
    until(lambda: page.evaluate(LINE_WIDTH) == pytest.approx(width_px, rel=0.05))
    plates = "#ruling, #scoreboard, #caption"
    until(lambda: not overlaps(boxes(page, "#lines .upright"), boxes(page, plates)))
    post(named, "do/live")
    page.context.close()


@needs_browser
def test_a_clip_in_the_making_is_told_and_then_saved(named: str, browser: "Browser") -> None:
    page = opened(browser, named, (1280, 800))
    page.goto(f"{named}/control")
    waiting: list[Any] = []
    page.route("**/overlay.webm", lambda route: waiting.append(route))
    page.click("#clip")
    page.wait_for_selector("#clip >> text=Making the clip")
    page.click("#clip")  # once more changes nothing
    with page.expect_download() as saved:
        waiting[0].fulfill(body=b"film", content_type="video/webm")
    assert saved.value.suggested_filename == "ruling.webm"
    page.wait_for_selector("#clip >> text=/^Clip$/")
    assert len(waiting) == 1
    page.click("#clip")
    end_s = time.monotonic() + LONG_S
    while len(waiting) < 2 and time.monotonic() < end_s:
        page.wait_for_timeout(20)
    waiting[1].fulfill(status=503, json={"error": "another clip is being made"})
    page.wait_for_selector("#said >> text=another clip is being made")
    page.context.close()


@needs_browser
def test_the_last_ruling_is_replayed_on_its_own_picture(named: str, browser: "Browser") -> None:
    post(named, "do/clear")
    page = opened(browser, named, (1280, 720))
    page.goto(f"{named}/overlay")
    page.wait_for_selector("#show text", state="attached")
    until(lambda: page.locator("#verdict text").count() == 0)
    assert post(named, "do/replay")["frozen"]["replay"]
    page.wait_for_selector("body.replay #still[href]", state="attached")
    page.wait_for_selector("#badge", state="attached")
    until(lambda: "Guards" in page.locator("#verdict text").all_text_contents())
    post(named, "do/live")
    page.wait_for_selector("body:not(.replay)", state="attached")
    page.context.close()


def test_one_piece_has_its_own_name_another_its_place(named: str) -> None:
    state = post(named, "do/pick?from=p03&to=p15")
    assert state["ruling"]["names"] == ["left", "bottom left"] or all(state["ruling"]["names"])
    assert not any(name.startswith("p1") for name in state["ruling"]["names"])
    layers = state["layers"]
    for name in state["ruling"]["names"]:
        assert f">{name}<" in layers["verdict"]
        assert f">{name}<" not in layers["lines"]  # beside its base a place tells viewers nothing
    body = {"schema": "overruler/fix/1", "fix": [{"do": "name", "id": "p15", "new_id": "Vader"}]}
    post(named, "fix", json.dumps(body).encode())
    until(lambda: (post(named, "do/live")["ruling"] or {}).get("names", ["", ""])[1] == "Vader")
