"""The ruling in words, on a plate at the foot or the head of the picture."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overruler.picture.answer_style import AnswerStyle
from overruler.picture.drawable_ruling import DrawableRuling
from overruler.picture.painters import draw_icon
from overruler.picture.svg import BLACK, WHITE, element, group, text_line
from overruler.picture.text_layout import fit_text, text_width

DETAIL_COLOUR = "#d5dce4"
SAFE_SHARE = 0.05
"""Share of the picture's size that stays free at every edge, where screens and phones crop."""
TEXT_INDENT = 76.0
"""Left edge of the words, in units of the view."""
TEXT_BORDER = 20.0
"""Space right of the words, in units of the view."""


@dataclass(frozen=True, slots=True)
class RowMetrics:
    """The measures of a row, in units of the view."""

    high: float
    title: float
    """Font size of the headline."""
    detail: float
    """Font size of the detail."""
    icon: float
    """Radius of the icon."""


FIRST_ROW = RowMetrics(58.0, 25.0, 15.0, 19.0)
LATER_ROW = RowMetrics(44.0, 16.5, 12.5, 12.5)


@dataclass(frozen=True, slots=True)
class Banner:
    """A plate of rows: the first ruling is large, later ones are small."""

    claims: tuple[DrawableRuling, ...]
    unit: float
    """Pixels in a unit of the view."""
    wide: float
    """Width in pixels."""

    @property
    def rows(self) -> tuple[RowMetrics, ...]:
        """The measures of each ruling's row."""
        return (FIRST_ROW, *(LATER_ROW,) * (len(self.claims) - 1))

    @property
    def high(self) -> float:
        """The plate's height in pixels."""
        return (sum(row.high for row in self.rows) + 14.0) * self.unit

    def to_svg(self, left: float, top: float) -> str:
        """Draw the banner with its upper left corner at (left, top)."""
        tops = np.cumsum([7.0, *(row.high for row in self.rows)]) * self.unit
        parts = [_draw_plate(self)]
        for claim, row, row_top in zip(self.claims, self.rows, tops[:-1], strict=True):
            parts.append(_draw_row(self, claim, row, row_top))
        return group(parts, transform=f"translate({left:.2f} {top:.2f})")


def build_banner(claims: Sequence[DrawableRuling], size_px: tuple[int, int]) -> Banner:
    """Build a banner of rulings that keeps a picture's safe border at either side."""
    unit = max(size_px) / 1000
    room = size_px[0] * (1 - 2 * SAFE_SHARE)
    widths = []
    for number, claim in enumerate(claims):
        row = LATER_ROW if number else FIRST_ROW
        widths.append(text_width(claim.headline) * row.title)
        widths.append(text_width(claim.detail) * row.detail)
    wide = min(room, (max(widths) + TEXT_INDENT + 26.0) * unit)
    return Banner(tuple(claims), unit, wide)


def _draw_plate(banner: Banner) -> str:
    unit = banner.unit
    box = {"x": 0.0, "y": 0.0, "width": banner.wide, "height": banner.high, "rx": 9.0 * unit}
    edge = {"stroke": WHITE, "stroke_opacity": 0.35, "stroke_width": 0.9 * unit}
    return element("rect", **box, fill=BLACK, fill_opacity=0.88, **edge)


def _draw_row(banner: Banner, claim: DrawableRuling, row: RowMetrics, top: float) -> str:
    unit = banner.unit
    left = TEXT_INDENT * unit
    room = banner.wide - (TEXT_INDENT + TEXT_BORDER) * unit
    title, title_size = fit_text(claim.headline, row.title * unit, room)
    detail, detail_size = fit_text(claim.detail, row.detail * unit, room)
    detail_y = top + 0.82 * row.high * unit
    parts = (
        _draw_stripe(unit, row, claim.style, top),
        draw_icon(claim.style, 43.0 * unit, top + row.high / 2 * unit, row.icon * unit),
        text_line(title, left, top + 0.48 * row.high * unit, title_size, "start"),
        text_line(detail, left, detail_y, detail_size, "start", DETAIL_COLOUR),
    )
    return group(parts)


def _draw_stripe(unit: float, row: RowMetrics, look: AnswerStyle, top: float) -> str:
    size = {"width": 5.0 * unit, "height": (row.high - 10.0) * unit, "rx": 2.5 * unit}
    return element("rect", x=8.0 * unit, y=top + 5.0 * unit, **size, fill=look.colour)
