"""The camera against OpenCV's own projection, against finite differences, and against itself backwards."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from overruler.geometry.camera import CAMERA_PARAMETERS, Camera
from overruler.geometry.pose import Array, Pose, rotation_from_vector

ANGLES = st.floats(-0.6, 0.6)


@st.composite
def cameras(draw: st.DrawFn) -> Camera:
    """Cameras that look down on a table of a metre from a metre or two."""
    turn = rotation_from_vector([np.pi, 0, 0]) @ rotation_from_vector(
        [draw(ANGLES), draw(ANGLES), draw(st.floats(-3, 3))]
    )
    tilt = rotation_from_vector([draw(ANGLES), draw(ANGLES), 0])
    fx = draw(st.floats(800, 3000))
    matrix = np.array(
        [
            [fx, 0, draw(st.floats(500, 2000))],
            [0, fx * draw(st.floats(0.99, 1.01)), 700],
            [0, 0, 1.0],
        ]
    )
    strengths = (0.15, 0.1, 0.002, 0.002, 0.05)
    distortion = np.array([draw(st.floats(-s, s)) for s in strengths])
    rotation = tilt @ turn
    middle = np.array([0.0, 0.0, draw(st.floats(900, 2000))])
    return Camera(
        matrix, distortion, Pose(rotation, middle - rotation @ np.array([450.0, 450.0, 0.0]))
    )


POINTS = np.array(
    [(x, y, z) for x in (150.0, 450.0, 720.0) for y in (200.0, 640.0) for z in (0.0, 30.0)]
)


@given(cameras())
def test_projects_as_opencv_does(camera: Camera) -> None:
    # in the camera's own frame: near half a turn OpenCV's rotation vectors are only good to 1e-5
    nowhere = np.zeros(3)
    expected, _ = cv2.projectPoints(
        camera.T_camera_board.apply(POINTS), nowhere, nowhere, camera.matrix, camera.distortion
    )
    assert camera.project(POINTS) == pytest.approx(expected.reshape(-1, 2), abs=1e-6)


@given(st.lists(st.floats(-2, 2), min_size=3, max_size=3))
def test_rotation_vectors_are_opencvs(vector: list[float]) -> None:
    assert rotation_from_vector(vector) == pytest.approx(
        cv2.Rodrigues(np.array(vector))[0], abs=1e-9
    )


@given(cameras())
def test_jacobians_are_the_slopes(camera: Camera) -> None:
    pixels, d_point, d_parameters = camera.project_with_jacobians(POINTS)
    assert pixels == pytest.approx(camera.project(POINTS), abs=1e-9)
    for axis in range(3):
        step = np.eye(3)[axis] * 1e-3
        slope = (camera.project(POINTS + step) - camera.project(POINTS - step)) / 2e-3
        assert d_point[..., axis] == pytest.approx(slope, rel=1e-5, abs=1e-6)
    sizes = [1e-2] * 4 + [1e-5] * 5 + [1e-6] * 3 + [1e-3] * 3
    for i, size in enumerate(sizes):
        step = np.eye(len(CAMERA_PARAMETERS))[i] * size
        slope = (camera.moved(step).project(POINTS) - camera.moved(-step).project(POINTS)) / (
            2 * size
        )
        scale = max(1.0, float(np.abs(slope).max()))
        assert d_parameters[..., i] / scale == pytest.approx(slope / scale, abs=1e-5)


@given(cameras(), st.floats(-5, 80))
def test_points_drift_so_that_they_keep_their_pixels_and_their_height(
    camera: Camera, z_mm: float
) -> None:
    points = np.column_stack([POINTS[:, :2], np.full(len(POINTS), z_mm)])
    points = points[_before_the_fold(camera, points)]
    pixels, drift = camera.project(points), camera.board_point_jacobian(points)
    sizes = np.array([1e-2] * 4 + [1e-5] * 5 + [1e-6] * 3 + [1e-3] * 3)
    for i, size in enumerate(sizes):
        step = np.eye(len(CAMERA_PARAMETERS))[i] * size
        there, back = (camera.moved(sign * step).unproject(pixels, z_mm) for sign in (1, -1))
        scale = max(1.0, float(np.abs(drift[..., i]).max()))
        assert drift[..., i] / scale == pytest.approx((there - back) / (2 * size) / scale, abs=1e-4)


@given(cameras(), st.floats(-5, 80))
def test_unproject_undoes_project(camera: Camera, z_mm: float) -> None:
    points = np.column_stack([POINTS[:, :2], np.full(len(POINTS), z_mm)])
    seen = points[_before_the_fold(camera, points)]
    assert camera.unproject(camera.project(seen), z_mm) == pytest.approx(seen[:, :2], abs=1e-6)


def _before_the_fold(camera: Camera, points: Array) -> NDArray[np.bool_]:
    """Whether the picture grows outwards all the way to where a point is seen, by walking there."""
    xyz = camera.T_camera_board.apply(points)
    ideal = xyz[:, :2] / xyz[:, 2:]
    walk = camera.distort(ideal * np.linspace(0, 1, 400)[:, None, None])
    return np.asarray((np.diff(np.linalg.norm(walk, axis=-1), axis=0) > 1e-6).all(0))


@given(cameras())
def test_mm_per_px_is_the_size_of_a_small_square(camera: Camera) -> None:
    square = np.array([(450, 450, 0), (450.1, 450, 0), (450.1, 450.1, 0), (450, 450.1, 0)])
    u, v = camera.project(square).T
    area_px = abs(sum(u * np.roll(v, -1) - v * np.roll(u, -1))) / 2
    assert camera.mm_per_px(square[0]) == pytest.approx(0.1 / np.sqrt(area_px), rel=1e-3)


def test_points_behind_the_camera_and_rays_over_the_horizon_are_nan() -> None:
    camera = Camera(
        np.array([[1000, 0, 500], [0, 1000, 500], [0, 0, 1.0]]), np.zeros(5), _looking_level()
    )
    assert np.isnan(camera.project([0.0, -500.0, 0.0])).all()
    assert np.isfinite(camera.unproject([500.0, 900.0])).all()
    assert np.isnan(camera.unproject([500.0, 100.0])).all()


def _looking_level() -> Pose:
    """Along +y, 300 mm above the board's origin."""
    rotation = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    return Pose(rotation, -rotation @ np.array([0.0, 0.0, 300.0]))


