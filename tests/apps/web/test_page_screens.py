"""The page on screens of every size: nothing overlaps, nothing is too small; several photos; keys; sharing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bench.phone_server import phone
from tests.apps.web.desk import add_photo, jpeg
from tests.apps.web.live_table import until
from tests.apps.web.page_geometry import faults_of
from tests.apps.web.test_page_walks import home as home
from tests.apps.web.test_page_walks import rule, send
from tests.chromium import browser as browser
from tests.chromium import needs_browser
from tests.screens import barriers

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = needs_browser
SCREENS = ((320, 568), (390, 844), (844, 390), (820, 1180), (1280, 800), (1920, 1080))
"""Width and height of phones, a tablet and computers."""


@pytest.fixture(scope="module")
def kept(browser: "Browser") -> Iterator["Page"]:
    """One page for all tests; whatever the browser complains of is an error."""
    found = phone(browser)
    complaints: list[str] = []
    found.on("console", lambda message: complaints.append(message.text))
    found.on("pageerror", lambda error: complaints.append(str(error)))
    yield found
    found.context.close()
    assert not complaints


@pytest.fixture(scope="module")
def link(kept: "Page", home: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where a table of two photos is."""
    folder = tmp_path_factory.mktemp("photos")
    send(kept, home, "6x3 ft", folder / "a.jpg")
    add(kept, folder)
    return kept.url


@pytest.fixture
def table(kept: "Page", link: str) -> "Page":
    """The table, with a ruling between two bases."""
    kept.set_viewport_size({"width": 390, "height": 844})
    kept.goto(link)
    kept.wait_for_selector("#modes:not([hidden])")
    rule(kept)
    kept.wait_for_selector("#ruling .headline")
    return kept


def choose_unit(page: "Page", name: str) -> None:
    page.click("#more")
    page.select_option("#unit", name)
    page.click("#menu [data-close]")


def add(page: "Page", tmp_path: Path) -> None:
    add_photo(page, tmp_path)
    page.wait_for_selector("#photos:not([hidden])")


def look(page: "Page", where: str) -> list[str]:
    """The faults of what is shown, on every screen."""
    found = []
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        found += [f"{where}, {width} x {height}: {fault}" for fault in faults_of(page)]
    return found


def test_nothing_overlaps_and_nothing_is_too_small_on_any_screen(table: "Page") -> None:
    faults = look(table, "a ruling")
    table.click("#bands")
    table.wait_for_selector("#drawing .band")
    faults += look(table, "rings")
    table.click("#more")
    faults += look(table, "the menu")
    assert table.inner_text("#forget") == "Delete these photos and all that is kept of them"
    table.click("#menu [data-close]")
    table.click("#mode-list")
    faults += look(table, "the list")
    table.click("#bases [data-close]")
    for mode, words in (("correct", "Correct a base"), ("units", "Make a unit")):
        table.click(f"#mode-{mode}")
        table.wait_for_selector(f"text={words}")
        faults += look(table, mode)
    table.click(".bar a")
    table.wait_for_selector("#start:not([hidden])")
    faults += look(table, "the start")
    assert not faults


def test_what_assistive_technology_reads_is_sound(table: "Page") -> None:
    for opener in ("", "#more", "#mode-list", "#mode-correct"):
        if opener:
            table.click(opener)
        assert barriers(table) == []
        if table.locator("dialog[open]").count():
            table.click("dialog[open] [data-close]")
    table.click("#mode-rule")
    table.emulate_media(color_scheme="dark")
    table.wait_for_selector("#ruling .headline")
    assert barriers(table) == []
    table.emulate_media(color_scheme="light")


