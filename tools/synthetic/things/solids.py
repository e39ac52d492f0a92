"""Convex bodies of one colour: what figures, ships, dice and trees are made of, to be painted or traced."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from synthetic.arrays import Array, Floats, Rng
from synthetic.things import mesh
from synthetic.things.materials import Material, Part
from synthetic.things.mesh import Mesh

ROUND_POINTS = 10
"""Corners around a round body."""


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A convex body."""

    mesh: Mesh
    colour: Floats
    """(3,): reflectance, blue green red."""

    @property
    def points_mm(self) -> Array:
        """Its corners (N, 3), some of them more than once."""
        return self.mesh.points_mm[:, 0]

    def part(self, gloss: float) -> Part:
        """The body as the tracer takes it."""
        blue, green, red = self.colour.tolist()
        return Part(self.mesh, Material((red, green, blue), gloss=gloss))


@cache
def _unit_ball() -> Mesh:
    return mesh.ball(1, ROUND_POINTS)


@cache
def _unit_cube() -> Mesh:
    """A closed cube of side 2 about the origin."""
    square = mesh.rectangle(2, 2)
    floor = mesh.fan(np.column_stack([square, -np.ones(4)])[::-1])
    return mesh.join([mesh.prism(square, -1, 1), floor])


def ball(center: ArrayLike, radii: ArrayLike, colour: Floats, turn: Array | None = None) -> Solid:
    """An ellipsoid."""
    stretch = np.diag(np.broadcast_to(np.asarray(radii, float), 3))
    return Solid(_unit_ball().mapped(stretch if turn is None else turn @ stretch, center), colour)


def box(center: ArrayLike, half: ArrayLike, turn: Array, colour: Floats) -> Solid:
    return Solid(_unit_cube().mapped(turn @ np.diag(np.asarray(half, float)), center), colour)


def capsule(start: ArrayLike, end: ArrayLike, radius: float, colour: Floats) -> Solid:
    return Solid(mesh.limb(start, end, radius, points=ROUND_POINTS), colour)


def cone(start: ArrayLike, end: ArrayLike, radius: float, tip: float, colour: Floats) -> Solid:
    """A round body from `start` to `end` whose radius goes from `radius` to `tip`."""
    way = np.asarray(end, float) - np.asarray(start, float)
    length = float(np.linalg.norm(way))
    profile = [(1e-3, 0.0), (radius, 0.0), (tip, length), (1e-3, length)]
    body = mesh.lathe(profile, ROUND_POINTS, cap=False)
    return Solid(body.mapped(mesh.frame_along(way), start), colour)


def blade(root: Array, tip: Array, half_root: float, half_tip: float, colour: Floats) -> Solid:
    """A thin wing from `root` to `tip`, this far to either side along x."""
    along = np.array([1.0, 0, 0])
    ring = np.array([root - half_root * along, root + half_root * along])
    ring = np.vstack([ring, tip + half_tip * along, tip - half_tip * along])
    ring = ring if tip[1] > root[1] else ring[::-1]
    thick = np.array([0, 0, 0.012])
    low, high = ring - thick, ring + thick
    return Solid(mesh.join([mesh.stack([low, high], facets=True), mesh.fan(low[::-1])]), colour)


def turned(angle: float) -> Array:
    """The rotation by `angle` radians about z."""
    return mesh.about_z(np.degrees(angle))


def leaning(rng: Rng, most: float) -> Array:
    """A direction near the vertical: up to `most` radians off."""
    off, around = rng.uniform(0, most), rng.uniform(0, 2 * np.pi)
    return np.array([np.sin(off) * np.cos(around), np.sin(off) * np.sin(around), np.cos(off)])
