"""The page by its keys: names are typed, bases corrected without a pointer, and the focus stays where it is needed."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.apps.web.live_table import until
from tests.apps.web.test_page_waits import body, pieces, tap
from tests.apps.web.test_page_walks import home as home
from tests.apps.web.test_page_walks import page as page
from tests.apps.web.test_page_walks import rule, send
from tests.chromium import browser as browser
from tests.chromium import needs_browser

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request

pytestmark = needs_browser
CORRECTED = "**/fixes"
SLOW_PRESS_MS = 2500
"""Longer than a correction takes."""
FOCUSED = "() => document.activeElement.textContent || document.activeElement.tagName"


@pytest.fixture
def table(page: "Page", home: str, tmp_path: Path) -> "Page":
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    page.click("#mode-correct")
    page.wait_for_selector("#editing >> text=Correct a base")
    return page


def corrected(page: "Page", change: Any) -> list[dict[str, Any]]:
    """The corrections that the page sends because of a change."""
    with page.expect_response(CORRECTED) as told:
        change()
    page.wait_for_selector("#progress", state="hidden")
    request: Request = told.value.request
    return body(request)


@pytest.mark.parametrize("end", ["Enter", "Done"])
def test_a_name_is_typed_letter_by_letter(table: "Page", end: str) -> None:
    tap(table, pieces(table)[0])
    table.click("#editing label:has-text('Name') input")
    table.keyboard.type("Ünit <b>7</b>")
    press = (
        (lambda: table.keyboard.press("Enter"))
        if end == "Enter"
        else (lambda: table.click("#editing >> text=Done", delay=SLOW_PRESS_MS))
    )
    assert corrected(table, press)[-1]["new_id"] == "Ünit <b>7</b>"
    if end == "Done":  # the panel is not filled anew while the button is down
        table.wait_for_selector("#editing >> text=Correct a base")
    else:
        until(lambda: table.evaluate("document.activeElement.labels?.[0].textContent") == "Name")


def test_a_base_of_the_list_is_moved_by_the_arrow_keys(table: "Page") -> None:
    one = pieces(table)[0]
    table.focus("#mode-list")
    table.keyboard.press("Enter")
    table.wait_for_selector("#bases >> text=Choose the base to correct.")
    table.focus(f"[data-piece={one['id']}]")
    table.keyboard.press("Enter")
    table.wait_for_selector("#bases", state="hidden")
    until(lambda: one["name"] in table.evaluate(FOCUSED))
    for key in ("ArrowRight", "Shift+ArrowDown"):
        table.keyboard.press(key)
    table.focus("#editing >> text=Measure here")
    moved = corrected(table, lambda: table.keyboard.press("Enter"))[-1]
    assert (moved["do"], moved["id"]) == ("move", one["id"])
    step = table.evaluate("document.getElementById('drawing').getScreenCTM().a")
    away = [moved["xy_px"][axis] - (one["center_px"][axis] - 0.5) for axis in (0, 1)]
    assert away == pytest.approx([8 / step, 1 / step], abs=0.02)


def test_a_base_is_added_by_keys(table: "Page") -> None:
    table.focus("#editing >> text=Add a base")
    table.keyboard.press("Enter")
    until(lambda: table.evaluate(FOCUSED) == "Add a base here")
    table.keyboard.press("ArrowLeft")
    table.focus("#editing button.main")
    added = corrected(table, lambda: table.keyboard.press("Enter"))[-1]
    assert added["do"] == "add"
    wide, high = table.evaluate("[picture.width, picture.height]")
    assert 0 < added["xy_px"][0] < wide
    assert 0 < added["xy_px"][1] < high


def test_escape_takes_back_one_thing_at_a_time(table: "Page") -> None:
    """First the base that is chosen or being added, then the mode."""
    table.focus("#editing >> text=Add a base")
    for begun in ("Add a base here", pieces(table)[0]["name"]):
        if begun == "Add a base here":
            table.keyboard.press("Enter")
        else:
            tap(table, pieces(table)[0])
        until(lambda begun=begun: table.inner_text("#editing .next") == begun)
        table.keyboard.press("Escape")
        until(lambda: table.inner_text("#editing .next") == "Correct a base")
    table.keyboard.press("Escape")
    table.wait_for_selector("#editing", state="hidden")


def test_a_unit_is_made_of_the_list(table: "Page") -> None:
    table.click("#mode-units")
    table.click("#mode-list")
    for row in (1, 2):
        table.click(f"#rows li:nth-child({row}) button")
    until(lambda: table.locator("#rows [aria-pressed=true]").count() == 2)
    table.click("#bases [data-close]")
    table.wait_for_selector("#editing >> text=2 bases")


def test_the_focus_is_not_lost_with_the_button_that_was_pressed(table: "Page") -> None:
    tap(table, pieces(table)[0])
    table.focus("#editing >> text=Remove")
    corrected(table, lambda: table.keyboard.press("Enter"))
    until(lambda: table.evaluate(FOCUSED) == "Remove")  # of the panel that was drawn anew
    table.focus("#editing >> text=Done")
    table.keyboard.press("Enter")
    table.wait_for_selector("#editing >> text=Correct a base")
    until(lambda: table.evaluate(FOCUSED) == "Correct a base")


def test_the_base_that_is_corrected_is_the_one_that_is_marked(table: "Page") -> None:
    """The pair of a ruling is not marked in its place."""
    marked = (
        "() => [...document.querySelectorAll('#drawing .base.on')].map((one) => one.dataset.id)"
    )
    table.click("#mode-rule")
    rule(table)
    table.wait_for_selector("#ruling .headline")
    until(lambda: len(table.evaluate(marked)) == 2)
    pair = table.evaluate(marked)
    table.click("#mode-correct")
    until(lambda: table.evaluate(marked) == [])
    other = next(one for one in pieces(table) if one["id"] not in pair)
    tap(table, other)
    until(lambda: table.evaluate(marked) == [other["id"]])
    moved = corrected(table, lambda: table.select_option("#editing select", "50 mm"))
    assert moved[-1]["id"] == other["id"]
    table.wait_for_selector("#progress", state="hidden")
    until(lambda: table.evaluate(marked) == [other["id"]])
    table.click("#mode-rule")
    table.wait_for_selector("#ruling .headline")
    until(lambda: sorted(table.evaluate(marked)) == sorted(pair))
