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
from overruler.fixes import Fix, next_id
from overruler.geometry.covariance import Matrix2
from overruler.report import Report
from overruler.scene import Piece, Scene
from overruler.vision.assembly.pointed_at import pointed_at, raised, resized, turned
from overruler.vision.assembly.to_scene import covariance_of, piece_of
from overruler.vision.camera.table_bow import levelled

SAME_HEIGHT_MM = 5.0
"""Bases at heights that differ by more may stand over each other."""


@dataclass(frozen=True, slots=True, eq=False)
class _Standing:
    """A piece and what it rests on."""

    piece: Piece
    """What the scene says of it; of a piece that was measured again all but its place is kept."""
    detection: Detection
    fitted: bool = True
    """Whether the photo says where it stands, or only a person."""
    by_hand: tuple[str, ...] = ()
    """What was done to it."""
    last: Fix | None = None
    """The last correction to where it stands."""


@dataclass(slots=True, eq=False)
class _Table:
    """The pieces while they are being corrected."""

    report: Report
    pieces: dict[str, _Standing]
    """By id, in the scene's order."""
    ever: set[str]
    """All names that are or were taken."""
    log: list[dict[str, Any]]
    """What was done, for the scene."""


def corrected(report: Report, fixes: Sequence[Fix]) -> Report:
    """The report with corrections applied in order, without its rulings: they have to be asked again.

    `BadInput` names the entry that cannot be applied. The scene says what was done: `fixes`, and in each piece that was
    touched `by_hand`, with `fitted` false where the photo shows nothing at the place and a person's word stands.
    """
    if not fixes:
        return report
    scene = report.scene
    found = zip(scene.pieces, report.detections, strict=True)
    table = _Table(report, {piece.id: _Standing(piece, detection) for piece, detection in found}, _taken(scene), [])
    for fix in fixes:
        standing = _DEEDS[fix.do](table, fix)
        table.log.append({"do": fix.do, "id": fix.id or next(reversed(table.pieces))} | _new_id(fix))
        if standing is not None and fix.do not in ("name", "turn"):
            table.log[-1]["fitted"] = standing.fitted
    return _concluded(table)


def _taken(scene: Scene) -> set[str]:
    """The names that are taken, or were before earlier corrections."""
    names = {name for piece in scene.pieces for name in (piece.id, piece.unit) if name}
    return names | set(scene.ground) | {done["id"] for done in scene.extra.get("fixes", ())}


def _new_id(fix: Fix) -> dict[str, Any]:
    return {key: value for key, value in fix.labels.items() if key == "new_id"}


def _concluded(table: _Table) -> Report:
    """The report once all is done."""
    report, standing = table.report, list(table.pieces.values())
    _check_apart(standing)
    detections = tuple(one.detection for one in standing)
    there = levelled(report.calibration, detections)
    covariance = covariance_of(report.calibration, there)
    blocks = [covariance.block(k, k) for k in range(len(standing))]
    pieces = tuple(map(_piece, standing, there, blocks))
    scene = replace(
        report.scene,
        pieces=pieces,
        covariance=covariance if pieces else None,
        extra={**report.scene.extra, "fixes": [*report.scene.extra.get("fixes", ()), *table.log]},
    )
    return replace(report, detections=detections, scene=scene, verdicts=())


def _check_apart(standing: Sequence[_Standing]) -> None:
    """Two bases do not stand in one place: whoever was put there last was put there by mistake."""
    for one, other in combinations(standing, 2):
        last, first = (other, one) if other.last is not None else (one, other)
        same = abs(one.detection.z_mm - other.detection.z_mm) < SAME_HEIGHT_MM
        least = min(one.detection.base.width_mm, other.detection.base.width_mm) / 2
        if last.last and same and np.hypot(*(one.detection.xy_mm - other.detection.xy_mm)) < least:
            last.last.fail(f"{last.piece.id} would stand where {first.piece.id} does: move, resize or remove that one")


def _piece(standing: _Standing, there: Detection, covariance: Matrix2) -> Piece:
    """What the scene says of a piece: of one that nobody touched what it said before."""
    if not standing.by_hand:
        return standing.piece
    before, now = standing.piece, piece_of(there, standing.piece.id, covariance)
    labels = {key: getattr(before, key) for key in ("player", "unit", "leader", "kind", "stats")}
    kept = {key: value for key, value in before.extra.items() if key not in _MEASURED}
    hand = {"by_hand": [*before.extra.get("by_hand", ()), *standing.by_hand], "fitted": standing.fitted}
    return replace(now, **labels, extra={**kept, **now.extra, **hand})


