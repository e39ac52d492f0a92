"""How the looks along the sides of plates and other rectangles are taught: strips of photos, the network, a lesson."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from overruler.geometry.camera import Camera
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.plates.side_net import (
    INPUT_CHANNELS,
    OFFSET_BINS,
    SAMPLES_ACROSS,
    SAMPLES_ALONG,
    ZERO_SAMPLE,
    side_strips,
    stretch_samples_mm,
)
from overruler.vision.plates.sides import PLATE_HEIGHT_MM, half_extents, side_normals
from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.camera import patch_view
from synthetic.from_above.fleet import fleet_photo
from synthetic.from_above.quick_tables import drawn_photo
from synthetic.from_above.sheet import Truth, on_board, read_truth
from synthetic.painted.wardrobe import Wardrobe
from synthetic.tiles import library
from training.blocks import Arrays, Drawing
from training.lesson import FromBlocks, Lesson
from training.loop import Interface, device_of

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
CHECKED = 1500
"""Strips that the check looks at."""


def drawn_block(
    seed: int, number: int, wardrobe: Wardrobe | None = None, *, plates: bool
) -> Arrays:
    """Strips of drawn photos, sharp ones from near by and coarse ones: of ships' plates, or of other rectangles."""
    rng, tiles, found = np.random.default_rng([seed, number, 41]), library(3000 + number, 8), []
    for _ in range(PHOTOS):
        mm_per_px = float(rng.uniform(*((0.25, 0.5) if rng.random() < 0.35 else (0.5, 1.15))))
        view = patch_view(rng, REACH_MM, mm_per_px)
        on_bases = partial(drawn_photo, wardrobe=wardrobe)
        draw = partial(fleet_photo if plates else on_bases, reach_mm=REACH_MM)
        photo, rectangles = draw(rng, view, tiles, finer=2 if mm_per_px > 0.4 else 1)
        for *rectangle, kind, seen in rectangles:
            if kind < OVAL and seen > LEAST_SHOWN:
                found.append(lessons(rng, photo, view.camera, np.array(rectangle), TIMES))
    return _joined(found)


def traced_strips(path: Path, plates: bool) -> Arrays:
    """Strips of a traced table."""
    rng, (truth, camera, photo) = np.random.default_rng(5), read_truth(path)
    standing = _standing(camera, truth["pieces"], plates)
    return _joined([lessons(rng, photo, camera, one, TIMES) for one in standing])


def _standing(camera: Camera, pieces: Sequence[Truth], plates: bool) -> Iterator[Array]:
    """Plates or other rectangles (5,) as `lessons` takes them, as large and where they appear on the board."""
    for piece in pieces:
        shown = piece["in_frame"] > 0.7 and piece["visible_rim"] > LEAST_SHOWN
        rectangle = piece["shape"]["type"] == "rectangle"
        if shown and rectangle and (piece["base_style"] == "xw") == plates:
            yield np.array(on_board(camera, piece))


def _joined(found: Sequence[tuple[Array, Array] | None]) -> Arrays:
    empty = np.empty((0, INPUT_CHANNELS, SAMPLES_ACROSS, SAMPLES_ALONG)), np.empty(0)
    parts = [empty, *(part for part in found if part is not None)]
    pictures, places = (np.concatenate(kind) for kind in zip(*parts, strict=True))
    return {"strips": pictures.astype(np.float16), "places": places.astype(np.float32)}


def batch(strips: Arrays, rng: Rng, count: int) -> tuple[Floats, Floats]:
    chosen = rng.integers(0, len(strips["places"]), count)
    some = strips["strips"][chosen].astype(np.float32)
    return recoloured(rng, some), strips["places"][chosen]


def figures(net: nn.Module, strips: Arrays) -> str:
    few = np.random.default_rng(0).permutation(len(strips["places"]))[:CHECKED]
    some = (torch.from_numpy(strips[name][few]).float() for name in ("strips", "places"))
    blob, truth = (one.to(device_of(net)) for one in some)
    net.eval()
    with torch.inference_mode():
        return f"{float(loss(net(blob), truth)):.4f}"


def pictures(strips: Arrays) -> Floats:
    return np.asarray(strips["strips"][:CHECKED], np.float32)


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


STRIP = (12, INPUT_CHANNELS, SAMPLES_ACROSS, SAMPLES_ALONG)
INTERFACE = Interface(STRIP, ("strips", "places"), {0: "strips"})


def _lesson(plates: bool) -> Lesson:
    """That of ships' plates, or that of bases under regiments."""
    draws = partial(drawn_block, plates=plates), partial(traced_strips, plates=plates)
    feed = FromBlocks(batch, figures, pictures, traced=0.15)
    return Lesson(
        SidesNet, loss, feed, INTERFACE, batch=192, rate=3e-3, needed=("samples",),
        drawing=Drawing(*draws),
    )  # fmt: skip


LESSONS = {"plate_edges": _lesson(plates=True), "rectangle_edges": _lesson(plates=False)}
