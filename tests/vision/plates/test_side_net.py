"""The look along a plate's sides: where it says that they lie, what it says where they are hidden, and its sums."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluate.drawn.markers import camera_over
from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.plates.coarse_grid import pair_opposite_sides
from overruler.vision.plates.side_net import (
    NO_SIDE_SHARE,
    OFFSET_BINS,
    STRETCHES_PER_SIDE,
    SideEvidence,
    _log_likelihood,
    run_side_net,
    side_strips,
    stretch_samples_mm,
)
from overruler.vision.plates.sides import PLATE_HEIGHT_MM, side_normals
from tests.vision.plate_table import Ship, table_with

SIZE_PX = (700, 600)
SHIP = Ship(150, 130, 25.0)


def view_of(tilt_deg: float, covered: Array | None = None) -> LabPatch:
    camera = camera_over(
        tilt_deg, size_px=SIZE_PX, height_mm=800.0, focal_px=1400.0, aim_mm=(150.0, 130.0)
    )
    frame = table_with(camera, [SHIP], SIZE_PX)
    if covered is not None:
        hull = camera.project(SHIP.place(covered, PLATE_HEIGHT_MM))
        cv2.fillPoly(frame.pixels, [np.round(hull).astype(np.int32)], (90, 140, 90))
    view = LabPatch.crop_around(
        frame.pixels, camera, np.array([SHIP.x_mm, SHIP.y_mm]), 30.0, PLATE_HEIGHT_MM
    )
    assert view is not None
    return view


def shift_mm(edges: SideEvidence) -> Array:
    """How far ahead and to the left (2,) the plate most likely lies: opposite sides speak of it opposite ways."""
    shifts = np.arange(-5, 5.01, 0.1)
    forward, left = pair_opposite_sides(edges.side_log_likelihood(shifts, np.zeros(1)))
    return np.asarray(shifts[[int(forward.argmax()), int(left.argmax())]])


@pytest.mark.parametrize("tilt_deg", [0.0, 35.0])
@pytest.mark.parametrize("off", [(0.0, 0.0), (2.0, -1.5), (-3.0, 1.0)])
def test_sides_tell_where_their_plate_lies(tilt_deg: float, off: tuple[float, float]) -> None:
    turn, away = np.radians(SHIP.heading_deg), np.array(off)
    edges = run_side_net(
        view_of(tilt_deg), np.array([SHIP.x_mm, SHIP.y_mm]) + away, turn, SHIP.side_mm, 0.5
    )
    np.testing.assert_allclose(shift_mm(edges), -side_normals(turn)[:2] @ away, atol=0.8)


def test_of_a_hidden_side_less_is_known() -> None:
    turn, at = np.radians(SHIP.heading_deg), np.array([SHIP.x_mm, SHIP.y_mm])
    ahead = np.array([[0.5, 1.6], [0.5, -1.6], [1.7, -1.6], [1.7, 1.6]])
    seen, hidden = (
        run_side_net(view_of(15.0, cover), at, turn, SHIP.side_mm, 0.5) for cover in (None, ahead)
    )
    told = [edges.log_likelihood.max(-1).mean(-1) for edges in (seen, hidden)]
    assert told[1][0] < 0.6 * told[0][0]
    assert told[1][2] > 0.6 * told[0][2]


def test_strips_lie_on_the_card_whatever_the_tilt() -> None:
    turn, at = np.radians(SHIP.heading_deg), np.array([SHIP.x_mm, SHIP.y_mm])
    flat, tilted = (
        side_strips(view_of(tilt), at, turn, SHIP.side_mm, 0.5)[:, 0, 4:18] for tilt in (0.0, 30.0)
    )
    assert (
        np.corrcoef(flat.ravel(), tilted.ravel())[0, 1] > 0.9
    )  # the part of the strips that is well inside


@settings(max_examples=30)
@given(st.floats(-5, 5), st.floats(-0.1, 0.1), st.integers(0, 3))
def test_sides_that_lie_somewhere_are_likeliest_there(shift: float, turn: float, side: int) -> None:
    along = np.tile(stretch_samples_mm(40.0).mean(-1), (4, 1))
    bins = np.arange(OFFSET_BINS) - OFFSET_BINS // 2
    logs = np.zeros((4, STRETCHES_PER_SIDE, OFFSET_BINS))
    logs[side] = -0.5 * (bins - ((shift - along[side] * turn) / 0.5)[:, None]) ** 2
    edges = SideEvidence(logs, along, 0.5)
    here = edges.side_log_likelihood(np.array([shift]), np.array([turn]))[:, 0, 0]
    near = edges.side_log_likelihood(shift + np.array([-0.5, 0.5]), np.array([turn]))[side, 0]
    assert here[side] >= near.max()
    assert (np.delete(here, side) == 0).all()


def test_stretches_divide_each_side_without_its_corners() -> None:
    places = stretch_samples_mm(60.0)
    assert places.shape[0] == STRETCHES_PER_SIDE
    assert np.abs(places).max() < 60 / 2 - 1.5
    np.testing.assert_allclose(np.diff(places.ravel()), np.diff(places.ravel())[0])


@settings(max_examples=30)
@given(st.floats(-4, 4), st.floats(-0.1, 0.1), st.integers(0, STRETCHES_PER_SIDE - 1))
def test_what_stretches_say_is_read_between_bins_and_turned(
    shift: float, turn: float, stretch: int
) -> None:
    along = np.tile(stretch_samples_mm(40.0).mean(-1), (4, 1))
    logs = np.zeros((4, STRETCHES_PER_SIDE, OFFSET_BINS))
    logs[:, stretch] = (
        np.arange(OFFSET_BINS) - OFFSET_BINS // 2
    )  # a ramp: its value is the place that was read, in bins
    read = SideEvidence(logs, along, 0.5).side_log_likelihood(np.array([shift]), np.array([turn]))[
        :, 0, 0
    ]
    np.testing.assert_allclose(read, (shift - along[0, stretch] * turn) / 0.5, atol=1e-9)


def test_where_a_network_says_that_there_is_no_side_no_place_is_likely() -> None:
    usual = np.append(np.full(OFFSET_BINS, (1 - NO_SIDE_SHARE) / OFFSET_BINS), NO_SIDE_SHARE)
    assert _log_likelihood(usual) == pytest.approx(np.zeros(OFFSET_BINS))
    none = np.append(np.full(OFFSET_BINS, 0.01 / OFFSET_BINS), 0.99)
    assert (_log_likelihood(none) < -2).all()
    seen = np.append(np.where(np.arange(OFFSET_BINS) == 3, 0.99, 0.0), 0.01)
    assert _log_likelihood(seen).argmax() == 3
    assert _log_likelihood(seen)[3] > 4
    without = _log_likelihood(seen[:-1] / seen[:-1].sum())
    assert without.argmax() == 3
