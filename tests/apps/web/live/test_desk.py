"""What a caster can have on air: units, arcs, other questions, corrections, a clip; and words that hide nothing."""

import io
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.routing import Route, WebSocketRoute

from overruler.apps.web.live import clip
from overruler.apps.web.live.action_table import ACTIONS
from overruler.apps.web.live.app import make_live_app
from overruler.apps.web.live.clip import composite_over
from overruler.apps.web.live.endpoints import openapi_document
from overruler.apps.web.live.graphics import draw_graphics, rule_on_pair
from overruler.apps.web.live.placement import LabelPlacement
from overruler.apps.web.live.selection import Selection
from overruler.bases import Base
from overruler.frame import Frame
from overruler.picture.view import View
from overruler.scene import Piece, Scene
from overruler.terrain import Terrain
from tests.apps.web.live.test_app import call
from tests.apps.web.live.test_app import home as home
from tests.apps.web.live.test_app import page as page
from tests.apps.web.live.test_app import table as table
from tests.apps.web.live_table import CAMERA, SIZES_MM, Table, air, served, until
from tests.chromium import browser as browser
from tests.chromium import needs_browser
from tests.tables import SIZE_PX
from tests.waiting import LONG_S

if TYPE_CHECKING:
    from playwright.sync_api import Page


def post(address: str, told: Any) -> Any:
    with urllib.request.urlopen(
        urllib.request.Request(address, json.dumps(told).encode(), method="POST")
    ) as answer:
        return json.load(answer)


