"""A small learned look at disc-shaped things: which are bases, and where the lower rim is.

Each candidate is cut out of the photo as a patch seen straight from above, and a network of 110 000 weights says how
much it looks like a base on the table, and where the circle of its lower rim lies: `docs/rims.md`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array

Floats = NDArray[np.float32]
Picture = NDArray[np.uint8]

MODEL = Path(__file__).with_name("rims.onnx")
PATCH_PX = 64
"""A patch's side."""
SPAN = 1.75
"""A patch reaches this many radii from its middle to either side."""
SIDE_CHANNELS = 4
BATCH = 64
"""Patches that go through the network together."""
HOPELESS = 0.003
"""Candidates that score less at first sight get no second one."""

_GRID = 9
_LEVELS = 6


@dataclass(frozen=True, slots=True, eq=False)
class RimGuesses:
    """What the network makes of N candidates."""

    score: Array
    """(N,): 0 to 1, how likely this is a round base."""
    xy_mm: Array
    """(N, 2): the middle of the lower rim as it appears on the plane z = 0."""
    radius_mm: Array
    """(N,): its radius there; what stands z above the board appears D / (D - z) larger, the camera's height being D."""
    sigma_xy_mm: Array
    """(N,): 1 σ of either coordinate."""
    sigma_radius_mm: Array
    visible: Array
    """(N,): share of the whole lower rim that is in sight."""

    def __getitem__(self, which: slice | NDArray[np.bool_] | NDArray[np.intp]) -> "RimGuesses":
        return RimGuesses(*(getattr(self, field.name)[which] for field in fields(self)))


def refine(frame: Frame, camera: Camera, candidates: ArrayLike, passes: int = 2) -> RimGuesses:
    """The network's view of candidates (N, 3), each x, y and radius in mm on the plane z = 0.

    A candidate may be off by a third of its radius in place and a quarter in size. Each further pass looks again where
    the one before pointed, unless that was hopeless.
    """
    candidates = np.asarray(candidates, float).reshape(-1, 3)
    levels = pyramid(frame.pixels)
    guesses = _look(levels, camera, candidates)
    for _ in range(passes - 1):
        again = np.nonzero(guesses.score > HOPELESS)[0]
        better = _look(levels, camera, np.column_stack([guesses.xy_mm, guesses.radius_mm])[again])
        for field in fields(guesses):
            getattr(guesses, field.name)[again] = getattr(better, field.name)
    return guesses


def _look(levels: list[Picture], camera: Camera, candidates: Array) -> RimGuesses:
    axes = leaning_axes(camera, candidates)
    answers = [_run(network_input(*batch)) for batch in _batches(levels, camera, candidates)]
    answer = np.concatenate(answers) if answers else np.empty((0, 7))
    radius = candidates[:, 2]
    shift = np.einsum("nk,nkd->nd", answer[:, 1:3], axes) * radius[:, None]
    found = radius * np.exp(answer[:, 3])
    return RimGuesses(
        score=_share(answer[:, 0]),
        xy_mm=candidates[:, :2] + shift,
        radius_mm=found,
        sigma_xy_mm=radius * np.exp(answer[:, 4]),
        sigma_radius_mm=found * np.exp(answer[:, 5]),
        visible=_share(answer[:, 6]),
    )


def _batches(levels: list[Picture], camera: Camera, candidates: Array) -> Iterator[tuple[Picture, Floats]]:
    for start in range(0, len(candidates), BATCH):
        some = candidates[start : start + BATCH]
        yield cut_patches(levels, camera, some), side_input(camera, some)


def _share(logit: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(logit, -40, 40))))


# --- the network ---


@cache
def _network() -> cv2.dnn.Net:
    return cv2.dnn.readNetFromONNX(str(MODEL))


def _run(blob: Floats) -> Array:
    """The network's answers (N, 7): logit, dx, dy, log of the radius' ratio, two log σ, logit of the visible share.

    dx and dy are in radii, to the right and away from the camera.
    """
    network = _network()
    network.setInput(blob)
    return np.asarray(network.forward(), float).reshape(len(blob), 7)


def network_input(patches: Picture, side: Floats) -> Floats:
    """Patches (N, 64, 64, 3) and their side input (N, 3) as the network takes them: (N, 7, 64, 64)."""
    colour = patches.astype(np.float32) / 255
    colour -= colour.mean((1, 2), keepdims=True)
    colour /= colour.std((1, 2, 3), keepdims=True) + 0.02
    blob = np.empty((len(patches), 3 + SIDE_CHANNELS, PATCH_PX, PATCH_PX), np.float32)
    blob[:, :3] = colour.transpose(0, 3, 1, 2)
    blob[:, 3:6] = side[:, :, None, None]
    blob[:, 6] = _distance()
    return blob


