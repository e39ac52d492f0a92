"""The doubt map: how sure distances are all over the board, drawn over the photo, with what would help in words."""

import numpy as np

from overruler.calibration import Advice, Calibration, DoubtMap
from overruler.geometry.pose import Array
from overruler.picture import ENDINGS
from overruler.picture.coverage import shade
from overruler.picture.lettering import fitted
from overruler.picture.lettering import width as text_width
from overruler.picture.raster import Pixels, composited, data_uri, font_face, output_size
from overruler.picture.svg import BLACK, WHITE, cased, element, group, path_data, plate, words
from overruler.picture.view import View

OPACITY = 0.62
LIGHTEST_MM, DARKEST_MM = 0.1, 3.0
"""The doubts that are drawn in the lightest and the darkest shade; in between twice the doubt is one step darker."""
LABEL_MM, LABELS = 180.0, 5
"""How far apart the figures on the board stand, about, and how many there are along its longer side at least."""
LETTERS, FIGURES = 12.0, 9.5
"""Sizes of words and of figures, in units of the view."""
MOST_LINES = 4
"""How many lines of advice there is room for."""


def encoded(calibration: Calibration, doubt: DoubtMap, pixels: Pixels, ending: str) -> bytes:
    """The map over its photo, as the bytes of a file whose name ends in one of `ENDINGS`."""
    if ending not in ENDINGS:
        raise ValueError(f"{ending} is none of {ENDINGS}")
    if ending == ".png":
        return composited(drawn(calibration, doubt), pixels)
    photo = element("image", href=data_uri(pixels, output_size(calibration.size_px)), **_size(calibration.size_px))
    return drawn(calibration, doubt, element("style", font_face()) + photo).encode()


def drawn(calibration: Calibration, doubt: DoubtMap, ground: str = "") -> str:
    """The map as SVG text, on a `ground` or on none."""
    view = View(calibration.camera, calibration.size_px)
    shown = output_size(calibration.size_px)
    squares = [cased(view.px(square), WHITE, 0.7 * view.unit, closed=True) for square in calibration.squares_mm]
    layers = [ground, _tiles(view, doubt), *squares, _figures(view, doubt), _words(view, doubt)]
    box = f"0 0 {calibration.size_px[0]} {calibration.size_px[1]}"
    return element("svg", *layers, xmlns="http://www.w3.org/2000/svg", viewBox=box, width=shown[0], height=shown[1])


def _size(size_px: tuple[int, int]) -> dict[str, object]:
    return {"width": size_px[0], "height": size_px[1], "preserveAspectRatio": "none"}


def _tiles(view: View, doubt: DoubtMap) -> str:
    """A tile for each four neighbouring places that the photo shows, in the shade of their mean doubt."""
    px, sigma, seen = view.px(doubt.xy_mm), _of_four(doubt.sigma_mm), _of_four(doubt.seen)
    tiles = []
    for row, column in np.argwhere(seen > 0.99):
        corners = px[[row, row, row + 1, row + 1], [column, column + 1, column + 1, column]]
        colour = shade(_darkness(float(sigma[row, column])))
        tiles.append(element("path", d=path_data(corners, closed=True), fill=colour, stroke=colour))
    return group(tiles, opacity=OPACITY, stroke_width=0.3 * view.unit)


def _darkness(sigma_mm: float) -> float:
    """How dark a doubt is drawn, 0 to 1: the same on every map, so that maps can be compared."""
    share = np.log(max(sigma_mm, LIGHTEST_MM) / LIGHTEST_MM) / np.log(DARKEST_MM / LIGHTEST_MM)
    return float(min(share, 1.0))


def _of_four(values: Array) -> Array:
    """The mean of each four neighbours (R - 1, C - 1)."""
    return np.asarray((values[1:, 1:] + values[:-1, 1:] + values[1:, :-1] + values[:-1, :-1]) / 4)


def _figures(view: View, doubt: DoubtMap) -> str:
    """The doubt in mm at places some way apart, where the words leave room."""
    left, top, wide, high = _plate(view, doubt)
    apart_mm = float(min(LABEL_MM, np.ptp(doubt.xy_mm, axis=(0, 1)).max() / LABELS))
    step = max(1, round(apart_mm / float(doubt.xy_mm[0, 1, 0] - doubt.xy_mm[0, 0, 0])))
    rows, columns = (np.arange(step // 2, size, step) for size in doubt.sigma_mm.shape)
    size, parts = FIGURES * view.unit, []
    for row in rows:
        for column in columns:
            if doubt.seen[row, column]:
                x, y = view.px(doubt.xy_mm[row, column])
                if left - 2 * size < x < left + wide + 2 * size and top - size < y < top + high + size:
                    continue
                parts.append(plate(f"{doubt.sigma_mm[row, column]:.2f}", float(x), float(y), size))
    return group(parts)


def headline(doubt: DoubtMap) -> str:
    """What the map shows, in words."""
    shown = doubt.sigma_mm[doubt.seen > 0]
    if not shown.size:
        return "the photo shows nothing of the board"
    return f"1 σ of a distance of {doubt.length_mm:.0f} mm: {shown.min():.2f} to {shown.max():.2f} mm"


def sentence(advice: Advice) -> str:
    """An advice in words, with what it does to the greatest doubt."""
    return f"{advice.text}: {advice.before_mm:.2f} → {advice.after_mm:.2f} mm"


def _lines(doubt: DoubtMap) -> list[str]:
    return [headline(doubt), *(sentence(advice) for advice in doubt.advice[:MOST_LINES])]


def _plate(view: View, doubt: DoubtMap) -> tuple[float, float, float, float]:
    """Where the words stand at the picture's foot: left, top, width and height."""
    lines, (width, height) = _lines(doubt), view.size_px
    step, border = 1.5 * LETTERS * view.unit, 0.05 * width
    high = step * (len(lines) + 0.6)
    wide = max(map(text_width, lines)) * LETTERS * view.unit + 2 * step
    return border, height - 0.03 * height - high, min(wide, width - 2 * border), high


def _words(view: View, doubt: DoubtMap) -> str:
    """The headline and the advice on a plate."""
    (left, top, wide, high), step = _plate(view, doubt), 1.5 * LETTERS * view.unit
    box = {"x": left, "y": top, "width": wide, "height": high}
    parts = [element("rect", **box, rx=8.0 * view.unit, fill=BLACK, fill_opacity=0.88)]
    for k, line in enumerate(_lines(doubt), 1):
        text, size = fitted(line, LETTERS * view.unit, wide - 2 * step)
        parts.append(words(text, left + step, top + step * k, size, "start"))
    return group(parts)
