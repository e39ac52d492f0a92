"""How the looks along the sides of plates and other rectangles are taught: strips of photos, the network, a lesson."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.plates.side_net import (
    INPUT_CHANNELS,
    OFFSET_BINS,
    ZERO_SAMPLE,
    side_strips,
    stretch_samples_mm,
)
from overruler.vision.plates.sides import PLATE_HEIGHT_MM, half_extents, side_normals
from synthetic.from_above.fleet import fleet_photo
from synthetic.from_above.quick_tables import drawn_photo, view_of
from synthetic.arrays import Floats, Picture
from synthetic.mats import library
from synthetic.arrays import Rng
from synthetic.camera import View as Drawn
from training.lessons.shapes.crops import camera_of, on_board

COARSE_MM, FINE_MM = 0.5, 0.25
"""The two steps that strips are sampled at."""
OFF = {COARSE_MM: (2.3, 2.5), FINE_MM: (0.7, 0.8)}
"""1 σ of the place (mm) and of the heading (degrees) of what the strips are laid along."""
TIMES = 4
"""How often each plate is looked along."""
PHOTOS, REACH_MM = 24, 150.0
"""Of a block."""
LEAST_SHOWN = 0.15
"""Plates of which less is seen teach nothing."""
OVAL = 2
"""The kind of ovals; what has a lower one is a rectangle."""
Block = tuple[NDArray[np.float16], NDArray[np.float32]]


def drawn_block(number: int, plates: bool) -> Block:
    """Strips of drawn photos, sharp ones from near by and coarse ones: of ships' plates, or of other rectangles."""
    rng, tiles, found = np.random.default_rng([number, 41]), library(3000 + number, 8), []
    for _ in range(PHOTOS):
        mm_per_px = float(rng.uniform(*((0.25, 0.5) if rng.random() < 0.35 else (0.5, 1.15))))
        view = view_of(rng, REACH_MM, mm_per_px)
        finer = 2 if mm_per_px > 0.4 else 1
        drawn = (
            _ships(rng, view, tiles, finer)
            if plates
            else drawn_photo(rng, view, tiles, REACH_MM, finer)
        )
        photo, rectangles = drawn
        for *rectangle, kind, seen in rectangles:
            if kind < OVAL and seen > LEAST_SHOWN:
                found.append(lessons(rng, photo, view.camera, np.array(rectangle), TIMES))
    return _joined(found)


def _ships(rng: Rng, view: Drawn, tiles: Sequence[Picture], finer: int) -> tuple[Picture, Array]:
    """A photo, and its plates (N, 7): x, y, length, width, heading, kind, share in sight."""
    photo, slabs, shown = fleet_photo(rng, view, tiles, REACH_MM, finer)
    rows = [
        [*slab.xy_mm, *np.full(2, 2 * slab.half_mm[0]), slab.turn_rad, 0, seen]
        for slab, seen in zip(slabs, shown, strict=True)
        if slab.is_plate
    ]
    return photo, np.array(rows, float).reshape(-1, 7)


def traced_block(paths: Sequence[Path], plates: bool) -> Block:
    """Strips of traced photos."""
    rng, found = np.random.default_rng(5), []
    for path in paths:
        truth = json.loads(path.read_text(encoding="utf-8"))
        photo, camera = (
            np.asarray(cv2.imread(str(path.with_suffix(".jpg"))), np.uint8),
            camera_of(truth["camera"]),
        )
        found += [
            lessons(rng, photo, camera, one, TIMES)
            for one in _standing(camera, truth["pieces"], plates)
        ]
    return _joined(found)


def _standing(camera: Camera, pieces: Sequence[dict[str, Any]], plates: bool) -> Iterator[Array]:
    """Plates or other rectangles (5,) as `lessons` takes them, as large and where they appear on the board."""
    for piece in pieces:
        shown = piece["in_frame"] > 0.7 and piece["visible_rim"] > LEAST_SHOWN
        if (
            shown
            and piece["shape"]["type"] == "rectangle"
            and (piece["base_style"] == "xw") == plates
        ):
            yield np.array(on_board(camera, piece))


def _joined(found: Sequence[tuple[Array, Array] | None]) -> Block:
    parts = [part for part in found if part is not None]
    pictures, places = (np.concatenate(kind) for kind in zip(*parts, strict=True))
    return pictures.astype(np.float16), places.astype(np.float32)


