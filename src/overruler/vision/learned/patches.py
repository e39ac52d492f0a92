"""Cut the inputs of the rim networks from the photo, as if seen from straight above.

There are square patches and unrolled rings. They are cut around shapes on the plane z = 0: circles
(N, 3) of x, y and radius in mm, or ellipses (N, 5) of x, y, half length and half width in mm, and
heading in rad. Around an ellipse the board is stretched until the ellipse is a circle, so that the
networks see circles only.
"""

from functools import cache
from threading import Lock
from typing import NamedTuple
from weakref import WeakKeyDictionary

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.frame import Frame
from overruler.geometry.batched.vectors import right_normals, unit_vectors
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.imaging.line_profiles import Floats

Picture = NDArray[np.uint8]

PATCH_PX = 64
"""Side of a patch, in px."""
PATCH_HALF_WIDTH_RADII = 1.75
"""Distance from a patch's centre to its borders, in radii."""
RING_ANGLE_COUNT = 48
"""Columns of an unrolled ring. They run from the right by "away from the camera"."""
RING_ROW_COUNT = 40
"""Rows of an unrolled ring, the innermost first."""
RING_INNER_RADII = 0.62
"""Where an unrolled ring begins, in radii."""
RING_OUTER_RADII = 1.38
"""Where an unrolled ring ends, in radii."""
WRAP_COLUMNS = 8
"""Columns repeated at either end of a ring, so that convolutions see no seam."""
CROSS_OFFSETS = np.array([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])
"""(5, 2): a place and its four neighbours, used as starts around half-hidden shapes."""
MAX_PYRAMID_LEVELS = 6
"""Levels of a photo's pyramid, the photo itself included."""
MIN_PYRAMID_SIDE_PX = 2 * PATCH_PX
"""The pyramid ends at the first level whose shorter side is not longer than this, in px."""
LEVEL_ROUNDING = 0.3
"""Added to the fractional pyramid level before rounding down."""
UNKNOWN_PX = -1e4
"""Photo coordinate of points behind the camera: far outside of any picture."""
_GRID_NODES = 9
"""Nodes along a patch's side, or across a ring, where the mapping is exact; linear between."""


def build_pyramid(pixels: Picture) -> list[Picture]:
    """Halve a picture repeatedly; pixel i of a level is pixel 2i of the level before."""
    levels = [pixels]
    while len(levels) < MAX_PYRAMID_LEVELS and min(levels[-1].shape[:2]) > MIN_PYRAMID_SIDE_PX:
        levels.append(np.asarray(cv2.pyrDown(levels[-1]), np.uint8))
    return levels


_PYRAMIDS: WeakKeyDictionary[Frame, list[Picture]] = WeakKeyDictionary()
"""The pyramids of the photos in use: each goes with its photo."""
_BUILDING = Lock()
"""Held while one is built: threads that look at one photo share its pyramid."""


def photo_pyramid(frame: Frame) -> list[Picture]:
    """Return a photo's pyramid; it is kept as long as the photo, because several networks use it in turn."""
    with _BUILDING:
        levels = _PYRAMIDS.get(frame)
        if levels is None:
            levels = _PYRAMIDS[frame] = build_pyramid(frame.pixels)
    return levels


def patch_axes_mm(camera: Camera, shapes: Array) -> Array:
    """Return the axes (N, 2, 2) of each cutout: one radius to the right and one up, in mm.

    Up points away from the camera. Anything with height leans that way, so a scene and its mirror
    image look alike to the networks.
    """
    axes, _ = upright_axes(camera, shapes)
    return np.asarray(axes @ shape_matrices_mm(shapes))


def shape_matrices_mm(shapes: Array) -> Array:
    """Return the symmetric matrices (N, 2, 2) that map the unit circle to each shape's outline."""
    if shapes.shape[1] == 3:
        return np.asarray(shapes[:, 2, None, None] * np.eye(2))
    cosine, sine = np.cos(shapes[:, 4]), np.sin(shapes[:, 4])
    along, across = np.stack([cosine, sine], -1), np.stack([-sine, cosine], -1)
    turn = np.stack([along, across], 1)
    return np.asarray(np.einsum("nki,nk,nkj->nij", turn, shapes[:, 2:4], turn))


def equal_area_radius_mm(shapes: Array) -> Array:
    """Return the radius (N,) of the circle of the same area."""
    if shapes.shape[1] == 3:
        return np.asarray(shapes[:, 2])
    return np.asarray(np.sqrt(shapes[:, 2] * shapes[:, 3]))


