"""The games, and what is known of each before its rules: its unit, its ruler, its bases.

Neither reading a scene nor measuring a photo needs rules. What both need of a game stands here; its
rules stand in `rules/games/<name>/game.py`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import isclose
from typing import Any, NamedTuple

from overruler.reading import Node, merge_keys, read_length, unknown_keys
from overruler.units import INCHES, MILLIMETRES, UNITS

DEFAULT_GAME = "legion"
"""The game of a photo whose game is not given."""
LINE_TOLERANCE = 1e-6
"""Largest relative difference between two distances that are the same line of a ruler."""
MAX_SEGMENTS = 100
"""Largest number of segments or bands of a ruler."""
SEGMENT_KEYS = ("segment_mm", "segments")
"""The keys of a ruler of equal segments."""
NO_KEYS: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Ruler:
    """A range ruler: of equal segments, or of lines at any distances."""

    lines_mm: tuple[float, ...]
    """Distance of each band's end from the start of the ruler, ascending."""
    names: tuple[str, ...] = ()
    """The name of each band; empty where they are numbered."""
    segment_mm: float | None = None
    """Length of a segment; None where the lines are given."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Unknown keys."""

    @classmethod
    def of_segments(
        cls, segment_mm: float, segments: int, extra: Mapping[str, Any] = NO_KEYS
    ) -> "Ruler":
        """A ruler of equal segments."""
        lines_mm = tuple(segment_mm * (k + 1) for k in range(segments))
        return cls(lines_mm, (), segment_mm, extra)

    @property
    def segments(self) -> int:
        """Number of segments or bands."""
        return len(self.lines_mm)

    def band_name(self, band: int | None) -> str | None:
        """The name of a band, the first being 1; None where it has none."""
        if band is None or not 1 <= band <= len(self.names):
            return None
        return self.names[band - 1]

    def line_label(self, line_mm: float) -> str | None:
        """The name or the number of the band that ends at a line; None where no band ends there."""
        for band, end_mm in enumerate(self.lines_mm, 1):
            if isclose(line_mm, end_mm, rel_tol=LINE_TOLERANCE):
                return self.band_name(band) or str(band)
        return None

    def to_json(self) -> dict[str, Any]:
        known: dict[str, Any] = {"lines_mm": list(self.lines_mm)}
        if self.segment_mm is not None:
            known = {"segment_mm": self.segment_mm, "segments": self.segments}
        if self.names:
            known["names"] = list(self.names)
        return merge_keys(known, self.extra)


def read_ruler(node: Node) -> Ruler:
    """Read a ruler: of equal segments, or of lines at any distances."""
    if node.has("lines_mm"):
        return read_ruler_of_lines(node, "lines_mm")
    segments = node["segments"].integer()
    if not 1 <= segments <= MAX_SEGMENTS:
        node["segments"].fail(f"must be from 1 to {MAX_SEGMENTS}, is {segments}")
    extra = unknown_keys(node, SEGMENT_KEYS)
    return Ruler.of_segments(read_length(node["segment_mm"]), segments, extra)


def read_ruler_of_lines(node: Node, key: str, unit_mm: float = 1.0) -> Ruler:
    """Read a ruler of the lines under a key, which are in a unit of so many mm."""
    for other in SEGMENT_KEYS:
        if node.has(other):
            node.fail(f"has both {key} and {other}; give one of the two")
    lines_mm = _read_lines(node[key], unit_mm)
    names = _read_band_names(node["names"], len(lines_mm)) if node.has("names") else ()
    return Ruler(lines_mm, names, extra=unknown_keys(node, (key, "names")))


def _read_lines(node: Node, unit_mm: float) -> tuple[float, ...]:
    """Read where the bands of a ruler end."""
    lines = tuple(_read_line(item, unit_mm) for item in node.items())
    if not 1 <= len(lines) <= MAX_SEGMENTS:
        node.fail(f"must be from 1 to {MAX_SEGMENTS} lines, found {len(lines)}")
    for item, (before, after) in zip(node.items()[1:], pairwise(lines), strict=True):
        if after <= before:
            item.fail(f"must be greater than the line before, {before:g}, is {after:g}")
    return tuple(line * unit_mm for line in lines)


def _read_line(node: Node, unit_mm: float) -> float:
    """Read a line's distance, in its own unit."""
    line = node.positive()
    read_length(Node(line * unit_mm, node.name, node.path))
    return line


def _read_band_names(node: Node, count: int) -> tuple[str, ...]:
    """Read the names of a ruler's bands, one each and all different."""
    names = tuple(item.text() for item in node.items())
    if len(names) != count:
        node.fail(f"expected {count}, one a line, found {len(names)}")
    for index, item in enumerate(node.items()):
        if not names[index].strip():
            item.fail("is empty: a band's name has a letter at least")
        if names[index] in names[:index]:
            item.fail(f"repeats {names[index]!r}")
    return names


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
    ruler: Ruler | None = None
    """None for a game that is measured with a tape, or whose scenes bring theirs."""
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

    def unit_told(self, state: Mapping[str, Any]) -> str:
        """The unit that people read distances in: by a scene's `state.unit`, else the game's."""
        told = state.get("unit")
        return told if told in UNITS else INCHES if self.in_inches else MILLIMETRES


_FACTS: Mapping[str, GameFacts] = {
    "bands": GameFacts(),
    "inches": GameFacts(in_inches=True),
    "legion": GameFacts(
        ruler=Ruler.of_segments(152.4, 5),
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
        ruler=Ruler.of_segments(100.0, 3),
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


def find_game(name: str, known: Iterable[str] = GAMES) -> str | None:
    """The known name that people spell so: without regard to case, spaces, hyphens and underscores."""
    plain = _plain(name)
    return next((each for each in known if _plain(each) == plain), None)


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def facts_of(game: str | None) -> GameFacts:
    """What is known of a game; the defaults for None and for a name that is no game."""
    return _FACTS.get(game or "", _UNKNOWN)
