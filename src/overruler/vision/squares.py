"""One marker's square, fitted to every black-to-white edge of its print at the photo's full resolution."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.edges import Floats, edge_offsets
from overruler.vision.imprint import Stations, stations

CORNERS = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], float)
"""The corners' places on the marker, in sides: u to its right, v down, from the printed top left."""
BEND_SIGMA, SHIFT_SIGMA_PX = 0.3, 0.5
"""Priors of the fit, 1 σ: how much the lens bends lines at the picture's corner, and the shift of edges."""
LOST_PX = 50.0
"""Edges that scatter more than this about the fit are no edges of the marker."""
FLOOR_PX = 0.02
"""Nothing that is averaged over one edge is surer than this."""
FAINT = 0.3
"""An edge less steep than this share of the marker's median one is no edge of its print."""
FEWEST_EDGES, FEWEST_AN_EDGE = 10, 1.5
"""What must be seen of a marker: edges of cells, and places on an edge that counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Pieces of edges as seen: each is worth one number, its place along its normal."""

    place: Array
    """(K, 2): where on the marker, in sides from the printed top left, u right and v down."""
    xy_px: Array
    """(K, 2): where it was seen."""
    normal_px: Array
    """(K, 2): unit vectors across the edge, from dark to bright."""
    sigma_px: Array
    """(K,): 1 σ along the normal."""
    line: NDArray[np.intp]
    """(K,): a number for the straight line of the print that it lies on."""


@dataclass(frozen=True, slots=True, eq=False)
class Square:
    """The fit of one marker."""

    corners_px: Array
    """(4, 2): in OpenCV's order, where they are once the shift of the edges has been taken out."""
    covariance_px2: Array
    """(8, 8) over the corners, u and v of each in turn."""
    shift_px: float
    """How far edges lie towards their dark side."""
    shift_sigma_px: float
    edges: Edges
    steepness: float
    """Median slope of its edges, in brightness per px."""


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """The stations as seen: where (S, 2), unit normals (S, 2) from dark to bright, and how much each counts (S,)."""

    xy_px: Array
    normal_px: Array
    weight: Array


def fit_square(
    grey: Floats, corners_px: Array, cells: NDArray[np.bool_], size_px: tuple[int, int], corner_px: Array
) -> Square | None:
    """Fit the marker whose corners lie near `corners_px` (4, 2); None where too little of it is seen.

    `grey` is the patch (H, W) float32 of a picture of `size_px` whose upper left pixel is the picture's `corner_px`
    (2,); `cells` (N, N) is the marker's print with the black frame, True where white.
    """
    model = _Model(size_px)
    cell_px = side_px(corners_px) / len(cells)
    where = stations(cells, cell_px)
    state = np.concatenate([np.ravel(corners_px), [0.0, 0.0]])
    try:
        for reach_px in (min(0.45 * cell_px, 8.0), min(0.35 * cell_px, 3.0), min(0.35 * cell_px, 2.0)):
            seen, steepness = _look(grey, model, state, where, reach_px, corner_px)
            if len(np.unique(where.edge[seen.weight > 0])) < FEWEST_EDGES:
                return None
            state, seen, spread_px = model.robust(state, where, seen)
        edges = _gather(model, state, where, seen, spread_px)
        state, covariance = model.settle(state, edges)
    except np.linalg.LinAlgError:  # what was seen holds no square
        return None
    sigma = float(np.sqrt(covariance[9, 9]))
    return Square(state[:8].reshape(4, 2), covariance[:8, :8], float(state[9]), sigma, edges, steepness)


def _look(
    grey: Floats, model: "_Model", state: Array, where: Stations, reach_px: float, corner_px: Array
) -> tuple[_Seen, float]:
    """The stations as the picture shows them near where the state has them, and the median slope of their edges."""
    xy, normal = model.predict(state, where.place), model.normals(state, where)
    offset, steep = edge_offsets(grey, xy - corner_px, normal, reach_px)
    found = np.isfinite(offset) & (steep > FAINT * np.median(steep))
    seen = _Seen(xy + normal * np.nan_to_num(offset)[:, None], normal, found.astype(float))
    return seen, float(np.median(steep[found])) if found.any() else 0.0


def side_px(corners_px: Array) -> float:
    """The mean side of a quadrilateral (4, 2)."""
    return float(np.linalg.norm(corners_px - np.roll(corners_px, 1, 0), axis=1).mean())


# --- the model of a square ---


