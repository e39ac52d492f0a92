"""Which changes are a hand: large ones that reach in from the table's edge and are no piece."""

import numpy as np

from overruler.vision.tracking.change_detection import Mask, label_areas
from overruler.vision.tracking.table_state import FIGURE_MARGIN_MM, TableState

OBJECT_STILL_S = 4.0
"""Something large that ends beside the table and has been still for this long is no hand, in s."""
HAND_STILL_S = 60.0
"""A still area that reaches the picture's edge is no arm after this long, in s: players think."""
MIN_HAND_MM2 = 6000.0
"""Least area of a hand, without what pieces explain, in mm²."""


def is_hand(table: TableState, area: Mask) -> bool:
    """Whether an area looks like a hand or an arm, and not like something put there to stay."""
    return _reaches_in(table, area) and not _has_settled(table, area)


def _reaches_in(table: TableState, area: Mask) -> bool:
    """Whether an area touches the table's edge and is larger than pieces that come and go explain."""
    if not _is_large(table, area) or not (area & table.edge_blocks).any():
        return False
    explained = blocks_near_pieces(table, area.shape) | table.vacated_blocks
    return _is_large(table, area & ~explained)


def _is_large(table: TableState, area: Mask) -> bool:
    return bool(np.count_nonzero(area) * table.block_mm2 > MIN_HAND_MM2)


def _has_settled(table: TableState, area: Mask) -> bool:
    """Whether an area has been still for so long that it is no hand."""
    if not _is_still(table, area, OBJECT_STILL_S):
        return False
    if _is_still(table, area, HAND_STILL_S) or not _reaches_picture_edge(table, area):
        return True
    return bool(table.relit_blocks(area)[area].all())


def _is_still(table: TableState, area: Mask, for_s: float) -> bool:
    return bool(table.changes.still_blocks(table.shot.time_s, for_s)[area].all())


def _reaches_picture_edge(table: TableState, area: Mask) -> bool:
    """Whether a change continues beyond the table to the picture's edge, as arms do."""
    _, labels = label_areas(table.changes.changed)
    rows, columns = labels[[0, -1]], labels[:, [0, -1]]
    border = np.concatenate([rows.ravel(), columns.ravel()])
    return bool(np.isin(labels[area], border[border > 0]).any())


def is_disturbed(table: TableState, for_s: float, lying_s: float = np.inf) -> bool:
    """Whether something on the table has moved within `for_s`, or a hand or the like lies over it.

    What has been still for `lying_s` does not count as the latter.
    """
    if not _is_still(table, table.on_table, for_s):
        return True
    recently_moved = ~table.changes.still_blocks(table.shot.time_s, lying_s)
    count, labels = label_areas(table.changed_blocks)
    for label in range(1, count + 1):
        area = labels == label
        if recently_moved[area].any() and _reaches_in(table, area):
            return True
    return False


def blocks_near_pieces(table: TableState, size: tuple[int, int]) -> Mask:
    """The blocks that pieces, figures and shadows explain, where they stand and where they stood."""
    near = np.zeros(size, bool)
    for track in table.tracks:
        for home in (True, False):
            near[track.blocks(FIGURE_MARGIN_MM, home)] = True
    return near
