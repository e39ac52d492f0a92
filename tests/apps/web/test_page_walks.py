"""What people do on the page, in a real browser: the server is real, its photos are measured before."""

import asyncio
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn

from bench.phone_server import phone
from overruler.apps.web.faults import TaskFailed
from overruler.apps.web.guard import AccessPolicy
from overruler.apps.web.phone import app as application
from overruler.apps.web.phone.app import Settings, make_app
from overruler.apps.web.phone.worker_tasks import FIXES_FILE, SCENE_FILE, scene_text
from overruler.scene import Scene
from tests.apps.web.desk import (
    MISFIT_PX,
    OTHER_BOARD,
    OTHER_BOARD_PX,
    Ready,
    jpeg,
    scene,
    seen_twice,
)
from tests.apps.web.live_table import until
from tests.apps.web.page_geometry import faults_of
from tests.chromium import browser as browser
from tests.chromium import needs_browser
from tests.screens import boxes, complaints

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = needs_browser
KEY = "k7Hq-3vXbT_9sLmN2pRw8A"
PROBLEMS = ["The markers are blurred", "The table is bowed"]
FAILING_GAME = "skirmish"
"""The game by which nothing can be measured."""
SIZES = [(320, 568), (390, 844), (844, 390), (667, 375), (683, 384), (1280, 800)]


def doubtful_scene(found: Scene, game: str) -> Scene:
    """A scene with two warnings, a base that was placed by hand, and a ship without a front."""
    values = found.to_json()
    values["game"] = game
    values["calibration"]["problems"] = [{"text": text, "kind": "other"} for text in PROBLEMS]
    first, second = values["pieces"][:2]
    second["by_hand"] = True
    second.pop("image", None)
    if game == "xwing":
        first["base"] = {"shape": "rectangle", "width_mm": 40, "length_mm": 40}
        first["heading_modulo_deg"] = 90
    return Scene.from_json(values)


def without_removed(found: Scene, fixes: str) -> dict[str, Any]:
    """The scene without the pieces that corrections remove."""
    removed = {fix["id"] for fix in json.loads(fixes)["fix"] if fix["do"] == "remove"}
    values = found.to_json()
    values["pieces"] = [piece for piece in values["pieces"] if piece["id"] not in removed]
    if removed:
        del values["covariance"]  # of more pieces
    return values


class Doubtful(Ready):
    """Workers that find the doubtful scene."""

    joins = threading.Event()
    """Whether photos of one table are measured together at once; else when it is set again."""
    joins.set()
    removes = False
    """Whether the scene lacks what corrections remove."""

    async def run_task(
        self,
        name: str,
        folder: Path,
        arguments: list[Any],
        say: Callable[[str], None],
        urgent: bool = False,
    ) -> Any:
        if name == "measure" and arguments[0].game == FAILING_GAME:
            raise TaskFailed("there is no memory left")
        done = await super().run_task(name, folder, arguments, say, urgent)
        several = seen_twice if arguments[0].more else scene
        if name == "correct":
            (folder / FIXES_FILE).write_text(arguments[1])
            if self.removes:
                left = without_removed(several(), arguments[1])
                (folder / SCENE_FILE).write_text(scene_text(left))
        if name == "measure":
            while arguments[0].more and not self.joins.is_set():
                await asyncio.sleep(0.02)
            found = doubtful_scene(several(), arguments[0].game or "legion")
            (folder / SCENE_FILE).write_text(scene_text(found.to_json()))
        return done


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from serve(tmp_path_factory.mktemp("store"), None)


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from serve(tmp_path_factory.mktemp("locked"), KEY)


