"""What stands on a table, the farthest first: convex solids, and bodies out of a wardrobe."""

from collections.abc import Sequence

import cv2
import numpy as np

from synthetic.arrays import Array, Floats, Mask
from synthetic.camera import View
from synthetic.painted.cutouts import HIDDEN, Light, draw_cutout
from synthetic.painted.light import Lamp
from synthetic.painted.wardrobe import Body, Cutout
from synthetic.things.solids import Solid


def draw_bodies(
    canvas: Floats, owners: Mask, bodies: Sequence[Body], view: View, lamp: Lamp
) -> None:
    """All bodies; what is nearer covers what is farther."""
    eye = view.camera.center_mm[:2]

    def away(body: Body) -> float:
        return float(np.linalg.norm(body.points_mm[:, :2].mean(0) - eye))

    solids = [(away(body), body) for body in bodies if isinstance(body, Solid)]
    cutouts = [(away(body), body) for body in bodies if isinstance(body, Cutout)]
    light = Light(lamp.towards, lamp.lamp, lamp.sky)
    for distance, cutout in sorted(cutouts, key=lambda one: -one[0]):
        farther = [solid for far, solid in solids if far > distance]
        solids = [one for one in solids if one[0] <= distance]
        _draw_solids(canvas, owners, farther, view, lamp)
        draw_cutout(canvas, owners, cutout, view, light)
    _draw_solids(canvas, owners, [solid for _, solid in solids], view, lamp)


def _draw_solids(
    canvas: Floats, owners: Mask, solids: Sequence[Solid], view: View, lamp: Lamp
) -> None:
    """All solids, the farthest triangle first."""
    if not solids:
        return
    corners = np.concatenate([solid.mesh.points_mm for solid in solids])  # (m, 3, 3)
    colours = np.concatenate(
        [np.repeat(solid.colour[None], len(solid.mesh.points_mm), 0) for solid in solids]
    )
    seen = view.camera.project(corners)
    u, v = seen[:, 1] - seen[:, 0], seen[:, 2] - seen[:, 0]
    front = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0] < 0  # the picture's y points down
    light = _flat_light(corners, lamp) * colours
    distance = np.linalg.norm(corners.mean(1) - view.camera.center_mm, axis=1)
    fixed = np.round(seen * 16).astype(np.int32)
    for k in np.argsort(-distance):
        if front[k]:
            cv2.fillConvexPoly(canvas, fixed[k], light[k].tolist(), cv2.LINE_8, 4)
            cv2.fillConvexPoly(owners, fixed[k], HIDDEN, cv2.LINE_8, 4)


def _flat_light(corners: Array, lamp: Lamp) -> Floats:
    """Light on triangles (m, 3, 3), one colour each (m, 3); darker near the ground."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)
    sky = 0.55 + 0.45 * normal[:, 2]
    low = np.clip(corners[:, :, 2].mean(1) / 15, 0.3, 1)
    sun = np.maximum(normal @ lamp.towards, 0)
    return np.asarray(
        low[:, None] * (sky[:, None] * lamp.sky + sun[:, None] * lamp.lamp), np.float32
    )
