"""The words and the magnifier, placed where they cover no base; else the picture grows a strip for them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import ceil

import numpy as np

from overruler.geometry.pose import Array
from overruler.marker_card import card_about
from overruler.picture.banner import SAFE_SHARE, Banner
from overruler.picture.drawable_ruling import DrawableRuling
from overruler.picture.label_placement import LabelLayout
from overruler.picture.loupe import POINTER_POINTS, Loupe, loupe_beside, loupe_side, place_loupe
from overruler.picture.painters import draw_warning
from overruler.picture.text_layout import text_width, wrap_text
from overruler.picture.view import View

PLATE_OVERLAP_WEIGHT = 25.0
"""Cost of covering a plate of words, relative to a label."""
WARNING_FONT_SIZE = 11.5
"""Font size of a warning, in units of the view."""
WARNING_WIDTH_SHARES = (0.4, 0.3, 0.22)
"""Widths of a warning's lines, as shares of the picture; the first is preferred."""
PLATE_SIZES = (1.0, 0.88, 0.78)
"""Sizes of a plate of words, as shares of the usual one: in less room the letters are smaller."""
PLATE_COLUMNS = 25
"""Places of a plate from the left to the right, at the foot and at the head of the photo."""
MAX_WARNINGS = 2
"""Number of the calibration's problems that a picture shows."""
STRIP_GAP = 12.0
"""Space round what stands in the strip, in units of the view."""

Size = tuple[float, float]


@dataclass(slots=True)
class Plates:
    """The plates of a picture, from back to front, and the strip below the photo that some need."""

    view: View
    room: LabelLayout
    """What is occupied on the photo."""
    parts: list[str] = field(default_factory=list)
    """SVG of each plate."""
    loupe: Loupe | None = None
    strip_px: int = 0
    """Height of the strip below the photo."""
    _left_foot: float = 0.0
    """Foot of what stands on the left side of the strip, in pixels below the photo."""

    def add_banner(self, banner: Banner) -> None:
        """Place the banner at the foot or the head of the photo, or in the strip."""
        for share in PLATE_SIZES:
            shown = replace(banner, unit=share * banner.unit, wide=share * banner.wide)
            size = (shown.wide, shown.high)
            place = self._place(size, edge_corners(self.view, size, PLATE_COLUMNS))
            if place:
                break
        else:
            shown = banner
            place = self._in_strip((banner.wide, banner.high))
        self.parts.append(shown.to_svg(*place))

    def reserve_markers(self, corners_px: Sequence[Array]) -> None:
        """Keep what is placed from now on off each marker's card: a warning may be about it."""
        reserve_markers(self.room, corners_px)

    def add_warnings(self, problems: Sequence[str]) -> None:
        """Place the calibration's worst problems in a corner of the photo, or in the strip."""
        if not problems:
            return
        font_size = WARNING_FONT_SIZE * self.view.unit
        for share in WARNING_WIDTH_SHARES:
            lines, size = _wrap_warnings(problems, font_size, share * self.view.size_px[0])
            place = self._place(size, _warning_corners(self.view, size))
            if place:
                break
        else:
            room = (1 - 2 * SAFE_SHARE) * self.view.size_px[0]
            lines, size = _wrap_warnings(problems, font_size, room - 3 * font_size)
            place = self._in_strip(size)
        self.parts.append(draw_warning(lines, *place, font_size, size[0]))

    def add_loupe(self, claim: DrawableRuling) -> None:
        """Place a ruling's magnifier on the photo, or beside the words in the strip; none if it helps not."""
        self.loupe = place_loupe(self.view, claim, self.room)
        if self.loupe is None:
            self.loupe = loupe_beside(self.view, claim, self._strip_middle())
        if self.loupe is not None:
            for stretch in pairwise(self.loupe.pointer_px(POINTER_POINTS)):
                self.room.reserve_points(np.stack(stretch), self.view.unit)
        if self.loupe is not None and self.loupe.middle[1] > self.view.size_px[1]:
            self._reach_to(loupe_side(self.view))

    def _place(self, size: Size, corners: Array) -> tuple[float, float] | None:
        """Reserve the first corner (N, 2) whose box of a size covers nothing, and return it."""
        return self.room.place_at_corner(size, corners, PLATE_OVERLAP_WEIGHT)

    def _in_strip(self, size: Size) -> tuple[float, float]:
        """The upper left corner of a box in the strip, below what stands there already."""
        gap = STRIP_GAP * self.view.unit
        width, height = self.view.size_px
        top = height + self._left_foot + gap
        self._left_foot += gap + size[1]
        self._reach_to(self._left_foot)
        return SAFE_SHARE * width, top

    def _reach_to(self, foot: float) -> None:
        gap = STRIP_GAP * self.view.unit
        self.strip_px = max(self.strip_px, ceil(foot + gap))

    def _strip_middle(self) -> Array:
        """The centre of a magnifier at the right end of the strip."""
        width, height = self.view.size_px
        half = loupe_side(self.view) / 2
        return np.array([width * (1 - SAFE_SHARE) - half, height + half])


def reserve_markers(room: LabelLayout, corners_px: Sequence[Array]) -> None:
    """Keep words off the cards of markers, whose corners (4, 2) each are given."""
    for corners in corners_px:
        room.reserve_points(card_about(corners), kept=True)


def edge_corners(view: View, size: Size, count: int = 3) -> Array:
    """Candidates for a plate's upper left corner (2 · count, 2): the foot first, from the left."""
    left, top = SAFE_SHARE * np.array(view.size_px)
    right, bottom = np.array(view.size_px) - [left, top] - size
    columns = np.linspace(left, right, count)
    return np.array([(x, y) for y in (bottom, top) for x in columns])


def _warning_corners(view: View, size: Size) -> Array:
    """Candidates for a warning's upper left corner (6, 2): the photo's corners, then the middles."""
    left_foot, foot, right_foot, left, middle, right = edge_corners(view, size)
    return np.array([left, right, left_foot, right_foot, middle, foot])


def _wrap_warnings(
    problems: Sequence[str], font_size: float, width: float
) -> tuple[list[str], Size]:
    """The lines of the worst problems, and the size of their plate."""
    shown = problems[:MAX_WARNINGS]
    lines = [line for text in shown for line in wrap_text(text, font_size, width)]
    wide = max(map(text_width, lines)) * font_size + 3.0 * font_size
    return lines, (wide, (len(lines) * 1.35 + 0.6) * font_size)
