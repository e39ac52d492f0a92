"""Nothing that somebody has done is lost by going back, and a photo that the browser cannot show is told of."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from tests.apps.web.desk import jpeg
from tests.apps.web.live_table import until
from tests.apps.web.test_page_walks import home as home
from tests.apps.web.test_page_walks import page as page
from tests.apps.web.test_page_walks import send
from tests.chromium import browser as browser
from tests.chromium import needs_browser
from tests.screens import boxes

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = needs_browser
CORNERS = "(no markers: I show the corners)"
UNSEEN = "This browser cannot show the photo; the measurement goes on."
LINE = """() => {
    const words = document.createRange();
    words.selectNodeContents(document.getElementById("unseen"));
    const { top, bottom } = words.getBoundingClientRect();
    return [top, bottom];
}"""
"""Where that line stands."""
SENT = "**/api/measurements?*"
FIRST = "#drawing .hand .handle circle >> nth=0"


def drag_first_corner(page: "Page") -> list[float]:
    """Drag the first corner some way; where it then is on the screen."""
    page.wait_for_selector("text=Show the mat's corners")
    before = page.locator(FIRST).bounding_box()
    assert before
    x, y = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y + 40, steps=4)
    page.mouse.up()
    there = pytest.approx([before["x"] + 30, before["y"] + 40], abs=2)
    until(lambda: corners(page)[0][:2] == there)
    return [float(value) for value in corners(page).ravel()]


def corners(page: "Page") -> Any:
    return boxes(page, "#drawing .hand .handle circle")


def test_corners_are_kept_when_somebody_goes_back_and_comes_again(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg", wide=64)
    shown = drag_first_corner(page)
    page.fill("#editing label:has-text('Wide') input", "1000")
    page.go_back()
    page.wait_for_selector("#start:not([hidden])")
    page.go_forward()
    page.wait_for_selector("text=Show the mat's corners")
    until(lambda: corners(page).ravel().tolist() == pytest.approx(shown, abs=1))
    until(lambda: page.input_value("#editing label:has-text('Wide') input") == "1000")


@pytest.mark.parametrize("way", ["the browser's button", "the page's arrow"])
def test_a_photo_that_was_not_sent_waits_with_its_corners(
    page: "Page", home: str, tmp_path: Path, way: str
) -> None:
    send(page, home, CORNERS, tmp_path / "a.jpg")
    shown = drag_first_corner(page)
    if way == "the browser's button":
        page.go_back()
    else:
        page.click(".bar a")
    page.wait_for_selector("#start:not([hidden])")
    page.click("text=Go on with the corners of your photo")
    page.wait_for_selector("text=Show the mat's corners")
    until(lambda: corners(page).ravel().tolist() == pytest.approx(shown, abs=1))
    with page.expect_request(SENT) as asked:
        page.click("#editing >> text=Measure")
    assert "points=" in asked.value.url
    page.wait_for_selector("#modes:not([hidden])")


def test_a_phone_that_is_turned_over_corners_shows_the_photo_as_wide_as_the_screen(
    page: "Page", home: str, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    send(page, home, CORNERS, tmp_path / "a.jpg")
    page.wait_for_selector("text=Show the mat's corners")
    page.set_viewport_size({"width": 390, "height": 844})

    def is_laid_anew() -> bool:
        (left, _, right, bottom), (_, sheet_top, _, _) = boxes(page, "#picture, #sheet")
        return bool(370 < right - left <= 390 and bottom <= sheet_top + 1)

    until(is_laid_anew)


def test_another_photo_takes_the_place_of_one_that_waits(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, CORNERS, tmp_path / "a.jpg")
    drag_first_corner(page)
    page.go_back()
    page.wait_for_selector("#unsent:not([hidden])")
    page.select_option("#table", "6x3 ft")
    page.set_input_files("#choose", tmp_path / "a.jpg")
    page.wait_for_selector("#modes:not([hidden])")
    assert page.locator("#editing").is_hidden()
    page.go_back()
    page.wait_for_selector("html[data-ready] #start:not([hidden])")
    assert page.locator("#unsent").is_hidden()


def test_who_closes_the_page_over_corners_is_asked_first(
    page: "Page", home: str, tmp_path: Path
) -> None:
    asked: list[str] = []

    def leave(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", leave)
    send(page, home, CORNERS, tmp_path / "a.jpg")
    page.reload()  # nothing was done yet
    assert asked == []
    send(page, home, CORNERS, tmp_path / "a.jpg")
    drag_first_corner(page)
    page.reload()
    assert asked == ["beforeunload"]


def heic() -> bytes:
    heif = pytest.importorskip("pillow_heif", reason="HEIC needs pillow-heif")
    noise = np.random.default_rng(1).integers(0, 255, (240, 320, 3), np.uint8)
    out = io.BytesIO()
    heif.from_pillow(Image.fromarray(noise)).save(out)
    return out.getvalue()


@pytest.mark.parametrize("table", ["6x3 ft", CORNERS])
def test_a_photo_that_the_browser_cannot_show_is_told_and_then_shown_by_the_server(
    page: "Page", home: str, tmp_path: Path, table: str
) -> None:
    photo = tmp_path / "a.heic"
    photo.write_bytes(heic())
    page.goto(home)
    page.wait_for_selector("html[data-ready]")
    page.select_option("#table", table)
    waiting: list[Any] = []
    page.route(SENT, lambda route: waiting.append(route))
    with page.expect_request(SENT):
        page.set_input_files("#choose", photo)
    page.wait_for_selector(f"#stage >> text={UNSEEN}")

    def is_in_sight() -> bool:
        top, bottom = page.evaluate(LINE)
        return bool(boxes(page, ".bar")[0][3] <= top < bottom <= boxes(page, "#sheet")[0][1])

    until(is_in_sight)
    waiting[0].continue_()
    until(lambda: page.evaluate("document.getElementById('picture').naturalWidth"))
    page.wait_for_selector("#modes:not([hidden])")
    assert page.locator("#unseen").is_hidden()


def test_a_photo_that_the_browser_shows_is_not_said_to_be_unseen(
    page: "Page", home: str, tmp_path: Path
) -> None:
    photo = tmp_path / "a.jpg"
    photo.write_bytes(jpeg())
    page.goto(home)
    page.wait_for_selector("html[data-ready]")
    page.select_option("#table", "6x3 ft")
    page.route(SENT, lambda route: None)  # not answered yet
    with page.expect_request(SENT):
        page.set_input_files("#choose", photo)
    assert page.locator("#unseen").is_hidden()
