"""The precision map: how sure distances are all over the board, drawn over the photo, and advice.

Its figures are half-widths of 95 % intervals, as all that the program tells.
"""

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from overruler.calibration import Advice, Calibration, PrecisionMap
from overruler.geometry.pose import Array
from overruler.picture import ENDINGS
from overruler.picture.banner import SAFE_SHARE
from overruler.picture.label_placement import LabelLayout, boxes_around
from overruler.picture.lens_coverage import mean_of_neighbours, shade_colour
from overruler.picture.plates import (
    PLATE_COLUMNS,
    PLATE_OVERLAP_WEIGHT,
    PLATE_SIZES,
    Size,
    edge_corners,
    reserve_markers,
)
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
    text_plate_size,
)
from overruler.picture.text_layout import fit_text, text_width
from overruler.picture.view import View
from overruler.units import MILLIMETRES, SIGMAS_95, format_number

Indices = NDArray[np.intp]

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
LINE_STEP = 1.5
"""Distance between two lines of words, in font sizes."""
LABEL_SIZE = 9.5
"""Font size of figures, in units of the view."""
BASES_SENTENCE = "each base adds its own doubt"
"""What the map does not show, on its plate: a player compares it with the doubt of a ruling."""
MAX_ADVICE_LINES = 4
"""Lines of advice that there is room for."""


def encode_map(
    calibration: Calibration,
    doubt: PrecisionMap,
    pixels: Pixels,
    ending: str,
    gaps_mm: Sequence[Array] = (),
) -> bytes:
    """Return the map over its photo, as the bytes of a file with one of `ENDINGS`.

    `gaps_mm` are the ends (2, 2) of measured lines, which no words cover where there is room.
    """
    if ending not in ENDINGS:
        raise ValueError(f"{ending} is none of {ENDINGS}")
    if ending != ".svg":
        drawing = draw_map(calibration, doubt, gaps_mm=gaps_mm)
        return composite_bytes(drawing, pixels, ending)
    width, height = calibration.size_px
    href = data_uri(pixels, output_size((width, height)))
    size = {"width": width, "height": height, "preserveAspectRatio": "none"}
    background = element("style", font_face_css()) + element("image", href=href, **size)
    return draw_map(calibration, doubt, background, gaps_mm).encode()


def draw_map(
    calibration: Calibration,
    doubt: PrecisionMap,
    ground: str = "",
    gaps_mm: Sequence[Array] = (),
) -> str:
    """Return the map as SVG text, over the drawing `ground` if there is one; `gaps_mm` as above."""
    view = View(calibration.camera, calibration.size_px)
    squares = []
    for square in calibration.squares_mm:
        squares.append(cased_line(view.to_px(square), WHITE, 0.7 * view.unit, closed=True))
    room = _reserve_what_is_shown(view, calibration, gaps_mm)
    words = _draw_text(view, doubt, room)
    layers = [ground, _sigma_tiles(view, doubt), *squares, _sigma_labels(view, doubt, room), words]
    width, height = output_size(calibration.size_px)
    box = f"0 0 {calibration.size_px[0]} {calibration.size_px[1]}"
    size = {"viewBox": box, "width": width, "height": height}
    return element("svg", *layers, xmlns="http://www.w3.org/2000/svg", **size)


def _reserve_what_is_shown(
    view: View, calibration: Calibration, gaps_mm: Sequence[Array]
) -> LabelLayout:
    """A layout in which markers and measured lines are reserved."""
    room = LabelLayout(view.size_px)
    reserve_markers(room, calibration.corners_px)
    for ends in gaps_mm:
        for start, end in pairwise(view.line_px(*ends)[::2]):
            room.reserve_points(np.stack([start, end]), 4 * view.unit, kept=True)
    return room


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


