"""The two long edges of a ruler, located in its strip."""

from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.rulers.strip import PROJECTION_STRIDE, RulerKind, Strip, fit_polyline


@dataclass(frozen=True, slots=True)
class VisibleShare:
    """Least shares of a ruler's length along which both long edges are visible."""

    whole: float
    """Of its whole length."""
    part: float
    """Of each third of it, or of each segment of a jointed ruler."""


MIN_VISIBLE_STRAIGHT = VisibleShare(0.4, 0.15)
"""What a straight ruler must show."""
MIN_VISIBLE_JOINTED = VisibleShare(0.65, 0.45)
"""What a jointed ruler must show: it bends, and so it fits more things that are no rulers."""
ROBUST_SCALE_MM = 0.4
"""An edge this far from its straight line has a quarter of the full weight, in mm."""
OFFSET_STEP_MM = 0.5
"""Step of the offsets that the robust polyline tries, in mm."""
INLIER_DISTANCE_MM = 0.9
"""Samples nearer to the robust polyline than this support it, in mm."""
EDGE_SEARCH_MM = 3.5
"""Search range to either side of an edge's expected place, in mm."""
PEAK_HALF_WIDTH_MM = 1.3
"""Half the window of an edge's centroid, in mm."""
END_EXCLUSION_MM = 4
"""Edges nearer to an end of the ruler than this are not used, in mm."""


@dataclass(frozen=True, slots=True, eq=False)
class LongEdgeFit:
    """What a ruler's long edges tell."""

    shift_mm: Array
    """(n + 1,): how far each joint must move to its left."""
    edge_spread_mm: float
    """How far the edges appear to lie too far out."""
    seen_share: float
    """Share of the length along which both are visible."""


def fit_long_edges(strip: Strip, kind: RulerKind) -> LongEdgeFit | None:
    """Fit the centre line to the long edges; None where the ruler has none."""
    along, left, right = _locate_long_edges(strip, kind)
    lean = _side_lean_mm(strip)
    excess = left - right - kind.width_mm
    inside = (along > END_EXCLUSION_MM) & (along < kind.length_mm - END_EXCLUSION_MM)
    wide_enough = excess > -strip.width_tolerance_mm
    narrow_enough = excess < strip.width_tolerance_mm + abs(lean)
    good = inside & wide_enough & narrow_enough
    needed = MIN_VISIBLE_JOINTED if kind.jointed else MIN_VISIBLE_STRAIGHT
    if good.sum() < needed.whole * inside.sum():
        return None
    joints = np.asarray(kind.segment_mm * np.arange(kind.segments + 1), float)
    knots = joints if kind.jointed else joints[[0, -1]]
    median_excess = float(np.median(excess[good]))
    side_face = float(np.clip(median_excess, 0, abs(lean)))  # of the ruler's side, not of its top
    center = (left + right - side_face * np.sign(lean)) / 2
    corners, line = _fit_center_line(along, center, good, knots)
    near_line = np.abs(center - line) < strip.straightness_tolerance_mm
    seen = (good & near_line)[inside]
    parts = np.array_split(seen, kind.segments if kind.jointed else 3)
    if seen.mean() < needed.whole or min(part.mean() for part in parts) < needed.part:
        return None
    shift = np.asarray(np.interp(joints, knots, corners))
    return LongEdgeFit(shift, (median_excess - side_face) / 2, float(seen.mean()))


def _side_lean_mm(strip: Strip) -> float:
    """How far to the left the lower edges appear, on average over both ends."""
    return float(strip.relief_displacement_mm[:, 1].mean())


def _fit_center_line(
    along: Array, center: Array, good: NDArray[np.bool_], knots: Array
) -> tuple[Array, Array]:
    """The offsets of the centre line at the knots (K,) and along the strip (S,)."""
    corners = _robust_polyline(along[good], center[good], knots)
    line = np.interp(along, knots, corners)
    for _ in range(3):
        weight = good / (1 + ((center - line) / ROBUST_SCALE_MM) ** 2) ** 2
        corners = fit_polyline(along, knots, center, weight)
        line = np.interp(along, knots, corners)
    return corners, line


