"""A scene and its rulings as SVG path data in the photo's pixels, for pages that know no geometry.

The camera and the shapes are those of the annotated photo. One unit is one pixel; (0, 0) is the
photo's upper left corner, as everywhere in `picture`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from overruler.apps.web.close_up import measured_line_json, round_px
from overruler.apps.web.ready_scenes import camera_view, names_in
from overruler.apps.web.several_photos import photo_number, with_photo_numbers
from overruler.bases import catalogue
from overruler.calibration import CalibrationRecord
from overruler.geometry.covariance import REACH_SIGMAS
from overruler.geometry.pose import Array
from overruler.picture.answer_style import AnswerStyle
from overruler.picture.drawable_ruling import DrawableRuling, drawable_ruling, style_of
from overruler.picture.painters import base_outline
from overruler.picture.shades import COLOURS, outline_path, shade_layers
from overruler.picture.svg import path_data
from overruler.picture.view import View, offset_outline
from overruler.report import problem_sentences
from overruler.rules import clause_text
from overruler.scene import Piece, Scene
from overruler.taught import taught_sentences
from overruler.units import SIGMAS_95, format_length, inches_from_mm
from overruler.verdict import Shade, Verdict

RING_POINTS = 360
"""Points of a range line."""
MARKS_PER_RING = 24
"""Places along a range line that are offered for its number."""
MARK_BORDER_SHARE = 0.02
"""Border of the photo that stays free of numbers, as a share of its longer side."""
ARC_REACH_WITHOUT_RULER_MM = 300.0
"""Length of an arc's edges in a game without a ruler."""


# --- the table ---


def table_json(scene: Scene, photo: int = 0) -> dict[str, Any]:
    """All of the table that is drawn before a question: the board, the pieces and the problems."""
    view = camera_view(scene, photo)
    names = names_in(scene)
    return {
        "game": scene.game,
        "unit": scene.unit,
        "preset": scene.state.get("preset"),
        "size_px": list(view.size_px),
        "board_mm": [scene.board.width_mm, scene.board.height_mm],
        "pieces": [
            {**_piece_json(scene, view, index), "name": names[piece.id]}
            for index, piece in enumerate(scene.pieces)
        ],
        "problems": [
            *(with_photo_numbers(text) for text in _problem_sentences(scene)),
            *taught_sentences(scene.extra),
        ],
        "bases": [base.to_json() | {"name": base.name} for base in catalogue(scene.game)],
        "bands": bool(range_lines_mm(scene)),
        "grid": scene.grid is not None,
    }


def _problem_sentences(scene: Scene) -> list[str]:
    """What is wrong with the photos of a scene."""
    shown = CalibrationRecord.from_json(scene.extra["calibration"]).problems
    by_photo = {
        photo_number(photo["file"]): CalibrationRecord.from_json(photo["calibration"]).problems
        for photo in scene.extra.get("photos", ())
    }
    return problem_sentences(shown, by_photo, scene.unit)


def _piece_json(scene: Scene, view: View, index: int) -> dict[str, Any]:
    piece = scene.pieces[index]
    shown: dict[str, Any] = {
        "id": piece.id,
        "base": piece.base.to_json() | {"name": piece.base.name},
        **_outline_json(view, piece),
        "place_mm": [round(piece.x_mm, 2), round(piece.y_mm, 2)],
        "heading_deg": round(piece.heading_deg, 2),
        "doubt_mm": round(SIGMAS_95 * position_sigma_mm(scene, index), 2),
        "player": piece.player,
        "unit": piece.unit,
        "leader": piece.leader,
        "stats": dict(piece.stats),
    }
    if piece.base.shape != "circle":
        shown["ahead_px"] = round_px(view.to_px(_point_ahead_mm(piece), piece.z_mm))
    for key in ("visible", "score", "heading_modulo_deg", "fitted"):
        if key in piece.extra:
            shown[key] = piece.extra[key]
    if shown.get("heading_modulo_deg"):
        shown["fronts"] = _possible_fronts(view, piece, shown["heading_modulo_deg"])
    if piece.reason_for_doubt:
        shown["doubt"] = dict(piece.reason_for_doubt)
    return shown


