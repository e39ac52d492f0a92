"""A ruler straightened out: the photo resampled along the ruler's centre line."""

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.frame import Frame
from overruler.geometry.batched.vectors import left_normals
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array

WIDTH_TOLERANCE_MM = 1.4
"""Allowed error of the apparent width, in mm: wear, chamfers, and light that leaks over an edge."""
WIDTH_TOLERANCE_PX = 0.8
"""The same in photo pixels, added to the above."""
STRAIGHTNESS_TOLERANCE_MM = 0.4
"""Allowed distance of the centre line from a straight line, in mm."""
STRAIGHTNESS_TOLERANCE_PX = 0.4
"""The same in photo pixels, added to the above."""
SAMPLE_STEP_PX = 0.6
"""Spacing of the samples, in photo pixels."""
SAMPLE_STEP_BOUNDS_MM = (0.3, 0.6)
"""Bounds of that spacing, in mm."""
END_MARGIN_MM = 20.0
"""Length of the strip beyond each end of the ruler, in mm."""
SIDE_MARGIN_MM = 4.0
"""Width of the strip beyond each long edge, in mm."""
PROJECTION_STRIDE = 4
"""Only every fourth sample along the ruler is projected; samples between are interpolated."""
BEND_STIFFNESS = 0.5
"""Weight of a polyline's bends against its samples: a poorly seen joint must not become a corner."""


@dataclass(frozen=True, slots=True)
class RulerKind:
    """A known model of ruler."""

    name: str
    segment_mm: float
    """Length between two neighbouring cross lines."""
    segments: int
    """Number of segments."""
    width_mm: float
    z_mm: float
    """Height of the upper face above the board."""
    min_line_contrast: float
    """Least ratio of the cross lines' strength to that of anything else across the ruler."""
    jointed: bool = False
    """Whether the ruler bends at its joints."""
    stretch: float = 0.03
    """Largest relative error of its apparent length: the markers may be printed to a wrong size."""

    @property
    def length_mm(self) -> float:
        return self.segment_mm * self.segments


def fit_polyline(way: Array, knots: Array, values: Array, weight: NDArray[Any]) -> Array:
    """Fit a polyline with corners at `knots` (K,) to `values` (S, ...) at `way` (S,).

    Returns the values (K, ...) at the knots.
    """
    root = np.sqrt(weight)
    identity = np.eye(len(knots))
    hats = np.stack([root * np.interp(way, knots, row) for row in identity], -1)
    bend = np.diff(identity, 2, axis=0) * BEND_STIFFNESS
    weighted = values * root.reshape(-1, *[1] * (values.ndim - 1))
    no_bend = np.zeros((len(bend), *values.shape[1:]))
    rows = np.concatenate([hats, bend])
    right = np.concatenate([weighted, no_bend])
    return np.asarray(np.linalg.lstsq(rows, right, rcond=None)[0])


