"""What two taps ask in each game, and the arcs of a ship.

`A` and `B` stand for the pieces tapped (or their units, where a question asks for units), `ARC` for the arc chosen and
`REACH` for the inches typed.
"""

from collections.abc import Mapping
from typing import Any

from overruler.apps.web.piece_profiles import PROFILE_QUESTIONS, PROFILES
from overruler.apps.web.scene_paths import arc_edge_paths
from overruler.geometry.arcs import Edge
from overruler.reading import Node
from overruler.rules import game_of
from overruler.rules.game import COMMON, FROM_TO_EXAMPLE
from overruler.rules.games.xwing.ship_arcs import read_arc
from overruler.scene import GAMES, Piece, Scene

_FROM_TO = {"from": "A", "to": "B"}
DISTANCE_QUESTION = {"label": "Distance", "ask": {"question": "distance", **_FROM_TO}}
RANGE_QUESTION = {"label": "Range", "ask": {"question": "range", **_FROM_TO}}
QUICK_QUESTIONS: dict[str, list[dict[str, Any]]] = {
    "legion": [
        RANGE_QUESTION,
        {"label": "Attack", "ask": {"question": "attack_range", "attacker": "A", "defender": "B"}},
    ],
    "xwing": [
        RANGE_QUESTION,
        {
            "label": "Attack",
            "ask": {"question": "attack_range", "attacker": "A", "defender": "B", "arc": "ARC"},
            "arcs": ["front", "left", "right", "rear", "full_front", "full_rear", "bullseye"],
        },
    ],
    "positioning": [
        {
            "label": "Within",
            "ask": {"question": "within", **_FROM_TO, "distance_in": "REACH"},
            "reach_in": 6,
        },
        {"label": "Base to base", "ask": {"question": "b2b", **_FROM_TO}},
        {"label": "Sight", "ask": {"question": "los", **_FROM_TO}},
        {"label": "Cover", "ask": {"question": "cover", **_FROM_TO}},
    ],
}
_PLACEHOLDERS = {FROM_TO_EXAMPLE["from"]: "A", FROM_TO_EXAMPLE["to"]: "B"}
"""Which of the two tapped pieces the pieces of the games' examples stand for."""


def questions_of_game(name: str) -> list[dict[str, Any]]:
    """What two taps ask in a game, the distance aside: a game that has no say here is asked what its examples show."""
    if name in QUICK_QUESTIONS or name in PROFILE_QUESTIONS:
        return QUICK_QUESTIONS.get(name, [])
    game = game_of(name)
    made = (
        _question_from_example(game.example(kind)) for kind in game.questions if kind not in COMMON
    )
    return [tap for tap in made if tap is not None]


def _question_from_example(example: Mapping[str, Any]) -> dict[str, Any] | None:
    """A question as two taps ask it, inches typed; None where it asks for more than that."""
    kind = example["question"]
    inches = [
        key
        for key, value in example.items()
        if key.endswith("_in") and isinstance(value, int | float)
    ]
    known = {
        key: _PLACEHOLDERS[value]
        for key, value in example.items()
        if isinstance(value, str) and value in _PLACEHOLDERS
    }
    known |= dict.fromkeys(inches[:1], "REACH")
    if (
        sorted(known.values()) not in (["A", "B"], ["A", "B", "REACH"])
        or len(known) < len(example) - 1
    ):
        return None
    reach = {"reach_in": example[inches[0]]} if inches else {}
    return {
        "label": kind.replace("_", " ").capitalize(),
        "ask": {"question": kind, **known},
        **reach,
    }


def games_json() -> list[dict[str, Any]]:
    """Each game with what it can be asked by tapping."""
    return [
        {
            "name": name,
            "title": game_of(name).title,
            "taps": [*questions_of_game(name), DISTANCE_QUESTION, *PROFILE_QUESTIONS.get(name, ())],
            "profile": PROFILES.get(name, []),
        }
        for name in GAMES
    ]


def arc_outlines(scene: Scene, ship: Piece) -> list[dict[str, Any]]:
    """The outlines of a ship's arcs on the photo; `BadInput` where nobody knows yet which side is its front."""
    index = scene.pieces.index(ship)
    found = []
    for name in _arc_names(ship):
        region = read_arc(scene, index, Node(name, "arc")).on_board(ship)
        found.append(
            {
                "name": name,
                "lines": arc_edge_paths(scene, ship, [_edge_ray(edge) for edge in region.edges]),
            }
        )
    return found


def _edge_ray(edge: Edge) -> tuple[Any, Any]:
    return edge.start, edge.direction


def _arc_names(ship: Piece) -> list[str]:
    own = [str(arc.get("name")) for arc in ship.stats.get("arcs", []) if isinstance(arc, dict)]
    return list(
        dict.fromkeys((*own, *(("front", "rear") if ship.base.is_square else ()), "bullseye"))
    )
