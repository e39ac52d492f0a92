"""Several cameras live: one table on the desk, whichever of them is lost."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from overruler.apps.web.live.desk_state import problems_told
from overruler.apps.web.live.several.watcher import SeveralCamerasWatcher
from overruler.apps.web.live.watcher import TableStatus
from overruler.bases import Base
from overruler.calibration import Problem
from overruler.errors import BadInput
from overruler.fixes import Fix
from overruler.frame import Shot
from overruler.house_rules import HouseRules
from overruler.sources.live import LiveReader, Source
from overruler.track import Tick
from overruler.vision.several_cameras.watch import WatchSeveral
from tests.vision.several_cameras.stand_in import (
    TO_MM,
    UNTIL_S,
    StandIn,
    moves_of,
    shot_of,
    watch_of,
)
from tests.waiting import LONG_S

STEPS = round(UNTIL_S * 10)
NAMES = "left", "right"


@dataclass
class Game:
    """The game as scripted pictures, and all that is told of it."""

    game: str | None = None
    house: HouseRules = field(default_factory=lambda: HouseRules(unit="in"))
    lost_from: dict[int, int] = field(default_factory=dict)
    """The step from which a camera gives no pictures, by its number."""
    step: int = 0
    standing_in: StandIn = field(default_factory=StandIn)
    told: list[TableStatus] = field(default_factory=list)
    ticks: list[Tick] = field(default_factory=list)

    def watching(self) -> None:
        """The referee's part for one camera."""

    def watching_several(self, cameras: Sequence[str]) -> Any:
        """The referee's part for several."""
        return watch_of(self.standing_in)

    def plays(self, number: int) -> bool:
        return self.step < min(self.lost_from.get(number, STEPS), STEPS)


class Scripted:
    """A source whose pictures come one at each look; the first camera's clock counts."""

    time_jumps = 0

    def __init__(self, game: Game, number: int) -> None:
        self.game, self.number = game, number
        self.source = Source(NAMES[number], lambda: iter(()))

    def newest_shot(self, after: int, timeout_s: float) -> tuple[int, Shot] | None:
        game = self.game
        if self.number == 0:
            game.step += 1
            game.standing_in.time_s = game.step / 10
            if game.step > STEPS:
                time.sleep(0.002)
        if not game.plays(self.number):
            return None
        return game.step, shot_of(self.number, game.step / 10)

    def loss_reason(self) -> str | None:
        ended = self.game.step >= self.game.lost_from.get(self.number, 10 * STEPS)
        return "unplugged" if ended else None

    def start(self) -> None: ...

    def stop(self) -> None: ...


def played(
    lost_from: dict[int, int] | None = None,
    then: Callable[[SeveralCamerasWatcher, Game], None] = lambda watcher, game: None,
) -> Game:
    game = Game(lost_from=lost_from or {})
    readers = [cast(LiveReader, Scripted(game, number)) for number in (0, 1)]
    watcher = SeveralCamerasWatcher(
        readers[0], cast(Any, game), game.told.append, game.ticks.append, others=readers[1:]
    )
    watcher.start()
    try:
        end_s = time.monotonic() + LONG_S
        while game.step < STEPS + 15 and time.monotonic() < end_s:
            time.sleep(0.01)
        then(watcher, game)
    finally:
        watcher.stop()
    return game


def test_two_cameras_show_one_table() -> None:
    game = played(then=correct_one)
    report = game.told[-1].report
    assert report is not None
    assert len(report.photos) == 2
    assert report.photos[0].frame.name == "left", "graphics are drawn on the first camera's picture"
    (move,) = moves_of(game.ticks)
    assert move.to_mm == pytest.approx(TO_MM, abs=0.3)


def test_the_desk_tells_the_problems_of_every_camera() -> None:
    report = played().told[-1].report
    assert report is not None
    assert len(report.photos) == 2
    of_all, of_left, of_right = (
        Problem(word, f"{word} is wrong") for word in ("map", "lens", "tilt")
    )
    left, right = (
        replace(photo, calibration=replace(photo.calibration, problems=(own,)))
        for photo, own in zip(report.photos, (of_left, of_right), strict=True)
    )
    first = replace(report.calibration, problems=(of_all, of_left))
    told = problems_told(replace(report, calibration=first, photos=(left, right)))
    names = [photo.frame.name for photo in report.photos]
    assert told == ["map is wrong", f"{names[0]}: lens is wrong", f"{names[1]}: tilt is wrong"]
    assert problems_told(replace(report, calibration=first, photos=())) == [
        "map is wrong",
        "lens is wrong",
    ]


def correct_one(watcher: SeveralCamerasWatcher, game: Game) -> None:
    """A correction is taken in by all cameras, and is no move."""
    with pytest.raises(BadInput, match="there is no piece 'p09'"):
        watcher.correct([Fix(do="remove", id="p09")])
    high = Fix(do="add", id=None, xy_px=(400.0, 300.0), base=Base.circle(27.0), z_mm=2540000.0)
    with pytest.raises(BadInput, match=r"the camera is [\d.]+ in up"):
        watcher.correct([high])
    watcher.correct([Fix(do="remove", id="p01")])
    end_s = time.monotonic() + LONG_S
    while time.monotonic() < end_s:
        report = game.told[-1].report
        if report is not None and [piece.id for piece in report.scene.pieces] == ["p03", "p02"]:
            return
        time.sleep(0.01)
    raise AssertionError("the piece is there still")


@pytest.mark.parametrize("number", [0, 1])
def test_the_table_is_watched_on_without_a_camera(number: int) -> None:
    game = played({number: 10})
    (move,) = moves_of(game.ticks)
    assert move.to_mm == pytest.approx(TO_MM, abs=0.3)
    last = game.told[-1]
    if number == 0:
        assert last.lost == "unplugged", "there is no picture to draw on"
        assert not last.standing
    else:
        assert last.lost is None
        assert "right: unplugged" in last.notes
        assert len(last.standing) == 3


def test_a_picture_that_fails_is_logged_with_its_trace(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(self: WatchSeveral, shots: object) -> Tick:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(WatchSeveral, "look", fail)
    game = Game()
    readers = [cast(LiveReader, Scripted(game, number)) for number in (0, 1)]
    watcher = SeveralCamerasWatcher(
        readers[0], cast(Any, game), game.told.append, game.ticks.append, others=readers[1:]
    )
    status = watcher._look_without_shot()
    assert status.notes == ("this should not have happened (ZeroDivisionError): measuring again",)
    assert "ZeroDivisionError: ours" in caplog.text
