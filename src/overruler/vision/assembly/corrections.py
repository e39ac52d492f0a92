"""A photo's findings with what people corrected: each piece that they touched is measured again from where they point.

`corrected` takes a report and gives one; a command, a page and a phone go through the same door. Ids stay what they
were, and those of pieces taken away are not given again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NoReturn

import numpy as np

from overruler.detections import Detection
from overruler.fixes import Fix, next_piece_id
from overruler.geometry.covariance import Matrix2
from overruler.report import Report
from overruler.scene import Piece, Scene
from overruler.vision.assembly.pointed_at import (
    detect_at_point,
    raise_detection,
    resize_detection,
    set_heading,
)
from overruler.vision.assembly.to_scene import position_covariance, to_piece
from overruler.vision.camera.table_bow import correct_detections_for_bow

SAME_HEIGHT_MM = 5.0
"""Bases at heights that differ by more may stand over each other."""


@dataclass(frozen=True, slots=True, eq=False)
class _CorrectedPiece:
    """A piece and what it rests on."""

    piece: Piece
    """What the scene says of it; of a piece that was measured again all but its place is kept."""
    detection: Detection
    fitted: bool = True
    """Whether the photo says where it stands, or only a person."""
    by_hand: tuple[str, ...] = ()
    """What was done to it."""
    last_fix: Fix | None = None
    """The last correction to where it stands."""


@dataclass(slots=True, eq=False)
class _CorrectionState:
    """The pieces while they are being corrected."""

    report: Report
    pieces: dict[str, _CorrectedPiece]
    """By id, in the scene's order."""
    used_names: set[str]
    """All names that are or were taken."""
    log: list[dict[str, Any]]
    """What was done, for the scene."""


def apply_corrections(report: Report, fixes: Sequence[Fix]) -> Report:
    """The report with corrections applied in order, without its rulings: they have to be asked again.

    `BadInput` names the entry that cannot be applied. The scene says what was done: `fixes`, and in each piece that was
    touched `by_hand`, with `fitted` false where the photo shows nothing at the place and a person's word stands.
    """
    if not fixes:
        return report
    scene = report.scene
    found = zip(scene.pieces, report.detections, strict=True)
    table = _CorrectionState(
        report,
        {piece.id: _CorrectedPiece(piece, detection) for piece, detection in found},
        _names_in_use(scene),
        [],
    )
    for fix in fixes:
        standing = _ACTIONS[fix.do](table, fix)
        table.log.append(
            {"do": fix.do, "id": fix.id or next(reversed(table.pieces))} | _new_id(fix)
        )
        if standing is not None and fix.do not in ("name", "turn"):
            table.log[-1]["fitted"] = standing.fitted
    return _build_report(table)


def _names_in_use(scene: Scene) -> set[str]:
    """The names that are taken, or were before earlier corrections."""
    names = {name for piece in scene.pieces for name in (piece.id, piece.unit) if name}
    return names | set(scene.terrain_parts) | {done["id"] for done in scene.extra.get("fixes", ())}


def _new_id(fix: Fix) -> dict[str, Any]:
    return {key: value for key, value in fix.labels.items() if key == "new_id"}


def _build_report(table: _CorrectionState) -> Report:
    """The report once all is done."""
    report, standing = table.report, list(table.pieces.values())
    _check_no_overlap(standing)
    detections = tuple(one.detection for one in standing)
    there = correct_detections_for_bow(report.calibration, detections)
    covariance = position_covariance(report.calibration, there)
    blocks = [covariance.cross_covariance(k, k) for k in range(len(standing))]
    pieces = tuple(map(_build_piece, standing, there, blocks))
    scene = replace(
        report.scene,
        pieces=pieces,
        covariance=covariance if pieces else None,
        extra={**report.scene.extra, "fixes": [*report.scene.extra.get("fixes", ()), *table.log]},
    )
    return replace(report, detections=detections, scene=scene, verdicts=())


def _check_no_overlap(standing: Sequence[_CorrectedPiece]) -> None:
    """Two bases do not stand in one place: whoever was put there last was put there by mistake."""
    for one, other in combinations(standing, 2):
        last, first = (other, one) if other.last_fix is not None else (one, other)
        same = abs(one.detection.z_mm - other.detection.z_mm) < SAME_HEIGHT_MM
        least = min(one.detection.base.width_mm, other.detection.base.width_mm) / 2
        if (
            last.last_fix
            and same
            and np.hypot(*(one.detection.xy_mm - other.detection.xy_mm)) < least
        ):
            last.last_fix.fail(
                f"{last.piece.id} would stand where {first.piece.id} does: move, resize or remove that one"
            )


def _build_piece(standing: _CorrectedPiece, there: Detection, covariance: Matrix2) -> Piece:
    """What the scene says of a piece: of one that nobody touched what it said before."""
    if not standing.by_hand:
        return standing.piece
    before, now = standing.piece, to_piece(there, standing.piece.id, covariance)
    labels = {key: getattr(before, key) for key in ("player", "unit", "leader", "kind", "stats")}
    kept = {key: value for key, value in before.extra.items() if key not in _MEASURED_KEYS}
    hand = {
        "by_hand": [*before.extra.get("by_hand", ()), *standing.by_hand],
        "fitted": standing.fitted,
    }
    return replace(now, **labels, extra={**kept, **now.extra, **hand})


