"""Bases: their exact shapes, and the catalogue of sizes that games use."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from overruler.errors import BadInput
from overruler.games import GAMES, facts_of

LARGEST_BASE_MM = 500.0
"""No base that is looked for in a photo is larger."""
_NUMBER = r"\d+(?:\.\d+)?"
_BASE_PATTERN = re.compile(
    rf"(?P<one>{_NUMBER})(?:\s*[x×]\s*(?P<other>{_NUMBER})\s*(?:mm)?\s*(?P<shape>o|oval|rectangle)?|\s*(?:mm)?)",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Base:
    """A base's outline where it meets the table. Length lies along the heading, width across it."""

    shape: str
    """`circle`, `rectangle` or `oval` (an ellipse)."""
    width_mm: float
    length_mm: float
    corner_radius_mm: float = field(default=0.0, compare=False)
    """How far a rectangle's corners are rounded: it is the same base all the same."""

    @classmethod
    def circle(cls, diameter_mm: float) -> "Base":
        return cls("circle", diameter_mm, diameter_mm)

    @classmethod
    def rectangle(cls, width_mm: float, length_mm: float) -> "Base":
        return cls("rectangle", width_mm, length_mm)

    @classmethod
    def oval(cls, width_mm: float, length_mm: float) -> "Base":
        return cls("oval", width_mm, length_mm)

    @classmethod
    def parse(cls, text: str) -> "Base":
        """The base that people write as `27`, `40x40` or `75x42o`, and that `name` says; `BadInput` for anything else.

        In mm. The longer of two sides is the length, whichever comes first.
        """
        spelled = _BASE_PATTERN.fullmatch(text.strip())
        if spelled is None:
            raise BadInput(
                f"{text.strip()!r} is no base: 27 is a round one, 40x40 a square, 75x42o an oval, in mm"
            )
        sizes = sorted(float(part) for part in (spelled["one"], spelled["other"]) if part)
        if not 0 < sizes[0] <= sizes[-1] <= LARGEST_BASE_MM:
            raise BadInput(
                f"{text.strip()!r} is no base: its size lies between 0 and {LARGEST_BASE_MM:g} mm"
            )
        if len(sizes) == 1:
            return cls.circle(sizes[0])
        return (
            cls.oval(*sizes)
            if (spelled["shape"] or "").lower().startswith("o")
            else cls.rectangle(*sizes)
        )

    @property
    def is_square(self) -> bool:
        """Whether it looks the same after a quarter of a turn, and has corners."""
        return self.shape == "rectangle" and self.width_mm == self.length_mm

    @property
    def with_rounded_corners(self) -> "Base":
        """The same as it stands on a table: a ship's plate has rounded corners."""
        plate = self.is_square and self.width_mm in PLATE_SIDES_MM and not self.corner_radius_mm
        return replace(self, corner_radius_mm=PLATE_CORNER_MM) if plate else self

    @property
    def name(self) -> str:
        """As people say it: `27 mm`, `60 × 40 mm oval`."""
        if self.shape == "circle":
            return f"{self.width_mm:g} mm"
        return f"{self.length_mm:g} × {self.width_mm:g} mm {self.shape}"

    def to_json(self) -> dict[str, str | float]:
        if self.shape == "circle":
            return {"shape": "circle", "diameter_mm": self.width_mm}
        rounded = {"corner_radius_mm": self.corner_radius_mm} if self.corner_radius_mm else {}
        return {
            "shape": self.shape,
            "width_mm": self.width_mm,
            "length_mm": self.length_mm,
            **rounded,
        }


ROUND_DIAMETERS_MM: tuple[float, ...] = (
    25,
    27,
    28.5,
    30,
    32,
    40,
    50,
    60,
    65,
    70,
    80,
    90,
    100,
    120,
    130,
    160,
)
"""Every round base of the catalogue, by diameter."""

PLATE_SIDES_MM: tuple[float, ...] = (40, 60, 80)
"""Every square plate of the catalogue, by its side: small, medium and large ships stand on them."""

PLATE_CORNER_MM = 1.5
"""How far a plate's corners are rounded: two that point at each other are 1.2 mm farther apart than sharp ones."""

OVAL_SIDES_MM: tuple[tuple[float, float], ...] = (
    (35, 60),
    (42, 75),
    (52, 90),
    (70, 105),
    (92, 120),
    (105, 170),
)
"""Every oval base of the catalogue, by width and length; games whose round bases are known have none."""

_SHARED_DIAMETERS_MM = tuple(
    diameter
    for diameter in ROUND_DIAMETERS_MM
    if all(diameter not in facts_of(game).exclusive_diameters_mm for game in GAMES)
)

DIAMETER_SET_PRIORS: Mapping[tuple[float, ...], float] = {
    **{
        facts.round_bases_mm: facts.round_bases_prior
        for facts in map(facts_of, GAMES)
        if facts.round_bases_mm and facts.round_bases_prior
    },
    _SHARED_DIAMETERS_MM: 0.45,
    ROUND_DIAMETERS_MM: 0.1,
}
"""What the round bases of one table may be, with the prior probability of each set: those of a game that
seldom mixes with others (Legion), those without the diameters that are one game's own, or anything."""


def catalogue(game: str | None = None) -> tuple[Base, ...]:
    """The bases to look for: a game's own where they are known, else all."""
    facts = facts_of(game)
    diameters = ROUND_DIAMETERS_MM if facts.round_bases_mm is None else facts.round_bases_mm
    sides = PLATE_SIDES_MM if facts.plates_mm is None else facts.plates_mm
    circles = (Base.circle(diameter) for diameter in diameters)
    plates = (Base.rectangle(side, side) for side in sides)
    if facts.round_bases_mm is not None:
        return (*circles, *plates)
    return (*circles, *plates, *(Base.oval(*sides) for sides in OVAL_SIDES_MM))
