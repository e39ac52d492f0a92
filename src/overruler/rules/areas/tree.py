"""An area as a question gives it: ground near bodies, joined by all, any and not."""

from collections.abc import Iterator
from dataclasses import dataclass

from overruler.reading import Node
from overruler.rules.areas.fields import (
    DISTANCES,
    FOR,
    KINDS,
    MAX_PARTS,
    OF,
    RANGE,
    WHOLE,
    WITHIN_IN,
    WITHIN_MM,
)
from overruler.rules.bands import read_bands
from overruler.rules.bodies import Body, bodies_named, piece_named
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

MAX_DEPTH = 8
"""Most areas inside each other."""


@dataclass(frozen=True)
class Near:
    """The ground from one distance of some bodies to another.

    With a `base`: where its centre may be for its closest part to be there.
    """

    bodies: tuple[Body, ...]
    low_mm: float
    """Where it begins; 0 for at the bodies themselves."""
    high_mm: float
    """Where it ends, that line included."""
    is_low_out: bool
    """Whether the line where it begins lies outside."""
    base: Body | None = None
    by_range: bool = False
    """Whether the distances are those of a ruler's bands."""

    def has_past_low(self, distance_mm: float) -> bool:
        """Whether a distance lies past where the ground begins."""
        if self.is_low_out:
            return distance_mm > self.low_mm + CONTACT_TOLERANCE_MM
        return distance_mm >= self.low_mm - CONTACT_TOLERANCE_MM

    def has_before_high(self, distance_mm: float) -> bool:
        """Whether a distance lies before where the ground ends."""
        return distance_mm <= self.high_mm + CONTACT_TOLERANCE_MM


@dataclass(frozen=True)
class Joined:
    """Areas of which a place lies in all, or in any."""

    is_all: bool
    parts: "tuple[Area, ...]"


@dataclass(frozen=True)
class Outside:
    """All ground outside an area."""

    area: "Area"


@dataclass(frozen=True)
class WholeBase:
    """Where the centre of a base may be for all of it to lie in an area."""

    area: "Area"
    base: Body


Area = Near | Joined | Outside | WholeBase


def read_area(scene: Scene, node: Node, base: Body | None = None, depth: int = 1) -> Area:
    """Read an area; `base` is the one that an area round it is for."""
    if depth > MAX_DEPTH:
        node.fail(f"lies more than {MAX_DEPTH} areas deep")
    if node.has("question"):
        node["question"].choice(("area",))
    kind = _read_one_key(node, KINDS)
    own = _read_base(scene, node, base)
    if WHOLE.read(node):
        if not node.has(FOR.name):
            node["whole"].fail("needs the key 'for': the base that is to be there")
        assert own is not None
        if base is not None:
            node["whole"].fail("cannot stand inside an area that is for a base")
        return WholeBase(_read_kind(scene, node, kind, None, depth), own)
    return _read_kind(scene, node, kind, own, depth)


def check_bases(area: Area, node: Node) -> None:
    """Raise `BadInput` where a piece is to stand near itself."""
    for base in bases_of(area):
        if any(base in near.bodies for near in nears_of(area)):
            node.fail(f"{base.id!r} is on both sides; a distance needs two")


def _read_kind(scene: Scene, node: Node, kind: str, base: Body | None, depth: int) -> Area:
    if kind == "of":
        return _read_near(scene, node, base)
    if kind == "not":
        return Outside(read_area(scene, node[kind], base, depth + 1))
    items = node[kind].items()
    if not 1 <= len(items) <= MAX_PARTS:
        node[kind].fail(f"expected from 1 to {MAX_PARTS} areas, found {len(items)}")
    parts = (read_area(scene, item, base, depth + 1) for item in items)
    return Joined(kind == "all", tuple(parts))


def _read_one_key(node: Node, keys: tuple[str, ...]) -> str:
    """The one of some keys that an area has."""
    found = [key for key in keys if node.has(key)]
    if len(found) != 1:
        what = f"has {' and '.join(found)}" if found else "has none of them"
        node.fail(f"an area has exactly one of {', '.join(keys)}; this one {what}")
    return found[0]


def _read_base(scene: Scene, node: Node, outer: Body | None) -> Body | None:
    """The piece that an area is for: its own, or that of the area round it."""
    if not node.has(FOR.name):
        return outer
    base, _ = piece_named(scene, node[FOR.name])
    if outer is not None and base != outer:
        node[FOR.name].fail(f"the area round this one is for {outer.id!r} already")
    return base


def _read_near(scene: Scene, node: Node, base: Body | None) -> Near:
    bodies = bodies_named(scene, node[OF.name])
    key = _read_one_key(node, DISTANCES)
    if key == "range":
        low_mm, high_mm = _read_range(scene, node[RANGE.name])
        return Near(bodies, low_mm, high_mm, low_mm > 0, base, by_range=True)
    low_mm, high_mm = (WITHIN_MM if key == "within_mm" else WITHIN_IN).read(node)
    return Near(bodies, low_mm, high_mm, False, base)


def _read_range(scene: Scene, node: Node) -> tuple[float, float]:
    """Where some bands of the game's ruler begin and end; band 0 is contact."""
    ruler = scene.range_ruler
    if ruler is None:
        node.fail("the game has no ruler of its own; ask by within_mm or within_in")
    bands = node if isinstance(node.value, list) else Node([node.value], node.name, node.path)
    first, last = read_bands(bands, 0, ruler.segments)
    ends_mm = (0.0, *ruler.lines_mm)
    return ends_mm[max(first - 1, 0)], ends_mm[last]


def nears_of(area: Area) -> Iterator[Near]:
    """Every piece of ground that an area is made of."""
    if isinstance(area, Near):
        yield area
    elif isinstance(area, Joined):
        for part in area.parts:
            yield from nears_of(part)
    else:
        yield from nears_of(area.area)


def bases_of(area: Area) -> tuple[Body, ...]:
    """The pieces that an area is for."""
    if isinstance(area, WholeBase):
        return (area.base,)
    if isinstance(area, Near):
        return (area.base,) if area.base else ()
    parts = area.parts if isinstance(area, Joined) else (area.area,)
    return tuple(dict.fromkeys(base for part in parts for base in bases_of(part)))