@cache
def _distance() -> Floats:
    """How far each pixel of a patch is from its middle, in radii (64, 64), 1 subtracted."""
    steps = _steps()
    return np.asarray(np.hypot(steps[:, None], steps) - 1, np.float32)


def _steps() -> Array:
    """Where the pixels of a patch's row lie, in radii (64,)."""
    return ((np.arange(PATCH_PX) + 0.5) / PATCH_PX * 2 - 1) * SPAN


# --- patches ---


def pyramid(pixels: Picture) -> list[Picture]:
    """The picture and its halves; pixel i of one is pixel 2i of the one before."""
    levels = [pixels]
    while len(levels) < _LEVELS and min(levels[-1].shape[:2]) > 2 * PATCH_PX:
        levels.append(np.asarray(cv2.pyrDown(levels[-1]), np.uint8))
    return levels


def leaning_axes(camera: Camera, candidates: Array) -> Array:
    """The board directions (N, 2, 2) that point right and up in each patch; up is away from the camera."""
    away = candidates[:, :2] - camera.center_mm[:2]
    length = np.linalg.norm(away, axis=1, keepdims=True)
    up = np.where(length > 1e-6, away / np.maximum(length, 1e-6), [0.0, 1.0])
    right = np.stack([up[:, 1], -up[:, 0]], -1)
    return np.stack([right, up], 1)


def side_input(camera: Camera, candidates: Array) -> Floats:
    """What a patch does not show (N, 3): tangent of the view angle, logs of the radius and of the resolution."""
    eye = camera.center_mm
    tangent = np.linalg.norm(candidates[:, :2] - eye[:2], axis=1) / eye[2]
    radius = candidates[:, 2]
    share = np.maximum(_mm_per_px(camera, candidates) / radius, 0.02)
    return np.stack([tangent, np.log(radius / 20), np.log(share / 0.04)], -1).astype(np.float32)


def _mm_per_px(camera: Camera, candidates: Array) -> Array:
    return camera.mm_per_px(np.column_stack([candidates[:, :2], np.zeros(len(candidates))]))


def cut_patches(levels: list[Picture], camera: Camera, candidates: Array) -> Picture:
    """Each candidate's surroundings on the plane z = 0 (N, 64, 64, 3), away from the camera upwards."""
    maps = _maps(camera, candidates)
    fineness = 2 * SPAN * candidates[:, 2] / PATCH_PX / _mm_per_px(camera, candidates)
    wanted = np.floor(np.log2(np.maximum(fineness, 1e-6)) + 0.3).clip(0, len(levels) - 1).astype(int)
    patches = np.empty((len(candidates), PATCH_PX, PATCH_PX, 3), np.uint8)
    for patch, place, level in zip(patches, maps, wanted, strict=True):
        at = place / np.float32(2**level)
        cv2.remap(levels[level], at[..., 0], at[..., 1], cv2.INTER_LINEAR, patch, cv2.BORDER_REPLICATE)
    return patches


def _maps(camera: Camera, candidates: Array) -> Floats:
    """The photo's pixels under each patch (N, 64, 64, 2): exact on a coarse grid, linear between."""
    nodes = np.linspace(-SPAN, SPAN, _GRID)
    right, up = np.meshgrid(nodes, -nodes)
    axes = leaning_axes(camera, candidates) * candidates[:, 2, None, None]
    offsets = right[..., None] * axes[:, None, None, 0] + up[..., None] * axes[:, None, None, 1]
    xy = candidates[:, None, None, :2] + offsets
    at = np.nan_to_num(camera.project(np.concatenate([xy, np.zeros((*xy.shape[:-1], 1))], -1)), nan=-1e4)
    weights = _weights()
    fine = weights @ np.moveaxis(at, -1, 1).astype(np.float32) @ weights.T
    return np.ascontiguousarray(np.moveaxis(fine, 1, -1))


@cache
def _weights() -> Floats:
    """Linear interpolation from the grid's nodes to a patch's pixels (64, 9)."""
    where = (_steps() / SPAN + 1) / 2 * (_GRID - 1)
    return np.asarray(np.maximum(0, 1 - np.abs(where[:, None] - np.arange(_GRID))), np.float32)
