"""Several pairs that may be the closest: their gaps are correlated, so they are drawn together.

A gap is usually a linear function of the places over all their displacements. Only bases in contact
that are as small as the uncertainty bend it. Where all gaps are linear, the axis with the largest
variance is summed in closed form and only the others are drawn. 2048 draws then do as well as
65536 that measure exact outlines.

Alphabet: n draws, m pairs, L lines between bands.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.distances import (
    farthest_distances,
    farthest_from_points,
    gaps_at_shifts,
    rim_farthest_from_all,
)
from overruler.geometry.batched.draws import draw_gaussian
from overruler.geometry.batched.vectors import vector_lengths
from overruler.geometry.covariance import REACH_SIGMAS
from overruler.geometry.gap_probability import normal_cdf
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Shape
from overruler.rules.bodies import Body
from overruler.rules.measure import Measure, farthest_distance_mm
from overruler.rules.sampled.rims import least_radius_mm
from overruler.rules.sampling import (
    DRAW_COUNT,
    ClosestCandidate,
    draw_displacements,
    max_relative_shift_mm,
)
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

MAX_BEND_SHARE = 0.02
"""The largest bend of a gap that passes for linear, in its own σ. It moves no probability by 0.002,
since the mean of the bend is allowed for."""
FEW_DRAWS = 2048
MANY_DRAWS = 8192
NEARLY_SURE = 0.03
"""A probability nearer to 0 or 1 is counted over more draws."""
MIN_EIGENVALUE_SHARE = 1e-12
"""Axes whose variance is a smaller share of the largest are rounding."""


def several_pairs_uncertainty(
    scene: Scene, candidates: Sequence[ClosestCandidate], lines_mm: Sequence[float]
) -> tuple[float, tuple[float, ...]]:
    """1 σ of the closest distance, and the probability (L + 1,) of each band between the lines."""
    linear = LinearGaps.of(scene, candidates)
    if linear:
        below = [linear.probability_below(line + CONTACT_TOLERANCE_MM) for line in lines_mm]
        bands = [max(after - before, 0.0) for before, after in pairwise([0.0, *below, 1.0])]
        return linear.sigma_mm(), tuple(bands)
    indices = [index for pair in candidates for index in (pair.i, pair.j)]
    closest = _closest_distances(candidates, _displacements_by_index(scene, indices, DRAW_COUNT))
    band = np.searchsorted(np.array(lines_mm), closest - CONTACT_TOLERANCE_MM)
    counts = np.bincount(band, minlength=len(lines_mm) + 1)
    return float(closest.std()), tuple((counts / len(closest)).tolist())


# --- linear gaps ---


@dataclass(frozen=True, slots=True, eq=False)
class LinearGaps:
    """Gaps that are linear functions of standard Gaussian axes."""

    means_mm: Array
    """(m,) the mean of each gap."""
    root: Array
    """(m, rank) the change of each gap along each axis, the largest variance first."""

    @classmethod
    def of(cls, scene: Scene, candidates: Sequence[ClosestCandidate]) -> "LinearGaps | None":
        """The gaps of some pairs; None where one bends too much."""
        assert scene.covariance is not None
        slopes = np.zeros((len(candidates), 2 * len(scene.pieces)))
        means = np.array([pair.gap.distance_mm for pair in candidates])
        for row, pair in enumerate(candidates):
            if pair.gap.distance_mm <= CONTACT_TOLERANCE_MM:
                return None
            x, y = np.subtract(pair.gap.to_point, pair.gap.from_point) / pair.gap.distance_mm
            along, bend = _sigma_and_bend_mm(scene, pair, x, y)
            if bend > MAX_BEND_SHARE * along:
                return None
            means[row] += bend
            for index, sign in ((pair.i, -1), (pair.j, 1)):
                if index is not None:
                    slopes[row, 2 * index : 2 * index + 2] += sign * x, sign * y
        values, vectors = np.linalg.eigh(slopes @ scene.covariance.array @ slopes.T)
        kept = values > MIN_EIGENVALUE_SHARE * values[-1]
        root = vectors[:, kept] * np.sqrt(values[kept])
        return cls(means, root[:, ::-1])

    def probability_below(self, line_mm: float) -> float:
        """The probability that the smallest gap is at most `line_mm`."""
        reach = REACH_SIGMAS * np.sqrt((self.root**2).sum(1))
        if line_mm < (self.means_mm - reach).min() or line_mm > (self.means_mm + reach).min():
            return float(line_mm > self.means_mm.min())
        low, high = self._interval_above(line_mm, self._drawn_gaps())
        above = [
            max(normal_cdf(b) - normal_cdf(a), 0.0)
            for a, b in zip(low.tolist(), high.tolist(), strict=True)
        ]
        return 1 - math.fsum(above) / len(above)

    def _drawn_gaps(self) -> Array:
        """The gaps (n, m) drawn over all axes but the first; one draw where there is no other."""
        rank = self.root.shape[1]
        if rank == 1:
            return self.means_mm + np.zeros((1, 1))
        return np.asarray(
            self.means_mm + draw_gaussian(np.eye(rank - 1), FEW_DRAWS) @ self.root[:, 1:].T
        )

    def _interval_above(self, line_mm: float, gaps: Array) -> tuple[Array, Array]:
        """The ends (n,), (n,) of the stretch of the first axis with every gap above a line."""
        slope = self.root[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = (line_mm - gaps) / slope
        never_above = np.where(gaps > line_mm, -np.inf, np.inf)
        falling_or_flat = np.where(slope == 0, never_above, -np.inf)
        low = np.where(slope > 0, crossing, falling_or_flat)
        high = np.where(slope < 0, crossing, np.inf)
        return low.max(1), high.min(1)

    def sigma_mm(self) -> float:
        """1 σ of the smallest gap."""
        axes = draw_gaussian(np.eye(self.root.shape[1]), MANY_DRAWS)
        smallest = (self.means_mm + axes @ self.root.T).min(1)
        return float(np.maximum(smallest, 0).std())


def _sigma_and_bend_mm(
    scene: Scene, pair: ClosestCandidate, x: float, y: float
) -> tuple[float, float]:
    """1 σ of a pair's displacement along (x, y), and the mean bend of its gap by that across."""
    assert scene.covariance is not None
    (xx, xy), (_, yy) = scene.covariance.of_difference(pair.i, pair.j)
    variance = xx * x * x + 2 * xy * x * y + yy * y * y
    along, across = math.sqrt(max(variance, 0.0)), math.sqrt(max(xx + yy - variance, 0.0))
    radii_mm = pair.gap.distance_mm + least_radius_mm(pair.a) + least_radius_mm(pair.b)
    return along, across**2 / (2 * radii_mm)


