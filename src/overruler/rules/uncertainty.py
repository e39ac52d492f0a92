"""How sure a closest distance is, given the joint covariance of the pieces' places.

* **Settled.** No line lies within reach, eight standard deviations. The answer is certain.
* **One pair near a line.** Its displacement lies in a plane, and those that do not cross the line
  form a region whose boundary is known exactly. The Gaussian is summed along it; see
  `geometry.contact_region`. Nothing is drawn, and numpy is not loaded.
* **Several pairs that may be the closest.** Their places are drawn, always the same draws; see
  `rules.sampled.closest`.

All agree with a million free draws to 0.005 in every probability. A distance is never below 0,
which both the probabilities and the standard deviation near contact respect.
"""

import math
from collections.abc import Sequence
from itertools import pairwise, product
from typing import NamedTuple

from overruler.geometry.covariance import Covariance
from overruler.geometry.shapes import gap
from overruler.rules.measure import BodyPair, Measure, band_of
from overruler.rules.sampling import ClosestCandidate, max_relative_shift_mm
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM


class DistanceUncertainty(NamedTuple):
    """The distribution of a closest distance."""

    sigma_mm: float
    """1 σ of the distance."""
    band_probabilities: tuple[float, ...]
    """The probability of each band: up to the first line, ..., past the last. A line touched is not
    crossed."""


def distance_uncertainty(
    scene: Scene, measure: Measure, lines_mm: Sequence[float]
) -> DistanceUncertainty | None:
    """The uncertainty of the closest distance among ascending lines; None without covariance."""
    if scene.covariance is None:
        return None
    candidates = closest_candidates(scene, measure)
    if len(candidates) > 1:
        from overruler.rules.sampled.closest import several_pairs_uncertainty

        return DistanceUncertainty(*several_pairs_uncertainty(scene, candidates, lines_mm))
    pair = candidates[0]
    low = pair.gap.distance_mm - pair.max_shift_mm
    high = pair.gap.distance_mm + pair.max_shift_mm
    near_line = any(low <= line + CONTACT_TOLERANCE_MM <= high for line in (0.0, *lines_mm))
    if near_line and low < high:
        return _pair_uncertainty(scene.covariance, pair, lines_mm)
    return _linear_uncertainty(scene.covariance, pair, lines_mm)


def closest_candidates(scene: Scene, measure: Measure) -> list[ClosestCandidate]:
    """The pairs of parts that may be the closest, whatever the displacements."""
    candidates = [
        candidate for pair in measure.pairs for candidate in _candidates_of_pair(scene, pair)
    ]
    limit_mm = min(pair.gap.distance_mm + pair.max_shift_mm for pair in candidates)
    return [pair for pair in candidates if pair.gap.distance_mm - pair.max_shift_mm <= limit_mm]


def _candidates_of_pair(scene: Scene, pair: BodyPair) -> list[ClosestCandidate]:
    i, j = pair.a.index, pair.b.index
    shift_mm = max_relative_shift_mm(scene, i, j)
    if len(pair.a.parts) == len(pair.b.parts) == 1:
        return [ClosestCandidate(pair.a.parts[0], pair.b.parts[0], i, j, pair.gap, shift_mm)]
    return [
        ClosestCandidate(p, q, i, j, gap(p, q), shift_mm)
        for p, q in product(pair.a.parts, pair.b.parts)
    ]


def _linear_uncertainty(
    covariance: Covariance, pair: ClosestCandidate, lines_mm: Sequence[float]
) -> DistanceUncertainty:
    """The distance is a Gaussian along the gap, and no line is near."""
    band = band_of(pair.gap.distance_mm, lines_mm)
    probabilities = tuple(float(k == band) for k in range(len(lines_mm) + 1))
    return DistanceUncertainty(_linear_sigma_mm(covariance, pair), probabilities)


def _linear_sigma_mm(covariance: Covariance, pair: ClosestCandidate) -> float:
    """1 σ of the displacement along the gap; 0 in contact."""
    (ax, ay), (bx, by), distance = pair.gap.from_point, pair.gap.to_point, pair.gap.distance_mm
    if distance <= CONTACT_TOLERANCE_MM:
        return 0.0
    (xx, xy), (_, yy) = covariance.of_difference(pair.i, pair.j)
    x, y = (bx - ax) / distance, (by - ay) / distance
    return math.sqrt(max(xx * x * x + 2 * xy * x * y + yy * y * y, 0.0))


def _pair_uncertainty(
    covariance: Covariance, pair: ClosestCandidate, lines_mm: Sequence[float]
) -> DistanceUncertainty:
    """One pair near a line: summed along the boundary of what does not cross it."""
    below = [_probability_below(covariance, pair, line) for line in lines_mm]
    bands = [after - before for before, after in pairwise([0.0, *below, 1.0])]
    sigma_mm = _pair_sigma_mm(covariance, pair)
    return DistanceUncertainty(sigma_mm, tuple(max(band, 0.0) for band in bands))


def _pair_sigma_mm(covariance: Covariance, pair: ClosestCandidate) -> float:
    """1 σ of the distance, which contact cuts off at 0."""
    if pair.gap.distance_mm >= pair.max_shift_mm:
        return _linear_sigma_mm(covariance, pair)
    from overruler.geometry.contact_region import gap_moments_mm  # few questions need it

    return gap_moments_mm(pair.a, pair.b, covariance.of_difference(pair.i, pair.j))[1]


def _probability_below(covariance: Covariance, pair: ClosestCandidate, line_mm: float) -> float:
    """The probability that a gap does not cross a line; 0 or 1 where the line is out of reach."""
    past = pair.gap.distance_mm - line_mm - CONTACT_TOLERANCE_MM
    if abs(past) > pair.max_shift_mm:
        return float(past < 0)
    from overruler.geometry.contact_region import probability_within_mm  # few questions need it

    difference = covariance.of_difference(pair.i, pair.j)
    return probability_within_mm(pair.a, pair.b, difference, line_mm + CONTACT_TOLERANCE_MM)
