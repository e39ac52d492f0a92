"""A photo without markers hangs on one that shows the same ground; never on another ground."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest

from evaluate.drawn.markers import EIGHT, as_stated, camera_over, known_board
from overruler.board import Board
from overruler.calibration import Calibration, Covariances
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.camera.lens_prior import lens_prior
from overruler.vision.hanging import ground_features
from overruler.vision.hanging import hang as module
from overruler.vision.hanging.hang import Hung, Reference, hang_photo
from overruler.vision.markers.marker import Marker

SIZE = (640, 480)
SIDE_MM = 900.0
BOARD = known_board(EIGHT)
BARE = replace(BOARD, corners_mm={})
CAMERA_SIGMA = np.array([4.0, 4, 2, 2, 0.01, 0.01, 1e-4, 1e-4, 1e-3, *[1e-3] * 3, 0.5, 0.5, 1.0])


def eye(tilt_deg: float, turn_deg: float) -> Camera:
    return camera_over(tilt_deg, size_px=SIZE, focal_px=500.0, turn_deg=turn_deg)


@cache
def ground(seed: int, repeats: int = 1) -> Array:
    """A mat's texture, one value for each millimetre; it may repeat along both sides."""
    random, side = np.random.default_rng(seed), int(SIDE_MM) // repeats
    waves = np.fft.fftfreq(side)
    squared = waves[:, None] ** 2 + waves[None] ** 2
    total = np.zeros((side, side))
    for blur in (5, 12, 25):
        noise = np.fft.fft2(random.normal(size=(side, side)))
        smooth = np.fft.ifft2(noise * np.exp(-2 * (np.pi * blur) ** 2 * squared)).real
        total += smooth / smooth.std()
    return np.asarray(np.tile(110 + 25 * total, (repeats, repeats)))


def photo_of(texture: Array, camera: Camera, name: str, seed: int = 0) -> Frame:
    """A noisy photo of a mat, with darkness round it."""
    v, u = np.mgrid[: SIZE[1], : SIZE[0]].astype(float)
    places = np.nan_to_num(camera.unproject(np.stack([u, v], -1)), nan=-99.0)
    xy = np.clip(places, -99.0, 2 * SIDE_MM).astype(np.float32)
    x, y = np.ascontiguousarray(xy[..., 0]), np.ascontiguousarray(xy[..., 1])
    seen = cv2.remap(texture.astype(np.float32), x, y, cv2.INTER_LINEAR, borderValue=30.0)
    grey = np.asarray(seen, float) + np.random.default_rng(seed).normal(0, 2, seen.shape)
    pixels = np.repeat(np.clip(grey, 0, 255).astype(np.uint8)[..., None], 3, 2)
    return Frame(pixels, name)


def reference(texture: Array, camera: Camera) -> Reference:
    covariances = Covariances.same(np.diag(CAMERA_SIGMA**2))
    known = Calibration(camera, covariances, SIZE, 0.2, tuple(EIGHT), (SIDE_MM, SIDE_MM))
    return Reference.of(photo_of(texture, camera, "known.jpg"), known)


def hang(
    frame: Frame, known: Reference, board: Board = BARE, read: Sequence[Marker] = ()
) -> Hung | None:
    return hang_photo(frame, lens_prior(frame, None), board, read, {0: known})


@pytest.fixture(autouse=True)
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """All photos here are small and about as slanted."""
    monkeypatch.setattr(module, "GUESSED_TILTS_DEG", (35.0,))
    monkeypatch.setattr(ground_features, "GROUND_SIDE_PX", 320)
    monkeypatch.setattr(ground_features, "CLOSE_UP_SIDE_PX", 640)
    monkeypatch.setattr(ground_features, "MAX_VIEW_PIXELS", 1.5e5)


@pytest.fixture
def known(coarse: None) -> Reference:
    return known_once()


@cache
def known_once() -> Reference:
    return reference(ground(1), eye(30, 10))


THIRDS_MM = (100, 450, 800)


