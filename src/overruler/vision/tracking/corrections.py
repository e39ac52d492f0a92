"""Corrections of a table while it is watched: its pieces are put right and tracked on."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overruler.detections import Detection
from overruler.fixes import Fix
from overruler.vision.assembly.corrections import apply_corrections
from overruler.vision.tracking.table_part import average_shots
from overruler.vision.tracking.table_state import TableState


def correct_table(table: TableState, fixes: Sequence[Fix]) -> None:
    """Apply corrections to the pieces as they stand.

    `BadInput` names the one that cannot be applied; then none is.
    """
    before = replace(table.report(), frame=average_shots(table.shots))
    after = apply_corrections(before, [_interpret_fix(table, fix) for fix in fixes])
    old_ids = [piece.id for piece in before.scene.pieces]
    new_ids = [piece.id for piece in after.scene.pieces]
    old = dict(zip(old_ids, before.detections, strict=True))
    new = dict(zip(new_ids, after.detections, strict=True))
    table.tracks[:] = [one for one in table.tracks if one.id in new or one.id not in old]
    for name, detection in new.items():
        if name not in old or not _same_place(detection, old[name]):
            _put_piece(table, name, detection)
        elif detection.is_confirmed:
            _confirm_piece(table, name)


def _interpret_fix(table: TableState, fix: Fix) -> Fix:
    """Put a moved piece that is away back on the table; give an added one a new id."""
    away = {track.id: track for track in table.tracks if track.away_s is not None}
    if fix.do == "add" and fix.id is None:
        return replace(fix, id=table.next_id())
    if fix.do == "add" and fix.id in away:
        fix.fail(f"{fix.id!r} is a piece that is off the table: move it to where it stands")
    if fix.do == "move" and fix.id in away:
        return replace(fix, do="add", base=away[fix.id].rest_detection.base)
    return fix


def _same_place(one: Detection, other: Detection) -> bool:
    same_height = one.base == other.base and one.z_mm == other.z_mm
    return same_height and bool(np.array_equal(one.xy_mm, other.xy_mm))


def _confirm_piece(table: TableState, name: str) -> None:
    """A person said that it is a piece."""
    for track in table.tracks:
        if track.id == name:
            track.rest_detection = replace(track.rest_detection, is_confirmed=True)


def _put_piece(table: TableState, name: str, detection: Detection) -> None:
    """Put a piece where it has been all along: this is no move."""
    for track in table.tracks:
        if track.id == name:
            track.settle_at(detection, table.shot.grey, table.camera)
            return
    table.add_piece(name, detection)
