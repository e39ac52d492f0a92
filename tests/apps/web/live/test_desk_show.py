"""The show's form while other desks, or a Stream Deck, tell of the show too."""

from typing import TYPE_CHECKING, Any

import pytest

from tests.apps.web.live.test_desk_menu import home as home
from tests.apps.web.live.test_desk_menu import page as page
from tests.apps.web.live.test_screens import post
from tests.apps.web.live_table import until
from tests.chromium import browser as browser
from tests.chromium import needs_browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = needs_browser


def shown(page: "Page", home: str) -> Any:
    return page.request.get(f"{home}/api/live").json()["show"]


@pytest.fixture
def form(page: "Page", home: str) -> "Page":
    post(home, "do/score?player=red&score=3")
    page.click("[data-mode=show]")
    page.wait_for_selector("[aria-label='red: score']")
    return page


def field(page: "Page", name: str) -> Any:
    return page.get_by_label(f"red: {name}", exact=True)


def test_a_point_counts_from_the_score_that_holds(form: "Page", home: str) -> None:
    post(home, "do/score?player=red&score=7")
    until(lambda: field(form, "score").input_value() == "7")
    for _ in range(3):
        form.click("[aria-label='red: a point more']")
    until(lambda: shown(form, home)["scores"] == {"red": "10"})
    assert field(form, "score").input_value() == "10"


def test_a_name_is_not_told_back_with_a_colour(form: "Page", home: str) -> None:
    post(home, "do/player?player=red&name=Anna")
    field(form, "colour").fill("#123456")
    until(lambda: shown(form, home)["players"][0]["colour"] == "#123456")
    assert shown(form, home)["players"][0]["name"] == "Anna"
    until(lambda: field(form, "name").input_value() == "Anna")


def test_players_come_and_go_and_what_is_typed_stays(form: "Page", home: str) -> None:
    words = form.get_by_label("Caption", exact=True)
    words.fill("The last turn")
    field(form, "name").focus()
    form.keyboard.type("Z")
    post(home, "do/score?player=blue&score=1")
    form.wait_for_selector("[aria-label='blue: score']")
    post(home, "do/player?player=red&name=Anna")
    post(home, "do/round?text=Round+2")
    until(lambda: form.get_by_label("Round", exact=True).input_value() == "Round 2")
    assert "Z" in field(form, "name").input_value()
    assert words.input_value() == "The last turn"
    post(home, "do/score?player=blue&score=")
    form.wait_for_selector("[aria-label='blue: score']", state="detached")
    form.click("text=Caption on air")
    until(lambda: shown(form, home)["caption"] == ["The last turn", ""])
    form.click("text=Caption off")
    until(lambda: shown(form, home)["caption"] == ["", ""])
    assert words.input_value() == "The last turn"


def test_another_player_is_added_once(form: "Page", home: str) -> None:
    form.get_by_label("Another player", exact=True).fill("green")
    form.get_by_role("button", name="Add", exact=True).click()
    form.wait_for_selector("[aria-label='green: score']")
    assert form.locator(".score").count() == 2
    assert form.get_by_label("Another player", exact=True).input_value() == ""
