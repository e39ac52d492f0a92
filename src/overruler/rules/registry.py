"""The games by name. A game's rules are loaded when they are first asked for."""

from functools import lru_cache
from importlib import import_module

from overruler.errors import UnknownName
from overruler.games import GAMES
from overruler.rules.clauses import COMMON_CLAUSES
from overruler.rules.game import Game


@lru_cache
def game_of(name: str) -> Game:
    """The rules of a game; `UnknownName` where there is no such game."""
    if name not in GAMES:
        raise UnknownName("game", name, GAMES)
    game: Game = import_module(f"overruler.rules.games.{name}.game").GAME
    return game


def clause_text(name: str) -> str:
    """What a clause says, in one sentence."""
    if name in COMMON_CLAUSES:
        return COMMON_CLAUSES[name]
    game = game_of(name.partition(".")[0])
    return game.clauses[name]
