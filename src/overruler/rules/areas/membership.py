"""Which pieces lie in an area, by exact distances.

A piece covers all distances from its closest to its farthest part, so two numbers say whether any of
it and whether all of it lies in the ground near something. Joined areas follow from their parts, but
for pieces that lie partly in two of them: these alone are left to the outlines.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from overruler.geometry.shapes import Polygon, gap
from overruler.rules.areas.tree import Area, Hidden, InArc, Joined, Near, Outside, Zone
from overruler.rules.bodies import Body
from overruler.rules.measure import farthest_distance_mm, gap_between
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM


class Membership(NamedTuple):
    """How much of a piece lies in an area; None where distances do not say."""

    some: bool | None
    """Whether any part of it does."""
    whole: bool | None
    """Whether all of it does."""

    @property
    def is_partly(self) -> bool:
        """Whether it may lie partly in the area and partly outside."""
        return self.some is not False and self.whole is not True


def membership_in(area: Area, piece: Body) -> Membership:
    """How much of a piece lies in an area that is for no base."""
    if isinstance(area, Near):
        return _membership_near(area, piece)
    if isinstance(area, Outside):
        some, whole = membership_in(area.area, piece)
        return Membership(_negated(whole), _negated(some))
    if isinstance(area, InArc | Hidden | Zone):
        return Membership(None, None)
    assert isinstance(area, Joined)
    parts = [membership_in(part, piece) for part in area.parts]
    return in_all(parts) if area.is_all else in_any(parts)


def in_all(parts: list[Membership]) -> Membership:
    """How much of a piece lies in all of some areas."""
    if any(part.some is False for part in parts):
        return Membership(False, False)
    partly = [part for part in parts if part.is_partly]
    if len(partly) <= 1:
        return partly[0] if partly else Membership(True, True)
    is_cut = any(part.whole is False for part in partly)
    return Membership(None, False if is_cut else None)


def in_any(parts: list[Membership]) -> Membership:
    """How much of a piece lies in any of some areas."""
    outside = in_all([Membership(_negated(part.whole), _negated(part.some)) for part in parts])
    return Membership(_negated(outside.whole), _negated(outside.some))


def _negated(value: bool | None) -> bool | None:
    return None if value is None else not value


def _membership_near(near: Near, piece: Body) -> Membership:
    """By the bounds of both distances where they suffice, else by the distances themselves."""
    pairs = [PairBounds.of(body, piece) for body in near.bodies]
    if not near.has_before_high(min(pair.least_mm for pair in pairs)):
        return Membership(False, False)
    reach_mm = min(pair.most_mm for pair in pairs)
    bodies = [pair.body for pair in pairs if pair.least_mm <= reach_mm]
    closest_mm = min(gap_between(body, piece).distance_mm for body in bodies)
    if not near.has_before_high(closest_mm):
        return Membership(False, False)
    past_low = near.has_past_low(closest_mm)
    if past_low and near.has_before_high(reach_mm):
        return Membership(True, True)
    farthest_mm = _farthest_mm(bodies, piece)
    some = past_low or near.has_past_low(farthest_mm)
    return Membership(some, past_low and near.has_before_high(farthest_mm))


def _farthest_mm(bodies: Sequence[Body], piece: Body) -> float:
    """The distance of a piece's farthest part from the nearest of some bodies."""
    shapes = [part for body in bodies for part in body.parts]
    return max(farthest_distance_mm(shapes, part) for part in piece.parts)


class PairBounds(NamedTuple):
    """Bounds of the distances of a piece from a body, by the circles round the body's parts."""

    body: Body
    least_mm: float
    """No part of the piece is nearer."""
    most_mm: float
    """No part of the piece is farther."""

    @classmethod
    def of(cls, body: Body, piece: Body) -> "PairBounds":
        shape = piece.parts[0]
        radius_mm = shape.bounding_radius_mm
        centers_mm = [math.dist(part.center, shape.center) for part in body.parts]
        parts = zip(body.parts, centers_mm, strict=True)
        least_mm = min(between - part.bounding_radius_mm for part, between in parts) - radius_mm
        return cls(body, least_mm, min(centers_mm) + radius_mm)


def membership_on_board(scene: Scene, piece: Body) -> Membership:
    """How much of a piece lies on the board."""
    width, height = scene.board.width_mm, scene.board.height_mm
    shape = piece.parts[0]
    right, left = shape.support_point(1, 0)[0], shape.support_point(-1, 0)[0]
    top, bottom = shape.support_point(0, 1)[1], shape.support_point(0, -1)[1]
    over_mm = max(-left, -bottom, right - width, top - height)
    if over_mm <= CONTACT_TOLERANCE_MM:
        return Membership(True, True)
    board = Polygon(((0, 0), (width, 0), (width, height), (0, height)))
    return Membership(gap(board, shape).distance_mm <= CONTACT_TOLERANCE_MM, False)
