"""One marker's square, fitted to every black-to-white edge of its print at the photo's full resolution."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.imaging.subpixel_edges import Floats, edge_offsets
from overruler.vision.markers.print_edges import EdgeStations, place_stations
from overruler.vision.markers.square_model import STATE_SIZE, SquareModel

BEND_SIGMA, SHIFT_SIGMA_PX = 0.1, 0.5
"""Priors of the fit, 1 σ: how much the lens bends lines at the picture's corner, and the shift of edges."""
MAX_SPREAD_PX = 50.0
"""Edges that scatter more than this about the fit are no edges of the marker."""
MIN_EDGE_SIGMA_PX = 0.005
"""Nothing that is averaged over one edge is surer than this in the picture, whatever the print and the lens do."""
PROFILE_CORRELATION_INFLATION = 1.1
"""Profiles of one line are not quite independent: grain and JPEG blocks reach from one to the next."""
MAX_SPREAD_CELLS = 0.15
"""Edges that in the end still scatter by more of a cell than this belong to something else."""
PICTURE_BORDER_PX = 2.5
"""An edge nearer to the picture's border than this is not seen whole."""
MIN_STEEPNESS_SHARE = 0.3
"""An edge less steep than this share of the marker's median one is no edge of its print."""
MIN_EDGES, MIN_WEIGHT_PER_EDGE = 10, 1.5
"""What must be seen of a marker: edges of cells, and places on an edge that counts."""


@dataclass(frozen=True, slots=True, eq=False)
class MarkerEdges:
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
    edges: MarkerEdges
    steepness: float
    """Median slope of its edges, in brightness per px."""


@dataclass(frozen=True, slots=True, eq=False)
class _StationObservations:
    """The stations as seen: where (S, 2), unit normals (S, 2) from dark to bright, and how much each counts (S,)."""

    xy_px: Array
    normal_px: Array
    weight: Array


def fit_square(
    grey: Floats,
    corners_px: Array,
    cells: NDArray[np.bool_],
    size_px: tuple[int, int],
    corner_px: Array,
) -> Square | None:
    """Fit the marker whose corners lie near `corners_px` (4, 2); None where too little of it is seen.

    `grey` is the patch (H, W) float32 of a picture of `size_px` whose upper left pixel is the picture's `corner_px`
    (2,); `cells` (N, N) is the marker's print with the black frame, True where white. Corners may lie beyond the
    picture: what is in it is used.
    """
    bent, cell_px = SquareModel(size_px), side_px(corners_px) / len(cells)
    where = place_stations(cells, cell_px)
    state = np.concatenate([np.ravel(corners_px), [0.0, 0.0]])
    try:
        for reach_px in (
            min(0.45 * cell_px, 8.0),
            min(0.35 * cell_px, 3.0),
            min(0.35 * cell_px, 2.0),
        ):
            seen, steepness = _observe_stations(
                grey, bent, state, where, reach_px, corner_px, size_px
            )
            if len(np.unique(where.edge[seen.weight > 0])) < MIN_EDGES:
                return None
            state, seen, spread_px = _fit_robustly(bent, state, where, seen)
        if spread_px > MAX_SPREAD_CELLS * cell_px:
            return None
        edges = _average_by_edge(bent, state, where, seen, spread_px)
        state, covariance = _fit_to_edges(bent, state, edges)
    except np.linalg.LinAlgError:  # what was seen holds no square
        return None
    return Square(state[:8].reshape(4, 2), covariance[:8, :8], float(state[9]), edges, steepness)


def _observe_stations(
    grey: Floats,
    bent: SquareModel,
    state: Array,
    where: EdgeStations,
    reach_px: float,
    corner_px: Array,
    size_px: tuple[int, int],
) -> tuple[_StationObservations, float]:
    """The stations as the picture shows them near where the state has them, and the median slope of their edges."""
    xy, normal = bent.normals(state, where.place, where.across)
    offset, steep = edge_offsets(grey, xy - corner_px, normal, reach_px)
    seen = xy + normal * np.nan_to_num(offset)[:, None]
    found = np.isfinite(offset) & (
        (seen > PICTURE_BORDER_PX) & (seen < np.array(size_px) - 1 - PICTURE_BORDER_PX)
    ).all(1)
    typical = float(np.median(steep[found])) if found.any() else 0.0
    return _StationObservations(
        seen, normal, (found & (steep > MIN_STEEPNESS_SHARE * typical)).astype(float)
    ), typical