def serve(store: Path, key: str | None) -> Iterator[str]:
    """The address of a server in a thread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(application, "WorkerPool", Doubtful)
        app = make_app(Settings(store, AccessPolicy(frozenset({"127.0.0.1"}), key)))
        config = uvicorn.Config(app, port=0, log_level="error", ws="websockets-sansio")
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run)
        thread.start()
        while not running.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}/"
        running.should_exit = True
        thread.join()


@pytest.fixture
def page(browser: "Browser") -> Iterator["Page"]:
    found = phone(browser)
    yield found
    found.context.close()


def start(page: "Page", home: str, photo: Path, wide: int = 320) -> None:
    """Write a photo, and open the page on which it may be chosen."""
    photo.write_bytes(jpeg((wide, 240)))
    page.goto(home)
    page.wait_for_selector("html[data-ready]")


def send(
    page: "Page", home: str, table: str, photo: Path, wide: int = 320, game: str = "legion"
) -> None:
    start(page, home, photo, wide)
    page.select_option("#game", game)
    page.select_option("#table", table)
    page.set_input_files("#choose", photo)
    page.wait_for_selector("#modes:not([hidden]), #editing:not([hidden])")


def rule(page: "Page", count: int = 2) -> None:
    """Choose the first bases in the list."""
    page.click("#mode-list")
    for row in range(count):
        page.click(f"#rows li:nth-child({row + 1}) button")
    if count == 1:
        page.click("#bases [data-close]")


def test_every_download_in_the_menu_is_a_file(page: "Page", home: str, tmp_path: Path) -> None:
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    rule(page)
    page.wait_for_selector("#ruling .headline")
    page.wait_for_selector("#save-bundle[href]", state="attached")
    page.click("#more")
    for name, ending in (("picture", "png"), ("bundle", "zip"), ("scene", "json")):
        with page.expect_download() as waiting:
            page.click(f"#save-{name}")
        assert re.fullmatch(rf"overruler-\w+\.{ending}", waiting.value.suggested_filename)
        assert waiting.value.path().stat().st_size > 0
    page.click("#share")
    page.wait_for_selector("#code >> text=overruler serve --lan")
    assert page.locator("#code svg").count() == 0


def test_who_chooses_nothing_is_ruled_in_inches_and_changes_the_game_later(
    page: "Page", home: str, tmp_path: Path
) -> None:
    photo = tmp_path / "a.jpg"
    start(page, home, photo)
    assert "ruler of its own" not in page.inner_text("#game")  # two taps could rule nothing
    page.select_option("#table", "3x3 ft")
    page.set_input_files("#choose", photo)
    page.wait_for_selector("#modes:not([hidden])")
    rule(page)
    page.wait_for_selector("#ruling .headline")
    until(lambda: page.inner_text("#title") == "Any game in inches · 3x3 ft")
    complained = complaints(page)
    table = "**/api/measurements/*/table*"
    page.route(table, lambda route: None)  # it does not come yet
    page.click("#more")
    with page.expect_request(table):
        page.select_option("#other-game", "legion")
    page.wait_for_selector("#modes", state="hidden")  # nothing can be asked meanwhile
    page.wait_for_selector("#questions", state="hidden")
    page.unroute(table)
    page.wait_for_selector("#title:has-text('Legion')")
    page.wait_for_selector("#ruling .headline:has-text('ange')")  # of the same pair
    page.wait_for_selector("#questions")
    assert complained == []
    page.goto(home)
    page.wait_for_selector("html[data-ready]")
    assert page.input_value("#game") == "legion"


def test_a_table_without_hexes_is_told_before_it_is_asked_and_a_link_follows_its_game(
    page: "Page", home: str, tmp_path: Path
) -> None:
    complained = complaints(page)
    send(page, home, "3x3 ft", tmp_path / "a.jpg", game="tide_of_iron")
    rule(page)
    page.wait_for_selector("#ruling >> text=No hex grid was seen in this photo")
    page.reload()  # as who has the link
    page.wait_for_selector("#modes:not([hidden])")
    page.click("#more")
    page.select_option("#other-game", "positioning")
    page.wait_for_selector("#title:has-text('Positioning')")
    assert complained == []


def test_a_game_that_cannot_be_changed_to_leaves_the_table_as_it_was(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    rule(page)
    page.wait_for_selector("#ruling .headline")
    before = page.url
    page.click("#more")
    page.select_option("#other-game", FAILING_GAME)
    page.wait_for_selector("#ruling >> text=there is no memory left")
    until(lambda: (page.url, page.inner_text("#title")) == (before, "Legion · 3x3 ft"))
    page.click("#swap")
    page.wait_for_selector("#ruling .headline")


def test_the_reasons_are_in_sight_once_they_are_asked_for(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    rule(page)
    page.click("#why summary")

    def in_sight() -> bool:
        reasons, sheet, navigation = (
            boxes(page, name)[0] for name in ("#reasons", "#sheet", "#modes")
        )
        return bool(sheet[1] <= reasons[1] < reasons[3] <= navigation[1] + 1)

    until(in_sight)
    page.evaluate("document.getElementById('ruling').style.paddingBottom = '12rem'")
    until(in_sight)  # what lies above may come later than they do


def test_the_corners_are_those_of_the_table_that_was_chosen(
    page: "Page", home: str, tmp_path: Path
) -> None:
    for table in ("3x3 ft", "(no markers: I show the corners)"):
        send(page, home, table, tmp_path / "bare.jpg", wide=64)
        page.wait_for_selector("text=Show the mat's corners")
        for side in ("Wide", "Deep"):
            assert page.input_value(f"#editing label:has-text('{side}') input") == "914.4"


def test_the_board_that_the_markers_tell_is_measured_by(
    page: "Page", home: str, tmp_path: Path
) -> None:
    """Chosen by name, a wrong board needs one tap; chosen by its markers, none."""
    photo = tmp_path / "a.jpg"
    photo.write_bytes(jpeg((OTHER_BOARD_PX, 240)))
    for table in ("6x3 ft", "(known markers)"):
        page.goto(home)
        page.wait_for_selector("html[data-ready]")
        page.select_option("#table", table)
        page.set_input_files("#choose", photo)
        if table == "6x3 ft":
            page.click(f"text=Measure with {OTHER_BOARD}")
        page.wait_for_selector("#modes:not([hidden])")
        assert OTHER_BOARD in page.inner_text("#title")
    failed = [one for one in page.request.get(f"{home}api/measurements").json() if "fits" in one]
    assert failed == []


def test_a_page_loaded_again_meanwhile_still_goes_by_the_markers(
    page: "Page", home: str, tmp_path: Path
) -> None:
    """Nobody chose the board by which the photo was tried first: nobody is asked to change it."""
    photo = tmp_path / "a.jpg"
    start(page, home, photo, OTHER_BOARD_PX)
    page.select_option("#table", "(known markers)")
    page.route("**/api/measurements/*/again*", lambda route: None)  # nobody is left to ask for it
    with page.expect_response("**/api/measurements?*"):
        page.set_input_files("#choose", photo)
    page.goto(home)
    entry = page.locator("#list li:first-child a")
    until(lambda: page.reload() and OTHER_BOARD in entry.inner_text())
    assert "5 bases" in entry.inner_text()
    entry.click()
    page.wait_for_selector("#modes:not([hidden])")
    assert OTHER_BOARD in page.inner_text("#title")


def test_a_failed_photo_is_listed_in_a_few_words(page: "Page", home: str, tmp_path: Path) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg", wide=MISFIT_PX)
    page.click(".bar a")
    entry = page.locator("#list li:first-child small")
    entry.wait_for()
    assert entry.inner_text().endswith(" · not measured")


def test_markers_of_a_board_that_nobody_knows_are_told_without_figures(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "(known markers)", tmp_path / "a.jpg", wide=MISFIT_PX)
    page.wait_for_selector("text=No table that this page knows has its markers where they lie here")
    assert "px" not in page.inner_text("#editing")


def test_a_photo_without_markers_is_listed_under_no_table(
    page: "Page", home: str, tmp_path: Path
) -> None:
    """Its markers were to tell the table: nobody chose the one by which it was tried."""
    send(page, home, "(known markers)", tmp_path / "a.jpg", wide=64)
    page.reload()
    page.wait_for_selector("#editing:not([hidden])")
    assert page.inner_text("#title") == "Legion"
    page.click(".bar a")
    entry = page.wait_for_selector("#list li:first-child a")
    assert entry
    assert entry.inner_text().startswith("Legion\n")


def test_ground_is_told_in_the_chosen_unit_and_bases_by_the_names_of_their_sizes(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    page.click("#questions >> text=Ground")
    rule(page, count=1)
    page.fill("#reach", "20")
    page.dispatch_event("#reach", "change")
    page.wait_for_selector("#ruling .headline:has-text('3 bases in it')")
    millimetres = page.inner_text("#ruling .headline")
    which = page.inner_text("#ruling .detail")
    assert which.startswith("27 mm (near right), 50 mm (far), 60 × 40 mm rectangle (middle), ")
    assert "cm²" not in which  # it is said above
    page.click("#more")
    page.select_option("#unit", "in")
    page.click("#menu [data-close]")
    page.wait_for_selector("#ruling .headline:has-text('sq in')")
    assert page.inner_text("#ruling .detail") == which
    square_inches = float(page.inner_text("#ruling .headline").split(" sq in")[0])
    assert square_inches * 6.4516 == pytest.approx(float(millimetres.split(" cm²")[0]), abs=1)
    page.click("#mode-list")
    assert page.locator("button[data-piece]").count() > 3
    assert not page.locator(".undefined").count()
    page.evaluate("localStorage.clear()")


def test_of_ground_that_is_unsure_only_the_unsure_bases_are_listed_with_their_chances(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    headline = "100 cm², p01, p02, p03 in it"
    chances = {'["p01", "p02", "p03"]': 0.75, '["p01", "p02"]': 0.24, '["p01", "p02", "p04"]': 0.01}
    answer = {
        "pieces": ["p01", "p02", "p03"],
        "probability": chances,
        "call": "too close to call",
    }
    told = {
        "answer": answer,
        "headline": headline,
        "sentence": f"{headline}, too close to call",
    }
    script = """told => import('/static/ruling.js').then(({ ruled }) =>
        ruled(document.getElementById('ruling'), told, {}, (text) => text.replace("p03", "Luke")))"""
    page.evaluate(script, told)
    assert page.inner_text("#ruling .headline") == "100 cm², 3 bases in it"
    assert page.inner_text("#ruling .detail") == "2 of them sure, too close to call"
    rows = page.locator("#ruling .odds > div").all_inner_texts()
    assert [" ".join(row.split()) for row in rows] == ["Luke 75 %", "p04 1 %"]


@pytest.mark.parametrize("inches", ["-3", "", "500"])
def test_inches_that_cannot_be_are_asked_for_in_words(
    page: "Page", home: str, tmp_path: Path, inches: str
) -> None:
    complained = complaints(page)
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    page.click("#questions >> text=Ground")
    rule(page, count=1)
    page.wait_for_selector("#ruling .headline")
    page.fill("#reach", inches)
    page.dispatch_event("#reach", "change")
    page.wait_for_selector("#ruling .said >> text=from 0 to 200")
    page.fill("#reach", "6.25")
    page.dispatch_event("#reach", "change")
    page.wait_for_selector("#ruling .headline")
    assert complained == []


def test_a_table_without_terrain_hides_nothing_and_says_so(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    page.click("#questions >> text=Ground")
    rule(page, count=1)
    page.click("#questions >> text=Hidden")
    page.wait_for_selector("#ruling .headline:has-text('Nothing is hidden: no terrain is known')")

    def is_in_sight() -> bool:  # though other buttons came
        (row,), (chosen,) = boxes(page, "#questions"), boxes(page, "#questions [aria-pressed=true]")
        return bool(row[0] <= chosen[0] < chosen[2] <= row[2] + 1)

    until(is_in_sight)


def test_a_ruling_without_a_line_is_read_from_above_and_once(
    page: "Page", home: str, tmp_path: Path
) -> None:
    """Out of an arc, say: nothing is drawn, and no icon stands beside the words."""
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    told = "{ answer: {}, headline: 'out of arc', sentence: 'out of arc, 25.4 mm outside the line, certain' }"
    script = "import('/static/ruling.js').then(({ ruled }) => ruled(document.getElementById('ruling'), %s))"
    page.evaluate(script % told)
    assert page.inner_text("#ruling .detail") == "25.4 mm outside the line, certain"
    headline, detail = (boxes(page, f"#ruling .{name}")[0] for name in ("headline", "detail"))
    assert headline[3] <= detail[1] + 1


def test_no_line_ends_between_a_number_its_doubt_and_its_unit(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    words = {
        "headline": "Range 5",
        "detail": "likely, 60.0 mm inside the line · 669.6 ± 15.3 mm (95 %)",
    }
    told = {"answer": {}, "words": {**words, "between": [], "names": []}}
    script = "told => import('/static/ruling.js').then(({ ruled }) => ruled(document.getElementById('ruling'), told))"
    page.evaluate(script, told)
    assert page.inner_text("#ruling .detail").replace("\n", " ") == words["detail"]
    measure = """width => {
        const detail = document.querySelector("#ruling .detail");
        detail.style.width = `${width}px`;
        const whole = [...detail.querySelectorAll(".measure")].map((one) => one.getClientRects().length);
        return [detail.clientHeight, whole];
    }"""
    told_at = [page.evaluate(measure, width) for width in range(120, 400, 4)]
    assert all(whole == [1, 1, 1] for _, whole in told_at)
    assert len({height for height, _ in told_at}) > 1  # the words do break


def test_a_base_that_the_photo_does_not_confirm_says_so_where_it_is_corrected(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg")
    pieces = page.request.get(page.url.replace("/m/", "/api/measurements/") + "/table").json()
    piece = next(one for one in pieces["pieces"] if (one.get("doubt") or {}).get("by_hand"))
    page.click("#mode-correct")
    script = """([x, y]) => { const place = new DOMPoint(x, y)
        .matrixTransform(document.getElementById("drawing").getScreenCTM()); return [place.x, place.y]; }"""
    page.touchscreen.tap(*page.evaluate(script, piece["center_px"]))
    page.wait_for_selector("#editing >> text=The photo shows no such base here")


def test_what_makes_a_ruling_less_sure_is_read_beside_it(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg")
    rule(page)
    page.wait_for_selector("#ruling .warnings >> text=placed by hand and not found")
    assert page.locator("#warnings li").all_inner_texts() == PROBLEMS
    assert page.locator("#drawing .base.doubted").count() == 1


def test_the_toolbar_is_on_the_screen_and_the_sheet_beside_or_below_the_photo(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg")
    rule(page)
    page.wait_for_selector("#ruling .headline")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        until(lambda size=(width, height): is_laid_out(page, *size))


def is_laid_out(page: "Page", width: int, height: int) -> bool:
    """Whether the toolbar is in sight, nothing in the sheet overlaps, and the sheet leaves the photo free."""
    bar, sheet, photo = (
        page.locator(name).bounding_box() for name in ("#modes", "#sheet", "#picture")
    )
    assert bar
    assert sheet
    assert photo
    parts = page.locator("#sheet > :visible:not(nav)").all()
    shown = [box for part in parts if (box := part.bounding_box())]
    if width > height:
        free = photo["x"] + photo["width"] <= sheet["x"] + 1 and photo["height"] > 0.55 * height
    else:
        free = photo["y"] + photo["height"] <= sheet["y"] + 1
    return (
        free
        and bar["y"] + bar["height"] <= height
        and bar["x"] >= 0
        and bar["x"] + bar["width"] <= width
        and all(above["y"] + above["height"] <= below["y"] for above, below in pairwise(shown))
        and all(
            part.evaluate("(part) => part.scrollHeight <= part.clientHeight + 1") for part in parts
        )
    )


def test_without_the_key_a_page_says_what_to_do(page: "Page", locked: str) -> None:
    page.goto(locked)
    assert "Scan the code on the computer's screen" in page.inner_text("main")
    page.goto(f"{locked}?key={KEY}")
    page.wait_for_selector("#game option", state="attached")


def test_two_taps_set_a_front_and_the_attack_is_ruled(
    page: "Page", home: str, tmp_path: Path
) -> None:
    send(page, home, "6x3 ft", tmp_path / "a.jpg", game="xwing")
    page.click("#questions >> text=Attack")
    rule(page, count=1)
    page.wait_for_selector("text=Tap its number")
    page.wait_for_selector("#drawing .pin")
    assert not faults_of(page)
    place = page.locator("#drawing .hand .handle circle").first.bounding_box()
    assert place
    fixes = page.expect_request(re.compile("/fixes$"))
    with fixes as sent:
        page.touchscreen.tap(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    body = sent.value.post_data_json
    assert body
    assert body["fix"][0]["do"] == "turn"


def test_questions_out_of_sight_are_hinted_at(page: "Page", home: str, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    send(page, home, "3x3 ft", tmp_path / "a.jpg")
    page.wait_for_selector("#questions.more")
    page.evaluate("document.querySelector('#questions').scrollLeft = 9999")
    page.wait_for_selector("#questions:not(.more)")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_selector("#questions:not(.more)")
