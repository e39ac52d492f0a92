"""The probability that two shapes are nearer than a line, one of them displaced by a Gaussian.

The displacement is split in two: u along the line between the centres, v across it. The distance of
convex shapes is a convex function of the displacement, as is that of the farthest part. For each v,
the displacements that bring the shapes nearer than a line therefore form one interval of u. Newton's
iteration finds its ends and approaches them from one side. The Gaussian along u gives the interval
its probability, and even steps in v sum these. Neither sampling nor arrays are needed. Lengths are
millimetres.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from overruler.geometry.covariance import Matrix2
from overruler.geometry.shapes import Disc, Gap, Point, Shape, gap, translate_shape

Interval = tuple[float, float]
"""The least and the largest u, in mm."""
DistanceFunction = Callable[[Shape, Shape], Gap]
"""A distance of two shapes that is a convex function of the second one's displacement."""

MIN_SLICES = 33
"""Fewest slices across the gap.

Twice as many change no probability by 0.0005 where the edge's radius is several σ, unless σ along
the gap is far below σ across it.
"""
MAX_SLICES = 1025
"""Most slices across the gap."""
SLICED_SIGMAS = 5.0
"""Half the width across the gap that the slices cover, in σ."""
SLICES_PER_SLANT = 20
"""Slices for an edge that shifts by one σ of a slice from one side of the Gaussian to the other."""
MAX_SLOPE = 10.0
"""Largest slope of an edge that counts: a round region that ends between the slices has no larger one
that matters."""
ROOT_TOLERANCE_MM = 1e-8
"""Accuracy of an interval's ends, in mm."""
NEWTON_STEPS = 60
"""Most Newton steps to an interval's end."""
EMPTY_INTERVAL: Interval = (math.inf, -math.inf)


def normal_cdf(z: float) -> float:
    """Return the cumulative distribution function of the standard normal distribution."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


@dataclass(frozen=True, slots=True)
class SlicedGaussian:
    """A Gaussian displacement in the plane, cut into slices along a direction."""

    u: Point
    """The unit direction along the slices."""
    sigma_mm: float
    """1 σ along u within a slice."""
    slices: tuple[tuple[float, float, float], ...]
    """For each slice its probability, its position across u, and its mean along u, in mm."""

    def probability_inside(self, stretches: Sequence[Interval]) -> float:
        """Return the probability that the displacement lies in the interval of its slice."""
        pairs = zip(self.slices, stretches, strict=True)
        return math.fsum(w * self._probability_between(s, m) for (w, _, m), s in pairs)

    def _probability_between(self, interval: Interval, mean: float) -> float:
        low, high = interval
        if low > high:
            return 0.0
        if not self.sigma_mm:
            return float(low <= mean <= high)
        below_high = normal_cdf((high - mean) / self.sigma_mm)
        return below_high - normal_cdf((low - mean) / self.sigma_mm)


def slice_gaussian(
    covariance: Matrix2, normal: Point, bend_mm: float, slope: float = 0.0
) -> SlicedGaussian:
    """Slice a Gaussian along `normal`, or along its own long axis if that needs fewer slices.

    The region whose probability is wanted has an edge across `normal`, or at a `slope` to that. The
    edge bends no tighter than a circle of radius `bend_mm`, 0 for any bend. The less the edge moves from one slice
    to the next, the fewer are needed.
    """
    axis = _long_axis(covariance)
    cosine = abs(axis[0] * normal[0] + axis[1] * normal[1])
    sine = math.sqrt(max(1 - cosine * cosine, 0.0))
    along_normal = _Slicing.of(covariance, normal, bend_mm, slope)
    along_axis = _Slicing.of(covariance, axis, bend_mm, _slope_of_sum(slope, sine, cosine))
    if along_axis.steps < along_normal.steps:
        return along_axis.sliced_gaussian()
    return along_normal.sliced_gaussian()


def _slope_of_sum(slope: float, sine: float, cosine: float) -> float:
    """Return the tangent of the angle of a slope and of another angle together."""
    run = cosine - slope * sine
    return (slope * cosine + sine) / max(run, 1e-3)


class _Slicing(NamedTuple):
    """A way to slice a Gaussian."""

    u: Point
    """The unit direction along the slices."""
    sigma_along_mm: float
    """1 σ along u within a slice."""
    sigma_across_mm: float
    """1 σ across u."""
    regression_slope: float
    """Change of a slice's mean along u for each mm across u."""
    steps: int
    """Number of slices."""

    @classmethod
    def of(cls, covariance: Matrix2, u: Point, bend_mm: float, slope: float) -> "_Slicing":
        (xx, xy), (_, yy) = covariance
        ux, uy = u
        variance_along = xx * ux * ux + 2 * xy * ux * uy + yy * uy * uy
        variance_across = max(xx * uy * uy - 2 * xy * ux * uy + yy * ux * ux, 0.0)
        mixed = (yy - xx) * ux * uy + xy * (ux * ux - uy * uy)
        across = math.sqrt(variance_across)
        if across <= 1e-9:
            return cls(u, math.sqrt(max(variance_along, 0.0)), 0.0, 0.0, 1)
        lean = mixed / variance_across
        along = math.sqrt(max(variance_along - lean * mixed, 0.0))
        slant = (abs(lean) + slope + _steepest_slope(bend_mm, SLICED_SIGMAS * across)) * across
        return cls(u, along, across, lean, _slice_count(slant, along))

    def sliced_gaussian(self) -> SlicedGaussian:
        if self.steps == 1:
            return SlicedGaussian(self.u, self.sigma_along_mm, ((1.0, 0.0, 0.0),))
        slices = []
        for weight, z in _normal_quadrature(self.steps):
            v = z * self.sigma_across_mm
            slices.append((weight, v, self.regression_slope * v))
        return SlicedGaussian(self.u, self.sigma_along_mm, tuple(slices))


