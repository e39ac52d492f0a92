"""A user's own file: it says what nobody gave as an option, and what is wrong in it is named by its line."""

import argparse
import json
import re
from pathlib import Path

import pytest

from overruler.apps import analyze, ask, live, measure, serve
from overruler.apps.cli import main
from overruler.apps.commands import Command
from overruler.apps.settings.config_path import config_path
from overruler.apps.settings.game_choice import GameChoice
from overruler.apps.settings.house_options import read_house, read_own_bases, select_bases
from overruler.apps.settings.user_config import Config
from overruler.bases import Base, catalogue
from overruler.errors import BadInput
from overruler.games import GAMES
from overruler.rules import game_of

TEXT = """\
# my table
[table]
game = "legion"
board = "club.toml"
bases = ["27", "skiff", 50]

[bases]
skiff = "66x38o"
walker = 95

[players]
red = "Anna"

[rules.legion]
ranged_in_contact = false
[rules.xwing]
nearer_band = false
"""
BOARDS = Path(__file__).parents[2] / "calibration" / "boards"
COMMANDS: dict[str, tuple[Command, list[str]]] = {
    "measure": (measure, ["photo.jpg"]),
    "analyze": (analyze, ["film.mp4", "--out", "out"]),
    "live": (live, ["0"]),
}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(TEXT)
    (tmp_path / "club.toml").write_text((BOARDS / "legion-6x3.toml").read_text())
    monkeypatch.setenv("OVERRULER_CONFIG", str(path))
    return path


def filled(command: Command, arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    args = parser.parse_args(arguments)
    Config.load_user_config().fill_defaults(args)
    return args


@pytest.mark.parametrize("name", COMMANDS)
def test_the_file_gives_the_options_that_nobody_gave(file: Path, name: str) -> None:
    command, arguments = COMMANDS[name]
    args = filled(command, arguments)
    assert (args.game, args.board, args.bases) == (
        "legion",
        file.parent / "club.toml",
        "27,skiff,50",
    )
    assert args.own_base == ["skiff=66x38o", "walker=95"]
    assert args.player == ["red=Anna"]
    assert args.house_rule == ["legion.ranged_in_contact=false", "xwing.nearer_band=false"]


@pytest.mark.parametrize("name", COMMANDS)
def test_options_win(file: Path, name: str) -> None:
    command, arguments = COMMANDS[name]
    args = filled(command, [*arguments, "--game=xwing", "--bases=40x40", "--player=red=Ben"])
    assert (args.game, args.bases) == ("xwing", "40x40")
    assert read_house(args).players == {"red": "Ben"}


@pytest.mark.parametrize(
    "scale", [["--marker-mm=60"], ["--board=other.toml"], ["--point=1,2=3,4"] * 4]
)
def test_another_scale_on_the_command_line_drops_the_files(file: Path, scale: list[str]) -> None:
    args = filled(measure, ["photo.jpg", *scale])
    assert str(args.board) in ("None", "other.toml")
    assert args.game == "legion"


def test_the_server_chooses_from_the_files_board_and_passes_on_what_is_the_tables_own(
    file: Path,
) -> None:
    args = filled(serve, ["--board=other.toml"])
    assert args.board == [Path("other.toml"), file.parent / "club.toml"]
    request = serve.house_request(args)
    assert "skiff=66x38o" in request.own_base
    assert "legion.ranged_in_contact=false" in request.house_rule


def test_ask_takes_the_rules_alone(file: Path) -> None:
    args = filled(ask, ["scene.json", "-"])
    assert args.house_rule == ["legion.ranged_in_contact=false", "xwing.nearer_band=false"]
    assert not hasattr(args, "player")


def test_without_a_file_nothing_is_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OVERRULER_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert Config.load_user_config() == Config()
    monkeypatch.setenv("OVERRULER_CONFIG", "")
    assert config_path() is None
    assert Config.load_user_config() == Config()


def test_a_file_that_the_environment_names_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OVERRULER_CONFIG", "/nowhere/config.toml")
    with pytest.raises(BadInput, match=r"OVERRULER_CONFIG names /nowhere/config.toml"):
        Config.load_user_config()


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            'game = "legion"',
            'gaem = "legion"',
            "line 3: table.gaem: unknown key; known: game, .*; did you mean 'game'",
        ),
        (
            '"legion"',
            '"legoin"',
            "line 3: table.game: unknown name 'legoin'; .*; did you mean 'legion'",
        ),
        (
            'board = "club.toml"',
            "board = 7",
            "line 4: table.board: expected text, found a number 7",
        ),
        (
            'board = "club.toml"',
            'marker_mm = "60"',
            "line 4: table.marker_mm: expected a number, found text",
        ),
        (
            'board = "club.toml"',
            "marker_mm = -1",
            "line 4: table.marker_mm: must be greater than 0",
        ),
        ('game = "legion"', "marker_mm = 60", "line 3: table has both board and marker_mm"),
        ('game = "legion"', 'dictionary = "auto"', "line 3: table.dictionary goes with marker_mm"),
        ('["27", "skiff", 50]', '"27"', "line 5: table.bases: expected an array"),
        ("66x38o", "66x", "line 8: bases.skiff: '66x' is no base"),
        ("skiff =", "7skiff =", "line 8: bases.7skiff: the name of a base begins with a letter"),
        ("95", "[95]", "line 9: bases.walker: expected text, found an array"),
        ("red =", "rde =", "line 12: players.rde: unknown key; .*; did you mean 'red'"),
        ('"Anna"', '" "', "line 12: players.red: is empty"),
        (
            "[rules.legion]\nranged_in_contact",
            '[rules]\n"legion.ranged_in_contact"',
            "line 14: rules.legion.ranged_in_contact: is in quotes.*without them",
        ),
        (
            "rules.legion",
            "rules.legoin",
            "line 14: rules.legoin: unknown key; .*; did you mean 'legion'",
        ),
        (
            "ranged_in_contact",
            "ranged",
            "line 15: rules.legion: setting: unknown name 'ranged'; known: any_part_within, ranged_in_c",
        ),
        ("[players]", "[player]", "line 11: player: unknown key; .*; did you mean 'players'"),
        (
            "contact = false",
            'contact = "no"',
            "line 15: rules.legion.ranged_in_contact: expected true or false",
        ),
        ("[table]", "[table", r"not TOML: .* line 2"),
        ("[table]\n", "", "not TOML: Cannot declare"),
        ("[players]\n", "", "line 11: bases.red: 'Anna' is no base"),
    ],
)
def test_what_is_wrong_is_named_by_its_line(file: Path, old: str, new: str, complaint: str) -> None:
    assert old in TEXT
    file.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(BadInput, match=complaint):
        Config.load_user_config()


