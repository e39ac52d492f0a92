"""Where a changed part of the table has come to rest: which pieces have left, which have arrived."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.fixes import next_piece_id
from overruler.geometry.batched.vectors import distance
from overruler.geometry.pose import Array
from overruler.report import Report
from overruler.track import Move
from overruler.vision.tracking.arrivals import ArrivalSearch, TableMeasurer
from overruler.vision.tracking.assignment import (
    MissingPiece,
    NameDoubt,
    assign_pieces,
    name_doubts,
    pairs_at_home,
)
from overruler.vision.tracking.change_detection import Mask, label_areas
from overruler.vision.tracking.hands import blocks_near_pieces, is_hand
from overruler.vision.tracking.moves import MIN_MOVE_MM, Doubts, build_move
from overruler.vision.tracking.piece_track import MIN_IN_PLACE_SHARE, PieceTrack
from overruler.vision.tracking.table_state import TableState

FOLLOW_MARGIN_MM = 2.0
"""A change this near to a piece may be about to take it, in mm."""
SETTLE_S = 0.3
"""An area that has been still for this long is at rest, in s."""
ALL_STILL_S = 0.8
"""New pieces are sought once all of the table has been still for this long, in s."""
MUCH_CHANGED_SHARE = 0.4
"""Changed share of a base at which its piece may have left: a nearby shade changes less."""
MIN_STAYED_SHARE = 0.8
"""Least share of a piece's look at which it has stayed all the same: the mat below can be like it."""


def resolve_changes(
    table: TableState, measurer: TableMeasurer, settle_s: float = SETTLE_S
) -> tuple[Move, ...]:
    """Measure again what has changed and come to rest, and return the moves that end there."""
    settled = _settled_blocks(table, settle_s)
    table.searched_blocks &= settled
    if not settled.any():
        return ()
    all_still_s = min(ALL_STILL_S, settle_s * 3)
    still = table.changes.still_blocks(table.shot.time_s, all_still_s)
    fresh = not still[table.on_table].all()
    if fresh and not (settled & ~table.searched_blocks).any():
        return ()
    missing = _missing_tracks(table, settled)
    if fresh:
        missing = [track for track in missing if not _is_gone(table, track)]
        if not missing:
            # beside a piece that stands there, there may be one whose leaving the hand still hides
            table.searched_blocks |= settled
            return ()
    found = ArrivalSearch(table, measurer, settled, missing, fresh).run()
    moves = _associate_detections(table, missing, found, fresh)
    if fresh and not found and any(track.away_s is not None for track in missing):
        # it may be in the hand; pieces that are hard to see are sought when the hand has left
        table.searched_blocks |= settled
    else:
        table.changes.accept_background(_explained_blocks(table, settled, fresh))
        table.vacated_blocks &= fresh
    return moves


def _explained_blocks(table: TableState, settled: Mask, fresh: bool) -> Mask:
    """The settled blocks that are understood: not where a piece was followed to."""
    done = settled & blocks_near_pieces(table, settled.shape) if fresh else settled.copy()
    for track in table.standing:
        if track.is_moving:
            done[track.blocks(0.0)] = False
    return done


def _settled_blocks(table: TableState, settle_s: float) -> Mask:
    """The changed blocks of areas in which nothing has moved for `settle_s` and that are no hand."""
    changed, settled = table.changed_blocks, np.zeros_like(table.on_table)
    quiet = table.changes.still_blocks(table.shot.time_s, settle_s)
    if not (changed & quiet).any():
        return settled
    busy = ~quiet & table.on_table
    count, labels = label_areas(changed | busy)
    busy_blocks = np.bincount(labels[busy], minlength=count + 1)
    for label in np.flatnonzero(busy_blocks == 0)[1:]:
        area = labels == label
        if not is_hand(table, area):
            settled |= area
    return settled


def _missing_tracks(table: TableState, settled: Mask) -> list[PieceTrack]:
    """The pieces that do not stand where they stood; those that do after all come to rest there."""
    shot, missing = table.shot, []
    for track in table.tracks:
        near = settled[track.blocks(0.0, home=True)]
        if not near.any() and track.away_s is None:
            continue
        if _has_stayed(table, settled, track):
            track.return_to_rest(shot.grey, table.camera, light=bool(near.any()))
            continue
        if track.away_s is None:
            track.away_s = track.trail[-1][0] if track.trail else shot.time_s
        missing.append(track)
    return missing


def _has_stayed(table: TableState, settled: Mask, track: PieceTrack) -> bool:
    """Whether a piece stands where it stood, by its look there."""
    home = track.rest_detection.xy_mm
    match = track.match_at_rest(table.shot.grey, table.camera)
    changed = table.covered_share(settled, home[None], track.z_mm, track.radius_mm)[0]
    needed = MIN_STAYED_SHARE if changed >= MUCH_CHANGED_SHARE else MIN_IN_PLACE_SHARE
    return match.share >= needed and distance(match.xy_mm, home) < MIN_MOVE_MM


