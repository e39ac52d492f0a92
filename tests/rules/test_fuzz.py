"""However broken a scene or a question is, there is an answer or one line; and from a wrong scene never an answer.

`evaluate/fuzz.py` breaks the scenes of the rulings; here a few thousand of its cases run. What follows them is
broken on purpose, in ways that are known to be wrong: each of those must be refused.
"""

import copy
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluate import fuzz
from overruler.apps.cli import main
from overruler.errors import BadInput
from overruler.rules import ask
from overruler.scene import Scene

Document = dict[str, Any]
GAMES = sorted({document["game"] for document, _ in fuzz.good_cases()})


@pytest.mark.parametrize("game", GAMES)
def test_a_broken_case_is_answered_or_refused_in_one_line(game: str) -> None:
    counts, problems, _ = fuzz.run(500, seed=20, game=game, doubtful=0.04)
    assert not problems, "\n".join(
        f"{problem}\n{json.dumps(case)[:2000]}" for problem, case in problems.items()
    )
    assert counts["answered"] > 50
    assert counts["refused"] > 100


@pytest.mark.parametrize("game", GAMES)
def test_good_cases_are_answered(game: str) -> None:
    kinds = [fuzz.outcome(copy.deepcopy(case)) for case in fuzz.good_cases(game)]
    assert {outcome.kind for outcome in kinds} <= {"answered", "refused"}
    assert [outcome.kind for outcome in kinds].count("answered") > 0.7 * len(
        kinds
    )  # some rulings are on errors


# --- known to be wrong ---

BASE = {"shape": "circle", "diameter_mm": 27}
GOOD: Document = {
    "schema": "overruler/scene/1",
    "game": "legion",
    "board": {"width_mm": 1800, "height_mm": 900},
    "ruler": {"segment_mm": 152.4, "segments": 5},
    "pieces": [
        {
            "id": "a",
            "base": BASE,
            "x_mm": 0,
            "y_mm": 0,
            "player": "r",
            "unit": "u",
            "leader": True,
            "stats": {},
        },
        {
            "id": "b",
            "base": {"shape": "oval", "width_mm": 40, "length_mm": 60},
            "x_mm": 200,
            "y_mm": 0,
            "heading_deg": 5,
        },
    ],
    "terrain": [
        {"id": "hill", "footprint_mm": [[500, 0], [600, 0], [600, 100], [500, 100]], "top_z_mm": 20}
    ],
    "grid": {"type": "hex", "orientation": "flat", "size_mm": 30, "origin_mm": [0, 0]},
    "covariance": {
        "order": ["a", "b"],
        "mm2": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
    },
    "state": {},
}
QUESTION = {"question": "range", "from": "a", "to": "b"}

NUMBERS = [
    "board.width_mm", "ruler.segment_mm", "pieces.0.base.diameter_mm", "pieces.1.base.width_mm", "pieces.0.x_mm",
    "pieces.1.y_mm", "pieces.1.heading_deg", "terrain.0.top_z_mm", "terrain.0.footprint_mm.1.0", "grid.size_mm",
    "grid.origin_mm.0", "covariance.mm2.0.0",
]  # fmt: skip
SIZES = [
    "board.width_mm",
    "board.height_mm",
    "ruler.segment_mm",
    "pieces.0.base.diameter_mm",
    "grid.size_mm",
]
REQUIRED = [
    "schema", "game", "board", "pieces", "board.width_mm", "board.height_mm", "ruler.segments", "pieces.0.id",
    "pieces.0.base", "pieces.0.base.shape", "pieces.0.base.diameter_mm", "pieces.1.base.length_mm", "pieces.0.x_mm",
    "terrain.0.id", "terrain.0.footprint_mm", "terrain.0.top_z_mm", "grid.type", "grid.orientation", "grid.size_mm",
    "grid.origin_mm", "covariance.order", "covariance.mm2",
]  # fmt: skip
OBJECTS = [
    "board",
    "ruler",
    "pieces.0",
    "pieces.0.base",
    "pieces.0.stats",
    "terrain.0",
    "grid",
    "covariance",
    "state",
]
LISTS = [
    "pieces",
    "terrain",
    "terrain.0.footprint_mm",
    "covariance.order",
    "covariance.mm2",
    "grid.origin_mm",
]
TEXTS = [
    "schema",
    "game",
    "pieces.0.id",
    "pieces.0.base.shape",
    "pieces.0.player",
    "pieces.0.unit",
    "terrain.0.id",
]
GONE = object()
NO_NUMBERS: list[Any] = [None, True, "1", [], math.nan, math.inf, -math.inf, 10**400]
NO_SIZES = [0, -1, 1e-9, 1e9]
NO_OBJECTS: list[Any] = [None, 1, "x", []]
NO_LISTS: list[Any] = [None, 1, "x", {}]
NO_TEXTS: list[Any] = [None, 1, True, []]

