"""The font of pictures, and the room that words take.

The font travels with the program (Inter Semi Bold, SIL Open Font License, see fonts/OFL.txt). A server
without fonts therefore draws the same picture as a desktop.
"""

from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

FONT_PATH = Path(__file__).parent / "fonts" / "Inter-SemiBold.otf"
FONT_FAMILY = "Inter"
FONT_WEIGHT = 600
SMALLEST_SHARE = 0.6
"""Smallest size to which a text shrinks to fit, as a share of its own; then it is cut."""
ISOLATES = "\u2068\u2069"
"""Unicode's invisible marks before and after a text whose direction of writing is its own."""
_NO_WIDTH = str.maketrans("", "", ISOLATES)

_MEASURED_AT_PX = 256
"""Font size at which text is measured, large enough that hinting and rounding do not matter."""


@cache
def _measuring_font() -> "FreeTypeFont":
    from PIL import ImageFont

    return ImageFont.truetype(FONT_PATH, _MEASURED_AT_PX)


@lru_cache(maxsize=1024)
def text_width(text: str) -> float:
    """Return the width of one line of text at font size 1."""
    return _measuring_font().getlength(text.translate(_NO_WIDTH)) / _MEASURED_AT_PX


def fit_text(text: str, size: float, room: float) -> tuple[str, float]:
    """Return a text and the size at which it fits into `room`, cut with `…` where the size would be too small."""
    shrunk = min(size, size * room / max(text_width(text) * size, 1e-9))
    if shrunk >= SMALLEST_SHARE * size:
        return text, shrunk
    size *= SMALLEST_SHARE
    while text and text_width(text + "…") * size > room:
        text = text[:-1].rstrip()
    return text + "…", size


def wrap_text(text: str, size: float, room: float) -> list[str]:
    """Return the text in lines no wider than `room`, except for a single long word."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer) * size > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
