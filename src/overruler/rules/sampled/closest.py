"""Several pairs that contend for the closest: their gaps are doubtful together, so their places are drawn together.

Where every gap is a straight function of the places over all that they may be off, as it is unless bases of the size of
the doubt are in contact, one axis of the doubt, that with the most of it, is summed in closed form and only the others
are drawn: 2048 draws then say what 65536 do otherwise, where every draw is measured with the exact outlines.
Alphabet: n draws, m pairs.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from overruler.geometry.batched.distances import (
    farthest_distances,
    farthest_from_points,
    gaps_at_shifts,
    rim_farthest_from_all,
)
from overruler.geometry.batched.draws import draw_gaussian
from overruler.geometry.covariance import REACH_SIGMAS
from overruler.geometry.gap_probability import normal_cdf
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Disc, Shape
from overruler.rules.measure import Body, Measure, farthest_part
from overruler.rules.sampling import ClosestCandidate, draw_displacements
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

MAX_BEND_SHARE = 0.02
"""A gap may bend by this share of its own doubt and still pass for straight: that moves no probability by 0.002, since
the mean of the bend is allowed for."""
FEW_DRAWS, MANY_DRAWS = 2048, 8192


def several_pairs_uncertainty(
    scene: Scene, rivals: Sequence[ClosestCandidate], lines_mm: Sequence[float]
) -> tuple[float, tuple[float, ...]]:
    """The standard deviation of the closest distance, and the probability of each band between ascending lines."""
    if straight := LinearGaps.of(scene, rivals):
        below = [straight.probability_below(line + CONTACT_TOLERANCE_MM) for line in lines_mm]
        shares = [max(after - before, 0.0) for before, after in pairwise([0.0, *below, 1.0])]
        return straight.sigma_mm(), tuple(shares)
    moved = _displacements_by_index(scene, [index for one in rivals for index in (one.i, one.j)])
    closest = _closest_distances(rivals, moved)
    bands = np.searchsorted(np.array(lines_mm), closest - CONTACT_TOLERANCE_MM)
    counts = np.bincount(bands, minlength=len(lines_mm) + 1)
    return float(closest.std()), tuple((counts / len(closest)).tolist())


@dataclass(frozen=True, slots=True, eq=False)
class LinearGaps:
    """Gaps that are straight functions of standard Gaussian axes."""

    means_mm: Array
    """(m,)"""
    root: Array
    """(m, rank): the change of each gap along each axis, the axis with the most of it first."""

    @classmethod
    def of(cls, scene: Scene, rivals: Sequence[ClosestCandidate]) -> "LinearGaps | None":
        """None where a gap bends too much for that."""
        assert scene.covariance is not None
        slopes = np.zeros((len(rivals), 2 * len(scene.pieces)))
        means = np.array([one.gap.distance_mm for one in rivals])
        for row, one in enumerate(rivals):
            if one.gap.distance_mm <= CONTACT_TOLERANCE_MM:
                return None
            x, y = np.subtract(one.gap.to_point, one.gap.from_point) / one.gap.distance_mm
            along, across = _sigmas_along_and_across(scene, one, x, y)
            bend = across**2 / (
                2
                * (
                    one.gap.distance_mm
                    + _least_bend_radius_mm(one.a)
                    + _least_bend_radius_mm(one.b)
                )
            )
            if bend > MAX_BEND_SHARE * along:
                return None
            means[row] += bend
            for index, sign in ((one.i, -1), (one.j, 1)):
                if index is not None:
                    slopes[row, 2 * index : 2 * index + 2] += sign * x, sign * y
        values, vectors = np.linalg.eigh(slopes @ scene.covariance.array @ slopes.T)
        kept = values > 1e-12 * values[-1]
        return cls(means, (vectors[:, kept] * np.sqrt(values[kept]))[:, ::-1])

    def probability_below(self, line_mm: float) -> float:
        """The probability that the least of the gaps is at most `line_mm`."""
        reach = REACH_SIGMAS * np.sqrt((self.root**2).sum(1))
        if line_mm < (self.means_mm - reach).min() or line_mm > (self.means_mm + reach).min():
            return float(line_mm > self.means_mm.min())
        rank = self.root.shape[1]
        rest = self.means_mm + (
            draw_gaussian(np.eye(rank - 1), FEW_DRAWS) @ self.root[:, 1:].T
            if rank > 1
            else np.zeros((1, 1))
        )
        first = self.root[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = (
                line_mm - rest
            ) / first  # where along the first axis each gap crosses the line
        above = np.where(
            first > 0,
            crossing,
            np.where(first == 0, np.where(rest > line_mm, -np.inf, np.inf), -np.inf),
        )
        under = np.where(first < 0, crossing, np.inf)
        low, high = above.max(1).tolist(), under.min(1).tolist()
        return 1 - math.fsum(
            max(normal_cdf(b) - normal_cdf(a), 0.0) for a, b in zip(low, high, strict=True)
        ) / len(low)

    def sigma_mm(self) -> float:
        """The standard deviation of the least of the gaps."""
        drawn_axes = draw_gaussian(np.eye(self.root.shape[1]), MANY_DRAWS)
        return float(np.maximum((self.means_mm + drawn_axes @ self.root.T).min(1), 0).std())


def _sigmas_along_and_across(
    scene: Scene, one: ClosestCandidate, x: float, y: float
) -> tuple[float, float]:
    """The standard deviation of a pair's displacement along (x, y) and across it."""
    assert scene.covariance is not None
    (xx, xy), (_, yy) = scene.covariance.of_difference(one.i, one.j)
    along = xx * x * x + 2 * xy * x * y + yy * y * y
    return math.sqrt(max(along, 0.0)), math.sqrt(max(xx + yy - along, 0.0))


