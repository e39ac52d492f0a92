"""Range rulers in the photo: an independent word on how large things are.

bars → which ruler may lie where along a bar → measured in the photo's own pixels → what that says about the markers
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from overruler.calibration import Calibration, Problem
from overruler.detections import RulerSeen
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.bars import Bar, find_bars
from overruler.vision.orthophoto import Orthophoto
from overruler.vision.ruler_fit import measured_ruler
from overruler.vision.ruler_strip import Kind, broken_line

KINDS = (
    Kind("legion", 152.4, 5, 25.0, 4.0, 5.0, jointed=True),
    Kind("legion_short", 152.4, 2, 25.0, 4.0, 8.0, jointed=True),
    Kind("xwing", 100.0, 3, 20.0, 2.0, 8.0),
    Kind("inch_stick", 25.4, 12, 20.0, 3.0, 2.8),
)
CLEAR, STANDS_OUT = 0.4, 0.06
"""How clear a ruler's edges are at least, and how much they stand out from what lies beyond its ends."""
PLACES, APART_MM = 2, 40.0
"""How many places along a bar are looked at for each kind, and how far apart they lie."""
BEYOND_MM = 30.0
"""How far that is looked at."""
CONTRADICTS = 3.5
"""A ruler so many σ off its nominal length contradicts the markers."""
FEW = 2
"""What has no more segments than this, and contradicts the markers, is something else: a wall, a strip of card."""
MOST = 9
"""How many are measured at most, long ones first: shorter ones may be parts of them."""
ALIKE_MM = 20.0
"""A ruler whose middle lies so near another's is the same one, or a part of it."""


def find_rulers(frame: Frame, calibration: Calibration, view: Orthophoto) -> tuple[RulerSeen, ...]:
    """The rulers that lie on the table, each as the markers measure it; `view` is the table from above."""
    bars = find_bars(view, sorted({kind.width_mm for kind in KINDS}))
    tries = [one for bar in bars for kind in KINDS if kind.width_mm == bar.width_mm for one in _placed(bar, kind)]
    best = sorted(tries, key=lambda one: -one[0])[:MOST]
    kept: list[RulerSeen] = []
    for _, kind, bar, start_mm in sorted(best, key=lambda one: -(one[1].length_mm + 5 * one[1].segments + one[0])):
        path = _path(bar, kind, start_mm)
        if _beside(path, kept) and (ruler := measured_ruler(frame, calibration, kind, path)) is not None:
            fits = kind.segments > FEW or not _contradicts(ruler)
            kept += [ruler] if fits and _beside(ruler.path_mm, kept) else []
    return tuple(kept)


def _contradicts(ruler: RulerSeen) -> bool:
    return abs(ruler.segment_mm - ruler.nominal_mm) > CONTRADICTS * ruler.sigma_mm


def _beside(path_mm: Array, others: Sequence[RulerSeen]) -> bool:
    """Whether what is laid along a path is none of the others, nor a part of one."""
    return all(_off(other.path_mm, path_mm.mean(0)) > ALIKE_MM for other in others)


def _off(path: Array, point: Array) -> float:
    dense = np.concatenate([np.linspace(a, b, 40) for a, b in pairwise(path)])
    return float(np.linalg.norm(dense - point, axis=1).min())


def _placed(bar: Bar, kind: Kind) -> list[tuple[float, Kind, Bar, float]]:
    """Where along a bar a ruler of that kind may lie: how good that is, and how far along it begins, in mm."""
    way = _way(bar)
    total = np.concatenate([[0], np.cumsum(bar.clear)])

    def mean(low: Array, high: Array) -> Array:
        i, j = np.searchsorted(way, low), np.searchsorted(way, high)
        return np.asarray((total[j] - total[i]) / np.maximum(j - i, 1))

    start = np.arange(way[0], way[-1] - kind.length_mm, 2.0)
    if not len(start):
        return []
    end = start + kind.length_mm
    inside = mean(start, end)
    outside = np.maximum(mean(start - BEYOND_MM, start - 3), mean(end + 3, end + BEYOND_MM))
    merit = np.where((inside > CLEAR) & (inside > outside + STANDS_OUT), 2 * inside - outside, -1)
    found = []
    for _ in range(PLACES):
        best = int(merit.argmax())
        if merit[best] < 0:
            break
        found.append((float(merit[best]), kind, bar, float(start[best])))
        merit[np.abs(start - start[best]) < APART_MM] = -1
    return found


def _path(bar: Bar, kind: Kind, start_mm: float) -> Array:
    """The joints (n + 1, 2), with both ends, of a ruler that begins so far along a bar."""
    way, knots = _way(bar), start_mm + kind.segment_mm * np.arange(kind.segments + 1)
    return broken_line(way, np.asarray(knots, float), bar.xy_mm, (way >= knots[0] + 5) & (way <= knots[-1] - 5))


def _way(bar: Bar) -> Array:
    """How far along a bar its stations lie (S,), in mm."""
    return np.asarray(np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(bar.xy_mm, axis=0), axis=1))]), float)


def contradictions(rulers: Sequence[RulerSeen]) -> tuple[Problem, ...]:
    """That a ruler is not as long as the markers say."""
    wrong = [one for one in rulers if _contradicts(one)]
    return tuple(
        Problem(
            "ruler_disagrees",
            f"the ruler reads {one.segment_mm:.2f} ± {1.96 * one.sigma_mm:.2f} mm a segment, not {one.nominal_mm:g}: "
            "check the markers' printed size and places",
        )
        for one in wrong
    )


def covered(rulers: Sequence[RulerSeen]) -> list[Array]:
    """Where rulers lie (4, 2) each, in mm, segment by segment: no base stands there."""
    return [_around(a, b, ruler.width_mm) for ruler in rulers for a, b in pairwise(ruler.path_mm)]


def _around(start: Array, end: Array, width_mm: float) -> Array:
    along = (end - start) / np.linalg.norm(end - start)
    side = np.array([-along[1], along[0]]) * width_mm / 2
    return np.array([start - side, end - side, end + side, start + side])
