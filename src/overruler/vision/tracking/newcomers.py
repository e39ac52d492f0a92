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
from overruler.fixes import next_id
from overruler.geometry.pose import Array
from overruler.track import Move
from overruler.vision.tracking.appearance import Grey, aligned, find, patch_of
from overruler.vision.tracking.change_detection import SAME, Mask, differs
from overruler.vision.tracking.piece_track import THERE, Held
from overruler.vision.tracking.redetect import sought
from overruler.vision.tracking.reidentify import TURNS_DEG, seen_at, turned
from overruler.vision.tracking.resolve import moved
from overruler.vision.tracking.table_state import AROUND_MM, Glimpse, Rested, Watched

ALIKE = 0.6
"""Share of its look that a piece keeps from one place to the other, whichever way it is turned; figures lean."""
LEAN_MM = 8.0
"""So far off is a look found, by a figure that leans the other way now."""
STANDS_OUT, MOST = 10, 0.5
"""Grey levels by which a place looks otherwise where something is over it, and the share of it that must."""
LARGEST = 6
"""With more changed areas than so many it is the light, or the picture is damaged."""


def strangers(table: Watched, kinds: Sequence[Base]) -> tuple[Move, ...]:
    """The moves since the table's last rest of pieces that were not known; they are known from now on."""
    before = table.rested
    left = _unexplained(table, before)
    boxes = table.boxes(left)
    if not 0 < len(boxes) <= LARGEST:
        return ()
    told = []
    for there in _come(table, before, kinds, boxes, left):
        gone = next((one for one in _gone(table, before, there, boxes, left)), None)
        if gone is not None:
            told.append(_told(table, before, gone, there, left))
    return tuple(move for move in told if move is not None)


def _unexplained(table: Watched, before: Rested) -> Mask:
    """Where the table at rest looks otherwise than before, but for what the known pieces did."""
    left = differs(table.changes.last, before.small, SAME) & table.on_table
    for held in table.held:
        now = held.rest.xy_mm if held.away_s is None else None
        then = before.places.get(held.id)
        if then is None and held.came_s > -np.inf:
            continue  # new: it may have come from where nobody knew it
        if now is None or then is None or np.hypot(*(now - then)) > 0:
            for place in (now, then, held.rest.xy_mm):
                if place is not None:
                    left[table.blocks(place, held.rest.z_mm, held.radius_mm + AROUND_MM)] = False
    return left & ~table.relit(left)


def _come(table: Watched, before: Rested, kinds: Sequence[Base], boxes: Sequence[Array], left: Mask) -> list[Detection]:
    """What stands in the changed areas now and is no known piece, or one that has just come."""
    new = [held.rest for held in table.held if held.id not in before.places and held.came_s > -np.inf]
    own = list({held.rest.base: None for held in table.held})
    for box in boxes:
        size = float((box[1] - box[0]).max()) - 2 * AROUND_MM
        fits = [base for base in kinds if base.width_mm < size + AROUND_MM]
        new += sought(table, own, box, left)[:1] or sought(table, fits, box, left)[:1]
    known = [held for held in table.held if held.away_s is None and held.id in before.places]
    apart = [one for one in new if all(_beside(one, held.rest) for held in known)]
    return [one for k, one in enumerate(apart) if all(_beside(one, other) for other in apart[:k])]


def _beside(one: Detection, other: Detection) -> bool:
    return bool(np.hypot(*(one.xy_mm - other.xy_mm)) > 0.3 * (one.base.width_mm + other.base.width_mm))


def _gone(table: Watched, before: Rested, there: Detection, boxes: Sequence[Array], left: Mask) -> list[Detection]:
    """Where it stood before: a base of its size that looks like it and is not there now, as it was not here then."""
    then, now, radius = before.shots[-1].grey, table.shot.grey, there.base.width_mm / 2
    if there.base.shape != "circle" or _seen(table, now, then, there) >= THERE:
        return []
    found = []
    for box in boxes:
        by_rim = sought(table, [there.base], box, left, before.shots)
        place = by_rim[0] if by_rim else _by_look(table, before, there, box)
        if place is None or np.hypot(*(place.xy_mm - there.xy_mm)) < radius / 2:
            continue
        if _seen(table, then, now, place) < THERE and _same(table, now, then, there, place):
            found.append(place)
    return found


def _seen(table: Watched, when: Grey, other: Grey, one: Detection) -> float:
    """Share of what a base looks like at one time that is seen in its place at the other."""
    look = patch_of(when, table.camera, one.xy_mm, one.z_mm, one.base.width_mm / 2)
    return aligned(other, table.camera, look, one.xy_mm, one.z_mm).share


def _same(table: Watched, now: Grey, then: Grey, there: Detection, gone: Detection) -> bool:
    look = patch_of(now, table.camera, there.xy_mm, there.z_mm, there.base.width_mm / 2)
    tries = (
        find(then, table.camera, [turned(look, angle)], gone.xy_mm, gone.z_mm, LEAN_MM, 1.0) for angle in TURNS_DEG
    )
    return any(one.share >= ALIKE for one in tries)


def _by_look(table: Watched, before: Rested, there: Detection, box: Array) -> Detection | None:
    look = patch_of(table.shot.grey, table.camera, there.xy_mm, there.z_mm, there.base.width_mm / 2)
    reach = float((box[1] - box[0]).max()) / 2 - there.base.width_mm / 2
    return seen_at(table, there, look, box.mean(0), reach, before.shots)


def _told(table: Watched, before: Rested, gone: Detection, there: Detection, left: Mask) -> Move | None:
    """Its move, and the piece that stands there now."""
    grey = before.shots[-1].grey
    new = next((held for held in table.held if held.rest is there), None)
    name = new.id if new is not None else next_id([held.id for held in table.held])
    held = Held.of(name, table.placed(gone, before.shots), grey, table.camera)
    held.away_s = _left_s(table, held, there, left)
    if new is not None:
        table.held.remove(new)
    table.held.append(held)
    return moved(table, held, there)


def _left_s(table: Watched, held: Held, there: Detection, left: Mask) -> float:
    """When it went from where it stood at the last rest: when that changed last, or first, if it stands there again in
    part and has changed it twice.
    """
    rested_s = table.rested.glimpse.time_s
    around = table.blocks(held.rest.xy_mm, held.rest.z_mm, held.radius_mm)
    moved_s = table.changes.moved_s[around]
    last_s = float(moved_s[left[around] & (moved_s > rested_s)].min(initial=float(moved_s.max())))
    if np.hypot(*(held.rest.xy_mm - there.xy_mm)) > held.radius_mm + there.base.width_mm / 2:
        return last_s
    return next((one.time_s for one in table.lately if one.time_s > rested_s and _changed(table, held, one)), last_s)


def _changed(table: Watched, held: Held, now: Glimpse) -> bool:
    """Whether most of where a piece stood at the last rest looks otherwise."""
    then = table.rested.glimpse
    if now.grey.shape != then.grey.shape:
        return False
    reach = held.radius_mm * held.there.px_per_mm
    corners = now.coarse(held.there.pixel + reach * np.array([[-1.0], [1.0]]))
    (left, top), (right, bottom) = np.maximum(np.rint(corners).astype(int), 0)
    there = slice(top, bottom + 1), slice(left, right + 1)
    return bool(np.mean(cv2.absdiff(now.grey[there], then.grey[there]) > STANDS_OUT) > MOST)
