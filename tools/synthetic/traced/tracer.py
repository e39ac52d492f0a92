"""The ray tracer: which light comes along a ray."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from synthetic.arrays import Floats, Ints
from synthetic.things.materials import Part
from synthetic.traced.embree import Hits, Solid
from synthetic.traced.light import Lights, Panel
from synthetic.traced.looks import Looks

LIFT_MM = 0.02
"""Rays start this far off the surface they leave."""
SHADE_MM = 100
"""What is farther away takes none of the room's light."""
LENT = 0.9
"""How much of its own light a near surface sends on."""
LAYERS = 5
"""How many clear plates a ray goes through."""


class Tracer:
    """All parts in one place, ready for rays."""

    def __init__(self, parts: Sequence[Part], lights: Lights) -> None:
        self.parts, self.lights = parts, lights
        self._part = np.repeat(np.arange(len(parts)), [len(p.mesh.points_mm) for p in parts])
        self._normals = np.concatenate([p.mesh.normals for p in parts]).astype(np.float32)
        self._uv = np.concatenate([p.mesh.uv for p in parts]).astype(np.float32)
        self._look = Looks([p.material for p in parts])
        opaque = [p for p in parts if p.material.clear == 0]
        self._all, self._opaque = Solid(parts), Solid(opaque)
        means = [np.broadcast_to(p.material.color, (len(p.mesh.points_mm), 3)) for p in opaque]
        self._bounce = np.concatenate([*means, [[0, 0, 0]]]).astype(np.float32)

    @property
    def soft(self) -> NDArray[np.bool_]:
        """Which parts (and last, nothing at all) show a print as smooth as a photo."""
        return np.array(
            [p.material.image is not None and not p.material.sharp for p in self.parts] + [True]
        )

    @cached_property
    def solid(self) -> Solid:
        """Everything that hides what is behind it."""
        return Solid([p for p in self.parts if p.solid])

    def see(self, origins_mm: Floats, rays: Floats, dice: Floats) -> tuple[Floats, Ints, Ints]:
        """The light (N, 3) along rays; the part (N,) that each meets first, -1 for none; and what shades it there.

        `dice` (N, 2), from 0 to 1, say which point of each lamp, and which direction of the room, is looked at. What
        shades a place is a number, the same for places that see the same lamps: where it changes, a shadow begins.
        """
        light, weight = np.zeros_like(rays), np.ones(len(rays), np.float32)
        first, shade = np.full(len(rays), -1, np.intp), np.zeros(len(rays), np.intp)
        active, start = np.arange(len(rays)), origins_mm
        for layer in range(LAYERS):
            hits = self._all.meet(start, rays[active])
            met = hits.triangle >= 0
            active, start, hits = active[met], start[met], hits[met]
            points, here, part, dark = self._surface(hits, start, rays[active], dice[active])
            if layer == 0:
                first[active], shade[active] = part, dark
            clear = self._look.clear[part]
            light[active] += here * ((1 - clear) * weight[active])[:, None]
            weight[active] *= clear
            if not (through := clear > 0).any():
                break
            active = active[through]
            start = points[through] + rays[active] * np.float32(0.05)
        return light, first, shade

    def _surface(
        self, hits: Hits, origins: Floats, rays: Floats, dice: Floats
    ) -> tuple[Floats, Floats, Ints, Ints]:
        """Where rays meet a surface, the light that it sends back, its part, and what shades it."""
        points = origins + rays * hits.reach
        face = _facing(hits.face, rays)
        normals = _facing(_blend(self._normals[hits.triangle], hits), rays)
        part = self._part[hits.triangle]
        albedo = self._look.albedo(part, points, face, _blend(self._uv[hits.triangle], hits))
        light, dark = self._shade(
            part, points + face * np.float32(LIFT_MM), normals, rays, albedo, dice
        )
        return points, light, part, dark

    def _shade(
        self,
        part: Ints,
        points: Floats,
        normals: Floats,
        rays: Floats,
        albedo: Floats,
        dice: Floats,
    ) -> tuple[Floats, Ints]:
        """Light scattered by the paint, and lamps and room mirrored in it."""
        way = rays / np.linalg.norm(rays, axis=1, keepdims=True)
        facing = -_dot(way, normals).clip(-1, 0)
        mirror = way + 2 * facing[:, None] * normals
        shine = self._look.gloss[part] * (0.04 + 0.96 * (1 - facing) ** 5)  # Schlick, 1994
        fall, glint, dark = self._room(points, normals, dice)
        glint = glint * shine[:, None]
        for number, lamp in enumerate(self.lights.panels):
            lit = self._lit(lamp, points, normals, dice)
            dark += (lit == 0).astype(np.intp) << (number + 1)
            fall += lamp.reach(points, normals) * lit[:, None]
            bright = np.flatnonzero(lit * shine > 2e-3)
            seen = lamp.mirrored(
                points[bright],
                np.asarray(mirror[bright], np.float32),
                self._look.rough[part[bright]],
            )
            glint[bright] += lamp.glow * (seen * shine[bright])[:, None]
        return np.asarray(albedo * fall + glint, np.float32), dark

    def _lit(self, lamp: Panel, points: Floats, normals: Floats, dice: Floats) -> Floats:
        """1 where a point of the lamp is in sight, 0 where something stands between."""
        way = lamp.at(2 * dice - 1) - points
        facing = np.flatnonzero(_dot(way, normals) > 0)
        lit = np.zeros(len(points), np.float32)
        lit[facing] = ~self._opaque.shades(points[facing], way[facing])
        return lit

    def _room(self, points: Floats, normals: Floats, dice: Floats) -> tuple[Floats, Floats, Ints]:
        """The room's light on surfaces and in mirrors: what is near shades it, which is 1, and lends its own colour."""
        ambient = self.lights.ambient(normals)
        way = normals + _sphere(dice)
        reach = SHADE_MM / (np.linalg.norm(way, axis=1) + np.float32(1e-6))
        near = self._opaque.nearest(points, way, reach)
        lent = ambient * self._bounce[near] * np.float32(LENT)
        shaded = near >= 0
        return np.where(shaded[:, None], lent, ambient), ambient, shaded.astype(np.intp)


def _dot(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _facing(normals: Floats, rays: Floats) -> Floats:
    """Normals (N, 3) at length 1, turned against the rays."""
    length = np.sqrt(_dot(normals, normals)) + np.float32(1e-12)
    return np.asarray(
        normals * (-np.sign(_dot(normals, rays) + np.float32(1e-9)) / length)[:, None]
    )


def _blend(corners: Floats, hits: Hits) -> Floats:
    """Values (N, D) between the three corners' (N, 3, D)."""
    return np.asarray(
        corners[:, 0] * (1 - hits.u - hits.v) + corners[:, 1] * hits.u + corners[:, 2] * hits.v
    )


def _sphere(dice: Floats) -> Floats:
    """Directions (N, 3), evenly spread for evenly spread dice (N, 2)."""
    z, angle = 2 * dice[:, 0] - 1, np.float32(2 * np.pi) * dice[:, 1]
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], 1)
