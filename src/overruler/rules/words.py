"""Short questions in words: `range p01 p02`, `within p01 p02 6in`, `attack_range p01 p02 arc=front`.

The first word is the kind of question. Names follow in the order of its fields, a length in inches
ends in `in`, and any other field is given as `key=value`. JSON serves wherever words do not reach.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from overruler.errors import BadInput, OverrulerError, did_you_mean
from overruler.reading import Node
from overruler.rules.fields import OTHER_NAMES, Field, Question
from overruler.rules.game import Game
from overruler.rules.json_schema import TEXT
from overruler.scene import Scene

INCHES = re.compile(r"(\d+(?:\.\d*)?|\.\d+)in")
"""A length in inches, such as `6in` or `2.5in`."""
EXAMPLE_PIECE = re.compile(r"p(\d+)")
"""A piece that examples name."""
QUOTES = ('""', "''", "\u201c\u201d", "\u201e\u201c", "\u201e\u201d", "\u2018\u2019")
"""Each opening quote with its closing one: shells take some away, phones and editors write others."""
_QUOTED = "|".join(f"{pair[0]}[^{pair}]+{pair[1]}" for pair in QUOTES)
WORD = re.compile(rf"(?P<key>\w+=)?(?P<quoted>{_QUOTED})(?!\S)|\S+")
"""A word; a name with spaces in it stands in quotes, as in `range "left guard" p02`."""
SPAN = re.compile(r"(\d+)(?:-(\d+))?")
"""One band or a span of bands, such as `2` or `1-2`."""


def read_question(questions: Mapping[str, Question], text: str, name: str) -> Node:
    """The question that a text asks, in JSON or in words; `BadInput` names what is wrong with it."""
    if not text.strip():
        raise BadInput(f"{name}: is empty: ask in words, such as range p01 p02, or in JSON")
    text = _without_outer_quotes(text.strip())
    if text[:1] not in _WORD_STARTS:
        return Node.of_json(text, name)
    (kind, _), *words = _split_words(text)
    question = questions.get(kind)
    values: dict[str, Any] = {"question": kind}
    if question is not None:
        for word, is_name in words:
            key, value = _read_word(question, values, word, is_name, Node(word, name))
            values[key] = value
    return Node(values, name)


def _without_outer_quotes(text: str) -> str:
    """A question without quotes about all of it, which the command line of Windows leaves."""
    is_quoted = len(text) > 2 and text[0] + text[-1] in QUOTES
    return text[1:-1].strip() if is_quoted else text


def _split_words(text: str) -> Iterator[tuple[str, bool]]:
    """Each word, without its quotes, and whether these say that all of it is a name."""
    for match in WORD.finditer(text):
        if quoted := match["quoted"]:
            yield (match["key"] or "") + quoted[1:-1], not match["key"]
        else:
            yield match[0], False


def in_words(questions: Mapping[str, Question], values: Mapping[str, Any]) -> str:
    """A question as people type it: in words where they say all of it, else as JSON."""
    kind = values["question"]
    said = [kind]
    for field in questions[kind].fields:
        if field.name in values:
            value = values[field.name]
            said.append(_said_of(field, value))
    text = " ".join(said)
    try:
        is_same = read_question(questions, text, "").value == values
    except BadInput:
        is_same = False
    return text if is_same else json.dumps(values)


def _said_of(field: Field[Any], value: Any) -> str:
    """A field as a word."""
    if isinstance(value, str):
        said = f'"{value}"' if " " in value or INCHES.fullmatch(value) else value
        return said if field.type.schema == TEXT else f"{field.name}={said}"
    if field.name.endswith("_in") and isinstance(value, int | float):
        return f"{value:g}in"
    if isinstance(value, list) and all(isinstance(one, int) for one in value):
        return f"{field.name}={'-'.join(map(str, value))}"
    return f"{field.name}={json.dumps(value, separators=(',', ':'))}"


_WORD_STARTS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")


def _read_word(
    question: Question, values: Mapping[str, Any], word: str, is_name: bool, node: Node
) -> tuple[str, Any]:
    """The key and the value that a word gives."""
    fields = {field.name: field for field in question.fields}
    key, equals, value = (word, "", "") if is_name else word.partition("=")
    if key not in fields:
        key = OTHER_NAMES.get(key, key)
    if equals and key in fields:
        if key in values:
            node.fail(f"{word!r} gives {key} twice")
        return key, _read_value(fields[key], value)
    open_fields = [field for field in question.fields if field.name not in values]
    names = [field.name for field in open_fields if field.type.schema == TEXT]
    lengths = [field.name for field in open_fields if field.name.endswith("_in")]
    if lengths and not is_name and INCHES.fullmatch(word):
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


# --- examples ---


def example_in_words(scene: Scene, game: Game, question: Node) -> str:
    """A question like one that lacks fields, as people type it; empty where the scene answers none.

    It keeps what the question gives, if that can be answered.
    """
    for given in (question.value, {"question": question.value["question"]}):
        for values in _completed(scene, game, given):
            try:
                game.questions[values["question"]].answer(scene, Node(values, "example"))
            except OverrulerError:
                continue
            return in_words(game.questions, values)
    return ""


def _with_names(example: Any, scene: Scene) -> Any:
    """What an example holds, with the scene's pieces in place of those that it names."""
    if isinstance(example, list):
        return [_with_names(one, scene) for one in example]
    if isinstance(example, dict):
        return {key: _with_names(one, scene) for key, one in example.items()}
    number = EXAMPLE_PIECE.fullmatch(example) if isinstance(example, str) else None
    index = int(number[1]) - 1 if number else len(scene.pieces)
    return scene.pieces[index].id if 0 <= index < len(scene.pieces) else example


def _completed(scene: Scene, game: Game, given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The question with what its example has for the fields that it lacks, and the scene's names."""
    question = game.questions[given["question"]]
    example = question.example
    taken = {value for value in given.values() if isinstance(value, str)}
    free = [piece.id for piece in scene.pieces if piece.id not in taken]
    values = dict(given)
    for field in question.fields:
        if field.name in given or field.name not in example:
            continue
        is_name = field.type.schema == TEXT and field.tap in ("A", "B")
        named = _with_names(example[field.name], scene)
        values[field.name] = free.pop(0) if is_name and free else named
    names = [name for name in (*example, *given) if name in values and question.takes(name)]
    yield {name: values[name] for name in ("question", *names)}
