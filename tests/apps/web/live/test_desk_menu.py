"""What the desk offers for the piece at hand, and its keys: all that are listed work, and all that work are listed."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from overruler.apps.web.guard import AccessPolicy
from overruler.apps.web.live.app import LiveServices, make_live_app
from overruler.apps.web.live.desk import Desk
from tests.apps.web.live.test_screens import StillTable, opened, post
from tests.apps.web.live_table import serving, until
from tests.chromium import browser as browser
from tests.chromium import needs_browser
from tests.screens import boxes

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = needs_browser
DOUBTED = "p01"
"""A round piece that may be none."""
FIXES = "**/api/live/fix"


class DoubtfulTable(StillTable):
    """The same table with one piece that may be none, until somebody confirms it."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.doubt(0.6)

    def doubt(self, probability: float) -> None:
        found = self.report.scene
        pieces = tuple(
            replace(one, extra={"probability": probability}) if one.id == DOUBTED else one
            for one in found.pieces
        )
        self.report = replace(self.report, scene=replace(found, pieces=pieces))
        self.number += 1

    def correct(self, fixes: Any) -> None:
        if any(fix.do == "confirm" for fix in fixes):
            self.doubt(1.0)
            self.tell()


@pytest.fixture
def home() -> Iterator[str]:
    desk = Desk()
    watcher: Any = DoubtfulTable(desk)
    services = LiveServices(desk, watcher, AccessPolicy(frozenset({"localhost"})))
    with serving(make_live_app(services)) as (address, _):
        until(lambda: desk.scene() is not None)
        yield address


@pytest.fixture
def page(browser: "Browser", home: str) -> Iterator["Page"]:
    found = opened(browser, home, (1280, 800))
    found.goto(f"{home}/control")
    found.wait_for_selector(".piece")
    yield found
    found.context.close()


def pick(page: "Page", name: str) -> None:
    page.focus(f"[data-id={name}]")
    page.keyboard.press("Enter")


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        (DOUBTED, {"Resize", "It is a piece", "Remove"}),
        ("p03", {"Resize", "Remove"}),
        ("p05", {"Resize", "Turn", "Remove"}),
    ],
    ids=["round and doubted", "round", "rectangle"],
)
def test_correct_offers_what_makes_sense_for_the_piece(
    page: "Page", name: str, offered: set[str]
) -> None:
    page.click("[data-mode=correct]")
    pick(page, name)
    page.wait_for_selector(f"#editing .next:has-text('{name}')")
    assert set(page.locator("#editing button").all_inner_texts()) == offered
    assert ("60 %" in page.inner_text("#editing .next")) == (name == DOUBTED)


def test_a_piece_that_somebody_confirms_is_doubted_no_longer(page: "Page") -> None:
    dashes = f"getComputedStyle(document.querySelector('[data-id={DOUBTED}] path')).strokeDasharray"
    assert page.evaluate(dashes) != "none"
    page.click("[data-mode=correct]")
    pick(page, DOUBTED)
    page.click("#editing >> text=It is a piece")
    until(lambda: page.evaluate(dashes) == "none")
    until(lambda: page.locator("#editing >> text=It is a piece").count() == 0)


def test_the_menu_follows_what_somebody_else_corrects(page: "Page", home: str) -> None:
    """News of the table may also come after the answer to one's own correction."""
    page.click("[data-mode=correct]")
    pick(page, DOUBTED)
    page.wait_for_selector("#editing >> text=It is a piece")
    fixes = {"schema": "overruler/fix/1", "fix": [{"do": "confirm", "id": DOUBTED}]}
    assert page.request.post(f"{home}/api/live/fix", data=fixes).ok
    until(lambda: page.locator("#editing >> text=It is a piece").count() == 0)
    assert "60 %" not in page.inner_text("#editing .next")


def test_a_turn_begins_from_where_the_piece_points_and_nothing_typed_turns_nothing(
    page: "Page",
) -> None:
    page.click("[data-mode=correct]")
    pick(page, "p05")
    field = page.locator("#editing input[type=number]")
    assert field.input_value() == "20"
    sent: list[str] = []
    page.on("request", lambda asked: sent.append(asked.url) if asked.method == "POST" else None)
    field.fill("")
    page.click("#editing >> text=Turn")
    page.wait_for_timeout(200)  # it would be sent now
    assert sent == []
    field.fill("135")
    with page.expect_request(FIXES) as asked:
        page.click("#editing >> text=Turn")
    body = asked.value.post_data_json
    assert body
    assert body["fix"] == [{"do": "turn", "id": "p05", "heading_deg": 135}]


