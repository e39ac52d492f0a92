"""The desk's state as pages are sent it, drawn again only where something in it has changed."""

import json
from dataclasses import dataclass, field
from typing import Any

from overruler.apps.web.live.broadcast import Canvas, draw_show
from overruler.apps.web.live.desk_state import DeskState, FrozenPicture
from overruler.apps.web.live.graphics import NO_GRAPHICS, Graphics, Stage, draw_what_can_be
from overruler.apps.web.live.labels import Labels
from overruler.apps.web.live.piece_marks import Marks, mark_pieces
from overruler.apps.web.live.selection import Selection
from overruler.apps.web.live.watcher import TableStatus
from overruler.frame import Shot
from overruler.scene import Scene


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """Everything that the state is made of."""

    status: TableStatus
    scene: Scene | None
    """The scene with people's labels; None before the first measurement."""
    labels: Labels
    selection: Selection
    stage: Stage
    frozen: FrozenPicture | None
    shot: Shot | None
    size_px: tuple[int, int]
    look_problem: str
    """What is wrong with the file of the look; empty if nothing is."""

    @property
    def table_key(self) -> tuple[Any, ...]:
        """Another one whenever the pieces on the desk look different."""
        return self.status.number, self.scene is None, self.labels, self.stage.dress

    @property
    def graphics_key(self) -> tuple[Any, ...]:
        """Another one whenever the graphics are different."""
        return self.table_key, self.status.standing, self.selection, self.stage

    @property
    def state_key(self) -> tuple[Any, ...]:
        """Another one whenever anything in the state is different."""
        frozen = self.frozen.number if self.frozen else 0
        status = (self.status.lost, self.status.notes, _rounded_places(self.status))
        return self.graphics_key, status, frozen, self.size_px, self.look_problem


@dataclass(slots=True)
class DrawnState:
    """The newest state, and the drawings in it."""

    version: int = 0
    """Counts the changes."""
    text: str = "{}"
    """The state as JSON."""
    graphics: Graphics = NO_GRAPHICS
    show_layer: str = ""
    last: tuple[Graphics, Shot] | None = None
    """The last ruling and the picture that it was made on."""
    _marks: Marks = field(default_factory=dict)
    _error: str = ""
    """Why part of the selection cannot be drawn."""
    _table_key: Any = None
    _graphics_key: Any = None
    _state_key: Any = None

    def update(self, moment: Moment) -> None:
        """Draw again what has changed."""
        state_key = moment.state_key
        if state_key == self._state_key:
            return
        if moment.table_key != self._table_key:
            self._marks = mark_pieces(moment.scene, moment.stage.dress) if moment.scene else {}
        if moment.graphics_key != self._graphics_key:
            self._draw_graphics(moment)
        self._table_key, self._graphics_key = moment.table_key, moment.graphics_key
        self._state_key = state_key
        is_replay = moment.frozen is not None and moment.frozen.is_replay
        canvas = Canvas(moment.size_px)
        self.show_layer = draw_show(canvas, moment.stage.show, moment.stage.dress, is_replay)
        self.version += 1
        state = self._make_state(moment).to_json()
        self.text = json.dumps(state, separators=(",", ":"), allow_nan=False)

    def _draw_graphics(self, moment: Moment) -> None:
        """Draw the selection, and remember why part of it cannot be drawn."""
        self.graphics, self._error = NO_GRAPHICS, ""
        if moment.scene is None or moment.status.lost is not None:
            return
        standing = moment.status.standing
        drawn = draw_what_can_be(moment.scene, moment.selection, standing, moment.stage)
        self.graphics, self._error = drawn
        if self.graphics.ruling is not None and moment.shot is not None:
            self.last = self.graphics, moment.shot

    def _make_state(self, moment: Moment) -> DeskState:
        return DeskState(
            version=self.version,
            size_px=moment.size_px,
            status=moment.status,
            scene=moment.scene,
            selection=moment.selection,
            graphics=moment.frozen.graphics if moment.frozen else self.graphics,
            frozen=moment.frozen,
            marks=self._marks,
            stage=moment.stage,
            show_layer=self.show_layer,
            errors=tuple(text for text in (self._error, moment.look_problem) if text),
        )


def _rounded_places(status: TableStatus) -> tuple[tuple[str, str, int, int], ...]:
    """Each piece's state and place in whole millimetres: smaller changes make no new state."""
    return tuple((spot.id, spot.state, round(spot.x_mm), round(spot.y_mm)) for spot in status.spots)
