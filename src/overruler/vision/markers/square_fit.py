"""Fit one marker's square to every black-to-white edge of its print, at full resolution."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.imaging.subpixel_edges import Floats, edge_offsets
from overruler.vision.markers.print_edges import EdgeStations, place_stations
from overruler.vision.markers.square_model import STATE_SIZE, SquareModel

BEND_SIGMA = 0.1
"""Prior 1 σ of the bend: how much the lens bends lines at the picture's corner."""
SHIFT_SIGMA_PX = 0.5
"""Prior 1 σ of the edge shift, in px."""
SEARCH_REACHES = ((0.45, 8.0), (0.35, 3.0), (0.35, 2.0))
"""Search reach of each pass: in cells, and at most in px."""
ROBUST_ITERATIONS = 8
"""Iterations of the robust fit."""
MAX_SPREAD_PX = 50.0
"""Edges that scatter more about the fit are not the marker's, in px."""
MIN_EDGE_SIGMA_PX = 0.005
"""Least 1 σ of an average over one edge, in px, whatever the print and the lens."""
PROFILE_CORRELATION_INFLATION = 1.1
"""Factor on an edge's σ: grain and JPEG blocks correlate neighbouring profiles."""
MAX_SPREAD_CELLS = 0.15
"""Edges that scatter more in the end, in cells, belong to something else."""
PICTURE_BORDER_PX = 2.5
"""Edges nearer to the picture's border are not seen whole, in px."""
MIN_STEEPNESS_SHARE = 0.3
"""Edges less steep than this share of the marker's median are not its print's."""
MIN_EDGES = 10
"""Least number of cell edges seen."""
MIN_WEIGHT_PER_EDGE = 1.5
"""Least total weight of the stations of an edge that counts."""


@dataclass(frozen=True, slots=True, eq=False)
class MarkerEdges:
    """K pieces of edges as seen. Each contributes one number, its place along its normal."""

    place: Array
    """(K, 2): on the marker, in sides from the printed top left, u right and v down."""
    xy_px: Array
    """(K, 2): in the photo."""
    normal_px: Array
    """(K, 2): unit vectors across the edge, from dark to bright."""
    sigma_px: Array
    """(K,): 1 σ along the normal."""
    line: NDArray[np.intp]
    """(K,): a number for the straight line of the print on which it lies."""


@dataclass(frozen=True, slots=True, eq=False)
class Square:
    """The fit of one marker."""

    corners_px: Array
    """(4, 2): in OpenCV's order, with the shift of the edges removed."""
    covariance_px2: Array
    """(8, 8): over the corners, u and v of each in turn."""
    shift_px: float
    """How far edges lie towards their dark side."""
    edges: MarkerEdges
    """The edges that it was fitted to."""
    steepness: float
    """Median slope of its edges, in brightness per px."""


@dataclass(frozen=True, slots=True, eq=False)
class _Observations:
    """The S stations as seen."""

    xy_px: Array
    """(S, 2): place in the photo."""
    normal_px: Array
    """(S, 2): unit normals from dark to bright."""
    weight: Array
    """(S,): weight, 0 to 1."""


def fit_square(
    grey: Floats,
    corners_px: Array,
    cells: NDArray[np.bool_],
    size_px: tuple[int, int],
    corner_px: Array,
) -> Square | None:
    """Fit the marker with corners near `corners_px` (4, 2); None if too little of it is seen.

    `grey` is a float32 patch (H, W) of a picture of `size_px`; its upper left pixel is the
    picture's `corner_px` (2,). `cells` (N, N) is the marker's print with its frame, True for white.
    Corners may lie beyond the picture: the fit uses the part inside.
    """
    model, cell_px = SquareModel(size_px), side_px(corners_px) / len(cells)
    stations = place_stations(cells, cell_px)
    state = np.concatenate([np.ravel(corners_px), [0.0, 0.0]])
    try:
        for reach_cells, most_px in SEARCH_REACHES:
            xy, normal = model.normals(state, stations.place, stations.across)
            reach_px = min(reach_cells * cell_px, most_px)
            seen, steepness = _observe_edges(grey, xy, normal, reach_px, corner_px, size_px)
            if len(np.unique(stations.edge[seen.weight > 0])) < MIN_EDGES:
                return None
            state, seen, spread_px = _fit_robustly(model, state, stations, seen)
        if spread_px > MAX_SPREAD_CELLS * cell_px:
            return None
        edges = _average_by_edge(model, state, stations, seen, spread_px)
        state, covariance = _fit_to_edges(model, state, edges)
    except np.linalg.LinAlgError:  # the observations do not determine a square
        return None
    corners, shift_px = state[:8].reshape(4, 2), float(state[9])
    return Square(corners, covariance[:8, :8], shift_px, edges, steepness)


