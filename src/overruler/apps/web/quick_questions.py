"""What two taps ask in each game, and the arcs of a ship.

`A` and `B` stand for the pieces tapped, or for their units where a question is about units; `ARC` for the arc chosen
and `REACH` for the inches typed.
"""

from typing import Any

from overruler.apps.settings.game_choice import known_presets
from overruler.apps.web.scene_paths import arc_edge_paths
from overruler.games import GAMES
from overruler.geometry.arcs import Edge
from overruler.presets import Preset
from overruler.reading import Node
from overruler.rules import game_of
from overruler.rules.areas.arcs import read_arcs
from overruler.rules.fields import Tap
from overruler.rules.game import COMMON_TAPS, Game, StatField
from overruler.scene import Piece, Scene

_FROM_TO = {"from": "A", "to": "B"}
DISTANCE_QUESTION = {"label": "Distance", "ask": {"question": "distance", **_FROM_TO}}
"""What two taps ask in every game."""
RANGE_QUESTION = {"label": "Range", "ask": {"question": "range", **_FROM_TO}}


def questions_of_game(name: str) -> list[dict[str, Any]]:
    """What two taps ask of bases without a profile, the distance aside."""
    game = game_of(name)
    return [tap_json(game, tap) for tap in game.taps if not tap.needs]


def common_questions(name: str) -> list[dict[str, Any]]:
    """What taps ask in every game: distances, and the ground round one base."""
    return [tap_json(game_of(name), tap) for tap in COMMON_TAPS]


def profile_questions(name: str) -> list[dict[str, Any]]:
    """What two taps ask once both bases have a profile."""
    game = game_of(name)
    return [tap_json(game, tap) for tap in game.taps if tap.needs]


def tap_json(game: Game, tap: Tap) -> dict[str, Any]:
    """A tap as the page asks it."""
    asked = game.questions[tap.question].tapped(tap)
    options = {
        "arcs": list(tap.arcs),
        "reach_in": tap.reach_in,
        "needs": dict(tap.needs),
        "by_unit": tap.by_unit,
        "on_grid": tap.on_grid,
    }
    return {
        "label": tap.label,
        "ask": {"question": tap.question, **asked},
        **{key: value for key, value in options.items() if value},
    }


def _stat_json(field: StatField) -> dict[str, Any]:
    """A field of a piece's profile, as the page asks for it."""
    known: dict[str, Any] = {"key": field.key, "label": field.label, "type": field.type}
    if field.choices:
        known["of"] = list(field.choices)
    if field.next_turn is not None:
        known["turn"] = field.next_turn
    return known


def games_json() -> list[dict[str, Any]]:
    """Each game and each preset with what it can be asked by tapping."""
    games = [_game_json(name, game_of(name)) for name in GAMES]
    return games + [_preset_json(preset) for preset in known_presets().values()]


def _game_json(name: str, game: Game) -> dict[str, Any]:
    taps = [*questions_of_game(name), *common_questions(name), *profile_questions(name)]
    profile = [_stat_json(field) for field in game.stat_fields]
    told = {"name": name, "title": game.title, "taps": taps, "profile": profile}
    return told | ({"needs_ruler": True} if game.needs_ruler else {})


def _preset_json(preset: Preset) -> dict[str, Any]:
    """A preset as its game, with the reach that it has by default."""
    shown = _game_json(preset.game, game_of(preset.game))
    if preset.ruler is not None:
        shown.pop("needs_ruler", None)
    for tap in shown["taps"]:
        reach_in = preset.defaults.get(tap["ask"]["question"], {}).get("distance_in")
        if "reach_in" in tap and reach_in:
            tap["reach_in"] = reach_in
    return shown | {"name": preset.name, "title": preset.title, "preset": True}


def arc_outlines(scene: Scene, ship: Piece, photo: int = 0) -> list[dict[str, Any]]:
    """The outlines of a ship's arcs on the photo; `BadInput` where nobody knows yet which side is its front."""
    index = scene.pieces.index(ship)
    found = []
    for name in _arc_names(ship):
        region = read_arcs(scene, index, Node(name, "arc"))[0].on_board(ship)
        found.append(
            {
                "name": name,
                "lines": arc_edge_paths(
                    scene, ship, [_edge_ray(edge) for edge in region.edges], photo
                ),
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