def recoloured(rng: Rng, strips: Floats) -> Floats:
    """Another light: brighter, stronger, of other colours, noisier; and half of them the other way round."""
    count = len(strips)
    if rng.random() < 0.5:
        strips = strips[..., ::-1]
    out = np.ascontiguousarray(strips)
    out[:, 0] += rng.normal(0, 0.25, (count, 1, 1))
    out[:, :3] *= np.exp(rng.normal(0, 0.2, (count, 1, 1, 1)))
    turn = np.where(rng.random(count) < 0.4, rng.uniform(0, 2 * np.pi, count), 0)[:, None, None]
    a, b = out[:, 1].copy(), out[:, 2].copy()
    out[:, 1], out[:, 2] = np.cos(turn) * a - np.sin(turn) * b, np.sin(turn) * a + np.cos(turn) * b
    out[:, :3] += rng.normal(0, 0.02, out[:, :3].shape)
    return np.asarray(out, np.float32)


def lessons(
    rng: Rng, photo: Picture, camera: Camera, rectangle: Array, count: int
) -> tuple[Array, Array] | None:
    """Strips (N, 6, 44, 12) along the sides of a rectangle (x, y, length, width, heading), `count` times.

    And where the sides are (N,), in steps. None where the photo does not show it.
    """
    xy, size, turn = rectangle[:2], rectangle[2:4], float(rectangle[4])
    view = LabPatch.crop_around(photo, camera, xy, float(size.max()) * 0.75, PLATE_HEIGHT_MM)
    if view is None:
        return None
    pictures, places = [], []
    for k in range(count):
        step = (COARSE_MM, FINE_MM)[k % 2]
        off_mm, off_deg = OFF[step]
        start, start_turn = xy + rng.normal(0, off_mm, 2), turn + np.radians(rng.normal(0, off_deg))
        pictures.append(side_strips(view, start, start_turn, size, step))
        places.append(_places(rectangle, start, start_turn) / step)
    return np.concatenate(pictures).astype(np.float16), np.concatenate(places)


def _places(rectangle: Array, start_mm: Array, start_turn: float) -> Array:
    """How much further out than supposed each stretch's middle lies (4 * STRETCHES,), in mm."""
    half, away = half_extents(rectangle[2:4])[:, None], start_mm - rectangle[:2]
    true, said = side_normals(float(rectangle[4])), side_normals(start_turn)
    tangents = np.stack([-said[:, 1], said[:, 0]], -1)
    along = stretch_samples_mm(2 * half[::-1, 0]).mean(-1)
    out = half - (true @ away)[:, None] - along * np.sum(true * tangents, 1)[:, None]
    return np.asarray(out / np.sum(true * said, 1)[:, None] - half).ravel()


class SidesNet(nn.Module):  # type: ignore[misc]
    """(N, 6, 44, 12) to (N, 25)."""

    def __init__(self, w: int = 24) -> None:
        super().__init__()

        def conv(
            a: int, b: int, kernel: tuple[int, int], stride: int = 1, apart: int = 1
        ) -> nn.Sequential:
            pad = (kernel[0] // 2 * apart, 1 if kernel[1] == 3 and stride else 0)
            layer = nn.Conv2d(a, b, kernel, (1, max(stride, 1)), pad, (apart, 1), bias=False)
            return nn.Sequential(layer, nn.BatchNorm2d(b), nn.ReLU(inplace=True))

        self.net = nn.Sequential(
            conv(INPUT_CHANNELS, w, (3, 3)),
            conv(w, w, (3, 3), 2),
            conv(w, w + 8, (3, 3), 2),
            conv(w + 8, 2 * w, (3, 3), 0),
            conv(2 * w, 2 * w, (5, 1)),
            conv(2 * w, 2 * w, (5, 1), 1, 2),
            conv(2 * w, 2 * w, (5, 1), 1, 3),
            nn.Conv2d(2 * w, 1, (1, 1)),
        )

    def forward(self, x: Tensor) -> Tensor:
        first = ZERO_SAMPLE - OFFSET_BINS // 2
        out: Tensor = self.net(x)[:, 0, first : first + OFFSET_BINS, 0]
        return out


def loss(answer: Tensor, place: Tensor) -> Tensor:
    """Cross-entropy with the two bins next to the true place; what lies beyond them does not count."""
    at = place + OFFSET_BINS // 2
    inside = (at > 0) & (at < OFFSET_BINS - 1)
    at = at.clamp(0, OFFSET_BINS - 1.001)
    low = at.floor().long()
    part = at - low
    logs = torch.log_softmax(answer, -1)
    said = (
        logs.gather(1, low[:, None])[:, 0] * (1 - part)
        + logs.gather(1, low[:, None] + 1)[:, 0] * part
    )
    return -(said * inside).sum() / inside.sum().clamp(min=1)
