"""True lines: laws of sight from eye to eye, and how sure it is where heights are in doubt."""

from math import cos, erf, sin, sqrt
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.errors import BadInput
from overruler.geometry.shapes import Disc, Polygon
from overruler.reading import Node
from overruler.rules import ask
from overruler.rules.eye_lines import EyePlane
from overruler.rules.sight import answer_los
from overruler.scene import Scene
from tests.rules.scenes import disc, scene_of

TRUE_LINE = {"settings": {"sight": "true_line"}}
WALLS = st.tuples(
    st.integers(60, 200), st.integers(-60, 20), st.integers(10, 40), st.integers(10, 80),
    st.integers(0, 60), st.integers(1, 90),
)  # fmt: skip


def wall(name: str, box: tuple[float, ...], top_z_mm: float | None = None) -> dict[str, Any]:
    x, y, length, width, base, height = box
    corners = [[x, y], [x + length, y], [x + length, y + width], [x, y + width]]
    top = base + height if top_z_mm is None else top_z_mm
    return {"id": name, "footprint_mm": corners, "base_z_mm": base, "top_z_mm": top}


def table(z: tuple[int, int], terrain: list[dict[str, Any]], **more: Any) -> Scene:
    pieces = [disc("a", 0, 0, z_mm=z[0]), disc("b", 300, 0, z_mm=z[1])]
    return scene_of(pieces, game="positioning", terrain=terrain, state=TRUE_LINE, **more)


def is_clear(scene: Scene, a: str = "a", b: str = "b") -> bool:
    return bool(answer_los(scene, Node({"from": a, "to": b}, "question")).value)


HEIGHTS = st.tuples(st.integers(0, 80), st.integers(0, 80))


@settings(max_examples=60)
@given(HEIGHTS, st.lists(WALLS, min_size=1, max_size=3), st.integers(1, 60))
def test_sight_is_mutual_and_a_taller_wall_never_opens_it(
    z: tuple[int, int], boxes: list[tuple[int, ...]], more: int
) -> None:
    walls = [wall(f"w{k}", box) for k, box in enumerate(boxes)]
    clear = is_clear(table(z, walls))
    assert is_clear(table(z, walls), "b", "a") is clear
    taller = [walls[0] | {"top_z_mm": walls[0]["top_z_mm"] + more}, *walls[1:]]
    assert clear or not is_clear(table(z, taller))


@settings(max_examples=40)
@given(st.lists(WALLS, min_size=1, max_size=3))
def test_with_equal_heights_it_is_the_flat_answer(boxes: list[tuple[int, ...]]) -> None:
    walls = [wall(f"w{k}", (*box[:4], 0, 30)) for k, box in enumerate(boxes)]
    flat = scene_of([disc("a", 0, 0), disc("b", 300, 0)], game="positioning", terrain=walls)
    assert is_clear(table((0, 0), walls)) is is_clear(flat)


@settings(max_examples=60)
@given(HEIGHTS, st.lists(WALLS, min_size=1, max_size=3))
def test_rays_that_are_cast_agree(z: tuple[int, int], boxes: list[tuple[int, ...]]) -> None:
    """No ray of many is free where sight is shut; where many rays are free it is open."""
    ends = np.linspace(-14.99, 14.99, 41)
    start, end = (grid.ravel()[:, None] for grid in np.meshgrid(ends, ends))
    x = np.linspace(0, 300, 901)
    y, height = start + (end - start) * x / 300, 27 + z[0] + (z[1] - z[0]) * x / 300
    hit = np.zeros(y.shape, bool)
    for left, near, length, width, base, rise in boxes:
        across = (x > left) & (x < left + length) & (height > base) & (height < base + rise)
        hit |= across & (y > near) & (y < near + width)
    free = int((~hit.any(1)).sum())
    clear = is_clear(table(z, [wall(f"w{k}", box) for k, box in enumerate(boxes)]))
    assert clear or free < 30, free  # rays pass by corners between two steps of x
    assert not clear or free or table_margin(z, boxes) < 2


