"""The way that a piece took, from where it was seen on it: corners, length and doubt, start and end.

The legs are fitted in `track_legs`. Here is what comes before, where the way begins and ends in the trail, and after:
what else its length may be wrong by.
"""

from dataclasses import dataclass, replace

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.tracking.polyline_fit import (
    MIN_PLACES_PER_LEG,
    PathObservations,
    fit_legs,
    polyline_length,
)

START_DISTANCE_MM = 1.2
"""A piece is on its way when it is so far from where it stood."""
ARRIVAL_DISTANCE_MM = 20.0
"""Seen last so near to where it is found, a piece has been followed all the way."""
CLOSURE_SIGMA_SHARE = 0.3
"""1 σ of a way's length, of several legs, as a share of how far off its piece seemed to come to rest: where it was
turned on its way, nobody knows."""
RESTING_NEAR_END_MM, RESTING_SCATTER_MM = 3.0, 1.5
"""Where a piece seems to be when it has come to rest: so near to where it stands, or twice where it was seen last."""
RELEASE_DISTANCE_MM = 6.0
"""A hand that was followed on put it down where it came so near to where it is found."""
MAX_HAND_SPEED_MM_S = 150.0
"""A hand that carries a piece goes about so fast at most."""
UNSEEN_EXCESS_SHARE = 0.25
"""1 σ of how much longer a way is that nobody saw, as a share of it."""
MAX_INTERVAL_RATIO = 2.0
"""Of so many times the usual time between two places nobody knows less."""
MAX_STEP_RATIO, STEP_TOLERANCE_MM = 1.5, 3.0
"""A step is so many times longer than those beside it at most, and by so much more by mistake."""


@dataclass(frozen=True, slots=True, eq=False)
class MovePath:
    """A way between two places."""

    corners_mm: Array
    """(K + 1, 2), both ends included."""
    length_mm: float
    sigma_mm: float
    """1 σ of what the corners add to the doubt of the length."""
    start_s: float
    end_s: float
    seen: bool
    """Whether it was seen; else it is taken as straight."""


def estimate_path(
    trail: Array, start_mm: Array, end_mm: Array, eye_mm: Array, led: float = 0.0
) -> MovePath:
    """The way from `start_mm` (2,) to `end_mm` (2,) that a trail (N, 3) of times and places tells; `eye_mm` (3,).

    `led` is the share of the trail on which only the hand was followed.
    """
    trail, off_mm = _correct_drift(_trim_trail(trail, start_mm, end_mm), start_mm, end_mm)
    start_s, end_s = _start_and_end_times(trail, start_mm, end_mm)
    between = trail[(trail[:, 0] > start_s) & (trail[:, 0] < end_s), 1:]
    straight, enough = np.stack([start_mm, end_mm]), len(between) >= MIN_PLACES_PER_LEG
    doubt = _unseen_sigma(straight, between[:0] if enough else between, end_s - start_s)
    unseen = MovePath(straight, polyline_length(straight), doubt, start_s, end_s, False)
    if not enough:
        return unseen
    corners, sigma = fit_legs(PathObservations(between, eye_mm, led), straight)
    first, last = np.searchsorted(trail[:, 0], [start_s, end_s])
    times, *places = trail[max(first - 1, 0) : last + 1].T
    long_s, far_mm = np.diff(times), np.hypot(*np.diff(places))
    turned_mm = CLOSURE_SIGMA_SHARE * off_mm * (len(corners) > 2)
    sigma = float(
        np.linalg.norm([sigma, turned_mm, _hidden_sigma(long_s, far_mm), _jumps_mm(far_mm)])
    )
    if sigma > doubt:
        return unseen  # it tells less than nobody would have
    return replace(
        unseen, corners_mm=corners, length_mm=polyline_length(corners), sigma_mm=sigma, seen=True
    )


def _trim_trail(trail: Array, start_mm: Array, end_mm: Array) -> Array:
    """The trail as far as it leads to the end; where it does not, a hand was followed: then its start, and the end."""
    away = np.hypot(*(trail[:-1, 1:] - end_mm).T)
    if len(trail) < 3 or away[-1] < ARRIVAL_DISTANCE_MM:
        return trail
    if away[1:].min() < RELEASE_DISTANCE_MM:  # and then the hand, as it left
        return np.vstack([trail[: int(np.argmin(away[1:])) + 2], trail[-1:]])
    at_start = np.hypot(*(trail[:, 1:] - start_mm).T) < START_DISTANCE_MM
    first = int(np.argmin(at_start)) if not at_start.all() else len(trail)
    return np.vstack([trail[: max(first, 1)], trail[-1:]])


