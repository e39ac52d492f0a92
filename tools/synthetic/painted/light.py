"""One lamp and the sky, and the shadows they leave."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from synthetic.arrays import Array, Floats, Rng
from synthetic.camera import View
from synthetic.painted.canvas import fill, hull, softened
from synthetic.painted.cutouts import Shades, shades_of
from synthetic.painted.plates import Plate
from synthetic.painted.wardrobe import Cutout

LOW, LOW_RAD = 0.35, (0.22, 0.7)
"""The share of lamps that stand beside the table and are most of the light, and how high they are seen from it: behind
a base they leave a bright mat, a dark rim and, between the two, the rim's shadow, whose edge is the sharper one."""

UNDER_SHARE, UNDER_MM = 0.55, 3.0
"""The share of the sky's light that a body takes from the ground below it, and how far that blurs."""


@dataclass(frozen=True, slots=True, eq=False)
class Lamp:
    """One lamp and the sky."""

    towards: Array
    """(3,): the direction to the lamp."""
    lamp: Floats
    """(3,): its colour and strength, blue green red."""
    sky: Floats
    soft_mm: float
    """How far its shadows blur."""
    contact: float
    """How dark it is where a base meets the mat, 0 to 1."""
    contact_mm: float


def any_lamp(rng: Rng) -> Lamp:
    low = rng.random() < LOW
    height, around = rng.uniform(*LOW_RAD) if low else rng.uniform(0.45, 1.45), rng.uniform(0, 6.3)
    towards = np.array(
        [np.cos(height) * np.cos(around), np.cos(height) * np.sin(around), np.sin(height)]
    )
    share = rng.uniform(0.4, 0.95) if low else rng.uniform(0.05, 0.8)
    warm = np.exp(rng.uniform(-0.25, 0.25) * np.array([-1, 0, 1]))
    cool = np.exp(rng.uniform(-0.15, 0.15) * np.array([-1, 0, 1]))
    return Lamp(
        towards,
        (share * warm).astype(np.float32),
        ((1 - share) * cool).astype(np.float32),
        float(rng.choice([rng.uniform(0.2, 1), rng.uniform(1, 8)])),
        rng.uniform(0, 0.7),
        rng.uniform(0.5, 5),
    )


def _landing(points: Array, towards: Array, z_mm: float) -> Array:
    """Where points' shadows fall on the plane at z; points below it stay where they are."""
    drop = np.maximum(points[:, 2] - z_mm, 0) / towards[2]
    return np.asarray(points - drop[:, None] * towards)


@dataclass(frozen=True, slots=True, eq=False)
class Casters:
    """Whatever throws a shadow."""

    hulls: list[Array]
    """The corners (n, 3) of convex things."""
    fallen: Shades | None = None
    """The shadows that bodies throw in the lamp's light, ..."""
    under: Shades | None = None
    """... and where they keep the sky's light off."""


def casters_of(hulls: list[Array], cutouts: Sequence[Cutout], lamp: Lamp) -> Casters:
    """Convex things, and bodies under a lamp."""
    if not cutouts:
        return Casters(hulls)
    above = np.array([0.0, 0.0, 1.0])
    return Casters(hulls, shades_of(cutouts, lamp.towards), shades_of(cutouts, above))


def light_on(casters: Casters, view: View, lamp: Lamp, z_mm: float) -> Floats:
    """How much light a level surface at z gets (H, W, 3), given whatever casts a shadow."""
    shade = view.blank()
    for fall in _shadows(casters.hulls, view, lamp, z_mm):
        cv2.fillConvexPoly(shade, np.round(hull(fall) * 16).astype(np.int32), 255, cv2.LINE_8, 4)
    sky = lamp.sky
    if casters.fallen is not None and casters.under is not None:
        casters.fallen.draw(shade, view, z_mm)
        under = view.blank()
        casters.under.draw(under, view, z_mm)
        dark = np.float32(UNDER_SHARE) * softened(under, UNDER_MM * view.px_per_mm)
        sky = sky * (1 - dark[..., None])
    sun = 1 - softened(shade, lamp.soft_mm * view.px_per_mm)
    return np.asarray(sky + lamp.lamp * np.float32(lamp.towards[2]) * sun[..., None], np.float32)


def _shadows(casters: Sequence[Array], view: View, lamp: Lamp, z_mm: float) -> Iterator[Array]:
    """The shadows on the canvas, as points (n, 2) whose hull is dark."""
    tall = [points for points in casters if points[:, 2].max() > z_mm + 0.5]
    if not tall:
        return
    fall = view.camera.project(_landing(np.concatenate(tall), lamp.towards, z_mm))
    for points in np.split(fall, np.cumsum([len(points) for points in tall])[:-1]):
        if (points.max(0) > 0).all() and (points.min(0) < view.size_px).all():
            yield points


def corners_of(plate: Plate) -> Array:
    """The foot and the upper edge of a plate (2K, 3)."""
    foot, top = plate.center_mm + plate.outline_mm, plate.center_mm + inner(plate, plate.inset_mm)
    return np.concatenate(
        [
            np.column_stack([foot, np.full(len(foot), plate.z_mm)]),
            np.column_stack([top, np.full(len(top), plate.top_mm)]),
        ]
    )


def inner(plate: Plate, inset_mm: float) -> Array:
    """The plate's outline drawn in by `inset_mm` (K, 2), about its centre."""
    reach = np.linalg.norm(plate.outline_mm, axis=1, keepdims=True)
    return np.asarray(plate.outline_mm * (1 - inset_mm / reach))


def contact(plates: Sequence[Plate], view: View, lamp: Lamp) -> Floats:
    """What the bases leave of the sky's light beside them (S, S)."""
    dark = view.blank()
    for plate in [plate for plate in plates if plate.z_mm == 0]:
        fill(dark, view.pixels(plate.center_mm + plate.outline_mm, 0.0))
    return np.asarray(
        1 - np.float32(lamp.contact) * softened(dark, lamp.contact_mm * view.px_per_mm), np.float32
    )
