"""Long thin bars in the picture from above: two straight parallel edges a known width apart, perhaps bent at joints."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.imaging.orthophoto import Orthophoto

HALF_CLEAR_GRADIENT = 5.0
"""A step of colour (L*a*b* units a pixel) this large counts half."""
MAX_LINES_PER_WIDTH = 14
"""How many lines are followed at most, of each width."""
MAX_SIDE_DEVIATION_MM = 11.0
"""How far a bar leaves its straight line."""
STATION_SPACING_PX = 3
"""How far the stations of a bar lie apart."""
SIDESTEP_COST = 0.5
"""What a sidestep by a pixel costs a path, in stations of clear edges."""
MIN_EDGE_GRADIENT, MIN_EDGE_COHERENCE = 3.0, 0.35
"""Weaker edges are the mat's own texture, and so are those that run every way: they do not vote for lines."""
ORIENTATION_SIGMA_PX = 2.0
"""1 σ of the window in which an edge's direction is averaged."""
TILE_MM, PEAKS_PER_TILE, MIN_LINE_SEPARATION_PX = 320.0, 3, 6
"""Lines are sought in tiles of this size, so many in each; and no two so near each other."""
BACKGROUND_VOTES = 0.5
"""So many votes are added to the root mean square at an angle."""
CROSS_SAMPLE_OFFSETS = np.array([-0.7, -0.35, 0.0, 0.35, 0.7])
"""Where across a bar edges are looked for that cross it, in halves of its width."""
REMAP_ROW_LENGTH = 256
"""Places are looked up in rows of so many: OpenCV takes no rows of any length."""
ANGLE_BINS, WRAP_BINS, ANGLE_SIGMA_BINS = 180, 8, 1.2
"""A line's angle is counted by the degree, and some past both ends, where lines come back on the other side; 1 σ."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class BarCandidate:
    """A line that a bar may lie along: stations some pixels apart, and how clear the bar's two edges are at each."""

    width_mm: float
    xy_mm: Array
    """(S, 2): the middle between the edges."""
    edge_clearness: Array
    """(S,): 0 to 1, the fainter edge of the two."""
    along_px: Array
    """(2,): a unit vector along its line in the picture from above."""
    arc_length_mm: Array
    """(S,): how far along it the stations lie."""
    cumulative_clearness: Array
    """(S + 1,): the sum of `clear` over all stations before."""

    @classmethod
    def of(cls, width_mm: float, xy_mm: Array, clear: Array, along_px: Array) -> "BarCandidate":
        """A bar by its stations."""
        way = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(xy_mm, axis=0), axis=1))])
        return cls(width_mm, xy_mm, clear, along_px, way, np.concatenate([[0], np.cumsum(clear)]))

    def mean_clearness(self, low_mm: Array, high_mm: Array) -> Array:
        """How clear the edges are between places along it (...), on average; 0 where there is none."""
        i, j = (
            np.searchsorted(self.arc_length_mm, low_mm),
            np.searchsorted(self.arc_length_mm, high_mm),
        )
        return np.asarray(
            (self.cumulative_clearness[j] - self.cumulative_clearness[i]) / np.maximum(j - i, 1)
        )


