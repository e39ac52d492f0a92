"""The game that `--game` names: one of the program's, one of its presets, or a preset of the user's own."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from overruler.apps.settings.config_path import config_path
from overruler.errors import UnknownName
from overruler.games import GAMES, find_game
from overruler.presets import Preset, load_presets, parse_preset, program_presets


class GameChoice(NamedTuple):
    """A game, and the preset by which it is played."""

    game: str | None
    """The game by whose rules it is ruled; None where no game is chosen."""
    preset: Preset | None = None


def user_folder() -> Path | None:
    """The folder of the user's own presets; None where the user wants no file."""
    path = config_path()
    return path.parent / "games" if path else None


def user_presets() -> Mapping[str, Preset]:
    """The user's own presets by name."""
    folder = user_folder()
    return load_presets(folder) if folder else {}


def known_presets() -> dict[str, Preset]:
    """All presets by name; the user's own win."""
    return {**program_presets(), **user_presets()}


def known_games() -> tuple[str, ...]:
    """The names that `--game` takes."""
    return (*GAMES, *known_presets())


def choose_game(name: str | None, option: str = "--game") -> GameChoice:
    """The game of a name, however it is spelled, or of a preset as JSON; `UnknownName` where there is none."""
    if name is None or name in GAMES:
        return GameChoice(name)
    if game := find_game(name):
        return GameChoice(game)
    if name.lstrip().startswith("{"):
        preset = parse_preset(name, option)
        return GameChoice(preset.game, preset)
    presets = known_presets()
    found = find_game(name, presets)
    if found is None:
        raise UnknownName(option, name, known_games())
    return GameChoice(presets[found].game, presets[found])


def recorded_game(name: str | None, option: str = "--game") -> str | None:
    """A game as records keep it: a preset of the user's own as JSON, so that all machines know it."""
    game, preset = choose_game(name, option)
    if preset is None or preset == program_presets().get(preset.name):
        return preset.name if preset else game
    return json.dumps(preset.to_json(), separators=(",", ":"))
