"""The games, and what is known of each before its rules: its unit, its ruler, its bases.

Neither reading a scene nor measuring a photo needs rules. What both need of a game stands here; its
rules stand in `rules/games/<name>/game.py`.
"""

from collections.abc import Mapping
from typing import NamedTuple

DEFAULT_GAME = "legion"
"""The game of a photo whose game is not given."""


class RulerSize(NamedTuple):
    """A range ruler as the rules know it."""

    segment_mm: float
    segments: int


class PrintedRuler(NamedTuple):
    """A ruler as a thing on the table, which photos are searched for."""

    name: str
    """Its name in a report."""
    segments: int
    """The number of the game's segments that it has."""
    width_mm: float
    """From long edge to long edge."""
    top_z_mm: float
    """The height of its upper face above the table."""
    min_line_contrast: float
    """Its segment lines are at least this many times as strong as whatever else crosses it."""
    jointed: bool = False
    """Whether it bends between segments."""


class GameFacts(NamedTuple):
    """What is known of a game before its rules."""

    in_inches: bool = False
    """Whether people read its distances in inches; else in millimetres."""
    ruler: RulerSize | None = None
    """None for a game that is measured with a tape."""
    printed_rulers: tuple[PrintedRuler, ...] = ()
    """The rulers that players lay on the table."""
    default_kind: str = "character"
    """The kind of a piece that names none."""
    round_bases_mm: tuple[float, ...] | None = None
    """The diameters of its round bases. None: any base of the catalogue."""
    plates_mm: tuple[float, ...] | None = None
    """The sides of its square plates. None: any plate of the catalogue."""
    exclusive_diameters_mm: tuple[float, ...] = ()
    """The diameters that no other game uses."""
    round_bases_prior: float = 0.0
    """The probability that the round bases on a table of an unknown game are this game's."""
    contact_lasts: bool = False
    """Whether a pair that touched stays at range 0 until one of the two moves."""


_FACTS: Mapping[str, GameFacts] = {
    "legion": GameFacts(
        ruler=RulerSize(152.4, 5),
        printed_rulers=(
            PrintedRuler("legion", 5, 25.0, 4.0, 9.0, jointed=True),
            PrintedRuler("legion_short", 2, 25.0, 4.0, 12.0, jointed=True),
        ),
        round_bases_mm=(27, 50, 70, 100, 120),
        plates_mm=(),
        exclusive_diameters_mm=(27,),
        round_bases_prior=0.45,
    ),
    "positioning": GameFacts(in_inches=True),
    "skirmish": GameFacts(in_inches=True),
    "tide_of_iron": GameFacts(),
    "xwing": GameFacts(
        ruler=RulerSize(100.0, 3),
        printed_rulers=(PrintedRuler("xwing", 3, 20.0, 2.0, 15.0),),
        default_kind="ship",
        round_bases_mm=(),
        plates_mm=(40, 60, 80),
        contact_lasts=True,
    ),
}
_UNKNOWN = GameFacts()

GAMES = tuple(sorted(_FACTS))
"""The names of all games."""


def facts_of(game: str | None) -> GameFacts:
    """What is known of a game; the defaults for None and for a name that is no game."""
    return _FACTS.get(game or "", _UNKNOWN)
