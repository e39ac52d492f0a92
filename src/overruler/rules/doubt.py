"""How sure a measure is, out of the joint covariance of the pieces' places.

* **No line within reach.** One pair alone can be the closest, and eight of its standard deviations lead neither to
  contact nor to any line that matters: the answer is settled, and the distance is a Gaussian along the gap.
* **Otherwise** the places are drawn, always the same draws, and every draw is measured with the exact outlines: near
  contact a distance is cut off at 0, and in a unit another pair may come to be the closest. One pair needs its
  displacement alone, which lies in a plane: 8192 evenly spread draws. Several need 65536; 8192 where an outline is no
  circle.

Either agrees with a million free draws to 0.005 in every probability, outlines that are no circles to 0.01.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from overruler.geometry.shapes import Disc, Shape
from overruler.rules.measure import Body, Measure, Pair, farthest_part
from overruler.units import TOUCH_MM

if TYPE_CHECKING:
    from overruler.geometry.pose import Array


@dataclass(frozen=True, slots=True, eq=False)
class Doubt:
    """What a measure may be instead."""

    sigma_mm: float
    """The standard deviation of the closest distance."""
    gaps_mm: "Array"
    """Equally likely closest distances (n,); the one measured alone where no line is within reach."""

    def shares(self, lines_mm: Sequence[float]) -> list[float]:
        """The probability of each band between ascending lines: up to the first, ..., past the last. A line touched is
        not crossed."""
        import numpy as np

        bands = np.searchsorted(np.array(lines_mm), self.gaps_mm - TOUCH_MM)
        return [float(share) for share in np.bincount(bands, minlength=len(lines_mm) + 1) / len(bands)]


def doubt_of(covariance: "Array | None", measure: Measure, lines_mm: Sequence[float]) -> Doubt | None:
    """The doubt of the closest distance; None in a scene without covariance. `lines_mm` are where answers change."""
    if covariance is None:
        return None
    import numpy as np

    pairs, reach = _closest_pairs(covariance, measure)
    distance = measure.distance_mm
    if len(pairs) == 1 and all(abs(distance - line) > reach for line in (0.0, *lines_mm)):
        return Doubt(_sigma_along(covariance, pairs[0]), np.array([distance]))
    if reach == 0:
        return Doubt(0.0, np.array([distance]))
    shifts = _shifts(covariance, pairs, 65536 if _all_round(pairs) else 8192)
    gaps = np.min(list(map(_gaps, pairs, shifts)), 0)
    return Doubt(float(gaps.std()), gaps)


def _reach(covariance: "Array", pair: Pair) -> float:
    """How far a gap can be off, in mm."""
    from overruler.geometry.gaussian import SIGMAS, difference, largest_sigma

    return SIGMAS * largest_sigma(difference(covariance, pair.a.index, pair.b.index))


def _closest_pairs(covariance: "Array", measure: Measure) -> tuple[list[Pair], float]:
    """The pairs that may be the closest, and the most that the gap of any of them can be off."""
    reaches = [_reach(covariance, pair) for pair in measure.pairs]
    ceiling = min(pair.gap.distance_mm + reach for pair, reach in zip(measure.pairs, reaches, strict=True))
    kept = [
        (pair, reach)
        for pair, reach in zip(measure.pairs, reaches, strict=True)
        if pair.gap.distance_mm - reach <= ceiling
    ]
    return [pair for pair, _ in kept], max(reach for _, reach in kept)


def _sigma_along(covariance: "Array", pair: Pair) -> float:
    """The standard deviation of a gap, to first order: that of the displacement along it."""
    import numpy as np

    from overruler.geometry.gaussian import difference

    along = np.subtract(pair.gap.to_point, pair.gap.from_point) / pair.gap.distance_mm
    return float(np.sqrt(max(along @ difference(covariance, pair.a.index, pair.b.index) @ along, 0.0)))


def _all_round(pairs: Sequence[Pair]) -> bool:
    return all(isinstance(part, Disc) for pair in pairs for part in (*pair.a.parts, *pair.b.parts))


def _shifts(covariance: "Array", pairs: Sequence[Pair], count: int) -> "list[Array]":
    """For each pair `count` displacements (n, 2) of its second body against its first, drawn together."""
    from overruler.geometry.gaussian import differences, draws

    drawn = draws(differences(covariance, [(pair.a.index, pair.b.index) for pair in pairs]), count)
    return [drawn[:, 2 * k : 2 * k + 2] for k in range(len(pairs))]


def _gaps(pair: Pair, shifts: "Array") -> "Array":
    """The gaps (n,) of a pair of bodies, the second one displaced."""
    import numpy as np

    from overruler.geometry.many import gaps

    return np.asarray(np.min([gaps(p, q, shifts) for p in pair.a.parts for q in pair.b.parts], 0))


# --- the whole of a base ---


def chance_within(covariance: "Array", measure: Measure, lower_mm: float | None, upper_mm: float) -> float:
    """The probability that all of the second side lies past `lower_mm` (None: wherever) and not past `upper_mm`."""
    import numpy as np

    reach = max(_reach(covariance, pair) for pair in measure.pairs)
    lower = -1.0 if lower_mm is None else lower_mm
    gaps, fars = np.array([measure.distance_mm]), np.array([measure.farthest_mm])
    if min(abs(gaps[0] - lower) if lower_mm is not None else np.inf, abs(fars[0] - upper_mm)) <= reach > 0:
        count = 8192 if _all_round(measure.pairs) else 2048
        shifts = dict(zip(measure.pairs, _shifts(covariance, measure.pairs, count), strict=True))
        gaps = np.min([_gaps(pair, shifts[pair]) for pair in _closest_pairs(covariance, measure)[0]], 0)
        fars = np.max([_fars(body, part, shifts) for body, part in _farthest_parts(measure, reach)], 0)
    return float(np.mean((gaps > lower + TOUCH_MM) & (fars <= upper_mm + TOUCH_MM)))


def _farthest_parts(measure: Measure, reach: float) -> list[tuple[Body, Shape]]:
    """The parts of the second side that may hold its farthest point, were each moved by `reach`."""
    return [(body, part) for body, part, far in measure.parts_mm if far + 2 * reach >= measure.farthest_mm]


def _fars(body: Body, b: Shape, shifts: "dict[Pair, Array]") -> "Array":
    """The distance (n,) of the farthest point of a body's part from whatever is nearest to that point."""
    import numpy as np

    from overruler.geometry.many import farthests, rim_farthest_from_all

    moved = [(part, shift) for pair, shift in shifts.items() if pair.b == body for part in pair.a.parts]
    shapes, by = [shape for shape, _ in moved], np.stack([shift for _, shift in moved])
    if len(shapes) == 1:
        return farthests(shapes[0], b, by[0])
    # A hole inside it that is farther than its rim stays as much farther.
    rim = float(rim_farthest_from_all(shapes, b, np.zeros((len(shapes), 1, 2)))[0])
    return rim_farthest_from_all(shapes, b, by) + max(farthest_part(shapes, b) - rim, 0.0)
