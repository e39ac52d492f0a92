"""What would change an answer, proved by doing it: the move is made and the question asked again."""

import math
from functools import partial
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from overruler.rules import ask
from overruler.scene import Scene
from overruler.verdict import Change, Verdict
from tests.rules.scenes import scene_of

scene = partial(scene_of, game="legion", board_mm=(1800, 900))
SEGMENT_MM = 152.4
SHORT_MM = 1e-4
"""A move that is so much shorter changes nothing."""

places = st.tuples(st.integers(-500, 500), st.integers(-500, 500))
discs = st.builds(
    lambda d: {"shape": "circle", "diameter_mm": d}, st.sampled_from([25, 27, 50, 70])
)
others = st.builds(
    lambda shape, width, length: {"shape": shape, "width_mm": width, "length_mm": length},
    st.sampled_from(["oval", "rectangle"]),
    st.integers(20, 80),
    st.integers(20, 130),
)
QUESTIONS: list[dict[str, Any]] = [
    {"question": "range"},
    {"question": "at", "range": [2]},
    {"question": "at", "range": [1, 3]},
    {"question": "beyond", "range": [2]},
]


def piece(
    name: str, unit: str, base: dict[str, Any], place: tuple[float, float], heading: int = 0
) -> dict[str, Any]:
    return {
        "id": name,
        "unit": unit,
        "base": base,
        "x_mm": place[0],
        "y_mm": place[1],
        "heading_deg": heading,
    }


def after(
    pieces: list[dict[str, Any]], unit: str, change: Change, more_mm: float
) -> list[dict[str, Any]]:
    """The pieces once a unit has made a move, and some more of it."""
    length = change.move_mm + more_mm
    x, y = (length * part for part in change.direction)
    return [
        p | {"x_mm": p["x_mm"] + x, "y_mm": p["y_mm"] + y} if p["unit"] == unit else p
        for p in pieces
    ]


def bodies(base: st.SearchStrategy[dict[str, Any]], most: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.tuples(base, places, st.integers(0, 180)), min_size=1, max_size=most)


def table(a: list[Any], b: list[Any]) -> list[dict[str, Any]]:
    sides = [("a", a), ("b", b)]
    return [piece(f"{unit}{k}", unit, *one) for unit, side in sides for k, one in enumerate(side)]


def prove(a: list[Any], b: list[Any], question: dict[str, Any], turn: float) -> None:
    """Every move that is told changes the answer as told, and nothing shorter does: neither of it nor another way."""
    pieces, question = table(a, b), question | {"from": "a", "to": "b"}
    verdict = ask(scene(pieces), question)
    for change in verdict.changes:
        assert (
            ask(scene(after(pieces, "a", change, 0.0)), question).value
            == change.to
            != verdict.value
        )
        short = after(pieces, "a", change, -min(SHORT_MM, change.move_mm))
        assert ask(scene(short), question).value == verdict.value
    if verdict.changes and (least := min(change.move_mm for change in verdict.changes)) > SHORT_MM:
        aside = Change(None, least, (math.cos(turn), math.sin(turn)))
        assert ask(scene(after(pieces, "a", aside, -SHORT_MM)), question).value == verdict.value


@settings(max_examples=80)
@given(bodies(discs, 3), bodies(discs, 4), st.sampled_from(QUESTIONS), st.floats(0, 7))
def test_between_units_on_discs(
    a: list[Any], b: list[Any], question: dict[str, Any], turn: float
) -> None:
    prove(a, b, question, turn)


@settings(max_examples=60)
@given(
    bodies(discs | others, 1),
    bodies(discs | others, 1),
    st.sampled_from(QUESTIONS),
    st.floats(0, 7),
)
def test_between_two_pieces(
    a: list[Any], b: list[Any], question: dict[str, Any], turn: float
) -> None:
    prove(a, b, question, turn)


@settings(max_examples=6)
@given(bodies(discs | others, 2), bodies(others, 2), st.sampled_from(QUESTIONS), st.floats(0, 7))
def test_between_units_on_any_bases(
    a: list[Any], b: list[Any], question: dict[str, Any], turn: float
) -> None:
    prove(a, b, question, turn)


@settings(max_examples=60)
@given(discs | others, discs | others, places, places, st.integers(0, 180))
def test_of_one_pair_it_is_the_way_to_the_line(
    a: dict[str, Any], b: dict[str, Any], p: tuple[int, int], q: tuple[int, int], heading: int
) -> None:
    pieces = [piece("a", "a", a, p, heading), piece("b", "b", b, q)]
    verdict = ask(scene(pieces), {"question": "range", "from": "a", "to": "b"})
    distance = verdict.distance_mm or 0.0
    assume(distance > 0)
    lines = [SEGMENT_MM * k for k in range(1, 6)]
    wanted = [distance - line for line in lines if line < distance - 1e-6][-1:]
    wanted += [line - distance for line in lines if line >= distance - 1e-6][:1]
    assert [change.move_mm for change in verdict.changes] == pytest.approx(wanted, abs=3e-6)
    assert min(wanted) == pytest.approx(abs(verdict.margin_mm or 0.0), abs=1e-6)


def two(gap_mm: float) -> list[dict[str, Any]]:
    disc = {"shape": "circle", "diameter_mm": 20}
    return [piece("a0", "a", disc, (0, 0)), piece("b0", "b", disc, (20 + gap_mm, 0))]


def moves(verdict: Verdict) -> list[tuple[Any, float, tuple[float, float]]]:
    rounded = [
        (round(x, 6) + 0.0, round(y, 6) + 0.0)
        for x, y in (change.direction for change in verdict.changes)
    ]
    return [(c.to, round(c.move_mm, 5), d) for c, d in zip(verdict.changes, rounded, strict=True)]