def upright_axes(camera: Camera, shapes: Array) -> tuple[Array, Array]:
    """Return right and up (N, 2, 2) in the stretched plane, where each shape is the unit circle.

    Also returns the factor (N,) by which relief leans further there than around a circle of the
    same area.
    """
    away = shapes[:, :2] - camera.center_mm[:2]
    distance = np.linalg.norm(away, axis=1, keepdims=True)
    unit = away / np.maximum(distance, 1e-6)
    away = np.where(distance > 1e-6, unit, [0.0, 1.0])
    stretched = np.linalg.solve(shape_matrices_mm(shapes), away[..., None])
    up = stretched[..., 0]
    length = np.linalg.norm(up, axis=1)
    up = up / length[:, None]
    right = right_normals(up)
    return np.stack([right, up], 1), length * equal_area_radius_mm(shapes)


def auxiliary_input(camera: Camera, shapes: Array) -> Floats:
    """Return what a cutout does not show (N, 3).

    The numbers are the tangent of the view angle, and the logarithms of radius and resolution.
    """
    eye = camera.center_mm
    _, stretch = upright_axes(camera, shapes)
    distance = np.linalg.norm(shapes[:, :2] - eye[:2], axis=1)
    tangent = distance / eye[2] * stretch
    radius = equal_area_radius_mm(shapes)
    share = np.maximum(_mm_per_px(camera, shapes) / radius, 0.02)
    logs = np.log(radius / 20), np.log(share / 0.04)
    return np.stack([tangent, *logs], -1).astype(np.float32)


def _mm_per_px(camera: Camera, shapes: Array) -> Array:
    return camera.mm_per_px(np.column_stack([shapes[:, :2], np.zeros(len(shapes))]))


