"""What a table has settled for itself and no photo shows: whose the pieces are, and its own rules.

players = {"red": "Anna", "left": "Ben"}        # the colour of a base's ring, or the half of the board
rules = {"legion.ranged_in_contact": False}     # settings that a game leaves to the table
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

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
"""The colours of rings by their hue. Black, grey and white are no sign: half of all bases have such a rim anyway."""
BOARD_HALVES = ("left", "right", "near", "far")
"""Halves of the board as its frame has it: right is where x is large, far is where y is."""
OWNER_SIGNS = (*RING_HUES_DEG, *BOARD_HALVES)
"""By what a piece's player can be known."""


@dataclass(frozen=True, slots=True)
class HouseRules:
    """One table's own."""

    players: Mapping[str, str] = field(default_factory=dict)
    """A player's name by each sign of theirs."""
    rules: Mapping[str, bool] = field(default_factory=dict)
    """What was chosen, by the name of a game and of its setting with a dot between."""

    def apply_to(self, scene: Scene) -> Scene:
        """The scene with the house's rules, where it does not choose for itself."""
        chosen = self.settings_of(scene.game)
        if not chosen:
            return scene
        own = scene.state.get("settings", {})
        settings = (
            {**chosen, **own} if isinstance(own, dict) else own
        )  # no object: complained of where it is read
        return replace(scene, state={**scene.state, "settings": settings})

    def settings_of(self, game: str) -> dict[str, bool]:
        """What was chosen for one game, by the names of its settings."""
        split = ((*name.partition("."), chosen) for name, chosen in self.rules.items())
        return {setting: chosen for owner, _, setting, chosen in split if owner == game}
