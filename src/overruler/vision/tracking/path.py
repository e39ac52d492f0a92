"""The path of a moved piece from where it was seen: corners, length, start and end.

`polyline_fit` fits the legs. Before that, this module finds where the path begins and ends in the
trail. Afterwards it adds the other errors of the length.
"""

from dataclasses import dataclass, replace

import numpy as np

from overruler.geometry.batched.vectors import distance, vector_lengths
from overruler.geometry.pose import Array
from overruler.vision.tracking.polyline_fit import (
    MIN_PLACES_PER_LEG,
    PathObservations,
    fit_legs,
    polyline_length,
)

START_DISTANCE_MM = 1.2
"""A piece has left once it is this far from where it stood, in mm."""
ARRIVAL_DISTANCE_MM = 20.0
"""A piece last seen this near to where it is found was followed all the way, in mm."""
CLOSURE_SIGMA_SHARE = 0.3
"""1 σ of the length of a path with corners, as a share of the closure error."""
RESTING_NEAR_END_MM = 3.0
"""A piece seen this near to where it stands has come to rest, in mm."""
RESTING_SCATTER_MM = 1.5
"""A piece seen twice within this distance has come to rest, in mm."""
RELEASE_DISTANCE_MM = 6.0
"""A hand followed too far released the piece where it passed this near to its place, in mm."""
MAX_HAND_SPEED_MM_S = 150.0
"""Speed of a hand that carries a piece, at most, in mm/s."""
UNSEEN_EXCESS_SHARE = 0.25
"""1 σ of the excess of an unseen path over the straight one, as a share of it."""
MAX_INTERVAL_RATIO = 2.0
"""Intervals up to this ratio to the median one hide nothing."""
MAX_STEP_RATIO = 1.5
"""Largest ratio of a step to the steps beside it: hands accelerate no faster."""
STEP_TOLERANCE_MM = 3.0
"""Error of a step on top of that, in mm."""


@dataclass(frozen=True, slots=True, eq=False)
class MovePath:
    """A path of K legs between two places."""

    corners_mm: Array
    """(K + 1, 2): its corners and both ends."""
    length_mm: float
    sigma_mm: float
    """1 σ of the length, given both ends."""
    start_s: float
    end_s: float
    seen: bool
    """Whether it was seen; otherwise it is taken as straight."""


def estimate_path(
    trail: Array, start_mm: Array, end_mm: Array, eye_mm: Array, hand_share: float = 0.0
) -> MovePath:
    """The path from `start_mm` (2,) to `end_mm` (2,) by a trail (N, 3) of times and places.

    `eye_mm` (3,) is the camera's centre. `hand_share` is the share of the trail on which only the
    hand was followed.
    """
    trail = _trim_trail(trail, start_mm, end_mm)
    trail, closure_mm = _correct_drift(trail, start_mm, end_mm)
    start_s, end_s = _start_and_end_times(trail, start_mm, end_mm)
    on_way = (trail[:, 0] > start_s) & (trail[:, 0] < end_s)
    between = trail[on_way, 1:]
    straight = np.stack([start_mm, end_mm])
    straight_mm = polyline_length(straight)
    is_fitted = len(between) >= MIN_PLACES_PER_LEG
    places = 0 if is_fitted else len(between)
    # an unseen path is taken as straight, but may be a quarter longer, or as long as a hand goes
    unseen_sigma = float(excess_sigma_mm(end_s - start_s, straight_mm, 1.0)) / (1 + places)
    unseen = MovePath(straight, straight_mm, unseen_sigma, start_s, end_s, False)
    if not is_fitted:
        return unseen
    corners, sigma = fit_legs(PathObservations(between, eye_mm, hand_share), straight)
    first, last = np.searchsorted(trail[:, 0], [start_s, end_s])
    times, *columns = trail[max(first - 1, 0) : last + 1].T
    intervals_s, steps_mm = np.diff(times), np.hypot(*np.diff(columns))
    by_closure = CLOSURE_SIGMA_SHARE * closure_mm * (len(corners) > 2)
    by_gaps, by_jumps = _gap_sigma_mm(intervals_s, steps_mm), _jumps_mm(steps_mm)
    sigma = float(np.linalg.norm([sigma, by_closure, by_gaps, by_jumps]))
    if sigma > unseen_sigma:
        return unseen  # the trail tells less than none would
    length = polyline_length(corners)
    return replace(unseen, corners_mm=corners, length_mm=length, sigma_mm=sigma, seen=True)