def _least_bend_radius_mm(shape: Shape) -> float:
    """The least radius of an outline's bends."""
    return shape.radius_mm if isinstance(shape, Disc) else 0.0


def _displacements_by_index(
    scene: Scene, indices: Sequence[int | None], count: int | None = None
) -> dict[int | None, Array]:
    """The displacements (n, 2) of some pieces, drawn together."""
    places = [*dict.fromkeys(indices)]
    return dict(zip(places, draw_displacements(scene, places, count).swapaxes(0, 1), strict=True))


def _closest_distances(
    rivals: Sequence[ClosestCandidate], moved: Mapping[int | None, Array]
) -> Array:
    """The closest distance (n,) in every draw."""
    return np.asarray(
        np.min([gaps_at_shifts(one.a, one.b, moved[one.j] - moved[one.i]) for one in rivals], 0)
    )


# --- the whole of a base ---


def probability_all_within(
    scene: Scene,
    measure: Measure,
    rivals: Sequence[ClosestCandidate],
    band_mm: tuple[float, float],
    reach_mm: float,
) -> float:
    """The probability that every part of the second side lies past the one and not past the other end of a band."""
    discs = all(
        isinstance(part, Disc) for pair in measure.pairs for part in (*pair.a.parts, *pair.b.parts)
    )
    indices = [index for pair in measure.pairs for index in (pair.a.index, pair.b.index)]
    moved = _displacements_by_index(scene, indices, MANY_DRAWS if discs else FEW_DRAWS)
    fars = [
        _farthest_distances(measure, body, part, moved)
        for body, part in _farthest_parts(measure, reach_mm)
    ]
    lower, upper = band_mm
    return float(
        np.mean(
            (_closest_distances(rivals, moved) > lower + CONTACT_TOLERANCE_MM)
            & (np.max(fars, 0) <= upper + CONTACT_TOLERANCE_MM)
        )
    )


def _farthest_parts(measure: Measure, reach_mm: float) -> list[tuple[Body, Shape]]:
    """The parts of the second side that may hold its farthest point, were each moved by `reach_mm`."""
    return [
        (body, part)
        for body, part, far in measure.farthest_by_part
        if far + 2 * reach_mm >= measure.farthest_mm
    ]


def _farthest_distances(
    measure: Measure, body: Body, b: Shape, moved: Mapping[int | None, Array]
) -> Array:
    """The distance (n,) of the farthest point of a body's part from whatever is nearest to that point."""
    by_part = [
        (part, moved[body.index] - moved[a.index]) for a in measure.from_bodies for part in a.parts
    ]
    shapes, shifts = [shape for shape, _ in by_part], np.stack([shift for _, shift in by_part])
    if len(shapes) == 1:
        return farthest_distances(shapes[0], b, shifts[0])
    radii = {shape.radius_mm if isinstance(shape, Disc) else None for shape in shapes}
    radius = radii.pop()
    if isinstance(b, Disc) and radius is not None and not radii:
        return np.maximum(
            farthest_from_points(np.array([p.center for p in shapes]), b, shifts) - radius, 0
        )
    # A hole inside it that is farther than its rim stays as much farther.
    rim = float(rim_farthest_from_all(shapes, b, np.zeros((len(shapes), 1, 2)))[0])
    return rim_farthest_from_all(shapes, b, shifts) + max(farthest_part(shapes, b) - rim, 0.0)
