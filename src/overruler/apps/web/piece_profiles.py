"""What the page asks of a base beside its place, where a game's questions rest on it: its profile, a scene's `stats`.

A field's `key` is the path in `stats`; its `type` is `whole`, `number`, `flag`, `choice` or `figures` (range values,
one for each figure). A part whose first field is left empty is null: no ranged weapon. `turn` is what becomes of a
mark when a new turn begins: the key of the mark whose word it takes over, or empty where it ends.
"""

from typing import Any

ProfileField = dict[str, Any]


def _make_fields(kind: str, **labels: str) -> list[ProfileField]:
    return [
        {"key": key.replace("__", "."), "label": label, "type": kind}
        for key, label in labels.items()
    ]


def _turn_flags(turn: str, **labels: str) -> list[ProfileField]:
    return [field | {"turn": turn} for field in _make_fields("flag", **labels)]


PROFILES: dict[str, list[ProfileField]] = {
    "skirmish": [
        *_make_fields("whole", defence="Defence"),
        *_make_fields("number", ranged_weapon__range_in="Weapon's range, in"),
        *_make_fields(
            "whole", ranged_weapon__piercing="Its piercing", ranged_weapon__injury="Its injury"
        ),
        *_make_fields("flag", ranged_weapon__long_reload="Long reload", large="Large"),
        *_turn_flags("", moved="Moved", ran="Ran", cast="Cast"),
        *_make_fields("flag", engaged="Engaged", stunned="Stunned", dazed="Dazed"),
        *_turn_flags("shot_this_turn", shot_last_turn="Shot last turn"),
        *_turn_flags("", shot_this_turn="Shot this turn"),
    ],
    "tide_of_iron": [
        *_make_fields("figures", figures="Range of each figure"),
        {"key": "type", "label": "Type", "type": "choice", "of": ["infantry", "vehicle"]},
        {"key": "elevation", "label": "Level", "type": "choice", "of": [0, 1, 2]},
    ],
    "positioning": _make_fields("whole", size="Size", tier="Tier"),
}

SHOT_NEEDS, FIGURE_NEEDS = {"A": "ranged_weapon", "B": "defence"}, {"A": "figures"}
"""What of whose profile must be there before a question is asked."""
PROFILE_QUESTIONS: dict[str, list[dict[str, Any]]] = {
    "skirmish": [
        {
            "label": "Shot",
            "ask": {"question": "shot", "unit": "A", "target": "B"},
            "needs": SHOT_NEEDS,
        }
    ],
    "tide_of_iron": [
        {
            "label": "Attack",
            "ask": {"question": "attack_range", "attacker": "A", "target": "B"},
            "needs": FIGURE_NEEDS,
        },
        {
            "label": "On the move",
            "ask": {
                "question": "attack_range",
                "attacker": "A",
                "target": "B",
                "fire_and_movement": True,
            },
            "needs": FIGURE_NEEDS,
        },
    ],
}
"""What two taps ask once both bases have a profile."""
