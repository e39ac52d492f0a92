"""Round things that are no bases: counters, lids, cans, pillars, tiles, gems and printed rings."""

from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from synthetic.arrays import Picture, Rng
from synthetic.things.figures import any_colour
from synthetic.things.materials import Material, Part, plain, printed
from synthetic.things.mesh import Mesh, ball, circle, fan, lathe
from synthetic.things.props import Prop

PRINT_PX = 240
"""Side of a print's picture, in pixels."""
ROUND_POINTS = 72
"""Corners of a round outline."""
USUAL_DIAMETERS_MM = (19.0, 20.0, 25.0, 25.4, 30.0, 32.0, 38.0, 40.0, 50.0)
"""Diameters of counters that are sold."""
USUAL_SHARE = 0.6
"""Share of counters that have one of these."""
GRAINS = ("fine", "sand", "cloud", "stone")
"""Grains of solid things."""


def any_lookalike(rng: Rng) -> Prop:
    """One of them, each kind as often as any other."""
    return KINDS[int(rng.integers(len(KINDS)))](rng)


def counter(rng: Rng) -> Prop:
    """A counter of cardboard, wood or plastic, printed or not."""
    diameter = _diameter_mm(rng)
    return _disc("counter", diameter, float(rng.uniform(0.4, 4)), _art(rng), rng)


def printed_ring(rng: Rng) -> Prop:
    """A ring printed on paper or on the mat, as round objectives."""
    diameter = float(rng.uniform(30, 170))
    return _disc("ring", diameter, 0.1, _art(rng), rng)


def tile(rng: Rng) -> Prop:
    """A tile with six or eight corners."""
    corners = int(rng.choice([6, 8]))
    thick = float(rng.uniform(1, 4))
    return _disc("tile", float(rng.uniform(22, 50)), thick, _art(rng), rng, corners)


def lid(rng: Rng) -> Prop:
    """A lid, a can or a cup: a rim about a sunk or flat top."""
    radius, height = float(rng.uniform(8, 45)), float(np.exp(rng.uniform(np.log(4), np.log(120))))
    wall, sunk = float(rng.uniform(0.5, 3)), float(rng.uniform(0, 0.8)) * height
    foot = radius * float(rng.uniform(0.85, 1.0))
    profile = [(foot, 0), (radius, height), (radius - wall, height), (radius - wall, height - sunk)]
    inside = lathe([(radius - wall, height - sunk), (0.1, height - sunk)], ROUND_POINTS)
    parts = [Part(lathe(profile, ROUND_POINTS, cap=False), _stuff(rng)), Part(inside, _stuff(rng))]
    return Prop("lid", circle(radius, ROUND_POINTS), parts, 2 * radius)


def pillar(rng: Rng) -> Prop:
    """A pillar, a brazier, a round tower or a stump."""
    radius, height = float(rng.uniform(8, 60)), float(np.exp(rng.uniform(np.log(8), np.log(110))))
    top, waist = (radius * float(rng.uniform(0.6, 1.05)) for _ in range(2))
    profile = [(radius, 0), (radius, 0.1 * height), (waist, 0.2 * height), (top, height)]
    side = lathe(profile, ROUND_POINTS, cap=False)
    cover = lathe([(top, height), (0.1, height + float(rng.uniform(-0.1, 0.1)) * top)], 48)
    parts = [Part(side, _stuff(rng)), Part(cover, _stuff(rng))]
    return Prop("pillar", circle(max(radius, top), ROUND_POINTS), parts, 2 * radius)


def gem(rng: Rng) -> Prop:
    """A glass bead, half sunk."""
    radius = float(rng.uniform(5, 16))
    half: Mesh = ball(radius, 24).mapped(np.diag([1, 1, rng.uniform(0.3, 0.8)]), (0, 0, 0))
    return Prop("gem", circle(radius, 32), [Part(half, _stuff(rng, 0.9))], 2 * radius)


KINDS: tuple[Callable[[Rng], Prop], ...] = (counter, counter, printed_ring, tile, lid, pillar, gem)
"""All kinds; counters are the commonest."""


def _diameter_mm(rng: Rng) -> float:
    if rng.random() < USUAL_SHARE:
        return float(rng.choice(USUAL_DIAMETERS_MM))
    return float(np.exp(rng.uniform(np.log(14), np.log(90))))


def _disc(
    kind: str, diameter: float, thick: float, art: Picture, rng: Rng, corners: int = ROUND_POINTS
) -> Prop:
    """A flat thing with a picture on it."""
    ring = circle(diameter / 2, corners)
    edge = lathe([(diameter / 2, 0), (diameter / 2, thick)], corners, cap=False)
    top = fan(np.column_stack([ring, np.full(corners, thick)]), ring / diameter + 0.5)
    gloss = float(rng.uniform(0, 0.4))
    parts = [Part(edge, _stuff(rng)), Part(top, printed(art, gloss=gloss))]
    return Prop(kind, ring, parts, diameter)


def _stuff(rng: Rng, gloss: float = 0.4) -> Material:
    colour, second = (_name(any_colour(rng)) for _ in range(2))
    grain, size = str(rng.choice(GRAINS)), float(rng.uniform(20, 120))
    return plain(colour, second, grain=grain, grain_mm=size, gloss=float(rng.uniform(0, gloss)))


def _name(colour: np.ndarray) -> str:
    """A reflectance (3,), blue green red, as a colour's name."""
    shown = np.clip(255 * np.asarray(colour) ** (1 / 2.2), 0, 255).astype(int)
    return "#" + "".join(f"{value:02x}" for value in shown[::-1])


def _art(rng: Rng) -> Picture:
    """Rings, a figure and blotches: what is printed on counters."""
    image = Image.new("RGB", (PRINT_PX, PRINT_PX), _name(any_colour(rng)))
    draw = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(0, 12))):
        (x, y), reach = rng.uniform(0, PRINT_PX, 2), float(rng.uniform(10, 80))
        draw.ellipse([x - reach, y - reach, x + reach, y + reach], fill=_name(any_colour(rng)))
    if rng.random() < 0.5:
        image = image.filter(ImageFilter.GaussianBlur(float(rng.uniform(2, 12))))
        draw = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(0, 4))):
        inset, width = float(rng.uniform(0, PRINT_PX / 3)), int(rng.integers(2, 20))
        box = [inset, inset, PRINT_PX - inset, PRINT_PX - inset]
        draw.ellipse(box, outline=_name(any_colour(rng)), width=width)
    if rng.random() < 0.6:
        _draw_star(draw, rng)
    return np.asarray(image)


def _draw_star(draw: ImageDraw.ImageDraw, rng: Rng) -> None:
    tips, reach = int(rng.integers(3, 9)), PRINT_PX * rng.uniform(0.15, 0.45)
    radii = reach * np.tile([1.0, rng.uniform(0.3, 1.0)], tips)
    angles = np.linspace(0, 2 * np.pi, 2 * tips, endpoint=False) + rng.uniform(0, 6)
    corners = PRINT_PX / 2 + radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], 1)
    draw.polygon([tuple(corner) for corner in corners], fill=_name(any_colour(rng)))
