"""What would change an answer on the closest distance: the least moves to the next one nearer and the next one farther.

Nearer is simple: no shift shortens a distance by more than its own length, and one along the gap by just that. Farther
off every pair counts, not the closest alone: see `geometry.ways_out`.
"""

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from overruler.geometry.separating_shift import ShapePair, shortest_separating_shift
from overruler.geometry.shapes import Gap
from overruler.rules.measure import Measure
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Change

Outcome = Callable[[int], Any]
"""The answer in each band between ascending lines: 0 is up to the first of them."""


def smallest_changes(
    measure: Measure, lines_mm: Sequence[float], band: int, outcome: Outcome
) -> tuple[Change, ...]:
    """The least moves that change the answer, the nearer one first; of equally short ones any.

    What moves is the first side as a whole, a unit in its formation; the second where the first is terrain. Terrain
    against terrain nothing moves.
    """
    first_moves = measure.closest.a.index is not None
    if not first_moves and measure.closest.b.index is None:
        return ()
    edges = [k for k in range(len(lines_mm)) if outcome(k) != outcome(k + 1)]
    found = [
        _change_nearer(measure.closest.gap, lines_mm[k], outcome(k), first_moves)
        for k in edges
        if k < band
    ][-1:]
    for k in [k for k in edges if k >= band][:1]:
        found.append(
            _change_farther(_moving_pairs(measure, first_moves), lines_mm[k], outcome(k + 1))
        )
    return tuple(found)


def _change_nearer(gap: Gap, line_mm: float, answer: Any, first_moves: bool) -> Change:
    """Along the gap, until the distance touches the line."""
    start, end = (gap.from_point, gap.to_point) if first_moves else (gap.to_point, gap.from_point)
    direction = (end[0] - start[0]) / gap.distance_mm, (end[1] - start[1]) / gap.distance_mm
    return Change(answer, max(gap.distance_mm - line_mm, 0.0), direction)


def _change_farther(pairs: Sequence[ShapePair], line_mm: float, answer: Any) -> Change:
    """Past the line by twice what still touches it: a line touched is not crossed."""
    x, y = shortest_separating_shift(pairs, line_mm + 2 * CONTACT_TOLERANCE_MM)
    move = math.hypot(x, y)
    return Change(answer, move, (x / move, y / move))


def _moving_pairs(measure: Measure, first_moves: bool) -> list[ShapePair]:
    pairs = [(p, q) for pair in measure.pairs for p, q in product(pair.a.parts, pair.b.parts)]
    return pairs if first_moves else [(q, p) for p, q in pairs]
