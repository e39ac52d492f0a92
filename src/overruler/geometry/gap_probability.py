"""How likely two shapes are nearer than a line, one of them displaced by a Gaussian: no draws, no arrays.

The displacement is split in two: u along the line between the centres, v across it. For every v the displacements that
bring the shapes nearer than a line are one stretch of u, for the distance of convex shapes is a convex function of the
displacement; so is that of the farthest part. The ends of the stretch are found by Newton's iteration, which for a
convex function closes in from one side; the Gaussian along u gives the stretch its share, and even steps in v sum them.
Lengths are millimetres.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from overruler.geometry.covariance import Matrix2
from overruler.geometry.shapes import Disc, Gap, Point, Shape, gap, translate_shape

Interval = tuple[float, float]
DistanceFunction = Callable[[Shape, Shape], Gap]
"""Of two shapes: a convex function of the displacement of the second, with the points that it lies between."""

MIN_SLICES = 33
"""Steps across the gap; twice as many change no probability by 0.0005 unless the doubt along the gap is far less than
that across it."""
SLICED_SIGMAS = 5.0
"""Standard deviations across the gap that the steps cover."""
MAX_SLICES = 1025
ROOT_TOLERANCE_MM = 1e-8
EMPTY_INTERVAL: Interval = (math.inf, -math.inf)


def normal_cdf(z: float) -> float:
    """The share of a standard Gaussian below z."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


@dataclass(frozen=True, slots=True)
class SlicedGaussian:
    """A Gaussian displacement in the plane, cut across a direction."""

    u: Point
    """The unit direction along."""
    sigma_mm: float
    """1 σ along, at any place across."""
    slices: tuple[tuple[float, float, float], ...]
    """Of each slice its share of the whole, its place across, and where its middle lies along."""

    def probability_inside(self, stretches: Sequence[Interval]) -> float:
        """The probability that the displacement lies in a stretch of each slice."""
        return math.fsum(
            w * self._probability_between(s, m)
            for (w, _, m), s in zip(self.slices, stretches, strict=True)
        )

    def _probability_between(self, stretch: Interval, middle: float) -> float:
        low, high = stretch
        if low > high:
            return 0.0
        if not self.sigma_mm:
            return float(low <= middle <= high)
        return normal_cdf((high - middle) / self.sigma_mm) - normal_cdf(
            (low - middle) / self.sigma_mm
        )


def slice_gaussian(
    covariance: Matrix2, normal: Point, bend_mm: float, slope: float = 0.0
) -> SlicedGaussian:
    """A Gaussian cut so that few slices do: along `normal`, or along its own long axis where it is long and thin.

    What is asked has an edge across `normal` or at a `slope` to that, which bends no tighter than a circle of radius
    `bend_mm`. The fewer slices, the less that edge moves from one to the next.
    """
    axis = _long_axis(covariance)
    cosine = abs(axis[0] * normal[0] + axis[1] * normal[1])
    slanted = slope + math.sqrt(max(1 - cosine * cosine, 0.0)) / max(cosine, 1e-3)
    ways = (
        _Slicing.of(covariance, normal, bend_mm, slope),
        _Slicing.of(covariance, axis, bend_mm, slanted),
    )
    return min(ways, key=lambda way: way.steps).sliced_gaussian()


class _Slicing(NamedTuple):
    """A way to cut a Gaussian."""

    u: Point
    sigma_along_mm: float
    """1 σ along u at any place across."""
    sigma_across_mm: float
    """1 σ across u."""
    regression_slope: float
    steps: int

    @classmethod
    def of(cls, covariance: Matrix2, u: Point, bend_mm: float, slope: float) -> "_Slicing":
        (xx, xy), (_, yy) = covariance
        ux, uy = u
        along = xx * ux * ux + 2 * xy * ux * uy + yy * uy * uy
        across = max(xx * uy * uy - 2 * xy * ux * uy + yy * ux * ux, 0.0)
        both = (yy - xx) * ux * uy + xy * (ux * ux - uy * uy)
        wide = math.sqrt(across)
        if wide <= 1e-9:
            return cls(u, math.sqrt(max(along, 0.0)), 0.0, 0.0, 1)
        lean = both / across
        left = math.sqrt(max(along - lean * both, 0.0))
        slant = (abs(lean) + slope + SLICED_SIGMAS * wide / max(bend_mm, wide)) * wide
        count = (
            MAX_SLICES
            if left * MAX_SLICES <= 20 * slant
            else max(MIN_SLICES, int(20 * slant / left) | 1)
        )
        return cls(u, left, wide, lean, count)

    def sliced_gaussian(self) -> SlicedGaussian:
        if self.steps == 1:
            return SlicedGaussian(self.u, self.sigma_along_mm, ((1.0, 0.0, 0.0),))
        places = ((w, z * self.sigma_across_mm) for w, z in _normal_quadrature(self.steps))
        return SlicedGaussian(
            self.u, self.sigma_along_mm, tuple((w, v, self.regression_slope * v) for w, v in places)
        )


def _long_axis(covariance: Matrix2) -> Point:
    """The unit direction with the most of a Gaussian."""
    (xx, xy), (_, yy) = covariance
    angle = math.atan2(2 * xy, xx - yy) / 2
    return math.cos(angle), math.sin(angle)


