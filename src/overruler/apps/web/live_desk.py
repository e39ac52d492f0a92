"""The caster's desk: what is wanted on air, what can be, and the one state that every page is shown."""

import json
import threading
import time
from dataclasses import dataclass, replace
from typing import Any

from overruler.apps.web.live_drawn import Graphics, Wanted, bases, graphics
from overruler.apps.web.live_eyes import STANDING, Seen
from overruler.errors import BadInput, OverrulerError, UnknownName
from overruler.scene import Scene
from overruler.shot import Shot

STALE_S = 1.5
"""Graphics go off the air where the table has not been looked at for so long."""
LONGEST_FREEZE_S = 30.0
"""No frozen picture stays on air longer, whatever happens to the caster."""
SHOWN_PX = 1280
"""The longer side of the picture on the control page."""


@dataclass(frozen=True, slots=True, eq=False)
class Frozen:
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
        self._seen, self._wanted = Seen(), Wanted()
        self._frozen: Frozen | None = None
        self._shot: Shot | None = None
        self._looked_s = -1e9
        self._size_px = (1920, 1080)
        self._key: Any = None
        self._graphics = Graphics({})
        self._error = ""
        self._count = 0
        self._text, self._version = "{}", 0
        self._compose()

    # --- told by the eyes ---

    def told(self, seen: Seen, shot: Shot | None) -> None:
        with self._lock:
            self._seen, self._shot, self._looked_s = seen, shot, time.monotonic()
            if shot is not None:
                self._size_px = shot.size_px
            self._compose()

    # --- what pages are shown ---

    def state(self) -> tuple[int, str]:
        """The version of the state, and the state as JSON."""
        with self._lock:
            if self._frozen is not None and time.monotonic() > self._frozen.until_s:
                self._frozen = None
                self._compose()
            return self._version, self._text

    def on_air(self) -> bool:
        """Whether anything may be shown at all."""
        with self._lock:
            return self._frozen is not None or (self._seen.lost is None and time.monotonic() - self._looked_s < STALE_S)

    def shown(self) -> Graphics:
        """The graphics on air now."""
        if not self.on_air():
            return Graphics({})
        with self._lock:
            return self._frozen.graphics if self._frozen else self._graphics

    @property
    def size_px(self) -> tuple[int, int]:
        return self._size_px

    def scene(self) -> Scene | None:
        report = self._seen.report
        return report.scene if report is not None else None

    def frozen_jpeg(self) -> bytes | None:
        frozen = self._frozen
        return frozen.jpeg if frozen is not None else None

    def jpeg(self) -> bytes | None:
        """The newest picture, small enough for a dock."""
        shot = self._shot
        return _jpeg(shot, SHOWN_PX) if shot is not None else None

    # --- what the caster does ---

    def pick(self, one: str, other: str) -> None:
        self._check(one, other)
        if one == other:
            raise BadInput("pick two pieces: from and to are the same")
        self._want(replace(self._wanted, pair=(one, other)))

    def swap(self) -> None:
        if self._wanted.pair:
            self._want(replace(self._wanted, pair=self._wanted.pair[::-1]))

    def bands(self, piece: str) -> None:
        """Range lines round a piece, or none if it has them."""
        self._check(piece)
        had = self._wanted.bands
        kept = tuple(name for name in had if name != piece)
        self._want(replace(self._wanted, bands=kept if piece in had else (*had, piece)))

    def clear(self) -> None:
        """Everything off the air."""
        with self._lock:
            self._frozen = None
        self._want(Wanted())

    def freeze(self, large: bool = False) -> None:
        """Hold the picture and its graphics; with `large`, show the gap large. Again: the live picture."""
        frozen = self._frozen
        if frozen is not None and frozen.large == large:
            self.go_on()
            return
        held, jpeg = (frozen.graphics, frozen.jpeg) if frozen is not None else self._now()
        if large and held.box_px is None:
            raise BadInput("there is no ruling on air to look at closely: pick two pieces that stand")
        with self._lock:
            self._count += 1
            self._frozen = Frozen(self._count, jpeg, held, large, time.monotonic() + LONGEST_FREEZE_S)
            self._compose()

    def _now(self) -> tuple[Graphics, bytes]:
        """What is on air, and the whole picture below it."""
        with self._lock:
            held, shot = self._graphics, self._shot
        if shot is None or not self.on_air():
            raise BadInput("there is no picture to freeze")
        return held, _jpeg(shot, max(shot.size_px))

    def go_on(self) -> None:
        with self._lock:
            self._frozen = None
            self._compose()

    def _want(self, wanted: Wanted) -> None:
        with self._lock:
            self._wanted = wanted
            self._compose()

    def _check(self, *names: str) -> None:
        known = [spot.id for spot in self._seen.spots]
        for name in names:
            if name not in known:
                raise UnknownName("piece", name, known)

    # --- the state ---

    def _compose(self) -> None:
        """Make the state anew where it has changed; the lock is held."""
        seen, frozen = self._seen, self._frozen
        places = tuple((spot.id, spot.state, round(spot.x_mm), round(spot.y_mm)) for spot in seen.spots)
        drawn_by = (seen.number, seen.report is None, seen.standing, self._wanted)
        key = (drawn_by, places, seen.lost, seen.notes, frozen.number if frozen else 0, self._size_px)
        if key == self._key:
            return
        if self._key is None or drawn_by != self._key[0]:
            self._graphics = self._drawn()
        self._key = key
        self._version += 1
        self._text = json.dumps(self._told(), separators=(",", ":"), allow_nan=False)

    def _drawn(self) -> Graphics:
        scene = self.scene()
        if scene is None or self._seen.lost is not None:
            return Graphics({})
        try:
            return graphics(scene, self._wanted, self._seen.standing)
        except OverrulerError as error:
            self._error = str(error)
            return Graphics({})

    def _told(self) -> dict[str, Any]:
        seen, frozen = self._seen, self._frozen
        on = frozen.graphics if frozen else self._graphics
        scene = self.scene()
        shapes = bases(scene) if scene is not None else {}
        return {
            "version": self._version,
            "size_px": list(self._size_px),
            "lost": seen.lost,
            "notes": list(seen.notes),
            "calibrated": scene is not None,
            "problems": [problem.text for problem in seen.report.calibration.problems] if seen.report else [],
            "pair": list(self._wanted.pair) if self._wanted.pair else None,
            "bands": list(self._wanted.bands),
            "waiting": self._waiting(),
            "layers": on.layers,
            "ruling": on.ruling,
            "frozen": {"number": frozen.number, "large": frozen.large, "box_px": on.box_px} if frozen else None,
            "pieces": [
                {"id": spot.id, "state": spot.state, "sigma_mm": round(spot.sigma_mm, 3), **shapes.get(spot.id, {})}
                for spot in seen.spots
            ],
        }

    def _waiting(self) -> list[str]:
        """Why something that is wanted is not on air."""
        pair = self._wanted.pair or ()
        standing = self._seen.standing
        away = {spot.id: spot.state for spot in self._seen.spots if spot.id not in standing}
        settling = dict.fromkeys(STANDING, "being measured")
        return [
            f"{name} is {settling.get(away.get(name, ''), away.get(name, 'not there'))}"
            for name in pair
            if name not in standing
        ]


def _jpeg(shot: Shot, longest_px: int) -> bytes:
    from overruler.picture.raster import small_jpeg

    return small_jpeg(shot.colours(None), longest_px)
