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
"""What stays free at every edge: screens and phones cut there."""
MAX_ROWS = 4
TEXT_INDENT = 76.0
"""Where words begin, in units of the view."""


@dataclass(frozen=True, slots=True)
class RowMetrics:
    """The measures of a row, in units of the view: the first ruling is told large, those after it small."""

    high: float
    title: float
    detail: float
    icon: float


FIRST_ROW, LATER_ROW, MORE_ROW = (
    RowMetrics(58.0, 25.0, 15.0, 19.0),
    RowMetrics(44.0, 16.5, 12.5, 12.5),
    RowMetrics(22.0, 12.5, 12.5, 0.0),
)


@dataclass(frozen=True, slots=True)
class Banner:
    """A plate of rows."""

    claims: tuple[DrawableRuling, ...]
    hidden_count: int
    unit: float
    wide: float

    @property
    def rows(self) -> tuple[RowMetrics, ...]:
        """The measures of each ruling's row."""
        return (FIRST_ROW, *(LATER_ROW,) * (len(self.claims) - 1))

    @property
    def high(self) -> float:
        """The plate's height."""
        return (
            sum(row.high for row in self.rows)
            + (MORE_ROW.high if self.hidden_count else 0.0)
            + 14.0
        ) * self.unit

    def to_svg(self, left: float, top: float) -> str:
        """The banner with its upper left corner at (left, top)."""
        tops = np.cumsum([7.0, *(row.high for row in self.rows)]) * self.unit
        parts = [
            _draw_row(self, claim, row, at)
            for claim, row, at in zip(self.claims, self.rows, tops[:-1], strict=True)
        ]
        if self.hidden_count:
            y = float(tops[-1]) + 14.0 * self.unit
            parts.append(
                text_line(
                    f"and {self.hidden_count} more",
                    TEXT_INDENT * self.unit,
                    y,
                    MORE_ROW.title * self.unit,
                    "start",
                    DETAIL_COLOUR,
                )
            )
        return group((_draw_plate(self), *parts), transform=f"translate({left:.2f} {top:.2f})")


def build_banner(
    claims: Sequence[DrawableRuling], size_px: tuple[int, int], most: int = MAX_ROWS
) -> Banner:
    """The rulings, the first `most` of them in words, as a banner that keeps the safe border of a picture of a size."""
    unit = max(size_px) / 1000
    room = size_px[0] * (1 - 2 * SAFE_SHARE)
    shown = tuple(claims[:most])
    rows = zip(shown, (FIRST_ROW, LATER_ROW, LATER_ROW, LATER_ROW), strict=False)
    widest = max(
        max(text_width(claim.headline) * row.title, text_width(claim.detail) * row.detail)
        for claim, row in rows
    )
    return Banner(
        shown, len(claims) - len(shown), unit, min(room, (widest + TEXT_INDENT + 26.0) * unit)
    )


def _draw_plate(banner: Banner) -> str:
    return element(
        "rect",
        x=0.0,
        y=0.0,
        width=banner.wide,
        height=banner.high,
        rx=9.0 * banner.unit,
        fill=BLACK,
        fill_opacity=0.88,
        stroke=WHITE,
        stroke_opacity=0.35,
        stroke_width=0.9 * banner.unit,
    )


def _draw_row(banner: Banner, claim: DrawableRuling, row: RowMetrics, top: float) -> str:
    unit = banner.unit
    left, room = TEXT_INDENT * unit, banner.wide - (TEXT_INDENT + 20.0) * unit
    title, title_size = fit_text(claim.headline, row.title * unit, room)
    detail, detail_size = fit_text(claim.detail, row.detail * unit, room)
    return group(
        (
            _draw_stripe(unit, row, claim.style, top),
            draw_icon(claim.style, 43.0 * unit, top + row.high / 2 * unit, row.icon * unit),
            text_line(title, left, top + 0.48 * row.high * unit, title_size, "start"),
            text_line(
                detail, left, top + 0.82 * row.high * unit, detail_size, "start", DETAIL_COLOUR
            ),
        )
    )


def _draw_stripe(unit: float, row: RowMetrics, look: AnswerStyle, top: float) -> str:
    box = {
        "x": 8.0 * unit,
        "y": top + 5.0 * unit,
        "width": 5.0 * unit,
        "height": (row.high - 10.0) * unit,
    }
    return element("rect", **box, rx=2.5 * unit, fill=look.colour)
