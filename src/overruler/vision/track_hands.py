"""Which changes are a hand over the table: large ones that reach in from beyond it and are no piece come or gone."""

import numpy as np

from overruler.vision.changes import Mask, areas
from overruler.vision.track_table import AROUND_MM, Watched

ABSORB_S = 4.0
"""Something large that lies still for so long is no hand."""
HAND_MM2 = 6000.0
"""A changed area at the table's edge that leaves more than this unexplained by pieces is a hand, or the like."""


def hand(table: Watched, area: Mask) -> bool:
    """Whether an area looks like a hand's, and has not lain still for long."""
    return _reaching(table, area) and not table.changes.quiet(table.shot.time_s, ABSORB_S)[area].all()


def _reaching(table: Watched, area: Mask) -> bool:
    """Whether an area reaches in from beyond the table, as an arm does, and shows more than pieces that come and go."""
    if np.count_nonzero(area) * table.block_mm2 <= HAND_MM2 or not (area & table.edge).any():
        return False
    left = area & ~near_pieces(table, area.shape) & ~table.vacated
    return bool(np.count_nonzero(left) * table.block_mm2 > HAND_MM2)


def handled(table: Watched, for_s: float) -> bool:
    """Whether something moves on the table, has just done so, or lies over it that is no piece."""
    if not table.changes.quiet(table.shot.time_s, for_s)[table.on_table].all():
        return True
    count, labels = areas(table.changed)
    return any(_reaching(table, labels == label) for label in range(1, count + 1))


def near_pieces(table: Watched, size: tuple[int, int]) -> Mask:
    """The blocks that pieces, their figures and their shadows explain, where they stand and where they stood."""
    near = np.zeros(size, bool)
    for held in table.held:
        for home in (True, False):
            near[held.blocks(size, AROUND_MM, home)] = True
    return near
