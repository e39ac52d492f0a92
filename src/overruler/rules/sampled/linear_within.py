"""The probability that all of some bases lies near enough to others, where distances are linear.

A base lies within a line if every point of its rim does. The distance of a point of the rim from a
body is linear in the places over all their displacements, but for a bend that is checked. Which body
is nearest, and which point is farthest, may change from draw to draw: both are looked up in every
draw. The axis that changes the distances most is summed in closed form, and only the others are
drawn.

Alphabet: n draws, m bodies of the first side, k points of a rim, r axes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.draws import draw_gaussian
from overruler.geometry.batched.farthest_of_union import RimCells, rim_farthest_from_all
from overruler.geometry.batched.point_distances import distance_matrix
from overruler.geometry.batched.vectors import SMALLEST_DIVISOR
from overruler.geometry.covariance import REACH_SIGMAS
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Shape
from overruler.rules.bodies import Body
from overruler.rules.measure import Measure
from overruler.rules.sampling import max_relative_shift_mm
from overruler.scene import Scene

LINEAR_DRAWS = 1024
"""Draws over all axes but the first."""
RIM_STEPS = 8
"""Points of each piece of a rim."""
LIVE_SIGMAS = 5.0
"""A point nearer to the line than this many σ may cross it."""
MAX_BEND_SHARE = 0.02
"""The largest bend of a distance that passes for linear, in its own σ."""
MAX_HOLE_MM = 1e-6
"""A point inside a base that is this much farther than its rim is a hole, for which this is not."""
GRADIENT_STEP_MM = 1e-3
"""Half the width of a difference quotient, in mm."""
MIN_AXIS_SHARE = 1e-12
"""Axes whose variance is a smaller share of the largest are rounding."""
SHARES = np.linspace(0.0, 1.0, 9)
"""Places between two points of a rim that are tried, and then between two of those."""


@dataclass(frozen=True, slots=True, eq=False)
class RimDistances:
    """Distances of points of one rim from the bodies that may be nearest, linear in the places."""

    means_mm: Array
    """(m, k), the bend allowed for."""
    sags_mm: Array
    """(m, k) how much farther the middle between a point and the next is than their mean."""
    slopes: Array
    """(m, k, r) the change of each distance along each axis."""
    follows: NDArray[np.bool_]
    """(k,) whether the next point is the next one of the rim."""

    def runs(self) -> "list[RimDistances]":
        """The parts of the rim that hang together."""
        ends = np.flatnonzero(~self.follows)
        if not len(ends):
            return [self]
        order = np.roll(np.arange(len(self.follows)), -1 - int(ends[0]))
        lengths = np.diff(ends, append=ends[0] + len(self.follows))
        rows = np.split(order, np.cumsum(lengths)[:-1])
        return [self._select_points(run) for run in rows]

    def _select_points(self, run: NDArray[np.intp]) -> "RimDistances":
        means, sags = self.means_mm[:, run], self.sags_mm[:, run]
        return RimDistances(means, sags, self.slopes[:, run], self.follows[run])


def probability_all_near(scene: Scene, measure: Measure, line_mm: float) -> float | None:
    """The probability that all of the second side lies within a line; None where it is not linear."""
    axes = _axes(scene)
    rims = []
    for body, part, far_mm in measure.farthest_by_part:
        reach_mm = max(
            max_relative_shift_mm(scene, a.index, body.index) for a in measure.from_bodies
        )
        if far_mm + reach_mm <= line_mm:
            continue
        if far_mm - reach_mm > line_mm:
            return 0.0
        rim = _rim_distances(scene, axes, measure, (body, part, far_mm), line_mm)
        if rim is None:
            return None
        rims += rim.runs()
    return _probability_below(rims, line_mm) if rims else 1.0


def _axes(scene: Scene) -> Array:
    """The displacements (2 N, r) by independent standard Gaussians."""
    assert scene.covariance is not None
    values, vectors = np.linalg.eigh(scene.covariance.array)
    kept = values > MIN_AXIS_SHARE * values[-1]
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def _rim_distances(
    scene: Scene,
    axes: Array,
    measure: Measure,
    farthest: tuple[Body, Shape, float],
    line_mm: float,
) -> RimDistances | None:
    """The distances of the points of a part's rim that may cross the line; None if not linear."""
    body, part, far_mm = farthest
    froms = [(a, shape) for a in measure.from_bodies for shape in a.parts]
    shapes = [shape for _, shape in froms]
    if len(shapes) > 1 and _hole_mm(shapes, part, far_mm) > MAX_HOLE_MM:
        return None
    sigmas = np.array([_sigma_mm(scene, a, body) for a, _ in froms])
    rim = RimCells(part)
    t = np.arange(rim.pieces * RIM_STEPS) / RIM_STEPS
    points = rim.rim_offset(t) + part.center
    distances = distance_matrix(shapes, points)
    reach_mm = LIVE_SIGMAS * float(sigmas.max())
    live = np.flatnonzero(distances.min(0) > line_mm - reach_mm)
    live = live if len(live) else np.array([distances.min(0).argmax()])
    near = np.flatnonzero((distances[:, live] <= line_mm + reach_mm).any(1))
    if not len(near):
        return None
    shapes, froms = [shapes[i] for i in near], [froms[i] for i in near]
    means = distances[np.ix_(near, live)]
    middles = rim.rim_offset(t[live] + 0.5 / RIM_STEPS) + part.center
    following = distances[np.ix_(near, (live + 1) % len(t))]
    sags = distance_matrix(shapes, middles) - (means + following) / 2
    directions = _gradients(shapes, points[live])
    slopes = np.stack(
        [
            directions[row] @ (_rows_of(axes, body) - _rows_of(axes, a))
            for row, (a, _) in enumerate(froms)
        ]
    )
    along = np.sqrt((slopes**2).sum(2))
    radii = means + [[_radius_mm(shape)] for shape in shapes]
    bends = np.maximum(sigmas[near, None] ** 2 - along**2, 0.0) / (2 * radii)
    if (bends > MAX_BEND_SHARE * along).any():
        return None
    follows = np.append(live[1:] == live[:-1] + 1, (live[-1] + 1) % len(t) == live[0])
    return RimDistances(means + bends, sags, slopes, follows)


