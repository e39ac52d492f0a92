"""Where rulers may lie, in the picture from above: straight ones along a bar, jointed ones along a chain."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.rulers.bars import (
    STATION_SPACING_PX,
    BarCandidate,
    StructureTensor,
    crossing_clearness,
)
from overruler.vision.rulers.jointed import SegmentChain, follow_chains
from overruler.vision.rulers.strip import RulerKind, fit_polyline

MIN_EDGE_CLEARNESS, MIN_CLEARNESS_CONTRAST = 0.4, 0.06
"""How clear a ruler's edges are at least, and how much they stand out from what lies beyond its ends."""
PLACES_PER_BAR, MIN_PLACE_SEPARATION_MM = 2, 40.0
"""How many places along a bar are looked at for each kind, and how far apart they lie."""
SEARCH_STEP_MM, OUTSIDE_WINDOW_MM = 2.0, 30.0
"""By which steps; and how far beyond the ends is looked at."""
MAX_CHAINS = 16
"""How many chains are followed at most."""
MAX_HYPOTHESES = 6
"""How many places are kept at most."""
DUPLICATE_DISTANCE_MM = 20.0
"""Two of one kind whose middles lie this near are the same."""


@dataclass(frozen=True, slots=True, eq=False)
class RulerHypothesis:
    """A place where a ruler may lie."""

    merit: float
    kind: RulerKind
    path_mm: Array
    """Its joints (n + 1, 2), with both ends, as seen on the board: a ruler's height is not allowed for yet."""


def find_hypotheses(
    view: Orthophoto,
    slopes: StructureTensor,
    bars: Sequence[BarCandidate],
    kinds: Sequence[RulerKind],
) -> list[RulerHypothesis]:
    """Where rulers of these kinds may lie, the likeliest first, none twice."""
    straight = [kind for kind in kinds if not kind.jointed]
    found = [
        one
        for bar in bars
        for kind in straight
        if kind.width_mm == bar.width_mm
        for one in _straight_hypotheses(bar, kind)
    ]
    found += _jointed_hypotheses(view, slopes, bars, [kind for kind in kinds if kind.jointed])
    kept: list[tuple[RulerHypothesis, Array]] = []
    for one in sorted(found, key=lambda one: -one.merit):
        middle = one.path_mm.mean(0)
        if not any(
            one.kind is other.kind and math.dist(middle, there) < DUPLICATE_DISTANCE_MM
            for other, there in kept
        ):
            kept.append((one, middle))
    return [one for one, _ in kept[:MAX_HYPOTHESES]]


def _straight_hypotheses(bar: BarCandidate, kind: RulerKind) -> list[RulerHypothesis]:
    """Along a bar: its edges are clear there, and less so beyond."""

    def merit(start: Array) -> Array:
        end = start + kind.length_mm
        inside = bar.mean_clearness(start, end)
        outside = np.maximum(
            bar.mean_clearness(start - OUTSIDE_WINDOW_MM, start - 3),
            bar.mean_clearness(end + 3, end + OUTSIDE_WINDOW_MM),
        )
        return _contrast_score(inside, outside)

    return [
        RulerHypothesis(good, kind, path)
        for good, path in _best_placements(bar, kind, kind.segments, merit)
    ]


def _jointed_hypotheses(
    view: Orthophoto,
    slopes: StructureTensor,
    bars: Sequence[BarCandidate],
    kinds: Sequence[RulerKind],
) -> list[RulerHypothesis]:
    """Along chains of segments, which are all alike: wherever two follow each other, more may."""
    alike = kinds[0]
    pairs = [
        pair
        for bar in bars
        if bar.width_mm == alike.width_mm
        for pair in _segment_pairs(view, slopes, bar, alike)
    ]
    if not pairs:
        return []
    pairs = sorted(pairs, key=lambda one: -one[0])[:MAX_CHAINS]
    px = view.to_px(np.stack([path for _, path in pairs]))
    followed = follow_chains(
        slopes, px, alike.width_mm / view.mm_per_px, alike.segment_mm / view.mm_per_px
    )
    best = [_best_window(view, chain, kind) for chain in followed for kind in kinds]
    return [one for one in best if one.merit > 0]


def _segment_pairs(
    view: Orthophoto, slopes: StructureTensor, bar: BarCandidate, kind: RulerKind
) -> list[tuple[float, Array]]:
    """Where along a bar two segments may follow each other: how good that is, and the three joints (3, 2)."""
    joints, stations = kind.segment_mm * np.arange(3), view.to_px(bar.xy_mm)
    along = np.broadcast_to(bar.along_px, stations.shape)
    crossed = crossing_clearness(
        slopes, stations, along, bar.width_mm / view.mm_per_px, np.arange(float(STATION_SPACING_PX))
    )

    def merit(start: Array) -> Array:
        across = np.interp(start[:, None] + joints, bar.arc_length_mm, crossed).mean(1)
        return np.asarray(bar.mean_clearness(start, start + joints[-1]) + across)

    return _best_placements(bar, kind, 2, merit)


def _best_placements(
    bar: BarCandidate, kind: RulerKind, segments: int, merit: Callable[[Array], Array]
) -> list[tuple[float, Array]]:
    """The best places along a bar for so many segments, by what speaks for where they begin, and their joints."""
    joints = kind.segment_mm * np.arange(segments + 1)
    start = np.arange(0.0, bar.arc_length_mm[-1] - joints[-1], SEARCH_STEP_MM)
    if not len(start):
        return []
    good, found = merit(start), []
    for _ in range(PLACES_PER_BAR):
        best = int(good.argmax())
        if good[best] <= 0:
            break
        knots = np.asarray(start[best] + joints, float)
        within = (bar.arc_length_mm >= knots[0] + 5) & (bar.arc_length_mm <= knots[-1] - 5)
        found.append((float(good[best]), fit_polyline(bar.arc_length_mm, knots, bar.xy_mm, within)))
        good[np.abs(start - start[best]) < MIN_PLACE_SEPARATION_MM] = -1
    return found


def _best_window(view: Orthophoto, chain: SegmentChain, kind: RulerKind) -> RulerHypothesis:
    """The stretch of a chain that most speaks for being the ruler; of merit -1 where nothing does."""
    n = kind.segments
    inside, beyond = (
        np.convolve(chain.edge_clearness, np.full(n, 1 / n), "valid"),
        np.pad(chain.edge_clearness, 1),
    )
    merit = _contrast_score(inside, np.maximum(beyond[: len(inside)], beyond[n + 1 :]))
    first = int(merit.argmax())
    return RulerHypothesis(
        float(merit[first]), kind, view.to_mm(chain.joints_px[first : first + n + 1])
    )


def _contrast_score(inside: Array, outside: Array) -> Array:
    """What speaks for places (...) whose edges are so clear, and beyond their ends so clear: -1 where nothing does."""
    stands_out = (inside > MIN_EDGE_CLEARNESS) & (inside > outside + MIN_CLEARNESS_CONTRAST)
    return np.asarray(np.where(stands_out, 2 * inside - outside, -1.0))
