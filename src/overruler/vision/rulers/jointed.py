"""Rulers that bend at joints, in the picture from above: from a pair of segments on, joint by joint."""

from dataclasses import dataclass

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.rulers.bars import (
    STATION_SPACING_PX,
    StructureTensor,
    clearness_of_gradient,
    crossing_clearness,
)

SEGMENTS_FOLLOWED_EACH_WAY = 3
"""So many segments are followed from a pair, each way."""
MAX_JOINT_TURN_DEG, TURN_STEP_DEG, MAX_TURN_COST = 14.0, 0.5, 0.1
"""How far a joint may be turned, by which steps that is tried, and what the greatest turn costs."""
STEEPEST_EDGE_WEIGHT = 0.5
"""What the steepest edges of all turns count for: a clear edge is as clear a pixel beside."""
END_SEARCH_OFFSETS_PX = np.arange(-2.0, 3.0)
"""How far from where a segment should end its end is looked for."""
JOINT_MARGIN_PX = 3.0
"""Nearer to a joint than this a segment's edges are not looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class SegmentChain:
    """Segments joined end to end: where the joints are (n + 1, 2) in pixels, and how clear each segment's edges are."""

    joints_px: Array
    edge_clearness: Array
    """(n,): 0 to 1."""


def follow_chains(
    slopes: StructureTensor, pairs_px: Array, width_px: float, segment_px: float
) -> list[SegmentChain]:
    """What pairs of segments (P, 3, 2) belong to, and whatever lies beyond: `SEGMENTS_FOLLOWED_EACH_WAY` segments more each way."""
    first, middle, _ = (pairs_px[:, k] for k in range(3))
    last = _next_joints(
        slopes, first, middle, width_px, segment_px
    )  # a pair laid along one bar is too straight
    joints = [_next_joints(slopes, last, middle, width_px, segment_px), middle, last]
    for _ in range(SEGMENTS_FOLLOWED_EACH_WAY):
        joints.append(_next_joints(slopes, joints[-2], joints[-1], width_px, segment_px))
        joints.insert(0, _next_joints(slopes, joints[1], joints[0], width_px, segment_px))
    all_joints = np.stack(joints, 1)
    start, step = all_joints[:, :-1], np.diff(all_joints, axis=1)
    along = step / np.linalg.norm(step, axis=-1, keepdims=True)
    clear = clearness_of_gradient(
        _fainter_edge_gradient(slopes, start, along, width_px, segment_px)
    ).mean(-1)
    return [SegmentChain(*one) for one in zip(all_joints, clear, strict=True)]


def _next_joints(
    slopes: StructureTensor, before: Array, joint: Array, width_px: float, segment_px: float
) -> Array:
    """The other ends (P, 2) of the segments that begin at joints (P, 2), turned to where their edges are clearest."""
    turn = np.radians(
        np.arange(-MAX_JOINT_TURN_DEG, MAX_JOINT_TURN_DEG + TURN_STEP_DEG, TURN_STEP_DEG)
    )
    way = joint - before
    angle = np.arctan2(way[:, 1], way[:, 0])[:, None] + turn
    along = np.stack([np.cos(angle), np.sin(angle)], -1)
    ends = joint[:, None] + segment_px * along
    edge = _fainter_edge_gradient(
        slopes, np.broadcast_to(joint[:, None], along.shape), along, width_px, segment_px
    )
    steep = edge.mean(-1)
    merit = clearness_of_gradient(edge).mean(-1) + STEEPEST_EDGE_WEIGHT * steep / np.maximum(
        steep.max(1, keepdims=True), 1e-6
    )
    merit += (
        crossing_clearness(slopes, ends, along, width_px, END_SEARCH_OFFSETS_PX) / 2
        - MAX_TURN_COST * np.abs(turn) / turn[-1]
    )
    return np.asarray(ends[np.arange(len(ends)), merit.argmax(1)])


def _fainter_edge_gradient(
    slopes: StructureTensor, start: Array, along: Array, width_px: float, segment_px: float
) -> Array:
    """How steep (..., S) the fainter long edge is along segments that begin at (..., 2) and run along unit vectors."""
    normal = np.stack([-along[..., 1], along[..., 0]], -1)
    way = np.arange(JOINT_MARGIN_PX, segment_px - JOINT_MARGIN_PX, STATION_SPACING_PX)[:, None]
    middle = start[..., None, :] + along[..., None, :] * way
    aside = normal[..., None, :] * width_px / 2
    sides = [slopes.gradient_along(middle + sign * aside, normal[..., None, :]) for sign in (-1, 1)]
    return np.asarray(np.minimum(*sides))
