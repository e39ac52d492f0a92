"""Short questions in words: `range p01 p02`, `within p01 p02 6in`, `attack_range p01 p02 arc=front`.

The first word is the kind of question. Names follow in the order of its fields, a length in inches
ends in `in`, and any other field is given as `key=value`. JSON serves wherever words do not reach.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from overruler.errors import BadInput, did_you_mean
from overruler.reading import Node
from overruler.rules.fields import OTHER_NAMES, Field, Question
from overruler.rules.json_schema import TEXT

INCHES = re.compile(r"(\d+(?:\.\d*)?|\.\d+)in")
"""A length in inches, such as `6in` or `2.5in`."""
SPAN = re.compile(r"(\d+)(?:-(\d+))?")
"""One band or a span of bands, such as `2` or `1-2`."""


def read_question(questions: Mapping[str, Question], text: str, name: str) -> Node:
    """The question that a text asks, in JSON or in words; `BadInput` names what is wrong with it."""
    if not text.strip():
        raise BadInput(f"{name}: is empty: ask in words, such as range p01 p02, or in JSON")
    if text.lstrip()[:1] not in _WORD_STARTS:
        return Node.of_json(text, name)
    kind, *words = text.split()
    question = questions.get(kind)
    values: dict[str, Any] = {"question": kind}
    if question is not None:
        for word in words:
            key, value = _read_word(question, values, word, Node(word, name))
            values[key] = value
    return Node(values, name)


_WORD_STARTS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")


def _read_word(
    question: Question, values: Mapping[str, Any], word: str, node: Node
) -> tuple[str, Any]:
    """The key and the value that a word gives."""
    fields = {field.name: field for field in question.fields}
    key, equals, value = word.partition("=")
    if key not in fields:
        key = OTHER_NAMES.get(key, key)
    if equals and key in fields:
        if key in values:
            node.fail(f"{word!r} gives {key} twice")
        return key, _read_value(fields[key], value)
    open_fields = [field for field in question.fields if field.name not in values]
    names = [field.name for field in open_fields if field.type.schema == TEXT]
    lengths = [field.name for field in open_fields if field.name.endswith("_in")]
    if lengths and INCHES.fullmatch(word):
        return lengths[0], float(word.removesuffix("in"))
    if names and not equals:
        return names[0], word
    known = ", ".join(fields) or "nothing"
    hint = did_you_mean(key, fields) if equals else ""
    return node.fail(
        f"{word!r} is one word too many or no field; {values['question']!r} takes: {known}{hint}"
    )


def _read_value(field: Field[Any], text: str) -> Any:
    """The value of a field that is given by its key."""
    schema = field.type.schema
    if schema == TEXT or "enum" in schema:
        return text
    if inches := INCHES.fullmatch(text):
        return float(inches[1])
    if schema.get("type") == "array":
        if schema["items"] == TEXT:
            return text.split(",")
        if span := SPAN.fullmatch(text):
            return [int(band) for band in span.groups() if band is not None]
    try:
        return json.loads(text)
    except ValueError:
        return text
