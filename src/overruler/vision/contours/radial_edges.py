"""Find the edges of a base's rim: sample the photo along rays from its centre."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.vectors import unit_vectors
from overruler.geometry.camera import Camera
from overruler.geometry.parabola import parabolic_peak_offset
from overruler.geometry.pose import Array
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.imaging.orthophoto import is_inside

RAY_SPACING_PX = 1.5
"""Spacing of neighbouring rays along the rim, in px."""
RAY_STEP_PX = 0.2
"""Spacing of samples along a ray, in px."""
MAX_RAY_STEP_PX = 0.5
"""Largest spacing of samples, for a rough search, in px."""
OCCLUSION_WEIGHT = 0.25
"""Weight of "hidden here", against an edge of the usual strength right on the rim."""
MIN_EDGE_SLOPE = 0.12
"""Weaker slopes are noise, in L*a*b* units per `RAY_STEP_PX`."""
MIN_RELATIVE_SLOPE = 0.25
"""Slopes below this share of the base's usual one are no edges."""
MAX_STRENGTH = 1.5
"""Upper limit of an edge's strength, against the base's usual edge."""
SMOOTHING_SIGMA_PX = 0.8
"""1 σ of the Gaussian that smooths a patch, in px."""
MIN_PATCH_PX = 8
"""Least side of a patch, in px."""


