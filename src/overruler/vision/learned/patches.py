"""What the rim finder's networks look at: square patches and unrolled rings, cut from the photo as seen from above.

They are cut round circles (N, 3) of x, y and radius in mm on the plane z = 0, or round ellipses (N, 5) of x, y, half
length, half width and heading in rad: the board is then stretched so that the ellipse is a circle, and nothing that
looks on can tell.
"""

from functools import cache, lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array

Floats = NDArray[np.float32]
Picture = NDArray[np.uint8]

PATCH_PX = 64
"""A patch's side."""
PATCH_HALF_WIDTH_RADII = 1.75
"""A patch reaches this many radii from its middle to either side."""
RING_ANGLE_COUNT, RING_ROW_COUNT = 48, 40
"""An unrolled ring's width and height in pixels; its columns go round from the right over "away from the camera"."""
RING_INNER_RADII, RING_OUTER_RADII = 0.62, 1.38
"""An unrolled ring reaches from here to there, in radii, the upper row being the inner one."""
WRAP_COLUMNS = 8
"""Columns repeated at either end, so that a convolution sees no seam."""
CROSS_OFFSETS = np.array([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])
"""(5, 2): a place and four beside it, where what is half hidden is looked at too."""
MAX_PYRAMID_LEVELS = 6
_GRID_NODES = 9
"""Cutouts are exact at so many nodes a side, rings at so many from the inside out, and linear in between."""


def build_pyramid(pixels: Picture) -> list[Picture]:
    """The picture and its halves; pixel i of one is pixel 2i of the one before."""
    levels = [pixels]
    while len(levels) < MAX_PYRAMID_LEVELS and min(levels[-1].shape[:2]) > 2 * PATCH_PX:
        levels.append(np.asarray(cv2.pyrDown(levels[-1]), np.uint8))
    return levels


@lru_cache(maxsize=1)
def photo_pyramid(frame: Frame) -> list[Picture]:
    """The pyramid of a photo: several looks at the same one follow each other."""
    return build_pyramid(frame.pixels)


def patch_axes_mm(camera: Camera, shapes: Array) -> Array:
    """The steps on the board (N, 2, 2), in mm, one radius to the right and one up in each cutout.

    Up is away from the camera: whatever has height leans that way, so a scene and its mirror image look alike to the
    networks.
    """
    return np.asarray(_upright_axes(camera, shapes)[0] @ shape_matrices_mm(shapes))


def shape_matrices_mm(shapes: Array) -> Array:
    """The symmetric matrices (N, 2, 2) that take the unit circle to each shape about its middle."""
    if shapes.shape[1] == 3:
        return np.asarray(shapes[:, 2, None, None] * np.eye(2))
    c, s = np.cos(shapes[:, 4]), np.sin(shapes[:, 4])
    turn = np.stack([np.stack([c, s], -1), np.stack([-s, c], -1)], 1)
    return np.asarray(np.einsum("nki,nk,nkj->nij", turn, shapes[:, 2:4], turn))


def equal_area_radius_mm(shapes: Array) -> Array:
    """The radius of the circle of the same area (N,)."""
    return np.asarray(
        shapes[:, 2] if shapes.shape[1] == 3 else np.sqrt(shapes[:, 2] * shapes[:, 3])
    )


def _upright_axes(camera: Camera, shapes: Array) -> tuple[Array, Array]:
    """Right and up (N, 2, 2) in the stretched plane where each shape is the unit circle, and by how much what leans
    there leans further than by a circle of the same area (N,)."""
    away = shapes[:, :2] - camera.center_mm[:2]
    length = np.linalg.norm(away, axis=1, keepdims=True)
    away = np.where(length > 1e-6, away / np.maximum(length, 1e-6), [0.0, 1.0])
    up = np.linalg.solve(shape_matrices_mm(shapes), away[..., None])[..., 0]
    long = np.linalg.norm(up, axis=1)
    up = up / long[:, None]
    return np.stack([np.stack([up[:, 1], -up[:, 0]], -1), up], 1), long * equal_area_radius_mm(
        shapes
    )


