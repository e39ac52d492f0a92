"""`overruler ask`: the ruling on a question about a scene file."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from overruler.apps.geojson import add_geojson_argument, check_geojson_path, write_geojson
from overruler.apps.settings.game_choice import choose_game
from overruler.apps.settings.house_options import (
    add_house_rule_argument,
    check_given_house_options,
    read_house,
)
from overruler.errors import BadInput, OverrulerError
from overruler.house_rules import ruled_by
from overruler.reading import Node
from overruler.reading.files import MAX_TEXT_BYTES, UTF_16_MARKS, decode_text
from overruler.rules import ask, read_question
from overruler.scene import Scene
from overruler.verdict import Verdict
from overruler.writing import check_outputs

MAX_NAMED_CHARS = 40
"""Longest question that an error repeats."""
ONE_QUESTION_TEXT = "one question is taken at a time: - reads one a line from standard input"
"""What ends an error where a command line seems to hold several questions."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "scene", type=Path, metavar="SCENE", help="a scene file (JSON); - for standard input"
    )
    question = (
        "one question: words such as range p01 p02, or a JSON object in quotes; "
        "or - for one a line on standard input, each answered by a line"
    )
    parser.add_argument("question", nargs="+", metavar="QUESTION", help=question)
    game = "ask by another game's rules than the scene's, or by a preset of overruler games"
    parser.add_argument("--game", dest="by_game", metavar="NAME", help=game)
    add_house_rule_argument(parser)
    strict = "with -: end with status 1 where a line was answered with an error"
    parser.add_argument("--strict", action="store_true", help=strict)
    add_geojson_argument(parser)


def run(args: argparse.Namespace) -> int:
    check_geojson_path(args.geojson)
    check_outputs([("--geojson", args.geojson)], [args.scene])
    words: list[str] = args.question
    args.question = _join_words(words)
    if args.strict and args.question != "-":
        raise BadInput(
            "--strict goes with -, which reads questions from standard input: leave it away"
        )
    scene = _load_scene(args)
    verdicts: list[Verdict] = []
    if args.question == "-":
        failed = _answer_lines(scene, verdicts)
    else:
        failed = 0
        verdicts.append(_ask_one(scene, words))
    if args.geojson:
        write_geojson(args.geojson, scene, verdicts)
    if args.question != "-":
        print(_answer_text(verdicts[0]))
    if failed and args.strict:
        return 1
    return 0


def _join_words(words: list[str]) -> str:
    """The question of a command line; where each word is an argument, one with spaces in it is a name."""
    kind, *others = words
    if kind.startswith("{") or len(kind.split()) > 1:
        return " ".join(words)
    return " ".join((kind, *map(_with_quotes, others)))


def _with_quotes(word: str) -> str:
    if len(word.split()) < 2 or '"' in word:
        return word
    key, equals, value = word.partition("=")
    return f'{key}="{value}"' if equals and key.isidentifier() else f'"{word}"'


def _load_scene(args: argparse.Namespace) -> Scene:
    """The scene with the house rules, by the rules of another game where one is chosen."""
    scene, choice = _read_scene(args), choose_game(args.by_game)
    if choice.game is not None:
        scene = ruled_by(scene, choice.game, choice.preset)
    check_given_house_options(args, scene.game)
    return read_house(args, choice.preset).apply_to(scene)


def _read_scene(args: argparse.Namespace) -> Scene:
    """The scene of the file, or of standard input where the file is `-`."""
    if str(args.scene) != "-":
        return Scene.load(args.scene)
    if args.question == "-":
        raise BadInput("- and -: the scene and the questions share no standard input: name a file")
    data = sys.stdin.buffer.read(MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        raise BadInput(f"-: is larger than {MAX_TEXT_BYTES / 1e6:g} MB: give another scene")
    return Scene.from_json(Node.of_json(decode_text(data, "-"), "-"))


def _ask_one(scene: Scene, words: list[str]) -> Verdict:
    """The ruling on the question of a command line; an error says where several seem to be meant."""
    question = _join_words(words)
    try:
        return _ask(scene, question, _name_of(question))
    except BadInput as error:
        if len(words) > 1 and any(len(word.split()) > 1 for word in words):
            raise BadInput(f"{error}; {ONE_QUESTION_TEXT}") from None
        raise


def _ask(scene: Scene, text: str, name: str) -> Verdict:
    return ask(scene, read_question(scene.game, text, name))


def _name_of(question: str) -> str:
    """What errors call a question: its words, if they are few."""
    is_short = 0 < len(question.strip()) <= MAX_NAMED_CHARS
    return f'"{question}"' if is_short and not question.lstrip().startswith("{") else "question"


def _answer_text(verdict: Verdict) -> str:
    return json.dumps(verdict.to_json(), allow_nan=False)


def _read_lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a stream as they arrive; those of a UTF-16 text, which Windows writes, all at its end."""
    first = stream.readline()
    if not first.startswith(UTF_16_MARKS):
        yield first
        yield from stream
        return
    data = first + stream.read(MAX_TEXT_BYTES)
    if len(data) > MAX_TEXT_BYTES:
        raise BadInput(
            f"-: is larger than {MAX_TEXT_BYTES / 1e6:g} MB: give fewer questions at a time"
        )
    yield from decode_text(data, "-").encode().splitlines()


def _answer_lines(scene: Scene, verdicts: list[Verdict]) -> int:
    """Answer each line of standard input as it arrives; a wrong one is answered with its error.

    Verdicts on areas are kept in `verdicts`. Returns the number of wrong lines.
    """
    failed = 0
    for number, line in enumerate(_read_lines(sys.stdin.buffer), 1):
        if not line.strip():
            continue
        try:
            name = f"line {number}"
            verdict = _ask(scene, decode_text(line, name), name)
            answer = _answer_text(verdict)
            if verdict.shades:
                verdicts.append(verdict)
        except OverrulerError as error:
            failed += 1
            answer = json.dumps({"error": " ".join(str(error).split())})
        print(answer, flush=True)
    return failed
