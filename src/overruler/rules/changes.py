"""The smallest moves that change an answer on the closest distance: one nearer and one farther.

Nearer is simple. No move shortens a distance by more than its own length, and one along the gap by
exactly that. Farther off every pair counts, not the closest alone: see `geometry.separating_shift`.
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
"""The answer in each band between ascending lines: band 0 is up to the first of them."""


def smallest_changes(
    measure: Measure,
    lines_mm: Sequence[float],
    band: int,
    outcome: Outcome,
    contact: Measure | None = None,
) -> tuple[Change, ...]:
    """The smallest moves that change the answer, the nearer one first; of equally short ones any.

    `contact` holds the pairs that count at the line 0; None: all.

    The first side moves as a whole, a unit in its formation; the second moves where the first is
    terrain. Between terrain and terrain nothing moves.
    """
    first_moves = measure.closest.a.index is not None
    if not first_moves and measure.closest.b.index is None:
        return ()
    edges = [k for k in range(len(lines_mm)) if outcome(k) != outcome(k + 1)]
    nearer, farther = [k for k in edges if k < band], [k for k in edges if k >= band]
    at_line = [(contact or measure) if line == 0 else measure for line in lines_mm]
    changes = []
    if nearer:
        k = nearer[-1]
        gap = at_line[k].closest.gap
        changes.append(_change_nearer(gap, lines_mm[k], outcome(k), first_moves))
    if farther:
        k = farther[0]
        pairs = _moving_pairs(at_line[k], first_moves)
        changes.append(_change_farther(pairs, lines_mm[k], outcome(k + 1)))
    return tuple(changes)


def _change_nearer(gap: Gap, line_mm: float, answer: Any, first_moves: bool) -> Change:
    """The move along the gap until the distance touches the line."""
    start, end = gap.from_point, gap.to_point
    if not first_moves:
        start, end = end, start
    direction = (end[0] - start[0]) / gap.distance_mm, (end[1] - start[1]) / gap.distance_mm
    return Change(answer, max(gap.distance_mm - line_mm, 0.0), direction)


def _change_farther(pairs: Sequence[ShapePair], line_mm: float, answer: Any) -> Change:
    """The move past the line by twice the tolerance: a line touched is not crossed."""
    x, y = shortest_separating_shift(pairs, line_mm + 2 * CONTACT_TOLERANCE_MM)
    length = math.hypot(x, y)
    return Change(answer, length, (x / length, y / length))


def _moving_pairs(measure: Measure, first_moves: bool) -> Sequence[ShapePair]:
    """Every two parts, the part that moves first."""
    pairs = [(p, q) for pair in measure.pairs for p, q in product(pair.a.parts, pair.b.parts)]
    return pairs if first_moves else [(q, p) for p, q in pairs]
