"""One table, photographed from several sides."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import cv2
import numpy as np

from synthetic.arrays import Array, Floats, Rng
from synthetic.camera import View, over_board
from synthetic.develop import camera_style, develop, jpeg
from synthetic.things.pieces import Piece
from synthetic.traced.expose import ROUGH, expose
from synthetic.traced.ground import Ground, footprint
from synthetic.traced.spec import Spec
from synthetic.traced.table import Table, build
from synthetic.traced.tracer import Tracer
from synthetic.traced.truth import truth

TEXEL_MM = 0.5
"""Pixels of the prints: finer than any of the photos."""
GAMMA = 2.2
"""Exponent of the brightness that the eye sees."""
MOVE_MM = (15.0, 60.0)
"""How far a piece moves between two photos."""


def photograph_from_all_sides(
    name: str,
    spec: Spec,
    kinds: Sequence[str],
    scale: float,
    move: bool,
    close_up_mm: float | None = None,
) -> dict[str, bytes]:
    """The files of a table by their names: photos, the truth of each, and of the table.

    Photos of one kind are by one camera. With `move` a piece moves before the last photo. With
    `close_up_mm` the last photo shows so much of the table alone, about some piece.
    """
    table = build(spec, TEXEL_MM)
    rng = np.random.default_rng([spec.seed, 6])
    first_deg = float(rng.uniform(0, 360))
    lenses: dict[str, View] = {}
    files: dict[str, bytes] = {}
    moved: list[dict[str, object]] = []
    facts = []
    for k, kind in enumerate(kinds):
        if move and k == len(kinds) - 1:
            table, moved = _move_one(table, rng)
        towards = first_deg + k * 360 / len(kinds) + float(rng.normal(0, 8))
        view = over_board(kind, spec.size_mm, spec.tilt_deg, rng, towards)
        if close_up_mm and k == len(kinds) - 1:
            view = _close_up(table, kind, close_up_mm, rng, towards)
        view = _same_lens(view, lenses.setdefault(kind, view))
        files[f"{name}_v{k + 1}.jpg"], found = _photo(f"{name}_v{k + 1}", table, view, rng, scale)
        facts.append(found)
    for k, found in enumerate(facts):
        found["view"] = {"table": name, "number": k + 1}
        files[f"{name}_v{k + 1}.json"] = json.dumps(found).encode()
    files[f"{name}.json"] = json.dumps(whole(name, spec, facts, moved)).encode()
    return files


def _close_up(table: Table, kind: str, width_mm: float, rng: Rng, towards_deg: float) -> View:
    """A camera that shows a part of the table about one of its pieces."""
    piece = table.pieces[int(rng.integers(len(table.pieces)))]
    shown = width_mm, width_mm * 0.6
    low = piece.x_mm - shown[0] / 2, piece.y_mm - shown[1] / 2
    return over_board(kind, shown, table.spec.tilt_deg, rng, towards_deg, low)


def _same_lens(view: View, other: View) -> View:
    camera = view.camera.with_lens(other.camera.matrix, other.camera.distortion)
    return replace(view, camera=camera)


def _photo(
    name: str, table: Table, view: View, rng: Rng, scale: float
) -> tuple[bytes, dict[str, Any]]:
    tracer = Tracer(table.parts, table.lights)
    habits = camera_style(view.kind, table.spec.light in ("low", "lamp"), rng)
    light = expose(tracer, view.resized(scale), ROUGH)
    if scale != 1:
        light = enlarge(light, view.size_px)
    picture = develop(light, habits, rng)
    facts = truth(f"{name}.jpg", table, view, tracer, habits, scale)
    return jpeg(picture, view, habits.jpeg_quality), facts


def enlarge(light: Floats, size_px: tuple[int, int]) -> Floats:
    """The light (H, W, 3) at another size.

    It is enlarged as the eye sees it. Enlarged as it is, bright areas grow into dark ones by a pixel.
    """
    seen = cv2.resize(light ** (1 / GAMMA), size_px, interpolation=cv2.INTER_CUBIC)
    return np.asarray(seen.clip(0) ** GAMMA, np.float32)


def _move_one(table: Table, rng: Rng) -> tuple[Table, list[dict[str, object]]]:
    """The table with one piece elsewhere, and what moved."""
    for k in rng.permutation(len(table.pieces)).tolist():
        piece = table.pieces[k]
        way, far = float(rng.uniform(0, 2 * np.pi)), float(rng.uniform(*MOVE_MM))
        step = far * np.array([np.cos(way), np.sin(way)])
        if piece.z_mm or not _is_free(table, piece, step):
            continue
        pieces = [*table.pieces]
        pieces[k] = after_step = _shifted(piece, step)
        before, after = [piece.x_mm, piece.y_mm], [after_step.x_mm, after_step.y_mm]
        return replace(table, pieces=pieces), [
            {"piece": piece.id, "from_mm": before, "to_mm": after, "distance_mm": far}
        ]
    return table, []


def _shifted(piece: Piece, step_mm: Array) -> Piece:
    x, y = step_mm.tolist()
    return replace(
        piece,
        x_mm=piece.x_mm + x,
        y_mm=piece.y_mm + y,
        stand=piece.stand.moved(x, y, 0, 0),
        figure_parts=[part.moved(x, y) for part in piece.figure_parts],
    )


def _is_free(table: Table, piece: Piece, step_mm: Array) -> bool:
    """Whether a piece fits on the board where it would move, clear of all else."""
    x, y = (np.array([piece.x_mm, piece.y_mm]) + step_mm).tolist()
    ground = Ground(*table.spec.size_mm)
    others = [one for one in table.pieces if one.id != piece.id and not one.z_mm]
    for one in others:
        ground.take(footprint(one.shape, one.x_mm, one.y_mm, one.heading_deg))
    for outline in (
        *(one.footprint_mm for one in table.terrain),
        *(one.card_mm[:, :2] for one in table.markers),
        *(one.footprint_mm for one in table.rulers),
        *(one.outline_mm for one in table.props),
    ):
        ground.take(outline)
    return ground.free(footprint(piece.shape, x, y, piece.heading_deg), 3)


def whole(
    name: str, spec: Spec, facts: Sequence[dict[str, Any]], moved: Sequence[dict[str, object]]
) -> dict[str, object]:
    """The truth of a table by the facts of its views."""
    views = [found["image"] for found in facts]
    pieces = []
    for k, piece in enumerate(facts[0]["pieces"]):
        seen = [found["pieces"][k]["visible_rim"] for found in facts]
        pieces.append({**piece, "visible_rim": seen, "best_visible_rim": max(seen)})
    moves = [{**one, "after": views[-2], "before": views[-1]} for one in moved]
    return {
        "table": name, "set": "own", "views": views, "layout": spec.layout,
        "pieces": pieces, "moved": moves,
    }  # fmt: skip
