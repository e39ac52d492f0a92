"""The look from above: laws that hold whatever the network was taught, and what it must see on drawn tables."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.drawn.markers import camera_over
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Pose
from overruler.vision.imaging.orthophoto import Orthophoto, rectify_photo, relief_displacement_map
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX
from overruler.vision.learned.shape_net import (
    MIN_SPACING_SHARE,
    ShapeCandidate,
    _suppress_overlaps,
    find_plate_candidates,
)
from tests.vision.plate_table import Ship, table_with

SIZE_PX = (1200, 1000)
BOX_MM = (0.0, 0.0, 400.0, 320.0)
SHIPS = [Ship(120, 120, 12.0), Ship(270, 200, 100.0, 60.0)]


def seen_from(
    tilt_deg: float, ships: list[Ship], mm_per_px: float = OVERVIEW_MM_PER_PX
) -> tuple[Orthophoto, Camera]:
    camera = camera_over(
        tilt_deg, size_px=SIZE_PX, height_mm=700.0, focal_px=1400.0, aim_mm=(200.0, 160.0)
    )
    frame = table_with(camera, ships, SIZE_PX)
    return rectify_photo(frame.pixels, camera, BOX_MM, mm_per_px), camera


def test_an_empty_mat_has_nothing_on_it() -> None:
    assert find_plate_candidates(*seen_from(15.0, [])) == []


@pytest.mark.parametrize("tilt_deg", [0.0, 25.0])
def test_plates_are_guessed_where_they_lie_at_their_heading_and_size(tilt_deg: float) -> None:
    guesses = find_plate_candidates(*seen_from(tilt_deg, SHIPS))
    assert len(guesses) == len(SHIPS)
    for ship in SHIPS:
        guess = min(guesses, key=lambda one: float(np.hypot(*(one.xy_mm - [ship.x_mm, ship.y_mm]))))
        assert np.hypot(*(guess.xy_mm - [ship.x_mm, ship.y_mm])) < 6
        assert abs((np.degrees(guess.turn_rad) - ship.heading_deg + 45) % 90 - 45) < 6
        assert abs(np.log(np.sqrt(guess.length_mm * guess.width_mm) / ship.side_mm)) < 0.25


@pytest.mark.parametrize("mm_per_px", [1.0, 3.2])
def test_pictures_finer_or_coarser_are_brought_to_scale(mm_per_px: float) -> None:
    first, second = sorted(
        find_plate_candidates(*seen_from(10.0, SHIPS, mm_per_px)), key=lambda one: one.length_mm
    )
    for guess, ship in [(first, SHIPS[0]), (second, SHIPS[1])]:
        assert np.hypot(*(guess.xy_mm - [ship.x_mm, ship.y_mm])) < 6
        assert abs(np.log(guess.length_mm / ship.side_mm)) < 0.25


def test_a_frame_set_elsewhere_moves_the_guesses_along() -> None:
    view, camera = seen_from(0.0, SHIPS)
    pose, eye = camera.T_camera_board, camera.center_mm + np.array([500.0, -300.0, 0.0])
    there = replace(camera, T_camera_board=Pose(pose.rotation, -pose.rotation @ eye))
    moved = find_plate_candidates(
        replace(view, left_mm=view.left_mm + 500, top_mm=view.top_mm - 300), there
    )
    assert len(moved) >= len(SHIPS)
    for one, other in zip(find_plate_candidates(view, camera), moved, strict=True):
        np.testing.assert_allclose(other.xy_mm - one.xy_mm, [500.0, -300.0], atol=0.01)
        assert other.score == pytest.approx(one.score, abs=1e-3)


def test_nothing_is_guessed_under_what_is_hidden() -> None:
    view, camera = seen_from(0.0, SHIPS)
    card = np.array([120.0, 120.0]) + 25 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    left = find_plate_candidates(view, camera, [card])
    assert left
    assert all(np.abs(guess.xy_mm - [120, 120]).max() > 20 for guess in left)


def test_the_lean_points_away_from_the_camera() -> None:
    view, camera = seen_from(30.0, [])
    lean = relief_displacement_map(view, camera)
    for row, column in [(3, 5), (100, 150), (40, 190)]:
        foot = view.to_mm(np.array([column, row]))
        top = camera.unproject(camera.project(np.array([*foot, 1.0])), 0.0)
        np.testing.assert_allclose(lean[row, column] * [1, -1], top - foot, rtol=0.01, atol=1e-4)


places = st.lists(st.tuples(st.floats(0, 200), st.floats(0, 200), st.floats(20, 90)), max_size=12)


@given(places)
def test_of_guesses_at_one_place_the_likeliest_stays(
    rows: list[tuple[float, float, float]],
) -> None:
    guesses = [ShapeCandidate(np.array([x, y]), side, side, 0.0, 1.0, 0.5) for x, y, side in rows]
    kept = _suppress_overlaps(guesses)

    def same(one: ShapeCandidate, other: ShapeCandidate) -> bool:
        return bool(
            np.hypot(*(one.xy_mm - other.xy_mm))
            <= MIN_SPACING_SHARE * min(one.width_mm, other.width_mm)
        )

    assert all(not same(one, other) for k, one in enumerate(kept) for other in kept[:k])
    assert all(any(one is k or same(one, k) for k in kept) for one in guesses)
    assert kept[:1] == guesses[:1]
