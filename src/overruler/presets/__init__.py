"""Games as data: a ruler, bases and usual distances, ruled by one of the program's games.

A preset is a TOML file. The program's own lie in this folder, a user's in the folder `games` beside
the file of `overruler config`. A preset's name is its file's. It says how a game is measured, in
words of mechanics, and nothing of what a rule book says.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from overruler.bases import Base, read_base_size
from overruler.errors import BadInput
from overruler.games import GAMES, Ruler, read_ruler, read_ruler_of_lines
from overruler.reading import Node
from overruler.reading.fields import file_path
from overruler.units import MM_PER_INCH, UNITS

SCHEMA = "overruler/game/1"
FOLDER = Path(__file__).parent
"""Where the program's own presets lie."""
KEYS = ("schema", "name", "title", "game", "unit", "bases", "ruler", "defaults")


@dataclass(frozen=True, slots=True)
class Preset:
    """One game as data."""

    name: str
    title: str
    game: str
    """The game by whose rules it is ruled."""
    unit: str | None
    """One of `UNITS`; None for the game's."""
    bases: tuple[Base, ...] | None
    """The bases to look for; None for the game's."""
    ruler: Ruler | None
    """None for the game's."""
    defaults: Mapping[str, Mapping[str, Any]]
    """By question: what its fields are where a question leaves them out."""

    @classmethod
    def load(cls, path: str | Path) -> "Preset":
        """Read a preset's file; `BadInput` names the file and what is wrong in it.

        Whether its defaults are fields of its game's questions shows when one is asked.
        """
        return load_preset(file_path(path, "Preset.load"))[0]

    def to_json(self) -> dict[str, Any]:
        """The preset as a file has it."""
        known: dict[str, Any] = {
            "schema": SCHEMA,
            "name": self.name,
            "title": self.title,
            "game": self.game,
            "unit": self.unit,
            "bases": [base.name for base in self.bases] if self.bases else None,
            "ruler": self.ruler.to_json() if self.ruler else None,
            "defaults": {kind: dict(values) for kind, values in self.defaults.items()} or None,
        }
        return {key: value for key, value in known.items() if value is not None}

    def state(self) -> dict[str, Any]:
        """What it adds to a scene's `state`."""
        known: dict[str, Any] = {"preset": self.name, "unit": self.unit}
        known["defaults"] = {kind: dict(values) for kind, values in self.defaults.items()}
        return {key: value for key, value in known.items() if value}


def preset_files(folder: Path) -> dict[str, Path]:
    """The files of a folder's presets by name, in order; none where there is no folder."""
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def load_preset(path: Path) -> tuple[Preset, Node]:
    """The preset of a file, and the file's document; `BadInput` names the file and what is wrong in it.

    Its defaults are unchecked: what questions hold is known to the rules alone.
    """
    if path.stem in GAMES:
        raise BadInput(f"{path}: {path.stem!r} is a game of the program; name the file otherwise")
    document = Node.of_toml(path)
    preset = read_preset(document)
    if preset.name not in ("", path.stem):
        document["name"].fail(
            f"is {preset.name!r}, and the file's name is the preset's: leave it out, "
            f"or name the file {preset.name}.toml"
        )
    return replace(preset, name=path.stem), document


@lru_cache(maxsize=1)
def program_presets() -> dict[str, Preset]:
    """The program's own presets by name."""
    return {name: load_preset(path)[0] for name, path in preset_files(FOLDER).items()}


def read_preset(node: Node) -> Preset:
    """Read a preset; `BadInput` names what is wrong."""
    node.object().reject_unknown_keys(KEYS)
    node["schema"].choice((SCHEMA,))
    return Preset(
        name=node.get("name", Node.text, ""),
        title=node["title"].text(),
        game=node["game"].choice(GAMES),
        unit=node.get("unit", lambda unit: unit.choice(UNITS), None),
        bases=node.get("bases", _read_bases, None),
        ruler=node.get("ruler", _read_ruler, None),
        defaults=node.get("defaults", _read_defaults, {}),
    )


def _read_bases(node: Node) -> tuple[Base, ...]:
    bases = tuple(map(_read_base, node.items()))
    return bases or node.fail("is empty: name a base, or leave bases out for the game's own")


def _read_base(node: Node) -> Base:
    text = read_base_size(node)
    try:
        return Base.parse(text)
    except BadInput as error:
        return node.fail(str(error))


def _read_ruler(node: Node) -> Ruler:
    """Read a ruler; `lines_in` gives its lines in inches."""
    if not node.has("lines_in"):
        return read_ruler(node)
    if node.has("lines_mm"):
        node.fail("has both lines_mm and lines_in; give one of the two")
    return read_ruler_of_lines(node, "lines_in", MM_PER_INCH)


def _read_defaults(node: Node) -> dict[str, dict[str, Any]]:
    """Read the defaults of questions; the rules know which of them there are."""
    kinds = node.object().value
    return {kind: dict(node[kind].object().value) for kind in kinds}
