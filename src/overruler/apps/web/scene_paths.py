"""A scene as the page draws it: lines in the photo's own pixels, by the same camera and shapes as the annotated photo.

The page gets SVG path data and looks; it knows no geometry of the board. One unit is one pixel, (0, 0) the photo's
upper left corner, as everywhere in `picture`.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from overruler.bases import catalogue
from overruler.geometry.camera import Camera
from overruler.geometry.covariance import REACH_SIGMAS
from overruler.geometry.pose import Array, Pose
from overruler.picture.answer_style import AnswerStyle
from overruler.picture.drawable_ruling import (
    DrawableRuling,
    drawable_ruling,
    format_distance,
)
from overruler.picture.painters import base_outline
from overruler.picture.svg import path_data
from overruler.picture.view import View, offset_outline
from overruler.rules import clause_text
from overruler.scene import Piece, Scene
from overruler.units import inches_from_mm
from overruler.verdict import Verdict

RING_POINTS = 360
"""Points round a range line."""


def camera_view(scene: Scene) -> View:
    """The photo's camera as the scene has it."""
    seen = scene.extra["calibration"]
    pose = Pose(np.array(seen["rotation"]), np.array(seen["translation_mm"]))
    width, height = seen["size_px"]
    return View(
        Camera(np.array(seen["matrix"]), np.array(seen["distortion"]), pose), (width, height)
    )


# --- the table ---


def table_json(scene: Scene) -> dict[str, Any]:
    """Everything on the photo that does not depend on a question."""
    view = camera_view(scene)
    return {
        "game": scene.game,
        "size_px": list(view.size_px),
        "board_mm": [scene.board.width_mm, scene.board.height_mm],
        "pieces": [_piece_json(scene, view, index) for index in range(len(scene.pieces))],
        "problems": [problem["text"] for problem in scene.extra["calibration"].get("problems", [])],
        "bases": [base.to_json() | {"name": base.name} for base in catalogue(scene.game)],
        "bands": bool(range_lines_mm(scene)),
    }


def _piece_json(scene: Scene, view: View, index: int) -> dict[str, Any]:
    piece = scene.pieces[index]
    edge = base_outline(view, piece)
    center = view.to_px([piece.x_mm, piece.y_mm], piece.z_mm)
    shown: dict[str, Any] = {
        "id": piece.id,
        "base": piece.base.to_json() | {"name": piece.base.name},
        "d": path_data(edge, closed=True),
        "center_px": _round_px(center),
        "reach_px": _round_px(np.nanmax(np.linalg.norm(edge - center, axis=1), initial=0.0)),
        "place_mm": [round(piece.x_mm, 2), round(piece.y_mm, 2)],
        "heading_deg": round(piece.heading_deg, 2),
        "doubt_mm": round(1.96 * position_sigma_mm(scene, index), 2),
        "player": piece.player,
        "unit": piece.unit,
        "leader": piece.leader,
        "stats": dict(piece.stats),
    }
    if piece.base.shape != "circle":
        shown["ahead_px"] = _round_px(view.to_px(_point_ahead(piece), piece.z_mm))
    for key in ("visible", "score", "heading_modulo_deg", "fitted"):
        if key in piece.extra:
            shown[key] = piece.extra[key]
    return shown


def _point_ahead(piece: Piece) -> tuple[float, float]:
    """A point on the board straight ahead of a piece, outside its base."""
    turn = math.radians(piece.heading_deg)
    reach = 0.8 * piece.base.length_mm
    return piece.x_mm + reach * math.cos(turn), piece.y_mm + reach * math.sin(turn)


def position_sigma_mm(scene: Scene, index: int) -> float:
    """1 σ of a piece's place along the long axis of its doubt."""
    return (
        scene.covariance.max_relative_shift_mm(None, index) / REACH_SIGMAS
        if scene.covariance
        else 0.0
    )


# --- a ruling ---


def ruling_json(scene: Scene, verdict: Verdict) -> dict[str, Any]:
    """An answer as the contract has it, in words, and as lines on the photo where it rests on two places."""
    told = {
        "answer": verdict.to_json(),
        "sentence": verdict.sentence(),
        "headline": verdict.headline,
    }
    told["clauses"] = {name: clause_text(name) for name in verdict.rules}
    if not (verdict.from_point_mm and verdict.to_point_mm):
        return told
    shown = drawable_ruling(scene, verdict)
    words = (
        _distance_words(scene, shown)
        if verdict.question.get("question") == "distance"
        else _ruling_words(shown)
    )
    return told | {
        "words": words,
        "look": look_json(shown.style),
        "drawing": _measured_line_json(camera_view(scene), shown),
    }


