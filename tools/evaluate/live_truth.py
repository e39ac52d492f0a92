"""Is live right? A film with its truth, played once as if it were a camera, looked at by the eyes of overruler live."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from overruler.apps.web.live.watcher import TableStatus, TableWatcher
from overruler.board import Board
from overruler.frame import Shot
from overruler.referee import Referee
from overruler.sources.live import LiveReader, Source
from overruler.sources.video import Film
from overruler.track import Move, Tick

NEAR_MM = 25.0
"""What is found this near to a true piece is that one."""
GONE_MM = 2.0
"""A piece that has truly gone so far does not stand where it stood."""
HAND_S = 0.1
"""The pictures of these films change ten times a second: that late may a change be seen."""

Truth = dict[str, Any]


@dataclass
class Judge:
    """Holds what the eyes say against what is true at the film's own time."""

    truth: Truth
    names: dict[str, str] = field(default_factory=dict)
    """The true piece that each piece found was taken for when it was first seen."""
    off_mm: list[float] = field(default_factory=list)
    sigmas: list[float] = field(default_factory=list)
    """How many of its σ each of them is off, across one axis."""
    renamed: set[str] = field(default_factory=set)
    invented: set[str] = field(default_factory=set)
    moves: list[Move] = field(default_factory=list)
    late_s: list[float] = field(default_factory=list)
    """How long after a hand had left, each moved piece could be ruled on where it stood then: 0 where it was before."""
    stale_s: float = 0.0
    """The longest that a piece was said to stand where it was no more."""
    looks: int = 0
    _waiting: list[tuple[str, float]] = field(default_factory=list)
    """Pieces whose moves are told, but that are not said to stand, and when the hand left them."""

    def told(self, seen: TableStatus, at_s: float, now_s: float, tick: Tick | None) -> None:
        """What was said at `now_s` of the picture taken at `at_s`."""
        if tick is None:
            return
        self.looks += 1
        self.moves += tick.moves
        moved = [
            (move.piece, true["hand_to_s"])
            for move in tick.moves
            for true in self.truth["moves"]
            if _is(move, true)
        ]
        self._waiting += moved
        self._stale(seen, at_s)
        self.late_s += [
            max(now_s - hand_s, 0.0) for piece, hand_s in self._waiting if piece in seen.standing
        ]
        self._waiting = [one for one in self._waiting if one[0] not in seen.standing]
        if tick.rest is not None:
            self._rest(tick, at_s)

    def _rest(self, tick: Tick, at_s: float) -> None:
        assert tick.rest is not None
        there = places(self.truth, at_s)
        for piece in tick.rest.scene.pieces:
            at = np.array([piece.x_mm, piece.y_mm])
            name = min(there, key=lambda one: float(np.hypot(*(there[one] - at))))
            off = there[name] - at
            if np.hypot(*off) > NEAR_MM:
                self.invented.add(piece.id)
            elif self.names.setdefault(piece.id, name) != name:
                self.renamed.add(piece.id)
            else:
                self.off_mm.append(float(np.hypot(*off)))
                if piece.covariance_mm2:
                    self.sigmas += (np.abs(off) / np.sqrt(np.diag(piece.covariance_mm2))).tolist()

    def _stale(self, seen: TableStatus, at_s: float) -> None:
        if seen.report is None:
            return
        there = places(self.truth, at_s)
        for piece in seen.report.scene.pieces:
            name = self.names.get(piece.id)
            if piece.id in seen.standing and name is not None and name in there:
                off = float(np.hypot(*(there[name] - (piece.x_mm, piece.y_mm))))
                since = max(
                    (
                        m["t_start_s"]
                        for m in self.truth["moves"]
                        if m["piece"] == name and m["t_start_s"] <= at_s
                    ),
                    default=at_s,
                )
                if off > GONE_MM:
                    self.stale_s = max(self.stale_s, at_s - since)


class Playing(LiveReader):
    """A film that somebody else plays: never lost."""

    def __init__(self) -> None:
        super().__init__(Source("film", lambda: iter(())))