_MEASURED = ("image", "score", "visible", "also", "heading_modulo_deg", "other_headings", "on", "sigma_z_mm")
"""What a scene says of a piece's measuring, beside the piece: of one measured again it is said anew."""


# --- what can be done ---


def _of(table: _Table, fix: Fix) -> _Standing:
    """The piece that a correction is about."""
    return table.pieces[fix.id] if fix.id in table.pieces else _no_piece(table, fix)


def _no_piece(table: _Table, fix: Fix) -> NoReturn:
    known = ", ".join(table.pieces) or "none"
    fix.fail(f"there is no piece {fix.id!r} to {fix.do}; there are: {known}")


def _keep(table: _Table, fix: Fix, standing: _Standing) -> _Standing:
    done = replace(standing, by_hand=(*standing.by_hand, fix.do), last=fix)
    table.pieces[standing.piece.id] = done
    return done


def _move(table: _Table, fix: Fix) -> _Standing:
    one = _of(table, fix)
    heading = one.detection.heading_deg if fix.heading_deg is None else fix.heading_deg
    detection, fitted = pointed_at(table.report, fix, one.piece.id, one.detection.base, heading)
    return _keep(table, fix, replace(one, detection=detection, fitted=fitted))


def _add(table: _Table, fix: Fix) -> _Standing:
    name = fix.id or next_id(table.ever)
    _claim(table, fix, name)
    base = fix.base or fix.fail("needs a base")
    piece = Piece(name, base, 0.0, 0.0, **_told(table, fix, name))
    return _keep(table, fix, _Standing(piece, *pointed_at(table.report, fix, name, base, fix.heading_deg or 0.0)))


def _remove(table: _Table, fix: Fix) -> None:
    del table.pieces[_of(table, fix).piece.id]


def _resize(table: _Table, fix: Fix) -> _Standing:
    one, base = _of(table, fix), fix.base or fix.fail("needs a base")
    detection, fitted = resized(table.report, one.detection, base, fix.heading_deg)
    return _keep(table, fix, replace(one, detection=detection, fitted=fitted))


def _turn(table: _Table, fix: Fix) -> _Standing:
    one = _of(table, fix)
    return _keep(table, fix, replace(one, detection=turned(table.report, one.detection, fix.heading_deg or 0.0)))


def _stand(table: _Table, fix: Fix) -> _Standing:
    one = _of(table, fix)
    detection, fitted = raised(table.report, fix, one.piece.id, one.detection)
    return _keep(table, fix, replace(one, detection=detection, fitted=fitted))


def _name(table: _Table, fix: Fix) -> _Standing:
    one = _of(table, fix)
    name = str(fix.labels.get("new_id", one.piece.id))
    if name != one.piece.id:
        _claim(table, fix, name)
    settled = ("player_unsure",) if "player" in fix.labels else ()
    extra = {key: value for key, value in one.piece.extra.items() if key not in settled}
    piece = replace(one.piece, id=name, extra=extra, **_told(table, fix, name))
    done = replace(one, piece=piece, by_hand=(*one.by_hand, fix.do))
    table.pieces = {new.piece.id: new for new in (done if old is one else old for old in table.pieces.values())}
    return done


_DEEDS: Mapping[str, Callable[[_Table, Fix], _Standing | None]] = {
    "move": _move,
    "add": _add,
    "remove": _remove,
    "resize": _resize,
    "turn": _turn,
    "stand": _stand,
    "name": _name,
}


def _claim(table: _Table, fix: Fix, name: str) -> None:
    """Take a name that nothing else goes by."""
    if name in table.ever:
        fix.fail(f"{name!r} is taken, by a piece, a unit or terrain that is or was there")
    table.ever.add(name)


def _told(table: _Table, fix: Fix, name: str) -> dict[str, Any]:
    """What is said of a piece beside where it stands."""
    labels = {key: value for key, value in fix.labels.items() if key != "new_id"}
    unit = labels.get("unit")
    if unit is not None and unit != name:
        if unit in table.pieces or unit in table.report.scene.ground:
            fix.fail(f"the unit {unit!r} goes by the name of a piece or of terrain: give it another")
        table.ever.add(unit)
    return labels
