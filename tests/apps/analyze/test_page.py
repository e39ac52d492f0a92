"""The page of a film in a real browser: its slider, its tables, both looks, and no complaint."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.phone_server import patient_page
from overruler.apps.analyze import film_rulings, turns
from overruler.apps.analyze import page as pages
from overruler.apps.analyze.merge import FilmResults
from tests.apps.analyze.test_outputs import MOVE, scene
from tests.chromium import browser as browser
from tests.chromium import needs_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = needs_browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a film of 70 s in which one piece moves between its rests."""
    told = FilmResults(
        "a <b> & c", read_to_s=70.0, moves=[dict(MOVE)], problems=["2 damaged </script> pieces"]
    )
    told.rests = [
        {"time_s": t, "scene": scene(x), "still": "data:,"}
        for t, x in ((1.0, 100.0), (63.0, 200.0))
    ]
    told.bases = {name: {"shape": "circle", "diameter_mm": 27.0} for name in ("p01", "p02")}
    at = {"y_mm": 100.0, "sigma_mm": 0.2}
    told.stays = {
        "p01": [
            {"from_s": 0.0, "to_s": 61.5, "x_mm": 100.0, **at},
            {"from_s": 62.75, "to_s": 70.0, "x_mm": 200.0, **at},
        ],
        "p02": [{"from_s": 0.0, "to_s": 70.0, "x_mm": 400.0, **at}],
    }
    path: Path = tmp_path_factory.mktemp("page") / "report.html"
    touching = [
        {
            "time_s": 63.0,
            "from": "p01",
            "to": "p02",
            "distance_mm": 0.2,
            "sigma_mm": 0.3,
            "probability": 0.31,
        }
    ]
    in_turns = turns.turn_rows(
        told,
        [
            turns.Turn("1", 0.0, "red", "the start"),
            turns.Turn("<2>", 61.5, "", turns.WHY_LONG_PAUSE),
        ],
    )
    allowed = film_rulings.check_allowances(told, {"p01": 150.0})
    text = "".join(
        pages.render_page(told, film_rulings.rule_all_pairs(told), allowed, touching, in_turns)
    )
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser: "Browser", address: str) -> Iterator["Page"]:
    """Whatever the browser complains of, or asks anybody for, is an error."""
    found = patient_page(browser, viewport={"width": 1200, "height": 900})
    complaints: list[str] = []
    found.on(
        "console",
        lambda message: (
            complaints.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    found.on("pageerror", lambda error: complaints.append(str(error)))
    found.on(
        "request",
        lambda asked: complaints.append(asked.url) if asked.url.startswith("http") else None,
    )
    found.goto(address)
    yield found
    found.context.close()
    assert complaints == []


def across(page: "Page", name: str) -> float:
    """Where a piece is drawn on the table, in mm from the left."""
    shown = page.locator("#table g").filter(has_text=name).first.get_attribute("transform")
    place = re.match(r"translate\((\S+) ", shown or "")
    assert place is not None
    return float(place[1])


def test_the_slider_takes_the_pieces_where_they_were(page: "Page") -> None:
    for time_s, x_mm in ((0, 100.0), (62, 150.0), (69, 200.0), (1, 100.0)):
        page.locator("#time").fill(str(time_s))
        assert across(page, "p01") == pytest.approx(x_mm, abs=1.0)
        assert across(page, "p02") == pytest.approx(400.0)
    assert page.locator("#clock").inner_text() == "0:01.0 of 1:10.0"


def test_a_row_of_the_moves_goes_to_its_time_also_by_the_keyboard(page: "Page") -> None:
    row = page.locator("#moves tbody tr")
    assert row.locator("td").all_text_contents()[:3] == ["p01", "1:01.5", "1:02.8"]
    row.focus()
    page.keyboard.press("Enter")
    assert page.locator("#time").input_value() == "61.5"
    assert "now" in (row.get_attribute("class") or "")


def test_times_are_told_as_the_terminal_tells_them(page: "Page") -> None:
    told = page.evaluate("[1.797, 59.96, 3599.99, 3661.25].map(clock)")
    assert told == ["0:01.8", "1:00.0", "1:00:00.0", "1:01:01.3"]


def test_every_press_of_an_arrow_moves_the_clock_and_the_end_is_reached(page: "Page") -> None:
    page.focus("#time")
    for shown in ("0:00.1", "0:00.2"):
        page.keyboard.press("ArrowRight")
        assert page.inner_text("#clock") == f"{shown} of 1:10.0"
    page.keyboard.press("End")
    assert page.inner_text("#clock") == "1:10.0 of 1:10.0"


def test_distances_follow_the_chosen_pair_and_tables_are_filled(page: "Page") -> None:
    assert page.locator("#gap").inner_text().startswith("at the end 173.0 mm ± ")
    page.locator("#a").select_option("p02")
    page.locator("#b").select_option("p02")
    assert page.locator("#gap").inner_text() == "no rest shows both"
    assert page.locator("#ruled tbody tr").count() == 1
    assert page.locator("#allowed tbody tr").inner_text().split("\t")[0] == "p01"
    assert page.locator("#problems li").inner_text() == "2 damaged </script> pieces"
    assert page.locator("#stills figure").count() == 2


def test_it_plays_and_stops(page: "Page") -> None:
    page.get_by_role("button", name="Play").click()
    while float(page.locator("#time").input_value()) < 0.1:
        page.wait_for_timeout(10)
    page.get_by_role("button", name="Pause").click()
    stopped = page.locator("#time").input_value()
    page.wait_for_timeout(50)
    assert page.locator("#time").input_value() == stopped
    assert page.get_by_role("button", name="Play").count() == 1


@pytest.mark.parametrize("look", ["light", "dark"])
def test_words_are_readable_in_either_look(page: "Page", look: str) -> None:
    page.emulate_media(color_scheme=look)  # type: ignore[arg-type]
    ground, ink = page.evaluate(
        "() => { const one = getComputedStyle(document.body); return [one.backgroundColor, one.color]; }"
    )
    light, dark = sorted((luminance(colour) for colour in (ground, ink)), reverse=True)
    assert (luminance(ground) > 0.5) == (look == "light")
    assert (light + 0.05) / (dark + 0.05) > 7


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 has it."""
    shares = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_turns_and_contacts_are_listed(page: "Page") -> None:
    rows = page.locator("#turns tbody tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [
        ["1", "0:00.0", "1:01.5", "red", "0", "the start"],
        ["<2>", "1:01.5", "1:10.0", "", "1", "a long pause"],
    ]
    assert page.locator("#contacts tbody tr").all_inner_texts() == [
        "p01 – p02\t1:03.0\t0.2 mm ± 0.6 mm\t31 %"
    ]
