"""A body of triangles with its parts, and what is done to it before it is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from synthetic.arrays import Array, Floats, Ints, Picture, Rng
from synthetic.painted.wardrobe import PARTS

FACING_WEIGHT = 0.35
"""How much the way that a triangle faces counts in its part, against its place in heights of the body."""
ROUNDS = 12
"""Rounds in which triangles are shared out among parts; the parts of figures no longer change by then."""


@dataclass(frozen=True, slots=True, eq=False)
class Skin:
    """The textures of a body."""

    uv: Array
    """(T, 3, 2): where each corner lies in its texture, 0 to 1; others repeat it."""
    sheet: Ints
    """(T,): which texture."""
    sheets: list[Picture]
    """(h, w, 3) each: part, lightness, and 0 where there is a hole."""
    paints: Floats
    """(PARTS + 1, 3): the mean colour of each part, blue green red, as light; the first is not used."""

    def at(self, triangle: Ints, shares: Array) -> Picture:
        """Part, lightness and cover (N, 3) on triangles (N,), given each corner's share (N, 3)."""
        places = np.einsum("nk,nkj->nj", shares, self.uv[triangle]) % 1
        found = np.zeros((len(triangle), 3), np.uint8)
        for k, sheet in enumerate(self.sheets):
            here = self.sheet[triangle] == k
            found[here] = sheet[texels(sheet.shape, places[here])]
        return found


