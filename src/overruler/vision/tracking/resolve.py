"""Where a changed part of the table has come to rest: what stands there now, and which piece it is."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Protocol

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.fixes import next_piece_id
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.report import Report
from overruler.track import Move
from overruler.vision.assembly.to_scene import rare_covariance
from overruler.vision.rounds.remeasure import shared_error_variance_mm2
from overruler.vision.tracking.assignment import MissingPiece, assign_pieces
from overruler.vision.tracking.change_detection import Mask, label_areas
from overruler.vision.tracking.hand_path import follow_hand
from overruler.vision.tracking.hands import blocks_near_pieces, is_hand
from overruler.vision.tracking.path import estimate_path
from overruler.vision.tracking.piece_track import MIN_IN_PLACE_SHARE, PieceTrack
from overruler.vision.tracking.redetect import redetect_rounds
from overruler.vision.tracking.reidentify import reidentify_piece
from overruler.vision.tracking.table_state import (
    FIGURE_MARGIN_MM,
    MIN_CHANGED_SHARE,
    TABLE_MARGIN_MM,
    BaseMeasurer,
    TableState,
)

SETTLE_S = 0.3
"""An area that has been still for so long is at rest."""
ALL_STILL_S = 0.8
"""Nothing new is looked for before all of the table has been still for so long: a hand is round in places."""
MIN_MOVE_MM = 0.7
"""A piece that has shifted by less has not been moved."""
MAX_PATH_SIGMA_MM = 5.0
"""With more 1 σ of a way's length than this the hand's own way may tell more."""
SEARCH_MARGIN_MM = 10.0
"""How far round a piece that was followed it is looked for."""
MIN_STAYED_SHARE, MUCH_CHANGED_SHARE = 0.8, 0.4
"""Share of its look that must be seen for a piece not to have gone where so large a share of its base has changed: mats
can be like it. Less is changed by a shade that has come near."""


class TableMeasurer(BaseMeasurer, Protocol):
    """Who can measure the table: the referee."""

    def look(self, frame: Frame) -> Report:
        """All of it."""

    def redetect_bases(
        self, frame: Frame, report: Report, bases: Sequence[Base] | None, within_mm: Array | None
    ) -> tuple[Detection, ...]:
        """The bases in a box (2, 2) of it, or all over it, by a camera that is known; None for all there may be."""


def resolve_changes(
    table: TableState, looks: TableMeasurer, settle_s: float = SETTLE_S
) -> tuple[Move, ...]:
    """Measure again what has changed and come to rest: the moves that have ended so."""
    settled = _settled_blocks(table, settle_s)
    table.searched_blocks &= settled
    if not settled.any():
        return ()
    fresh = not table.changes.still_blocks(table.shot.time_s, min(ALL_STILL_S, settle_s * 3))[
        table.on_table
    ].all()
    if fresh and not (settled & ~table.searched_blocks).any():
        return ()
    missing = [
        held for held in _missing_tracks(table, settled) if not (fresh and _is_gone(table, held))
    ]
    if fresh and not missing:
        table.searched_blocks |= settled  # beside a piece that stands there may stand one whose leaving the hand still hides
        return ()
    found = _find_bases(table, looks, settled, missing, fresh)
    moves = _associate_detections(table, missing, found, fresh)
    if fresh and not found and any(held.away_s is not None for held in missing):
        table.searched_blocks |= (
            settled  # it may be in the hand; what is hard to see is sought when the hand has left
        )
    else:
        table.changes.accept_background(_explained_blocks(table, settled, fresh))
        table.vacated_blocks &= fresh
    return moves


def _explained_blocks(table: TableState, settled: Mask, fresh: bool) -> Mask:
    """What of the settled blocks is known now: not where a piece was followed to while a hand still hides its home."""
    done = settled & blocks_near_pieces(table, settled.shape) if fresh else settled.copy()
    for held in table.tracks:
        if held.away_s is None and held.is_moving:
            done[held.blocks(done.shape, 0.0)] = False
    return done


def _settled_blocks(table: TableState, settle_s: float) -> Mask:
    """The changed blocks of areas in which nothing has moved for so long, hands set aside."""
    changed, settled = table.changed_blocks, np.zeros_like(table.on_table)
    quiet = table.changes.still_blocks(table.shot.time_s, settle_s)
    if not (changed & quiet).any():
        return settled
    busy = ~quiet & table.on_table
    count, labels = label_areas(changed | busy)
    for label in np.flatnonzero(np.bincount(labels[busy], minlength=count + 1) == 0)[1:]:
        area = labels == label
        if not is_hand(table, area):
            settled |= area
    return settled


def _missing_tracks(table: TableState, settled: Mask) -> list[PieceTrack]:
    """The pieces that do not stand where they stood; those of them that do after all are home."""
    shot, missing = table.shot, []
    for held in table.tracks:
        near = settled[held.blocks(settled.shape, 0.0, home=True)]
        if not (near.any() or held.away_s is not None):
            continue
        match = held.match_at_rest(shot.grey, table.camera)
        shifted = float(np.hypot(*(match.xy_mm - held.rest_detection.xy_mm)))
        changed = table.covered_share(
            settled, held.rest_detection.xy_mm[None], held.rest_detection.z_mm, held.radius_mm
        )[0]
        needed = MIN_STAYED_SHARE if changed >= MUCH_CHANGED_SHARE else MIN_IN_PLACE_SHARE
        if match.share >= needed and shifted < MIN_MOVE_MM:
            held.return_to_rest(shot.grey, table.camera, light=bool(near.any()))
        else:
            if held.away_s is None:
                held.away_s = held.trail[-1][0] if held.trail else shot.time_s
            missing.append(held)
    return missing


def _is_gone(table: TableState, held: PieceTrack) -> bool:
    """Whether it was taken off the table: what a hand puts down is rather a piece that the hand still hides leaving."""
    return held.state(table.shot.time_s) == "gone"


def _find_bases(
    table: TableState,
    looks: TableMeasurer,
    settled: Mask,
    missing: Sequence[PieceTrack],
    fresh: bool,
) -> list[Detection]:
    """The bases that stand in the area now and did not before: first where the missing ones were followed to."""
    left, found, search = (
        settled.copy(),
        list[Detection](),
        partial(_find_in_box, table, looks, settled, missing),
    )
    lost = [held for held in missing if held.seen is False or not held.is_moving]
    for held in missing:
        if held not in lost and settled[held.blocks(settled.shape, 0.0)].any():
            here = search(
                [held.rest_detection.base],
                _search_box(held),
                0.0 if held.seen_share >= MIN_IN_PLACE_SHARE else MIN_CHANGED_SHARE,
            )
            near = [one for one in here if np.hypot(*(one.xy_mm - held.place_mm)) < held.radius_mm]
            found += near
            lost += [] if near else [held]
            for home in (True, False):
                left[held.blocks(settled.shape, FIGURE_MARGIN_MM, home)] = False
    if lost or not fresh:
        where = settled if lost else left
        parts = _search_plan(table, lost, where, fresh)
        more = [
            one for kinds, part in parts for box in table.boxes(part) for one in search(kinds, box)
        ]
        if not (more or fresh):
            boxes = table.boxes(where)
            more = _find_by_rim(table, settled, missing, lost, boxes) or _find_by_look(
                table, settled, missing, lost, boxes
            )
        found += [
            one for one in more if all(np.hypot(*(one.xy_mm - other.xy_mm)) > 10 for other in found)
        ]
    return found


def _search_plan(
    table: TableState, lost: Sequence[PieceTrack], where: Mask, fresh: bool
) -> list[tuple[Sequence[Base] | None, Mask]]:
    """What is looked for where: the lost ones, and once all is still any base; where a piece has just left, one like
    others of the table: its place is seldom taken at once, and the next look at all of the table would find another.
    """
    if fresh:
        return [(list({held.rest_detection.base: None for held in lost}), where)]
    others = list({held.rest_detection.base: None for held in table.tracks})
    new = where & ~table.vacated_blocks
    return [
        (None, new if lost else new & ~table.relit_blocks(new)),
        (others, where & table.vacated_blocks),
    ]


def _find_by_rim(
    table: TableState,
    settled: Mask,
    missing: Sequence[PieceTrack],
    lost: Sequence[PieceTrack],
    boxes: Sequence[Array],
) -> list[Detection]:
    """The lost pieces where a closer look sees bases of their sizes in the boxes (2, 2) of the area."""
    kinds = list({held.rest_detection.base: None for held in lost})
    found = (
        (one for box in boxes for one in redetect_rounds(table, kinds, box, settled))
        if kinds
        else ()
    )
    return [one for one in found if _has_arrived(table, one, settled, missing)]


def _find_by_look(
    table: TableState,
    settled: Mask,
    missing: Sequence[PieceTrack],
    lost: Sequence[PieceTrack],
    boxes: Sequence[Array],
) -> list[Detection]:
    """The lost pieces themselves, where their looks are seen in the boxes (2, 2) of the area."""
    found = []
    for held, box in product(lost, boxes):
        one = reidentify_piece(
            table,
            held,
            box.mean(0),
            max(float((box[1] - box[0]).max()) / 2 - held.radius_mm, SEARCH_MARGIN_MM),
        )
        found += [one] if one is not None and _has_arrived(table, one, settled, missing) else []
    return found


def _search_box(held: PieceTrack) -> Array:
    """The box (2, 2) round where a piece was last seen."""
    return np.array(
        [
            held.place_mm - held.radius_mm - SEARCH_MARGIN_MM,
            held.place_mm + held.radius_mm + SEARCH_MARGIN_MM,
        ]
    )


def _find_in_box(
    table: TableState,
    looks: TableMeasurer,
    settled: Mask,
    missing: Sequence[PieceTrack],
    kinds: Sequence[Base] | None,
    box: Array,
    covered: float = MIN_CHANGED_SHARE,
) -> list[Detection]:
    part = table.average_part(box)
    here = (
        part.to_whole_picture(one)
        for one in looks.redetect_bases(part.frame, part.report, kinds, box)
    )
    return [one for one in here if _has_arrived(table, one, settled, missing, covered)]


def find_overlooked(table: TableState, looks: TableMeasurer) -> list[Detection]:
    """Bases that stand apart from all known pieces, wherever on the table."""
    box = np.array([np.zeros(2), table.calibration.board_mm]) + TABLE_MARGIN_MM * np.array(
        [[-1.0], [1.0]]
    )
    part = table.average_part(box)
    found = (
        part.to_whole_picture(one)
        for one in looks.redetect_bases(part.frame, part.report, None, None)
    )
    return [one for one in found if all(_stands_apart(one, held) for held in table.tracks)]


def _stands_apart(one: Detection, held: PieceTrack) -> bool:
    away = float(np.hypot(*(held.rest_detection.xy_mm - one.xy_mm)))
    return away > 0.6 * (held.radius_mm + max(one.base.width_mm, one.base.length_mm) / 2)


def _has_arrived(
    table: TableState,
    one: Detection,
    settled: Mask,
    missing: Sequence[PieceTrack],
    covered: float = MIN_CHANGED_SHARE,
) -> bool:
    """Whether a base stands where so much of it has changed, and no known piece stands there.

    Where a piece was seen to go, and is seen, nothing need have changed: mats can be like it.
    """
    radius = one.base.width_mm / 2
    if table.covered_share(settled, one.xy_mm[None], one.z_mm, radius)[0] < covered:
        return False
    home = [held for held in table.tracks if held not in missing and held.away_s is None]
    return all(
        np.hypot(*(held.rest_detection.xy_mm - one.xy_mm)) > 0.6 * (held.radius_mm + radius)
        for held in home
    )


def _associate_detections(
    table: TableState, missing: Sequence[PieceTrack], found: Sequence[Detection], fresh: bool
) -> tuple[Move, ...]:
    """Names for what was found; a move for each piece that stands elsewhere now."""
    grey, time_s = table.shot.grey, table.shot.time_s
    looks = np.array(
        [[held.similarity_to(one, grey, table.camera) for one in found] for held in missing]
    )
    wanted = [
        MissingPiece(
            held.rest_detection.base,
            held.place_mm,
            _is_gone(table, held),
            held.rest_detection.xy_mm,
        )
        for held in missing
    ]
    pairs = assign_pieces(wanted, [(one.base, one.xy_mm) for one in found], looks)
    for i in set(range(len(missing))) - {i for i, _ in pairs}:
        missing[i].missed_shots += 1
    for j in sorted(set(range(len(found))) - {j for _, j in pairs}) if not fresh else ():
        name = next_piece_id([held.id for held in table.tracks])
        table.tracks.append(PieceTrack.of(name, table.remeasure_base(found[j]), grey, table.camera))
        table.tracks[-1].arrived_s = time_s
    moves = (
        build_move(table, missing[i], replace(found[j], base=missing[i].rest_detection.base))
        for i, j in pairs
    )
    return tuple(move for move in moves if move is not None)


def build_move(table: TableState, held: PieceTrack, detection: Detection) -> Move | None:
    """The move of a piece that was found again; None where it stands where it stood."""
    detection = table.remeasure_base(detection)
    before, after = np.asarray(held.rest_detection.xy_mm, float), np.asarray(detection.xy_mm, float)
    distance = float(np.hypot(*(after - before)))
    sigma = _distance_sigma(
        table, held.rest_detection, detection, (after - before) / max(distance, 1e-9)
    )
    if distance < max(MIN_MOVE_MM, 2 * sigma):
        held.return_to_rest(table.shot.grey, table.camera, light=True)
        return None
    trail, z_mm = _full_trail(table, held, detection), held.rest_detection.z_mm
    way = estimate_path(
        np.array(trail),
        before,
        after,
        table.camera.center_mm,
        held.hand_places / max(len(held.trail), 1),
    )
    by_hand = follow_hand(table, way, z_mm) if way.sigma_mm > MAX_PATH_SIGMA_MM else None
    if by_hand is not None and by_hand[0].sigma_mm < way.sigma_mm:
        way, trail = (
            by_hand[0],
            [(float(time_s), float(x), float(y)) for time_s, x, y in by_hand[1]],
        )
    table.vacated_blocks[held.blocks(table.vacated_blocks.shape, FIGURE_MARGIN_MM, home=True)] = (
        table.looks_again
    )
    held.settle_at(detection, table.shot.grey, table.camera)
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


def _full_trail(
    table: TableState, held: PieceTrack, detection: Detection
) -> list[tuple[float, float, float]]:
    """Where the piece was seen, from where it stood to where it stands; there when the middle one of its blocks that
    have moved since was still: over some the hand stays longer, and some look as they did before.
    """
    (x0, y0), (x1, y1) = held.rest_detection.xy_mm.tolist(), detection.xy_mm.tolist()
    moved_s = table.changes.last_moved_s[
        table.blocks(detection.xy_mm, detection.z_mm, held.radius_mm)
    ]
    left_s = held.away_s if held.away_s is not None else float(moved_s.max())
    trail = list(held.trail) or [(min(left_s, float(moved_s.max())), x0, y0)]
    since = moved_s[moved_s > trail[-1][0]]
    still_s = float(np.quantile(since, 0.5, method="lower")) if len(since) else trail[-1][0] + 1e-3
    return [*trail, (still_s, x1, y1)]


def _distance_sigma(table: TableState, one: Detection, other: Detection, along: Array) -> float:
    """1 σ of how far two places of a piece lie apart: the camera is wrong at both alike, its rim's look is in part."""
    joint = rare_covariance(table.calibration, [one, other])
    across = np.concatenate([-along, along])
    return float(
        np.sqrt(
            across @ joint @ across
            - shared_error_variance_mm2(table.calibration, one, other, along)
        )
    )
