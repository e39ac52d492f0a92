"""What people correct on a table while it is watched: its pieces are put right, and go on being followed from there."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overruler.detections import Detection
from overruler.fixes import Fix, next_piece_id
from overruler.vision.assembly.corrections import apply_corrections
from overruler.vision.tracking.piece_track import PieceTrack
from overruler.vision.tracking.table_state import TableState, average_shots


def correct_table(table: TableState, fixes: Sequence[Fix]) -> None:
    """Apply corrections to the pieces as they stand; `BadInput` names the one that cannot be applied, and none is."""
    before = replace(table.report(), frame=average_shots(table.shots))
    after = apply_corrections(before, [_interpret_fix(table, fix) for fix in fixes])
    stood = dict(zip((piece.id for piece in before.scene.pieces), before.detections, strict=True))
    stands = dict(zip((piece.id for piece in after.scene.pieces), after.detections, strict=True))
    table.tracks[:] = [held for held in table.tracks if held.id in stands or held.id not in stood]
    for name, detection in stands.items():
        if name not in stood or not _same_place(detection, stood[name]):
            _put_piece(table, name, detection)


def _interpret_fix(table: TableState, fix: Fix) -> Fix:
    """A piece that is moved while it is off the table is put there; one that is added takes a name never given here."""
    away = {held.id: held for held in table.tracks if held.away_s is not None}
    if fix.do == "add" and fix.id is None:
        return replace(fix, id=next_piece_id([held.id for held in table.tracks]))
    if fix.do == "add" and fix.id in away:
        fix.fail(f"{fix.id!r} is a piece that is off the table: move it to where it stands")
    if fix.do == "move" and fix.id in away:
        return replace(fix, do="add", base=away[fix.id].rest_detection.base)
    return fix


def _same_place(one: Detection, other: Detection) -> bool:
    return (
        one.base == other.base
        and one.z_mm == other.z_mm
        and bool(np.array_equal(one.xy_mm, other.xy_mm))
    )


def _put_piece(table: TableState, name: str, detection: Detection) -> None:
    """No move: it has been there all along."""
    grey = table.shot.grey
    for held in table.tracks:
        if held.id == name:
            held.settle_at(detection, grey, table.camera)
            return
    table.tracks.append(PieceTrack.of(name, detection, grey, table.camera))
