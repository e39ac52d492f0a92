"""Moves against terrain that is not convex: the lines between its convex parts are no edges."""

import math
from typing import Any

import numpy as np
import pytest

from overruler.rules import ask
from overruler.verdict import Verdict
from tests.rules.scenes import disc, scene_of

Outline = list[list[float]]
WALL: Outline = [[700, 0], [740, 0], [740, 900], [700, 900]]
NOTCHED: Outline = [[700, 0], [740, 0], [740, 480], [720, 500], [740, 520], [740, 900], [700, 900]]
STEPPED: Outline = [
    [700, 0],
    [740, 0],
    [740, 480],
    [720, 480],
    [720, 520],
    [740, 520],
    [740, 900],
    [700, 900],
]
MOUTH: Outline = [
    [650, 300],
    [800, 300],
    [800, 500],
    [780, 500],
    [780, 320],
    [670, 320],
    [670, 500],
    [650, 500],
]
LEANING = {"question": "advance", "piece": "b", "target": "w"}
SHOVED = {"question": "force", "kind": "reposition", "actor": "a", "target": "b", "distance_in": 40}


def turned(point: tuple[float, float], turn_deg: float) -> list[float]:
    """A place turned about the middle of the board."""
    c, s = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))
    x, y = point[0] - 450, point[1] - 450
    return [450 + c * x - s * y, 450 + s * x + c * y]


def ruled(
    outline: Outline,
    place: tuple[float, float],
    question: dict[str, Any],
    direction_deg: float,
    turn_deg: float = 0,
    sigma_mm: float = 0,
) -> Verdict:
    """What is ruled of a piece beside terrain, the whole table turned."""
    footprint = [turned((x, y), turn_deg) for x, y in outline]
    terrain = [{"id": "w", "footprint_mm": footprint, "top_z_mm": 50}]
    pieces = [disc("a", *turned((100, 100), turn_deg)), disc("b", *turned(place, turn_deg))]
    covariance = np.diag([0, 0, sigma_mm**2, sigma_mm**2]) if sigma_mm else None
    scene = scene_of(pieces, covariance, game="positioning", terrain=terrain)
    return ask(scene, {**question, "direction_deg": direction_deg + turn_deg})


@pytest.mark.parametrize("outline", [WALL, NOTCHED, STEPPED])
@pytest.mark.parametrize("x_mm", [685, 686, 690, 698])
@pytest.mark.parametrize("y_mm", [200, 440, 479.9, 499, 519, 600])
@pytest.mark.parametrize("direction_deg", [90, 270])
def test_along_a_side_that_it_overlaps_a_base_slides(
    outline: Outline, x_mm: float, y_mm: float, direction_deg: float
) -> None:
    shoved = ruled(outline, (x_mm, y_mm), SHOVED, direction_deg)
    assert shoved.answer["stopped_by"] is None
    advance = ruled(outline, (x_mm, y_mm), {**LEANING, "distance_in": 9}, direction_deg)
    assert not advance.answer["legal"]


@pytest.mark.parametrize("outline", [WALL, NOTCHED, STEPPED])
@pytest.mark.parametrize("y_mm", [200, 479.9, 499, 600])
@pytest.mark.parametrize(
    ("direction_deg", "stopper"), [(80, "w"), (0, "w"), (100, None), (180, None)]
)
def test_a_base_that_overlaps_is_stopped_only_where_it_presses_on(
    outline: Outline, y_mm: float, direction_deg: float, stopper: str | None
) -> None:
    shoved = ruled(outline, (686, y_mm), SHOVED, direction_deg)
    assert shoved.answer["stopped_by"] == stopper
    if stopper:
        assert shoved.answer["moved_in"] == 0


YARD: Outline = [[400, 200], [700, 200], [700, 700], [400, 700]]
NOTCHED_YARD: Outline = [*YARD[:2], [700, 440], [690, 450], [700, 460], *YARD[2:]]


@pytest.mark.parametrize("sigma_mm", [0, 0.3])
@pytest.mark.parametrize("place", [(425, 400), (630, 640)])
@pytest.mark.parametrize("direction_deg", [0, 100, 180])
def test_wholly_inside_terrain_a_notch_far_away_changes_nothing(
    place: tuple[float, float], direction_deg: float, sigma_mm: float
) -> None:
    for question in (SHOVED, {**LEANING, "distance_in": 9}):
        told = [
            ruled(outline, place, question, direction_deg, sigma_mm=sigma_mm)
            for outline in (YARD, NOTCHED_YARD)
        ]
        assert told[0].value == told[1].value
        assert told[0].probability == pytest.approx(told[1].probability)


def test_the_other_arm_of_terrain_stops_a_base_that_overlaps_one() -> None:
    shoved = ruled(MOUTH, (684, 420), SHOVED, 0)
    assert shoved.answer["stopped_by"] == "w"
    assert shoved.answer["end_mm"] == pytest.approx([765, 420])


@pytest.mark.parametrize("number", range(40))
def test_turning_the_table_changes_nothing(number: int) -> None:
    random = np.random.default_rng(number)
    angles = 2 * np.pi * (np.arange(7) + random.uniform(0, 0.9, 7)) / 7
    radii = random.uniform(30, 120, 7)
    star = np.stack([450 + radii * np.cos(angles), 450 + radii * np.sin(angles)], 1).tolist()
    place = random.uniform(340, 560, 2)
    direction_deg, turn_deg = random.uniform(0, 360, 2)
    ends = []
    for turn in (0, turn_deg):
        shoved = ruled(star, (place[0], place[1]), SHOVED, direction_deg, turn)
        leaning = ruled(
            star, (place[0], place[1]), {**LEANING, "distance_in": 9}, direction_deg, turn
        )
        ends.append((shoved.answer["stopped_by"], shoved.answer["moved_in"], leaning.value))
    assert ends[0][::2] == ends[1][::2]
    assert ends[0][1] == pytest.approx(ends[1][1], abs=1e-6)


@pytest.mark.parametrize("x_mm", [684, 690])
@pytest.mark.parametrize("direction_deg", [90, 84, 95])
def test_doubt_knows_no_lines_between_parts(x_mm: float, direction_deg: float) -> None:
    for question in (SHOVED, {**LEANING, "distance_in": 9}):
        told = [
            ruled(outline, (x_mm, 440), question, direction_deg, sigma_mm=2).probability
            for outline in (WALL, NOTCHED, STEPPED)
        ]
        assert told[0] is not None
        for other in told[1:]:
            assert other == pytest.approx(told[0], abs=0.005)
