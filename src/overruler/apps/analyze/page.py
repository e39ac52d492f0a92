"""A film's page: one file with everything in it, to open in any browser, with no request to anywhere."""

import json
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from overruler.apps.analyze.merge import FilmResults
from overruler.picture.raster import font_face_css
from overruler.rules import matrix
from overruler.scene import Scene

Data = dict[str, Any]
PAGE_TEMPLATE = Path(__file__).with_name("page.html")
MAX_PAIRS = 1300
"""Pairs whose distances go along; more would make the page slow to open."""
MAX_CONTACTS = 1000


def render_page(
    film: FilmResults,
    rulings: Sequence[Data] | None,
    too_long: Sequence[Data] | None,
    contacts: Sequence[Data] = (),
    turns: Sequence[Data] = (),
) -> Iterator[str]:
    """The page's text, piece by piece: its pictures together are larger than all else that is known of a film."""
    told = {
        "name": film.name,
        "length_s": round(film.read_to_s, 2),
        "board": film.rests[-1]["scene"]["board"]
        if film.rests
        else {"width_mm": 1000, "height_mm": 1000},
        "pieces": [_piece_json(film, name) for name in sorted(film.bases)],
        "moves": [_move_json(move) for move in film.moves],
        "terrain": film.rests[-1]["scene"].get("terrain", []) if film.rests else [],
        "problems": [
            *film.problems,
            *(f"{note['time_s']:.1f} s: {note['text']}" for note in film.notes),
        ],
        "rulings": _last_rulings(rulings),
        "contacts": [_round_floats(row) for row in contacts[:MAX_CONTACTS]],
        "turns": [_round_floats(row) for row in turns] if len(turns) > 1 else [],
        "allowances": [_round_floats(row) for row in too_long] if too_long is not None else None,
    }
    before, after = PAGE_TEMPLATE.read_text(encoding="utf-8").split("{{data}}")
    yield before.replace("{{name}}", escape(film.name)).replace("{{font}}", font_face_css())
    yield _encode_json(told)[:-1] + ',"rests":['
    for k, rest in enumerate(film.rests):
        yield "," * bool(k) + _encode_json(_rest_json(rest))
    yield "]}" + after


def _encode_json(data: Data) -> str:
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("</", "<\\/")


def _piece_json(film: FilmResults, name: str) -> Data:
    stays = [
        [round(stay[key], 2) for key in ("from_s", "to_s", "x_mm", "y_mm", "sigma_mm")]
        for stay in film.stays[name]
    ]
    return {"id": name, "base": film.bases[name], "stays": stays}


def _move_json(move: Data) -> Data:
    trail = [[round(value, 2) for value in spot] for spot in move["trail"]]
    way = [[round(value, 1) for value in corner] for corner in move["way_mm"]]
    return _round_floats(
        {key: value for key, value in move.items() if key not in ("trail", "way_mm")}
    ) | {
        "trail": trail,
        "way": way,
    }


def _round_floats(row: Data) -> Data:
    return {
        key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()
    }


def _rest_json(rest: Data) -> Data:
    """A rest with its distances: each pair's in the order of the upper triangle, and 1 σ of each, in mm."""
    found = matrix(Scene.from_json(rest["scene"]))
    pairs = np.triu_indices(len(found.ids), 1)
    told: Data = {
        "time_s": round(rest["time_s"], 2),
        "still": str(rest["still"]),
        "ids": list(found.ids),
    }
    if len(pairs[0]) <= MAX_PAIRS:
        told["mm"] = np.round(found.distance_mm[pairs], 1).tolist()
        told["sigma"] = np.round(found.sigma_mm[pairs], 2).tolist()
    return told


def _last_rulings(rulings: Sequence[Data] | None) -> list[list[Any]] | None:
    """The last rest's rulings: from, to, range, probability, since when."""
    if rulings is None:
        return None
    last = max((row["time_s"] for row in rulings), default=0.0)
    rows = [row for row in rulings if row["time_s"] == last and row["range"] is not None]
    rows.sort(key=lambda row: row["distance_mm"])
    return [
        [
            row["from"],
            row["to"],
            row["range"],
            round(row["probability"], 3),
            round(row["since_s"], 1),
            round(row["distance_mm"], 1),
        ]
        for row in rows[:400]
    ]
