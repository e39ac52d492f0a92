"""House rules: who owns which pieces, and the settings that a game leaves to the table.

players = {"red": "Anna", "left": "Ben"}        # by the colour of a base's ring, or by the half of the board
rules = {"legion.ranged_in_contact": False}     # a game's setting
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from overruler.errors import UnknownName
from overruler.games import GAMES, facts_of, find_game
from overruler.presets import Preset, program_presets
from overruler.reading import Node
from overruler.scene import Scene

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
    """The game as data that the table plays."""
    unit: str | None = None
    """The unit that lengths are told in, one of `units.UNITS`; None: as the game reads them."""

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


def named_game(name: str | None) -> tuple[str | None, Preset | None]:
    """The game of a name, however it is spelled, and its preset where it names one of the program's."""
    if name is None or name in GAMES:
        return name, None
    known = (*GAMES, *program_presets())
    found = find_game(Node(name, "game").text(), known)
    if found is None:
        raise UnknownName("game", name, known)
    preset = program_presets().get(found)
    return (found, None) if preset is None else (preset.game, preset)
