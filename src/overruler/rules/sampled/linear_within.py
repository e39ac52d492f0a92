"""The probability that all of some bases lies between two lines, where distances are linear.

A base lies within the upper line if every point of its rim does, and past the lower one if its
closest point does. Over all displacements these distances are linear in the places, but for a bend
that is checked and whose mean is allowed for. Which body is nearest, and which point is farthest, is
looked up in every draw.

One axis is summed in closed form, and only the others are drawn. Along that axis everything moves
apart, so every distance grows, and the places that fit are one stretch.

Alphabet: n draws, m parts of the first side, k points of a rim, r axes. Lengths are in mm.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.draws import difference_covariance, standard_normal_points
from overruler.geometry.batched.vectors import SMALLEST_DIVISOR
from overruler.geometry.covariance import REACH_SIGMAS
from overruler.geometry.gap_probability import normal_cdf
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Shape
from overruler.rules.measure import Measure
from overruler.rules.sampled.rims import NearRim, near_rims
from overruler.rules.sampling import ClosestCandidate
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

LINEAR_DRAWS = 1024
"""Draws over all axes but the first."""
LIVE_SIGMAS = 5.0
"""A point nearer to the line than this many σ may cross it."""
MAX_BEND_SHARE = 0.02
"""The largest bend of a distance that passes for linear, in its own σ."""
MIN_AXIS_SHARE = 1e-12
"""Axes whose variance is a smaller share of the largest are rounding."""
LEAST_WEIGHT = 1e-3
"""The weight of a distance far from its line, where one on it counts 1."""
GROWTH_SHARE = 0.2
"""The least growth of a distance along the first axis that is aimed for, in its own σ."""
GROWTH_ROUNDS = 12
"""Most rounds of looking for such an axis."""
SHARES = np.linspace(0.0, 1.0, 9)
"""Places between two points of a rim that are tried."""
SEARCH_ROUNDS = 4
"""Rounds of trying places, each between the neighbours of the best."""

Axes = Mapping[int | None, Array]
"""The displacement (2, r) of each body, by its index, by independent standard Gaussians."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearDistances:
    """Distances that are linear in the places, between m parts and k points."""

    margins_mm: Array
    """(m, k) how far the line lies past each."""
    slopes: Array
    """(m, k, r) the change of each along each axis."""
    is_bent: bool
    """Whether one bends too much to pass for linear."""

    @classmethod
    def of(
        cls, distances: Array, directions: Array, moves: Array, radii: Array, line_mm: float
    ) -> "LinearDistances":
        """Distances (m, k) that grow in directions (m, k, 2) when parts move by (m, 2, r).

        `radii` (m, 1) are those of curvature. A move across the direction adds a mean bend.
        """
        slopes = directions @ moves
        variance = (slopes**2).sum(2)
        across = np.maximum((moves**2).sum((1, 2))[:, None] - variance, 0.0)
        bends = across / (2 * np.maximum(distances + radii, SMALLEST_DIVISOR))
        is_bent = bool((bends > MAX_BEND_SHARE * np.sqrt(variance)).any())
        return cls(line_mm - distances - bends, slopes, is_bent)

    @property
    def weights(self) -> Array:
        """How much (m, k) each matters: those near the line most."""
        variance = (self.slopes**2).sum(2) + SMALLEST_DIVISOR
        return np.asarray(np.exp(-(self.margins_mm**2) / (2 * variance)) + LEAST_WEIGHT)


def probability_all_between(
    scene: Scene,
    measure: Measure,
    candidates: Sequence[ClosestCandidate],
    lower_mm: float | None,
    upper_mm: float,
    reach_mm: float,
) -> float | None:
    """The probability that all of the second side lies past the lower and not past the upper line.

    `candidates` are the pairs that may be the closest, and no displacement exceeds `reach_mm`. None:
    the distances are not linear.
    """
    upper_mm += CONTACT_TOLERANCE_MM
    rims = near_rims(measure, upper_mm, reach_mm * LIVE_SIGMAS / REACH_SIGMAS)
    if rims is None:
        return None
    if not all(rim.froms for rim in rims):
        return 0.0
    pairs = [] if lower_mm is None else candidates
    axes = _axes(scene, rims, pairs)
    linear = [_rim_distances(axes, rim, upper_mm) for rim in rims]
    if lower_mm is not None:
        linear.append(_closest_distances(axes, pairs, lower_mm + CONTACT_TOLERANCE_MM))
    if any(one.is_bent for one in linear):
        return None
    return _probability_between(rims, linear) if linear else 1.0


def _axes(scene: Scene, rims: Sequence[NearRim], pairs: Sequence[ClosestCandidate]) -> Axes:
    """The displacements of the bodies that matter."""
    assert scene.covariance is not None
    indices = [index for pair in pairs for index in (pair.i, pair.j)]
    for rim in rims:
        indices += [rim.body.index, *(body.index for body, _ in rim.froms)]
    places = [*dict.fromkeys(indices)]
    joint = difference_covariance(scene.covariance.array, [(None, index) for index in places])
    values, vectors = np.linalg.eigh(joint)
    kept = values > MIN_AXIS_SHARE * values[-1]
    rows = (vectors[:, kept] * np.sqrt(values[kept])).reshape(len(places), 2, -1)
    return dict(zip(places, rows, strict=True))


def _rim_distances(axes: Axes, rim: NearRim, line_mm: float) -> LinearDistances:
    moves = np.stack([axes[rim.body.index] - axes[body.index] for body, _ in rim.froms])
    radii = np.array([[_least_radius_mm(shape)] for _, shape in rim.froms])
    return LinearDistances.of(rim.distances_mm, rim.directions, moves, radii, line_mm)


