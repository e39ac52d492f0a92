"""Pieces of tables on which the finder of round and oval bases is taught, and what is true of each of their cells."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor, nn

from overruler.bases import OVAL_SIDES_MM
from overruler.geometry.camera import Camera
from overruler.vision.imaging.orthophoto import rectify_photo
from overruler.vision.learned.disc_net import REFERENCE_SIZE_MM
from overruler.vision.learned.inference import OUTPUT_STRIDE_PX, OVERVIEW_MM_PER_PX
from overruler.vision.learned.shape_net import picture_input
from synthetic.from_above.quick_tables import FINER, REACH_MM, view_of
from synthetic.develop import develop
from synthetic.painted.light import any_lamp
from synthetic.arrays import Picture
from synthetic.painted.paint import paint
from synthetic.painted.plates import Plate, circle
from synthetic.painted.scene import make_scene
from synthetic.arrays import Array, Rng
from training.lessons.rims.patches import visible_share
from training.lessons.rims.photos import camera_of
from training.lessons.shapes.crops import (
    FINE_MM,
    HALF_SEEN,
    HIDDEN,
    MARGIN_MM,
    SIDE,
    Floats,
    Sheet,
    cut,
    recoloured,
)

CELLS = SIDE // OUTPUT_STRIDE_PX
TRUTHS = 11
"""Per cell: how likely a round base's middle lies there and how likely an oval's, whether that counts, whether one is
near, where, whether it is an oval, its log half axes, and the cosine and sine of twice an oval's heading."""
NEAR_CELLS = 1.3
OVALS, LEAST_MM, HIGH_MM = 0.3, 13.0, 10.0
"""The share of bases that are made ovals; smaller ones stay round, and what is higher is a mug or a roll."""
Oval = tuple[float, float, float]
"""Length and width in mm, and the heading in rad."""


def drawn_discs(seed: Sequence[int], tiles: Sequence[Picture]) -> Sheet:
    """One piece of a table from above."""
    rng = np.random.default_rng(list(seed))
    view = view_of(rng, REACH_MM, float(np.exp(rng.uniform(np.log(0.5), np.log(1.3)))))
    scene = make_scene(rng, REACH_MM, tiles)
    shapes = [_reshaped(rng, plate) for plate in scene.plates]
    scene = replace(scene, plates=[plate for plate, _ in shapes])
    light, owners = paint(scene, view.resized(FINER), any_lamp(rng), tiles)
    photo = develop(
        rng,
        np.asarray(
            cv2.resize(light, (view.width_px, view.height_px), interpolation=cv2.INTER_AREA)
        ),
    )
    rows = [
        [
            *plate.center_mm,
            *(oval or (2 * plate.radius_mm, 2 * plate.radius_mm, 0)),
            visible_share(k, plate, owners, view),
        ]
        for k, (plate, oval) in enumerate(shapes)
        if plate.is_base or oval
    ]
    flat = rectify_photo(photo, view.camera, (-REACH_MM, -REACH_MM, REACH_MM, REACH_MM), FINE_MM)
    return Sheet(
        flat.pixels, flat.left_mm, flat.top_mm, view.camera, np.array(rows, float).reshape(-1, 6)
    )


def _reshaped(rng: Rng, plate: Plate) -> tuple[Plate, Oval | None]:
    """A plate as it is, or as an oval of the catalogue's proportions that fits into it; odd flat things always are."""
    odd = plate.glyph is None and not plate.is_base and plate.height_mm < HIGH_MM
    if not odd and (not plate.is_base or plate.radius_mm < LEAST_MM or rng.random() > OVALS):
        return plate, None
    turn, (width, length) = (
        float(rng.uniform(0, np.pi)),
        OVAL_SIDES_MM[int(rng.integers(len(OVAL_SIDES_MM)))],
    )
    half = plate.radius_mm * np.array([1, width / length])
    spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    outline = (half * circle(1)) @ spin
    return replace(plate, outline_mm=outline, is_base=False), (2 * half[0], 2 * half[1], turn)


def _round(plate: Plate) -> Oval:
    return 2 * plate.radius_mm, 2 * plate.radius_mm, 0.0


def read_discs(path: Path) -> Sheet:
    """A photo and its truth."""
    truth = json.loads(path.read_text(encoding="utf-8"))
    camera, board = camera_of(truth["camera"]), truth["board"]
    photo = np.asarray(cv2.imread(str(path.with_suffix(".jpg"))), np.uint8)
    box = (-MARGIN_MM, -MARGIN_MM, board["width_mm"] + MARGIN_MM, board["height_mm"] + MARGIN_MM)
    view = rectify_photo(photo, camera, box, FINE_MM)
    rows = [
        _base(camera, piece)
        for piece in truth["pieces"]
        if piece["shape"]["type"] in ("circle", "oval")
    ]
    return Sheet(
        view.pixels, view.left_mm, view.top_mm, camera, np.array(rows, float).reshape(-1, 6)
    )


def _base(camera: Camera, piece: dict[str, Any]) -> list[float]:
    """As it looks on the plane z = 0: x, y, length, width, heading, share of the rim in sight."""
    eye, shape = camera.center_mm, piece["shape"]
    scale = eye[2] / (eye[2] - piece["z_mm"])
    at = eye[:2] + (np.array([piece["x_mm"], piece["y_mm"]]) - eye[:2]) * scale
    size = (
        (shape["length_mm"], shape["width_mm"])
        if shape["type"] == "oval"
        else (shape["diameter_mm"],) * 2
    )
    shown = piece["visible_rim_total"] if piece["in_frame"] > 0.5 else 0
    return [*at, *(side * scale for side in size), np.radians(piece["heading_deg"]), shown]


