"""The page in a phone's hands: a real browser with touch, a real server, real photos made small."""

import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from bench.phone_server import SAMPLES, phone, server
from tests.apps.web.live_table import until
from tests.chromium import browser as browser
from tests.chromium import needs_browser
from tests.screens import boxes
from tests.waiting import LONG_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

pytestmark = needs_browser
WIDTH_PX = 1920
FINGER_PX = 44
MEASURED_MS = 1000 * LONG_S
EXPECTED = (("412", "/fixes"), ("415", "/measurements?"), ("422", "/ask"))
"""Refusals that tests bring about, and of what: Chromium tells of each, whatever the page makes of it."""


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample photos, small enough to be measured quickly."""
    folder = tmp_path_factory.mktemp("photos")
    for name in ("legion_desert", "xwing_space", "skirmish_city"):
        with Image.open(SAMPLES / f"{name}.jpg") as photo:
            size = (WIDTH_PX, round(photo.height * WIDTH_PX / photo.width))
            photo.resize(size, Image.Resampling.BOX).save(folder / f"{name}.jpg", quality=92)
    Image.new("RGB", (800, 600), "#7a8a6a").save(folder / "bare.jpg")
    return folder


@pytest.fixture(scope="module")
def home() -> Iterator[str]:
    """The address of a server in a process of its own."""
    with server() as (address, _):
        yield address


@pytest.fixture
def page(browser: "Browser", home: str) -> Iterator["Page"]:
    """A phone; whatever the browser complains of is an error."""
    found = phone(browser)
    complaints: list[str] = []

    def heard(message: "ConsoleMessage") -> None:
        if message.type in ("error", "warning") and not expected(message):
            complaints.append(message.text)

    found.on("console", heard)
    found.on("pageerror", lambda error: complaints.append(str(error)))
    found.goto(home)
    found.wait_for_selector("html[data-ready]")
    yield found
    found.context.close()
    assert not complaints


def expected(message: "ConsoleMessage") -> bool:
    return any(
        f"status of {code}" in message.text and of in message.location["url"]
        for code, of in EXPECTED
    )


# --- what fingers do ---


def send(page: "Page", game: str, table: str, photo: Path) -> None:
    page.select_option("#game", game)
    page.select_option("#table", table)
    page.set_input_files("#choose", photo)
    page.wait_for_selector("#modes:not([hidden]), #editing:not([hidden])", timeout=MEASURED_MS)


def told(page: "Page") -> dict[str, Any]:
    """The table as the server has it."""
    address = page.url.replace("/m/", "/api/measurements/") + "/table"
    with urllib.request.urlopen(address) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def on_screen(page: "Page", place: list[float]) -> tuple[float, float]:
    """Where on the screen a place of the photo is."""
    script = """([x, y]) => { const svg = document.getElementById("drawing");
        const place = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM()); return [place.x, place.y]; }"""
    x, y = page.evaluate(script, place)
    return x, y


def tap(page: "Page", piece: dict[str, Any], beside: float = 0.0) -> None:
    x, y = on_screen(page, piece["center_px"])
    page.touchscreen.tap(x + beside, y)


def drag(page: "Page", path: list[tuple[float, float]], held: str = "") -> None:
    """One finger along a path on the screen; `held` must be in sight before it lets go."""
    touch = page.context.new_cdp_session(page)
    for kind, places in (("touchStart", path[:1]), ("touchMove", path[1:])):
        for x, y in places:
            touch.send(
                "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]}
            )
    if held:
        page.wait_for_selector(held)
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def apart(pieces: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two pieces farthest from each other, which no finger confuses."""
    ordered = sorted(pieces, key=lambda piece: piece["place_mm"][0])
    return ordered[0], ordered[-1]


def settled(page: "Page") -> None:
    """Corrections have been applied."""
    page.wait_for_selector("#progress", state="hidden", timeout=MEASURED_MS)


@pytest.fixture(scope="module")
def links() -> dict[str, str]:
    """Where the photos that were measured are."""
    return {}


@pytest.fixture
def opened(page: "Page", photos: Path, links: dict[str, str]) -> Callable[[str], dict[str, Any]]:
    """A photo on the page, measured now or before."""

    def shown(game: str) -> dict[str, Any]:
        if game in links:
            page.goto(links[game])
            page.wait_for_selector("#modes:not([hidden])", timeout=MEASURED_MS)
        else:
            (photo,) = photos.glob(f"{game}_*.jpg")
            send(page, game, photo.stem.replace("_", " "), photo)
            links[game] = page.url
        return told(page)

    return shown


Opened = Callable[[str], dict[str, Any]]

# --- tests ---


