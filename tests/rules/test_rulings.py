"""Every game by its table of rulings: `tests/rulings/<game>.json`, which needs no Python to add to."""

import json
from pathlib import Path
from typing import Any

import pytest

from overruler.rules import ask, clause_text, game_of
from overruler.scene import Scene

TABLES = [
    json.loads(path.read_text("utf-8"))
    for path in sorted((Path(__file__).parents[1] / "rulings").glob("*.json"))
]
RULINGS = [
    pytest.param(table, ruling, id=f"{table['game']}-{number}-{ruling['clause']}")
    for table in TABLES
    for number, ruling in enumerate(table["rulings"], 1)
]


def answer_to(table: dict[str, Any], ruling: dict[str, Any]) -> dict[str, Any]:
    frame = {
        "schema": "overruler/scene/1",
        "game": table["game"],
        "board": {"width_mm": 1800, "height_mm": 900},
    }
    return ask(Scene.from_json(frame | table["scenes"][ruling["scene"]]), ruling["ask"]).to_json()


@pytest.mark.parametrize(("table", "ruling"), RULINGS)
def test_ruling(table: dict[str, Any], ruling: dict[str, Any]) -> None:
    answer = answer_to(table, ruling)
    for key, expected in ruling["expect"].items():
        pairs = isinstance(expected, list) and any(isinstance(item, list) for item in expected)
        if isinstance(expected, bool | str | None | dict) or pairs:
            assert answer[key] == expected, ruling["why"]
        else:
            assert answer[key] == pytest.approx(expected, abs=1e-6), ruling["why"]


@pytest.mark.parametrize(("table", "ruling"), RULINGS)
def test_ruling_names_its_clause(table: dict[str, Any], ruling: dict[str, Any]) -> None:
    rules = answer_to(table, ruling)["rules"]
    assert ruling["clause"] in rules
    assert all(clause_text(name).endswith((".", ".)")) for name in rules)
    assert len(set(rules)) == len(rules)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table["game"])
def test_every_clause_has_a_ruling(table: dict[str, Any]) -> None:
    assert set(game_of(table["game"]).clauses) <= {ruling["clause"] for ruling in table["rulings"]}
