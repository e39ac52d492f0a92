"""The caster's desk: what the caster selected, and the one state that every page is shown.

The watcher's thread reports the table; the server's threads read the state and perform the caster's
actions.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from overruler.apps.web.live.broadcast import Dress
from overruler.apps.web.live.desk_state import FrozenPicture, encode_shot
from overruler.apps.web.live.drawn_state import DrawnState, Moment
from overruler.apps.web.live.graphics import NO_GRAPHICS, SHOW_LAYER, Graphics, Stage, draw_arcs
from overruler.apps.web.live.labels import Labels, labelled_scene, with_fixes
from overruler.apps.web.live.look import LookFile
from overruler.apps.web.live.selection import Selection, find_pair_question
from overruler.apps.web.live.show import Show, dress_players
from overruler.apps.web.live.watcher import TableStatus
from overruler.apps.web.ready_scenes import camera_view
from overruler.errors import BadInput, UnknownName
from overruler.fixes import Fix
from overruler.frame import Shot
from overruler.scene import Scene

STALE_AFTER_S = 1.5
"""Graphics go off the air if the watcher has reported nothing for longer."""
MAX_FREEZE_S = 30.0
"""Longest time that a frozen picture stays on air, whatever happens to the caster."""
REPLAY_S = 8.0
"""How long a replay stays on air."""
PREVIEW_LONGER_SIDE_PX = 1280
"""Longer side of the picture on the control page."""


class Desk:
    """The selection, the labels and the state of a live server."""

    __slots__ = ("_drawn", "_freezes", "_frozen", "_labels", "_lock", "_look", "_reported_s",
                 "_selection", "_shot", "_show", "_signs", "_size_px", "_status")  # fmt: skip

    def __init__(
        self, look: LookFile | None = None, signs: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Take the file of the overlay's look, and the sign that tells each player's pieces."""
        self._look = look or LookFile()
        self._signs = signs
        self._show = Show()
        self._lock = threading.Lock()
        self._status = TableStatus()
        self._shot: Shot | None = None
        self._reported_s = -1e9
        self._size_px = (1920, 1080)
        self._selection = Selection()
        self._labels: Labels = {}
        self._frozen: FrozenPicture | None = None
        self._freezes = 0
        self._drawn = DrawnState()
        self._update_state()

    def update_table(self, status: TableStatus, shot: Shot | None) -> None:
        """Take the watcher's report and its newest shot."""
        with self._lock:
            self._status = status
            self._shot = shot
            self._reported_s = time.monotonic()
            if shot is not None:
                self._size_px = shot.size_px
            self._update_state()

    # --- what pages are shown ---

    def state(self) -> tuple[int, str]:
        """The version of the state, and the state as JSON."""
        with self._lock:
            if self._frozen is not None and time.monotonic() > self._frozen.until_s:
                self._frozen = None
                self._update_state()
            return self._drawn.version, self._drawn.text

    def is_on_air(self) -> bool:
        """Whether anything may be shown: a frozen picture, or a table that is being watched."""
        with self._lock:
            if self._frozen is not None:
                return True
            is_fresh = time.monotonic() - self._reported_s < STALE_AFTER_S
            return self._status.lost is None and is_fresh

    def graphics_on_air(self) -> Graphics:
        """The graphics that are on air."""
        is_on_air = self.is_on_air()
        with self._lock:
            measured = self._frozen.graphics if self._frozen else self._drawn.graphics
            shown = measured if is_on_air else NO_GRAPHICS
            return replace(shown, layers={**shown.layers, SHOW_LAYER: self._drawn.show_layer})

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of the camera's picture."""
        return self._size_px

    def scene(self) -> Scene | None:
        """The table as it last came to rest, with the labels that people gave its pieces."""
        report = self._status.report
        if report is None:
            return None
        return labelled_scene(report.scene, self._labels)

    def named_table(self) -> tuple[Scene | None, Labels, Show]:
        """The table, what people told of its pieces, and of the show."""
        return self.scene(), self._labels, self._show

    def frozen_jpeg(self) -> bytes | None:
        frozen = self._frozen
        return frozen.jpeg if frozen is not None else None

    def newest_jpeg(self) -> bytes | None:
        """The camera's newest picture, small enough for a dock."""
        shot = self._shot
        return encode_shot(shot, PREVIEW_LONGER_SIDE_PX) if shot is not None else None

    # --- actions of the caster ---

    def pick(self, first: str, second: str) -> None:
        """Rule on two pieces, or on two units by their names."""
        self._check_names(first, second, units=True)
        if first == second:
            raise BadInput("pick two pieces: from and to are the same")
        self._select(replace(self._selection, pair=(first, second)))

    def choose_question(
        self, question: str, arc: str | None = None, reach_in: float | None = None
    ) -> None:
        """Choose what a pair asks: `Range`, `Attack`, … as the game names it."""
        scene = self.scene()
        if scene is not None:
            find_pair_question(scene.game, question)
        selection = replace(self._selection, tap=question)
        if arc:
            selection = replace(selection, arc=arc)
        if reach_in is not None:
            selection = replace(selection, reach_in=reach_in)
        self._select(selection)

    def swap(self) -> None:
        """Exchange the two pieces of the pair."""
        if self._selection.pair:
            self._select(replace(self._selection, pair=self._selection.pair[::-1]))

    def toggle_bands(self, piece: str) -> None:
        """Show or hide the range lines round a piece."""
        self._toggle("bands", piece)

    def toggle_arcs(self, piece: str) -> None:
        """Show or hide a ship's arcs; `BadInput` if its front is not known."""
        self._check_arcs(piece)
        self._toggle("arcs", piece)

    def toggle_ground(self, piece: str, reach_in: float | None = None) -> None:
        """Show or hide the ground within reach of a piece."""
        self._toggle("grounds", piece, reach_in)

    def toggle_shadow(self, piece: str) -> None:
        """Show or hide the ground that a piece does not see; `BadInput` if there is no terrain."""
        scene = self.scene()
        if scene is not None and not scene.terrain:
            raise BadInput("nothing is hidden: no terrain is known (overruler live --terrain)")
        self._toggle("shadows", piece)

    def _toggle(self, what: str, piece: str, reach_in: float | None = None) -> None:
        self._check_names(piece)
        self._select(self._selection.with_toggled(what, piece, reach_in))

    def _check_arcs(self, name: str) -> None:
        scene = self.scene()
        if scene is None:
            return
        for piece in scene.pieces:
            if piece.id == name:
                if piece.base.shape == "circle" and "arcs" not in piece.stats:
                    raise BadInput(f"{name} has no arcs: its base is round and shows no front")
                draw_arcs(scene, camera_view(scene), piece)

    def apply_labels(self, fixes: Sequence[Fix]) -> None:
        """Keep the labels that corrections give to pieces, and follow their new names."""
        labels, selection = with_fixes(self._labels, self._selection, fixes)
        with self._lock:
            self._labels = labels
            self._selection = selection
            self._update_state()

    def clear(self) -> None:
        """Take everything off the air."""
        with self._lock:
            self._frozen = None
        self._select(Selection())

    def toggle_freeze(self, large: bool = False) -> None:
        """Freeze the picture with its graphics, or go live; with `large`, show the gap enlarged."""
        frozen = self._frozen
        if frozen is not None and frozen.large == large:
            self.unfreeze()
            return
        if frozen is not None:
            graphics, jpeg = frozen.graphics, frozen.jpeg
        else:
            graphics, jpeg = self._current_picture()
        if large and graphics.box_px is None:
            raise BadInput(
                "there is no ruling on air to look at closely: pick two pieces that stand"
            )
        self._freeze(jpeg, graphics, MAX_FREEZE_S, large)

    def replay(self) -> None:
        """Show the last ruling once more, on the picture that it was made on."""
        if self._drawn.last is None:
            raise BadInput("there is no ruling to replay yet: pick two pieces that stand")
        graphics, shot = self._drawn.last
        self._freeze(encode_shot(shot, max(shot.size_px)), graphics, REPLAY_S, is_replay=True)

    def change_show(self, change: Callable[[Show], Show]) -> None:
        """Change what is told of the show."""
        with self._lock:
            self._show = change(self._show)
            self._update_state()

    def toggle_close_up(self) -> None:
        """Freeze the picture and show the gap enlarged, or go live."""
        self.toggle_freeze(large=True)

    def _freeze(
        self,
        jpeg: bytes,
        graphics: Graphics,
        length_s: float,
        large: bool = False,
        is_replay: bool = False,
    ) -> None:
        until_s = time.monotonic() + length_s
        with self._lock:
            self._freezes += 1
            number = self._freezes
            self._frozen = FrozenPicture(number, jpeg, graphics, large, until_s, is_replay)
            self._update_state()

    def _current_picture(self) -> tuple[Graphics, bytes]:
        """The graphics on air and the whole picture below them."""
        with self._lock:
            graphics, shot = self._drawn.graphics, self._shot
        if shot is None or not self.is_on_air():
            raise BadInput("there is no picture to freeze")
        return graphics, encode_shot(shot, max(shot.size_px))

    def unfreeze(self) -> None:
        """Go live."""
        with self._lock:
            self._frozen = None
            self._update_state()

    def _select(self, selection: Selection) -> None:
        with self._lock:
            self._selection = selection
            self._update_state()

    def _check_names(self, *names: str, units: bool = False) -> None:
        known = [spot.id for spot in self._status.spots]
        scene = self.scene()
        if units and scene is not None:
            known += sorted({piece.unit for piece in scene.pieces if piece.unit})
        for name in names:
            if name not in known:
                raise UnknownName("piece", name, known)

    # --- the state ---

    def _update_state(self) -> None:
        """Make the state again if anything in it has changed. The lock must be held."""
        scene = self.scene()
        moment = Moment(
            status=self._status,
            scene=scene,
            labels=self._labels,
            selection=self._selection,
            stage=self._make_stage(scene),
            frozen=self._frozen,
            shot=self._shot,
            size_px=self._size_px,
            look_problem=self._look.problem,
        )
        self._drawn.update(moment)

    def _make_stage(self, scene: Scene | None) -> Stage:
        """What is told, and how it looks, with all players of the table and of the scoreboard."""
        known = [piece.player for piece in scene.pieces if piece.player] if scene else []
        players = list(dict.fromkeys([*known, *self._show.scores, *self._show.players]))
        look = self._look.current()
        return Stage(self._show, Dress(look, dress_players(look, self._show, players, self._signs)))
