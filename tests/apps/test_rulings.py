"""What is ruled on where nothing is asked: the opponents that stand closest."""

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.apps.rulings import (
    COHESION_MM,
    MAX_OPPONENT_PAIRS,
    closest_opponents,
    group_by_cohesion,
    rule_on_questions,
)
from overruler.bases import Base
from overruler.errors import BadInput, UnknownName
from overruler.scene import Piece, Scene, Table

BASE = Base.circle(27)


def row(*places_mm: float, players: str = "") -> list[Piece]:
    """Pieces along the x axis, with a player each where letters are given."""
    names = players or " " * len(places_mm)
    return [
        Piece(f"p{i:02}", BASE, x, 0, player=name.strip() or None)
        for i, (x, name) in enumerate(zip(places_mm, names, strict=True), 1)
    ]


def scene(pieces: list[Piece], game: str = "legion") -> Scene:
    return Scene(game, Table(2000, 900), tuple(pieces))


def pairs(pieces: list[Piece]) -> list[tuple[str, str]]:
    return [(a.id, b.id) for a, b in closest_opponents(scene(pieces))]


def test_enemies_are_closest_to_each_other_where_players_are_known() -> None:
    assert pairs(row(0, 40, 300, 340, players="aabb")) == [("p02", "p03")]


def test_a_piece_of_nobody_is_nobody_s_enemy() -> None:
    assert pairs(row(0, 40, 60, 300, players="aa b")) == [("p02", "p04")]


def test_of_unknown_players_groups_oppose_each_other() -> None:
    """Two squads and a loner: each pair of groups once, the closest first."""
    assert pairs(row(0, 60, 400, 460, 1200)) == [("p02", "p03"), ("p04", "p05"), ("p02", "p05")]


def test_what_moved_between_photos_is_ruled_on_by_nobody_unasked() -> None:
    pieces = row(0, 60, 400, 460, players="aabb")
    moved = {"moved": [{"id": "p02", "photo": 1, "x_mm": 90.0, "y_mm": 0.0}]}
    found = closest_opponents(replace(scene(pieces), extra=moved))
    assert [(a.id, b.id) for a, b in found] == [("p01", "p03")]


def test_one_group_has_no_opponent() -> None:
    assert pairs(row(0, 60, 120)) == []
    assert pairs(row(0)) == []
    assert pairs([]) == []


def test_only_a_handful_is_shown() -> None:
    assert len(pairs(row(*range(0, 3000, 300)))) == MAX_OPPONENT_PAIRS


@given(st.lists(st.floats(0, 2000), max_size=14, unique=True), st.randoms())
def test_groups_do_not_depend_on_the_order(places: list[float], random: Random) -> None:
    pieces = row(*places)
    shuffled = pieces[:]
    random.shuffle(shuffled)
    as_sets = [
        {frozenset(piece.id for piece in group) for group in group_by_cohesion(order)}
        for order in (pieces, shuffled)
    ]
    assert as_sets[0] == as_sets[1]


@given(st.lists(st.floats(0, 2000), min_size=1, max_size=14, unique=True))
def test_groups_part_exactly_where_the_gap_is_wide(places: list[float]) -> None:
    along = sorted(places)
    wide = sum(b - a - 27 > COHESION_MM for a, b in pairwise(along))
    assert len(group_by_cohesion(row(*places))) == wide + 1


def test_legion_rules_on_ranges_and_others_on_distances() -> None:
    pieces = row(0, 300)
    assert rule_on_questions(scene(pieces), ())[0].question["question"] == "range"
    assert rule_on_questions(scene(pieces, "positioning"), ())[0].distance_mm == pytest.approx(273)


def test_questions_take_the_place_of_the_defaults() -> None:
    asked = rule_on_questions(
        scene(row(0, 60, 120)), [{"question": "distance", "from": "p03", "to": "p01"}]
    )
    assert [verdict.pair for verdict in asked] == [("p03", "p01")]


def test_an_unknown_id_is_bad_input_that_names_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"p09.*p01, p02") as refused:
        rule_on_questions(scene(row(0, 60)), [{"question": "distance", "from": "p01", "to": "p09"}])
    assert isinstance(refused.value, BadInput)


@pytest.mark.parametrize(("count", "where"), [(1, "--ask: to:"), (2, "--ask 1: to:")])
def test_errors_name_the_option_of_a_question(count: int, where: str) -> None:
    questions = [{"question": "distance", "from": "p01"}] * count
    with pytest.raises(BadInput, match=f"^{where} is missing; ask, for example: distance p01 p02$"):
        rule_on_questions(scene(row(0, 60)), questions, "--ask")
