"""Where a body on a straight line presses into another, whose outline need not be convex.

Terrain is made of convex parts. To a base that overlaps it at first, the lines between its parts are
no edges: there the sides of the outline decide.
"""

from math import inf

from overruler.geometry.shapes import Point, Shape
from overruler.geometry.sweep import (
    entry_distance,
    first_contact_distance,
    outline_entry_distance,
    overlaps,
)
from overruler.geometry.tangents import signed_gap_mm
from overruler.rules.bodies import Body
from overruler.units import CONTACT_TOLERANCE_MM


def entry_mm(mover: Body, other: Body, direction: Point) -> float:
    """How far along a line a body gets before it presses into another; inf where it does not."""
    if len(other.parts) == 1 < len(mover.parts):
        return entry_mm(other, mover, (-direction[0], -direction[1]))
    return min(_part_entry_mm(part, other, direction) for part in mover.parts)


def _part_entry_mm(part: Shape, other: Body, direction: Point) -> float:
    if len(other.parts) > 1 and any(overlaps(part, one) for one in other.parts):
        along = outline_entry_distance(part, other.outline, *direction)
        return inf if along is None else along
    entries = [entry_distance(part, one, *direction) for one in other.parts]
    return min((along for along in entries if along is not None), default=inf)


def first_contact_mm(piece: Body, target: Body, direction: Point) -> float | None:
    """How far along a line a piece gets before it meets a target, even by a graze; None if never.

    A piece in contact at first has to press into the target.
    """
    base = piece.parts[0]
    if any(signed_gap_mm(base, part) <= CONTACT_TOLERANCE_MM for part in target.parts):
        along = _part_entry_mm(base, target, direction)
        return None if along == inf else along
    contacts = [first_contact_distance(base, part, *direction) for part in target.parts]
    return min((along for along in contacts if along is not None), default=None)
