"""Presets: games as data, the program's and a user's own."""

import json
import re
from pathlib import Path

import pytest

from overruler.apps.cli import main
from overruler.apps.measure.options import MeasureOptions, load_options
from overruler.apps.settings.game_choice import choose_game, recorded_game
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.apps.web.quick_questions import games_json
from overruler.bases import Base
from overruler.board import Board
from overruler.errors import BadInput
from overruler.house_rules import HouseRules
from overruler.presets import Preset, load_preset, program_presets
from overruler.reading import Node
from overruler.referee import Referee
from overruler.rules import game_of
from overruler.scene import Scene, Table

OWN = """
schema = "overruler/game/1"
title = "Duels on a short ruler"
game = "bands"
unit = "in"
bases = [32, "60x35o"]
[ruler]
lines_in = [2, 5]
names = ["near", "far"]
"""

INCHES = """
schema = "overruler/game/1"
title = "Skirmishes"
game = "inches"
"""


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder with one preset, `duels`."""
    (tmp_path / "config.toml").write_text("")
    monkeypatch.setenv("OVERRULER_CONFIG", str(tmp_path / "config.toml"))
    folder = tmp_path / "games"
    folder.mkdir()
    (folder / "duels.toml").write_text(OWN)
    return folder


@pytest.mark.parametrize("name", program_presets())
def test_a_preset_s_defaults_are_fields_that_its_game_reads(name: str) -> None:
    preset = program_presets()[name]
    game_of(preset.game).check_defaults(Node(preset.to_json().get("defaults", {}), name))
    assert preset.game != "bands" or preset.ruler is not None


def options(game: str | None) -> MeasureOptions:
    return load_options(MeasureRequest(photo=Path("table.jpg"), marker_mm=60, game=game))


def test_a_preset_brings_its_bases_its_ruler_and_its_defaults() -> None:
    chosen = options("fleets_close_to_long")
    assert chosen.game == "bands"
    assert chosen.bases is not None
    assert Base.rectangle(43, 71) in chosen.bases
    scene = chosen.house.apply_to(Scene("bands", Table(900, 600), ()))
    assert scene.range_ruler is not None
    assert scene.range_ruler.names == ("close", "medium", "long")
    assert scene.unit == "mm"
    told = options("bands_8_to_96").house.apply_to(Scene("bands", Table(900, 600), ()))
    assert told.unit == "in"
    again = Scene.from_json(json.loads(json.dumps(told.to_json())))
    assert (again.state, again.ruler) == (told.state, told.ruler)


def test_a_record_holds_a_user_s_own_preset(own_folder: Path) -> None:
    """So that whoever repeats the measurement needs no file of the user's."""
    record = recorded_game("duels")
    own_folder.joinpath("duels.toml").unlink()
    assert record is not None
    chosen = options(record)
    assert (chosen.game, chosen.bases) == ("bands", (Base.circle(32), Base.oval(35, 60)))
    assert chosen.house.preset is not None
    assert chosen.house.preset.name == "duels"
    assert recorded_game("melee_1_chain_2") == "melee_1_chain_2"


def test_the_command_and_the_page_know_a_user_s_own(
    own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["games"]) == 0
    assert "duels" in capsys.readouterr().out
    assert main(["games", "duels"]) == 0
    assert "near to 2, far to 5 in" in capsys.readouterr().out
    assert "duels" in [game["name"] for game in games_json()]
    [shown] = [game for game in games_json() if game["name"] == "melee_3_chain_half"]
    assert {tap["label"]: tap.get("reach_in") for tap in shown["taps"]}["Within"] == 12


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OWN.replace('game = "bands"', 'game = "chess"'), "chess"),
        (
            OWN.replace("[2, 5]", "[5, 2]"),
            r"lines_in\[1\]: must be greater than the line before, 5, is 2",
        ),
        (OWN.replace("[2, 5]", "[2, 5e9]"), r"lines_in\[1\]: must be from .* mm, is 1.27e\+11"),
        (OWN.replace("[2, 5]", "[2, 5]\nsegments = 2"), "has both lines_in and segments"),
        (OWN.replace("60x35o", "60y35"), "is no base"),
        (OWN + "\n[more]\n", "unknown key"),
        (OWN.replace("bases", "basis"), r"basis: unknown key; known: .*; did you mean 'bases'\?"),
        (OWN.replace("lines_in", "lines_mm = [1]\nlines_in"), "give one of the two"),
        (OWN[: OWN.index("[ruler]")], "ruler: is missing: 'bands' has none of its own"),
        (OWN.replace("title", 'name = "other"\ntitle'), "name: is 'other', and the file's name is"),
        (INCHES + "[defaults.withn]", "defaults.withn: .* has no such question.*'within'"),
        (
            INCHES + "[defaults.within]\ndistance_inches = 7",
            "within.distance_inches: .*no such field",
        ),
        (INCHES + '[defaults.within]\ndistance_in = "7"', "within.distance_in: expected a number"),
        (INCHES + "[defaults.within]\nfrom = 7", "within.from: expected text"),
    ],
)
def test_what_is_wrong_with_a_preset_is_named(
    own_folder: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    (own_folder / "bad.toml").write_text(text)
    for command in (["config", "check"], ["games", "bad"]):
        assert main(command) == 2
        told = capsys.readouterr()
        assert "bad.toml: " in told.err
        assert re.search(said, told.err)


def test_a_broken_preset_leaves_the_others_in_use(
    own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (own_folder / "bad.toml").write_text(OWN + "[more]\n")
    assert main(["games"]) == 2
    told = capsys.readouterr()
    assert "duels" in told.out
    assert told.err.count("\n") == 1
    assert "bad.toml: more: unknown key" in told.err
    assert choose_game("duels").game == "bands"


def test_a_broken_preset_does_not_give_way_to_the_program_s(own_folder: Path) -> None:
    (own_folder / "melee_1_chain_2.toml").write_text(OWN + "[more]\n")
    with pytest.raises(BadInput, match="unknown key"):
        choose_game("melee_1_chain_2")


def test_a_preset_may_not_hide_a_game(tmp_path: Path) -> None:
    (tmp_path / "legion.toml").write_text(OWN)
    with pytest.raises(BadInput, match="is a game of the program"):
        load_preset(tmp_path / "legion.toml")
    with pytest.raises(BadInput, match="unknown name"):
        choose_game("nobody_s_game")


def test_a_referee_plays_a_preset_of_a_file(tmp_path: Path) -> None:
    """In Python too its game and its bases are the table's; another game beside it is an error."""
    path = tmp_path / "short.toml"
    path.write_text(OWN)
    own = Preset.load(path)
    assert own.name == "short"
    board = Board.free(60)
    referee = Referee(board, house=HouseRules(preset=own))
    assert (referee.game, referee.bases) == ("bands", own.bases)
    for spelled in ("bands", "short"):
        assert Referee(board, game=spelled, house=HouseRules(preset=own)).game == "bands"
    chosen = Referee(board, bases=[Base.circle(40)], house=HouseRules(preset=own))
    assert chosen.bases == [Base.circle(40)]
    with pytest.raises(
        BadInput, match="'legion', and the house rules' preset 'short' is of 'bands'"
    ):
        Referee(board, game="legion", house=HouseRules(preset=own))
    path.write_text(OWN.replace('"in"', '"cubits"'))
    with pytest.raises(BadInput, match=r"short\.toml: unit: "):
        Preset.load(path)
