"""One move of a piece out of what the cameras saw of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot, prod

import numpy as np

from overruler.geometry.batched.vectors import distance, step_lengths
from overruler.geometry.pose import Array
from overruler.track import Move
from overruler.vision.tracking.moves import (
    MIN_MOVE_MM,
    MIN_UNSEEN_MOVE_MM,
    MIN_UNSEEN_SIGMAS,
    to_point,
)

MIN_MOVE_SIGMAS = 2.0
"""Least distance of a move, in σ of the distance."""
MIN_DETOUR_SIGMA_MM = 0.05
"""Least 1 σ of what a way is longer than straight, by one camera, in mm."""


@dataclass(frozen=True, slots=True, eq=False)
class PlaceChange:
    """A piece before and after."""

    piece: str
    from_mm: Array
    to_mm: Array
    sigmas_mm: tuple[float, float]
    """1 σ of either place."""
    times_s: tuple[float, float]
    """When it left and arrived, if no camera followed it."""
    same_cameras: bool
    """Whether the same cameras saw it at both places."""


def join_moves(change: PlaceChange, seen: Sequence[Move]) -> Move | None:
    """The move of a piece; None where it stands as before. `seen` is what cameras saw of it."""
    length_mm = distance(change.from_mm, change.to_mm)
    sigma_mm = _distance_sigma_mm(change, seen)
    least_mm, sigmas = MIN_MOVE_MM, MIN_MOVE_SIGMAS
    if not seen:
        least_mm, sigmas = MIN_UNSEEN_MOVE_MM, MIN_UNSEEN_SIGMAS
    if length_mm < max(least_mm, sigmas * sigma_mm):
        return None
    ends = to_point(change.from_mm), to_point(change.to_mm)
    if not seen:
        lengths = (length_mm, sigma_mm, length_mm, sigma_mm)
        return Move(change.piece, *change.times_s, *ends, *lengths, ends, way_seen=False)
    best = best_seen(seen)
    way = _way_between(np.array(best.way_mm), change.from_mm, change.to_mm)
    detour_mm, detour_sigma_mm = _detour(seen)
    return replace(
        best,
        piece=change.piece,
        from_mm=ends[0],
        to_mm=ends[1],
        distance_mm=length_mm,
        sigma_mm=sigma_mm,
        path_mm=length_mm + detour_mm,
        path_sigma_mm=hypot(sigma_mm, detour_sigma_mm),
        way_mm=tuple(to_point(corner) for corner in way),
        name_probability=max(move.name_probability for move in seen),
        perhaps="",  # a camera's own name of it
    )


def best_seen(moves: Sequence[Move]) -> Move:
    """The move as the camera saw it that knows its way best."""
    return min(moves, key=lambda move: (not move.way_seen, move.path_sigma_mm))


def chain_moves(moves: Sequence[Move]) -> Move:
    """Moves of one piece by one camera, one after another, as one."""
    first, last = moves[0], moves[-1]
    if len(moves) == 1:
        return first
    apart_mm = distance(np.array(first.from_mm), np.array(last.to_mm))
    return replace(
        last,
        start_s=first.start_s,
        from_mm=first.from_mm,
        distance_mm=apart_mm,
        path_mm=sum(move.path_mm for move in moves),
        path_sigma_mm=hypot(*(move.path_sigma_mm for move in moves)),
        way_mm=tuple(corner for move in moves for corner in move.way_mm),
        trail=tuple(spot for move in moves for spot in move.trail),
        way_seen=all(move.way_seen for move in moves),
        name_probability=prod(move.name_probability for move in moves),
    )


def _distance_sigma_mm(change: PlaceChange, seen: Sequence[Move]) -> float:
    """1 σ of the distance.

    Where the same cameras saw both places, each camera's own error is mostly the same at both, as
    the camera's own move says. Else the two places err by themselves.
    """
    own = [move.sigma_mm for move in seen if move.sigma_mm > 0]
    if change.same_cameras and own:
        return float(np.sum(np.array(own) ** -2.0) ** -0.5)
    return hypot(*change.sigmas_mm)


def _detour(seen: Sequence[Move]) -> tuple[float, float]:
    """By how much a way is longer than straight, by all cameras that saw it, and 1 σ of that.

    Where they disagree by more than their doubt, the doubt is larger by Birge's ratio.
    """
    known = [move for move in seen if move.way_seen] or list(seen)
    detours = np.array([move.path_mm - move.distance_mm for move in known])
    variances = np.array([move.path_sigma_mm**2 - move.sigma_mm**2 for move in known])
    weights = 1 / np.maximum(variances, MIN_DETOUR_SIGMA_MM**2)
    mean = float(weights @ detours / weights.sum())
    chi2 = float(weights @ (detours - mean) ** 2)
    ratio = max(1.0, (chi2 / max(len(known) - 1, 1)) ** 0.5)
    return mean, ratio * float(weights.sum()) ** -0.5


def _way_between(way_mm: Array, from_mm: Array, to_mm: Array) -> Array:
    """A way (N, 2) with its ends put to where all cameras see them, what is between along with them."""
    steps = np.concatenate([[0.0], np.cumsum(step_lengths(way_mm))])
    share = (steps / max(float(steps[-1]), 1e-9))[:, None]
    shift = (1 - share) * (from_mm - way_mm[0]) + share * (to_mm - way_mm[-1])
    return np.asarray(way_mm + shift)
