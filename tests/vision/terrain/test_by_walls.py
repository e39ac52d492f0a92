"""How high a hill is by how wide its sides look."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.relief import reproject_to_height
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.terrain.by_walls import HEIGHTS_MM as GRID_MM
from overruler.vision.terrain.by_walls import Kind, height_from_walls
from overruler.vision.terrain.find import BUILDING, HILL, prior_by_look
from tests.tables import camera_over
from tests.vision.terrain.test_find import FOOT, table

THOUGHT_MM, DOUBT_MM = 28.0, 16.0
PRIOR = Kind(THOUGHT_MM, DOUBT_MM, 7.0, 5.0).prior()


def top_as_seen(camera: Camera, height_mm: float, run_mm: float, inset_mm: float = 0.0) -> Array:
    """The outline of the top of the hill that `table` draws, on the board's plane."""
    middle = FOOT.mean(0)
    share = 1 - (run_mm + inset_mm) / np.hypot(*(FOOT - middle).T)[:, None]
    return reproject_to_height(camera, middle + (FOOT - middle) * share, height_mm, 0.0)


HEIGHTS_MM, RUNS_MM, INSETS_MM = (15.0, 30.0, 45.0, 60.0), (0.0, 10.0), (0.0, 8.0)


@pytest.fixture(scope="module")
def told() -> Array:
    """(N, 3): heights, what the sides tell of them and how surely, however roughly the top's outline is known."""
    camera, rows = camera_over(30.0), []
    for high, run in product(HEIGHTS_MM, RUNS_MM):
        view = table(camera, high, 3, run)
        for inset in INSETS_MM:
            rows.append(
                (
                    high,
                    *height_from_walls(view, camera, top_as_seen(camera, high, run, inset), PRIOR)[
                        :2
                    ],
                )
            )
    return np.array(rows)


def test_the_sides_tell_the_height(told: Array) -> None:
    high, height, sigma = told.T
    assert (np.abs(height - high) < 2.5 * sigma).all()
    assert np.median(np.abs(height / high - 1)) < np.median(np.abs(THOUGHT_MM / high - 1)) / 3


def test_the_sides_make_the_height_surer(told: Array) -> None:
    _, height, sigma = told.T
    assert (sigma / height < 0.75 * DOUBT_MM / THOUGHT_MM).all()


def test_from_right_above_they_tell_next_to_nothing() -> None:
    camera = camera_over(0.0, 0.0)
    view = table(camera, 45.0, 3, 10.0)
    slanted = camera_over(30.0)
    sure = height_from_walls(
        table(slanted, 45.0, 3, 10.0),
        slanted,
        top_as_seen(slanted, 45.0, 10.0),
        PRIOR,
    )
    unsure = height_from_walls(view, camera, top_as_seen(camera, 45.0, 10.0), PRIOR)
    assert unsure[1] / unsure[0] > 1.4 * sure[1] / sure[0]


@pytest.mark.parametrize(
    ("tilt_deg", "high_mm", "run_mm"),
    [
        (30.0, 60.0, 0.0),
        (30.0, 60.0, -4.0),
        (30.0, 80.0, 0.0),
        (30.0, 80.0, -4.0),
        (48.0, 80.0, 0.0),
    ],
)
def test_walls_of_buildings_tell_their_height_under_eaves_too(
    tilt_deg: float, high_mm: float, run_mm: float
) -> None:
    camera = camera_over(tilt_deg)
    view, outline = table(camera, high_mm, 3, run_mm), top_as_seen(camera, high_mm, run_mm)
    height, sigma, nats = height_from_walls(view, camera, outline, BUILDING.prior())
    assert abs(height - high_mm) < 2 * sigma
    assert height == pytest.approx(high_mm, rel=0.12)
    assert nats > 0


def test_a_top_that_looks_less_like_a_hill_may_be_higher() -> None:
    def median_mm(hill: float) -> float:
        shares = prior_by_look(hill).sum(1)
        assert shares.sum() == pytest.approx(1)
        return float(np.interp(0.5, np.cumsum(shares), GRID_MM))

    surest, unsure = median_mm(0.99), median_mm(0.05)
    assert surest < HILL.height_mm * 1.1
    assert unsure > BUILDING.height_mm * 0.8


@settings(max_examples=20)
@given(
    height_mm=st.floats(12, 45), share=st.floats(0.2, 0.7)
)  # beyond, the heights tried end in the doubt
def test_where_no_side_shows_what_was_thought_stays(height_mm: float, share: float) -> None:
    camera = camera_over(30.0)
    blank = np.full((400, 500, 3), 120, np.uint8)
    view = Orthophoto(blank, np.ones((400, 500), bool), -40.0, 600.0, 1.6)
    height, sigma, _ = height_from_walls(
        view,
        camera,
        top_as_seen(camera, 30.0, 0.0),
        Kind(height_mm, share * height_mm, 7.0, 5.0).prior(),
    )
    assert height == pytest.approx(height_mm, rel=0.2)
    assert sigma / height == pytest.approx(share, rel=0.25)


def test_which_way_round_the_outline_runs_is_all_one() -> None:
    camera = camera_over(30.0)
    view, outline = table(camera, 36.0, 3, 5.0), top_as_seen(camera, 36.0, 5.0)
    there = height_from_walls(view, camera, outline, PRIOR)
    back = height_from_walls(view, camera, outline[::-1], PRIOR)
    assert back == pytest.approx(there, rel=0.1)


def test_walls_speak_for_a_hill_and_not_for_a_print() -> None:
    camera = camera_over(25.0)
    hill, printed = (
        height_from_walls(
            table(camera, high, 3, run),
            camera,
            top_as_seen(camera, high, run),
            PRIOR,
        ).raised_nats
        for high, run in ((36.0, 12.0), (0.0, 0.0))
    )
    assert hill > 2 > 0.5 > abs(printed)
