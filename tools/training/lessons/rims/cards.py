"""Samples of bases with corners, and of what is no base and has corners too: cards and printed squares."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from overruler.geometry.camera import Camera
from overruler.vision.learned.patches import auxiliary_input, build_pyramid, cut_patches
from overruler.vision.learned.print_net import rectangle_radius_mm
from synthetic.arrays import Array, Picture, Rng
from synthetic.from_above.sheet import Truth, on_board, read_truth
from synthetic.painted.plates import Plate, rounded, spun
from synthetic.painted.scene import Scene
from synthetic.painted.wardrobe import Wardrobe
from synthetic.printed_mats import Lookalike, any_angular, print_on_mat
from training.blocks import Arrays
from training.lessons.rims.painted import paint_scene
from training.lessons.rims.patches import block_of, inside, label, shaken

ON_PAINTED, ON_TRACED = 4, 8
"""Printed squares on a painted piece of a table, and on a traced table."""
UNMANNED = 0.2
"""The share of painted tables whose bases carry no figures."""
SQUARE = 0.6
"""The share of bases as long as wide."""
LEAST_ASPECT = 0.4
"""The least width of the others, as a share of the length."""
CORNERS_MM = 0.2, 2.0
"""Radii of corners."""
OFF = 0.02, 0.05, 0.1
"""How far off candidates are at most, as shares of their radius: sides are fitted before they are looked at."""


def painted_cards(seed: int, number: int, wardrobe: Wardrobe | None = None) -> Arrays:
    """What the scenes of a block teach of bases with corners and of what looks like them."""
    return block_of(seed, number, partial(_samples, wardrobe=wardrobe))


def traced_cards(path: Path) -> Arrays:
    """The same of one traced table, by the file of its truth; the picture stands beside it."""
    truth, camera, photo = read_truth(path)
    rng = np.random.default_rng([truth["seed"], 10])
    photo, cards = print_on_mat(rng, photo, camera, truth, ON_TRACED, any_angular(rng))
    bases = np.array([_seen(camera, piece) for piece in _angular(truth)], float).reshape(-1, 4)
    return _taught(rng, photo, camera, bases, bases[:, :3], cards)


def _samples(seed: Sequence[int], tiles: Sequence[Picture], wardrobe: Wardrobe | None) -> Arrays:
    """What one random scene with cornered plates teaches."""
    rng = np.random.default_rng(list(seed))
    painted = paint_scene(rng, tiles, wardrobe, UNMANNED, partial(_squared_all, rng))
    plates = painted.scene.plates
    rows = [[*_circle(plate), seen] for plate, seen in zip(plates, painted.seen, strict=True)]
    things = np.array(rows, float).reshape(-1, 4)
    is_base = np.array([plate.is_base for plate in plates], bool)
    photo, cards = painted.with_prints(rng, ON_PAINTED, any_angular(rng))
    return _taught(rng, photo, painted.view.camera, things[is_base], things[:, :3], cards)


def _squared_all(rng: Rng, scene: Scene) -> Scene:
    return replace(scene, plates=[squared(rng, plate) for plate in scene.plates])


def squared(rng: Rng, plate: Plate) -> Plate:
    """A plate with corners, as far across as it was: it touches no neighbour that it did not touch."""
    aspect = 1.0 if rng.random() < SQUARE else float(rng.uniform(LEAST_ASPECT, 1))
    half = plate.radius_mm * np.array([1, aspect]) / np.hypot(1, aspect)
    corner = min(float(rng.uniform(*CORNERS_MM)), 0.4 * float(half.min()))
    outline = spun(rounded(half, corner), float(rng.uniform(0, np.pi)))
    return replace(plate, outline_mm=outline)


def _circle(plate: Plate) -> list[float]:
    """Where a plate lies, and the radius of a circle as large as its foot."""
    area = cv2.contourArea(plate.outline_mm.astype(np.float32))
    return [*plate.center_mm, float(np.sqrt(area / np.pi))]


def _angular(truth: Truth) -> list[Truth]:
    pieces: list[Truth] = truth["pieces"]
    return [one for one in pieces if one["shape"]["type"] == "rectangle" and one["in_frame"] > 0.5]


def _seen(camera: Camera, piece: Truth) -> list[float]:
    x, y, length, width, _ = on_board(camera, piece)
    return [x, y, rectangle_radius_mm(length, width), piece["visible_rim_total"]]


def _taught(
    rng: Rng,
    photo: Picture,
    camera: Camera,
    bases: Array,
    things: Array,
    cards: Sequence[Lookalike],
) -> Arrays:
    """Patches around things (N, 3) and cards, their side input, and which are `bases` (M, 4), as in `teach`."""
    rows = [[*card.xy_mm, rectangle_radius_mm(*(2 * card.half_mm))] for card in cards]
    there = np.concatenate([things, np.array(rows).reshape(-1, 3)])
    candidates = inside(np.concatenate([shaken(rng, there, share) for share in OFF]), camera, photo)
    return {
        "patches": cut_patches(build_pyramid(photo), camera, candidates),
        "side": auxiliary_input(camera, candidates),
        "truth": label(camera, candidates, bases),
    }
