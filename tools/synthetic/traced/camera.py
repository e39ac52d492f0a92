"""Cameras: where they stand, how they see, and the ray behind each pixel."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Pose, rotation_from_vector

Array = NDArray[np.float64]
Floats = NDArray[np.float32]

SIZES_PX = {"phone": (4032, 3024), "hd": (1920, 1080), "4k": (3840, 2160)}
FOCAL_SHARE = {"phone": (0.72, 0.765), "hd": (0.77, 0.83), "4k": (0.74, 0.82)}
"""Focal length as a share of the picture's width."""
BARREL = {"phone": (-0.045, 0.05), "hd": (-0.16, 0.05), "4k": (-0.12, 0.03)}
"""k1."""
STEP_PX = 4
"""The lens is inverted at every fourth pixel, and straight lines are good to 0.001 px in between."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A camera with its picture's size."""

    kind: str
    camera: Camera
    tilt_deg: float
    size_px: tuple[int, int]

    def shrunk(self, share: float) -> "View":
        """The same view in fewer pixels."""
        width, height = (round(length * share) for length in self.size_px)
        shares = np.array([width, height]) / self.size_px
        matrix = self.camera.matrix.copy()
        matrix[:2] *= shares[:, None]
        matrix[:2, 2] += (shares - 1) / 2  # pixels are counted from the middle of the first one
        return replace(
            self,
            camera=self.camera.with_lens(matrix, self.camera.distortion),
            size_px=(width, height),
        )

    def inside(self, xy_px: ArrayLike, margin_px: float = 0) -> NDArray[np.bool_]:
        """Which pixels (..., 2) lie in the picture."""
        xy = np.asarray(xy_px, float)
        low, high = margin_px - 0.5, np.array(self.size_px) - 0.5 - margin_px
        return np.asarray(np.all((xy >= low) & (xy <= high), -1))


def choose(kind: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """A lens of that kind: matrix (3, 3) and distortion (5,)."""
    width, height = SIZES_PX[kind]
    focal = rng.uniform(*FOCAL_SHARE[kind]) * width
    cx, cy = (
        (width - 1) / 2 + rng.normal(0, 0.003 * width),
        (height - 1) / 2 + rng.normal(0, 0.003 * width),
    )
    k1, k2 = rng.uniform(*BARREL[kind]), rng.uniform(-0.03, 0.03)
    p1, p2 = rng.uniform(-8e-4, 8e-4, 2)
    return np.array([[focal, 0, cx], [0, focal, cy], [0, 0, 1]]), np.array([k1, k2, p1, p2, 0])


def aim(
    kind: str,
    lens: tuple[Array, Array],
    targets_mm: Array,
    tilt_deg: float,
    rng: np.random.Generator,
    fill: float = 0.93,
) -> View:
    """The camera over the targets (N, 3), as near as shows them all within `fill` of the picture."""
    rotation = _rotation(tilt_deg, rng.normal(90, 25), rng.normal(0, 2.5))
    centre = np.append(
        (targets_mm[:, :2].max(0) + targets_mm[:, :2].min(0)) / 2 + rng.normal(0, 8, 2), 0
    )
    near, far = 300.0, 6000.0
    while far - near > 1:
        reach = (near + far) / 2
        view = _view(kind, lens, rotation, centre, reach, tilt_deg)
        near, far = (near, reach) if _fits(view, targets_mm, fill) else (reach, far)
    return _view(kind, lens, rotation, centre, far, tilt_deg)


def over_board(
    kind: str, size_mm: tuple[float, float], tilt_deg: float, rng: np.random.Generator
) -> View:
    """A camera that sees a whole board; its lens is drawn again until it does not fold over in the picture."""
    corners = np.column_stack([np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * size_mm, np.zeros(4)])
    while True:
        view = aim(kind, choose(kind, rng), corners, tilt_deg, rng, float(rng.uniform(0.9, 0.99)))
        (width, height), step = view.size_px, STEP_PX
        far = np.stack(np.meshgrid([-step, width + step], [-step, height + step]), -1)
        if not np.isnan(view.camera.undistort(far)).any():
            return view


def _view(
    kind: str,
    lens: tuple[Array, Array],
    rotation: Array,
    centre: Array,
    reach: float,
    tilt_deg: float,
) -> View:
    eye = centre - rotation[2] * reach
    return View(
        kind, Camera(lens[0], lens[1], Pose(rotation, -rotation @ eye)), tilt_deg, SIZES_PX[kind]
    )


def _fits(view: View, targets_mm: Array, fill: float) -> bool:
    pixels = view.camera.project(targets_mm)
    margin = (1 - fill) / 2 * min(view.size_px)
    return bool(np.isfinite(pixels).all() and view.inside(pixels, margin).all())


def _rotation(tilt_deg: float, towards_deg: float, roll_deg: float) -> Array:
    """Board to camera (3, 3), looking down, the axis leaning `tilt_deg` towards a heading."""
    tilt, towards = np.radians(tilt_deg), np.radians(towards_deg)
    z = np.array([np.sin(tilt) * np.cos(towards), np.sin(tilt) * np.sin(towards), -np.cos(tilt)])
    y = -np.array([0.0, 1, 0]) + z * z[1]
    y /= np.linalg.norm(y)
    return np.asarray(
        rotation_from_vector([0, 0, np.radians(roll_deg)]) @ np.stack([np.cross(y, z), y, z])
    )


class Rays:
    """The exact ray through any point of the picture."""

    def __init__(self, view: View) -> None:
        width, height = view.size_px
        self.eye_mm = view.camera.center_mm
        self._turn = view.camera.T_camera_board.rotation
        across, down = (
            np.arange(-STEP_PX, width + 2 * STEP_PX, STEP_PX),
            np.arange(-STEP_PX, height + 2 * STEP_PX, STEP_PX),
        )
        nodes = view.camera.undistort(np.stack(np.meshgrid(across, down), -1))
        if np.isnan(nodes).any():
            raise ValueError("the lens folds over inside the picture")
        self._columns = len(across)
        self._nodes = np.concatenate([nodes, np.ones((*nodes.shape[:2], 1))], -1) @ self._turn
        self._nodes = self._nodes.reshape(-1, 3).astype(np.float32)

    def through(self, x_px: Floats, y_px: Floats) -> Floats:
        """Directions (N, 3), depth 1 along the axis, through pixels (N,), (N,)."""
        x, y = x_px * np.float32(1 / STEP_PX) + 1, y_px * np.float32(1 / STEP_PX) + 1
        column, row = x.astype(np.int32), y.astype(np.int32)
        u, v = (x - np.floor(x))[:, None], (y - np.floor(y))[:, None]
        cell, n = row * self._columns + column, self._nodes
        top = n[cell] + (n[cell + 1] - n[cell]) * u
        low = n[cell + self._columns]
        low = low + (n[cell + self._columns + 1] - low) * u
        return np.asarray(top + (low - top) * v)