# --- drawn ---


def _displacements_by_index(
    scene: Scene, indices: Sequence[int | None], count: int | None = None
) -> dict[int | None, Array]:
    """The displacements (n, 2) of some pieces, drawn together."""
    places = [*dict.fromkeys(indices)]
    shifts = draw_displacements(scene, places, count).swapaxes(0, 1)
    return dict(zip(places, shifts, strict=True))


def _closest_distances(
    candidates: Sequence[ClosestCandidate], shifts: Mapping[int | None, Array]
) -> Array:
    """The closest distance (n,) in every draw."""
    gaps = [gaps_at_shifts(pair.a, pair.b, shifts[pair.j] - shifts[pair.i]) for pair in candidates]
    return np.asarray(np.min(gaps, 0))


# --- the whole of a base ---


def probability_all_within(
    scene: Scene,
    measure: Measure,
    candidates: Sequence[ClosestCandidate],
    ends_mm: tuple[float, float],
    reach_mm: float,
) -> float:
    """The probability that all of the second side lies past the lower and not the upper end.

    What is nearly sure is counted over more draws: it decides what is called certain.
    """
    parts = [part for pair in measure.pairs for part in (*pair.a.parts, *pair.b.parts)]
    only_discs = all(isinstance(part, Disc) for part in parts)
    indices = [index for pair in measure.pairs for index in (pair.a.index, pair.b.index)]
    share = 0.0
    for count in (MANY_DRAWS if only_discs else FEW_DRAWS, DRAW_COUNT):
        shifts = _displacements_by_index(scene, indices, count)
        past_lower = _closest_distances(candidates, shifts) > ends_mm[0] + CONTACT_TOLERANCE_MM
        share = float(np.mean(past_lower & _below_line(measure, shifts, ends_mm[1], reach_mm)))
        if NEARLY_SURE < share < 1 - NEARLY_SURE:
            break
    return share


