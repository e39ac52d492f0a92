"""What the bases say about the camera."""

import gc
import weakref
from dataclasses import replace

import cv2
import numpy as np
import pytest

from evaluate.drawn.markers import FOUR, camera_over, known_board
from overruler.bases import Base
from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.camera.calibrate import calibrate
from overruler.vision.camera.measurement_update import kalman_update
from overruler.vision.camera.precision_map import place_jacobian_camera
from overruler.vision.refinement import base_scale
from overruler.vision.refinement.base_scale import (
    MIN_BASES,
    RimMeasurement,
    keep_consistent_rims,
    measure_rim,
    measures_of,
    radius_covariance,
    refine_by_bases,
)
from tests.vision.sight import BOARD, SIZE, Sight, blank, corners_of

CAMERA = camera_over(12)
PLACES = [(x, y) for x in (180.0, 360.0, 540.0, 720.0) for y in (200.0, 450.0, 700.0)]
DIAMETER_MM = 40.0


def shown(diameter_mm: float = DIAMETER_MM) -> Frame:
    """Flat dark discs on a bright table."""
    light = np.full((SIZE[1] * 4, SIZE[0] * 4), 200, np.uint8)
    turn = np.linspace(0, 2 * np.pi, 240, endpoint=False)
    for place in PLACES:
        ring = np.array(place) + diameter_mm / 2 * np.stack([np.cos(turn), np.sin(turn)], -1)
        px = CAMERA.project(np.column_stack([ring, np.zeros(len(ring))]))
        cv2.fillPoly(light, [np.round((px + 0.5) * 4 * 16 - 8).astype(np.int32)], 60, shift=4)
    grey = cv2.GaussianBlur(cv2.resize(light, SIZE, interpolation=cv2.INTER_AREA), (0, 0), 0.7)
    return Frame(np.repeat(grey[:, :, None], 3, 2), "discs")


def bases(visible: float = 1.0) -> list[Detection]:
    found = []
    for place in PLACES:
        slope = place_jacobian_camera(CAMERA, np.array(place))
        px = CAMERA.project(np.array([*place, 0.0]))
        found.append(Detection(Base.circle(DIAMETER_MM), np.array(place), 0.0, 0.0, np.eye(2) * 0.01, slope, 0.9,
                               visible, px, px[None]))  # fmt: skip
    return found


@pytest.fixture
def four(see: type[Sight]) -> Calibration:
    see(CAMERA, corners_of(known_board(FOUR)))
    found = calibrate(blank(), known_board(FOUR))
    return replace(found, camera=CAMERA)


def test_a_radius_is_measured_to_a_tenth_of_a_millimetre(four: Calibration) -> None:
    rings = [measure_rim(shown(), four, one) for one in bases()]
    assert all(ring is not None and abs(ring.radius_excess_mm) < 0.1 for ring in rings)
    larger = [measure_rim(shown(DIAMETER_MM + 0.8), four, one) for one in bases()]
    assert np.median([ring.radius_excess_mm for ring in larger if ring]) == pytest.approx(
        0.4, abs=0.1
    )


