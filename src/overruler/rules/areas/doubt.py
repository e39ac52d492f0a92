"""How sure it is which pieces lie in an area, over drawn places.

Alphabet: n draws, m pieces.
"""

import json
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from overruler.geometry.batched.distances import (
    farthest_distances,
    gaps_at_shifts,
    rim_farthest_from_all,
    vector_lengths,
)
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Shape
from overruler.rules.areas.outlined_doubt import (
    border_of,
    may_cross_outline,
    shares_in_outlined,
)
from overruler.rules.areas.tree import (
    Area,
    Hidden,
    InArc,
    Joined,
    Leaf,
    Near,
    Outside,
    Zone,
    bodies_of,
    leaves_of,
)
from overruler.rules.bodies import Body
from overruler.rules.measure import farthest_distance_mm, gap_between
from overruler.rules.sampling import DRAW_COUNT, draw_displacements, max_relative_shift_mm
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

Told = NDArray[np.int_]
"""In each draw (n,): 1 for yes, 0 for no, `UNTOLD` where distances do not say."""
UNTOLD = -1
Shares = tuple[Told, Told]
"""Whether any part of a piece lies in an area, and whether all of it does."""
FEW_DRAWS = 2048
"""Draws where farthest parts are sought, which takes long for each."""
SHADOW_DRAWS = 4096
"""Draws where shadows are thrown anew in each."""


def list_probabilities(
    scene: Scene, area: Area, pieces: Sequence[Body], some: Sequence[bool]
) -> dict[str, float]:
    """The probability of each list of pieces with any part in an area; `some` are those as measured."""
    borders: dict[Leaf, BaseGeometry] = {
        leaf: border_of(scene, leaf) for leaf in leaves_of(area) if not isinstance(leaf, Near)
    }
    unsure = [k for k, piece in enumerate(pieces) if _is_unsure(scene, area, borders, piece)]
    ids = [piece.id for piece in pieces]
    if not unsure:
        return {json.dumps([name for name, is_in in zip(ids, some, strict=True) if is_in]): 1.0}
    bodies = [body for leaf in leaves_of(area) for body in bodies_of(leaf)]
    moving = [*dict.fromkeys([*bodies, *(pieces[number] for number in unsure)])]
    indices = [body.index for body in moving]
    places = draw_displacements(scene, indices, _draw_count(area))
    shifts = dict(zip(indices, places.swapaxes(0, 1), strict=True))
    drawn = np.tile(np.array(some, bool), (len(places), 1))
    for number in unsure:
        piece = pieces[number]
        on_board = _shares_on_board(scene, piece.parts[0], shifts[piece.index])
        inside = _shares_in(scene, area, piece, shifts, not on_board[1].all())
        is_in, _ = _shares_in_all([inside, on_board])
        drawn[:, number] = np.where(is_in == UNTOLD, some[number], is_in == 1)
    told = np.packbits(drawn[:, unsure], axis=1)  # thirty times faster to sort than all columns
    _, first, counts = np.unique(told, axis=0, return_index=True, return_counts=True)
    lists = zip(drawn[first].tolist(), counts.tolist(), strict=True)
    probability = {}
    for row, count in sorted(lists, key=lambda x: -x[1]):
        names = [name for name, is_in in zip(ids, row, strict=True) if is_in]
        probability[json.dumps(names)] = count / len(drawn)
    return probability


def _is_unsure(scene: Scene, area: Area, borders: Mapping[Leaf, BaseGeometry], piece: Body) -> bool:
    """Whether a piece's closest or farthest part may cross a line of an area, or the board's edge."""
    reach_mm = max_relative_shift_mm(scene, None, piece.index) + CONTACT_TOLERANCE_MM
    left, bottom, right, top = _margins_mm(scene, piece.parts[0])
    if min(left, bottom, right, top) < reach_mm:
        return reach_mm > CONTACT_TOLERANCE_MM
    return any(
        _may_cross(scene, leaf, piece)
        if isinstance(leaf, Near)
        else may_cross_outline(scene, leaf, borders[leaf], piece)
        for leaf in leaves_of(area)
    )


def _margins_mm(scene: Scene, shape: Shape) -> tuple[float, float, float, float]:
    """How far the left, lower, right and upper edge of the board lie beyond a shape's own."""
    width, height = scene.board.width_mm, scene.board.height_mm
    left, bottom = shape.support_point(-1, 0)[0], shape.support_point(0, -1)[1]
    right, top = shape.support_point(1, 0)[0], shape.support_point(0, 1)[1]
    return left, bottom, width - right, height - top


