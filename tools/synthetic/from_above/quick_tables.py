"""Quickly drawn pieces of tables with discs, ovals and rectangles on them: many looks, none of them traced."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import OVAL_SIDES_MM
from synthetic.arrays import Array, Picture, Rng
from synthetic.camera import View, patch_view
from synthetic.from_above.sheet import REACH_MM, Sheet, Size, seen_bases, sheet_of
from synthetic.painted.paint import photo_of
from synthetic.painted.plates import Plate, circle, rounded, spun
from synthetic.painted.scene import make_scene
from synthetic.painted.wardrobe import Wardrobe

FINER = 2
"""Samples of a pixel's side."""
LEAST_MM, HIGH_MM = 13.0, 10.0
"""Smaller bases stay round; what is higher is a mug or a roll."""
DISC, RECTANGLE, OVAL = 0, 1, 2
"""Kinds of bases. In a sheet of plates 0 is a ship's plate."""


@dataclass(frozen=True, slots=True)
class Shapes:
    """Which shapes the bases of a drawn table get."""

    reshaped: float
    """The share of bases that are made ovals or rectangles."""
    rectangles: bool
    """Whether half of those are rectangles, and ovals of any proportions; else ovals are as makers sell them."""
    rounds: bool
    """Whether round bases are among the truth."""


ANGULAR = Shapes(0.7, rectangles=True, rounds=False)
ROUND = Shapes(0.3, rectangles=False, rounds=True)


def drawn_sheet(
    seed: Sequence[int],
    tiles: Sequence[Picture],
    wardrobe: Wardrobe | None = None,
    shapes: Shapes = ANGULAR,
) -> Sheet:
    """One piece of a table from above."""
    rng = np.random.default_rng(list(seed))
    mm_per_px = rng.uniform(0.8, 1.6) if shapes.rectangles else np.exp(rng.uniform(-0.7, 0.26))
    view = patch_view(rng, REACH_MM, float(mm_per_px))
    photo, bases = drawn_photo(rng, view, tiles, REACH_MM, FINER, shapes, wardrobe)
    return sheet_of(photo, view, bases)


def drawn_photo(
    rng: Rng,
    view: View,
    tiles: Sequence[Picture],
    reach_mm: float,
    finer: int,
    shapes: Shapes = ANGULAR,
    wardrobe: Wardrobe | None = None,
) -> tuple[Picture, Array]:
    """A photo of one piece of a table, and its bases (N, 7), as `Sheet` has them."""
    scene = make_scene(rng, reach_mm, tiles, wardrobe)
    made = [reshaped(rng, plate, shapes) for plate in scene.plates]
    scene = replace(scene, plates=[plate for plate, _ in made])
    photo, owners = photo_of(rng, scene, view, finer, tiles)
    sizes = [size for _, size in made]
    return photo, seen_bases(scene.plates, sizes, owners, view.resized(finer))


def reshaped(rng: Rng, plate: Plate, shapes: Shapes) -> tuple[Plate, Size | None]:
    """A base as it is, or as an oval or a rectangle that fits into it; odd flat things always are one."""
    bare = plate.glyph is None and not plate.is_base and not plate.is_clutter
    odd = bare and plate.height_mm < HIGH_MM
    small = plate.radius_mm < LEAST_MM
    if not odd and (not plate.is_base or small or rng.random() > shapes.reshaped):
        counts = plate.is_base and shapes.rounds
        return plate, (2 * plate.radius_mm, 2 * plate.radius_mm, 0.0, DISC) if counts else None
    turn = float(rng.uniform(0, 2 * np.pi))
    kind = int(rng.choice([RECTANGLE, OVAL])) if shapes.rectangles else OVAL
    if kind == OVAL:
        half = plate.radius_mm * np.array([1, _proportion(rng, shapes)])
        outline = half * circle(1)
    else:
        aspect = float(rng.choice([1, 1, 0.5, rng.uniform(0.45, 0.8)]))
        half = plate.radius_mm * np.array([1, aspect]) / np.hypot(1, aspect)
        outline = rounded(half, float(rng.uniform(0.2, 1.8)))
    shaped = replace(plate, outline_mm=spun(outline, turn), is_base=False)
    return shaped, (2 * half[0], 2 * half[1], turn, kind)


def _proportion(rng: Rng, shapes: Shapes) -> float:
    """An oval's width against its length."""
    width, length = OVAL_SIDES_MM[int(rng.integers(len(OVAL_SIDES_MM)))]
    return float(rng.uniform(0.54, 0.8)) if shapes.rectangles else width / length
