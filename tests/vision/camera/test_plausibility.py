"""Impossible cameras are refused in one line; all that people use pass."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.drawn import markers as table
from overruler.calibration import Calibration
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Pose, rotation_from_vector
from overruler.vision.camera.calibrate import calibrate_from_markers
from overruler.vision.camera.lens_prior import lens_prior
from overruler.vision.camera.plausibility import check_camera, find_oddity

SIZE_PX = (4000, 3000)


def camera_over_table(
    focal_px: float = 3200.0,
    height_mm: float = 1200.0,
    tilt_deg: float = 30.0,
    k1: float = 0.0,
    center_px: tuple[float, float] = (1999.5, 1499.5),
) -> Camera:
    matrix = np.array([[focal_px, 0, center_px[0]], [0, focal_px, center_px[1]], [0, 0, 1]])
    rotation = rotation_from_vector([np.pi - np.radians(tilt_deg), 0, 0])
    eye_mm = np.array([0.0, 0.0, height_mm])
    return Camera(matrix, np.array([k1, 0, 0, 0, 0]), Pose(rotation, -rotation @ eye_mm))


@given(st.floats(0.3, 15), st.floats(150, 5000), st.floats(0, 50), st.floats(-0.12, 0.12))
def test_cameras_that_people_have_pass(
    focal_share: float, height_mm: float, tilt_deg: float, k1: float
) -> None:
    k1 *= min(1.0, focal_share**2)
    camera = camera_over_table(focal_share * 4000, height_mm, tilt_deg, k1)
    middle = camera.unproject(np.array([1999.5, 1499.5])).tolist()
    assert find_oddity(camera, SIZE_PX, (middle[0], middle[1])) is None


@pytest.mark.parametrize(
    ("camera", "word"),
    [
        (camera_over_table(focal_px=3.0), "focal length"),
        (camera_over_table(focal_px=1e6), "focal length"),
        (camera_over_table(height_mm=1.0), "hang"),
        (camera_over_table(height_mm=1e6), "hang"),
        (camera_over_table(k1=-3.0), "bend"),
        (camera_over_table(center_px=(9000.0, 0.0)), "past the picture"),
        (camera_over_table(focal_px=np.nan), "unknown"),
    ],
)
def test_a_camera_that_nobody_has_is_refused(camera: Camera, word: str) -> None:
    with pytest.raises(CannotMeasure, match=word) as error:
        check_camera(camera, SIZE_PX, (0.0, 0.0))
    assert error.value.exit_code == 3
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("share", "kind"), [(0.75, "lower"), (4 / 3, "narrower")])
def test_a_stretched_picture_is_measured_with_its_true_pixels(share: float, kind: str) -> None:
    shrunk = np.array([min(1.0, 1 / share), min(1.0, share)])
    taken = table.camera_over(25.0)
    seen = taken.with_lens(np.diag([*shrunk, 1.0]) @ taken.matrix, taken.distortion)
    width, height = (np.array([1600, 1200]) * shrunk).round().astype(int).tolist()
    found = calibration_of(seen, (width, height))
    measured = found.camera.matrix
    assert measured[1, 1] / measured[0, 0] == pytest.approx(share, rel=0.003)
    assert measured[:2, :2].max() == pytest.approx(1250, rel=0.02)
    texts = [problem.text for problem in found.problems if problem.flag == "stretched"]
    assert len(texts) == 1
    assert kind in texts[0]


def test_a_picture_stretched_by_what_no_resizing_gives_is_refused() -> None:
    seen = table.camera_over(25.0)
    seen = seen.with_lens(np.diag([1.0, 0.7, 1.0]) @ seen.matrix, seen.distortion)
    with pytest.raises(CannotMeasure, match="not by resizing"):
        calibration_of(seen, (1600, 1200))


@pytest.mark.parametrize("share", [0.9, 1 / 0.9])
def test_a_squeeze_by_a_tenth_is_noticed_and_measured(share: float) -> None:
    shrunk = np.array([min(1.0, 1 / share), min(1.0, share)])
    taken = table.camera_over(25.0)
    seen = taken.with_lens(np.diag([*shrunk, 1.0]) @ taken.matrix, taken.distortion)
    width, height = (np.array([1600, 1200]) * shrunk).round().astype(int).tolist()
    found = calibration_of(seen, (width, height))
    assert {problem.flag for problem in found.problems} & {"stretched", "cropped"}
    assert worst_error_mm(found, seen) < 1.0


@pytest.mark.parametrize("factor", [0.5, 2.0, 3.0])
def test_metadata_that_are_off_by_a_factor_are_outvoted_by_the_markers(factor: float) -> None:
    taken = table.camera_over(25.0)
    found = calibration_of(taken, (1600, 1200), factor * float(taken.matrix[0, 0]))
    assert found.camera.matrix[0, 0] == pytest.approx(taken.matrix[0, 0], rel=0.03)
    assert worst_error_mm(found, taken) < 0.5


def worst_error_mm(found: Calibration, seen: Camera) -> float:
    """The largest error of a distance between places all over the table."""
    shares = np.stack(np.meshgrid(*[np.linspace(0.15, 0.85, 4)] * 2), -1).reshape(-1, 2)
    places = shares * found.board_mm
    pixels = seen.project(np.column_stack([places, np.zeros(len(places))]))
    measured = found.camera.unproject(pixels, 0.0)[:, :2]
    apart = [np.linalg.norm(xy[:, None] - xy, axis=-1) for xy in (places, measured)]
    return float(np.abs(apart[0] - apart[1]).max())


def calibration_of(
    camera: Camera, size_px: tuple[int, int], focal_px: float | None = None
) -> Calibration:
    """What eight markers say, seen by a camera in a picture of a size and with such metadata."""
    board = table.known_board(table.EIGHT)
    assert board.corners_mm is not None
    markers = table.seen_markers(camera, board.corners_mm, np.random.default_rng(5))
    pixels = np.zeros((size_px[1], size_px[0], 3), np.uint8)
    frame = Frame(pixels, "drawn", focal_px=focal_px)
    return calibrate_from_markers(frame, board, markers, (), lens_prior(frame, None))[0]
