"""Quickly drawn pieces of tables with hills and houses, and what each cell of the picture from above shows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from overruler.geometry.camera import Camera
from overruler.geometry.relief import reproject_to_height
from overruler.vision.imaging.orthophoto import Orthophoto
from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.camera import patch_view
from synthetic.from_above.sheet import Truth, drawn_view
from synthetic.painted.light import inner
from synthetic.painted.paint import photo_of
from synthetic.painted.plates import Plate, circle, rounded, spun
from synthetic.painted.prints import Print
from synthetic.painted.scene import Scene, make_scene, standing
from synthetic.painted.wardrobe import Wardrobe
from synthetic.things.figures import any_colour, palette

FINE_MM = 2.0
"""A pixel of the picture from above."""
COARSE = 2
"""Pixels of the picture in the side of one of the cells whose shares are kept."""
REST, TOP, SIDE = 0, 1, 2
"""What a pixel shows: the mat and all that lies on it, a raised area's top, or its sides."""
DRAWN_IN = {"hill": 0.88, "rock": 0.0, "tree": 0.0, "pine": 0.0, "ruin": 0.0, "barricade": 0.0}
"""The size of a traced piece of terrain at its top, against its foot; 0 for what has no flat top.
All others go straight up."""
NEEDLE = 0.6
"""How large what has no top is taken to be up there, so that all that it hides is it."""
BEYOND_MM = 80.0
"""How far a table is painted beyond the piece that is kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A picture from above with its truth."""

    pixels: Picture
    """(S, S, 3), `FINE_MM` a pixel."""
    lean: Floats
    """(3,): how far right and down the picture's middle lies from the point below the camera, in camera heights, and
    how much that grows with a pixel."""
    shares: Picture
    """(S / 2, S / 2, 2): how much of each cell is a raised top and how much a side, of 255."""


def drawn_hills(
    seed: Sequence[int],
    tiles: Sequence[Picture],
    size_px: int,
    wardrobe: Wardrobe | None = None,
) -> Sample:
    """A piece of a table of `size_px` pixels a side."""
    rng = np.random.default_rng(list(seed))
    reach = size_px * FINE_MM / 2 + BEYOND_MM
    view = patch_view(rng, reach, float(rng.uniform(1.0, 1.9)), most_tilt=0.9)
    scene = make_scene(rng, reach, tiles, wardrobe)
    hills = _raised(rng, scene, reach, len(tiles))
    scene = _with_hills(rng, scene, hills, reach, wardrobe)
    photo, _ = photo_of(rng, scene, view, 2, tiles)
    flat = drawn_view(photo, view.camera, size_px * FINE_MM / 2, FINE_MM)
    labels = label(flat, view.camera, [_truth(hill) for hill in hills])
    return piece(flat, view.camera, labels, (0, 0), size_px)


def _raised(rng: Rng, scene: Scene, reach: float, tiles: int) -> list[Plate]:
    """Hills and houses that do not overlap."""
    found: list[Plate] = []
    for _ in range(int(rng.choice([0, 1, 2, 3, 4], p=[0.22, 0.33, 0.25, 0.15, 0.05]))):
        make = _hill if rng.random() < 0.75 else _house
        one = make(rng, scene, rng.uniform(-reach, reach, 2), int(rng.integers(tiles)))
        away = (np.linalg.norm(one.center_mm - other.center_mm) for other in found)
        reaches = (one.radius_mm + other.radius_mm for other in found)
        if all(gap > least for gap, least in zip(away, reaches, strict=True)):
            found.append(one)
    return found


def _hill(rng: Rng, scene: Scene, at: Array, tile: int) -> Plate:
    """A hill with a flat top, steep or sloped; of the mat's own stuff, of other stuff, or painted."""
    outline = _outline(rng)
    height = float(np.clip(np.exp(rng.normal(np.log(25), 0.6)), 7, 90))
    narrowest = float(np.linalg.norm(outline, axis=1).min())
    run = float(rng.choice([0.0, rng.uniform(0, 0.2), rng.uniform(0.1, 1.2)])) * height
    tint = np.exp(rng.normal(0, 0.22) + rng.normal(0, 0.08, 3)).astype(np.float32)
    return Plate(
        at,
        outline,
        height,
        min(run, 0.45 * narrowest),
        rim=tint * np.float32(rng.uniform(0.4, 1.3)),
        tile=scene.tile if rng.random() < 0.35 else tile,
        tint=tint,
        plain=any_colour(rng) if rng.random() < 0.05 else None,
        is_base=False,
        side_tile=tile,
    )


def _house(rng: Rng, scene: Scene, at: Array, tile: int) -> Plate:
    """A building, a container, a box, a book or a tower: straight up, flat on top."""
    half = rng.uniform(22, 85, 2)
    outline = circle(float(half.min())) if rng.random() < 0.2 else rounded(half, 0.5)
    paint, height = any_colour(rng), float(np.exp(rng.uniform(np.log(12), np.log(120))))
    top = replace(_hill(rng, scene, at, tile), outline_mm=spun(outline, rng.uniform(0, 2 * np.pi)))
    plain = any_colour(rng) if rng.random() < 0.4 else None
    side_tile = tile if rng.random() < 0.5 else None
    rim = paint if side_tile is None else top.rim
    return replace(top, height_mm=height, inset_mm=0.0, plain=plain, rim=rim, side_tile=side_tile)


