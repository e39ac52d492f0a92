"""`overruler ask`: the ruling on a question about a scene file."""

import argparse
import json
import sys
from pathlib import Path

from overruler.apps.geojson import add_geojson_argument, check_geojson_path, write_geojson
from overruler.apps.settings.house_options import add_house_rule_argument, read_house
from overruler.errors import OverrulerError
from overruler.rules import ask, read_question
from overruler.scene import Scene
from overruler.verdict import Verdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scene", type=Path, metavar="SCENE", help="a scene file (JSON)")
    question = (
        "one question, a JSON object or words such as 'range p01 p02'; "
        "or - for one a line on standard input, each answered by a line"
    )
    parser.add_argument("question", metavar="QUESTION", help=question)
    add_house_rule_argument(parser)
    add_geojson_argument(parser)


def run(args: argparse.Namespace) -> int:
    check_geojson_path(args.geojson)
    scene = read_house(args).apply_to(Scene.load(args.scene))
    verdicts: list[Verdict] = []
    if args.question == "-":
        _answer_lines(scene, verdicts)
    else:
        verdicts.append(_ask(scene, args.question, "question"))
    if args.geojson:
        write_geojson(args.geojson, scene, verdicts)
    if args.question != "-":
        print(_answer_text(verdicts[0]))
    return 0


def _ask(scene: Scene, text: str, name: str) -> Verdict:
    return ask(scene, read_question(scene.game, text, name))


def _answer_text(verdict: Verdict) -> str:
    return json.dumps(verdict.to_json(), allow_nan=False)


def _answer_lines(scene: Scene, verdicts: list[Verdict]) -> None:
    """Answer each line of standard input as it arrives; a wrong one is answered with its error.

    Verdicts on areas are kept in `verdicts`.
    """
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        try:
            verdict = _ask(scene, line.decode("utf-8", "replace"), f"line {number}")
            answer = _answer_text(verdict)
            if verdict.shades:
                verdicts.append(verdict)
        except OverrulerError as error:
            answer = json.dumps({"error": " ".join(str(error).split())})
        print(answer, flush=True)
