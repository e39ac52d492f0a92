"""The calibration of a photo: its covariances, its board frame, and its record in a scene."""

import json
from dataclasses import replace

import numpy as np

from evaluate.drawn.markers import camera_over
from overruler.calibration import (
    Calibration,
    CalibrationRecord,
    Covariances,
    Problem,
    TableBow,
    calibration_to_json,
)

BOW = TableBow(np.array([300.0, 200.0]), np.array([300.0, 200.0]), np.array([1.0, -0.5]), 0.2)
SPOTS = np.array([[100.0, 50.0], [420.0, 310.0]])


def calibration() -> Calibration:
    root = np.random.default_rng(0).normal(size=(17, 17))
    covariances = Covariances(root @ root.T / 9, root @ root.T, root @ root.T)
    problem = Problem("few_markers", "only 3 markers are seen: four are needed")
    return Calibration(
        camera_over(20), covariances, (1600, 1200), 0.1, (0, 1), (600, 400), problems=(problem,)
    )


def test_one_covariance_of_the_camera_leaves_the_bow_exact() -> None:
    covariances = Covariances.same(2 * np.eye(15))
    assert covariances.usual is covariances.rare
    assert np.array_equal(covariances.rare[:15, :15], 2 * np.eye(15))
    assert not covariances.rare[15:].any()
    assert not covariances.rare[:, 15:].any()


def test_as_specified_the_usual_covariance_is_all_there_is() -> None:
    found = calibration()
    specified = found.as_specified
    assert np.array_equal(found.joint_covariance, found.covariances.rare)
    assert np.array_equal(specified.joint_covariance, found.covariances.usual)
    assert np.array_equal(specified.covariance, found.covariances.usual[:15, :15])


def test_another_origin_changes_neither_the_photo_nor_the_bow() -> None:
    before = replace(calibration(), bow=BOW)
    origin = np.array([120.0, -45.0, 0.0])
    after = before.with_origin_at(origin)
    assert before.bow is not None
    assert after.bow is not None
    on_board = np.column_stack([SPOTS, np.zeros(len(SPOTS))])
    assert np.allclose(after.camera.project(on_board - origin), before.camera.project(on_board))
    assert np.allclose(after.bow.z_mm(SPOTS - origin[:2]), before.bow.z_mm(SPOTS))
    assert np.allclose(9 * after.covariances.usual, after.covariances.rare)


def test_a_scene_s_record_reads_what_was_written() -> None:
    found = calibration()
    record = CalibrationRecord.from_json(json.loads(json.dumps(calibration_to_json(found))))
    assert np.array_equal(record.camera.matrix, found.camera.matrix)
    assert np.array_equal(record.camera.distortion, found.camera.distortion)
    assert np.array_equal(
        record.camera.T_camera_board.rotation, found.camera.T_camera_board.rotation
    )
    assert np.array_equal(record.camera.center_mm, found.camera.center_mm)
    assert (record.size_px, record.problems) == (found.size_px, found.problems)


def test_a_record_without_problems_has_none() -> None:
    data = calibration_to_json(calibration())
    del data["problems"]
    assert CalibrationRecord.from_json(data).problems == ()
