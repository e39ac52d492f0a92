"""Tables seen from several sides without a picture: detections as fits would make them, with known errors."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from overruler.bases import Base
from overruler.calibration import Calibration, Covariances, ErrorBudget
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.reproject import reproject_outline
from overruler.vision.fusion import noise
from overruler.vision.fusion.noise import PlacedBase
from overruler.vision.pairing import sighting
from overruler.vision.pairing.sighting import SeenPhoto, Sighting
from synthetic.camera import camera_above, lens_matrix

SIZE_PX = (1200, 900)
BOARD_MM = (900.0, 600.0)
FIT_SIGMA_MM = 0.2
"""1 σ of either coordinate of a fit."""
CAMERA_SIGMA = np.array([1, 1, 0.3, 0.3, 0.001, 0, 0, 0, 0, 2e-4, 2e-4, 2e-4, 0.15, 0.15, 0.4])
"""1 σ of each parameter of a camera."""
NO_BUDGET = ErrorBudget(0, 0, 0, 0, 0)
Truth = tuple[float, float, float, float]
"""x, y, z and diameter of a base, in mm."""


def leave_shared_errors_out(set_constant: Callable[[object, str, object], None]) -> None:
    """Make fits err as they state, alike along and across the view, and each by itself."""
    set_constant(sighting, "ACROSS_SIGMA_FACTOR", 1.0)
    set_constant(sighting, "LOOSE_SIGMA_FACTORS", (1.0, 1.0))
    for name in ("LEAST_SIGMA_PX", "PLATE_LEAST_SIGMA_PX", "LOOSE_SIGMA_PX", "LIFT_SIGMA_PX"):
        set_constant(sighting, name, 0.0)
    set_constant(sighting, "misfit_covariances", lambda *_: (np.zeros((2, 2)), np.zeros((2, 2))))
    for name in ("SAME_VIEW_CORRELATION", "PROFILE_SIGMA_MM"):
        set_constant(noise, name, 0.0)


def camera_from(side_deg: float, tilt_deg: float = 32.0) -> Camera:
    """A camera over the middle of the board, from a side."""
    matrix = lens_matrix(1000.0, (SIZE_PX[0] / 2 + 5, SIZE_PX[1] / 2 - 3))
    middle = np.array(BOARD_MM) / 2
    return camera_above(middle, 1250.0, tilt_deg, side_deg, matrix, (-0.03, 0.01, 0, 0, 0))


def blank_frame(name: str, seed: int = 0) -> Frame:
    """A frame of one colour that takes no memory."""
    pixel = np.full((1, 1, 3), 90 + 7 * seed, np.uint8)
    return Frame(np.broadcast_to(pixel, (SIZE_PX[1], SIZE_PX[0], 3)), name)


def see(
    index: int,
    camera: Camera,
    bases: Sequence[Truth],
    random: np.random.Generator | None = None,
    frame: Frame | None = None,
    score: float = 0.995,
    off: Array | None = None,
) -> SeenPhoto:
    """What a photo by a camera shows of bases, each taken to stand on the board.

    With `random` the camera is known with `CAMERA_SIGMA` and the fits err by `FIT_SIGMA_MM`. Then
    what is known is `off` (15,) by more than that.
    """
    known, noise = camera, np.zeros((len(bases), 2))
    if random is not None:
        error = random.normal(0, CAMERA_SIGMA)
        known = camera.moved(error if off is None else error + off)
        noise = random.normal(0, FIT_SIGMA_MM, noise.shape)
    covariance = Covariances.same(np.diag(CAMERA_SIGMA**2))
    calibration = Calibration(
        known, covariance, SIZE_PX, 0.2, (0, 1, 2, 3), BOARD_MM, budget=NO_BUDGET
    )
    found = [_detect(known, camera, *pair, score) for pair in zip(bases, noise, strict=True)]
    frame = frame or blank_frame(f"photo{index}.jpg", index)
    return SeenPhoto(index, frame, calibration, tuple(found))


def _detect(known: Camera, camera: Camera, base: Truth, noise: Array, score: float) -> Detection:
    x, y, z, diameter = base
    pixel = camera.project(np.array([x, y, z]))
    place = known.unproject(pixel) + noise
    detection = Detection(
        base=Base.circle(diameter),
        xy_mm=place,
        z_mm=0.0,
        heading_deg=0.0,
        covariance_mm2=np.eye(2) * FIT_SIGMA_MM**2,
        d_xy_d_camera=known.board_point_jacobian(np.array([*place, 0.0])),
        score=score,
        visible=0.8,
        learned_radius_mm=(diameter / 2, 0.2),
    )
    return reproject_outline(known, detection)


def without(photo: SeenPhoto, *hidden: int) -> SeenPhoto:
    """A photo that does not see some of its bases."""
    kept = [one for k, one in enumerate(photo.detections) if k not in hidden]
    return replace(photo, detections=tuple(kept))


def placed_bases(
    photos: Sequence[SeenPhoto], bases: Sequence[Truth], priors_mm: Sequence[float]
) -> list[PlacedBase]:
    """The bases with a sighting in every photo, and 1 σ of what is known of their heights."""
    placed = []
    for k, (_, _, z, _) in enumerate(bases):
        seen = tuple(Sighting(photo, photo.detections[k]) for photo in photos)
        placed.append(PlacedBase(seen, z, priors_mm[k]))
    return placed


def bound_mm2(
    photos: Sequence[SeenPhoto], bases: Sequence[Truth], priors_mm: Sequence[float]
) -> Array:
    """(2 N, 2 N): Cramér and Rao's bound: the inverse of Fisher's information, cameras included.

    The parameters are x, y and z of each base and the 15 of each camera.
    """
    count = len(bases)
    size = 3 * count + 15 * len(photos)
    information = np.zeros((size, size))
    for p in range(len(photos)):
        own = slice(3 * count + 15 * p, 3 * count + 15 * (p + 1))
        information[own, own] += np.diag(np.maximum(CAMERA_SIGMA, 1e-9) ** -2.0)
    for k, (_, _, z, _) in enumerate(bases):
        information[3 * k + 2, 3 * k + 2] += priors_mm[k] ** -2.0
        for p, photo in enumerate(photos):
            one = Sighting(photo, photo.detections[k])
            row = np.zeros((2, size))
            row[:, 3 * k : 3 * k + 2] = np.eye(2)
            row[:, 3 * k + 2] = -one.relief_at(z)
            first = 3 * count + 15 * p
            row[:, first : first + 15] = one.jacobian_at(z)[:, :15]
            information += row.T @ row / FIT_SIGMA_MM**2
    places = np.ravel([[3 * k, 3 * k + 1] for k in range(count)])
    scale = 1 / np.sqrt(np.diag(information))
    inverse = np.linalg.inv(information * np.outer(scale, scale)) * np.outer(scale, scale)
    return np.asarray(inverse[np.ix_(places, places)])
