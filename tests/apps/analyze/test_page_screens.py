"""The page of a film as people see it: the table under its pieces, no clipped column, whoever one asks for."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from bench.phone_server import patient_page
from overruler.apps.analyze import film_rulings, turns
from overruler.apps.analyze import page as pages
from overruler.apps.analyze.event_log import still_uri
from overruler.apps.analyze.merge import FilmResults
from overruler.apps.rulings import side_numbers
from overruler.frame import Frame
from tests.apps.analyze.test_outputs import MOVE
from tests.chromium import browser as browser
from tests.chromium import needs_browser
from tests.reports import SIZE_PX, camera, pieces, report
from tests.screens import barriers, boxes, complaints, overlaps, small_letters, small_targets

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PLAYERS = {"p01": "red", "p02": "blue", "p03": "red", "p04": "blue", "p05": "blue"}
UNITS = {"p01": "Guards", "p03": "Guards", "p02": "Raiders", "p04": "Raiders"}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a film with two players, one of whose pieces moves."""
    table = report().scene
    owned = tuple(
        replace(piece, player=PLAYERS[piece.id], unit=UNITS.get(piece.id)) for piece in table.pieces
    )
    scene = replace(table, pieces=owned).to_json()
    film = FilmResults("game", read_to_s=70.0, moves=[dict(MOVE)])
    still = still_uri(report())
    film.rests = [{"time_s": time_s, "scene": scene, "still": still} for time_s in (1.0, 63.0)]
    film.bases = {piece.id: piece.base.to_json() for piece in owned}
    film.stays = {
        piece.id: [
            {"from_s": 0.0, "to_s": 70.0, "x_mm": piece.x_mm, "y_mm": piece.y_mm, "sigma_mm": 0.2}
        ]
        for piece in owned
    }
    told = turns.turn_rows(film, [turns.Turn("1", 0.0, "red"), turns.Turn("2", 61.0, "blue")])
    text = "".join(pages.render_page(film, film_rulings.rule_all_pairs(film), None, (), told))
    path: Path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


@pytest.fixture(params=[(320, 568, "dark"), (1280, 800, "light")], ids=["phone", "desk"])
def page(browser: "Browser", address: str, request: pytest.FixtureRequest) -> Iterator["Page"]:
    width, height, look = request.param
    found = patient_page(browser, viewport={"width": width, "height": height}, color_scheme=look)
    complained = complaints(found)
    found.goto(address)
    found.wait_for_selector(".tag[font-size]", state="attached")
    yield found
    found.context.close()
    assert complained == []


@needs_browser
def test_nothing_is_clipped_or_small_or_barred(page: "Page") -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for table in page.locator(".scroll").all():
        assert table.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert small_letters(page) == []
    assert small_targets(page) == []
    assert barriers(page) == []
    tags = boxes(page, ".tag")
    assert len(tags) > 1
    assert overlaps(tags, tags) == []


@needs_browser
def test_a_move_that_is_tapped_is_seen(page: "Page") -> None:
    """On a telephone the list stands below the table."""
    page.emulate_media(reduced_motion="reduce")
    page.locator("#moves tbody tr").click()
    height = page.evaluate("innerHeight")
    _, top, _, bottom = boxes(page, "#table")[0]
    assert -1 <= top < bottom <= height + 1


@needs_browser
@pytest.mark.parametrize("size", [(740, 360), (360, 740), (1280, 800)])
def test_the_table_and_its_slider_are_in_sight_together(
    page: "Page", size: tuple[int, int]
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.locator(".controls").evaluate("(one) => one.scrollIntoView({ block: 'end' })")
    (_, table, _, _), (_, _, _, foot) = boxes(page, "#table > rect")[0], boxes(page, "#time")[0]
    assert table >= 0
    assert foot <= size[1]


@needs_browser
def test_the_table_lies_under_its_pieces_and_one_side_is_not_told_against_itself(
    page: "Page",
) -> None:
    table, photo = boxes(page, "#table > rect")[0], boxes(page, "#table > image")[0]
    assert photo == pytest.approx(table, abs=1.0)
    rows = page.locator("#ruled tbody tr").all_inner_texts()
    named = [row.split("\t")[0] for row in rows]
    assert named
    assert not [pair for pair in named if pair.count("Guards") == 2 or pair.count("Raiders") == 2]
    assert page.locator(".turns li").count() == 2
    second = page.locator(".turns li").nth(1).inner_text()
    assert "1 move, 152.4 mm" in second
    assert "closest then: Guards p01" in second


@needs_browser
def test_whoever_one_asks_for_stays_and_their_reach_is_shaded(page: "Page") -> None:
    page.select_option("#who", "unit:Raiders")
    assert page.locator("#moves tbody tr:visible").count() == 0  # the mover is another's
    assert page.locator("#table .apart").count() == 3
    page.fill("#reach", "50.8")
    wide = page.locator("#table g ellipse").evaluate_all(
        "(all) => all.map((one) => +one.getAttribute('rx')).filter((rx) => rx > 60)"
    )
    assert wide
    assert min(wide) == pytest.approx(27 / 2 + 50.8)
    page.select_option("#who", "all")
    assert page.locator("#moves tbody tr:visible").count() == 1


def test_the_picture_from_above_has_each_piece_where_it_stands() -> None:
    """A bright spot at a known place of the board is at that place of the picture."""
    spot_mm = np.array([620.0, 180.0])
    pixels = np.full((SIZE_PX[1], SIZE_PX[0], 3), 60, np.uint8)
    u, v = np.rint(camera().project([*spot_mm, 0.0])).astype(int)
    pixels[v - 4 : v + 5, u - 4 : u + 5] = 255
    shown = decode(still_uri(replace(report(), frame=Frame(pixels, "spot"))))
    rows, columns = np.nonzero(shown.max(-1) > 180)
    mm_per_px = 900 / shown.shape[1]
    place = np.array([columns.mean() + 0.5, shown.shape[0] - rows.mean() - 0.5]) * mm_per_px
    assert place == pytest.approx(spot_mm, abs=2.0)


def decode(address: str) -> Any:
    """The picture in a `data:` address (H, W, 3)."""
    import base64
    import io

    data = base64.b64decode(address.partition(",")[2])
    return np.array(Image.open(io.BytesIO(data)).convert("RGB"))


def test_sides_are_players_else_units_else_groups() -> None:
    by_player = side_numbers([replace(one, player=PLAYERS[one.id]) for one in pieces()])
    assert by_player["p01"] == by_player["p03"] != by_player["p02"] == by_player["p04"]
    by_unit = side_numbers([replace(one, unit=UNITS.get(one.id)) for one in pieces()])
    assert by_unit["p01"] == by_unit["p03"] != by_unit["p02"]
    assert len(set(side_numbers(pieces()).values())) == 5  # nobody's: groups that stand apart
