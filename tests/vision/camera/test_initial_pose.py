"""First poses: right from straight above too, where some of OpenCV's solvers return nonsense."""

import numpy as np
import pytest

from evaluate.drawn.markers import EIGHT, camera_over, marker_mm
from overruler.errors import CannotMeasure
from overruler.geometry.pose import Array, Pose
from overruler.vision.camera.initial_pose import (
    alternative_cameras,
    pose_from_free_squares,
    pose_from_points,
)

SPOTS = np.array([(x, y, 0.0) for x, y in EIGHT.values()])
PLAIN = (0.0, 0.0, 0.0, 0.0, 0.0)


def angle_deg(a: Pose, b: Pose) -> float:
    return float(
        np.degrees(np.arccos(np.clip((np.trace(a.rotation.T @ b.rotation) - 1) / 2, -1, 1)))
    )


@pytest.mark.parametrize("tilt", [0.0, 0.01, 3.0, 20.0, 60.0])
@pytest.mark.parametrize("turn", [0.0, 90.0, 200.0])
def test_the_pose_of_points_is_found_from_every_side(tilt: float, turn: float) -> None:
    camera = camera_over(tilt, turn_deg=turn, distortion=PLAIN)
    pose = pose_from_points(SPOTS, camera.project(SPOTS), camera.matrix)
    assert angle_deg(pose, camera.T_camera_board) < 0.01
    assert pose.translation_mm == pytest.approx(camera.T_camera_board.translation_mm, abs=0.2)


def test_points_seen_from_below_are_refused() -> None:
    camera = camera_over(10, distortion=PLAIN)
    mirrored = SPOTS * [1, -1, 1]
    with pytest.raises(CannotMeasure, match="order"):
        pose_from_points(mirrored, camera.project(SPOTS), camera.matrix)


@pytest.mark.parametrize("tilt", [0.0, 12.0, 33.0, 58.0])
@pytest.mark.parametrize("turn", [0.0, 75.0, 250.0])
def test_the_pose_of_squares_is_near_enough_to_start_from(tilt: float, turn: float) -> None:
    camera = camera_over(tilt, turn_deg=turn, distortion=PLAIN, height_mm=1300)
    squares = np.array([marker_mm(x, y, heading_deg=53.0 * n) for n, (x, y) in EIGHT.items()])
    pose, places = pose_from_free_squares(camera.project(squares), 60.0, camera.matrix)
    tilts = [np.degrees(np.arccos(-p.rotation[2, 2])) for p in (pose, camera.T_camera_board)]
    assert tilts[0] == pytest.approx(tilts[1], abs=4)
    assert places[0] == pytest.approx([0, 0, 0], abs=1e-9)
    found = np.linalg.norm(places[:, :2] - places[0, :2], axis=1)
    true = np.linalg.norm(squares[:, 0, :2] - squares[0, 0, :2], axis=1)
    assert found == pytest.approx(true, rel=0.12)
    turns = np.degrees(places[:, 2]) - 53.0 * np.arange(8)
    assert (turns + 180) % 360 - 180 == pytest.approx(np.zeros(8), abs=4)


def test_other_starts_see_the_middle_where_it_is_and_as_large() -> None:
    camera, middle = camera_over(25), SPOTS.mean(0)
    starts = alternative_cameras(camera, middle)
    assert starts
    for start in starts:
        assert start.project(middle) == pytest.approx(camera.project(middle), abs=30)
        assert start.mm_per_px(middle) == pytest.approx(camera.mm_per_px(middle), rel=0.1)
        assert start.center_mm[2] > 0


def test_one_of_them_leans_the_other_way() -> None:
    camera, middle = camera_over(25), SPOTS.mean(0)
    sight = camera.T_camera_board.apply(middle)
    sight /= np.linalg.norm(sight)

    def lean(pose: Pose) -> tuple[float, Array]:
        normal = pose.rotation[:, 2]
        return float(normal @ sight), normal - (normal @ sight) * sight

    along, across = lean(camera.T_camera_board)
    mirrored = [
        lean(s.T_camera_board)
        for s in alternative_cameras(camera, middle)
        if s.matrix[0, 0] == camera.matrix[0, 0]
    ]
    assert any(
        a == pytest.approx(along) and b == pytest.approx(-across, abs=1e-6) for a, b in mirrored
    )


def test_a_moved_frame_sees_the_same_and_doubts_the_same() -> None:
    camera = camera_over(25)
    random = np.random.default_rng(1)
    root = (
        random.normal(size=(15, 15))
        * np.array([1e-2] * 4 + [1e-6] * 5 + [1e-7] * 3 + [1e-4] * 3)[:, None]
    )
    moved, jacobian = camera.with_origin_at(np.array([120.0, -45.0, 0.0]))
    covariance = jacobian @ root @ root.T @ jacobian.T
    there = SPOTS - [120.0, -45.0, 0.0]
    assert moved.project(there) == pytest.approx(camera.project(SPOTS), abs=1e-9)
    pixels = [camera.moved(step).project(SPOTS) - camera.project(SPOTS) for step in root.T]
    slopes = moved.project_with_jacobians(there)[2].reshape(-1, 15)
    expected = sum(np.outer(step.ravel(), step.ravel()) for step in pixels)
    assert slopes @ covariance @ slopes.T == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_a_lens_under_which_pixels_have_no_place_is_told() -> None:
    few = np.zeros((3, 2))
    with pytest.raises(CannotMeasure, match="sees no table"):
        pose_from_points(SPOTS[:3], few, np.eye(3))
    with pytest.raises(CannotMeasure, match="sees no table"):
        pose_from_free_squares(np.full((2, 4, 2), np.nan), 50.0, np.eye(3))
