"""The film beside its page: whoever asks sees the moment that the page shows, or that there is none."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bench.phone_server import patient_page
from overruler.apps.analyze import page as pages
from overruler.apps.analyze.companions import Companions
from overruler.apps.analyze.merge import FilmResults
from overruler.picture.films.film_encoding import encode_opaque_webm
from overruler.picture.films.gif import encode_gif
from tests.apps.analyze.test_outputs import MOVE, scene
from tests.apps.web.live_table import until
from tests.chromium import browser as browser
from tests.chromium import needs_browser
from tests.screens import barriers, complaints, small_letters, small_targets

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

av = pytest.importorskip("av", reason="films need PyAV")
pytestmark = needs_browser
LENGTH_S = 70
NAME = "my game.webm"
COLLECT_WORDS = """() => { window.said = new Set();
    new MutationObserver(() => said.add(at("clip-make").textContent + (at("clip-make").disabled ? "" : "?")))
        .observe(at("clip-make"), { childList: true }); }"""
"""Collect what the button for a film says while it cannot be pressed."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with its film and a clip beside it."""
    found: Path = tmp_path_factory.mktemp("beside")
    grey = ((float(k), np.full((48, 64, 3), 3 * k, np.uint8)) for k in range(LENGTH_S + 1))
    (found / NAME).write_bytes(encode_opaque_webm(grey, (64, 48), 1))
    film = FilmResults("game", read_to_s=float(LENGTH_S), moves=[dict(MOVE)])
    film.rests = [{"time_s": 1.0, "scene": scene(100.0), "still": "data:,"}]
    film.bases = {"p01": {"shape": "circle", "diameter_mm": 27.0}}
    stay = {"from_s": 0.0, "to_s": 70.0, "x_mm": 100.0, "y_mm": 100.0, "sigma_mm": 0.2}
    film.stays = {"p01": [stay]}
    beside = Companions(("../gone/my%20game.webm", "my%20game.webm"), ("clips/001.gif",))
    (found / "report.html").write_text("".join(pages.render_page(film, None, None, (), (), beside)))
    (found / "clips").mkdir()
    dark = np.zeros((8, 8, 3), np.uint8)
    (found / "clips" / "001.gif").write_bytes(encode_gif([(0.0, dark)], 1.0))
    return found


@pytest.fixture
def page(browser: "Browser") -> Iterator["Page"]:
    found = patient_page(browser, viewport={"width": 1280, "height": 800})
    yield found
    found.context.close()


def open_page(page: "Page", path: Path) -> None:
    page.goto(path.as_uri())
    page.wait_for_selector(".tag[font-size]", state="attached")


def wait_for_film(page: "Page", time_s: float) -> None:
    """Wait until the film shows a moment."""
    is_there = f"Math.abs(reel.currentTime - {time_s}) < 0.01"
    until(lambda: page.evaluate(f"!reel.seeking && reel.readyState > 1 && {is_there}"))


@pytest.mark.parametrize("alone", [False, True], ids=["beside", "alone"])
def test_opening_the_page_leaves_no_line_in_the_console(
    page: "Page", folder: Path, tmp_path: Path, alone: bool
) -> None:
    """A friend has the page without its film; neither page says a word to the console."""
    complained = complaints(page)
    path = folder / "report.html"
    if alone:
        path = Path(shutil.copy(path, tmp_path))
    open_page(page, path)
    page.locator("#moves tbody tr").click()
    page.get_by_role("button", name="Play").click()
    until(lambda: page.evaluate("moment > 61.7"))
    assert page.get_by_role("button", name="Show the film").is_visible()
    assert small_targets(page) == []
    assert complained == []


def test_a_move_seeks_the_film_and_the_film_takes_the_page_along(
    page: "Page", folder: Path
) -> None:
    complained = complaints(page)
    open_page(page, folder / "report.html")
    page.get_by_role("button", name="Show the film").click()
    page.wait_for_selector("#film:not([hidden])")
    assert page.locator("#film-show").is_hidden()
    page.locator("#moves tbody tr").click()
    wait_for_film(page, 61.5)
    assert barriers(page) == []
    assert small_targets(page) == small_letters(page) == []
    page.evaluate("reel.currentTime = 20")  # by the film's own controls
    wait_for_film(page, 20)
    until(lambda: page.locator("#clock").inner_text().startswith("0:20.0"))
    page.get_by_role("button", name="Play").click()
    until(lambda: page.evaluate("moment > 20.2 && Math.abs(moment - reel.currentTime) < .2"))
    page.get_by_role("button", name="Pause").click()
    until(lambda: page.evaluate("reel.paused"))
    assert [line for line in complained if "ERR_FILE_NOT_FOUND" not in line] == []


