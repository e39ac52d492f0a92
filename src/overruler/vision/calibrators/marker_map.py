"""Where markers lie on a table, from several photos of it: every marker's place and turn, with their covariance.

The unknowns: the lens, each marker's place but the lowest-numbered one's (it holds the frame), and for each photo its
pose and the shift of its edges. Nothing in a photo shows how large the markers are: the scale is that of their print.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from overruler.board import Board
from overruler.errors import CannotMeasure
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.vision.calibrators.views import LayoutView, link_views, merge_places, rotation_2d
from overruler.vision.camera.bundle_adjustment import EDGE_SHIFT_SIGMA_PX, LensPrior
from overruler.vision.camera.marker_layout import FREE_MARKERS_BUDGET
from overruler.vision.camera.noise_scales import UNIT_SCALES
from overruler.vision.camera.observations import square_corners_mm
from overruler.vision.camera.schur_solver import JointSolution, ResidualBlock, solve_photos_jointly
from overruler.vision.markers.marker import Marker

MIN_MARKERS = 2
UNMEASURED_SCALE_SHARE = FREE_MARKERS_BUDGET.scale_share
"""1 σ of the printed size, as a share, where nobody has measured the print."""
OUTLIER_RATIO, OUTLIER_SIGMA = 2.5, 2.0
"""A photo whose residuals are this many times those of the others, and this many σ, is left out."""


@dataclass(frozen=True, slots=True, eq=False)
class ViewFit:
    """What one photo gave to the layout."""

    name: str
    markers: tuple[int, ...]
    camera: Camera
    """Over the board as it came out."""
    rms_px: float
    """Of the residuals along the edges' normals."""


@dataclass(frozen=True, slots=True, eq=False)
class MarkerMapFit:
    """A table's markers, and what they rest on."""

    places: dict[int, Array]
    """Each marker's middle in mm and heading in radians (3,), ascending by id."""
    covariance: Array
    """(3 M, 3 M) of the places in that order, in mm and radians, the printed scale's doubt in it."""
    corners_mm: dict[int, Array]
    """(4, 3) each, the printed top left first, clockwise."""
    photos: tuple[ViewFit, ...]
    left_out: dict[str, str]
    rms_px: float
    disagreement: float
    scale_share: float
    """1 σ of the whole layout's scale."""

    @property
    def size_mm(self) -> tuple[float, float]:
        """Width and height of the box round all markers."""
        high = np.concatenate(list(self.corners_mm.values())).max(0)
        return float(high[0]), float(high[1])

    def board(
        self, name: str, marker_mm: float, dictionary: str, size_mm: tuple[float, float] | None
    ) -> Board:
        """The board of the board file, as large as the box round all markers unless its (width, height) is given."""
        width, height = size_mm or self.size_mm
        return Board(
            name,
            marker_mm,
            dictionary,
            width,
            height,
            self.corners_mm,
            scale_share=self.scale_share,
            covariance=self.covariance,
        )

    def distance_sigmas_mm(self) -> Array:
        """(P,): 1 σ of the distance between the middles of each two markers."""
        middles = np.stack(list(self.places.values()))[:, :2]
        first, second = np.triu_indices(len(middles), 1)
        along = middles[second] - middles[first]
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        by_place = np.zeros((len(first), len(middles), 3))
        each = np.arange(len(first))
        by_place[each, second, :2], by_place[each, first, :2] = along, -along
        rows = by_place.reshape(len(first), -1)
        return np.asarray(np.sqrt(np.einsum("pi,ij,pj->p", rows, self.covariance, rows)))


def fit_marker_map(
    board: Board, seen: Mapping[str, tuple[Sequence[Marker], LensPrior]]
) -> MarkerMapFit:
    """The layout of a board's free markers by photos of one camera: name to markers, and what is known of the lens.

    `CannotMeasure` where no photo shows two markers. One photo is enough, several are surer.
    """
    sides = board.sides_mm or (board.marker_mm, board.marker_mm)
    few = f"shows fewer than {MIN_MARKERS} of the markers"
    left_out = {name: few for name, (markers, _) in seen.items() if len(markers) < MIN_MARKERS}
    views = [
        LayoutView.from_markers(name, *given, sides)
        for name, given in seen.items()
        if name not in left_out
    ]
    while True:
        joined, lost = link_views(views)
        left_out |= lost
        _check_enough_views(joined, left_out)
        table = MarkerMapAdjustment(joined)
        joint = solve_photos_jointly(
            table.start, table.stands, table.residual_block, table.prior_residuals
        )
        spoiled = _find_outlier_photo(table, joint)
        if not spoiled:
            return _build_map_fit(board, sides, table, joint, left_out)
        left_out |= spoiled
        views = [view for view in views if view.name not in left_out]


def _check_enough_views(views: Sequence[LayoutView], left_out: Mapping[str, str]) -> None:
    if views:
        return
    why = "".join(f"; {name}: {reason}" for name, reason in left_out.items())
    raise CannotMeasure(f"no photo shows {MIN_MARKERS} of the markers or more{why}")


