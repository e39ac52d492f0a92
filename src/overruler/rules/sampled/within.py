"""How sure it is that the whole of a base lies within some bands of a ruler."""

import math

from overruler.geometry.covariance import Covariance
from overruler.geometry.farthest import farthest_gap
from overruler.geometry.gap_probability import (
    SlicedGaussian,
    intervals_within_distance,
    slice_gaussian,
)
from overruler.geometry.shapes import Disc, Point, Polygon
from overruler.rules.measure import Measure
from overruler.rules.sampling import ClosestCandidate, max_relative_shift_mm
from overruler.rules.uncertainty import closest_candidates, distance_uncertainty
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

MIN_DIRECTED_GAP_MM = 1e-3
"""Across a shorter gap the closest points give no direction."""


def probability_within(
    scene: Scene, measure: Measure, lower_mm: float | None, upper_mm: float
) -> float:
    """The probability that all of the second side lies past `lower_mm` and not past `upper_mm`.

    `lower_mm` None: there is no lower end.
    """
    reach = max(max_relative_shift_mm(scene, pair.a.index, pair.b.index) for pair in measure.pairs)
    lower = -1.0 if lower_mm is None else lower_mm
    margins = [upper_mm - measure.farthest_mm]
    if lower_mm is not None:
        margins.append(measure.distance_mm - lower_mm)
    if not reach or min(map(abs, margins)) > reach:
        below_upper = measure.farthest_mm <= upper_mm + CONTACT_TOLERANCE_MM
        return float(below_upper and measure.distance_mm > lower + CONTACT_TOLERANCE_MM)
    from overruler.rules.sampled.linear_within import probability_all_between

    candidates = closest_candidates(scene, measure)
    one_pair = len(measure.pairs) == 1 and len(candidates) == 1
    if one_pair and len(measure.pairs[0].b.parts) == 1 and scene.covariance:
        slices = _slice_displacement(scene.covariance, candidates[0], upper_mm)
        return _pair_probability_within(slices, candidates[0], lower_mm, upper_mm)
    near_lower = lower_mm is not None and measure.distance_mm - lower_mm <= reach
    linear = probability_all_between(
        scene, measure, candidates, lower_mm if near_lower else None, upper_mm, reach
    )
    if linear is not None:
        return linear
    from overruler.rules.sampled.closest import probability_all_within

    return probability_all_within(scene, measure, candidates, (lower, upper_mm), reach)


def probability_any_part(
    scene: Scene, measure: Measure, lower_mm: float | None, upper_mm: float
) -> float:
    """The probability that any part of the second side lies past `lower_mm` and not past `upper_mm`.

    `lower_mm` None: there is no lower end. A base in one piece has such a part unless it is all past
    the upper end or all before the lower one.
    """
    uncertainty = distance_uncertainty(scene, measure, (upper_mm,))
    near = uncertainty.band_probabilities[0] if uncertainty else 1.0
    if lower_mm is None:
        return near
    if len(measure.to_bodies) == 1:
        return max(near - probability_within(scene, measure, None, lower_mm), 0.0)
    from overruler.rules.sampled.closest import probability_any_between

    parts = [measure.of_body(body) for body in measure.to_bodies]
    candidates = [closest_candidates(scene, part) for part in parts]
    return probability_any_between(scene, parts, candidates, (lower_mm, upper_mm))


def _pair_probability_within(
    slices: SlicedGaussian, pair: ClosestCandidate, lower_mm: float | None, upper_mm: float
) -> float:
    """As `probability_within`, for one pair of convex shapes.

    Of every slice: the displacements that are near enough, less those that are too near.
    """
    a, b, upper = pair.a, pair.b, upper_mm + CONTACT_TOLERANCE_MM
    inside = intervals_within_distance(slices, a, b, upper, farthest_gap)
    if lower_mm is None or pair.gap.distance_mm - lower_mm > pair.max_shift_mm:
        return slices.probability_inside(inside)
    near = intervals_within_distance(slices, a, b, lower_mm + CONTACT_TOLERANCE_MM)
    both = [
        (max(far_low, near_low), min(far_high, near_high))
        for (far_low, far_high), (near_low, near_high) in zip(inside, near, strict=True)
    ]
    return max(slices.probability_inside(inside) - slices.probability_inside(both), 0.0)


def _slice_displacement(
    covariance: Covariance, pair: ClosestCandidate, upper_mm: float
) -> SlicedGaussian:
    """A pair's displacement, cut across the line between its closest points."""
    corners = isinstance(pair.a, Polygon) or isinstance(pair.b, Polygon)
    bend = min(_bend_of_near_mm(pair), _bend_of_within_mm(pair, upper_mm))
    difference = covariance.of_difference(pair.i, pair.j)
    return slice_gaussian(difference, _gap_direction(pair), bend, slope=float(corners))


def _bend_of_near_mm(pair: ClosestCandidate) -> float:
    """Radius of the edge of the displacements that bring any part near; corners count as a slope."""
    return pair.a.bounding_radius_mm + pair.b.bounding_radius_mm + pair.gap.distance_mm


def _bend_of_within_mm(pair: ClosestCandidate, upper_mm: float) -> float:
    """Least radius of the edge of the displacements that bring the whole within a line.

    The line round the first shape bends as its own edge does; the second shape takes its own size off.
    """
    of_first = pair.a.radius_mm if isinstance(pair.a, Disc) else 0.0
    return max(upper_mm + of_first - pair.b.bounding_radius_mm, 0.0)


def _gap_direction(pair: ClosestCandidate) -> Point:
    """The unit direction between the closest points of a pair; in contact between the centres."""
    a, b = pair.a.center, pair.b.center
    if pair.gap.distance_mm > MIN_DIRECTED_GAP_MM:
        a, b = pair.gap.from_point, pair.gap.to_point
    x, y = b[0] - a[0], b[1] - a[1]
    size = math.hypot(x, y)
    return (x / size, y / size) if size else (1.0, 0.0)