def _sample_pyramid(
    levels: list[Picture], camera: Camera, shapes: Array, maps: Floats, pitch: float
) -> Picture:
    """Sample the photo at pixels `maps` (N, h, w, 2).

    The pyramid level suits samples that are `pitch` radii apart.
    """
    wanted = _pyramid_level(camera, shapes, pitch, len(levels))
    cutouts = np.empty((*maps.shape[:3], 3), np.uint8)
    planes = np.moveaxis(maps, -1, 0)
    for level in np.unique(wanted):
        some = wanted == level
        at = planes[:, some] / np.float32(2**level)
        u, v = at.reshape(2, -1, maps.shape[2])  # one cutout below the other
        cut = cv2.remap(levels[level], u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        cutouts[some] = cut.reshape(-1, *maps.shape[1:3], 3)
    return cutouts


def _pyramid_level(camera: Camera, shapes: Array, pitch: float, count: int) -> NDArray[np.intp]:
    """Choose a pyramid level (N,) for samples that are `pitch` radii apart."""
    step_px = pitch * equal_area_radius_mm(shapes) / _mm_per_px(camera, shapes)
    level = np.floor(np.log2(np.maximum(step_px, 1e-6)) + LEVEL_ROUNDING)
    return level.clip(0, count - 1).astype(int)


def _project_to_photo(camera: Camera, xy_mm: Array) -> Floats:
    """Project points (..., 2) of the plane z = 0; `UNKNOWN_PX` for points behind the camera."""
    xyz_mm = np.zeros((*xy_mm.shape[:-1], 3))
    xyz_mm[..., :2] = xy_mm
    return np.nan_to_num(camera.project(xyz_mm).astype(np.float32), nan=UNKNOWN_PX)


def _network_input(cutouts: Picture, *more: Floats) -> Floats:
    """Return cutouts (N, h, w, 3) as planes (N, 3 + k, h, w), and `more` planes, broadcast to (N, ., h, w).

    Colours have zero mean by plane and unit standard deviation.
    """
    count, height, width, _ = cutouts.shape
    ends = np.cumsum([3, *(part.shape[1] for part in more)])
    planes = np.empty((count, ends[-1], height, width), np.float32)
    _standardize_colours(cutouts, planes[:, :3].reshape(count, 3, -1))
    for part, start, end in zip(more, ends, ends[1:], strict=False):
        planes[:, start:end] = part
    return planes


def _standardize_colours(cutouts: Picture, colour: Floats) -> None:
    """Write colours (N, 3, h w) with zero mean by channel and unit standard deviation."""
    count = len(cutouts)
    # numpy sums fastest over the last axis
    colour[:] = cutouts.reshape(count, -1, 3).transpose(0, 2, 1)
    colour /= np.float32(255)
    colour -= colour.mean(-1, keepdims=True)
    square_sum = np.einsum("nkp,nkp->n", colour, colour)
    deviation = np.sqrt(square_sum / np.float32(colour[0].size))
    colour /= (deviation + np.float32(0.02))[:, None, None]


@cache
def _interpolation_weights(pixels: int) -> Floats:
    """Return the weights (pixels, 9) that interpolate from the grid nodes to pixel centres."""
    nodes = np.arange(_GRID_NODES)
    place = (np.arange(pixels) + 0.5) / pixels * (_GRID_NODES - 1)
    distance = np.abs(place[:, None] - nodes)
    return np.asarray(np.maximum(0, 1 - distance), np.float32)


# --- square patches ---


class PatchFormat(NamedTuple):
    """How large a patch is."""

    side_px: int
    """Its side."""
    half_width_radii: float
    """Distance from its centre to its borders, in radii."""


NEAR_PATCH = PatchFormat(PATCH_PX, PATCH_HALF_WIDTH_RADII)
"""What the rim networks see of a candidate."""


def cut_patches(
    levels: list[Picture], camera: Camera, shapes: Array, form: PatchFormat = NEAR_PATCH
) -> Picture:
    """Cut each shape's surroundings on the plane z = 0 (N, side, side, 3), up away from the camera."""
    pitch = 2 * form.half_width_radii / form.side_px
    return _sample_pyramid(levels, camera, shapes, patch_maps(camera, shapes, form), pitch)


def patch_maps(camera: Camera, shapes: Array, form: PatchFormat = NEAR_PATCH) -> Floats:
    """Return the photo's pixels under each patch (N, side, side, 2), interpolated from a grid."""
    nodes = np.linspace(-form.half_width_radii, form.half_width_radii, _GRID_NODES)
    right, up = np.meshgrid(nodes, -nodes)
    axes = patch_axes_mm(camera, shapes)
    rightwards = right[..., None] * axes[:, None, None, 0]
    upwards = up[..., None] * axes[:, None, None, 1]
    offsets = rightwards + upwards
    at = _project_to_photo(camera, shapes[:, None, None, :2] + offsets)
    weights = _interpolation_weights(form.side_px)
    fine = np.asarray(weights @ np.moveaxis(at, -1, 0) @ weights.T, np.float32)
    return np.moveaxis(fine, 0, -1)  # u and v stay apart in memory


def patch_input(patches: Picture, side: Floats, form: PatchFormat = NEAR_PATCH) -> Floats:
    """Build the input (N, 7, side, side) from patches of a format and `auxiliary_input` (N, 3)."""
    return _network_input(patches, side[:, :, None, None], _distance_from_rim(form)[None, None])


@cache
def _distance_from_rim(form: PatchFormat) -> Floats:
    """Return the distance (side, side) of each pixel from the unit circle, in radii."""
    share = (np.arange(form.side_px) + 0.5) / form.side_px
    steps = (share * 2 - 1) * form.half_width_radii
    distance = np.hypot(steps[:, None], steps)
    return np.asarray(distance - 1, np.float32)


# --- unrolled rings ---


def ring_angles() -> Array:
    """Return the angles (48,) of a ring's columns: 0 is right, π/2 is away from the camera."""
    return (np.arange(RING_ANGLE_COUNT) + 0.5) * 2 * np.pi / RING_ANGLE_COUNT


def cut_rings(levels: list[Picture], camera: Camera, shapes: Array) -> Picture:
    """Cut the ring around each shape's rim and unroll it (N, 40, 48, 3)."""
    pitch = (RING_OUTER_RADII - RING_INNER_RADII) / RING_ROW_COUNT
    return _sample_pyramid(levels, camera, shapes, ring_maps(camera, shapes), pitch)


def ring_maps(camera: Camera, shapes: Array) -> Floats:
    """Return the photo's pixels under each ring (N, 40, 48, 2), interpolated from a grid."""
    reach = np.linspace(RING_INNER_RADII, RING_OUTER_RADII, _GRID_NODES)
    angle = ring_angles()
    directions = unit_vectors(angle)
    unit = reach[:, None, None] * directions
    axes = patch_axes_mm(camera, shapes)[:, None, None]
    rightwards, upwards = unit[..., :1] * axes[..., 0, :], unit[..., 1:] * axes[..., 1, :]
    offsets = rightwards + upwards  # quicker than einsum
    at = _project_to_photo(camera, shapes[:, None, None, :2] + offsets)
    fine: Floats = _interpolation_weights(RING_ROW_COUNT) @ np.moveaxis(at, -1, 0)
    return np.moveaxis(fine, 0, -1)  # u and v stay apart in memory


def ring_input(rings: Picture, side: Floats) -> Floats:
    """Build the ring network's input (N, 8, 40, 64) from rings and `auxiliary_input` (N, 3)."""
    angle = ring_angles()
    direction = np.stack([np.cos(angle), np.sin(angle)]).astype(np.float32)
    blob = _network_input(rings, side[:, :, None, None], direction[None, :, None])
    first, last = blob[..., :WRAP_COLUMNS], blob[..., -WRAP_COLUMNS:]
    return np.concatenate([last, blob, first], -1)