@dataclass(frozen=True, slots=True, eq=False)
class LabPatch:
    """The part of a photo around one base, as L*a*b*."""

    lab: Floats
    """(H, W, 3)."""
    corner_px: Array
    """(2,): the photo's pixel at the patch's upper left."""
    camera: Camera
    """The photo's camera."""
    z_mm: float
    """Height of the base's lower edge."""
    mm_per_px: float
    """The photo's resolution there."""

    @classmethod
    def crop_around(
        cls, pixels: NDArray[np.uint8], camera: Camera, xy_mm: Array, radius_mm: float, z_mm: float
    ) -> "LabPatch | None":
        """Crop the patch around a base; None where the photo does not show it."""
        point = np.array([*xy_mm, z_mm])
        scale = float(camera.mm_per_px(point))
        centre = camera.project(point)
        if not (np.isfinite(centre).all() and np.isfinite(scale)):
            return None
        reach = (radius_mm + 6) / scale * 1.6 + 12
        rows, columns = pixels.shape[:2]
        low, high = np.floor(centre - reach), np.ceil(centre + reach) + 1
        left, top = np.maximum(low, 0).astype(int)
        right, bottom = np.minimum(high, (columns, rows)).astype(int)
        if right - left < MIN_PATCH_PX or bottom - top < MIN_PATCH_PX:
            return None
        crop = pixels[top:bottom, left:right].astype(np.float32) / 255
        lab = cv2.cvtColor(crop, cv2.COLOR_BGR2Lab)
        lab = cv2.GaussianBlur(lab, (0, 0), SMOOTHING_SIGMA_PX)
        return cls(np.asarray(lab, np.float32), np.array([left, top]), camera, z_mm, scale)

    def sample_board(self, xy_mm: Array) -> tuple[Floats, NDArray[np.bool_]]:
        """Sample colours (..., 3) at board points (..., 2), and tell which lie in the patch."""
        xyz = np.empty((*xy_mm.shape[:-1], 3))
        xyz[..., :2] = xy_mm
        xyz[..., 2] = self.z_mm
        at = self.camera.project(xyz)
        return self.sample_photo(at[..., 0], at[..., 1])

    def sample_photo(self, u_px: Array, v_px: Array) -> tuple[Floats, NDArray[np.bool_]]:
        """Sample colours (..., 3) at the photo's pixels u, v (...,); tell which are inside."""
        left, top = self.corner_px
        u = (u_px - left).astype(np.float32)
        v = (v_px - top).astype(np.float32)
        rows, columns = self.lab.shape[:2]
        inside = is_inside(u, v, rows, columns)
        colours = cv2.remap(self.lab, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(colours, np.float32), inside


@dataclass(frozen=True, slots=True, eq=False)
class RadialEdges:
    """M edges found along rays."""

    ray: NDArray[np.intp]
    """(M,): index of the ray."""
    radius_mm: Array
    """(M,): distance from the ray's start."""
    strength: Array
    """(M,): slope against the usual edge of this base."""


def ray_directions(radius_mm: float, mm_per_px: float) -> Array:
    """Return the rays' directions (K, 2), unit vectors from +x counter-clockwise."""
    count = int(np.clip(2 * np.pi * radius_mm / mm_per_px / RAY_SPACING_PX, 40, 200))
    angles = np.arange(count, dtype=float) * (2 * np.pi / count)
    return unit_vectors(angles)


def ray_step_px(sigma_px: float) -> float:
    """Return the spacing of samples for edges with 1 σ `sigma_px` about their expected place."""
    return min(max(RAY_STEP_PX * sigma_px, RAY_STEP_PX), MAX_RAY_STEP_PX)


def find_radial_edges(
    view: LabPatch,
    center_mm: Array,
    directions: Array,
    inner_mm: Array,
    outer_mm: Array,
    every_px: float = RAY_STEP_PX,
) -> RadialEdges:
    """Find the local maxima of the colour slope along rays, refined by a parabola.

    `center_mm` broadcasts to (K, 2), `directions` are (K, 2). The search runs from `inner_mm` (K,)
    to `outer_mm` (K,), in steps of `every_px`.
    """
    steps_px = np.array([every_px])
    return find_radial_edges_of_each(
        [view], [len(directions)], center_mm, directions, inner_mm, outer_mm, steps_px
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
    """Do as `find_radial_edges` for N bases at once, which is faster.

    `rays` (N,) is the number of rays of each base, K in all; `every_px` is (N,). All views are by
    one camera.
    """
    base = np.repeat(np.arange(len(views)), rays)
    ends = np.cumsum([0, *rays])
    parts = [slice(*pair) for pair in pairwise(ends.tolist())]
    step = every_px * [view.mm_per_px for view in views]
    longest = np.maximum.reduceat(outer_mm - inner_mm, ends[:-1])
    counts = np.ceil(longest / step).astype(int) + 1
    index, counts = np.arange(counts.max()), counts[base, None]
    radii = inner_mm[:, None] + index * step[base, None]
    heights = np.array([view.z_mm for view in views])[base, None]
    start = np.concatenate([np.broadcast_to(center_mm, (len(base), 2)), heights], -1)
    u, v = views[0].camera.project_along_rays(start, directions, radii)
    slope = _colour_slopes(views, parts, u, v, index[1:] < counts)
    scale = np.float32(RAY_STEP_PX) / every_px.astype(np.float32)
    slope *= scale[base, None]
    steepest = slope.max(1)
    medians = [median_of_few(steepest[part]) for part in parts]
    usual = np.array(medians)[base]
    least = np.maximum(MIN_EDGE_SLOPE, MIN_RELATIVE_SLOPE * usual)
    ray, at = _slope_peaks(slope, least, counts - 2)
    offset = parabolic_peak_offset(*(slope[ray, at + i] for i in (-1, 0, 1)))
    relative = slope[ray, at] / np.maximum(usual[ray], 1e-9)
    strength = np.minimum(relative, MAX_STRENGTH)
    radius_mm = radii[ray, at] + (0.5 + offset) * step[base[ray]]
    return RadialEdges(ray, radius_mm, strength)


def _colour_slopes(
    views: Sequence[LabPatch], parts: Sequence[slice], u: Array, v: Array, used: NDArray[np.bool_]
) -> Floats:
    """Return the colour change (K, S - 1) between samples (K, S); 0 outside."""
    samples = []
    for view, part in zip(views, parts, strict=True):
        samples.append(view.sample_photo(u[part], v[part]))
    colours = np.concatenate([colour for colour, _ in samples])
    inside = np.concatenate([seen for _, seen in samples])
    change = colours[:, 1:] - colours[:, :-1]
    length = np.sqrt(np.einsum("rsc,rsc->rs", change, change))
    return np.asarray(length * (inside[:, 1:] & used), np.float32)


def _slope_peaks(
    slope: Floats, least: Array, last: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find local maxima (ray, step) of slopes (K, S) above `least` (K,), before `last` (K, 1)."""
    here = slope[:, 1:-1]
    before, after = slope[:, :-2], slope[:, 2:]
    steep = here > least.astype(np.float32)[:, None]
    is_peak = (here >= before) & (here > after)
    index = np.arange(1, slope.shape[1] - 1)
    ray, at = np.nonzero(is_peak & steep & (index < last))
    return ray, at + 1


def median_of_few(values: Floats | Array) -> float:
    """Return the median; on a few values numpy's own is slower than everything else here."""
    ordered = np.sort(values)
    lower, upper = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return float(lower + upper) / 2


def association_weights(
    edges: RadialEdges, off_mm: Array, sigma_mm: float | Array, rays: int
) -> Array:
    """Return the weight (M,) of each edge as the rim's, by its distance `off_mm` (M,) from the rim.

    The edges of a ray compete with each other and with "hidden".
    """
    z = off_mm / sigma_mm
    weight = edges.strength * np.exp(-0.5 * z**2)
    total = np.bincount(edges.ray, weight, rays)[edges.ray]
    return np.asarray(weight / (total + OCCLUSION_WEIGHT))
