"""The ruling in words, on a plate at the foot or the head of the picture."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overruler.picture.lettering import fitted, width
from overruler.picture.look import Look
from overruler.picture.painters import icon
from overruler.picture.story import Claim
from overruler.picture.svg import BLACK, WHITE, element, group, words

PALE = "#d5dce4"
SAFE_SHARE = 0.05
"""What stays free at every edge: screens and phones cut there."""
MOST_ROWS = 4
INDENT = 76.0
"""Where words begin, in units of the view."""


@dataclass(frozen=True, slots=True)
class Row:
    """The measures of a row, in units of the view: the first ruling is told large, those after it small."""

    high: float
    title: float
    detail: float
    icon: float


FIRST, LATER, MORE = Row(58.0, 25.0, 15.0, 19.0), Row(44.0, 16.5, 12.5, 12.5), Row(22.0, 12.5, 12.5, 0.0)


@dataclass(frozen=True, slots=True)
class Banner:
    """A plate of rows."""

    claims: tuple[Claim, ...]
    more: int
    unit: float
    wide: float

    @property
    def rows(self) -> tuple[Row, ...]:
        """The measures of each ruling's row."""
        return (FIRST, *(LATER,) * (len(self.claims) - 1))

    @property
    def high(self) -> float:
        """The plate's height."""
        return (sum(row.high for row in self.rows) + (MORE.high if self.more else 0.0) + 14.0) * self.unit

    def drawn(self, left: float, top: float) -> str:
        """The banner with its upper left corner at (left, top)."""
        tops = np.cumsum([7.0, *(row.high for row in self.rows)]) * self.unit
        parts = [_row(self, claim, row, at) for claim, row, at in zip(self.claims, self.rows, tops[:-1], strict=True)]
        if self.more:
            y = float(tops[-1]) + 14.0 * self.unit
            parts.append(words(f"and {self.more} more", INDENT * self.unit, y, MORE.title * self.unit, "start", PALE))
        return group((_plate(self), *parts), transform=f"translate({left:.2f} {top:.2f})")


def banner(claims: Sequence[Claim], size_px: tuple[int, int], most: int = MOST_ROWS) -> Banner:
    """The rulings, the first `most` of them in words, as a banner that keeps the safe border of a picture of a size."""
    unit = max(size_px) / 1000
    room = size_px[0] * (1 - 2 * SAFE_SHARE)
    shown = tuple(claims[:most])
    rows = zip(shown, (FIRST, LATER, LATER, LATER), strict=False)
    widest = max(max(width(claim.headline) * row.title, width(claim.detail) * row.detail) for claim, row in rows)
    return Banner(shown, len(claims) - len(shown), unit, min(room, (widest + INDENT + 26.0) * unit))


def _plate(banner: Banner) -> str:
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


def _row(banner: Banner, claim: Claim, row: Row, top: float) -> str:
    unit = banner.unit
    left, room = INDENT * unit, banner.wide - (INDENT + 20.0) * unit
    title, title_size = fitted(claim.headline, row.title * unit, room)
    detail, detail_size = fitted(claim.detail, row.detail * unit, room)
    return group(
        (
            _stripe(unit, row, claim.look, top),
            icon(claim.look, 43.0 * unit, top + row.high / 2 * unit, row.icon * unit),
            words(title, left, top + 0.48 * row.high * unit, title_size, "start"),
            words(detail, left, top + 0.82 * row.high * unit, detail_size, "start", PALE),
        )
    )


def _stripe(unit: float, row: Row, look: Look, top: float) -> str:
    box = {"x": 8.0 * unit, "y": top + 5.0 * unit, "width": 5.0 * unit, "height": (row.high - 10.0) * unit}
    return element("rect", **box, rx=2.5 * unit, fill=look.colour)
