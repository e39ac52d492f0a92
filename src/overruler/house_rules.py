"""House rules: who owns which pieces, and the settings that a game leaves to the table.

players = {"red": "Anna", "left": "Ben"}        # by the colour of a base's ring, or by the half of the board
rules = {"legion.ranged_in_contact": False}     # a game's setting
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from overruler.errors import OverrulerError, UnknownName
from overruler.games import DEFAULT_GAME, GAMES, facts_of, find_game
from overruler.presets import Preset, program_presets
from overruler.reading import Node
from overruler.scene import Scene
from overruler.units import lengths_in_unit

RING_HUES_DEG: Mapping[str, float] = {
    "red": 0.0,
    "orange": 28.0,
    "yellow": 52.0,
    "green": 120.0,
    "turquoise": 178.0,
    "blue": 220.0,
    "purple": 280.0,
    "pink": 325.0,
}
"""Hue of each ring colour. Black, grey and white are none: half of all bases have such a rim."""
BOARD_HALVES = ("left", "right", "near", "far")
"""Halves of the board in its frame: `right` has the larger x, `far` the larger y."""
OWNER_SIGNS = (*RING_HUES_DEG, *BOARD_HALVES)
"""Signs by which a piece's player can be known."""


@dataclass(frozen=True, slots=True)
class HouseRules:
    """The house rules of a table."""

    players: Mapping[str, str] = field(default_factory=dict)
    """Name of the player by sign, one of `OWNER_SIGNS`."""
    rules: Mapping[str, bool | str] = field(default_factory=dict)
    """Chosen values by game and setting, joined with a dot."""
    preset: Preset | None = None
    """The game as data that the table plays; a referee takes its game and its bases from it."""
    unit: str | None = None
    """The unit that lengths are told in, one of `units.UNITS`; None: as the game reads them."""

    def unit_told(self, game: str | None) -> str:
        """The unit that lengths are told in on a table of a game, one of `units.UNITS`."""
        state = self.preset.state() if self.preset else {}
        return self.unit or facts_of(game or DEFAULT_GAME).unit_told(state)

    def apply_to(self, scene: Scene) -> Scene:
        """Add the preset and the chosen settings to a scene; the scene's own win, but for the unit."""
        if self.preset is not None:
            scene = replace(
                scene,
                game=self.preset.game,
                ruler=scene.ruler or self.preset.ruler,
                state={**self.preset.state(), **scene.state},
            )
        if self.unit is not None:
            scene = replace(scene, state={**scene.state, "unit": self.unit})
        chosen = self.settings_of(scene.game)
        if not chosen:
            return scene
        settings = scene.state.get("settings", {})
        if isinstance(settings, dict):  # the rules report anything else when they read it
            settings = {**chosen, **settings}
        return replace(scene, state={**scene.state, "settings": settings})

    def settings_of(self, game: str) -> dict[str, bool | str]:
        """The chosen values of a game, by setting."""
        prefix = f"{game}."
        return {
            name.removeprefix(prefix): chosen
            for name, chosen in self.rules.items()
            if name.startswith(prefix)
        }


class Table(Protocol):
    """What is known of a table: its game and its house rules."""

    @property
    def game(self) -> str | None: ...

    @property
    def house(self) -> HouseRules: ...


@contextmanager
def telling_lengths(table: Table) -> Iterator[None]:
    """Errors that pass tell their lengths in the unit of a table."""
    try:
        yield
    except OverrulerError as error:
        error.tell_lengths(partial(lengths_in_unit, unit=table.house.unit_told(table.game)))
        raise


_Known = TypeVar("_Known", bound=Table)
_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


def tells_lengths(
    method: Callable[Concatenate[_Known, _Given], _Found],
) -> Callable[Concatenate[_Known, _Given], _Found]:
    """A method of a table whose errors tell their lengths in its unit."""

    @wraps(method)
    def telling(table: _Known, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Found:
        with telling_lengths(table):
            return method(table, *args, **kwargs)

    return telling


def ruled_by(scene: Scene, game: str, preset: Preset | None = None) -> Scene:
    """The scene by the rules of a game, or of a preset, that someone names to ask by.

    What the scene says of rulers and defaults holds for the game and the preset that it is of. By any
    other it loses them: the named one's hold. A ruler stays where the named one brings none.
    """
    told = str(scene.state.get("preset") or "")
    is_own = not told if preset is None else bool(told and find_game(told, (preset.name,)))
    if scene.game == game and is_own:
        return scene
    lost = {"defaults"}
    if told:
        lost |= {"preset", "unit"}
    if scene.game != game:
        lost.add("settings")  # a setting is one game's
    own = preset.ruler if preset else None
    return replace(
        scene,
        game=game,
        ruler=own or (None if facts_of(game).ruler else scene.ruler),
        state={key: value for key, value in scene.state.items() if key not in lost},
    )


def named_game(name: str | None, given: Preset | None = None) -> tuple[str | None, Preset | None]:
    """The game of a name, however it is spelled, and its preset: the `given` one, or the program's of the name.

    `BadInput` where the name is not that of the given preset or of its game.
    """
    if given is not None:
        own = given.name, given.game
        if name is not None and find_game(Node(name, "game").text(), own) is None:
            told = f"is {name!r}, and the house rules' preset {given.name!r} is of {given.game!r}"
            Node(name, "game").fail(f"{told}: leave the game out, or the preset")
        return given.game, given
    if name is None or name in GAMES:
        return name, None
    known = (*GAMES, *program_presets())
    found = find_game(Node(name, "game").text(), known)
    if found is None:
        raise UnknownName("game", name, known)
    preset = program_presets().get(found)
    return (found, None) if preset is None else (preset.game, preset)
