"""Crops of tables as seen from above, turned, scaled and recoloured, and what is true of each cell of them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.vision.imaging.orthophoto import rectify_photo
from overruler.vision.learned.inference import OUTPUT_STRIDE_PX, OVERVIEW_MM_PER_PX
from overruler.vision.learned.shape_net import KINDS, REFERENCE_SIZE_MM, picture_input
from synthetic.arrays import Floats, Rng

FINE_MM = 1.25
"""A pixel of the pictures that crops are cut from."""
SIDE = 128
"""Pixels of a crop."""
CELLS = SIDE // OUTPUT_STRIDE_PX
MARGIN_MM = 60.0
HIDDEN, HALF_SEEN = 0.08, 0.22
"""What shows less of its rim is nothing, or may be either."""
CLOSE_MM = 54.0
"""A closer look enlarges a base to about this size."""
ENLARGED, LARGEST_MM = 0.35, 100.0
"""The share of crops in which a base is enlarged, as a closer look shows it, and what then looks larger is neither."""
TRUTHS = 18
"""Per cell: how likely each kind (3), whether heat counts, whether a base's middle lies within, dx and dy, log length
and width, cos and sin of once, twice and four times the heading, and whether each of the three is known."""


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """One table from above."""

    pixels: NDArray[np.uint8]
    left_mm: float
    top_mm: float
    camera: Camera
    bases: Array
    """(N, 7): x, y, length, width in mm, heading, kind, share of the rim in sight."""


def read_sheet(path: Path) -> Sheet:
    """A photo and its truth."""
    truth: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    camera = camera_of(truth["camera"])
    width, height = truth["board"]["width_mm"], truth["board"]["height_mm"]
    photo = np.asarray(cv2.imread(str(path.with_suffix(".jpg"))), np.uint8)
    box = (-MARGIN_MM, -MARGIN_MM, width + MARGIN_MM, height + MARGIN_MM)
    view = rectify_photo(photo, camera, box, FINE_MM)
    rows = [_base(camera, piece) for piece in truth["pieces"] if piece["shape"]["type"] != "circle"]
    return Sheet(
        view.pixels, view.left_mm, view.top_mm, camera, np.array(rows, float).reshape(-1, 7)
    )


def camera_of(truth: dict[str, Any]) -> Camera:
    pose = Pose(np.array(truth["rotation"], float), np.array(truth["translation_mm"], float))
    return Camera(np.array(truth["matrix"], float), np.array(truth["distortion"], float), pose)


def _base(camera: Camera, piece: dict[str, Any]) -> list[float]:
    kind = 2 if piece["shape"]["type"] == "oval" else 0 if piece["base_style"] == "xw" else 1
    return [*on_board(camera, piece), kind, piece["visible_rim"] if piece["in_frame"] > 0.5 else 0]


def on_board(camera: Camera, piece: dict[str, Any]) -> list[float]:
    """x, y, length, width and heading of a base that is not round, as it appears on the plane z = 0."""
    eye, shape = camera.center_mm, piece["shape"]
    scale = eye[2] / (eye[2] - piece["z_mm"])
    x, y = eye[:2] + (np.array([piece["x_mm"], piece["y_mm"]]) - eye[:2]) * scale
    return [
        x,
        y,
        shape["length_mm"] * scale,
        shape["width_mm"] * scale,
        np.radians(piece["heading_deg"]),
    ]


def crop(rng: Rng, sheet: Sheet) -> tuple[Floats, Floats]:
    """What the network sees (5, 128, 128), and the truth of its cells (18, 32, 32)."""
    turn, mirror = rng.uniform(0, 2 * np.pi), rng.choice([-1.0, 1.0])
    middle, size_mm = _middle(rng, sheet)
    scale = float(np.exp(rng.uniform(-0.15, 0.15)))
    if size_mm and rng.random() < ENLARGED:
        scale = max(1.0, rng.uniform(0.75, 1.1) * CLOSE_MM / size_mm)
    # out of the crop's frame (mm about its middle, y up) into the table's: p = middle + spin @ q
    c, s = np.cos(turn), np.sin(turn)
    spin = np.array([[c, -s], [s, c]]) @ np.diag([mirror, 1.0]) / scale
    pixels = recoloured(rng, cut(sheet, middle, spin))
    lean = (
        np.linalg.solve(spin, (middle - sheet.camera.center_mm[:2]) / sheet.camera.center_mm[2])
        / scale
    )
    there = np.broadcast_to(lean * [1, -1], (SIDE, SIDE, 2)).astype(np.float32)
    return picture_input(pixels, there), _labels(sheet, middle, spin, scale)


def _middle(rng: Rng, sheet: Sheet) -> tuple[Array, float]:
    """Mostly near a base, and then that one's size in mm."""
    if len(sheet.bases) and rng.random() < 0.75:
        base = sheet.bases[rng.integers(len(sheet.bases))]
        return np.asarray(base[:2] + rng.uniform(-90, 90, 2)), float(base[2:4].max())
    size = np.array(sheet.pixels.shape[1::-1]) * FINE_MM
    return np.asarray([sheet.left_mm, sheet.top_mm] + rng.uniform(0, 1, 2) * size * [1, -1]), 0.0


