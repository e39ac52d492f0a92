"""Which changes are a hand over the table: large ones that reach in from beyond it and are no piece come or gone."""

import numpy as np

from overruler.vision.tracking.change_detection import Mask, label_areas
from overruler.vision.tracking.table_state import FIGURE_MARGIN_MM, TableState

OBJECT_STILL_S = 4.0
"""Something large that lies still for so long, and that ends beside the table, is no hand."""
HAND_STILL_S = 60.0
"""A hand whose arm goes on to the picture's edge is somebody's who thinks, or leans on the table, even for so long."""
MIN_HAND_MM2 = 6000.0
"""A changed area at the table's edge that leaves more than this unexplained by pieces is a hand, or the like."""


def is_hand(table: TableState, area: Mask) -> bool:
    """Whether an area looks like a hand's, or an arm's, and not like what has been put there to stay."""
    return _reaches_in(table, area) and not _has_settled(table, area)


def _reaches_in(table: TableState, area: Mask) -> bool:
    """Whether an area reaches in from beyond the table, as an arm does, and shows more than pieces that come and go."""
    if (
        np.count_nonzero(area) * table.block_mm2 <= MIN_HAND_MM2
        or not (area & table.edge_blocks).any()
    ):
        return False
    left = area & ~blocks_near_pieces(table, area.shape) & ~table.vacated_blocks
    return bool(np.count_nonzero(left) * table.block_mm2 > MIN_HAND_MM2)


def _has_settled(table: TableState, area: Mask) -> bool:
    """Whether an area has lain still for so long that it is no hand's."""

    def still(for_s: float) -> bool:
        return bool(table.changes.still_blocks(table.shot.time_s, for_s)[area].all())

    if not still(OBJECT_STILL_S):
        return False
    return (
        still(HAND_STILL_S)
        or not _reaches_picture_edge(table, area)
        or bool(table.relit_blocks(area)[area].all())
    )


def _reaches_picture_edge(table: TableState, area: Mask) -> bool:
    """Whether what has changed goes on beyond the table to the picture's edge: nobody's arm ends before."""
    _, labels = label_areas(table.changes.changed)
    frame = np.concatenate([labels[[0, -1]].ravel(), labels[:, [0, -1]].ravel()])
    return bool(np.isin(labels[area], frame[frame > 0]).any())


def is_disturbed(table: TableState, for_s: float, lying_s: float = np.inf) -> bool:
    """Whether something moves on the table, has done so for the last `for_s`, or lies over it that is no piece, though
    it may have lain still for `lying_s`."""
    if not table.changes.still_blocks(table.shot.time_s, for_s)[table.on_table].all():
        return True
    moved = ~table.changes.still_blocks(table.shot.time_s, lying_s)
    count, labels = label_areas(table.changed_blocks)
    return any(
        _reaches_in(table, labels == label)
        for label in range(1, count + 1)
        if moved[labels == label].any()
    )


def blocks_near_pieces(table: TableState, size: tuple[int, int]) -> Mask:
    """The blocks that pieces, their figures and their shadows explain, where they stand and where they stood."""
    near = np.zeros(size, bool)
    for held in table.tracks:
        for home in (True, False):
            near[held.blocks(size, FIGURE_MARGIN_MM, home)] = True
    return near
