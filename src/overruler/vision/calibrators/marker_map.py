"""The layout of a table's markers from several photos, with the covariance of all places.

Nothing in a photo shows how large the markers are: the scale is that of their print.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.board import Board
from overruler.errors import CannotMeasure
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.vision.calibrators.left_out import join_reasons
from overruler.vision.calibrators.map_adjustment import (
    OWN_COUNT,
    PLACES_START,
    MapSolution,
    MarkerMapAdjustment,
)
from overruler.vision.calibrators.views import LayoutView, link_views, rotation_2d
from overruler.vision.camera.lens_prior import LensPrior
from overruler.vision.camera.marker_layout import UNMEASURED_PRINT_SIGMA
from overruler.vision.camera.observations import square_corners_mm
from overruler.vision.markers.marker import Marker

MIN_MARKERS = 2
"""Smallest number of markers in a photo."""
OUTLIER_RATIO = 2.5
"""Ratio of a photo's residuals to the median of the others above which it may be an outlier."""
OUTLIER_SIGMA = 2.0
"""Standard deviation of unit weight that an outlier must also exceed."""


@dataclass(frozen=True, slots=True, eq=False)
class ViewFit:
    """One photo in the fit of a layout."""

    name: str
    """The photo's name."""
    markers: tuple[int, ...]
    """Ids of the markers in it."""
    camera: Camera
    """The camera over the board of the result."""
    rms_px: float
    """Root mean square residual along the edges' normals."""


@dataclass(frozen=True, slots=True, eq=False)
class MarkerMapFit:
    """The layout of a table's M markers, and what it is based on."""

    places: dict[int, Array]
    """Each marker's centre in mm and heading in radians (3,), ascending by id."""
    covariance: Array
    """(3 M, 3 M): covariance of the places in that order, with the printed scale's error."""
    corners_mm: dict[int, Array]
    """Each marker's corners (4, 3): the printed top left first, clockwise."""
    photos: tuple[ViewFit, ...]
    """The photos used."""
    left_out: dict[str, str]
    """Each photo left out, with the reason."""
    rms_px: float
    """Root mean square residual over all photos."""
    disagreement: float
    """Scatter between photos against the noise within photos; 1 as expected."""
    scale_share: float
    """1 σ of the scale of the whole layout, as a share: of the print, and of its pixels."""
    scale_by_print: bool
    """Whether nobody measured the print."""

    @property
    def size_mm(self) -> tuple[float, float]:
        """Width and height of the bounding box of all markers."""
        high = np.concatenate(list(self.corners_mm.values())).max(0)
        return float(high[0]), float(high[1])

    def board(
        self, name: str, free: Board, dictionary: str, size_mm: tuple[float, float] | None
    ) -> Board:
        """The board for a board file, where the `free` one did not say where its markers lie.

        Its size is the bounding box's unless `size_mm` is given.
        """
        width, height = size_mm or self.size_mm
        flat = Board(
            name,
            free.marker_mm,
            dictionary,
            width,
            height,
            self.corners_mm,
            scale_share=self.scale_share,
            scale_by_print=self.scale_by_print,
            covariance=self.covariance,
        )
        return flat.raised_by(free.raised_mm)

    def distance_sigmas_mm(self) -> Array:
        """(P,): 1 σ of the distance between the centres of each pair of markers."""
        centres = np.stack(list(self.places.values()))[:, :2]
        first, second = np.triu_indices(len(centres), 1)
        direction = centres[second] - centres[first]
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        by_place = np.zeros((len(first), len(centres), 3))
        pairs = np.arange(len(first))
        by_place[pairs, second, :2] = direction
        by_place[pairs, first, :2] = -direction
        rows = by_place.reshape(len(first), -1)
        return np.asarray(np.sqrt(np.einsum("pi,ij,pj->p", rows, self.covariance, rows)))


def fit_marker_map(
    board: Board, seen: Mapping[str, tuple[Sequence[Marker], LensPrior]]
) -> MarkerMapFit:
    """Fit the layout of a board's free markers to photos of one camera.

    `seen` maps a photo's name to its markers and the prior of its lens. One photo is enough,
    several are more precise. `CannotMeasure` if no photo shows two markers.
    """
    sides_mm = board.sides_mm or (board.marker_mm, board.marker_mm)
    left_out: dict[str, str] = {}
    views: list[LayoutView] = []
    for name, (markers, prior) in seen.items():
        if len(markers) < MIN_MARKERS:
            left_out[name] = f"shows fewer than {MIN_MARKERS} of the markers"
        else:
            views.append(LayoutView.from_markers(name, markers, prior, sides_mm))
    while True:
        linked, unlinked = link_views(views)
        left_out |= unlinked
        _check_enough_views(linked, left_out)
        adjustment = MarkerMapAdjustment(linked)
        solution = adjustment.solve()
        outlier = _find_outlier_photo(adjustment, solution)
        if not outlier:
            return _build_map_fit(board, sides_mm, adjustment, solution, left_out)
        left_out |= outlier
        views = [view for view in views if view.name not in left_out]


def _check_enough_views(views: Sequence[LayoutView], left_out: Mapping[str, str]) -> None:
    if views:
        return
    raise CannotMeasure(
        f"no photo shows {MIN_MARKERS} of the markers or more{join_reasons(left_out)}"
    )