def test_a_rim_is_measured_once_in_a_photo_by_a_camera(
    four: Calibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(base_scale, "_measure_rim", lambda *of: asked.append(of))
    one, other, *_ = bases()
    photo, later = shown(), shown()
    moved = replace(four, camera=CAMERA.moved(np.zeros(15)))
    same = replace(four, problems=())
    for of in ((photo, four), (photo, same), (photo, moved), (photo, same), (later, four)):
        measure_rim(*of, one)
    measure_rim(photo, four, one)  # two photos are looked at at a time
    measure_rim(later, four, other)
    assert asked == [
        (photo, four, one), (photo, moved, one), (later, four, one), (later, four, other)
    ]  # fmt: skip


def test_what_was_measured_keeps_no_photo_alive(four: Calibration) -> None:
    """A photo takes fifty megabytes, and a server runs for days."""
    photo = shown()
    measure_rim(photo, four, bases()[0])
    seen = weakref.ref(photo)
    del photo
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize(
    ("parameter", "size"), [(0, 8.0), (4, 6e-3), (5, 1.2e-2), (9, 4e-3), (14, 4.0)]
)
def test_the_slope_of_a_radius_is_that_of_measuring_it_again(
    four: Calibration, parameter: int, size: float
) -> None:
    """Over all bases: a single one is measured to a few hundredths of a millimetre only."""
    frame, step = shown(), np.eye(15)[parameter] * size
    rises, wanted = [], []
    for one in bases():
        larger = []
        for side in (-1, 0, 1):
            camera = four.camera.moved(side * step)
            ring = measure_rim(
                frame,
                replace(four, camera=camera),
                replace(one, xy_mm=camera.unproject(one.center_px)),
            )
            assert ring is not None
            larger.append(ring.radius_excess_mm)
            if side == 0:
                wanted.append(float(ring.camera_jacobian @ step))
        rises.append((larger[2] - larger[0]) / 2)
    assert np.median(np.subtract(rises, wanted)) == pytest.approx(0, abs=0.01)
    assert np.std(np.subtract(rises, wanted)) < 0.02 + 0.25 * np.std(wanted)
    assert np.dot(rises, wanted) / np.dot(wanted, wanted) == pytest.approx(1, abs=0.25)


def drawn(
    covariance: Array, random: np.random.Generator, count: int = 12
) -> tuple[list[RimMeasurement], Array]:
    """Rings of a camera that is off by a step (15,) drawn from its covariance, with noise as stated."""
    step = np.linalg.cholesky(covariance + np.diag(np.diag(covariance)) * 1e-9) @ random.normal(
        size=15
    )
    slopes = random.normal(size=(count, 15)) * 0.3 / np.sqrt(np.diag(covariance))
    rings = [
        RimMeasurement(0.0, 0.1, slope, (27.0, 50.0)[k % 2], 0.5, random.uniform(-1, 1, 2))
        for k, slope in enumerate(slopes)
    ]
    off = np.linalg.cholesky(radius_covariance(rings)) @ random.normal(size=count) - slopes @ step
    return [
        replace(ring, radius_excess_mm=float(value)) for ring, value in zip(rings, off, strict=True)
    ], step


@pytest.mark.parametrize("times", [1.0, 1 / 9])
def test_what_is_left_of_the_doubt_is_what_errors_are(times: float) -> None:
    """Also of a camera whose errors are but a third as large as those that the measures are weighed for."""
    random = np.random.default_rng(0)
    root = random.normal(size=(15, 15))
    covariance = root @ root.T + 0.1 * np.eye(15)
    z2 = []
    for _ in range(200):
        rings, step = drawn(times * covariance, random)
        found = kalman_update(measures_of(rings), covariance)
        off, after = found.step - step, found.updated_covariance(times * covariance)
        z2.append(off @ np.linalg.solve(after, off) / 15)
        assert np.all(
            np.diag(found.updated_covariance(covariance)) <= np.diag(covariance) * (1 + 1e-9)
        )
    assert np.mean(z2) == pytest.approx(1, abs=0.08)


def test_what_all_bases_share_says_nothing() -> None:
    """Bases all one per cent too large, of one size: no news, but for a scale that is hardly in doubt."""
    covariance = np.eye(15) * 1e-12
    rings = [
        RimMeasurement(0.2, 0.05, np.zeros(15), 40.0, 0.5, np.array([x, 0.0]))
        for x in np.linspace(-1, 1, 8)
    ]
    assert np.abs(kalman_update(measures_of(rings), covariance).step).max() < 1e-9
    assert len(keep_consistent_rims(rings, covariance)) == len(rings)


def test_a_base_that_the_others_contradict_is_dropped() -> None:
    covariance = np.eye(15) * 1e-6
    rings = [
        RimMeasurement(0.01 * k, 0.05, np.zeros(15), 40.0, 0.5, np.array([0.1 * k, 0.0]))
        for k in range(8)
    ]
    wrong = replace(rings[3], radius_excess_mm=1.5)
    kept = keep_consistent_rims([*rings[:3], wrong, *rings[4:]], covariance)
    assert wrong not in kept
    assert len(kept) == 7


def test_few_markers_are_made_surer_by_bases(
    four: Calibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A camera whose lens is off is drawn towards the truth, with bases that are as equal as can be."""
    monkeypatch.setattr(base_scale, "BASE_TOLERANCE_SIGMA_MM", 0.01)
    monkeypatch.setattr(base_scale, "TREND_SIGMA_SHARE", 0.0)
    monkeypatch.setattr(base_scale, "MIN_RADIUS_SIGMA_PX", 0.02)
    monkeypatch.setattr(base_scale, "MAX_REMAINING_SHARE", 1.0)
    values, vectors = np.linalg.eigh(
        four.covariance / np.outer(*[np.sqrt(np.diag(four.covariance))] * 2)
    )
    off = np.sqrt(np.diag(four.covariance)) * (vectors[:, -1] * np.sqrt(values[-1])) * 1.5
    wrong = replace(four, camera=CAMERA.moved(off))
    found = [replace(one, xy_mm=wrong.camera.unproject(one.center_px)) for one in bases()]
    better, moved = refine_by_bases(shown(), wrong, found)

    def error(camera: object, at: list[Detection]) -> float:
        gaps = [np.linalg.norm(a.xy_mm - b.xy_mm) for a in at for b in at]
        true = [np.hypot(*np.subtract(a, b)) for a in PLACES for b in PLACES]
        return float(np.sqrt(np.mean(np.square(np.subtract(gaps, true)))))

    assert better.camera is not wrong.camera
    assert error(better, list(moved)) < error(wrong, found)
    assert np.all(np.diag(better.covariance) <= np.diag(wrong.covariance) * (1 + 1e-9))


def test_enough_markers_are_left_alone(
    see: type[Sight], four: Calibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where anything that bases say would be listened to."""
    monkeypatch.setattr(base_scale, "MAX_REMAINING_SHARE", 2.0)
    see(CAMERA, corners_of(BOARD))
    found = calibrate(blank(), BOARD)
    same, at = refine_by_bases(shown(), found, bases())
    assert same.camera is found.camera
    assert same.covariances is found.covariances
    assert [one.xy_mm.tolist() for one in at] == [list(place) for place in PLACES]
    assert refine_by_bases(shown(), four, bases())[0].camera is not four.camera


def test_what_would_hardly_help_is_left_alone(
    four: Calibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base_scale, "BASE_TOLERANCE_SIGMA_MM", 5.0)
    assert refine_by_bases(shown(), four, bases())[0].camera is four.camera


@pytest.mark.parametrize("detections", [bases()[: MIN_BASES - 1], bases(visible=0.3)])
def test_too_few_bases_or_too_little_of_them_say_nothing(
    four: Calibration, detections: list[Detection]
) -> None:
    same, at = refine_by_bases(shown(), four, detections)
    assert same.camera is four.camera
    assert list(at) == detections
