"""A lens drawn over its picture: which places the sheet's corners reached, and how far it is to be trusted there."""

from collections.abc import Sequence

import numpy as np

from overruler.geometry.pose import Array
from overruler.picture.raster import font_face_css, render_png
from overruler.picture.svg import BLACK, WHITE, element, group, text_line

WIDTH_PX = 1200
"""Width of the drawing."""
LEAST_ERROR_RGB, GREATEST_ERROR_RGB = (0.93, 0.96, 0.99), (0.03, 0.19, 0.42)
"""Red, green, blue of the least and the greatest error: one hue, told apart by its lightness alone."""
ERROR_RANGE_MM = (0.01, 1.0)
"""The errors that the shades stand for, evenly by their logarithms."""
PHOTO_COLOURS = ("#d55e00", "#e69f00", "#009e73", "#cc79a7", "#f0e442")
"""A colour a photo, in turn (Okabe and Ito's, for every eye)."""
FONT_SIZE_PX = 22.0
"""Of the lettering."""


def draw_coverage(
    size_px: tuple[int, int],
    corners_px: Sequence[Array],
    places_px: Array,
    error_mm: Array,
    title: Sequence[str],
) -> str:
    """The drawing as SVG text: corners (N, 2) photo by photo over errors (R, C) at places (R, C, 2), under a title."""
    scale = WIDTH_PX / size_px[0]
    head = 1.5 * FONT_SIZE_PX * len(title) + FONT_SIZE_PX
    high = size_px[1] * scale
    parts = [
        f"<style>{font_face_css()}</style>",
        element("rect", width="100%", height="100%", fill=WHITE),
        *(
            text_line(
                line, FONT_SIZE_PX / 2, 1.5 * FONT_SIZE_PX * (k + 1), FONT_SIZE_PX, "start", BLACK
            )
            for k, line in enumerate(title)
        ),
        group(
            (
                _error_tiles(places_px * scale, error_mm),
                _corner_dots(corners_px, scale),
                _error_labels(places_px * scale, error_mm),
            ),
            transform=f"translate(0 {head:.1f})",
        ),
    ]
    box = f"0 0 {WIDTH_PX} {head + high:.1f}"
    return element(
        "svg",
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=box,
        width=WIDTH_PX,
        height=head + high,
    )


def encode_drawing(svg: str, ending: str) -> bytes:
    """The bytes of a file whose name ends in `.png` or `.svg`."""
    return svg.encode() if ending == ".svg" else render_png(svg, WIDTH_PX)


def error_colour(error_mm: float) -> str:
    """The colour that an error is drawn in."""
    low, high = np.log(ERROR_RANGE_MM)
    share = float(np.clip((np.log(max(error_mm, 1e-9)) - low) / (high - low), 0, 1))
    return "#" + "".join(
        f"{round(255 * (a + share * (b - a))):02x}"
        for a, b in zip(LEAST_ERROR_RGB, GREATEST_ERROR_RGB, strict=True)
    )


def _error_tiles(places: Array, error_mm: Array) -> str:
    """A tile for each four neighbouring places, in their mean error."""
    mean = (error_mm[1:, 1:] + error_mm[:-1, 1:] + error_mm[1:, :-1] + error_mm[:-1, :-1]) / 4
    tiles = []
    for row, column in np.ndindex(mean.shape):
        (left, top), (right, bottom) = places[row, column], places[row + 1, column + 1]
        size = {"width": float(right - left) + 0.5, "height": float(bottom - top) + 0.5}
        tiles.append(
            element(
                "rect",
                x=float(left),
                y=float(top),
                fill=error_colour(float(mean[row, column])),
                **size,
            )
        )
    return group(tiles)


def _corner_dots(corners_px: Sequence[Array], scale: float) -> str:
    marks = [
        element(
            "circle",
            cx=float(u) * scale,
            cy=float(v) * scale,
            r=2.4,
            fill=PHOTO_COLOURS[k % len(PHOTO_COLOURS)],
        )
        for k, corners in enumerate(corners_px)
        for u, v in corners
    ]
    return group(marks, stroke=BLACK, stroke_width=0.4)


def _error_labels(places: Array, error_mm: Array) -> str:
    """The error in words at every fourth place, inside the picture's edge."""
    high, wide = places[-1, -1, 1], places[-1, -1, 0]
    texts = []
    for row, column in np.ndindex(error_mm[::4, ::4].shape):
        u, v = places[4 * row, 4 * column]
        x, y = float(np.clip(u, 40, wide - 40)), float(np.clip(v, 24, high - 12))
        text = f"{error_mm[4 * row, 4 * column]:.2f}"
        back = element(
            "rect", x=x - 27, y=y - 18, width=54, height=24, rx=5, fill=WHITE, fill_opacity=0.8
        )
        texts.append(back + text_line(text, x, y, 20.0, fill=BLACK))
    return group(texts)
