"""The camera of a photo by places of the ground, and by markers that can be fitted then.

The places are known by other photos. What these err, the camera errs as well: `Lean` says how.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.calibration import JOINT_SIZE, Calibration, TableBow
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm
from overruler.vision.camera.bundle_adjustment import BundleAdjustment
from overruler.vision.camera.initial_pose import pose_from_points
from overruler.vision.camera.lens_prior import LensPrior
from overruler.vision.camera.observations import Observation, spread_indices
from overruler.vision.camera.state import State
from overruler.vision.camera.table_bow import correct_for_bow_mm, place_jacobian_bow
from overruler.vision.hanging.ground_matches import Matches

POINT_COUNT = 120
"""Most places that a camera is fitted to, spread over the picture."""
GATE_SIGMAS = 3.0
"""Places farther from where the camera sees them stand on something, or are wrong."""
MIN_GATE_PX = 1.0
"""Least gate, in px, beyond which a place is rejected."""
LEAST_SIGMA_PX = 0.3
"""Least 1 σ of a place along u and along v: no two photos show the same of the ground."""
CORRELATION_FACTOR = 2.0
"""1 σ by which a place is weighed against that of the residuals: neighbours err alike."""
GROUND_HEIGHT_SIGMA_MM = 0.6
"""1 σ of the height of what makes the ground's texture over the board, all over the table alike."""
FIT_ROUNDS = 4
"""Rounds of choosing the places and fitting the camera."""
MEDIAN_DISTANCE = 1.1774
"""Median distance of a point in the plane from its mean, in σ along an axis: √(2 ln 2)."""


@dataclass(frozen=True, slots=True, eq=False)
class GroundFit:
    """A camera fitted to places on the ground."""

    bundle: BundleAdjustment
    state: State
    points: Mapping[int, Matches]
    """The places used, by the number of the photo that knows them."""
    sigma_px: float
    """Standard deviation of the residuals along an axis."""

    @property
    def weight_sigma_px(self) -> float:
        """1 σ of a place along an axis, as the fit weighs it."""
        return CORRELATION_FACTOR * self.sigma_px

    @property
    def count(self) -> int:
        return sum(len(one) for one in self.points.values())


def start_on_ground(prior: LensPrior, matches: Matches, bow: TableBow | None) -> State:
    """The camera of the prior's lens at the pose that the matches ask for."""
    flat_px = prior.undistort_pixels(matches.xy_px)
    good = np.isfinite(flat_px).all(1)
    pose = pose_from_points(_on_board(matches.xy_mm[good]), flat_px[good], prior.matrix)
    return State(prior.camera_at(pose), 0.0, bow=bow)


def fit_to_ground(
    prior: LensPrior,
    known: Mapping[int, Matches],
    markers: Sequence[Observation],
    start: State,
) -> GroundFit:
    """Fit a camera, from a start, to places that photos know, by their numbers, and to markers."""
    matches = _together(list(known.values()))
    owner = np.repeat(list(known), [len(one) for one in known.values()])
    state = start
    for _ in range(FIT_ROUNDS):
        off_px = np.linalg.norm(_residuals_px(state, matches), axis=1)
        sigma_px = max(LEAST_SIGMA_PX, float(np.median(off_px)) / MEDIAN_DISTANCE)
        near = np.flatnonzero(off_px < max(MIN_GATE_PX, GATE_SIGMAS * sigma_px))
        chosen = near[spread_indices(matches.xy_px[near], POINT_COUNT)]
        groups = [
            *markers,
            *(_observe(matches, k, CORRELATION_FACTOR * sigma_px) for k in chosen.tolist()),
        ]
        bundle = BundleAdjustment(groups, prior)
        state = bundle.solve(state).state
    points = {k: matches.only(chosen[owner[chosen] == k]) for k in known}
    return GroundFit(bundle, state, {k: one for k, one in points.items() if len(one)}, sigma_px)


