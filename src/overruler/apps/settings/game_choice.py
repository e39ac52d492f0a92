"""The game that `--game` names: one of the program's, one of its presets, or a preset of the user's own."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from overruler.apps.settings.config_path import config_path
from overruler.errors import BadInput, UnknownName
from overruler.games import GAMES, find_game
from overruler.presets import Preset, load_preset, preset_files, program_presets, read_preset
from overruler.reading import Node


class GameChoice(NamedTuple):
    """A game, and the preset by which it is played."""

    game: str | None
    """The game by whose rules it is ruled; None where no game is chosen."""
    preset: Preset | None = None


def user_folder() -> Path | None:
    """The folder of the user's own presets; None where the user wants no file."""
    path = config_path()
    return path.parent / "games" if path else None


class OwnPresets(NamedTuple):
    """The user's own presets by name, and by name what is wrong with the others."""

    presets: Mapping[str, Preset]
    broken: Mapping[str, BadInput]


def user_presets() -> OwnPresets:
    """The user's own presets; a broken one leaves the others in use."""
    presets: dict[str, Preset] = {}
    broken: dict[str, BadInput] = {}
    folder = user_folder()
    for name, path in (preset_files(folder) if folder else {}).items():
        try:
            preset, document = load_preset(path)
            _check_preset(preset, document)
            presets[name] = preset
        except BadInput as error:
            broken[name] = error
    return OwnPresets(presets, broken)


def _check_preset(preset: Preset, document: Node) -> None:
    """Raise `BadInput` where the rules of a preset's game cannot use it."""
    from overruler.rules import game_of  # few commands read a preset of the user's own

    game = game_of(preset.game)
    if game.needs_ruler and preset.ruler is None:
        document.fail(f"ruler: is missing: {preset.game!r} has none of its own; add [ruler]")
    if document.has("defaults"):
        game.check_defaults(document["defaults"])


def known_presets() -> dict[str, Preset]:
    """All presets by name; the user's own win, and a broken one hides the program's of its name."""
    own = user_presets()
    program = {name: one for name, one in program_presets().items() if name not in own.broken}
    return {**program, **own.presets}


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
        document = Node.of_json(name, option)
        preset = read_preset(document)
        _check_preset(preset, document)
        return GameChoice(preset.game, preset)
    presets = known_presets()
    found = find_game(name, presets)
    if found is None:
        broken = user_presets().broken
        if meant := find_game(name, broken):
            raise broken[meant]
        raise UnknownName(option, name, known_games())
    return GameChoice(presets[found].game, presets[found])


def recorded_game(name: str | None, option: str = "--game") -> str | None:
    """A game as records keep it: a preset of the user's own as JSON, so that all machines know it."""
    game, preset = choose_game(name, option)
    if preset is None or preset == program_presets().get(preset.name):
        return preset.name if preset else game
    return json.dumps(preset.to_json(), separators=(",", ":"))
