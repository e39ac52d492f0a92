"""Flat things: bases, and what looks like one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.develop import LIGHT, decode_srgb
from synthetic.noise import rgb
from synthetic.things.figures import any_colour
from synthetic.things.solids import turned

DIAMETERS_MM = (25, 27, 28.5, 30, 32, 40, 50, 60, 65, 70, 80, 90, 100, 120, 130, 160)
_SHARES = np.array([10, 12, 10, 6, 12, 8, 8, 6, 2, 3, 3, 2, 3, 3, 2, 2]) / 92

_RIMS = (
    "0a0a0a",
    "141414",
    "1e1e1e",
    "462d1e",
    "6e4b32",
    "787878",
    "50555a",
    "e6e6e1",
    "d2aa6e",
    "be9b64",
    "3c5a28",
    "28461e",
)
_TEAM = ("b41e1e", "1e46aa", "d2a014", "1e7832", "6e1e8c", "e1641e", "14969b")
PLAIN = 0.25
"""The share of bases whose tops have no texture."""


@dataclass(frozen=True, slots=True, eq=False)
class Plate:
    """A flat thing on the table: a base, a coin, a token, a mug."""

    center_mm: Array
    """(2,)"""
    outline_mm: Array
    """(K, 2): its foot about the centre, counter-clockwise."""
    height_mm: float
    inset_mm: float
    """How much narrower the top is, all round."""
    rim: Floats
    """(3,): the side's reflectance."""
    tile: int
    """The top's texture in the library."""
    tint: Floats
    """(3,): what the texture is multiplied with."""
    ring_mm: float = 0
    """Width of the side's colour on top."""
    wobble_mm: float = 0
    """How unevenly the topping ends."""
    gloss: float = 0
    highlight: float = 0
    """How much lighter the upper edge is painted."""
    glyph: tuple[Array, Floats] | None = None
    """A printed shape (n, 2) about the centre, and its colour."""
    plain: Floats | None = None
    """(3,): the colour of a top without texture."""
    is_base: bool = True
    """Whether it is a round base."""
    z_mm: float = 0.0
    """Height of its foot."""
    card: Floats | None = None
    """(S, S, 4): what is printed on top, light and cover, its upper edge ahead (+x before it is turned)."""
    card_half_mm: Array | None = None
    """(2,): half the card's length, along the heading, and half its width."""
    turn_rad: float = 0.0
    """The heading."""
    clear: float = 0.0
    """0: what lies beneath does not show through, to 1."""
    is_clutter: bool = False
    """Whether it is no base of any shape."""
    side_tile: int | None = None
    """The texture that its sides have too; their colour is multiplied with it."""

    @property
    def top_mm(self) -> float:
        """Height of its top over the mat."""
        return self.z_mm + self.height_mm

    @property
    def radius_mm(self) -> float:
        """Half its greatest width."""
        return float(np.linalg.norm(self.outline_mm, axis=1).max())


def colour(code: str) -> Floats:
    """`rrggbb` as amounts of light, blue green red."""
    return np.asarray(decode_srgb(rgb(f"#{code}"))[::-1], np.float32)


def spun(outline: Array, angle: float) -> Array:
    """An outline (K, 2) turned about the origin."""
    return np.asarray(outline @ turned(angle)[:2, :2].T)


def rounded(half_mm: Array, corner_mm: float) -> Array:
    """A rectangle with round corners (72, 2)."""
    return np.asarray(np.sign(circle(1)) * (half_mm - corner_mm) + corner_mm * circle(1))


def circle(radius: float, count: int = 72) -> Array:
    turn = np.arange(count) * 2 * np.pi / count
    return radius * np.stack([np.cos(turn), np.sin(turn)], -1)


def any_base(rng: Rng, mat: int, tiles: Sequence[Picture]) -> Plate:
    """A round base; one in eight is a coin or a bare disc."""
    # what stands on a hill looks up to a twentieth larger, and no maker keeps to a size exactly
    radius = (
        float(rng.choice(DIAMETERS_MM, p=_SHARES))
        / 2
        * float(rng.choice([rng.uniform(0.99, 1.01), rng.uniform(1, 1.06)]))
    )
    flat = rng.random() < 0.12
    height = rng.uniform(1.2, 3) if flat else rng.uniform(2.8, 4.9)
    inset = rng.choice(
        [rng.uniform(0, 0.2), rng.uniform(1.2, 2.4)], p=[0.9, 0.1] if flat else [0.3, 0.7]
    )
    rim = _rim(rng, tiles[mat])
    bare = flat and rng.random() < 0.6
    return Plate(
        np.zeros(2),
        circle(radius),
        float(height),
        float(inset),
        rim,
        mat if rng.random() < 0.15 else int(rng.integers(0, len(tiles))),
        (rim / 0.25 if bare else np.ones(3) * rng.uniform(0.4, 1.3)).astype(np.float32),
        ring_mm=float(
            rng.choice([0, rng.uniform(0, 0.8), rng.uniform(0.8, 2.5)], p=[0.35, 0.3, 0.35])
        ),
        wobble_mm=float(rng.choice([0, rng.uniform(0, 1.2)])),
        gloss=float(rng.choice([0, rng.uniform(0, 0.6)])),
        highlight=float(rng.choice([0, rng.uniform(0, 0.4)], p=[0.7, 0.3])),
        plain=_plain(rng, rim) if rng.random() < PLAIN else None,
    )