class Judged(TableWatcher):
    """Eyes that hand on each tick with what they say."""

    tick: Tick | None = None

    def looked(self, shot: Shot) -> TableStatus:
        self.tick = None
        self._status = replace(self._look_at_shot(shot), lost=None)
        return self._status


def places(truth: Truth, at_s: float) -> dict[str, Any]:
    """Where each piece truly is at a time: those that stand, and those on their way."""
    there = {piece["id"]: np.array([piece["x_mm"], piece["y_mm"]]) for piece in truth["pieces"]}
    for move in truth["moves"]:
        if move["t_start_s"] < at_s:
            share = np.clip(
                (at_s - move["t_start_s"]) / (move["t_end_s"] - move["t_start_s"]), 0, 1
            )
            there[move["piece"]] = _along(
                np.array(move["path_mm"]), float(3 * share**2 - 2 * share**3)
            )
    return there


def _along(path_mm: Any, share: float) -> Any:
    lengths = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(path_mm, axis=0).T))])
    return np.array([np.interp(share * lengths[-1], lengths, path_mm[:, axis]) for axis in (0, 1)])


def _is(move: Move, true: Truth) -> bool:
    ends = (*np.subtract(move.from_mm, true["from_mm"]), *np.subtract(move.to_mm, true["to_mm"]))
    return bool(np.abs(ends).max() < NEAR_MM)


def judged(film: Path) -> Judge:
    """A film played once as if live; its board (.toml) and its truth (.json) lie beside it.

    The clock is the processor's own: a picture that comes while another is looked at is left out, as it would be on a
    machine that does nothing else. So a busy one gives the same figures.
    """
    judge, free_s = Judge(json.loads(film.with_suffix(".json").read_text())), 0.0
    eyes = Judged(Playing(), Referee(Board.load(film.with_suffix(".toml"))), lambda seen: None)
    eyes.on_tick = lambda tick: setattr(eyes, "tick", tick)
    with Film(film) as shots:
        for shot in shots:
            if shot.time_s < free_s:
                continue
            begin = time.process_time()
            seen = eyes.looked(shot)
            free_s = shot.time_s + time.process_time() - begin
            judge.told(seen, shot.time_s, free_s, eyes.tick)
    return judge


def live_truth(films: Sequence[Path]) -> Table:
    """What was found in films, against their truth."""
    found = [judged(film) for film in films]
    true = sum(len(one.truth["moves"]) for one in found)
    pairs = sum(
        any(_is(move, told) for move in one.moves) for one in found for told in one.truth["moves"]
    )
    made_up = sum(
        not any(_is(move, told) for told in one.truth["moves"])
        for one in found
        for move in one.moves
    )
    off, sigmas, late = (
        np.concatenate([getattr(one, key) for one in found])
        for key in ("off_mm", "sigmas", "late_s")
    )
    table = Table(
        "what", "figure", title=f"{len(films)} films, {sum(one.looks for one in found)} looks"
    )
    table.add_row("moves found, of how many, and invented", f"{pairs}, {true}, {made_up}")
    table.add_row(
        "pieces invented, renamed",
        f"{sum(len(o.invented) for o in found)}, {sum(len(o.renamed) for o in found)}",
    )
    if len(off):
        figures = (np.median(off), np.quantile(off, 0.95), off.max(), np.mean(off <= 0.5))
        table.add_row(
            "places at rest: median, 95 %, worst",
            "{:.2f}, {:.2f}, {:.2f} mm; {:.0%} within 0.5".format(*figures),
        )
        table.add_row(
            "within their 95 %", f"{np.mean(sigmas < 1.96):.0%} of {len(sigmas)} coordinates"
        )
    if len(late):
        table.add_row(
            "from the hand's leaving to a ruling",
            f"{np.median(late):.2f}, at most {late.max():.2f} s",
        )
    table.add_row(
        "a moved piece still said to stand",
        f"at most {max(one.stale_s for one in found) - HAND_S:.2f} s",
    )
    return table
