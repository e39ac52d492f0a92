"""Corrections of a table that several cameras watch: people point at the first camera's picture."""

from collections.abc import Sequence
from dataclasses import replace

from overruler.errors import CannotMeasure
from overruler.fixes import Fix
from overruler.vision.contours.reproject import reproject_outline
from overruler.vision.several_cameras.joint_piece import JointPiece, camera_of
from overruler.vision.several_cameras.joint_table import JointTable
from overruler.vision.several_cameras.watched_camera import WatchedCamera
from overruler.vision.tracking.corrections import correct_table

PLACING_ACTIONS = ("move", "resize", "stand", "remove")
"""Corrections after which what other cameras saw of a piece holds no more."""


def correct_pieces(
    table: JointTable, cameras: Sequence[WatchedCamera], fixes: Sequence[Fix]
) -> None:
    """Apply corrections to what the first camera follows; the next joining takes them in.

    `BadInput` names the one that cannot be applied; then none is.
    """
    first = cameras[0]
    if first.table is None:
        raise CannotMeasure(
            f"{first.name} does not see the table, or has not measured it yet: wait until it has"
        )
    named = [_find(table, fix) for fix in fixes]
    pairs = zip(fixes, named, strict=True)
    own = [fix if one is None else replace(fix, id=_own_id(one, first)) for fix, one in pairs]
    correct_table(first.table, own)
    for fix, piece in zip(fixes, named, strict=True):
        if piece is not None and fix.do in PLACING_ACTIONS:
            _forget_others(piece, cameras)
            if fix.base is not None:
                piece.fused = replace(piece.fused, base=fix.base, other_bases=())
            if fix.do == "remove" and piece in table.pieces:
                table.pieces.remove(piece)
    if any(fix.do == "remove" for fix in fixes):
        table.place_all()  # a report may be asked for before the next joining
    first.has_news = True


def _forget_others(piece: JointPiece, cameras: Sequence[WatchedCamera]) -> None:
    """What other cameras than the first one saw of a piece does not count any more."""
    for camera in cameras[1:]:
        camera.forget(piece.own_ids.pop(camera.index, None))
    own = tuple(one for one in piece.placed.sightings if camera_of(one) == cameras[0].index)
    piece.placed = replace(piece.placed, sightings=own or piece.placed.sightings)


def _find(table: JointTable, fix: Fix) -> JointPiece | None:
    """The piece that a correction names; None for a new one."""
    if fix.do == "add" and fix.id is None:
        return None
    named = next((piece for piece in table.pieces if piece.id == fix.id), None)
    if named is None:
        fix.fail_unknown_piece(piece.id for piece in table.pieces)
    return named


def _own_id(piece: JointPiece, camera: WatchedCamera) -> str:
    """The name by which a camera follows a piece, from now on if it did not."""
    assert camera.table is not None
    own_id = piece.own_ids.get(camera.index)
    if own_id is None or camera.track(own_id) is None:
        known = replace(piece.placed.sightings[0].detection, xy_mm=piece.xy_mm)
        shown = reproject_outline(camera.table.camera, known)
        own_id = camera.table.add_piece(camera.table.next_id(), shown).id
        piece.own_ids[camera.index] = own_id
    return own_id
