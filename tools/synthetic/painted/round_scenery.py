"""Scenery that is round from above and no base: towers, pillars, braziers, barrels, stumps, chimneys, cans and cups."""

from dataclasses import replace

import numpy as np

from synthetic.arrays import Array, Floats, Rng
from synthetic.painted.art import round_art
from synthetic.painted.plates import Plate, circle
from synthetic.things.figures import any_colour
from synthetic.things.solids import Solid, ball, box, turned

KINDS: dict[str, tuple[tuple[float, float], tuple[float, float], tuple[float, float]]] = {
    "tower": ((22, 70), (35, 160), (-2, 6)),
    "pillar": ((7, 22), (15, 90), (-3, 3)),
    "brazier": ((7, 20), (8, 45), (-3, 2)),
    "barrel": ((7, 16), (12, 34), (0, 2)),
    "stump": ((7, 28), (5, 30), (0, 6)),
    "can": ((24, 36), (30, 120), (1, 4)),
    "cup": ((25, 45), (50, 110), (-5, 2)),
    "foot": ((14, 60), (3, 12), (0.5, 6)),
    "cap": ((8, 18), (6, 20), (0, 1)),
}
"""Radius, height, and how much narrower than its foot the top is, in mm: the least and the most of each."""


OFTEN = (0.12, 0.12, 0.22, 0.1, 0.1, 0.08, 0.06, 0.14, 0.06)
"""How common each is."""


def round_scenery(rng: Rng, at: Array, plain: Plate, tiles: int) -> tuple[list[Plate], list[Solid]]:
    """One piece with what stands on it; `tiles` is how many textures there are."""
    name = str(rng.choice(list(KINDS), p=OFTEN))
    radius, height, inset = (float(rng.uniform(*span)) for span in KINDS[name])
    stone = np.full(3, rng.uniform(0.03, 0.5), np.float32) * np.exp(rng.normal(0, 0.2, 3))
    paint = np.asarray(stone if rng.random() < 0.6 else any_colour(rng), np.float32)
    outline = circle(radius)
    if name in ("stump", "foot") or rng.random() < 0.15:
        outline = outline * _bumps(rng, 0.05 if name == "stump" else 0.12)[:, None]
    tile = int(rng.integers(tiles))
    body = replace(
        plain, center_mm=at, outline_mm=outline, height_mm=height, inset_mm=inset, rim=paint,
        tile=tile, tint=paint / np.float32(0.25), ring_mm=float(rng.choice([0, rng.uniform(0.5, 5)])),
        wobble_mm=float(rng.choice([0, rng.uniform(0, 2)])), plain=_top(rng, paint), is_base=False, is_clutter=True,
        side_tile=tile if rng.random() < 0.4 else None, gloss=float(rng.choice([0, 0.6])),
        highlight=float(rng.choice([0, rng.uniform(0, 0.5)])), glyph=_mouth(rng, name, radius),
    )  # fmt: skip
    if name in ("can", "cap") and rng.random() < 0.6:
        body = replace(body, card=round_art(rng), card_half_mm=np.full(2, radius - max(inset, 0)))
    return [body], _on_top(rng, name, body)


def _bumps(rng: Rng, share: float) -> Array:
    """How far out each of 72 directions reaches, about 1."""
    turn = np.arange(72) * 2 * np.pi / 72
    waves = (
        rng.normal() * share / k**0.7 * np.cos(k * turn + rng.uniform(0, 6)) for k in (2, 3, 5, 9)
    )
    return np.asarray(np.clip(1 + sum(waves), 0.7, 1.2))


def _top(rng: Rng, paint: Floats) -> Floats | None:
    if rng.random() < 0.5:
        return None
    return np.asarray(paint * rng.uniform(0.5, 1.5), np.float32)


def _mouth(rng: Rng, name: str, radius: float) -> tuple[Array, Floats] | None:
    """What is seen in an open top: dark, drink or embers."""
    if name not in ("brazier", "cup", "barrel", "tower", "stump") or rng.random() < 0.35:
        return None
    inside = np.array([0.02, 0.03, 0.05]) * rng.uniform(0.1, 3)
    if name == "brazier" and rng.random() < 0.7:
        inside = np.array([rng.uniform(0.02, 0.7), rng.uniform(0.2, 0.8), 0.85])
    return circle(radius * rng.uniform(0.4, 0.85)), inside.astype(np.float32)


def _on_top(rng: Rng, name: str, body: Plate) -> list[Solid]:
    """Battlements round a tower, fire in a brazier, rubble elsewhere."""
    reach, parts = body.radius_mm - max(body.inset_mm, 0), list[Solid]()
    if name == "tower" and rng.random() < 0.6:
        for turn in np.arange(0, 6.28, rng.uniform(0.4, 0.9)).tolist():
            way = np.array([np.cos(turn), np.sin(turn)])
            spot = [*(body.center_mm + 0.93 * reach * way), body.top_mm + 4]
            parts.append(box(spot, [0.06 * reach, 0.13 * reach, 4], turned(turn), body.rim))
    if name == "brazier" and rng.random() < 0.5:
        for _ in range(int(rng.integers(2, 7))):
            spot = [*(body.center_mm + rng.normal(size=2) * 0.3 * reach), body.top_mm + 3]
            fire = np.array([rng.uniform(0, 0.1), rng.uniform(0.1, 0.6), 0.9], np.float32)
            parts.append(ball(spot, rng.uniform(2, 5, 3), fire))
    if name in ("foot", "stump", "pillar") and rng.random() < 0.6:
        for _ in range(int(rng.integers(1, 7))):
            spot = [*(body.center_mm + rng.uniform(-0.6, 0.6, 2) * reach), body.top_mm]
            size = rng.uniform(0.1, 0.5, 3) * reach
            tone = np.asarray(body.rim * rng.uniform(0.5, 1.6), np.float32)
            parts.append(box(spot, size, turned(rng.uniform(0, 6)), tone))
    return parts
