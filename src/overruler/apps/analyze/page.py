"""The page of a film: one file with everything in it, which asks no server for anything."""

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from overruler.apps.analyze.companions import NO_COMPANIONS, Companions
from overruler.apps.analyze.merge import Data, FilmResults
from overruler.apps.analyze.remarks import remarks_on
from overruler.apps.rulings import side_numbers
from overruler.picture.piece_names import piece_label
from overruler.picture.raster import font_face_css
from overruler.rules import matrix
from overruler.scene import Piece, Scene

PAGE_TEMPLATE = Path(__file__).with_name("page.html")
"""The page with placeholders for the film's name, the font, its style, its script and the data."""
PAGE_PARTS = {"style": "page.css", "script": "page.js", "clip": "page_clip.js"}
"""Files that stand in the page, by the names of their placeholders."""
MAX_PAIRS = 1300
"""Largest number of pairs whose distances are included: more make the page slow to open."""
MAX_CONTACTS = 1000
"""Largest number of contacts that are included."""
MAX_RULINGS = 400
"""Largest number of the last rest's rulings that are included."""
_STAY_KEYS = ("from_s", "to_s", "x_mm", "y_mm", "sigma_mm")
DEFAULT_BOARD = {"width_mm": 1000, "height_mm": 1000}
"""Board of a film without a rest."""


def render_page(
    film: FilmResults,
    rulings: Sequence[Data] | None,
    too_long: Sequence[Data] | None,
    contacts: Sequence[Data] = (),
    turns: Sequence[Data] = (),
    beside: Companions = NO_COMPANIONS,
) -> Iterator[str]:
    """Yield the page's text in parts: the pictures alone are larger than all the rest."""
    last_scene = film.rests[-1]["scene"] if film.rests else {"board": DEFAULT_BOARD}
    data = {
        "name": film.name,
        "unit": film.unit,
        "length_s": round(film.read_to_s, 2),
        "board": last_scene["board"],
        "pieces": _pieces_json(film),
        "films": beside.films,
        "moves": [_move_json(move) for move in film.moves],
        "clips": beside.clips,
        "terrain": last_scene.get("terrain", []),
        "problems": [*film.problems, *remarks_on(film)],
        "rulings": _last_rulings(rulings, _sides(film)),
        "contacts": [_round_floats(row) for row in contacts[:MAX_CONTACTS]],
        "turns": [_round_floats(row) for row in turns] if len(turns) > 1 else [],
        "allowances": [_round_floats(row) for row in too_long] if too_long is not None else None,
    }
    page = PAGE_TEMPLATE.read_text(encoding="utf-8")
    for placeholder, file in PAGE_PARTS.items():
        text = PAGE_TEMPLATE.with_name(file).read_text(encoding="utf-8")
        page = page.replace(f"{{{{{placeholder}}}}}", text)
    head, tail = page.split("{{data}}")
    yield head.replace("{{name}}", escape(film.name)).replace("{{font}}", font_face_css())
    yield _encode_json(data)[:-1] + ',"rests":['
    for number, rest in enumerate(film.rests):
        comma = "," if number else ""
        yield comma + _encode_json(_rest_json(rest))
    yield "]}" + tail


def _encode_json(data: Data) -> str:
    """JSON that may stand in a script element."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("</", "<\\/")


def _pieces_json(film: FilmResults) -> list[Data]:
    """Each piece with its stays, what it is called and whose it is."""
    known = _last_pieces(film)
    sides = _sides(film)
    rows = []
    for name in sorted(film.bases):
        stays = [[round(stay[key], 2) for key in _STAY_KEYS] for stay in film.stays[name]]
        row: Data = {"id": name, "label": name, "base": film.bases[name], "stays": stays}
        if name in known:
            piece = known[name]
            row |= {"label": piece_label(piece), "unit": piece.unit, "player": piece.player}
        rows.append(row | {"side": sides.get(name)})
    return rows


def _last_pieces(film: FilmResults) -> dict[str, Piece]:
    """Each piece as the last rest that shows it has it."""
    pieces: dict[str, Piece] = {}
    for rest in film.rests:
        for piece in Scene.from_json(rest["scene"]).pieces:
            pieces[piece.id] = piece
    return pieces


def _sides(film: FilmResults) -> dict[str, int]:
    """The side that each piece of the last rest is on."""
    if not film.rests:
        return {}
    return side_numbers(Scene.from_json(film.rests[-1]["scene"]).pieces)


def _move_json(move: Data) -> Data:
    row = {key: value for key, value in move.items() if key not in ("trail", "way_mm")}
    trail = [[round(value, 2) for value in spot] for spot in move["trail"]]
    way = [[round(value, 1) for value in corner] for corner in move["way_mm"]]
    return _round_floats(row) | {"trail": trail, "way": way}


def _round_floats(row: Data) -> Data:
    return {
        key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()
    }


def _rest_json(rest: Data) -> Data:
    """A rest with its distances and 1 σ of each, in mm, in the order of the upper triangle."""
    distances = matrix(Scene.from_json(rest["scene"]))
    pairs = np.triu_indices(len(distances.ids), 1)
    data: Data = {
        "time_s": round(rest["time_s"], 2),
        "still": str(rest["still"]),
        "ids": list(distances.ids),
    }
    if len(pairs[0]) <= MAX_PAIRS:
        data["mm"] = np.round(distances.distance_mm[pairs], 1).tolist()
        data["sigma"] = np.round(distances.sigma_mm[pairs], 2).tolist()
    return data


def _last_rulings(
    rulings: Sequence[Data] | None, sides: Mapping[str, int]
) -> list[list[Any]] | None:
    """The last rest's rulings between sides, the closest pair first.

    Each is: from, to, range, probability, since when, distance.
    """
    if rulings is None:
        return None
    last_s = max((row["time_s"] for row in rulings), default=0.0)
    last = [row for row in rulings if row["time_s"] == last_s and row["range"] is not None]
    rows = [row for row in last if sides.get(row["from"]) != sides.get(row["to"])]
    rows.sort(key=lambda row: row["distance_mm"])
    return [_ruling_json(row) for row in rows[:MAX_RULINGS]]


def _ruling_json(row: Data) -> list[Any]:
    probability = round(row["probability"], 3)
    since_s = round(row["since_s"], 1)
    distance_mm = round(row["distance_mm"], 1)
    return [row["from"], row["to"], row["range"], probability, since_s, distance_mm]
