"""Names and the show, kept in a file from one start of the server to the next.

Ids are given anew at each start, so a piece is known again by its base and its place.
"""

import asyncio
import json
import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import hypot
from pathlib import Path
from typing import Any

from overruler.apps.web.live.desk import Desk
from overruler.apps.web.live.labels import Labels
from overruler.apps.web.live.look import PlayerLook
from overruler.apps.web.live.show import Show
from overruler.apps.web.live.watcher import TableWatcher
from overruler.errors import OverrulerError
from overruler.fixes import Fix
from overruler.picture.piece_names import is_numbered
from overruler.reading import Node
from overruler.scene import Piece, Scene
from overruler.writing import WriteFailed, write_atomically

SCHEMA = "overruler/names/1"
SAME_PLACE_MM = 25.0
"""A piece that stands farther from its kept place is not known again: a small base's diameter."""
SAVE_INTERVAL_S = 1.0
"""Time between two looks at whether the names have changed."""
KEPT_LABELS = ("unit", "player", "leader")
logger = logging.getLogger("overruler.live")


@dataclass(frozen=True, slots=True)
class KeptPiece:
    """A piece with a name, where it last stood."""

    id: str
    base: str
    x_mm: float
    y_mm: float
    labels: Mapping[str, Any]
    """Values of `KEPT_LABELS`."""

    def distance_mm(self, piece: Piece) -> float:
        return hypot(piece.x_mm - self.x_mm, piece.y_mm - self.y_mm)

    def to_json(self) -> dict[str, Any]:
        place = {"x_mm": round(self.x_mm, 1), "y_mm": round(self.y_mm, 1)}
        return {"id": self.id, "base": self.base, **place, **self.labels}


@dataclass(frozen=True, slots=True)
class Kept:
    """What a file of names holds."""

    pieces: tuple[KeptPiece, ...] = ()
    show: Show = field(default_factory=Show)

    def fixes_for(self, scene: Scene) -> list[Fix]:
        """The corrections that give the pieces of a scene their names again, the nearest first."""
        pairs = sorted(
            (kept.distance_mm(piece), kept.id, piece.id)
            for kept in self.pieces
            for piece in scene.pieces
            if kept.base == piece.base.name and kept.distance_mm(piece) <= SAME_PLACE_MM
        )
        by_id = {kept.id: kept for kept in self.pieces}
        names: dict[str, str] = {}
        for _, kept_id, piece_id in pairs:
            if kept_id not in names and piece_id not in names.values():
                names[kept_id] = piece_id
        fixes = []
        for kept_id, piece_id in names.items():
            labels = dict(by_id[kept_id].labels)
            if not is_numbered(kept_id):
                labels["new_id"] = kept_id
            if labels:
                fixes.append(Fix(do="name", id=piece_id, labels=labels))
        return fixes


def read_names(path: Path) -> Kept:
    """Read a file of names; an absent one holds none. `BadInput` names what is wrong."""
    if not path.exists():
        return Kept()
    node = Node.of_json_file(path)
    node["schema"].choice((SCHEMA,))
    pieces = tuple(_read_piece(item) for item in node["pieces"].items())
    return Kept(pieces, _read_show(node["show"]) if node.has("show") else Show())


def _read_piece(node: Node) -> KeptPiece:
    labels: dict[str, Any] = {key: node[key].text() for key in ("unit", "player") if node.has(key)}
    if node.has("leader"):
        labels["leader"] = node["leader"].boolean()
    place = node["x_mm"].number(), node["y_mm"].number()
    return KeptPiece(node["id"].text(), node["base"].text(), *place, labels)


def _read_show(node: Node) -> Show:
    show = Show().with_round(node["round"].text())
    for player in node["players"].keys():  # noqa: SIM118 - a Node is no dict
        look = node["players"][player]
        show = show.with_player(player, look["name"].text(), look["colour"].text() or None)
    for player in node["scores"].keys():  # noqa: SIM118
        show = show.with_score(player, node["scores"][player].text())
    return show


def names_text(scene: Scene, labels: Labels, show: Show) -> str:
    """The text of a file that keeps the names of a scene's pieces, and the show."""
    pieces = [keep_piece(piece).to_json() for piece in scene.pieces if piece.id in labels]
    told = {
        "round": show.round,
        "scores": dict(show.scores),
        "players": {player: _look_json(look) for player, look in show.players.items()},
    }
    kept = {"schema": SCHEMA, "pieces": pieces, "show": told}
    return json.dumps(kept, indent=1, ensure_ascii=False) + "\n"


def keep_piece(piece: Piece) -> KeptPiece:
    """What a file keeps of a piece."""
    labels = {key: getattr(piece, key) for key in KEPT_LABELS if getattr(piece, key)}
    return KeptPiece(piece.id, piece.base.name, piece.x_mm, piece.y_mm, labels)


def _look_json(look: PlayerLook) -> dict[str, str]:
    return {"name": look.name, "colour": look.colour}


async def keep_names(path: Path, kept: Kept, desk: Desk, watcher: TableWatcher) -> None:
    """Name the pieces as they were named before, and then write the file whenever something changes."""
    desk.change_show(lambda show: kept.show)
    while not await asyncio.to_thread(_give_back, kept, desk, watcher):
        await asyncio.sleep(SAVE_INTERVAL_S)
    writer = _NamesWriter(path, desk)
    try:
        while True:
            await asyncio.to_thread(writer.write_news)
            await asyncio.sleep(SAVE_INTERVAL_S)
    finally:  # the server ends: what was changed a moment ago
        writer.write_news()


class _NamesWriter:
    """Writes the names of a desk where they have changed."""

    __slots__ = ("_desk", "_is_told", "_lock", "_path", "_written")

    def __init__(self, path: Path, desk: Desk) -> None:
        self._path = path
        self._desk = desk
        self._written = ""
        self._is_told = False
        self._lock = threading.Lock()

    def write_news(self) -> None:
        """Write the file where something is new; what cannot be written is told once, and tried again."""
        with self._lock:  # the last write waits for one that is under way
            self._write_news()

    def _write_news(self) -> None:
        scene, labels, show = self._desk.named_table()
        if scene is None:
            return
        text = names_text(scene, labels, show)
        if text == self._written:
            return
        try:
            write_atomically(self._path, text)
        except WriteFailed as error:
            if not self._is_told:
                logger.warning("--names: %s: names are not kept until it can", error)
            self._is_told = True
        else:
            self._written, self._is_told = text, False


def _give_back(kept: Kept, desk: Desk, watcher: TableWatcher) -> bool:
    """Name the pieces of a table that has been measured; return whether that was possible."""
    scene = desk.scene()
    if scene is None:
        return False
    fixes = kept.fixes_for(scene)
    if not fixes:
        return True
    try:
        watcher.correct(fixes)
    except OverrulerError:  # somebody moves the camera: later
        return False
    desk.apply_labels(fixes)
    return True
