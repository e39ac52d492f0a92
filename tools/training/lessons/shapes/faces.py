"""How the look at a plate's whole face is taught: what is seen of plates, near misses, wrong sizes and other things."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from torch import Tensor, nn

from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX
from overruler.vision.learned.shape_net import RELIEF_SCALE, ShapeCandidate, find_plate_candidates
from overruler.vision.plates.face_net import INPUT_CHANNELS, PICTURE_SIDES, SIDE_PX, face_input
from overruler.vision.plates.more_views import picture_to_board
from overruler.vision.plates.sides import PLATE_HEIGHT_MM
from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.from_above.fleet import fleet_sheet
from synthetic.from_above.quick_tables import drawn_sheet
from synthetic.from_above.sheet import Sheet
from synthetic.painted.wardrobe import Wardrobe
from training.lesson import Drawn, FromTables, Lesson
from training.lessons.rims.network import Wide, seen
from training.lessons.shapes.angular import read_angular
from training.lessons.shapes.crops import anywhere, recoloured, warped
from training.loop import Interface

SIDES_MM = (40.0, 60.0, 80.0)
KINDS, SHARES = ("plate", "beside", "size", "other"), (0.45, 0.2, 0.2, 0.15)
OFF, OFF_DEG = 0.02, 2.0
"""1 σ of a plate's place, in sides, and of its heading, as the fit leaves them; a few lie further off."""
NEAR = (0.18, 0.7)
"""A near miss lies so many sides aside, ..."""
TURNED_DEG = (15.0, 45.0)
"""... or is turned so far."""
HALF_SEEN = 0.2
"""What shows less of its rim teaches nothing."""

INSIDE = 0.6
"""What reaches so many sides about its middle beyond the picture teaches nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Faces:
    """One table from above: its plates, and what the look from above takes for plates there."""

    sheet: Sheet
    plates: Array
    """(N, 4): x, y, side and heading of those in sight."""
    others: Array
    """(M, 4): of what is none."""


def plates_of(sheet: Sheet, least: float) -> Array:
    """The plates (N, 4) of which at least such a share of the rim is in sight."""
    kept = (sheet.bases[:, 5] == 0) & (sheet.bases[:, 6] >= least)
    return np.asarray(sheet.bases[kept][:, [0, 1, 2, 4]])


def faces_of(sheet: Sheet) -> Faces:
    plates = plates_of(sheet, 0.0)
    guesses = np.array([_like(guess) for guess in _guesses(sheet)]).reshape(-1, 4)
    away = np.linalg.norm(guesses[:, None, :2] - plates[:, :2], axis=-1) > 0.5 * plates[:, 2]
    return Faces(sheet, plates_of(sheet, HALF_SEEN), guesses[away.all(1)])


def _guesses(sheet: Sheet) -> list[ShapeCandidate]:
    times = sheet.mm_per_px / OVERVIEW_MM_PER_PX
    size = [round(n * times) for n in sheet.pixels.shape[1::-1]]
    pixels = np.asarray(cv2.resize(sheet.pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    seen = np.ones(pixels.shape[:2], bool)
    view = Orthophoto(pixels, seen, sheet.left_mm, sheet.top_mm, OVERVIEW_MM_PER_PX)
    return find_plate_candidates(view, sheet.camera)


def _like(guess: ShapeCandidate) -> tuple[float, float, float, float]:
    side = np.sqrt(guess.length_mm * guess.width_mm)
    nearest = min(SIDES_MM, key=lambda one: abs(np.log(one / side)))
    return float(guess.xy_mm[0]), float(guess.xy_mm[1]), nearest, guess.turn_rad


def lesson(rng: Rng, tables: Sequence[Faces]) -> tuple[Floats, float]:
    """What the network sees (6, 64, 64), and whether it is a plate."""
    while True:
        table = tables[int(rng.integers(len(tables)))]
        kind = str(rng.choice(KINDS, p=SHARES))
        supposed = _supposed(rng, table, kind)
        if supposed is not None and _shown(table, supposed[0], INSIDE * supposed[2]):
            return _seen(rng, table, *supposed), float(kind == "plate")


def _shown(table: Faces, xy_mm: Array, reach_mm: float) -> bool:
    """Whether the table's picture shows all that lies so near."""
    size = np.array(table.sheet.pixels.shape[1::-1]) * table.sheet.mm_per_px
    at = (xy_mm - [table.sheet.left_mm, table.sheet.top_mm]) * [1, -1]
    return bool((at > reach_mm).all() and (at < size - reach_mm).all())


def _supposed(rng: Rng, table: Faces, kind: str) -> tuple[Array, float, float] | None:
    """A place, a heading and a side; None where the table has nothing of the kind."""
    if kind == "other":
        if rng.random() < 0.15:
            return (
                anywhere(rng, table.sheet),
                rng.uniform(0, 2 * np.pi),
                float(rng.choice(SIDES_MM)),
            )
        if not len(table.others):
            return None
        x, y, side, turn = table.others[rng.integers(len(table.others))]
        return np.array([x, y]) + rng.normal(0, 2, 2), turn + rng.normal(0, 0.1), float(side)
    if not len(table.plates):
        return None
    x, y, side, turn = table.plates[rng.integers(len(table.plates))]
    xy, wide = np.array([x, y]), 2.0 if rng.random() < 0.2 else 1.0
    xy = xy + rng.normal(0, wide * OFF * side, 2).clip(-0.09 * side, 0.09 * side)
    turn = turn + np.radians(rng.normal(0, wide * OFF_DEG))
    if kind == "beside":
        return _beside(rng, table, xy, float(turn), float(side))
    return (
        (xy, float(turn), float(side))
        if kind == "plate"
        else _other_size(rng, xy, float(turn), float(side))
    )


