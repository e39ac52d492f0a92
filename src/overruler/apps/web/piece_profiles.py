"""What the page asks of a base beside its place, where a game's questions rest on it: its profile, a scene's `stats`.

A field's `key` is the path in `stats`; its `type` is `whole`, `number`, `flag`, `choice` or `figures` (range values,
one for each figure). A part whose first field is left empty is null: no ranged weapon. `turn` is what becomes of a
mark when a new turn begins: the key of the mark whose word it takes over, or empty where it ends.
"""

from typing import Any

Field = dict[str, Any]


def _fields(kind: str, **labels: str) -> list[Field]:
    return [{"key": key.replace("__", "."), "label": label, "type": kind} for key, label in labels.items()]


def _turning(turn: str, **labels: str) -> list[Field]:
    return [field | {"turn": turn} for field in _fields("flag", **labels)]


PROFILES: dict[str, list[Field]] = {
    "skirmish": [
        *_fields("whole", defence="Defence"),
        *_fields("number", ranged_weapon__range_in="Weapon's range, in"),
        *_fields("whole", ranged_weapon__piercing="Its piercing", ranged_weapon__injury="Its injury"),
        *_fields("flag", ranged_weapon__long_reload="Long reload", large="Large"),
        *_turning("", moved="Moved", ran="Ran", cast="Cast"),
        *_fields("flag", engaged="Engaged", stunned="Stunned", dazed="Dazed"),
        *_turning("shot_this_turn", shot_last_turn="Shot last turn"),
        *_turning("", shot_this_turn="Shot this turn"),
    ],
    "tide_of_iron": [
        *_fields("figures", figures="Range of each figure"),
        {"key": "type", "label": "Type", "type": "choice", "of": ["infantry", "vehicle"]},
        {"key": "elevation", "label": "Level", "type": "choice", "of": [0, 1, 2]},
    ],
    "positioning": _fields("whole", size="Size", tier="Tier"),
}

SHOT, FIGURES = {"A": "ranged_weapon", "B": "defence"}, {"A": "figures"}
"""What of whose profile must be there before a question is asked."""
ATTACKS: dict[str, list[dict[str, Any]]] = {
    "skirmish": [{"label": "Shot", "ask": {"question": "shot", "unit": "A", "target": "B"}, "needs": SHOT}],
    "tide_of_iron": [
        {"label": "Attack", "ask": {"question": "attack_range", "attacker": "A", "target": "B"}, "needs": FIGURES},
        {
            "label": "On the move",
            "ask": {"question": "attack_range", "attacker": "A", "target": "B", "fire_and_movement": True},
            "needs": FIGURES,
        },
    ],
}
"""What two taps ask once both bases have a profile."""
