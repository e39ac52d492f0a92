"""How sure a measure is, out of the joint covariance of the pieces' places.

* **Settled.** No line lies within reach, eight standard deviations: the answer is certain.
* **One pair near a line.** Its displacement lies in a plane. Across the gap it is summed over in even steps; along the
  gap, at each of them, the line is crossed at one place, found exactly, and a Gaussian says how much lies on either
  side. No draw is made, and numpy is not loaded.
* **Several pairs that contend for the closest.** The places are drawn, always the same draws; see `rules.rivals`.

All agree with a million free draws to 0.005 in every probability. Near contact a distance is cut off at 0, which both
the probabilities and the standard deviation respect.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING

from overruler.geometry.covariance import Covariance
from overruler.geometry.farthest import farthest_gap
from overruler.geometry.gap_probability import (
    SlicedGaussian,
    gap_sigma_mm,
    intervals_within_distance,
    slice_gaussian,
)
from overruler.geometry.shapes import Point, Polygon, gap
from overruler.rules.measure import Measure, band_of
from overruler.rules.sampling import ClosestCandidate, max_relative_shift_mm
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

if TYPE_CHECKING:
    pass


# --- for every kind of answer ---


# --- for the closest distance ---


@dataclass(frozen=True, slots=True, eq=False)
class DistanceUncertainty:
    """What a measure may be instead."""

    sigma_mm: float
    """The standard deviation of the closest distance."""
    band_probabilities: tuple[float, ...]
    """The probability of each band between ascending lines: up to the first, ..., past the last. A line touched is not
    crossed."""


def distance_uncertainty(
    scene: Scene, measure: Measure, lines_mm: Sequence[float]
) -> DistanceUncertainty | None:
    """The doubt of the closest distance between ascending lines; None in a scene without covariance."""
    if scene.covariance is None:
        return None
    rivals = closest_candidates(scene, measure)
    low = min(rival.gap.distance_mm - rival.max_shift_mm for rival in rivals)
    high = min(rival.gap.distance_mm + rival.max_shift_mm for rival in rivals)
    near = (
        any(low <= line + CONTACT_TOLERANCE_MM <= high for line in (0.0, *lines_mm)) and low < high
    )
    if len(rivals) == 1:
        return (_pair_uncertainty if near else _linear_uncertainty)(
            scene.covariance, rivals[0], lines_mm
        )
    from overruler.rules.sampled.closest import several_pairs_uncertainty

    return DistanceUncertainty(*several_pairs_uncertainty(scene, rivals, lines_mm))


def closest_candidates(scene: Scene, measure: Measure) -> list[ClosestCandidate]:
    """The parts that may be the closest, were every piece displaced as far as it can be."""
    every = [
        ClosestCandidate(
            p,
            q,
            pair.a.index,
            pair.b.index,
            gap(p, q),
            max_relative_shift_mm(scene, pair.a.index, pair.b.index),
        )
        for pair in measure.pairs
        for p, q in product(pair.a.parts, pair.b.parts)
    ]
    ceiling = min(one.gap.distance_mm + one.max_shift_mm for one in every)
    return [one for one in every if one.gap.distance_mm - one.max_shift_mm <= ceiling]


def _linear_uncertainty(
    covariance: Covariance, one: ClosestCandidate, lines_mm: Sequence[float]
) -> DistanceUncertainty:
    """The distance is a Gaussian along the gap; no line is near."""
    band = band_of(one.gap.distance_mm, lines_mm)
    shares = tuple(float(k == band) for k in range(len(lines_mm) + 1))
    (ax, ay), (bx, by), distance = one.gap.from_point, one.gap.to_point, one.gap.distance_mm
    if distance <= CONTACT_TOLERANCE_MM:
        return DistanceUncertainty(0.0, shares)
    (xx, xy), (_, yy) = covariance.of_difference(one.i, one.j)
    x, y = (bx - ax) / distance, (by - ay) / distance
    return DistanceUncertainty(
        math.sqrt(max(xx * x * x + 2 * xy * x * y + yy * y * y, 0.0)), shares
    )


def _pair_uncertainty(
    covariance: Covariance, one: ClosestCandidate, lines_mm: Sequence[float]
) -> DistanceUncertainty:
    """One pair near a line: summed over slices of its displacement."""
    slices = slice_displacement(covariance, one)
    below = [_probability_below(slices, one, line) for line in lines_mm]
    shares = [after - before for before, after in pairwise([0.0, *below, 1.0])]
    contact = (
        intervals_within_distance(slices, one.a, one.b, CONTACT_TOLERANCE_MM)
        if one.gap.distance_mm < one.max_shift_mm
        else None
    )
    sigma = (
        gap_sigma_mm(slices, contact, gap_direction(one))
        if contact
        else _linear_uncertainty(covariance, one, ()).sigma_mm
    )
    return DistanceUncertainty(sigma, tuple(max(share, 0.0) for share in shares))


def slice_displacement(covariance: Covariance, one: ClosestCandidate) -> SlicedGaussian:
    """A pair's displacement, cut across the line between its closest points."""
    corners = isinstance(one.a, Polygon) or isinstance(one.b, Polygon)
    bend = one.a.bounding_radius_mm + one.b.bounding_radius_mm + one.gap.distance_mm
    return slice_gaussian(
        covariance.of_difference(one.i, one.j), gap_direction(one), bend, slope=float(corners)
    )


