"""A lens drawn over its picture: where the sheet's corners were seen, and the error at each place."""

from collections.abc import Sequence

import numpy as np

from overruler.geometry.pose import Array
from overruler.picture.raster import drawing_bytes, font_face_css
from overruler.picture.svg import BLACK, WHITE, element, group, text_line

WIDTH_PX = 1200
"""Width of the drawing."""
LEAST_ERROR_RGB = (0.93, 0.96, 0.99)
"""Red, green, blue of the least error."""
GREATEST_ERROR_RGB = (0.03, 0.19, 0.42)
"""Red, green, blue of the greatest error: the same hue, told apart by its lightness alone."""
ERROR_RANGE_MM = (0.02, 2.0)
"""The errors, in mm, of the lightest and the darkest shade; shades follow the logarithm."""
PHOTO_COLOURS = ("#d55e00", "#e69f00", "#009e73", "#cc79a7", "#f0e442")
"""A colour for each photo, in turn (Okabe and Ito's, for every kind of colour vision)."""
FONT_SIZE_PX = 22.0
"""Font size of the title."""
LABEL_STEP = 4
"""Places from one error label to the next."""


def draw_coverage(
    size_px: tuple[int, int],
    corners_px: Sequence[Array],
    places_px: Array,
    error_mm: Array,
    title: Sequence[str],
) -> str:
    """Draw corners (N, 2) of each photo over errors (R, C) at places (R, C, 2), under a title."""
    scale = WIDTH_PX / size_px[0]
    head = 1.5 * FONT_SIZE_PX * len(title) + FONT_SIZE_PX
    height = head + size_px[1] * scale
    places = places_px * scale
    layers = (
        _error_tiles(places, error_mm),
        _corner_dots(corners_px, scale),
        _error_labels(places, error_mm),
    )
    parts = [
        f"<style>{font_face_css()}</style>",
        element("rect", width="100%", height="100%", fill=WHITE),
        *_title_lines(title),
        group(layers, transform=f"translate(0 {head:.1f})"),
    ]
    size = {"viewBox": f"0 0 {WIDTH_PX} {height:.1f}", "width": WIDTH_PX, "height": height}
    return element("svg", *parts, xmlns="http://www.w3.org/2000/svg", **size)


def _title_lines(title: Sequence[str]) -> list[str]:
    lines = []
    for number, text in enumerate(title, 1):
        y = 1.5 * FONT_SIZE_PX * number
        lines.append(text_line(text, FONT_SIZE_PX / 2, y, FONT_SIZE_PX, "start", BLACK))
    return lines


def encode_drawing(svg: str, ending: str) -> bytes:
    """Return the bytes of a file with one of the endings of pictures."""
    return svg.encode() if ending == ".svg" else drawing_bytes(svg, WIDTH_PX, ending)


def error_colour(error_mm: float) -> str:
    """Return the colour of an error."""
    low, high = np.log(ERROR_RANGE_MM)
    share = (np.log(max(error_mm, 1e-9)) - low) / (high - low)
    return shade_colour(float(np.clip(share, 0, 1)))


def shade_colour(share: float) -> str:
    """Return the colour from the least error's (0) to the greatest one's (1), in even steps."""
    code = "#"
    for lightest, darkest in zip(LEAST_ERROR_RGB, GREATEST_ERROR_RGB, strict=True):
        value = lightest + share * (darkest - lightest)
        code += f"{round(255 * value):02x}"
    return code


def _error_tiles(places: Array, error_mm: Array) -> str:
    """Draw a tile for each four neighbouring places, in the colour of their mean error."""
    errors = mean_of_neighbours(error_mm)
    tiles = []
    for row, column in np.ndindex(errors.shape):
        left, top = places[row, column]
        right, bottom = places[row + 1, column + 1]
        size = {"width": right - left + 0.5, "height": bottom - top + 0.5}
        colour = error_colour(float(errors[row, column]))
        tiles.append(element("rect", x=left, y=top, fill=colour, **size))
    return group(tiles)


def mean_of_neighbours(values: Array) -> Array:
    """Return the mean of each four neighbours (R - 1, C - 1) of values (R, C)."""
    right = values[:, 1:]
    left = values[:, :-1]
    return np.asarray((right[1:] + right[:-1] + left[1:] + left[:-1]) / 4)


def _corner_dots(corners_px: Sequence[Array], scale: float) -> str:
    dots = []
    for photo, corners in enumerate(corners_px):
        colour = PHOTO_COLOURS[photo % len(PHOTO_COLOURS)]
        for u, v in corners:
            x = float(u) * scale
            y = float(v) * scale
            dots.append(element("circle", cx=x, cy=y, r=2.4, fill=colour))
    return group(dots, stroke=BLACK, stroke_width=0.4)


def _error_labels(places: Array, error_mm: Array) -> str:
    """Write the error at every fourth place, inside the picture's edge."""
    wide, high = places[-1, -1]
    labels = []
    plate = {"width": 54, "height": 24, "rx": 5, "fill": WHITE, "fill_opacity": 0.8}
    for row, column in np.ndindex(error_mm[::LABEL_STEP, ::LABEL_STEP].shape):
        place = LABEL_STEP * row, LABEL_STEP * column
        u, v = places[place]
        x = float(np.clip(u, 40, wide - 40))
        y = float(np.clip(v, 24, high - 12))
        labels.append(element("rect", x=x - 27, y=y - 18, **plate))
        labels.append(text_line(f"{error_mm[place]:.2f}", x, y, 20.0, fill=BLACK))
    return group(labels)