def _possible_fronts(view: View, piece: Piece, modulo_deg: float) -> list[dict[str, Any]]:
    """The headings that a piece may have, each with a place of the photo ahead of it."""
    fronts = []
    for number in range(round(360 / modulo_deg)):
        heading_deg = (piece.heading_deg + number * modulo_deg) % 360
        ahead_mm = _point_ahead_mm(replace(piece, heading_deg=heading_deg))
        at_px = round_px(view.to_px(ahead_mm, piece.z_mm))
        fronts.append({"heading_deg": round(heading_deg, 2), "at_px": at_px})
    return fronts


def _outline_json(view: View, piece: Piece) -> dict[str, Any]:
    """A base's outline, its centre and the largest distance between the two, in pixels."""
    edge = base_outline(view, piece)
    center = view.to_px([piece.x_mm, piece.y_mm], piece.z_mm)
    radii = np.linalg.norm(edge - center, axis=1)
    return {
        "d": path_data(edge, closed=True),
        "center_px": round_px(center),
        "reach_px": round(float(np.nanmax(radii, initial=0.0)), 2),
    }


def _point_ahead_mm(piece: Piece) -> tuple[float, float]:
    """A point of the board straight ahead of a piece, outside its base."""
    heading = math.radians(piece.heading_deg)
    distance = 0.8 * piece.base.length_mm
    x_mm = piece.x_mm + distance * math.cos(heading)
    return x_mm, piece.y_mm + distance * math.sin(heading)


def position_sigma_mm(scene: Scene, index: int) -> float:
    """1 σ of a piece's position along the long axis of its error ellipse; 0 without a covariance."""
    if not scene.covariance:
        return 0.0
    return scene.covariance.max_relative_shift_mm(None, index) / REACH_SIGMAS


# --- a ruling ---


def ruling_json(scene: Scene, verdict: Verdict, photo: int = 0) -> dict[str, Any]:
    """A ruling as `overruler ask` prints it and in words; drawn too, if it rests on a distance."""
    answer: dict[str, Any] = {
        "answer": verdict.to_json(),
        "sentence": verdict.sentence(),
        "headline": verdict.headline,
        "clauses": {name: clause_text(name) for name in verdict.rules},
    }
    if verdict.shades:
        answer["shades"] = shades_json(camera_view(scene, photo), verdict.shades)
        answer["look"] = look_json(style_of(verdict))
    if not (verdict.from_point_mm and verdict.to_point_mm):
        return answer
    ruling = drawable_ruling(scene, verdict)
    names = names_in(scene)
    is_distance = verdict.question.get("question") == "distance"
    words = _distance_words(scene, ruling) if is_distance else _ruling_words(ruling)
    if verdict.rests_on:
        words["detail"] = words["detail"].replace(f", {verdict.doubt_text}", "", 1)
        words["doubts"] = _named_doubts(verdict, names)
    words["names"] = [names.get(name, name) for name in words["between"]]
    return answer | {
        "words": words,
        "look": look_json(ruling.style),
        "drawing": measured_line_json(camera_view(scene, photo), ruling),
    }


def _named_doubts(verdict: Verdict, names: Mapping[str, str]) -> list[str]:
    """What the answer rests on, with the names of the pieces in place of their ids."""
    pairs = zip(verdict.doubt_texts, verdict.rests_on, strict=True)
    return [
        text.replace(reason["id"], names.get(reason["id"], reason["id"]), 1)
        for text, reason in pairs
    ]


def _ruling_words(ruling: DrawableRuling) -> dict[str, Any]:
    ids = [piece.id for piece in ruling.pieces]
    return {
        "headline": ruling.answer,
        "detail": ruling.detail,
        "tag": ruling.line_label,
        "between": ids,
    }


