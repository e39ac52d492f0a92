"""Turns guessed from who moves and when, put right by a person, and told; pairs that may touch."""

from itertools import pairwise
from math import erf, sqrt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.apps.analyze import tables, turns
from overruler.apps.analyze.film_rulings import find_contacts
from overruler.apps.analyze.merge import FilmResults
from overruler.errors import BadInput


def move(piece: str, start_s: float) -> dict[str, Any]:
    return {
        "piece": piece,
        "start_s": start_s,
        "end_s": start_s + 2.0,
        "path_mm": 152.4,
        "way_seen": True,
        "name_probability": 1.0,
        "perhaps": "",
    }


def film(*moves: tuple[str, float], players: bool = True) -> FilmResults:
    """Red's r1 and r2, blue's b1."""
    owners = {"r1": "red", "r2": "red", "b1": "blue"} if players else {}
    pieces = [{"id": name, "player": owners.get(name)} for name in ("r1", "r2", "b1")]
    rests = [{"time_s": 0.0, "scene": {"pieces": pieces}}]
    return FilmResults("game", moves=[move(*one) for one in moves], rests=rests, read_to_s=500.0)


def test_a_turn_ends_where_another_player_moves_and_after_a_long_pause() -> None:
    told = film(("r1", 5.0), ("r2", 12.0), ("b1", 20.0), ("b1", 27.0), ("b1", 120.0), ("r1", 128.0))
    found = turns.guess_turns(told)
    assert [(turn.name, turn.from_s, turn.player, turn.why) for turn in found] == [
        ("1", 0.0, "red", "the start"),
        ("2", 20.0, "blue", turns.WHY_ANOTHER_PLAYER),
        ("3", 120.0, "blue", turns.WHY_LONG_PAUSE),
        ("4", 128.0, "red", turns.WHY_ANOTHER_PLAYER),
    ]
    assert [row["moves"] for row in turns.turn_rows(told, found)] == [2, 2, 1, 1]


def test_without_players_only_pauses_tell() -> None:
    told = film(("r1", 5.0), ("b1", 12.0), ("r2", 100.0), ("b1", 107.0), players=False)
    assert [(turn.from_s, turn.player) for turn in turns.guess_turns(told)] == [
        (0.0, ""),
        (100.0, ""),
    ]


def test_a_film_in_which_nothing_moves_is_one_turn() -> None:
    told = film()
    assert turns.turn_rows(told, turns.guess_turns(told)) == [
        {"turn": "1", "from_s": 0.0, "to_s": 500.0, "player": "", "moves": 0, "why": "the start"}
    ]


@given(st.lists(st.tuples(st.sampled_from(["r1", "r2", "b1"]), st.floats(0, 480)), max_size=12))
def test_turns_share_out_the_whole_film(moves: list[tuple[str, float]]) -> None:
    told = film(*moves)
    rows = turns.turn_rows(told, turns.guess_turns(told))
    assert sum(row["moves"] for row in rows) == len(moves)
    assert rows[0]["from_s"] == 0.0
    assert rows[-1]["to_s"] == 500.0
    assert all(a["to_s"] == b["from_s"] for a, b in pairwise(rows))


def test_turns_that_a_person_has_put_right_are_read_back_and_told(tmp_path: Path) -> None:
    told = film(("r1", 5.0), ("b1", 20.0))
    path = tmp_path / "turns.csv"
    path.write_text(
        tables.encode_csv(turns.turn_rows(told, turns.guess_turns(told)), tables.TURN_COLUMNS)
    )
    assert [(turn.name, turn.from_s, turn.player) for turn in turns.read_turns(path)] == [
        ("1", 0.0, "red"),
        ("2", 20.0, "blue"),
    ]
    path.write_text("\ufefffrom_s,turn,player\r\n3,1,red\r\n18.5,2 <b>,blue\r\n", encoding="utf-8")
    text = tables.webvtt_chapters(told, turns.turn_rows(told, turns.read_turns(path)))
    assert [line for line in text.splitlines() if line and " --> " not in line] == [
        "WEBVTT",
        "Start",
        "Turn 1 (red): begins",
        "Turn 1 (red): r1 moves 152 mm",
        "Turn 2 &lt;b&gt; (blue): begins",
        "Turn 2 &lt;b&gt; (blue): b1 moves 152 mm",
    ]
    assert "00:00:18.500 --> 00:00:20.000\nTurn 2" in text


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "columns"),
        ("turn,to_s\n1,3\n", "columns"),
        ("turn,from_s\n", "no turn"),
        ("turn,from_s\n1,0\n2,soon\n", "line 3"),
        ("turn,from_s\n,0\n", "line 2"),
        ("turn,from_s\n1,nan\n", "line 2"),
        ("turn,from_s\n1,-4\n", "line 2"),
        ("turn,from_s\n1,5\n2,5\n", "'2' does not begin after"),
        (b"turn,from_s\n\xff,5\n", "UTF-8"),
    ],
)
def test_turns_that_make_no_sense_are_refused(
    text: str | bytes, wrong: str, tmp_path: Path
) -> None:
    path = tmp_path / "turns.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(BadInput, match=f"--turns: .*{wrong}"):
        turns.read_turns(path)


# --- contacts ---


def standing(gap_mm: float, variance_mm2: float | None) -> FilmResults:
    """Two discs of 27 mm, and a third far off."""
    pieces: list[dict[str, Any]] = [
        {"id": name, "base": {"shape": "circle", "diameter_mm": 27.0}, "x_mm": x, "y_mm": 100.0}
        for name, x in (("p01", 100.0), ("p02", 127.0 + gap_mm), ("p03", 400.0))
    ]
    for piece in pieces if variance_mm2 is not None else ():
        piece["covariance_mm2"] = [[variance_mm2, 0.0], [0.0, variance_mm2]]
    board = {"width_mm": 900.0, "height_mm": 900.0}
    scene = {"schema": "overruler/scene/1", "game": "legion", "board": board, "pieces": pieces}
    return FilmResults("game", rests=[{"time_s": 7.0, "scene": scene}])


@pytest.mark.parametrize("gap_mm", [-0.3, 0.0, 0.2, 0.5])
def test_contact_is_as_likely_as_that_the_gap_is_none(gap_mm: float) -> None:
    (row,) = find_contacts(standing(gap_mm, 0.04))
    sigma = sqrt(0.08)
    assert (row["time_s"], row["from"], row["to"]) == (7.0, "p01", "p02")
    assert row["distance_mm"] == pytest.approx(max(gap_mm, 0.0), abs=1e-9)
    assert row["probability"] == pytest.approx(0.5 * (1 - erf(gap_mm / sigma / sqrt(2))), abs=0.005)


def test_pairs_that_cannot_touch_are_no_contacts() -> None:
    assert find_contacts(standing(0.7, 0.04)) == []
    assert find_contacts(standing(0.01, None)) == []
    assert [row["probability"] for row in find_contacts(standing(0.0, None))] == [1.0]
