"""The doubt map: how sure distances are all over the board, drawn over the photo, with what would help in words."""

import numpy as np

from overruler.calibration import Advice, Calibration, PrecisionMap
from overruler.geometry.pose import Array
from overruler.picture import ENDINGS
from overruler.picture.lens_coverage import error_colour
from overruler.picture.raster import Pixels, composite_png, data_uri, font_face_css, output_size
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
from overruler.picture.text_layout import fit_text
from overruler.picture.text_layout import text_width as text_width
from overruler.picture.view import View

TILE_OPACITY = 0.62
LIGHTEST_SIGMA_MM, DARKEST_SIGMA_MM = 0.1, 3.0
"""The doubts that are drawn in the lightest and the darkest shade; in between twice the doubt is one step darker."""
LABEL_SPACING_MM, MIN_LABELS = 180.0, 5
"""How far apart the figures on the board stand, about, and how many there are along its longer side at least."""
TEXT_SIZE, LABEL_SIZE = 12.0, 9.5
"""Sizes of words and of figures, in units of the view."""
MAX_ADVICE_LINES = 4
"""How many lines of advice there is room for."""


def encode_map(calibration: Calibration, doubt: PrecisionMap, pixels: Pixels, ending: str) -> bytes:
    """The map over its photo, as the bytes of a file whose name ends in one of `ENDINGS`."""
    if ending not in ENDINGS:
        raise ValueError(f"{ending} is none of {ENDINGS}")
    if ending == ".png":
        return composite_png(draw_map(calibration, doubt), pixels)
    photo = element(
        "image",
        href=data_uri(pixels, output_size(calibration.size_px)),
        **_image_attributes(calibration.size_px),
    )
    return draw_map(calibration, doubt, element("style", font_face_css()) + photo).encode()


def draw_map(calibration: Calibration, doubt: PrecisionMap, ground: str = "") -> str:
    """The map as SVG text, on a `ground` or on none."""
    view = View(calibration.camera, calibration.size_px)
    shown = output_size(calibration.size_px)
    squares = [
        cased_line(view.to_px(square), WHITE, 0.7 * view.unit, closed=True)
        for square in calibration.squares_mm
    ]
    layers = [
        ground,
        _sigma_tiles(view, doubt),
        *squares,
        _sigma_labels(view, doubt),
        _draw_text(view, doubt),
    ]
    box = f"0 0 {calibration.size_px[0]} {calibration.size_px[1]}"
    return element(
        "svg",
        *layers,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=box,
        width=shown[0],
        height=shown[1],
    )


def _image_attributes(size_px: tuple[int, int]) -> dict[str, object]:
    return {"width": size_px[0], "height": size_px[1], "preserveAspectRatio": "none"}


def _sigma_tiles(view: View, doubt: PrecisionMap) -> str:
    """A tile for each four neighbouring places that the photo shows, in the shade of their mean doubt."""
    px, sigma, seen = (
        view.to_px(doubt.xy_mm),
        _mean_of_neighbours(doubt.sigma_mm),
        _mean_of_neighbours(doubt.visible),
    )
    tiles = []
    for row, column in np.argwhere(seen > 0.99):
        corners = px[[row, row, row + 1, row + 1], [column, column + 1, column + 1, column]]
        colour = error_colour(_shade_share(float(sigma[row, column])))
        tiles.append(element("path", d=path_data(corners, closed=True), fill=colour, stroke=colour))
    return group(tiles, opacity=TILE_OPACITY, stroke_width=0.3 * view.unit)


def _shade_share(sigma_mm: float) -> float:
    """How dark a doubt is drawn, 0 to 1: the same on every map, so that maps can be compared."""
    share = np.log(max(sigma_mm, LIGHTEST_SIGMA_MM) / LIGHTEST_SIGMA_MM) / np.log(
        DARKEST_SIGMA_MM / LIGHTEST_SIGMA_MM
    )
    return float(min(share, 1.0))


def _mean_of_neighbours(values: Array) -> Array:
    """The mean of each four neighbours (R - 1, C - 1)."""
    return np.asarray((values[1:, 1:] + values[:-1, 1:] + values[1:, :-1] + values[:-1, :-1]) / 4)


def _sigma_labels(view: View, doubt: PrecisionMap) -> str:
    """The doubt in mm at places some way apart, where the words leave room."""
    left, top, wide, high = _text_plate_box(view, doubt)
    apart_mm = float(min(LABEL_SPACING_MM, np.ptp(doubt.xy_mm, axis=(0, 1)).max() / MIN_LABELS))
    step = max(1, round(apart_mm / float(doubt.xy_mm[0, 1, 0] - doubt.xy_mm[0, 0, 0])))
    rows, columns = (np.arange(step // 2, size, step) for size in doubt.sigma_mm.shape)
    size, parts = LABEL_SIZE * view.unit, []
    for row in rows:
        for column in columns:
            if doubt.visible[row, column]:
                x, y = view.to_px(doubt.xy_mm[row, column])
                if (
                    left - 2 * size < x < left + wide + 2 * size
                    and top - size < y < top + high + size
                ):
                    continue
                parts.append(
                    text_plate(f"{doubt.sigma_mm[row, column]:.2f}", float(x), float(y), size)
                )
    return group(parts)


def headline_text(doubt: PrecisionMap) -> str:
    """What the map shows, in words."""
    shown = doubt.sigma_mm[doubt.visible > 0]
    if not shown.size:
        return "the photo shows nothing of the board"
    return (
        f"1 σ of a distance of {doubt.length_mm:.0f} mm: {shown.min():.2f} to {shown.max():.2f} mm"
    )


def advice_sentence(advice: Advice) -> str:
    """An advice in words, with what it does to the greatest doubt."""
    return f"{advice.text}: {advice.before_mm:.2f} → {advice.after_mm:.2f} mm"


def _text_lines(doubt: PrecisionMap) -> list[str]:
    return [
        headline_text(doubt),
        *(advice_sentence(advice) for advice in doubt.advice[:MAX_ADVICE_LINES]),
    ]


def _text_plate_box(view: View, doubt: PrecisionMap) -> tuple[float, float, float, float]:
    """Where the words stand at the picture's foot: left, top, width and height."""
    lines, (width, height) = _text_lines(doubt), view.size_px
    step, border = 1.5 * TEXT_SIZE * view.unit, 0.05 * width
    high = step * (len(lines) + 0.6)
    wide = max(map(text_width, lines)) * TEXT_SIZE * view.unit + 2 * step
    return border, height - 0.03 * height - high, min(wide, width - 2 * border), high


def _draw_text(view: View, doubt: PrecisionMap) -> str:
    """The headline and the advice on a plate."""
    (left, top, wide, high), step = _text_plate_box(view, doubt), 1.5 * TEXT_SIZE * view.unit
    box = {"x": left, "y": top, "width": wide, "height": high}
    parts = [element("rect", **box, rx=8.0 * view.unit, fill=BLACK, fill_opacity=0.88)]
    for k, line in enumerate(_text_lines(doubt), 1):
        text, size = fit_text(line, TEXT_SIZE * view.unit, wide - 2 * step)
        parts.append(text_line(text, left + step, top + step * k, size, "start"))
    return group(parts)