def _closest_distances(
    axes: Axes, pairs: Sequence[ClosestCandidate], line_mm: float
) -> LinearDistances:
    distances = np.array([[pair.gap.distance_mm] for pair in pairs])
    ends = np.array([(pair.gap.from_point, pair.gap.to_point) for pair in pairs])
    directions = (ends[:, 1] - ends[:, 0])[:, None] / (distances[..., None] + SMALLEST_DIVISOR)
    moves = np.stack([axes[pair.j] - axes[pair.i] for pair in pairs])
    radii = np.array([[_least_radius_mm(pair.a) + _least_radius_mm(pair.b)] for pair in pairs])
    return LinearDistances.of(distances, directions, moves, radii, line_mm)


def _least_radius_mm(shape: Shape) -> float:
    """The least radius of curvature of an outline; 0 where it may have corners."""
    return shape.radius_mm if isinstance(shape, Disc) else 0.0


# --- summed over one axis, drawn over the others ---


def _probability_between(
    rims: Sequence[NearRim], linear: Sequence[LinearDistances]
) -> float | None:
    """The probability that all rims lie below their line, and the pairs after them above theirs.

    In each draw that is so along one stretch of the first axis. None: no axis lets all grow.
    """
    slopes = np.concatenate([one.slopes.reshape(-1, one.slopes.shape[2]) for one in linear])
    weights = np.concatenate([one.weights.ravel() for one in linear])
    first = _growing_axis(slopes, weights)
    growth = slopes @ first
    if (growth <= 0).any():
        return None
    others = _principal_parts(slopes - growth[:, None] * first, weights)
    draws = standard_normal_points(LINEAR_DRAWS, others.shape[1])
    margins = np.concatenate([one.margins_mm.ravel() for one in linear])
    room = margins - draws @ others.T
    low, high = np.full(len(draws), -np.inf), np.full(len(draws), np.inf)
    start = 0
    for number, one in enumerate(linear):
        columns = slice(start, start + one.margins_mm.size)
        start = columns.stop
        if number == len(rims):
            low = (room[:, columns] / growth[columns]).max(1)
            continue
        shape = one.margins_mm.shape
        along = growth[columns].reshape(shape)
        last = _last_within(rims[number], room[:, columns].reshape(-1, *shape), along)
        high = np.minimum(high, last)
    ends = zip(low.tolist(), high.tolist(), strict=True)
    return math.fsum(max(normal_cdf(b) - normal_cdf(a), 0.0) for a, b in ends) / len(draws)


def _growing_axis(slopes: Array, weights: Array) -> Array:
    """The unit axis (r,) along which the distances near their lines grow most, and all grow.

    Least squares: each distance is to grow by its σ. What grows too little counts more next time.
    """
    sigmas = np.sqrt((slopes**2).sum(1))
    for _ in range(GROWTH_ROUNDS):
        weighted = slopes * weights[:, None]
        square = weighted.T @ slopes
        square[np.diag_indices(len(square))] += 1e-9 * np.trace(square)
        axis = np.linalg.solve(square, weighted.T @ sigmas)
        axis /= max(float(np.linalg.norm(axis)), SMALLEST_DIVISOR)
        is_slow = slopes @ axis < GROWTH_SHARE * sigmas
        if not is_slow.any():
            break
        weights = np.where(is_slow, 4 * weights, weights)
    return axis


def _principal_parts(slopes: Array, weights: Array) -> Array:
    """Slopes along other axes (..., s), the one that changes the distances near their lines first."""
    values, vectors = np.linalg.eigh(slopes.T @ (slopes * weights[:, None]))
    kept = values > MIN_AXIS_SHARE * max(values[-1], SMALLEST_DIVISOR)
    return np.asarray(slopes @ vectors[:, kept][:, ::-1])


def _last_within(rim: NearRim, room: Array, growth: Array) -> Array:
    """The largest value (n,) of the first axis with all of a rim within its line.

    `room` (n, m, k) is what each distance may still grow, and `growth` (m, k) how fast it does.
    """
    by_point = (room / growth).max(1)
    best = by_point.argmin(1)
    last = by_point[np.arange(len(best)), best]
    for start in (best, (best - 1) % len(rim.follows)):
        rows = np.flatnonzero(rim.follows[start])
        k = start[rows]
        after = (k + 1) % len(rim.follows)
        ends = room[rows, :, k], room[rows, :, after]
        between = _least_between(*ends, rim.sags_mm[:, k].T, growth[:, k].T, growth[:, after].T)
        last[rows] = np.minimum(last[rows], between)
    return np.asarray(last)


def _least_between(
    start: Array, end: Array, sag: Array, start_growth: Array, end_growth: Array
) -> Array:
    """The least value (n,) of the first axis between two points of a rim, of m parts (n, m)."""
    low, width = np.zeros(len(start)), 1.0
    least = np.full(len(start), np.inf)
    for _ in range(SEARCH_ROUNDS):
        share = np.clip(low[:, None] + width * SHARES, 0.0, 1.0)[:, None]  # (n, 1, places)
        room = start[..., None] * (1 - share) + end[..., None] * share
        room -= 4 * share * (1 - share) * sag[..., None]
        room /= start_growth[..., None] * (1 - share) + end_growth[..., None] * share
        largest = room.max(1)
        place = largest.argmin(1)
        least = np.minimum(least, largest.min(1))
        low = low + width * (SHARES[place] - SHARES[1])
        width *= 2 * SHARES[1]
    return least
