"""Straight lines midway between two parallel edges a known width apart (Hough, 1962)."""

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.vectors import unit_vectors
from overruler.geometry.pose import Array
from overruler.vision.rulers.structure_tensor import (
    Floats,
    StructureTensor,
    clearness_of_gradient,
    row_bands,
)

Places = NDArray[np.intp]
"""Rows or columns (N,) of pixels."""

MAX_LINES_PER_WIDTH = 40
"""Largest number of lines that are kept for each width. Edges of mats, walls and shadows have many: of
twelve sticks on four rendered tables two were found with 14 lines, five with 24, seven with 40."""
MIN_EDGE_GRADIENT = 3.0
"""Least gradient of an edge that votes, in L*a*b* units a pixel: texture is weaker."""
MIN_EDGE_COHERENCE = 0.35
"""Least coherence of the directions round an edge that votes: texture runs every way."""
ORIENTATION_SIGMA_PX = 2.0
"""1 σ of the window over which an edge's direction is averaged, in pixels."""
TILE_MM = 320.0
"""Side of the tiles in which lines are sought, in mm."""
PEAKS_PER_TILE = 3
"""Number of lines that are found in each tile."""
MIN_LINE_SEPARATION_PX = 6
"""Parallel lines nearer to each other than this are duplicates, in pixels."""
MIN_LINE_ANGLE_DEG = 5
"""Lines that differ by less than this angle are parallel, in degrees."""
BACKGROUND_VOTES = 0.5
"""Votes that are added to the root mean square of each angle."""
ANGLE_BINS = 180
"""Bins of a line's angle, over 180°."""
WRAP_BINS = 8
"""Bins that are repeated at both ends of the angles, where lines come back reversed."""
ANGLE_SIGMA_BINS = 1.2
"""1 σ of the blur over the angles, in bins."""
PEAK_HALF_SIZE_BINS = 5
"""Votes this near to a peak belong to it, in bins of angle and of distance."""


@dataclass(frozen=True, slots=True, eq=False)
class EdgePoints:
    """N points on edges of the picture."""

    xy_px: Array
    """(N, 2)."""
    gradient: Array
    """(N,): in L*a*b* units a pixel."""
    normal_angle: Array
    """(N,): angle of the edge's normal, in radians."""


@dataclass(frozen=True, slots=True, eq=False)
class _Votes:
    """N votes for lines."""

    weight: Array
    """(N,)."""
    xy_px: Array
    """(N, 2): a point of the line."""
    angle: Array
    """(N,): angle of its normal, in radians."""


def find_edge_points(slopes: StructureTensor) -> EdgePoints:
    """The pixels on edges, thinned to the steepest of those across an edge."""
    power = _largest_eigenvalue(slopes.tensor)
    row, column, angle = (
        np.concatenate(parts) for parts in zip(*_edges(slopes, power), strict=True)
    )
    at = row * power.shape[1] + column
    du, dv = np.rint(unit_vectors(angle)).astype(int).T
    aside = dv * power.shape[1] + du
    flat, last = power.ravel(), power.size - 1
    steep = flat[at]
    before = flat[np.clip(at - aside, 0, last)]
    after = flat[np.clip(at + aside, 0, last)]
    thin = (steep >= after) & (steep >= before)
    xy_px = np.column_stack([column, row])[thin].astype(np.float32)
    return EdgePoints(xy_px, np.sqrt(steep[thin]), angle[thin])


def _edges(slopes: StructureTensor, power: Floats) -> Iterator[tuple[Places, Places, Floats]]:
    """Yield rows, columns and normals' angles (N,) of the pixels on edges, band by band."""
    for band, around in row_bands(len(power)):
        blurred = cv2.GaussianBlur(slopes.tensor[around], (0, 0), ORIENTATION_SIGMA_PX)
        inner = slice(band.start - around.start, band.stop - around.start)
        xx, xy, yy = cv2.split(blurred[inner])
        anisotropy = cv2.magnitude((xx - yy) / 2, xy)
        is_coherent = anisotropy > MIN_EDGE_COHERENCE * ((xx + yy) / 2)
        row, column = np.nonzero((power[band] > MIN_EDGE_GRADIENT**2) & is_coherent)
        xx, xy, yy = (part[row, column] for part in (xx, xy, yy))
        yield row + band.start, column, 0.5 * np.arctan2(2 * xy, xx - yy)


