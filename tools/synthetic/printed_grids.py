"""Grids printed on a mat: hexes, squares, dots and rings of any size, in dark, light or coloured ink."""

import cv2
import numpy as np

from overruler.geometry.camera import Camera
from overruler.marker_card import card_about
from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.from_above.sheet import Truth, on_board
from synthetic.mats import to_hex_borders

FORMS = ("hexes", "squares", "dots", "rings")
FORMS_OF_CELLS = FORMS[:2]
"""Those of which lines are the borders of cells."""
LINE_MM = (0.5, 1.6)
"""Widths of the lines."""
OPACITY = (0.35, 0.85)
LINE_COLOURS = ((0.1, 0.09, 0.07), (0.1, 0.09, 0.07), (0.85, 0.86, 0.84))
"""Most grids are dark, some light."""
COLOURED_SHARE = 0.4
"""So many dots and rings have any colour."""
RADII = (0.2, 0.45)
"""Radii of dots and rings, in widths of a cell."""
TEXEL_MM = 0.5
"""Pixels of lines that are laid on the mat of a photo."""
STEP_PX = 8
"""Where lines lie is exact at every so many pixels of a photo, and linear between."""
EDGE_MM = 1.0
"""Distance of laid lines from a piece's edge."""


def print_grid(picture: Floats, texel_mm: float, form: str, across_mm: float, rng: Rng) -> Floats:
    """A picture (H, W, 3) with a grid of cells that are `across_mm` wide, turned anyhow along its sides."""
    colour, cover = _lines(picture.shape[:2], texel_mm, form, across_mm, rng)
    return np.asarray(picture + cover[..., None] * (colour - picture), np.float32)


def lay_grid(
    photo: Picture,
    camera: Camera,
    truth: Truth,
    form: str,
    across_mm: float,
    rng: Rng,
    middle_mm: Array | None = None,
) -> Picture:
    """A photo (H, W, 3), BGR, whose mat has a grid, but for its pieces, markers and terrain.

    The middle of a cell lies at `middle_mm` (2,), else anywhere.
    """
    size = np.array([truth["board"]["width_mm"], truth["board"]["height_mm"]])
    columns, rows = np.ceil(size / TEXEL_MM).astype(int).tolist()
    colour, cover = _lines((rows, columns), TEXEL_MM, form, across_mm, rng, middle_mm)
    for polygon in _standing(truth, camera):
        cv2.fillPoly(cover, [np.round(polygon / TEXEL_MM).astype(np.int32)], 0.0)
    height, width = photo.shape[:2]
    u, v = np.arange(0, width + STEP_PX, STEP_PX), np.arange(0, height + STEP_PX, STEP_PX)
    nodes = camera.unproject(np.stack(np.meshgrid(u, v), -1).astype(float)) / TEXEL_MM - 0.5
    shrunk = np.array([[1 / STEP_PX, 0, 0], [0, 1 / STEP_PX, 0]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    x, y = (
        cv2.warpAffine(nodes[..., k].astype(np.float32), shrunk, (width, height), flags=flags)
        for k in (0, 1)
    )
    fine = cv2.GaussianBlur(cover, (0, 0), 1.0)
    seen = cv2.remap(fine, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)[..., None]
    return np.asarray(photo + seen * (255 * colour[::-1] - photo), np.uint8)


def _standing(truth: Truth, camera: Camera) -> list[Array]:
    """Outlines (K, 2) on the board, in mm, of what covers the mat."""
    around = np.radians(np.arange(0, 360, 5))
    circle = np.column_stack([np.cos(around), np.sin(around)])
    outlines = []
    for piece in truth["pieces"]:
        x, y, length, width, _ = on_board(camera, piece)
        outlines.append(np.array([x, y]) + (max(length, width) / 2 + EDGE_MM) * circle)
    for marker in truth["markers"]["items"]:
        outlines.append(card_about(np.array(marker["corners_mm"])[:, :2]))
    for hill in truth.get("terrain", []):
        outlines.append(np.array(hill["footprint_mm"], float).reshape(-1, 2))
    return outlines


def _lines(
    shape: tuple[int, int],
    texel_mm: float,
    form: str,
    across_mm: float,
    rng: Rng,
    middle_mm: Array | None = None,
) -> tuple[Floats, Floats]:
    """The colour (3,), RGB, of a grid's lines, and how much of each pixel (H, W) they cover."""
    height, width = shape
    start = rng.uniform(0, across_mm, 2)
    if middle_mm is not None:
        start = middle_mm - (across_mm / 2 if form == "squares" else 0.0)
    x = (np.arange(width, dtype=np.float32)[None] + 0.5) * texel_mm - start[0]
    y = (np.arange(height, dtype=np.float32)[:, None] + 0.5) * texel_mm - start[1]
    if rng.random() < 0.5:
        x, y = y, x
    half_mm = rng.uniform(*LINE_MM) / 2
    distance, colour = _to_print(x, y, form, across_mm, half_mm, rng), _any_ink(form, rng)
    cover = np.clip(-distance / texel_mm + 0.5, 0, 1)
    return colour, np.asarray(rng.uniform(*OPACITY) * cover, np.float32)


def _any_ink(form: str, rng: Rng) -> Floats:
    """A colour (3,), RGB."""
    colour = LINE_COLOURS[rng.integers(len(LINE_COLOURS))]
    if form not in FORMS_OF_CELLS and rng.random() < COLOURED_SHARE:
        return np.asarray(rng.random(3), np.float32)
    return np.array(colour, np.float32)


def _to_print(
    x: Floats, y: Floats, form: str, across_mm: float, half_mm: float, rng: Rng
) -> Floats:
    """Distances to the edge of the print, negative inside, lines being twice `half_mm` wide."""
    if form == "hexes":
        return to_hex_borders(x, y, across_mm / np.sqrt(3)) - half_mm
    if form == "squares":
        return np.asarray(_to_squares(x, y, across_mm) - half_mm, np.float32)
    to_edge = _to_middles(x, y, across_mm, rng.random() < 0.5) - rng.uniform(*RADII) * across_mm
    return np.asarray(to_edge if form == "dots" else np.abs(to_edge) - half_mm, np.float32)


def _to_middles(x: Floats, y: Floats, across_mm: float, in_hexes: bool) -> Array:
    """Distances to the nearest middle of squares or hexes."""
    step_mm = across_mm * (np.sqrt(3) / 2 if in_hexes else 1.0)
    row = np.rint(y / step_mm)
    shift = (row % 2) * across_mm / 2 if in_hexes else 0.0
    return np.asarray(
        np.hypot((x - shift + across_mm / 2) % across_mm - across_mm / 2, y - row * step_mm)
    )


def _to_squares(x: Floats, y: Floats, across_mm: float) -> Array:
    """Distances to the nearest line between squares."""
    return np.minimum(_to_lines(x, across_mm), _to_lines(y, across_mm))


def _to_lines(x: Floats, across_mm: float) -> Array:
    along = x % across_mm
    return np.asarray(np.minimum(along, across_mm - along))