@pytest.mark.parametrize(
    ("key", "listed", "asks"),
    [
        ("b", "B draws its range lines", "do/bands?piece=p03"),
        ("B", "B draws its range lines", "do/bands?piece=p03"),
        ("a", "A its arcs", "do/arcs?piece=p03"),
        ("s", "S swap", "do/swap"),
        ("S", "S swap", "do/swap"),
        ("f", "F freeze", "do/freeze"),
        ("z", "Z look closely", "do/close"),
        ("r", "R replay", "do/replay"),
        ("Escape", "Esc clear", "do/clear"),
        ("Delete", "Delete removes it", "fix"),
    ],
)
def test_a_key_does_what_the_list_says(
    page: "Page", home: str, key: str, listed: str, asks: str
) -> None:
    post(home, "do/pick?from=p03&to=p05")
    assert listed in page.inner_text("#keys")
    if key == "Delete":
        page.keyboard.press("5")
    page.focus("[data-id=p03]")
    asked = f"{home}/api/live/{asks}"
    with page.expect_request(lambda one: one.url.rstrip("?") == asked):
        page.keyboard.press(key)


@pytest.mark.parametrize("picks", ["Enter", " "])
def test_pieces_are_picked_nudged_and_measured_by_keys(page: "Page", picks: str) -> None:
    words = page.inner_text("#keys")
    for listed in ("Enter or Space", "arrows nudge it", "Shift: ten times", "M measures it there"):
        assert listed in words
    assert "1 to 8 what a click does" in words
    page.focus("[data-id=p02]")
    page.keyboard.press(picks)
    page.focus("[data-id=p03]")
    with page.expect_request("**/api/live/do/pick?*"):
        page.keyboard.press(picks)
    page.keyboard.press("5")
    page.focus("[data-id=p03]")
    before = page.evaluate("document.querySelector('[data-id=p03] circle').cx.baseVal.value")
    for press in ("ArrowRight", "Shift+ArrowRight"):
        page.keyboard.press(press)
    with page.expect_request(FIXES) as asked:
        page.keyboard.press("m")
    body = asked.value.post_data_json
    assert body
    assert body["fix"][0]["xy_px"][0] == pytest.approx(before + 11 - 0.5, abs=0.02)


def test_a_base_is_added_by_keys(page: "Page") -> None:
    """It begins in the middle of the picture; nudging it takes no size from who typed one."""
    assert "where a base is added, they move its place, and Esc cancels" in page.inner_text("#keys")
    page.keyboard.press("5")
    page.focus("#editing >> text=Add a base")
    page.keyboard.press("Enter")
    page.wait_for_selector("#editing >> text=Add a base here")
    size = page.get_by_label("Base", exact=True)
    size.fill("32")
    page.focus("#editing .next")
    for press in ("ArrowRight", "Shift+ArrowDown"):
        page.keyboard.press(press)
    assert size.input_value() == "32"
    box = (
        "(({ width, height }) => [width, height])(document.getElementById('table').viewBox.baseVal)"
    )
    wide, high = page.evaluate(box)
    with page.expect_request(FIXES) as asked:
        page.get_by_role("button", name="Add", exact=True).press("Enter")
    body = asked.value.post_data_json
    assert body
    assert (body["fix"][0]["do"], body["fix"][0]["base"]) == ("add", "32")
    assert body["fix"][0]["xy_px"] == pytest.approx([wide / 2 + 0.5, high / 2 + 9.5], abs=0.02)


@pytest.mark.parametrize("where", ["the panel", "the field"])
def test_escape_leaves_a_base_that_is_being_added_and_the_air_as_it_is(
    page: "Page", home: str, where: str
) -> None:
    post(home, "do/pick?from=p03&to=p05")
    page.keyboard.press("5")
    page.click("#editing >> text=Add a base")
    page.wait_for_selector("#editing >> text=Add a base here")
    page.focus("#editing .next" if where == "the panel" else "#editing input")
    page.keyboard.press("Escape")
    page.wait_for_selector("#editing >> text=Add a base here", state="detached")
    page.wait_for_timeout(200)  # the air would be cleared now
    assert post(home, "do/live")["pair"] == ["p03", "p05"]
    page.keyboard.press("Escape")
    until(lambda: post(home, "do/live")["pair"] is None)


def test_an_arrow_points_from_the_first_name_to_the_second_in_any_script(
    page: "Page", home: str
) -> None:
    names = {"p03": "שלום", "p05": "עולם"}
    named = [{"do": "name", "id": name, "unit": unit} for name, unit in names.items()]
    told = {"schema": "overruler/fix/1", "fix": named}
    assert page.request.post(f"{home}/api/live/fix", data=told).ok
    post(home, "do/pick?from=p03&to=p05")
    for line in ("#headline", "#detail"):
        page.wait_for_selector(f"{line} bdi")
        shown = page.locator(f"{line} bdi").all_inner_texts()
        assert [words.split()[0] for words in shown] == list(names.values())
        places = boxes(page, f"{line} bdi")
        assert places[0][1] < places[1][1] or places[0][2] < places[1][0]


def test_what_is_on_shows_in_the_systems_own_colours(browser: "Browser", home: str) -> None:
    page = opened(browser, home, (1280, 800), forced_colors="active")
    page.goto(f"{home}/control")
    page.wait_for_selector(".piece")
    on, off = (
        page.locator(f"[data-mode={mode}]").evaluate(
            "(one) => getComputedStyle(one).backgroundColor"
        )
        for mode in ("rule", "show")
    )
    assert on != off
    page.context.close()
