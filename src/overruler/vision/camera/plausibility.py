"""Whether a camera is one that people have: else nothing is measured by it, and no array is sized."""

import numpy as np

from overruler.errors import CannotMeasure
from overruler.geometry.camera import Camera
from overruler.vision.camera.lens_prior import LensPrior

MIN_FOCAL_SHARE = 0.25
"""Shortest focal length, as a share of the picture's longer side: wider lenses are fisheyes."""
MAX_FOCAL_SHARE = 30.0
"""Longest focal length, as a share of it: a long lens, and a picture cropped to a third."""
MAX_PRINCIPAL_POINT_SHARE = 1.0
"""Largest distance of the lens's axis from the picture's middle, as a share of the longer side."""
MAX_EDGE_GROWTH = 1.5
"""Largest shift by distortion at the picture's farthest corner, as a share of its distance.

The model of an ultra-wide lens reaches 0.9 there, extrapolated beyond what the markers show."""
MIN_HEIGHT_MM = 30.0
"""Least height of a camera over the table."""
MAX_HEIGHT_MM = 30_000.0
"""Greatest height of a camera over the table: a gallery's."""
MIN_PICTURE_MM = 5.0
"""Least length on the table of the picture's longer side."""
MAX_PICTURE_MM = 50_000.0
"""Greatest length of it, at the middle of the picture's markers."""
MAX_PIXEL_MISMATCH = 0.01
"""Largest deviation of the pixels' shape from the expected one, as a share: sensors are square."""
MAX_PIXEL_MISMATCH_SIGMAS = 4.0
"""The same in σ of what a lens file says of the shape, where that is more."""
LIKELY_CAUSE = (
    "was the photo squeezed, straightened or stitched? measure it as the camera took it, "
    "and check the board's size, the markers' or the points', whichever you gave"
)
"""What usually makes a photo fit no camera, and what to do."""


def check_pixel_shape(camera: Camera, prior: LensPrior) -> None:
    """Raise `CannotMeasure` if the pixels' shape is none that a camera or resizing gives."""
    shape = float(camera.matrix[1, 1] / camera.matrix[0, 0])
    if prior.assumes_stretched and prior.pixel_shape_sigma > MAX_PIXEL_MISMATCH:
        cause = f"the photo is {_describe_shape(shape)}, and not by resizing"
        raise CannotMeasure(f"{cause}: {LIKELY_CAUSE}")
    mismatch = shape * float(prior.mean[0] / prior.mean[1])
    limit = max(MAX_PIXEL_MISMATCH, MAX_PIXEL_MISMATCH_SIGMAS * prior.pixel_shape_sigma)
    if not abs(mismatch - 1) <= limit:
        raise CannotMeasure(f"the photo is {_describe_shape(mismatch)}: {LIKELY_CAUSE}")


def describe_stretch(camera: Camera) -> str:
    """How a picture was stretched, in a few words."""
    return _describe_shape(float(camera.matrix[1, 1] / camera.matrix[0, 0]))


def _describe_shape(shape: float) -> str:
    if shape > 1:
        return f"{100 * (1 - 1 / shape):.1f} % narrower than it was taken"
    return f"{100 * (1 - shape):.1f} % lower than it was taken"


def check_camera(camera: Camera, size_px: tuple[int, int], middle_mm: tuple[float, float]) -> None:
    """Raise `CannotMeasure` if no camera is like this; `middle_mm` is a place in the picture."""
    oddity = find_oddity(camera, size_px, middle_mm)
    if oddity is not None:
        text = f"no camera takes such a photo, {oddity}: {LIKELY_CAUSE}"
        raise CannotMeasure(in_mm=text)


def find_oddity(
    camera: Camera, size_px: tuple[int, int], middle_mm: tuple[float, float]
) -> str | None:
    """What makes this camera impossible, in a few words; None for a camera that may be."""
    pose = camera.T_camera_board
    numbers = (camera.matrix, camera.distortion, pose.rotation, pose.translation_mm)
    if not all(np.isfinite(part).all() for part in numbers):
        return "its lens and place stay unknown"
    longer = float(max(size_px))
    focal_px = camera.matrix[[0, 1], [0, 1]]
    if focal_px.min() < MIN_FOCAL_SHARE * longer or focal_px.max() > MAX_FOCAL_SHARE * longer:
        return f"its focal length would be {focal_px.max() / longer:.3g} times its longer side"
    offset_px = camera.matrix[:2, 2] - (np.array(size_px) - 1) / 2
    if np.abs(offset_px).max() > MAX_PRINCIPAL_POINT_SHARE * longer:
        return "its lens would look past the picture"
    if _edge_growth(camera, size_px) > MAX_EDGE_GROWTH:
        return "its lens would bend the picture over"
    height_mm = float(camera.center_mm[2])
    if not MIN_HEIGHT_MM <= height_mm <= MAX_HEIGHT_MM:
        return f"it would hang {height_mm:.0f} mm over the table"
    picture_mm = longer * float(camera.mm_per_px(np.array([*middle_mm, 0.0])))
    if not MIN_PICTURE_MM <= picture_mm <= MAX_PICTURE_MM:
        return f"it would show {picture_mm:.0f} mm of the table"
    return None


def _edge_growth(camera: Camera, size_px: tuple[int, int]) -> float:
    """How far the lens shifts the picture's corners, as a share of their distance from its axis."""
    corners_px = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * (np.array(size_px) - 1)
    focal_px = camera.matrix[[0, 1], [0, 1]]
    ideal = (corners_px - camera.matrix[:2, 2]) / focal_px
    shift = np.linalg.norm(camera.distort(ideal) - ideal, axis=1)
    return float((shift / np.maximum(np.linalg.norm(ideal, axis=1), 1e-9)).max())