def texels(shape: Sequence[int], places: Array) -> tuple[Ints, Ints]:
    """Rows and columns of places (N, 2) in a texture that repeats."""
    columns, rows = np.floor(places % 1 * [shape[1], shape[0]]).astype(np.intp).T
    return np.minimum(rows, shape[0] - 1), np.minimum(columns, shape[1] - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A body that stands on z = 0 about the origin."""

    triangles: Array
    """(T, 3, 3)."""
    parts: NDArray[np.uint8]
    """(T,): 1 to `PARTS`."""
    skin: Skin | None = None
    """Its textures; where there are some, they have the parts."""
    held: NDArray[np.bool_] | None = None
    """(T,): what it holds in its hands. It counts for nothing in how large the body is."""

    def mapped(self, matrix: Array, shift: Sequence[float] = (0, 0, 0)) -> "Shape":
        """Under a linear map (3, 3) and a shift."""
        return replace(self, triangles=self.triangles @ matrix.T + np.asarray(shift, float))

    @property
    def bulk(self) -> Array:
        """The triangles (N, 3, 3) without what it holds."""
        return self.triangles if self.held is None else self.triangles[~self.held]

    @property
    def size(self) -> Array:
        """Its extent (3,)."""
        return np.asarray(np.ptp(self.bulk, (0, 1)))


def plain_shape(triangles: Array, seed: int) -> Shape:
    """A body without colours of its own: its parts are areas that lie and face alike."""
    centres = triangles.mean(1)
    facing = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    facing /= np.maximum(np.linalg.norm(facing, axis=1, keepdims=True), 1e-12)
    height = max(float(np.ptp(centres[:, 2])), 1e-9)
    features = np.hstack([centres / height, FACING_WEIGHT * facing])
    return Shape(triangles, clusters(features, PARTS, np.random.default_rng(seed)))


def clusters(features: Array, count: int, rng: Rng) -> NDArray[np.uint8]:
    """Which of so many clusters, from 1, each row (N, K) belongs to, by Lloyd's method."""
    middles = features[rng.choice(len(features), min(count, len(features)), replace=False)]
    nearest = np.zeros(len(features), int)
    for _ in range(ROUNDS):
        squares = (middles**2).sum(1) - 2 * features @ middles.T
        nearest = squares.argmin(1)
        for k in range(len(middles)):
            if np.any(nearest == k):
                middles[k] = features[nearest == k].mean(0)
    return np.asarray(nearest + 1, np.uint8)


def stood(shape: Shape, height: float, feet_share: float = 0.15) -> Shape:
    """So tall, standing on z = 0, the middle of its feet over the origin; what it holds ends at the ground."""
    share = height / max(float(shape.size[2]), 1e-9)
    feet = share * shape.bulk.reshape(-1, 3)
    low = feet[:, 2].min()
    feet = feet[feet[:, 2] < low + feet_share * height]
    middle = (feet[:, :2].min(0) + feet[:, :2].max(0)) / 2
    placed = share * shape.triangles - [*middle, low]
    placed[..., 2] = np.maximum(placed[..., 2], 0)
    return replace(shape, triangles=placed)


def joined(shapes: Sequence[Shape]) -> Shape:
    """Several bodies without textures as one."""
    return Shape(
        np.concatenate([one.triangles for one in shapes]),
        np.concatenate([one.parts for one in shapes]),
    )


def bent(shape: Shape, rng: Rng) -> Shape:
    """The body in another pose: it leans, turns about itself and is stouter or slimmer."""
    lean, twist = rng.normal(0, 0.18, 2), float(rng.normal(0, 0.35))
    stout = np.exp(rng.normal(0, 0.1, 2))
    points = shape.triangles.copy()
    share = points[..., 2] / max(float(shape.size[2]), 1e-9)
    c, s = np.cos(twist * share), np.sin(twist * share)
    x, y = points[..., 0] * stout[0], points[..., 1] * stout[1]
    points[..., 0] = c * x - s * y + lean[0] * points[..., 2]
    points[..., 1] = s * x + c * y + lean[1] * points[..., 2]
    return replace(shape, triangles=points)


def winged(shape: Shape, rng: Rng) -> Shape:
    """The body with two wings, or a cloak in the wind."""
    high = float(shape.size[2])
    spread, rise = high * rng.uniform(0.6, 1.3), high * rng.uniform(-0.1, 0.6)
    back, root = -high * rng.uniform(0.05, 0.5), 0.7 * high
    wings = []
    for side in (-1.0, 1.0):
        line = [
            [0, 0.05 * side * high, root],
            [back, 0.5 * side * spread, root + rise],
            [1.3 * back, side * spread, root + 0.5 * rise],
            [back, 0.65 * side * spread, root - 0.3 * high],
            [0.4 * back, 0.25 * side * spread, root - 0.45 * high],
        ]
        wings.append(_sheet(np.array(line), 0.015 * high))
    return joined([shape, _painted(np.concatenate(wings), int(rng.integers(1, PARTS + 1)))])


def bannered(shape: Shape, rng: Rng) -> Shape:
    """The body with a pole in its hand, or on its back: a spear or a banner, upright or aslant."""
    high = float(shape.size[2])
    way, aslant = rng.uniform(0, 6.3), rng.normal(0, 0.5, 2)
    foot = np.array([0.3 * high * np.cos(way), 0.3 * high * np.sin(way), 0.1 * high])
    along = np.array([*aslant, 1.0])
    along /= np.linalg.norm(along)
    tip = foot + along * high * rng.uniform(1.0, 1.6)
    pole = _prism(foot, tip, 0.018 * high)
    parts = [_painted(pole, int(rng.integers(1, PARTS + 1)))]
    if rng.random() < 0.5:
        aside = np.array([np.cos(way + 1), np.sin(way + 1), 0]) * high * rng.uniform(0.25, 0.5)
        low = tip - along * high * rng.uniform(0.3, 0.6)
        flag = _sheet(np.array([tip, tip + aside, low + aside, low]), 0.012 * high)
        parts.append(_painted(flag, int(rng.integers(1, PARTS + 1))))
    return joined([shape, *parts])


def mounted(rider: Shape, mount: Shape, rng: Rng) -> Shape:
    """A rider on a mount that looks along x."""
    high = float(mount.size[2])
    points = mount.triangles.reshape(-1, 3)
    middle = points[np.abs(points[:, 0]) < 0.25 * np.ptp(points[:, 0])]
    saddle = float(np.percentile(middle[:, 2], 99))
    seated = stood(rider, high * rng.uniform(0.85, 1.2))
    drop = 0.3 * float(seated.size[2])
    return joined([mount, seated.mapped(np.eye(3), (0, 0, saddle - drop))])


def _painted(triangles: Array, part: int) -> Shape:
    return Shape(triangles, np.full(len(triangles), part, np.uint8))


def _sheet(outline: Array, thick: float) -> Array:
    """A thin sheet within points (N, 3), seen from both sides."""
    normal = np.cross(outline[1] - outline[0], outline[2] - outline[0])
    normal *= thick / max(float(np.linalg.norm(normal)), 1e-9)
    fans = []
    for side, way in ((normal, 1), (-normal, -1)):
        ring = outline[::way] + side
        fans += [[ring[0], ring[k], ring[k + 1]] for k in range(1, len(ring) - 1)]
    return np.array(fans)


def _prism(start: Array, end: Array, radius: float) -> Array:
    """A pole with six sides (T, 3, 3)."""
    along = (end - start) / np.linalg.norm(end - start)
    aside = np.cross(along, [1.0, 0.3, 0.0])
    aside /= np.linalg.norm(aside)
    third = np.cross(along, aside)
    turn = np.arange(6) * np.pi / 3
    ring = radius * (np.cos(turn)[:, None] * aside + np.sin(turn)[:, None] * third)
    found = []
    for k in range(6):
        a, b = ring[k], ring[(k + 1) % 6]
        found += [[start + a, start + b, end + b], [start + a, end + b, end + a]]
    return np.array(found)
