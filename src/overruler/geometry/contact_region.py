"""The probability that two convex shapes come near each other, one displaced by a Gaussian.

The displacements that bring shape B within a line of shape A form one convex region: A, less B, with
a rim as wide as the line. Its boundary is known exactly by its support points. The probability of a
region under a standard Gaussian is a sum along its boundary,

    P = 1 / 2π ∮ (1 - exp(-r² / 2)) dθ,

with r and θ the polar coordinates about the Gaussian's centre (Green's theorem). The integrand is
smooth wherever the boundary runs, so no edge, however steep, asks for finer steps. The covariance
becomes the unit matrix first ("whitened": lengths in σ). Neither sampling nor arrays are needed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from overruler.geometry.covariance import Matrix2
from overruler.geometry.shapes import Disc, Ellipse, Point, Shape, gap

GAUSS_NODES = (
    (-0.906179845938664, 0.236926885056189),
    (-0.538469310105683, 0.478628670499367),
    (0.0, 0.568888888888889),
    (0.538469310105683, 0.478628670499367),
    (0.906179845938664, 0.236926885056189),
)
"""Places in (-1, 1) and weights of the Gauss-Legendre rule of 5 points."""
STEP_SIGMAS = 2.5
"""Longest piece of a boundary that one rule of 5 points sums, in σ."""
FAR_SIGMAS = 5.0
"""Beyond this distance a piece of the boundary counts by its angle alone, in σ: 4e-6 is left."""
MIN_SIGMA_MM = 1e-5
"""Least σ along any direction, in mm; it stands for 0."""
JUMP = 1e-10
"""Half the angle, in radians, round an edge's normal within which the support point jumps."""
LEAST_PIECES = 8
"""Fewest pieces of a whole turn."""
MAX_HALVINGS = 40
"""Most halvings of a piece."""
ROUNDING = 1e-9
"""Rounding of a probability: a gap that is longer with less probability never is."""
MOMENT_REACH_SIGMAS = 5.0
"""How far from its nominal length a gap is followed for its moments, in σ."""
MOMENT_STEPS = 3
"""Number of rules of 5 points over that stretch."""


@dataclass(frozen=True, slots=True)
class Whitening:
    """The linear map that gives a Gaussian the unit covariance."""

    xx: float
    yx: float
    yy: float
    """(x, y) becomes (xx x, yx x + yy y)."""

    @classmethod
    def of(cls, covariance: Matrix2) -> "Whitening":
        (var_x, mixed), (_, var_y) = covariance
        least = MIN_SIGMA_MM**2
        sigma_x = math.sqrt(max(var_x, least))
        lean = mixed / sigma_x
        sigma_y = math.sqrt(max(var_y - lean * lean, least))
        return cls(1 / sigma_x, -lean / (sigma_x * sigma_y), 1 / sigma_y)

    def apply(self, x: float, y: float) -> Point:
        return self.xx * x, self.yx * x + self.yy * y


def _curvature_radius_mm(shape: Shape, ux: float, uy: float) -> float:
    """Return the radius of curvature of an outline at its support point in a direction."""
    if isinstance(shape, Disc):
        return shape.radius_mm
    if isinstance(shape, Ellipse):
        xx, xy, yy = shape.matrix
        square = xx * ux * ux + 2 * xy * ux * uy + yy * uy * uy
        return (xx * yy - xy * xy) / (square * math.sqrt(square))
    return 0.0


