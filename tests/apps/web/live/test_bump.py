"""A camera that is bumped, a film that begins again: measured anew, nothing stale on air, each piece by its name."""

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from overruler.apps.web.live.desk import Desk
from overruler.apps.web.live.watcher import TableStatus, TableWatcher
from overruler.board import Board
from overruler.errors import BadInput, CannotMeasure
from overruler.fixes import Fix
from overruler.frame import Frame, Shot
from overruler.geometry.camera import Camera
from overruler.house_rules import HouseRules
from overruler.referee import Referee
from overruler.sources.live import LiveReader, Source
from overruler.track import Tick
from overruler.vision.stabilization.guard import (
    CAMERA_MOVED_NOTE,
    LIGHT_CHANGED_NOTE,
    PINNED_NOTE,
)
from synthetic.flat_table import Plinth, render_table
from tests.apps.web.live_table import Table, until
from tests.tables import BOARD_MM, SIZE_PX, camera_over, eight_markers
from tests.vision.stabilization.fake_watch import FakeWatch

BUMP_MM = 20.0
HOMES = {27.0: (150.0, 250.0), 50.0: (320.0, 180.0), 100.0: (520.0, 320.0)}
"""Places by the base that stands there."""


def seen_by(camera: Camera, seed: int) -> Any:
    plinths = [Plinth(*at, size, rim=(0.03, 0.03, 0.04)) for size, at in HOMES.items()]
    return render_table(camera, SIZE_PX, BOARD_MM, plinths, eight_markers(), noise=2.0, seed=seed)


class Watched:
    """A camera that a test bumps, the real referee, and everything that was said."""

    def __init__(self) -> None:
        still, step = camera_over(10.0), [0.0] * 15
        step[12] = BUMP_MM
        self.pictures = [seen_by(still, 1), seen_by(still.moved(step), 2)]
        self.bumped = 0
        self.said: list[tuple[int, TableStatus]] = []
        self.ticks: list[Tick] = []
        self.desk = Desk()
        referee = Referee(
            Board("test", 45.0, "DICT_4X4_50", *BOARD_MM, eight_markers()), game="legion"
        )
        self.eyes = TableWatcher(
            LiveReader(Source("camera", self.shots)), referee, self.heard, self.ticks.append
        )

    def shots(self) -> Iterator[Shot]:
        begin = time.monotonic()
        while True:
            name = str(self.bumped)
            yield Shot.of(Frame(self.pictures[self.bumped], name, time_s=time.monotonic() - begin))
            time.sleep(0.08)

    def heard(self, seen: TableStatus) -> None:
        if self.eyes.shot is not None:
            self.said.append((int(self.eyes.shot.name), seen))
        self.desk.update_table(seen, self.eyes.shot)


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    found = Watched()
    found.eyes.start()
    try:
        until(lambda: found.desk.scene())
        names = [piece.id for piece in found.desk.scene().pieces]  # type: ignore[union-attr]
        found.desk.pick(names[0], names[1])
        until(lambda: found.desk.graphics_on_air().ruling)
        found.bumped = 1
        until(lambda: any(bumped and seen.report is None for bumped, seen in found.said))
        until(lambda: found.said[-1][1].report and found.desk.graphics_on_air().ruling)
        yield found
    finally:
        found.eyes.stop()


def test_the_bumped_camera_is_said_and_nothing_stands_until_the_table_is_measured_anew(
    watched: Watched,
) -> None:
    before = next(
        seen.report for bumped, seen in watched.said if not bumped and seen.report is not None
    )
    after = [seen for bumped, seen in watched.said if bumped]
    assert any("the camera was moved" in note for seen in after for note in seen.notes)
    stale = [seen for seen in after if seen.report is before]
    assert stale  # it is noticed, then waited for the camera to stand
    assert not any(seen.standing for seen in stale)


def test_every_piece_is_where_it_was_by_its_old_name_and_none_was_moved(watched: Watched) -> None:
    first, last = (
        next(
            seen.report.scene
            for bumped, seen in order
            if bumped == which and seen.report is not None and seen.standing
        )
        for which, order in ((0, watched.said), (1, watched.said[::-1]))
    )
    assert {piece.id for piece in first.pieces} == {piece.id for piece in last.pieces}
    for one in first.pieces:
        other = next(piece for piece in last.pieces if piece.id == one.id)
        assert other.base == one.base
        for piece in (one, other):
            assert (
                np.hypot(*(np.array(HOMES[piece.base.width_mm]) - (piece.x_mm, piece.y_mm))) < 0.5
            )
    assert len(first.pieces) == len(HOMES)
    assert not any(tick.moves for tick in watched.ticks)