def _hole_mm(shapes: Sequence[Shape], part: Shape, far_mm: float) -> float:
    """How much farther a point inside a part is than its rim."""
    rim_mm = rim_farthest_from_all(shapes, part, np.zeros((len(shapes), 1, 2)))[0]
    return far_mm - float(rim_mm)


def _sigma_mm(scene: Scene, a: Body, b: Body) -> float:
    """The largest σ of a displacement of one body against the other, along both axes together."""
    assert scene.covariance is not None
    (xx, _), (_, yy) = scene.covariance.of_difference(a.index, b.index)
    largest_mm = max_relative_shift_mm(scene, a.index, b.index) / REACH_SIGMAS
    return max(largest_mm, float(np.sqrt(max(xx + yy, 0.0))))


def _radius_mm(shape: Shape) -> float:
    """The least radius of curvature of an outline; 0 where it may have corners."""
    return shape.radius_mm if isinstance(shape, Disc) else 0.0


def _rows_of(axes: Array, body: Body) -> Array:
    """The displacement (2, r) of a body by the axes."""
    if body.index is None:
        return np.zeros((2, axes.shape[1]))
    return axes[2 * body.index : 2 * body.index + 2]


def _gradients(shapes: Sequence[Shape], points: Array) -> Array:
    """The directions (m, k, 2) in which the distances of points from shapes grow."""
    step = GRADIENT_STEP_MM
    moved = [points + offset for offset in ((step, 0), (-step, 0), (0, step), (0, -step))]
    distances = distance_matrix(shapes, np.concatenate(moved)).reshape(len(shapes), 4, -1)
    along_x = distances[:, 0] - distances[:, 1]
    along_y = distances[:, 2] - distances[:, 3]
    return np.stack([along_x, along_y], -1) / (2 * step)


