"""The sides of a plate or another rectangle, located by a network that looks along them.

Each side is cut into stretches. A stretch is a strip of colours along and across the side, on the
plane of the plate's upper face, so that card, upper edge and outline keep their places at any tilt.
For each stretch the network returns how likely the side lies at each offset. It knows cards,
frames, clear and dark plates, and is uninformative where a ship hides them.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from overruler.geometry.batched.vectors import left_normals
from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.learned.inference import WEIGHTS, infer_batch
from overruler.vision.plates.sides import (
    PLATE_HEIGHT_MM,
    half_extents,
    lower_outline_mm,
    side_normals,
)

Floats = NDArray[np.float32]
MODEL = WEIGHTS / "plate_edges.onnx"
"""The network's weights."""
STRETCHES_PER_SIDE = 3
"""Stretches of a side."""
SAMPLES_ACROSS = 44
"""Samples of a strip across the side."""
SAMPLES_ALONG = 12
"""Samples of a strip along the side."""
ZERO_SAMPLE = 24
"""Sample across at the supposed place of the side."""
OFFSET_BINS = 25
"""Offsets of the side that the network tells apart, a sample apart; the middle one is 0."""
CORNER_MM = 1.5
"""Length left out at both ends of a side."""
INPUT_CHANNELS = 6
"""Colours (3), lower outline, pixel size of the photo and step of the samples."""
UNINFORMATIVE_SHARE = 0.04
"""Share of stretches that do not show their side, whatever the network returns."""

NO_SIDE_SHARE = 0.6
"""Share of stretches without a side in the lessons of a network that tells them."""


@dataclass(frozen=True, slots=True, eq=False)
class SideEvidence:
    """The network's evidence along the four sides of a rectangle at a supposed place."""

    log_likelihood: Array
    """(4, STRETCHES, BINS): of the side at each offset, in nats against no knowledge."""
    along_mm: Array
    """(4, STRETCHES): centres of the stretches, from the middle of each side to its left."""
    step_mm: float
    """Distance between offsets."""

    def side_log_likelihood(self, shifts_mm: Array, turns_rad: Array) -> Array:
        """Return the log-likelihood (4, T, S) of each side for outward shifts and for turns."""
        return np.asarray(self.stretch_log_likelihood(shifts_mm, turns_rad).sum(1))

    def stretch_log_likelihood(self, shifts_mm: Array, turns_rad: Array) -> Array:
        """Return the same for each stretch (4, STRETCHES, T, S)."""
        out = shifts_mm - self.along_mm[..., None, None] * turns_rad[:, None]
        bins = np.clip(out / self.step_mm + OFFSET_BINS // 2, 0, OFFSET_BINS - 1)
        low = np.minimum(bins.astype(int), OFFSET_BINS - 2)
        part = bins - low
        side, stretch = np.ogrid[:4, :STRETCHES_PER_SIDE]
        at = side[..., None, None], stretch[..., None, None]
        below = self.log_likelihood[*at, low]
        above = self.log_likelihood[*at, low + 1]
        return np.asarray(below * (1 - part) + above * part)


def stretch_samples_mm(side_mm: ArrayLike) -> Array:
    """Return the positions (..., STRETCHES, ALONG) of the samples along sides (...)."""
    half = np.asarray(side_mm, float) / 2 - CORNER_MM
    borders = np.linspace(-half, half, STRETCHES_PER_SIDE + 1, axis=-1)
    share = (np.arange(SAMPLES_ALONG) + 0.5) / SAMPLES_ALONG
    return np.asarray(borders[..., :-1, None] + share * np.diff(borders)[..., None])


def side_strips(
    view: LabPatch, xy_mm: Array, turn_rad: float, size_mm: ArrayLike, step_mm: float
) -> Floats:
    """Return the network's input (4 * STRETCHES, 6, ACROSS, ALONG).

    `view` is of the plane z = `PLATE_HEIGHT_MM`. `size_mm` is the side of a plate, or the length
    and the width of another rectangle.
    """
    normals, reach = side_normals(turn_rad), half_extents(size_mm)
    tangents = left_normals(normals)
    out = reach[:, None] + (np.arange(SAMPLES_ACROSS) - ZERO_SAMPLE) * step_mm
    along = stretch_samples_mm(2 * reach[::-1])
    points = xy_mm + normals[:, None, None, None] * out[:, None, :, None, None]
    points = points + tangents[:, None, None, None] * along[:, :, None, :, None]
    colours, _ = view.sample_board(points.reshape(4, -1, 2))
    strips = colours.reshape(4 * STRETCHES_PER_SIDE, SAMPLES_ACROSS, SAMPLES_ALONG, 3)
    lab = strips.transpose(0, 3, 1, 2)
    lower = (lower_outline_mm(view.camera, xy_mm, turn_rad, size_mm) - reach) / PLATE_HEIGHT_MM
    pixel_size = np.full(4, view.mm_per_px / step_mm / 4)
    step = np.full(4, step_mm * 4 - 1.5)
    facts = np.repeat(np.column_stack([lower, pixel_size, step]), STRETCHES_PER_SIDE, 0)
    shape = (len(lab), 3, SAMPLES_ACROSS, SAMPLES_ALONG)
    constant = np.broadcast_to(facts[..., None, None], shape)
    offset = np.array([1.5, 0, 0], np.float32)
    scaled = lab / np.float32(30) - offset[:, None, None]
    return np.ascontiguousarray(np.concatenate([scaled, constant], 1), np.float32)


def run_side_net(
    view: LabPatch,
    xy_mm: Array,
    turn_rad: float,
    size_mm: ArrayLike,
    step_mm: float,
    model: Path = MODEL,
) -> SideEvidence:
    """Return the evidence along a rectangle's sides; arguments are as for `side_strips`."""
    strips = side_strips(view, xy_mm, turn_rad, size_mm, step_mm)
    logits = np.asarray(infer_batch(model, strips), float)
    logits = logits.reshape(4, STRETCHES_PER_SIDE, -1)
    share = np.exp(logits - logits.max(-1, keepdims=True))
    share /= share.sum(-1, keepdims=True)
    samples = stretch_samples_mm(2 * half_extents(size_mm)[::-1])
    return SideEvidence(_log_likelihood(share), samples.mean(-1), step_mm)


def _log_likelihood(share: Array) -> Array:
    """Return the log-likelihood (..., BINS) of each offset, against no knowledge, or against no side.

    `share` (..., BINS or BINS + 1) is what the network answers; its last one, if it is one more,
    says that there is no side.
    """
    known = 1 - UNINFORMATIVE_SHARE
    offsets, none = share[..., :OFFSET_BINS], share[..., OFFSET_BINS:]
    if not none.size:
        return np.asarray(np.log(offsets * OFFSET_BINS * known + UNINFORMATIVE_SHARE))
    usual = OFFSET_BINS / (1 - NO_SIDE_SHARE)
    there = offsets * usual * known + UNINFORMATIVE_SHARE
    absent = none / NO_SIDE_SHARE * known + UNINFORMATIVE_SHARE
    return np.asarray(np.log(there) - np.log(absent))
