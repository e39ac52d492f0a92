"""Search of the turn for local maxima of a function of an angle whose slope may jump."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

JUMP_OFFSET = 1e-9
"""Distance from a jump at which a slope is taken, as a share of the bracket."""


def sample_turn(count: int, kinks: Iterable[float]) -> list[float]:
    """Return ascending angles round the turn: `count` even ones, and every kink."""
    samples = {math.tau * k / count for k in range(count)}
    return sorted(samples | {kink % math.tau for kink in kinks})


def candidate_maxima(
    slope: Callable[[float], float], angles: Sequence[float], steps: int
) -> Iterator[float]:
    """Yield every angle but the last, each followed by the maximum before the next, if any."""
    for low, high in pairwise(angles):
        yield low
        inside = JUMP_OFFSET * (high - low)
        if slope(low + inside) > 0 > slope(high - inside):
            yield last_where(lambda angle: slope(angle) > 0, low, high, steps)


def last_where(holds: Callable[[float], bool], low: float, high: float, steps: int) -> float:
    """Return the end of the part of a bracket, from `low` on, where a condition holds."""
    for _ in range(steps):
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low
