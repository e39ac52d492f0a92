"""Where the picture changes: each shot, in blocks, against the last one and the table at rest.

A block is the mean over 8 × 8 pixels, which is nearly free of noise. A rim that moves by a pixel
still changes it by several grey levels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

PYRAMID_LEVELS = 3
"""Number of times that a picture is halved."""
BLOCK_PX = 1 << PYRAMID_LEVELS
"""Side of a block, in pixels."""
MOTION_THRESHOLD = 2.5
"""Largest change of a still block from shot to shot, in grey levels: coding noise is below."""
CHANGE_THRESHOLD = 4.0
"""Largest difference of an unchanged block from the table at rest, in grey levels."""
NOISE_SIGMAS = 6.0
"""Largest difference that is noise, in σ of the picture's own noise: dim rooms are noisy."""
QUIETEST_SHARE = 0.8
"""Share of the blocks, those that differ least, from which the noise is estimated."""
QUIETEST_MEAN_SIGMAS = 0.558
"""Mean absolute value of the smallest 80 % of normal deviates, in σ."""
MIN_CHANGED_NEIGHBOURS = 3
"""Least number of changed blocks within 3 × 3, itself included, for a block to count."""
SUBSAMPLING_STEP = 3
"""Every third block of a row, and every fourth row, tell the light and the noise."""
BACKGROUND_LEARNING_RATE = 0.05
"""Share of a slow change of light that the background follows with every shot."""
MIN_TEXTURE_CORRELATION = 0.85
"""Least correlation of pixels that show the same thing in another light."""

GreyImage = NDArray[np.uint8]
"""(H, W)."""
BlockMeans = NDArray[np.float32]
"""(H / 8, W / 8)."""
Mask = NDArray[np.bool_]
"""(H / 8, W / 8): one a block."""
BlockSlices = tuple[slice, slice]
"""Rows and columns of a mask."""


