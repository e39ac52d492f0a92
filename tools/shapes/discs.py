"""Pieces of tables on which the finder of round bases is taught, and what is true of each of their cells."""

import json
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor, nn

from overruler.vision.discs import CELL_PX, MM_PER_PX, UNIT_MM
from overruler.vision.orthophoto import orthophoto
from overruler.vision.overview import picture_input
from rims.develop import develop
from rims.light import any_lamp
from rims.mats import Picture
from rims.paint import paint
from rims.patches import visible_share
from rims.photos import camera_of, round_bases
from rims.scene import make_scene
from rims.solids import Array, Rng
from shapes.crops import FINE_MM, HALF_SEEN, HIDDEN, MARGIN_MM, SIDE, Floats, Sheet, cut, recoloured
from shapes.drawn import FINER, REACH_MM, view_of

CELLS = SIDE // CELL_PX
TRUTHS = 6
"""Per cell: how likely a round base's middle lies there, whether that counts, whether one is near, where, its size."""
NEAR_CELLS = 1.3


def drawn_discs(seed: Sequence[int], tiles: Sequence[Picture]) -> Sheet:
    """One piece of a table from above."""
    rng = np.random.default_rng(list(seed))
    view = view_of(rng, REACH_MM, float(np.exp(rng.uniform(np.log(0.5), np.log(1.3)))))
    scene = make_scene(rng, REACH_MM, tiles)
    light, owners = paint(scene, view.finer(FINER), any_lamp(rng), tiles)
    photo = develop(rng, np.asarray(cv2.resize(light, (view.width_px, view.height_px), interpolation=cv2.INTER_AREA)))
    rows = [
        [*plate.center_mm, plate.radius_mm, visible_share(k, plate, owners, view)]
        for k, plate in enumerate(scene.plates)
        if plate.is_base
    ]
    flat = orthophoto(photo, view.camera, (-REACH_MM, -REACH_MM, REACH_MM, REACH_MM), FINE_MM)
    return Sheet(flat.pixels, flat.left_mm, flat.top_mm, view.camera, np.array(rows, float).reshape(-1, 4))


def read_discs(path: Path) -> Sheet:
    """A photo and its truth."""
    truth = json.loads(path.read_text(encoding="utf-8"))
    camera, board = camera_of(truth["camera"]), truth["board"]
    photo = np.asarray(cv2.imread(str(path.with_suffix(".jpg"))), np.uint8)
    box = (-MARGIN_MM, -MARGIN_MM, board["width_mm"] + MARGIN_MM, board["height_mm"] + MARGIN_MM)
    view = orthophoto(photo, camera, box, FINE_MM)
    return Sheet(view.pixels, view.left_mm, view.top_mm, camera, round_bases(truth, camera))


def crop(rng: Rng, sheet: Sheet) -> tuple[Floats, Floats]:
    """What the network sees (5, 128, 128), and the truth of its cells (6, 32, 32)."""
    turn, mirror, scale = rng.uniform(0, 2 * np.pi), rng.choice([-1.0, 1.0]), float(np.exp(rng.uniform(-0.2, 0.2)))
    c, s = np.cos(turn), np.sin(turn)
    spin = np.array([[c, -s], [s, c]]) @ np.diag([mirror, 1.0]) / scale
    middle = _middle(rng, sheet)
    lean = np.linalg.solve(spin, (middle - sheet.camera.center_mm[:2]) / sheet.camera.center_mm[2]) / scale
    there = np.broadcast_to(lean * [1, -1], (SIDE, SIDE, 2)).astype(np.float32)
    return picture_input(recoloured(rng, cut(sheet, middle, spin)), there), _labels(sheet, middle, spin, scale)


def _middle(rng: Rng, sheet: Sheet) -> Array:
    """Mostly near a base."""
    if len(sheet.bases) and rng.random() < 0.6:
        return np.asarray(sheet.bases[rng.integers(len(sheet.bases)), :2] + rng.uniform(-90, 90, 2))
    size = np.array(sheet.pixels.shape[1::-1]) * FINE_MM
    return np.asarray([sheet.left_mm, sheet.top_mm] + rng.uniform(0, 1, 2) * size * [1, -1])


def _labels(sheet: Sheet, middle: Array, spin: Array, scale: float) -> Floats:
    truth = np.zeros((TRUTHS, CELLS, CELLS), np.float32)
    truth[1] = 1
    y, x = np.mgrid[:CELLS, :CELLS]
    nearest = np.full((CELLS, CELLS), np.inf)
    for bx, by, radius, shown in sheet.bases:
        at = np.linalg.solve(spin, np.array([bx, by]) - middle) * [1, -1] / MM_PER_PX
        at = (at + (SIDE - 1) / 2 + 0.5) / CELL_PX - 0.5
        if (np.abs(at - CELLS / 2) > CELLS / 2 + 4).any() or shown < HIDDEN:
            continue
        away = np.hypot(x - at[0], y - at[1])
        if shown < HALF_SEEN:
            truth[1][away < max(2.0, radius * scale / MM_PER_PX / CELL_PX)] = 0
            continue
        spread = float(np.clip(0.3 * radius * scale / MM_PER_PX / CELL_PX, 0.5, 1.2))
        truth[0] = np.maximum(truth[0], np.exp(-0.5 * (away / spread) ** 2))
        cell = np.round(at).astype(int)
        if (cell >= 0).all() and (cell < CELLS).all():
            truth[0, cell[1], cell[0]] = 1
        near = (away < NEAR_CELLS) & (away < nearest)
        nearest[near] = away[near]
        truth[2][near] = 1
        truth[3][near], truth[4][near] = (at[0] - x)[near], (at[1] - y)[near]
        truth[5][near] = np.log(radius * scale / UNIT_MM)
    return truth


def batch(rng: Rng, sheets: Sequence[Sheet], count: int) -> tuple[Floats, Floats]:
    """So many crops of any sheets."""
    pairs = [crop(rng, sheets[int(rng.integers(len(sheets)))]) for _ in range(count)]
    return np.stack([a for a, _ in pairs]), np.stack([b for _, b in pairs])


def loss(answer: Tensor, truth: Tensor) -> Tensor:
    """Penalty-reduced focal loss of the heat (Zhou et al., Objects as Points, 2019), and how far the rest is off."""
    logit, heat, counts, on = answer[:, 0], truth[:, 0], truth[:, 1], truth[:, 2] > 0
    p = torch.sigmoid(logit).clamp(1e-4, 1 - 1e-4)
    hit = heat > 0.999
    found = ((1 - p) ** 2 * nn.functional.logsigmoid(logit))[hit].sum()
    missed = ((1 - heat) ** 4 * p**2 * nn.functional.logsigmoid(-logit) * counts)[~hit].sum()
    total = -(found + missed) / hit.sum().clamp(min=1)
    if not on.any():
        return total
    said, true = answer.permute(0, 2, 3, 1)[on], truth.permute(0, 2, 3, 1)[on]
    place = nn.functional.smooth_l1_loss(said[:, 1:3], true[:, 3:5], beta=0.1)
    return total + place + 3 * nn.functional.smooth_l1_loss(said[:, 3], true[:, 5], beta=0.05)