WRONG: list[tuple[str, Any]] = [
    *((path, value) for path in NUMBERS for value in NO_NUMBERS),
    *((path, value) for path in SIZES for value in NO_SIZES),
    *((path, GONE) for path in REQUIRED),
    *((path, value) for path in OBJECTS for value in NO_OBJECTS),
    *((path, value) for path in LISTS for value in NO_LISTS),
    *((path, value) for path in TEXTS for value in NO_TEXTS),
    ("pieces.0.x_mm", 1e300),
    ("pieces.0.z_mm", -1e8),
    ("schema", "overruler/scene/2"),
    ("game", "chess"),
    ("pieces.0.base.shape", "triangle"),
    ("pieces.0.kind", "dragon"),
    ("pieces.0.leader", 1),
    ("pieces.0.hex", [0, 0]),
    ("pieces.1.id", "a"),
    ("pieces.1.id", "hill"),
    ("pieces.1.id", "u"),
    ("terrain.0.id", "a"),
    ("ruler.segments", 0),
    ("ruler.segments", 2.5),
    ("ruler.segments", 10**6),
    ("terrain.0.footprint_mm", [[0, 0], [1, 1]]),
    ("terrain.0.footprint_mm", [[0, 0], [10, 10], [10, 0], [0, 10]]),
    ("terrain.0.footprint_mm", [[0, 0], [10, 0], [20, 0]]),
    ("terrain.0.footprint_mm.1", [1, 2, 3]),
    ("terrain.0.top_z_mm", -5),
    ("terrain.0.rough", "yes"),
    ("terrain.0.size", 1.25),
    ("grid.type", "square"),
    ("grid.orientation", "round"),
    ("covariance.order", ["a"]),
    ("covariance.order", ["a", "a"]),
    ("covariance.order", ["a", "z"]),
    ("covariance.mm2.0", [1, 0, 0]),
    ("covariance.mm2.0.0", -1),
    ("covariance.mm2.0.1", 0.5),
    ("covariance.mm2.0", [1, 0, 9, 0]),
    ("pieces.0.covariance_mm2", [[1, 0], [0, -1]]),
    ("pieces.0.covariance_mm2", [[1, 2], [0, 1]]),
    ("pieces.0.covariance_mm2", [[1, 2], [2, 1]]),
    ("pieces.0.covariance_mm2", [1, 1]),
    ("state.settings", {"odd": True}),
]


def changed(document: Document, path: str, value: Any) -> Document:
    """A copy with another value, or none, at a path."""
    document = copy.deepcopy(document)
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    inside: Any = document
    for step in way:
        inside = inside[step]
    if value is GONE:
        del inside[last]
    else:
        inside[last] = value
    return document


def test_the_scene_that_is_broken_below_is_good() -> None:
    assert ask(Scene.from_json(GOOD), QUESTION).value == 2


@pytest.mark.parametrize(
    ("path", "value"), WRONG, ids=[f"{path}={str(value)[:20]}" for path, value in WRONG]
)
def test_a_wrong_scene_is_never_answered(path: str, value: Any) -> None:
    with pytest.raises(BadInput) as error:
        ask(Scene.from_json(changed(GOOD, path, value)), QUESTION)
    assert len(str(error.value).splitlines()) == 1
    place = path.split(".")[0]
    assert place in str(error.value) or isinstance(value, list | str)


WRONG_QUESTIONS: list[Any] = [
    {}, [], None, "range", 3, {"question": "range"}, QUESTION | {"from": "nobody"}, QUESTION | {"from": ["a"]},
    QUESTION | {"from": "b"}, QUESTION | {"from": "u", "to": "a"}, QUESTION | {"question": "rang"},
    QUESTION | {"question": None}, QUESTION | {"question": "at"}, QUESTION | {"question": "at", "range": [True]},
    QUESTION | {"question": "at", "range": [math.nan]}, QUESTION | {"question": "at", "range": [2, 1]},
    QUESTION | {"question": "at", "range": 2},
]  # fmt: skip


@pytest.mark.parametrize("question", WRONG_QUESTIONS, ids=str)
def test_a_wrong_question_is_never_answered(question: Any) -> None:
    with pytest.raises(BadInput) as error:
        ask(Scene.from_json(GOOD), question)
    assert len(str(error.value).splitlines()) == 1


# --- from the outside ---

TEXT: list[tuple[str, Callable[[str], str]]] = [
    ("cut short", lambda text: text[:-5]),
    ("not a number", lambda text: text.replace('"x_mm": 200', '"x_mm": NaN')),
    ("beyond all numbers", lambda text: text.replace('"x_mm": 200', '"x_mm": 1e999')),
    ("nested beyond reason", lambda text: "[" * 100_000),
    ("an id that breaks the line", lambda text: text.replace('"b"', '"b\\nb\\u202e"')),
    ("half a letter", lambda text: text.replace('"b"', '"\\ud800"')),
]


@pytest.mark.parametrize(("how", "change"), TEXT, ids=[how for how, _ in TEXT])
def test_the_command_says_one_line_and_leaves_2(
    how: str, change: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scene.json"
    path.write_text(change(json.dumps(GOOD)), "utf-8")
    assert main(["ask", str(path), json.dumps(QUESTION)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err
