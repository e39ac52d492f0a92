"""Where rulers may lie in the orthophoto: straight ones along a bar, jointed ones along a chain."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.rulers.bars import STATION_SPACING_PX, BarCandidate
from overruler.vision.rulers.jointed import SegmentChain, follow_chains
from overruler.vision.rulers.strip import RulerKind, fit_polyline
from overruler.vision.rulers.structure_tensor import StructureTensor, crossing_clearness

MIN_EDGE_CLEARNESS = 0.4
"""Least clearness of a ruler's edges."""
MIN_CLEARNESS_CONTRAST = 0.06
"""Least difference of that clearness from the clearness beyond the ruler's ends."""
PLACES_PER_BAR = 2
"""Number of places along a bar that are kept for each kind."""
MIN_PLACE_SEPARATION_MM = 40.0
"""Least distance of these from each other, in mm."""
SEARCH_STEP_MM = 2.0
"""Step of the search along a bar, in mm."""
OUTSIDE_WINDOW_MM = 30.0
"""Length beyond each end that the ruler must stand out from, in mm."""
OUTSIDE_GAP_MM = 3
"""Gap between an end and that window, in mm."""
END_EXCLUSION_MM = 5
"""Stations nearer to an end than this do not shape the path, in mm."""
MAX_CHAINS = 16
"""Largest number of chains that are followed."""
MAX_HYPOTHESES = 10
"""Largest number of hypotheses that are kept."""
DUPLICATE_DISTANCE_MM = 20.0
"""Two hypotheses of one kind are duplicates if their centroids lie nearer than this, in mm."""


@dataclass(frozen=True, slots=True, eq=False)
class RulerHypothesis:
    """A place where a ruler may lie."""

    merit: float
    kind: RulerKind
    path_mm: Array
    """(n + 1, 2): its joints and both ends as they appear on the board plane, at height 0."""


def find_hypotheses(
    view: Orthophoto,
    slopes: StructureTensor,
    bars: Sequence[BarCandidate],
    kinds: Sequence[RulerKind],
) -> list[RulerHypothesis]:
    """Places where rulers of these kinds may lie, the likeliest first, without duplicates."""
    straight = [kind for kind in kinds if not kind.jointed]
    jointed = [kind for kind in kinds if kind.jointed]
    found = []
    for bar in bars:
        for kind in straight:
            if kind.width_mm == bar.width_mm:
                found += _straight_hypotheses(bar, kind)
    found += _jointed_hypotheses(view, slopes, bars, jointed)
    found.sort(key=attrgetter("merit"), reverse=True)
    return _best_distinct(found)


def _best_distinct(found: Sequence[RulerHypothesis]) -> list[RulerHypothesis]:
    """The best hypotheses that are no duplicates; `found` has the best first."""
    kept: list[RulerHypothesis] = []
    for hypothesis in found:
        if len(kept) == MAX_HYPOTHESES:
            break
        if not any(_is_duplicate(hypothesis, better) for better in kept):
            kept.append(hypothesis)
    return kept


def _is_duplicate(one: RulerHypothesis, other: RulerHypothesis) -> bool:
    if one.kind is not other.kind:
        return False
    distance = math.dist(one.path_mm.mean(0), other.path_mm.mean(0))
    return distance < DUPLICATE_DISTANCE_MM


def _straight_hypotheses(bar: BarCandidate, kind: RulerKind) -> list[RulerHypothesis]:
    """Places along a bar where its edges are clear, and less so beyond both ends."""

    def merit(start: Array) -> Array:
        end = start + kind.length_mm
        inside = bar.mean_clearness(start, end)
        before = bar.mean_clearness(start - OUTSIDE_WINDOW_MM, start - OUTSIDE_GAP_MM)
        after = bar.mean_clearness(end + OUTSIDE_GAP_MM, end + OUTSIDE_WINDOW_MM)
        return _contrast_score(inside, np.maximum(before, after))

    placements = _best_placements(bar, kind, kind.segments, merit)
    return [RulerHypothesis(score, kind, path) for score, path in placements]