def _is_gone(table: TableState, track: PieceTrack) -> bool:
    """Whether a piece was taken off the table for long.

    What a hand puts down is then more likely a piece whose leaving the hand still hides.
    """
    return track.state(table.shot.time_s) == "gone"


def _associate_detections(
    table: TableState, missing: Sequence[PieceTrack], found: Sequence[Detection], fresh: bool
) -> tuple[Move, ...]:
    """Give the detections their pieces' names, and return these pieces' moves."""
    pairs, doubts = _assign_tracks(table, missing, found)
    for i in set(range(len(missing))) - {i for i, _ in pairs}:
        missing[i].missed_shots += 1
    if not fresh:
        for j in sorted(set(range(len(found))) - {j for _, j in pairs}):
            new = table.add_piece(table.next_id(), table.remeasure_base(found[j]))
            new.arrived_s = table.shot.time_s
    moves = []
    for i, j in pairs:
        base = missing[i].rest_detection.base
        move = build_move(table, missing[i], replace(found[j], base=base))
        if move is not None:
            moves.append(_in_doubt(move, missing, doubts.get(j)))
    return tuple(moves)


def _assign_tracks(
    table: TableState, missing: Sequence[PieceTrack], found: Sequence[Detection]
) -> tuple[list[tuple[int, int]], dict[int, NameDoubt]]:
    """Pairs of indices into the missing pieces and the detections, and who detections may be otherwise."""
    pieces = []
    for track in missing:
        rest = track.rest_detection
        gone = _is_gone(table, track)
        pieces.append(MissingPiece(rest.base, track.place_mm, gone, rest.xy_mm))
    places, looks = _places(found), _similarities(table, missing, found)
    pairs = assign_pieces(pieces, places, looks)
    return pairs, name_doubts(pieces, places, looks, pairs)


def _in_doubt(move: Move, pieces: Sequence[PieceTrack], doubt: NameDoubt | None) -> Move:
    """The move, should it be another of the pieces."""
    if doubt is None:
        return move
    return replace(move, name_probability=1 - doubt.probability, perhaps=pieces[doubt.other].id)


def match_names(
    table: TableState, before: Sequence[PieceTrack], report: Report
) -> tuple[list[str], Doubts]:
    """The ids of what a report found: those of the pieces known before, and new ones.

    Then which other piece each may be.
    """
    found = report.detections
    if not before:
        return [piece.id for piece in report.scene.pieces], {}
    pieces = [
        MissingPiece(track.rest_detection.base, track.place_mm, home_mm=track.home_mm)
        for track in before
    ]
    places = _places(found)
    light = _light_ratio(table, before, found, pairs_at_home(pieces, places))
    looks = _similarities(table, before, found, light)
    pairs = assign_pieces(pieces, places, looks)
    known = {j: before[i].id for i, j in pairs}
    doubts = name_doubts(pieces, places, looks, pairs)
    taken = [track.id for track in before]
    names: list[str] = []
    for j in range(len(found)):
        names.append(known[j] if j in known else next_piece_id([*taken, *names]))
    return names, {
        known[j]: (before[doubt.other].id, doubt.probability) for j, doubt in doubts.items()
    }


def _light_ratio(
    table: TableState,
    before: Sequence[PieceTrack],
    found: Sequence[Detection],
    unmoved: Sequence[tuple[int, int]],
) -> float:
    """How much brighter the pieces are that stand where they stood; 1 where there are none."""
    grey, camera = table.shot.grey, table.camera
    ratios = [before[i].brightness_ratio(found[j], grey, camera) for i, j in unmoved]
    return float(np.median(ratios)) if ratios else 1.0


def _places(found: Sequence[Detection]) -> list[tuple[Base, Array]]:
    return [(detection.base, detection.xy_mm) for detection in found]


def _similarities(
    table: TableState,
    tracks: Sequence[PieceTrack],
    found: Sequence[Detection],
    light: float = 1.0,
) -> Array:
    """(M, F): how much each detection looks like each piece, 0 to 1, in light by a ratio brighter."""
    grey, camera = table.shot.grey, table.camera
    rows = [[track.similarity_to(one, grey, camera, light) for one in found] for track in tracks]
    return np.array(rows)


def follow_pieces(table: TableState, moving: Mask) -> None:
    """Follow the pieces near which something moves, or has changed for the first time."""
    changed = table.changed_blocks
    busy = moving | changed
    if not busy.any() and not any(track.trail for track in table.tracks):
        return
    before_s = table.shots[-2].time_s if len(table.shots) > 1 else table.shot.time_s
    for track in table.tracks:
        if track.away_s is not None and not track.seen and not track.trail:
            continue
        home = track.blocks(0.0, home=True)
        if track.trail and track.away_s is None and not busy[home].any():
            # whatever hid it is gone, and nothing has changed
            track.return_to_rest(table.shot.grey, table.camera, light=False)
            continue
        near = track.blocks(FOLLOW_MARGIN_MM)
        newly_changed = changed[near].any() and not track.trail
        if moving[near].any() or newly_changed:
            track.follow(table.shot.grey, table.camera, table.shot.time_s, before_s)
