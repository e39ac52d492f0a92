"""How sure it is that a piece lies in ground with an outline of its own, over drawn places.

Alphabet: n draws.
"""

import math
from itertools import pairwise

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from overruler.geometry.batched.distances import gaps_at_shifts
from overruler.geometry.batched.vectors import Mask, unit_vectors
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Polygon, Shape
from overruler.rules.areas.outlined import outlined_ground
from overruler.rules.areas.shadows import hidden_places
from overruler.rules.areas.tree import Hidden, InArc, Outlined
from overruler.rules.bodies import Body
from overruler.rules.sampling import max_relative_shift_mm
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

Counts = NDArray[np.int_]
SHADOW_STRETCH = 8.0
"""How many times farther than its viewer the border of a shadow may move before nobody asks."""
RIM_POINTS = 32
"""Points round a base that say whether it may lie in a shadow: 0.2 mm off on a base of 80 mm."""
FINE_STEPS = 4
"""Parts of the way between two of them, where that is not sure: 0.01 mm off."""
FEW_DRAWS = 64
"""Draws that tell which points are not sure."""
FEW_DRAWS_WIDTH = 1.5
"""How much wider they spread, so that rare draws are among them."""
DECISIVE_SHARE = 0.7
"""Points that are hidden less often than this share of the most often hidden one do not decide."""
FRAME_SHARE = 2.0
"""How far the frame of an outline reaches round the board, in the board's sizes."""


def _wide_frame(scene: Scene) -> shapely.Polygon:
    width, height = scene.board.width_mm, scene.board.height_mm
    margin = FRAME_SHARE * max(width, height)
    return shapely.box(-margin, -margin, width + margin, height + margin)


def _owner(leaf: Outlined) -> Body | None:
    """The body that an outline moves with; None for a zone, which stands still."""
    if isinstance(leaf, InArc):
        return leaf.body
    return leaf.viewer if isinstance(leaf, Hidden) else None


def may_cross_outline(scene: Scene, leaf: Outlined, border: BaseGeometry, piece: Body) -> bool:
    """Whether doubt may carry a piece over the outline of some ground."""
    owner = _owner(leaf)
    reach_mm = max_relative_shift_mm(scene, owner.index if owner else None, piece.index)
    if isinstance(leaf, Hidden):
        reach_mm += SHADOW_STRETCH * max_relative_shift_mm(scene, None, leaf.viewer.index)
    if not reach_mm:
        return False
    shape = piece.parts[0]
    reach_mm += shape.bounding_radius_mm + CONTACT_TOLERANCE_MM
    return border.distance(shapely.Point(shape.center)) <= reach_mm


def border_of(scene: Scene, leaf: Outlined) -> BaseGeometry:
    """The outlines of some ground, as measured."""
    return outlined_ground(scene, leaf, _wide_frame(scene)).boundary


def _sides(ground: BaseGeometry) -> list[Polygon]:
    """The sides of the outlines of some ground."""
    sides = []
    for ring in shapely.get_rings(shapely.get_parts(ground)):
        points = shapely.get_coordinates(ring).tolist()
        for (ax, ay), (bx, by) in pairwise(points):
            if (ax, ay) != (bx, by):
                sides.append(Polygon(((ax, ay), (bx, by))))
    return sides


def shares_in_outlined(
    scene: Scene, leaf: Outlined, piece: Body, shifts: dict[int | None, Array], wants_whole: bool
) -> tuple[Counts, Counts]:
    """Whether (n,) any part of a piece lies in some ground, and whether all of it does."""
    own = shifts[piece.index]
    if isinstance(leaf, Hidden):
        return _shares_in_shadows(leaf, piece, own, shifts[leaf.viewer.index], wants_whole)
    if isinstance(leaf, InArc):
        own = own - shifts[leaf.body.index]
    return _shares_at(outlined_ground(scene, leaf, _wide_frame(scene)), piece, own)


def _shares_at(ground: BaseGeometry, piece: Body, own: Array) -> tuple[Counts, Counts]:
    """The same for ground that stands still, the piece moved by `own` (n, 2)."""
    shape = piece.parts[0]
    inside = shapely.contains_xy(ground, own + shape.center)
    sides = _sides(ground)
    nearest = np.full(len(own), np.inf)
    if sides:
        nearest = np.min([gaps_at_shifts(side, shape, own) for side in sides], 0)
    touches = nearest <= CONTACT_TOLERANCE_MM
    return (inside | touches).astype(int), (inside & ~touches).astype(int)


def _shares_in_shadows(
    leaf: Hidden, piece: Body, own: Array, viewers: Array, wants_whole: bool
) -> tuple[Counts, Counts]:
    """The same where each draw throws its own shadow, told by points round the piece's base.

    Few draws, spread wider, tell which points are not sure; only those are looked at in the many.
    """
    shape, viewer = piece.parts[0], leaf.viewer.parts[0]
    rim = np.vstack([_rim_of(shape, np.arange(RIM_POINTS) / RIM_POINTS), shape.center])
    few = slice(None, None, math.ceil(len(own) / FEW_DRAWS))
    spread = FEW_DRAWS_WIDTH * own[few], FEW_DRAWS_WIDTH * viewers[few]
    often = _are_hidden(leaf, viewer, rim, *spread).mean(0)
    some, whole = np.full(len(own), (often == 1).any()), np.full(len(own), (often > 0).all())
    unsure = (often > 0) & (often < 1)
    if not wants_whole:
        unsure &= often >= DECISIVE_SHARE * often.max()
    if unsure.any() and (wants_whole or not some.all()):
        points = _fine_points(shape, np.flatnonzero(unsure[:-1]))
        hidden = _are_hidden(leaf, viewer, points, own, viewers)
        some |= hidden.any(1)
        whole &= hidden.all(1)
    return some.astype(int), whole.astype(int)


def _rim_of(shape: Shape, shares: Array) -> Array:
    """The points (k, 2) of a rim at some shares of the turn of its normal."""
    return shape.support_points(unit_vectors(shares * 2 * np.pi))


def _fine_points(shape: Shape, points: NDArray[np.intp]) -> Array:
    """The centre of a shape, and points (k, 2) of its rim about some of the coarse ones."""
    about = np.arange(-FINE_STEPS, FINE_STEPS + 1)
    places = np.unique((FINE_STEPS * points[:, None] + about) % (FINE_STEPS * RIM_POINTS))
    rim = _rim_of(shape, places / (FINE_STEPS * RIM_POINTS))
    return np.unique(np.vstack([rim, shape.center]), axis=0)


def _are_hidden(leaf: Hidden, viewer: Shape, points: Array, own: Array, viewers: Array) -> Mask:
    """Whether (n, k) each of some points of a piece is hidden in each draw."""
    places = (points + own[:, None]).reshape(-1, 2)
    moves = np.repeat(viewers, len(points), 0)
    return hidden_places(leaf, viewer, places, moves).reshape(-1, len(points))