# --- the unknowns ---


@dataclass(frozen=True, slots=True, eq=False)
class LensAndPlaces:
    """What the photos share."""

    lens: Array
    """(9,): fx fy cx cy k1 k2 p1 p2 k3."""
    places: Array
    """(M, 3): each marker's upper left corner in mm and heading in radians; the first one's stay."""

    def moved(self, step: Array) -> Self:
        places = self.places + np.concatenate([np.zeros((1, 3)), step[9:].reshape(-1, 3)])
        return replace(self, lens=self.lens + step[:9], places=places)

    def camera(self, pose: Pose) -> Camera:
        fx, fy, cx, cy = self.lens[:4]
        return Camera(np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]]), self.lens[4:], pose)


@dataclass(frozen=True, slots=True, eq=False)
class PoseAndEdgeShift:
    """What is one photo's own."""

    pose: Pose
    edge_shift_px: float

    def moved(self, step: Array) -> Self:
        return replace(
            self, pose=self.pose.moved(step[:6]), edge_shift_px=self.edge_shift_px + float(step[6])
        )


class MarkerMapAdjustment:
    """The photos' edges as the least squares take them; the board's frame is that of the lowest-numbered marker."""

    def __init__(self, views: Sequence[LayoutView]) -> None:
        places = merge_places(views)
        self.ids = tuple(places)
        first = places[self.ids[0]]
        self.views = [
            view.in_frame(-first[2], -rotation_2d(-first[2]) @ first[:2]) for view in views
        ]
        self.stands = [
            PoseAndEdgeShift(view.camera.T_camera_board, view.edge_shift_px) for view in self.views
        ]
        self.start = LensAndPlaces(
            _lens_vector(self.views[0].camera), np.stack(list(merge_places(self.views).values()))
        )
        prior = views[0].prior
        self.mean, self.root = prior.mean, np.linalg.inv(np.linalg.cholesky(prior.covariance))
        self.whiteners = [
            [
                np.linalg.inv(np.linalg.cholesky(group.covariance(UNIT_SCALES)))
                for group in view.groups
            ]
            for view in self.views
        ]

    def prior_residuals(self, layout: LensAndPlaces) -> tuple[Array, Array]:
        return self.root @ (layout.lens - self.mean), np.hstack(
            [self.root, np.zeros((9, 3 * len(self.ids) - 3))]
        )

    def residual_block(
        self, photo: int, layout: LensAndPlaces, stand: PoseAndEdgeShift
    ) -> ResidualBlock | None:
        """Residuals of one photo's edges and of its edge shift, and their slopes."""
        if layout.lens[:2].min() <= 0:
            return None
        rows = [
            self._marker_residuals(photo, k, layout, stand)
            for k in range(len(self.views[photo].ids))
        ]
        if not all(np.isfinite(residual).all() for residual, _, _ in rows):
            return None
        nothing, shift = (
            np.zeros((1, 9 + 3 * len(self.ids) - 3)),
            np.eye(7)[6:] / EDGE_SHIFT_SIGMA_PX,
        )
        white = [
            (w @ r, w @ s, w @ o) for w, (r, s, o) in zip(self.whiteners[photo], rows, strict=True)
        ]
        white.append((np.array([stand.edge_shift_px / EDGE_SHIFT_SIGMA_PX]), nothing, shift))
        return ResidualBlock(*(np.concatenate(part) for part in zip(*white, strict=True)))

    def edge_residuals_px(
        self, photo: int, layout: LensAndPlaces, stand: PoseAndEdgeShift
    ) -> Array:
        """(N,): how far one photo's edges lie from where they should be, along their normals."""
        count = len(self.views[photo].ids)
        return np.concatenate(
            [self._marker_residuals(photo, k, layout, stand)[0] for k in range(count)]
        )

    def _marker_residuals(
        self, photo: int, k: int, layout: LensAndPlaces, stand: PoseAndEdgeShift
    ) -> tuple[Array, Array, Array]:
        """Residuals (N,) in px of the k-th marker of a photo, and slopes (N, shared) and (N, 7)."""
        view, camera = self.views[photo], layout.camera(stand.pose)
        group, index = view.groups[k], self.ids.index(view.ids[k])
        x, y, heading = layout.places[index]
        arm = group.xyz_mm[:, :2] @ rotation_2d(heading).T
        points = np.column_stack([arm + np.array([x, y]), group.xyz_mm[:, 2]])
        seen, d_point, d_camera = camera.project_with_jacobians(points)
        residual = ((group.xy_px - seen) * group.normal_px).sum(1) + stand.edge_shift_px
        by_camera = -(group.normal_px[:, :, None] * d_camera).sum(1)
        by_point = -(group.normal_px[:, :, None] * d_point).sum(1)
        shared = np.zeros((len(residual), 9 + 3 * len(self.ids) - 3))
        shared[:, :9] = by_camera[:, :9]
        if index:
            by_turn = by_point[:, 1] * arm[:, 0] - by_point[:, 0] * arm[:, 1]
            shared[:, 6 + 3 * index : 9 + 3 * index] = np.column_stack([by_point[:, :2], by_turn])
        return residual, shared, np.column_stack([by_camera[:, 9:], np.ones(len(residual))])


