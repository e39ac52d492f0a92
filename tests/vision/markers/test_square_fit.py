"""A marker that is read is used: pixel-drawn markers, and what becomes of a fit that fails."""

import cv2
import numpy as np
import pytest
from numpy.testing import assert_allclose

from overruler.board import Board
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.camera.calibrate import calibrate_from_markers
from overruler.vision.camera.lens_prior import lens_prior
from overruler.vision.markers.detect import find_markers
from overruler.vision.markers.marker import Marker, marker_cells
from overruler.vision.markers.print_edges import place_stations
from overruler.vision.markers.square_fit import square_as_read
from overruler.vision.markers.square_model import SquareModel
from overruler.vision.markers.square_solver import SquareProblem

FAMILY = "DICT_6X6_1000"
SIDE_PX, PITCH_PX = 100, 200
COLUMNS, ROWS, FIRST = 7, 12, 100


def test_no_marker_of_a_grid_drawn_in_whole_pixels_is_lost() -> None:
    """Cells of 12.5 px are 12 or 13 px there, which looks like a bend of the lens."""
    code = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_6X6_1000)
    grey = np.full((ROWS * PITCH_PX, COLUMNS * PITCH_PX), 255, np.uint8)
    truth = {}
    for number in range(FIRST, FIRST + COLUMNS * ROWS):
        left, top = (PITCH_PX * n + 50 for n in divmod(number - FIRST, ROWS))
        print_px = code.generateImageMarker(number, SIDE_PX)
        grey[top : top + SIDE_PX, left : left + SIDE_PX] = print_px
        truth[number] = (left - 0.5, top - 0.5)
    frame = Frame(np.repeat(grey[:, :, None], 3, 2), "grid")
    found = {marker.id: marker for marker in find_markers(frame, Board.free(60.0, FAMILY))}
    assert sorted(found) == sorted(truth)
    errors = np.array([found[n].corners_px[0] - truth[n] for n in truth])
    assert np.abs(errors).max() < 0.15
    assert np.sqrt(np.mean(errors**2)) < 0.05
    _assert_measured_as_drawn(frame, list(found.values()))


def _assert_measured_as_drawn(frame: Frame, found: list[Marker]) -> None:
    """The box round all markers is as large as it was drawn."""
    board = Board.free(20.0, FAMILY)
    measured = calibrate_from_markers(frame, board, found, (), lens_prior(frame, None))[0]
    drawn = [20.0 * ((n - 1) * PITCH_PX / SIDE_PX + 1) for n in (COLUMNS, ROWS)]
    assert measured.board_mm == pytest.approx(drawn, rel=3e-4)
    assert len(measured.markers) == COLUMNS * ROWS


def square(side: float = 80.0) -> Array:
    return np.array([(100.0, 100), (100 + side, 104), (96 + side, 100 + side), (102, 98 + side)])


def test_corners_as_read_keep_their_place_with_a_wide_doubt() -> None:
    read = square_as_read(square(), marker_cells("DICT_4X4_50", 3), (640, 480))
    assert_allclose(read.corners_px, square())
    assert_allclose(np.sqrt(np.diag(read.covariance_px2)), 1.0)
    assert len(np.unique(read.edges.line)) == 4


def problem() -> SquareProblem:
    cells = marker_cells("DICT_4X4_50", 3)
    return SquareProblem(SquareModel((640, 480)), place_stations(cells, 13.0), np.array([0.1, 0.5]))


def test_a_step_to_a_worse_fit_is_cut_back() -> None:
    start = np.concatenate([square().ravel(), [0.0, 0.0]])
    moved = start + np.array([8.0] * 8 + [0.0, 0.0])
    kept = problem().limit_step(start, moved, lambda at: abs(float(at[0] - start[0]) - 1.0))
    assert 0 < kept[0] - start[0] <= 2.3


def test_a_bend_that_folds_the_picture_is_no_step() -> None:
    start = np.concatenate([square().ravel(), [0.0, 0.0]])
    moved = start + np.array([0.0] * 8 + [-0.4, 0.0])
    assert abs(problem().limit_step(start, moved, lambda at: 1.0)[8]) <= 0.25


def test_a_fit_that_only_gets_worse_diverges() -> None:
    start = np.concatenate([square().ravel(), [0.0, 0.0]])
    with pytest.raises(np.linalg.LinAlgError):
        problem().limit_step(start, start + 1, lambda at: 0.0 if at is start else 9.0)
