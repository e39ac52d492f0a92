"""A report with people's corrections: each piece is measured again where they point.

`apply_corrections` takes a report and returns one. The command, the page and the phone all use it.
Pieces keep their ids, and the ids of removed pieces are not given again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from overruler.bases import Base
from overruler.detections import Detection
from overruler.fixes import Fix, next_piece_id
from overruler.geometry.covariance import Matrix2
from overruler.records import (
    MEASURED_KEYS,
    PLACING_CORRECTIONS,
    CorrectionRecord,
    PieceRecord,
)
from overruler.report import Report
from overruler.scene import Piece, Scene
from overruler.vision.assembly.corrected_piece import CorrectedPiece, check_no_overlap
from overruler.vision.assembly.pointed_at import (
    raise_detection,
    resize_detection,
    set_heading,
)
from overruler.vision.assembly.several_photos import (
    detect_in_photo,
    images_after,
    on_photo_of,
    on_seeing_photo,
    place_jointly,
)
from overruler.vision.assembly.to_scene import to_piece

LABEL_FIELDS = ("player", "unit", "leader", "kind", "stats")
"""Fields of a piece that no measurement changes."""


@dataclass(slots=True, eq=False)
class _CorrectionState:
    """The pieces while corrections are applied."""

    report: Report  # as it was before
    pieces: dict[str, CorrectedPiece]
    """By id, in the scene's order."""
    used_names: set[str]
    """All names that are or were in use."""
    log: list[CorrectionRecord]
    """The corrections applied, for the scene."""


def apply_corrections(report: Report, fixes: Sequence[Fix]) -> Report:
    """Apply corrections in order; the result has no rulings, which must be asked again.

    `BadInput` names the entry that cannot be applied. The scene lists the corrections under
    `fixes`, and each corrected piece has them under `corrections`. A piece that somebody placed is
    `by_hand`. Where the photo does not confirm a place, `fitted` is false and there is no `image`.
    """
    if not fixes:
        return report
    scene = report.scene
    found = zip(scene.pieces, report.detections, strict=True)
    pieces = {piece.id: CorrectedPiece(piece, detection) for piece, detection in found}
    state = _CorrectionState(report, pieces, _names_in_use(scene), [])
    for told in fixes:
        fix = _on_seeing_photo(state, told)
        corrected = _ACTIONS[fix.do](state, fix)
        state.log.append(_correction_record(state, fix, corrected))
    return _build_report(state)


def _on_seeing_photo(state: _CorrectionState, fix: Fix) -> Fix:
    """A correction with the photo that it is measured in."""
    piece = state.pieces.get(fix.id or "")
    if piece is None:
        return on_seeing_photo(state.report, fix, fix.base, ())
    return on_seeing_photo(state.report, fix, piece.detection.base, piece.seen_in)


def _correction_record(
    state: _CorrectionState, fix: Fix, corrected: CorrectedPiece | None
) -> CorrectionRecord:
    """What the scene says of a correction that was applied."""
    piece_id = fix.id or next(reversed(state.pieces), "")
    has_place = corrected is not None and fix.do not in ("name", "turn", "confirm")
    fitted = corrected.detection.is_seen if corrected is not None and has_place else None
    return CorrectionRecord(fix.do, piece_id, fix.labels.get("new_id"), fitted)


def _names_in_use(scene: Scene) -> set[str]:
    """The names in use, now or before earlier corrections."""
    names = {name for piece in scene.pieces for name in (piece.id, piece.unit) if name}
    corrected = {entry["id"] for entry in scene.extra.get("fixes", ())}
    return names | set(scene.terrain_parts) | corrected


def _build_report(state: _CorrectionState) -> Report:
    """The report after all corrections."""
    report, pieces = state.report, list(state.pieces.values())
    check_no_overlap(pieces)
    detections = tuple(piece.detection for piece in pieces)
    placed = [(one.former_id or one.id, one.detection, one.last_fix) for one in pieces]
    flattened, covariance, errors = place_jointly(report, placed)
    if errors is not None:  # detections of several photos lie on the bowed table
        detections = flattened
    blocks = [covariance.cross_covariance(k, k) for k in range(len(pieces))]
    earlier = report.scene.extra.get("fixes", ())
    fixes = [*earlier, *(record.to_json() for record in state.log)]
    scene = replace(
        report.scene,
        pieces=tuple(
            _build_piece(report, *each) for each in zip(pieces, flattened, blocks, strict=True)
        ),
        covariance=covariance if pieces else None,
        extra={**report.scene.extra, "fixes": fixes},
    )
    return replace(report, detections=detections, scene=scene, verdicts=(), errors=errors)


def _build_piece(
    report: Report, corrected: CorrectedPiece, detection: Detection, covariance: Matrix2
) -> Piece:
    """The piece of the new scene; one that no correction touched stays as it was."""
    before = corrected.piece
    if not corrected.corrections:
        return before
    now = to_piece(detection, before.id, covariance)
    labels = {name: getattr(before, name) for name in LABEL_FIELDS}
    extra = {key: value for key, value in before.extra.items() if key not in MEASURED_KEYS}
    earlier = PieceRecord.from_json(before.extra)
    extra |= now.extra
    if report.photos:
        seen = {image.photo for image in earlier.images if image.seen}
        extra["images"] = images_after(report, detection, corrected.last_fix, seen)
    extra["fitted"] = corrected.detection.is_seen
    extra["corrections"] = [*earlier.corrections, *corrected.corrections]
    if earlier.by_hand or not PLACING_CORRECTIONS.isdisjoint(corrected.corrections):
        extra["by_hand"] = True
    return replace(now, **labels, extra=extra)


