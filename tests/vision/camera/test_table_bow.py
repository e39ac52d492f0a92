"""A table that is bowed: where things are on it, and how unsure that is where no marker sees it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluate.drawn.markers import BOARD_MM, EIGHT, FOUR, camera_over, known_board, marker_mm
from overruler.calibration import Calibration, Covariances, TableBow
from overruler.geometry.pose import Array
from overruler.vision.camera.bundle_adjustment import BOW_SIGMA_SHARE
from overruler.vision.camera.calibrate import calibrate
from overruler.vision.camera.precision_map import place_jacobian_camera_bow
from overruler.vision.camera.table_bow import correct_for_bow_mm, place_jacobian_bow
from tests.vision.sight import BOARD, FREE, SPOTS, Sight, blank, corners_of

CAMERA = camera_over(30)
HALF = np.full(2, BOARD_MM / 2)


def bowed(height_mm: tuple[float, float]) -> TableBow:
    return TableBow(HALF, HALF, np.array(height_mm))


def lifted(markers: dict[int, Array], bow: TableBow) -> dict[int, Array]:
    return {
        n: at + np.array([0, 0, float(bow.z_mm(at[:, :2].mean(0)))]) for n, at in markers.items()
    }


def flat() -> Calibration:
    return Calibration(
        CAMERA, Covariances.same(np.eye(15)), (1600, 1200), 0.1, (0, 1), (BOARD_MM, BOARD_MM)
    )


def test_the_middle_stands_highest_and_the_edges_lie_on_the_plane() -> None:
    bow = bowed((0.5, 0.3))
    assert float(bow.z_mm(HALF)) == pytest.approx(0.8)
    corners = np.array([(0, 0), (BOARD_MM, 0), (BOARD_MM, BOARD_MM), (0, BOARD_MM)])
    assert bow.z_mm(corners) == pytest.approx(np.zeros(4), abs=1e-12)
    assert float(bow.z_mm(np.array([0.0, BOARD_MM / 2]))) == pytest.approx(0.3)


@settings(max_examples=30)
@given(
    st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 40), st.floats(150, 750), st.floats(150, 750)
)
def test_what_a_bow_lifts_is_put_back(
    along_x: float, along_y: float, z_mm: float, x: float, y: float
) -> None:
    """A place on a bowed table is seen, taken for one on a flat table, and levelled: to a micrometre or so."""
    bow = bowed((along_x, along_y))
    found = replace(flat(), bow=bow)
    there = np.array([x, y])
    seen = CAMERA.unproject(CAMERA.project(np.array([x, y, z_mm + bow.z_mm(there)])), z_mm)
    assert correct_for_bow_mm(found, seen, z_mm) == pytest.approx(there, abs=5e-3)


def test_slopes_are_those_of_what_is_levelled() -> None:
    found, step = replace(flat(), bow=bowed((0.3, -0.2))), 1e-3
    slopes = place_jacobian_bow(found, SPOTS)
    for axis in (0, 1):
        height = bowed((0.3, -0.2)).height_mm + step * np.eye(2)[axis]
        moved = correct_for_bow_mm(
            replace(found, bow=TableBow(HALF, HALF, height)), SPOTS
        ) - correct_for_bow_mm(found, SPOTS)
        assert slopes[..., axis] == pytest.approx(moved / step, abs=1e-6)
    assert place_jacobian_camera_bow(found, SPOTS).shape == (len(SPOTS), 2, 17)


def test_corner_markers_do_not_see_the_bow_and_eight_see_some(see: type[Sight]) -> None:
    expected = BOW_SIGMA_SHARE * BOARD_MM
    left = {}
    for name, places in (("four", FOUR), ("eight", EIGHT)):
        see(CAMERA, corners_of(known_board(places)))
        left[name] = np.sqrt(np.diag(calibrate(blank(), known_board(places)).joint_covariance)[15:])
    assert left["four"] == pytest.approx(np.full(2, expected), rel=0.05)
    assert (left["eight"] < 0.9 * expected).all()


def test_a_strong_bow_is_found_by_markers_all_over_the_table(see: type[Sight]) -> None:
    grid = {k: (90.0 + 180 * (k % 5), 90.0 + 180 * (k // 5)) for k in range(25)}
    board, bow = known_board(grid), bowed((1.5, -1.2))
    see(CAMERA, lifted({n: marker_mm(*at) for n, at in grid.items()}, bow))
    found = calibrate(blank(), board)
    sigma = np.sqrt(np.diag(found.joint_covariance)[15:])
    assert found.bow is not None
    assert (np.abs(found.bow.height_mm - bow.height_mm) < 3.5 * sigma).all()
    assert (sigma < 0.25).all()


@pytest.mark.parametrize("board", [BOARD, FREE])
def test_a_flat_table_is_called_flat_within_its_doubt(see: type[Sight], board: object) -> None:
    see(CAMERA, corners_of(BOARD), seed=3)
    found = calibrate(blank(), board)  # type: ignore[arg-type]
    assert found.bow is not None
    assert (np.abs(found.bow.height_mm) < 3.5 * np.sqrt(np.diag(found.joint_covariance)[15:])).all()
