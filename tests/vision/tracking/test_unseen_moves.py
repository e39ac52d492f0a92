"""Moves inferred from the table before and after the camera changed."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from overruler.vision.tracking.moves import CameraChange

Spot = tuple[float, float, float]


def track(
    name: str, xy: tuple[float, float], trail: tuple[Spot, ...] = (), away_s: float | None = None
) -> Any:
    return SimpleNamespace(id=name, home_mm=np.array(xy), trail=list(trail), away_s=away_s)


def change(before: list[Any], after: list[Any], sigma_mm: float = 0.2) -> CameraChange:
    sigmas = dict.fromkeys(("a", "b", "c"), sigma_mm)
    return CameraChange(before, after, sigmas, sigmas, lost_s=3.0)


def test_a_piece_that_stands_elsewhere_has_moved_unseen() -> None:
    both = change([track("a", (100, 100)), track("b", (300, 300))],
                  [track("a", (190, 220)), track("b", (301, 300))])  # fmt: skip
    (move,) = both.infer_moves(5.0)
    assert (move.piece, move.way_seen, move.start_s, move.end_s) == ("a", False, 3.0, 5.0)
    assert move.distance_mm == move.path_mm == pytest.approx(150.0)
    assert move.sigma_mm == pytest.approx(0.2 * 2**0.5)
    assert both.notes(1) == ["1 piece moved while the camera did not see the table"]


def test_as_far_as_it_was_followed_its_times_are_known() -> None:
    trail = ((1.4, 100.0, 101.0), (2.0, 103.0, 100.0), (2.5, 150.0, 150.0), (2.9, 189.0, 219.0))
    old = track("a", (100, 100), trail, away_s=2.5)
    (move,) = change([old], [track("a", (190, 220))]).infer_moves(5.0)
    assert (move.start_s, move.end_s) == (2.0, 2.9)


@pytest.mark.parametrize(("shift_mm", "sigma_mm"), [(3.0, 0.1), (10.0, 2.0)])
def test_what_two_calibrations_differ_by_is_no_move(shift_mm: float, sigma_mm: float) -> None:
    both = change([track("a", (100, 100))], [track("a", (100 + shift_mm, 100))], sigma_mm)
    assert both.infer_moves(5.0) == ()


def test_a_piece_that_cannot_be_found_is_told() -> None:
    both = change([track("a", (0, 0)), track("b", (9, 9))], [track("c", (300, 0))])
    assert both.infer_moves(5.0) == ()
    assert both.notes(0) == ["2 pieces that stood there before cannot be found"]
