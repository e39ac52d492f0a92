"""Rulers that bend at joints, in the picture from above: from a pair of segments on, joint by joint."""

from dataclasses import dataclass

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.rulers.bars import STRIDE_PX, Slopes, clearness, crossing

ONWARDS = 3
"""So many segments are followed from a pair, each way."""
TURN_DEG, TURN_STEP_DEG, TURN_COST = 14.0, 0.5, 0.1
"""How far a joint may be turned, by which steps that is tried, and what the greatest turn costs."""
STEEPEST = 0.5
"""What the steepest edges of all turns count for: a clear edge is as clear a pixel beside."""
END_PX = np.arange(-2.0, 3.0)
"""How far from where a segment should end its end is looked for."""
AWAY_PX = 3.0
"""Nearer to a joint than this a segment's edges are not looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Segments joined end to end: where the joints are (n + 1, 2) in pixels, and how clear each segment's edges are."""

    joints_px: Array
    clear: Array
    """(n,): 0 to 1."""


def chains(slopes: Slopes, pairs_px: Array, width_px: float, segment_px: float) -> list[Chain]:
    """What pairs of segments (P, 3, 2) belong to, and whatever lies beyond: `ONWARDS` segments more each way."""
    first, middle, _ = (pairs_px[:, k] for k in range(3))
    last = _next(slopes, first, middle, width_px, segment_px)  # a pair laid along one bar is too straight
    joints = [_next(slopes, last, middle, width_px, segment_px), middle, last]
    for _ in range(ONWARDS):
        joints.append(_next(slopes, joints[-2], joints[-1], width_px, segment_px))
        joints.insert(0, _next(slopes, joints[1], joints[0], width_px, segment_px))
    all_joints = np.stack(joints, 1)
    start, step = all_joints[:, :-1], np.diff(all_joints, axis=1)
    along = step / np.linalg.norm(step, axis=-1, keepdims=True)
    clear = clearness(_fainter_edge(slopes, start, along, width_px, segment_px)).mean(-1)
    return [Chain(*one) for one in zip(all_joints, clear, strict=True)]


def _next(slopes: Slopes, before: Array, joint: Array, width_px: float, segment_px: float) -> Array:
    """The other ends (P, 2) of the segments that begin at joints (P, 2), turned to where their edges are clearest."""
    turn = np.radians(np.arange(-TURN_DEG, TURN_DEG + TURN_STEP_DEG, TURN_STEP_DEG))
    way = joint - before
    angle = np.arctan2(way[:, 1], way[:, 0])[:, None] + turn
    along = np.stack([np.cos(angle), np.sin(angle)], -1)
    ends = joint[:, None] + segment_px * along
    edge = _fainter_edge(slopes, np.broadcast_to(joint[:, None], along.shape), along, width_px, segment_px)
    steep = edge.mean(-1)
    merit = clearness(edge).mean(-1) + STEEPEST * steep / np.maximum(steep.max(1, keepdims=True), 1e-6)
    merit += crossing(slopes, ends, along, width_px, END_PX) / 2 - TURN_COST * np.abs(turn) / turn[-1]
    return np.asarray(ends[np.arange(len(ends)), merit.argmax(1)])


def _fainter_edge(slopes: Slopes, start: Array, along: Array, width_px: float, segment_px: float) -> Array:
    """How steep (..., S) the fainter long edge is along segments that begin at (..., 2) and run along unit vectors."""
    normal = np.stack([-along[..., 1], along[..., 0]], -1)
    way = np.arange(AWAY_PX, segment_px - AWAY_PX, STRIDE_PX)[:, None]
    middle = start[..., None, :] + along[..., None, :] * way
    aside = normal[..., None, :] * width_px / 2
    sides = [slopes.across(middle + sign * aside, normal[..., None, :]) for sign in (-1, 1)]
    return np.asarray(np.minimum(*sides))
