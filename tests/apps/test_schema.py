"""The schemas against the readers: what the program takes they take, and what it refuses as malformed they refuse.

Every document below is broken in every place by everything that is no proper value there.
"""

import copy
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from overruler.apps.cli import main
from overruler.apps.schemas import DOCUMENTS, schema_of
from overruler.board import Board
from overruler.declared_terrain import load_terrain
from overruler.errors import BadInput
from overruler.fixes import read_fixes
from overruler.games import GAMES
from overruler.lens import Lens
from overruler.reading import Node
from overruler.rules import ask, game_of
from overruler.scene import Scene
from overruler.taught import Taught

ROOT = Path(__file__).parents[2]
RULINGS = {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in sorted((ROOT / "tests/rulings").glob("*.json"))
}
VALIDATORS = {name: Draft202012Validator(schema_of(name)) for name in DOCUMENTS}


def fits(name: str, document: Any) -> bool:
    return bool(VALIDATORS[name].is_valid(document))


# --- the command ---


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_printed_is_a_schema(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", name]) == 0
    schema = json.loads(capsys.readouterr().out)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:overruler:schema:{name}"


def test_alone_it_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(DOCUMENTS)


def test_another_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "sceen"]) == 2
    assert "NAME: unknown name 'sceen'; known: answer, ask" in capsys.readouterr().err


# --- what the program takes ---


def whole_scene(table: dict[str, Any], scene: dict[str, Any]) -> dict[str, Any]:
    board = {"width_mm": 2000, "height_mm": 2000}
    return {"schema": "overruler/scene/1", "game": table["game"], "board": board} | scene


@pytest.mark.parametrize("game", GAMES)
def test_every_ruling_fits(game: str) -> None:
    """Scenes, questions and answers of the table of rulings; a question of one game is one of all."""
    table = RULINGS[game]
    scenes = {name: whole_scene(table, scene) for name, scene in table["scenes"].items()}
    for scene in scenes.values():
        VALIDATORS["scene"].validate(scene)
    for ruling in table["rulings"]:
        VALIDATORS[f"ask-{game}"].validate(ruling["ask"])
        VALIDATORS["ask"].validate(ruling["ask"])
        answer = ask(Scene.from_json(scenes[ruling["scene"]]), ruling["ask"]).to_json()
        VALIDATORS["answer"].validate(json.loads(json.dumps(answer)))


@pytest.mark.parametrize("game", GAMES)
def test_every_example_fits(game: str) -> None:
    for kind in game_of(game).questions:
        VALIDATORS[f"ask-{game}"].validate(game_of(game).example(kind))


@pytest.mark.parametrize(
    "path",
    sorted([*ROOT.glob("calibration/boards/*"), *ROOT.glob("sample_images/*.toml")]),
    ids=str,
)
def test_every_board_file_fits(path: Path) -> None:
    VALIDATORS["board"].validate(tomllib.loads(path.read_text("utf-8")))


def shown_files() -> list[tuple[str, str, dict[str, Any]]]:
    """Every whole file that a page shows: the page, the kind of file, and what it holds."""
    found = []
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for kind, text in re.findall(
            r"^```(json|toml)\n(.*?)^```", page.read_text("utf-8"), re.M | re.S
        ):
            if re.match(r'\{?\s*"?schema"?\s*[=:]', text):
                file = json.loads(text) if kind == "json" else tomllib.loads(text)
                found.append((page.name, file["schema"].split("/")[1], file))
    return found


@pytest.mark.parametrize(("page", "name", "file"), shown_files())
def test_the_files_that_the_documents_show_fit(page: str, name: str, file: dict[str, Any]) -> None:
    VALIDATORS[name].validate(file)


def test_the_documents_show_a_file_of_every_kind() -> None:
    assert {name for _, name, _ in shown_files()} >= {"scene", "board", "lens", "terrain", "fix"}


# --- what it refuses ---

