"""JSON Schemas (draft 2020-12) of the files and questions that the program reads, and of its answers.

They are made from the readers' own tables of keys, names and limits where those have them. What no schema can say (a
name given twice, an outline that crosses itself, a covariance that is not one) only the readers refuse.
"""

from collections.abc import Callable, Mapping
from functools import partial

from overruler.apps.schemas import answers, files, questions, scenes
from overruler.games import GAMES
from overruler.json_schema import DRAFT, Schema

DOCUMENTS: Mapping[str, tuple[str, Callable[[], Schema]]] = {
    "scene": ("a scene file (JSON)", scenes.scene),
    "board": ("a board file (TOML)", files.board),
    "lens": ("a lens file (TOML)", files.lens),
    "terrain": ("a terrain file (TOML)", files.terrain),
    "fix": ("a fix file (TOML or JSON)", files.fix),
    "ask": ("a question to overruler ask, of any game", partial(questions.question_schema, GAMES)),
    "answer": ("what overruler ask prints", answers.answer),
    **{
        f"ask-{game}": (f"a question of {game}", partial(questions.question_schema, (game,)))
        for game in GAMES
    },
}
"""What there is a schema of, by name: what it is, and how its schema is made."""


def schema_of(name: str) -> Schema:
    """The whole JSON Schema of one of `DOCUMENTS`."""
    about, made = DOCUMENTS[name]
    return {
        "$schema": DRAFT,
        "$id": f"urn:overruler:schema:{name}",
        "title": f"Overruler: {about}",
        **made(),
    }