def _observe_edges(
    grey: Floats,
    xy: Array,
    normal: Array,
    reach_px: float,
    corner_px: Array,
    size_px: tuple[int, int],
) -> tuple[_Observations, float]:
    """Locate edges near `xy` (S, 2) along their normals (S, 2); also their median slope."""
    offset, steep = edge_offsets(grey, xy - corner_px, normal, reach_px)
    seen = xy + normal * np.nan_to_num(offset)[:, None]
    limit = np.array(size_px) - 1 - PICTURE_BORDER_PX
    inside = ((seen > PICTURE_BORDER_PX) & (seen < limit)).all(1)
    found = np.isfinite(offset) & inside
    typical = float(np.median(steep[found])) if found.any() else 0.0
    weight = (found & (steep > MIN_STEEPNESS_SHARE * typical)).astype(float)
    return _Observations(seen, normal, weight), typical


def side_px(corners_px: Array) -> float:
    """Return the mean side of a quadrilateral (4, 2)."""
    sides = corners_px - np.roll(corners_px, 1, 0)
    return float(np.linalg.norm(sides, axis=1).mean())


# --- least squares ---


def _fit_robustly(
    model: SquareModel, state: Array, stations: EdgeStations, seen: _Observations
) -> tuple[Array, _Observations, float]:
    """Fit the state to the stations that agree; also their weights and their spread in px."""
    first = model.residuals(state, stations.place, seen.xy_px, seen.normal_px)
    # the Jacobian hardly changes over the few px that are left
    jacobian = model.residual_jacobian(state, stations.place, seen.normal_px)
    used = seen.weight > 0
    moved = state
    for _ in range(ROBUST_ITERATIONS):
        residual = first + jacobian @ (moved - state)
        deviation = 1.4826 * float(np.median(np.abs(residual[used])))
        spread = max(deviation, MIN_EDGE_SIGMA_PX)
        if not spread < MAX_SPREAD_PX:
            raise np.linalg.LinAlgError("the fit diverges")
        weight = used * tukey_weights(residual / spread)
        moved, _ = _gauss_newton_step(moved, jacobian, residual, weight / spread**2)
    return moved, _Observations(seen.xy_px, seen.normal_px, weight), spread


def _fit_to_edges(model: SquareModel, state: Array, edges: MarkerEdges) -> tuple[Array, Array]:
    """Fit the state to whole edges; also its covariance (10, 10)."""
    jacobian = model.residual_jacobian(state, edges.place, edges.normal_px)
    residual = model.residuals(state, edges.place, edges.xy_px, edges.normal_px)
    return _gauss_newton_step(state, jacobian, residual, 1 / edges.sigma_px**2)


def _gauss_newton_step(
    state: Array, jacobian: Array, residual: Array, weight: Array
) -> tuple[Array, Array]:
    prior = np.zeros(STATE_SIZE)
    prior[8:] = 1 / BEND_SIGMA**2, 1 / SHIFT_SIGMA_PX**2
    information = jacobian.T @ (jacobian * weight[:, None]) + np.diag(prior)
    covariance = np.asarray(np.linalg.inv(information))
    gradient = jacobian.T @ (weight * residual) + prior * state
    return state - covariance @ gradient, covariance


def tukey_weights(z: Array) -> Array:
    """Return the weights of residuals given in σ: Tukey's biweight at 4.7."""
    share = np.clip(1 - (z / 4.7) ** 2, 0, None)
    return np.asarray(share**2)


# --- stations to edges ---


def _average_by_edge(
    model: SquareModel,
    state: Array,
    stations: EdgeStations,
    seen: _Observations,
    spread_px: float,
) -> MarkerEdges:
    """Average each edge's stations to one observation, at the centre of its visible part."""
    total = np.bincount(stations.edge, seen.weight, len(stations.line))
    keep = np.nonzero(total > MIN_WEIGHT_PER_EDGE)[0]

    def mean(values: Array) -> Array:
        sums = np.bincount(stations.edge, seen.weight * values, len(total))
        return np.asarray(sums[keep] / total[keep])

    def mean_vector(vectors: Array) -> Array:
        return np.stack([mean(vectors[:, 0]), mean(vectors[:, 1])], 1)

    residual = mean(model.residuals(state, stations.place, seen.xy_px, seen.normal_px))
    place = mean_vector(stations.place)
    normal = mean_vector(seen.normal_px)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    shift = residual - state[9]
    xy = model.predict(state, place) + normal * shift[:, None]
    noise_px = np.hypot(spread_px / np.sqrt(total[keep]), MIN_EDGE_SIGMA_PX)
    sigma = PROFILE_CORRELATION_INFLATION * noise_px
    outer = stations.outer[keep]
    for side in (outer, ~outer):
        z = residual[side] / sigma[side]
        sigma[side] *= _excess_scatter(z, STATE_SIZE / len(keep))
    return MarkerEdges(place, xy, normal, sigma, stations.line[keep])


def _excess_scatter(z: Array, used: float) -> float:
    """Return the factor, at least 1, by which whole edges scatter more than their profiles do.

    The fit absorbed the share `used` of the degrees of freedom.
    """
    if not len(z):
        return 1.0
    factor = np.sqrt(np.mean(z**2) / max(1 - used, 0.2))
    return max(1.0, float(factor))