class _Model:
    """A homography of the unit square, bent about the picture's centre, with edges shifted towards their dark side.

    State (10,): the four corners as seen, the bend, the shift in px.
    """

    def __init__(self, size_px: tuple[int, int]) -> None:
        self.middle = (np.array(size_px) - 1) / 2
        self.radius = float(np.hypot(*size_px)) / 2

    def predict(self, state: Array, place: Array) -> Array:
        """Where places (..., 2) of the marker are seen (..., 2)."""
        matrix = square_to_quad(self._straight(state[:8].reshape(4, 2), state[8]))
        flat = np.concatenate([place, np.ones((*place.shape[:-1], 1))], -1) @ matrix.T
        from_middle = flat[..., :2] / flat[..., 2:] - self.middle
        return np.asarray(self.middle + from_middle * self._growth(from_middle, state[8]))

    def _growth(self, from_middle: Array, bend: float) -> Array:
        return np.asarray(1 + bend * (from_middle**2).sum(-1, keepdims=True) / self.radius**2)

    def _straight(self, bent: Array, bend: float) -> Array:
        """The inverse of the bending, by fixed-point iteration."""
        from_middle = bent - self.middle
        flat = from_middle
        for _ in range(10):
            flat = from_middle / self._growth(flat, bend)
        return np.asarray(self.middle + flat)

    def normals(self, state: Array, where: Stations) -> Array:
        """Unit normals in the picture (S, 2), from dark to bright."""
        along = where.across[:, ::-1] * 1e-3
        tangent = self.predict(state, where.place + along) - self.predict(state, where.place - along)
        normal = np.stack([tangent[:, 1], -tangent[:, 0]], 1)
        towards = self.predict(state, where.place + where.across * 1e-3) - self.predict(state, where.place)
        normal *= np.sign((normal * towards).sum(1, keepdims=True))
        return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True))

    def _jacobian(self, state: Array, place: Array) -> Array:
        """d place seen / d state[:9] (..., 2, 9), by central differences."""
        steps = np.diag([0.1] * 8 + [1e-3])
        columns = []
        for i, step in enumerate(steps):
            move = np.append(step, 0)
            columns.append((self.predict(state + move, place) - self.predict(state - move, place)) / (2 * step[i]))
        return np.stack(columns, -1)

    def residuals(self, state: Array, place: Array, seen_px: Array, normal_px: Array) -> Array:
        """How far edges lie from where the state has them (S,), along their normals."""
        return np.asarray(((seen_px - self.predict(state, place)) * normal_px).sum(1) + state[9])

    def rows(self, state: Array, place: Array, normal_px: Array) -> Array:
        """d residuals / d state (S, 10)."""
        by_shape = -(normal_px[:, :, None] * self._jacobian(state, place)).sum(1)
        return np.column_stack([by_shape, np.ones(len(place))])

    def robust(self, state: Array, where: Stations, seen: _Seen) -> tuple[Array, _Seen, float]:
        """The state by the stations that agree, how much each counts, and their spread in px."""
        rows = self.rows(state, where.place, seen.normal_px)  # hardly changes over the few px that are left
        for _ in range(8):
            residual = self.residuals(state, where.place, seen.xy_px, seen.normal_px)
            spread = max(1.4826 * float(np.median(np.abs(residual[seen.weight > 0]))), FLOOR_PX)
            if not spread < LOST_PX:
                raise np.linalg.LinAlgError("the fit runs away")
            weight = (seen.weight > 0) * _tukey(residual / spread)
            state, _ = self._step(state, rows, residual, weight / spread**2)
        return state, _Seen(seen.xy_px, seen.normal_px, weight), spread

    def settle(self, state: Array, edges: Edges) -> tuple[Array, Array]:
        """The state by whole edges, and its covariance (10, 10)."""
        rows = self.rows(state, edges.place, edges.normal_px)
        residual = self.residuals(state, edges.place, edges.xy_px, edges.normal_px)
        return self._step(state, rows, residual, 1 / edges.sigma_px**2)

    def _step(self, state: Array, rows: Array, residual: Array, weight: Array) -> tuple[Array, Array]:
        prior = np.zeros(10)
        prior[8:] = 1 / BEND_SIGMA**2, 1 / SHIFT_SIGMA_PX**2
        covariance = np.linalg.inv(rows.T @ (rows * weight[:, None]) + np.diag(prior))
        return state - covariance @ (rows.T @ (weight * residual) + prior * state), np.asarray(covariance)


def _tukey(z: Array) -> Array:
    """Tukey's biweight at 4.7 σ."""
    return np.asarray(np.clip(1 - (z / 4.7) ** 2, 0, None) ** 2)


def square_to_quad(corners: Array) -> Array:
    """The homography (3, 3) of the unit square to four corners (4, 2) in `CORNERS`' order (Heckbert, 1989)."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = corners
    dx1, dx2, sx = x1 - x2, x3 - x2, x0 - x1 + x2 - x3
    dy1, dy2, sy = y1 - y2, y3 - y2, y0 - y1 + y2 - y3
    bottom = dx1 * dy2 - dx2 * dy1
    g, h = (sx * dy2 - dx2 * sy) / bottom, (dx1 * sy - sx * dy1) / bottom
    return np.array([[x1 - x0 + g * x1, x3 - x0 + h * x3, x0], [y1 - y0 + g * y1, y3 - y0 + h * y3, y0], [g, h, 1]])


# --- stations to edges ---


def _gather(model: _Model, state: Array, where: Stations, seen: _Seen, spread_px: float) -> Edges:
    """One observation an edge: the weighted mean of its stations, at the middle of what was seen of it."""
    total = np.bincount(where.edge, seen.weight, len(where.line))
    keep = np.nonzero(total > FEWEST_AN_EDGE)[0]

    def mean(values: Array) -> Array:
        return np.asarray(np.bincount(where.edge, seen.weight * values, len(total))[keep] / total[keep])

    residual = mean(model.residuals(state, where.place, seen.xy_px, seen.normal_px))
    place = np.stack([mean(where.place[:, 0]), mean(where.place[:, 1])], 1)
    normal = np.stack([mean(seen.normal_px[:, 0]), mean(seen.normal_px[:, 1])], 1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    xy = model.predict(state, place) + normal * (residual - state[9])[:, None]
    sigma = np.hypot(spread_px / np.sqrt(total[keep]), FLOOR_PX)
    for side in (where.outer[keep], ~where.outer[keep]):
        sigma[side] *= _excess(residual[side] / sigma[side], 10 / len(keep))
    return Edges(place, xy, normal, sigma, where.line[keep])


def _excess(z: Array, used: float) -> float:
    """How much more whole edges scatter than their profiles promised, 1 at least; the fit took the share `used`."""
    return max(1.0, float(np.sqrt(np.mean(z**2) / max(1 - used, 0.2)))) if len(z) else 1.0