def test_a_film_that_keeps_the_times_of_a_longer_one_is_shown_at_the_pages_moments(
    page: "Page", folder: Path, tmp_path: Path
) -> None:
    """Chromium counts such a film from the time of its first picture."""
    shutil.copy(folder / "report.html", tmp_path)
    late_s = 7200
    with av.open(str(folder / NAME)) as old, av.open(str(tmp_path / NAME), "w") as new:
        stream = new.add_stream_from_template(old.streams.video[0])
        for packet in old.demux(video=0):
            if packet.size:
                late = round(late_s / packet.time_base)
                packet.pts, packet.dts, packet.stream = packet.pts + late, packet.dts + late, stream
                new.mux(packet)
    open_page(page, tmp_path / "report.html")
    page.get_by_role("button", name="Show the film").click()
    page.wait_for_selector("#film:not([hidden])")
    page.locator("#moves tbody tr").click()
    wait_for_film(page, late_s + 61.5)
    page.evaluate(f"reel.currentTime = {late_s + 20}")  # by the film's own controls
    until(lambda: page.locator("#clock").inner_text().startswith("0:20.0"))
    page.get_by_role("button", name="Play").click()
    until(
        lambda: page.evaluate(
            f"moment > 20.2 && Math.abs(moment + {late_s} - reel.currentTime) < .2"
        )
    )
    page.get_by_role("button", name="Pause").click()
    until(lambda: page.evaluate("reel.paused"))


def test_the_clip_of_a_move_opens_beside_the_page(page: "Page", folder: Path) -> None:
    """A browser saves nothing from one local file to another: it shows the clip."""
    open_page(page, folder / "report.html")
    assert page.locator("#clip").is_hidden()
    page.locator("#moves tbody tr").click()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Clip of p01 at 1:01.5").click()
    opened.value.wait_for_selector("img")
    assert opened.value.url == (folder / "clips" / "001.gif").as_uri()


def test_the_page_alone_makes_a_film_of_a_move(page: "Page", folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "report.html", tmp_path)
    open_page(page, tmp_path / "report.html")
    page.locator("#moves tbody tr").click()
    page.evaluate("Object.assign(CLIP, { hold: 0.2, longest: 0.4 })")  # a short one is quick
    page.evaluate(COLLECT_WORDS)  # they may be over before anybody looks
    with page.expect_download() as saved:
        page.click("#clip-make")
    assert {"Recording: 1 s more", "Recording: 0 s more"} & {*page.evaluate("[...said]")}
    assert saved.value.suggested_filename == "game-p01.webm"
    assert page.locator("#clip-make").inner_text() == "Make a film of p01 at 1:01.5"
    assert page.locator("#clip-share").is_hidden()  # this browser shares nothing
    with av.open(str(saved.value.path())) as film:
        shown = [picture.to_ndarray(format="rgb24") for picture in film.decode(video=0)]
    assert len(shown) > 2
    assert np.abs(shown[-1].astype(int) - shown[0]).max() > 100  # the way, and its length in words


def test_a_browser_that_records_nothing_is_not_waited_for(
    page: "Page", folder: Path, tmp_path: Path
) -> None:
    shutil.copy(folder / "report.html", tmp_path)
    open_page(page, tmp_path / "report.html")
    page.locator("#moves tbody tr").click()
    page.evaluate("Object.assign(CLIP, { hold: 0.2, longest: 0.4, patience: 0.3 })")
    page.evaluate("""() => { window.MediaRecorder = class {
        start() { this.state = "recording"; }
        stop() { this.state = "inactive"; this.onstop(); }
    }; }""")
    page.click("#clip-make")
    until(lambda: page.locator("#clip-said").inner_text() != "")
    assert page.locator("#clip-said").inner_text() == "This browser could not record the film."
    assert page.locator("#clip-make").is_enabled()


def test_a_page_without_its_film_says_so_and_takes_it_from_elsewhere(
    page: "Page", folder: Path, tmp_path: Path
) -> None:
    shutil.copy(folder / "report.html", tmp_path)
    open_page(page, tmp_path / "report.html")
    page.get_by_role("button", name="Show the film").click()
    page.wait_for_selector("#film-note:not([hidden])")
    assert page.locator("#film-note").inner_text().startswith(f"The film {NAME} is not beside")
    assert page.locator("#film").is_hidden()
    assert page.locator("#film-show").is_hidden()
    page.locator("#moves tbody tr").click()
    page.set_viewport_size({"width": 320, "height": 568})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert small_targets(page) == barriers(page) == []
    page.locator("#time").fill("30")
    page.set_input_files("#film-file", folder / NAME)
    page.wait_for_selector("#film:not([hidden])")
    assert page.locator("#film-note").is_hidden()
    wait_for_film(page, 30)