def errors_in_sigmas(
    found: Calibration,
    truth: Camera,
    xs_mm: Sequence[float] = THIRDS_MM,
    ys_mm: Sequence[float] = THIRDS_MM,
) -> Array:
    spots = np.array([(x, y, 0.0) for x in xs_mm for y in ys_mm])
    places = found.camera.unproject(truth.project(spots))
    jacobian = found.camera.board_point_jacobian(np.column_stack([places, np.zeros(len(places))]))
    covariance = jacobian @ found.covariance @ jacobian.swapaxes(1, 2)
    return np.asarray((places - spots[:, :2]) / np.sqrt(np.einsum("nii->ni", covariance)))


def test_a_photo_hangs_on_the_ground_as_precisely_as_it_says(known: Reference) -> None:
    truth = eye(40, 190)
    found = hang(photo_of(ground(1), truth, "lost.jpg", 5), known)
    assert found is not None
    assert [lean.frame for lean in found.leans] == [known.frame]
    assert found.calibration.is_prepared
    off = errors_in_sigmas(found.calibration, truth)
    assert np.sqrt((off**2).mean()) < 1.5


def close_up(turn_deg: float) -> Camera:
    """A camera over a part of the mat, 380 mm wide."""
    return camera_over(
        35, size_px=SIZE, height_mm=300.0, focal_px=500.0, turn_deg=turn_deg, aim_mm=(300.0, 350.0)
    )


def test_a_close_up_hangs_on_the_ground_as_precisely_as_it_says(known: Reference) -> None:
    truth = close_up(200)
    found = hang(photo_of(ground(1), truth, "lost.jpg", 5), known)
    assert found is not None
    off = errors_in_sigmas(found.calibration, truth, (220, 300, 380), (280, 350, 420))
    assert np.sqrt((off**2).mean()) < 1.5


@pytest.mark.parametrize("case", ["another", "mirrored"])
def test_a_close_up_of_another_ground_does_not_hang(case: str, known: Reference) -> None:
    frame = photo_of(ground(2 if case == "another" else 1), close_up(200), "lost.jpg", 5)
    if case == "mirrored":
        frame = replace(frame, pixels=np.ascontiguousarray(frame.pixels[:, ::-1]))
    assert hang(frame, known) is None


@pytest.mark.parametrize("case", ["another", "mirrored"])
def test_a_photo_of_another_ground_does_not_hang(case: str, known: Reference) -> None:
    frame = photo_of(ground(2 if case == "another" else 1), eye(40, 100), "lost.jpg", 5)
    if case == "mirrored":
        frame = replace(frame, pixels=np.ascontiguousarray(frame.pixels[:, ::-1]))
    assert hang(frame, known) is None


def test_a_ground_that_repeats_itself_says_nothing() -> None:
    tiled = ground(3, repeats=3)
    assert hang(photo_of(tiled, eye(40, 100), "lost.jpg", 5), reference(tiled, eye(30, 10))) is None


def test_a_marker_read_elsewhere_contradicts_the_ground(known: Reference) -> None:
    truth = eye(40, 100)
    frame = photo_of(ground(1), truth, "lost.jpg", 5)
    corners = BOARD.corners_mm or {}
    (right,) = as_stated(truth, {4: corners[4]}, np.random.default_rng(1))
    (wrong,) = as_stated(truth, {4: corners[4] + np.array([150.0, 0, 0])}, np.random.default_rng(1))
    board = replace(BOARD, corners_mm={4: corners[4]})
    found = hang(frame, known, board, [right])
    assert found is not None
    assert found.calibration.markers == (4,)
    assert hang(frame, known, board, [wrong]) is None


def test_markers_found_by_the_ground_tell_the_camera(
    known: Reference, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = eye(40, 100)
    seen = as_stated(truth, dict(BOARD.corners_mm or {}), np.random.default_rng(1))
    by_id = {marker.id: marker for marker in seen}
    monkeypatch.setattr(module, "fit_expected_marker", lambda frame, name, k, xy_px: by_id[k])
    found = hang(photo_of(ground(1), truth, "lost.jpg", 5), known, BOARD)
    assert found is not None
    assert found.calibration.markers == tuple(EIGHT)
    assert (found.leans, found.others) == ((), (known.frame,))