@dataclass(frozen=True, slots=True, eq=False)
class StructureTensor:
    """How colours change from pixel to pixel: the structure tensor xx, xy, yy (H, W, 3), all of L*a*b* summed."""

    tensor: Floats

    @classmethod
    def of(cls, view: Orthophoto) -> "StructureTensor":
        lab = cv2.GaussianBlur(cv2.cvtColor(view.pixels, cv2.COLOR_BGR2Lab), (0, 0), 0.7)
        x = cv2.Sobel(lab, cv2.CV_32F, 1, 0, scale=0.125)
        y = cv2.Sobel(lab, cv2.CV_32F, 0, 1, scale=0.125)
        hidden = cv2.erode(view.seen.astype(np.uint8), np.ones((5, 5), np.uint8)) == 0
        hidden[[0, -1]] = hidden[:, [0, -1]] = True  # what lies beyond is read from the border
        tensor = cv2.merge(
            [
                cv2.transform(cv2.multiply(a, b), np.ones((1, 3)))
                for a, b in ((x, x), (x, y), (y, y))
            ]
        )
        tensor[hidden] = 0
        return cls(np.asarray(tensor, np.float32))

    def gradient_along(self, at_px: Array, normal: Array) -> Array:
        """How steep (...) the colours are along unit vectors `normal` (..., 2) at pixels (..., 2)."""
        count = at_px.size // 2
        at = np.resize(
            at_px.astype(np.float32), (max(-(-count // REMAP_ROW_LENGTH), 1), REMAP_ROW_LENGTH, 2)
        )
        seen = cv2.remap(self.tensor, at, None, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)  # type: ignore[call-overload]
        xx, xy, yy = seen.reshape(-1, 3)[:count].T.reshape(3, *at_px.shape[:-1])
        nx, ny = normal[..., 0], normal[..., 1]
        square = xx * nx**2 + 2 * xy * nx * ny + yy * ny**2
        return np.asarray(np.sqrt(np.maximum(square, 0)))


def clearness_of_gradient(steep: Array) -> Array:
    """How clear (...) edges so steep are: 0 to 1."""
    return np.asarray(steep / (steep + HALF_CLEAR_GRADIENT))


def crossing_clearness(
    slopes: StructureTensor, at_px: Array, along: Array, width_px: float, steps_px: Array
) -> Array:
    """How clear (...) the clearest edge is that runs across a bar so far along it (N,) from places (..., 2)."""
    normal = np.stack([-along[..., 1], along[..., 0]], -1)
    aside = normal[..., None, None, :] * (width_px / 2 * CROSS_SAMPLE_OFFSETS)[:, None]
    at = at_px[..., None, None, :] + along[..., None, None, :] * steps_px[:, None, None] + aside
    return clearness_of_gradient(
        slopes.gradient_along(at, along[..., None, None, :]).mean(-1).max(-1)
    )


def find_bars(
    view: Orthophoto, slopes: StructureTensor, widths_mm: Sequence[float]
) -> list[BarCandidate]:
    """Lines across the whole view along which bars may lie, the likeliest of each width first."""
    edges = _find_edges(slopes)
    bars = []
    for width in widths_mm:
        lines = _vote_for_lines(slopes, edges, width / view.mm_per_px, TILE_MM / view.mm_per_px)
        bars += _trace_bars(view, slopes, lines, width)
    return bars


def _find_edges(slopes: StructureTensor) -> tuple[Array, Array, Array]:
    """Where edges are (N, 2), how steep (N,), and the angle of their normal (N,), by all that lies near them.

    An edge is thin: of the pixels across it the steepest counts.
    """
    smooth = cv2.split(cv2.GaussianBlur(slopes.tensor, (0, 0), ORIENTATION_SIGMA_PX))
    mean, turn = (smooth[0] + smooth[2]) / 2, cv2.magnitude((smooth[0] - smooth[2]) / 2, smooth[1])
    xx, xy, yy = cv2.split(slopes.tensor)
    power = (xx + yy) / 2 + cv2.magnitude((xx - yy) / 2, xy)
    row, column = np.nonzero((power > MIN_EDGE_GRADIENT**2) & (turn > MIN_EDGE_COHERENCE * mean))
    at = row * xx.shape[1] + column
    xx, xy, yy = (part.ravel()[at] for part in smooth)
    angle = 0.5 * np.arctan2(2 * xy, xx - yy)
    aside = np.rint(np.sin(angle)).astype(int) * power.shape[1] + np.rint(np.cos(angle)).astype(int)
    flat, last = power.ravel(), power.size - 1
    steep = flat[at]
    thin = (steep >= flat[np.clip(at + aside, 0, last)]) & (
        steep >= flat[np.clip(at - aside, 0, last)]
    )
    place = np.column_stack([column, row])[thin].astype(np.float32)
    return place, np.sqrt(steep[thin]), angle[thin]


def _vote_for_lines(
    slopes: StructureTensor, edges: tuple[Array, Array, Array], width_px: float, tile_px: float
) -> Array:
    """Middle lines (K, 3): a point of each, and the angle of its normal.

    Every edge with an equally directed one a width away votes for the line between the two (Hough, 1962), in each of
    the overlapping tiles that it lies in.
    """
    place, steep, angle = edges
    normal = np.stack([np.cos(angle), np.sin(angle)], -1)
    weights, middles = [], []
    for sign in (-1.0, 1.0):
        partner = np.max(
            [
                slopes.gradient_along(place + sign * (width_px + more) * normal, normal)
                for more in (0, 1)
            ],
            0,
        )
        weight = np.minimum(steep, partner)
        weights.append(clearness_of_gradient(weight))
        middles.append(place + sign * width_px / 2 * normal)
    weight, middle, angle = np.concatenate(weights), np.concatenate(middles), np.tile(angle, 2)
    good = weight > clearness_of_gradient(np.array(MIN_EDGE_GRADIENT))
    weight, middle, angle = weight[good], middle[good], angle[good]
    if not good.any():
        return np.empty((0, 3))
    rows = [_hough_per_tile(weight, middle, angle, tile_px, shift) for shift in (0.0, 0.5)]
    return _suppress_duplicate_lines(np.concatenate(rows))


def _hough_per_tile(
    weight: Array, middle: Array, angle: Array, tile_px: float, shift: float
) -> Array:
    """The best lines (K, 4) of each tile of a tiling: votes, a point, and the angle of the normal."""
    x, y = np.ascontiguousarray(middle.T)  # column by column: sums over a last axis of 2 are slow
    tile_x, tile_y = (np.floor(some / tile_px + shift).astype(int) for some in (x, y))
    first = np.array([tile_x.min(), tile_y.min()])
    count = np.array([tile_x.max(), tile_y.max()]) - first + 1
    tile = (tile_x - first[0]) * count[1] + tile_y - first[1]
    row = np.round(angle * ANGLE_BINS / np.pi).astype(int)
    theta = np.arange(-ANGLE_BINS, ANGLE_BINS + 1) * np.pi / ANGLE_BINS
    rho = (x - (tile_x - shift + 0.5) * tile_px) * np.cos(theta)[row + ANGLE_BINS]
    rho += (y - (tile_y - shift + 0.5) * tile_px) * np.sin(theta)[row + ANGLE_BINS]
    reach = int(0.71 * tile_px) + 2
    column = np.round(np.where(row < 0, -rho, rho)).astype(int) + reach
    size = 2 * reach + 1
    order = np.argsort(tile, kind="stable")
    cell, weight = ((row % ANGLE_BINS) * size + column)[order], weight[order]
    ends = np.searchsorted(tile[order], np.arange(count.prod() + 1))
    centers, tables = [], []
    for number in np.flatnonzero(np.diff(ends)):
        here = slice(*ends[number : number + 2])
        votes = (
            np.bincount(cell[here], weight[here], ANGLE_BINS * size)
            .reshape(ANGLE_BINS, size)
            .astype(np.float32)
        )
        table = np.concatenate([votes[-WRAP_BINS:, ::-1], votes, votes[:WRAP_BINS, ::-1]])
        tables.append(
            cv2.GaussianBlur(table, (7, 7), sigmaX=1.0, sigmaY=ANGLE_SIGMA_BINS)[
                WRAP_BINS:-WRAP_BINS
            ]
        )
        centers.append((np.array(divmod(number, count[1])) + first - shift + 0.5) * tile_px)
    # a mat's planks and courses have many votes at their angles, everywhere: what stands out there is more than usual
    usual = (
        np.sqrt(np.mean([np.square(table).mean(1) for table in tables], axis=0)) + BACKGROUND_VOTES
    )
    rows = [_hough_peaks(np.asarray(table / usual[:, None], np.float32), reach) for table in tables]
    return np.concatenate(
        [part + np.array([0, *center, 0]) for part, center in zip(rows, centers, strict=True)]
    )


def _hough_peaks(votes: Floats, reach: int) -> Array:
    """The best lines (`PEAKS_PER_TILE`, 4) by votes (angles, distances): how many, a point, and the angle of the normal."""
    found = []
    for _ in range(PEAKS_PER_TILE):
        _, most, _, (x, y) = cv2.minMaxLoc(votes)
        angle = y * np.pi / ANGLE_BINS
        found.append((most, (x - reach) * np.cos(angle), (x - reach) * np.sin(angle), angle))
        votes[max(y - 5, 0) : y + 6, max(x - 5, 0) : x + 6] = 0
    return np.array(found)


def _suppress_duplicate_lines(rows: Array) -> Array:
    """The best lines (K, 3) of those found (N, 4), none twice."""
    rows = rows[np.argsort(-rows[:, 0], kind="stable")]
    normal = np.stack([np.cos(rows[:, 3]), np.sin(rows[:, 3])], -1)
    kept: list[int] = []
    for i in range(len(rows)):
        if len(kept) == MAX_LINES_PER_WIDTH:
            break
        turn = np.abs(normal[kept] @ normal[i])
        near = (
            np.abs(((rows[kept, 1:3] - rows[i, 1:3]) * normal[kept]).sum(1))
            < MIN_LINE_SEPARATION_PX
        )
        if not np.any((turn > np.cos(np.radians(5))) & near):
            kept.append(i)
    return rows[kept, 1:]


def _trace_bars(
    view: Orthophoto, slopes: StructureTensor, lines: Array, width_mm: float
) -> list[BarCandidate]:
    """The bars along lines (K, 3), allowing for some slack."""
    height, width = view.seen.shape
    if not len(lines):
        return []
    normal = np.stack([np.cos(lines[:, 2]), np.sin(lines[:, 2])], -1)
    along = np.stack([-normal[:, 1], normal[:, 0]], -1)
    reach = np.hypot(width, height) / 2
    way = np.arange(-reach, reach, STATION_SPACING_PX)
    center = np.array([(width - 1) / 2, (height - 1) / 2])
    middle = center + normal * ((lines[:, :2] - center) * normal).sum(1, keepdims=True)
    line = (middle[:, None] + along[:, None] * way[:, None]).astype(np.float32)
    slack = round(MAX_SIDE_DEVIATION_MM / view.mm_per_px)
    side = np.arange(-slack, slack + 1, dtype=np.float32)
    half = width_mm / view.mm_per_px / 2
    clear = [
        _edge_clearness(
            slopes, line, normal.astype(np.float32), np.asarray(side + sign * half, float)
        )
        for sign in (-1.0, 1.0)
    ]
    fainter = np.minimum(*clear)
    column = _best_paths(fainter)
    both = np.take_along_axis(fainter, column[..., None], 2)[..., 0]
    xy = line + normal[:, None] * side[column][..., None]
    return [
        BarCandidate.of(width_mm, view.to_mm(xy[k]), both[k], along[k]) for k in range(len(lines))
    ]


def _edge_clearness(slopes: StructureTensor, line: Array, normal: Array, side: Array) -> Array:
    """How clear (K, S, D) edges along lines (K, S, 2) are, so far to their side (D,)."""
    at = line[:, :, None] + normal[:, None, None] * side[:, None].astype(np.float32)
    return clearness_of_gradient(slopes.gradient_along(at, normal[:, None, None]))


def _best_paths(gain: Array) -> NDArray[np.intp]:
    """Through gains (K, S, D), the columns (K, S) of the best paths that step aside by one at most, at a cost."""
    count, stations, columns = gain.shape
    total = np.full((count, columns + 2), -1e9, np.float32)
    total[:, 1:-1] = gain[:, 0]
    came = np.zeros(gain.shape, np.int8)
    for s in range(1, stations):
        left, right = total[:, :-2] - SIDESTEP_COST, total[:, 2:] - SIDESTEP_COST
        best = np.maximum(left, right)
        aside = best > total[:, 1:-1]
        came[:, s] = np.where(aside, np.where(right > left, 1, -1), 0)
        total[:, 1:-1] = np.where(aside, best, total[:, 1:-1]) + gain[:, s]
    path = np.empty((count, stations), np.intp)
    path[:, -1] = total[:, 1:-1].argmax(1)
    rows = np.arange(count)
    for s in range(stations - 1, 0, -1):
        path[:, s - 1] = path[:, s] + came[rows, s, path[:, s]]
    return path