PLAIN: dict[str, Any] = {
    "scene": {
        "schema": "overruler/scene/1",
        "game": "legion",
        "board": {"width_mm": 900, "height_mm": 900},
        "ruler": {"segment_mm": 152.4, "segments": 5},
        "pieces": [
            {
                "id": "a",
                "base": {"shape": "circle", "diameter_mm": 27},
                "x_mm": 100,
                "y_mm": 200,
                "z_mm": 0,
                "heading_deg": 0,
                "covariance_mm2": [[0.04, 0], [0, 0.04]],
                "player": "rebels",
                "unit": "troopers",
                "leader": True,
                "kind": "character",
                "stats": {},
            },
            {"id": "b", "base": {"shape": "oval", "width_mm": 35, "length_mm": 60}, "hex": [1, 2]},
        ],
        "terrain": [
            {
                "id": "hill",
                "footprint_mm": [[300, 300], [400, 300], [400, 400]],
                "base_z_mm": 0,
                "top_z_mm": 50,
                "rough": False,
                "size": 2,
            }
        ],
        "grid": {"type": "hex", "orientation": "pointy", "size_mm": 30, "origin_mm": [0, 0]},
        "covariance": {"order": ["a"], "mm2": [[1, 0], [0, 1]]},
        "state": {},
    },
    "board": {
        "schema": "overruler/board/1",
        "name": "table",
        "width_mm": 900,
        "height_mm": 900,
        "markers": {
            "dictionary": "DICT_4X4_50",
            "size_mm": 60,
            "corners_mm": {"0": [[10, 70, 0], [70, 70, 0], [70, 10, 0], [10, 10, 0]]},
            "scale_share": 0.001,
            "scale_by_print": False,
            "print": {
                "printed_mm": 100,
                "across_mm": 99.8,
                "along_mm": 99.9,
                "doubt_mm": 0.2,
                "flush": True,
            },
        },
    },
    "lens": {
        "schema": "overruler/lens/1",
        "size_px": [4032, 3024],
        "matrix": [[3000, 0, 2015.5], [0, 3000, 1511.5], [0, 0, 1]],
        "distortion": [0.05, -0.1, 0, 0, 0],
        "covariance": [[0.0] * 9 for _ in range(9)],
    },
    "terrain": {
        "schema": "overruler/terrain/1",
        "terrain": [
            {
                "id": "hill",
                "footprint_mm": [[300, 300], [400, 300], [400, 400]],
                "top_z_mm": 34,
                "sigma_mm": 1,
            },
            {
                "id": "mesa",
                "around_mm": [[-80, -60], [80, -60], [0, 70]],
                "markers": [20, 21],
                "markers_at_mm": [[100, 100], [300, 100]],
                "marker_mm": 40,
                "edge_mm": 2,
                "base_z_mm": 0,
                "rough": False,
                "size": 1,
            },
        ],
    },
    "fix": {
        "schema": "overruler/fix/1",
        "fix": [
            {"do": "move", "id": "p03", "xy_px": [1467.5, 1053], "sigma_px": 2, "heading_deg": 10},
            {
                "do": "add",
                "base": "50",
                "xy_mm": [666, 447],
                "player": "rebels",
                "kind": "device",
                "stats": {},
            },
            {
                "do": "add",
                "base": 27,
                "xy_mm": [66, 447],
                "id": "x",
                "z_mm": 5,
                "sigma_mm": 1,
                "leader": True,
            },
            {"do": "remove", "id": "p09"},
            {"do": "resize", "id": "p09", "base": "75x42o"},
            {"do": "turn", "id": "p09", "heading_deg": 90},
            {"do": "stand", "id": "p09", "z_mm": 12},
            {"do": "name", "id": "p09", "new_id": "leia", "unit": "heroes"},
        ],
    },
    "taught": {
        "schema": "overruler/taught/1",
        "networks": "0123456789ab",
        "weighings": {"25 mm": {"offset": -1.5, "slope": 0.8}},
        "photos": [
            {
                "photo": "table.jpg",
                "sha256": "ab12",
                "findings": [{"kind": "25 mm", "probability": 0.9, "is_piece": False}],
            }
        ],
    },
}
READERS: dict[str, Callable[[Path], Any]] = {
    "scene": Scene.load,
    "board": Board.load,
    "lens": Lens.load,
    "terrain": load_terrain,
    "fix": lambda path: read_fixes(Node.of_toml(path)),
    "taught": Taught.load,
}
JUNK: tuple[Any, ...] = (None, True, "", "x", "5", -1, 0, 0.5, 10**400, [], [1, 2], {}, {"x": 1})
GONE = object()
BEYOND = re.compile(
    r"repeats|unknown name|crosses itself|different points|on one line|symmetric|semi-definite|lies below"
    r"|does not lie above|covariance.*expected \d+ (rows|numbers)|expected \d+ places|its sides are|counter-clockwise"
    r"|can have been printed|is no base|is that of no camera|is no table|lies outside the picture"
    r"|says nothing of the lens|bends the picture over"
)
"""What no schema says: how the parts of a document hang together. A base's spelling is only looked at roughly."""


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where all parts of a document stand."""
    for key, part in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    ):
        yield (*path, key)
        yield from paths(part, (*path, key))


def at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def broken(document: Any, path: tuple[Any, ...], junk: Any) -> Any:
    document = copy.deepcopy(document)
    inner = at(document, path[:-1])
    if junk is GONE:
        del inner[path[-1]]
    else:
        inner[path[-1]] = junk
    return document


def refusal(name: str, document: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the program says to a document; nothing where it takes it."""
    for how in ("of_json_file", "of_toml"):
        monkeypatch.setattr(Node, how, lambda *_: Node(document, name))
    try:
        READERS[name](Path(name))
    except BadInput as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", PLAIN)