@pytest.mark.parametrize(
    ("game", "word"), [("legion", "range"), ("xwing", "range"), ("skirmish", " in")]
)
def test_from_photo_to_ruling(page: "Page", opened: Opened, game: str, word: str) -> None:
    found = opened(game)
    assert len(found["pieces"]) >= 5
    assert page.locator("#drawing .base").count() == len(found["pieces"])
    one, other = apart(found["pieces"])
    tap(page, one)
    page.wait_for_selector(f"text=From A, {one['name']}")
    tap(page, other, beside=FINGER_PX / 2 - 3)
    page.wait_for_selector("#ruling .headline")
    said = page.inner_text("#ruling").lower()
    assert word in said or "past the ruler" in said
    assert "95 %" in said
    assert page.locator("#drawing .line path.core").count() == 1
    assert page.locator("#ruling").get_attribute("aria-live") == "polite"
    page.click("#bands")
    page.wait_for_selector("#drawing .band")
    page.click("#swap")
    page.wait_for_selector(f"#ruling >> text=A, {other['name']} → B, {one['name']}")


def test_one_tap_shades_the_ground_round_a_base(page: "Page", opened: Opened) -> None:
    first, last = apart(opened("legion")["pieces"])
    page.click("#questions >> text=Ground")
    tap(page, first)
    page.wait_for_selector(".shades .shade path")
    page.fill("#reach", "4")
    page.wait_for_selector("#ruling >> text=cm²")
    area = page.text_content("#ruling .headline")
    page.fill("#reach", "12")
    page.dispatch_event("#reach", "change")
    page.wait_for_function(
        "was => document.querySelector('#ruling .headline')?.textContent !== was", arg=area
    )
    page.click("#questions >> text=Distance")
    tap(page, last)
    page.wait_for_selector("#drawing .line path")
    assert page.locator(".shades .shade").count() == 0


def test_on_a_small_phone_the_ruling_covers_no_base(page: "Page", opened: Opened) -> None:
    page.set_viewport_size({"width": 320, "height": 600})
    one, other = apart(opened("skirmish")["pieces"])
    tap(page, one)
    tap(page, other)
    page.wait_for_selector("#ruling .headline")
    until(lambda: boxes(page, "#drawing .base path")[:, 3].max() <= boxes(page, "#sheet")[0][1])


def test_the_line_lies_at_the_closest_points(page: "Page", opened: Opened) -> None:
    one, other = apart(opened("legion")["pieces"])
    tap(page, one)
    tap(page, other)
    page.wait_for_selector("#drawing .line path.core")
    ends = page.evaluate("""() => {
        const line = document.querySelector("#drawing .line path.core");
        const places = [0, line.getTotalLength()].map((at) => line.getPointAtLength(at));
        return places.map((place) => [place.x, place.y]); }""")
    for piece, (x, y) in zip((one, other), ends, strict=True):
        away = ((x - piece["center_px"][0]) ** 2 + (y - piece["center_px"][1]) ** 2) ** 0.5
        assert away == pytest.approx(piece["reach_px"], rel=0.2)


def test_a_base_is_removed_added_and_named_and_it_can_be_undone(
    page: "Page", opened: Opened
) -> None:
    before = opened("skirmish")["pieces"]
    lone, other = apart(before)
    page.click("#mode-correct")
    tap(page, lone)
    page.click("#editing >> text=Remove")
    settled(page)
    page.wait_for_selector("text=Undo the last")
    until(lambda: len(told(page)["pieces"]) == len(before) - 1)
    x, y = on_screen(page, lone["center_px"])
    page.touchscreen.tap(x, y)
    page.select_option("#editing select", lone["base"]["name"])
    page.get_by_role("button", name="Add", exact=True).click()
    settled(page)
    page.wait_for_selector("text=Correct a base")

    def placed() -> list[list[float]]:
        known = {one["id"] for one in before}
        return [one["place_mm"] for one in told(page)["pieces"] if one["id"] not in known]

    until(lambda: len(placed()) == 1)
    assert placed()[0] == pytest.approx(lone["place_mm"], abs=6.0)
    page.click("text=Undo the last")
    settled(page)
    page.wait_for_selector("text=Correct a base")
    until(lambda: len(told(page)["pieces"]) == len(before) - 1)
    page.reload()  # the whole photo again, in place of the base that was corrected
    page.wait_for_selector("#modes:not([hidden])", timeout=MEASURED_MS)
    page.click("#mode-units")
    x, y = on_screen(page, other["center_px"])
    drag(
        page, [(x - 20, y - 20), (x + 20, y - 20), (x + 20, y + 20), (x - 20, y + 20), (x - 20, y)]
    )
    page.fill("#editing label:has-text('Unit') input", "Guards")
    page.fill("#editing label:has-text('Player') input", "Blue")
    page.click("#editing >> text=Save")
    settled(page)
    page.wait_for_selector("text=Make a unit")

    def named() -> dict[str, Any]:
        return {one["id"]: one for one in told(page)["pieces"] if one["unit"] == "Guards"}

    until(lambda: other["id"] in named())
    assert {piece["player"] for piece in named().values()} == {"Blue"}