def side_px(corners_px: Array) -> float:
    """The mean side of a quadrilateral (4, 2)."""
    return float(np.linalg.norm(corners_px - np.roll(corners_px, 1, 0), axis=1).mean())


# --- least squares ---


def _fit_robustly(
    bent: SquareModel, state: Array, where: EdgeStations, seen: _StationObservations
) -> tuple[Array, _StationObservations, float]:
    """The state by the stations that agree, how much each counts, and their spread in px."""
    first = bent.residuals(state, where.place, seen.xy_px, seen.normal_px)
    rows = bent.residual_jacobian(
        state, where.place, seen.normal_px
    )  # hardly changes over the few px that are left
    moved = state
    for _ in range(8):
        residual = first + rows @ (moved - state)
        spread = max(
            1.4826 * float(np.median(np.abs(residual[seen.weight > 0]))), MIN_EDGE_SIGMA_PX
        )
        if not spread < MAX_SPREAD_PX:
            raise np.linalg.LinAlgError("the fit runs away")
        weight = (seen.weight > 0) * tukey_weights(residual / spread)
        moved, _ = _gauss_newton_step(moved, rows, residual, weight / spread**2)
    return moved, _StationObservations(seen.xy_px, seen.normal_px, weight), spread


def _fit_to_edges(bent: SquareModel, state: Array, edges: MarkerEdges) -> tuple[Array, Array]:
    """The state by whole edges, and its covariance (10, 10)."""
    rows = bent.residual_jacobian(state, edges.place, edges.normal_px)
    residual = bent.residuals(state, edges.place, edges.xy_px, edges.normal_px)
    return _gauss_newton_step(state, rows, residual, 1 / edges.sigma_px**2)


def _gauss_newton_step(
    state: Array, rows: Array, residual: Array, weight: Array
) -> tuple[Array, Array]:
    prior = np.zeros(STATE_SIZE)
    prior[8:] = 1 / BEND_SIGMA**2, 1 / SHIFT_SIGMA_PX**2
    covariance = np.linalg.inv(rows.T @ (rows * weight[:, None]) + np.diag(prior))
    return state - covariance @ (rows.T @ (weight * residual) + prior * state), np.asarray(
        covariance
    )


def tukey_weights(z: Array) -> Array:
    """How much residuals count, given in σ: Tukey's biweight at 4.7."""
    return np.asarray(np.clip(1 - (z / 4.7) ** 2, 0, None) ** 2)


# --- stations to edges ---


def _average_by_edge(
    bent: SquareModel,
    state: Array,
    where: EdgeStations,
    seen: _StationObservations,
    spread_px: float,
) -> MarkerEdges:
    """One observation an edge: the weighted mean of its stations, at the middle of what was seen of it."""
    total = np.bincount(where.edge, seen.weight, len(where.line))
    keep = np.nonzero(total > MIN_WEIGHT_PER_EDGE)[0]

    def mean(values: Array) -> Array:
        return np.asarray(
            np.bincount(where.edge, seen.weight * values, len(total))[keep] / total[keep]
        )

    residual = mean(bent.residuals(state, where.place, seen.xy_px, seen.normal_px))
    place = np.stack([mean(where.place[:, 0]), mean(where.place[:, 1])], 1)
    normal = np.stack([mean(seen.normal_px[:, 0]), mean(seen.normal_px[:, 1])], 1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    xy = bent.predict(state, place) + normal * (residual - state[9])[:, None]
    sigma = PROFILE_CORRELATION_INFLATION * np.hypot(
        spread_px / np.sqrt(total[keep]), MIN_EDGE_SIGMA_PX
    )
    for side in (where.outer[keep], ~where.outer[keep]):
        sigma[side] *= _excess_scatter(residual[side] / sigma[side], 10 / len(keep))
    return MarkerEdges(place, xy, normal, sigma, where.line[keep])


def _excess_scatter(z: Array, used: float) -> float:
    """How much more whole edges scatter than their profiles promised, 1 at least; the fit took the share `used`."""
    return max(1.0, float(np.sqrt(np.mean(z**2) / max(1 - used, 0.2)))) if len(z) else 1.0