def _outline(rng: Rng) -> Array:
    """A hill's foot about the origin, convex: a polygon, a blob, a rectangle or a disc."""
    reach, kind = float(np.exp(rng.uniform(np.log(55), np.log(210)))), rng.random()
    if kind < 0.8:
        count = int(rng.integers(5, 12)) if kind < 0.45 else 40
        corners = circle(reach, count) * rng.uniform(0.75, 1.15, (count, 1))
        ring = cv2.convexHull(corners.astype(np.float32))[:, 0].astype(float)
    else:
        ring = rounded(rng.uniform(0.35, 0.8, 2) * reach, 1.0) if kind < 0.92 else circle(reach)
    ring = spun(ring * [1, rng.uniform(0.55, 1)], rng.uniform(0, 2 * np.pi))
    x, y = ring.T
    area = float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum())
    return ring if area > 0 else ring[::-1]


def _with_hills(
    rng: Rng, scene: Scene, hills: Sequence[Plate], reach: float, wardrobe: Wardrobe | None
) -> Scene:
    """The scene with hills, pieces on their tops, nothing where they stand, and sometimes the mat's edge."""

    def clear(xy_mm: Array, gap: float) -> bool:
        return all(np.linalg.norm(xy_mm - hill.center_mm) > hill.radius_mm + gap for hill in hills)

    plates = [plate for plate in scene.plates if clear(plate.center_mm, plate.radius_mm)]
    solids = [solid for solid in scene.solids if clear(solid.points_mm[:, :2].mean(0), 0.0)]
    paints = palette(rng)
    for hill in hills:
        for plate in scene.plates[: int(rng.choice([0, 1, 3]))]:
            spot = hill.center_mm + rng.normal(0, 0.25, 2) * hill.radius_mm
            climber = replace(plate, center_mm=spot, z_mm=hill.height_mm)
            plates.append(climber)
            solids += standing(rng, climber, paints, wardrobe)
    prints = [*scene.prints, *([_edge(rng, reach)] if rng.random() < 0.35 else [])]
    return replace(scene, plates=[*hills, *plates], solids=solids, prints=prints)


def _edge(rng: Rng, reach: float) -> Print:
    """The mat's edge: beyond it lies the table."""
    away = np.array([0, (2.0 + rng.uniform(0.1, 0.9)) * reach])
    far = rounded(np.array([4.0, 2.0]) * reach, 1.0) + away
    return Print(spun(far, rng.uniform(0, 2 * np.pi)), any_colour(rng), 1.0)


def _truth(hill: Plate) -> Truth:
    """A drawn hill, as the truth of a traced table tells of one."""
    foot, top = (hill.center_mm + ring for ring in (hill.outline_mm, inner(hill, hill.inset_mm)))
    return {
        "kind": "hill",
        "footprint_mm": foot,
        "top_outline_mm": top,
        "top_z_mm": hill.height_mm,
    }


# --- what is true of each pixel ---


def label(view: Orthophoto, camera: Camera, terrain: Sequence[Truth]) -> Picture:
    """(H, W, 2): 255 where a top is seen, and where a side is."""
    labels = np.full(view.seen.shape, REST, np.uint8)
    eye = camera.center_mm[:2]
    for one in sorted(
        terrain, key=lambda one: -float(np.hypot(*(np.mean(one["footprint_mm"], 0) - eye)))
    ):
        foot, share = np.array(one["footprint_mm"]), DRAWN_IN.get(one["kind"], 1.0)
        top = foot.mean(0) + (foot - foot.mean(0)) * max(share, NEEDLE)
        top = one.get("top_outline_mm", top)
        seen = reproject_to_height(camera, top, one["top_z_mm"], 0.0)
        hull = cv2.convexHull(np.concatenate([foot, seen]).astype(np.float32))[:, 0]
        cv2.fillPoly(labels, [_px(view, hull)], SIDE if share else REST)
        if share:
            cv2.fillPoly(labels, [_px(view, seen)], TOP)
    return np.stack([labels == TOP, labels == SIDE], -1).astype(np.uint8) * 255


def _px(view: Orthophoto, outline_mm: ArrayLike) -> NDArray[np.int32]:
    return np.rint(view.to_px(outline_mm)).astype(np.int32)


def square(corner: tuple[int, int], size_px: int) -> tuple[slice, slice]:
    return slice(corner[0], corner[0] + size_px), slice(corner[1], corner[1] + size_px)


def piece(
    view: Orthophoto, camera: Camera, labels: Picture, corner: tuple[int, int], size_px: int
) -> Sample:
    """A square piece of a table, its upper left corner in pixels (row, column)."""
    here, count = square(corner, size_px), size_px // COARSE
    some = cv2.resize(labels[here], (count, count), interpolation=cv2.INTER_AREA)
    middle, eye = view.to_mm(np.array(corner[::-1]) + (size_px - 1) / 2), camera.center_mm
    lean = [*(middle - eye[:2]) / eye[2] * [1, -1], FINE_MM / eye[2]]
    return Sample(view.pixels[here], np.array(lean, np.float32), np.asarray(some, np.uint8))