def test_by_hand() -> None:
    question = {"question": "range", "from": "a", "to": "b"}
    assert moves(ask(scene(two(200)), question)) == [(1, 47.6, (1, 0)), (3, 104.8, (-1, 0))]
    assert moves(ask(scene(two(100)), question)) == [
        (2, 52.4, (-1, 0))
    ]  # nothing is nearer than range 1
    assert moves(ask(scene(two(800)), question)) == [
        (5, 38.0, (1, 0))
    ]  # nor farther than past the ruler
    assert moves(ask(scene(two(-5)), question)) == [(2, 157.4, (-1, 0))]  # 5 mm deep in each other
    assert moves(ask(scene(two(SEGMENT_MM)), question)) == [(2, 0.0, (-1, 0))]


def test_answers_say_it_as_json() -> None:
    answer = ask(
        scene(two(200)), {"question": "at", "from": "a", "to": "b", "range": [2]}
    ).to_json()
    assert [change["to"] for change in answer["changes"]] == [False, False]
    assert answer["changes"][0]["move_mm"] == pytest.approx(47.6)
    assert answer["changes"][0]["direction"] == pytest.approx([1, 0])


def test_terrain_stays_and_the_other_moves() -> None:
    wall = {
        "id": "wall",
        "footprint_mm": [[200, -50], [260, -50], [260, 50], [200, 50]],
        "top_z_mm": 10,
    }
    tower = wall | {"id": "tower", "footprint_mm": [[500, 0], [560, 0], [560, 60]]}
    pieces = two(0)[:1]
    there, back, between = (
        ask(scene(pieces, terrain=[wall, tower]), {"question": "range", "from": start, "to": end})
        for start, end in (("a", "wall"), ("wall", "a"), ("wall", "tower"))
    )
    assert moves(there) == moves(back) == [(1, 37.6, (1, 0)), (3, 114.8, (-1, 0))]
    assert not between.changes


def test_the_attacker_moves_in_an_attack() -> None:
    pieces = [p | {"leader": True, "player": p["unit"]} for p in two(200)]
    pieces.append(
        piece("a1", "a", {"shape": "circle", "diameter_mm": 20}, (100, 0)) | {"player": "a"}
    )
    verdict = ask(scene(pieces), {"question": "attack_range", "attacker": "a", "defender": "b"})
    assert moves(verdict) == [(1, 47.6, (1, 0)), (3, 104.8, (-1, 0))]


def ships(x_mm: float, **more: Any) -> Scene:
    base = {"shape": "rectangle", "width_mm": 40, "length_mm": 40}
    pieces = [piece("a", "a", base, (0, 0)), piece("b", "b", base, (x_mm, 3))]
    return scene(
        [{k: v for k, v in ship.items() if k != "unit"} for ship in pieces], game="xwing", **more
    )


def test_out_of_contact_and_of_an_overlap() -> None:
    question = {"question": "range", "from": "a", "to": "b"}
    assert moves(ask(ships(40), question)) == [(1, 0.0, (-1, 0))]
    assert moves(ask(ships(34), question)) == [(1, 6.0, (-1, 0))]
    assert moves(ask(ships(45), question)) == [(0, 5.0, (1, 0)), (2, 95.0, (-1, 0))]


def test_where_the_line_belongs_to_the_farther_band_it_is_reached_there() -> None:
    found = ships(145, state={"settings": {"nearer_band": False}})
    assert moves(ask(found, {"question": "range", "from": "a", "to": "b"})) == [
        (1, 5.0, (1, 0)),
        (3, 95.0, (-1, 0)),
    ]


def test_no_move_is_told_where_an_arc_moves_with_the_ship_or_a_pair_is_held() -> None:
    attack = {"question": "attack_range", "attacker": "a", "defender": "b", "arc": "front"}
    assert not ask(ships(90), attack).changes
    held = ships(90, state={"range0": [["a", "b"]]})
    assert not ask(held, {"question": "range", "from": "a", "to": "b"}).changes


STATS = {"size": 1, "tier": 1}
SHOOTER = {
    "ranged_weapon": {"range_in": 12, "piercing": 0, "injury": 0, "long_reload": False},
    "defence": 10,
}
INCHES: list[tuple[str, dict[str, Any], str]] = [
    ("positioning", {"question": "range", "from": "a0", "to": "b0", "range_in": 6}, "answer"),
    ("positioning", {"question": "within", "from": "a0", "to": "b0", "distance_in": 3.5}, "answer"),
    ("positioning", {"question": "b2b", "from": "a0", "to": "b0"}, "answer"),
    ("skirmish", {"question": "shot", "unit": "a0", "target": "b0"}, "in_range"),
]


@pytest.mark.parametrize(("game", "question", "key"), INCHES)
@pytest.mark.parametrize("place", [(60, 20), (150, -100), (700, 5)])
def test_in_inches_too(
    game: str, question: dict[str, Any], key: str, place: tuple[int, int]
) -> None:
    base = {"shape": "circle", "diameter_mm": 30}
    pieces = [
        piece("a0", "a", base, (0, 0)) | {"player": "x", "stats": STATS | SHOOTER},
        piece("b0", "b", base, place) | {"player": "y", "stats": STATS | SHOOTER},
    ]

    def asked(now: list[dict[str, Any]]) -> Verdict:
        return ask(scene(now, game=game), question)

    found = asked(pieces)
    (change,) = found.changes
    assert change.to is (not found.answer[key])
    assert asked(after(pieces, "a", change, 0.0)).answer[key] is change.to
    assert asked(after(pieces, "a", change, -SHORT_MM)).answer[key] is found.answer[key]
