"""Fit one marker's square to every black-to-white edge of its print, at full resolution."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.imaging.subpixel_edges import Floats, edge_offsets
from overruler.vision.markers.marker_edges import SUSPECT_LINE_SCATTER_PX, MarkerEdges
from overruler.vision.markers.print_edges import place_stations
from overruler.vision.markers.square_model import STATE_SIZE, SquareModel
from overruler.vision.markers.square_solver import (
    MIN_EDGE_SIGMA_PX,
    SquareProblem,
    robust_spread_px,
    tukey_weights,
)

BEND_SIGMAS = (0.1, 0.01)
"""Prior 1 σ of the bend: how much the lens bends lines at the picture's corner. The second is tried
where the fit with the first fails: cells printed in whole pixels look like a bend."""
SHIFT_SIGMA_PX = 0.5
"""Prior 1 σ of the edge shift, in px."""
SEARCH_REACHES = ((0.45, 8.0), (0.35, 3.0), (0.35, 2.0))
"""Search reach of each pass: in cells, and at most in px."""
ROBUST_ITERATIONS = 8
"""Iterations of the robust fit."""
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
READ_SIGMA_PX = 1.0
"""1 σ of a corner as OpenCV reads it, along u and along v, in px: its corners lie on whole pixels."""
LINE_ITERATIONS = 3
"""Fits of rounded lines, each with the noise that the fit before showed."""
MIN_WEIGHT_PER_EDGE = 1.5
"""Least total weight of the stations of an edge that counts."""


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
    target = _Target(grey, corner_px, size_px, cells)
    for bend_sigma in BEND_SIGMAS:
        try:
            square = _fit_from(target, corners_px, bend_sigma)
        except np.linalg.LinAlgError:  # the observations do not determine a square
            square = None
        if square is not None:
            return square
    return None


def square_as_read(corners_px: Array, cells: NDArray[np.bool_], size_px: tuple[int, int]) -> Square:
    """Return a square with the corners as they were read, for a marker whose edges do not fit.

    Its covariance is that of OpenCV's corners. Its edges are those of the outline. Its steepness is
    not known, and 0.
    """
    model = SquareModel(size_px)
    stations = place_stations(cells, side_px(corners_px) / len(cells))
    state = np.concatenate([np.ravel(corners_px), [0.0, 0.0]])
    outline = stations.outer[stations.edge]
    xy, normal = model.normals(state, stations.place[outline], stations.across[outline])
    # one corner's error moves all of its side: each of the stations knows as little
    sigma = np.full(len(xy), READ_SIGMA_PX * np.sqrt(len(xy) / 8))
    line = stations.line[stations.edge[outline]]
    edges = MarkerEdges(stations.place[outline], xy, normal, sigma, line)
    covariance = np.eye(8) * READ_SIGMA_PX**2
    return Square(np.array(corners_px, float), covariance, 0.0, edges, steepness=0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Target:
    """Where a marker is looked for, and what it looks like."""

    grey: Floats
    """(H, W): the patch."""
    corner_px: Array
    """(2,): the place of its upper left pixel in the picture."""
    size_px: tuple[int, int]
    """The picture's size."""
    cells: NDArray[np.bool_]
    """(N, N): the print."""


def _fit_from(target: _Target, corners_px: Array, bend_sigma: float) -> Square | None:
    """Fit a square from `corners_px`; None or `LinAlgError` where the fit fails."""
    cell_px = side_px(corners_px) / len(target.cells)
    model, stations = SquareModel(target.size_px), place_stations(target.cells, cell_px)
    problem = SquareProblem(model, stations, np.array([bend_sigma, SHIFT_SIGMA_PX]))
    state = np.concatenate([np.ravel(corners_px), [0.0, 0.0]])
    for reach_cells, most_px in SEARCH_REACHES:
        xy, normal = model.normals(state, stations.place, stations.across)
        reach_px = min(reach_cells * cell_px, most_px)
        shifted = xy - normal * state[9]
        seen, steepness = _observe_edges(target, shifted, normal, reach_px)
        if len(np.unique(stations.edge[seen.weight > 0])) < MIN_EDGES:
            return None
        found = seen
        state, seen, spread_px = _fit_robustly(problem, state, found)
    if spread_px > MAX_SPREAD_CELLS * cell_px:
        return None
    edges = _average_by_edge(problem, state, seen, spread_px)
    state, covariance = _fit_to_edges(problem, state, edges)
    rounded = _fit_rounded_lines(problem, state, found, spread_px)
    if rounded is not None:
        state, covariance, edges = rounded
    corners, shift_px = state[:8].reshape(4, 2), float(state[9])
    return Square(corners, covariance[:8, :8], shift_px, edges, steepness)


