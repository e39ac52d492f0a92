"""A ruler straightened out: its picture along its own middle line, and where its long edges lie in that."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array

MIN_SEEN_STRAIGHT, MIN_SEEN_JOINTED = (0.4, 0.15), (0.65, 0.45)
"""The share of a ruler's length along which both its edges must be seen, and that of each of its thirds or segments:
more where it may bend, for then it may follow much."""
WIDTH_TOLERANCE_MM, WIDTH_TOLERANCE_PX = 1.4, 0.8
"""By how much the two edges may lie too far apart or too near: wear, chamfers, and light that leaks over an edge."""
STRAIGHTNESS_TOLERANCE_MM, STRAIGHTNESS_TOLERANCE_PX = 0.4, 0.4
"""How far an edge of a ruler lies from its straight line at most."""
ROBUST_SCALE_MM = 0.4
"""An edge so far off its straight line counts a quarter."""
OFFSET_STEP_MM, INLIER_DISTANCE_MM = 0.5, 0.9
"""By which steps a line is laid; nearer to it than this, edges speak for it."""
EDGE_SEARCH_MM = 3.5
"""How far from their place edges are looked for."""
SAMPLE_STEP_PX, SAMPLE_STEP_BOUNDS_MM = 0.6, (0.3, 0.6)
"""Spacing of the samples of the straightened picture, and its bounds."""
END_MARGIN_MM = 20.0
"""How far that reaches past the ruler."""
SIDE_MARGIN_MM = 4.0
"""How far it reaches past the ruler's edges."""
PROJECTION_STRIDE = 4
"""Of so many samples along the ruler one is projected; places in between are linear."""


@dataclass(frozen=True, slots=True)
class RulerKind:
    """A ruler that is known."""

    name: str
    segment_mm: float
    segments: int
    width_mm: float
    z_mm: float
    """Its upper face."""
    stands_out: float
    """How many times stronger its cross lines are than what else crosses it, at least."""
    jointed: bool = False
    """Whether it bends at its joints."""
    stretch: float = 0.03
    """By which share it may seem longer or shorter: markers may be printed to a wrong size."""

    @property
    def length_mm(self) -> float:
        return self.segment_mm * self.segments


def fit_polyline(way: Array, knots: Array, values: Array, weight: NDArray[Any]) -> Array:
    """The broken line (K, ...) with corners at `knots` (K,) that is nearest to `values` (S, ...) at `way` (S,)."""
    root = np.sqrt(weight)
    hats = np.stack([root * np.interp(way, knots, row) for row in np.eye(len(knots))], -1)
    bend = (
        np.diff(np.eye(len(knots)), 2, axis=0) * 0.5
    )  # a little stiff: a joint seen badly is no corner
    seen = values * root.reshape(-1, *[1] * (values.ndim - 1))
    rows, right = (
        np.concatenate([hats, bend]),
        np.concatenate([seen, np.zeros((len(bend), *values.shape[1:]))]),
    )
    return np.asarray(np.linalg.lstsq(rows, right, rcond=None)[0])


