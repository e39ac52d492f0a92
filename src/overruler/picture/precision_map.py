"""The precision map: how sure distances are all over the board, drawn over the photo, and advice.

Its figures are half-widths of 95 % intervals, as all that the program tells.
"""

import numpy as np

from overruler.calibration import Advice, Calibration, PrecisionMap
from overruler.picture import ENDINGS
from overruler.picture.lens_coverage import mean_of_neighbours, shade_colour
from overruler.picture.raster import Pixels, composite_bytes, data_uri, font_face_css, output_size
from overruler.picture.svg import (
    BLACK,
    WHITE,
    cased_line,
    element,
    group,
    path_data,
    text_line,
    text_plate,
)
from overruler.picture.text_layout import fit_text, text_width
from overruler.picture.view import View
from overruler.units import MILLIMETRES, SIGMAS_95, format_number

TILE_OPACITY = 0.62
LIGHTEST_SIGMA_MM = 0.1
"""The σ, in mm, drawn in the lightest shade."""
DARKEST_SIGMA_MM = 3.0
"""The σ, in mm, drawn in the darkest shade; in between, twice the σ is one equal step darker."""
VISIBLE_SHARE = 0.99
"""Least visibility of a tile's corners, on average, for it to be drawn."""
LABEL_SPACING_MM = 180.0
"""About how far apart the figures on the board stand, in mm."""
MIN_LABELS = 5
"""Fewest figures along the board's longer side."""
TEXT_SIZE = 12.0
"""Font size of words, in units of the view."""
LABEL_SIZE = 9.5
"""Font size of figures, in units of the view."""
MAX_ADVICE_LINES = 4
"""Lines of advice that there is room for."""


def encode_map(calibration: Calibration, doubt: PrecisionMap, pixels: Pixels, ending: str) -> bytes:
    """Return the map over its photo, as the bytes of a file with one of `ENDINGS`."""
    if ending not in ENDINGS:
        raise ValueError(f"{ending} is none of {ENDINGS}")
    if ending != ".svg":
        return composite_bytes(draw_map(calibration, doubt), pixels, ending)
    width, height = calibration.size_px
    href = data_uri(pixels, output_size((width, height)))
    size = {"width": width, "height": height, "preserveAspectRatio": "none"}
    background = element("style", font_face_css()) + element("image", href=href, **size)
    return draw_map(calibration, doubt, background).encode()


def draw_map(calibration: Calibration, doubt: PrecisionMap, ground: str = "") -> str:
    """Return the map as SVG text, over the drawing `ground` if there is one."""
    view = View(calibration.camera, calibration.size_px)
    squares = []
    for square in calibration.squares_mm:
        squares.append(cased_line(view.to_px(square), WHITE, 0.7 * view.unit, closed=True))
    words = _draw_text(view, doubt)
    layers = [ground, _sigma_tiles(view, doubt), *squares, _sigma_labels(view, doubt), words]
    width, height = output_size(calibration.size_px)
    box = f"0 0 {calibration.size_px[0]} {calibration.size_px[1]}"
    size = {"viewBox": box, "width": width, "height": height}
    return element("svg", *layers, xmlns="http://www.w3.org/2000/svg", **size)


def _sigma_tiles(view: View, doubt: PrecisionMap) -> str:
    """Draw a tile for each four neighbouring visible places, in the shade of their mean σ."""
    places = view.to_px(doubt.xy_mm)
    sigma = mean_of_neighbours(doubt.sigma_mm)
    visible = mean_of_neighbours(doubt.visible)
    tiles = []
    for row, column in np.argwhere(visible > VISIBLE_SHARE):
        rows = [row, row, row + 1, row + 1]
        corners = places[rows, [column, column + 1, column + 1, column]]
        colour = shade_colour(_shade_share(float(sigma[row, column])))
        tiles.append(element("path", d=path_data(corners, closed=True), fill=colour, stroke=colour))
    return group(tiles, opacity=TILE_OPACITY, stroke_width=0.3 * view.unit)