def _find_outlier_photo(adjustment: MarkerMapAdjustment, solution: MapSolution) -> dict[str, str]:
    """The photo that fits much worse than the others, with the reason; empty if there is none."""
    parts = solution.photo_equations
    if len(parts) < 2:
        return {}
    variances = [part.chi_square / max(part.residual_count - OWN_COUNT, 1) for part in parts]
    sigma = np.sqrt(variances)
    worst = int(sigma.argmax())
    typical = float(np.median(np.delete(sigma, worst)))
    if sigma[worst] < max(OUTLIER_RATIO * typical, OUTLIER_SIGMA):
        return {}
    times = f"{sigma[worst] / typical:.0f}"
    question = "was a marker moved, or the zoom another?"
    reason = f"fits {times} times worse than the others; {question}"
    return {adjustment.views[worst].name: reason}


# --- the layout ---


def _build_map_fit(
    board: Board,
    sides_mm: tuple[float, float],
    adjustment: MarkerMapAdjustment,
    solution: MapSolution,
    left_out: Mapping[str, str],
) -> MarkerMapFit:
    """Express the solution in a frame with its origin at the lower left of the bounding box."""
    square = square_corners_mm(1.0) * np.array([*sides_mm, 0.0])
    corner_places = solution.shared.places
    corner_covariance = solution.covariance()[PLACES_START:, PLACES_START:]
    places, covariance = _convert_to_centres(corner_places, corner_covariance, square)
    corners = _place_squares(corner_places, square)
    flat = corners[..., :2].reshape(-1, 2)
    origin = np.array([*flat.min(0), 0.0])
    lowest_markers = flat.argmin(0) // 4
    covariance = _covariance_from_corner(covariance, places, corners, lowest_markers)
    places[:, :2] -= origin[:2]
    printed = board.scale_share or UNMEASURED_PRINT_SIGMA
    by_scale = (places * [1, 1, 0]).ravel()
    views = _view_fits(adjustment, solution, origin)
    return MarkerMapFit(
        places=dict(zip(adjustment.ids, places, strict=True)),
        covariance=covariance + printed**2 * np.outer(by_scale, by_scale),
        corners_mm=dict(zip(adjustment.ids, corners - origin, strict=True)),
        photos=views,
        left_out=dict(left_out),
        rms_px=float(np.sqrt(np.mean([view.rms_px**2 for view in views]))),
        disagreement=solution.disagreement,
        scale_share=float(np.hypot(printed, _scale_sigma(places, covariance))),
        scale_by_print=board.scale_share is None,
    )


def _scale_sigma(places: Array, covariance: Array) -> float:
    """1 σ, as a share, of the scale of places (M, 3) whose covariance is (3 M, 3 M)."""
    arms = (places - places.mean(0)) * [1, 1, 0]
    row = arms.ravel() / max(float((arms**2).sum()), 1e-9)
    return float(np.sqrt(row @ covariance @ row))


def _view_fits(
    adjustment: MarkerMapAdjustment, solution: MapSolution, origin_mm: Array
) -> tuple[ViewFit, ...]:
    """Each photo over the board whose origin is at `origin_mm` (3,) in the solution's frame."""
    shift = Pose(np.eye(3), origin_mm)
    fits = []
    for k, (view, own) in enumerate(zip(adjustment.views, solution.own, strict=True)):
        residual = adjustment.edge_residuals_px(k, solution.shared, own)
        rms_px = float(np.sqrt(np.mean(residual**2)))
        camera = solution.shared.camera(own.pose @ shift)
        fits.append(ViewFit(view.name, view.ids, camera, rms_px))
    return tuple(fits)


def _place_squares(places: Array, square_mm: Array) -> Array:
    """Corners (M, 4, 3) of squares (4, 3) laid at places (M, 3)."""
    flat = [square_mm[:, :2] @ rotation_2d(heading).T + [x, y] for x, y, heading in places]
    return np.concatenate([np.stack(flat), np.zeros((len(places), 4, 1))], -1)


def _convert_to_centres(places: Array, covariance: Array, square_mm: Array) -> tuple[Array, Array]:
    """Convert places (M, 3) from upper left corners to centres.

    The covariance (3 M - 3, 3 M - 3) excludes the first marker, whose corner is exact; the result's
    (3 M, 3 M) includes it.
    """
    centres = places.copy()
    full = np.zeros((places.size, places.size))
    full[3:, 3:] = covariance
    jacobian = np.eye(places.size)
    for k, (_, _, heading) in enumerate(places):
        arm = rotation_2d(heading) @ square_mm[:, :2].mean(0)
        centres[k, :2] += arm
        jacobian[3 * k : 3 * k + 2, 3 * k + 2] = -arm[1], arm[0]
    return centres, jacobian @ full @ jacobian.T


def _covariance_from_corner(
    covariance: Array, places: Array, corners: Array, lowest_markers: NDArray[np.intp]
) -> Array:
    """The covariance with the origin at the box's lower left, where the `lowest_markers` (2,) lie."""
    jacobian = np.eye(places.size)
    for axis, marker in enumerate(lowest_markers):
        lowest_corner = corners[marker, :, axis].argmin()
        arm = corners[marker, lowest_corner, :2] - places[marker, :2]
        by_heading = (-arm[1], arm[0])[axis]
        jacobian[axis::3, 3 * marker + axis] -= 1
        jacobian[axis::3, 3 * marker + 2] -= by_heading
    return np.asarray(jacobian @ covariance @ jacobian.T)
