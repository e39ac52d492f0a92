"""Squares of the table as a photo shows them, seen straight from above, so that photos compare."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.pairing.sighting import SeenPhoto

GRID_STEPS = 41
"""Samples along and across the square about a base."""
MIN_BLUR_MM = 1.5
"""Least 1 σ of the Gaussian that takes noise off the ground, in mm; else a pixel of either photo."""


@dataclass(frozen=True, slots=True, eq=False)
class GroundSquare:
    """A square of ground about a base, as a photo shows it."""

    lab: Floats
    """(N, N, 3), less the board's usual colour."""
    inside: NDArray[np.bool_]
    """(N, N): what the photo shows of it."""
    mm_per_px: float
    mm_per_step: float
    """Spacing of the samples."""


def square_grid(reach: float) -> Array:
    """The grid (N, N, 2) of samples from -`reach` to `reach` on both sides."""
    steps = np.linspace(-reach, reach, GRID_STEPS)
    return np.stack(np.meshgrid(steps, steps), -1)


def cut_out_square(photo: SeenPhoto, steps_mm: Array, xyz_mm: Array) -> GroundSquare | None:
    """The square about a place, at steps (N, N, 2) from it; None where the photo lacks the place."""
    if not photo.shows(xyz_mm):
        return None
    camera, reach_mm = photo.calibration.camera, float(np.abs(steps_mm).max())
    patch = LabPatch.crop_around(photo.frame.pixels, camera, xyz_mm[:2], reach_mm, float(xyz_mm[2]))
    if patch is None:
        return None
    lab, inside = patch.sample_board(xyz_mm[:2] + steps_mm)
    step_mm = 2 * reach_mm / (GRID_STEPS - 1)
    return GroundSquare(lab - photo.usual_lab, inside, patch.mm_per_px, step_mm)


def smooth_squares(
    one: GroundSquare, other: GroundSquare, least_mm: float = 0.0
) -> tuple[Floats, Floats]:
    """The colours (N, N, 3) of two squares, as blurred as the coarser photo, by `least_mm` at least."""
    blur_mm = max(MIN_BLUR_MM, least_mm, one.mm_per_px, other.mm_per_px)
    blur_steps = blur_mm / one.mm_per_step
    smooth = [cv2.GaussianBlur(each.lab, (0, 0), blur_steps) for each in (one, other)]
    return np.asarray(smooth[0], np.float32), np.asarray(smooth[1], np.float32)


def correlate(one: Array, other: Array) -> float:
    """The correlation of two samples (N,)."""
    one, other = one - one.mean(), other - other.mean()
    lengths = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    return float(one @ other) / max(lengths, 1e-9)
