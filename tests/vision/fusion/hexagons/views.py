"""Several photos of a painted table with hexagons and round bases, found as round ones in each."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evaluate.drawn.views import CAMERA_SIGMA, NO_BUDGET
from overruler.calibration import Calibration, Covariances
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.sighting import SeenPhoto, Sighting
from tests.vision.hexagons.table import SIZE_PX, Placed, as_round, over, painted

BOARD_MM = (340.0, 260.0)
SHARP_PX, COARSE_PX = 1500.0, 500.0
"""Focal lengths of photos that show the sides of a base of 30 mm, and that do not."""


def seen_from_all_sides(
    placed: Sequence[Placed], focal_px: Sequence[float] = (SHARP_PX,) * 3
) -> list[SeenPhoto]:
    """A photo with each of the focal lengths, from as many sides; their cameras are known well."""
    return [_see(k, placed, 360 * k / len(focal_px), focal) for k, focal in enumerate(focal_px)]


def _see(index: int, placed: Sequence[Placed], side_deg: float, focal_px: float) -> SeenPhoto:
    camera, seed = over(focal_px=focal_px, turn_deg=side_deg), index + 1
    covariance = Covariances.same(np.diag(CAMERA_SIGMA**2) / 100)
    calibration = Calibration(
        camera, covariance, SIZE_PX, 0.2, (0, 1, 2, 3), BOARD_MM, budget=NO_BUDGET
    )
    found = [
        replace(one, d_xy_d_camera=camera.board_point_jacobian(np.array([*one.xy_mm, 0.0])))
        for one in as_round(placed, seed)
    ]
    frame = replace(painted(camera, placed, seed), name=f"photo{index}.jpg")
    return SeenPhoto(index, frame, calibration, tuple(found))


def decided(photos: Sequence[SeenPhoto], placed: Sequence[Placed]) -> list[Decided]:
    """The bases on the board by the photos, with the size of what the first photo took them for."""
    bases = []
    for k, (_, xy_mm, _) in enumerate(placed):
        seen = tuple(Sighting(photo, photo.detections[k]) for photo in photos)
        size = seen[0].detection.base
        sizes = {size: 1.0}
        bases.append(Decided(seen, size, np.array([*xy_mm, 0.0]), 0.5, 0.0, None, False, sizes))
    return bases
