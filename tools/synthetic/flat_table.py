"""The pipeline backwards: a table and a camera become a photo whose truth is known.

Flat colours, no figures and no light but what the tests need: every edge lies exactly where the camera model puts
it; light is averaged over each pixel and only then coded for the screen, as a sensor and its tone curve do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from overruler.geometry.camera import Camera
from synthetic.arrays import Array, Floats, Picture
from synthetic.develop import Style, tones
from synthetic.flat_canvas import Colour, FlatCanvas

CIRCLE_POINTS = 180
BEYOND: Colour = (0.02, 0.03, 0.04)
"""What is not the mat."""
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
) -> Picture:
    """A photo (H, W, 3), blue green red, of a mat with marker cards and bases; `noise` is 1 σ in grey levels.

    `markers` gives each marker's corners (4, 3) in mm, the printed top left first and clockwise as printed.
    """
    canvas = FlatCanvas(size_px, BEYOND)
    w, h = board_mm
    outline = np.array([[0, 0, 0], [w, 0, 0], [w, h, 0], [0, h, 0.0]])
    canvas.fill_roughly(camera.project(_densify_outline(outline)), mat)
    for number, corners in (markers or {}).items():
        _draw_marker(canvas, camera, corners, number, dictionary)
    eye = camera.center_mm
    for plinth in sorted(plinths, key=lambda p: -float(np.hypot(p.x_mm - eye[0], p.y_mm - eye[1]))):
        _draw_plinth(canvas, camera, plinth)
    light = canvas.light()
    grain = np.random.default_rng(seed).normal(0, noise, light.shape) if noise else None
    return coded_light(light, blur_px, grain)


def coded_light(light: Floats, blur_px: float, noise: Array | Floats | None = None) -> Picture:
    """Values of a picture file, without what else a camera does: blur, sRGB's curve and noise in grey levels."""
    values = tones(light.clip(0, 1), Style(blur_px=blur_px), np.random.default_rng(0))
    noisy = values if noise is None else values + noise
    return np.asarray(np.clip(np.rint(noisy), 0, 255), np.uint8)


def _draw_plinth(canvas: FlatCanvas, camera: Camera, plinth: Plinth) -> None:
    middle, radius = (plinth.x_mm, plinth.y_mm), plinth.diameter_mm / 2
    lower = ring_mm(middle, radius, plinth.z_mm)
    upper = ring_mm(middle, radius - plinth.taper_mm, plinth.z_mm + plinth.height_mm)
    seen = cv2.convexHull(
        np.vstack([camera.project(lower), camera.project(upper)]).astype(np.float32)
    )
    canvas.fill(seen[:, 0].astype(float), plinth.rim)
    _fill_polygon_mm(canvas, camera, upper, plinth.top)


def ring_mm(
    middle_mm: ArrayLike, radius_mm: float, z_mm: float, count: int = CIRCLE_POINTS
) -> Array:
    """Points (count, 3) of a level circle."""
    angle = np.arange(count) * (2 * np.pi / count)
    flat = np.asarray(middle_mm) + radius_mm * np.stack([np.cos(angle), np.sin(angle)], -1)
    return np.column_stack([flat, np.full(count, z_mm)])


def square_mm(
    x_mm: float, y_mm: float, side_mm: float, heading_deg: float = 0.0, z_mm: float = 0.0
) -> Array:
    """A marker's corners (4, 3) round its middle, the printed top left first and clockwise as printed."""
    c, s = np.cos(np.radians(heading_deg)), np.sin(np.radians(heading_deg))
    square = np.array([(-1, 1), (1, 1), (1, -1), (-1, -1)]) * side_mm / 2
    flat = square @ np.array([[c, s], [-s, c]]) + np.array([x_mm, y_mm])
    return np.column_stack([flat, np.full(4, z_mm)])


def marker_cells(number: int, dictionary: str) -> NDArray[np.bool_]:
    """Which cells (N, N) of a marker are white; its black border with them."""
    code = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary))
    return np.asarray(code.generateImageMarker(number, code.markerSize + 2) > 127)


def _draw_marker(
    canvas: FlatCanvas, camera: Camera, corners: Array, number: int, dictionary: str
) -> None:
    """A white card one module wider than the black square, the square, and the code's white modules."""
    cells = marker_cells(number, dictionary)
    modules = len(cells)
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
    for row, column in np.argwhere(cells):
        _fill_polygon_mm(canvas, camera, cell(float(column), float(row), 1), WHITE)


def _densify_outline(corners: Array, pieces: int = 24) -> Array:
    """A polygon's outline with points in between, for lenses bend straight edges."""
    share = np.arange(pieces)[:, None] / pieces
    ends = np.roll(corners, -1, axis=0)
    return np.concatenate([a + share * (b - a) for a, b in zip(corners, ends, strict=True)])


def _fill_polygon_mm(canvas: FlatCanvas, camera: Camera, outline_mm: Array, colour: Colour) -> None:
    canvas.fill(camera.project(outline_mm), colour)
