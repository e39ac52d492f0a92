"""The straight legs of a way, from the places that were seen on it.

A piece is carried some millimetres above the board and then looks displaced away from the camera's foot. The way is a
line of straight legs on the board between two places that are known well; the height is a bow of unknown rise over it;
both are fitted at once (least squares with a soft limit for places taken from a finger).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

MIN_PLACES_PER_LEG = 3
"""A leg needs so many places."""
SEEN_SIGMA_MM = 0.4
"""1 σ of a place on the way, of a piece that is seen itself."""
HAND_SIGMA_MM = 2.5
"""1 σ of a place to which the hand has led that hides the piece: its fingers slip."""
HAND_SCALE_SIGMA, MAX_HAND_SCALE = 0.03, 0.08
"""By such a share a hand that hides the piece seems to go farther, being nearer to the camera; and by no more."""
SEEN_SCALE_SIGMA = 1e-3
"""The same where the piece itself was seen."""
RISE_MM, RISE_SIGMA_MM = 3.0, 3.0
"""How high a piece is carried, and 1 σ of it."""
MAX_RISE_MM = 12.0
"""Nobody slides a piece over the table higher than this."""
CORNER_MARGIN_MM = 15.0
"""A corner between two shots lies no farther beyond where the piece was seen."""
MAX_EXCESS_SHARE = 0.1
"""A way through its corners is longer than one from place to place, which cuts them, by no larger share and the longest
step."""
MAX_MISFIT_RATIO = 5.0
"""Places that lie so many times farther from the legs than they should tell that some legs are missing."""
MAX_SQUARED_RESIDUAL = 16.0
"""What one place says at most for or against a leg."""
BACKTRACK_SIGMAS = 2.0
"""A piece goes on along each leg: 1 σ of how far it seems to go back there, in σ of a place."""
TIE_BREAK_MM2 = 1e-6
"""By less two legs are as near."""
MIN_STEPS_PER_LEG = 2
"""A leg is so many steps long: a single place to the side, taken from a finger, is none."""
MAX_LEGS = 6
MIN_MISFIT_DROP = 14.0
"""By how much the misfit must fall for a leg more: two more numbers, by the usual criterion and then some."""


@dataclass(frozen=True, slots=True, eq=False)
class PathObservations:
    """What was seen on the way."""

    places: Array
    """(N, 2)."""
    eye_mm: Array
    """(3,): where the camera is."""
    hand_share: float
    """Share of it on which only the hand was followed."""

    @property
    def corner_sigma_mm(self) -> float:
        """1 σ of how far a corner lies from the next place: a step, or what a place itself is wrong."""
        steps = np.hypot(*np.diff(self.places, axis=0).T)
        return float(np.hypot(steps.max(), self.sigma_mm))

    @property
    def sigma_mm(self) -> float:
        """1 σ of a place."""
        return float(np.hypot(SEEN_SIGMA_MM, self.hand_share * HAND_SIGMA_MM))


def fit_legs(seen: PathObservations, straight: Array) -> tuple[Array, float]:
    """The corners (K + 1, 2) of a way between two ends (2, 2), and 1 σ of its length by the fit."""
    best, places = _optimize_legs(straight, seen), seen.places
    along = np.vstack([straight[0], places, straight[1]])
    steps = np.hypot(*np.diff(along, axis=0).T)
    most_mm = float(steps.sum()) * (1 + MAX_EXCESS_SHARE) + float(steps.max())
    more_legs = (
        _corner_indices(along, min(MAX_LEGS, len(places) // MIN_PLACES_PER_LEG))
        if best.capped_misfit(seen) > MIN_MISFIT_DROP
        else ()
    )
    for turns in more_legs:
        worth = MIN_MISFIT_DROP * (len(turns) - len(best.corners))
        if best.capped_misfit(seen) <= worth:
            break  # no more legs could explain so much
        more = _optimize_legs(along[turns], seen)
        if (
            more.capped_misfit(seen) < best.capped_misfit(seen) - worth
            and polyline_length(more.corners) <= most_mm
        ):
            best = more
    if best.misfit_ratio > MAX_MISFIT_RATIO:
        return best.corners, float(
            np.hypot(best.sigma, steps.sum() - polyline_length(best.corners))
        )
    return best.corners, best.sigma * max(best.misfit_ratio, 1.0)


def _corner_indices(along: Array, most_legs: int) -> list[Array]:
    """Which of the places (N, 2) are the ends of 2, 3 and so on legs through them, in their order, at the least sum of
    squares (Bellman, 1961).
    """
    count = len(along)
    cost = np.full((count, count), np.inf)
    for i in range(count - MIN_STEPS_PER_LEG):
        for j in range(i + MIN_STEPS_PER_LEG, count):
            between, leg = along[i + 1 : j] - along[i], along[j] - along[i]
            share = np.clip(between @ leg / max(float(leg @ leg), 1e-9), 0, 1)
            back = np.sum(np.maximum(-np.diff(share), 0) ** 2) * (leg @ leg)
            cost[i, j] = np.sum((between - share[:, None] * leg) ** 2) + back
    least, came, found = cost[0], [], []
    for _ in range(most_legs - 1):
        through = least[:, None] + cost
        came.append(through.argmin(0))
        least = through.min(0)
        ends = [count - 1]
        for before in reversed(came):
            ends.append(int(before[ends[-1]]))
        found.append(np.array([0, *reversed(ends)]))
    return found


def polyline_length(corners: Array) -> float:
    return float(np.hypot(*np.diff(corners, axis=0).T).sum())


@dataclass(frozen=True, slots=True, eq=False)
class _LegFit:
    corners: Array
    leg_offsets: Array
    """(N,): how far each place lies from its leg."""
    backtracking: Array
    """(N - 1,): how far places go back along theirs."""
    misfit: float
    sigma: float

    def capped_misfit(self, seen: PathObservations) -> float:
        """The places' squared misfits, none of which says more than a few do: one taken from a finger is no corner."""
        said = (
            np.concatenate([self.leg_offsets, self.backtracking / BACKTRACK_SIGMAS]) / seen.sigma_mm
        )
        return float(np.sum(np.minimum(said**2, MAX_SQUARED_RESIDUAL)))

    @property
    def misfit_ratio(self) -> float:
        """How many times farther the places lie from the legs than they should."""
        return float(
            np.sqrt(self.misfit / max(len(self.leg_offsets) - 2 * (len(self.corners) - 2), 1))
        )