def _sigma_labels(view: View, doubt: PrecisionMap, room: LabelLayout) -> str:
    """Write the doubt at regular places, or near them where something stands there."""
    size, parts = LABEL_SIZE * view.unit, []
    places = view.to_px(doubt.xy_mm)
    rows, columns = _label_indices(doubt)
    for row, column in product(rows, columns):
        if not doubt.visible[row, column]:
            continue
        near = _cells_near(doubt, row, column, rows.step // 2)
        plate = text_plate_size(_figure(doubt, row, column), size)
        is_free = ~room.touches_kept(boxes_around(plate, places[near[:, 0], near[:, 1]]))
        if is_free.any():
            row, column = near[np.argmax(is_free)].tolist()
            x, y = places[row, column].tolist()
            text = _figure(doubt, row, column)
            middle = np.array([[x, y]])
            room.reserve_box(boxes_around(text_plate_size(text, size), middle)[0], kept=True)
            parts.append(text_plate(text, x, y, size))
    return group(parts)


def _figure(doubt: PrecisionMap, row: int, column: int) -> str:
    return _interval_text(float(doubt.sigma_mm[row, column]), doubt.unit)


def _cells_near(doubt: PrecisionMap, row: int, column: int, reach: int) -> Indices:
    """Visible cells (N, 2) of the map up to some cells away from one, the nearest first."""
    rows, columns = np.nonzero(doubt.visible)
    cells = np.stack([rows, columns], 1)
    offsets = cells - (row, column)
    order = np.argsort((offsets**2).sum(1), kind="stable")
    return np.asarray(cells[order[np.abs(offsets[order]).max(1) <= reach]])


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
    return f"two exact points {length} {doubt.unit} apart: ± {low} to ± {high} {doubt.unit} (95 %)"


def advice_sentence(advice: Advice, unit: str = MILLIMETRES) -> str:
    """Return an advice in words, with its effect on the largest doubt."""
    before, after = (_interval_text(mm, unit) for mm in (advice.before_mm, advice.after_mm))
    return f"{advice.text}: ± {before} → {after} {unit}"


def _interval_text(sigma_mm: float, unit: str) -> str:
    """Return half the 95 % interval of a length as a number."""
    return format_number(SIGMAS_95 * sigma_mm, unit, 2)


def _text_lines(doubt: PrecisionMap) -> list[str]:
    shown = doubt.advice[:MAX_ADVICE_LINES]
    advice = [advice_sentence(each, doubt.unit) for each in shown]
    bases = [BASES_SENTENCE] if np.any(doubt.visible > 0) else []
    return [headline_text(doubt), *bases, *advice]


def _draw_text(view: View, doubt: PrecisionMap, room: LabelLayout) -> str:
    """Draw the headline and the advice on a plate, and reserve it."""
    lines = _text_lines(doubt)
    text_size, plate, (left, top) = _place_plate(view, lines, room)
    step = LINE_STEP * text_size
    box = {"x": left, "y": top, "width": plate[0], "height": plate[1], "rx": 8.0 * view.unit}
    parts = [element("rect", **box, fill=BLACK, fill_opacity=0.88)]
    for k, line in enumerate(lines, 1):
        text, size = fit_text(line, text_size, plate[0] - 2 * step)
        parts.append(text_line(text, left + step, top + step * k, size, "start"))
    return group(parts)


def _place_plate(
    view: View, lines: Sequence[str], room: LabelLayout
) -> tuple[float, Size, tuple[float, float]]:
    """The letters' size, the plate's size, and its upper left corner: where it covers nothing, if it can."""
    for share in PLATE_SIZES:
        text_size = share * TEXT_SIZE * view.unit
        plate = _plate_size(view, lines, text_size)
        corners = edge_corners(view, plate, PLATE_COLUMNS)
        place = room.place_at_corner(plate, corners, PLATE_OVERLAP_WEIGHT)
        if place:
            return text_size, plate, place
    chosen = room.reserve_best(plate, corners + np.array(plate) / 2, PLATE_OVERLAP_WEIGHT)
    left, top = corners[chosen].tolist()
    return text_size, plate, (left, top)


def _plate_size(view: View, lines: Sequence[str], text_size: float) -> Size:
    step = LINE_STEP * text_size
    wide = max(map(text_width, lines)) * text_size + 2 * step
    return min(wide, (1 - 2 * SAFE_SHARE) * view.size_px[0]), step * (len(lines) + 0.6)