def test_two_who_correct_the_same_table_lose_nothing(
    page: "Page", opened: Opened, home: str
) -> None:
    """Somebody else names a base meanwhile: the phone's own correction is refused, and what stands now is shown."""
    one, other = apart(opened("skirmish")["pieces"])
    tap(page, one)
    tap(page, other)
    page.wait_for_selector("#ruling .headline")
    name_elsewhere(page, one["id"], "Scouts")
    page.click("#swap")
    page.wait_for_selector("#ruling >> text=Somebody else has corrected this table")
    name_elsewhere(page, one["id"], "Rangers")
    page.click("#mode-correct")
    tap(page, other)
    page.click("#editing >> text=Remove")
    page.wait_for_selector("#editing >> text=somebody else has corrected this table")
    found = {piece["id"]: piece for piece in told(page)["pieces"]}
    assert other["id"] in found
    assert found[one["id"]]["unit"] == "Rangers"
    page.click("#editing >> text=Remove")  # it knows of the other's word now
    settled(page)
    page.wait_for_selector("text=Correct a base")
    until(lambda: other["id"] not in {piece["id"] for piece in told(page)["pieces"]})
    page.click("text=Undo the last")
    settled(page)


def name_elsewhere(page: "Page", piece: str, unit: str) -> None:
    """Another phone's correction."""
    place = page.url.replace("/m/", "/api/measurements/") + "/fixes"
    fixes = {
        "schema": "overruler/fix/1",
        "fix": [*told(page)["fixes"], {"do": "name", "id": piece, "unit": unit}],
    }
    request = urllib.request.Request(place, json.dumps(fixes).encode(), method="PUT")
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200


def test_a_shot_is_ruled_on_once_both_have_a_profile(page: "Page", opened: Opened) -> None:
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    one, other = apart(opened("skirmish")["pieces"])
    page.click("#questions >> text=Shot")
    tap(page, one)
    tap(page, other)
    page.wait_for_selector(f"#ruling >> text={one['name']} lacks its ranged weapon")
    assert complaints == []  # what is known to be missing is not asked
    for piece, filled in (
        (one, {"Weapon's range, in": "40", "Its piercing": "2"}),
        (other, {"Defence": "11"}),
    ):
        page.click("#mode-units")
        tap(page, piece)
        page.get_by_role("button", name="Profile").click()
        for label, value in filled.items():
            page.get_by_label(label).fill(value)
        page.get_by_label("Shot this turn").check()
        page.get_by_role("button", name="Save the profile").click()
        page.wait_for_selector("text=Make a unit")
        settled(page)
        page.click("#mode-rule")
    page.wait_for_selector("#ruling .headline")
    page.wait_for_selector("#ruling >> text=in range")
    page.click("#mode-units")
    page.get_by_role("button", name="New turn").click()

    def stats() -> dict[str, Any]:
        return {piece["id"]: piece["stats"] for piece in told(page)["pieces"]}

    marks = ("shot_last_turn", "shot_this_turn")
    until(lambda: [stats()[one["id"]][key] for key in marks] == [True, False])
    settled(page)
    found = stats()
    assert found[other["id"]]["ranged_weapon"] is None
    assert found[one["id"]]["ranged_weapon"] == {
        "range_in": 40,
        "piercing": 2,
        "injury": 0,
        "long_reload": False,
    }


def test_a_dragged_base_is_measured_again(page: "Page", opened: Opened) -> None:
    one, _ = apart(opened("xwing")["pieces"])
    page.click("#mode-correct")
    tap(page, one)
    page.wait_for_selector("#editing >> text=Remove")
    x, y = on_screen(page, one["center_px"])
    drag(page, [(x, y), (x + 3, y), (x + 6, y), (x + 8, y)], held="#loupe:not([hidden])")
    until(lambda: told(page)["fixes"])
    settled(page)
    found = told(page)
    assert [fix["do"] for fix in found["fixes"]] == ["move"]


