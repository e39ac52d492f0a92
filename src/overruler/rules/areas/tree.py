"""An area: ground near bodies, in arcs, in shadows and in zones, joined by all, any and not."""

from collections.abc import Iterator
from dataclasses import dataclass

from overruler.geometry.arcs import Region
from overruler.geometry.shapes import Point
from overruler.rules.bodies import Body
from overruler.units import CONTACT_TOLERANCE_MM


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
    move_mm: float = 0.0
    """How far the bodies may move first, which `high_mm` counts in."""

    def has_past_low(self, distance_mm: float) -> bool:
        """Whether a distance lies past where the ground begins."""
        if self.is_low_out:
            return distance_mm > self.low_mm + CONTACT_TOLERANCE_MM
        return distance_mm >= self.low_mm - CONTACT_TOLERANCE_MM

    def has_before_high(self, distance_mm: float) -> bool:
        """Whether a distance lies before where the ground ends."""
        return distance_mm <= self.high_mm + CONTACT_TOLERANCE_MM


@dataclass(frozen=True)
class InArc:
    """The ground in some arcs of a piece."""

    body: Body
    regions: tuple[Region, ...]
    base: Body | None = None


@dataclass(frozen=True)
class Hidden:
    """The ground that no part of a piece sees past some bodies."""

    viewer: Body
    obstacles: tuple[Body, ...]
    base: Body | None = None


@dataclass(frozen=True)
class Zone:
    """The ground inside an outline that stands still, such as a zone of deployment."""

    corners: tuple[Point, ...]
    base: Body | None = None


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


Outlined = InArc | Hidden | Zone
"""Ground whose outline decides what lies in it."""
Leaf = Near | Outlined
Area = Leaf | Joined | Outside | WholeBase


def leaves_of(area: Area) -> Iterator[Leaf]:
    """Every piece of ground that an area is made of."""
    if isinstance(area, Joined):
        for part in area.parts:
            yield from leaves_of(part)
    elif isinstance(area, Outside | WholeBase):
        yield from leaves_of(area.area)
    else:
        yield area


def bodies_of(leaf: Leaf) -> tuple[Body, ...]:
    """The bodies that a piece of ground lies near to, or is seen from."""
    if isinstance(leaf, Near):
        return leaf.bodies
    if isinstance(leaf, InArc):
        return (leaf.body,)
    return (leaf.viewer,) if isinstance(leaf, Hidden) else ()


def bases_of(area: Area) -> tuple[Body, ...]:
    """The pieces that an area is for."""
    if isinstance(area, WholeBase):
        return (area.base,)
    if isinstance(area, Joined | Outside):
        parts = area.parts if isinstance(area, Joined) else (area.area,)
        return tuple(dict.fromkeys(base for part in parts for base in bases_of(part)))
    return (area.base,) if area.base else ()