def _distance_words(scene: Scene, ruling: DrawableRuling) -> dict[str, Any]:
    """A bare distance, in the unit that the game is played in."""
    half_width_mm = SIGMAS_95 * ruling.sigma_mm
    text = format_length(ruling.distance_mm, half_width_mm, scene.unit)
    headline, _, accuracy = text.partition(" (")
    detail = f"{accuracy.rstrip(')')} sure" if accuracy else "exact"
    return _ruling_words(ruling) | {
        "headline": headline,
        "detail": f"{detail}, edge to edge",
        "tag": headline,
    }


def shades_json(view: View, shades: Sequence[Shade]) -> list[dict[str, Any]]:
    """Shaded ground: its fills from the back to the front, its outline and the words on it."""
    shown = []
    for number, shade in enumerate(shades):
        layers = [(outline_path(view, rings), opacity) for rings, opacity in shade_layers(shade)]
        words = [(text, view.to_px(place)) for text, place in shade.labels_mm]
        shown.append(
            {
                "name": shade.name,
                "colour": COLOURS[number % len(COLOURS)],
                "fills": [{"d": path, "opacity": opacity} for path, opacity in layers if path],
                "outline": outline_path(view, shade.polygons_mm),
                "words": [
                    {"text": text, "at_px": round_px(place)}
                    for text, place in words
                    if np.isfinite(place).all()
                ],
            }
        )
    return shown


def look_json(style: AnswerStyle) -> dict[str, Any]:
    return {
        "word": style.word,
        "colour": style.colour,
        "dash": list(style.dash),
        "icon": style.icon,
    }


# --- range bands and arcs ---


def range_lines_mm(scene: Scene) -> tuple[float, ...]:
    """Distances of the range lines round a base: the scene's ruler's, or else the game's."""
    ruler = scene.range_ruler
    return ruler.lines_mm if ruler else ()


def band_lines_json(
    scene: Scene, piece: Piece, lines_mm: Sequence[float], photo: int = 0
) -> list[dict[str, Any]]:
    """Range lines round a base, each with its name and the places where the name may stand."""
    view = camera_view(scene, photo)
    lines = []
    for line_mm in lines_mm:
        ring = range_ring_px(view, piece, line_mm)
        lines.append({"name": line_name(scene, line_mm), **_labelled_ring_json(view, ring)})
    return lines


def range_ring_px(view: View, piece: Piece, line_mm: float) -> Array:
    """A range line round a base as pixels (`RING_POINTS`, 2), not closed."""
    return view.to_px(offset_outline(piece.shape, line_mm, steps=RING_POINTS), piece.z_mm)


def line_name(scene: Scene, line_mm: float) -> str:
    """A line's name or number on the ruler; its length in inches where no band ends there."""
    ruler = scene.range_ruler
    label = ruler.line_label(line_mm) if ruler else None
    return label or f"{inches_from_mm(line_mm):g} in"


def _labelled_ring_json(view: View, ring: Array) -> dict[str, Any]:
    """A closed line (N, 2), and the places along it inside the picture for its name."""
    border = MARK_BORDER_SHARE * max(view.size_px)
    candidates = ring[:: max(1, len(ring) // MARKS_PER_RING)]
    marks = [place for place in candidates if view.contains_all(place[None], border)]
    closed = np.concatenate([ring, ring[:1]])
    return {"d": path_data(closed), "marks_px": round_px(np.array(marks))}


def arc_edge_paths(
    scene: Scene, piece: Piece, edges: Sequence[tuple[Array, Array]], photo: int = 0
) -> list[str]:
    """The edges of an arc, each (start, unit vector), drawn as far as the ruler reaches."""
    view = camera_view(scene, photo)
    ruler_mm = max(range_lines_mm(scene), default=ARC_REACH_WITHOUT_RULER_MM)
    length_mm = ruler_mm + 1.5 * max(piece.base.width_mm, 1.0)
    paths = []
    for start, direction in edges:
        end = np.asarray(start) + length_mm * np.asarray(direction)
        paths.append(path_data(view.line_px(start, end, piece.z_mm)))
    return paths
