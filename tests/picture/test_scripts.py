"""Names in every script: a picture reads from the first name to the second, whichever way they are written."""

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from overruler.picture.piece_names import arrow_text
from overruler.picture.report_drawing import draw_on_photo
from overruler.picture.text_layout import text_width
from overruler.report import Report
from tests.chromium import browser as browser
from tests.chromium import needs_browser
from tests.reports import RULINGS, pieces, report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = "שלום", "محمد"
PLACES = """(names) => [...document.querySelectorAll("text")].filter((one) => one.textContent.includes("→"))
  .flatMap((one) => [names[0], "→", names[1]].map((part) => {
    const letters = [...part].map((_, k) => one.getExtentOfChar(one.textContent.indexOf(part) + k));
    return letters.reduce((sum, box) => sum + box.x + box.width / 2, 0) / letters.length;
  }))"""
"""Where on the screen the names and the arrow between them stand."""


def named() -> Report:
    """A report of a ruling between two names that are written from right to left."""
    scene = report().scene
    called = dict(zip(("p01", "p02"), NAMES, strict=True))
    renamed = tuple(replace(one, id=called.get(one.id, one.id)) for one in pieces())
    ruling = replace(RULINGS[0], pair=NAMES)
    return replace(report(), scene=replace(scene, pieces=renamed), verdicts=(ruling,))


@needs_browser
def test_the_arrow_of_a_picture_points_from_the_first_name_to_the_second(
    browser: "Browser",
) -> None:
    page = browser.new_page()
    page.set_content(draw_on_photo(named()).document())
    first, arrow, second = page.evaluate(PLACES, NAMES)
    page.close()
    assert first < arrow < second


@pytest.mark.parametrize("names", [("p01", "p02"), ("Łódź", "Χίος")])
def test_names_that_turn_nothing_stand_as_they_are(names: tuple[str, str]) -> None:
    assert arrow_text(names) == f"{names[0]} → {names[1]}"


def test_the_marks_round_a_name_take_no_room() -> None:
    assert text_width(arrow_text(NAMES)) == text_width(" → ".join(NAMES))
