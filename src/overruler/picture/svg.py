"""SVG as text: elements, paths, lines visible on any background, words on a plate."""

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from overruler.geometry.pose import Array
from overruler.picture.text_layout import FONT_FAMILY, FONT_WEIGHT, ISOLATES, text_width

BLACK = "#0b0d10"
WHITE = "#ffffff"
CASING_WIDTHS = 3.0
"""Width of a line's black casing, in widths of its core."""
INNER_CASING_WIDTHS = 2.1
"""Width of its white casing."""
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
"""Shares of red, green and blue light in the luminance of sRGB (WCAG 2.2)."""
MOST_LUMINANCE_UNDER_WHITE = 0.3
"""Relative luminance of a plate above which white letters have a contrast below 3 to 1 (WCAG 2.2)."""


def element(name: str, *children: str, **attributes: object) -> str:
    """Return an element; `stroke_width=1.5` becomes `stroke-width="1.5"`, None is left out."""
    tag = name
    for key, value in attributes.items():
        if value is not None:
            text = quoteattr(_format_attribute(value))
            tag += f" {key.rstrip('_').replace('_', '-')}={text}"
    if not children:
        return f"<{tag}/>"
    return f"<{tag}>{''.join(children)}</{name}>"


def _format_attribute(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return str(value)


def group(children: Iterable[str], **attributes: object) -> str:
    return element("g", *children, **attributes)


def path_data(points: Array, closed: bool = False) -> str:
    """Return the `d` of a line through points (N, 2), which is broken at NaN."""
    pieces: list[list[str]] = [[]]
    for x, y in np.asarray(points, float):
        if np.isfinite(x) and np.isfinite(y):
            pieces[-1].append(f"{x:.2f} {y:.2f}")
        elif pieces[-1]:
            pieces.append([])
    end = "Z" if closed and len(pieces) == 1 else ""
    return "".join(f"M{'L'.join(piece)}{end}" for piece in pieces if len(piece) > 1)


def path(points: Array, closed: bool = False, **attributes: object) -> str:
    """Return a line through points (N, 2), unfilled unless `fill` is given."""
    return element("path", d=path_data(points, closed), **{"fill": "none", **attributes})


def cased_line(
    points: Array, core: str, width_px: float, closed: bool = False, dash: Sequence[float] = ()
) -> str:
    """Return a line visible on any background: a coloured, maybe dashed core on white on black."""
    ends = {"stroke_linecap": "round", "stroke_linejoin": "round"}
    pattern = " ".join(f"{length * width_px:.2f}" for length in dash) or None
    black = {"stroke": BLACK, "stroke_width": width_px * CASING_WIDTHS, "stroke_opacity": 0.9}
    white = {"stroke": WHITE, "stroke_width": width_px * INNER_CASING_WIDTHS}
    coloured = {"stroke": core, "stroke_width": width_px, "stroke_dasharray": pattern}
    return group(path(points, closed, **stroke, **ends) for stroke in (black, white, coloured))


def text_line(
    text: str, x: float, y: float, size: float, anchor: str = "middle", fill: str = WHITE
) -> str:
    """Return one line of text whose baseline starts, is centred or ends at (x, y).

    Letters that cannot be printed are left out: XML has none of most of them.
    """
    font = {
        "font_family": f"{FONT_FAMILY}, sans-serif",
        "font_weight": FONT_WEIGHT,
        "font_size": size,
    }
    text_anchor = None if anchor == "start" else anchor
    words = "".join(letter for letter in text if letter.isprintable() or letter in ISOLATES)
    return element("text", escape(words), x=x, y=y, fill=fill, **font, text_anchor=text_anchor)


def text_plate_size(text: str, size: float) -> tuple[float, float]:
    """Return the width and height of `text_plate`."""
    return text_width(text) * size + 0.9 * size, 1.45 * size


def text_plate(
    text: str,
    x: float,
    y: float,
    size: float,
    fill: str = BLACK,
    edge: str = WHITE,
) -> str:
    """Return one line of text centred on (x, y), on a plate that keeps it readable."""
    wide, high = text_plate_size(text, size)
    box = {"x": x - wide / 2, "y": y - high / 2, "width": wide, "height": high, "rx": high * 0.3}
    stroke = {"stroke": edge, "stroke_opacity": 0.9, "stroke_width": size * 0.07}
    plate = element("rect", **box, fill=fill, fill_opacity=0.86, **stroke)
    return upright((plate, text_line(text, x, y + 0.36 * size, size, fill=ink_on(fill))), x, y)


def ink_on(fill: str) -> str:
    """Return the ink that can be read on a colour (#rrggbb): white, or black where white is too pale."""
    parts = np.array([int(fill[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return BLACK if linear @ LUMINANCE > MOST_LUMINANCE_UNDER_WHITE else WHITE


def upright(parts: Iterable[str], x: float, y: float) -> str:
    """Words that a page may keep at their size about (x, y) while it enlarges what lies below."""
    return group(parts, class_="upright", transform_origin=f"{x:.2f} {y:.2f}")
