"""A table put right while it is watched: pieces stand where people said, keep their names, and none of it is a move."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from overruler.errors import BadInput, CannotMeasure
from overruler.fixes import read_fixes
from overruler.frame import Frame, Shot
from overruler.reading import Node
from overruler.track import Tick
from overruler.vision.tracking.watch import Watch
from synthetic.flat_table import Plinth, render_table
from tests.tables import BOARD_MM, SIZE_PX
from tests.vision.tracking.test_watch import CAMERA, HOMES, TO, Oracle, shots


def fixes(*told: dict[str, Any]) -> Any:
    return read_fixes(Node({"schema": "overruler/fix/1", "fix": list(told)}, "fix"))


@cache
def still() -> tuple[Shot, ...]:
    return tuple(shots(moved=False, hand=False, until_s=0.8))


@pytest.fixture
def watch() -> Watch:
    watch = Watch(Oracle())
    for shot in still():
        watch.look(shot)
    return watch


def after(watch: Watch, more: int = 3) -> list[Tick]:
    return [watch.look(replace(still()[-1], time_s=1.0 + k / 10)) for k in range(more)]


def told(ticks: list[Tick]) -> dict[str, Any]:
    (report,) = [tick.rest for tick in ticks if tick.rest is not None]
    return {piece.id: piece for piece in report.scene.pieces}


def test_a_piece_stands_where_it_was_put_and_has_not_been_moved(watch: Watch) -> None:
    watch.correct(fixes({"do": "move", "id": "p02", "xy_mm": [305.0, 142.0]}))
    ticks = after(watch)
    piece = told(ticks)["p02"]
    home = np.array(HOMES["p02"][:2])
    assert (
        np.hypot(piece.x_mm - home[0], piece.y_mm - home[1]) < 0.5
    )  # the picture shows it: pointing was 5 mm off
    assert not any(tick.moves for tick in ticks)
    assert {spot.id: spot.state for spot in ticks[-1].spots} == dict.fromkeys(HOMES, "static")


def test_where_the_picture_shows_nothing_the_word_stands_with_its_doubt(watch: Watch) -> None:
    watch.correct(fixes({"do": "add", "base": "27", "xy_mm": [550.0, 100.0]}))
    pieces = told(after(watch))
    assert sorted(pieces) == [*HOMES, "p04"]
    assert (pieces["p04"].x_mm, pieces["p04"].y_mm) == pytest.approx((550.0, 100.0), abs=0.01)
    assert pieces["p04"].covariance_mm2[0][0] > 10 * pieces["p01"].covariance_mm2[0][0]


def test_a_piece_taken_away_stays_away(watch: Watch) -> None:
    watch.correct(fixes({"do": "remove", "id": "p01"}))
    ticks = after(watch)
    assert sorted(told(ticks)) == ["p02", "p03"]
    assert [spot.id for spot in ticks[-1].spots] == ["p02", "p03"]


def test_a_new_name_stays_with_the_piece(watch: Watch) -> None:
    watch.correct(fixes({"do": "name", "id": "p03", "new_id": "Luke"}))
    piece = told(after(watch))["Luke"]
    assert (piece.x_mm, piece.y_mm) == pytest.approx(HOMES["p03"][:2], abs=0.01)


def test_a_piece_that_was_lost_from_sight_is_put_where_it_stands_by_its_own_name() -> None:
    oracle = Oracle()
    watch, ticks = Watch(oracle), []
    for shot in still():
        watch.look(shot)
    del oracle.places["p02"]
    plinths = [Plinth(*HOMES[name][:2], HOMES[name][2], rim=(0.02,) * 3) for name in oracle.places]
    empty = Frame(render_table(CAMERA, SIZE_PX, BOARD_MM, plinths, noise=1.0, blur_px=0.7), "test")
    ticks += [watch.look(replace(Shot.of(empty), time_s=1.0 + k / 10)) for k in range(20)]
    assert {spot.id: spot.state for spot in ticks[-1].spots}["p02"] == "lifted"
    with pytest.raises(BadInput, match="move it"):
        watch.correct(fixes({"do": "add", "id": "p02", "base": "50", "xy_mm": TO.tolist()}))
    watch.correct(fixes({"do": "move", "id": "p02", "xy_mm": TO.tolist()}))
    more = [watch.look(replace(Shot.of(empty), time_s=3.0 + k / 10)) for k in range(3)]
    piece = told(more)["p02"]
    assert (piece.x_mm, piece.y_mm) == pytest.approx(TO, abs=0.01)
    assert {spot.id: spot.state for spot in more[-1].spots} == dict.fromkeys(HOMES, "static")


def test_nothing_is_done_where_something_cannot_be(watch: Watch) -> None:
    with pytest.raises(BadInput, match="p09"):
        watch.correct(fixes({"do": "remove", "id": "p01"}, {"do": "remove", "id": "p09"}))
    assert [spot.id for spot in after(watch)[-1].spots] == list(HOMES)


def test_before_the_first_look_there_is_nothing_to_correct() -> None:
    with pytest.raises(CannotMeasure, match="not been measured"):
        Watch(Oracle()).correct(fixes({"do": "remove", "id": "p01"}))
