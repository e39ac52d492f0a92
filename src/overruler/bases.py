"""The exact shapes of bases, and the catalogue of sizes that games use."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from overruler.errors import BadInput
from overruler.games import GAMES, facts_of
from overruler.reading import Node, read_length
from overruler.reading.fields import check_fields

LARGEST_BASE_MM = 500.0
"""Largest width or length of a base, in mm."""
_NUMBER = r"\d+(?:\.\d+)?"
_BASE_PATTERN = re.compile(
    rf"(?P<first>{_NUMBER})(?:"
    rf"\s*[x×]\s*(?P<second>{_NUMBER})\s*(?:mm)?\s*(?P<shape>o|oval|rectangle|s|stadium)?"
    r"|\s*(?:mm)?\s*(?P<hexagon>h|hexagon)?)",
    re.ASCII | re.IGNORECASE,
)
_SHAPES_BY_LETTER = {"o": "oval", "s": "stadium", "r": "rectangle"}
SIZE_KEYS = {
    "circle": ("diameter_mm",),
    "rectangle": ("width_mm", "length_mm"),
    "oval": ("width_mm", "length_mm"),
    "stadium": ("width_mm", "length_mm"),
    "hexagon": ("width_mm",),
}
"""The keys of a base's size, by its shape."""
HEXAGON_LENGTH_RATIO = 2 / 3**0.5
"""Length of a hexagon, from corner to corner, to its width, from side to side."""
HEXAGON_MEAN_RATIO = 3 * math.log(3) / math.pi
"""Mean diameter of a hexagon, over all directions, to its width: the mean of 1 / cos over 30 degrees."""


@dataclass(frozen=True, slots=True)
class Base:
    """The outline of a base where it meets the table.

    All sizes are in mm: the width across the heading, the length along it. `BadInput` where one cannot be.
    """

    shape: str
    """`circle`, `rectangle`, `oval` (an ellipse), `stadium` (round ends) or `hexagon` (a regular one)."""
    width_mm: float
    """Across the heading; the diameter of a circle; from side to side of a hexagon."""
    length_mm: float
    """Along the heading; the diameter of a circle; from corner to corner of a hexagon."""
    corner_radius_mm: float = field(default=0.0, compare=False)
    """Radius of a rectangle's rounded corners. Two bases that differ only in it compare equal."""

    def __post_init__(self) -> None:
        Node(self.shape, "Base", "shape").choice(tuple(SIZE_KEYS))
        check_fields(self, f"Base: {self.shape}", _SIDE_READERS)
        narrow_mm, radius_mm = min(self.width_mm, self.length_mm), self.corner_radius_mm
        if radius_mm:
            _read_corner_radius(Node(radius_mm, "Base", "corner_radius_mm"), narrow_mm / 2)
        ratio = {"circle": 1.0, "hexagon": HEXAGON_LENGTH_RATIO}.get(self.shape)
        if ratio and not math.isclose(self.length_mm, ratio * self.width_mm):
            text = f"give Base.{self.shape} its width alone"
            raise BadInput(f"Base: {self.shape}: its width and length differ: {text}")
        if self.shape == "stadium" and self.width_mm > self.length_mm:
            raise BadInput("Base: stadium: its width is more than its length: the ends are round")

    @classmethod
    def circle(cls, diameter_mm: float) -> "Base":
        """A round base, by its diameter in mm."""
        return cls("circle", diameter_mm, diameter_mm)

    @classmethod
    def rectangle(cls, width_mm: float, length_mm: float) -> "Base":
        """A rectangular base, in mm: its width across the heading, its length along it."""
        return cls("rectangle", width_mm, length_mm)

    @classmethod
    def oval(cls, width_mm: float, length_mm: float) -> "Base":
        """An elliptic base, in mm: its width across the heading, its length along it."""
        return cls("oval", width_mm, length_mm)

    @classmethod
    def stadium(cls, width_mm: float, length_mm: float) -> "Base":
        """A base with round ends, in mm: its width across the heading, its whole length along it."""
        return cls("stadium", width_mm, length_mm)

    @classmethod
    def hexagon(cls, width_mm: float) -> "Base":
        """A regular hexagon, by its width in mm from side to side; a corner points along the heading."""
        return cls(
            "hexagon",
            width_mm,
            read_length(Node(width_mm, "Base: hexagon", "width_mm")) * HEXAGON_LENGTH_RATIO,
        )

    @classmethod
    def parse(cls, text: str) -> "Base":
        """Parse a base as people write it (`27`, `40x40`, `75x42o`, in mm) or as `name` prints it.

        `70x25s` has round ends, `30h` is a hexagon. The longer of two sides is the length,
        whichever comes first. Raises `BadInput` for any other text.
        """
        text = Node(text, "Base.parse").text().strip()
        match = _BASE_PATTERN.fullmatch(text)
        if match is None:
            raise BadInput(
                f"{text!r} is no base: 27 is a round one, 40x40 a square, 75x42o an oval, "
                "70x25s one with round ends, 30h a hexagon, in mm"
            )
        sizes = sorted(float(size) for size in (match["first"], match["second"]) if size)
        if not 0 < sizes[0] <= sizes[-1] <= LARGEST_BASE_MM:
            raise BadInput(
                f"{text!r} is no base: its size lies between 0 and {LARGEST_BASE_MM:g} mm"
            )
        if len(sizes) == 1:
            return cls.hexagon(sizes[0]) if match["hexagon"] else cls.circle(sizes[0])
        letter = (match["shape"] or "r")[0].lower()
        return cls(_SHAPES_BY_LETTER[letter], *sizes)

    @property
    def is_square(self) -> bool:
        """Whether the base has corners and looks the same after a quarter turn."""
        return self.shape == "rectangle" and self.width_mm == self.length_mm

    @property
    def as_round(self) -> "Base":
        """The round base that a hexagon is found as, since the networks see no corners."""
        return Base.circle(self.width_mm * HEXAGON_MEAN_RATIO)

    @property
    def heading_modulo_deg(self) -> float:
        """The turn after which the base looks the same, whatever stands on it."""
        if self.shape == "hexagon":
            return 60.0
        return 90.0 if self.is_square else 180.0

    @property
    def has_round_ends(self) -> bool:
        """Whether each end of the base looks like a round base."""
        return self.shape in ("oval", "stadium")

    @property
    def with_rounded_corners(self) -> "Base":
        """The base as made: the catalogue's plates get rounded corners, other bases stay as they are."""
        is_plate = self.is_square and self.width_mm in PLATE_SIDES_MM and not self.corner_radius_mm
        return replace(self, corner_radius_mm=PLATE_CORNER_MM) if is_plate else self

    @property
    def name(self) -> str:
        """The base in words: `27 mm`, `60 × 40 mm oval`."""
        if self.shape == "circle":
            return f"{self.width_mm:g} mm"
        if self.shape == "hexagon":
            return f"{self.width_mm:g} mm hexagon"
        return f"{self.length_mm:g} × {self.width_mm:g} mm {self.shape}"

    def to_json(self) -> dict[str, str | float]:
        """The base as scenes have it: a stadium is a rectangle with corners as round as its ends."""
        if self.shape == "circle":
            return {"shape": "circle", "diameter_mm": self.width_mm}
        if self.shape == "hexagon":
            return {"shape": "hexagon", "width_mm": self.width_mm}
        shape, radius_mm = self.shape, self.corner_radius_mm
        if shape == "stadium":  # other programs that read scenes know rectangles
            shape, radius_mm = "rectangle", self.width_mm / 2
        sizes = {"width_mm": self.width_mm, "length_mm": self.length_mm}
        rounding = {"corner_radius_mm": radius_mm} if radius_mm else {}
        return {"shape": shape, **sizes, **rounding}