@dataclass(frozen=True, slots=True, eq=False)
class Strip:
    """A ruler straightened out: its colours (S, D, 3) at places along it (S,) and across it (D,)."""

    lab: Array
    along_mm: Array
    across_mm: Array
    path_mm: Array
    relief_displacement_mm: Array
    """(2, 2): how far outwards, at both ends, the lower edges are seen: along the ruler and to its left."""
    width_tolerance_mm: float
    """By how much its width may seem wrong."""
    straightness_tolerance_mm: float
    """How far its edges may seem to lie from a straight line."""

    @classmethod
    def of(cls, frame: Frame, camera: Camera, kind: RulerKind, path: Array) -> "Strip":
        scale = float(camera.mm_per_px(np.append(path.mean(0), kind.z_mm)))
        step = float(np.clip(SAMPLE_STEP_PX * scale, *SAMPLE_STEP_BOUNDS_MM))
        along = np.arange(-END_MARGIN_MM, kind.length_mm + END_MARGIN_MM, step)
        half = kind.width_mm / 2 + SIDE_MARGIN_MM
        across = np.arange(-half, half + step, step)
        sparse_along, sparse_across = (
            along[0] + np.arange(0, len(along) + PROJECTION_STRIDE, PROJECTION_STRIDE) * step,
            [across[0], across[-1]],
        )
        middle, normal = points_on_path(path, kind, sparse_along)
        xy = middle[:, None] + normal[:, None] * np.array(sparse_across)[:, None]
        nodes = camera.project(
            np.concatenate([xy, np.full((*xy.shape[:2], 1), kind.z_mm)], -1)
        ).astype(np.float32)
        u, v = np.meshgrid(
            np.linspace(0, 1, len(across)), np.arange(len(along)) / PROJECTION_STRIDE
        )
        at = cv2.remap(nodes, u.astype(np.float32), v.astype(np.float32), cv2.INTER_LINEAR)
        pixels = cv2.remap(
            frame.pixels, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        lab = cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
        return cls(
            np.asarray(cv2.GaussianBlur(lab, (0, 0), 0.8), float),
            along,
            across,
            path,
            _relief_displacement(camera, kind, path),
            WIDTH_TOLERANCE_MM + WIDTH_TOLERANCE_PX * scale,
            STRAIGHTNESS_TOLERANCE_MM + STRAIGHTNESS_TOLERANCE_PX * scale,
        )


def _relief_displacement(camera: Camera, kind: RulerKind, path: Array) -> Array:
    """Where a face of the ruler's side is seen, its lower edge lies so far out (2, 2), at both ends."""
    eye = camera.center_mm
    towards = (eye[:2] - path[[0, -1]]) * kind.z_mm / eye[2]
    along = (path[-1] - path[0]) / np.linalg.norm(path[-1] - path[0])
    return np.asarray(towards @ np.stack([along, [-along[1], along[0]]], -1))


def points_on_path(path: Array, kind: RulerKind, along: Array) -> tuple[Array, Array]:
    """Places (S, 2) so far along a broken line whose pieces are a segment each, and unit normals (S, 2)."""
    piece = np.clip((along // kind.segment_mm).astype(int), 0, kind.segments - 1)
    steps = np.diff(path, axis=0)
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    middle = path[piece] + steps[piece] * (along - piece * kind.segment_mm)[:, None]
    return middle, np.stack([-steps[piece, 1], steps[piece, 0]], -1)


def regularize_path(kind: RulerKind, path: Array) -> Array:
    """The same line with pieces of a segment each, about the same middle; straight unless the ruler is jointed."""
    number = np.arange(len(path))
    if not kind.jointed:
        path = np.stack(
            [np.polyval(np.polyfit(number, column, 1), number) for column in path.T], -1
        )
    steps = np.diff(path, axis=0)
    steps *= kind.segment_mm / np.linalg.norm(steps, axis=1, keepdims=True)
    laid = np.concatenate([[[0.0, 0.0]], np.cumsum(steps, 0)])
    return np.asarray(laid - laid.mean(0) + path.mean(0))


def shift_sideways(path: Array, shift: Array) -> Array:
    """A broken line (n, 2) whose corners are moved to their left by so much (n,)."""
    steps = np.gradient(path, axis=0)
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    return np.asarray(path + shift[:, None] * np.stack([-steps[:, 1], steps[:, 0]], -1))


@dataclass(frozen=True, slots=True, eq=False)
class LongEdgeFit:
    """What a ruler's long edges say."""

    shift_mm: Array
    """(n + 1,): how far each joint is to be moved across, to the left."""
    edge_spread_mm: float
    """By how much edges seem to lie too far out."""
    seen_share: float
    """The share of its length along which both are seen."""


def fit_long_edges(strip: Strip, kind: RulerKind) -> LongEdgeFit | None:
    """Where the ruler lies by its long edges; None where it has none."""
    along, left, right = _locate_long_edges(strip, kind)
    lean = float(strip.relief_displacement_mm[:, 1].mean())
    wider = left - right - kind.width_mm
    inside = (along > 4) & (along < kind.length_mm - 4)
    good = (
        inside
        & (wider > -strip.width_tolerance_mm)
        & (wider < strip.width_tolerance_mm + abs(lean))
    )
    least = MIN_SEEN_JOINTED if kind.jointed else MIN_SEEN_STRAIGHT
    if good.sum() < least[0] * inside.sum():
        return None
    joints = np.asarray(kind.segment_mm * np.arange(kind.segments + 1), float)
    wide = float(np.median(wider[good]))
    face = float(np.clip(wide, 0, abs(lean)))  # the side's own, not the upper face's
    center = (left + right - face * np.sign(lean)) / 2
    knots = joints if kind.jointed else joints[[0, -1]]
    line = np.interp(along, knots, _robust_polyline(along[good], center[good], knots))
    for _ in range(3):
        moved = fit_polyline(
            along, knots, center, good / (1 + ((center - line) / ROBUST_SCALE_MM) ** 2) ** 2
        )
        line = np.interp(along, knots, moved)
    seen = (good & (np.abs(center - line) < strip.straightness_tolerance_mm))[inside]
    pieces = kind.segments if kind.jointed else 3
    if (
        seen.mean() < least[0]
        or min(part.mean() for part in np.array_split(seen, pieces)) < least[1]
    ):
        return None
    return LongEdgeFit(
        np.asarray(np.interp(joints, knots, moved)), (wide - face) / 2, float(seen.mean())
    )


def _robust_polyline(along: Array, center: Array, knots: Array) -> Array:
    """The broken line (K,) with corners at `knots` that most of the middles (S,) lie near.

    By dynamic programming over its corners.
    """
    corner = np.arange(-EDGE_SEARCH_MM, EDGE_SEARCH_MM + OFFSET_STEP_MM, OFFSET_STEP_MM)
    total, came = np.zeros(len(corner)), []
    for start, end in pairwise(knots):
        here = (along >= start) & (along < end)
        share = (along[here] - start) / (end - start)
        off = corner[:, None, None] * (1 - share) + corner[:, None] * share - center[here]
        through = total[:, None] + np.maximum(1 - (off / INLIER_DISTANCE_MM) ** 2, 0).sum(-1)
        came.append(through.argmax(0))
        total = through.max(0)
    path = [int(total.argmax())]
    for back in reversed(came):
        path.append(int(back[path[-1]]))
    return np.asarray(corner[path[::-1]])


def _locate_long_edges(strip: Strip, kind: RulerKind) -> tuple[Array, Array, Array]:
    """Places along (S,), and where the left and the right edge lie there (S,): steep, and as far apart as they should.

    A shadow's edge beside the ruler may be steeper than the ruler's own.
    """
    step = np.diff(strip.lab, axis=1)
    slope = np.asarray(
        cv2.blur(np.sqrt(np.einsum("sdc,sdc->sd", step, step)), (1, 9))[::PROJECTION_STRIDE], float
    )
    middle = (strip.across_mm[1:] + strip.across_mm[:-1]) / 2
    lean = float(strip.relief_displacement_mm[:, 1].mean())
    near = (
        np.abs(middle + kind.width_mm / 2 - min(lean, 0) / 2)
        < EDGE_SEARCH_MM + abs(min(lean, 0)) / 2
    )
    far = np.abs(middle - kind.width_mm / 2 - max(lean, 0) / 2) < EDGE_SEARCH_MM + max(lean, 0) / 2
    wider = middle[far][:, None] - middle[near] - kind.width_mm
    unlike = (
        np.maximum(np.maximum(-wider, wider - abs(lean)) - strip.width_tolerance_mm / 3, 0)
        / strip.width_tolerance_mm
    ) ** 2
    steepest = np.maximum(slope[:, near | far].max(1), 1e-6)[:, None]
    merit = (
        (slope[:, far] / steepest)[:, :, None]
        + (slope[:, near] / steepest)[:, None]
        - unlike.astype(np.float32)
    )
    best = merit.reshape(len(slope), -1).argmax(1)
    row, column = np.divmod(best, int(near.sum()))
    return (
        strip.along_mm[::PROJECTION_STRIDE],
        _peak_centroid(slope, middle, middle[far][row]),
        _peak_centroid(slope, middle, middle[near][column]),
    )


def _peak_centroid(height: Array, at: Array, near: Array) -> Array:
    """The centroid (S,) of the peaks of rows (S, D) near places (S,)."""
    weight = height * (np.abs(at - near[:, None]) <= 1.3)
    return np.asarray((weight * at).sum(1) / np.maximum(weight.sum(1), 1e-9))
