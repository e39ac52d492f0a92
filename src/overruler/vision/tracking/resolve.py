"""Where a changed part of the table has come to rest: what stands there now, and which piece it is."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Protocol

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.fixes import next_id
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.report import Report
from overruler.track import Move
from overruler.vision.assembly.to_scene import joint_covariance
from overruler.vision.rounds.remeasure import in_common
from overruler.vision.tracking.assignment import Missing, assigned
from overruler.vision.tracking.change_detection import Mask, areas
from overruler.vision.tracking.hand_path import led
from overruler.vision.tracking.hands import hand, near_pieces
from overruler.vision.tracking.path import way_of
from overruler.vision.tracking.piece_track import THERE, Held
from overruler.vision.tracking.redetect import sought
from overruler.vision.tracking.reidentify import known
from overruler.vision.tracking.table_state import AROUND_MM, COVERED, MARGIN_MM, Places, Watched

SETTLE_S = 0.3
"""An area that has been still for so long is at rest."""
NEW_S = 0.8
"""Nothing new is looked for before all of the table has been still for so long: a hand is round in places."""
NUDGE_MM = 0.7
"""A piece that has shifted by less has not been moved."""
UNSURE_MM = 5.0
"""With more 1 σ of a way's length than this the hand's own way may tell more."""
TIGHT_MM = 10.0
"""How far round a piece that was followed it is looked for."""
STAYED, MUCH = 0.8, 0.4
"""Share of its look that must be seen for a piece not to have gone where so large a share of its base has changed: mats
can be like it. Less is changed by a shade that has come near."""


class Looks(Places, Protocol):
    """Who can measure the table: the referee."""

    def look(self, frame: Frame) -> Report:
        """All of it."""

    def find(
        self, frame: Frame, report: Report, bases: Sequence[Base] | None, within_mm: Array | None
    ) -> tuple[Detection, ...]:
        """The bases in a box (2, 2) of it, or all over it, by a camera that is known; None for all there may be."""


def resolve(table: Watched, looks: Looks, settle_s: float = SETTLE_S) -> tuple[Move, ...]:
    """Measure again what has changed and come to rest: the moves that have ended so."""
    settled = _settled(table, settle_s)
    table.tried &= settled
    if not settled.any():
        return ()
    fresh = not table.changes.quiet(table.shot.time_s, min(NEW_S, settle_s * 3))[table.on_table].all()
    if fresh and not (settled & ~table.tried).any():
        return ()
    missing = [held for held in _missing(table, settled) if not (fresh and _gone(table, held))]
    if fresh and not missing:
        table.tried |= settled  # beside a piece that stands there may stand one whose leaving the hand still hides
        return ()
    found = _found(table, looks, settled, missing, fresh)
    moves = _matched(table, missing, found, fresh)
    if fresh and not found and any(held.away_s is not None for held in missing):
        table.tried |= settled  # it may be in the hand; what is hard to see is sought when the hand has left
    else:
        table.changes.accept(_explained(table, settled, fresh))
        table.vacated &= fresh
    return moves


def _explained(table: Watched, settled: Mask, fresh: bool) -> Mask:
    """What of the settled blocks is known now: not where a piece was followed to while a hand still hides its home."""
    done = settled & near_pieces(table, settled.shape) if fresh else settled.copy()
    for held in table.held:
        if held.away_s is None and held.on_its_way:
            done[held.blocks(done.shape, 0.0)] = False
    return done


def _settled(table: Watched, settle_s: float) -> Mask:
    """The changed blocks of areas in which nothing has moved for so long, hands set aside."""
    changed, settled = table.changed, np.zeros_like(table.on_table)
    quiet = table.changes.quiet(table.shot.time_s, settle_s)
    if not (changed & quiet).any():
        return settled
    busy = ~quiet & table.on_table
    count, labels = areas(changed | busy)
    for label in np.flatnonzero(np.bincount(labels[busy], minlength=count + 1) == 0)[1:]:
        area = labels == label
        if not hand(table, area):
            settled |= area
    return settled


def _missing(table: Watched, settled: Mask) -> list[Held]:
    """The pieces that do not stand where they stood; those of them that do after all are home."""
    shot, missing = table.shot, []
    for held in table.held:
        near = settled[held.blocks(settled.shape, 0.0, home=True)]
        if not (near.any() or held.away_s is not None):
            continue
        match = held.at_home(shot.grey, table.camera)
        shifted = float(np.hypot(*(match.xy_mm - held.rest.xy_mm)))
        changed = table.covered(settled, held.rest.xy_mm[None], held.rest.z_mm, held.radius_mm)[0]
        needed = STAYED if changed >= MUCH else THERE
        if match.share >= needed and shifted < NUDGE_MM:
            held.home(shot.grey, table.camera, light=bool(near.any()))
        else:
            if held.away_s is None:
                held.away_s = held.trail[-1][0] if held.trail else shot.time_s
            missing.append(held)
    return missing


def _gone(table: Watched, held: Held) -> bool:
    """Whether it was taken off the table: what a hand puts down is rather a piece that the hand still hides leaving."""
    return held.state(table.shot.time_s) == "gone"


def _found(table: Watched, looks: Looks, settled: Mask, missing: Sequence[Held], fresh: bool) -> list[Detection]:
    """The bases that stand in the area now and did not before: first where the missing ones were followed to."""
    left, found, search = settled.copy(), list[Detection](), partial(_in_box, table, looks, settled, missing)
    lost = [held for held in missing if held.seen is False or not held.on_its_way]
    for held in missing:
        if held not in lost and settled[held.blocks(settled.shape, 0.0)].any():
            here = search([held.rest.base], _round(held), 0.0 if held.share >= THERE else COVERED)
            near = [one for one in here if np.hypot(*(one.xy_mm - held.place_mm)) < held.radius_mm]
            found += near
            lost += [] if near else [held]
            for home in (True, False):
                left[held.blocks(settled.shape, AROUND_MM, home)] = False
    if lost or not fresh:
        where = settled if lost else left
        parts = _kinds(table, lost, where, fresh)
        more = [one for kinds, part in parts for box in table.boxes(part) for one in search(kinds, box)]
        if not (more or fresh):
            boxes = table.boxes(where)
            more = _by_rim(table, settled, missing, lost, boxes) or _by_look(table, settled, missing, lost, boxes)
        found += [one for one in more if all(np.hypot(*(one.xy_mm - other.xy_mm)) > 10 for other in found)]
    return found


def _kinds(table: Watched, lost: Sequence[Held], where: Mask, fresh: bool) -> list[tuple[Sequence[Base] | None, Mask]]:
    """What is looked for where: the lost ones, and once all is still any base; where a piece has just left, one like
    others of the table: its place is seldom taken at once, and the next look at all of the table would find another.
    """
    if fresh:
        return [(list({held.rest.base: None for held in lost}), where)]
    others = list({held.rest.base: None for held in table.held})
    new = where & ~table.vacated
    return [(None, new if lost else new & ~table.relit(new)), (others, where & table.vacated)]


def _by_rim(
    table: Watched, settled: Mask, missing: Sequence[Held], lost: Sequence[Held], boxes: Sequence[Array]
) -> list[Detection]:
    """The lost pieces where a closer look sees bases of their sizes in the boxes (2, 2) of the area."""
    kinds = list({held.rest.base: None for held in lost})
    found = (one for box in boxes for one in sought(table, kinds, box, settled)) if kinds else ()
    return [one for one in found if _came(table, one, settled, missing)]


def _by_look(
    table: Watched, settled: Mask, missing: Sequence[Held], lost: Sequence[Held], boxes: Sequence[Array]
) -> list[Detection]:
    """The lost pieces themselves, where their looks are seen in the boxes (2, 2) of the area."""
    found = []
    for held, box in product(lost, boxes):
        one = known(table, held, box.mean(0), max(float((box[1] - box[0]).max()) / 2 - held.radius_mm, TIGHT_MM))
        found += [one] if one is not None and _came(table, one, settled, missing) else []
    return found


def _round(held: Held) -> Array:
    """The box (2, 2) round where a piece was last seen."""
    return np.array([held.place_mm - held.radius_mm - TIGHT_MM, held.place_mm + held.radius_mm + TIGHT_MM])


def _in_box(
    table: Watched,
    looks: Looks,
    settled: Mask,
    missing: Sequence[Held],
    kinds: Sequence[Base] | None,
    box: Array,
    covered: float = COVERED,
) -> list[Detection]:
    part = table.still(box)
    here = (part.whole_picture(one) for one in looks.find(part.frame, part.report, kinds, box))
    return [one for one in here if _came(table, one, settled, missing, covered)]


def overlooked(table: Watched, looks: Looks) -> list[Detection]:
    """Bases that stand apart from all known pieces, wherever on the table."""
    box = np.array([np.zeros(2), table.calibration.board_mm]) + MARGIN_MM * np.array([[-1.0], [1.0]])
    part = table.still(box)
    found = (part.whole_picture(one) for one in looks.find(part.frame, part.report, None, None))
    return [one for one in found if all(_apart(one, held) for held in table.held)]


def _apart(one: Detection, held: Held) -> bool:
    away = float(np.hypot(*(held.rest.xy_mm - one.xy_mm)))
    return away > 0.6 * (held.radius_mm + max(one.base.width_mm, one.base.length_mm) / 2)


def _came(table: Watched, one: Detection, settled: Mask, missing: Sequence[Held], covered: float = COVERED) -> bool:
    """Whether a base stands where so much of it has changed, and no known piece stands there.

    Where a piece was seen to go, and is seen, nothing need have changed: mats can be like it.
    """
    radius = one.base.width_mm / 2
    if table.covered(settled, one.xy_mm[None], one.z_mm, radius)[0] < covered:
        return False
    home = [held for held in table.held if held not in missing and held.away_s is None]
    return all(np.hypot(*(held.rest.xy_mm - one.xy_mm)) > 0.6 * (held.radius_mm + radius) for held in home)


def _matched(table: Watched, missing: Sequence[Held], found: Sequence[Detection], fresh: bool) -> tuple[Move, ...]:
    """Names for what was found; a move for each piece that stands elsewhere now."""
    grey, time_s = table.shot.grey, table.shot.time_s
    looks = np.array([[held.alike(one, grey, table.camera) for one in found] for held in missing])
    wanted = [Missing(held.rest.base, held.place_mm, _gone(table, held), held.rest.xy_mm) for held in missing]
    pairs = assigned(wanted, [(one.base, one.xy_mm) for one in found], looks)
    for i in set(range(len(missing))) - {i for i, _ in pairs}:
        missing[i].lost += 1
    for j in sorted(set(range(len(found))) - {j for _, j in pairs}) if not fresh else ():
        name = next_id([held.id for held in table.held])
        table.held.append(Held.of(name, table.placed(found[j]), grey, table.camera))
        table.held[-1].came_s = time_s
    moves = (moved(table, missing[i], replace(found[j], base=missing[i].rest.base)) for i, j in pairs)
    return tuple(move for move in moves if move is not None)


def moved(table: Watched, held: Held, detection: Detection) -> Move | None:
    """The move of a piece that was found again; None where it stands where it stood."""
    detection = table.placed(detection)
    before, after = np.asarray(held.rest.xy_mm, float), np.asarray(detection.xy_mm, float)
    distance = float(np.hypot(*(after - before)))
    sigma = _distance_sigma(table, held.rest, detection, (after - before) / max(distance, 1e-9))
    if distance < max(NUDGE_MM, 2 * sigma):
        held.home(table.shot.grey, table.camera, light=True)
        return None
    trail, z_mm = _trail(table, held, detection), held.rest.z_mm
    way = way_of(np.array(trail), before, after, table.camera.center_mm, held.led / max(len(held.trail), 1))
    by_hand = led(table, way, z_mm) if way.sigma_mm > UNSURE_MM else None
    if by_hand is not None and by_hand[0].sigma_mm < way.sigma_mm:
        way, trail = by_hand[0], [(float(time_s), float(x), float(y)) for time_s, x, y in by_hand[1]]
    table.vacated[held.blocks(table.vacated.shape, AROUND_MM, home=True)] = table.patient
    held.settle(detection, table.shot.grey, table.camera)
    return Move(
        piece=held.id,
        start_s=way.start_s,
        end_s=way.end_s,
        from_mm=(float(before[0]), float(before[1])),
        to_mm=(float(after[0]), float(after[1])),
        distance_mm=distance,
        sigma_mm=sigma,
        path_mm=way.length_mm,
        path_sigma_mm=float(np.hypot(sigma, way.sigma_mm)),
        way_mm=tuple((float(x), float(y)) for x, y in way.corners_mm),
        trail=tuple(spot for spot in trail if way.start_s <= spot[0] <= way.end_s),
        way_seen=way.seen,
    )


def _trail(table: Watched, held: Held, detection: Detection) -> list[tuple[float, float, float]]:
    """Where the piece was seen, from where it stood to where it stands; there when the middle one of its blocks that
    have moved since was still: over some the hand stays longer, and some look as they did before.
    """
    (x0, y0), (x1, y1) = held.rest.xy_mm.tolist(), detection.xy_mm.tolist()
    moved_s = table.changes.moved_s[table.blocks(detection.xy_mm, detection.z_mm, held.radius_mm)]
    left_s = held.away_s if held.away_s is not None else float(moved_s.max())
    trail = list(held.trail) or [(min(left_s, float(moved_s.max())), x0, y0)]
    since = moved_s[moved_s > trail[-1][0]]
    still_s = float(np.quantile(since, 0.5, method="lower")) if len(since) else trail[-1][0] + 1e-3
    return [*trail, (still_s, x1, y1)]


def _distance_sigma(table: Watched, one: Detection, other: Detection, along: Array) -> float:
    """1 σ of how far two places of a piece lie apart: the camera is wrong at both alike, its rim's look is in part."""
    joint = joint_covariance(table.calibration, [one, other])
    across = np.concatenate([-along, along])
    return float(np.sqrt(across @ joint @ across - in_common(table.calibration, one, other, along)))
