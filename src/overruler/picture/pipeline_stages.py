"""What is found on the way from a photo to a ruling, drawn: markers and their doubt, candidates, rims, places.

Each takes a photo (H, W, 3) and what is to be seen on it, and gives the bytes of a JPEG `WIDTH_PX` wide.
"""

from collections.abc import Mapping, Sequence

import numpy as np

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
CONFIDENCE_95_SIGMAS = float(np.sqrt(-2 * np.log(0.05)))
"""An ellipse so many σ large holds 95 % of a Gauss's cloud in the plane."""
ELLIPSE_POINTS = 48


def draw_photo(pixels: Pixels) -> bytes:
    """The photo as it is."""
    return _encode_drawing(pixels, [])


def draw_markers(pixels: Pixels, seen: Mapping[int, tuple[Array, Array]], times: float) -> bytes:
    """Markers by their ids: the square (4, 2) as fitted, and the doubt (8, 8) of its corners so many times enlarged."""
    unit, parts = _drawing_unit(pixels), []
    for number, (square, covariance) in seen.items():
        parts.append(cased_line(square + 0.5, YES_COLOUR, 0.9 * unit, closed=True))
        for k, corner in enumerate(square + 0.5):
            part = covariance[2 * k : 2 * k + 2, 2 * k : 2 * k + 2]
            parts.append(_confidence_ellipse(corner, part, times, unit))
        x, y = square.mean(0)
        parts.append(text_plate(str(number), float(x), float(y), 9 * unit))
    return _encode_drawing(
        pixels,
        [
            *parts,
            _draw_caption(pixels, f"doubt of the corners, 95 %, drawn {times:.0f} times larger"),
        ],
    )


def draw_orthophoto(
    pixels: Pixels, squares_px: Sequence[Array], lines_px: Sequence[Array], told: str
) -> bytes:
    """The board from above: where the markers lie (4, 2 each), and lines (K, 2) that are 100 mm apart."""
    unit = _drawing_unit(pixels)
    parts = [
        path(line, stroke=WHITE, stroke_opacity=0.5, stroke_width=0.6 * unit) for line in lines_px
    ]
    parts += [cased_line(square, YES_COLOUR, 0.9 * unit, closed=True) for square in squares_px]
    return _encode_drawing(pixels, [*parts, _draw_caption(pixels, told)])


def draw_candidates(pixels: Pixels, guesses: Array, shares: Array, told: str) -> bytes:
    """Circles (N, 3), x, y and radius, that may be bases: the likelier (shares (N,)) the stronger."""
    unit, parts = _drawing_unit(pixels), []
    for (x, y, radius), share in sorted(
        zip(guesses, shares, strict=True), key=lambda pair: float(pair[1])
    ):
        colour, wide = (YES_COLOUR, 2.0) if share > 0.5 else (NO_STYLE.colour, 1.0)
        ring = {"cx": float(x), "cy": float(y), "r": float(radius), "fill": "none"}
        parts.append(
            element(
                "circle", **ring, stroke=WHITE, stroke_width=2 * wide * unit, stroke_opacity=0.7
            )
        )
        parts.append(element("circle", **ring, stroke=colour, stroke_width=wide * unit))
    return _encode_drawing(pixels, [*parts, _draw_caption(pixels, told)])


def draw_outlines(
    pixels: Pixels,
    outlines: Mapping[str, Array],
    told: str,
    box: tuple[int, int, int, int] | None = None,
) -> bytes:
    """Bases' outlines (K, 2) by their names, in all of the photo or in a box of it (left, top, right, bottom)."""
    left, top, right, bottom = box or (0, 0, pixels.shape[1], pixels.shape[0])
    part = pixels[top:bottom, left:right]
    unit, parts = _drawing_unit(part), []
    for name, outline in outlines.items():
        edge = outline + 0.5 - (left, top)
        parts.append(path(edge, True, stroke=BLACK, stroke_width=2.2 * unit, stroke_opacity=0.6))
        parts.append(path(edge, True, stroke=WHITE, stroke_width=1.0 * unit))
        if box is not None:
            x, y = edge[:, 0].mean(), edge[:, 1].max()
            parts.append(text_plate(name, float(x), float(y) + 9 * unit, 12 * unit))
    return _encode_drawing(part, [*parts, _draw_caption(part, told)])


def draw_positions(
    pixels: Pixels,
    centers: Array,
    own: Sequence[Array],
    shared: Sequence[Array],
    times: float,
    told: str,
) -> bytes:
    """Bases' middles (N, 2) with their doubt (2, 2 each) in the photo's pixels, of the own part and of all of it."""
    unit, parts = _drawing_unit(pixels), []
    for center, alone, whole in zip(centers + 0.5, own, shared, strict=True):
        parts.append(_confidence_ellipse(center, whole, times, unit, NO_STYLE.colour))
        parts.append(_confidence_ellipse(center, alone, times, unit, YES_COLOUR))
    return _encode_drawing(pixels, [*parts, _draw_caption(pixels, told)])


# --- parts ---


def _drawing_unit(pixels: Pixels) -> float:
    """A thousandth of the picture's width: what lines and letters are measured by."""
    return float(pixels.shape[1]) / 1000


def _confidence_ellipse(
    center: Array, covariance: Array, times: float, unit: float, colour: str = NO_STYLE.colour
) -> str:
    """The ellipse that holds 95 %, so many times enlarged."""
    angle = np.linspace(0, 2 * np.pi, ELLIPSE_POINTS, endpoint=False)
    values, axes = np.linalg.eigh(covariance)
    reach = times * CONFIDENCE_95_SIGMAS * np.sqrt(np.maximum(values, 0))
    edge = center + (np.stack([np.cos(angle), np.sin(angle)], -1) * reach) @ axes.T
    line = {"fill": colour, "fill_opacity": 0.25}
    return group(
        (
            path(edge, True, stroke=BLACK, stroke_width=2.0 * unit, stroke_opacity=0.5),
            path(edge, True, stroke=colour, stroke_width=1.1 * unit, **line),
        )
    )


def _draw_caption(pixels: Pixels, text: str) -> str:
    """A line of words in the upper left corner."""
    unit = _drawing_unit(pixels)
    wide, high = text_plate_size(text, 15 * unit)
    return text_plate(text, 12 * unit + wide / 2, 12 * unit + high / 2, 15 * unit)


def _encode_drawing(pixels: Pixels, parts: Sequence[str]) -> bytes:
    height, width = pixels.shape[:2]
    size = WIDTH_PX, max(1, round(height * WIDTH_PX / width))
    box = {"viewBox": f"0 0 {width} {height}", "width": size[0], "height": size[1]}
    svg = element(
        "svg", *parts, xmlns="http://www.w3.org/2000/svg", preserveAspectRatio="none", **box
    )
    return encode_small_jpeg(composite_pixels(svg, pixels, size), WIDTH_PX)