def test_without_markers_the_corners_are_dragged(
    page: "Page", opened: Opened, photos: Path
) -> None:
    """The photo of a table with markers, whose corners are shown by hand: the same places come out."""
    found = opened("skirmish")
    width, height = found["board_mm"]
    corners = board_corners(page, width, height)
    page.goto(page.url.split("/m/")[0])
    page.wait_for_selector("html[data-ready]")
    send(page, "skirmish", "(no markers: I show the corners)", photos / "skirmish_city.jpg")
    page.wait_for_selector("text=Show the mat's corners")
    for number, corner in enumerate(corners):
        handle = page.locator(f"#drawing .hand g:has(text:text-is('{number + 1}'))").bounding_box()
        assert handle is not None
        assert min(handle["width"], handle["height"]) >= 28
        x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
        u, v = on_screen(page, corner)
        drag(page, [(x, y), ((x + u) / 2, (y + v) / 2), (u, v)])
    page.fill("#editing label:has-text('Wide') input", str(width))
    page.fill("#editing label:has-text('Deep') input", str(height))
    page.click("#editing >> text=Measure")
    page.wait_for_selector("#modes:not([hidden])", timeout=MEASURED_MS)
    places = [piece["place_mm"] for piece in told(page)["pieces"]]
    near = [
        min(abs(complex(x - a, y - b)) for a, b in places)
        for x, y in (one["place_mm"] for one in found["pieces"])
    ]
    assert sorted(near)[len(near) // 2] < 6.0


def board_corners(page: "Page", width: float, height: float) -> list[list[float]]:
    """Where the corners of the board are in the photo: far left, far right, near right, near left."""
    from overruler.apps.web.ready_scenes import camera_view
    from overruler.scene import Scene

    with urllib.request.urlopen(page.url.replace("/m/", "/api/measurements/") + "/scene") as answer:
        view = camera_view(Scene.from_json(json.load(answer)))
    places: list[list[float]] = view.to_px(
        np.array([[0, height], [width, height], [width, 0], [0, 0]])
    ).tolist()
    return places


def test_a_photo_of_nothing_asks_for_the_corners(page: "Page", photos: Path) -> None:
    send(page, "legion", "legion desert", photos / "bare.jpg")
    page.wait_for_selector("text=Show the mat's corners")
    assert "marker" in page.inner_text("#editing").lower()


def test_what_is_no_photo_is_said_to_be_none(page: "Page", tmp_path: Path) -> None:
    path = tmp_path / "drawing.jpg"
    path.write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    page.set_input_files("#choose", path)
    page.wait_for_selector("#start-said:has-text('SVG')")


def test_a_photo_with_too_few_pixels_is_refused_and_no_corners_are_asked_for(
    page: "Page", tmp_path: Path
) -> None:
    Image.new("RGB", (40, 30)).save(tmp_path / "thumb.png")
    page.set_input_files("#choose", tmp_path / "thumb.png")
    page.wait_for_selector(
        "#start-said >> text=The photo is only 40 × 30 pixels", timeout=MEASURED_MS
    )
    assert page.locator("#editing").is_hidden()


@pytest.mark.parametrize("side", ["", "3", "4000"])
def test_a_marker_s_side_that_cannot_be_is_asked_for_where_it_is_typed(
    page: "Page", photos: Path, side: str
) -> None:
    page.select_option("#table", "(markers anywhere)")
    page.fill("#marker", side)
    page.set_input_files("#choose", photos / "bare.jpg")
    page.wait_for_selector("#start-said:has-text('black square')")
    assert page.evaluate("document.activeElement.id") == "marker"
    assert page.is_visible("#start")


def test_everything_can_be_done_by_keyboard_and_has_a_name(page: "Page", opened: Opened) -> None:
    opened("legion")
    page.focus("#mode-list")
    page.keyboard.press("Enter")
    names = [piece["id"] for piece in told(page)["pieces"]][:2]
    page.focus(f"[data-piece={names[0]}]")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"[data-piece={names[0]}][aria-pressed=true]")
    page.focus(f"[data-piece={names[1]}]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#ruling .headline")
    nameless = page.evaluate("""() => [...document.querySelectorAll("button, a, input, select")]
        .filter((one) => one.checkVisibility())
        .filter((one) => !(one.textContent.trim() || one.getAttribute("aria-label") || one.labels?.length))
        .map((one) => one.outerHTML)""")
    assert not nameless
    small = page.evaluate(f"""() => [...document.querySelectorAll("button, a, summary, select")]
        .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < {FINGER_PX})
        .map((one) => one.outerHTML)""")
    assert not small


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_runs_off_the_side(page: "Page", width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    until(lambda: page.evaluate("innerWidth") == width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_page_is_light(page: "Page", home: str) -> None:
    page.goto(home)
    page.wait_for_selector("html[data-ready]")
    sizes = page.evaluate("""() => ["resource", "navigation"].flatMap((kind) => performance.getEntriesByType(kind))
        .filter((one) => !one.name.includes("/photo")).map((one) => one.transferSize)""")
    assert sum(sizes) < 150_000


def test_the_example_of_the_api_runs(home: str, photos: Path) -> None:
    """The program in docs/api.md, with this server's address and a smaller photo."""
    text = (SAMPLES.parent / "docs" / "api.md").read_text()
    (program,) = (
        block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "urllib" in block
    )
    program = program.replace("http://localhost:8321/", home).replace(
        "sample_images/", f"{photos}/"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=MEASURED_MS / 1000
    )
    assert done.stdout.startswith("range"), done.stderr
