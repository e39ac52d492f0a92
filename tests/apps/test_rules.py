"""`overruler rules`: what it lists is what games answer to, and what answers cite is what it lists."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import overruler
from overruler.apps.cli import main
from overruler.games import GAMES
from overruler.rules import game_of

RULINGS = Path(__file__).parents[1] / "rulings"
TABLES = [
    json.loads(path.read_text("utf-8"))
    for path in sorted(RULINGS.glob("*.json"))
    if ".part." not in path.name
]
FRAME = {"schema": "overruler/scene/1", "board": {"width_mm": 1800, "height_mm": 900}}


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def listed(capsys: pytest.CaptureFixture[str], game: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed(capsys, "rules", game, "--json"))
    return found


def answers(
    table: dict[str, Any],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every question of a table of rulings and its answer, as the command line gives it."""
    for name, scene in table["scenes"].items():
        asked = [ruling["ask"] for ruling in table["rulings"] if ruling["scene"] == name]
        path = folder / f"{name}.json"
        path.write_text(json.dumps(FRAME | {"game": table["game"]} | scene))
        (folder / "questions").write_text("\n".join(map(json.dumps, asked)))
        with (folder / "questions").open() as questions:
            monkeypatch.setattr("sys.stdin", questions)
            lines = printed(capsys, "ask", str(path), "-").splitlines()
        yield from zip(asked, map(json.loads, lines), strict=True)


def test_every_game_is_listed_with_its_questions(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "rules").splitlines()
    for name in GAMES:
        assert any(line.split()[:1] == [name] and game_of(name).title in line for line in lines)
    games = json.loads(printed(capsys, "rules", "--json"))
    assert [game["game"] for game in games] == list(GAMES)


@pytest.mark.parametrize("game", GAMES)
def test_a_game_s_page_holds_all_of_it(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    page, found = printed(capsys, "rules", game), listed(capsys, game)
    assert set(found["questions"]) == set(game_of(game).questions)
    assert set(game_of(game).clauses) < set(found["clauses"])
    assert set(found["settings"]) == set(game_of(game).settings)
    for kind, question in found["questions"].items():
        assert question["example"]["question"] == kind
        assert question["about"].endswith(".")
        assert json.dumps(question["example"]) in page
    for name, text in found["clauses"].items():
        assert any(line.split() == [name, *text.split()] for line in page.splitlines())
    for name, setting in found["settings"].items():
        assert f"{name} = {json.dumps(setting['default'])}" in page


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table["game"])
def test_answers_cite_listed_clauses_only(
    table: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    clauses = set(listed(capsys, table["game"])["clauses"])
    cited = {
        name
        for _, answer in answers(table, tmp_path, monkeypatch, capsys)
        for name in answer["rules"]
    }
    assert cited <= clauses


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table["game"])
def test_examples_ask_as_the_rulings_do(
    table: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the rulings on a question some has the keys of its example, with values of the same kinds."""
    rulings = [ruling["ask"] for ruling in table["rulings"]]
    for kind, question in listed(capsys, table["game"])["questions"].items():
        kinds = {key: type(value) for key, value in question["example"].items()}
        asked = [
            {key: type(value) for key, value in ask.items()}
            for ask in rulings
            if ask["question"] == kind
        ]
        assert not asked or _alike(kinds) in map(_alike, asked), kind


def _alike(kinds: dict[str, type]) -> dict[str, type]:
    return {key: float if kind is int else kind for key, kind in kinds.items()}


def test_every_game_has_a_table_of_rulings() -> None:
    assert sorted(table["game"] for table in TABLES) == list(GAMES)


def test_an_unknown_game_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "chess"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"overruler: GAME: unknown name 'chess'; known: {', '.join(GAMES)}\n"


def test_every_game_has_a_record_of_its_own_name() -> None:
    assert [game_of(name).name for name in GAMES] == list(GAMES)


def test_every_folder_of_rules_is_a_game() -> None:
    folder = Path(overruler.__file__).parent / "rules" / "games"
    assert sorted(file.parent.name for file in folder.glob("*/game.py")) == list(GAMES)


def test_no_rules_load_anything_heavy() -> None:
    code = (
        "import sys\nfrom overruler.apps.cli import main\nassert main(['rules']) == 0\n"
        "assert not {'numpy', 'cv2', 'scipy', 'shapely', 'rich'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