def crop(rng: Rng, sheet: Sheet) -> tuple[Floats, Floats]:
    """What the network sees (5, 128, 128), and the truth of its cells (11, 32, 32)."""
    turn, mirror, scale = (
        rng.uniform(0, 2 * np.pi),
        rng.choice([-1.0, 1.0]),
        float(np.exp(rng.uniform(-0.2, 0.2))),
    )
    c, s = np.cos(turn), np.sin(turn)
    spin = np.array([[c, -s], [s, c]]) @ np.diag([mirror, 1.0]) / scale
    middle = _middle(rng, sheet)
    lean = (
        np.linalg.solve(spin, (middle - sheet.camera.center_mm[:2]) / sheet.camera.center_mm[2])
        / scale
    )
    there = np.broadcast_to(lean * [1, -1], (SIDE, SIDE, 2)).astype(np.float32)
    return picture_input(recoloured(rng, cut(sheet, middle, spin)), there), _labels(
        sheet, middle, spin, scale
    )


def _middle(rng: Rng, sheet: Sheet) -> Array:
    """Mostly near a base."""
    if len(sheet.bases) and rng.random() < 0.6:
        return np.asarray(sheet.bases[rng.integers(len(sheet.bases)), :2] + rng.uniform(-90, 90, 2))
    size = np.array(sheet.pixels.shape[1::-1]) * FINE_MM
    return np.asarray([sheet.left_mm, sheet.top_mm] + rng.uniform(0, 1, 2) * size * [1, -1])


def _labels(sheet: Sheet, middle: Array, spin: Array, scale: float) -> Floats:
    truth = np.zeros((TRUTHS, CELLS, CELLS), np.float32)
    truth[2] = 1
    y, x = np.mgrid[:CELLS, :CELLS]
    nearest = np.full((CELLS, CELLS), np.inf)
    for bx, by, length, width, heading, shown in sheet.bases:
        at = np.linalg.solve(spin, np.array([bx, by]) - middle) * [1, -1] / OVERVIEW_MM_PER_PX
        at = (at + (SIDE - 1) / 2 + 0.5) / OUTPUT_STRIDE_PX - 0.5
        if (np.abs(at - CELLS / 2) > CELLS / 2 + 4).any() or shown < HIDDEN:
            continue
        away = np.hypot(x - at[0], y - at[1])
        half = np.array([length, width]) * scale / 2
        if shown < HALF_SEEN:
            truth[2][away < max(2.0, half[1] / OVERVIEW_MM_PER_PX / OUTPUT_STRIDE_PX)] = 0
            continue
        kind = int(length - width > 1)
        spread = float(np.clip(0.3 * half[1] / OVERVIEW_MM_PER_PX / OUTPUT_STRIDE_PX, 0.5, 1.2))
        truth[kind] = np.maximum(truth[kind], np.exp(-0.5 * (away / spread) ** 2))
        cell = np.round(at).astype(int)
        if (cell >= 0).all() and (cell < CELLS).all():
            truth[kind, cell[1], cell[0]] = 1
        near = (away < NEAR_CELLS) & (away < nearest)
        nearest[near] = away[near]
        way = np.linalg.solve(spin, [np.cos(heading), np.sin(heading)])
        twice = 2 * np.arctan2(way[1], way[0])
        truth[3][near] = 1
        truth[4][near], truth[5][near] = (at[0] - x)[near], (at[1] - y)[near]
        truth[6:, near] = np.array(
            [kind, *np.log(half / REFERENCE_SIZE_MM), np.cos(twice), np.sin(twice)]
        )[:, None]
    return truth


def batch(rng: Rng, sheets: Sequence[Sheet], count: int) -> tuple[Floats, Floats]:
    """So many crops of any sheets."""
    pairs = [crop(rng, sheets[int(rng.integers(len(sheets)))]) for _ in range(count)]
    return np.stack([a for a, _ in pairs]), np.stack([b for _, b in pairs])


def loss(answer: Tensor, truth: Tensor) -> Tensor:
    """How far the heat of either kind is off, and in it the place, the size and an oval's heading."""
    counts, on = truth[:, 2], truth[:, 3] > 0
    total = sum(
        _heat_loss(answer[:, said], truth[:, true], counts) for said, true in ((0, 0), (4, 1))
    )
    if not on.any():
        return torch.as_tensor(total)
    said, true = answer.permute(0, 2, 3, 1)[on], truth.permute(0, 2, 3, 1)[on]
    oval, far = true[:, 6] > 0, nn.functional.smooth_l1_loss
    total = total + far(said[:, 1:3], true[:, 4:6], beta=0.1)
    if not oval.all():
        total = total + 3 * far(said[~oval, 3], true[~oval, 7], beta=0.05)
    if oval.any():
        total = total + 2 * far(said[oval, 5:7], true[oval, 7:9], beta=0.05)
        total = total + far(said[oval, 7:9], true[oval, 9:11], beta=0.2)
    return torch.as_tensor(total)


def _heat_loss(logit: Tensor, heat: Tensor, counts: Tensor) -> Tensor:
    """Penalty-reduced focal loss (Zhou et al., Objects as Points, 2019)."""
    p = torch.sigmoid(logit).clamp(1e-4, 1 - 1e-4)
    hit = heat > 0.999
    found = ((1 - p) ** 2 * nn.functional.logsigmoid(logit))[hit].sum()
    missed = ((1 - heat) ** 4 * p**2 * nn.functional.logsigmoid(-logit) * counts)[~hit].sum()
    return -(found + missed) / hit.sum().clamp(min=1)
