"""JSON Schemas (draft 2020-12) of the files and questions that the program reads, and of its answers.

They use the readers' own tables of keys, names and limits. Only the readers refuse what a schema
cannot express: a repeated name, an outline that crosses itself, an indefinite covariance.
"""

from collections.abc import Callable, Mapping
from functools import partial

from overruler.apps.schemas import answers, files, looks, questions, scenes
from overruler.games import GAMES
from overruler.rules.json_schema import DRAFT, Schema

DOCUMENTS: Mapping[str, tuple[str, Callable[[], Schema]]] = {
    "scene": ("a scene file (JSON)", scenes.scene),
    "board": ("a board file (TOML)", files.board),
    "lens": ("a lens file (TOML)", files.lens),
    "terrain": ("a terrain file (TOML)", files.terrain),
    "fix": ("a fix file (TOML or JSON)", files.fix),
    "taught": ("what corrections taught (JSON)", files.taught),
    "look": ("a look file of the overlay (TOML)", looks.look),
    "ask": ("a question to overruler ask, of any game", partial(questions.question_schema, GAMES)),
    "answer": ("what overruler ask prints", answers.answer),
    **{
        f"ask-{game}": (f"a question of {game}", partial(questions.question_schema, (game,)))
        for game in GAMES
    },
}
"""The documents that have a schema, by name: a description, and the function that makes the schema."""


def schema_of(name: str) -> Schema:
    """The JSON Schema of one of `DOCUMENTS`."""
    about, make_schema = DOCUMENTS[name]
    return {
        "$schema": DRAFT,
        "$id": f"urn:overruler:schema:{name}",
        "title": f"Overruler: {about}",
        **make_schema(),
    }
