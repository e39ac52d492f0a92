"""The turns of a game: guessed by who moves and by pauses, or read from a file."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf, isfinite
from pathlib import Path
from statistics import median

from overruler.apps.analyze.merge import Data, FilmResults
from overruler.errors import BadInput
from overruler.reading.files import read_text

MIN_LONG_PAUSE_S = 20.0
"""Least length of a pause that begins a new turn."""
LONG_PAUSE_RATIO = 4.0
"""Least ratio of such a pause to the film's median pause."""
WHY_START = "the start"
"""Reason of the first turn."""
WHY_ANOTHER_PLAYER = "another player moves"
"""Reason of a turn that begins with another player's move."""
WHY_LONG_PAUSE = "a long pause"
"""Reason of a turn that begins after a long pause."""
WHY_GIVEN = "given"
"""Reason of a turn that a person gave."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A stretch of the film that ends where the next turn begins."""

    name: str
    from_s: float
    """Time of its first move, or the time that a person gave."""
    player: str = ""
    """The player whose turn it is; empty if unknown."""
    why: str = WHY_GIVEN
    """The reason for its beginning."""


def guess_turns(film: FilmResults) -> list[Turn]:
    """Guess the turns: one begins when another player moves, or after a long pause."""
    moves = sorted(film.moves, key=lambda move: float(move["start_s"]))
    owners = _piece_owners(film)
    long_s = _long_pause_s(moves)
    first_player = _owner_of_mover(owners, moves[0]) if moves else ""
    turns = [Turn("1", 0.0, first_player, WHY_START)]
    for before, move in pairwise(moves):
        player = _owner_of_mover(owners, move)
        last = turns[-1]
        is_other = bool(player and last.player and player != last.player)
        if is_other or move["start_s"] - before["end_s"] > long_s:
            why = WHY_ANOTHER_PLAYER if is_other else WHY_LONG_PAUSE
            turns.append(Turn(str(len(turns) + 1), move["start_s"], player, why))
        elif player and not last.player:
            turns[-1] = replace(last, player=player)
    return turns


def _piece_owners(film: FilmResults) -> Mapping[str, str]:
    """The player of each piece, by the first rest that knows it."""
    owners = {}
    for rest in reversed(film.rests):
        for piece in rest["scene"]["pieces"]:
            if piece.get("player"):
                owners[piece["id"]] = piece["player"]
    return owners


def _owner_of_mover(owners: Mapping[str, str], move: Data) -> str:
    return owners.get(move["piece"], "")


def _long_pause_s(moves: Sequence[Data]) -> float:
    """Length beyond which a pause begins a new turn; infinite with less than two moves."""
    pauses = [max(after["start_s"] - before["end_s"], 0.0) for before, after in pairwise(moves)]
    return max(MIN_LONG_PAUSE_S, LONG_PAUSE_RATIO * median(pauses)) if pauses else inf


def turn_rows(film: FilmResults, turns: Sequence[Turn]) -> list[Data]:
    """The turns as a table, each with its end and the number of moves that began in it."""
    next_starts = [*(turn.from_s for turn in turns[1:]), inf]
    move_starts = [max(move["start_s"], 0.0) for move in film.moves]
    rows = []
    for turn, next_s in zip(turns, next_starts, strict=True):
        to_s = next_s if isfinite(next_s) else max(film.read_to_s, turn.from_s)
        row = {
            "turn": turn.name,
            "from_s": turn.from_s,
            "to_s": to_s,
            "player": turn.player,
            "moves": sum(turn.from_s <= start < next_s for start in move_starts),
            "why": turn.why,
        }
        rows.append(row)
    return rows


# --- files ---


def read_turns(path: Path) -> list[Turn]:
    """Read the turns of a CSV file such as `turns.csv`; `BadInput` names the line that is wrong."""
    try:
        text = read_text(path)
    except BadInput as error:
        raise BadInput(f"--turns: {error}") from None
    try:
        turns = _read_rows(path, text)
    except csv.Error:
        raise BadInput(f"--turns: {path}: is no CSV file in UTF-8") from None
    if not turns:
        raise BadInput(f"--turns: {path}: holds no turn")
    for before, turn in pairwise(turns):
        if turn.from_s <= before.from_s:
            raise BadInput(
                f"--turns: {path}: turn {turn.name!r} does not begin after the one before it"
            )
    return turns


def _read_rows(path: Path, text: str) -> list[Turn]:
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if not {"turn", "from_s"} <= set(reader.fieldnames or ()):
        raise BadInput(f"--turns: {path}: its first line must name the columns turn and from_s")
    return [_parse_turn(path, reader.line_num, row) for row in reader]


def _parse_turn(path: Path, line: int, row: Mapping[str, str | None]) -> Turn:
    name = (row.get("turn") or "").strip()
    player = (row.get("player") or "").strip()
    try:
        from_s = float(row.get("from_s") or "")
    except ValueError:
        from_s = inf
    if not name or not isfinite(from_s) or from_s < 0:
        raise BadInput(
            f"--turns: {path}: line {line}: a turn needs a name and the seconds from which it runs"
        )
    return Turn(name, from_s, player)
