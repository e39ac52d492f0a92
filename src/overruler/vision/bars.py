"""Long thin bars in the picture from above: two straight parallel edges a known width apart, perhaps bent at joints."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.orthophoto import Orthophoto

CLEAR = 5.0
"""A step of colour (L*a*b* units a pixel) this large counts half."""
MOST = 10
"""How many lines are followed at most, of each width."""
SLACK_MM = 12.0
"""How far a bent bar leaves its straight line."""
TURN_COST = 1.2
"""What a sidestep by a pixel costs a path, in stations of clear edges."""
FAINT = 3.0
"""Smaller ones are the mat's own texture, and do not vote for lines."""
ALONG_PX = 2.0
"""1 σ of the window in which an edge's direction is averaged."""
TILE_MM, PEAKS, NEAR_PX = 320.0, 3, 6
"""Lines are sought in tiles of this size, so many in each; and no two so near each other."""
ANGLES, MARGIN, SPREAD = 180, 8, 1.2
"""A line's angle is counted by the degree, and some past both ends, where lines come back on the other side; 1 σ."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Bar:
    """A line that a bar may lie along: stations a pixel apart, and how clear the bar's two edges are at each."""

    width_mm: float
    xy_mm: Array
    """(S, 2): the middle between the edges."""
    clear: Array
    """(S,): 0 to 1, the fainter edge of the two."""


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """How colours change from pixel to pixel: the structure tensor xx, xy, yy (3, H, W), all of L*a*b* summed."""

    tensor: Floats

    @classmethod
    def of(cls, view: Orthophoto) -> "Slopes":
        lab = cv2.cvtColor(view.pixels, cv2.COLOR_BGR2Lab)
        lab = cv2.GaussianBlur(lab, (0, 0), 0.7)
        x = cv2.Sobel(lab, cv2.CV_32F, 1, 0, scale=0.125)
        y = cv2.Sobel(lab, cv2.CV_32F, 0, 1, scale=0.125)
        tensor = np.stack([np.einsum("ijc,ijc->ij", a, b) for a, b in ((x, x), (x, y), (y, y))])
        tensor[:, cv2.erode(view.seen.astype(np.uint8), np.ones((5, 5), np.uint8)) == 0] = 0
        tensor[:, [0, -1]] = tensor[:, :, [0, -1]] = 0  # what lies beyond is read from the border
        return cls(tensor)

    def across(self, at_px: Array, normal: Array) -> Array:
        """How steep (...) the colours are along unit vectors `normal` (..., 2) at pixels (..., 2)."""
        height, width = self.tensor.shape[1:]
        column = np.clip(np.rint(at_px[..., 0]), 0, width - 1).astype(int)
        row = np.clip(np.rint(at_px[..., 1]), 0, height - 1).astype(int)
        xx, xy, yy = self.tensor[:, row, column]
        nx, ny = normal[..., 0], normal[..., 1]
        square = xx * nx**2 + 2 * xy * nx * ny + yy * ny**2
        return np.asarray(np.sqrt(np.maximum(square, 0)))


def find_bars(view: Orthophoto, widths_mm: Sequence[float]) -> list[Bar]:
    """Lines across the whole view along which bars of these widths may lie, the likeliest of each width first."""
    slopes = Slopes.of(view)
    edges = _edges(slopes)
    found = []
    for width_px in (width / view.mm_per_px for width in widths_mm):
        lines = _lines(slopes, edges, width_px, TILE_MM / view.mm_per_px)
        found += _follow(view, slopes, lines, width_px) if len(lines) else []
    return found


def _edges(slopes: Slopes) -> tuple[Array, Array, Array]:
    """Where edges are (N, 2), how steep (N,), and the angle of their normal (N,), by all that lies near them."""
    xx, xy, yy = slopes.tensor
    strength = np.sqrt(np.maximum((xx + yy) / 2 + np.hypot((xx - yy) / 2, xy), 0))
    row, column = np.nonzero(strength > FAINT)
    xx, xy, yy = (cv2.GaussianBlur(part, (0, 0), ALONG_PX)[row, column] for part in slopes.tensor)
    return np.column_stack([column, row]).astype(float), strength[row, column], 0.5 * np.arctan2(2 * xy, xx - yy)


def _lines(slopes: Slopes, edges: tuple[Array, Array, Array], width_px: float, tile_px: float) -> Array:
    """Middle lines (K, 3): a point of each, and the angle of its normal.

    Every edge with an equally directed one a width away votes for the line between the two (Hough, 1962), in each of
    the overlapping tiles that it lies in.
    """
    place, steep, angle = edges
    normal = np.stack([np.cos(angle), np.sin(angle)], -1)
    weights, middles = [], []
    for sign in (-1.0, 1.0):
        weight = np.minimum(steep, slopes.across(place + sign * width_px * normal, normal))
        weights.append(weight / (weight + CLEAR))
        middles.append(place + sign * width_px / 2 * normal)
    weight, middle, angle = np.concatenate(weights), np.concatenate(middles), np.tile(angle, 2)
    good = weight > FAINT / (FAINT + CLEAR)
    weight, middle, angle = weight[good], middle[good], angle[good]
    if not good.any():
        return np.empty((0, 3))
    shifts = np.array([(0, 0), (0, 0.5), (0.5, 0), (0.5, 0.5)])
    rows = [_tiled(weight, middle, angle, tile_px, shift) for shift in shifts]
    return _strongest(np.concatenate(rows))


