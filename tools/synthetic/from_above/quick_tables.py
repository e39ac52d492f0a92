"""Quickly drawn pieces of tables with ovals and rectangles on them: many looks, none of them traced."""

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from overruler.vision.imaging.orthophoto import rectify_photo
from synthetic.painted.develop import develop
from synthetic.painted.light import any_lamp
from synthetic.painted.mats import Picture
from synthetic.painted.paint import paint
from synthetic.painted.plates import Plate, circle
from synthetic.painted.scene import make_scene
from synthetic.painted.solids import Array, Rng
from synthetic.painted.view import View
from training.lessons.rims.patches import view_from, visible_share
from training.lessons.shapes.crops import FINE_MM, Sheet

REACH_MM = 190.0
FINER = 2
OTHERS = 0.7
"""The share of bases that are made ovals or rectangles."""


LEAST_MM, HIGH_MM = 13.0, 10.0
"""Smaller bases stay round; what is higher is a mug or a roll."""


def drawn_sheet(seed: Sequence[int], tiles: Sequence[Picture]) -> Sheet:
    """One piece of a table from above."""
    rng = np.random.default_rng(list(seed))
    view = view_of(rng, REACH_MM, float(rng.uniform(0.8, 1.6)))
    photo, bases = drawn_photo(rng, view, tiles, REACH_MM, FINER)
    flat = rectify_photo(photo, view.camera, (-REACH_MM, -REACH_MM, REACH_MM, REACH_MM), FINE_MM)
    return Sheet(flat.pixels, flat.left_mm, flat.top_mm, view.camera, bases)


def drawn_photo(
    rng: Rng, view: View, tiles: Sequence[Picture], reach_mm: float, finer: int
) -> tuple[Picture, Array]:
    """A photo of one piece of a table, and what is neither round nor high on it (N, 7), as `Sheet` has it."""
    scene = make_scene(rng, reach_mm, tiles)
    shapes = [_reshaped(rng, plate) for plate in scene.plates]
    scene = replace(scene, plates=[plate for plate, _ in shapes])
    light, owners = paint(scene, view.finer(finer), any_lamp(rng), tiles)
    photo = develop(
        rng,
        np.asarray(
            cv2.resize(light, (view.width_px, view.height_px), interpolation=cv2.INTER_AREA)
        ),
    )
    rows = [
        [*plate.center_mm, *size, visible_share(k, plate, owners, view)]
        for k, (plate, size) in enumerate(shapes)
        if size is not None
    ]
    return photo, np.array(rows, float).reshape(-1, 7)


def _reshaped(rng: Rng, plate: Plate) -> tuple[Plate, tuple[float, float, float, int] | None]:
    """A base as it is, or as an oval or a rectangle that fits into it: its length, width, heading and kind."""
    odd = (
        plate.glyph is None and not plate.is_base and plate.height_mm < HIGH_MM
    )  # drawn as some oval or rectangle
    if not odd and (not plate.is_base or plate.radius_mm < LEAST_MM or rng.random() > OTHERS):
        return plate, None
    turn, kind = float(rng.uniform(0, 2 * np.pi)), int(rng.choice([1, 2]))
    if kind == 2:
        half = plate.radius_mm * np.array([1, rng.uniform(0.54, 0.8)])
        outline = half * circle(1)
    else:
        aspect = float(rng.choice([1, 1, 0.5, rng.uniform(0.45, 0.8)]))
        half = plate.radius_mm * np.array([1, aspect]) / np.hypot(1, aspect)
        corner = float(rng.uniform(0.2, 1.8))
        outline = np.sign(circle(1)) * (half - corner) + corner * circle(1)
    spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return replace(plate, outline_mm=outline @ spin), (2 * half[0], 2 * half[1], turn, kind)


def view_of(rng: Rng, reach_mm: float, mm_per_px: float) -> View:
    """A camera over the origin that shows so far around it: from straight above to 42° aside."""
    height = rng.uniform(800, 2100)
    angle, around, roll = rng.uniform(0, 0.74), *rng.uniform(0, 6.3, 2)
    eye: Array = height * np.array(
        [np.tan(angle) * np.cos(around), np.tan(angle) * np.sin(around), 1]
    )
    return view_from(
        eye, np.append(rng.uniform(-0.3, 0.3, 2) * height, 0), roll, reach_mm, mm_per_px
    )