def _optimize_legs(corners: Array, seen: PathObservations) -> _LegFit:
    ends, inner = (corners[0], corners[-1]), corners[1:-1]
    grown, turn_mm = SEEN_SCALE_SIGMA + HAND_SCALE_SIGMA * seen.hand_share, seen.corner_sigma_mm

    def line(numbers: Array) -> Array:
        return np.vstack([ends[0], numbers[:-2].reshape(-1, 2), ends[1]])

    def misfits(numbers: Array) -> Array:
        off, back = _leg_offsets(line(numbers), seen, *numbers[-2:])
        beyond = _nearest_place_distance(numbers[:-2].reshape(-1, 2), seen.places) / turn_mm
        rest = (numbers[-2] - RISE_MM) / RISE_SIGMA_MM, numbers[-1] / grown
        return np.concatenate(
            [off / seen.sigma_mm, back / (BACKTRACK_SIGMAS * seen.sigma_mm), beyond, rest]
        )

    start = np.append(inner.ravel(), [RISE_MM, 0.0])
    known = np.vstack([seen.places, corners])
    low, high = (
        np.tile(edge, len(inner))
        for edge in (known.min(0) - CORNER_MARGIN_MM, known.max(0) + CORNER_MARGIN_MM)
    )
    bounds = (
        np.append(low, [0.0, -SEEN_SCALE_SIGMA]),
        np.append(high, [MAX_RISE_MM, MAX_HAND_SCALE]),
    )
    from scipy.optimize import least_squares  # slow to load, and of no use to a photo

    found = least_squares(misfits, start, bounds=bounds, loss="soft_l1", f_scale=2.0, max_nfev=40)
    sigma = 0.0
    if len(inner):
        slopes: Array = np.asarray(found.jac, float)
        covariance = np.linalg.pinv(slopes.T @ slopes)
        step = np.eye(len(found.x)) * 1e-3
        slope = np.array(
            [
                (polyline_length(line(found.x + d)) - polyline_length(line(found.x - d))) / 2e-3
                for d in step
            ]
        )
        sigma = float(np.sqrt(max(slope @ covariance @ slope, 0.0)))
    corners = line(found.x)
    return _LegFit(
        corners, *_leg_offsets(corners, seen, *found.x[-2:]), 2 * float(found.cost), sigma
    )