def _shares_on_board(scene: Scene, shape: Shape, own: Array) -> Shares:
    """Whether any part and whether all of a piece, moved by (n, 2), lies on the board."""
    moves = np.hstack([own, -own])  # towards each edge's inside
    margins = np.array(_margins_mm(scene, shape)) + moves
    (low_x, high_x), (low_y, high_y) = (
        (shape.support_point(-x, -y), shape.support_point(x, y)) for x, y in ((1, 0), (0, 1))
    )
    sizes = np.array([high_x[0] - low_x[0], high_y[1] - low_y[1]] * 2)
    some = (margins + sizes >= -CONTACT_TOLERANCE_MM).all(1)
    return some.astype(int), (margins >= -CONTACT_TOLERANCE_MM).all(1).astype(int)


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


def _draw_count(area: Area) -> int:
    """How many draws an area is worth."""
    if any(isinstance(leaf, Hidden) for leaf in leaves_of(area)):
        return SHADOW_DRAWS
    nears = [leaf for leaf in leaves_of(area) if isinstance(leaf, Near)]
    needs_farthest = not isinstance(area, Near) or area.low_mm > 0
    return FEW_DRAWS if nears and needs_farthest else DRAW_COUNT


def _shares_in(
    scene: Scene, area: Area, piece: Body, shifts: dict[int | None, Array], joined: bool
) -> Shares:
    """How much of a piece lies in an area, as `membership` does it for one place.

    What of it is whole is told of areas that are `joined` to others.
    """
    if isinstance(area, Near):
        return _shares_near(area, piece, shifts, joined or area.low_mm > 0)
    if isinstance(area, Outside):
        some, whole = _shares_in(scene, area.area, piece, shifts, True)
        return _negated(whole), _negated(some)
    if isinstance(area, InArc | Hidden | Zone):
        return shares_in_outlined(scene, area, piece, shifts, joined)
    assert isinstance(area, Joined)
    parts = [_shares_in(scene, part, piece, shifts, True) for part in area.parts]
    if area.is_all:
        return _shares_in_all(parts)
    outside = [(_negated(whole), _negated(some)) for some, whole in parts]
    some, whole = _shares_in_all(outside)
    return _negated(whole), _negated(some)


def _negated(told: Told) -> Told:
    return np.where(told == UNTOLD, UNTOLD, 1 - told)


def _shares_in_all(parts: Sequence[Shares]) -> Shares:
    """In all of some areas: a piece that lies partly in two of them may lie in no part of both."""
    some = np.array([part[0] for part in parts])
    whole = np.array([part[1] for part in parts])
    is_partly = (some != 0) & (whole != 1)
    is_untold = (is_partly.sum(0) > 1) | (is_partly & (some == UNTOLD)).any(0)
    any_part = np.where((some == 0).any(0), 0, np.where(is_untold, UNTOLD, 1))
    every_part = np.where((whole == 0).any(0), 0, np.where((whole == 1).all(0), 1, UNTOLD))
    return any_part, every_part


def _shares_near(
    near: Near, piece: Body, shifts: dict[int | None, Array], wants_farthest: bool
) -> Shares:
    froms = [(body, part) for body in near.bodies for part in body.parts]
    relative = np.stack([shifts[piece.index] - shifts[body.index] for body, _ in froms])
    shapes, b = [part for _, part in froms], piece.parts[0]
    gaps = [gaps_at_shifts(part, b, move) for part, move in zip(shapes, relative, strict=True)]
    closest = np.min(gaps, 0)
    farthest = closest
    if wants_farthest:
        farthest = _drawn_farthest(shapes, b, relative, (near.low_mm, near.high_mm))
    low_mm, high_mm = near.low_mm, near.high_mm + CONTACT_TOLERANCE_MM
    low_mm += CONTACT_TOLERANCE_MM if near.is_low_out else -CONTACT_TOLERANCE_MM
    some = (closest <= high_mm) & (farthest >= low_mm)
    whole = (closest >= low_mm) & (farthest <= high_mm) & wants_farthest
    return some.astype(int), whole.astype(int)


def _drawn_farthest(
    shapes: Sequence[Shape], b: Shape, relative: Array, lines_mm: tuple[float, float]
) -> Array:
    """The distance (n,) of a base's farthest part from the nearest of several shapes.

    As measured in every draw, where no draw takes it across a line.
    """
    measured_mm = farthest_distance_mm(shapes, b)
    reach_mm = float(vector_lengths(relative).max()) + CONTACT_TOLERANCE_MM
    if all(abs(measured_mm - line) > reach_mm for line in lines_mm):
        return np.full(relative.shape[1], measured_mm)
    if len(shapes) == 1:
        return farthest_distances(shapes[0], b, relative[0])
    # A hole inside it that is farther than its rim stays as much farther.
    rim = float(rim_farthest_from_all(shapes, b, np.zeros((len(shapes), 1, 2)))[0])
    return rim_farthest_from_all(shapes, b, relative) + max(measured_mm - rim, 0.0)
