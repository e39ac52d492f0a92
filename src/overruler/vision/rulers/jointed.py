"""Rulers that bend at joints, followed in the orthophoto from a pair of segments, joint by joint."""

from dataclasses import dataclass

import numpy as np

from overruler.geometry.batched.vectors import left_normals, unit_vectors
from overruler.geometry.pose import Array
from overruler.vision.rulers.bars import STATION_SPACING_PX
from overruler.vision.rulers.structure_tensor import (
    StructureTensor,
    clearness_of_gradient,
    crossing_clearness,
)

SEGMENTS_FOLLOWED_EACH_WAY = 3
"""Number of segments that are followed beyond each end of a pair."""
MAX_JOINT_TURN_DEG = 14.0
"""Largest turn of a joint, in degrees."""
TURN_STEP_DEG = 0.5
"""Step of the turns that are tried, in degrees."""
MAX_TURN_COST = 0.1
"""Cost of the largest turn, in units of edge clearness."""
STEEPEST_EDGE_WEIGHT = 0.5
"""Weight of an edge's steepness against the steepest of all turns: clearness alone saturates."""
END_SEARCH_OFFSETS_PX = np.arange(-2.0, 3.0)
"""Offsets from a segment's expected end at which the end is sought, in orthophoto pixels."""
JOINT_MARGIN_PX = 3.0
"""Edges nearer to a joint than this are not sampled, in orthophoto pixels."""


@dataclass(frozen=True, slots=True, eq=False)
class SegmentChain:
    """N segments joined end to end."""

    joints_px: Array
    """(N + 1, 2): the joints and both ends, in orthophoto pixels."""
    edge_clearness: Array
    """(N,): clearness of each segment's long edges, 0 to 1."""


def follow_chains(
    slopes: StructureTensor, pairs_px: Array, width_px: float, segment_px: float
) -> list[SegmentChain]:
    """Follow pairs of segments (P, 3, 2) by `SEGMENTS_FOLLOWED_EACH_WAY` more segments each way."""
    first, middle, _ = (pairs_px[:, k] for k in range(3))
    # a pair laid along one bar is too straight: its last joint is sought anew
    last = _next_joints(slopes, first, middle, width_px, segment_px)
    joints = [_next_joints(slopes, last, middle, width_px, segment_px), middle, last]
    for _ in range(SEGMENTS_FOLLOWED_EACH_WAY):
        joints.append(_next_joints(slopes, joints[-2], joints[-1], width_px, segment_px))
        joints.insert(0, _next_joints(slopes, joints[1], joints[0], width_px, segment_px))
    chains = np.stack(joints, 1)
    start = chains[:, :-1]
    step = np.diff(chains, axis=1)
    along = step / np.linalg.norm(step, axis=-1, keepdims=True)
    gradient = _fainter_edge_gradient(slopes, start, along, width_px, segment_px)
    clear = clearness_of_gradient(gradient).mean(-1)
    return [SegmentChain(*chain) for chain in zip(chains, clear, strict=True)]


def _next_joints(
    slopes: StructureTensor, before: Array, joint: Array, width_px: float, segment_px: float
) -> Array:
    """The far ends (P, 2) of the segments after `joint` (P, 2), turned to the clearest edges."""
    turns_deg = np.arange(-MAX_JOINT_TURN_DEG, MAX_JOINT_TURN_DEG + TURN_STEP_DEG, TURN_STEP_DEG)
    turn = np.radians(turns_deg)
    way = joint - before
    angle = np.arctan2(way[:, 1], way[:, 0])[:, None] + turn
    along = unit_vectors(angle)
    ends = joint[:, None] + segment_px * along
    start = np.broadcast_to(joint[:, None], along.shape)
    gradient = _fainter_edge_gradient(slopes, start, along, width_px, segment_px)
    steep = gradient.mean(-1)
    steepest = np.maximum(steep.max(1, keepdims=True), 1e-6)
    merit = clearness_of_gradient(gradient).mean(-1) + STEEPEST_EDGE_WEIGHT * steep / steepest
    ended = crossing_clearness(slopes, ends, along, width_px, END_SEARCH_OFFSETS_PX)
    merit += ended / 2 - MAX_TURN_COST * np.abs(turn) / turn[-1]
    return np.asarray(ends[np.arange(len(ends)), merit.argmax(1)])


def _fainter_edge_gradient(
    slopes: StructureTensor, start: Array, along: Array, width_px: float, segment_px: float
) -> Array:
    """Gradient (..., S) of the fainter long edge of segments from `start` (..., 2)."""
    normal = left_normals(along)
    way = np.arange(JOINT_MARGIN_PX, segment_px - JOINT_MARGIN_PX, STATION_SPACING_PX)[:, None]
    center = start[..., None, :] + along[..., None, :] * way
    aside = normal[..., None, :] * width_px / 2
    across = normal[..., None, :]
    right = slopes.gradient_along(center - aside, across)
    left = slopes.gradient_along(center + aside, across)
    return np.asarray(np.minimum(right, left))
