"""The games' own rulers, lying flat."""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from synthetic.arrays import Array, Picture, Rng
from synthetic.things.materials import Part, plain, printed
from synthetic.things.mesh import prism, rectangle, sheet


@dataclass(frozen=True, slots=True, eq=False)
class Ruler:
    """A game's ruler, lying flat."""

    kind: str
    segment_mm: float
    segments: int
    width_mm: float
    path_mm: Array
    """The start, every joint, the end (segments + 1, 2)."""
    z_mm: float
    parts: list[Part]

    @property
    def footprint_mm(self) -> Array:
        """The rectangle (4, 2) along its chord that all of it lies in."""
        way = self.path_mm[-1] - self.path_mm[0]
        along = way / np.linalg.norm(way)
        frame = np.stack([along, [-along[1], along[0]]])
        low, high = (self.path_mm @ frame.T).min(0), (self.path_mm @ frame.T).max(0)
        aside = self.width_mm / 2 + 2
        corners = [
            (low[0], low[1] - aside),
            (high[0], low[1] - aside),
            (high[0], high[1] + aside),
            (low[0], high[1] + aside),
        ]
        return np.asarray(np.array(corners) @ frame)


def ruler(kind: str, start_mm: Array, heading_deg: float, rng: Rng) -> Ruler:
    """A ruler from a place (2,) along a heading."""
    segment, count, width, high = RULERS[kind]
    bends = (
        np.cumsum(_turns_deg(rng, count) if kind.startswith("legion") else np.zeros(count))
        + heading_deg
    )
    steps = segment * np.stack([np.cos(np.radians(bends)), np.sin(np.radians(bends))], 1)
    path = np.vstack([[0, 0], np.cumsum(steps, 0)]) + start_mm
    prints = _prints(kind, count, rng)
    parts = []
    for k in range(count):
        middle = (path[k] + path[k + 1]) / 2
        bar = prism(rectangle(segment, width), 0, high, 0.995 if kind.startswith("legion") else 1)
        parts.append(
            Part(bar.moved(turn_deg=bends[k]).shifted(middle), plain("#2a2a2c", gloss=0.3))
        )
        top = sheet(
            np.column_stack([rectangle(segment - 0.1, width - 0.4), np.full(4, high + 0.02)])
        )
        parts.append(
            Part(
                top.moved(turn_deg=bends[k]).shifted(middle),
                printed(prints[k], gloss=0.35, rough=0.3),
            )
        )
    return Ruler(kind, segment, count, width, path, high, parts)


def _turns_deg(rng: Rng, count: int) -> Array:
    """How far each joint is turned: most hardly, some by ten degrees."""
    turn = rng.normal(0, 1, count)
    return np.asarray(0.5 * turn * (1 + turn**2))


RULERS = {
    "legion": (152.4, 5, 25.0, 4.0),
    "legion_short": (152.4, 2, 25.0, 4.0),
    "xwing": (100.0, 3, 20.0, 2.0),
    "inch_stick": (25.4, 12, 20.0, 3.0),
}
"""Segment, segments, width, height of the upper face."""


def _prints(kind: str, count: int, rng: Rng) -> list[Picture]:
    """What is printed on each segment."""
    if kind.startswith("legion"):
        pair = BARS[rng.integers(len(BARS))]
        return [_bar(*pair[k % 2]) for k in range(count)]
    if kind == "xwing":
        color = str(rng.choice(["#a01d1d", "#1c1d20", "#1f4f6b"]))
        return [_band(color, k + 1) for k in range(count)]
    color, ink = [("#c9a764", "#2a1c0c"), ("#2a2a2c", "#e8e8e8"), ("#d8b52a", "#1a1a1a")][
        rng.integers(3)
    ]
    return [inch(color, ink, k + 1) for k in range(count)]


BARS = (
    (("#17181a", "#303133"), ("#3c4046", "#55595f")),
    (("#c9c8c4", "#e2e1dd"), ("#2c4a86", "#45639f")),
    (("#7a1f1f", "#933838"), ("#d8d4cc", "#f1ede5")),
)
"""The two colours that a ruler's segments take in turn, each with its frame's."""


def _bar(color: str, frame: str) -> Picture:
    """A plain segment with a bright line at each end."""
    image = Image.new("RGB", (600, 100), color)
    draw = ImageDraw.Draw(image)
    draw.rectangle([30, 30, 570, 70], outline=frame, width=4)
    for x in (0, 594):
        draw.rectangle([x, 0, x + 5, 99], fill=(225, 225, 225))
    return np.asarray(image)


def _band(color: str, number: int) -> Picture:
    image = Image.new("RGB", (500, 100), color)
    draw = ImageDraw.Draw(image)
    draw.rectangle([494, 8, 499, 92], fill=(235, 235, 235))
    draw.text((250, 22), str(number), fill=(235, 235, 235), font=ImageFont.load_default(52))
    for y in (35, 50, 65):
        draw.line([(350, y), (420, y)], fill=(235, 235, 235), width=3)
    return np.asarray(image)


def inch(color: str, ink: str, number: int) -> Picture:
    image = Image.new("RGB", (254, 200), color)
    draw = ImageDraw.Draw(image)
    for k in range(8):
        draw.line(
            [(k * 254 / 8 + 126 / 8, 0), (k * 254 / 8 + 126 / 8, 60 if k % 4 == 3 else 35)],
            fill=ink,
            width=4,
        )
    draw.line([(251, 0), (251, 100)], fill=ink, width=5)
    draw.text((195, 110), str(number), fill=ink, font=ImageFont.load_default(60))
    return np.asarray(image)