def _largest_eigenvalue(tensor: Floats) -> Floats:
    """(H, W): the squared gradient along the steepest direction."""
    largest = np.empty(tensor.shape[:2], np.float32)
    for band, _ in row_bands(len(tensor)):
        xx, xy, yy = cv2.split(tensor[band])
        anisotropy = cv2.magnitude((xx - yy) / 2, xy)
        largest[band] = (xx + yy) / 2 + anisotropy
    return largest


def find_lines(
    slopes: StructureTensor, edges: EdgePoints, width_px: float, mm_per_px: float
) -> Array:
    """Centre lines (K, 3): a point (x, y) of each, and the angle of its normal.

    Every edge that has a parallel one a width away votes for the line between the two, in each of
    the overlapping tiles that it lies in.
    """
    votes = _cast_votes(slopes, edges, width_px)
    if not len(votes.weight):
        return np.empty((0, 3))
    tile_px = TILE_MM / mm_per_px
    rows = [_best_lines_per_tile(votes, tile_px, shift) for shift in (0.0, 0.5)]
    return _suppress_duplicate_lines(np.concatenate(rows))


def _cast_votes(slopes: StructureTensor, edges: EdgePoints, width_px: float) -> _Votes:
    """Votes for the lines half a width beside each edge, weighted by the fainter of two edges."""
    normal = unit_vectors(edges.normal_angle)
    weights, points = [], []
    for sign in (-1.0, 1.0):
        nearer = slopes.gradient_along(edges.xy_px + sign * width_px * normal, normal)
        farther = slopes.gradient_along(edges.xy_px + sign * (width_px + 1) * normal, normal)
        fainter = np.minimum(edges.gradient, np.maximum(nearer, farther))
        weights.append(clearness_of_gradient(fainter))
        points.append(edges.xy_px + sign * width_px / 2 * normal)
    weight = np.concatenate(weights)
    point = np.concatenate(points)
    angle = np.tile(edges.normal_angle, 2)
    good = weight > clearness_of_gradient(np.array(MIN_EDGE_GRADIENT))
    return _Votes(weight[good], point[good], angle[good])


class _Tiling:
    """Square tiles over the votes, counted row by row."""

    __slots__ = ("count", "first", "number", "shift", "tile_px", "x", "y")

    def __init__(self, votes: _Votes, tile_px: float, shift: float) -> None:
        """`shift` moves the tiles by a share of their side."""
        self.tile_px = tile_px
        self.shift = shift
        x, y = np.ascontiguousarray(votes.xy_px.T)
        tile_x = np.floor(x / tile_px + shift).astype(int)
        tile_y = np.floor(y / tile_px + shift).astype(int)
        self.first = np.array([tile_x.min(), tile_y.min()])
        self.count = np.array([tile_x.max(), tile_y.max()]) - self.first + 1
        column = tile_x - self.first[0]
        self.number = column * self.count[1] + tile_y - self.first[1]
        """(N,): the tile of each vote."""
        self.x = x - (tile_x - shift + 0.5) * tile_px
        """(N,): the votes' place from the centre of their tile, in pixels."""
        self.y = y - (tile_y - shift + 0.5) * tile_px

    def center_px(self, number: int) -> Array:
        """The centre (2,) of a tile."""
        index = np.array(divmod(number, self.count[1])) + self.first
        return np.asarray((index - self.shift + 0.5) * self.tile_px)