def _nearest_place_distance(inner: Array, places: Array) -> Array:
    """(K,): how far corners (K, 2) lie from where the piece was seen: its legs hardly tell where it turns back."""
    return np.asarray(np.hypot(*(inner[:, None] - places).transpose(2, 0, 1)).min(1))


def _leg_offsets(
    corners: Array, seen: PathObservations, rise_mm: float, grown: float
) -> tuple[Array, Array]:
    """How far places, brought down to the board, lie from their legs (N,), and go back along them (N - 1,)."""
    places, eye_mm = corners[0] + (seen.places - corners[0]) / (1 + grown), seen.eye_mm
    lengths = np.hypot(*np.diff(corners, axis=0).T)
    before = np.concatenate([[0.0], np.cumsum(lengths)])
    lean = (places - eye_mm[:2]) / eye_mm[2]
    _, done = _project_onto_legs(corners, places, before)
    lowered = places - rise_mm * np.sin(np.pi * done)[:, None] * lean
    off, done = _project_onto_legs(corners, lowered, before)
    return off, np.maximum(-np.diff(done), 0.0) * before[-1]


def _project_onto_legs(corners: Array, places: Array, before: Array) -> tuple[Array, Array]:
    """Each place's signed distance from its leg, and the share of the whole way up to there.

    Places are on legs in their order: a way that turns back on itself passes near its later legs early on.
    """
    legs = np.diff(corners, axis=0)
    lengths = np.maximum(np.hypot(*legs.T), 1e-9)
    rel = places[:, None] - corners[:-1]
    along = np.clip((rel * legs).sum(-1) / lengths**2, 0, 1)
    gap = rel - along[..., None] * legs
    back = np.maximum(-np.diff(along * lengths, axis=0), 0.0) / BACKTRACK_SIGMAS
    tie = TIE_BREAK_MM2 * np.arange(len(legs))  # nearest to a corner: always the former
    leg = _ordered_assignment(np.sum(gap**2, axis=-1) + tie, back**2)
    rows = np.arange(len(places))
    side = np.sign(legs[leg, 0] * rel[rows, leg, 1] - legs[leg, 1] * rel[rows, leg, 0])
    off = side * np.hypot(*gap[rows, leg].T)
    done = (before[leg] + along[rows, leg] * lengths[leg]) / max(float(before[-1]), 1e-9)
    return np.asarray(off), np.asarray(done)


def _ordered_assignment(apart: Array, back: Array) -> NDArray[np.intp]:
    """Of each row (N, K) one column, none before that of the row before, at the least sum (Viterbi, 1967).

    `back` (N - 1, K) is what it costs to stay in a column from one row to the next.
    """
    least, came = apart[0].tolist(), list[list[int]]()
    for here, stay in zip(apart[1:].tolist(), back.tolist(), strict=True):
        total, which, best = list[float](), list[int](), 0
        for k, (cost, more) in enumerate(zip(here, stay, strict=True)):
            best = k - 1 if k and least[k - 1] < least[best] else best
            comes = best < k and least[best] < least[k] + more
            which.append(best if comes else k)
            total.append(cost + (least[best] if comes else least[k] + more))
        least = total
        came.append(which)
    leg = [least.index(min(least))]
    for which in reversed(came):
        leg.append(which[leg[-1]])
    return np.array(leg[::-1], np.intp)
