"""The page of a film in a browser whose letters are set larger."""

from typing import TYPE_CHECKING

import pytest

from bench.phone_server import patient_page
from tests.apps.analyze.test_page_screens import address as address
from tests.apps.web.page_geometry import faults_of_letters
from tests.chromium import large as large
from tests.chromium import needs_browser
from tests.screens import boxes, overlaps

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@needs_browser
@pytest.mark.parametrize("size", [(360, 740), (1280, 800)])
def test_the_page_of_a_film_grows_with_the_letters_that_somebody_set(
    large: "Browser", address: str, size: tuple[int, int]
) -> None:
    page = patient_page(large, viewport={"width": size[0], "height": size[1]})
    page.goto(address)
    page.wait_for_selector(".tag[font-size]", state="attached")
    body = page.evaluate("getComputedStyle(document.body).fontSize")
    small = faults_of_letters(page)
    edges = boxes(page, "#chart text")
    chart = boxes(page, "#chart")[0]
    wide = page.evaluate("document.documentElement.scrollWidth")
    page.context.close()
    assert body == "24px"
    assert not small
    assert overlaps(edges, edges) == []
    assert edges[:, 0].min() >= chart[0] - 1
    assert edges[:, 2].max() <= chart[2] + 1
    assert wide <= size[0]