def _jointed_hypotheses(
    view: Orthophoto,
    slopes: StructureTensor,
    bars: Sequence[BarCandidate],
    kinds: Sequence[RulerKind],
) -> list[RulerHypothesis]:
    """Places along chains of segments, which are alike in all `kinds`."""
    segment = kinds[0]
    pairs = []
    for bar in bars:
        if bar.width_mm == segment.width_mm:
            pairs += _segment_pairs(view, slopes, bar, segment)
    if not pairs:
        return []
    pairs = sorted(pairs, key=lambda pair: -pair[0])[:MAX_CHAINS]
    pairs_px = view.to_px(np.stack([path for _, path in pairs]))
    width_px, segment_px = segment.width_mm / view.mm_per_px, segment.segment_mm / view.mm_per_px
    chains = follow_chains(slopes, pairs_px, width_px, segment_px)
    best = [_best_window(view, chain, kind) for chain in chains for kind in kinds]
    return [hypothesis for hypothesis in best if hypothesis.merit > 0]


def _segment_pairs(
    view: Orthophoto, slopes: StructureTensor, bar: BarCandidate, kind: RulerKind
) -> list[tuple[float, Array]]:
    """Merits and joints (3, 2) of two segments that may follow each other along a bar."""
    joints = kind.segment_mm * np.arange(3)
    stations = view.to_px(bar.xy_mm)
    along = np.broadcast_to(bar.along_px, stations.shape)
    width_px = bar.width_mm / view.mm_per_px
    offsets = np.arange(float(STATION_SPACING_PX))
    crossed = crossing_clearness(slopes, stations, along, width_px, offsets)

    def merit(start: Array) -> Array:
        across = np.interp(start[:, None] + joints, bar.arc_length_mm, crossed).mean(1)
        return np.asarray(bar.mean_clearness(start, start + joints[-1]) + across)

    return _best_placements(bar, kind, 2, merit)


def _best_placements(
    bar: BarCandidate, kind: RulerKind, segments: int, merit: Callable[[Array], Array]
) -> list[tuple[float, Array]]:
    """The best places along a bar for a number of segments: the merit and the joints of each.

    `merit` scores the distances at which they begin.
    """
    joints = kind.segment_mm * np.arange(segments + 1)
    start = np.arange(0.0, bar.arc_length_mm[-1] - joints[-1], SEARCH_STEP_MM)
    if not len(start):
        return []
    score, found = merit(start), []
    for _ in range(PLACES_PER_BAR):
        best = int(score.argmax())
        if score[best] <= 0:
            break
        knots = np.asarray(start[best] + joints, float)
        after_start = bar.arc_length_mm >= knots[0] + END_EXCLUSION_MM
        before_end = bar.arc_length_mm <= knots[-1] - END_EXCLUSION_MM
        path = fit_polyline(bar.arc_length_mm, knots, bar.xy_mm, after_start & before_end)
        found.append((float(score[best]), path))
        score[np.abs(start - start[best]) < MIN_PLACE_SEPARATION_MM] = -1
    return found


def _best_window(view: Orthophoto, chain: SegmentChain, kind: RulerKind) -> RulerHypothesis:
    """The stretch of a chain that is most like the ruler; its merit is -1 where none is."""
    n = kind.segments
    inside = np.convolve(chain.edge_clearness, np.full(n, 1 / n), "valid")
    padded = np.pad(chain.edge_clearness, 1)
    outside = np.maximum(padded[: len(inside)], padded[n + 1 :])
    merit = _contrast_score(inside, outside)
    first = int(merit.argmax())
    path = view.to_mm(chain.joints_px[first : first + n + 1])
    return RulerHypothesis(float(merit[first]), kind, path)


def _contrast_score(inside: Array, outside: Array) -> Array:
    """Score (...) of places by the clearness inside and beyond; -1 where they do not stand out."""
    stands_out = (inside > MIN_EDGE_CLEARNESS) & (inside > outside + MIN_CLEARNESS_CONTRAST)
    return np.asarray(np.where(stands_out, 2 * inside - outside, -1.0))