def _tiled(weight: Array, middle: Array, angle: Array, tile_px: float, shift: Array) -> Array:
    """The best lines (K, 4) of each tile of a tiling: votes, a point, and the angle of the normal."""
    at = np.floor(middle / tile_px + shift).astype(int)
    first = at.min(0)
    at -= first
    count = at.max(0) + 1
    tile = at[:, 0] * count[1] + at[:, 1]
    row = np.round(angle * ANGLES / np.pi).astype(int)
    theta = row * np.pi / ANGLES
    local = middle - (at + first - shift + 0.5) * tile_px
    rho = local[:, 0] * np.cos(theta) + local[:, 1] * np.sin(theta)
    reach = int(0.71 * tile_px) + 2
    column = np.round(np.where(row < 0, -rho, rho)).astype(int) + reach
    size = 2 * reach + 1
    votes = np.bincount((tile * ANGLES + row % ANGLES) * size + column, weight, count.prod() * ANGLES * size)
    table = votes.reshape(-1, ANGLES, size).astype(np.float32)
    table = np.concatenate([table[:, -MARGIN:, ::-1], table, table[:, :MARGIN, ::-1]], 1)
    shape = table.shape
    smooth = cv2.GaussianBlur(table.reshape(-1, size), (0, 0), sigmaX=1.0, sigmaY=SPREAD).reshape(shape)
    found = []
    for number, votes_here in enumerate(smooth):
        center = (np.array(divmod(number, count[1])) + first - shift + 0.5) * tile_px
        inner = votes_here[MARGIN:-MARGIN]
        for _ in range(PEAKS):
            _, most, _, (x, y) = cv2.minMaxLoc(inner)
            theta_here = y * np.pi / ANGLES
            point = center + (x - reach) * np.array([np.cos(theta_here), np.sin(theta_here)])
            found.append((most, *point, theta_here))
            inner[max(y - 5, 0) : y + 6, max(x - 5, 0) : x + 6] = 0
    return np.array(found)


def _strongest(rows: Array) -> Array:
    """The best lines (K, 3) of those found (N, 4), none twice."""
    rows = rows[np.argsort(-rows[:, 0], kind="stable")]
    normal = np.stack([np.cos(rows[:, 3]), np.sin(rows[:, 3])], -1)
    kept: list[int] = []
    for i in range(len(rows)):
        if len(kept) == MOST:
            break
        turn = np.abs(normal[kept] @ normal[i])
        near = np.abs(((rows[kept, 1:3] - rows[i, 1:3]) * normal[kept]).sum(1)) < NEAR_PX
        if not np.any((turn > np.cos(np.radians(5))) & near):
            kept.append(i)
    return rows[kept, 1:]


def _follow(view: Orthophoto, slopes: Slopes, lines: Array, width_px: float) -> list[Bar]:
    """The bars along lines (K, 3), allowing for bends."""
    height, width = view.seen.shape
    normal = np.stack([np.cos(lines[:, 2]), np.sin(lines[:, 2])], -1)
    along = np.stack([-normal[:, 1], normal[:, 0]], -1)
    reach = np.hypot(width, height) / 2
    way = np.arange(-reach, reach)
    center = np.array([(width - 1) / 2, (height - 1) / 2])
    middle = center + normal * ((lines[:, :2] - center) * normal).sum(1, keepdims=True)
    line = middle[:, None] + along[:, None] * way[:, None]
    slack = round(SLACK_MM / view.mm_per_px)
    side = np.arange(-slack, slack + 1, dtype=float)
    clear = [_clear(slopes, line, normal, np.asarray(side + sign * width_px / 2)) for sign in (-1.0, 1.0)]
    fainter = np.minimum(*clear)
    column = _best_paths(fainter)
    both = np.take_along_axis(fainter, column[..., None], 2)[..., 0]
    xy = line + normal[:, None] * side[column][..., None]
    width_mm = width_px * view.mm_per_px
    return [Bar(width_mm, view.to_mm(xy[k]), both[k]) for k in range(len(lines))]


def _clear(slopes: Slopes, line: Array, normal: Array, side: Array) -> Array:
    """How clear (K, S, D) edges along lines (K, S, 2) are, so far to their side (D,)."""
    at = line[:, :, None] + normal[:, None, None] * side[:, None]
    steep = slopes.across(at, normal[:, None, None])
    return np.asarray(steep / (steep + CLEAR))


def _best_paths(gain: Array) -> NDArray[np.intp]:
    """Through gains (K, S, D), the columns (K, S) of the best paths that step aside by one at most, at a cost."""
    total = gain[:, 0].copy()
    came = np.zeros(gain.shape, np.int8)
    for s in range(1, gain.shape[1]):
        padded = np.pad(total, ((0, 0), (1, 1)), constant_values=-1e9)
        options = np.stack([padded[:, :-2] - TURN_COST, total, padded[:, 2:] - TURN_COST])
        choice = options.argmax(0)
        came[:, s] = choice - 1
        total = np.take_along_axis(options, choice[None], 0)[0] + gain[:, s]
    path = np.empty(gain.shape[:2], np.intp)
    path[:, -1] = total.argmax(1)
    rows = np.arange(len(gain))
    for s in range(gain.shape[1] - 1, 0, -1):
        path[:, s - 1] = path[:, s] + came[rows, s, path[:, s]]
    return path
