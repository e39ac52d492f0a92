"""Arcs, zones and shadows: points lie in them as arcs, outlines and lines of sight say."""

from typing import Any

import numpy as np
import pytest
import shapely

from overruler.geometry.arcs import Region, Strip, Wedge
from overruler.geometry.pose import Array
from overruler.reading import Node
from overruler.rules import ask
from overruler.rules.areas.ground import Ground
from overruler.rules.areas.reading import read_area
from overruler.rules.sightlines import Sight
from overruler.scene import Scene
from tests.rules.areas.test_ground import BOARD_MM, OVAL, PLATE, RUIN, joined, of
from tests.rules.scenes import disc, scene_of

WALL = {
    "id": "wall",
    "footprint_mm": [[400, 300], [420, 300], [420, 450], [400, 450]],
    "top_z_mm": 60,
}
BLOCK = {"id": "block", "footprint_mm": [[330, 100], [380, 120], [350, 190]], "top_z_mm": 60}
BEAMS = [
    {"name": "wide", "apex_mm": [10, 5], "from_deg": -100, "to_deg": 130},
    {"name": "strip", "apex_mm": [0, 0], "from_deg": 40, "width_mm": 60},
]
VIEWERS = {
    "disc": disc("v", 200, 200, 32),
    "oval": {"id": "v", "base": OVAL, "x_mm": 250, "y_mm": 420, "heading_deg": 25},
    "plate": {"id": "v", "base": PLATE, "x_mm": 800, "y_mm": 420, "heading_deg": 70},
}
SHIP = {"id": "ship", "base": PLATE, "x_mm": 420, "y_mm": 250, "heading_deg": 30}
NEAR_MM = 0.01
"""Nearer to an outline than rounding carries it, a point says nothing."""


def ground_of(scene: Scene, area: dict[str, Any]) -> shapely.MultiPolygon:
    tree = read_area(scene, Node(area, "question"))
    return Ground(scene, tree).cover(tree)