_SIDE_READERS = {"width_mm": read_length, "length_mm": read_length}
"""The readers of a base's sides."""


def read_base(node: Node) -> Base:
    """Read a base: its shape and sizes. A rectangle as round as it is wide is a stadium."""
    shape = node["shape"].choice(tuple(SIZE_KEYS))
    sizes = {key: read_length(node[key]) for key in SIZE_KEYS[shape]}
    if shape == "circle":
        return Base.circle(**sizes)
    if shape == "hexagon":
        return Base.hexagon(**sizes)
    if shape == "stadium" and sizes["width_mm"] > sizes["length_mm"]:
        node["width_mm"].fail("is more than length_mm: the ends of a stadium are round")
    if shape == "rectangle" and node.has("corner_radius_mm"):
        radius = _read_corner_radius(node["corner_radius_mm"], min(sizes.values()) / 2)
        if radius == sizes["width_mm"] / 2 < sizes["length_mm"] / 2:
            return Base.stadium(**sizes)
        return Base(shape, **sizes, corner_radius_mm=radius)
    return Base(shape, **sizes)


def _read_corner_radius(node: Node, max_mm: float) -> float:
    value = node.number()
    if not 0 <= value <= max_mm:
        node.fail(f"must be from 0 to half a side, {max_mm:g} mm, is {value:g}")
    return value


def read_base_size(node: Node) -> str:
    """Read the size of a base as people write it: a text, or the number of a diameter."""
    is_number = type(node.value) in (int, float)
    return f"{node.number():g}" if is_number else node.text()


RECTANGLE_SIDES_MM: tuple[tuple[float, float], ...] = (
    *((20, 20), (25, 25), (30, 30), (40, 40), (50, 50)),
    *((40, 20), (40, 30), (50, 25), (60, 30), (100, 50), (100, 60)),
    *((32, 25), (50, 32), (64, 51), (60, 40), (75, 50)),
)
"""Length and width of the rectangular bases of regiments and of small scales, in mm: those that are
looked for without being named."""
ROUND_DIAMETERS_MM: tuple[float, ...] = (
    *(25, 27, 28.5, 30, 32, 35, 40, 50, 60),
    *(65, 70, 80, 90, 100, 120, 130, 160),
)
"""Diameters of the catalogue's round bases."""

