"""Names without a space, as long as the page takes them: nothing runs out of the sheet or of the list."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.apps.web.live_table import until
from tests.apps.web.test_page_walks import home as home
from tests.apps.web.test_page_walks import page as page
from tests.apps.web.test_page_walks import rule, send
from tests.chromium import browser as browser
from tests.chromium import needs_browser
from tests.screens import boxes

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = needs_browser
NAMES = ["W" * 40, "Großherzogtumsscharfschützenabteilung🚀🚀🚀"]
TABLE = re.compile(r"/api/measurements/\w+/table")


def call_by_long_names(route: "Route") -> None:
    """The table as the server tells it, but with long names."""
    answer = route.fetch()
    told: dict[str, Any] = answer.json()
    for piece, name in zip(told["pieces"], NAMES, strict=False):
        piece.update(name=name, unit=name, player=name)
    route.fulfill(response=answer, json=told)


@pytest.mark.parametrize("size", [(360, 740), (640, 400), (1280, 800)])
def test_a_long_name_pushes_nothing_out_of_sight(
    page: "Page", home: str, tmp_path: Path, size: tuple[int, int]
) -> None:
    """640 x 400 is a screen of 1280 x 800 at 200 %."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.route(TABLE, call_by_long_names)
    send(page, home, "6x3 ft", tmp_path / "a.jpg")

    def fits(holder: str, parts: str) -> bool:
        (held,), inner = boxes(page, holder), boxes(page, parts)
        return bool(
            len(inner) and inner[:, 0].min() >= held[0] and inner[:, 2].max() <= held[2] + 0.5
        )

    page.click("#mode-list")
    until(lambda: fits("#bases", "#bases p, #rows button, #rows button *"))
    page.click("#bases [data-close]")
    rule(page)
    page.wait_for_selector("#ruling .headline")
    until(lambda: fits("#sheet", "#ruling *"))
    for mode in ("correct", "units"):
        page.click(f"#mode-{mode}")
        page.click("#mode-list")
        page.click("#rows li:nth-child(1) button")
        if page.locator("dialog[open]").count():
            page.click("#bases [data-close]")
        page.wait_for_selector("#editing .row")
        until(lambda: fits("#sheet", "#editing *"))
