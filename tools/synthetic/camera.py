"""The camera: where it stands, what its lens does, the part of its picture that is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Pose, rotation_from_vector
from synthetic.arrays import Array, Mask, Rng

Box = tuple[int, int, int, int]
"""Left, upper, width, height, in pixels."""
SIZES_PX = {"phone": (4032, 3024), "hd": (1920, 1080), "4k": (3840, 2160)}
FOCAL_SHARE = {"phone": (0.72, 0.765), "hd": (0.77, 0.83), "4k": (0.74, 0.82)}
"""Focal length as a share of the picture's width."""
BARREL = {"phone": (-0.045, 0.05), "hd": (-0.16, 0.05), "4k": (-0.12, 0.03)}
"""k1."""
FOLD_MARGIN_PX = 4
"""A lens may not fold over within the picture and this margin around it."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A camera with its picture's size."""

    camera: Camera
    size_px: tuple[int, int]
    """Width and height."""
    kind: str = ""
    """`phone`, `hd` or `4k`; empty for a camera of no make."""
    tilt_deg: float = 0.0

    def resized(self, share: float) -> "View":
        """The same view in fewer pixels, or in more."""
        width, height = (round(length * share) for length in self.size_px)
        shares = np.array([width, height]) / self.size_px
        matrix = self.camera.matrix.copy()
        matrix[:2] *= shares[:, None]
        matrix[:2, 2] += (shares - 1) / 2  # pixels are counted from the middle of the first one
        return self._with(matrix, (width, height))

    def part(self, box: Box) -> "View":
        """The view through a box of the picture."""
        matrix = self.camera.matrix.copy()
        matrix[:2, 2] -= box[:2]
        return self._with(matrix, box[2:])

    def _with(self, matrix: Array, size_px: tuple[int, int]) -> "View":
        camera = self.camera.with_lens(matrix, self.camera.distortion)
        return replace(self, camera=camera, size_px=size_px)

    def inside(self, xy_px: ArrayLike, margin_px: float = 0) -> NDArray[np.bool_]:
        """Which pixels (..., 2) lie in the picture."""
        xy = np.asarray(xy_px, float)
        low, high = margin_px - 0.5, np.array(self.size_px) - 0.5 - margin_px
        return np.asarray(np.all((xy >= low) & (xy <= high), -1))

    def box(self, xy_px: Array, margin_px: float) -> Box:
        """The part of the picture around points (N, 2); without width or height where it is out of sight."""
        return box_around(xy_px, margin_px, self.size_px)

    def blank(self) -> Mask:
        return np.zeros(self.size_px[::-1], np.uint8)

    def pixels(self, xy_mm: Array, z_mm: float) -> Array:
        """Where points (N, 2) at a height are seen (N, 2)."""
        return self.camera.project(np.column_stack([xy_mm, np.full(len(xy_mm), z_mm)]))

    def plane(self, z_mm: float) -> Array:
        """The homography (3, 3) from the plane at a height, in mm, to the picture; the lens must be straight."""
        pose = self.camera.T_camera_board
        x, y, z = pose.rotation.T
        return np.asarray(self.camera.matrix @ np.stack([x, y, z * z_mm + pose.translation_mm], 1))

    @property
    def px_per_mm(self) -> float:
        """At the board's origin."""
        return float(1 / self.camera.mm_per_px(np.zeros((1, 3)))[0])


def box_around(xy_px: Array, margin_px: float, size_px: Sequence[int]) -> Box:
    """The part of a picture of such a size around points (N, 2)."""
    low = np.floor(np.nanmin(xy_px, 0) - margin_px).clip(0, size_px).astype(int)
    high = np.ceil(np.nanmax(xy_px, 0) + margin_px + 1).clip(0, size_px).astype(int)
    return int(low[0]), int(low[1]), int(high[0] - low[0]), int(high[1] - low[1])


def rows_columns(box: Box) -> tuple[slice, slice]:
    return slice(box[1], box[1] + box[3]), slice(box[0], box[0] + box[2])


# --- where it stands ---


def lens_matrix(focal_px: float, center_px: ArrayLike) -> Array:
    cx, cy = np.asarray(center_px, float)
    return np.array([[focal_px, 0, cx], [0, focal_px, cy], [0, 0, 1.0]])


def camera_above(
    aim_mm: ArrayLike,
    distance_mm: float,
    tilt_deg: float,
    turn_deg: float,
    matrix: Array,
    distortion: ArrayLike = (0.0,) * 5,
) -> Camera:
    """A camera that looks at a place (2,) of the board, tilted from straight above, the board turned below it."""
    tilt, turn = np.radians([tilt_deg, turn_deg])
    rotation = rotation_from_vector([np.pi - tilt, 0, 0]) @ rotation_from_vector([0, 0, turn])
    shift = np.array([0, 0, distance_mm]) - rotation @ np.append(np.asarray(aim_mm, float), 0.0)
    return Camera(matrix, np.asarray(distortion, float), Pose(rotation, shift))