def _robust_polyline(along: Array, center: Array, knots: Array) -> Array:
    """The polyline with corners at `knots` that most centres (S,) lie near: its offsets (K,).

    The offsets are found by dynamic programming over the corners.
    """
    offsets = np.arange(-EDGE_SEARCH_MM, EDGE_SEARCH_MM + OFFSET_STEP_MM, OFFSET_STEP_MM)
    total = np.zeros(len(offsets))
    predecessors = []
    for start, end in pairwise(knots):
        here = (along >= start) & (along < end)
        share = (along[here] - start) / (end - start)
        from_start = offsets[:, None, None] * (1 - share)
        residual = from_start + offsets[:, None] * share - center[here]
        support = np.maximum(1 - (residual / INLIER_DISTANCE_MM) ** 2, 0).sum(-1)
        through = total[:, None] + support
        predecessors.append(through.argmax(0))
        total = through.max(0)
    path = [int(total.argmax())]
    for predecessor in reversed(predecessors):
        path.append(int(predecessor[path[-1]]))
    return np.asarray(offsets[path[::-1]])


def _locate_long_edges(strip: Strip, kind: RulerKind) -> tuple[Array, Array, Array]:
    """Distances along the ruler (S,), and the offsets of the left and the right edge there (S,).

    Each pair of edges is steep and about as far apart as the ruler is wide: the edge of a shadow
    beside the ruler may be steeper than the ruler's own.
    """
    slope = _across_slope(strip)
    steps_mm = (strip.across_mm[1:] + strip.across_mm[:-1]) / 2
    lean = _side_lean_mm(strip)
    lean_right = min(lean, 0)
    lean_left = max(lean, 0)
    right_offset = np.abs(steps_mm + kind.width_mm / 2 - lean_right / 2)
    left_offset = np.abs(steps_mm - kind.width_mm / 2 - lean_left / 2)
    near_right = right_offset < EDGE_SEARCH_MM + abs(lean_right) / 2
    near_left = left_offset < EDGE_SEARCH_MM + lean_left / 2
    excess = steps_mm[near_left][:, None] - steps_mm[near_right] - kind.width_mm
    penalty = _width_penalty(excess, lean, strip.width_tolerance_mm)
    steepest = np.maximum(slope[:, near_right | near_left].max(1), 1e-6)[:, None]
    left_merit = slope[:, near_left] / steepest
    right_merit = slope[:, near_right] / steepest
    pair_merit = left_merit[:, :, None] + right_merit[:, None]
    merit = pair_merit - penalty.astype(np.float32)
    best = merit.reshape(len(slope), -1).argmax(1)
    row, column = np.divmod(best, int(near_right.sum()))
    left = _peak_centroid(slope, steps_mm, steps_mm[near_left][row])
    right = _peak_centroid(slope, steps_mm, steps_mm[near_right][column])
    return strip.along_mm[::PROJECTION_STRIDE], left, right


def _across_slope(strip: Strip) -> Array:
    """Colour steps (S, D - 1) across the ruler, averaged along it, at every few samples."""
    step = np.diff(strip.lab, axis=1)
    steepness = np.sqrt(np.einsum("sdc,sdc->sd", step, step))
    return np.asarray(cv2.blur(steepness, (1, 9))[::PROJECTION_STRIDE], float)


def _width_penalty(excess: Array, lean: float, tolerance: float) -> Array:
    """Penalty (L, R) on pairs of edges whose distance is not the ruler's width."""
    too_far = np.maximum(-excess, excess - abs(lean)) - tolerance / 3
    return np.asarray((np.maximum(too_far, 0) / tolerance) ** 2)


def _peak_centroid(height: Array, at: Array, near: Array) -> Array:
    """The centroids (S,) of the peaks of rows (S, D) near places (S,)."""
    weight = height * (np.abs(at - near[:, None]) <= PEAK_HALF_WIDTH_MM)
    return np.asarray((weight * at).sum(1) / np.maximum(weight.sum(1), 1e-9))