def gap_direction(one: ClosestCandidate) -> Point:
    """The unit direction from the first to the second, between their closest points; in contact between the centres."""
    a, b = (
        (one.gap.from_point, one.gap.to_point)
        if one.gap.distance_mm > 1e-3
        else (one.a.center, one.b.center)
    )
    x, y = b[0] - a[0], b[1] - a[1]
    size = math.hypot(x, y)
    return (x / size, y / size) if size else (1.0, 0.0)


def _probability_below(slices: SlicedGaussian, one: ClosestCandidate, line_mm: float) -> float:
    """The probability that a gap does not cross a line; 0 or 1 where the line is out of reach."""
    past = one.gap.distance_mm - line_mm - CONTACT_TOLERANCE_MM
    if abs(past) > one.max_shift_mm:
        return float(past < 0)
    return slices.probability_inside(
        intervals_within_distance(slices, one.a, one.b, line_mm + CONTACT_TOLERANCE_MM)
    )


# --- for the whole of a base ---


def probability_within(
    scene: Scene, measure: Measure, lower_mm: float | None, upper_mm: float
) -> float:
    """The probability that all of the second side lies past `lower_mm` (None: wherever) and not past `upper_mm`."""
    reach = max(max_relative_shift_mm(scene, pair.a.index, pair.b.index) for pair in measure.pairs)
    lower = -1.0 if lower_mm is None else lower_mm
    room = [
        upper_mm - measure.farthest_mm,
        *([] if lower_mm is None else [measure.distance_mm - lower_mm]),
    ]
    if not reach or min(map(abs, room)) > reach:
        return float(
            measure.farthest_mm <= upper_mm + CONTACT_TOLERANCE_MM
            and measure.distance_mm > lower + CONTACT_TOLERANCE_MM
        )
    rivals = closest_candidates(scene, measure)
    alone = len(measure.pairs) == 1 and len(rivals) == 1 and len(measure.pairs[0].b.parts) == 1
    if alone and scene.covariance:
        return _pair_probability_within(
            slice_displacement(scene.covariance, rivals[0]), rivals[0], lower_mm, upper_mm
        )
    from overruler.rules.sampled.closest import probability_all_within

    return probability_all_within(scene, measure, rivals, (lower, upper_mm), reach)


def _pair_probability_within(
    slices: SlicedGaussian, one: ClosestCandidate, lower_mm: float | None, upper_mm: float
) -> float:
    """As `probability_within`, for one pair of convex shapes: of every slice what is near enough, less what is too near."""
    inside = intervals_within_distance(
        slices, one.a, one.b, upper_mm + CONTACT_TOLERANCE_MM, farthest_gap
    )
    if lower_mm is None or one.gap.distance_mm - lower_mm > one.max_shift_mm:
        return slices.probability_inside(inside)
    near = intervals_within_distance(slices, one.a, one.b, lower_mm + CONTACT_TOLERANCE_MM)
    both = [(max(a, c), min(b, d)) for (a, b), (c, d) in zip(inside, near, strict=True)]
    return max(slices.probability_inside(inside) - slices.probability_inside(both), 0.0)
