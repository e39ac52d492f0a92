"""What a game is to the range engine: its questions, its clauses, its ruler, and what a table may choose for itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from overruler.reading import Node
from overruler.rules.measure import between, verdict_on
from overruler.rules.uncertainty import distance_uncertainty
from overruler.scene import GAMES_IN_INCHES, Ruler, Scene
from overruler.units import format_length
from overruler.verdict import Verdict

Rule = Callable[[Scene, Node], Verdict]
"""Answers one kind of question; `BadInput` names what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Something that the rules leave to the table."""

    default: bool
    text: str
    """What true means, in one sentence."""


FROM_TO_EXAMPLE = {"from": "p01", "to": "p02"}
BAND_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    kind: {**FROM_TO_EXAMPLE, "range": [1, 2]} for kind in ("at", "within", "beyond")
}
"""What goes with the questions that every ruler in bands is asked."""


@dataclass(frozen=True, slots=True)
class Game:
    """One game."""

    name: str
    title: str
    questions: Mapping[str, Rule]
    clauses: Mapping[str, str]
    """Each clause that an answer can rest on: its name and, in one sentence, what it says."""
    ruler: Ruler | None = None
    settings: Mapping[str, Setting] = field(default_factory=dict)
    examples: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What goes with some of the questions, to show how they are asked; the others are asked `from` and `to`."""

    def example(self, kind: str) -> dict[str, Any]:
        """How a question is asked."""
        return {
            "question": kind,
            **self.examples.get(kind, BAND_EXAMPLES.get(kind, FROM_TO_EXAMPLE)),
        }

    def ruler_of(self, scene: Scene) -> Ruler:
        """The scene's own ruler or the game's."""
        ruler = scene.ruler or self.ruler
        assert ruler is not None, f"{self.name} has no ruler"
        return ruler

    def chosen(self, scene: Scene, name: str) -> bool:
        """What this table chose for a setting, in the scene's `state.settings`."""
        settings = _read_settings(scene)
        return settings[name].boolean() if settings.has(name) else self.settings[name].default

    def check(self, scene: Scene) -> None:
        """Raise `BadInput` where the scene chooses what this game does not leave open."""
        settings = _read_settings(scene)
        for name in settings.keys():  # noqa: SIM118 - a Node is no dict
            if name not in self.settings:
                settings[name].fail(
                    f"{self.title} has no such setting; it has: {', '.join(self.settings) or 'none'}"
                )
            settings[name].boolean()


def _read_settings(scene: Scene) -> Node:
    return Node(scene.state.get("settings", {}), "scene", "state.settings").object()


# --- what every game answers ---


def answer_distance(scene: Scene, question: Node) -> Verdict:
    """How far apart two pieces, units or terrains are."""
    measure = between(scene, question)
    doubt = distance_uncertainty(scene, measure, ())
    sigma = doubt.sigma_mm if doubt else 0.0
    return replace(
        verdict_on(question, measure, sigma),
        headline="in contact"
        if measure.closest.touches
        else format_length(measure.distance_mm, 1.96 * sigma, scene.game in GAMES_IN_INCHES),
        rules=("any.edge_to_edge", *(("any.closest_piece",) if len(measure.pairs) > 1 else ())),
    )


COMMON: Mapping[str, Rule] = {"distance": answer_distance}
"""The questions that every game answers."""

COMMON_CLAUSES: Mapping[str, str] = {
    "any.edge_to_edge": "A distance runs from the edge of one base to the edge of the other, level with the table.",
    "any.closest_piece": "A unit is as far away as its closest piece.",
    "any.enemies": "Two pieces are enemies where each has a player and the two differ.",
}
"""The clauses of every game."""