@dataclass(frozen=True, slots=True, eq=False)
class Strip:
    """The photo around a ruler, straightened: S samples along it, D across it."""

    lab: Array
    """(S, D, 3): L*a*b* colours."""
    along_mm: Array
    """(S,): distance from the ruler's first end."""
    across_mm: Array
    """(D,): signed distance from the centre line, positive to the left."""
    path_mm: Array
    """(n + 1, 2): the joints of the centre line and both its ends."""
    relief_displacement_mm: Array
    """(2, 2): how far outwards the lower edges appear at both ends, along and to the left."""
    width_tolerance_mm: float
    """Allowed error of the apparent width."""
    straightness_tolerance_mm: float
    """Allowed distance of the centre line from a straight line."""

    @property
    def step_mm(self) -> float:
        """Spacing of the samples along the ruler."""
        return float(self.along_mm[1] - self.along_mm[0])

    @classmethod
    def of(cls, frame: Frame, camera: Camera, kind: RulerKind, path: Array) -> "Strip":
        """Resample the photo along a centre line (n + 1, 2)."""
        scale = float(camera.mm_per_px(np.append(path.mean(0), kind.z_mm)))
        step = float(np.clip(SAMPLE_STEP_PX * scale, *SAMPLE_STEP_BOUNDS_MM))
        along = np.arange(-END_MARGIN_MM, kind.length_mm + END_MARGIN_MM, step)
        half = kind.width_mm / 2 + SIDE_MARGIN_MM
        across = np.arange(-half, half + step, step)
        at = _sample_pixels(camera, kind, path, along, across, step)
        pixels = cv2.remap(
            frame.pixels, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        lab = cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
        smooth = np.asarray(cv2.GaussianBlur(lab, (0, 0), 0.8), float)
        displacement = _relief_displacement(camera, kind, path)
        width_tolerance = WIDTH_TOLERANCE_MM + WIDTH_TOLERANCE_PX * scale
        straightness_tolerance = STRAIGHTNESS_TOLERANCE_MM + STRAIGHTNESS_TOLERANCE_PX * scale
        return cls(
            smooth, along, across, path, displacement, width_tolerance, straightness_tolerance
        )


def _sample_pixels(
    camera: Camera, kind: RulerKind, path: Array, along: Array, across: Array, step: float
) -> NDArray[np.float32]:
    """Photo pixels (S, D, 2) of the samples; only every few are projected."""
    sparse = np.arange(0, len(along) + PROJECTION_STRIDE, PROJECTION_STRIDE)
    sparse_along = along[0] + sparse * step
    points, normal = points_on_path(path, kind, sparse_along)
    sides = np.array([across[0], across[-1]])
    xy = points[:, None] + normal[:, None] * sides[:, None]
    z = np.full((*xy.shape[:2], 1), kind.z_mm)
    nodes = camera.project(np.concatenate([xy, z], -1)).astype(np.float32)
    u = np.linspace(0, 1, len(across))
    v = np.arange(len(along)) / PROJECTION_STRIDE
    columns, rows = (grid.astype(np.float32) for grid in np.meshgrid(u, v))
    return np.asarray(cv2.remap(nodes, columns, rows, cv2.INTER_LINEAR), np.float32)


def _relief_displacement(camera: Camera, kind: RulerKind, path: Array) -> Array:
    """How far outwards (2, 2) the lower edges appear at both ends, where a side face is visible."""
    eye = camera.center_mm
    towards = (eye[:2] - path[[0, -1]]) * kind.z_mm / eye[2]
    whole = path[-1] - path[0]
    along = whole / np.linalg.norm(whole)
    return np.asarray(towards @ np.stack([along, left_normals(along)], -1))


def points_on_path(path: Array, kind: RulerKind, along: Array) -> tuple[Array, Array]:
    """Points (S, 2) and unit normals (S, 2) at distances `along` (S,) on a path of whole segments."""
    piece = np.clip((along // kind.segment_mm).astype(int), 0, kind.segments - 1)
    steps = np.diff(path, axis=0)
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    beyond_joint = along - piece * kind.segment_mm
    points = path[piece] + steps[piece] * beyond_joint[:, None]
    return points, left_normals(steps[piece])


def regularize_path(kind: RulerKind, path: Array) -> Array:
    """Give every piece of a path the length of a segment, keeping its centroid.

    The path becomes straight unless the ruler is jointed.
    """
    number = np.arange(len(path))
    if not kind.jointed:
        columns = [np.polyval(np.polyfit(number, column, 1), number) for column in path.T]
        path = np.stack(columns, -1)
    steps = np.diff(path, axis=0)
    steps *= kind.segment_mm / np.linalg.norm(steps, axis=1, keepdims=True)
    laid = np.concatenate([[[0.0, 0.0]], np.cumsum(steps, 0)])
    return np.asarray(laid - laid.mean(0) + path.mean(0))


def shift_sideways(path: Array, shift: Array) -> Array:
    """Move the corners of a path (n, 2) to their left by `shift` (n,)."""
    steps = np.gradient(path, axis=0)
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    return np.asarray(path + shift[:, None] * left_normals(steps))
