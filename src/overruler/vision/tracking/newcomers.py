"""Pieces that no look has found, until they move: the picture changes where one has gone and where one has come.

What is there now and was not before, and what was there before and is not now, are sought with a lower bar, each in
the pictures of its own time. Only where both are a base of one size, look alike, and neither is seen at the other
time, has a piece moved that was there all along.
"""

from collections.abc import Sequence

import cv2
import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.fixes import next_piece_id
from overruler.geometry.pose import Array
from overruler.track import Move
from overruler.vision.tracking.appearance import Grey, align_patch, cut_patch, find_patch
from overruler.vision.tracking.change_detection import CHANGE_THRESHOLD, Mask, differing_blocks
from overruler.vision.tracking.piece_track import MIN_IN_PLACE_SHARE, PieceTrack
from overruler.vision.tracking.redetect import redetect_rounds
from overruler.vision.tracking.reidentify import TRIED_TURNS_DEG, find_by_appearance, rotate_patch
from overruler.vision.tracking.resolve import build_move
from overruler.vision.tracking.table_state import (
    FIGURE_MARGIN_MM,
    CoarseShot,
    RestState,
    TableState,
)

MIN_SAME_LOOK_SHARE = 0.6
"""Share of its look that a piece keeps from one place to the other, whichever way it is turned; figures lean."""
LEAN_SEARCH_MM = 8.0
"""So far off is a look found, by a figure that leans the other way now."""
CHANGED_LEVELS, MIN_DIFFERING_SHARE = 10, 0.5
"""Grey levels by which a place looks otherwise where something is over it, and the share of it that must."""
MAX_CHANGED_AREAS = 6
"""With more changed areas than so many it is the light, or the picture is damaged."""


def find_newcomer_moves(table: TableState, kinds: Sequence[Base]) -> tuple[Move, ...]:
    """The moves since the table's last rest of pieces that were not known; they are known from now on."""
    before = table.last_rest
    left = _unexplained_changes(table, before)
    boxes = table.boxes(left)
    if not 0 < len(boxes) <= MAX_CHANGED_AREAS:
        return ()
    told = []
    for there in _find_arrivals(table, before, kinds, boxes, left):
        gone = next((one for one in _find_departures(table, before, there, boxes, left)), None)
        if gone is not None:
            told.append(_register_move(table, before, gone, there, left))
    return tuple(move for move in told if move is not None)


def _unexplained_changes(table: TableState, before: RestState) -> Mask:
    """Where the table at rest looks otherwise than before, but for what the known pieces did."""
    left = (
        differing_blocks(table.changes.last_means, before.block_means, CHANGE_THRESHOLD)
        & table.on_table
    )
    for held in table.tracks:
        now = held.rest_detection.xy_mm if held.away_s is None else None
        then = before.places_mm.get(held.id)
        if then is None and held.arrived_s > -np.inf:
            continue  # new: it may have come from where nobody knew it
        if now is None or then is None or np.hypot(*(now - then)) > 0:
            for place in (now, then, held.rest_detection.xy_mm):
                if place is not None:
                    left[
                        table.blocks(
                            place, held.rest_detection.z_mm, held.radius_mm + FIGURE_MARGIN_MM
                        )
                    ] = False
    return left & ~table.relit_blocks(left)


def _find_arrivals(
    table: TableState, before: RestState, kinds: Sequence[Base], boxes: Sequence[Array], left: Mask
) -> list[Detection]:
    """What stands in the changed areas now and is no known piece, or one that has just come."""
    new = [
        held.rest_detection
        for held in table.tracks
        if held.id not in before.places_mm and held.arrived_s > -np.inf
    ]
    own = list({held.rest_detection.base: None for held in table.tracks})
    for box in boxes:
        size = float((box[1] - box[0]).max()) - 2 * FIGURE_MARGIN_MM
        fits = [base for base in kinds if base.width_mm < size + FIGURE_MARGIN_MM]
        new += (
            redetect_rounds(table, own, box, left)[:1]
            or redetect_rounds(table, fits, box, left)[:1]
        )
    known = [held for held in table.tracks if held.away_s is None and held.id in before.places_mm]
    apart = [one for one in new if all(_stands_apart(one, held.rest_detection) for held in known)]
    return [
        one for k, one in enumerate(apart) if all(_stands_apart(one, other) for other in apart[:k])
    ]


def _stands_apart(one: Detection, other: Detection) -> bool:
    return bool(
        np.hypot(*(one.xy_mm - other.xy_mm)) > 0.3 * (one.base.width_mm + other.base.width_mm)
    )


