"""Turns of a game, guessed from who moves and how long nobody does, and read back where a person has put them right."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite
from pathlib import Path
from statistics import median
from typing import Any

from overruler.apps.analyze.merge import FilmResults
from overruler.errors import BadInput

Data = dict[str, Any]

MIN_LONG_PAUSE_S, LONG_PAUSE_RATIO = 20.0, 4.0
"""A pause begins a new turn where it is so long, and so many times as long as the film's middle pause."""
WHY_ANOTHER_PLAYER, WHY_LONG_PAUSE, WHY_GIVEN = "another player moves", "a long pause", "given"


@dataclass(frozen=True)
class Turn:
    """A stretch of the film: from its first move, or from where a person says, to the next."""

    name: str
    from_s: float
    player: str = ""
    """Whose it is; empty where nobody knows."""
    why: str = WHY_GIVEN
    """What made it a turn of its own."""


def guess_turns(film: FilmResults) -> list[Turn]:
    """A turn from each first move of another player than before, and from each first move after a long pause."""
    moves = sorted(film.moves, key=lambda move: float(move["start_s"]))
    owners = _piece_owners(film)
    long_s = _long_pause_s(moves)
    turns = [Turn("1", 0.0, _owner_of_mover(owners, moves[0]) if moves else "", "the start")]
    for before, move in pairwise(moves):
        player = _owner_of_mover(owners, move)
        other = bool(player and turns[-1].player and player != turns[-1].player)
        if other or move["start_s"] - before["end_s"] > long_s:
            turns.append(
                Turn(
                    str(len(turns) + 1),
                    move["start_s"],
                    player,
                    WHY_ANOTHER_PLAYER if other else WHY_LONG_PAUSE,
                )
            )
        elif player and not turns[-1].player:
            turns[-1] = Turn(turns[-1].name, turns[-1].from_s, player, turns[-1].why)
    return turns


def _piece_owners(film: FilmResults) -> Mapping[str, str]:
    """Whose each piece is, as the first rest that knows says."""
    told = (piece for rest in reversed(film.rests) for piece in rest["scene"]["pieces"])
    return {piece["id"]: piece["player"] for piece in told if piece.get("player")}


def _owner_of_mover(owners: Mapping[str, str], move: Data) -> str:
    return owners.get(move["piece"], "")


def _long_pause_s(moves: Sequence[Data]) -> float:
    pauses = [max(after["start_s"] - before["end_s"], 0.0) for before, after in pairwise(moves)]
    return max(MIN_LONG_PAUSE_S, LONG_PAUSE_RATIO * median(pauses)) if pauses else inf


def turn_rows(film: FilmResults, turns: Sequence[Turn]) -> list[Data]:
    """The turns as a table: to when each lasts, and how many moves began in it."""
    nexts = [*(turn.from_s for turn in turns[1:]), inf]
    starts = [max(move["start_s"], 0.0) for move in film.moves]
    return [
        {
            "turn": turn.name,
            "from_s": turn.from_s,
            "to_s": after if isfinite(after) else max(film.read_to_s, turn.from_s),
            "player": turn.player,
            "moves": sum(turn.from_s <= start < after for start in starts),
            "why": turn.why,
        }
        for turn, after in zip(turns, nexts, strict=True)
    ]


# --- put right by a person ---


def read_turns(path: Path) -> list[Turn]:
    """The turns of a CSV file, `turns.csv` as it was written or corrected; `BadInput` names the line that is wrong."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            if not {"turn", "from_s"} <= set(reader.fieldnames or ()):
                raise BadInput(
                    f"--turns: {path}: its first line must name the columns turn and from_s"
                )
            turns = [_parse_turn(path, reader.line_num, row) for row in reader]
    except OSError as error:
        raise BadInput(f"--turns: {path}: cannot be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, csv.Error):
        raise BadInput(f"--turns: {path}: is no CSV file in UTF-8") from None
    if not turns:
        raise BadInput(f"--turns: {path}: holds no turn")
    late = next((b for a, b in pairwise(turns) if b.from_s <= a.from_s), None)
    if late is not None:
        raise BadInput(
            f"--turns: {path}: turn {late.name!r} does not begin after the one before it"
        )
    return turns


def _parse_turn(path: Path, line: int, row: Mapping[str, str | None]) -> Turn:
    name, player = ((row.get(key) or "").strip() for key in ("turn", "player"))
    try:
        from_s = float(row.get("from_s") or "")
    except ValueError:
        from_s = inf
    if not name or not isfinite(from_s) or from_s < 0:
        raise BadInput(
            f"--turns: {path}: line {line}: a turn needs a name and the seconds from which it runs"
        )
    return Turn(name, from_s, player)
