"""The straight legs of a path, fitted to the places at which the piece was seen.

A piece is carried some millimetres above the board, and then appears displaced away from the
camera's foot. The path is a polyline on the board between two well-known places. The height is an
arc over it of unknown rise. Both are fitted together, by least squares with a soft loss for places
taken from a finger.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.vectors import step_lengths, vector_lengths
from overruler.geometry.pose import Array

MIN_PLACES_PER_LEG = 3
"""Least number of places for each leg."""
SEEN_SIGMA_MM = 0.4
"""1 σ of a place at which the piece itself was seen, in mm."""
HAND_SIGMA_MM = 2.5
"""1 σ of a place by the hand that hides the piece, in mm: its fingers slip."""
HAND_SCALE_SIGMA = 0.03
"""1 σ of the scale of a hand's path: the hand is nearer to the camera than the board."""
MAX_HAND_SCALE = 0.08
"""Largest excess of that scale."""
SEEN_SCALE_SIGMA = 1e-3
"""1 σ of the scale of a path on which the piece itself was seen."""
RISE_MM = 3.0
"""Expected rise of a carried piece, in mm."""
RISE_SIGMA_MM = 3.0
"""1 σ of that, in mm."""
MAX_RISE_MM = 12.0
"""Largest rise, in mm."""
CORNER_MARGIN_MM = 15.0
"""How far a corner between two shots may lie beyond the places, in mm."""
MAX_EXCESS_SHARE = 0.1
"""Largest excess of the legs over the places' polyline, which cuts corners, plus a step."""
MAX_MISFIT_RATIO = 5.0
"""Largest ratio of the misfit to its expectation at which no leg is missing."""
MAX_SQUARED_RESIDUAL = 16.0
"""Cap of one place's squared residual for or against a leg."""
BACKTRACK_SIGMAS = 2.0
"""1 σ of how far a piece appears to go back along a leg, in σ of a place."""
TIE_BREAK_MM2 = 1e-6
"""Cost of a later leg: at a corner, the earlier leg is chosen."""
MIN_STEPS_PER_LEG = 2
"""Least number of steps of a leg: a single place to the side is a finger."""
MAX_LEGS = 6
"""Largest number of legs."""
MIN_MISFIT_DROP = 14.0
"""Least decrease of the misfit by another leg, which has two parameters."""


@dataclass(frozen=True, slots=True, eq=False)
class PathObservations:
    """N places at which a piece was seen on its way."""

    places: Array
    """(N, 2), in mm."""
    eye_mm: Array
    """(3,): the camera's centre."""
    hand_share: float
    """Share of them at which only the hand was followed."""

    @property
    def corner_sigma_mm(self) -> float:
        """1 σ of the distance of a corner from the nearest place: a step, or the error of a place."""
        return float(np.hypot(step_lengths(self.places).max(), self.sigma_mm))

    @property
    def sigma_mm(self) -> float:
        """1 σ of a place."""
        return float(np.hypot(SEEN_SIGMA_MM, self.hand_share * HAND_SIGMA_MM))

    @property
    def scale_sigma(self) -> float:
        """1 σ of the path's scale."""
        return SEEN_SCALE_SIGMA + HAND_SCALE_SIGMA * self.hand_share


@dataclass(frozen=True, slots=True, eq=False)
class _LegFit:
    """K legs fitted to N places."""

    corners: Array
    """(K + 1, 2), in mm."""
    leg_offsets: Array
    """(N,): signed distance of each place from its leg, in mm."""
    backtracking: Array
    """(N - 1,): how far each step goes back along the path, in mm."""
    misfit: float
    """Sum of the squared residuals, softened."""
    sigma: float
    """1 σ of the length, in mm."""

    def capped_misfit(self, seen: PathObservations) -> float:
        """Sum of the squared residuals, each capped: a place taken from a finger is no corner."""
        residuals = np.concatenate([self.leg_offsets, self.backtracking / BACKTRACK_SIGMAS])
        return float(np.sum(np.minimum((residuals / seen.sigma_mm) ** 2, MAX_SQUARED_RESIDUAL)))

    @property
    def misfit_ratio(self) -> float:
        """Root of the misfit per degree of freedom."""
        degrees = max(len(self.leg_offsets) - 2 * (len(self.corners) - 2), 1)
        return float(np.sqrt(self.misfit / degrees))


