"""Rulings on a film: the range of every pair at every rest, and the moves that were longer than allowed."""

from collections.abc import Iterator, Mapping, Sequence
from math import hypot, inf, sqrt

import numpy as np

from overruler.apps.analyze.merge import Data, FilmResults
from overruler.errors import BadInput
from overruler.games import facts_of
from overruler.geometry.gap_probability import normal_cdf
from overruler.rules import matrix
from overruler.scene import Scene
from overruler.units import MM_PER_INCH

Pair = tuple[str, str]
MAX_ALLOWANCE = 1e5
"""Largest allowance of a move, in the unit that it is given in."""


def rule_all_pairs(film: FilmResults) -> list[Data]:
    """Every pair at every rest: distance, range, its probability, and since when it has been that range."""
    rows: list[Data] = []
    since: dict[Pair, tuple[int | None, float]] = {}
    touched: dict[Pair, float] = {}
    previous_s = -inf
    for rest in film.rests:
        time_s = rest["time_s"]
        moved = {move["piece"] for move in film.moves if previous_s < move["end_s"] <= time_s}
        touched = {pair: share for pair, share in touched.items() if moved.isdisjoint(pair)}
        previous_s = time_s
        for row in _pair_rows(rest):
            pair = row["from"], row["to"]
            if facts_of(rest["scene"].get("game")).contact_lasts:
                row = _keep_range_zero(row, pair, touched)
            before = since.get(pair)
            if before is None or before[0] != row["range"]:
                since[pair] = row["range"], time_s
            rows.append(row | {"since_s": since[pair][1]})
    return rows


def _keep_range_zero(row: Data, pair: Pair, touched: dict[Pair, float]) -> Data:
    """Rule on a pair in a game where ships that touched stay at range 0 until one of them moves.

    `touched` holds the probability that each pair touched, and is updated. Later measurements
    of ships that stand still say nothing new of that.
    """
    if row["range"] == 0:
        touched[pair] = max(touched.get(pair, 0.0), row["probability"])
    if pair not in touched:
        return row
    return row | {"range": 0, "probability": touched[pair]}


def _pair_rows(rest: Data) -> Iterator[Data]:
    distances = matrix(Scene.from_json(rest["scene"]))
    for i, j in zip(*np.triu_indices(len(distances.ids), 1), strict=True):
        band = None
        share = None
        if distances.band is not None:
            band = int(distances.band[i, j])
            share = 1.0
            if distances.probability is not None:
                share = float(distances.probability[i, j, distances.ranges.index(band)])
        yield {
            "time_s": rest["time_s"],
            "from": distances.ids[i],
            "to": distances.ids[j],
            "distance_mm": float(distances.distance_mm[i, j]),
            "sigma_mm": float(distances.sigma_mm[i, j]),
            "range": band if band is None or band >= 0 else None,
            "probability": share,
        }


# --- allowances ---


def check_allowances(film: FilmResults, allowances_mm: Mapping[str, float]) -> list[Data]:
    """Every move of a piece with an allowance, with the probability that its path was longer."""
    rows = []
    for move in film.moves:
        allowance_mm = allowances_mm.get(move["piece"])
        if allowance_mm is None:
            continue
        row = {
            "piece": move["piece"],
            "start_s": move["start_s"],
            "end_s": move["end_s"],
            "path_mm": move["path_mm"],
            "allowance_mm": allowance_mm,
            "sigma_mm": move["path_sigma_mm"],
            "probability": _probability_longer(move, allowance_mm),
            "way_seen": move["way_seen"],
        }
        rows.append(row)
    return rows


def _probability_longer(move: Data, limit_mm: float) -> float:
    """The probability that a piece's way was longer than a limit: no way is shorter than the straight line."""
    straight_mm, sigma_mm = move["distance_mm"], move["sigma_mm"]
    straight = _probability_above(straight_mm, limit_mm, sigma_mm)
    if move["way_seen"]:
        return max(straight, _probability_above(move["path_mm"], limit_mm, move["path_sigma_mm"]))
    detour_mm = sqrt(max(move["path_sigma_mm"] ** 2 - sigma_mm**2, 0.0))
    if detour_mm == 0:
        return straight
    from scipy.special import owens_t

    # straight line plus detour, a normal and a half-normal variable, is skew-normal
    z = (limit_mm - straight_mm) / hypot(sigma_mm, detour_mm)
    shape = detour_mm / sigma_mm if sigma_mm else inf
    return float(normal_cdf(-z) + 2 * owens_t(z, shape))


def _probability_above(value: float, limit: float, sigma: float) -> float:
    """The probability that a true value lies above a limit, given its measured `value` and `sigma`."""
    if sigma <= 0:
        return float(value > limit)
    return normal_cdf((value - limit) / sigma)


def read_allowances(texts: Sequence[str]) -> dict[str, float]:
    """Read `p03=6in` or `p03=150mm` as millimetres by piece; `BadInput` names what is wrong."""
    allowances: dict[str, float] = {}
    for piece, length_mm in map(_parse_allowance, texts):
        if piece in allowances:
            raise BadInput(f"--allowance: {piece} has two allowances: give one")
        allowances[piece] = length_mm
    return allowances


def _parse_allowance(text: str) -> tuple[str, float]:
    piece, _, length = text.partition("=")
    length = length.strip()
    unit = next((unit for unit in ("in", "mm") if length.endswith(unit)), "")
    try:
        value = float(length.removesuffix(unit))
    except ValueError:
        value = 0.0
    if not piece or not unit or not 0 < value < MAX_ALLOWANCE:
        raise BadInput(
            f"--allowance: expected PIECE=LENGTH, p03=6in or p03=150mm say, found {text!r}"
        )
    return piece.strip(), value * (MM_PER_INCH if unit == "in" else 1.0)
