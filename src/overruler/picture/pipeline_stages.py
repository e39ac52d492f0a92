"""The stages from a photo to a ruling, drawn: markers, candidates, rims and positions.

Each function takes a photo (H, W, 3) and what to draw on it, and returns a JPEG `WIDTH_PX` wide.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from overruler.geometry.batched.vectors import unit_vectors
from overruler.geometry.pose import Array
from overruler.picture.answer_style import NO_STYLE, YES_COLOUR
from overruler.picture.raster import Pixels, composite_pixels, encode_small_jpeg
from overruler.picture.svg import (
    BLACK,
    WHITE,
    cased_line,
    element,
    group,
    path,
    text_plate,
    text_plate_size,
)

WIDTH_PX = 1600
SIGMAS_95 = float(np.sqrt(-2 * np.log(0.05)))
"""Size of the ellipse, in σ, that holds 95 % of a Gaussian in the plane."""
ELLIPSE_POINTS = 48
LIKELY_PROBABILITY = 0.5
"""A candidate above this probability is drawn strong."""


def draw_photo(pixels: Pixels) -> bytes:
    """Draw the photo alone."""
    return _encode_drawing(pixels, [])


def draw_markers(pixels: Pixels, seen: Mapping[int, tuple[Array, Array]], times: float) -> bytes:
    """Draw markers by id: squares (4, 2), and 95 % ellipses of their corners (8, 8) × `times`."""
    unit, parts = _drawing_unit(pixels), []
    for number, (square, covariance) in seen.items():
        parts.append(cased_line(square + 0.5, YES_COLOUR, 0.9 * unit, closed=True))
        for k, corner in enumerate(square + 0.5):
            rows = slice(2 * k, 2 * k + 2)
            parts.append(_confidence_ellipse(corner, covariance[rows, rows], times, unit))
        x, y = square.mean(0)
        parts.append(text_plate(str(number), x, y, 9 * unit))
    caption = f"doubt of the corners, 95 %, drawn {times:.0f} times larger"
    return _encode_drawing(pixels, [*parts, _draw_caption(pixels, caption)])


def draw_orthophoto(
    pixels: Pixels, squares_px: Sequence[Array], lines_px: Sequence[Array], caption: str
) -> bytes:
    """Draw the board from above: markers (4, 2 each), lines (K, 2) every 100 mm, and a caption."""
    unit = _drawing_unit(pixels)
    parts = []
    for line in lines_px:
        parts.append(path(line, stroke=WHITE, stroke_opacity=0.5, stroke_width=0.6 * unit))
    parts += [cased_line(square, YES_COLOUR, 0.9 * unit, closed=True) for square in squares_px]
    return _encode_drawing(pixels, [*parts, _draw_caption(pixels, caption)])


def draw_candidates(pixels: Pixels, guesses: Array, shares: Array, caption: str) -> bytes:
    """Draw circles (N, 3), x, y and radius, that may be bases, with probabilities `shares` (N,)."""
    unit, parts = _drawing_unit(pixels), []
    pairs = zip(guesses, shares, strict=True)
    for (x, y, radius), share in sorted(pairs, key=lambda pair: float(pair[1])):
        is_likely = share > LIKELY_PROBABILITY
        colour, wide = (YES_COLOUR, 2.0) if is_likely else (NO_STYLE.colour, 1.0)
        ring = {"cx": x, "cy": y, "r": radius, "fill": "none"}
        casing = {"stroke": WHITE, "stroke_width": 2 * wide * unit, "stroke_opacity": 0.7}
        parts.append(element("circle", **ring, **casing))
        parts.append(element("circle", **ring, stroke=colour, stroke_width=wide * unit))
    return _encode_drawing(pixels, [*parts, _draw_caption(pixels, caption)])


def draw_outlines(
    pixels: Pixels,
    outlines: Mapping[str, Array],
    caption: str,
    box: tuple[int, int, int, int] | None = None,
) -> bytes:
    """Draw outlines (K, 2) by name on the photo, or on a box of it (left, top, right, bottom)."""
    left, top, right, bottom = box or (0, 0, pixels.shape[1], pixels.shape[0])
    part = pixels[top:bottom, left:right]
    unit, parts = _drawing_unit(part), []
    for name, outline in outlines.items():
        edge = outline + 0.5 - (left, top)
        parts.append(path(edge, True, stroke=BLACK, stroke_width=2.2 * unit, stroke_opacity=0.6))
        parts.append(path(edge, True, stroke=WHITE, stroke_width=1.0 * unit))
        if box is not None:
            x = edge[:, 0].mean()
            y = edge[:, 1].max()
            parts.append(text_plate(name, x, y + 9 * unit, 12 * unit))
    return _encode_drawing(part, [*parts, _draw_caption(part, caption)])


def draw_positions(
    pixels: Pixels,
    centers: Array,
    own: Sequence[Array],
    shared: Sequence[Array],
    times: float,
    caption: str,
) -> bytes:
    """Draw bases' centres (N, 2) with their 95 % ellipses, enlarged `times`, and a caption.

    `own` holds the covariances (2, 2) of each base alone, `shared` the complete ones, in px².
    """
    unit, parts = _drawing_unit(pixels), []
    for center, alone, whole in zip(centers + 0.5, own, shared, strict=True):
        parts.append(_confidence_ellipse(center, whole, times, unit, NO_STYLE.colour))
        parts.append(_confidence_ellipse(center, alone, times, unit, YES_COLOUR))
    return _encode_drawing(pixels, [*parts, _draw_caption(pixels, caption)])


# --- parts ---


def _drawing_unit(pixels: Pixels) -> float:
    """Return a thousandth of the picture's width, the unit of lines and letters."""
    return float(pixels.shape[1]) / 1000


def _confidence_ellipse(
    center: Array, covariance: Array, times: float, unit: float, colour: str = NO_STYLE.colour
) -> str:
    """Draw the ellipse that holds 95 %, enlarged `times`."""
    angle = np.linspace(0, 2 * np.pi, ELLIPSE_POINTS, endpoint=False)
    values, axes = np.linalg.eigh(covariance)
    reach = times * SIGMAS_95 * np.sqrt(np.maximum(values, 0))
    edge = center + (unit_vectors(angle) * reach) @ axes.T
    fill = {"fill": colour, "fill_opacity": 0.25}
    casing = path(edge, True, stroke=BLACK, stroke_width=2.0 * unit, stroke_opacity=0.5)
    return group((casing, path(edge, True, stroke=colour, stroke_width=1.1 * unit, **fill)))


def _draw_caption(pixels: Pixels, text: str) -> str:
    """Write a line of text in the upper left corner."""
    unit = _drawing_unit(pixels)
    wide, high = text_plate_size(text, 15 * unit)
    return text_plate(text, 12 * unit + wide / 2, 12 * unit + high / 2, 15 * unit)


def _encode_drawing(pixels: Pixels, parts: Sequence[str]) -> bytes:
    height, width = pixels.shape[:2]
    size = WIDTH_PX, max(1, round(height * WIDTH_PX / width))
    box = {"viewBox": f"0 0 {width} {height}", "width": size[0], "height": size[1]}
    namespace = "http://www.w3.org/2000/svg"
    svg = element("svg", *parts, xmlns=namespace, preserveAspectRatio="none", **box)
    return encode_small_jpeg(composite_pixels(svg, pixels, size), WIDTH_PX)