@dataclass(frozen=True, slots=True)
class ContactRegion:
    """The displacements of `b` that bring it within `line_mm` of `a`, in whitened coordinates."""

    a: Shape
    b: Shape
    line_mm: float
    whitening: Whitening

    def probability(self) -> float:
        """Return the probability that the displacement lies in the region."""
        turned = math.fsum(self._turns())
        return min(max(turned / math.tau, 0.0), 1.0)

    def _turns(self) -> Iterator[float]:
        angles = self._break_angles()
        ends = []
        for first, last in pairwise([*angles, angles[0] + math.tau]):
            start, end = self._point(first + JUMP), self._point(last - JUMP)
            yield from self._arc_turns(first + JUMP, start, last - JUMP, end, MAX_HALVINGS)
            ends.append((start, end))
        for (_, end), (start, _) in zip(ends, ends[1:] + ends[:1], strict=True):
            yield from _straight_turns(end, start)

    def _break_angles(self) -> list[float]:
        """Return ascending angles: the normals of all edges, and enough between them."""
        normals = [angle % math.tau for angle in self.a.edge_normal_angles]
        normals += [(angle + math.pi) % math.tau for angle in self.b.edge_normal_angles]
        even = [math.tau * k / LEAST_PIECES for k in range(LEAST_PIECES)]
        angles: list[float] = []
        for angle in sorted([*normals, *even]):
            if not angles or angle - angles[-1] > 4 * JUMP:
                angles.append(angle)
        return angles

    def _point(self, angle: float) -> Point:
        """Return the boundary's point with its outward normal at an angle."""
        ux, uy = math.cos(angle), math.sin(angle)
        ax, ay = self.a.support_point(ux, uy)
        bx, by = self.b.support_point(-ux, -uy)
        return self.whitening.apply(ax - bx + self.line_mm * ux, ay - by + self.line_mm * uy)

    def _arc_turns(
        self, first: float, start: Point, last: float, end: Point, halvings: int
    ) -> Iterator[float]:
        """Yield the contributions of the boundary between two normals."""
        if start == end:
            return
        angle = (first + last) / 2
        middle = self._point(angle)
        length = math.dist(start, middle) + math.dist(middle, end)
        nearest = min(math.hypot(*start), math.hypot(*middle), math.hypot(*end))
        if nearest > FAR_SIGMAS + length:
            yield _angle_between(start, end)
        elif length <= STEP_SIGMAS or not halvings:
            yield self._smooth_turn(first, last)
        else:
            yield from self._arc_turns(first, start, angle, middle, halvings - 1)
            yield from self._arc_turns(angle, middle, last, end, halvings - 1)

    def _smooth_turn(self, first: float, last: float) -> float:
        half, middle = (last - first) / 2, (first + last) / 2
        return half * math.fsum(
            weight * self._turn_rate(middle + half * place) for place, weight in GAUSS_NODES
        )

    def _turn_rate(self, angle: float) -> float:
        """Return the change of the integral with the normal's angle."""
        ux, uy = math.cos(angle), math.sin(angle)
        radius = self.line_mm + _curvature_radius_mm(self.a, ux, uy)
        radius += _curvature_radius_mm(self.b, -ux, -uy)
        along_x, along_y = self.whitening.apply(-radius * uy, radius * ux)
        x, y = self._point(angle)
        return (x * along_y - y * along_x) * _weight(x * x + y * y)


def _weight(square: float) -> float:
    """Return (1 - exp(-r² / 2)) / r² for r²."""
    if square < 1e-6:
        return 0.5 - square / 8
    return -math.expm1(-square / 2) / square


def _angle_between(p: Point, q: Point) -> float:
    """Return the angle from one point to another as seen from the origin."""
    return math.atan2(p[0] * q[1] - p[1] * q[0], p[0] * q[0] + p[1] * q[1])


def _straight_turns(p: Point, q: Point) -> Iterator[float]:
    """Yield the contributions of a straight piece of the boundary."""
    length = math.dist(p, q)
    if not length:
        return
    ux, uy = (q[0] - p[0]) / length, (q[1] - p[1]) / length
    aside = p[0] * uy - p[1] * ux
    if abs(aside) >= FAR_SIGMAS:
        yield _angle_between(p, q)
        return
    start = p[0] * ux + p[1] * uy
    half = math.sqrt(FAR_SIGMAS**2 - aside * aside)
    low, high = max(start, -half), min(start + length, half)
    if low >= high:
        yield _angle_between(p, q)
        return
    foot = aside * uy, -aside * ux
    enter = foot[0] + low * ux, foot[1] + low * uy
    leave = foot[0] + high * ux, foot[1] + high * uy
    yield _angle_between(p, enter)
    yield _angle_between(leave, q)
    count = math.ceil((high - low) / STEP_SIGMAS)
    step = (high - low) / (2 * count)
    for k in range(count):
        middle = low + (2 * k + 1) * step
        for place, weight in GAUSS_NODES:
            s = middle + step * place
            yield weight * step * aside * _weight(aside * aside + s * s)


def gap_moments_mm(a: Shape, b: Shape, covariance: Matrix2) -> tuple[float, float]:
    """Return the mean and the standard deviation of a gap, which contact cuts off at 0."""
    whitening = Whitening.of(covariance)
    (xx, xy), (_, yy) = covariance
    largest = (xx + yy) / 2 + math.hypot((xx - yy) / 2, xy)
    reach = MOMENT_REACH_SIGMAS * math.sqrt(max(largest, 0.0))
    nominal = gap(a, b).distance_mm
    low, high = max(nominal - reach, 0.0), nominal + reach
    step = (high - low) / (2 * MOMENT_STEPS)
    first = second = 0.0
    for k in range(MOMENT_STEPS):
        for place, weight in GAUSS_NODES:
            line = low + step * (2 * k + 1 + place)
            above = 1 - ContactRegion(a, b, line, whitening).probability()
            above = above if above > ROUNDING else 0.0
            first += weight * step * above
            second += weight * step * 2 * (line - low) * above
    return low + first, math.sqrt(max(second - first * first, 0.0))


def probability_within_mm(a: Shape, b: Shape, covariance: Matrix2, line_mm: float) -> float:
    """Return the probability that a gap is at most `line_mm`, with `b` displaced by a Gaussian."""
    return ContactRegion(a, b, line_mm, Whitening.of(covariance)).probability()
