"""What the rules say of a film: who was in which range of whom, since when, and which moves were too long."""

from collections.abc import Mapping, Sequence
from math import erf, inf, sqrt
from typing import Any

import numpy as np

from overruler.apps.analyze.merge import FilmResults
from overruler.errors import BadInput
from overruler.games import facts_of
from overruler.rules import matrix
from overruler.scene import Scene
from overruler.units import MM_PER_INCH

Data = dict[str, Any]
Pair = tuple[str, str]


def rule_all_pairs(film: FilmResults) -> list[Data]:
    """Every pair at every rest: distance, range and its probability, and since when it has been that range."""
    rows: list[Data] = []
    since: dict[Pair, tuple[int | None, float]] = {}
    touched: dict[Pair, float] = {}
    before_s = -inf
    for rest in film.rests:
        gone = {move["piece"] for move in film.moves if before_s < move["end_s"] <= rest["time_s"]}
        touched = {pair: chance for pair, chance in touched.items() if gone.isdisjoint(pair)}
        before_s = rest["time_s"]
        for row in _pair_rows(rest):
            pair = row["from"], row["to"]
            if facts_of(rest["scene"].get("game")).contact_lasts:
                row = _keep_range_zero(row, pair, touched)
            before = since.get(pair)
            if before is None or before[0] != row["range"]:
                since[pair] = row["range"], rest["time_s"]
            rows.append(row | {"since_s": since[pair][1]})
    return rows


def _keep_range_zero(row: Data, pair: Pair, touched: dict[Pair, float]) -> Data:
    """A pair's ruling in a game where ships that touched stay at range 0 until one of them moves.

    `touched` has those pairs and how likely each touched; it is kept up. Later measures of ships that stand still say
    nothing new of that.
    """
    if row["range"] == 0:
        touched[pair] = max(touched.get(pair, 0.0), row["probability"])
    return row | {"range": 0, "probability": touched[pair]} if pair in touched else row


def _pair_rows(rest: Data) -> list[Data]:
    found = matrix(Scene.from_json(rest["scene"]))
    rows = []
    for i, j in zip(*np.triu_indices(len(found.ids), 1), strict=True):
        band = int(found.band[i, j]) if found.band is not None else None
        share = None
        if band is not None:
            share = (
                1.0
                if found.probability is None
                else float(found.probability[i, j, found.ranges.index(band)])
            )
        rows.append(
            {
                "time_s": rest["time_s"],
                "from": found.ids[i],
                "to": found.ids[j],
                "distance_mm": float(found.distance_mm[i, j]),
                "sigma_mm": float(found.sigma_mm[i, j]),
                "range": band if band is None or band >= 0 else None,
                "probability": share,
            }
        )
    return rows


def check_allowances(film: FilmResults, allowances_mm: Mapping[str, float]) -> list[Data]:
    """Every move of a piece that has an allowance, with the probability that its path was longer."""
    return [
        {
            "piece": move["piece"],
            "start_s": move["start_s"],
            "end_s": move["end_s"],
            "path_mm": move["path_mm"],
            "allowance_mm": allowances_mm[move["piece"]],
            "sigma_mm": move["path_sigma_mm"],
            "probability": _probability_above(
                move["path_mm"], allowances_mm[move["piece"]], move["path_sigma_mm"]
            ),
        }
        for move in film.moves
        if move["piece"] in allowances_mm
    ]


def _probability_above(value: float, limit: float, sigma: float) -> float:
    """The probability that what was measured as `value` lies above a limit."""
    if sigma <= 0:
        return float(value > limit)
    return 0.5 * (1 + erf((value - limit) / sigma / sqrt(2)))


def read_allowances(texts: Sequence[str]) -> dict[str, float]:
    """`p03=6in` or `p03=150mm` as millimetres by piece; `BadInput` names what is wrong."""
    found = {}
    for text in texts:
        piece, _, length = text.partition("=")
        unit = next((unit for unit in ("in", "mm") if length.strip().endswith(unit)), "")
        try:
            value = float(length.strip().removesuffix(unit))
        except ValueError:
            value = 0.0
        if not piece or not unit or not 0 < value < 1e5:
            raise BadInput(
                f"--allowance: expected PIECE=LENGTH, p03=6in or p03=150mm say, found {text!r}"
            )
        found[piece.strip()] = value * (MM_PER_INCH if unit == "in" else 1.0)
    return found
