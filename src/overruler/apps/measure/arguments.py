"""The arguments of `overruler.measure` as the texts and paths that the options are.

Each reader raises `BadInput` that names the argument.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from overruler.bases import Base
from overruler.errors import BadInput
from overruler.reading import Node
from overruler.reading.fields import file_path, wrong_kind


def several(name: str, given: Any, one: type | tuple[type, ...]) -> list[Any]:
    """The values of an argument that takes one or several; `one` are the classes of a single value."""
    if isinstance(given, one):
        return [given]
    if given is None or isinstance(given, bytes | Mapping) or not isinstance(given, Iterable):
        wrong_kind(given, "value of it, or a list", "measure", name)
    return list(given)


def path_or_none(name: str, given: Any) -> Path | None:
    """The path of a file; None where there is none."""
    return None if given is None else file_path(given, "measure", name)


def text_or_none(name: str, given: Any) -> str | None:
    """A text; None where there is none."""
    return None if given is None else Node(given, "measure", name).text()


def base_text(given: Any) -> str | None:
    """The bases as the option has them: sizes and names with commas between."""
    if given is None:
        return None
    one = (str, int, float, Base)
    return ",".join(_size_text(each, k) for k, each in enumerate(several("bases", given, one)))


def _size_text(given: Any, index: int) -> str:
    if isinstance(given, Base):
        return given.name
    if isinstance(given, str):
        return given
    return f"{Node(given, 'measure', f'bases[{index}]').number():g}"


def point_texts(given: Any) -> tuple[str, ...]:
    """The clicked points as the option has them: `U,V=X,Y` each."""
    return tuple(_point_text(each, k) for k, each in enumerate(several("points", given, str)))


def _point_text(given: Any, index: int) -> str:
    if isinstance(given, str):
        return given
    u, v, x, y = Node(given, "measure", f"points[{index}]").vector(4)
    return f"{u},{v}={x},{y}"


def question_texts(given: Any) -> tuple[str, ...]:
    """The questions as the option has them: words, or JSON."""
    asked = [given] if isinstance(given, Mapping) else several("ask", given, str)
    return tuple(_question_text(each, k) for k, each in enumerate(asked))


def _question_text(given: Any, index: int) -> str:
    if isinstance(given, Mapping):
        try:
            return json.dumps(dict(given))
        except (TypeError, ValueError) as error:
            raise BadInput(f"measure: ask[{index}]: is no JSON: {error}") from None
    return Node(given, "measure", f"ask[{index}]").text()