def leaning_on(fit: GroundFit, points: Matches, reference: Calibration) -> Array:
    """(17, 17): how the fitted camera and bow follow those of the photo that knows the places."""
    xyz = _on_board(points.xy_mm)
    by_camera = reference.camera.board_point_jacobian(xyz)
    by_bow = place_jacobian_bow(reference, points.xy_mm)
    _, by_point, _ = fit.state.camera.project_with_jacobians(xyz)
    moved_px = by_point[..., :2] @ np.concatenate([by_camera, by_bow], axis=-1)
    return _follow(fit, points, moved_px)


def following_height(fit: GroundFit, points: Matches, reference: Calibration) -> Array:
    """(17,): how they follow the ground's height over the board at these places, by 1 σ of it."""
    relief = relief_displacement_per_mm(reference.camera, points.xy_mm, 0.0)
    _, by_point, _ = fit.state.camera.project_with_jacobians(_on_board(points.xy_mm))
    # at a height a place is known aside of where it is, and seen aside of there
    moved_px = (by_point[..., :2] @ relief[..., None])[..., 0] + by_point[..., 2]
    return -GROUND_HEIGHT_SIGMA_MM * _follow(fit, points, moved_px[..., None])[:, 0]


def _follow(fit: GroundFit, points: Matches, moved_px: Array) -> Array:
    """(17, n): how camera and bow follow n errors that move the places by `moved_px` (N, 2, n)."""
    xyz = _on_board(points.xy_mm)
    _, by_point, by_camera = fit.state.camera.project_with_jacobians(xyz)
    weights = np.zeros((len(xyz), 2))
    if fit.state.bow is not None:
        weights = fit.state.bow.height_weights(points.xy_mm)
    by_bow = by_point[..., 2:] * weights[:, None, :]
    rows = np.concatenate([by_camera, by_bow], axis=-1).reshape(-1, JOINT_SIZE)
    asked = -rows.T @ moved_px.reshape(len(rows), -1) / fit.weight_sigma_px**2
    return np.asarray(fit.bundle.covariance(fit.state) @ asked)


def places_in(reference: Calibration, matches: Matches) -> Matches:
    """The matches at their places on the table's bow, as the reference knows them."""
    return Matches(correct_for_bow_mm(reference, matches.xy_mm), matches.xy_px)


def agreeing_with(state: State, matches: Matches, reach_px: float) -> Matches:
    """The matches that a camera sees where they are."""
    off_px = np.linalg.norm(_residuals_px(state, matches), axis=1)
    return matches.only(np.flatnonzero(off_px < reach_px))


def _residuals_px(state: State, matches: Matches) -> Array:
    """(N, 2): where the photo shows places, from where the camera sees them."""
    xyz = _on_board(matches.xy_mm)
    if state.bow is not None:
        xyz[:, 2] = state.bow.z_mm(matches.xy_mm)
    off_px = matches.xy_px - state.camera.project(xyz)
    return np.where(np.isfinite(off_px), off_px, np.inf)


def _observe(matches: Matches, k: int, sigma_px: float) -> Observation:
    none = np.zeros((2, 0))
    return Observation(
        xyz_mm=np.tile([*matches.xy_mm[k], 0.0], (2, 1)),
        xy_px=np.tile(matches.xy_px[k], (2, 1)),
        normal_px=np.eye(2),
        edge_covariance_px2=sigma_px**2 * np.eye(2),
        place_factors_px=none,
        specified_place_factors_px=none,
        shape_factors_px=none,
        is_marker=False,
    )


def _together(parts: Sequence[Matches]) -> Matches:
    places = np.concatenate([one.xy_mm for one in parts])
    return Matches(places, np.concatenate([one.xy_px for one in parts]))


def _on_board(xy_mm: Array) -> Array:
    return np.column_stack([xy_mm, np.zeros(len(xy_mm))])
