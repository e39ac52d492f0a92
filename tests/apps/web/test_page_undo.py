"""Undo on the page: it takes back one's own last step, whatever others corrected meanwhile."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.phone_server import phone
from tests.apps.web.test_page_waits import CORRECTED, fixes_of, pieces, resize, tap
from tests.apps.web.test_page_walks import home as home
from tests.apps.web.test_page_walks import page as page
from tests.apps.web.test_page_walks import send
from tests.chromium import browser as browser
from tests.chromium import needs_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = needs_browser


def correct(page: "Page", index: int, *sizes: str) -> None:
    """Give a base other sizes, one after the other."""
    page.click("#mode-correct")
    tap(page, pieces(page)[index])
    for size in sizes:
        resize(page, size)
    page.click("#editing >> text=Done")


def add(page: "Page", *keys: str) -> None:
    """Add a base in the middle of the photo, moved by keys."""
    page.click("#mode-correct")
    page.click("#editing >> text=Add a base")
    for key in keys:
        page.keyboard.press(key)
    with page.expect_response(CORRECTED):
        page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_selector("#progress", state="hidden")


def opened(browser: "Browser", address: str) -> "Page":
    """Another phone at the same table."""
    other = phone(browser)
    other.goto(address)
    other.wait_for_selector("#modes:not([hidden])")
    return other


def undo(page: "Page") -> None:
    with page.expect_response(CORRECTED):
        page.click("#undo")
    page.wait_for_selector("#progress", state="hidden")


def sizes(page: "Page") -> list[str]:
    return [fix["base"] for fix in fixes_of(page)]


def test_an_undo_leaves_what_another_phone_corrected_since(
    page: "Page", home: str, browser: "Browser", tmp_path: Path
) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg")
    correct(page, 0, "50 mm")
    other = opened(browser, page.url)
    correct(other, 1, "70 mm", "100 mm")
    undo(page)  # the page has not shown the other's corrections yet
    page.wait_for_selector("#editing .said >> text=somebody else has corrected this table")
    assert sizes(page) == ["50 mm", "70 mm", "100 mm"]
    undo(page)
    assert sizes(page) == ["70 mm", "100 mm"]
    other.context.close()


def test_an_undo_of_what_another_phone_undid_says_so(
    page: "Page", home: str, browser: "Browser", tmp_path: Path
) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg")
    correct(page, 0, "50 mm", "70 mm")
    other = opened(browser, page.url)
    undo(other)
    undo(page)
    page.wait_for_selector("#editing .said >> text=somebody else has corrected this table")
    page.click("#undo")
    page.wait_for_selector("#editing .said >> text=undone already")
    assert sizes(page) == ["50 mm"]
    undo(page)
    assert sizes(page) == []
    other.context.close()


def test_a_base_that_was_added_before_another_s_is_not_undone_under_it(
    page: "Page", home: str, browser: "Browser", tmp_path: Path
) -> None:
    """The other's base would go by another name, and so would what is corrected of it."""
    send(page, home, "6x3 ft", tmp_path / "a.jpg")
    add(page)
    other = opened(browser, page.url)
    add(other, "ArrowLeft")
    other.context.close()
    undo(page)
    page.wait_for_selector("#editing .said >> text=somebody else has corrected this table")
    page.click("#undo")
    page.wait_for_selector("#editing .said >> text=remove yours under Correct")
    assert [fix["do"] for fix in fixes_of(page)] == ["add", "add"]


@pytest.mark.parametrize("mode", ["rule", "correct", "units"])
def test_an_undo_that_fails_says_so_in_every_mode(
    page: "Page", home: str, tmp_path: Path, mode: str
) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg")
    correct(page, 0, "50 mm")
    page.click("#mode-rule")
    page.click(f"#mode-{mode}")
    page.route(CORRECTED, lambda route: route.abort())
    page.click("#undo")
    page.wait_for_selector(":is(#ruling, #editing) .said >> text=does not answer")
