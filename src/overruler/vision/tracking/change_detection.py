"""Where the picture changes: each shot as a few thousand blocks, against the last one and against the table at rest.

A block is a mean over 8 × 8 pixels, which is nearly free of noise; a rim that moves by a pixel still changes it by
several grey levels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

PYRAMID_LEVELS = 3
"""So often is a picture halved."""
BLOCK_PX = 1 << PYRAMID_LEVELS
MOTION_THRESHOLD = 2.5
"""Grey levels by which a block may change from shot to shot while nothing moves; coding noise stays below."""
CHANGE_THRESHOLD = 4.0
"""Grey levels by which a block may differ from the table at rest."""
NOISE_SIGMAS = 6.0
"""So many times the picture's own noise are no change either: dim rooms are noisy."""
QUIETEST_SHARE, QUIETEST_MEAN_SIGMAS = 0.8, 0.558
"""By so large a share of the blocks noise is told, those that differ least; and how much of 1 σ is their mean."""
MIN_CHANGED_NEIGHBOURS = 3
"""A block that changes is one of so many within 3 × 3."""
SUBSAMPLING_STEP = 3
"""The light and the noise are told by a few of the blocks."""
BACKGROUND_LEARNING_RATE = 0.05
"""Share of a slow change of light that the table at rest follows with every shot."""

MIN_TEXTURE_CORRELATION = 0.85
"""Pixels that correlate so well with what they were show the same thing in another light."""

GreyImage = NDArray[np.uint8]
BlockMeans = NDArray[np.float32]
Mask = NDArray[np.bool_]


def build_pyramid(grey: NDArray[np.uint8]) -> list[GreyImage]:
    """A picture's brightness (H, W) halved once, twice and three times, the last being the means over its blocks."""
    rows, columns = (max(1, size // BLOCK_PX) for size in grey.shape)
    stages = [grey[: rows * BLOCK_PX, : columns * BLOCK_PX]]
    for _ in range(
        PYRAMID_LEVELS
    ):  # much quicker than at once: two by two is what the machine does in one go
        half = stages[-1].shape[1] // 2, stages[-1].shape[0] // 2
        stages.append(
            np.asarray(cv2.resize(stages[-1], half, interpolation=cv2.INTER_AREA), np.uint8)
        )
    return stages[1:]


def block_means(stages: Sequence[GreyImage]) -> BlockMeans:
    """The means (H / 8, W / 8) over blocks of a picture's brightness, of its halvings."""
    return np.asarray(stages[-1], np.float32)


def differing_blocks(one: BlockMeans, other: BlockMeans, least: float) -> Mask:
    """Where two reduced pictures differ by more than `least` levels and more than noise, the room's light set aside."""
    off = one - other
    some = off[:: SUBSAMPLING_STEP + 1, ::SUBSAMPLING_STEP].ravel()
    light = _upper_median(some)
    off -= light
    return _drop_isolated_blocks(
        np.abs(off, out=off) > max(least, NOISE_SIGMAS * _noise_sigma(np.abs(some - light)))
    )


def _noise_sigma(off: BlockMeans) -> float:
    """1 σ by the smaller of the differences (N,): a middle of whole levels is 0 until half of them are noise."""
    kept = int(QUIETEST_SHARE * len(off))
    return (
        float(np.sort(off)[:kept].mean()) / QUIETEST_MEAN_SIGMAS
    )  # sorted sooner than parted, there being few levels


def _drop_isolated_blocks(mask: Mask) -> Mask:
    """The blocks of a mask that have neighbours in it: what moves is larger than a block, noise is not."""
    count = cv2.boxFilter(
        mask.view(np.uint8), -1, (3, 3), normalize=False, borderType=cv2.BORDER_CONSTANT
    )
    return np.asarray(mask & (count >= MIN_CHANGED_NEIGHBOURS))


def _upper_median(values: BlockMeans) -> float:
    """The median, of an even number the upper of the two."""
    return float(np.sort(values)[len(values) // 2])


def label_areas(mask: Mask, gap: int = 1) -> tuple[int, NDArray[np.int32]]:
    """How many separate areas a mask has, and each block's area (0 for none); gaps of `gap` blocks are bridged."""
    wide = cv2.dilate(mask.astype(np.uint8), np.ones((2 * gap + 1, 2 * gap + 1), np.uint8))
    count, labels = cv2.connectedComponents(wide, connectivity=8)
    return count - 1, np.where(mask, labels, 0).astype(np.int32)


def relit_areas(now: NDArray[np.uint8], then: NDArray[np.uint8], where: Mask) -> Mask:
    """The areas of a mask in which nothing has come or gone but a shadow: they are brighter or darker, no more."""
    count, labels = label_areas(where, gap=2)
    same = np.zeros_like(where)
    for label in range(1, count + 1):
        area = labels == label
        seen, was = (_mean_free_pixels(grey, area) for grey in (now, then))
        same |= area & bool(
            np.sum(seen * was) > MIN_TEXTURE_CORRELATION * np.sqrt(np.sum(seen**2) * np.sum(was**2))
        )
    return same


def _mean_free_pixels(grey: NDArray[np.uint8], where: Mask) -> BlockMeans:
    """The pixels (N, 8, 8) of a mask's blocks, less their mean."""
    rows, columns = where.shape
    blocks = grey[: rows * BLOCK_PX, : columns * BLOCK_PX].reshape(
        rows, BLOCK_PX, columns, BLOCK_PX
    )
    pixels = blocks.transpose(0, 2, 1, 3)[where].astype(np.float32)
    return np.asarray(pixels - pixels.mean(), np.float32)


def blocks_near(size: tuple[int, int], xy_px: Array, radius_px: float) -> tuple[slice, slice]:
    """The blocks, as rows and columns of a mask of `size`, within the square round a place (2,) in the picture."""
    columns, rows = (_block_span(float(at), radius_px) for at in xy_px)
    return rows, columns


def _block_span(at_px: float, radius_px: float) -> slice:
    low, high = floor((at_px - radius_px) / BLOCK_PX), ceil((at_px + radius_px) / BLOCK_PX) + 1
    return slice(max(low, 0), max(high, 0))


@dataclass(slots=True)
class BackgroundModel:
    """What is known of the table at rest, in blocks, and when each block last moved."""

    background: BlockMeans
    last_means: BlockMeans
    last_moved_s: Array
    """When each block last moved."""
    changed: Mask
    """Where the last shot differs from the table at rest."""

    @classmethod
    def of(cls, small: BlockMeans, time_s: float) -> "BackgroundModel":
        return cls(small.copy(), small, np.full(small.shape, time_s), np.zeros(small.shape, bool))

    def update(self, small: BlockMeans, time_s: float) -> Mask:
        """Where the picture moves now; the table at rest follows the light where nothing has changed."""
        moving = differing_blocks(small, self.last_means, MOTION_THRESHOLD)
        self.last_moved_s[moving] = time_s
        self.last_means = small
        self.changed = differing_blocks(small, self.background, CHANGE_THRESHOLD)
        cv2.accumulateWeighted(
            small,
            self.background,
            BACKGROUND_LEARNING_RATE,
            (~(self.changed | moving)).view(np.uint8),
        )
        return moving

    def still_blocks(self, time_s: float, for_s: float) -> Mask:
        """Where nothing has moved for so long."""
        return self.last_moved_s <= time_s - for_s + 1e-6

    def accept_background(self, where: Mask) -> None:
        """What is seen now is the table at rest, at these blocks."""
        self.background[where] = self.last_means[where]
        self.changed = self.changed & ~where
