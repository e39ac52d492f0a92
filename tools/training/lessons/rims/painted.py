"""A painted scene as a lesson begins with it: its photo, and how much is seen of each plate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.geometry.camera import Camera
from synthetic.arrays import Array, Picture, Rng
from synthetic.camera import View, view_towards
from synthetic.from_above.sheet import visible_share
from synthetic.painted.paint import photo_of
from synthetic.painted.scene import Scene, make_scene
from synthetic.painted.wardrobe import Wardrobe
from synthetic.printed_mats import CLEARANCE_MM, Box, Lookalike, print_among

FINER = 2
"""Samples of a pixel's side."""


@dataclass(frozen=True, slots=True, eq=False)
class PaintedScene:
    """A scene and its photo."""

    scene: Scene
    view: View
    reach_mm: float
    """How far the scene reaches from its middle."""
    photo: Picture
    seen: Sequence[float]
    """The share of each plate's edge in sight."""

    @property
    def box_mm(self) -> Box:
        return (-self.reach_mm, -self.reach_mm, self.reach_mm, self.reach_mm)

    def with_prints(self, rng: Rng, count: int, form: str) -> tuple[Picture, list[Lookalike]]:
        """The photo with up to so many prints of a form beside its things, and what they are."""
        taken = _taken_by(self.scene, self.view.camera)
        return print_among(rng, self.photo, self.view.camera, self.box_mm, taken, count, form)


def paint_scene(
    rng: Rng,
    tiles: Sequence[Picture],
    wardrobe: Wardrobe | None,
    unmanned: float,
    change: Callable[[Scene], Scene] = lambda scene: scene,
) -> PaintedScene:
    """A random scene, changed before it is painted; so large a share of scenes has no figures."""
    view, reach_mm = any_view(rng)
    scene = change(make_scene(rng, reach_mm, tiles, wardrobe, unmanned))
    photo, owners = photo_of(rng, scene, view, FINER, tiles)
    fine = view.resized(FINER)
    seen = [visible_share(k, plate, owners, fine) for k, plate in enumerate(scene.plates)]
    return PaintedScene(scene, view, reach_mm, photo, seen)


def any_view(rng: Rng) -> tuple[View, float]:
    """A camera over the origin, and how far from it the scene reaches."""
    reach = float(
        rng.choice(
            [rng.uniform(35, 70), rng.uniform(60, 130), rng.uniform(110, 190)], p=[0.15, 0.4, 0.45]
        )
    )
    mm_per_px = max(rng.uniform(0.28, 1.3), 2 * reach / 320)
    height, angle = rng.uniform(800, 2100), rng.uniform(0, 0.72) ** 1.3 * 0.72**-0.3
    around, roll = rng.uniform(0, 6.3, 2)
    eye = height * np.array([np.tan(angle) * np.cos(around), np.tan(angle) * np.sin(around), 1])
    at = np.append(rng.uniform(-0.5, 0.5, 2) * height * rng.uniform(0, 1), 0)
    return view_towards(eye, at, roll, reach, mm_per_px), reach


def _taken_by(scene: Scene, camera: Camera) -> list[Array]:
    """Circles (3,) where no print may lie."""
    plates = [np.array([*one.center_mm, one.radius_mm + CLEARANCE_MM]) for one in scene.plates]
    return [*plates, *apparent(scene.lures, camera)]


def apparent(lures: Array, camera: Camera) -> Array:
    """Round things (N, 4) of x, y, height and radius as they seem to lie on z = 0 (N, 3)."""
    eye = camera.center_mm
    scale = eye[2] / (eye[2] - lures[:, 2])
    seen = eye[:2] + (lures[:, :2] - eye[:2]) * scale[:, None]
    return np.column_stack([seen, lures[:, 3] * scale])