def _ruling_words(shown: DrawableRuling) -> dict[str, Any]:
    between = [piece.id for piece in shown.pieces]
    headline = shown.headline.split(": ", 1)[-1] if between else shown.headline
    return {
        "headline": headline,
        "detail": shown.detail,
        "tag": shown.line_label,
        "between": between,
    }


def _distance_words(scene: Scene, shown: DrawableRuling) -> dict[str, Any]:
    """A bare distance, in the unit that the game is played in."""
    said = format_distance(shown.distance_mm, 1.96 * shown.sigma_mm, scene.game)
    headline, _, sure = said.partition(" (")
    detail = f"{sure.rstrip(')')} sure" if sure else "exact"
    return _ruling_words(shown) | {
        "headline": headline,
        "detail": f"{detail}, edge to edge",
        "tag": headline,
    }


def look_json(of: AnswerStyle) -> dict[str, Any]:
    return {"word": of.word, "colour": of.colour, "dash": list(of.dash), "icon": of.icon}


def _measured_line_json(view: View, shown: DrawableRuling) -> dict[str, Any]:
    line = view.line_px(shown.from_mm, shown.to_mm, shown.z_mm)
    reach = 1.96 * shown.sigma_mm * _line_direction(shown)
    doubt = view.line_px(shown.to_mm - reach, shown.to_mm + reach, shown.z_mm)
    return {
        "line": path_data(line),
        "ends_px": _round_px(line[[0, -1]]),
        "doubt": path_data(doubt),
        "px_per_mm": float(view.px_per_mm(shown.to_mm, shown.z_mm)),
    }


def _line_direction(shown: DrawableRuling) -> Array:
    way = shown.to_mm - shown.from_mm
    return np.asarray(way / max(float(np.hypot(*way)), 1e-9))


# --- range bands and arcs ---


def range_lines_mm(scene: Scene) -> tuple[float, ...]:
    """The range lines that a base has round it: the ruler's, or those of the game."""
    return scene.range_ruler.lines_mm if scene.range_ruler else ()


def band_lines_json(scene: Scene, piece: Piece, lines_mm: Sequence[float]) -> list[dict[str, Any]]:
    """Range lines round a base, each with its name and the places for it."""
    view, segment = camera_view(scene), scene.segment_mm
    return [
        {
            "name": _line_name(line_mm, segment),
            **_labelled_ring_json(view, _ring_px(view, piece, line_mm)),
        }
        for line_mm in lines_mm
    ]


def _ring_px(view: View, piece: Piece, line_mm: float) -> Array:
    return view.to_px(offset_outline(piece.shape, line_mm, steps=RING_POINTS), piece.z_mm)


def _line_name(line_mm: float, segment_mm: float | None) -> str:
    """Its number on the ruler, or else its length in inches."""
    number = line_mm / segment_mm if segment_mm else 0.0
    whole = number and abs(number - round(number)) < 1e-6
    return f"{number:.0f}" if whole else f"{inches_from_mm(line_mm):g} in"


def _labelled_ring_json(view: View, places: Array) -> dict[str, Any]:
    """A closed line, and the places along it where a number may stand in the picture."""
    border = 0.02 * max(view.size_px)
    marks = places[:: max(1, len(places) // 24)]
    shown = [place for place in marks if view.contains_all(place[None], border)]
    return {
        "d": path_data(np.concatenate([places, places[:1]])),
        "marks_px": _round_px(np.array(shown)),
    }


def arc_edge_paths(scene: Scene, piece: Piece, edges: Sequence[tuple[Array, Array]]) -> list[str]:
    """The outline of an arc, each edge (start, unit vector) as far as the ruler reaches."""
    view, reach = (
        camera_view(scene),
        max(range_lines_mm(scene), default=300.0) + 1.5 * max(piece.base.width_mm, 1.0),
    )
    return [
        path_data(view.line_px(start, np.asarray(start) + reach * np.asarray(way), piece.z_mm))
        for start, way in edges
    ]


def _round_px(values: Any) -> Any:
    return np.round(np.asarray(values, float), 2).tolist()