def _trim_trail(trail: Array, start_mm: Array, end_mm: Array) -> Array:
    """The trail up to where it reaches the end.

    A trail that does not reach it is a hand's: then only its beginning and the end remain.
    """
    to_end = vector_lengths(trail[:-1, 1:] - end_mm)
    if len(trail) < 3 or to_end[-1] < ARRIVAL_DISTANCE_MM:
        return trail
    nearest = int(np.argmin(to_end[1:])) + 1
    if to_end[nearest] < RELEASE_DISTANCE_MM:  # the rest is the hand, as it left
        return np.vstack([trail[: nearest + 1], trail[-1:]])
    at_start = vector_lengths(trail[:, 1:] - start_mm) < START_DISTANCE_MM
    first = int(np.argmin(at_start)) if not at_start.all() else len(trail)
    return np.vstack([trail[: max(first, 1)], trail[-1:]])


def _correct_drift(trail: Array, start_mm: Array, end_mm: Array) -> tuple[Array, float]:
    """Shift the trail so that it comes to rest where the piece stands; also return the shift.

    The look by which a piece is followed ages. Where the piece is turned on its way, the error may
    reach a centimetre.
    """
    total_mm = distance(start_mm, end_mm)
    places = trail[:-1, 1:]
    arrival_mm = min(ARRIVAL_DISTANCE_MM, total_mm / 3)
    if not len(places) or distance(places[-1], end_mm) > arrival_mm:
        return trail, 0.0
    near_end = vector_lengths(places - end_mm) < min(RESTING_NEAR_END_MM, total_mm / 3)
    resting = near_end | (vector_lengths(places - places[-1]) < RESTING_SCATTER_MM)
    if not near_end.any() and resting.sum() < 2:
        return trail, 0.0
    drift = np.median(places[resting], axis=0) - end_mm
    along = (trail[:, 1:] - start_mm) @ (end_mm - start_mm)
    done = np.clip(along / max(total_mm, 1e-9) ** 2, 0, 1)
    done[-1] = 0.0  # the last place is where it stands
    corrected = trail[:, 1:] - done[:, None] * drift
    return np.column_stack([trail[:, 0], corrected]), float(np.hypot(*drift))


def _start_and_end_times(trail: Array, start_mm: Array, end_mm: Array) -> tuple[float, float]:
    """When the piece left the one place and reached the other, each between two shots."""
    near = min(START_DISTANCE_MM, distance(start_mm, end_mm) / 3)
    times, places = trail[:, 0], trail[:, 1:]
    start = _crossing_time(times, vector_lengths(places - start_mm), near)
    end = -_crossing_time(-times[::-1], vector_lengths(places[::-1] - end_mm), near)
    if start < end:
        return start, end
    return float(times[0]), float(times[-1])


def _crossing_time(times: Array, away_mm: Array, near_mm: float) -> float:
    """When `away_mm` (N,) exceeds `near_mm` for at least two shots: one alone may be an error."""
    out = away_mm > near_mm
    twice = out & np.append(out[1:], out[-1])
    first = int(np.argmax(twice)) if twice.any() else len(out) - 1
    if first == 0:
        return float(times[0])
    before_mm, after_mm = away_mm[first - 1], away_mm[first]
    before_s, after_s = times[first - 1], times[first]
    share = 0.5
    if before_mm < near_mm:
        share = (near_mm - before_mm) / (after_mm - before_mm)
    return float(before_s + np.clip(share, 0, 1) * (after_s - before_s))


def excess_sigma_mm(
    unseen_s: Array | float, straight_mm: Array | float, share: Array | float
) -> Array:
    """1 σ in mm of how much longer ways are than straight lines, if unseen on this share of them."""
    by_share = UNSEEN_EXCESS_SHARE * straight_mm * share
    by_speed = np.maximum(MAX_HAND_SPEED_MM_S * unseen_s - straight_mm, 0.0) / 2
    return np.asarray(np.hypot(by_share, by_speed))


def _gap_sigma_mm(intervals_s: Array, steps_mm: Array) -> float:
    """1 σ of the excess of a path over its steps (N,) by the gaps in which the piece was unseen."""
    hidden_s = np.maximum(intervals_s - MAX_INTERVAL_RATIO * np.median(intervals_s), 0.0)
    share = hidden_s / np.maximum(intervals_s, 1e-9)
    return float(np.linalg.norm(excess_sigma_mm(hidden_s, steps_mm, share)))


def _jumps_mm(steps_mm: Array) -> float:
    """Excess of steps (N,) over what hands can accelerate: they lead to something else."""
    padded = np.pad(steps_mm, 1)
    longest = MAX_STEP_RATIO * np.maximum(padded[:-2], padded[2:])
    return float(np.maximum(steps_mm - longest - STEP_TOLERANCE_MM, 0.0).sum())
