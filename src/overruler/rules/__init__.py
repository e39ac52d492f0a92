"""The range engine: a scene and a question in, a verdict out. Neither a picture nor OpenCV is anywhere near.

One game is one module of this package, with its record in `GAME`, and one table of rulings in the tests.
"""

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from overruler.reading import Node
from overruler.rules.game import ANY, COMMON, Game
from overruler.scene import Scene
from overruler.verdict import Verdict


def ask(scene: Scene, question: Node | Mapping[str, Any]) -> Verdict:
    """What the rules of the scene's game say to a question; `BadInput` names what is wrong with it.

    ask(scene, {"question": "range", "from": "r1", "to": "guards"}).answer      # {"range": 2, "melee": False}
    """
    node = question if isinstance(question, Node) else Node(question, "question")
    game = game_of(scene.game)
    game.check(scene)
    kind = node["question"].text()
    if kind not in game.questions:
        node["question"].fail(f"{_unanswered(kind, game)}; it answers: {', '.join(sorted(game.questions))}")
    return game.questions[kind](scene, node)


@lru_cache
def game_of(name: str) -> Game:
    """The record of a game; one without a module of its own yet answers what every game answers."""
    module = f"{__name__}.{name}"
    if find_spec(module) is None:
        return Game(name, name, COMMON, {})
    game: Game = import_module(module).GAME
    return game


def clause(name: str) -> str:
    """What a clause says, in one sentence."""
    return {**ANY, **game_of(name.partition(".")[0]).clauses}[name]


def _unanswered(kind: str, game: Game) -> str:
    if game.clauses:
        return f"{game.title} has no question {kind!r}"
    return f"{kind!r}: the rules of {game.name} are not implemented yet"