def table_margin(z: tuple[int, int], boxes: list[tuple[int, ...]]) -> float:
    scene = table(z, [wall(f"w{k}", box) for k, box in enumerate(boxes)])
    margin = answer_los(scene, Node({"from": "a", "to": "b"}, "question")).margin_mm
    return 99 if margin is None else margin


@settings(max_examples=30)
@given(HEIGHTS, st.lists(WALLS, min_size=1, max_size=2), st.floats(0, 6.28))
def test_turning_the_table_changes_nothing(
    z: tuple[int, int], boxes: list[tuple[int, ...]], turn: float
) -> None:
    walls = [wall(f"w{k}", box) for k, box in enumerate(boxes)]
    turned = [
        one | {"footprint_mm": [turned_by(turn, point) for point in one["footprint_mm"]]}
        for one in walls
    ]
    x, y = turned_by(turn, [300, 0])
    pieces = [disc("a", 0, 0, z_mm=z[0]), disc("b", x, y, z_mm=z[1])]
    there = scene_of(pieces, game="positioning", terrain=turned, state=TRUE_LINE)
    clear = is_clear(table(z, walls))
    assert is_clear(there) is clear or table_margin(z, boxes) < 1e-3


def turned_by(turn: float, point: list[float]) -> list[float]:
    c, s = cos(turn), sin(turn)
    return [c * point[0] - s * point[1], s * point[0] + c * point[1]]


@pytest.mark.parametrize(
    ("base", "top", "clear"),
    [(0, 27, True), (0, 27.001, False), (27, 60, True), (26.999, 60, False)],
)
def test_what_ends_or_begins_at_the_eyes_height_hides_nothing(
    base: float, top: float, clear: bool
) -> None:
    assert is_clear(table((0, 0), [wall("w", (140, -80, 20, 160, base, 0), top)])) is clear


@pytest.mark.parametrize("slope", [(-0.1, 0.0), (0.0, -0.1), (-0.06, -0.08)])
@pytest.mark.parametrize("side", [1, -1])
def test_a_round_base_hides_by_its_half_below_the_plane(
    slope: tuple[float, float], side: int
) -> None:
    """The plane falls through the top, or the underside, over the base's middle."""
    plane = EyePlane((0.0, 0.0), 20 - 100 * (slope[0] + slope[1]), slope)
    span = (0.0, 20.0) if side == 1 else (20.0, 90.0)
    part = plane.part_between(Disc((100.0, 100.0), 30.0), *span)
    assert isinstance(part, Polygon)
    ground = shapely.Polygon(part.corners)
    assert ground.area == pytest.approx(np.pi * 30**2 / 2, rel=1e-3)
    x, y = ground.centroid.x - 100, ground.centroid.y - 100
    assert side * (x * slope[0] + y * slope[1]) < 0


@pytest.mark.parametrize("doubtful_places", [False, True])
def test_doubt_of_a_wall_s_height_is_doubt_of_sight(doubtful_places: bool) -> None:
    screen = wall("w", (140, -80, 20, 160, 0, 26)) | {"sigma_mm": 2}
    more = {"covariance": np.eye(4) / 100} if doubtful_places else {}
    verdict = ask(table((0, 0), [screen], **more), {"question": "los", "from": "a", "to": "b"})
    assert verdict.probability is not None
    expected = (1 + erf(0.5 / sqrt(2))) / 2  # the top, 26 ± 2 mm, is below the eyes at 27
    assert verdict.probability["true"] == pytest.approx(expected, abs=0.01)
    assert verdict.settings == {"sight": "true_line"}


def test_doubt_of_a_wall_s_height_is_doubt_of_cover() -> None:
    screen = wall("w", (140, -80, 20, 160, 0, 26)) | {"sigma_mm": 2}
    found = table((0, 0), [screen], covariance=np.eye(4) / 100)
    verdict = ask(found, {"question": "cover", "from": "a", "to": "b"})
    assert verdict.probability is not None
    expected = (1 - erf(0.5 / sqrt(2))) / 2
    assert verdict.probability["true"] == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("told", [{"z_sigma_mm": 2}, {"sigma_z_mm": 2}])
