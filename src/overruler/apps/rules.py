"""`overruler rules`: the games, or the questions, clauses and settings of one."""

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import Any

from overruler.errors import UnknownName
from overruler.games import GAMES, find_game
from overruler.rules import game_of
from overruler.rules.clauses import COMMON_CLAUSES
from overruler.rules.game import Game


def add_arguments(parser: argparse.ArgumentParser) -> None:
    game = f"one of: {', '.join(GAMES)}; without it, all in brief"
    parser.add_argument("game", nargs="?", metavar="GAME", help=game)
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")


def run(args: argparse.Namespace) -> int:
    chosen = args.game and find_game(args.game)
    if args.game and not chosen:
        raise UnknownName("GAME", args.game, GAMES)
    games = [game_of(name) for name in ([chosen] if chosen else GAMES)]
    records = [game_record(game) for game in games]
    if args.json:
        print(json.dumps(records[0] if args.game else records, indent=1))
    else:
        print("\n".join(game_lines(records[0]) if args.game else brief(games)))
    return 0


def game_record(game: Game) -> dict[str, Any]:
    """A game as plain data."""
    questions = {}
    for kind, question in game.questions.items():
        questions[kind] = {"about": question.about, "example": game.example(kind)}
    settings = {}
    for name, setting in game.settings.items():
        settings[name] = {"default": setting.default, "about": setting.text}
    return {
        "game": game.name,
        "title": game.title,
        "ruler": game.ruler.to_json() if game.ruler else None,
        "questions": questions,
        "clauses": {**game.clauses, **COMMON_CLAUSES},
        "settings": settings,
    }


def brief(games: list[Game]) -> Iterator[str]:
    """A line about each game, and the command that prints more."""
    yield from _columns({game.name: f"{game.title}: {', '.join(game.questions)}" for game in games})
    yield ""
    yield "overruler rules GAME says more."


def game_lines(game: Mapping[str, Any]) -> Iterator[str]:
    """The record of a game, for people."""
    title: str = game["title"]
    yield title + _ruler_text(game["ruler"])
    yield "\nquestions:"
    for question in game["questions"].values():
        yield f"  {question['about']}\n    {json.dumps(question['example'])}"
    yield "\nclauses:"
    yield from _columns(game["clauses"])
    yield "\nsettings, chosen in a scene's state.settings:" if game["settings"] else "\nno settings"
    rows = {}
    for name, setting in game["settings"].items():
        rows[f"{name} = {json.dumps(setting['default'])}"] = setting["about"]
    yield from _columns(rows)


def _ruler_text(ruler: Mapping[str, Any] | None) -> str:
    if ruler is None:
        return ""
    if "lines_mm" in ruler:
        lines = ", ".join(f"{line:g}" for line in ruler["lines_mm"])
        return f", on a ruler with lines at {lines} mm"
    return f", on a ruler of {ruler['segments']} x {ruler['segment_mm']:g} mm"


def _columns(rows: Mapping[str, str]) -> Iterator[str]:
    width = max(map(len, rows), default=0) + 2
    return (f"  {name:<{width}}{text}" for name, text in rows.items())