def points_beside(ground: shapely.MultiPolygon, count: int, seed: int) -> Array:
    """Points on the board, half of them along an outline, none of them on it."""
    random = np.random.default_rng(seed)
    points = random.uniform((1, 1), np.array(BOARD_MM) - 1, (count, 2))
    along = shapely.get_coordinates(shapely.segmentize(ground.boundary, 2.0))
    points[: count // 2] = random.choice(along, count // 2) + random.normal(0, 0.5, (count // 2, 2))
    points = points[((points > 0) & (points < BOARD_MM)).all(1)]
    return points[shapely.distance(ground.boundary, shapely.points(points)) > NEAR_MM]


@pytest.mark.parametrize("viewer", VIEWERS)
def test_ground_is_hidden_where_no_line_of_sight_is_free(viewer: str) -> None:
    """With 1500 points none disagrees either."""
    terrain = [RUIN, WALL, BLOCK]
    hall = scene_of([VIEWERS[viewer]], game="positioning", board_mm=BOARD_MM, terrain=terrain)
    ground = ground_of(hall, {"question": "area", "hidden_from": "v"})
    points = points_beside(ground, 120, seed=len(viewer))
    for point, is_hidden in zip(points, shapely.contains_xy(ground, points), strict=True):
        x, y = point.tolist()
        pin = disc("pin", x, y, 0.002)
        pieces = [VIEWERS[viewer], pin]
        pinned = scene_of(pieces, game="positioning", board_mm=BOARD_MM, terrain=terrain)
        assert Sight(pinned, 0, 1).is_clear is not is_hidden, point


@pytest.mark.parametrize(
    ("name", "region"),
    [
        ("wide", Wedge((426.160254, 259.330127), -70.0, 230.0)),
        ("strip", Strip((420.0, 250.0), 70.0, 60.0)),
        ("full_rear", Wedge((420.0, 250.0), 120.0, 180.0)),
    ],
)
def test_ground_is_in_an_arc_where_its_points_are(name: str, region: Region) -> None:
    scene = scene_of([SHIP | {"stats": {"arcs": BEAMS}}], game="inches", board_mm=BOARD_MM)
    ground = ground_of(scene, of("ship", arc=name))
    points = points_beside(ground, 500, seed=1)
    told = [region.contains((x, y)) for x, y in points.tolist()]
    assert (shapely.contains_xy(ground, points) == told).all()


def test_an_arc_with_a_distance_is_both() -> None:
    scene = scene_of([SHIP], game="inches", board_mm=BOARD_MM)
    short = ask(scene, of("ship", arc="full_front", within_mm=80)).answer["area_mm2"]
    parts = (of("ship", arc="full_front"), of("ship", within_mm=80))
    assert short == pytest.approx(ask(scene, joined("all", *parts)).answer["area_mm2"])
    assert short == pytest.approx(
        ask(scene, of("ship", within_mm=80)).answer["area_mm2"] / 2, rel=1e-3
    )


@pytest.mark.parametrize(
    ("edge", "box"),
    [
        ("left", (0, 0, 100, 600)),
        ("right", (800, 0, 900, 600)),
        ("bottom", (0, 0, 900, 100)),
        ("top", (0, 500, 900, 600)),
    ],
)
def test_an_edge_has_a_strip_along_it(edge: str, box: tuple[float, ...]) -> None:
    scene = scene_of([SHIP], game="inches", board_mm=BOARD_MM)
    ground = ground_of(scene, {"question": "area", "edge": edge, "within_mm": 100})
    assert ground.bounds == box
    middle = ground_of(scene, {"question": "area", "edge": edge, "within_mm": [20, 50]})
    assert middle.area == pytest.approx(0.3 * ground.area)


def test_a_base_stands_partly_or_wholly_in_a_zone() -> None:
    """A base of 40 by 60 mm, straight: its centre may be so much outside, or must be so much inside."""
    straight = SHIP | {"heading_deg": 0}
    scene = scene_of([straight], game="inches", board_mm=BOARD_MM)
    zone = [[100, 100], [300, 100], [300, 300], [100, 300]]
    area = {"question": "area", "zone": zone, "for": "ship"}
    assert ground_of(scene, area).bounds == (70, 80, 330, 320)
    assert ground_of(scene, area | {"whole": True}).bounds == (130, 120, 270, 280)


# --- soft edges ---


def test_the_soft_edge_of_a_disc_is_as_wide_as_the_95_percent_interval() -> None:
    scene = scene_of([disc("d", 450, 300, 40)], np.eye(2) * 2.25, game="inches", board_mm=BOARD_MM)
    answer = ask(scene, of("d", within_mm=100)).answer
    for key, reach in (("sure_polygons_mm", 120 - 2.94), ("possible_polygons_mm", 120 + 2.94)):
        [[outline]] = answer[key]
        distances = np.hypot(*(np.array(outline) - (450, 300)).T)
        assert distances == pytest.approx(np.full(len(outline), reach), abs=0.11)


def test_ninety_five_of_a_hundred_places_keep_a_border_in_its_soft_edge() -> None:
    """Along a normal of the border: a place of the body, drawn, moves the border with it."""
    spread = np.array([[4.0, 1.5], [1.5, 1.0]])
    plate = {"id": "p", "base": PLATE, "x_mm": 450, "y_mm": 300, "heading_deg": 25}
    scene = scene_of([plate], spread, game="inches", board_mm=BOARD_MM)
    answer = ask(scene, of("p", within_mm=70)).answer
    sides = [
        shapely.Polygon(answer[key][0][0]) for key in ("sure_polygons_mm", "possible_polygons_mm")
    ]
    measured = shapely.Polygon(answer["polygons_mm"][0][0])
    shifts = np.random.default_rng(3).multivariate_normal((0, 0), spread, 4000)
    for angle in np.arange(0, 360, 40):
        normal = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
        reach = [float((shapely.get_coordinates(one) @ normal).max()) for one in (measured, *sides)]
        moved = reach[0] + shifts @ normal
        share = float(((moved >= reach[1]) & (moved <= reach[2])).mean())
        assert share == pytest.approx(0.95, abs=0.015)


def test_what_is_sure_of_the_outside_is_what_is_not_possible_inside() -> None:
    scene = scene_of([disc("d", 450, 300, 40)], np.eye(2) * 4, game="inches", board_mm=BOARD_MM)
    near = ask(scene, of("d", within_mm=100)).answer
    outside = ask(scene, joined("not", of("d", within_mm=100))).answer
    board = BOARD_MM[0] * BOARD_MM[1]
    for ours, theirs in (("sure", "possible"), ("possible", "sure")):
        areas = [
            polygons_area(one[f"{key}_polygons_mm"])
            for one, key in ((near, ours), (outside, theirs))
        ]
        assert sum(areas) == pytest.approx(board)


def polygons_area(polygons: list[list[list[list[float]]]]) -> float:
    return sum(shapely.Polygon(outline, holes).area for outline, *holes in polygons)


def test_the_shadow_of_a_base_in_doubt_shrinks_to_what_is_surely_hidden() -> None:
    scene = scene_of(
        [VIEWERS["disc"]], np.eye(2) * 4, game="inches", board_mm=BOARD_MM, terrain=[WALL]
    )
    answer = ask(scene, {"question": "area", "hidden_from": "v"}).answer
    sure, measured, possible = (
        polygons_area(answer[key])
        for key in ("sure_polygons_mm", "polygons_mm", "possible_polygons_mm")
    )
    assert sure < measured < possible


def test_a_viewer_less_sure_than_it_is_wide_may_be_a_point() -> None:
    """Made smaller by its doubt, the base is a point, whose rim has no corners."""
    scene = scene_of(
        [VIEWERS["disc"]], np.eye(2) * 400, game="inches", board_mm=BOARD_MM, terrain=[WALL]
    )
    answer = ask(scene, {"question": "area", "hidden_from": "v"}).answer
    assert polygons_area(answer["possible_polygons_mm"]) > polygons_area(answer["polygons_mm"])


def test_a_piece_on_a_zone_s_border_is_in_it_as_often_as_its_places_are() -> None:
    """The border passes 0.5 σ beside the edge of a base: P(x > -0.5 σ) = 0.6915."""
    piece = disc("d", 189, 300, 20)
    scene = scene_of([piece], np.eye(2) * 4, game="inches", board_mm=BOARD_MM)
    zone = [[200, 100], [400, 100], [400, 500], [200, 500]]
    verdict = ask(scene, {"question": "area", "zone": zone})
    assert verdict.probability is not None
    assert verdict.probability['["d"]'] == pytest.approx(1 - 0.6915, abs=0.01)


def test_a_piece_on_a_shadow_s_border_is_in_it_as_often_as_its_places_are() -> None:
    """The border is the tangent of the viewer's base through the wall's lower corner."""
    pieces = [VIEWERS["disc"], disc("d", 700, 432, 32)]
    covariance = np.diag([1.0, 4.0, 0.5, 9.0])
    scene = scene_of(pieces, covariance, game="inches", board_mm=BOARD_MM, terrain=[WALL])
    drawn = np.random.default_rng(8).standard_normal((200_000, 4)) * np.sqrt(np.diag(covariance))
    x, y = (np.array([420, 300]) - (200, 200) - drawn[:, :2]).T
    tangent = np.arctan2(y, x) + np.arcsin(16 / np.hypot(x, y))
    to_x, to_y = (drawn[:, 2:] + (700 - 420, 432 - 300)).T
    beyond = np.cos(tangent) * to_y - np.sin(tangent) * to_x
    verdict = ask(scene, {"question": "area", "hidden_from": "v"})
    assert verdict.probability is not None
    expected = np.mean(beyond > -16)
    assert 0.2 < expected < 0.8
    assert verdict.probability['["d"]'] == pytest.approx(expected, abs=0.006)


def test_a_piece_that_may_lie_off_the_board_is_in_no_area_there() -> None:
    """Its rim is 1 mm on the board, 0.5 σ: P(x < 0.5 σ) = 0.6915."""
    scene = scene_of([disc("v", 60, 300, 32), disc("d", 60, -15, 32)], np.eye(4) * 4, game="inches")
    verdict = ask(scene, {"question": "area", "of": "v", "within_mm": 500})
    assert verdict.probability is not None
    assert verdict.probability['["d"]'] == pytest.approx(0.6915, abs=0.005)


# --- what makes no sense ---


@pytest.mark.parametrize(
    ("area", "said"),
    [
        ({"edge": "middle", "within_mm": 5}, "edge"),
        ({"edge": "left"}, "within_mm"),
        ({"zone": "nowhere"}, "unknown name"),
        ({"zone": [[0, 0], [1, 0]]}, "3 different points"),
        ({"of_player": "nobody", "within_mm": 5}, "unknown name"),
        ({"hidden_from": "ship", "behind": ["ship"]}, "both sides"),
        ({"of": "ship", "arc": "nose"}, "arc"),
        ({"hidden_from": "ship", "behind": []}, "from 1 to"),
    ],
)
def test_what_makes_no_sense_is_named(area: dict[str, Any], said: str) -> None:
    from overruler.errors import BadInput

    scene = scene_of([SHIP], game="inches", board_mm=BOARD_MM)
    with pytest.raises(BadInput, match=said):
        ask(scene, {"question": "area", **area})


def test_where_nothing_is_hidden_for_want_of_terrain_the_answer_says_how_to_declare_some() -> None:
    table = scene_of([VIEWERS["disc"]], game="inches", board_mm=BOARD_MM)
    hidden = ask(table, {"question": "area", "hidden_from": "v"})
    assert hidden.headline.startswith("nothing is hidden: no terrain is known (declare it: ")
    assert "--terrain" in hidden.headline
