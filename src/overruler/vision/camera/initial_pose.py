"""Initial poses of the camera, from which the bundle adjustment converges to the right minimum."""

from collections.abc import Sequence
from functools import cache
from heapq import nlargest

import cv2
import numpy as np

from overruler.errors import CannotMeasure
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose, rotation_from_vector
from overruler.vision.camera.bundle_adjustment import ROUNDS, BundleAdjustment
from overruler.vision.camera.final_fit import ABORT_RMS_FACTOR, MAX_RMS_PX
from overruler.vision.camera.lens_prior import LensPrior
from overruler.vision.camera.marker_layout import add_height_uncertainty
from overruler.vision.camera.observations import Observation
from overruler.vision.camera.state import Solution, State

RESTART_SIGMA = 2.0
"""Standard deviation of unit weight above which the second pose of a plane is tried as well."""
RESTART_ROUNDS, MAX_RESTARTS = 16, 2
"""Rounds after which other starts are compared, and how many of them are then solved to the end."""
FEW_OBSERVATIONS = 4
"""With up to this many observations the mirrored pose may fit as well. It is then tried from
`SUSPICIOUS_SIGMA`."""
SUSPICIOUS_SIGMA = 1.1
"""Standard deviation of unit weight above which the mirrored pose of few observations is tried."""
MIN_POINTS = 4
"""Fewest points from which a pose is found."""
OUT_OF_SIGHT_TEXT = "the lens file's lens sees no table where the markers or points are; give its own camera's photo"
"""What is wrong with a lens under which pixels have no place."""
ALTERNATIVE_ZOOMS = (0.75, 1.0, 1.3)
"""Factors of the focal length that are tried as other starts."""
HEMISPHERE_STEP_DEG = 3
"""Spacing of the plane normals that are tried for free markers."""
HEMISPHERE_END_DEG = 76
"""Tilts below this angle from the camera's axis are tried."""


def pose_from_points(xyz_mm: Array, xy_px: Array, matrix: Array) -> Pose:
    """The camera's pose from points (K, 3) and their undistorted pixels (K, 2).

    It uses SQPnP: OpenCV's IPPE and EPnP return nonsense for a table seen from straight above, and
    report success.
    """
    if len(xyz_mm) < MIN_POINTS:
        raise CannotMeasure(OUT_OF_SIGHT_TEXT)
    good, rotation_vector, translation = cv2.solvePnP(
        xyz_mm, xy_px, matrix, None, flags=cv2.SOLVEPNP_SQPNP
    )
    if good:
        rotation = np.asarray(cv2.Rodrigues(rotation_vector)[0], float)
        pose = Pose(rotation, np.ravel(translation))
        if _is_above_board(pose):
            return pose
    raise CannotMeasure(
        "the markers or points do not fit a camera above the board; check their places and their order"
    )


def _is_above_board(pose: Pose) -> bool:
    if not np.isfinite(pose.translation_mm).all():
        return False
    return not pose.inverse().translation_mm[2] <= 0


def alternative_cameras(camera: Camera, middle_mm: Array) -> list[Camera]:
    """Other starts: other focal lengths, each at the same pose and at the mirrored one."""
    cameras = camera, mirrored_camera(camera, middle_mm)
    return [_scale_focal_length(one, zoom) for one in cameras for zoom in ALTERNATIVE_ZOOMS]


def mirrored_camera(camera: Camera, middle_mm: Array) -> Camera:
    """The camera at a plane's second pose.

    It has nearly the same picture, in which the plane tilts the other way about `middle_mm` (3,).
    """
    pose = camera.T_camera_board
    line_of_sight = pose.apply(middle_mm)
    normal = pose.rotation[:, 2]
    towards_camera = -line_of_sight / np.linalg.norm(line_of_sight)
    mirrored = 2 * (towards_camera @ normal) * towards_camera - normal
    return Camera(camera.matrix, camera.distortion, _tilted_pose(pose, normal, mirrored, middle_mm))


def _tilted_pose(pose: Pose, normal: Array, wanted: Array, middle_mm: Array) -> Pose:
    """The pose rotated about `middle_mm` so that the board's `normal` becomes `wanted`."""
    axis = np.cross(normal, wanted)
    length = float(np.linalg.norm(axis))
    angle = np.arctan2(length, normal @ wanted)
    rotation = rotation_from_vector(axis / max(length, 1e-12) * angle) @ pose.rotation
    return Pose(rotation, pose.apply(middle_mm) - rotation @ middle_mm)


def _scale_focal_length(camera: Camera, zoom: float) -> Camera:
    matrix = camera.matrix * np.array([[zoom, 1, 1], [1, zoom, 1], [1, 1, 1]])
    pose = camera.T_camera_board
    translation = pose.translation_mm * np.array([1, 1, zoom])
    return Camera(matrix, camera.distortion, Pose(pose.rotation, translation))


