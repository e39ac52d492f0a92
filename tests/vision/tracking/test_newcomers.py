"""Pieces that no look has found: their moves are told, and when they began."""

from collections.abc import Iterator

import cv2
import numpy as np
import pytest

from overruler.bases import Base
from overruler.frame import Frame, Shot
from overruler.geometry.pose import Array
from overruler.track import Move
from overruler.vision.tracking.watch import Watch
from synthetic.flat_table import Plinth, render_table
from tests.tables import BOARD_MM, SIZE_PX
from tests.vision.tracking.test_watch import CAMERA, HOMES, Oracle

START_S, END_S = 1.5, 3.3
HOME = np.array(HOMES["p02"][:2])
NEAR, FAR = HOME + np.array([14.0, 8.0]), HOME + np.array([150.0, 40.0])
FINGERS = np.array([(-48, -44), (44, -44), (48, 30), (60, 900), (-60, 900), (-48, 30)])
"""The outline of a hand that hides all of a piece, in mm."""


class Blind(Oracle):
    """Never sees the piece that is carried."""

    def __init__(self) -> None:
        super().__init__()
        del self.places["p02"]


def carried(corners: Array, time_s: float) -> Array:
    """Where the piece is that goes along a line of legs."""
    share = np.clip((time_s - START_S) / (END_S - START_S), 0, 1)
    before = np.append(0.0, np.cumsum(np.hypot(*np.diff(corners, axis=0).T)))
    along = (3 * share**2 - 2 * share**3) * before[-1]
    return np.array([np.interp(along, before, corners[:, axis]) for axis in (0, 1)])


def film(corners: Array) -> Iterator[Shot]:
    """A hand comes, carries the piece and goes."""
    drawn = {}
    for time_s in np.arange(0, 5.2, 0.1).round(1).tolist():
        at = carried(corners, time_s)
        if tuple(at) not in drawn:
            places = [at if name == "p02" else np.array(home[:2]) for name, home in HOMES.items()]
            plinths = [
                Plinth(float(x), float(y), home[2])
                for (x, y), home in zip(places, HOMES.values(), strict=True)
            ]
            drawn[tuple(at)] = render_table(
                CAMERA, SIZE_PX, BOARD_MM, plinths, noise=1.0, blur_px=0.7
            )
        pixels = drawn[tuple(at)].copy()
        away = 900 * max(START_S - 0.2 - time_s, time_s - END_S - 0.2, 0)
        hand = CAMERA.project(
            np.column_stack([FINGERS + at + [0.0, away], np.full(len(FINGERS), 25.0)])
        )
        cv2.fillPoly(pixels, [np.rint(hand).astype(np.int32)], (120, 150, 200))
        yield Shot.of(Frame(pixels, "film", time_s=time_s))


def told(corners: Array) -> Move:
    watch = Watch(Blind(), kinds=[Base.circle(HOMES["p02"][2])])
    (move,) = (move for shot in film(corners) for move in watch.look(shot).moves)
    return move


@pytest.mark.parametrize(
    "corners", [np.array([HOME, FAR]), np.array([HOME, FAR, NEAR])], ids=["away", "and back"]
)
def test_how_far_it_went_and_when_is_told_though_it_comes_back_to_where_it_stood(
    corners: Array,
) -> None:
    move, length = told(corners), float(np.hypot(*np.diff(corners, axis=0).T).sum())
    assert move.from_mm == pytest.approx(corners[0], abs=0.7)
    assert move.to_mm == pytest.approx(corners[-1], abs=0.7)
    assert (move.start_s, move.end_s) == pytest.approx((START_S, END_S), abs=0.3)
    assert move.path_mm == pytest.approx(length, abs=max(2.5 * move.path_sigma_mm, 5.0))
    assert move.path_sigma_mm < length / 5
