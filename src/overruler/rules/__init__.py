"""The range engine: a scene and a question in, a verdict out. Neither a picture nor OpenCV is anywhere near.

One game is one module in `games`, with its record in `GAME`, and one table of rulings in the tests.
"""

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from overruler.errors import UnknownName
from overruler.reading import Node
from overruler.rules.game import COMMON_CLAUSES, Game
from overruler.scene import GAMES, Scene
from overruler.verdict import Verdict

if TYPE_CHECKING:
    from overruler.rules.matrix import Matrix


def ask(scene: Scene, question: Node | Mapping[str, Any]) -> Verdict:
    """What the rules of the scene's game say to a question; `BadInput` names what is wrong with it.

    ask(scene, {"question": "range", "from": "r1", "to": "guards"}).answer      # {"range": 2, "melee": False}
    """
    node = question if isinstance(question, Node) else Node(question, "question")
    game = game_of(scene.game)
    game.check(scene)
    kind = node["question"].text()
    if kind not in game.questions:
        answers = ", ".join(sorted(game.questions))
        node["question"].fail(f"{game.title} has no question {kind!r}; it answers: {answers}")
    verdict = game.questions[kind](scene, node)
    if scene.alternative_scene is None or verdict.probability is None:
        return verdict
    share, other = scene.alternative_scene
    return verdict.mixed_with(game.questions[kind](other, node), share)


def matrix(scene: Scene, game: str | None = None) -> "Matrix":
    """Every piece against every piece: distances, ranges and their probabilities, in arrays.

    By the rules of the scene's game or of another; `BadInput` names what that game finds wrong in the scene.
    """
    from overruler.rules.matrix import build_matrix

    return build_matrix(scene, game)


@lru_cache
def game_of(name: str) -> Game:
    """The record of a game; `UnknownName` where there is no such game."""
    if name not in GAMES:
        raise UnknownName("game", name, GAMES)
    game: Game = import_module(f"{__name__}.games.{name}.game").GAME
    return game


def clause_text(name: str) -> str:
    """What a clause says, in one sentence."""
    return (
        COMMON_CLAUSES[name]
        if name in COMMON_CLAUSES
        else game_of(name.partition(".")[0]).clauses[name]
    )