def test_a_fold_of_the_lens_is_nan_not_a_wrong_place() -> None:
    camera = Camera(
        np.array([[1000, 0, 500], [0, 1000, 500], [0, 0, 1.0]]),
        np.array([-0.4, 0, 0, 0, 0]),
        _looking_level(),
    )
    assert np.isnan(camera.undistort([500.0 + 2000.0, 500.0])).all()


def test_points_beyond_the_fold_are_nowhere_in_the_picture() -> None:
    """By the model alone, a point far outside would lie in the very middle of the picture."""
    matrix = np.array([[1000.0, 0, 800], [0, 1000, 600], [0, 0, 1]])
    above = Pose(rotation_from_vector([np.pi, 0, 0]), np.array([0, 0, 1500.0]))
    camera = Camera(matrix, np.array([-0.25, 0, 0, 0, 0]), above)
    points = np.array([(1200.0, 0, 0), (3000.0, 0, 0)])  # it folds at 1732 mm
    near, far = camera.project(points)
    assert near == pytest.approx(camera.project_beyond_fold(points[0]))
    assert np.isnan(far).all()
    assert camera.project_beyond_fold(points[1]) == pytest.approx([800, 600])
    assert camera.project_with_jacobians(points)[0] == pytest.approx(
        camera.project_beyond_fold(points)
    )
    unfolded = Camera(matrix, np.zeros(5), above)
    assert np.isfinite(unfolded.project(points)).all()


@given(cameras(), st.lists(st.floats(-0.3, 0.3), min_size=6, max_size=6))
def test_poses_compose_invert_and_move(camera: Camera, numbers: list[float]) -> None:
    pose = camera.T_camera_board
    step = np.array(numbers) * [1, 1, 1, 100, 100, 100]
    other = Pose(rotation_from_vector(step[:3]), step[3:])
    assert (pose @ other).apply(POINTS) == pytest.approx(pose.apply(other.apply(POINTS)), abs=1e-9)
    assert (pose @ pose.inverse()).apply(POINTS) == pytest.approx(POINTS, abs=1e-9)
    expected = (
        (pose.apply(POINTS) - pose.translation_mm) @ other.rotation.T
        + pose.translation_mm
        + step[3:]
    )
    assert pose.moved(step).apply(POINTS) == pytest.approx(expected, abs=1e-9)


@given(cameras(), st.floats(-30, 60))
def test_points_along_rays_are_seen_where_each_is(camera: Camera, height_mm: float) -> None:
    turn = np.linspace(0, 6, 7)
    start = np.column_stack(
        [np.linspace(100, 700, 7), np.linspace(500, 50, 7), np.full(7, height_mm)]
    )
    ways, reach = (
        np.stack([np.cos(turn), np.sin(turn)], -1),
        np.linspace(-20, 80, 7)[:, None] + np.arange(5) * 3.0,
    )
    u, v = camera.project_along_rays(start, ways, reach)
    points = np.repeat(start[:, None], 5, axis=1)
    points[..., :2] += reach[..., None] * ways[:, None]
    assert np.allclose(np.stack([u, v], -1), camera.project(points), atol=1e-8)
