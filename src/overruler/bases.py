"""Bases: their exact shapes, and the catalogue of sizes that games use."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Base:
    """A base's outline where it meets the table. Length lies along the heading, width across it."""

    shape: str
    """`circle`, `rectangle` or `oval` (an ellipse)."""
    width_mm: float
    length_mm: float

    @classmethod
    def circle(cls, diameter_mm: float) -> "Base":
        return cls("circle", diameter_mm, diameter_mm)

    @classmethod
    def rectangle(cls, width_mm: float, length_mm: float) -> "Base":
        return cls("rectangle", width_mm, length_mm)

    @classmethod
    def oval(cls, width_mm: float, length_mm: float) -> "Base":
        return cls("oval", width_mm, length_mm)

    @property
    def name(self) -> str:
        """As people say it: `27 mm`, `60 × 40 mm oval`."""
        if self.shape == "circle":
            return f"{self.width_mm:g} mm"
        return f"{self.length_mm:g} × {self.width_mm:g} mm {self.shape}"

    def to_json(self) -> dict[str, str | float]:
        if self.shape == "circle":
            return {"shape": "circle", "diameter_mm": self.width_mm}
        return {"shape": self.shape, "width_mm": self.width_mm, "length_mm": self.length_mm}


ROUND_MM: tuple[float, ...] = (25, 27, 28.5, 30, 32, 40, 50, 60, 65, 70, 80, 90, 100, 120, 130, 160)
"""Every round base of the catalogue, by diameter."""

PLATES_MM: tuple[float, ...] = (40, 60, 80)
"""Every square plate of the catalogue, by its side: small, medium and large ships stand on them."""

ROUND_BY_GAME_MM: Mapping[str, tuple[float, ...]] = {
    "legion": (27, 50, 70, 100, 120),
    "xwing": (),
}
"""The round bases a game uses, where it uses only some."""

PLATES_BY_GAME_MM: Mapping[str, tuple[float, ...]] = {
    "legion": (),
    "xwing": PLATES_MM,
}
"""The square plates a game uses, where it uses only some."""


def catalogue(game: str | None = None) -> tuple[Base, ...]:
    """The bases to look for: a game's own where they are known, else all."""
    circles = (Base.circle(diameter) for diameter in ROUND_BY_GAME_MM.get(game or "", ROUND_MM))
    plates = (Base.rectangle(side, side) for side in PLATES_BY_GAME_MM.get(game or "", PLATES_MM))
    return (*circles, *plates)
