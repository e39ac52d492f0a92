"""SVG as text: elements, paths, lines that show on any ground, words on a plate."""

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from overruler.geometry.pose import Array
from overruler.picture.text_layout import FONT_FAMILY, FONT_WEIGHT, text_width

BLACK, WHITE = "#0b0d10", "#ffffff"


def element(name: str, *children: str, **attributes: object) -> str:
    """One element; `stroke_width=1.5` becomes `stroke-width="1.5"`, attributes that are None are left out."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(_format_attribute(value))}"
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>"


def _format_attribute(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def group(children: Iterable[str], **attributes: object) -> str:
    return element("g", *children, **attributes)


def path_data(points: Array, closed: bool = False) -> str:
    """The `d` of a line through points (N, 2); it is broken where points are NaN."""
    pieces: list[list[str]] = [[]]
    for x, y in np.asarray(points, float):
        if np.isfinite(x) and np.isfinite(y):
            pieces[-1].append(f"{x:.2f} {y:.2f}")
        elif pieces[-1]:
            pieces.append([])
    whole = len(pieces) == 1
    return "".join(
        f"M{'L'.join(piece)}{'Z' if closed and whole else ''}" for piece in pieces if len(piece) > 1
    )


def path(points: Array, closed: bool = False, **attributes: object) -> str:
    """A line through points (N, 2), unfilled unless `fill` says otherwise."""
    return element("path", d=path_data(points, closed), **{"fill": "none", **attributes})


def cased_line(
    points: Array, core: str, width_px: float, closed: bool = False, dash: Sequence[float] = ()
) -> str:
    """A line that shows on any ground: a coloured core, a white casing, a black one outside it; dashes in the core."""
    round_ends = {"stroke_linecap": "round", "stroke_linejoin": "round"}
    pattern = " ".join(f"{length * width_px:.2f}" for length in dash) or None
    return group(
        (
            path(
                points,
                closed,
                stroke=BLACK,
                stroke_width=width_px * 3.0,
                stroke_opacity=0.9,
                **round_ends,
            ),
            path(points, closed, stroke=WHITE, stroke_width=width_px * 2.1, **round_ends),
            path(
                points,
                closed,
                stroke=core,
                stroke_width=width_px,
                stroke_dasharray=pattern,
                **round_ends,
            ),
        )
    )


def text_line(
    text: str, x: float, y: float, size: float, anchor: str = "middle", fill: str = WHITE
) -> str:
    """One line of text whose baseline starts, is centred or ends at (x, y)."""
    return element(
        "text",
        escape(text),
        x=x,
        y=y,
        fill=fill,
        font_family=f"{FONT_FAMILY}, sans-serif",
        font_weight=FONT_WEIGHT,
        font_size=size,
        text_anchor=None if anchor == "start" else anchor,
    )


def text_plate_size(text: str, size: float) -> tuple[float, float]:
    """Width and height of `text_plate`."""
    return text_width(text) * size + 0.9 * size, 1.45 * size


def text_plate(
    text: str,
    x: float,
    y: float,
    size: float,
    fill: str = BLACK,
    ink: str = WHITE,
    edge: str = WHITE,
) -> str:
    """One line of text centred on (x, y), on a plate that keeps it readable."""
    wide, high = text_plate_size(text, size)
    box = element(
        "rect",
        x=x - wide / 2,
        y=y - high / 2,
        width=wide,
        height=high,
        rx=high * 0.3,
        fill=fill,
        fill_opacity=0.86,
        stroke=edge,
        stroke_opacity=0.9,
        stroke_width=size * 0.07,
    )
    return box + text_line(text, x, y + 0.36 * size, size, fill=ink)