def test_a_film_that_begins_again_moves_no_piece_and_keeps_their_names() -> None:
    table, played = Table(), threading.Event()
    ticks: list[Tick] = []
    ends = {"p01": (200.0, 300.0), "p02": (350.0, 170.0), "p03": (480.0, 330.0)}
    starts = dict(table.places)

    def film() -> Iterator[Shot]:
        begin, again = time.monotonic(), played.is_set()
        table.places = dict(ends if again else starts)
        while not (
            eyes._stop_event.is_set() or (desk.scene() and not again)
        ):  # once the table is known, it begins again
            yield Shot.of(Frame(table.picture(), "film", time_s=time.monotonic() - begin))
            time.sleep(0.08)
        played.set()

    desk = Desk()
    told: Any = table
    eyes = TableWatcher(
        LiveReader(Source("film", film, loops=True)),
        told,
        lambda seen: desk.update_table(seen, eyes.shot),
        ticks.append,
    )
    eyes.start()
    try:
        until(lambda: played.is_set() and desk.scene() and desk.scene().pieces[0].x_mm == 200.0)  # type: ignore[union-attr]
        scene = desk.scene()
        assert scene is not None
        assert {piece.id: (piece.x_mm, piece.y_mm) for piece in scene.pieces} == ends
        assert not any(tick.moves for tick in ticks)
    finally:
        eyes.stop()


def test_a_jump_of_the_exposure_is_told_and_the_table_is_measured_anew() -> None:
    """What stood before is not on air meanwhile; nobody is told of a table that looks another way."""
    light = render_table(camera_over(10.0), SIZE_PX, BOARD_MM, [], eight_markers(), noise=1.0)
    dark = (light * 0.5).astype(np.uint8)
    watch = FakeWatch()
    referee: Any = SimpleNamespace(watching=lambda: watch)
    eyes = TableWatcher(LiveReader(Source("camera", lambda: iter(()))), referee, lambda seen: None)
    said = []
    for step, pixels in enumerate([light] * 3 + [dark] * 15):
        shot = Shot.of(Frame(pixels, "camera", time_s=step / 10))
        eyes._status = replace(eyes._look_at_shot(shot), lost=None)
        said.append(eyes._status)
    first, jumped, last = said[2], said[3], said[-1]
    assert first.report is not None
    assert (jumped.report, jumped.notes) == (first.report, (LIGHT_CHANGED_NOTE,))
    assert not jumped.standing
    assert len(watch.again_s) == 1
    assert last.report is not None
    assert (last.report is first.report, last.number, last.notes) == (False, 2, ())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (CAMERA_MOVED_NOTE, "wait until the table has been measured again"),
        (LIGHT_CHANGED_NOTE, "wait until the table has been measured again"),
        (PINNED_NOTE, "put it back, or start again with new --point"),
    ],
)
def test_a_correction_of_a_table_that_is_not_seen_is_refused_with_what_helps(
    change: str, told: str
) -> None:
    referee: Any = SimpleNamespace(watching=FakeWatch)
    eyes = TableWatcher(LiveReader(Source("camera", lambda: iter(()))), referee, lambda seen: None)
    eyes._guard.change = change
    with pytest.raises(CannotMeasure, match=told):
        eyes._apply_fixes([])


def test_a_correction_that_cannot_be_tells_lengths_in_the_tables_unit() -> None:
    class Refusing(FakeWatch):
        def correct(self, fixes: Sequence[Fix]) -> None:
            raise BadInput("z_mm is too high", in_mm=", the camera is 254 mm up")

    referee: Any = SimpleNamespace(watching=Refusing, game=None, house=HouseRules(unit="in"))
    eyes = TableWatcher(LiveReader(Source("camera", lambda: iter(()))), referee, lambda seen: None)
    with pytest.raises(BadInput, match=r"too high, the camera is 10\.00 in up"):
        eyes._apply_fixes([])