def _correct_drift(trail: Array, start_mm: Array, end_mm: Array) -> tuple[Array, float]:
    """The trail with the places at which it came to rest brought to where the piece stands, and by how much, in mm.

    The look it was followed by has aged, and where it was turned on its way, that may be by a centimetre.
    """
    total, last = float(np.hypot(*(end_mm - start_mm))), trail[:-1, 1:]
    if not len(last) or np.hypot(*(last[-1] - end_mm)) > min(ARRIVAL_DISTANCE_MM, total / 3):
        return trail, 0.0
    near = np.hypot(*(last - end_mm).T) < min(RESTING_NEAR_END_MM, total / 3)
    resting = near | (np.hypot(*(last - last[-1]).T) < RESTING_SCATTER_MM)
    if not near.any() and resting.sum() < 2:
        return trail, 0.0
    off = np.median(last[resting], axis=0) - end_mm
    done = np.clip((trail[:, 1:] - start_mm) @ (end_mm - start_mm) / max(total, 1e-9) ** 2, 0, 1)
    done[-1] = 0.0  # which is where it stands
    return np.column_stack([trail[:, 0], trail[:, 1:] - done[:, None] * off]), float(np.hypot(*off))


def _start_and_end_times(trail: Array, start_mm: Array, end_mm: Array) -> tuple[float, float]:
    """When it left the one place and came to the other, each between two shots."""
    near = min(START_DISTANCE_MM, float(np.hypot(*(end_mm - start_mm))) / 3)
    start = _crossing_time(trail[:, 0], np.hypot(*(trail[:, 1:] - start_mm).T), near)
    end = -_crossing_time(-trail[::-1, 0], np.hypot(*(trail[::-1, 1:] - end_mm).T), near)
    return (start, end) if start < end else (float(trail[0, 0]), float(trail[-1, 0]))


def _crossing_time(times: Array, away: Array, near: float) -> float:
    """When `away` (N,) exceeds `near` for good: for two shots at least, for one may be an error."""
    out = away > near
    last = len(out) - 1
    first = next((i for i in range(len(out)) if out[i] and out[min(i + 1, last)]), last)
    if first == 0:
        return float(times[0])
    share = (
        (near - away[first - 1]) / (away[first] - away[first - 1])
        if away[first - 1] < near
        else 0.5
    )
    return float(times[first - 1] + np.clip(share, 0, 1) * (times[first] - times[first - 1]))


def _unseen_sigma(corners: Array, places: Array, long_s: float) -> float:
    """A way that nobody saw is straight as far as is known: it may well be a quarter longer, or what a hand goes."""
    return float(_excess_sigma_mm(long_s, polyline_length(corners), 1.0)) / (1 + len(places))


def _excess_sigma_mm(unseen_s: Array | float, far_mm: Array | float, share: Array | float) -> Array:
    """1 σ of how much longer steps are than the straight that is known, of a share of which nobody saw anything."""
    return np.asarray(
        np.hypot(
            UNSEEN_EXCESS_SHARE * far_mm * share,
            np.maximum(MAX_HAND_SPEED_MM_S * unseen_s - far_mm, 0.0) / 2,
        )
    )


def _hidden_sigma(long_s: Array, far_mm: Array) -> float:
    """1 σ of what a way was longer than its steps (N,) where nobody saw the piece for more than a shot or two."""
    hidden_s = np.maximum(long_s - MAX_INTERVAL_RATIO * np.median(long_s), 0.0)
    return float(
        np.linalg.norm(_excess_sigma_mm(hidden_s, far_mm, hidden_s / np.maximum(long_s, 1e-9)))
    )


def _jumps_mm(far_mm: Array) -> float:
    """How far steps (N,) are longer than hands speed up: before or after something else was followed, a shade say."""
    beside = np.pad(far_mm, 1)
    return float(
        np.maximum(
            far_mm - MAX_STEP_RATIO * np.maximum(beside[:-2], beside[2:]) - STEP_TOLERANCE_MM, 0.0
        ).sum()
    )
