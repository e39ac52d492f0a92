"""Taps that come twice or too early: none of them does what nobody meant."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.apps.web.live_table import until
from tests.apps.web.test_page_undo import correct, opened, sizes
from tests.apps.web.test_page_waits import CORRECTED, fixes_of, pieces, resize, tap
from tests.apps.web.test_page_walks import Doubtful, send
from tests.apps.web.test_page_walks import home as home
from tests.apps.web.test_page_walks import page as page
from tests.chromium import browser as browser
from tests.chromium import needs_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = needs_browser
DOUBLE_S = 0.09
"""Between the taps of a double tap, by the clock of the screen: a slow machine tells of it late."""


@pytest.fixture
def table(page: "Page", home: str, tmp_path: Path) -> "Page":
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    return page


def tap_twice(page: "Page", selector: str, share: float) -> None:
    """Tap some way along a control, and once more."""
    box = page.locator(selector).bounding_box()
    assert box
    double_tap(page, box["x"] + share * box["width"], box["y"] + box["height"] / 2)


def double_tap(page: "Page", x: float, y: float) -> None:
    """Two taps at a place on the screen."""
    screen, begin_s = page.context.new_cdp_session(page), time.time()
    for at_s in (begin_s, begin_s + DOUBLE_S):
        for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
            told = {"type": kind, "touchPoints": points, "timestamp": at_s}
            screen.send("Input.dispatchTouchEvent", told)


@pytest.mark.parametrize("share", [0.3, 0.7], ids=["left", "right"])
def test_who_taps_done_twice_is_done_and_no_more(table: "Page", share: float) -> None:
    """What stands there a moment later is "Add a base" on the left and "Undo the last" on the right."""
    table.click("#mode-correct")
    tap(table, pieces(table)[0])
    resize(table, "50 mm")
    tap_twice(table, "#editing >> text=Done", share)
    table.wait_for_selector("#editing >> text=Correct a base")
    table.wait_for_timeout(300)  # a correction would be sent by now
    assert sizes(table) == ["50 mm"]
    until(lambda: table.inner_text("#editing .next") == "Correct a base")
    table.click("#editing >> text=Undo the last")  # whoever means it, taps once
    table.wait_for_selector("#undo", state="hidden")


def test_who_taps_a_base_twice_corrects_that_one(table: "Page") -> None:
    """The first tap brings it nearer: the second would fall beside it."""
    table.click("#mode-correct")
    piece = pieces(table)[0]
    tap(table, piece)
    table.wait_for_selector("#editing >> text=Done")
    table.click("#editing >> text=Done")
    table.keyboard.press("0")
    table.wait_for_timeout(500)
    place = table.evaluate(
        """([x, y]) => { const place = new DOMPoint(x, y)
        .matrixTransform(document.getElementById("drawing").getScreenCTM()); return [place.x, place.y]; }""",
        piece["center_px"],
    )
    double_tap(table, *place)
    until(lambda: table.inner_text("#editing .next") == piece["name"])
    table.wait_for_timeout(100)  # another would be chosen now
    assert table.inner_text("#editing .next") == piece["name"]


def test_a_photo_is_not_deleted_by_a_double_tap(table: "Page") -> None:
    table.click("#more")
    tap_twice(table, "#forget", 0.5)
    table.wait_for_selector("#forget >> text=Tap again: it cannot be undone")
    table.wait_for_timeout(200)  # it would be deleted now
    assert table.request.get(table.url.replace("/m/", "/api/measurements/")).ok
    table.click("#forget")  # once it can be pressed again
    table.wait_for_selector("#start:not([hidden])")


def test_who_taps_undo_again_while_it_is_undone_takes_back_one_step(table: "Page") -> None:
    correct(table, 0, "50 mm", "70 mm")
    table.route(CORRECTED, lambda route: None)  # not answered yet
    with table.expect_request(CORRECTED):
        table.click("#undo")
    table.locator("#undo").dispatch_event("click")
    table.keyboard.press("Control+z")
    table.wait_for_timeout(100)
    with table.expect_response(CORRECTED):
        table.unroute(CORRECTED)
    table.wait_for_selector("#progress", state="hidden")
    table.wait_for_timeout(300)
    assert sizes(table) == ["50 mm"]


def test_who_goes_on_to_rule_while_a_unit_is_saved_can_tap_bases(table: "Page") -> None:
    found = pieces(table)
    table.click("#mode-units")
    tap(table, found[0])
    table.fill("#editing label:has-text('Unit') input", "Guards")
    held: list[Any] = []
    table.route(CORRECTED, lambda route: held.append(route))
    with table.expect_request(CORRECTED):
        table.click("#editing >> text=Save")
    table.click("#mode-rule")
    with table.expect_response(CORRECTED):
        held[0].continue_()
    table.wait_for_selector("#progress", state="hidden")
    table.wait_for_selector("#ruling >> text=Tap the base to measure from")
    tap(table, found[0])
    table.wait_for_selector("#ruling >> text=now tap the target")


def test_a_base_that_another_phone_removes_leaves_the_unit_that_is_being_made(
    table: "Page", browser: "Browser", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Doubtful, "removes", True)
    found = pieces(table)
    table.click("#mode-units")
    for piece in found[:2]:
        tap(table, piece)
    other = opened(browser, table.url)
    other.click("#mode-correct")
    tap(other, found[0])
    with other.expect_response(CORRECTED):
        other.click("#editing >> text=Remove")
    other.context.close()
    table.fill("#editing label:has-text('Unit') input", "Guards")
    table.click("#editing >> text=Save")
    table.wait_for_selector("#editing >> text=Somebody else has corrected this table")
    table.wait_for_selector("#editing .next:text-is('1 base')")
    tap(table, found[2])
    table.wait_for_selector("#editing .next:has-text('2 bases')")
    table.fill("#editing label:has-text('Unit') input", "Guards")
    with table.expect_response(CORRECTED):
        table.click("#editing >> text=Save")
    named = [fix["id"] for fix in fixes_of(table) if fix["do"] == "name"]
    assert named == [found[1]["id"], found[2]["id"]]
