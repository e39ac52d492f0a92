"""`overruler ask`: the ruling on a question about a scene file."""

import argparse
import json
import sys
from pathlib import Path

from overruler.apps.settings.house_options import add_house_rule_argument, read_house
from overruler.errors import OverrulerError
from overruler.rules import ask, read_question
from overruler.scene import Scene


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scene", type=Path, metavar="SCENE", help="a scene file (JSON)")
    question = (
        "one question, a JSON object or words such as 'range p01 p02'; "
        "or - for one a line on standard input, each answered by a line"
    )
    parser.add_argument("question", metavar="QUESTION", help=question)
    add_house_rule_argument(parser)
    strict = "with -: end with status 1 where a line was answered with an error"
    parser.add_argument("--strict", action="store_true", help=strict)


def run(args: argparse.Namespace) -> int:
    scene = read_house(args).apply_to(Scene.load(args.scene))
    if args.question == "-":
        failed = _answer_lines(scene)
        return 1 if failed and args.strict else 0
    print(_answer(scene, args.question, "question"))
    return 0


def _answer(scene: Scene, text: str, name: str) -> str:
    question = read_question(scene.game, text, name)
    return json.dumps(ask(scene, question).to_json(), allow_nan=False)


def _answer_lines(scene: Scene) -> int:
    """Answer each line of standard input as it arrives; a wrong one is answered with its error.

    Returns the number of wrong lines.
    """
    failed = 0
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        try:
            answer = _answer(scene, line.decode("utf-8", "replace"), f"line {number}")
        except OverrulerError as error:
            failed += 1
            answer = json.dumps({"error": " ".join(str(error).split())})
        print(answer, flush=True)
    return failed
