"""Cameras and tables that the tests of vision share: never square, never centred."""

import numpy as np

from overruler.calibration import Calibration, Covariances
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose, rotation_from_vector
from synthetic.flat_table import Plinth, render_table

SIZE_PX = (1200, 900)
BOARD_MM = (700.0, 500.0)


def camera_over(
    tilt_deg: float = 15.0,
    turn_deg: float = 10.0,
    height_mm: float = 800.0,
    focal_px: float = 1050.0,
    k1: float = -0.06,
) -> Camera:
    """A camera looking at the middle of `BOARD_MM`, tilted towards the viewer and turned about the line of sight."""
    tilt, turn = np.radians([tilt_deg, turn_deg])
    T = rotation_from_vector([0, 0, turn]) @ rotation_from_vector([np.pi - tilt, 0, 0])
    middle = np.array([BOARD_MM[0] / 2 + 13, BOARD_MM[1] / 2 - 9, 0.0])
    eye = middle - T[2] * height_mm / np.cos(tilt)
    matrix = np.array(
        [[focal_px, 0, SIZE_PX[0] / 2 + 6], [0, focal_px, SIZE_PX[1] / 2 - 4], [0, 0, 1.0]]
    )
    return Camera(matrix, np.array([k1, 0.01, 0, 0, 0]), Pose(T, -T @ eye))


def photo(
    camera: Camera, plinths: list[Plinth], markers: dict[int, Array] | None = None, seed: int = 1
) -> Frame:
    pixels = render_table(camera, SIZE_PX, BOARD_MM, plinths, markers, noise=2.0, seed=seed)
    return Frame(pixels, "rendered")


def exact(camera: Camera) -> Calibration:
    """The calibration that a photo of `camera` would have without any error."""
    return Calibration(camera, Covariances.same(np.zeros((15, 15))), SIZE_PX, 0.0, (), BOARD_MM)


def eight_markers(size_mm: float = 45.0) -> dict[int, Array]:
    """Markers at the corners and mid-edges of the board."""
    w, h = BOARD_MM
    low, across, up = 8.0, w - 8 - size_mm, h - 8 - size_mm
    places = [(low, low), (across, low), (across, up), (low, up)]
    places += [(w / 2, low), (across, h / 2 - 30), (w / 2 - 40, up), (low, h / 2)]
    return {
        number: np.array(
            [[x, y + size_mm, 0], [x + size_mm, y + size_mm, 0], [x + size_mm, y, 0], [x, y, 0.0]]
        )
        for number, (x, y) in enumerate(places)
    }
