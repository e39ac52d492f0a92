"""How sure unit coherency and the control of an objective are, over drawn places.

Alphabet: n draws, m pieces.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.distances import gaps_at_shifts
from overruler.geometry.pose import Array
from overruler.rules.bodies import Body
from overruler.rules.sampling import DRAW_COUNT, draw_displacements
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

BoolArray = NDArray[np.bool_]
Link = tuple[int, int]


class LinkLimits(NamedTuple):
    """What coherency asks of the distances in a unit."""

    distance_mm: float
    neighbours: int
    spread_mm: float | None


def drawn_gaps(scene: Scene, pairs: Sequence[tuple[Body, Body]]) -> list[Array]:
    """The distance (n,) of each pair in the same draws."""
    indices = [*dict.fromkeys(body.index for pair in pairs for body in pair)]
    places = draw_displacements(scene, indices, DRAW_COUNT)
    column = {index: number for number, index in enumerate(indices)}
    gaps = []
    for a, b in pairs:
        shifts = places[:, column[b.index]] - places[:, column[a.index]]
        parts = [gaps_at_shifts(p, q, shifts) for p in a.parts for q in b.parts]
        gaps.append(np.asarray(np.min(parts, 0)))
    return gaps


def probability_coherent(
    scene: Scene,
    bodies: Sequence[Body],
    gaps_mm: Mapping[Link, float],
    level_links: Iterable[Link],
    unsure_links: Sequence[Link],
    limits: LinkLimits,
) -> float:
    """The probability that a unit is in coherency; all but the unsure distances stay."""
    drawn = drawn_gaps(scene, [(bodies[i], bodies[j]) for i, j in unsure_links])
    gaps = {link: np.array([gap]) for link, gap in gaps_mm.items()}
    gaps |= dict(zip(unsure_links, drawn, strict=True))
    count, size = len(drawn[0]), len(bodies)
    linked = np.zeros((count, size, size), bool)
    for i, j in level_links:
        is_near = gaps[i, j] <= limits.distance_mm + CONTACT_TOLERANCE_MM
        linked[:, i, j] = linked[:, j, i] = is_near
    coherent = linked.sum(2).min(1) >= limits.neighbours
    coherent &= _are_connected(linked)
    if limits.spread_mm is not None:
        limit_mm = limits.spread_mm + CONTACT_TOLERANCE_MM
        for gap in gaps.values():
            coherent &= gap <= limit_mm
    return float(coherent.mean())


def _are_connected(linked: BoolArray) -> BoolArray:
    """Whether the links (n, m, m) of each draw join all pieces."""
    reached = np.zeros(linked.shape[:2], bool)
    reached[:, 0] = True
    count = 0
    while (now := int(reached.sum())) > count:
        count = now
        reached |= (reached[:, :, None] & linked).any(1)
    return np.asarray(reached.all(1))