def test_doubt_of_a_piece_s_height_is_doubt_of_sight(told: dict[str, float]) -> None:
    pieces = [disc("a", 0, 0), disc("b", 300, 0), disc("c", 150, 0, 60, height_mm=26, **told)]
    scene = scene_of(pieces, game="positioning", state=TRUE_LINE)
    verdict = ask(scene, {"question": "los", "from": "a", "to": "b"})
    assert verdict.probability is not None
    assert verdict.probability["true"] == pytest.approx((1 + erf(0.5 / sqrt(2))) / 2, abs=0.01)


def test_doubt_of_a_top_is_none_of_the_underside() -> None:
    bridge = wall("w", (140, -80, 20, 160, 26, 34)) | {"sigma_mm": 2}
    verdict = ask(table((0, 0), [bridge]), {"question": "los", "from": "a", "to": "b"})
    assert verdict.probability == {"true": 0.0, "false": 1.0}


def test_who_stands_on_a_hill_in_doubt_looks_from_it() -> None:
    """The plane falls from 67 ± 10 to 27 mm, and must pass 52 mm over the wall's farther edge."""
    hill = wall("h", (-40, -40, 80, 80, 0, 40)) | {"sigma_mm": 10}
    screen = wall("w", (140, -80, 20, 160, 0, 52))
    pieces = [disc("a", 0, 0, z_mm=40, on="h"), disc("b", 300, 0)]
    scene = scene_of(pieces, game="positioning", terrain=[hill, screen], state=TRUE_LINE)
    verdict = ask(scene, {"question": "los", "from": "a", "to": "b"})
    assert verdict.probability is not None
    needed = (52 - 27) * 300 / 140 - 40
    expected = (1 - erf(needed / 10 / sqrt(2))) / 2
    assert verdict.probability["true"] == pytest.approx(expected, abs=0.01)


def test_all_that_stand_on_one_hill_move_together() -> None:
    hill = wall("h", (-40, -90, 380, 180, 0, 40)) | {"sigma_mm": 10}
    more: dict[str, Any] = {"z_mm": 40, "on": "h", "z_sigma_mm": 10}
    pieces = [disc("a", 0, 0, **more), disc("b", 300, 0, **more)]
    pieces.append(disc("c", 150, 0, 60, height_mm=26, **more))
    scene = scene_of(pieces, game="positioning", terrain=[hill], state=TRUE_LINE)
    verdict = ask(scene, {"question": "los", "from": "a", "to": "b"})
    assert verdict.probability == {"true": 1.0, "false": 0.0}


def test_a_corner_is_cut_where_the_plane_runs_through_its_top() -> None:
    plane = EyePlane((0.0, 0.0), 23.0, (-0.1, 0.0))  # at 20 mm where x is 30
    square = Polygon(((0.0, 0.0), (100.0, 0.0), (100.0, 100.0), (0.0, 100.0)))
    part = plane.part_between(square, 0.0, 20.0)
    assert isinstance(part, Polygon)
    assert shapely.Polygon(part.corners).area == pytest.approx(7000)


def test_a_piece_on_a_hill_moves_with_it() -> None:
    hill = wall("h", (280, -40, 40, 80, 0, 40)) | {"sigma_mm": 10}
    pieces = [disc("a", 290, 0, 10, z_mm=40, on="h"), disc("b", 310, 0, 9, z_mm=40, on="h")]
    scene = scene_of(pieces, game="positioning", terrain=[hill], state=TRUE_LINE)
    verdict = ask(scene, {"question": "los", "from": "a", "to": "b"})
    assert verdict.probability == {"true": 1.0, "false": 0.0}


def test_a_word_that_is_no_choice_is_refused() -> None:
    scene = scene_of([disc("a", 0, 0)], game="positioning", state={"settings": {"sight": "far"}})
    with pytest.raises(BadInput, match=r"state\.settings\.sight"):
        ask(scene, {"question": "distance", "from": "a", "to": "a"})
