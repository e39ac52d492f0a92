"""Rulings on a film: ranges and contacts of all pairs at every rest, and the moves that were longer than allowed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from math import hypot, inf, sqrt

import numpy as np

from overruler.apps.analyze.merge import Data, FilmResults
from overruler.errors import BadInput
from overruler.games import facts_of
from overruler.geometry.gap_probability import normal_cdf
from overruler.reading import Node
from overruler.rules import matrix
from overruler.rules.contact import Contact
from overruler.rules.measure import between
from overruler.scene import Scene
from overruler.units import MM_PER_INCH

Pair = tuple[str, str]
MAX_ALLOWANCE = 1e5
"""Largest allowance of a move, in the unit that it is given in."""
MIN_CONTACT_PROBABILITY = 0.025
"""Least probability of a contact that is listed: below, the 95 % interval of the gap does not reach 0."""
MAX_GAP_SIGMAS = 8.0
"""Pairs with a larger gap, in its σ, are not examined."""


def rule_all_pairs(film: FilmResults) -> list[Data]:
    """Every pair at every rest: distance, range, its probability, and since when it has been that range."""
    rows: list[Data] = []
    since: dict[Pair, tuple[int | None, float]] = {}
    touched: dict[Pair, float] = {}
    for rest, moves, names in _rests_with_moves(film):
        time_s = rest["time_s"]
        moved = {move["piece"] for move in moves}
        touched = {pair: share for pair, share in touched.items() if moved.isdisjoint(pair)}
        for row in _pair_rows(rest, names):
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


class Names:
    """Who may be who, by the moves so far: pieces that look alike may have exchanged their names."""

    def __init__(self) -> None:
        self._others: dict[str, str] = {}
        self._right: dict[str, float] = {}

    def add(self, moves: Iterable[Data]) -> None:
        """Take in what happened next."""
        for move in moves:
            if move["name_probability"] < 1:
                name = move["piece"]
                self._others[name] = move["perhaps"]
                self._right[name] = self._right.get(name, 1.0) * move["name_probability"]

    def places_of(self, first: str, second: str) -> list[tuple[str, str, float]]:
        """The names under which two pieces may have been measured, with the probability of each."""
        if second == self._others.get(first) or first == self._others.get(second):
            return [(first, second, 1.0)]  # exchanged or not, they are these two
        return [
            (one, other, share * others_share)
            for (one, share), (other, others_share) in product(self._of(first), self._of(second))
            if one != other
        ]

    def _of(self, name: str) -> list[tuple[str, float]]:
        right = self._right.get(name, 1.0)
        return [(name, right), (self._others[name], 1 - right)] if right < 1 else [(name, 1.0)]


def _rests_with_moves(film: FilmResults) -> Iterator[tuple[Data, list[Data], Names]]:
    """Each rest with the moves since the last one, and who may be who then."""
    names, previous_s = Names(), -inf
    for rest in film.rests:
        moves = [move for move in film.moves if previous_s < move["end_s"] <= rest["time_s"]]
        names.add(moves)
        previous_s = rest["time_s"]
        yield rest, moves, names


def _pair_rows(rest: Data, names: Names) -> Iterator[Data]:
    distances = matrix(Scene.from_json(rest["scene"]))
    number = {name: k for k, name in enumerate(distances.ids)}

    def probability(one: str, other: str, band: int) -> float:
        if one not in number or other not in number:
            return 0.0
        at = number[one], number[other]
        if distances.probability is None:
            return float(distances.band is not None and distances.band[at] == band)
        return float(distances.probability[*at, distances.ranges.index(band)])

    for i, j in zip(*np.triu_indices(len(distances.ids), 1), strict=True):
        band = None
        share = None
        if distances.band is not None:
            band = int(distances.band[i, j])
            measured = names.places_of(distances.ids[i], distances.ids[j])
            share = sum(likely * probability(one, other, band) for one, other, likely in measured)
        yield {
            "time_s": rest["time_s"],
            "from": distances.ids[i],
            "to": distances.ids[j],
            "distance_mm": float(distances.distance_mm[i, j]),
            "sigma_mm": float(distances.sigma_mm[i, j]),
            "range": band if band is None or band >= 0 else None,
            "probability": share,
        }


# --- contacts ---


def find_contacts(film: FilmResults) -> list[Data]:
    """List each pair at each rest that may touch: its gap, 1 σ of it, and the probability of contact."""
    rows = []
    for rest, _, names in _rests_with_moves(film):
        for row in _contacts_in_scene(Scene.from_json(rest["scene"]), names):
            rows.append({"time_s": rest["time_s"], **row})
    return rows


def _contacts_in_scene(scene: Scene, names: Names) -> Iterator[Data]:
    distances = matrix(scene)
    known = set(distances.ids)
    for i, j in combinations(range(len(distances.ids)), 2):
        distance_mm = float(distances.distance_mm[i, j])
        sigma_mm = float(distances.sigma_mm[i, j])
        if distance_mm > MAX_GAP_SIGMAS * sigma_mm:
            continue
        first, second = distances.ids[i], distances.ids[j]
        probability = sum(
            likely * contact_probability(scene, one, other)
            for one, other, likely in names.places_of(first, second)
            if {one, other} <= known
        )
        if probability >= MIN_CONTACT_PROBABILITY:
            yield {
                "from": first,
                "to": second,
                "distance_mm": distance_mm,
                "sigma_mm": sigma_mm,
                "probability": probability,
            }


def contact_probability(scene: Scene, first: str, second: str) -> float:
    """The probability that two pieces touch: that there is no gap between their bases."""
    question = Node({"from": first, "to": second}, "question")
    contact = Contact(scene, between(scene, question).pairs, (0.0,))
    if contact.probabilities is None:
        return float(contact.answer)
    return contact.probabilities["true"]


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
