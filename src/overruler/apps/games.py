"""`overruler games`: the games and presets that `--game` takes, or one of them in full."""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from overruler.apps.settings.game_choice import (
    choose_game,
    known_presets,
    user_folder,
    user_presets,
)
from overruler.errors import BadInput
from overruler.games import GAMES, facts_of, read_ruler
from overruler.presets import Preset
from overruler.reading import Node
from overruler.rules import game_of
from overruler.units import MM_PER_INCH


def add_arguments(parser: argparse.ArgumentParser) -> None:
    game = "a game or a preset, told in full; without it, all in brief"
    parser.add_argument("game", nargs="?", metavar="NAME", help=game)
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")


def run(args: argparse.Namespace) -> int:
    names = [args.game] if args.game else [*GAMES, *known_presets()]
    records = [game_record(name) for name in names]
    if args.json:
        print(json.dumps(records[0] if args.game else records, indent=1))
    else:
        print("\n".join(_record_lines(records[0]) if args.game else _brief_lines(records)))
    return 0 if args.game else _tell_broken()


def _tell_broken() -> int:
    """Name each broken preset of the user's own on standard error; the exit status."""
    broken = user_presets().broken.values()
    for error in broken:
        print(error, file=sys.stderr)
    return BadInput.exit_code if broken else 0


def game_record(name: str) -> dict[str, Any]:
    """A game or a preset as plain data."""
    choice = choose_game(name, "NAME")
    if choice.preset is not None:
        return {**choice.preset.to_json(), **_used(choice.preset)}
    game = game_of(choice.game or name)
    ruler = game.ruler.to_json() if game.ruler else None
    return {"name": game.name, "title": game.title, "game": game.name, "ruler": ruler}


def _used(preset: Preset) -> dict[str, Any]:
    """The unit and the ruler that a preset's answers are told by, its game's where it has none."""
    facts = facts_of(preset.game)
    ruler = preset.ruler or facts.ruler
    unit = preset.unit or ("in" if facts.in_inches else "mm")
    return {"unit": unit, "ruler": ruler.to_json() if ruler else None}


def _brief_lines(records: list[dict[str, Any]]) -> Iterator[str]:
    width = max(len(record["name"]) for record in records) + 2
    for record in records:
        yield f"{record['name']:<{width}}{record['title']}"
    folder = user_folder()
    yield ""
    yield "overruler games NAME says more; --game NAME plays one."
    if folder:
        yield f"Presets of your own lie in {folder}, a TOML file each."


def _record_lines(record: dict[str, Any]) -> Iterator[str]:
    yield record["title"]
    yield f"ruled by: {record['game']} (overruler rules {record['game']})"
    for key in ("unit", "bases"):
        if record.get(key):
            yield f"{key}: {_in_words(record[key])}"
    if record.get("ruler"):
        yield f"ruler: {_ruler_in_words(record['ruler'], record.get('unit'))}"
    for kind, values in record.get("defaults", {}).items():
        yield f"{kind}: {_in_words(values)}"


def _ruler_in_words(known: dict[str, Any], unit: str | None) -> str:
    """The lines of a ruler with their names, in the unit that its distances are read in."""
    ruler = read_ruler(Node(known, "ruler"))
    in_inches = unit == "in"
    lines = (line / MM_PER_INCH if in_inches else line for line in ruler.lines_mm)
    texts = [f"{line:.6g}" for line in lines]
    names = [f"{name} to {text}" for name, text in zip(ruler.names, texts, strict=False)]
    return f"{', '.join(names or texts)} {'in' if in_inches else 'mm'}"


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_in_words(inner)}" for key, inner in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
