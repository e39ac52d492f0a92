"""The pipeline backwards: a table and a camera become a photo whose truth is known.

Flat colours, no figures and no light but what the tests need: every edge lies exactly where the camera model puts
it; light is averaged over each pixel and only then coded for the screen, as a sensor and its tone curve do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from skimage.draw import polygon

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array

OVERSAMPLE = 4
CIRCLE_POINTS = 180
Colour = tuple[float, float, float]
"""Blue, green, red: linear light, 0 to 1."""
WHITE, BLACK = (0.85, 0.85, 0.85), (0.03, 0.03, 0.03)


@dataclass(frozen=True, slots=True)
class Plinth:
    """A round base: a truncated cone standing at (x, y, z)."""

    x_mm: float
    y_mm: float
    diameter_mm: float
    z_mm: float = 0.0
    height_mm: float = 3.9
    taper_mm: float = 1.6
    """How much smaller the upper rim's radius is."""
    rim: Colour = (0.05, 0.05, 0.05)
    top: Colour = (0.1, 0.25, 0.12)


def render_table(
    camera: Camera,
    size_px: tuple[int, int],
    board_mm: tuple[float, float],
    plinths: Sequence[Plinth] = (),
    markers: Mapping[int, Array] | None = None,
    dictionary: str = "DICT_4X4_50",
    mat: Colour = (0.15, 0.3, 0.4),
    noise: float = 0.0,
    blur_px: float = 0.6,
    seed: int = 0,
) -> NDArray[np.uint8]:
    """A photo (H, W, 3), blue green red, of a mat with marker cards and bases; `noise` is 1 σ in grey levels.

    `markers` gives each marker's corners (4, 3) in mm, the printed top left first and clockwise as printed.
    """
    width, height = size_px
    canvas = np.full((height * OVERSAMPLE, width * OVERSAMPLE, 3), (0.02, 0.03, 0.04), np.float32)
    w, h = board_mm
    outline = (
        camera.project(_densify_outline(np.array([[0, 0, 0], [w, 0, 0], [w, h, 0], [0, h, 0.0]])))
        + 0.5
    ) * OVERSAMPLE
    cv2.fillPoly(
        canvas, [np.rint(outline).astype(np.int32)], mat
    )  # fast; nobody measures the mat's edge
    for number, corners in (markers or {}).items():
        _draw_marker(canvas, camera, corners, number, dictionary)
    eye = camera.center_mm
    for plinth in sorted(plinths, key=lambda p: -float(np.hypot(p.x_mm - eye[0], p.y_mm - eye[1]))):
        _draw_plinth(canvas, camera, plinth)
    return _develop_photo(canvas, noise, blur_px, seed)


def _develop_photo(
    canvas: NDArray[np.float32], noise: float, blur_px: float, seed: int
) -> NDArray[np.uint8]:
    light = cv2.resize(
        canvas, None, fx=1 / OVERSAMPLE, fy=1 / OVERSAMPLE, interpolation=cv2.INTER_AREA
    )
    light = np.clip(cv2.GaussianBlur(light, (0, 0), blur_px) if blur_px else light, 0, 1)
    coded = encode_srgb(light) * 255
    if noise:
        coded = coded + np.random.default_rng(seed).normal(0, noise, coded.shape)
    return np.asarray(np.clip(np.rint(coded), 0, 255), np.uint8)


def encode_srgb(light: NDArray[Any]) -> NDArray[np.floating]:
    """Amounts of light from 0 to 1 as colour values of a picture file (IEC 61966-2-1)."""
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def _draw_plinth(canvas: NDArray[np.float32], camera: Camera, plinth: Plinth) -> None:
    lower = _circle_points(plinth, plinth.diameter_mm / 2, plinth.z_mm)
    upper = _circle_points(
        plinth, plinth.diameter_mm / 2 - plinth.taper_mm, plinth.z_mm + plinth.height_mm
    )
    seen = cv2.convexHull(
        np.vstack([camera.project(lower), camera.project(upper)]).astype(np.float32)
    )
    _fill_polygon_px(canvas, seen[:, 0].astype(float), plinth.rim)
    _fill_polygon_mm(canvas, camera, upper, plinth.top)


def _circle_points(plinth: Plinth, radius_mm: float, z_mm: float) -> Array:
    angle = np.arange(CIRCLE_POINTS) * (2 * np.pi / CIRCLE_POINTS)
    x, y = plinth.x_mm + radius_mm * np.cos(angle), plinth.y_mm + radius_mm * np.sin(angle)
    return np.stack([x, y, np.full(CIRCLE_POINTS, z_mm)], -1)


def _draw_marker(
    canvas: NDArray[np.float32], camera: Camera, corners: Array, number: int, dictionary: str
) -> None:
    """A white card one module wider than the black square, the square, and the code's white modules."""
    code = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary))
    modules = code.markerSize + 2
    bits = cv2.aruco.generateImageMarker(code, number, modules, borderBits=1)
    right, down = (corners[1] - corners[0]) / modules, (corners[3] - corners[0]) / modules

    def cell(column: float, row: float, size: float) -> Array:
        start = corners[0] + column * right + row * down
        return _densify_outline(
            np.array(
                [start, start + size * right, start + size * (right + down), start + size * down]
            )
        )

    _fill_polygon_mm(canvas, camera, cell(-1, -1, modules + 2), WHITE)
    _fill_polygon_mm(canvas, camera, cell(0, 0, modules), BLACK)
    for row, column in np.argwhere(bits > 0):
        _fill_polygon_mm(canvas, camera, cell(float(column), float(row), 1), WHITE)


def _densify_outline(corners: Array, pieces: int = 24) -> Array:
    """A polygon's outline with points in between, for lenses bend straight edges."""
    share = np.arange(pieces)[:, None] / pieces
    ends = np.roll(corners, -1, axis=0)
    return np.concatenate([a + share * (b - a) for a, b in zip(corners, ends, strict=True)])


def _fill_polygon_mm(
    canvas: NDArray[np.float32], camera: Camera, outline_mm: Array, colour: Colour
) -> None:
    _fill_polygon_px(canvas, camera.project(outline_mm), colour)


def _fill_polygon_px(canvas: NDArray[np.float32], outline_px: Array, colour: Colour) -> None:
    """Fill a polygon given in the photo's pixels: those samples of the canvas whose centre lies inside.

    OpenCV's fill takes the samples on the border too, which would move every edge by an eighth of a pixel.
    """
    fine = (outline_px + 0.5) * OVERSAMPLE - 0.5
    rows, columns = polygon(fine[:, 1], fine[:, 0], canvas.shape[:2])  # type: ignore[no-untyped-call]
    canvas[rows, columns] = colour