def build_pyramid(grey: GreyImage) -> list[GreyImage]:
    """Halve a picture (H, W) three times; the last level holds the means over its blocks.

    Halving step by step is much quicker than at once.
    """
    rows, columns = (max(1, size // BLOCK_PX) for size in grey.shape)
    level = grey[: rows * BLOCK_PX, : columns * BLOCK_PX]
    levels = []
    for _ in range(PYRAMID_LEVELS):
        half = level.shape[1] // 2, level.shape[0] // 2
        level = np.asarray(cv2.resize(level, half, interpolation=cv2.INTER_AREA), np.uint8)
        levels.append(level)
    return levels


def block_means(pyramid: Sequence[GreyImage]) -> BlockMeans:
    """The means over the blocks of a picture, from its pyramid."""
    return np.asarray(pyramid[-1], np.float32)


def differing_blocks(one: BlockMeans, other: BlockMeans, threshold: float) -> Mask:
    """The blocks that differ by more than a threshold and the noise, apart from the room's light."""
    difference = one - other
    sample = difference[:: SUBSAMPLING_STEP + 1, ::SUBSAMPLING_STEP].ravel()
    light = _upper_median(sample)
    difference -= light
    noise = _noise_sigma(np.abs(sample - light))
    large = np.abs(difference, out=difference) > max(threshold, NOISE_SIGMAS * noise)
    return _drop_isolated_blocks(large)


def _noise_sigma(absolute: BlockMeans) -> float:
    """1 σ from the smaller of absolute differences (N,).

    Their median would not do: of whole grey levels it is 0 until half of the blocks are noisy.
    """
    quietest = np.sort(absolute)[: int(QUIETEST_SHARE * len(absolute))]
    return float(quietest.mean()) / QUIETEST_MEAN_SIGMAS


def _drop_isolated_blocks(mask: Mask) -> Mask:
    """Keep the blocks that have neighbours in a mask: unlike noise, objects fill several."""
    count = cv2.boxFilter(
        mask.view(np.uint8), -1, (3, 3), normalize=False, borderType=cv2.BORDER_CONSTANT
    )
    return np.asarray(mask & (count >= MIN_CHANGED_NEIGHBOURS))


def _upper_median(values: BlockMeans) -> float:
    """The median, or the upper of the two middle values."""
    return float(np.sort(values)[len(values) // 2])


def label_areas(mask: Mask, gap: int = 1) -> tuple[int, NDArray[np.int32]]:
    """The number of a mask's areas, and each block's area, 0 for none; `gap` blocks are bridged."""
    size = 2 * gap + 1
    wide = cv2.dilate(mask.astype(np.uint8), np.ones((size, size), np.uint8))
    count, labels = cv2.connectedComponents(wide, connectivity=8)
    return count - 1, np.where(mask, labels, 0).astype(np.int32)


def relit_areas(now: GreyImage, then: GreyImage, where: Mask) -> Mask:
    """The areas of a mask with the same texture in another light: only a shadow came or went."""
    count, labels = label_areas(where, gap=2)
    relit = np.zeros_like(where)
    for label in range(1, count + 1):
        area = labels == label
        pixels_now, pixels_then = (_mean_free_pixels(grey, area) for grey in (now, then))
        product = np.sum(pixels_now * pixels_then)
        norm = np.sqrt(np.sum(pixels_now**2) * np.sum(pixels_then**2))
        relit |= area & bool(product > MIN_TEXTURE_CORRELATION * norm)
    return relit


def _mean_free_pixels(grey: GreyImage, where: Mask) -> BlockMeans:
    """The pixels (N, 8, 8) of a mask's blocks, less their mean."""
    rows, columns = where.shape
    cut = grey[: rows * BLOCK_PX, : columns * BLOCK_PX]
    blocks = cut.reshape(rows, BLOCK_PX, columns, BLOCK_PX)
    pixels = blocks.transpose(0, 2, 1, 3)[where].astype(np.float32)
    return np.asarray(pixels - pixels.mean(), np.float32)


def blocks_near(xy_px: Array, radius_px: float) -> BlockSlices:
    """The blocks of a mask within the square round a pixel (2,); none round NaN.

    They may reach past its last ones.
    """
    if not np.isfinite(xy_px).all():
        return slice(0, 0), slice(0, 0)
    columns, rows = (_block_span(float(at), radius_px) for at in xy_px)
    return rows, columns


def _block_span(at_px: float, radius_px: float) -> slice:
    low = floor((at_px - radius_px) / BLOCK_PX)
    high = ceil((at_px + radius_px) / BLOCK_PX) + 1
    return slice(max(low, 0), max(high, 0))


@dataclass(slots=True)
class BackgroundModel:
    """The table at rest, in blocks, and how the last shot differs from it."""

    background: BlockMeans
    """The table at rest."""
    last_means: BlockMeans
    """The last shot."""
    last_moved_s: Array
    """When each block last moved."""
    changed: Mask
    """Where the last shot differs from the table at rest."""

    @classmethod
    def of(cls, means: BlockMeans, time_s: float) -> "BackgroundModel":
        """Start with a shot as the table at rest; all blocks count as having moved then."""
        unchanged = np.zeros(means.shape, bool)
        return cls(means.copy(), means, np.full(means.shape, time_s), unchanged)

    def update(self, means: BlockMeans, time_s: float) -> Mask:
        """Take in a shot and return the blocks that move; elsewhere the light is followed."""
        moving = differing_blocks(means, self.last_means, MOTION_THRESHOLD)
        self.last_moved_s[moving] = time_s
        self.last_means = means
        self.changed = differing_blocks(means, self.background, CHANGE_THRESHOLD)
        resting = (~(self.changed | moving)).view(np.uint8)
        cv2.accumulateWeighted(means, self.background, BACKGROUND_LEARNING_RATE, resting)
        return moving

    def still_blocks(self, time_s: float, for_s: float) -> Mask:
        """The blocks that have not moved for `for_s`."""
        return self.last_moved_s <= time_s - for_s + 1e-6

    def accept_background(self, where: Mask) -> None:
        """Take the last shot as the table at rest, at these blocks."""
        self.background[where] = self.last_means[where]
        self.changed = self.changed & ~where