def _plain(rng: Rng, rim: Floats) -> Floats:
    """Bare plastic as the rim, or one coat of paint."""
    return (
        rim
        if rng.random() < 0.4
        else np.asarray(any_colour(rng) * rng.uniform(0.4, 1.2), np.float32)
    )


def _rim(rng: Rng, mat: Picture) -> Floats:
    """The side's paint; one in eight is as the mat."""
    kind = rng.random()
    paint: np.ndarray[Any, np.dtype[Any]]
    if kind < 0.125:
        paint = LIGHT[mat[::16, ::16]].mean((0, 1)) * np.exp(rng.normal(size=3) * 0.08)
    else:
        paint = colour(str(rng.choice(_RIMS if kind < 0.82 else _TEAM)))
    return np.asarray(paint * rng.uniform(0.7, 1.3) + 0.004, np.float32)


def any_oddity(rng: Rng, mat: int, tiles: Sequence[Picture]) -> Plate:
    """Something that is no round base, or at least not obviously one."""
    makers = (_token, _token, _token, _squarish, _oval, _mug, _tape)
    return makers[int(rng.integers(0, len(makers)))](rng, any_base(rng, mat, tiles))


def _token(rng: Rng, base: Plate) -> Plate:
    """A cardboard token: bright print to the very edge, a glyph, a pale core."""
    radius = rng.uniform(9, 26)
    ink = _bright(rng)
    glyph = _star(radius * rng.uniform(0.4, 0.75), int(rng.integers(3, 9)), rng.uniform(0.35, 0.95))
    glyph_ink = np.full(3, rng.choice([0.01, 0.8]), np.float32)
    border = np.full(3, rng.choice([0.02, 0.35, 0.8]), np.float32) if rng.random() < 0.7 else ink
    plain = replace(
        base,
        inset_mm=0.0,
        wobble_mm=0.0,
        gloss=0.0,
        highlight=0.0,
        glyph=(glyph, glyph_ink),
        is_base=False,
    )
    height, ring = rng.uniform([0.8, 0], [2.4, 2]).tolist()
    return replace(
        plain, outline_mm=circle(radius), height_mm=height, rim=border, tint=ink * 4, ring_mm=ring
    )


def _bright(rng: Rng) -> Floats:
    hue = rng.permutation([rng.uniform(0.4, 0.9), rng.uniform(0.02, 0.6), rng.uniform(0.01, 0.1)])
    return np.asarray(hue, np.float32)


def _star(radius: float, points: int, inner: float) -> Array:
    turn = np.arange(2 * points) * np.pi / points
    reach = radius * np.where(np.arange(2 * points) % 2, inner, 1)
    return np.asarray(reach[:, None] * np.stack([np.cos(turn), np.sin(turn)], -1))


def _squarish(rng: Rng, base: Plate) -> Plate:
    """A rectangular base with rounded corners."""
    half = rng.uniform(10, 40) * np.array([1, rng.uniform(0.6, 1)])
    corner = rng.uniform(0.3, 0.25 * half.min())
    outline = spun(rounded(half, corner), rng.uniform(0, 2 * np.pi))
    return replace(base, outline_mm=outline, is_base=False)


def _oval(rng: Rng, base: Plate) -> Plate:
    half = rng.uniform(15, 50) * np.array([1, rng.uniform(0.5, 0.8)])
    outline = spun(circle(1) * half, rng.uniform(0, 2 * np.pi))
    return replace(base, outline_mm=outline, is_base=False)


def _mug(rng: Rng, base: Plate) -> Plate:
    paint, coffee = any_colour(rng), np.full(3, rng.uniform(0.05, 0.4), np.float32)
    radius, height, inset, ring = rng.uniform([28, 60, -5, 2], [45, 110, 2, 4]).tolist()
    high = replace(base, outline_mm=circle(radius), height_mm=height, inset_mm=inset, ring_mm=ring)
    return replace(high, rim=paint, tint=coffee, is_base=False)


def _tape(rng: Rng, base: Plate) -> Plate:
    """A roll, a pot or a bottle cap: too high for a base."""
    radius, height, share = rng.uniform([12, 12, 0.05], [50, 45, 0.5]).tolist()
    high = replace(base, outline_mm=circle(radius), height_mm=height)
    return replace(high, inset_mm=0.0, ring_mm=radius * share, is_base=False)


def is_free(plate: Plate, others: Sequence[Plate]) -> bool:
    """Whether a plate touches none of the others, by the circles round them."""
    for other in others:
        apart = float(np.linalg.norm(plate.center_mm - other.center_mm))
        if apart < plate.radius_mm + other.radius_mm:
            return False
    return True