_MEASURED_KEYS = (
    "image",
    "score",
    "visible",
    "also",
    "heading_modulo_deg",
    "other_headings",
    "on",
    "sigma_z_mm",
)
"""What a scene says of a piece's measuring, beside the piece: of one measured again it is said anew."""


# --- what can be done ---


def _find_piece(table: _CorrectionState, fix: Fix) -> _CorrectedPiece:
    """The piece that a correction is about."""
    return table.pieces[fix.id] if fix.id in table.pieces else _fail_unknown_piece(table, fix)


def _fail_unknown_piece(table: _CorrectionState, fix: Fix) -> NoReturn:
    known = ", ".join(table.pieces) or "none"
    fix.fail(f"there is no piece {fix.id!r} to {fix.do}; there are: {known}")


def _record_change(table: _CorrectionState, fix: Fix, standing: _CorrectedPiece) -> _CorrectedPiece:
    done = replace(standing, by_hand=(*standing.by_hand, fix.do), last_fix=fix)
    table.pieces[standing.piece.id] = done
    return done


def _move_piece(table: _CorrectionState, fix: Fix) -> _CorrectedPiece:
    one = _find_piece(table, fix)
    heading = one.detection.heading_deg if fix.heading_deg is None else fix.heading_deg
    detection, fitted = detect_at_point(
        table.report, fix, one.piece.id, one.detection.base, heading
    )
    return _record_change(table, fix, replace(one, detection=detection, fitted=fitted))


def _add_piece(table: _CorrectionState, fix: Fix) -> _CorrectedPiece:
    name = fix.id or next_piece_id(table.used_names)
    _claim_name(table, fix, name)
    base = fix.base or fix.fail("needs a base")
    piece = Piece(name, base, 0.0, 0.0, **_checked_labels(table, fix, name))
    return _record_change(
        table,
        fix,
        _CorrectedPiece(
            piece, *detect_at_point(table.report, fix, name, base, fix.heading_deg or 0.0)
        ),
    )


def _remove_piece(table: _CorrectionState, fix: Fix) -> None:
    del table.pieces[_find_piece(table, fix).piece.id]


def _resize_piece(table: _CorrectionState, fix: Fix) -> _CorrectedPiece:
    one, base = _find_piece(table, fix), fix.base or fix.fail("needs a base")
    detection, fitted = resize_detection(table.report, one.detection, base, fix.heading_deg)
    return _record_change(table, fix, replace(one, detection=detection, fitted=fitted))


def _turn_piece(table: _CorrectionState, fix: Fix) -> _CorrectedPiece:
    one = _find_piece(table, fix)
    return _record_change(
        table,
        fix,
        replace(one, detection=set_heading(table.report, one.detection, fix.heading_deg or 0.0)),
    )


def _set_height(table: _CorrectionState, fix: Fix) -> _CorrectedPiece:
    one = _find_piece(table, fix)
    detection, fitted = raise_detection(table.report, fix, one.piece.id, one.detection)
    return _record_change(table, fix, replace(one, detection=detection, fitted=fitted))


def _rename_piece(table: _CorrectionState, fix: Fix) -> _CorrectedPiece:
    one = _find_piece(table, fix)
    name = str(fix.labels.get("new_id", one.piece.id))
    if name != one.piece.id:
        _claim_name(table, fix, name)
    settled = ("player_unsure",) if "player" in fix.labels else ()
    extra = {key: value for key, value in one.piece.extra.items() if key not in settled}
    piece = replace(one.piece, id=name, extra=extra, **_checked_labels(table, fix, name))
    done = replace(one, piece=piece, by_hand=(*one.by_hand, fix.do))
    table.pieces = {
        new.piece.id: new for new in (done if old is one else old for old in table.pieces.values())
    }
    return done


_ACTIONS: Mapping[str, Callable[[_CorrectionState, Fix], _CorrectedPiece | None]] = {
    "move": _move_piece,
    "add": _add_piece,
    "remove": _remove_piece,
    "resize": _resize_piece,
    "turn": _turn_piece,
    "stand": _set_height,
    "name": _rename_piece,
}


def _claim_name(table: _CorrectionState, fix: Fix, name: str) -> None:
    """Take a name that nothing else goes by."""
    if name in table.used_names:
        fix.fail(f"{name!r} is taken, by a piece, a unit or terrain that is or was there")
    table.used_names.add(name)


def _checked_labels(table: _CorrectionState, fix: Fix, name: str) -> dict[str, Any]:
    """What is said of a piece beside where it stands."""
    labels = {key: value for key, value in fix.labels.items() if key != "new_id"}
    unit = labels.get("unit")
    if unit is not None and unit != name:
        if unit in table.pieces or unit in table.report.scene.terrain_parts:
            fix.fail(
                f"the unit {unit!r} goes by the name of a piece or of terrain: give it another"
            )
        table.used_names.add(unit)
    return labels
