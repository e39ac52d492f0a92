"""A first pose, good enough for the least squares to find the right one."""

import cv2
import numpy as np

from overruler.errors import CannotMeasure
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose, rotation_from_vector, skew


def pose_from_points(xyz_mm: Array, xy_px: Array, matrix: Array) -> Pose:
    """The camera's pose by points (K, 3) and where they are seen (K, 2).

    By SQPnP: OpenCV's IPPE and EPnP return nonsense for a table seen from straight above, and call it a success.
    """
    good, turn, shift = cv2.solvePnP(xyz_mm, xy_px, matrix, None, flags=cv2.SOLVEPNP_SQPNP)
    pose = Pose(np.asarray(cv2.Rodrigues(turn)[0], float), np.ravel(shift)) if good else None
    if (
        pose is None
        or not np.isfinite(pose.translation_mm).all()
        or pose.inverse().translation_mm[2] <= 0
    ):
        raise CannotMeasure(
            "the markers or points do not fit a camera above the board; check their places and their order"
        )
    return pose


def alternative_cameras(camera: Camera, middle_mm: Array) -> list[Camera]:
    """Cameras of other focal lengths, and at the mirrored pose: the board leaning the other way."""
    pose = camera.T_camera_board
    sight = pose.apply(middle_mm)
    normal = pose.rotation[:, 2]
    towards = -sight / np.linalg.norm(sight)
    mirrored = 2 * (towards @ normal) * towards - normal
    poses = [pose, _tilted_pose(pose, normal, mirrored, middle_mm)]
    return [
        _scale_focal_length(Camera(camera.matrix, camera.distortion, p), zoom)
        for p in poses
        for zoom in (0.75, 1.0, 1.3)
    ]


def _tilted_pose(pose: Pose, normal: Array, wanted: Array, middle_mm: Array) -> Pose:
    """The pose turned about `middle_mm` so that the board's `normal` becomes the one wanted."""
    axis = np.cross(normal, wanted)
    angle = np.arctan2(np.linalg.norm(axis), normal @ wanted)
    rotation = (
        rotation_from_vector(axis / max(float(np.linalg.norm(axis)), 1e-12) * angle) @ pose.rotation
    )
    return Pose(rotation, pose.apply(middle_mm) - rotation @ middle_mm)


def _scale_focal_length(camera: Camera, zoom: float) -> Camera:
    """With the focal length `zoom` times, and as much farther away."""
    matrix = camera.matrix * np.array([[zoom, 1, 1], [1, zoom, 1], [1, 1, 1]])
    pose = camera.T_camera_board
    return Camera(
        matrix, camera.distortion, Pose(pose.rotation, pose.translation_mm * np.array([1, 1, zoom]))
    )


def pose_from_free_squares(corners_px: Array, side_mm: float, matrix: Array) -> tuple[Pose, Array]:
    """The camera's pose over a plane on which squares of one size lie anywhere, and their places (G, 3).

    `corners_px` (G, 4, 2) in OpenCV's order. Of a half sphere of planes the one is taken on which the squares come out
    most equal and most square. The board's frame is that of the first square: origin at its upper left corner, x
    along its upper edge.
    """
    rays = np.concatenate(
        [
            (corners_px - matrix[:2, 2]) / matrix[[0, 1], [0, 1]],
            np.ones((*corners_px.shape[:2], 1)),
        ],
        -1,
    )
    normals = _sample_hemisphere()
    planes = _intersect_planes(rays, normals)
    best = int(np.log(_side_lengths(planes)).var(-1).argmin())
    normal, points = normals[best], planes[best]
    points = points * (side_mm / np.exp(np.log(_side_lengths(points)).mean()))
    right = points[0, 1] - points[0, 0]
    x = right / np.linalg.norm(right)
    z = -normal
    rotation = np.stack([x, np.cross(z, x), z], 1)
    pose = Pose(rotation, points[0, 0])
    flat = pose.inverse().apply(points)
    edge = flat[:, 1] - flat[:, 0]
    return pose, np.column_stack([flat[:, 0, :2], np.arctan2(edge[:, 1], edge[:, 0])])


def _sample_hemisphere() -> Array:
    """Directions (N, 3) away from the camera, up to 75° from its axis, 3° apart."""
    rings = [np.zeros((1, 2))]
    for tilt in np.radians(np.arange(3, 76, 3)):
        turn = np.linspace(0, 2 * np.pi, round(120 * np.sin(tilt)), endpoint=False)
        rings.append(np.column_stack([np.full(len(turn), tilt), turn]))
    tilt, turn = np.concatenate(rings).T
    return np.column_stack([np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), np.cos(tilt)])


def _intersect_planes(rays: Array, normals: Array) -> Array:
    """Where rays (G, 4, 3) meet planes at distance 1 along normals (N, 3): (N, G, 4, 3); far off where they do not."""
    along = np.einsum("gcx,nx->ngc", rays, normals)
    return np.asarray(rays / np.where(along > 0.05, along, 1e-9)[..., None])


def _side_lengths(points: Array) -> Array:
    """Four sides and two diagonals (..., G * 6) of quadrilaterals (..., G, 4, 3), the diagonals by √2."""
    sides = np.linalg.norm(points - np.roll(points, -1, -2), axis=-1)
    diagonals = np.linalg.norm(points[..., :2, :] - points[..., 2:, :], axis=-1) / np.sqrt(2)
    return np.concatenate([sides, diagonals], -1).reshape(*points.shape[:-3], -1)


def shift_board_origin(camera: Camera, origin_mm: Array, covariance: Array) -> tuple[Camera, Array]:
    """The camera in a board frame whose origin is moved to `origin_mm` (2,), taken as exact, and its covariance.

    The covariance may go on after the camera's 15 parameters.
    """
    T_camera_board = camera.T_camera_board @ Pose(np.eye(3), np.array([*origin_mm, 0.0]))
    jacobian = np.eye(len(covariance))
    # a turn ω about the old origin carries the new one along by ω × arm
    jacobian[12:15, 9:12] = -skew(
        T_camera_board.translation_mm - camera.T_camera_board.translation_mm
    )
    return Camera(
        camera.matrix, camera.distortion, T_camera_board
    ), jacobian @ covariance @ jacobian.T
