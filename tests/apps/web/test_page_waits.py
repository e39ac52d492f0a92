"""The page while the server works, and where something goes wrong: nothing old is read as new, nothing is lost."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bench.phone_server import phone
from tests.apps.web.desk import add_photo
from tests.apps.web.live_table import until
from tests.apps.web.test_page_walks import Doubtful, rule, send, start
from tests.apps.web.test_page_walks import home as home
from tests.apps.web.test_page_walks import page as page
from tests.chromium import browser as browser
from tests.chromium import needs_browser
from tests.screens import boxes

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request, Route

pytestmark = needs_browser
ASKED, CORRECTED = "**/ask?*", "**/fixes"
STATE = re.compile(r"/api/measurements/[a-z0-9]+$")
"""What the page asks of the server: a test holds it back as a busy server would."""
DROP = """([name, text, type]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name, { type }));
    return !document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""
"""Drop a file on the page: whether the page takes it, and the browser does not open it in its place."""

RING = """(one) => { const { left, top } = one.getBoundingClientRect(), style = getComputedStyle(one);
    const wide = parseFloat(style.outlineOffset) + parseFloat(style.outlineWidth);
    return [left - wide, top - wide]; }"""
"""Where the ring of the focus begins."""


def body(request: "Request") -> list[dict[str, Any]]:
    """The corrections that a request sends."""
    sent = json.loads(request.post_data or "{}")
    found: list[dict[str, Any]] = sent.get("fix") or [{"base": None}]
    return found


def tap(page: "Page", piece: dict[str, Any]) -> None:
    script = """([x, y]) => { const place = new DOMPoint(x, y)
        .matrixTransform(document.getElementById("drawing").getScreenCTM()); return [place.x, place.y]; }"""
    page.touchscreen.tap(*page.evaluate(script, piece["center_px"]))


def pieces(page: "Page") -> list[dict[str, Any]]:
    table = page.request.get(page.url.replace("/m/", "/api/measurements/") + "/table").json()
    found: list[dict[str, Any]] = table["pieces"]
    return [piece for piece in found if piece["center_px"]]


