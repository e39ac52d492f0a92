"""A piece of a table as a picture from above shows it, with the truth of what stands there."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from overruler.bases import HEXAGON_LENGTH_RATIO
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Pose
from overruler.vision.imaging.orthophoto import Orthophoto, rectify_photo
from synthetic.arrays import Array, Ints, Mask, Picture
from synthetic.camera import View
from synthetic.painted.plates import Plate

Truth = dict[str, Any]
"""What is true of a photo, as `synthetic.traced.truth` writes it."""
Size = tuple[float, float, float, int]
"""Length and width of a base in mm, heading in radians, kind."""
REACH_MM = 190.0
"""How far a drawn piece of a table reaches from its middle."""
FINE_MM = 1.25
"""A pixel of the pictures that crops are cut from."""
MARGIN_MM = 60.0
"""How far beyond the board of a traced table is looked."""
HIDDEN_OWNER = 255


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """One table from above."""

    pixels: Picture
    left_mm: float
    top_mm: float
    camera: Camera
    bases: Array
    """(N, 7): x, y, length, width in mm, heading, kind, share of the rim in sight."""
    mm_per_px: float = FINE_MM


def drawn_view(photo: Picture, camera: Camera, reach_mm: float, mm_per_px: float) -> Orthophoto:
    """A drawn piece of a table from above."""
    return rectify_photo(photo, camera, (-reach_mm, -reach_mm, reach_mm, reach_mm), mm_per_px)


def sheet_of(
    photo: Picture, view: View, rows: Iterable[Iterable[float]], fine_mm: float = FINE_MM
) -> Sheet:
    """The sheet of a drawn photo, its bases as `Sheet` has them."""
    flat = drawn_view(photo, view.camera, REACH_MM, fine_mm)
    bases = np.array([[*row] for row in rows], float).reshape(-1, 7)
    return Sheet(flat.pixels, flat.left_mm, flat.top_mm, view.camera, bases, fine_mm)


# --- traced tables ---


def traced_tables(*folders: Path) -> list[Path]:
    """The files of truth in folders that have their photo beside them."""
    truths = (path for folder in folders for path in folder.glob("*.json"))
    return sorted(path for path in truths if path.with_suffix(".jpg").exists())


def read_truth(path: Path) -> tuple[Truth, Camera, Picture]:
    """What is true of a traced table, its camera and its photo, which stands beside the truth's file."""
    truth: Truth = json.loads(path.read_text(encoding="utf-8"))
    photo = np.asarray(cv2.imread(str(path.with_suffix(".jpg"))), np.uint8)
    return truth, camera_of(truth["camera"]), photo


def camera_of(truth: Truth) -> Camera:
    pose = Pose(np.array(truth["rotation"], float), np.array(truth["translation_mm"], float))
    return Camera(np.array(truth["matrix"], float), np.array(truth["distortion"], float), pose)


def traced_view(
    photo: Picture, camera: Camera, truth: Truth, mm_per_px: float, margin_mm: float = MARGIN_MM
) -> Orthophoto:
    """A traced table from above."""
    width, height = truth["board"]["width_mm"], truth["board"]["height_mm"]
    box = (-margin_mm, -margin_mm, width + margin_mm, height + margin_mm)
    return rectify_photo(photo, camera, box, mm_per_px)


def read_sheet(path: Path, base: Callable[[Camera, Truth], list[float] | None]) -> Sheet:
    """A photo and its truth, whose pieces `base` turns into rows of a sheet, or leaves out."""
    return sheet_of_photo(*read_truth(path), base)


def sheet_of_photo(
    truth: Truth,
    camera: Camera,
    photo: Picture,
    base: Callable[[Camera, Truth], list[float] | None],
) -> Sheet:
    """The same of what `read_truth` has read."""
    view = traced_view(photo, camera, truth, FINE_MM)
    rows = [row for piece in truth["pieces"] if (row := base(camera, piece)) is not None]
    bases = np.array(rows, float).reshape(-1, 7)
    return Sheet(view.pixels, view.left_mm, view.top_mm, camera, bases)


def on_board(camera: Camera, piece: Truth) -> list[float]:
    """x, y, length, width and heading of a piece's base, as it appears on the plane z = 0."""
    eye, shape = camera.center_mm, piece["shape"]
    scale = eye[2] / (eye[2] - piece["z_mm"])
    x, y = eye[:2] + (np.array([piece["x_mm"], piece["y_mm"]]) - eye[:2]) * scale
    sides = (scale * side for side in _length_and_width(shape))
    return [x, y, *sides, np.radians(piece["heading_deg"])]


def _length_and_width(shape: Truth) -> tuple[float, float]:
    if shape["type"] == "circle":
        return shape["diameter_mm"], shape["diameter_mm"]
    if shape["type"] == "hexagon":
        return shape["width_mm"] * HEXAGON_LENGTH_RATIO, shape["width_mm"]
    return shape["length_mm"], shape["width_mm"]


def lengthwise(base: Sequence[float]) -> list[float]:
    """The same base as `on_board` has it, its heading along its longer side."""
    x, y, length, width, heading = base
    if width <= length:
        return [x, y, length, width, heading]
    return [x, y, width, length, heading + np.pi / 2]


def bases_of_shape(truth: Truth, camera: Camera, shape: str) -> Array:
    """The bases (M, 7) of one shape, as `Sheet` has them: where they appear on the table."""
    some = [piece for piece in truth["pieces"] if piece["shape"]["type"] == shape]
    rows = [[*lengthwise(on_board(camera, one)), 1, one["visible_rim"]] for one in some]
    return np.array(rows).reshape(-1, 7)


def apart_px(truth: Truth, places_px: Array) -> Array:
    """Distances (N, M) of places (N, 2) from the middles of all bases, as the photo shows them."""
    middles = np.array([piece["center_px"] for piece in truth["pieces"]])
    return np.asarray(np.hypot(*np.moveaxis(places_px[:, None] - middles, -1, 0)))


# --- what is seen of a painted rim ---


def seen_bases(
    plates: Sequence[Plate], sizes: Sequence[Size | None], owners: Mask, view: View
) -> Array:
    """The bases (N, 7) among plates, as `Sheet` has them; those without a size are none."""
    rows = [
        [*plate.center_mm, *size, visible_share(k, plate, owners, view)]
        for k, (plate, size) in enumerate(zip(plates, sizes, strict=True))
        if size is not None
    ]
    return np.array(rows, float).reshape(-1, 7)


def visible_share(k: int, plate: Plate, owners: Mask, view: View) -> float:
    """Share of the foot's edge in sight: the mat is seen just outside it, or the plate inside beside a neighbour.

    `owners` says who is seen at each pixel of `view`, as the painter has it.
    """
    reach = plate.radius_mm
    outside, inside = (
        owners_at(owners, view.pixels(plate.center_mm + plate.outline_mm * (1 + mm / reach), 0.0))
        for mm in (0.7, -0.5)
    )
    neighbour = (outside > 0) & (outside != k + 1) & (outside < HIDDEN_OWNER)
    return float(np.mean((outside == 0) | (neighbour & (inside == k + 1))))


def owners_at(owners: Mask, xy_px: Array) -> Ints:
    """Who is seen at points (N, 2) of the canvas; outside it somebody who hides all."""
    column, row = np.round(xy_px).astype(int).T
    rows, columns = owners.shape
    inside = (column >= 0) & (row >= 0) & (column < columns) & (row < rows)
    seen = owners[row.clip(0, rows - 1), column.clip(0, columns - 1)].astype(int)
    return np.where(inside, seen, HIDDEN_OWNER)
