"""What a caster tells beside the table: looks from a file, players, scores, a caption; and who may tell it."""

import base64
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from overruler.apps.web.guard import AccessPolicy
from overruler.apps.web.live.broadcast import Canvas, Dress, draw_show, show_boxes
from overruler.apps.web.live.graphics import Stage, draw_graphics
from overruler.apps.web.live.look import COLOUR_WORDS, TEAM_COLOURS, Look, LookFile, read_look
from overruler.apps.web.live.selection import Selection
from overruler.apps.web.live.show import MAX_PLAYERS, MAX_WORDS, Show, dress_players
from overruler.errors import BadInput
from tests.apps.web.desk import scene
from tests.apps.web.live_table import Table, air, served
from tests.reports import SIZE_PX

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
LOOK = """schema = "overruler/look/1"
plate = "#102030"
plate_opacity = 0.5
size = 1.25
logo = "club.png"

[players.red]
name = "Anna"
colour = "pink"
"""


@pytest.fixture
def look(tmp_path: Path) -> Path:
    (tmp_path / "club.png").write_bytes(PNG)
    path = tmp_path / "look.toml"
    path.write_text(LOOK, encoding="utf-8")
    return path


def test_a_look_is_read_with_its_logo_and_players(look: Path) -> None:
    found = read_look(look)
    assert (found.plate, found.plate_opacity, found.size) == ("#102030", 0.5, 1.25)
    assert found.players["red"].colour == COLOUR_WORDS["pink"]
    assert found.logo == "data:image/png;base64," + base64.b64encode(PNG).decode()
    drawn = draw_show(Canvas((1920, 1080)), Show(), Dress(found))
    assert found.logo in drawn


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('plate = "sky"', "plate: is no colour"),
        ("size = 9", "size: must be from 0.5 to 2"),
        ('font = "Arial"', "font: is no part of a look"),
        ("plat = 1", "plat: is no part of a look; known: .*; did you mean 'plate'"),
        (
            'players.red.color = "#ffffff"',
            "color: is no part of a player's look; .* did you mean 'colour'",
        ),
        ('logo = "missing.png"', "cannot be read"),
        ('logo = "look.toml"', "must be a PNG or JPEG"),
        ('logo = "/dev/zero"', "is a device"),
        ("size = ", "not TOML"),
    ],
)
def test_a_wrong_look_is_told_with_its_place(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "look.toml"
    path.write_text(f'schema = "overruler/look/1"\n{line}\n', encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        read_look(path)


def test_an_edited_look_counts_at_once_and_a_wrong_one_leaves_the_last(look: Path) -> None:
    file = LookFile(look)
    assert file.current().plate == "#102030"
    look.write_text(LOOK.replace("#102030", "#aabbccd"), encoding="utf-8")
    assert file.current().plate == "#102030"
    assert "no colour" in file.problem
    look.write_text(LOOK.replace("#102030", "#abcdef") + "\n", encoding="utf-8")
    assert file.current().plate == "#abcdef"
    assert not file.problem


def test_players_are_dressed_as_told_else_by_their_file_their_ring_or_their_name() -> None:
    show = Show().with_player("Ben", "Ben Ohm", "#123456").with_player("red", None, None)
    signs = {"Cleo": "green"}
    found = dress_players(Look(), show, ["Ben", "Cleo", "dark blue", "Dora", "Emil"], signs)
    assert found["Ben"].name == "Ben Ohm"
    assert found["Ben"].colour == "#123456"
    assert found["Cleo"].colour == COLOUR_WORDS["green"]
    assert found["dark blue"].colour == COLOUR_WORDS["blue"]
    assert [found[name].colour for name in ("Dora", "Emil")] == list(TEAM_COLOURS[:2])


@settings(max_examples=20)
@given(st.text(max_size=MAX_WORDS), st.text(max_size=12))
@example("\x00 <b>", "\x1b")
def test_whatever_is_told_is_drawn_as_words(name: str, score: str) -> None:
    show = Show().with_score("a", score or "0").with_player("a", name, None)
    dress = Dress(players=dress_players(Look(), show, ["a"], {}))
    drawn = draw_show(Canvas((1280, 720)), show, dress)
    names = {part.tag for part in ElementTree.fromstring(f"<svg>{drawn}</svg>").iter()}
    assert names <= {"svg", "g", "rect", "text"}


def test_a_score_leaves_with_its_player_and_too_much_is_refused() -> None:
    show = Show()
    for number in range(MAX_PLAYERS):
        show = show.with_score(f"p{number}", "1")
    with pytest.raises(BadInput, match="one too many"):
        show.with_score("another", "1")
    assert list(show.with_score("p0", "").scores) == [f"p{k}" for k in range(1, MAX_PLAYERS)]
    with pytest.raises(BadInput, match="more than 60"):
        show.with_round("x" * 61)


@pytest.fixture(scope="module")
def locked() -> Iterator[str]:
    door = AccessPolicy(frozenset({"localhost"}), "k7Hq-3vXbT_9sLmN2pRw8A")
    with served(air(Table(), door, "overlay-key-of-twenty-letters")) as (address, _):
        yield address


@pytest.mark.parametrize("action", ["score?player=a&score=1", "round?text=2", "caption", "replay"])
def test_the_show_is_told_by_those_with_the_key_alone(locked: str, action: str) -> None:
    for key in ("", "&key=overlay-key-of-twenty-letters"):
        asked = urllib.request.Request(
            f"{locked}/api/live/do/{action}{'' if '?' in action else '?'}{key}", method="POST"
        )
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked)
        with refused.value as answer:
            assert answer.code == 401


def test_no_number_of_the_ruler_stands_under_the_scoreboard() -> None:
    places = [(150, 580), (450, 570), (620, 590), (760, 560), (480, 300)]  # most at the far edge
    found = scene()
    pieces = [
        replace(piece, x_mm=x, y_mm=y) for piece, (x, y) in zip(found.pieces, places, strict=True)
    ]
    found, names = replace(found, pieces=tuple(pieces)), frozenset(piece.id for piece in pieces)
    show = Show(scores={"red": "2", "blue": "1"}, round="Round 2", caption=("Final", "Anna"))
    count = 0
    for other in sorted(names - {"p01"}):
        pair = ("p01", other)
        lines = draw_graphics(found, Selection(pair=pair), names, Stage(show)).layers["lines"]
        for x, y in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>\d</text>', lines):
            count += 1
            place = np.array([float(x), float(y)])
            for center, size in show_boxes(Canvas(SIZE_PX), show, Dress()):
                assert (np.abs(place - center) > size / 2).any(), pair
    assert count > 10