def _best_lines_per_tile(votes: _Votes, tile_px: float, shift: float) -> Array:
    """The best lines (K, 4) of each tile: votes, a point (x, y), and the angle of the normal."""
    tiling = _Tiling(votes, tile_px, shift)
    reach = int(0.71 * tile_px) + 2
    size = 2 * reach + 1
    cell = _hough_cells(votes, tiling, reach)
    order = np.argsort(tiling.number, kind="stable")
    cell, weight = cell[order], votes.weight[order]
    ends = np.searchsorted(tiling.number[order], np.arange(tiling.count.prod() + 1))
    centers, tables = [], []
    for number in np.flatnonzero(np.diff(ends)):
        here = slice(*ends[number : number + 2])
        counts = np.bincount(cell[here], weight[here], ANGLE_BINS * size)
        tables.append(_blur_votes(counts.reshape(ANGLE_BINS, size).astype(np.float32)))
        centers.append(tiling.center_px(int(number)))
    # planks and bricks get many votes at their angles everywhere: weigh against the usual
    mean_squares = [np.square(table).mean(1) for table in tables]
    usual = np.sqrt(np.mean(mean_squares, axis=0)) + BACKGROUND_VOTES
    rows = []
    for table, center in zip(tables, centers, strict=True):
        relative = np.asarray(table / usual[:, None], np.float32)
        rows.append(_hough_peaks(relative, reach) + np.array([0, *center, 0]))
    return np.concatenate(rows)


def _hough_cells(votes: _Votes, tiling: _Tiling, reach: int) -> NDArray[np.intp]:
    """(N,): the cell of each vote in its tile's table of angles and distances, row by row."""
    row = np.round(votes.angle * ANGLE_BINS / np.pi).astype(int)
    theta = np.arange(-ANGLE_BINS, ANGLE_BINS + 1) * np.pi / ANGLE_BINS
    rho = tiling.x * np.cos(theta)[row + ANGLE_BINS]
    rho += tiling.y * np.sin(theta)[row + ANGLE_BINS]
    rho = np.where(row < 0, -rho, rho)
    column = np.round(rho).astype(int) + reach
    return np.asarray((row % ANGLE_BINS) * (2 * reach + 1) + column)


def _blur_votes(votes: Floats) -> Floats:
    """Blur a table of votes (angles, distances); the angles wrap, with the distances reversed."""
    mirrored = votes[:, ::-1]
    wrapped = np.concatenate([mirrored[-WRAP_BINS:], votes, mirrored[:WRAP_BINS]])
    blurred = cv2.GaussianBlur(wrapped, (7, 7), sigmaX=1.0, sigmaY=ANGLE_SIGMA_BINS)
    return np.asarray(blurred[WRAP_BINS:-WRAP_BINS], np.float32)


def _hough_peaks(votes: Floats, reach: int) -> Array:
    """The best lines (`PEAKS_PER_TILE`, 4) of a table of votes, which is cleared at each."""
    found = []
    for _ in range(PEAKS_PER_TILE):
        _, most, _, (x, y) = cv2.minMaxLoc(votes)
        angle = y * np.pi / ANGLE_BINS
        rho = x - reach
        found.append((most, rho * np.cos(angle), rho * np.sin(angle), angle))
        rows = slice(max(y - PEAK_HALF_SIZE_BINS, 0), y + PEAK_HALF_SIZE_BINS + 1)
        columns = slice(max(x - PEAK_HALF_SIZE_BINS, 0), x + PEAK_HALF_SIZE_BINS + 1)
        votes[rows, columns] = 0
    return np.array(found)


def _suppress_duplicate_lines(rows: Array) -> Array:
    """The best of the lines (N, 4) without duplicates: points and normals' angles (K, 3)."""
    rows = rows[np.argsort(-rows[:, 0], kind="stable")]
    normal = unit_vectors(rows[:, 3])
    min_cosine = np.cos(np.radians(MIN_LINE_ANGLE_DEG))
    kept: list[int] = []
    for i in range(len(rows)):
        if len(kept) == MAX_LINES_PER_WIDTH:
            break
        normals = normal[kept]
        parallel = np.abs(normals @ normal[i]) > min_cosine
        between = rows[kept, 1:3] - rows[i, 1:3]
        distance = np.abs((between * normals).sum(1))
        if not np.any(parallel & (distance < MIN_LINE_SEPARATION_PX)):
            kept.append(i)
    return rows[kept, 1:]