def test_a_games_own_rules_are_asked_by(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In contact a ranged weapon serves by the rules, and not at this table; but what the scene says wins."""
    base = {"base": {"shape": "circle", "diameter_mm": 30}, "y_mm": 100}
    pieces = [
        {"id": "a", "x_mm": 100, "player": "A"} | base,
        {"id": "b", "x_mm": 130, "player": "B"} | base,
    ]
    scene = {
        "schema": "overruler/scene/1",
        "game": "legion",
        "board": {"width_mm": 900, "height_mm": 900},
        "pieces": pieces,
    }
    question = (
        '{"question": "weapon", "attacker": "a", "defender": "b", "weapon": {"range": [1, 2]}}'
    )
    path, usable = file.parent / "scene.json", []
    for state in ({}, {"settings": {"ranged_in_contact": True}}):
        path.write_text(json.dumps(scene | {"state": state}))
        assert main(["ask", str(path), question]) == 0
        usable.append(json.loads(capsys.readouterr().out)["usable"])
    assert usable == [False, True]


# --- overruler config ---


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["config", *arguments]) == 0
    return capsys.readouterr().out


def test_path_and_check(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "path") == f"{file}\n"
    assert said(capsys, "check") == f"{file}: good, 8 values\n"
    (file.parent / "club.toml").unlink()
    assert main(["config", "check"]) == 2
    missing = f"{file}, line 4: table.board: {file.parent / 'club.toml'}: there is no such file"
    assert capsys.readouterr().err == f"overruler: {missing}\n"


@pytest.mark.parametrize("text", ["", "\n", "# nothing yet\n"])
def test_a_file_without_values_is_good(
    text: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(text)
    assert Config.load_user_config() == Config()
    assert said(capsys, "check") == f"{file}: good, 0 values\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            '[table]\nbases = ["27", "skif"]\n[bases]\nskiff = "66x38o"\n',
            "line 2: table.bases: 'skif' is no base: .*, or a name of one's own: skiff$",
        ),
        ("[table]\nbases = []\n", "line 2: table.bases: is empty: name a base, or leave"),
        (
            '[table]\nboard = "6x9"\n',
            r"line 2: table.board: '6x9' is neither a file nor a known board; known: 2x2, .*did you",
        ),
        ('[table]\nboard = "no/such"\n', "line 2: table.board: .*/no/such: there is no such file"),
        ('[table]\nboard = ""\n', "line 2: table.board: .*: is a folder: name a file in it"),
        ('[table]\nlens = "no.toml"\n', "line 2: table.lens: .*/no.toml: there is no such file"),
        ('[bases]\n"a=b" = 27\n', "bases.a=b: the name of a base begins with a letter and has no"),
        ('[bases]\n"" = 27\n', "bases.: the name of a base begins with a letter"),
    ],
)
def test_what_a_measurement_would_refuse_is_told_by_check_and_names_its_line(
    text: str, complaint: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(text)
    told = []
    for words in (["config", "check"], ["measure", "no.jpg"], ["live", "no.mp4"]):
        assert main(words) == 2
        told.append(capsys.readouterr().err)
    assert len(set(told)) == 1
    assert re.search(f"^overruler: {re.escape(str(file))}.*{complaint}", told[0].rstrip())


@pytest.mark.parametrize("folder", ["boards", "games"])
def test_check_reads_the_users_own_boards_and_games(
    folder: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A photo whose board is found by its markers is compared with all of them."""
    file.write_text("")
    (file.parent / folder).mkdir()
    (file.parent / folder / "mine.toml").write_text("[")
    assert main(["config", "check"]) == 2
    assert f"{Path(folder, 'mine.toml')}: not TOML" in capsys.readouterr().err


def test_a_base_of_ones_own_may_be_given_beside_the_file(file: Path) -> None:
    file.write_text('[table]\nbases = ["27", "skiff"]\n')
    assert filled(measure, ["photo.jpg", "--own-base=skiff=66x38o"]).bases == "27,skiff"


def test_a_board_is_named_in_the_file_as_on_the_command_line(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file beside the user's file goes before a known board of that name."""
    file.write_text('[table]\nboard = "6x3"\n')
    assert said(capsys, "check") == f"{file}: good, 1 value\n"
    assert 'board = "6x3"' in said(capsys, "show")
    assert filled(measure, ["photo.jpg"]).board == Path("6x3")
    assert filled(serve, []).board == []  # the server offers it anyway
    file.write_text('[table]\nboard = "Club"\n')
    boards = file.parent / "boards"
    boards.mkdir()
    (boards / "club.toml").write_text((BOARDS / "legion-6x3.toml").read_text())
    assert said(capsys, "check") == f"{file}: good, 1 value\n"
    assert filled(serve, []).board == [boards / "club.toml"]
    (file.parent / "Club").write_text("")
    assert filled(measure, ["photo.jpg"]).board == file.parent / "Club"


def test_a_board_named_in_the_file_is_the_same_in_every_working_directory(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder beside the user's file is no board either."""
    away = file.parent / "away"
    away.mkdir()
    monkeypatch.chdir(away)
    file.write_text('[table]\nboard = "6x3"\n')
    for folder in (away, file.parent):
        (folder / "6x3").mkdir()
        assert said(capsys, "check") == f"{file}: good, 1 value\n"
        assert filled(serve, []).board == []
    file.write_text('[table]\nboard = "mine"\n')
    Path("mine").write_text((BOARDS / "legion-6x3.toml").read_text())
    assert main(["config", "check"]) == 2
    assert (
        "line 2: table.board: 'mine' is neither a file nor a known board" in capsys.readouterr().err
    )


def test_the_file_of_what_was_taught_must_be_there_but_for_the_command_that_makes_it(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text('[table]\ntaught = "no.json"\n')
    with pytest.raises(BadInput, match=r"line 2: table.taught: .*/no.json: there is no such file"):
        filled(serve, [])
    for words in (["config", "check"], ["measure", "photo.jpg"]):
        assert main(words) == 2
        assert "line 2: table.taught: " in capsys.readouterr().err
    assert filled(serve, ["--taught", str(file)]).taught == file
    assert filled(measure, ["photo.jpg", "--taught", str(file)]).taught == file
    assert main(["teach", "no.jpg", "--marker-mm=60"]) == 2
    assert "table.taught" not in (told := capsys.readouterr().err)
    assert "no.jpg" in told


def test_show_says_where_each_value_comes_from(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = said(capsys, "show", "--origin", "--game=xwing", "--player=blue=Cid").splitlines()
    origins = {line.split("  #")[0].strip(): line.split("  # ")[-1] for line in lines}
    assert origins['game = "xwing"'] == "option --game"
    assert origins['bases = ["27", "skiff", "50"]'] == f"{file}, line 5"
    assert origins['red = "Anna"'] == f"{file}, line 12"
    assert origins['blue = "Cid"'] == "option --player"
    assert origins["ranged_in_contact = false"] == f"{file}, line 15"
    assert any(line.startswith("# lens") and line.endswith("# default") for line in lines)


def test_what_show_prints_is_a_file_that_says_the_same(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Config.load_user_config()
    for origin in ([], ["--origin"]):
        file.write_text(said(capsys, "show", *origin))
        again = Config.load_user_config()
        assert (again.table, again.bases, again.players) == (
            before.table,
            before.bases,
            before.players,
        )
        usual = {
            f"{name}.{key}": setting.default
            for name in GAMES
            for key, setting in game_of(name).settings.items()
        }
        assert again.rules == usual | dict(before.rules)


# --- bases of one's own ---


def test_bases_of_ones_own_are_looked_for_beside_the_games() -> None:
    own = read_own_bases(["skiff=66x38o", "walker = 95"])
    assert own == {"skiff": Base.oval(38, 66), "walker": Base.circle(95)}
    assert select_bases(None, own, GameChoice("legion")) == (*catalogue("legion"), *own.values())
    assert select_bases("walker, 27", own, GameChoice("legion")) == (
        Base.circle(95),
        Base.circle(27),
    )
    assert select_bases(None, {}, GameChoice("legion")) is None


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--own-base=27=27"], "--own-base 27: the name of a base begins with a letter"),
        (["--own-base=skiff"], "--own-base: expected a name, = and a value, found 'skiff'"),
        (["--own-base=skiff=x"], "--own-base skiff: 'x' is no base"),
        (
            ["--own-base=a=30", "--bases=b"],
            "--bases: 'b' is no base: .* or a name of one's own: a;",
        ),
        (["--player=rde=Anna"], "--player: unknown name 'rde'; .*; did you mean 'red'"),
        (
            ["--house-rule=legion.x=true"],
            "--house-rule: setting: unknown name 'x'; known: any_part_within, ranged_in_contact",
        ),
        (["--house-rule=go.x=true"], "--house-rule: game: unknown name 'go'"),
        (
            ["--house-rule=legion.ranged_in_contact=no"],
            "legion.ranged_in_contact: expected true or false, found 'no'",
        ),
    ],
)
def test_options_that_make_no_sense(options: list[str], complaint: str) -> None:
    parser = argparse.ArgumentParser()
    measure.add_arguments(parser)
    with pytest.raises(BadInput, match=complaint):
        measure.read_options(parser.parse_args(["photo.jpg", "--marker-mm=60", *options]))


def test_the_example_of_the_docs_is_good(file: Path) -> None:
    text = (BOARDS.parents[1] / "docs" / "config.md").read_text()
    file.write_text(text.split("```toml\n")[1].split("```")[0])
    config = Config.load_user_config()
    assert set(config.table) == {"game", "board", "lens", "bases", "taught", "units"}
    assert (config.bases, config.players) == (
        {"skiff": "66x38o", "walker": "95"},
        {"red": "Anna", "blue": "Ben"},
    )
    assert config.rules == {"legion.ranged_in_contact": False}


def test_every_measurement_of_the_server_is_told_what_is_the_tables_own(file: Path) -> None:
    request_options = pytest.importorskip("overruler.apps.web.phone.request_options")
    choices = request_options.Choices(defaults=serve.house_request(filled(serve, [])))
    query = {"marker_mm": "60", "game": "legion"}
    asked = request_options.read_photo_options(query, choices)
    options = measure.load_options(asked.request)
    assert options.house.players == {"red": "Anna"}
    assert options.house.settings_of("legion") == {"ranged_in_contact": False}
    assert options.bases is not None
    assert Base.oval(38, 66) in options.bases
