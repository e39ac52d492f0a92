"""`docs/adding-a-game.md` adds a game by one folder, one record and one table; here they are put there and asked."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import overruler
from overruler.games import GAMES

ROOT = Path(__file__).parents[1]
PACKAGE = Path(overruler.__file__).parent
DOCUMENT = (ROOT / "docs" / "adding-a-game.md").read_text("utf-8")
FILES = dict(re.findall(r"^## [^\n]*: `([\w./]+)`\n.*?^```\w+\n(.*?)^```$", DOCUMENT, re.M | re.S))
"""The files that the document shows, by where it says that they go; of `FACTS` the line that is new."""
FACTS = "src/overruler/games.py"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as it is, but for the files of the document."""
    root = tmp_path_factory.mktemp("house")
    for folder in (
        root / "src/overruler/rules/games",
        root / "tests/rulings",
        root / "tests/rules",
    ):
        folder.mkdir(parents=True)
    for file in (
        *PACKAGE.iterdir(),
        *(PACKAGE / "rules").iterdir(),
        *(PACKAGE / "rules/games").iterdir(),
    ):
        if file.name not in ("rules", "games", "__pycache__"):
            (root / "src/overruler" / file.relative_to(PACKAGE)).symlink_to(file)
    shutil.copy(ROOT / "tests/rules/test_rulings.py", root / "tests/rules")
    facts = root / FACTS
    before = facts.read_text("utf-8")
    facts.unlink()
    table = "_FACTS: Mapping[str, GameFacts] = {\n"
    assert before.count(table) == 1
    facts.write_text(before.replace(table, table + FILES[FACTS]))
    for place, text in FILES.items():
        if place != FACTS:
            assert not (root / place).exists()
            (root / place).parent.mkdir(exist_ok=True)
            (root / place).write_text(text)
    return root


def run(house: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    env = os.environ | {"PYTHONPATH": str(house / "src")}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=env, cwd=house
    )


def asked(house: Path, question: dict[str, Any], **more: Any) -> "subprocess.CompletedProcess[str]":
    base = {"base": {"shape": "circle", "diameter_mm": 20}, "y_mm": 0}
    pieces = [{"id": "p01", "x_mm": 0, **base}, {"id": "p02", "x_mm": 120, **base}]
    frame = {
        "schema": "overruler/scene/1",
        "game": "duel",
        "board": {"width_mm": 600, "height_mm": 600},
    }
    (house / "scene.json").write_text(json.dumps(frame | {"pieces": pieces} | more))
    return run(house, "-m", "overruler", "ask", "scene.json", json.dumps(question))


SPELL: dict[str, Any] = {"question": "spell", "caster": "p01", "target": "p02", "strength": 2}


def test_the_document_shows_one_record_one_file_and_one_table() -> None:
    rules, table = "src/overruler/rules/games/duel/game.py", "tests/rulings/duel.json"
    assert sorted(FILES) == [FACTS, rules, table]
    assert "duel" not in GAMES


def test_the_new_game_is_asked_and_answers(house: Path) -> None:
    done = asked(house, SPELL)
    assert done.stderr == ""
    answer = json.loads(done.stdout)
    assert (answer["reaches"], answer["distance_mm"], answer["margin_mm"]) == (True, 100, 0)
    assert answer["rules"] == ["duel.reach", "duel.line", "any.edge_to_edge"]


def test_its_doubt_comes_by_itself(house: Path) -> None:
    doubt = {"order": ["p01"], "mm2": [[0.04, 0], [0, 0.04]]}
    answer = json.loads(asked(house, SPELL, covariance=doubt).stdout)
    assert answer["probability"] == pytest.approx({"true": 0.5, "false": 0.5}, abs=1e-3)
    assert (answer["call"], answer["sigma_mm"]) == (
        "too close to call",
        pytest.approx(0.2, rel=1e-3),
    )


@pytest.mark.parametrize(
    ("question", "more", "said"),
    [
        (SPELL | {"strength": 4}, {}, "question: strength: the wand goes from 1 to 3, found 4"),
        (
            SPELL | {"strength": True},
            {},
            "question: strength: expected a number, found true",
        ),
        (
            SPELL,
            {"state": {"settings": {"loud": True}}},
            "Duel of Wands has no such setting; it has: fizzles",
        ),
        (
            {"question": "curse"},
            {},
            "Duel of Wands has no question 'curse'; it answers: area, distance, hexes, spell",
        ),
    ],
)
def test_what_is_wrong_is_said(
    house: Path, question: dict[str, Any], more: dict[str, Any], said: str
) -> None:
    done = asked(house, question, **more)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr


def test_where_nothing_is_asked_its_distances_are_told(house: Path) -> None:
    """It has a ruler, and no question `range`."""
    asked(house, SPELL)
    program = """
from overruler.apps.rulings import rule_on_questions
from overruler.scene import Scene
print([verdict.sentence() for verdict in rule_on_questions(Scene.load("scene.json"), ())])
"""
    done = run(house, "-c", program)
    assert (done.stdout, done.stderr) == ("['100.0 mm']\n", "")


def test_its_question_has_a_schema(house: Path) -> None:
    done = run(house, "-m", "overruler", "schema", "ask-duel")
    kinds = json.loads(done.stdout)["$defs"]["duel"]["anyOf"]
    assert kinds[-1]["properties"]["strength"] == {"type": "integer", "minimum": 1, "maximum": 3}


def test_it_can_be_tapped(house: Path) -> None:
    program = """
from overruler.apps.web.quick_questions import questions_of_game
print(questions_of_game("duel")[0]["ask"])
"""
    done = run(house, "-c", program)
    asked = "{'question': 'spell', 'caster': 'A', 'target': 'B', 'strength': 1}"
    assert (done.stdout.strip(), done.stderr) == (asked, "")


def test_it_is_listed(house: Path) -> None:
    done = run(house, "-m", "overruler", "rules", "duel")
    assert done.stdout.startswith("Duel of Wands, on a ruler of 3 x 50 mm\n")
    assert '{"question": "spell", "caster": "p01", "target": "p02", "strength": 2}' in done.stdout
    assert "duel.contact" in done.stdout
    assert "fizzles = true" in done.stdout


def test_its_table_holds(house: Path) -> None:
    """Every ruling twice, for its answer and for its clause, and one look at whether each clause has a ruling."""
    done = run(house, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/rules/test_rulings.py")
    rulings = len(json.loads(FILES["tests/rulings/duel.json"])["rulings"])
    assert f"{2 * rulings + 1} passed" in done.stdout, done.stdout


def test_a_wrong_table_does_not_hold(house: Path) -> None:
    """One ruling that says otherwise, and one clause without a ruling."""
    table = house / "tests/rulings/duel.json"
    right = table.read_text()
    wrong = right.replace('"reaches": true', '"reaches": false', 1)
    table.write_text(wrong.replace('"clause": "duel.line"', '"clause": "duel.reach"'))
    try:
        done = run(
            house, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/rules/test_rulings.py"
        )
    finally:
        table.write_text(right)
    assert "2 failed" in done.stdout, done.stdout
