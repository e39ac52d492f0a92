"""Outlines of areas: what lies inside them is what distances say."""

import math
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.reading import Node
from overruler.rules import ask
from overruler.rules.areas.ground import Ground
from overruler.rules.areas.reading import read_area
from overruler.scene import Scene
from tests.rules.areas.membership import told
from tests.rules.scenes import disc, scene_of

POINTS = 2000
"""Tried in each area. With 100,000 none disagrees either."""
ALONG_MM = 0.3
"""1 σ of the distance from an outline of the points along it."""
BOARD_MM = (900.0, 600.0)
OVAL = {"shape": "oval", "width_mm": 42, "length_mm": 75}
PLATE = {"shape": "rectangle", "width_mm": 40, "length_mm": 60}
ROUNDED = PLATE | {"corner_radius_mm": 5}
RUIN = {
    "id": "ruin",
    "footprint_mm": [[500, 150], [700, 150], [700, 220], [560, 220], [560, 330], [500, 330]],
    "top_z_mm": 60,
}
PIECES = [
    disc("u1", 200, 200, 32, unit="u"),
    disc("u2", 330, 240, 32, unit="u"),
    {"id": "oval", "base": OVAL, "x_mm": 420, "y_mm": 420, "heading_deg": 25},
    {"id": "plate", "base": PLATE, "x_mm": 700, "y_mm": 420, "heading_deg": 70},
    {"id": "edge", "base": ROUNDED, "x_mm": 880, "y_mm": 80, "heading_deg": 10},
]
SCENE = scene_of(PIECES, game="legion", board_mm=BOARD_MM, terrain=[RUIN])


def of(name: str, **more: Any) -> dict[str, Any]:
    return {"question": "area", "of": name, **more}


def joined(how: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"question": "area", how: parts[0] if how == "not" else list(parts), **more}


AREAS = {
    "disc": of("u1", within_mm=120),
    "unit": of("u", within_in=4),
    "oval": of("oval", within_mm=90),
    "plate": of("plate", within_mm=[40, 130]),
    "terrain": of("ruin", within_mm=35),
    "bands": of("edge", range=[1, 2]),
    "farther band": of("u1", range=2),
    "all": joined("all", of("u", within_mm=200), of("oval", within_mm=150)),
    "any": joined("any", of("u", within_mm=80), of("ruin", within_mm=20), of("plate", within_mm=9)),
    "not": joined("all", of("u", within_mm=200), joined("not", of("ruin", within_mm=120))),
    "for a disc": of("plate", within_mm=110, **{"for": "u1"}),
    "for an oval": of("ruin", within_mm=[20, 90], **{"for": "oval"}),
    "for a plate": of("u", within_mm=90, **{"for": "plate"}),
    "for a rounded plate": of("oval", within_mm=90, **{"for": "edge"}),
    "whole disc": of("plate", within_mm=110, whole=True, **{"for": "u1"}),
    "whole oval": of("u", within_mm=110, whole=True, **{"for": "oval"}),
    "whole plate": of("u", within_mm=[5, 130], whole=True, **{"for": "plate"}),
    "reach one, keep off another": joined(
        "all",
        of("plate", within_mm=200, **{"for": "u1"}),
        joined("not", of("ruin", within_mm=100, **{"for": "u1"})),
    ),
    "for all": joined(
        "all", of("u", within_mm=200), joined("not", of("ruin", within_mm=60)), **{"for": "oval"}
    ),
    "whole outside": joined("not", of("ruin", within_mm=60), whole=True, **{"for": "plate"}),
}


def disagreements(scene: Scene, area: dict[str, Any], count: int, seed: int) -> tuple[int, int]:
    """How many random points lie elsewhere than distances say, of how many.

    Half of them lie anywhere, half along the outline.
    """
    ground = Ground(scene, tree := read_area(scene, Node(area, "question"))).cover(tree)
    random = np.random.default_rng(seed)
    points = random.uniform((-20, -20), np.array(BOARD_MM) + 20, (count, 2))
    if ground.length:
        along = shapely.get_coordinates(shapely.segmentize(ground.boundary, 1.0))
        beside = random.normal(0, ALONG_MM, (count // 2, 2))
        points[: count // 2] = random.choice(along, count // 2) + beside
    drawn = shapely.contains_xy(ground, points)
    found = told(scene, area, points)
    on_board = ((points > 0) & (points < BOARD_MM)).all(1)
    wrong = found.sure & (drawn != (found.inside & on_board))
    return int(wrong.sum()), int(found.sure.sum())


@pytest.mark.parametrize("name", AREAS)
def test_points_lie_where_distances_say(name: str) -> None:
    count = POINTS // 8 if "whole" in name else POINTS
    wrong, of_all = disagreements(SCENE, AREAS[name], count, seed=len(name))
    assert (wrong, of_all > 0.6 * count) == (0, True)


@settings(max_examples=25)
@given(
    st.sampled_from(["u1", "u", "oval", "plate", "edge", "ruin"]),
    st.floats(0.5, 300),
    st.floats(0, 200),
    st.sampled_from([None, "u1", "oval", "plate", "edge"]),
    st.integers(0, 1000),
)
def test_any_ring_round_anything(
    name: str, low: float, wide: float, base: str | None, seed: int
) -> None:
    area = of(name, within_mm=[low, low + wide])
    if base and name not in (base, "u"):
        area["for"] = base
    assert disagreements(SCENE, area, 500, seed)[0] == 0


def test_the_area_of_a_ring_is_that_of_the_formula() -> None:
    answer = ask(SCENE, of("u1", within_mm=[30, 100])).answer
    exact = math.pi * ((16 + 100) ** 2 - (16 + 30) ** 2)
    assert answer["area_mm2"] == pytest.approx(exact, rel=4e-4)
    (outline, hole), *others = answer["polygons_mm"]
    assert others == []
    assert signed(outline) > 0 > signed(hole)
    assert signed(outline) + signed(hole) == pytest.approx(answer["area_mm2"])


def signed(ring: list[list[float]]) -> float:
    x, y = np.array(ring).T
    return float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2)


def test_corners_lie_on_the_exact_curve() -> None:
    outline = np.array(ask(SCENE, of("u1", within_mm=100)).answer["polygons_mm"][0][0])
    distances = np.hypot(*(outline - (200, 200)).T)
    middles = np.hypot(*((outline + np.roll(outline, -1, 0)) / 2 - (200, 200)).T)
    assert distances == pytest.approx(np.full(len(outline), 116.0), abs=1e-9)
    assert (116 - middles).max() < 0.03


def test_nothing_lies_in_no_area() -> None:
    area = joined("all", of("u1", within_mm=50), joined("not", of("u1", within_mm=50)))
    answer = ask(SCENE, area).answer
    assert (answer["area_mm2"], answer["polygons_mm"], answer["pieces"]) == (0, [], [])