def test_an_earlier_answer_is_not_read_as_one_to_the_next_question(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    rule(page)
    page.wait_for_selector("#drawing .line .line")
    page.route(ASKED, lambda route: None)  # not answered yet
    page.click("#questions >> text=Ground")
    page.wait_for_selector("#ruling >> text=Measuring…")
    assert page.locator("#ruling .headline").count() == 0
    assert page.locator("#drawing .line .line").count() == 0
    page.unroute(ASKED)
    page.wait_for_selector("#ruling .headline:has-text('in it')")


def test_an_answer_that_comes_late_is_not_drawn_over_a_correction(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    page.click("#questions >> text=Ground")
    page.fill("#reach", "20")
    rule(page, count=1)
    page.wait_for_selector("#drawing .base.inside")
    page.route(ASKED, lambda route: None)  # not answered yet
    with page.expect_request(ASKED):
        page.click("#questions >> text=Ground")
    page.click("#mode-correct")
    assert page.locator("#drawing .base.inside").count() == 0
    with page.expect_response(ASKED):
        page.unroute(ASKED)
    page.wait_for_timeout(100)  # it would be drawn now
    assert page.locator("#drawing .base.inside").count() == 0
    assert page.locator("#drawing .shades path").count() == 0


def test_what_is_corrected_while_the_photo_is_looked_at_is_neither_refused_nor_lost(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg")
    found = pieces(page)
    page.click("#mode-correct")
    assert page.get_by_role("button", name="Undo the last").is_disabled()
    tap(page, found[0])
    page.route(CORRECTED, lambda route: None)
    with page.expect_request(CORRECTED):
        page.select_option("#editing select", "50 mm")
    page.click("#editing >> text=Done")
    page.keyboard.press("0")  # all of the photo
    tap(page, found[1])
    name = page.get_by_role("textbox", name="Name")
    name.fill("Luke")
    with page.expect_response(CORRECTED):
        page.unroute(CORRECTED)
    page.wait_for_selector("#progress", state="hidden")
    assert name.input_value() == "Luke"  # though the panel was drawn anew
    with page.expect_response(CORRECTED) as answer:
        page.keyboard.press("Enter")
    assert answer.value.status == 200
    fixes = body(answer.value.request)
    assert (fixes[-1]["do"], fixes[-1]["id"]) == ("name", found[1]["id"])


def test_two_corrections_at_once_are_sent_one_after_the_other(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg")
    page.click("#mode-correct")
    tap(page, pieces(page)[0])
    page.route(CORRECTED, lambda route: None)
    with page.expect_request(CORRECTED):
        page.select_option("#editing select", "50 mm")
    page.select_option("#editing select", "70 mm")
    with page.expect_response(lambda answer: body(answer.request)[-1]["base"] == "70 mm") as answer:
        page.unroute(CORRECTED)
    assert answer.value.status == 200


def test_what_cannot_be_pressed_looks_so(page: "Page", home: str, tmp_path: Path) -> None:
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    page.click("#mode-correct")
    undo = page.get_by_role("button", name="Undo the last")
    assert float(undo.evaluate("(one) => getComputedStyle(one).opacity")) < 0.6


def test_deleting_asks_again_each_time_and_says_where_it_failed(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    at = page.url
    page.click("#more")
    page.click("#forget")
    page.wait_for_selector("#forget >> text=Tap again")
    page.click("#menu [data-close]")
    page.click("#more")
    assert page.inner_text("#forget") == "Delete this photo and all of it"
    page.route(at.replace("/m/", "/api/measurements/"), lambda route: route.abort())
    page.click("#forget")
    page.click("#forget")
    page.wait_for_selector("#send-said >> text=It was not deleted")
    assert page.url == at


def test_a_dropped_file_of_a_kind_that_the_browser_does_not_know_is_looked_at(
    page: "Page", home: str
) -> None:
    page.goto(home)
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate(DROP, ["table.heic", "no picture", ""])
    page.wait_for_selector("#start-said >> text=this is not a photo")


def test_a_photo_without_known_markers_is_told_to_be_of_no_known_table(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "(known markers)", tmp_path / "bare.jpg", wide=64)
    page.wait_for_selector("#editing >> text=The markers of no known table were found")
    assert page.inner_text("#title") == "Legion"


def test_the_ring_of_the_focus_is_not_cut_off(page: "Page", home: str, tmp_path: Path) -> None:
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    first = page.locator("#questions button").first
    page.keyboard.press("Tab")
    first.focus()

    def is_whole() -> bool:
        ring, row = first.evaluate(RING), boxes(page, "#questions")[0]
        return bool(row[0] <= ring[0] and row[1] <= ring[1])

    until(is_whole)


def test_a_page_loaded_again_while_a_photo_is_added_goes_on_telling_of_it(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg")
    alone = page.url
    Doubtful.joins.clear()
    try:
        add_photo(page, tmp_path)
        page.wait_for_selector("#step:has-text('looking for bases')")
        page.reload()
        page.wait_for_selector("#modes:not([hidden])")
        page.wait_for_selector("#step:has-text('looking for bases')")
    finally:
        Doubtful.joins.set()
    page.wait_for_selector("#photos:not([hidden])")
    assert page.url != alone
    page.wait_for_selector("#progress", state="hidden")


def test_a_computer_that_is_away_while_a_photo_is_measured_is_asked_again(
    page: "Page", home: str, tmp_path: Path
) -> None:
    photo = tmp_path / "a.jpg"
    start(page, home, photo)
    page.route_web_socket("**/watch", lambda socket: socket.close())
    page.route(STATE, lambda route: route.abort())
    page.set_input_files("#choose", photo)
    page.wait_for_selector("#step >> text=does not answer")
    page.wait_for_selector("#step >> text=Trying again")
    page.unroute(STATE)
    page.wait_for_selector("#modes:not([hidden])")
    assert "/m/" in page.evaluate("location.pathname")


def fixes_of(page: "Page") -> list[dict[str, Any]]:
    """The corrections that the server has."""
    found: list[dict[str, Any]] = page.request.get(
        page.url.replace("/m/", "/api/measurements/") + "/table"
    ).json()["fixes"]
    return found


def resize(page: "Page", size: str) -> None:
    with page.expect_response(CORRECTED):
        page.select_option("#editing select", size)
    page.wait_for_selector("#progress", state="hidden")


def test_an_undo_that_does_not_get_through_loses_no_step(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg")
    one, other = pieces(page)[:2]
    page.click("#mode-units")
    tap(page, one)
    tap(page, other)
    page.get_by_role("textbox", name="Unit").fill("Guards")
    with page.expect_response(CORRECTED):
        page.click("#editing >> text=Save")  # one step, two corrections
    page.wait_for_selector("#progress", state="hidden")
    assert len(fixes_of(page)) == 2
    page.route(CORRECTED, lambda route: route.abort())
    page.click("#undo")
    page.wait_for_selector("#editing .said >> text=does not answer")
    page.unroute(CORRECTED)
    page.click("#undo")
    until(lambda: fixes_of(page) == [])


@pytest.mark.parametrize("does", ["Remove", "Add"])
def test_a_double_click_corrects_once(page: "Page", home: str, tmp_path: Path, does: str) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg")
    page.click("#mode-correct")
    if does == "Remove":
        tap(page, pieces(page)[0])
    else:
        page.click("#editing >> text=Add a base")
    page.route(CORRECTED, lambda route: None)
    pressed = page.locator("#editing").get_by_role("button", name=does, exact=True)
    with page.expect_request(CORRECTED):
        pressed.dblclick()
    assert float(pressed.evaluate("(one) => getComputedStyle(one).opacity")) < 0.6
    with page.expect_response(CORRECTED):
        page.unroute(CORRECTED)
    page.wait_for_selector("#progress", state="hidden")
    page.wait_for_timeout(300)  # a second one would be sent now
    assert [fix["do"] for fix in fixes_of(page)] == [does.lower()]
    assert page.locator("#editing .said").is_hidden()


def test_what_is_asked_of_a_base_that_is_being_removed_is_told_in_words(
    page: "Page", home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Doubtful, "removes", True)
    send(page, home, "6x3 ft", tmp_path / "a.jpg")
    gone = pieces(page)[0]
    page.click("#mode-correct")
    tap(page, gone)
    page.route(CORRECTED, lambda route: None)
    with page.expect_request(CORRECTED):
        page.click("#editing >> text=Remove")
    page.select_option("#editing select", "50 mm")
    page.unroute(CORRECTED)
    page.wait_for_selector("#editing .said >> text=it was removed meanwhile")


def test_two_phones_that_add_a_photo_at_once_lose_none(
    page: "Page", home: str, browser: "Browser", tmp_path: Path
) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg")
    other = phone(browser)
    other.goto(page.url)
    other.wait_for_selector("#modes:not([hidden])")
    Doubtful.joins.clear()
    try:
        add_photo(page, tmp_path)
        page.wait_for_selector("#step:has-text('looking for bases')")
        add_photo(other, tmp_path)
        other.wait_for_selector("#step:has-text('Somebody else added a photo: looking for bases')")
    finally:
        Doubtful.joins.set()
    other.wait_for_selector("#photos:not([hidden])")  # what the first one added
    other.wait_for_selector("#progress", state="hidden")
    page.wait_for_selector("#photos:not([hidden])")

    def shown() -> tuple[int, str]:
        told = other.request.get(other.url.replace("/m/", "/api/measurements/")).json()
        return told["photos"], told["before"]

    until(lambda: shown() == (3, page.url.rpartition("/")[2]))
    page.click("#more")
    page.click("#take-out")
    page.wait_for_selector("#ruling >> text=another photo was added")
    until(lambda: page.url == other.url)
    other.context.close()


def test_a_photo_is_sent_again_while_somebody_else_s_is_on_its_way(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg")
    refusals = iter(["another photo is being sent"])

    def answer(route: "Route") -> None:
        if refusal := next(refusals, None):
            route.fulfill(status=409, json={"error": refusal})
        else:
            route.continue_()

    page.route("**/photos", answer)
    add_photo(page, tmp_path)
    page.wait_for_selector("#step:has-text('Somebody else is sending a photo')")
    page.wait_for_selector("#photos:not([hidden])")


def test_advice_is_told_in_the_table_s_unit_with_digits_that_differ(
    page: "Page", home: str, tmp_path: Path
) -> None:
    advice = {"way": "from the left", "before_mm": 0.2, "after_mm": 0.1, "settles": False}
    page.route("**/advice?*", lambda route: route.fulfill(json=advice))
    send(page, home, "6x3 ft", tmp_path / "a.jpg", game="inches")
    rule(page)
    page.wait_for_selector("#advice >> text=± 0.008 in becomes ± 0.004 in.")


def test_outlines_lie_over_no_other_photo_than_their_own(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg")
    add_photo(page, tmp_path)
    page.wait_for_selector("#photos:not([hidden])")
    held: list[Route] = []
    page.route("**/photo?number=2", lambda route: held.append(route))
    outline = "document.querySelector('#drawing .base path').getAttribute('d')"
    before = page.evaluate(outline)
    page.click("[aria-label='Photo 2']")
    page.wait_for_selector("#step >> text=Loading the photo")
    assert page.evaluate(outline) == before
    held[0].continue_()
    page.wait_for_selector("#picture[src*='number=2']")
    until(lambda: page.evaluate(outline) != before)
    page.wait_for_selector("#progress", state="hidden")


def test_of_a_photo_that_is_being_measured_the_menu_offers_what_there_is(
    page: "Page", home: str, tmp_path: Path
) -> None:
    page.route_web_socket("**/watch", lambda socket: None)
    start(page, home, tmp_path / "a.jpg")
    page.set_input_files("#choose", tmp_path / "a.jpg")
    page.wait_for_selector("#step >> text=Waiting for its turn")
    page.click("#more")
    shown = page.locator("#menu li:visible").all_inner_texts()
    assert [line.split("\n")[0] for line in shown] == [
        "Show the link as a code",
        "Lengths",
        "Delete this photo and all of it",
    ]


def test_a_refusal_in_the_panel_is_in_sight(page: "Page", home: str, tmp_path: Path) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg", game="xwing")
    page.click("#mode-correct")
    tap(page, pieces(page)[0])
    page.route(CORRECTED, lambda route: route.abort())
    page.click("#editing >> text=Remove")
    page.wait_for_selector("#editing .said >> text=does not answer")
    until(lambda: boxes(page, "#editing .said")[0][3] <= boxes(page, "#modes")[0][1] + 1)


def test_going_back_from_the_corners_leads_to_the_start(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "(no markers: I show the corners)", tmp_path / "a.jpg")
    page.wait_for_selector("text=Show the mat's corners")
    page.go_back()
    page.wait_for_selector("#start:not([hidden])")
    assert page.url == home


def test_a_title_names_no_game_by_which_the_table_is_no_longer_measured(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    page.route_web_socket("**/watch", lambda socket: None)  # it takes its time
    page.click("#more")
    page.select_option("#other-game", "positioning")
    page.wait_for_selector("#step >> text=Waiting for its turn")
    page.wait_for_selector("#title:has-text('Positioning')")