def auxiliary_input(camera: Camera, shapes: Array) -> Floats:
    """What a cutout does not show (N, 3): tangent of the view angle, logs of the radius and of the resolution."""
    eye = camera.center_mm
    tangent = (
        np.linalg.norm(shapes[:, :2] - eye[:2], axis=1) / eye[2] * _upright_axes(camera, shapes)[1]
    )
    radius = equal_area_radius_mm(shapes)
    share = np.maximum(_mm_per_px(camera, shapes) / radius, 0.02)
    return np.stack([tangent, np.log(radius / 20), np.log(share / 0.04)], -1).astype(np.float32)


def _mm_per_px(camera: Camera, shapes: Array) -> Array:
    return camera.mm_per_px(np.column_stack([shapes[:, :2], np.zeros(len(shapes))]))


def _sample_pyramid(
    levels: list[Picture], camera: Camera, shapes: Array, maps: Floats, pitch: float
) -> Picture:
    """The photo at the pixels `maps` (N, h, w, 2), from the level that suits a sample every `pitch` radii."""
    fineness = pitch * equal_area_radius_mm(shapes) / _mm_per_px(camera, shapes)
    wanted = (
        np.floor(np.log2(np.maximum(fineness, 1e-6)) + 0.3).clip(0, len(levels) - 1).astype(int)
    )
    cutouts = np.empty((*maps.shape[:3], 3), np.uint8)
    for level in np.unique(wanted):
        some = wanted == level
        at = (maps[some] / np.float32(2**level)).reshape(
            -1, maps.shape[2], 2
        )  # one below the other
        cut = cv2.remap(
            levels[level], at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        cutouts[some] = cut.reshape(-1, *maps.shape[1:3], 3)
    return cutouts


def _project_to_photo(camera: Camera, xy_mm: Array) -> Floats:
    """Where points (..., 2) of the plane z = 0 are seen, far outside the picture where they are behind the camera."""
    at = camera.project(np.concatenate([xy_mm, np.zeros((*xy_mm.shape[:-1], 1))], -1))
    return np.nan_to_num(at, nan=-1e4).astype(np.float32)


def _standardize_colours(cutouts: Picture) -> Floats:
    """Colours (N, 3, h, w) without their mean, in units of their spread."""
    count, height, width, _ = cutouts.shape
    colour = np.empty((count, 3, height * width), np.float32)
    colour[:] = cutouts.reshape(count, -1, 3).transpose(
        0, 2, 1
    )  # sums over a last axis are the quick ones
    colour /= np.float32(255)
    colour -= colour.mean(-1, keepdims=True)
    spread = np.sqrt(np.einsum("nkp,nkp->n", colour, colour) / np.float32(3 * height * width))
    colour /= (spread + np.float32(0.02))[:, None, None]
    return colour.reshape(count, 3, height, width)


def _append_channels(colour: Floats, *more: Floats) -> Floats:
    """Colours (N, 3, h, w) and further channels, each broadcast to (N, k, h, w)."""
    count, _, height, width = colour.shape
    wide = [np.broadcast_to(m, (count, m.shape[1], height, width)) for m in more]
    return np.ascontiguousarray(np.concatenate([colour, *wide], 1), np.float32)


# --- square patches ---


def cut_patches(levels: list[Picture], camera: Camera, shapes: Array) -> Picture:
    """Each candidate's surroundings on the plane z = 0 (N, 64, 64, 3), away from the camera upwards."""
    return _sample_pyramid(
        levels, camera, shapes, patch_maps(camera, shapes), 2 * PATCH_HALF_WIDTH_RADII / PATCH_PX
    )


def patch_maps(camera: Camera, shapes: Array) -> Floats:
    """The photo's pixels under each patch (N, 64, 64, 2): exact on a coarse grid, linear between."""
    nodes = np.linspace(-PATCH_HALF_WIDTH_RADII, PATCH_HALF_WIDTH_RADII, _GRID_NODES)
    right, up = np.meshgrid(nodes, -nodes)
    axes = patch_axes_mm(camera, shapes)
    offsets = right[..., None] * axes[:, None, None, 0] + up[..., None] * axes[:, None, None, 1]
    at = _project_to_photo(camera, shapes[:, None, None, :2] + offsets)
    weights = _interpolation_weights(PATCH_PX)
    fine = weights @ np.moveaxis(at, -1, 1) @ weights.T
    return np.ascontiguousarray(np.moveaxis(fine, 1, -1))


@cache
def _interpolation_weights(pixels: int) -> Floats:
    """Linear interpolation (pixels, 9) from the nodes to the middles of pixels over the same width."""
    where = (np.arange(pixels) + 0.5) / pixels * (_GRID_NODES - 1)
    return np.asarray(
        np.maximum(0, 1 - np.abs(where[:, None] - np.arange(_GRID_NODES))), np.float32
    )


def _patch_coordinates() -> Array:
    """Where the pixels of a patch's row lie, in radii (64,)."""
    return ((np.arange(PATCH_PX) + 0.5) / PATCH_PX * 2 - 1) * PATCH_HALF_WIDTH_RADII


def patch_input(patches: Picture, side: Floats) -> Floats:
    """Patches and their side input (N, 3) as the first network takes them: (N, 7, 64, 64)."""
    return _append_channels(
        _standardize_colours(patches), side[:, :, None, None], _distance_from_rim()[None, None]
    )


@cache
def _distance_from_rim() -> Floats:
    """How far each pixel of a patch is from its middle, in radii (64, 64), 1 subtracted."""
    steps = _patch_coordinates()
    return np.asarray(np.hypot(steps[:, None], steps) - 1, np.float32)


# --- unrolled rings ---


def ring_angles() -> Array:
    """The directions of an unrolled ring's columns (48,): 0 is right, a quarter turn is away from the camera."""
    return (np.arange(RING_ANGLE_COUNT) + 0.5) * 2 * np.pi / RING_ANGLE_COUNT


def cut_rings(levels: list[Picture], camera: Camera, shapes: Array) -> Picture:
    """The ring round each candidate's rim, unrolled (N, 40, 48, 3)."""
    pitch = (RING_OUTER_RADII - RING_INNER_RADII) / RING_ROW_COUNT
    return _sample_pyramid(levels, camera, shapes, ring_maps(camera, shapes), pitch)


def ring_maps(camera: Camera, shapes: Array) -> Floats:
    """The photo's pixels under each unrolled ring (N, 40, 48, 2): exact on a coarse grid, linear between."""
    reach = np.linspace(RING_INNER_RADII, RING_OUTER_RADII, _GRID_NODES)
    turn = ring_angles()
    unit = reach[:, None, None] * np.stack([np.cos(turn), np.sin(turn)], -1)
    axes = patch_axes_mm(camera, shapes)
    at = _project_to_photo(
        camera, shapes[:, None, None, :2] + np.einsum("rak,nkd->nrad", unit, axes)
    )
    fine = _interpolation_weights(RING_ROW_COUNT) @ at.reshape(
        len(at), _GRID_NODES, 2 * RING_ANGLE_COUNT
    )
    return fine.reshape(len(at), RING_ROW_COUNT, RING_ANGLE_COUNT, 2)


def ring_input(rings: Picture, side: Floats) -> Floats:
    """Rings and their side input (N, 3) as the second network takes them: (N, 8, 40, 64)."""
    turn = ring_angles()
    way = np.stack([np.cos(turn), np.sin(turn)]).astype(np.float32)[None, :, None]
    blob = _append_channels(_standardize_colours(rings), side[:, :, None, None], way)
    return np.concatenate([blob[..., -WRAP_COLUMNS:], blob, blob[..., :WRAP_COLUMNS]], -1)
