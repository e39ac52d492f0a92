"""Looking along rays from a base's centre: where the photo's colour changes across its rim."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array

SPACING_PX = 1.5
"""Distance between neighbouring radii along the rim."""
STEP_PX, COARSE_PX = 0.2, 0.5
"""Distance between neighbouring samples along a ray; where edges are only looked for roughly, at most."""
HIDDEN = 0.25
"""Weight of "no edge of this base here" against an edge of the usual strength right on the rim."""
LEAST_EDGE = 0.12
"""Weaker slopes (L*a*b* units in `STEP_PX`) are noise."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The part of the photo round one base, as L*a*b*, with the camera's scale there."""

    lab: NDArray[np.float32]
    corner_px: Array
    camera: Camera
    z_mm: float
    mm_per_px: float

    @classmethod
    def around(
        cls, pixels: NDArray[np.uint8], camera: Camera, xy_mm: Array, radius_mm: float, z_mm: float
    ) -> "View | None":
        point = np.array([*xy_mm, z_mm])
        scale = float(camera.mm_per_px(point))
        middle = camera.project(point)
        reach = (radius_mm + 6) / scale * 1.6 + 12
        if not (np.isfinite(middle).all() and np.isfinite(scale)):
            return None
        rows, columns = pixels.shape[:2]
        left, top = np.maximum(np.floor(middle - reach), 0).astype(int)
        right, bottom = np.minimum(np.ceil(middle + reach) + 1, (columns, rows)).astype(int)
        if right - left < 8 or bottom - top < 8:
            return None
        lab = cv2.cvtColor(pixels[top:bottom, left:right].astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
        lab = cv2.GaussianBlur(lab, (0, 0), 0.8)
        return cls(np.asarray(lab, np.float32), np.array([left, top]), camera, z_mm, scale)

    def sample(self, xy_mm: Array) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Colours (..., 3) at board points (..., 2), and whether they lie in the picture."""
        xyz = np.empty((*xy_mm.shape[:-1], 3))
        xyz[..., :2], xyz[..., 2] = xy_mm, self.z_mm
        at = (self.camera.project(xyz) - self.corner_px).astype(np.float32)
        u, v = at[..., 0], at[..., 1]
        rows, columns = self.lab.shape[:2]
        inside = (u >= 0) & (v >= 0) & (u <= columns - 1) & (v <= rows - 1)
        colours = cv2.remap(self.lab, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(colours, np.float32), inside


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Every edge found across the two rims."""

    ray: NDArray[np.intp]
    """(M,): on which radius."""
    radius_mm: Array
    """(M,): how far from the centre."""
    strength: Array
    """(M,): against the usual edge of this base."""


def rays_of(radius_mm: float, mm_per_px: float) -> Array:
    """The directions (K, 2) to look along, unit vectors from +x counter-clockwise."""
    count = int(np.clip(2 * np.pi * radius_mm / mm_per_px / SPACING_PX, 40, 200))
    angles = np.arange(count) * (2 * np.pi / count)
    return np.stack([np.cos(angles), np.sin(angles)], -1)


def step_px(sigma_px: float) -> float:
    """How far apart to sample where an edge's 1 σ about its place is `sigma_px`."""
    return min(max(STEP_PX * sigma_px, STEP_PX), COARSE_PX)


def edges_across(
    view: View, center_mm: Array, directions: Array, inner_mm: Array, outer_mm: Array, every_px: float = STEP_PX
) -> Edges:
    """The local maxima of the colour's slope along each radius, to a fraction of a step by a parabola."""
    step = every_px * view.mm_per_px
    count = int(np.ceil((outer_mm - inner_mm).max() / step)) + 1
    radii = inner_mm[:, None] + np.arange(count) * step
    colours, inside = view.sample(center_mm + directions[:, None] * radii[..., None])
    change = colours[:, 1:] - colours[:, :-1]
    slope = np.sqrt(np.einsum("rsc,rsc->rs", change, change)) * inside[:, 1:] * np.float32(STEP_PX / every_px)
    usual = _middle(slope.max(1))
    here = slope[:, 1:-1]
    peak = (here >= slope[:, :-2]) & (here > slope[:, 2:]) & (here > max(LEAST_EDGE, 0.25 * usual))
    ray, at = np.nonzero(peak)
    at += 1
    before, here, after = (slope[ray, at + i] for i in (-1, 0, 1))
    part = 0.5 * (before - after) / (before - 2 * here + after)
    return Edges(ray, radii[ray, at] + (0.5 + part) * step, np.minimum(here / max(usual, 1e-9), 1.5))


def _middle(values: NDArray[np.float32]) -> float:
    """The median; numpy's own takes longer than all else that is done here with a few values."""
    ordered = np.sort(values)
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def claims(edges: Edges, off_mm: Array, sigma_mm: float, rays: int) -> Array:
    """How surely each edge (M,) is the rim's that it lies `off_mm` (M,) from.

    The edges of a ray compete with each other and with "hidden".
    """
    weight = edges.strength * np.exp(-0.5 * (off_mm / sigma_mm) ** 2)
    return np.asarray(weight / (np.bincount(edges.ray, weight, rays)[edges.ray] + HIDDEN))