def _find_departures(
    table: TableState, before: RestState, there: Detection, boxes: Sequence[Array], left: Mask
) -> list[Detection]:
    """Where it stood before: a base of its size that looks like it and is not there now, as it was not here then."""
    then, now, radius = before.shots[-1].grey, table.shot.grey, there.base.width_mm / 2
    if (
        there.base.shape != "circle"
        or _share_at_other_time(table, now, then, there) >= MIN_IN_PLACE_SHARE
    ):
        return []
    found = []
    for box in boxes:
        by_rim = redetect_rounds(table, [there.base], box, left, before.shots)
        place = by_rim[0] if by_rim else _find_by_look(table, before, there, box)
        if place is None or np.hypot(*(place.xy_mm - there.xy_mm)) < radius / 2:
            continue
        if _share_at_other_time(table, then, now, place) < MIN_IN_PLACE_SHARE and _looks_alike(
            table, now, then, there, place
        ):
            found.append(place)
    return found


def _share_at_other_time(table: TableState, when: Grey, other: Grey, one: Detection) -> float:
    """Share of what a base looks like at one time that is seen in its place at the other."""
    look = cut_patch(when, table.camera, one.xy_mm, one.z_mm, one.base.width_mm / 2)
    return align_patch(other, table.camera, look, one.xy_mm, one.z_mm).share


def _looks_alike(
    table: TableState, now: Grey, then: Grey, there: Detection, gone: Detection
) -> bool:
    look = cut_patch(now, table.camera, there.xy_mm, there.z_mm, there.base.width_mm / 2)
    tries = (
        find_patch(
            then,
            table.camera,
            [rotate_patch(look, angle)],
            gone.xy_mm,
            gone.z_mm,
            LEAN_SEARCH_MM,
            1.0,
        )
        for angle in TRIED_TURNS_DEG
    )
    return any(one.share >= MIN_SAME_LOOK_SHARE for one in tries)


def _find_by_look(
    table: TableState, before: RestState, there: Detection, box: Array
) -> Detection | None:
    look = cut_patch(
        table.shot.grey, table.camera, there.xy_mm, there.z_mm, there.base.width_mm / 2
    )
    reach = float((box[1] - box[0]).max()) / 2 - there.base.width_mm / 2
    return find_by_appearance(table, there, look, box.mean(0), reach, before.shots)


def _register_move(
    table: TableState, before: RestState, gone: Detection, there: Detection, left: Mask
) -> Move | None:
    """Its move, and the piece that stands there now."""
    grey = before.shots[-1].grey
    new = next((held for held in table.tracks if held.rest_detection is there), None)
    name = new.id if new is not None else next_piece_id([held.id for held in table.tracks])
    held = PieceTrack.of(name, table.remeasure_base(gone, before.shots), grey, table.camera)
    held.away_s = _departure_s(table, held, there, left)
    if new is not None:
        table.tracks.remove(new)
    table.tracks.append(held)
    return build_move(table, held, there)


def _departure_s(table: TableState, held: PieceTrack, there: Detection, left: Mask) -> float:
    """When it went from where it stood at the last rest: when that changed last, or first, if it stands there again in
    part and has changed it twice.
    """
    rested_s = table.last_rest.coarse_shot.time_s
    around = table.blocks(held.rest_detection.xy_mm, held.rest_detection.z_mm, held.radius_mm)
    moved_s = table.changes.last_moved_s[around]
    last_s = float(moved_s[left[around] & (moved_s > rested_s)].min(initial=float(moved_s.max())))
    if (
        np.hypot(*(held.rest_detection.xy_mm - there.xy_mm))
        > held.radius_mm + there.base.width_mm / 2
    ):
        return last_s
    return next(
        (
            one.time_s
            for one in table.recent_shots
            if one.time_s > rested_s and _place_changed(table, held, one)
        ),
        last_s,
    )


def _place_changed(table: TableState, held: PieceTrack, now: CoarseShot) -> bool:
    """Whether most of where a piece stood at the last rest looks otherwise."""
    then = table.last_rest.coarse_shot
    if now.grey.shape != then.grey.shape:
        return False
    reach = held.radius_mm * held.rest_projection.px_per_mm
    corners = now.to_coarse(held.rest_projection.pixel + reach * np.array([[-1.0], [1.0]]))
    (left, top), (right, bottom) = np.maximum(np.rint(corners).astype(int), 0)
    there = slice(top, bottom + 1), slice(left, right + 1)
    return bool(
        np.mean(cv2.absdiff(now.grey[there], then.grey[there]) > CHANGED_LEVELS)
        > MIN_DIFFERING_SHARE
    )
