"""Corrections of a table that several cameras watch: what a person says counts for all of them."""

from collections.abc import Iterator

import numpy as np
import pytest

from overruler.bases import Base
from overruler.errors import BadInput, CannotMeasure
from overruler.fixes import Fix
from overruler.report import Report
from overruler.vision.several_cameras.watch import WatchSeveral
from tests.vision.several_cameras.stand_in import StandIn, shot_of, watch_of


def looked(watch: WatchSeveral, steps: range) -> Iterator[Report]:
    """The reports of a table on which nothing moves."""
    for step in steps:
        tick = watch.look([(index, shot_of(index, 0.0, time_s=step / 10)) for index in (0, 1)])
        assert not tick.moves, "a correction is no move"
        if tick.rest is not None:
            yield tick.rest


def test_a_table_that_is_not_measured_yet_cannot_be_corrected() -> None:
    with pytest.raises(CannotMeasure, match="left does not see the table"):
        watch_of(StandIn()).correct([Fix(do="remove", id="p01")])


def test_what_a_person_says_counts_for_all_cameras() -> None:
    watch = watch_of(StandIn())
    (before,) = looked(watch, range(6))
    assert [piece.id for piece in before.scene.pieces] == ["p01", "p02", "p03"]
    with pytest.raises(BadInput, match="there is no piece 'p07' to resize"):
        watch.correct([Fix(do="resize", id="p07", base=Base.circle(32.0))])
    watch.correct(
        [
            Fix(do="move", id="p01", xy_mm=(200.0, 330.0)),
            Fix(do="remove", id="p02"),
            Fix(do="resize", id="p03", base=Base.circle(32.0)),
            Fix(do="add", id=None, base=Base.circle(27.0), xy_mm=(600.0, 100.0)),
        ]
    )
    (after,) = looked(watch, range(6, 8))
    found = {piece.id: piece for piece in after.scene.pieces}
    assert found.keys() == {"p01", "p03", "p04"}
    places = {name: (round(piece.x_mm), round(piece.y_mm)) for name, piece in found.items()}
    assert places["p01"] == (200, 330)
    assert places["p04"] == (600, 100)
    assert found["p03"].base == Base.circle(32.0)
    assert np.isfinite([piece.heading_deg for piece in found.values()]).all()


def test_a_piece_that_a_person_took_away_is_gone_from_a_report_before_the_next_joining() -> None:
    """One camera comes to rest sooner than the other, say."""
    watch = watch_of(StandIn())
    assert list(looked(watch, range(6)))
    for name, left in (("p02", ["p01", "p03"]), ("p01", ["p03"])):
        watch.correct([Fix(do="remove", id=name)])
        report = watch.current_report()
        assert report is not None
        assert [piece.id for piece in report.scene.pieces] == left


def test_a_table_is_told_as_empty_once_its_last_piece_was_taken_away() -> None:
    watch = watch_of(StandIn())
    assert watch.current_report() is None
    assert list(looked(watch, range(6)))
    watch.correct([Fix(do="remove", id=name) for name in ("p01", "p02", "p03")])
    report = watch.current_report()
    assert report is not None
    assert report.scene.pieces == ()
    (told,) = looked(watch, range(6, 8))
    assert told.scene.pieces == ()