PLATE_SIDES_MM: tuple[float, ...] = (40, 60, 80)
"""Sides of the catalogue's square plates: the bases of small, medium and large ships."""

PLATE_CORNER_MM = 1.5
"""Corner radius of a plate. Two rounded corners that point at each other are 1.2 mm farther apart
than sharp ones."""

OVAL_SIDES_MM: tuple[tuple[float, float], ...] = (
    *((35, 60), (42, 75), (52, 90)),
    *((70, 105), (92, 120), (105, 170)),
)
"""Width and length of the catalogue's oval bases. A game with round bases of its own has none of them."""
OVAL_SHARES = (10.0, 5.0, 3.0, 2.0, 1.5, 0.5)
"""How many of each are played, relative to each other: a unit of riders has five to ten of the smallest,
an army one or two monsters. Large ovals are scenery as often: hills, craters, ponds."""

STADIUM_SIDES_MM: tuple[tuple[float, float], ...] = ((25, 70),)
"""Width and length of the catalogue's bases with round ends, for bikes. A game with round bases of its own has
none of them."""

HEXAGON_WIDTHS_MM: tuple[float, ...] = (25, 30, 32, 40, 50)
"""Widths of the catalogue's hexagons, from side to side. A game with round bases of its own has none of them."""

_CRISIS_PROTOCOL_MM = (35, 50, 65, 80)
"""Diameters of Marvel: Crisis Protocol, a game without rules here; 35 mm are its own."""
_EXCLUSIVE_DIAMETERS_MM = {35}.union(*(facts_of(game).exclusive_diameters_mm for game in GAMES))
_SHARED_DIAMETERS_MM = tuple(
    diameter for diameter in ROUND_DIAMETERS_MM if diameter not in _EXCLUSIVE_DIAMETERS_MM
)

_GAME_SETS_MM = {
    facts.round_bases_mm: facts.round_bases_prior
    for facts in map(facts_of, GAMES)
    if facts.round_bases_mm and facts.round_bases_prior
}
ANY_MIX_PRIOR = 0.01
"""Prior probability that a table mixes diameters of the whole catalogue."""
PRIOR_SHARE_IN_PLAY = 0.2
"""Prior of one game's own set on a table in play, against that on a table that was prepared: tables in
play are of many games."""
DIAMETER_SET_PRIORS: Mapping[tuple[float, ...], float] = {
    **_GAME_SETS_MM,
    _SHARED_DIAMETERS_MM: 0.45,
    _CRISIS_PROTOCOL_MM: 0.05,
    ROUND_DIAMETERS_MM: ANY_MIX_PRIOR,
}
"""Prior probability of each set of diameters that the round bases of one table come from, up to a factor.

The sets are those of games that seldom mix with others (Legion, Crisis Protocol), the catalogue without
the diameters that one game alone uses, and the whole catalogue."""
_FAMILIES_MM: Mapping[tuple[float, ...], float] = {
    (25, 28.5, 32, 40, 50, 60, 80, 90, 100, 130, 160): 0.45,  # Warhammer: 40,000, Age of Sigmar
    (30, 40, 50, 80, 120): 0.15,  # Warmachine and Hordes, Malifaux
}
"""Diameters that one maker's games share, with the prior probability that a table in play is of one of them."""
OTHER_GAMES_IN_PLAY = 0.1
"""Prior probability of any other game on a table in play."""
DIAMETER_SET_PRIORS_IN_PLAY: Mapping[tuple[float, ...], float] = {
    **DIAMETER_SET_PRIORS,
    **{members: PRIOR_SHARE_IN_PLAY * prior for members, prior in _GAME_SETS_MM.items()},
    **_FAMILIES_MM,
    _SHARED_DIAMETERS_MM: OTHER_GAMES_IN_PLAY,
}
"""The same on a table in play. There people seldom say what is played, and 65 mm are near to 60."""


def catalogue(game: str | None = None) -> tuple[Base, ...]:
    """The bases of a game where they are known, else of the whole catalogue."""
    facts = facts_of(game)
    diameters = ROUND_DIAMETERS_MM if facts.round_bases_mm is None else facts.round_bases_mm
    plate_sides = PLATE_SIDES_MM if facts.plates_mm is None else facts.plates_mm
    is_any = facts.round_bases_mm is None
    return (
        *(Base.circle(diameter) for diameter in diameters),
        *(Base.rectangle(side, side) for side in plate_sides),
        *(Base.oval(*sides) for sides in OVAL_SIDES_MM if is_any),
        *(Base.stadium(*sides) for sides in STADIUM_SIDES_MM if is_any),
    )
