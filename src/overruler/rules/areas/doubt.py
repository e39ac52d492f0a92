"""How sure it is which pieces lie in an area, over drawn places.

Alphabet: n draws, m pieces.
"""

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.distances import (
    farthest_distances,
    gaps_at_shifts,
    rim_farthest_from_all,
)
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Shape
from overruler.rules.areas.tree import Area, Joined, Near, Outside, nears_of
from overruler.rules.bodies import Body
from overruler.rules.measure import farthest_distance_mm, gap_between
from overruler.rules.sampling import DRAW_COUNT, draw_displacements, max_relative_shift_mm
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

BoolArray = NDArray[np.bool_]
Shares = tuple[BoolArray, BoolArray, BoolArray]
"""In each draw (n,): whether any part of a piece lies in an area, whether all of it does, and whether
distances say so."""


def list_probabilities(
    scene: Scene, area: Area, pieces: Sequence[Body], some: Sequence[bool]
) -> dict[str, float]:
    """The probability of each list of pieces with any part in an area; `some` are those as measured."""
    unsure = [number for number, piece in enumerate(pieces) if _is_unsure(scene, area, piece)]
    ids = [piece.id for piece in pieces]
    if not unsure:
        return {json.dumps([name for name, is_in in zip(ids, some, strict=True) if is_in]): 1.0}
    bodies = [body for near in nears_of(area) for body in near.bodies]
    moving = [*dict.fromkeys([*bodies, *(pieces[number] for number in unsure)])]
    indices = [body.index for body in moving]
    places = draw_displacements(scene, indices, DRAW_COUNT)
    shifts = dict(zip(indices, places.swapaxes(0, 1), strict=True))
    drawn = np.tile(np.array(some, bool), (len(places), 1))
    for number in unsure:
        is_in, _, is_decided = _shares_in(area, pieces[number], shifts)
        drawn[:, number] = np.where(is_decided, is_in, some[number])
    rows, counts = np.unique(drawn, axis=0, return_counts=True)
    probability = {}
    for row, count in sorted(zip(rows.tolist(), counts.tolist(), strict=True), key=lambda x: -x[1]):
        names = [name for name, is_in in zip(ids, row, strict=True) if is_in]
        probability[json.dumps(names)] = count / len(drawn)
    return probability


def _is_unsure(scene: Scene, area: Area, piece: Body) -> bool:
    """Whether a piece's closest or farthest part may cross a line of an area."""
    return any(_may_cross(scene, near, piece) for near in nears_of(area))


def _may_cross(scene: Scene, near: Near, piece: Body) -> bool:
    reach_mm = max(max_relative_shift_mm(scene, body.index, piece.index) for body in near.bodies)
    reach_mm += CONTACT_TOLERANCE_MM
    lines_mm = (near.low_mm, near.high_mm) if near.low_mm else (near.high_mm,)
    closest_mm = min(gap_between(body, piece).distance_mm for body in near.bodies)
    if closest_mm > near.high_mm + reach_mm:
        return False
    shapes = [part for body in near.bodies for part in body.parts]
    farthest_mm = max(farthest_distance_mm(shapes, part) for part in piece.parts)
    distances_mm = (closest_mm, farthest_mm)
    return any(abs(one - line) <= reach_mm for one in distances_mm for line in lines_mm)


def _shares_in(area: Area, piece: Body, shifts: dict[int | None, Array]) -> Shares:
    """How much of a piece lies in an area, as `membership` does it for one place."""
    if isinstance(area, Near):
        return _shares_near(area, piece, shifts)
    if isinstance(area, Outside):
        some, whole, is_decided = _shares_in(area.area, piece, shifts)
        return ~whole, ~some, is_decided
    assert isinstance(area, Joined)
    parts = [_shares_in(part, piece, shifts) for part in area.parts]
    if area.is_all:
        return _shares_in_all(parts)
    outside = [(~whole, ~some, is_decided) for some, whole, is_decided in parts]
    some, whole, is_decided = _shares_in_all(outside)
    return ~whole, ~some, is_decided


def _shares_in_all(parts: Sequence[Shares]) -> Shares:
    some = np.array([part[0] for part in parts])
    whole = np.array([part[1] for part in parts])
    told = np.array([part[2] for part in parts])
    is_out = (told & ~some).any(0)
    is_in = (told & whole).all(0)
    is_partly_in_one = told.all(0) & ((some & ~whole).sum(0) <= 1)
    return ~is_out, is_in, is_out | is_in | is_partly_in_one


def _shares_near(near: Near, piece: Body, shifts: dict[int | None, Array]) -> Shares:
    froms = [(body, part) for body in near.bodies for part in body.parts]
    relative = np.stack([shifts[piece.index] - shifts[body.index] for body, _ in froms])
    b = piece.parts[0]
    gaps = [gaps_at_shifts(part, b, move) for (_, part), move in zip(froms, relative, strict=True)]
    closest = np.min(gaps, 0)
    farthest = _drawn_farthest([part for _, part in froms], b, relative)
    low_mm, high_mm = near.low_mm, near.high_mm + CONTACT_TOLERANCE_MM
    low_mm += CONTACT_TOLERANCE_MM if near.is_low_out else -CONTACT_TOLERANCE_MM
    some = (closest <= high_mm) & (farthest >= low_mm)
    whole = (closest >= low_mm) & (farthest <= high_mm)
    return some, whole, np.ones(len(closest), bool)


def _drawn_farthest(shapes: Sequence[Shape], b: Shape, relative: Array) -> Array:
    """The distance (n,) of a base's farthest part from the nearest of several shapes."""
    if len(shapes) == 1:
        return farthest_distances(shapes[0], b, relative[0])
    # A hole inside it that is farther than its rim stays as much farther.
    rim = float(rim_farthest_from_all(shapes, b, np.zeros((len(shapes), 1, 2)))[0])
    hole = max(farthest_distance_mm(shapes, b) - rim, 0.0)
    return rim_farthest_from_all(shapes, b, relative) + hole
