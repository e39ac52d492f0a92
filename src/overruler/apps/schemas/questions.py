"""The schemas of the questions that `overruler ask` answers, made from the games' own records."""

from collections.abc import Iterable, Sequence

from overruler.rules import game_of
from overruler.rules.json_schema import Schema


def question_schema(games: Sequence[str]) -> Schema:
    """The schema of a question of one of some games."""
    defs = {game: {"title": game_of(game).title, "anyOf": list(_questions(game))} for game in games}
    return {"anyOf": [{"$ref": f"#/$defs/{game}"} for game in games], "$defs": defs}


def _questions(name: str) -> Iterable[Schema]:
    game = game_of(name)
    for kind, question in game.questions.items():
        schema = question.schema
        yield {
            **schema,
            "description": question.about,
            "properties": {"question": {"const": kind}, **schema["properties"]},
            "required": ["question", *schema["required"]],
            "examples": [game.example(kind)],
        }