def refused(act: Callable[[], Any]) -> tuple[int, str]:
    """The status of a refusal, and what it says."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        act()
    with caught.value as answer:
        return answer.code, json.load(answer)["error"]


def fix(home: str, *told: dict[str, Any]) -> Any:
    return post(f"{home}/api/live/fix", {"schema": "overruler/fix/1", "fix": list(told)})


def places(home: str) -> dict[str, Any]:
    return {
        one["id"]: (one["x_mm"], one["y_mm"]) for one in call(f"{home}/api/live/scene")["pieces"]
    }


@pytest.fixture(scope="module")
def scene() -> Scene:
    found = Table()
    return found.look(Frame(found.picture(), "table")).scene


# --- units, arcs, questions ---


def test_a_unit_is_ruled_on_by_its_closest_piece_and_goes_with_any_of_them(
    home: str, table: Table
) -> None:
    named = [
        {"do": "name", "id": name, "unit": "Guards", "leader": name == "p01"}
        for name in ("p01", "p02")
    ]
    fix(home, *named)
    call(f"{home}/api/live/do/pick?from=Guards&to=p03", post=True)
    until(lambda: call(f"{home}/api/live")["ruling"])
    gaps = {
        name: np.hypot(*np.subtract(table.places[name], table.places["p03"]))
        - (SIZES_MM[name] + SIZES_MM["p03"]) / 2
        for name in ("p01", "p02")
    }
    ruling = call(f"{home}/api/live")["ruling"]
    assert ruling["distance_mm"] == pytest.approx(min(gaps.values()), abs=0.01)
    assert ruling["between"] == [min(gaps, key=lambda name: gaps[name]), "p03"]
    table.hand = True  # over p02
    until(lambda: call(f"{home}/api/live")["ruling"] is None)


def test_a_piece_goes_by_its_new_name_before_the_next_picture(home: str) -> None:
    for old, new in (("p03", "Vader"), ("Vader", "p03")):
        told = fix(home, {"do": "name", "id": old, "new_id": new})
        assert new in [one["id"] for one in told["pieces"]]
        assert new in places(home)
        call(f"{home}/api/live/do/pick?from={new}&to=p01", post=True)


def test_an_attack_is_measured_from_the_units_leader(scene: Scene) -> None:
    labels: dict[str, Any] = {"p01": {"unit": "Guards", "leader": True}, "p02": {"unit": "Guards"}}
    pieces = tuple(replace(piece, **labels.get(piece.id, {})) for piece in scene.pieces)
    told = rule_on_pair(replace(scene, pieces=pieces), Selection(pair=("p02", "p03"), tap="Attack"))
    assert [piece.id for piece in told.pieces] == ["p01", "p03"]


def test_other_questions_are_asked_by_the_buttons_too(home: str) -> None:
    state = call(f"{home}/api/live")
    assert [one["label"] for one in state["questions"]] == ["Range", "Attack", "Distance"]
    call(f"{home}/api/live/do/pick?from=p01&to=p02", post=True)
    told = call(f"{home}/api/live/do/ask?question=Distance", post=True)
    assert told["question"]["label"] == "Distance"
    assert told["ruling"]["headline"].endswith(" mm")
    for wrong in ("question=Sight", "question=Range&reach_in=far"):
        assert refused(partial(call, f"{home}/api/live/do/ask?{wrong}", post=True))[0] == 422


def test_a_ships_arcs_are_drawn_and_an_attack_out_of_arc_is_told_on_the_line_between_them(
    scene: Scene,
) -> None:
    ship = Base.parse("40x40")
    pieces = tuple(replace(piece, base=ship, heading_deg=0.0) for piece in scene.pieces)
    ships = replace(scene, game="xwing", pieces=pieces)
    names = frozenset(piece.id for piece in pieces)
    drawn = draw_graphics(ships, Selection(arcs=("p01",)), names).layers["bands"]
    plain = draw_graphics(ships, Selection(), names).layers["bands"]
    assert drawn.count("<path") >= 4 > plain.count("<path")
    behind = draw_graphics(
        ships, Selection(pair=("p03", "p01"), tap="Attack", arc="front"), names
    ).ruling
    ahead = draw_graphics(
        ships, Selection(pair=("p01", "p03"), tap="Attack", arc="front"), names
    ).ruling
    assert behind is not None
    assert ahead is not None
    assert "arc" in behind["headline"]
    assert behind["distance_mm"] > 0
    assert ahead["headline"].startswith("range 3")


def test_ground_and_what_a_piece_does_not_see_are_shaded(home: str, scene: Scene) -> None:
    call(f"{home}/api/live/do/clear", post=True)
    plain = call(f"{home}/api/live")["layers"]["bands"]
    told = call(f"{home}/api/live/do/ground?piece=p02&reach_in=3", post=True)
    assert told["grounds"] == ["p02"]
    assert told["layers"]["bands"].count("evenodd") > plain.count("evenodd")
    assert call(f"{home}/api/live/do/ground?piece=p02&reach_in=4", post=True)["grounds"] == ["p02"]
    assert call(f"{home}/api/live/do/ground?piece=p02", post=True)["grounds"] == []
    wall = Terrain("wall", ((220, 150), (240, 150), (240, 290), (220, 290)), top_z_mm=60)
    names = frozenset(piece.id for piece in scene.pieces)
    hall = replace(scene, terrain=(wall,))
    drawn = draw_graphics(hall, Selection(shadows=("p01",)), names).layers["bands"]
    assert "evenodd" in drawn
    call(f"{home}/api/live/do/clear", post=True)
    told = refused(partial(call, f"{home}/api/live/do/shadow?piece=p01", post=True))
    assert told == (422, "nothing is hidden: no terrain is known (overruler live --terrain)")


def test_a_round_base_without_a_front_has_no_arcs(home: str) -> None:
    told = refused(partial(call, f"{home}/api/live/do/arcs?piece=p01", post=True))
    assert told == (422, "p01 has no arcs: its base is round and shows no front")
    assert call(f"{home}/api/live")["arcs"] == []


def test_what_cannot_be_ruled_is_said_and_not_drawn(home: str) -> None:
    fix(
        home,
        *({"do": "name", "id": name, "unit": "Guards", "leader": False} for name in ("p01", "p02")),
    )
    call(f"{home}/api/live/do/ask?question=Attack", post=True)
    call(f"{home}/api/live/do/bands?piece=p02", post=True)
    told = call(f"{home}/api/live/do/pick?from=p01&to=p03", post=True)
    assert told["ruling"] is None
    assert any("leader" in text for text in told["waiting"])
    assert "<path" in told["layers"]["bands"]  # what has nothing to do with it stays


# --- corrections ---


def test_a_piece_is_put_right_and_ruled_on_where_it_then_stands(home: str) -> None:
    call(f"{home}/api/live/do/pick?from=p01&to=p03", post=True)
    fix(home, {"do": "add", "base": "27", "xy_mm": [560.0, 120.0]}, {"do": "remove", "id": "p02"})
    until(lambda: sorted(places(home)) == ["p01", "p03", "p04"])
    until(lambda: call(f"{home}/api/live")["ruling"])
    assert places(home)["p04"] == pytest.approx((560.0, 120.0), abs=0.1)
    assert "p02" in refused(lambda: fix(home, {"do": "remove", "id": "p02"}))[1]


def test_a_renamed_piece_stays_on_air_by_its_new_name(home: str) -> None:
    call(f"{home}/api/live/do/pick?from=p01&to=p03", post=True)
    fix(home, {"do": "name", "id": "p03", "new_id": "Luke", "player": "Ann"})
    until(lambda: (call(f"{home}/api/live")["ruling"] or {}).get("between") == ["p01", "Luke"])
    piece = next(one for one in call(f"{home}/api/live/scene")["pieces"] if one["id"] == "Luke")
    assert piece["player"] == "Ann"


@pytest.mark.parametrize(("size", "status"), [(30_000, 413), (10, 422)])
def test_rubbish_is_refused(home: str, size: int, status: int) -> None:
    for path in ("fix", "ask"):
        assert refused(partial(post, f"{home}/api/live/{path}", "x" * size))[0] == status


@needs_browser
def test_a_piece_is_dragged_and_units_are_made_on_the_desk(
    home: str, page: "Page", table: Table
) -> None:
    page.goto(f"{home}/control")
    page.click("[data-mode=correct]")
    box, target = page.locator("#table").bounding_box(), (340.0, 150.0)
    assert box is not None
    ends = (
        (CAMERA.project(np.array([(*table.places["p02"], 0.0), (*target, 0.0)])) + 0.5)
        * box["width"]
        / SIZE_PX[0]
    )
    (x, y), (to_x, to_y) = (ends + np.array([box["x"], box["y"]])).tolist()
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(to_x, to_y, steps=5)  # to where nothing stands: a person's word
    page.mouse.up()
    until(lambda: np.hypot(*np.subtract(places(home)["p02"], target)) < 1.0)
    page.keyboard.press("4")
    for name in ("p01", "p03"):
        page.focus(f"[data-id={name}]")
        page.keyboard.press("Enter")
    page.fill("#editing input >> nth=0", "Guards")
    page.click("#editing button")
    until(
        lambda: (
            [one.get("unit") for one in call(f"{home}/api/live")["pieces"]]
            == ["Guards", None, "Guards"]
        )
    )
    page.keyboard.press("1")
    page.select_option("#question", "Distance")
    page.check("#whole")
    page.click("[data-id=p01]")
    page.click("[data-id=p02]")
    until(lambda: call(f"{home}/api/live")["pair"] == ["Guards", "p02"])
    assert call(f"{home}/api/live")["question"]["label"] == "Distance"


# --- clips ---


def test_a_clip_grows_from_nothing_to_what_is_on_air(home: str) -> None:
    av = pytest.importorskip("av", reason="films need PyAV")
    assert "no ruling" in refused(lambda: call(f"{home}/overlay.webm"))[1]
    call(f"{home}/api/live/do/pick?from=p01&to=p02", post=True)
    until(lambda: call(f"{home}/api/live")["ruling"])
    with urllib.request.urlopen(f"{home}/overlay.webm?width=480") as answer:
        assert answer.headers["content-type"] == "video/webm"
        data = answer.read()
    decoder = av.CodecContext.create("libvpx-vp9", "r")
    with av.open(io.BytesIO(data)) as film:
        frames = [picture for packet in film.demux(video=0) for picture in decoder.decode(packet)]
    alpha = [frame.to_ndarray(format="rgba")[..., 3].astype(int) for frame in frames]
    assert alpha[0].max() < 8
    assert 50 < (alpha[15] > 128).sum() < (alpha[-1] > 128).sum()
    with urllib.request.urlopen(f"{home}/overlay.png?width=480&show=lines,verdict") as answer:
        from PIL import Image

        still = np.array(Image.open(answer).convert("RGBA"))[..., 3].astype(int)
    assert np.abs(alpha[-1][: still.shape[0]] - still).mean() < 1.5


@given(st.lists(st.integers(0, 255), min_size=8, max_size=8))
def test_laid_over_each_other_they_cover_as_two_panes_do(values: list[int]) -> None:
    front, back = np.array(values, np.uint8).reshape(2, 1, 1, 4)
    ground = np.array([200.0, 30.0, 90.0])

    def on(layer: Any, below: Any) -> Any:
        share = layer[0, 0, 3] / 255
        return layer[0, 0, :3] * share + below * (1 - share)

    assert on(composite_over(front, back), ground) == pytest.approx(
        on(front, on(back, ground)), abs=1.6
    )


# --- words that hide nothing ---

VIEW = View(CAMERA, SIZE_PX)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
def test_labels_lie_apart_and_inside_the_safe_part(shares: list[tuple[float, float]]) -> None:
    room, size = LabelPlacement(VIEW), np.array([60.0, 30.0])
    taken = []
    for place in np.array(shares) * SIZE_PX:
        if room.is_free(place, size):
            room.occupy_box(place, size)
            taken.append(place)
    for k, place in enumerate(taken):
        assert (
            (place - size / 2 >= 0.05 * max(SIZE_PX) - 1e-3)
            & (place + size / 2 <= np.array(SIZE_PX))
        ).all()
        assert all((np.abs(place - other) >= size).any() for other in taken[:k])


@given(st.floats(0.06, 0.94), st.floats(0.06, 0.94))
def test_the_ruling_stands_in_a_corner_that_hides_no_line(x: float, y: float) -> None:
    room, size = LabelPlacement(VIEW), np.array([400.0, 120.0])
    line = np.linspace([x * SIZE_PX[0], y * SIZE_PX[1]], [SIZE_PX[0] / 2, SIZE_PX[1] / 2], 33)
    room.protect_lines([line])
    corner = room.find_corner(size)
    assert not ((line > corner) & (line < corner + size)).all(1).any()
    assert (corner >= 0.05 * np.array(SIZE_PX) - 1e-6).all()


def test_a_ruling_moves_out_of_the_way_of_the_piece_it_is_about(scene: Scene) -> None:
    low = CAMERA.unproject(np.array([0.15 * SIZE_PX[0], 0.9 * SIZE_PX[1]]), 0.0)
    away = Piece("low", Base.circle(27.0), float(low[0]), float(low[1]))
    moved = replace(scene, pieces=(*scene.pieces, away), covariance=None)
    shown = {
        pair: draw_graphics(moved, Selection(pair=pair), frozenset((*SIZES_MM, "low"))).layers[
            "verdict"
        ]
        for pair in (("p01", "p03"), ("p01", "low"))
    }
    places = [text.partition("translate(")[2].partition(")")[0] for text in shown.values()]
    assert places[0] != places[1]


def test_one_clip_is_made_at_a_time(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(*told: Any) -> bytes:
        begun.set()
        assert go_on.wait(LONG_S)
        return b"a film"

    monkeypatch.setattr(clip, "render_clip", slow)
    with ThreadPoolExecutor() as others:
        first = others.submit(lambda: urllib.request.urlopen(f"{home}/overlay.webm").read())
        assert begun.wait(LONG_S)
        told = refused(lambda: call(f"{home}/overlay.webm"))
        go_on.set()
        assert first.result(LONG_S) == b"a film"
    assert told[0] == 503
    assert "another clip" in told[1]
    assert urllib.request.urlopen(f"{home}/overlay.webm").read() == b"a film"


# --- what is described ---


def test_every_action_and_route_for_programs_is_described() -> None:
    pages = {"/", "/control", "/overlay", "/static/{name}"}
    there = {
        route.path for route in make_live_app(air(Table())).routes if isinstance(route, Route)
    } - pages
    told = set(openapi_document()["paths"])
    assert told == {path for path in there if "{name}" not in path} | {
        f"/api/live/do/{name}" for name in ACTIONS
    }
    assert any(isinstance(route, WebSocketRoute) for route in make_live_app(air(Table())).routes)


def test_a_described_button_takes_what_it_is_said_to_take() -> None:
    with served(air(Table())) as (home, _):
        assert (
            call(f"{home}/api/live/openapi.json")["paths"].keys()
            == openapi_document()["paths"].keys()
        )
    for name, button in ACTIONS.items():
        told = openapi_document()["paths"][f"/api/live/do/{name}"]["post"].get("parameters", [])
        assert {one["name"] for one in told if one["required"]} == set(button.required)
        assert {one["name"] for one in told if not one["required"]} == set(button.optional)
