"""The page in a browser whose letters are set larger: all words grow, and nothing is cut off or overlaps."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.phone_server import phone
from tests.apps.web.page_geometry import faults_of, faults_of_letters
from tests.apps.web.test_page_walks import home as home
from tests.apps.web.test_page_walks import rule, send
from tests.chromium import large as large
from tests.chromium import needs_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = needs_browser


def faults(page: "Page", where: str) -> list[str]:
    """What is wrong with a page as it stands."""
    return [f"{where}: {fault}" for fault in [*faults_of_letters(page), *faults_of(page)]]


@pytest.mark.parametrize("size", [(360, 740), (1280, 800)])
def test_the_page_grows_with_the_letters_that_somebody_set(
    large: "Browser", home: str, tmp_path: Path, size: tuple[int, int]
) -> None:
    page = phone(large)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(home)
    page.wait_for_selector("html[data-ready]")
    found = faults(page, "the start")
    send(page, home, "6x3 ft", tmp_path / "a.jpg", game="inches")
    found += faults(page, "the table")
    rule(page)
    page.wait_for_selector("#ruling .headline")
    page.wait_for_selector("#drawing .pin")
    found += faults(page, "a ruling")
    page.click("#more")
    found += faults(page, "the menu")
    page.click("#menu [data-close]")
    page.click("#mode-list")
    found += faults(page, "the list")
    page.click("#bases [data-close]")
    for mode in ("correct", "units"):
        page.click(f"#mode-{mode}")
        page.click("#mode-list")
        page.click("#rows li:nth-child(2) button")
        if page.locator("dialog[open]").count():
            page.click("#bases [data-close]")
        page.wait_for_selector("#editing .next")
        found += faults(page, mode)
    page.context.close()
    assert not found