def _shade_share(sigma_mm: float) -> float:
    """Return how dark a σ is drawn, 0 to 1: the same on every map, so that maps compare."""
    steps = np.log(max(sigma_mm, LIGHTEST_SIGMA_MM) / LIGHTEST_SIGMA_MM)
    share = steps / np.log(DARKEST_SIGMA_MM / LIGHTEST_SIGMA_MM)
    return float(min(share, 1.0))


def _sigma_labels(view: View, doubt: PrecisionMap) -> str:
    """Write the doubt at regular places that the words leave free."""
    size, parts = LABEL_SIZE * view.unit, []
    left, top, wide, high = _text_plate_box(view, doubt)
    right = left + wide + 2 * size
    bottom = top + high + size
    rows, columns = _label_indices(doubt)
    for row in rows:
        for column in columns:
            if not doubt.visible[row, column]:
                continue
            x, y = view.to_px(doubt.xy_mm[row, column])
            if left - 2 * size < x < right and top - size < y < bottom:
                continue
            figure = _interval_text(float(doubt.sigma_mm[row, column]), doubt.unit)
            parts.append(text_plate(figure, x, y, size))
    return group(parts)


def _label_indices(doubt: PrecisionMap) -> tuple[range, range]:
    """Return the rows and the columns of the map that have figures."""
    longer_side_mm = np.ptp(doubt.xy_mm, axis=(0, 1)).max()
    spacing_mm = float(min(LABEL_SPACING_MM, longer_side_mm / MIN_LABELS))
    x_mm = doubt.xy_mm[0, :, 0]
    cell_mm = float(x_mm[1] - x_mm[0])
    step = max(1, round(spacing_mm / cell_mm))
    height, width = doubt.sigma_mm.shape
    return range(step // 2, height, step), range(step // 2, width, step)


def headline_text(doubt: PrecisionMap) -> str:
    """Return what the map shows, in words."""
    shown = doubt.sigma_mm[doubt.visible > 0]
    if not shown.size:
        return "the photo shows nothing of the board"
    low, high = (_interval_text(float(mm), doubt.unit) for mm in (shown.min(), shown.max()))
    length = format_number(doubt.length_mm, doubt.unit, 0)
    return f"a distance of {length} {doubt.unit}: ± {low} to ± {high} {doubt.unit} (95 %)"


def advice_sentence(advice: Advice, unit: str = MILLIMETRES) -> str:
    """Return an advice in words, with its effect on the largest doubt."""
    before, after = (_interval_text(mm, unit) for mm in (advice.before_mm, advice.after_mm))
    return f"{advice.text}: ± {before} → {after} {unit}"


def _interval_text(sigma_mm: float, unit: str) -> str:
    """Return half the 95 % interval of a length as a number."""
    return format_number(SIGMAS_95 * sigma_mm, unit, 2)


def _text_lines(doubt: PrecisionMap) -> list[str]:
    shown = doubt.advice[:MAX_ADVICE_LINES]
    return [headline_text(doubt), *(advice_sentence(each, doubt.unit) for each in shown)]


def _text_plate_box(view: View, doubt: PrecisionMap) -> tuple[float, float, float, float]:
    """Return the plate of the words at the picture's foot: left, top, width and height."""
    lines = _text_lines(doubt)
    width, height = view.size_px
    step = 1.5 * TEXT_SIZE * view.unit
    border = 0.05 * width
    high = step * (len(lines) + 0.6)
    wide = max(map(text_width, lines)) * TEXT_SIZE * view.unit + 2 * step
    return border, height - 0.03 * height - high, min(wide, width - 2 * border), high


def _draw_text(view: View, doubt: PrecisionMap) -> str:
    """Draw the headline and the advice on a plate."""
    left, top, wide, high = _text_plate_box(view, doubt)
    step = 1.5 * TEXT_SIZE * view.unit
    box = {"x": left, "y": top, "width": wide, "height": high, "rx": 8.0 * view.unit}
    parts = [element("rect", **box, fill=BLACK, fill_opacity=0.88)]
    for k, line in enumerate(_text_lines(doubt), 1):
        text, size = fit_text(line, TEXT_SIZE * view.unit, wide - 2 * step)
        parts.append(text_line(text, left + step, top + step * k, size, "start"))
    return group(parts)
