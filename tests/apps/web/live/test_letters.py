"""The desk in a browser whose letters are set larger: all words grow, and nothing is cut off or overlaps."""

from typing import TYPE_CHECKING

import pytest

from tests.apps.web.live.test_screens import control_faults, label_faults, opened
from tests.apps.web.live.test_screens import home as home
from tests.apps.web.live.test_screens import named as named
from tests.apps.web.page_geometry import faults_of_letters, lasting
from tests.chromium import large as large
from tests.chromium import needs_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@needs_browser
@pytest.mark.parametrize("size", [(360, 740), (1280, 800)])
def test_the_desk_grows_with_the_letters_that_somebody_set(
    large: "Browser", named: str, size: tuple[int, int]
) -> None:
    page = opened(large, named, size)
    page.goto(f"{named}/control")
    page.wait_for_selector(".tag rect", state="attached")
    found: list[str] = []
    for mode in range(1, 9):
        page.keyboard.press(str(mode))
        assert lasting(lambda: control_faults(page, size[0])) == [], f"under key {mode}"
        assert lasting(lambda: label_faults(page)) == []
        found += faults_of_letters(page)
    page.context.close()
    assert not found