@lru_cache(maxsize=64)
def _normal_quadrature(count: int) -> tuple[tuple[float, float], ...]:
    """Even steps over a standard Gaussian: the share and the place of each."""
    places = [SLICED_SIGMAS * (2 * k / (count - 1) - 1) for k in range(count)]
    weights = [math.exp(-z * z / 2) for z in places]
    total = math.fsum(weights)
    return tuple((w / total, z) for w, z in zip(weights, places, strict=True))


def intervals_within_distance(
    slices: SlicedGaussian, a: Shape, b: Shape, line_mm: float, distance: DistanceFunction = gap
) -> list[Interval]:
    """Of each slice the displacements of `b` with which the distance is at most `line_mm` (more than 0)."""
    if distance is gap and isinstance(a, Disc) and isinstance(b, Disc):
        return _disc_intervals(slices, a, b, line_mm)
    one_sided = _is_one_sided(slices, a, b, line_mm, distance)
    found: list[Interval] = []
    for _, v, m in slices.slices:
        far = _interval_end(slices, a, b, v, found[-1][1] if found else m, line_mm, distance, 1)
        near = -math.inf if one_sided else _interval_end(slices, a, b, v, m, line_mm, distance, -1)
        found.append((near, far))
    return found


def _disc_intervals(slices: SlicedGaussian, a: Disc, b: Disc, line_mm: float) -> list[Interval]:
    x, y = b.center[0] - a.center[0], b.center[1] - a.center[1]
    (ux, uy), radius = slices.u, a.radius_mm + b.radius_mm + line_mm
    apart, aside = x * ux + y * uy, y * ux - x * uy
    halves = (radius * radius - (aside + v) ** 2 for _, v, _ in slices.slices)
    return [
        (-math.sqrt(h) - apart, math.sqrt(h) - apart) if h >= 0 else EMPTY_INTERVAL for h in halves
    ]


def _is_one_sided(
    slices: SlicedGaussian, a: Shape, b: Shape, line_mm: float, distance: DistanceFunction
) -> bool:
    """Whether every stretch begins where no displacement leads: so it does where those of both outer slices do."""
    outer = (slices.slices[0], slices.slices[-1])
    ends = [(m - 8 * slices.sigma_mm, v) for _, v, m in outer]
    return all(
        distance(a, _displace_shape(b, slices.u, at, v)).distance_mm <= line_mm for at, v in ends
    )


def _interval_end(
    slices: SlicedGaussian,
    a: Shape,
    b: Shape,
    v: float,
    start: float,
    line_mm: float,
    distance: DistanceFunction,
    side: int,
) -> float:
    """Where along a slice the distance grows past the line, in the direction of u (`side` 1) or against it (-1)."""
    (ux, uy), at, tried_far = slices.u, start, False
    for _ in range(60):
        found = distance(a, _displace_shape(b, slices.u, at, v))
        over = found.distance_mm - line_mm
        if abs(over) <= ROOT_TOLERANCE_MM:
            break
        dx, dy = found.to_point[0] - found.from_point[0], found.to_point[1] - found.from_point[1]
        slope = (
            (dx * ux + dy * uy) / size
            if (size := math.hypot(dx, dy)) and found.distance_mm > 0
            else 0.0
        )
        if side * slope > 1e-9:
            at -= over / slope
        elif not tried_far:  # from far outside every step leads back to the edge
            at, tried_far = side * _start_distance_mm(a, b, line_mm), True
        else:
            return -side * math.inf
    return at


def gap_sigma_mm(slices: SlicedGaussian, contact: Sequence[Interval], normal: Point) -> float:
    """The standard deviation of a gap that is 0 inside the stretches of contact and grows along `normal` past them."""
    first = second = 0.0
    for (w, _, m), (low, high) in zip(slices.slices, contact, strict=True):
        ends = [(m - high), (low - m)] if low <= high else [math.inf]
        for past in ends:
            if math.isfinite(past):
                mean, square = _rectified_gaussian_moments(past, slices.sigma_mm)
                first, second = first + w * mean, second + w * square
    slope = abs(slices.u[0] * normal[0] + slices.u[1] * normal[1])
    return slope * math.sqrt(max(second - first * first, 0.0))


def _rectified_gaussian_moments(mean: float, sigma: float) -> tuple[float, float]:
    """The first two moments of a Gaussian of which what is below 0 counts as 0."""
    if not sigma:
        return max(mean, 0.0), max(mean, 0.0) ** 2
    z = mean / sigma
    density, share = sigma * math.exp(-z * z / 2) / math.sqrt(math.tau), normal_cdf(z)
    return mean * share + density, (mean * mean + sigma * sigma) * share + mean * density


def _start_distance_mm(a: Shape, b: Shape, line_mm: float) -> float:
    return (
        math.dist(a.center, b.center) + a.bounding_radius_mm + b.bounding_radius_mm + line_mm + 1.0
    )


def _displace_shape(shape: Shape, u: Point, along: float, across: float) -> Shape:
    return translate_shape(shape, along * u[0] - across * u[1], along * u[1] + across * u[0])
