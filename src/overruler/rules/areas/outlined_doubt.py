"""How sure it is that a piece lies in ground with an outline of its own, over drawn places.

Alphabet: n draws.
"""

from itertools import pairwise

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from overruler.geometry.batched.distances import gaps_at_shifts
from overruler.geometry.batched.vectors import unit_vectors
from overruler.geometry.pose import Array
from overruler.geometry.shapes import Polygon, gap, translate_shape
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
"""Points round a base that say whether it lies in a shadow: 0.2 mm off on a base of 80 mm."""
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


def may_cross_outline(scene: Scene, leaf: Outlined, piece: Body) -> bool:
    """Whether doubt may carry a piece over the outline of some ground."""
    owner = _owner(leaf)
    reach_mm = max_relative_shift_mm(scene, owner.index if owner else None, piece.index)
    if isinstance(leaf, Hidden):
        reach_mm += SHADOW_STRETCH * max_relative_shift_mm(scene, None, leaf.viewer.index)
    if not reach_mm:
        return False
    ground = outlined_ground(scene, leaf, _wide_frame(scene))
    shape = piece.parts[0]
    return any(
        gap(shape, side).distance_mm <= reach_mm + CONTACT_TOLERANCE_MM for side in _sides(ground)
    )


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
    scene: Scene, leaf: Outlined, piece: Body, shifts: dict[int | None, Array]
) -> tuple[Counts, Counts]:
    """Whether (n,) any part of a piece lies in some ground, and whether all of it does."""
    own = shifts[piece.index]
    if isinstance(leaf, Hidden):
        return _shares_in_shadows(leaf, piece, own, shifts[leaf.viewer.index])
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
    leaf: Hidden, piece: Body, own: Array, viewers: Array
) -> tuple[Counts, Counts]:
    """The same where each draw throws its own shadow, told by points round the piece's base."""
    turns = np.arange(RIM_POINTS) * 2 * np.pi / RIM_POINTS
    shape, viewer = piece.parts[0], leaf.viewer.parts[0]
    rim = np.vstack([shape.support_points(unit_vectors(turns)), shape.center])
    hidden = np.array(
        [
            hidden_places(leaf, translate_shape(viewer, x_mm, y_mm), rim + shift)
            for (x_mm, y_mm), shift in zip(viewers.tolist(), own, strict=True)
        ]
    )
    return hidden.any(1).astype(int), hidden.all(1).astype(int)
