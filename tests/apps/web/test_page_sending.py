"""A photo on its way: whoever goes back, or has a bad network, does not lose it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.apps.web.desk import add_photo
from tests.apps.web.live_table import until
from tests.apps.web.test_page_kept import SENT
from tests.apps.web.test_page_walks import home as home
from tests.apps.web.test_page_walks import page as page
from tests.apps.web.test_page_walks import send, start
from tests.chromium import browser as browser
from tests.chromium import needs_browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = needs_browser
ADDED = "**/photos"
GO_ON = "text=Go on with your photo: it is being sent"
WAYS = ["the browser's button", "the page's arrow"]


def held(page: "Page", home: str, photo: Path) -> list[Any]:
    """Choose a photo that does not get through yet; what will let it."""
    start(page, home, photo)
    page.select_option("#table", "3x3 ft")
    waiting: list[Any] = []
    page.route(SENT, lambda route: waiting.append(route))
    with page.expect_request(SENT):
        page.set_input_files("#choose", photo)
    page.wait_for_selector("#photo:not([hidden])")
    return waiting


def back(page: "Page", way: str) -> None:
    page.go_back() if way == WAYS[0] else page.click(".bar a")
    page.wait_for_selector("#start:not([hidden])")


def listed(page: "Page") -> int:
    return page.locator("#list li").count()


@pytest.mark.parametrize("way", WAYS)
def test_who_goes_back_while_a_photo_is_sent_finds_it_in_the_list(
    page: "Page", home: str, tmp_path: Path, way: str
) -> None:
    waiting = held(page, home, tmp_path / "a.jpg")
    before = len(page.request.get(f"{home}api/measurements").json())
    back(page, way)
    page.wait_for_selector(GO_ON)
    waiting[0].continue_()
    page.wait_for_selector(GO_ON, state="hidden")
    until(lambda: len(page.request.get(f"{home}api/measurements").json()) == before + 1)
    until(lambda: listed(page) == min(before + 1, 12))
    assert page.url == home
    page.click("#list li:first-child a")
    page.wait_for_selector("#modes:not([hidden])")


def test_who_comes_back_to_a_photo_that_is_sent_sees_it_measured(
    page: "Page", home: str, tmp_path: Path
) -> None:
    waiting = held(page, home, tmp_path / "a.jpg")
    back(page, WAYS[1])
    page.click(GO_ON)
    page.wait_for_selector("#progress >> text=Sending the photo")
    waiting[0].continue_()
    page.wait_for_selector("#modes:not([hidden])")
    assert "/m/" in page.url
    page.go_back()
    page.wait_for_selector("#start:not([hidden])")


def test_another_photo_may_be_taken_while_one_is_sent(
    page: "Page", home: str, tmp_path: Path
) -> None:
    waiting = held(page, home, tmp_path / "a.jpg")
    before = len(page.request.get(f"{home}api/measurements").json())
    back(page, WAYS[0])
    page.unroute(SENT)
    page.set_input_files("#choose", tmp_path / "a.jpg")
    page.wait_for_selector("#modes:not([hidden])")
    address = page.url
    if len(page.request.get(f"{home}api/measurements").json()) < before + 2:
        waiting[0].continue_()
    until(lambda: len(page.request.get(f"{home}api/measurements").json()) == before + 2)
    page.wait_for_timeout(200)
    assert page.url == address
    assert page.locator("#progress").is_hidden()


def test_a_photo_that_does_not_get_through_is_sent_again_by_one_tap(
    page: "Page", home: str, tmp_path: Path
) -> None:
    """A telephone keeps no copy of a photo that its camera took for a page."""
    waiting = held(page, home, tmp_path / "a.jpg")
    waiting[0].abort()
    page.wait_for_selector("#start >> text=The photo did not get through")
    page.unroute(SENT)
    page.click("text=Send your photo again")
    page.wait_for_selector("#modes:not([hidden])")
    assert "3x3 ft" in page.inner_text("#title")


def test_a_file_that_is_no_photo_is_not_offered_again(
    page: "Page", home: str, tmp_path: Path
) -> None:
    start(page, home, tmp_path / "a.jpg")
    page.select_option("#table", "3x3 ft")
    (tmp_path / "b.jpg").write_bytes(b"no photo at all")
    page.set_input_files("#choose", tmp_path / "b.jpg")
    page.wait_for_selector("#start-said:not(:empty)")
    assert page.locator("#unsent").is_hidden()


def test_a_further_photo_that_does_not_get_through_is_sent_again_by_one_tap(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    page.route(ADDED, lambda route: route.abort())
    add_photo(page, tmp_path)
    page.wait_for_selector("#ruling >> text=The photo was not added")
    page.unroute(ADDED)
    page.click("text=Send it again")
    page.wait_for_selector("#photos:not([hidden])")


def test_a_further_photo_is_sent_while_somebody_is_at_the_start(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    waiting: list[Any] = []
    page.route(ADDED, lambda route: waiting.append(route))
    with page.expect_request(ADDED):
        add_photo(page, tmp_path)
    back(page, WAYS[1])
    page.wait_for_selector(GO_ON)
    waiting[0].continue_()
    page.wait_for_selector(GO_ON, state="hidden")
    assert page.url == home
    entry = page.locator("#list li:first-child a")
    until(lambda: page.reload() and "2 photos" in entry.inner_text())
    entry.click()
    page.wait_for_selector("#photos:not([hidden])")
