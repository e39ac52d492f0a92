"""The labels that people give to pieces, kept from one measurement to the next."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from overruler.apps.web.live.selection import Selection
from overruler.fixes import Fix
from overruler.scene import Scene

Labels = Mapping[str, Mapping[str, Any]]
"""Unit, player, leader and other labels of each piece, by its id."""


def labelled_scene(scene: Scene, labels: Labels) -> Scene:
    """A scene with the labels that people gave its pieces."""
    if not labels:
        return scene
    pieces = (
        replace(piece, **labels[piece.id]) if piece.id in labels else piece
        for piece in scene.pieces
    )
    return replace(scene, pieces=tuple(pieces))


def with_fixes(
    labels: Labels, selection: Selection, fixes: Sequence[Fix]
) -> tuple[Labels, Selection]:
    """The labels after corrections, and the selection by the pieces' new names."""
    kept = dict(labels)
    for fix in fixes:
        if fix.id is None or not fix.labels:
            continue
        name = str(fix.labels.get("new_id", fix.id))
        kept[name] = {**kept.pop(fix.id, {}), **fix.other_labels}
        selection = selection.with_renamed_piece(fix.id, name)
    return kept, selection