def _beside(
    rng: Rng, table: Faces, xy: Array, turn: float, side: float
) -> tuple[Array, float, float] | None:
    """A near miss that is no hit of another plate."""
    if rng.random() < 0.3:
        return xy, turn + np.radians(rng.choice([-1, 1]) * rng.uniform(*TURNED_DEG)), side
    way = turn + (rng.integers(4) * np.pi / 2 if rng.random() < 0.6 else rng.uniform(0, 2 * np.pi))
    there = xy + rng.uniform(*NEAR) * side * np.array([np.cos(way), np.sin(way)])
    hit = np.linalg.norm(table.sheet.bases[:, :2] - there, axis=1) < NEAR[0] * side
    return None if hit.any() else (there, turn, side)


def _other_size(rng: Rng, xy: Array, turn: float, side: float) -> tuple[Array, float, float]:
    """A square of another size about the same middle, or with a corner or a side in common."""
    other = float(rng.choice([one for one in SIDES_MM if abs(one - side) > 1]))
    aside = rng.choice([-1, 0, 1], 2) * (side - other) / 2
    c, s = np.cos(turn), np.sin(turn)
    return xy + np.array([[c, -s], [s, c]]) @ aside, turn, other


def _seen(rng: Rng, table: Faces, xy_mm: Array, turn_rad: float, side_mm: float) -> Floats:
    """The square on any of its sides, mirrored or not."""
    scale = side_mm * PICTURE_SIDES / SIDE_PX
    frame = picture_to_board(xy_mm, turn_rad + rng.integers(4) * np.pi / 2, scale, SIDE_PX)
    if rng.random() < 0.5:
        frame = frame @ np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1.0]])
    return face_seen(rng, table.sheet, frame, xy_mm, side_mm)


def face_seen(
    rng: Rng, sheet: Sheet, frame: Array, xy_mm: Array, side_mm: float, side_px: int = SIDE_PX
) -> Floats:
    """What a network sees (6, S, S) of a square at `xy_mm`: the plane of its upper face, and how things lean, in any
    light.

    `frame` (2, 3) leads from the picture's pixels to the board; S is `side_px`.
    """
    eye = sheet.camera.center_mm
    higher = eye[2] / (eye[2] - PLATE_HEIGHT_MM)
    ground = frame * higher
    ground[:, 2] += eye[:2] * (1 - higher)
    to_px = np.diag([1.0, -1.0]) / sheet.mm_per_px
    warp = to_px @ ground
    warp[:, 2] -= to_px @ [sheet.left_mm, sheet.top_mm] + 0.5
    crop = recoloured(rng, warped(sheet.pixels, warp, side_px))
    colours = crop.astype(np.float32) / 64 - 2
    scale = float(np.linalg.norm(frame[:, 0]))
    lean = (xy_mm - eye[:2]) / eye[2] @ frame[:, :2] / scale / RELIEF_SCALE
    there = np.broadcast_to(lean[:, None, None], (2, side_px, side_px))
    return face_input(
        np.concatenate([colours.transpose(2, 0, 1), there]).astype(np.float32), side_mm
    )


def batch(rng: Rng, tables: Sequence[Faces], count: int) -> tuple[Floats, Floats]:
    pairs = [lesson(rng, tables) for _ in range(count)]
    return np.stack([a for a, _ in pairs]), np.array([b for _, b in pairs], np.float32)


def layers_to_odds(w: int, blocks: int = 1) -> list[nn.Module]:
    """Layers from (N, w / 2, 32, 32) to the log odds (N, 1, 1, 1), with so many of the last blocks."""
    v = w + w // 2
    return [
        seen(w // 2, w // 2, 3),
        seen(w // 2, w, 3, 2),
        Wide(w, 1),
        Wide(w, 2),
        seen(w, v, 3, 2),
        *(Wide(v, 1) for _ in range(blocks)),
        seen(v, v, 3, 2),
        nn.Conv2d(v, w, 4, bias=False),
        nn.BatchNorm2d(w),
        nn.ReLU(inplace=True),
        nn.Conv2d(w, 1, 1),
    ]


class FaceNet(nn.Module):  # type: ignore[misc]
    """(N, 6, 64, 64) to (N, 1): the log odds of a plate."""

    def __init__(self, w: int = 32) -> None:
        super().__init__()
        self.net = nn.Sequential(seen(INPUT_CHANNELS, w // 2, 5, 2), *layers_to_odds(w))

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.net(x)[:, :, 0, 0]
        return out


def loss(answer: Tensor, truth: Tensor) -> Tensor:
    return nn.functional.binary_cross_entropy_with_logits(answer[:, 0], truth)


def _drawn_fleet(seed: Sequence[int], tiles: Sequence[Picture], _: Wardrobe | None) -> Faces:
    return faces_of(fleet_sheet(seed, tiles))


def _drawn_table(seed: Sequence[int], tiles: Sequence[Picture], wardrobe: Wardrobe | None) -> Faces:
    return faces_of(drawn_sheet(seed, tiles, wardrobe))


def _read(path: Path) -> Faces:
    return faces_of(read_angular(path))


SQUARE = (4, INPUT_CHANNELS, SIDE_PX, SIDE_PX)
INTERFACE = Interface(SQUARE, ("pictures", "odds"), {0: "pictures"})
FEED = FromTables(
    batch, loss, (Drawn(_drawn_fleet, 40, 0.42), Drawn(_drawn_table, 40, 0.08)), _read
)
LESSONS = {"plate_face": Lesson(FaceNet, loss, FEED, INTERFACE, batch=64, rate=3e-3)}