def _steepest_slope(bend_mm: float, reach_mm: float) -> float:
    """Return the slope of a circle's edge at `reach_mm` aside of its middle, at most `MAX_SLOPE`."""
    run = math.sqrt(max(bend_mm * bend_mm - reach_mm * reach_mm, 0.0))
    return reach_mm / max(run, reach_mm / MAX_SLOPE)


def _slice_count(slant_mm: float, sigma_mm: float) -> int:
    """Return an odd number of slices for an edge that slants by `slant_mm` in 1 σ across."""
    if sigma_mm * MAX_SLICES <= SLICES_PER_SLANT * slant_mm:
        return MAX_SLICES
    return max(MIN_SLICES, int(SLICES_PER_SLANT * slant_mm / sigma_mm) | 1)


def _long_axis(covariance: Matrix2) -> Point:
    """Return the unit direction of a Gaussian's largest variance."""
    (xx, xy), (_, yy) = covariance
    angle = math.atan2(2 * xy, xx - yy) / 2
    return math.cos(angle), math.sin(angle)


@lru_cache(maxsize=64)
def _normal_quadrature(count: int) -> tuple[tuple[float, float], ...]:
    """Return the probabilities and positions (in σ) of even steps over a standard Gaussian."""
    places = [SLICED_SIGMAS * (2 * k / (count - 1) - 1) for k in range(count)]
    weights = [math.exp(-z * z / 2) for z in places]
    total = math.fsum(weights)
    return tuple((w / total, z) for w, z in zip(weights, places, strict=True))


def intervals_within_distance(
    slices: SlicedGaussian, a: Shape, b: Shape, line_mm: float, distance: DistanceFunction = gap
) -> list[Interval]:
    """Return for each slice the displacements of `b` that bring it within `line_mm` (above 0)."""
    if distance is gap and isinstance(a, Disc) and isinstance(b, Disc):
        return _disc_intervals(slices, a, b, line_mm)
    search = _IntervalSearch(slices.u, a, b, line_mm, distance)
    one_sided = _is_one_sided(slices, search)
    intervals: list[Interval] = []
    for _, v, mean in slices.slices:
        far = search.end(v, intervals[-1][1] if intervals else mean, 1)
        near = -math.inf if one_sided else search.end(v, mean, -1)
        intervals.append((near, far))
    return intervals


def _disc_intervals(slices: SlicedGaussian, a: Disc, b: Disc, line_mm: float) -> list[Interval]:
    ax, ay = a.center
    bx, by = b.center
    x, y = bx - ax, by - ay
    ux, uy = slices.u
    radius = a.radius_mm + b.radius_mm + line_mm
    along = x * ux + y * uy
    aside = y * ux - x * uy
    intervals = []
    for _, v, _ in slices.slices:
        square = radius * radius - (aside + v) ** 2
        if square < 0:
            intervals.append(EMPTY_INTERVAL)
            continue
        half = math.sqrt(square)
        intervals.append((-half - along, half - along))
    return intervals


@dataclass(frozen=True, slots=True)
class _IntervalSearch:
    """The search for the ends of the intervals in which `b` is within `line_mm` of `a`."""

    u: Point
    a: Shape
    b: Shape
    line_mm: float
    distance: DistanceFunction

    def measure(self, along: float, across: float) -> Gap:
        """Return the distance with `b` displaced along and across u."""
        return self.distance(self.a, _displace_shape(self.b, self.u, along, across))

    def end(self, v: float, start: float, side: int) -> float:
        """Return where in a slice the distance exceeds the line, along u (`side` 1) or back (-1)."""
        ux, uy = self.u
        along, started_far = start, False
        for _ in range(NEWTON_STEPS):
            found = self.measure(along, v)
            excess = found.distance_mm - self.line_mm
            px, py = found.from_point
            qx, qy = found.to_point
            dx, dy = qx - px, qy - py
            size = math.hypot(dx, dy)
            slope = (dx * ux + dy * uy) / size if size and found.distance_mm > 0 else 0.0
            on_side = side * slope > 1e-9  # else the start may be the end on the other side
            if abs(excess) <= ROOT_TOLERANCE_MM and (on_side or started_far):
                break
            if on_side:
                along -= excess / slope
            elif not started_far:  # from far outside, every step leads back to the edge
                along, started_far = side * self._start_distance_mm(), True
            else:
                return -side * math.inf
        return along

    def _start_distance_mm(self) -> float:
        """Return a displacement beyond every interval."""
        a, b = self.a, self.b
        apart = math.dist(a.center, b.center)
        return apart + a.bounding_radius_mm + b.bounding_radius_mm + self.line_mm + 1.0


def _is_one_sided(slices: SlicedGaussian, search: _IntervalSearch) -> bool:
    """Tell whether every interval begins beyond 8 σ: it does if those of the outer slices do."""
    for _, v, mean in (slices.slices[0], slices.slices[-1]):
        if search.measure(mean - 8 * slices.sigma_mm, v).distance_mm > search.line_mm:
            return False
    return True


def _displace_shape(shape: Shape, u: Point, along: float, across: float) -> Shape:
    x = along * u[0] - across * u[1]
    y = along * u[1] + across * u[0]
    return translate_shape(shape, x, y)
