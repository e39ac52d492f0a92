"""The corrections of a table, made to fit the scene that another photo of it gave.

The new scene has other ids and perhaps other pieces. A correction is carried over to the piece that
stands where its own piece stood. What the photos together find by themselves needs no correction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from overruler.fixes import next_piece_id
from overruler.scene import Piece, Scene

SAME_PLACE_SHARE = 0.5
"""Pieces count as the same within this share of the smaller base's width."""
SAME_PLACE_MM = 8.0
"""They count as the same within this distance, in mm, however small their bases are."""

FixEntry = Mapping[str, Any]


@dataclass(slots=True, eq=False)
class _Carrying:
    """What is known while corrections are carried over."""

    found: Scene
    new: Scene
    ids: dict[str, str]
    """The new scene's id of each old piece that it has."""
    used_names: set[str] = field(default_factory=set)


def carry_fixes(
    fixes: Sequence[FixEntry], found: Scene, corrected: Scene, new: Scene
) -> list[dict[str, Any]]:
    """The corrections that still apply, in order.

    `found` is the old scene before its corrections, `corrected` the same after them.
    """
    state = _Carrying(found, new, _matches(found.pieces, new), {piece.id for piece in new.pieces})
    log = corrected.extra.get("fixes", ())[-len(fixes) :] if fixes else ()
    ends = _final_pieces(fixes, log, corrected)
    carried: list[dict[str, Any]] = []
    for fix, entry, end in zip(fixes, log, ends, strict=True):
        carried += _carry(state, fix, str(entry["id"]), end)
    return carried


def _final_pieces(
    fixes: Sequence[FixEntry], log: Sequence[FixEntry], corrected: Scene
) -> list[Piece | None]:
    """The piece that each correction was about, as it stands after all of them."""
    pieces = {piece.id: piece for piece in corrected.pieces}
    ends = []
    for number, entry in enumerate(log):
        name = str(fixes[number].get("new_id", entry["id"]))
        for later in fixes[number + 1 :]:
            if later["do"] == "name" and later["id"] == name:
                name = str(later.get("new_id", name))
        ends.append(pieces.get(name))
    return ends


def _matches(pieces: Sequence[Piece], new: Scene) -> dict[str, str]:
    """The new piece at the place of each old one, the nearest pairs first."""
    pairs = sorted(
        (_apart_mm(old, other), old.id, other.id)
        for old in pieces
        for other in new.pieces
        if _apart_mm(old, other) <= _reach_mm(old, other)
    )
    found: dict[str, str] = {}
    for _, old_id, new_id in pairs:
        if old_id not in found and new_id not in found.values():
            found[old_id] = new_id
    return found


def _apart_mm(one: Piece, other: Piece) -> float:
    return abs(complex(one.x_mm - other.x_mm, one.y_mm - other.y_mm))


def _reach_mm(one: Piece, other: Piece) -> float:
    return max(SAME_PLACE_MM, SAME_PLACE_SHARE * min(one.base.width_mm, other.base.width_mm))


def _carry(state: _Carrying, fix: FixEntry, old_id: str, end: Piece | None) -> list[dict[str, Any]]:
    if fix["do"] in ("add", "move"):
        return _carry_place(state, fix, old_id, end)
    new_id = state.ids.get(old_id)
    if new_id is None:
        return []
    if fix["do"] == "remove":
        del state.ids[old_id]
    if "new_id" in fix:
        del state.ids[old_id]
        state.ids[str(fix["new_id"])] = str(fix["new_id"])
    return [{**fix, "id": new_id}]


def _carry_place(
    state: _Carrying, fix: FixEntry, old_id: str, end: Piece | None
) -> list[dict[str, Any]]:
    """A place that a person showed: it is left to the photos where they found the piece there."""
    if end is None:
        return []
    there = _matches([end], state.new).get(end.id)
    if there is not None:
        state.ids[old_id] = there
        return []
    if old_id in state.ids:
        return [{**fix, "id": state.ids[old_id]}]
    new_id = next_piece_id(state.used_names)
    state.used_names.add(new_id)
    state.ids[old_id] = new_id
    place = _place_in_new(state, fix, end)
    labels = {key: fix[key] for key in ("unit", "player", "leader", "kind", "stats") if key in fix}
    return [{"do": "add", "id": new_id, "base": fix.get("base", end.base.name), **place, **labels}]


def _place_in_new(state: _Carrying, fix: FixEntry, end: Piece) -> dict[str, Any]:
    """Where a person pointed, in the same photo; on the board where the new scene lacks that photo."""
    place = {key: fix[key] for key in ("xy_mm", "xy_px", "sigma_px", "heading_deg") if key in fix}
    files, new_files = _photo_files(state.found), _photo_files(state.new)
    index = int(fix.get("photo", 0))
    if "xy_px" not in fix or index >= len(files):
        return place
    if files[index] in new_files:
        photo = new_files.index(files[index])
        return {**place, "photo": photo} if photo else place
    del place["xy_px"]
    return {**place, "xy_mm": [round(end.x_mm, 3), round(end.y_mm, 3)]}


def _photo_files(scene: Scene) -> list[str]:
    """The names of a scene's photos without their folders; empty where there is one."""
    return [PurePath(str(one["file"])).name for one in scene.extra.get("photos", ())]