def test_the_readers_and_the_schemas_refuse_the_same(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = PLAIN[name]
    assert refusal(name, plain, monkeypatch) == ""
    VALIDATORS[name].validate(plain)
    tried = [(path, junk) for path in paths(plain) for junk in (*JUNK, GONE)]
    tried += [
        ((*path, "surplus"), 1) for path in [(), *paths(plain)] if isinstance(at(plain, path), dict)
    ]
    for path, junk in tried:
        document = broken(plain, path, junk)
        said, fit = refusal(name, document, monkeypatch), fits(name, document)
        where = (
            f"{path} = {junk!r:.40}: the program says {said!r}, the schema {'yes' if fit else 'no'}"
        )
        assert fit == (said == "") or (fit and BEYOND.search(said)), where


@pytest.mark.parametrize("game", GAMES)
def test_the_rules_and_the_schemas_refuse_the_same_questions(game: str) -> None:
    """A question that is broken in one place: what its rule refuses as malformed the schema does."""
    table = RULINGS[game]
    asked: dict[str, dict[str, Any]] = {}
    for ruling in table["rulings"]:
        asked.setdefault(json.dumps([ruling["ask"]["question"], sorted(ruling["ask"])]), ruling)
    for ruling in asked.values():
        scene = Scene.from_json(whole_scene(table, table["scenes"][ruling["scene"]]))
        for path in paths(ruling["ask"]):
            for junk in (*JUNK, GONE):
                question = broken(ruling["ask"], path, junk)
                said, fit = answered(scene, question), fits(f"ask-{game}", question)
                where = f"{ruling['ask']}, {path} = {junk!r:.40}: {said!r}, the schema says {'yes' if fit else 'no'}"
                assert fit == (said == "") or (fit and SITUATION.search(said)), where


SITUATION = re.compile(
    r"expected one direction|unknown name|"
    r"both sides|runs backwards|the ruler goes|needed for this hit|no such figure|repeats"
    r"|is the actor|here one is asked|here a piece|here the id|no ship|overlap itself"
    r"|the attacker itself|the shooter itself|has no arc"
)
"""What a question is refused for that is well formed: names and numbers that do not go with the scene."""


def answered(scene: Scene, question: Any) -> str:
    try:
        ask(scene, question)
    except BadInput as error:
        return str(error)
    return ""