# --- summed over one axis, drawn over the others ---


def _probability_below(rims: Sequence[RimDistances], line_mm: float) -> float | None:
    """The probability that every rim lies within a line; None where an axis pulls one both ways.

    In each draw the rims lie within the line along one stretch of the first axis.
    """
    from scipy.special import ndtr

    turned = _turn_axes(rims, line_mm)
    count = turned[0].slopes.shape[2] - 1
    draws = draw_gaussian(np.eye(count), LINEAR_DRAWS) if count else np.zeros((1, 0))
    low, high = np.full(len(draws), -np.inf), np.full(len(draws), np.inf)
    for rim in turned:
        first = rim.slopes[..., 0]
        if (first > 0).all():
            high = np.minimum(high, _last_within(rim, first, draws, line_mm))
        elif (first < 0).all():
            low = np.maximum(low, -_last_within(rim, -first, draws, line_mm))
        else:
            return None
    return float(np.maximum(ndtr(high) - ndtr(low), 0.0).mean())


def _turn_axes(rims: Sequence[RimDistances], line_mm: float) -> list[RimDistances]:
    """The rims by other axes, the first being what changes the distances near the line most.

    All distances of one rim depend on its base, so their mean change suits each of them.
    """
    common = np.array([_mean_slope(rim, line_mm) for rim in rims])
    _, vectors = np.linalg.eigh(common.T @ common)
    axes = vectors[:, ::-1]
    return [RimDistances(rim.means_mm, rim.sags_mm, rim.slopes @ axes, rim.follows) for rim in rims]


def _mean_slope(rim: RimDistances, line_mm: float) -> Array:
    """The mean change (r,) of a rim's distances, those near the line counting most."""
    variance = (rim.slopes**2).sum(2)
    weights = np.exp(-((rim.means_mm - line_mm) ** 2) / (2 * variance + SMALLEST_DIVISOR))
    return np.asarray((weights[..., None] * rim.slopes).sum((0, 1)))


def _last_within(rim: RimDistances, first: Array, draws: Array, line_mm: float) -> Array:
    """The largest value (n,) of the first axis with all of a rim within the line, in each draw.

    `first` (m, k) is how fast each distance grows along that axis, or falls for the smallest.
    """
    others = rim.slopes[..., 1:].reshape(first.size, -1)
    drawn = (draws @ others.T).reshape(-1, *first.shape)
    crossings = (line_mm - rim.means_mm - drawn) / first
    by_point = crossings.max(1)
    best = by_point.argmin(1)
    last = by_point[np.arange(len(best)), best]
    sags = rim.sags_mm / first
    points = first.shape[1]
    for start in (best, (best - 1) % points):
        rows = np.flatnonzero(rim.follows[start])
        k = start[rows]
        ends = crossings[rows, :, k], crossings[rows, :, (k + 1) % points]
        last[rows] = np.minimum(last[rows], _least_between(*ends, sags[:, k].T))
    return np.asarray(last)


def _least_between(start: Array, end: Array, sag: Array) -> Array:
    """The least value (n,) of the largest of m parabolas (n, m) between two points."""
    low, width = np.zeros(len(start)), 1.0
    least = np.full(len(start), np.inf)
    for _ in range(2):
        share = np.clip(low[:, None] + width * SHARES, 0.0, 1.0)[:, None]  # (n, 1, places)
        values = start[..., None] * (1 - share) + end[..., None] * share
        values -= 4 * share * (1 - share) * sag[..., None]
        largest = values.max(1)
        place = largest.argmin(1)
        least = np.minimum(least, largest.min(1))
        low = low + width * (SHARES[place] - SHARES[1])
        width *= 2 * SHARES[1]
    return least
