"""What is chosen shows in the system's own colours, what has the focus is in sight, arrows point the right way."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.phone_server import phone
from tests.apps.web.live_table import until
from tests.apps.web.test_page_walks import home as home
from tests.apps.web.test_page_walks import rule, send
from tests.chromium import browser as browser
from tests.chromium import needs_browser
from tests.screens import boxes

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = needs_browser
BACKGROUND = "(one) => getComputedStyle(one).backgroundColor"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_chosen_shows_in_the_systems_own_colours(
    browser: "Browser", home: str, tmp_path: Path, scheme: str
) -> None:
    page = phone(browser, forced_colors="active", color_scheme=scheme)
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    rule(page)
    page.wait_for_selector("#ruling .headline")
    for bar in ("#questions", "#modes"):
        chosen, other = (
            page.locator(f"{bar} button{state}").first.evaluate(BACKGROUND)
            for state in ("[aria-pressed=true]", ":not([aria-pressed=true])")
        )
        assert chosen != other, bar
    page.context.close()


def test_what_has_the_focus_does_not_lie_under_the_navigation(
    browser: "Browser", home: str, tmp_path: Path
) -> None:
    page = phone(browser, height_px=640)
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    rule(page)
    page.wait_for_selector("#advice:not([hidden]) button")
    page.focus("#bands")
    for _ in range(5):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('#modes') !== null"):
            break
        until(lambda: boxes(page, ":focus-visible")[0][3] <= boxes(page, "#modes")[0][1])
    page.context.close()


def test_an_arrow_points_from_the_first_name_to_the_second_in_any_script(
    browser: "Browser", home: str
) -> None:
    page = phone(browser)
    page.goto(home)
    page.wait_for_selector("html[data-ready]")
    words = {"headline": "Range 2", "detail": "", "between": ["a", "b"], "names": ["שלום", "עולם"]}
    page.evaluate(
        """words => import('/static/ruling.js').then(({ ruled }) => {
          document.getElementById("photo").hidden = false;
          ruled(document.getElementById('ruling'), { words, answer: { call: "certain" } });
        })""",
        words,
    )
    names = boxes(page, ".between bdi")
    assert names[0][2] < names[1][0]
    assert page.inner_text(".between") == "שלום → עולם"
    page.context.close()