def _observe_edges(
    target: _Target, xy: Array, normal: Array, reach_px: float
) -> tuple[_Observations, float]:
    """Locate edges near `xy` (S, 2) along their normals (S, 2); also their median slope."""
    offset, steep = edge_offsets(target.grey, xy - target.corner_px, normal, reach_px)
    seen = xy + normal * np.nan_to_num(offset)[:, None]
    limit = np.array(target.size_px) - 1 - PICTURE_BORDER_PX
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
    problem: SquareProblem, state: Array, seen: _Observations
) -> tuple[Array, _Observations, float]:
    """Fit the state to the stations that agree; also their weights and their spread in px."""
    model, place = problem.model, problem.stations.place
    first = model.residuals(state, place, seen.xy_px, seen.normal_px)
    # the Jacobian hardly changes over the few px that are left
    jacobian = model.residual_jacobian(state, place, seen.normal_px)
    used = seen.weight > 0
    moved = state
    for _ in range(ROBUST_ITERATIONS):
        residual = first + jacobian @ (moved - state)
        spread = robust_spread_px(residual[used])
        weight = used * tukey_weights(residual / spread)
        moved, _ = problem.solve_linear(moved, jacobian, residual, weight / spread**2)

    def true_spread_px(state: Array) -> float:
        return robust_spread_px(model.residuals(state, place, seen.xy_px, seen.normal_px)[used])

    moved = problem.limit_step(state, moved, true_spread_px)
    return moved, _Observations(seen.xy_px, seen.normal_px, weight), spread


def _fit_to_edges(problem: SquareProblem, state: Array, edges: MarkerEdges) -> tuple[Array, Array]:
    """Fit the state to whole edges; also its covariance (10, 10)."""
    model = problem.model

    def residuals(state: Array) -> Array:
        return model.residuals(state, edges.place, edges.xy_px, edges.normal_px)

    jacobian = model.residual_jacobian(state, edges.place, edges.normal_px)
    residual, weight = residuals(state), 1 / edges.sigma_px**2
    if edges.has_rounded_lines:
        noise = np.diag(edges.sigma_px**2) + edges.line_covariance_px2
        whitener = np.linalg.inv(np.linalg.cholesky(noise))
        jacobian, residual = whitener @ jacobian, whitener @ residual
        weight = np.ones(len(residual))
    moved, covariance = problem.solve_linear(state, jacobian, residual, weight)
    told = edges.is_outer if edges.has_rounded_lines else slice(None)
    return problem.limit_step(
        state, moved, lambda at: robust_spread_px(residuals(at)[told])
    ), covariance


def _fit_rounded_lines(
    problem: SquareProblem, state: Array, found: _Observations, spread_px: float
) -> tuple[Array, Array, MarkerEdges] | None:
    """Fit by the outline where the lines between cells were rounded; None where they were not."""

    def residuals(state: Array, edges: MarkerEdges) -> Array:
        return problem.model.residuals(state, edges.place, edges.xy_px, edges.normal_px)

    whole = _average_by_edge(problem, state, found, spread_px)
    if whole.line_scatter_px(residuals(state, whole)) < SUSPECT_LINE_SCATTER_PX:
        return None
    fit = None
    try:
        state, _ = _fit_to_edges(problem, state, whole.with_free_lines())
        edges = whole.without_strays(residuals(state, whole))
        for _ in range(LINE_ITERATIONS):
            again = edges.with_scatter_of(residuals(state, edges), spread_px)
            if again is None:
                return None
            state, covariance = _fit_to_edges(problem, state, again)
            fit = state, covariance, again
    except np.linalg.LinAlgError:  # the sides alone do not determine a square
        return None
    return fit


# --- stations to edges ---


def _average_by_edge(
    problem: SquareProblem, state: Array, seen: _Observations, spread_px: float
) -> MarkerEdges:
    """Average each edge's stations to one observation, at the centre of its visible part."""
    model, stations = problem.model, problem.stations
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