def _lens_vector(camera: Camera) -> Array:
    return np.concatenate([camera.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], camera.distortion])


def _find_outlier_photo(
    table: MarkerMapAdjustment, joint: "JointSolution[LensAndPlaces, PoseAndEdgeShift]"
) -> dict[str, str]:
    """The photo that fits much worse than the others, and how much; empty where there is none."""
    if len(joint.photo_equations) < 2:
        return {}
    sigma = np.sqrt(
        [part.chi_square / max(part.residual_count - 7, 1) for part in joint.photo_equations]
    )
    worst = int(sigma.argmax())
    typical = float(np.median(np.delete(sigma, worst)))
    if sigma[worst] < max(OUTLIER_RATIO * typical, OUTLIER_SIGMA):
        return {}
    reason = f"fits {sigma[worst] / typical:.0f} times worse than the others; was a marker moved, or the zoom another?"
    return {table.views[worst].name: reason}


# --- the result ---


def _build_map_fit(
    board: Board,
    sides_mm: tuple[float, float],
    table: MarkerMapAdjustment,
    joint: "JointSolution[LensAndPlaces, PoseAndEdgeShift]",
    left_out: Mapping[str, str],
) -> MarkerMapFit:
    square = square_corners_mm(1.0) * np.array([*sides_mm, 0.0])
    places, covariance = _convert_to_middles(
        joint.shared.places, joint.covariance()[9:, 9:], square
    )
    corners = _place_squares(joint.shared.places, square)
    flat = corners[..., :2].reshape(-1, 2)
    low = np.array([*flat.min(0), 0.0])
    covariance = _covariance_from_corner(covariance, places, corners, flat.argmin(0) // 4)
    places[:, :2] -= low[:2]
    scale = board.scale_share or UNMEASURED_SCALE_SHARE
    by_scale = (places * [1, 1, 0]).ravel()
    views = _view_fits(table, joint, low)
    return MarkerMapFit(
        places=dict(zip(table.ids, places, strict=True)),
        covariance=covariance + scale**2 * np.outer(by_scale, by_scale),
        corners_mm=dict(zip(table.ids, corners - low, strict=True)),
        photos=views,
        left_out=dict(left_out),
        rms_px=float(np.sqrt(np.mean([view.rms_px**2 for view in views]))),
        disagreement=joint.disagreement,
        scale_share=scale,
    )


def _view_fits(
    table: MarkerMapAdjustment,
    joint: "JointSolution[LensAndPlaces, PoseAndEdgeShift]",
    origin_mm: Array,
) -> tuple[ViewFit, ...]:
    """Each photo over the board whose origin lies at `origin_mm` (3,) of the frame that was solved in."""
    shift, fits = Pose(np.eye(3), origin_mm), []
    for k, (view, stand) in enumerate(zip(table.views, joint.own, strict=True)):
        rms = float(np.sqrt(np.mean(table.edge_residuals_px(k, joint.shared, stand) ** 2)))
        fits.append(ViewFit(view.name, view.ids, joint.shared.camera(stand.pose @ shift), rms))
    return tuple(fits)


def _place_squares(places: Array, square_mm: Array) -> Array:
    """(M, 4, 3): the corners of squares (4, 3) laid at places (M, 3)."""
    flat = np.stack(
        [square_mm[:, :2] @ rotation_2d(heading).T + [x, y] for x, y, heading in places]
    )
    return np.concatenate([flat, np.zeros((len(places), 4, 1))], -1)


def _convert_to_middles(places: Array, covariance: Array, square_mm: Array) -> tuple[Array, Array]:
    """Places (M, 3) by the markers' middles, and their covariance (3 M, 3 M); the first marker's corner is exact."""
    middles, full = places.copy(), np.zeros((places.size, places.size))
    full[3:, 3:] = covariance
    jacobian = np.eye(places.size)
    for k, (_, _, heading) in enumerate(places):
        arm = rotation_2d(heading) @ square_mm[:, :2].mean(0)
        middles[k, :2] += arm
        jacobian[3 * k : 3 * k + 2, 3 * k + 2] = -arm[1], arm[0]
    return middles, jacobian @ full @ jacobian.T


def _covariance_from_corner(
    covariance: Array, places: Array, corners: Array, which: NDArray[np.intp]
) -> Array:
    """The covariance in the frame whose origin is the box's lower left; `which` (2,) markers reach lowest."""
    jacobian = np.eye(places.size)
    for axis, marker in enumerate(which):
        lowest = corners[marker, corners[marker, :, axis].argmin(), :2] - places[marker, :2]
        jacobian[axis::3, 3 * marker + axis] -= 1
        jacobian[axis::3, 3 * marker + 2] -= (-lowest[1], lowest[0])[axis]
    return np.asarray(jacobian @ covariance @ jacobian.T)