def patch_view(rng: Rng, reach_mm: float, mm_per_px: float, most_tilt: float = 0.74) -> View:
    """A camera 0.8 to 2.1 m above the table that shows a square about the origin, at any tilt (radians)."""
    height, angle = rng.uniform(800, 2100), rng.uniform(0, most_tilt)
    around, roll = rng.uniform(0, 2 * np.pi, 2)
    aside = np.tan(angle) * np.array([np.cos(around), np.sin(around)])
    eye = height * np.append(aside, 1.0)
    aim = np.append(rng.uniform(-0.3, 0.3, 2) * height, 0)
    return view_towards(eye, aim, roll, reach_mm, mm_per_px)


def view_towards(eye: Array, aim: Array, roll: float, reach_mm: float, mm_per_px: float) -> View:
    """A camera at `eye`, its axis towards a point; its picture is centred on the origin and reaches so far."""
    z = (aim - eye) / np.linalg.norm(aim - eye)
    x = np.cross([np.cos(roll), np.sin(roll), 0.0], z)
    x /= np.linalg.norm(x)
    rotation = np.stack([x, np.cross(z, x), z])
    pose = Pose(rotation, -rotation @ eye)
    depth = pose.translation_mm[2]
    focal = depth / mm_per_px * np.sqrt(eye[2] / np.linalg.norm(eye))
    side = int(2 * reach_mm / mm_per_px)
    matrix = lens_matrix(focal, side / 2 - focal * pose.translation_mm[:2] / depth)
    return View(Camera(matrix, np.zeros(5), pose), (side, side))


# --- cameras of a make ---


def over_board(
    kind: str,
    size_mm: tuple[float, float],
    tilt_deg: float,
    rng: Rng,
    towards_deg: float | None = None,
    low_mm: tuple[float, float] = (0.0, 0.0),
) -> View:
    """A camera that sees a whole board; its lens is drawn again until it does not fold over in the picture.

    `towards_deg` is the heading in which it looks; without it, away from the near side. With `low_mm`
    it sees a part of the board: `size_mm` from there.
    """
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    corners = np.column_stack([low_mm + square * size_mm, np.zeros(4)])
    while True:
        view = _aim(kind, _any_lens(kind, rng), corners, tilt_deg, rng, towards_deg)
        (width, height), step = view.size_px, FOLD_MARGIN_PX
        far = np.stack(np.meshgrid([-step, width + step], [-step, height + step]), -1)
        if not np.isnan(view.camera.undistort(far)).any():
            return view


def _any_lens(kind: str, rng: Rng) -> tuple[Array, Array]:
    """A lens of that kind: matrix (3, 3) and distortion (5,)."""
    width, height = SIZES_PX[kind]
    focal = rng.uniform(*FOCAL_SHARE[kind]) * width
    off = rng.normal(0, 0.003 * width), rng.normal(0, 0.003 * width)
    k1, k2 = rng.uniform(*BARREL[kind]), rng.uniform(-0.03, 0.03)
    p1, p2 = rng.uniform(-8e-4, 8e-4, 2)
    center = (width - 1) / 2 + off[0], (height - 1) / 2 + off[1]
    return lens_matrix(focal, center), np.array([k1, k2, p1, p2, 0])


def _aim(
    kind: str,
    lens: tuple[Array, Array],
    targets_mm: Array,
    tilt_deg: float,
    rng: Rng,
    towards_deg: float | None,
) -> View:
    """The camera over the targets (N, 3), as near as shows them all, but for a few per cent of the picture."""
    fill = float(rng.uniform(0.9, 0.99))
    away, roll = rng.normal(90, 25), rng.normal(0, 2.5)
    if towards_deg is not None:  # who looks from another side holds the camera turned
        away, roll = towards_deg, roll + towards_deg - 90
    rotation = _rotation(tilt_deg, away, roll)
    low, high = targets_mm[:, :2].min(0), targets_mm[:, :2].max(0)
    centre = np.append((low + high) / 2 + rng.normal(0, 8, 2), 0)

    def view(reach: float) -> View:
        pose = Pose(rotation, -rotation @ (centre - rotation[2] * reach))
        return View(Camera(*lens, pose), SIZES_PX[kind], kind, tilt_deg)

    near, far = 300.0, 6000.0
    while far - near > 1:
        reach = (near + far) / 2
        near, far = (near, reach) if _fits(view(reach), targets_mm, fill) else (reach, far)
    return view(far)


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
    upright = np.stack([np.cross(y, z), y, z])
    return np.asarray(rotation_from_vector([0, 0, np.radians(roll_deg)]) @ upright)
