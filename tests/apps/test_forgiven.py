"""Names are taken as people spell them; what is no name is answered with the nearest one."""

import json
from pathlib import Path
from typing import Any

import pytest

from overruler.apps.cli import main
from overruler.apps.settings.game_choice import choose_game, recorded_game
from overruler.apps.settings.user_config import Config
from overruler.errors import BadInput
from overruler.games import GAMES, find_game
from overruler.rules import ask, game_of, read_question
from overruler.scene import Scene
from tests.rules.scenes import disc, scene_of


@pytest.mark.parametrize(
    ("spelled", "game"),
    [
        ("Legion", "legion"),
        ("X-Wing", "xwing"),
        ("tide-of-iron", "tide_of_iron"),
        ("Tide of Iron", "tide_of_iron"),
        ("TIDE_OF_IRON", "tide_of_iron"),
    ],
)
def test_a_game_is_known_however_it_is_spelled(
    spelled: str, game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert choose_game(spelled).game == recorded_game(spelled) == game
    config = tmp_path / "config.toml"
    config.write_text(f'[table]\ngame = "{spelled}"\n')
    assert Config.load(config).table["game"] == spelled
    for command in ("rules", "games"):
        assert main([command, spelled]) == 0
        assert capsys.readouterr().out.startswith(game_of(game).title)


def test_a_preset_is_known_however_it_is_spelled(capsys: pytest.CaptureFixture[str]) -> None:
    assert choose_game("Melee 1 Chain 2") == choose_game("melee_1_chain_2")
    assert recorded_game("melee-1-chain-2") == "melee_1_chain_2"


def test_no_two_games_are_spelled_alike() -> None:
    assert [find_game(name.upper()) for name in GAMES] == list(GAMES)
    assert find_game("legions") is None


def test_house_rules_know_the_game_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scene.json"
    path.write_text(json.dumps(scene("legion").to_json()))
    rule = ["--house-rule", "Legion.any_part_within=true"]
    assert main(["ask", str(path), "range a b", "--game", "LEGION", *rule]) == 0
    config = tmp_path / "config.toml"
    config.write_text("[rules.Legion]\nany_part_within = true\n")
    assert Config.load(config).rules == {"legion.any_part_within": True}


def scene(game: str) -> Scene:
    pieces = [disc("a", 100, 100), disc("b", 300, 100)]
    return scene_of(pieces, game=game)


def test_whom_an_attack_is_at_has_two_names() -> None:
    usual = {"question": "attack_range", "attacker": "a", "defender": "b"}
    other = {"question": "attack_range", "attacker": "a", "target": "b"}
    legion = scene("legion")
    assert ask(legion, usual).to_json() == ask(legion, other).to_json()
    in_words = read_question("legion", "attack_range a target=b", "question")
    assert ask(legion, in_words).to_json() == ask(legion, usual).to_json()
    with pytest.raises(BadInput, match="defender: is missing"):
        ask(legion, {"question": "attack_range", "attacker": "a"})
    both: dict[str, Any] = {**usual, "target": "nobody"}  # unknown keys are ignored
    assert ask(legion, both).to_json() == ask(legion, usual).to_json()


def test_the_schema_takes_both_names() -> None:
    schema = game_of("legion").questions["attack_range"].schema
    assert {"defender", "target"} <= schema["properties"].keys()
    assert schema["anyOf"] == [{"required": ["defender"]}, {"required": ["target"]}]


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (["mesure"], "measure"),
        (["measure", "x.jpg", "--boad", "6x3"], "--board"),
        (["measure", "x.jpg", "--boad=6x3"], "--board"),
        (["measure", "x.jpg", "--game", "leigon"], "legion"),
        (["measure", "x.jpg", "--board", "6x5"], "6x4"),
        (["measure", "x.jpg", "--units", "mmm"], "mm"),
        (["markers", "--paper", "leter"], "letter"),
        (["gauge", "chek", "x.jpg"], "check"),
        (["config", "shwo"], "show"),
        (["schema", "sceen"], "scene"),
    ],
)
def test_the_nearest_word_is_offered(
    words: list[str], nearest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    err = capsys.readouterr().err
    assert f"; did you mean {nearest!r}?" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("question", "nearest"),
    [("rnge a b", "range"), ("range aa b", "a"), ("at a b rnage=2", "range")],
)
def test_the_nearest_word_of_a_question_is_offered(question: str, nearest: str) -> None:
    pieces = [disc("a", 100, 100), disc("b", 300, 100)]
    table = scene_of(pieces, game="legion")
    with pytest.raises(BadInput, match=f"did you mean '{nearest}'"):
        ask(table, read_question("legion", question, "question"))