def test_a_photo_is_added_looked_at_and_taken_out_again(
    kept: "Page", home: str, tmp_path: Path
) -> None:
    send(kept, home, "6x3 ft", tmp_path / "a.jpg")
    rule(kept)
    kept.wait_for_selector("#ruling .headline")
    alone = kept.url
    kept.wait_for_selector(
        "text=A photo from the opposite side would settle it: ± 2.0 mm becomes ± 0.8 mm."
    )
    choose_unit(kept, "in")
    kept.wait_for_selector("#advice >> text=± 0.08 in becomes ± 0.03 in.")
    choose_unit(kept, "")
    add(kept, tmp_path)
    kept.wait_for_selector("#ruling .headline")
    until(lambda: kept.url != alone)
    kept.wait_for_selector("#warnings >> text=stood elsewhere in photo 2")
    pin = "document.querySelector('#drawing .pin circle')?.getBoundingClientRect().x"
    before = kept.evaluate(pin)
    kept.click("#photos >> text=2")
    kept.wait_for_selector("#photos [aria-pressed=true] >> text=2")
    kept.wait_for_selector("#ruling .headline")
    kept.wait_for_function(f"(was) => Math.abs({pin} - was) > 40", arg=before)
    kept.goto(alone)  # who has the older link sees what all photos gave
    kept.wait_for_selector("#photos:not([hidden])")
    assert kept.url != alone
    kept.click("#more")
    kept.click("#take-out")
    kept.wait_for_selector("#photos", state="hidden")
    until(lambda: kept.url == alone)


def test_a_base_is_added_on_the_photo_that_is_shown(table: "Page") -> None:
    table.click("#photos >> text=2")
    table.wait_for_selector("#photos [aria-pressed=true] >> text=2")
    table.click("#mode-correct")
    table.wait_for_selector("#editing >> text=Correct a base")
    assert table.inner_text("#photos [aria-pressed=true]") == "2"
    table.mouse.click(40, 330)
    with table.expect_request(lambda request: request.method == "PUT") as told:
        table.click("#editing >> button:text('Add')")
    (fix,) = json.loads(told.value.post_data or "")["fix"]
    assert (fix["do"], fix["photo"]) == ("add", 1)
    table.click("#photos >> text=1")
    table.wait_for_selector("#photos [aria-pressed=true] >> text=1")
    table.wait_for_selector("#editing >> text=Correct a base")


def test_lengths_are_told_in_the_unit_that_somebody_chose(table: "Page") -> None:
    table.wait_for_selector("#ruling >> text= mm (95 %)")
    choose_unit(table, "in")
    table.wait_for_selector("#ruling >> text= in (95 %)")
    table.reload()
    table.wait_for_selector("#modes:not([hidden])")
    rule(table)
    table.wait_for_selector("#ruling >> text= in (95 %)")
    table.evaluate("localStorage.clear()")


def test_the_systems_sheet_is_given_the_picture_or_else_the_link(table: "Page") -> None:
    script = """(takes) => {
        window.shared = [];
        navigator.canShare = () => takes;
        navigator.share = async (given) => window.shared.push(given.files ? given.files[0].name : given.url); }"""
    for takes, ending in ((True, ".png"), (False, "/m/")):
        table.evaluate(script, takes)
        table.click("#more")
        table.click("#send")
        table.wait_for_function("() => window.shared.length === 1")
        assert ending in table.evaluate("window.shared[0]")
        table.click("#menu [data-close]")


def test_a_computer_zooms_pans_and_undoes_by_keys(table: "Page") -> None:
    place = "document.getElementById('picture').style.transform"
    for key in ("+", "ArrowLeft", "-", "0"):
        before = table.evaluate(place)
        table.keyboard.press(key)
        until(lambda before=before: table.evaluate(place) != before)
    table.keyboard.press("Escape")
    table.wait_for_selector("text=Tap the base to measure from")


def test_a_pasted_photo_is_measured(kept: "Page", home: str) -> None:
    kept.goto(home)
    kept.wait_for_selector("html[data-ready]")
    bytes_of_photo = list(jpeg((320, 240)))
    script = """(bytes) => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(bytes)], "a.jpg", { type: "image/jpeg" }));
        dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })); }"""
    kept.evaluate(script, bytes_of_photo)
    kept.wait_for_selector("#modes:not([hidden])")


def test_the_page_can_be_installed(kept: "Page", home: str) -> None:
    manifest: dict[str, Any] = kept.request.get(f"{home}static/overruler.webmanifest").json()
    for icon in manifest["icons"]:
        assert kept.request.get(home.rstrip("/") + icon["src"]).ok
    assert (manifest["start_url"], manifest["display"]) == ("/", "standalone")
