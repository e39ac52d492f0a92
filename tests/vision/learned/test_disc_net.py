"""The learned look for round bases: laws whatever the network was taught, and what it must see on drawn tables."""

from dataclasses import replace

import numpy as np
import pytest

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.vision.detection.detect import rectify_board
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.learned.disc_net import (
    MIN_CELL_SCORE,
    MIN_FAINT_SCORE,
    _first_of_each,
    find_discs,
)
from overruler.vision.rounds.ring_filter import find_candidates
from synthetic.flat_table import Plinth
from tests.tables import camera_over, exact, photo

LIGHT, DARK = (0.7, 0.75, 0.7), (0.04, 0.04, 0.05)
TABLE = [
    Plinth(90, 80, 25.0, rim=DARK),
    Plinth(330, 110, 32.0, rim=DARK),
    Plinth(620, 120, 50.0, rim=LIGHT),
    Plinth(120, 250, 60.0, rim=DARK),
    Plinth(120, 420, 28.5, rim=DARK),
    Plinth(148.6, 421, 28.5, rim=DARK),
]


def seen(camera: Camera, table: list[Plinth]) -> Orthophoto:
    return rectify_board(photo(camera, table), exact(camera))


def near(rows: Array, plinth: Plinth) -> Array:
    """Those of the rows that speak of a base."""
    away = np.hypot(rows[:, 0] - plinth.x_mm, rows[:, 1] - plinth.y_mm)
    ratio = np.abs(np.log(2 * rows[:, 2] / plinth.diameter_mm))
    return rows[(away < 0.35 * plinth.diameter_mm / 2) & (ratio < 0.25)]


@pytest.mark.parametrize("tilt_deg", [1.0, 30.0])
def test_bases_are_known_where_they_stand_and_how_large_they_are(tilt_deg: float) -> None:
    camera = camera_over(tilt_deg)
    rows = find_discs(seen(camera, TABLE), camera).rounds
    assert [plinth for plinth in TABLE if not len(near(rows, plinth))] == []
    assert np.all(np.diff(rows[:, 3]) <= 0)
    assert rows[:, 3].min() > 0
    assert rows[:, 3].max() < 1


@pytest.mark.parametrize("tilt_deg", [1.0, 30.0])
def test_both_networks_know_them_too(tilt_deg: float) -> None:
    camera = camera_over(tilt_deg)
    rows = find_discs(seen(camera, TABLE), camera, in_play=True).rounds
    assert [plinth for plinth in TABLE if not len(near(rows, plinth))] == []


def test_a_second_look_makes_no_base_less_likely() -> None:
    camera = camera_over(20.0)
    view = seen(camera, TABLE)
    once, twice = (find_discs(view, camera, in_play).rounds for in_play in (False, True))
    for plinth in TABLE:
        assert near(twice, plinth)[:, 3].max() >= near(once, plinth)[:, 3].max() - 1e-6


def test_faint_candidates_are_apart_from_the_likely_ones() -> None:
    camera = camera_over(20.0)
    found = find_discs(seen(camera, TABLE), camera, in_play=True)
    assert found.rounds[:, 3].min() > MIN_CELL_SCORE >= found.faint[:, 3].max()
    assert found.faint[:, 3].min() > MIN_FAINT_SCORE
    both = np.concatenate([found.rounds, found.faint])
    assert _first_of_each(both[:, :2], both[:, 2], both[:, 2]) == list(range(len(both)))


def test_of_cells_that_speak_of_one_base_the_likeliest_stays() -> None:
    """Two bases in contact, one cell for each and one beside; then a larger base about the same middle."""
    centres = np.array([[0.0, 0.0], [25.0, 0.0], [3.0, 0.0], [1.0, 0.0]])
    radii = np.array([12.5, 12.5, 12.5, 30.0])
    assert _first_of_each(centres, radii, radii) == [0, 1, 3]
    assert _first_of_each(centres[:0], radii[:0], radii[:0]) == []


def test_an_empty_mat_has_hardly_any() -> None:
    camera = camera_over()
    found = find_discs(seen(camera, []), camera)
    assert len(found.rounds) + len(found.ovals) <= 2


def test_a_frame_set_elsewhere_moves_the_places_along() -> None:
    camera = camera_over(20.0)
    view = seen(camera, TABLE)
    pose, eye = camera.T_camera_board, camera.center_mm + np.array([500.0, -300.0, 0.0])
    there = replace(camera, T_camera_board=Pose(pose.rotation, -pose.rotation @ eye))
    moved = find_discs(replace(view, left_mm=view.left_mm + 500, top_mm=view.top_mm - 300), there)
    still = find_discs(view, camera)
    np.testing.assert_allclose(
        moved.rounds[:5], still.rounds[:5] + np.array([500, -300, 0, 0]), atol=0.02
    )


def test_what_is_known_comes_first_and_takes_the_place_of_rings() -> None:
    camera = camera_over()
    view = seen(camera, TABLE[:2])
    alone = find_candidates(view, [12.5, 16.0])
    known = np.array([[90.0, 80.0, 12.5, 0.4], [400.0, 300.0, 12.5, 0.2]])
    found = find_candidates(view, [12.5, 16.0], known=known)
    np.testing.assert_allclose(found.xy_mm[:2], known[:, :2])
    assert len(near(np.column_stack([found.xy_mm, found.radius_mm]), TABLE[0])) == 1
    assert len(found.response) <= len(alone.response) + 1
    assert np.all(np.diff(found.response) <= 0)


def test_known_places_that_are_hidden_or_of_no_such_size_do_not_count() -> None:
    camera = camera_over()
    view = seen(camera, [])
    known = np.array([[90.0, 80.0, 12.5, 0.4], [400.0, 300.0, 40.0, 0.2], [200.0, 300.0, 5.0, 0.2]])
    card = np.array([90.0, 80.0]) + 20 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    bare, left = (
        find_candidates(view, [12.5, 16.0], [card]),
        find_candidates(view, [12.5, 16.0], [card], known),
    )
    np.testing.assert_array_equal(left.xy_mm, bare.xy_mm)
