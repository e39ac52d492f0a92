"""The look of each kind of answer: never by colour alone, and never red against green.

The colours differ in lightness and hue for every common kind of colour vision. The line's pattern, an
icon and a word repeat the answer. A line's coloured core lies on white on black, because no single
colour is visible on every mat.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnswerStyle:
    """The look of one kind of answer."""

    word: str
    colour: str
    dash: tuple[float, ...]
    """Lengths on and off, in widths of the line's core; empty for a solid line."""
    icon: str
    """The icon's strokes, as SVG path data in a disc of radius 1 round (0, 0)."""


YES_COLOUR = "#1b7fdc"
YES_STYLE = AnswerStyle("in", YES_COLOUR, (), "M-.45 .02L-.12 .36L.48 -.34")
MEASURED_STYLE = AnswerStyle("measured", YES_COLOUR, (), "M-.5 0H.5M-.5 -.26V.26M.5 -.26V.26")
NO_STYLE = AnswerStyle("out", "#f07c00", (3.2, 2.4), "M-.36 -.36L.36 .36M.36 -.36L-.36 .36")
CLOSE_STYLE = AnswerStyle(
    "too close to call",
    "#6b2c96",
    (0.01, 2.0),
    "M-.5 -.14q.25 -.3 .5 0t.5 0M-.5 .24q.25 -.3 .5 0t.5 0",
)