def cut(sheet: Sheet, middle: Array, spin: Array) -> NDArray[np.uint8]:
    """The crop's pixels: a picture's y runs down, and its middle lies between pixels."""
    flip = np.diag([1.0, -1.0])
    linear = flip @ spin @ flip * OVERVIEW_MM_PER_PX / FINE_MM
    centre = (middle - [sheet.left_mm, sheet.top_mm]) * [1, -1] / FINE_MM - 0.5
    move = centre - linear @ np.full(2, (SIDE - 1) / 2)
    warp = np.column_stack([linear, move])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(
        cv2.warpAffine(
            sheet.pixels, warp, (SIDE, SIDE), flags=flags, borderMode=cv2.BORDER_REPLICATE
        ),
        np.uint8,
    )


def recoloured(rng: Rng, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Another light, another lens: gain, tint, contrast, blur, noise, and sometimes other colours."""
    light: Floats = np.divide(pixels, 255, dtype=np.float32)
    if rng.random() < 0.3:
        light = light[..., rng.permutation(3)]
    light = np.asarray(light ** np.float32(np.exp(rng.normal(0, 0.2))), np.float32)
    light *= np.exp(rng.normal(-0.1, 0.3) + rng.normal(0, rng.choice([0.08, 0.3]), 3)).astype(
        np.float32
    )
    if rng.random() < 0.35:
        light = np.asarray(
            cv2.GaussianBlur(light, (0, 0), float(rng.uniform(0.3, 1.2))), np.float32
        )
    if rng.random() < 0.35:
        light = light + np.float32(rng.uniform(0.2, 0.8)) * (
            light - cv2.GaussianBlur(light, (0, 0), 1.0)
        )
    light = light + np.float32(rng.uniform(0, 0.03)) * rng.standard_normal(light.shape, np.float32)
    return np.asarray(np.clip(light, 0, 1) * 255, np.uint8)


def _labels(sheet: Sheet, middle: Array, spin: Array, scale: float) -> Floats:
    """The truth (18, 32, 32) of each cell."""
    truth = np.zeros((TRUTHS, CELLS, CELLS), np.float32)
    truth[3] = 1
    nearest = np.full((CELLS, CELLS), np.inf)
    y, x = np.mgrid[:CELLS, :CELLS]
    for bx, by, length, width, heading, kind, shown in sheet.bases:
        q = np.linalg.solve(spin, np.array([bx, by]) - middle)
        at = (
            q * [1, -1] / OVERVIEW_MM_PER_PX + (SIDE - 1) / 2 + 0.5
        ) / OUTPUT_STRIDE_PX - 0.5  # in cells
        if (np.abs(at - CELLS / 2) > CELLS / 2 + 4).any() or shown < HIDDEN:
            continue
        away = np.hypot(x - at[0], y - at[1])
        if shown < HALF_SEEN or max(length, width) * scale > max(
            LARGEST_MM, 1.16 * max(length, width)
        ):
            truth[3][
                away < max(2.5, 0.3 * width * scale / OVERVIEW_MM_PER_PX / OUTPUT_STRIDE_PX)
            ] = 0
            continue
        spread = float(
            np.clip(0.18 * width * scale / OVERVIEW_MM_PER_PX / OUTPUT_STRIDE_PX, 0.6, 1.2)
        )
        truth[int(kind)] = np.maximum(truth[int(kind)], np.exp(-0.5 * (away / spread) ** 2))
        cell = np.round(at).astype(int)
        if (cell >= 0).all() and (cell < CELLS).all():
            truth[int(kind), cell[1], cell[0]] = 1
        near = (away < 1.3) & (away < nearest)
        nearest[near] = away[near]
        way = np.linalg.solve(spin, [np.cos(heading), np.sin(heading)])
        angle = np.arctan2(way[1], way[0])
        square, round_ = abs(length - width) < 1, KINDS[int(kind)] == "oval"
        values = [
            1,
            0,
            0,
            np.log(length * scale / REFERENCE_SIZE_MM),
            np.log(width * scale / REFERENCE_SIZE_MM),
        ]
        values += [f(k * angle) for k in (1, 2, 4) for f in (np.cos, np.sin)]
        values += [kind == 0, kind == 0 or not square, not round_]
        truth[4:18, near] = np.array(values, np.float32)[:, None]
        truth[5][near], truth[6][near] = (at[0] - x)[near], (at[1] - y)[near]
        # a cell is labelled by the nearest middle alone
    return truth


def batch(rng: Rng, sheets: Sequence[Sheet], count: int) -> tuple[Floats, Floats]:
    """So many crops of any sheets."""
    pairs = [crop(rng, sheets[int(rng.integers(len(sheets)))]) for _ in range(count)]
    return np.stack([a for a, _ in pairs]), np.stack([b for _, b in pairs])
