"""Looking along rays from a base's centre: where the photo's colour changes across its rim."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.parabola import parabolic_peak_offset
from overruler.geometry.pose import Array

RAY_SPACING_PX = 1.5
"""Distance between neighbouring radii along the rim."""
RAY_STEP_PX, MAX_RAY_STEP_PX = 0.2, 0.5
"""Distance between neighbouring samples along a ray; where edges are only looked for roughly, at most."""
OCCLUSION_WEIGHT = 0.25
"""Weight of "no edge of this base here" against an edge of the usual strength right on the rim."""
MIN_EDGE_SLOPE = 0.12
"""Weaker slopes (L*a*b* units in `RAY_STEP_PX`) are noise."""


@dataclass(frozen=True, slots=True, eq=False)
class LabPatch:
    """The part of the photo round one base, as L*a*b*, with the camera's scale there."""

    lab: NDArray[np.float32]
    corner_px: Array
    camera: Camera
    z_mm: float
    mm_per_px: float

    @classmethod
    def crop_around(
        cls, pixels: NDArray[np.uint8], camera: Camera, xy_mm: Array, radius_mm: float, z_mm: float
    ) -> "LabPatch | None":
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
        lab = cv2.cvtColor(
            pixels[top:bottom, left:right].astype(np.float32) / 255, cv2.COLOR_BGR2Lab
        )
        lab = cv2.GaussianBlur(lab, (0, 0), 0.8)
        return cls(np.asarray(lab, np.float32), np.array([left, top]), camera, z_mm, scale)

    def sample_board(self, xy_mm: Array) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Colours (..., 3) at board points (..., 2), and whether they lie in the picture."""
        xyz = np.empty((*xy_mm.shape[:-1], 3))
        xyz[..., :2], xyz[..., 2] = xy_mm, self.z_mm
        at = self.camera.project(xyz)
        return self.sample_photo(at[..., 0], at[..., 1])

    def sample_photo(
        self, u_px: Array, v_px: Array
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Colours (..., 3) at the photo's pixels u and v (...,), and whether they lie in the picture."""
        u, v = (
            (at - corner).astype(np.float32)
            for at, corner in zip((u_px, v_px), self.corner_px, strict=True)
        )
        rows, columns = self.lab.shape[:2]
        inside = (u >= 0) & (v >= 0) & (u <= columns - 1) & (v <= rows - 1)
        colours = cv2.remap(self.lab, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(colours, np.float32), inside


@dataclass(frozen=True, slots=True, eq=False)
class RadialEdges:
    """Every edge found across the two rims."""

    ray: NDArray[np.intp]
    """(M,): on which radius."""
    radius_mm: Array
    """(M,): how far from the centre."""
    strength: Array
    """(M,): against the usual edge of this base."""


def ray_directions(radius_mm: float, mm_per_px: float) -> Array:
    """The directions (K, 2) to look along, unit vectors from +x counter-clockwise."""
    count = int(np.clip(2 * np.pi * radius_mm / mm_per_px / RAY_SPACING_PX, 40, 200))
    angles = np.arange(count) * (2 * np.pi / count)
    return np.stack([np.cos(angles), np.sin(angles)], -1)


def ray_step_px(sigma_px: float) -> float:
    """How far apart to sample where an edge's 1 σ about its place is `sigma_px`."""
    return min(max(RAY_STEP_PX * sigma_px, RAY_STEP_PX), MAX_RAY_STEP_PX)


def find_radial_edges(
    view: LabPatch,
    center_mm: Array,
    directions: Array,
    inner_mm: Array,
    outer_mm: Array,
    every_px: float = RAY_STEP_PX,
) -> RadialEdges:
    """The local maxima of the colour's slope along each radius, to a fraction of a step by a parabola."""
    return find_radial_edges_of_each(
        [view], [len(directions)], center_mm, directions, inner_mm, outer_mm, np.array([every_px])
    )


def find_radial_edges_of_each(
    views: Sequence[LabPatch],
    rays: Sequence[int],
    center_mm: Array,
    directions: Array,
    inner_mm: Array,
    outer_mm: Array,
    every_px: Array,
) -> RadialEdges:
    """The same for the rays of N bases at once, `rays` (N,) of each in turn, K in all.

    `center_mm` broadcasts to (K, 2), `directions` are (K, 2), `inner_mm` and `outer_mm` (K,), `every_px` (N,). All
    views are by one camera.
    """
    base, ends = np.repeat(np.arange(len(views)), rays), np.cumsum([0, *rays])
    step = every_px * [view.mm_per_px for view in views]
    counts = np.ceil(np.maximum.reduceat(outer_mm - inner_mm, ends[:-1]) / step).astype(int) + 1
    index, counts = np.arange(counts.max()), counts[base, None]
    radii = inner_mm[:, None] + index * step[base, None]
    heights = np.array([view.z_mm for view in views])[base, None]
    start = np.concatenate([np.broadcast_to(center_mm, (len(base), 2)), heights], -1)
    u, v = views[0].camera.project_along_rays(start, directions, radii)
    parts = [slice(*pair) for pair in pairwise(ends.tolist())]
    seen = [view.sample_photo(u[part], v[part]) for view, part in zip(views, parts, strict=True)]
    colours, inside = (np.concatenate(some) for some in zip(*seen, strict=True))
    change = colours[:, 1:] - colours[:, :-1]
    slope = np.sqrt(np.einsum("rsc,rsc->rs", change, change)) * (
        inside[:, 1:] & (index[1:] < counts)
    )
    slope *= np.float32(RAY_STEP_PX) / every_px.astype(np.float32)[base, None]
    steepest = slope.max(1)
    usual = np.array([_fast_median(steepest[part]) for part in parts])[base]
    ray, at = _slope_peaks(slope, np.maximum(MIN_EDGE_SLOPE, 0.25 * usual), counts - 2)
    part = parabolic_peak_offset(*(slope[ray, at + i] for i in (-1, 0, 1)))
    strength = np.minimum(slope[ray, at] / np.maximum(usual[ray], 1e-9), 1.5)
    return RadialEdges(ray, radii[ray, at] + (0.5 + part) * step[base[ray]], strength)


def _slope_peaks(
    slope: NDArray[np.float32], least: Array, last: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where (ray, step) slopes (K, S) are steeper than around and than the `least` (K,), before the `last` (K, 1)."""
    here = slope[:, 1:-1]
    peak = (
        (here >= slope[:, :-2]) & (here > slope[:, 2:]) & (here > least.astype(np.float32)[:, None])
    )
    ray, at = np.nonzero(peak & (np.arange(1, slope.shape[1] - 1) < last))
    return ray, at + 1


def _fast_median(values: NDArray[np.float32]) -> float:
    """The median; numpy's own takes longer than all else that is done here with a few values."""
    ordered = np.sort(values)
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def association_weights(
    edges: RadialEdges, off_mm: Array, sigma_mm: float | Array, rays: int
) -> Array:
    """How surely each edge (M,) is the rim's that it lies `off_mm` (M,) from.

    The edges of a ray compete with each other and with "hidden".
    """
    weight = edges.strength * np.exp(-0.5 * (off_mm / sigma_mm) ** 2)
    return np.asarray(weight / (np.bincount(edges.ray, weight, rays)[edges.ray] + OCCLUSION_WEIGHT))
