"""Patches as other lamps, cameras and phones would show them.

Painted tables have the painter's colours and sharpness. A network that sees them in many others learns what a base
looks like and not how the painter paints it.
"""

from collections.abc import Callable, Sequence

import cv2
import numpy as np

from synthetic.arrays import Floats, Picture, Rng

Effect = Callable[[Rng, Floats], Floats]
"""Changes a patch (side, side, 3) of values from 0 to 1."""
MIXED = 0.5
"""The share of patches whose colours are mixed."""
MIXING = 0.15
"""1 σ of each number of the mixing matrix."""
SWAPPED = 0.15
"""The share of patches whose colour channels are exchanged."""
GREY = 0.08
"""The share of patches without colour."""
CURVE_LOG = 0.3
"""1 σ of the logarithm of the exponent that brightens or darkens a patch."""
DARKEST = 1e-4
"""Added before a power is taken."""
UNEVEN = 0.5
"""The share of patches on which more light falls in some places than in others."""
UNEVEN_LOG = 0.35
"""1 σ of the logarithm of that light."""
UNEVEN_NODES = 3
"""Places along a side where that light is drawn; between them it is smooth."""
COVERED = 0.25
"""The share of patches partly covered by another, as things on a table hide each other."""
COVERED_SHARE = (0.05, 0.22)
"""How much of a patch is covered."""
COVER_NODES = 5
"""Places along a side that shape what is covered."""
BLURRED = 0.3
"""The share of patches out of focus."""
BLUR_PX = (0.4, 2.4)
"""1 σ of that blur."""
SHARPENED = 0.3
"""The share of patches sharpened as phones do."""
SHARPENED_PX = (0.6, 1.4)
"""1 σ of the blur whose difference is added."""
SHARPENING = 1.5
"""How many times it is added at most."""
KERNEL_PX = 15
"""Side of the kernel that blurs."""
SMALL = 0.15
"""The share of patches of a photo of fewer pixels."""
SMALL_PX = (28, 40, 56, 72)
"""Sides of a patch there."""
NOISY = 0.5
"""The share of patches with noise in each pixel."""
NOISE = 0.05
"""1 σ of that noise at most."""
BLOCKY = 0.3
"""The share of patches with noise in each block, as small files have it."""
BLOCK_NOISE = 0.04
"""1 σ of that noise at most."""
BLOCKS = 12
"""Blocks along a side."""


def photographed(rng: Rng, patches: Picture) -> Picture:
    """Patches (N, side, side, 3) in other light, some partly covered by others, and as other cameras take them."""
    scaled = patches.astype(np.float32) / 255
    lit = [_changed(rng, patch, LIGHT) for patch in scaled]
    covered = [cover(rng, patch, lit) if rng.random() < COVERED else patch for patch in lit]
    taken = [_changed(rng, patch, CAMERA) for patch in covered]
    return np.rint(255 * np.clip(taken, 0, 1)).astype(np.uint8)


def _changed(rng: Rng, patch: Floats, effects: Sequence[tuple[float, Effect]]) -> Floats:
    """A patch after those effects that its lot has, each with its share."""
    for share, effect in effects:
        if rng.random() < share:
            patch = effect(rng, patch)
    return patch


# --- light ---


def mix_colours(rng: Rng, patch: Floats) -> Floats:
    mixing = np.eye(3) + rng.normal(0, MIXING, (3, 3))
    return np.asarray(np.clip(cv2.transform(patch, mixing), 0, 1), np.float32)


def swap_channels(rng: Rng, patch: Floats) -> Floats:
    return np.ascontiguousarray(patch[..., rng.permutation(3)])


def drop_colour(rng: Rng, patch: Floats) -> Floats:
    return np.repeat(patch.mean(-1, keepdims=True), 3, -1)


def bend_curve(rng: Rng, patch: Floats) -> Floats:
    exponent = float(np.exp(rng.normal(0, CURVE_LOG)))
    return np.asarray(cv2.pow(patch + DARKEST, exponent), np.float32)


def light_unevenly(rng: Rng, patch: Floats) -> Floats:
    light = np.exp(UNEVEN_LOG * smooth_noise(rng, UNEVEN_NODES, len(patch)))
    return np.asarray(patch * light[..., None], np.float32)


def smooth_noise(rng: Rng, nodes: int, side: int) -> Floats:
    """A field (side, side) that is normal in so many places along a side."""
    coarse = rng.standard_normal((nodes, nodes), np.float32)
    return np.asarray(cv2.resize(coarse, (side, side), interpolation=cv2.INTER_CUBIC), np.float32)


# --- what lies in the way ---


def cover(rng: Rng, patch: Floats, others: Sequence[Floats]) -> Floats:
    """A patch with a part of any other over a part of it."""
    side = len(patch)
    field = smooth_noise(rng, COVER_NODES, side)
    over = field > np.quantile(field, 1 - rng.uniform(*COVERED_SHARE))
    shift = rng.integers(0, side, 2)
    other = np.roll(others[int(rng.integers(len(others)))], shift, (0, 1))
    return np.where(over[..., None], other, patch)


# --- camera ---


def blur(rng: Rng, patch: Floats) -> Floats:
    return _smoothed(patch, rng.uniform(*BLUR_PX))


def sharpen(rng: Rng, patch: Floats) -> Floats:
    rest = patch - _smoothed(patch, rng.uniform(*SHARPENED_PX))
    return np.asarray(patch + rng.uniform(0, SHARPENING) * rest, np.float32)


def _smoothed(patch: Floats, sigma_px: float) -> Floats:
    kernel, edge = (KERNEL_PX, KERNEL_PX), cv2.BORDER_REPLICATE
    return np.asarray(cv2.GaussianBlur(patch, kernel, sigma_px, borderType=edge), np.float32)


def shrink(rng: Rng, patch: Floats) -> Floats:
    side = int(rng.choice(SMALL_PX))
    small = cv2.resize(patch, (side, side), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.resize(small, patch.shape[:2], interpolation=cv2.INTER_LINEAR))


def add_noise(rng: Rng, patch: Floats) -> Floats:
    return patch + _noise(rng, NOISE, patch.shape)


def add_blocks(rng: Rng, patch: Floats) -> Floats:
    coarse = _noise(rng, BLOCK_NOISE, (BLOCKS, BLOCKS, 3))
    blocks = cv2.resize(coarse, patch.shape[:2], interpolation=cv2.INTER_NEAREST)
    return np.asarray(patch + blocks, np.float32)


def _noise(rng: Rng, most: float, shape: tuple[int, ...]) -> Floats:
    """Noise of any strength up to that."""
    return np.float32(rng.uniform(0, most)) * rng.standard_normal(shape, np.float32)


LIGHT: Sequence[tuple[float, Effect]] = (
    (MIXED, mix_colours),
    (SWAPPED, swap_channels),
    (GREY, drop_colour),
    (1.0, bend_curve),
    (UNEVEN, light_unevenly),
)
"""What changes the light, in this order, each with its share."""
CAMERA: Sequence[tuple[float, Effect]] = (
    (BLURRED, blur),
    (SHARPENED, sharpen),
    (SMALL, shrink),
    (NOISY, add_noise),
    (BLOCKY, add_blocks),
)
"""What the camera and its file add."""
