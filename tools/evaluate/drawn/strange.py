"""Photos by usual and by strange cameras: lenses, zooms, cut and stretched pictures, drawn over a board."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from evaluate.drawn import lenses
from evaluate.drawn.markers import BOARD_MM, camera_over
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array

MIDDLE = np.full(2, BOARD_MM / 2)
CORNERS = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * BOARD_MM
SIZES = {"12 MP": (4032, 3024), "1080p": (1920, 1080)}
USUAL_FOCAL = (0.70, 0.83)
"""Focal lengths of usual cameras, as shares of the longer side."""
EXIF_SIGMA = 0.02
"""1 σ of a metadata's focal length, as a share."""
AIM_ROUNDS = 8


@dataclass(frozen=True)
class Kind:
    """A kind of photo."""

    name: str
    lens: Callable[[Generator], Array]
    """Draws k1 k2 k3."""
    size: str = "12 MP"
    focal: tuple[float, float] = USUAL_FOCAL
    tilts_deg: tuple[float, float] = (0.0, 40.0)
    exif: bool = False
    """Whether metadata tell the focal length."""
    kept: tuple[float, float] = (1.0, 1.0)
    """The share of a whole picture's sides that was kept; focal lengths are the whole picture's."""
    stretches: tuple[float, ...] = (1.0,)
    """By how much a whole picture's height was stretched against its width."""


def fixed(k1: float, k2: float = 0.0, k3: float = 0.0) -> Callable[[Generator], Array]:
    """Always the same lens."""
    return lambda random: np.array([k1, k2, k3])


def strong_moustache(random: Generator) -> Array:
    """Published phones' and webcams' lenses that nothing straightened: (0.17, -0.72, 1.63), (0.27, -1.24, 1.85)."""
    k1 = random.uniform(0.13, 0.27)
    return np.array([k1, -k1 * random.uniform(2.4, 4.5), k1 * random.uniform(0.0, 9.0)])


KINDS = (
    Kind("phone", lenses.straightened),
    Kind("phone, metadata", lenses.straightened, exif=True),
    Kind("phone, overhead", lenses.straightened, tilts_deg=(0, 4)),
    Kind("webcam", lenses.webcam, "1080p"),
    Kind("k1 -0.1", fixed(-0.1)),
    Kind("barrel", lenses.barrel, "1080p"),
    Kind("moustache", strong_moustache, "1080p"),
    Kind("moustache, metadata", lenses.moustache, exif=True),
    Kind("zoom", lenses.straightened, focal=(1.2, 2.6)),
    Kind("zoom, overhead", lenses.straightened, focal=(1.2, 2.6), tilts_deg=(0, 4)),
    Kind("wide, overhead", lenses.straightened, focal=(0.4, 0.55), tilts_deg=(0, 4)),
    Kind("cut", lenses.straightened, kept=(0.4, 0.75)),
    Kind("stretched", lenses.straightened, stretches=(8 / 9, 9 / 8, 4 / 3, 3 / 4)),
)  # fmt: skip


@dataclass(frozen=True)
class Photo:
    """A camera over the board, and its picture."""

    camera: Camera
    size_px: tuple[int, int]
    focal_px: float | None
    """What metadata say."""


def draw_photo(kind: Kind, random: Generator) -> Photo:
    """A photo that shows the whole board and a hand's breadth round it."""
    while True:
        photo = _photo(kind, random)
        at = np.column_stack([CORNERS, np.zeros(4)])
        px = photo.camera.project(at)
        inside = (px > 0.01 * photo.size_px[0]) & (px < np.array(photo.size_px) * 0.99)
        back = photo.camera.unproject(px)
        if inside.all() and np.abs(back - CORNERS).max() < 1e-3:
            return photo


def _photo(kind: Kind, random: Generator) -> Photo:
    whole = np.array(SIZES[kind.size])
    kept = random.uniform(*kind.kept)
    size = np.round(kept * whole).astype(int)
    stretch = float(random.choice(kind.stretches))
    focal = whole[0] * random.uniform(*kind.focal)
    offset = random.normal(0, 0.003 * whole[0], 2)
    if kept < 1:
        offset = offset + (1 - kept) / 2 * whole * random.uniform(-1, 1, 2)
    k1, k2, k3 = kind.lens(random)
    tilt = random.uniform(*kind.tilts_deg)
    height = focal * BOARD_MM / size[1] * random.uniform(1.15, 1.5) * (1 + tilt / 200)
    turn = 90 * random.integers(4) + random.uniform(-12, 12)
    aim = MIDDLE
    for _ in range(AIM_ROUNDS):  # the board's middle lies in the picture's, wherever the axis is
        camera = camera_over(
            tilt, size_px=(int(size[0]), int(size[1])), focal_px=focal, height_mm=height,
            center_px=(float(offset[0]), float(offset[1])),
            distortion=(k1, k2, *random.normal(0, 4e-4, 2), k3), turn_deg=turn, aim_mm=(float(aim[0]), float(aim[1])),
        )  # fmt: skip
        aim = aim + MIDDLE - camera.unproject((size - 1) / 2)
    shown = np.array([size[0], round(size[1] * stretch)])
    matrix = camera.matrix.copy()
    matrix[1] *= shown[1] / size[1]
    told = focal * (1 + EXIF_SIGMA * random.normal()) if kind.exif else None
    return Photo(camera.with_lens(matrix, camera.distortion), (int(shown[0]), int(shown[1])), told)