def probability_any_between(
    scene: Scene,
    parts: Sequence[Measure],
    candidates: Sequence[Sequence[ClosestCandidate]],
    ends_mm: tuple[float, float],
) -> float:
    """The probability that some body has a part past the lower end and not past the upper one.

    Each of `parts` is the measure to one body, with the pairs that may be its closest.
    """
    pairs = [pair for part in parts for pair in part.pairs]
    indices = [index for pair in pairs for index in (pair.a.index, pair.b.index)]
    reach_mm = max(max_relative_shift_mm(scene, pair.a.index, pair.b.index) for pair in pairs)
    shifts = _displacements_by_index(scene, indices, DRAW_COUNT)
    found = np.zeros(DRAW_COUNT, bool)
    for part, closest in zip(parts, candidates, strict=True):
        near = _closest_distances(closest, shifts) <= ends_mm[1] + CONTACT_TOLERANCE_MM
        found |= near & ~_below_line(part, shifts, ends_mm[0], reach_mm)
    return float(found.mean())


def _below_line(
    measure: Measure, shifts: Mapping[int | None, Array], upper_mm: float, reach_mm: float
) -> NDArray[np.bool_]:
    """Whether (n,) no part of the second side lies past a line.

    A distance changes by no more than the displacement, so most draws far from the line are settled.
    """
    line_mm = upper_mm + CONTACT_TOLERANCE_MM
    below = np.ones(len(next(iter(shifts.values()))), bool)
    for body, part, far_mm in measure.farthest_by_part:
        if far_mm + 2 * reach_mm < measure.farthest_mm:
            continue
        by_body = [
            vector_lengths(shifts[body.index] - shifts[a.index]) for a in measure.from_bodies
        ]
        moved_mm = np.max(by_body, 0)
        below &= far_mm - moved_mm <= line_mm
        rows = np.flatnonzero(below & (far_mm + moved_mm > line_mm))
        if len(rows):
            there = {index: shift[rows] for index, shift in shifts.items()}
            below[rows] = _farthest_distances(measure, body, part, there, line_mm) <= line_mm
    return below


def _farthest_distances(
    measure: Measure, body: Body, b: Shape, shifts: Mapping[int | None, Array], line_mm: float
) -> Array:
    """The distance (n,) of a part's farthest point from the nearest shape of the first side.

    It lies on the right side of the line; how far from it is certain near the line alone.
    """
    froms = [(a, part) for a in measure.from_bodies for part in a.parts]
    shapes = [part for _, part in froms]
    relative = np.stack([shifts[body.index] - shifts[a.index] for a, _ in froms])
    if len(shapes) == 1:
        return farthest_distances(shapes[0], b, relative[0])
    radius = _common_radius_mm(shapes)
    if isinstance(b, Disc) and radius is not None:
        centers = np.array([shape.center for shape in shapes])
        return np.maximum(farthest_from_points(centers, b, relative) - radius, 0)
    # A hole inside it that is farther than its rim stays as much farther.
    rim = float(rim_farthest_from_all(shapes, b, np.zeros((len(shapes), 1, 2)))[0])
    hole = max(farthest_distance_mm(shapes, b) - rim, 0.0)
    return rim_farthest_from_all(shapes, b, relative, line_mm - hole) + hole


def _common_radius_mm(shapes: Sequence[Shape]) -> float | None:
    """The radius of discs that all have the same; None for any other shapes."""
    radii = {shape.radius_mm if isinstance(shape, Disc) else None for shape in shapes}
    return radii.pop() if len(radii) == 1 else None
