"""Long thin bars in the orthophoto: parallel edges a known width apart, perhaps bent at joints."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.vectors import left_normals, unit_vectors
from overruler.geometry.pose import Array
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.rulers.bar_lines import find_edge_points, find_lines
from overruler.vision.rulers.structure_tensor import Floats, StructureTensor, clearness_of_gradient

MAX_SIDE_DEVIATION_MM = 11.0
"""Largest distance of a bar from its straight line, in mm."""
STATION_SPACING_PX = 3
"""Spacing of a bar's stations, in orthophoto pixels."""
SIDESTEP_COST = 0.5
"""Cost of a path's step aside by a pixel, in stations of clear edges."""


@dataclass(frozen=True, slots=True, eq=False)
class BarCandidate:
    """A line that a bar may lie along, at S stations."""

    width_mm: float
    xy_mm: Array
    """(S, 2): midway between the edges."""
    edge_clearness: Array
    """(S,): clearness of the fainter edge, 0 to 1."""
    along_px: Array
    """(2,): unit vector along the line in the orthophoto."""
    arc_length_mm: Array
    """(S,): distance from the first station, along the bar."""
    cumulative_clearness: Array
    """(S + 1,): sum of `edge_clearness` over all stations before."""

    @classmethod
    def of(cls, width_mm: float, xy_mm: Array, clear: Array, along_px: Array) -> "BarCandidate":
        """Make a bar from its stations."""
        steps = np.linalg.norm(np.diff(xy_mm, axis=0), axis=1)
        arc_length = np.concatenate([[0], np.cumsum(steps)])
        cumulative = np.concatenate([[0], np.cumsum(clear)])
        return cls(width_mm, xy_mm, clear, along_px, arc_length, cumulative)

    def mean_clearness(self, low_mm: Array, high_mm: Array) -> Array:
        """Mean clearness (...) of the edges between two distances (...); 0 without a station."""
        i = np.searchsorted(self.arc_length_mm, low_mm)
        j = np.searchsorted(self.arc_length_mm, high_mm)
        total = self.cumulative_clearness[j] - self.cumulative_clearness[i]
        return np.asarray(total / np.maximum(j - i, 1))


def find_bars(
    view: Orthophoto, slopes: StructureTensor, widths_mm: Sequence[float]
) -> list[BarCandidate]:
    """Lines across the whole view that bars may lie along, the likeliest of each width first."""
    edges = find_edge_points(slopes)
    bars = []
    for width in widths_mm:
        lines = find_lines(slopes, edges, width / view.mm_per_px, view.mm_per_px)
        bars += _trace_bars(view, slopes, lines, width)
    return bars


def _trace_bars(
    view: Orthophoto, slopes: StructureTensor, lines: Array, width_mm: float
) -> list[BarCandidate]:
    """Trace the bars along lines (K, 3), from which they may deviate a little."""
    if not len(lines):
        return []
    normal = unit_vectors(lines[:, 2])
    along = left_normals(normal)
    line = _stations(view, lines, normal, along)
    slack = round(MAX_SIDE_DEVIATION_MM / view.mm_per_px)
    side = np.arange(-slack, slack + 1, dtype=np.float32)
    half = width_mm / view.mm_per_px / 2
    normal32 = normal.astype(np.float32)
    right = _edge_clearness(slopes, line, normal32, np.asarray(side + -1.0 * half, float))
    left = _edge_clearness(slopes, line, normal32, np.asarray(side + 1.0 * half, float))
    fainter = np.minimum(right, left)
    column = _best_paths(fainter)
    clear = np.take_along_axis(fainter, column[..., None], 2)[..., 0]
    xy_px = line + normal[:, None] * side[column][..., None]
    bars = zip(xy_px, clear, along, strict=True)
    return [BarCandidate.of(width_mm, view.to_mm(xy), c, direction) for xy, c, direction in bars]


def _stations(view: Orthophoto, lines: Array, normal: Array, along: Array) -> Floats:
    """Stations (K, S, 2) along lines (K, 3) across the whole view."""
    height, width = view.seen.shape
    reach = np.hypot(width, height) / 2
    way = np.arange(-reach, reach, STATION_SPACING_PX)
    center = np.array([(width - 1) / 2, (height - 1) / 2])
    offset = ((lines[:, :2] - center) * normal).sum(1, keepdims=True)
    nearest = center + normal * offset
    stations = nearest[:, None] + along[:, None] * way[:, None]
    return np.asarray(stations.astype(np.float32))


def _edge_clearness(slopes: StructureTensor, line: Floats, normal: Floats, side: Array) -> Array:
    """Clearness (K, S, D) of edges parallel to lines (K, S, 2), at offsets `side` (D,) in pixels."""
    across: Array = np.asarray(normal[:, None, None])
    at: Array = np.asarray(line[:, :, None] + across * side[:, None].astype(np.float32))
    return clearness_of_gradient(slopes.gradient_along(at, across))


def _best_paths(gain: Array) -> NDArray[np.intp]:
    """The columns (K, S) of the best paths through gains (K, S, D), by dynamic programming.

    A path steps aside by one column at most, at a cost.
    """
    count, stations, columns = gain.shape
    total = np.full((count, columns + 2), -1e9, np.float32)
    total[:, 1:-1] = gain[:, 0]
    step = np.zeros(gain.shape, np.int8)
    for s in range(1, stations):
        left = total[:, :-2] - SIDESTEP_COST
        right = total[:, 2:] - SIDESTEP_COST
        best = np.maximum(left, right)
        aside = best > total[:, 1:-1]
        sign = np.where(right > left, 1, -1)
        step[:, s] = np.where(aside, sign, 0)
        reached = np.where(aside, best, total[:, 1:-1])
        total[:, 1:-1] = reached + gain[:, s]
    path = np.empty((count, stations), np.intp)
    column = total[:, 1:-1].argmax(1)
    path[:, -1] = column
    rows = np.arange(count)
    for s in range(stations - 1, 0, -1):
        column = column + step[rows, s, column]
        path[:, s - 1] = column
    return path