def fit_legs(seen: PathObservations, straight: Array) -> tuple[Array, float]:
    """The corners (K + 1, 2) of a path between two ends (2, 2), and 1 σ of its length by the fit."""
    places = seen.places
    best = _optimize_legs(straight, seen)
    along = np.vstack([straight[0], places, straight[1]])
    steps = step_lengths(along)
    longest_mm = float(steps.sum()) * (1 + MAX_EXCESS_SHARE) + float(steps.max())
    starts: list[Array] = []
    if best.capped_misfit(seen) > MIN_MISFIT_DROP:
        starts = _corner_indices(along, min(MAX_LEGS, len(places) // MIN_PLACES_PER_LEG))
    for corners in starts:
        needed = MIN_MISFIT_DROP * (len(corners) - len(best.corners))
        if best.capped_misfit(seen) <= needed:
            break  # more legs cannot explain that much
        more = _optimize_legs(along[corners], seen)
        better = more.capped_misfit(seen) < best.capped_misfit(seen) - needed
        if better and polyline_length(more.corners) <= longest_mm:
            best = more
    if best.misfit_ratio > MAX_MISFIT_RATIO:
        missing_mm = steps.sum() - polyline_length(best.corners)
        return best.corners, float(np.hypot(best.sigma, missing_mm))
    return best.corners, best.sigma * max(best.misfit_ratio, 1.0)


def _corner_indices(along: Array, max_legs: int) -> list[Array]:
    """Indices of the places (N, 2) at the ends of 2, 3, … least-squares legs (Bellman, 1961)."""
    count = len(along)
    cost = np.full((count, count), np.inf)
    for i in range(count - MIN_STEPS_PER_LEG):
        for j in range(i + MIN_STEPS_PER_LEG, count):
            cost[i, j] = _leg_cost(along[i : j + 1])
    least = cost[0]
    predecessors, found = [], []
    for _ in range(max_legs - 1):
        through = least[:, None] + cost
        predecessors.append(through.argmin(0))
        least = through.min(0)
        ends = [count - 1]
        for before in reversed(predecessors):
            ends.append(int(before[ends[-1]]))
        found.append(np.array([0, *reversed(ends)]))
    return found


def _leg_cost(places: Array) -> float:
    """Sum of squares of places (N, 2) about a leg from first to last, and of steps back on it."""
    relative = places - places[0]
    between, leg = relative[1:-1], relative[-1]
    square = leg @ leg
    share = np.clip(between @ leg / max(float(square), 1e-9), 0, 1)
    back = np.maximum(-np.diff(share), 0)
    aside = between - share[:, None] * leg
    return float(np.sum(aside**2) + np.sum(back**2) * square)


def polyline_length(corners: Array) -> float:
    """The length of a polyline (K + 1, 2)."""
    return float(step_lengths(corners).sum())


class _LegProblem:
    """Least squares of K legs: K - 1 inner corners, the rise in mm, and the scale's excess."""

    __slots__ = ("corner_sigma_mm", "inner_count", "seen", "start")

    def __init__(self, corners: Array, seen: PathObservations) -> None:
        """`corners` (K + 1, 2) are the first guess; its ends are kept."""
        self.seen = seen
        self.start = corners
        self.inner_count = len(corners) - 2
        self.corner_sigma_mm = seen.corner_sigma_mm

    def corners(self, parameters: Array) -> Array:
        """The corners (K + 1, 2) with both ends."""
        inner = parameters[:-2].reshape(-1, 2)
        return np.vstack([self.start[0], inner, self.start[-1]])

    def residuals(self, parameters: Array) -> Array:
        """The places' residuals and the priors', in σ."""
        rise_mm, scale_excess = parameters[-2:]
        off, back = _leg_offsets(self.corners(parameters), self.seen, rise_mm, scale_excess)
        off_residuals = off / self.seen.sigma_mm
        back_residuals = back / (BACKTRACK_SIGMAS * self.seen.sigma_mm)
        distance = _nearest_place_distance(parameters[:-2].reshape(-1, 2), self.seen.places)
        corner_residuals = distance / self.corner_sigma_mm
        priors = ((rise_mm - RISE_MM) / RISE_SIGMA_MM, scale_excess / self.seen.scale_sigma)
        return np.concatenate([off_residuals, back_residuals, corner_residuals, priors])

    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper bounds of the parameters."""
        known = np.vstack([self.seen.places, self.start])
        low = np.tile(known.min(0) - CORNER_MARGIN_MM, self.inner_count)
        high = np.tile(known.max(0) + CORNER_MARGIN_MM, self.inner_count)
        lowest = np.append(low, [0.0, -SEEN_SCALE_SIGMA])
        return lowest, np.append(high, [MAX_RISE_MM, MAX_HAND_SCALE])

    def length_sigma(self, parameters: Array, jacobian: Array) -> float:
        """1 σ of the length, by linear propagation."""
        covariance = np.linalg.pinv(jacobian.T @ jacobian)
        slope = []
        for step in np.eye(len(parameters)) * 1e-3:
            longer = polyline_length(self.corners(parameters + step))
            shorter = polyline_length(self.corners(parameters - step))
            slope.append((longer - shorter) / 2e-3)
        gradient = np.array(slope)
        return float(np.sqrt(max(gradient @ covariance @ gradient, 0.0)))


def _optimize_legs(corners: Array, seen: PathObservations) -> _LegFit:
    """Fit legs from a first guess of their corners (K + 1, 2)."""
    from scipy.optimize import least_squares  # slow to load; photos do not need it

    problem = _LegProblem(corners, seen)
    start = np.append(corners[1:-1].ravel(), [RISE_MM, 0.0])
    bounds = problem.bounds()
    found = least_squares(
        problem.residuals, start, bounds=bounds, loss="soft_l1", f_scale=2.0, max_nfev=40
    )
    sigma = 0.0
    if problem.inner_count:
        sigma = problem.length_sigma(found.x, np.asarray(found.jac, float))
    fitted = problem.corners(found.x)
    off, back = _leg_offsets(fitted, seen, *found.x[-2:])
    return _LegFit(fitted, off, back, 2 * float(found.cost), sigma)


def _nearest_place_distance(inner: Array, places: Array) -> Array:
    """(K,): distance of corners (K, 2) from the nearest place, for paths that turn back."""
    x, y = (inner[:, None] - places).transpose(2, 0, 1)
    return np.asarray(np.hypot(x, y).min(1))


def _leg_offsets(
    corners: Array, seen: PathObservations, rise_mm: float, scale_excess: float
) -> tuple[Array, Array]:
    """Distances (N,) of places, brought down to the board, from their legs; steps back (N - 1,)."""
    eye_mm = seen.eye_mm
    places = corners[0] + (seen.places - corners[0]) / (1 + scale_excess)
    before = np.concatenate([[0.0], np.cumsum(step_lengths(corners))])
    lean = (places - eye_mm[:2]) / eye_mm[2]
    _, done = _project_onto_legs(corners, places, before)
    height_mm = rise_mm * np.sin(np.pi * done)
    lowered = places - height_mm[:, None] * lean
    off, done = _project_onto_legs(corners, lowered, before)
    return off, np.maximum(-np.diff(done), 0.0) * before[-1]


def _project_onto_legs(corners: Array, places: Array, before: Array) -> tuple[Array, Array]:
    """Signed distance (N,) of each place from its leg, and share (N,) of the path up to there.

    Legs are assigned in order: a path that turns back passes near its later legs early on. `before`
    (K + 1,) is the length of the path up to each corner.
    """
    legs = np.diff(corners, axis=0)
    leg_mm = np.maximum(vector_lengths(legs), 1e-9)
    relative = places[:, None] - corners[:-1]
    along = np.clip((relative * legs).sum(-1) / leg_mm**2, 0, 1)
    gap = relative - along[..., None] * legs
    back = np.maximum(-np.diff(along * leg_mm, axis=0), 0.0) / BACKTRACK_SIGMAS
    tie_break = TIE_BREAK_MM2 * np.arange(len(legs))
    leg = _ordered_assignment(np.sum(gap**2, axis=-1) + tie_break, back**2)
    rows = np.arange(len(places))
    leg_x, leg_y = legs[leg].T
    x, y = relative[rows, leg].T
    off = np.sign(leg_x * y - leg_y * x) * vector_lengths(gap[rows, leg])
    done_mm = before[leg] + along[rows, leg] * leg_mm[leg]
    return np.asarray(off), np.asarray(done_mm / max(float(before[-1]), 1e-9))


def _ordered_assignment(apart: Array, back: Array) -> NDArray[np.intp]:
    """Non-decreasing columns (N,), one a row of costs (N, K), at the least sum (Viterbi, 1967).

    `back` (N - 1, K) is the cost of staying in a column from one row to the next.
    """
    least = apart[0].tolist()
    predecessors: list[list[int]] = []
    for costs, stays in zip(apart[1:].tolist(), back.tolist(), strict=True):
        total: list[float] = []
        came: list[int] = []
        best = 0  # the best column of the row before, left of this one
        for k, (cost, stay) in enumerate(zip(costs, stays, strict=True)):
            if k and least[k - 1] < least[best]:
                best = k - 1
            moves_on = best < k and least[best] < least[k] + stay
            came.append(best if moves_on else k)
            total.append(cost + (least[best] if moves_on else least[k] + stay))
        least = total
        predecessors.append(came)
    columns = [least.index(min(least))]
    for came in reversed(predecessors):
        columns.append(came[columns[-1]])
    return np.array(columns[::-1], np.intp)
