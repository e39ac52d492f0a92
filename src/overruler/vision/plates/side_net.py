"""Where the sides of a plate, or of another rectangle, lie, by a learned look along them.

Each side is looked at in stretches: a strip of colours along it and across it, on the plane of the plate's upper face,
so that its card, its upper edge and its outline on the table keep their places whatever the tilt. A small network says
for every stretch how likely the side lies so much further out: it knows cards, frames, clear and dark plates, and says
nothing where a ship hides them.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.learned.inference import WEIGHTS, infer_batch
from overruler.vision.plates.sides import (
    PLATE_HEIGHT_MM,
    half_extents,
    lower_outline_mm,
    rotate_left,
    side_normals,
)

Floats = NDArray[np.float32]
MODEL = WEIGHTS / "plate_edges.onnx"
STRETCHES_PER_SIDE = 3
"""Of each side."""
SAMPLES_ACROSS, SAMPLES_ALONG = 44, 12
"""Samples of a strip."""
ZERO_SAMPLE = 24
"""The sample across where the side is thought to lie."""
OFFSET_BINS = 25
"""The places answered for, a sample apart, the middle one where the side is thought to lie."""
CORNER_MM = 1.5
"""The ends of each side that are left out."""
INPUT_CHANNELS = 6
UNINFORMATIVE_SHARE = 0.04
"""The share of stretches that say nothing of their side, whatever the network says."""


@dataclass(frozen=True, slots=True, eq=False)
class SideEvidence:
    """What is seen along the four sides of one rectangle, supposed to lie somewhere."""

    log_likelihood: Array
    """(4, STRETCHES, BINS): log likelihood that the side lies so many steps further out there, against not knowing."""
    along_mm: Array
    """(4, STRETCHES): the middles of the stretches, from the middle of each side to its left."""
    step_mm: float

    def side_log_likelihood(self, shifts_mm: Array, turns_rad: Array) -> Array:
        """Of each side (4, T, S): the log likelihood that it lies so much further out, turned by so much."""
        return np.asarray(self.stretch_log_likelihood(shifts_mm, turns_rad).sum(1))

    def stretch_log_likelihood(self, shifts_mm: Array, turns_rad: Array) -> Array:
        """The same of each stretch (4, STRETCHES, T, S)."""
        out = (
            shifts_mm - self.along_mm[..., None, None] * turns_rad[:, None]
        )  # (4, STRETCHES, T, S)
        place = np.clip(out / self.step_mm + OFFSET_BINS // 2, 0, OFFSET_BINS - 1)
        low = np.minimum(place.astype(int), OFFSET_BINS - 2)
        part = place - low
        side, stretch = np.ogrid[:4, :STRETCHES_PER_SIDE]
        at = side[..., None, None], stretch[..., None, None]
        return np.asarray(
            self.log_likelihood[*at, low] * (1 - part) + self.log_likelihood[*at, low + 1] * part
        )


def stretch_samples_mm(side_mm: ArrayLike) -> Array:
    """The places (..., STRETCHES, ALONG) along sides (...) that their stretches are looked at."""
    half = np.asarray(side_mm, float) / 2 - CORNER_MM
    borders = np.linspace(-half, half, STRETCHES_PER_SIDE + 1, axis=-1)
    share = (np.arange(SAMPLES_ALONG) + 0.5) / SAMPLES_ALONG
    return np.asarray(borders[..., :-1, None] + share * np.diff(borders)[..., None])


def side_strips(
    view: LabPatch, xy_mm: Array, turn_rad: float, size_mm: ArrayLike, step_mm: float
) -> Floats:
    """What the network sees (4 * STRETCHES, 6, ACROSS, ALONG); `view` is of the plane z = `PLATE_HEIGHT_MM`.

    `size_mm` is the side of a plate, or the length and the width of another rectangle.
    """
    normals, reach = side_normals(turn_rad), half_extents(size_mm)
    tangents = rotate_left(normals)
    out = reach[:, None] + (np.arange(SAMPLES_ACROSS) - ZERO_SAMPLE) * step_mm
    along = stretch_samples_mm(2 * reach[::-1])
    points = xy_mm + normals[:, None, None, None] * out[:, None, :, None, None]
    points = points + tangents[:, None, None, None] * along[:, :, None, :, None]
    colours, _ = view.sample_board(points.reshape(4, -1, 2))
    lab = colours.reshape(4 * STRETCHES_PER_SIDE, SAMPLES_ACROSS, SAMPLES_ALONG, 3).transpose(
        0, 3, 1, 2
    )
    lower = (lower_outline_mm(view.camera, xy_mm, turn_rad, size_mm) - reach) / PLATE_HEIGHT_MM
    facts = np.column_stack(
        [lower, np.full(4, view.mm_per_px / step_mm / 4), np.full(4, step_mm * 4 - 1.5)]
    )
    flat = np.broadcast_to(
        np.repeat(facts, STRETCHES_PER_SIDE, 0)[..., None, None],
        (len(lab), 3, SAMPLES_ACROSS, SAMPLES_ALONG),
    )
    scaled = lab / np.float32(30) - np.array([1.5, 0, 0], np.float32)[:, None, None]
    return np.ascontiguousarray(np.concatenate([scaled, flat], 1), np.float32)


def run_side_net(
    view: LabPatch,
    xy_mm: Array,
    turn_rad: float,
    size_mm: ArrayLike,
    step_mm: float,
    model: Path = MODEL,
) -> SideEvidence:
    """What is seen of a rectangle's sides where it is supposed to lie; `view` is of the plane of a plate's upper face.

    `size_mm` is as for `side_strips`.
    """
    said = np.asarray(
        infer_batch(model, side_strips(view, xy_mm, turn_rad, size_mm, step_mm)), float
    ).reshape(4, STRETCHES_PER_SIDE, OFFSET_BINS)
    share = np.exp(said - said.max(-1, keepdims=True))
    share /= share.sum(-1, keepdims=True)
    logs = np.log(share * OFFSET_BINS * (1 - UNINFORMATIVE_SHARE) + UNINFORMATIVE_SHARE)
    return SideEvidence(logs, stretch_samples_mm(2 * half_extents(size_mm)[::-1]).mean(-1), step_mm)