def pose_from_free_squares(corners_px: Array, side_mm: float, matrix: Array) -> tuple[Pose, Array]:
    """The camera's pose over a plane with G equal squares at unknown places, and the places (G, 3).

    `corners_px` (G, 4, 2) are undistorted, in OpenCV's order. Of all planes over a hemisphere the
    best makes the squares most equal and most square. The first square defines the board frame:
    origin at its upper left corner, x along its upper edge. A place is x and y in mm and heading in
    radians.
    """
    if not np.isfinite(corners_px).all():
        raise CannotMeasure(OUT_OF_SIGHT_TEXT)
    rays = _pixel_rays(corners_px, matrix)
    normals = _sample_hemisphere()
    planes = _intersect_planes(rays, normals)
    irregularity = np.log(_side_lengths(planes)).var(-1)
    best = int(irregularity.argmin())
    normal, points = normals[best], planes[best]
    mean_side = np.exp(np.log(_side_lengths(points)).mean())
    points = points * (side_mm / mean_side)
    right = points[0, 1] - points[0, 0]
    x = right / np.linalg.norm(right)
    z = -normal
    rotation = np.stack([x, np.cross(z, x), z], 1)
    pose = Pose(rotation, points[0, 0])
    on_board = pose.inverse().apply(points)
    edge = on_board[:, 1] - on_board[:, 0]
    heading = np.arctan2(edge[:, 1], edge[:, 0])
    return pose, np.column_stack([on_board[:, 0, :2], heading])


def _pixel_rays(xy_px: Array, matrix: Array) -> Array:
    """Rays (G, 4, 3) of undistorted pixels (G, 4, 2), at depth 1."""
    xy = (xy_px - matrix[:2, 2]) / matrix[[0, 1], [0, 1]]
    return np.concatenate([xy, np.ones((*xy_px.shape[:2], 1))], -1)


@cache
def _sample_hemisphere() -> Array:
    """Directions (N, 3) away from the camera, up to 75° from its axis, 3° apart."""
    rings = [np.zeros((1, 2))]
    tilts = np.arange(HEMISPHERE_STEP_DEG, HEMISPHERE_END_DEG, HEMISPHERE_STEP_DEG)
    for tilt in np.radians(tilts):
        count = round(360 / HEMISPHERE_STEP_DEG * np.sin(tilt))
        azimuth = np.linspace(0, 2 * np.pi, count, endpoint=False)
        rings.append(np.column_stack([np.full(count, tilt), azimuth]))
    tilt, azimuth = np.concatenate(rings).T
    x = np.sin(tilt) * np.cos(azimuth)
    y = np.sin(tilt) * np.sin(azimuth)
    return np.column_stack([x, y, np.cos(tilt)])


def _intersect_planes(rays: Array, normals: Array) -> Array:
    """Points (N, G, 4, 3) of rays (G, 4, 3) on planes at distance 1 along normals (N, 3), or far away."""
    cosine = np.einsum("gcx,nx->ngc", rays, normals)
    depth = np.where(cosine > 0.05, cosine, 1e-9)
    return np.asarray(rays / depth[..., None])


def _side_lengths(points: Array) -> Array:
    """Lengths (..., G * 6) of quadrilaterals (..., G, 4, 3): four sides, two diagonals by √2."""
    sides = np.linalg.norm(points - np.roll(points, -1, -2), axis=-1)
    diagonals = np.linalg.norm(points[..., :2, :] - points[..., 2:, :], axis=-1) / np.sqrt(2)
    lengths = np.concatenate([sides, diagonals], -1)
    return lengths.reshape(*points.shape[:-3], -1)


def solve_known_layout(groups: Sequence[Observation], prior: LensPrior, rounds: int) -> Solution:
    """Solve from an initial pose, then once more with the noise of the markers' heights.

    Fewer `rounds` end the first of the two, and nothing else is tried.
    """
    xyz = np.concatenate([group.xyz_mm for group in groups])
    xy = prior.undistort_pixels(np.concatenate([group.xy_px for group in groups]))
    good = np.isfinite(xy).all(1)
    camera = prior.camera_at(pose_from_points(xyz[good], xy[good], prior.matrix))
    bundle = BundleAdjustment(groups, prior)
    best = bundle.solve(State(camera, 0.0), rounds)
    if rounds < ROUNDS:
        return best
    starts: list[Camera] = []
    if len(groups) <= FEW_OBSERVATIONS and best.unit_weight_sigma > SUSPICIOUS_SIGMA:
        starts = [mirrored_camera(camera, xyz.mean(0))]
    if best.unit_weight_sigma > RESTART_SIGMA:
        starts = alternative_cameras(camera, xyz.mean(0))
    begun = [bundle.solve(State(start, 0.0), RESTART_ROUNDS) for start in starts]
    leading = nlargest(MAX_RESTARTS, begun, key=_log_evidence)
    best = max([best, *(bundle.solve(one.state) for one in leading)], key=_log_evidence)
    if best.rms_px > ABORT_RMS_FACTOR * MAX_RMS_PX:
        return best
    groups = add_height_uncertainty(groups, best.state.camera)
    return BundleAdjustment(groups, prior).solve(best.state)


def _log_evidence(solution: Solution) -> float:
    return solution.log_evidence


def solve_free_markers(
    groups: Sequence[Observation],
    corners_px: Array,
    side_mm: float,
    prior: LensPrior,
    rounds: int,
) -> Solution:
    """Solve for markers (G, 4, 2) in px that lie anywhere."""
    flat_px = prior.undistort_pixels(corners_px)
    pose, places = pose_from_free_squares(flat_px, side_mm, prior.matrix)
    return BundleAdjustment(groups, prior).solve(State(prior.camera_at(pose), 0.0, places), rounds)
