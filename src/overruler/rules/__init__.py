"""The range engine: a scene and a question in, a verdict out. It needs neither pictures nor OpenCV.

A game is one folder in `games` with its record `GAME` in `game.py`, one record in
`overruler.games`, and one table of rulings in the tests.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from overruler.errors import did_you_mean
from overruler.games import GAMES
from overruler.reading import Node
from overruler.reading.fields import check_kind
from overruler.rules.doubtful_pieces import with_reasons_for_doubt
from overruler.rules.registry import clause_text, game_of
from overruler.scene import Scene
from overruler.units import INCHES
from overruler.verdict import Verdict

if TYPE_CHECKING:
    from overruler.rules.game import Game
    from overruler.rules.pair_ranges import Matrix

VAGUE_SIGMA_MM = 300.0
"""1 σ of a place, in mm, from which nothing is certain: as long as a ruler, no photo is so unsure."""

__all__ = ["ask", "check_question", "clause_text", "game_of", "matrix", "read_question"]


def ask(scene: Scene, question: Node | Mapping[str, Any] | str) -> Verdict:
    """Answer a question by the rules of the scene's game; `BadInput` names what is wrong with it.

    A text is a question in words, or JSON.

    ask(scene, "range r1 guards").answer
    # {"range": 2, "melee": False}
    """
    check_kind(scene, Scene, "ask", "scene")
    game = game_of(scene.game)
    if isinstance(question, str):
        question = read_question(scene.game, question, "question")
    node = question if isinstance(question, Node) else Node(question, "question")
    game.check(scene)
    _check_default_kinds(scene, game)
    kind = node["question"].text()
    if kind not in game.questions:
        answers = ", ".join(sorted(game.questions))
        hint = did_you_mean(kind, game.questions)
        node.fail(f"{game.title} has no question {kind!r}; it answers: {answers}{hint}")
    node, defaults = _with_defaults(scene, game, node)
    answer = game.questions[kind].answer
    verdict = with_reasons_for_doubt(scene, answer(scene, node))
    if defaults:
        verdict = replace(verdict, settings={**defaults, **verdict.settings})
    if scene.unit == INCHES:
        verdict = replace(verdict, unit=INCHES, also_in_inches="unit" in scene.state)
    if verdict.probability is None:
        return verdict
    if scene.alternative_scene is not None:
        probability, alternative = scene.alternative_scene
        verdict = verdict.mixed_with(answer(alternative, node), probability)
    return replace(verdict, is_vague=_is_vague(scene, verdict)).with_calls_of_results()


def _check_default_kinds(scene: Scene, game: "Game") -> None:
    """Raise `BadInput` for defaults of a question that no game has: another game's wait for its rules."""
    defaults = Node(scene.state.get("defaults", {}), "scene", "state.defaults")
    others = [kind for kind in defaults.value if kind not in game.questions]
    known = {kind for name in GAMES for kind in game_of(name).questions} if others else set()
    for kind in others:
        if kind not in known:
            defaults[kind].fail(f"no game has such a question{did_you_mean(kind, known)}")


def check_question(scene: Scene, question: Node) -> None:
    """Raise `BadInput` where a question lacks a field; the scene needs no pieces yet."""
    _with_defaults(scene, game_of(scene.game), question)


def _with_defaults(scene: Scene, game: "Game", node: Node) -> tuple[Node, dict[str, Any]]:
    """A question with what the scene says of fields that it leaves out, and these alone."""
    question = game.questions[node["question"].text()]
    node = question.with_usual_names(node)
    defaults = game.defaults_of(scene, node["question"].text(), node)
    if defaults:
        node = Node({**defaults, **node.value}, node.name, node.path)
    if missing := [name for name in question.needed if not node.has(name)]:
        from overruler.rules.words import example_in_words

        verb = "is missing" if len(missing) == 1 else "are missing"
        said = example_in_words(scene, game, node)
        strange = [name for name in node.value if name != "question" and not question.takes(name)]
        are_none = "is no field of it" if len(strange) == 1 else "are no fields of it"
        instead = strange and f", and {', '.join(map(repr, strange))} {are_none}"
        example = said and f"; ask, for example: {said}"
        node.fail(f"{', '.join(missing)}: {verb}{instead or ''}{example}")
    return node, defaults


def _is_vague(scene: Scene, verdict: Verdict) -> bool:
    """Whether the positions are too unsure for an answer: by the distance's σ, or by any piece's."""
    if verdict.sigma_mm is not None:
        return verdict.sigma_mm > VAGUE_SIGMA_MM
    return scene.largest_sigma_mm > VAGUE_SIGMA_MM


def read_question(game: str, text: str, name: str) -> Node:
    """The question to a game that a text asks, as JSON or in words: `range p01 p02`.

    `name` says in errors where the text stands.
    """
    from overruler.rules.words import read_question as read

    return read(game_of(game).questions, text, name)


def matrix(scene: Scene, game: str | None = None) -> "Matrix":
    """Measure every piece against every other: distances, ranges and probabilities, in arrays.

    By the rules of the scene's game or of another; `BadInput` names what is wrong in the scene.
    """
    check_kind(scene, Scene, "matrix", "scene")
    from overruler.rules.pair_matrix import build_matrix

    return build_matrix(scene, game)