# --- the actions ---


def _find_piece(state: _CorrectionState, fix: Fix) -> CorrectedPiece:
    """The piece that a correction names."""
    return state.pieces[fix.id] if fix.id in state.pieces else fix.fail_unknown_piece(state.pieces)


def _record_change(
    state: _CorrectionState, fix: Fix, piece: CorrectedPiece, detection: Detection
) -> CorrectedPiece:
    """Give a piece its new detection."""
    changed = replace(
        piece,
        detection=replace(detection, is_confirmed=True),
        corrections=(*piece.corrections, fix.do),
        last_fix=fix,
    )
    state.pieces[piece.id] = changed
    return changed


def _move_piece(state: _CorrectionState, fix: Fix) -> CorrectedPiece:
    piece = _find_piece(state, fix)
    old = piece.detection
    heading = old.heading_deg if fix.heading_deg is None else fix.heading_deg
    moved = detect_in_photo(state.report, fix, piece.id, old.base, heading)
    return _record_change(state, fix, piece, moved)


def _add_piece(state: _CorrectionState, fix: Fix) -> CorrectedPiece:
    name = fix.id or next_piece_id(state.used_names)
    _claim_name(state, fix, name)
    base = _needed_base(fix)
    piece = Piece(name, base, 0.0, 0.0, **_checked_labels(state, fix, name))
    heading = fix.heading_deg or 0.0
    detection = detect_in_photo(state.report, fix, name, base, heading)
    return _record_change(state, fix, CorrectedPiece(piece, detection), detection)


def _remove_piece(state: _CorrectionState, fix: Fix) -> None:
    del state.pieces[_find_piece(state, fix).id]


def _resize_piece(state: _CorrectionState, fix: Fix) -> CorrectedPiece:
    piece = _find_piece(state, fix)
    base = _needed_base(fix)
    shown = on_photo_of(state.report, fix)
    resized = resize_detection(shown, piece.detection, base, fix.heading_deg)
    return _record_change(state, fix, piece, resized)


def _turn_piece(state: _CorrectionState, fix: Fix) -> CorrectedPiece:
    piece = _find_piece(state, fix)
    turned = set_heading(state.report, piece.detection, fix.heading_deg or 0.0)
    changed = replace(_record_change(state, fix, piece, turned), last_fix=piece.last_fix)
    state.pieces[piece.id] = changed  # it stays where it was measured
    return changed


def _set_height(state: _CorrectionState, fix: Fix) -> CorrectedPiece:
    piece = _find_piece(state, fix)
    shown = on_photo_of(state.report, fix)
    raised = raise_detection(shown, fix, piece.id, piece.detection)
    return _record_change(state, fix, piece, raised)


def _rename_piece(state: _CorrectionState, fix: Fix) -> CorrectedPiece:
    old = _find_piece(state, fix)
    name = str(fix.labels.get("new_id", old.id))
    if name != old.id:
        _claim_name(state, fix, name)
    extra = dict(old.piece.extra)
    if "player" in fix.labels:
        extra.pop("player_unsure", None)
    piece = replace(old.piece, id=name, extra=extra, **_checked_labels(state, fix, name))
    former = old.former_id or old.id
    renamed = replace(_confirm_piece(state, fix), piece=piece, former_id=former)
    in_order = [renamed if one.id == old.id else one for one in state.pieces.values()]
    state.pieces = {one.id: one for one in in_order}
    return renamed


def _confirm_piece(state: _CorrectionState, fix: Fix) -> CorrectedPiece:
    old = _find_piece(state, fix)
    detection = replace(old.detection, is_confirmed=True)
    confirmed = replace(old, detection=detection, corrections=(*old.corrections, fix.do))
    state.pieces[old.id] = confirmed
    return confirmed


_ACTIONS: Mapping[str, Callable[[_CorrectionState, Fix], CorrectedPiece | None]] = {
    "move": _move_piece,
    "add": _add_piece,
    "remove": _remove_piece,
    "resize": _resize_piece,
    "turn": _turn_piece,
    "stand": _set_height,
    "name": _rename_piece,
    "confirm": _confirm_piece,
}


def _needed_base(fix: Fix) -> Base:
    return fix.base or fix.fail("needs a base")


def _claim_name(state: _CorrectionState, fix: Fix, name: str) -> None:
    """Reserve a name that nothing else has."""
    if name in state.used_names:
        fix.fail(f"{name!r} is taken, by a piece, a unit or terrain that is or was there")
    state.used_names.add(name)


def _checked_labels(state: _CorrectionState, fix: Fix, name: str) -> dict[str, Any]:
    """The labels of a fix for its piece; its unit must not have the name of anything else."""
    labels = fix.other_labels
    unit = labels.get("unit")
    if unit is None or unit == name:
        return labels
    if unit in state.pieces or unit in state.report.scene.terrain_parts:
        fix.fail(f"the unit {unit!r} goes by the name of a piece or of terrain: give it another")
    state.used_names.add(unit)
    return labels
