"""The caster's desk: what is wanted on air, what can be, and the one state that every page is shown."""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from overruler.apps.web.live.graphics import Graphics, bases_json, draw_arcs, draw_graphics
from overruler.apps.web.live.selection import (
    Selection,
    find_pair_question,
    pair_questions,
    pieces_named,
)
from overruler.apps.web.live.watcher import STANDING_STATES, TableStatus
from overruler.apps.web.scene_paths import camera_view
from overruler.errors import BadInput, OverrulerError, UnknownName
from overruler.fixes import Fix
from overruler.scene import Scene
from overruler.shot import Shot

STALE_AFTER_S = 1.5
"""Graphics go off the air where the table has not been looked at for so long."""
MAX_FREEZE_S = 30.0
"""No frozen picture stays on air longer, whatever happens to the caster."""
PREVIEW_LONGER_SIDE_PX = 1280
"""The longer side of the picture on the control page."""


@dataclass(frozen=True, slots=True, eq=False)
class FrozenPicture:
    """A picture that covers the camera's, with the graphics that belong to it."""

    number: int
    jpeg: bytes
    graphics: Graphics
    large: bool
    """Whether the gap is shown large."""
    until_s: float


class Desk:
    """One for each live server; told by the eyes' thread, asked by the server's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen, self._wanted = TableStatus(), Selection()
        self._labels: Mapping[str, Mapping[str, Any]] = {}
        """What people say of a piece that no picture shows: unit, player, leader, kind, stats."""
        self._frozen: FrozenPicture | None = None
        self._shot: Shot | None = None
        self._looked_s = -1e9
        self._size_px = (1920, 1080)
        self._key: Any = None
        self._graphics = Graphics({})
        self._error = ""
        self._count = 0
        self._text, self._version = "{}", 0
        self._update_state()

    # --- told by the eyes ---

    def update_table(self, seen: TableStatus, shot: Shot | None) -> None:
        with self._lock:
            self._seen, self._shot, self._looked_s = seen, shot, time.monotonic()
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
            return self._version, self._text

    def is_on_air(self) -> bool:
        """Whether anything may be shown at all."""
        with self._lock:
            return self._frozen is not None or (
                self._seen.lost is None and time.monotonic() - self._looked_s < STALE_AFTER_S
            )

    def graphics_on_air(self) -> Graphics:
        """The graphics on air now."""
        if not self.is_on_air():
            return Graphics({})
        with self._lock:
            return self._frozen.graphics if self._frozen else self._graphics

    @property
    def size_px(self) -> tuple[int, int]:
        return self._size_px

    def scene(self) -> Scene | None:
        """The table as it last came to rest, with what people say of its pieces."""
        if self._seen.report is None:
            return None
        scene = self._seen.report.scene
        labels = self._labels
        return replace(
            scene, pieces=tuple(replace(one, **labels.get(one.id, {})) for one in scene.pieces)
        )

    def frozen_jpeg(self) -> bytes | None:
        frozen = self._frozen
        return frozen.jpeg if frozen is not None else None

    def newest_jpeg(self) -> bytes | None:
        """The newest picture, small enough for a dock."""
        shot = self._shot
        return _encode_jpeg(shot, PREVIEW_LONGER_SIDE_PX) if shot is not None else None

    # --- what the caster does ---

    def pick(self, one: str, other: str) -> None:
        """Rule on two pieces, or units by their names."""
        self._check_names(one, other, units=True)
        if one == other:
            raise BadInput("pick two pieces: from and to are the same")
        self._set_selection(replace(self._wanted, pair=(one, other)))

    def choose_question(
        self, question: str, arc: str | None = None, reach_in: float | None = None
    ) -> None:
        """What a pair asks from now on: `Range`, `Attack`, … as the game has it."""
        if (scene := self.scene()) is not None:
            find_pair_question(scene.game, question)
        now = self._wanted
        self._set_selection(
            replace(
                now,
                tap=question,
                arc=arc or now.arc,
                reach_in=now.reach_in if reach_in is None else reach_in,
            )
        )

    def swap(self) -> None:
        if self._wanted.pair:
            self._set_selection(replace(self._wanted, pair=self._wanted.pair[::-1]))

    def toggle_bands(self, piece: str) -> None:
        """Range lines round a piece, or none if it has them."""
        self._check_names(piece)
        self._set_selection(replace(self._wanted, bands=_toggle_name(self._wanted.bands, piece)))

    def toggle_arcs(self, piece: str) -> None:
        """A ship's arcs, or none if they are drawn; `BadInput` where its front is not known."""
        self._check_names(piece)
        scene = self.scene()
        ship = (
            next((one for one in scene.pieces if one.id == piece), None)
            if scene is not None
            else None
        )
        if scene is not None and ship is not None:
            draw_arcs(scene, camera_view(scene), ship)
        self._set_selection(replace(self._wanted, arcs=_toggle_name(self._wanted.arcs, piece)))

    def apply_labels(self, fixes: Sequence[Fix]) -> None:
        """Keep what corrections say of pieces beside where they stand, and their new names."""
        labels, wanted = dict(self._labels), self._wanted
        for fix in fixes:
            if fix.id is None or not fix.labels:
                continue
            name = str(fix.labels.get("new_id", fix.id))
            said = {key: value for key, value in fix.labels.items() if key != "new_id"}
            labels[name] = {**labels.pop(fix.id, {}), **said}
            wanted = wanted.with_renamed_piece(fix.id, name)
        with self._lock:
            self._labels, self._wanted = labels, wanted
            self._update_state()

    def clear(self) -> None:
        """Everything off the air."""
        with self._lock:
            self._frozen = None
        self._set_selection(Selection())

    def toggle_freeze(self, large: bool = False) -> None:
        """Hold the picture and its graphics; with `large`, show the gap large. Again: the live picture."""
        frozen = self._frozen
        if frozen is not None and frozen.large == large:
            self.unfreeze()
            return
        held, jpeg = (
            (frozen.graphics, frozen.jpeg) if frozen is not None else self._current_picture()
        )
        if large and held.box_px is None:
            raise BadInput(
                "there is no ruling on air to look at closely: pick two pieces that stand"
            )
        with self._lock:
            self._count += 1
            self._frozen = FrozenPicture(
                self._count, jpeg, held, large, time.monotonic() + MAX_FREEZE_S
            )
            self._update_state()

    def _current_picture(self) -> tuple[Graphics, bytes]:
        """What is on air, and the whole picture below it."""
        with self._lock:
            held, shot = self._graphics, self._shot
        if shot is None or not self.is_on_air():
            raise BadInput("there is no picture to freeze")
        return held, _encode_jpeg(shot, max(shot.size_px))

    def unfreeze(self) -> None:
        with self._lock:
            self._frozen = None
            self._update_state()

    def _set_selection(self, wanted: Selection) -> None:
        with self._lock:
            self._wanted = wanted
            self._update_state()

    def _check_names(self, *names: str, units: bool = False) -> None:
        known = [spot.id for spot in self._seen.spots]
        if units and (scene := self.scene()) is not None:
            known += sorted({piece.unit for piece in scene.pieces if piece.unit})
        for name in names:
            if name not in known:
                raise UnknownName("piece", name, known)

    # --- the state ---

    def _update_state(self) -> None:
        """Make the state anew where it has changed; the lock is held."""
        seen, frozen = self._seen, self._frozen
        places = tuple(
            (spot.id, spot.state, round(spot.x_mm), round(spot.y_mm)) for spot in seen.spots
        )
        drawn_by = (seen.number, seen.report is None, seen.standing, self._wanted, self._labels)
        key = (
            drawn_by,
            places,
            seen.lost,
            seen.notes,
            frozen.number if frozen else 0,
            self._size_px,
        )
        if key == self._key:
            return
        if self._key is None or drawn_by != self._key[0]:
            self._graphics = self._draw_graphics()
        self._key = key
        self._version += 1
        self._text = json.dumps(self._state_json(), separators=(",", ":"), allow_nan=False)

    def _draw_graphics(self) -> Graphics:
        scene, self._error = self.scene(), ""
        if scene is None or self._seen.lost is not None:
            return Graphics({})
        for less in (
            {},
            {"pair": None},
            {"arcs": ()},
            {"pair": None, "arcs": ()},
        ):  # what cannot be, and no more
            try:
                return draw_graphics(scene, replace(self._wanted, **less), self._seen.standing)
            except OverrulerError as error:
                self._error = self._error or str(error)
        return Graphics({})

    def _state_json(self) -> dict[str, Any]:
        seen, frozen = self._seen, self._frozen
        on = frozen.graphics if frozen else self._graphics
        scene = self.scene()
        shapes = bases_json(scene) if scene is not None else {}
        return {
            "version": self._version,
            "size_px": list(self._size_px),
            "lost": seen.lost,
            "notes": list(seen.notes),
            "calibrated": scene is not None,
            "problems": [problem.text for problem in seen.report.calibration.problems]
            if seen.report
            else [],
            "pair": list(self._wanted.pair) if self._wanted.pair else None,
            "bands": list(self._wanted.bands),
            "arcs": list(self._wanted.arcs),
            **self._questions_json(scene),
            "waiting": self._waiting_reasons(),
            "layers": on.layers,
            "ruling": on.ruling,
            "frozen": {"number": frozen.number, "large": frozen.large, "box_px": on.box_px}
            if frozen
            else None,
            "pieces": [
                {
                    "id": spot.id,
                    "state": spot.state,
                    "sigma_mm": round(spot.sigma_mm, 3),
                    **shapes.get(spot.id, {}),
                }
                for spot in seen.spots
            ],
        }

    def _questions_json(self, scene: Scene | None) -> dict[str, Any]:
        """What a pair asks, and what it could."""
        if scene is None:
            return {"questions": [], "question": None}
        wanted, known = self._wanted, pair_questions(scene.game)
        told = [
            {"label": tap["label"], **{key: tap[key] for key in ("arcs", "reach_in") if key in tap}}
            for tap in known
        ]
        now = {
            "label": wanted.tap or known[0]["label"],
            "arc": wanted.arc,
            "reach_in": wanted.reach_in,
        }
        return {"questions": told, "question": now}

    def _waiting_reasons(self) -> list[str]:
        """Why something that is wanted is not on air."""
        scene, standing = self.scene(), self._seen.standing
        pair = self._wanted.pair or ()
        wanted = sorted(pieces_named(scene, pair)) if scene is not None else pair
        away = {spot.id: spot.state for spot in self._seen.spots if spot.id not in standing}
        settling = dict.fromkeys(STANDING_STATES, "being measured")
        found = [
            f"{name} is {settling.get(away.get(name, ''), away.get(name, 'not there'))}"
            for name in wanted
            if name not in standing
        ]
        return [*found, *([self._error] if self._error else [])]


def _toggle_name(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """The names with one more, or without it if it is there."""
    return tuple(one for one in names if one != name) if name in names else (*names, name)


def _encode_jpeg(shot: Shot, longest_px: int) -> bytes:
    from overruler.picture.raster import encode_small_jpeg

    return encode_small_jpeg(shot.colours(None), longest_px)
