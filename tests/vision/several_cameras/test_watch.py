"""Several cameras: one piece, one move, whatever one of them does not see."""

from collections.abc import Sequence

import numpy as np
import pytest

from overruler.errors import CannotMeasure
from overruler.pieces import Piece
from overruler.track import Move, Tick
from overruler.vision.fusion import gather_findings
from overruler.vision.pairing.second_look import Expected
from overruler.vision.pairing.sighting import SeenPhoto, Sighting
from overruler.vision.several_cameras.watch import WatchSeveral
from overruler.vision.stabilization.guard import LIGHT_CHANGED_NOTE
from tests.vision.several_cameras import stand_in
from tests.vision.several_cameras.stand_in import (
    END_S,
    HOMES,
    START_S,
    TO_MM,
    UNTIL_S,
    Pixels,
    StandIn,
    hide,
    moves_of,
    notes_of,
    rests_of,
    watched,
)


@pytest.fixture(scope="module")
def ticks() -> list[Tick]:
    return watched()[0]


@pytest.fixture(scope="module")
def alone() -> list[Tick]:
    """The left camera alone: the right one cannot measure anything."""
    return watched(StandIn(blind=frozenset({1})))[0]


def check_move(ticks: Sequence[Tick]) -> Move:
    (move,) = moves_of(ticks)
    assert move.piece == "p02", "the second one from the left"
    assert move.from_mm == pytest.approx(HOMES["b"][:2], abs=0.3)
    assert move.to_mm == pytest.approx(TO_MM, abs=0.3)
    return move


def test_what_both_cameras_see_is_one_move_of_one_piece(ticks: list[Tick]) -> None:
    move = check_move(ticks)
    assert move.way_seen
    assert (move.start_s, move.end_s) == pytest.approx((START_S, END_S), abs=0.3)
    assert move.path_mm == pytest.approx(move.distance_mm, abs=0.7)
    assert {spot.id for tick in ticks for spot in tick.spots} == {"p01", "p02", "p03"}


def test_the_scene_has_both_photos_and_less_doubt_than_one(
    ticks: list[Tick], alone: list[Tick]
) -> None:
    before, after = rests_of(ticks)
    assert [len(rest.scene.pieces) for rest in (before, after)] == [3, 3]
    assert len(after.scene.extra["photos"]) == 2
    one = rests_of(alone)[-1].scene
    for both, single in zip(after.scene.pieces, one.pieces, strict=True):
        assert np.trace(np.array(both.covariance_mm2)) < np.trace(np.array(single.covariance_mm2))


def test_pieces_that_stand_still_stay_where_they_were_measured(ticks: list[Tick]) -> None:
    before, after = rests_of(ticks)
    places = [
        {piece.id: (piece.x_mm, piece.y_mm) for piece in rest.scene.pieces}
        for rest in (before, after)
    ]
    assert places[0]["p01"] == places[1]["p01"]
    assert places[0]["p03"] == places[1]["p03"]


def test_it_is_seen_on_its_way(ticks: list[Tick]) -> None:
    moving = [spot for tick in ticks for spot in tick.spots if spot.state == "moving"]
    assert {spot.id for spot in moving} == {"p02"}


def test_the_others_go_on_without_a_camera_that_cannot_measure(alone: list[Tick]) -> None:
    for ticks, name in (alone, "right"), (watched(StandIn(blind=frozenset({0})))[0], "left"):
        check_move(ticks)
        told = [f"{name}: no markers were found"]
        assert notes_of(ticks) == told, "tried more often, told once"


def test_without_any_camera_that_measures_there_is_a_reason() -> None:
    with pytest.raises(CannotMeasure, match="left: no markers were found"):
        watched(StandIn(blind=frozenset({0, 1})))


@pytest.mark.parametrize("index", [0, 1])
def test_the_others_go_on_when_a_camera_ends(index: int) -> None:
    ends = [UNTIL_S, UNTIL_S]
    ends[index] = 1.0
    ticks, _ = watched(ends_s=(ends[0], ends[1]))
    check_move(ticks)
    name = ("left", "right")[index]
    assert notes_of(ticks) == [f"{name} has ended: the other cameras go on"]
    assert [len(rest.scene.pieces) for rest in rests_of(ticks)] == [3, 3]
    seen = {one.id: seen_by(one) for one in rests_of(ticks)[-1].scene.pieces}
    assert seen == {"p01": {0, 1}, "p02": {1 - index}, "p03": {0, 1}}, "it had seen what stays"


def seen_by(piece: Piece) -> set[int]:
    return {image["photo"] for image in piece.extra["images"] if image["seen"]}


def test_the_others_go_on_while_a_camera_is_blocked() -> None:
    """Somebody stands before it from before the move on."""

    def spoil(index: int, time_s: float, pixels: Pixels) -> None:
        if index == 1 and time_s > 0.8:
            pixels[:, 100:] = 40

    ticks, _ = watched(spoil=spoil)
    check_move(ticks)
    assert moves_of(ticks[: round(UNTIL_S * 10)]), "it is not waited for until the end"
    assert len(rests_of(ticks)[-1].scene.pieces) == 3


def test_a_piece_that_one_camera_does_not_find_is_told_by_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    knowing = StandIn()

    def look_again(photo: SeenPhoto, expected: Sequence[Expected]) -> dict[int, Sighting]:
        """The second look finds what is there."""
        found = [(one, each) for one in expected for each in knowing.found(photo.index)]
        return {
            one.key: Sighting(photo, each, again=True)
            for one, each in found
            if np.hypot(*(each.xy_mm - one.xyz_mm[:2])) < 1
        }

    monkeypatch.setattr(gather_findings, "look_again", look_again)
    ticks, watch = watched(StandIn(unknown={0: "a"}))
    check_move(ticks)
    assert [len(rest.scene.pieces) for rest in rests_of(ticks)] == [3, 3]
    table = watch.cameras[0].watch.table
    assert table is not None
    assert len(table.tracks) == 3, "it is followed from then on"


def test_a_move_whose_ends_two_cameras_see_one_each_is_found() -> None:
    def spoil(index: int, time_s: float, pixels: Pixels) -> None:
        hide(pixels, index, HOMES["b"][:2] if index == 0 else TO_MM, 60.0)

    class Walls(StandIn):
        """Either camera finds what nothing hides."""

        def found(self, index: int):  # type: ignore[no-untyped-def]
            hidden = HOMES["b"][:2] if index == 0 else TO_MM
            for one in super().found(index):
                if np.hypot(*(one.xy_mm - hidden)) > 45:
                    yield one

    ticks, _ = watched(Walls(), spoil)
    move = check_move(ticks)
    assert not move.way_seen


def test_a_camera_in_the_same_place_adds_nothing_and_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stand_in, "CAMERAS", (stand_in.CAMERAS[0], stand_in.camera_from(0.3)))
    ticks, _ = watched()
    check_move(ticks)
    told = "right films from the same place as left; the other cameras go on without it"
    assert told in notes_of(ticks)
    assert {len(rest.scene.extra["photos"]) for rest in rests_of(ticks)} == {1}


@pytest.mark.parametrize(("shown", "left"), [("a person", 3), ("bare ground", 2)])
def test_what_a_camera_saw_before_it_was_measured_anew_counts_unless_it_shows_bare_ground(
    shown: str, left: int
) -> None:
    """Piece a is seen by the second camera alone, and then not by that one either."""
    standing_in = StandIn(unknown={0: "a"})

    def spoil(index: int, time_s: float, pixels: Pixels) -> None:
        at = stand_in.CAMERAS[index].project(np.array([*HOMES["a"][:2], 0.0]))
        u, v = np.rint(at).astype(int).tolist()
        box = slice(v - 40, v + 40), slice(u - 40, u + 40)
        if index == 0:
            pixels[box] = 15
        elif time_s > 2.9:
            pixels[box] = 15 if shown == "a person" else stand_in.MATS[1][box]

    def bump(watch: WatchSeveral) -> None:
        standing_in.unknown[1] = "a"
        watch.cameras[1].watch.remeasure_table()

    ticks, _ = watched(standing_in, spoil, at_s=(3.0, bump))
    check_move(ticks)
    assert len(rests_of(ticks)[-1].scene.pieces) == left


def test_a_camera_whose_light_changed_says_so() -> None:
    """It is not told that it was moved, and it does not count until it is measured anew."""
    several = stand_in.watch_of(StandIn())
    for step in range(20):
        several.look([(k, stand_in.shot_of(k, step * 0.1)) for k in (0, 1)])
    camera = several.cameras[0]
    assert (camera.trouble, camera.table is None) == (None, False)
    camera._guard.change = LIGHT_CHANGED_NOTE  # the stand-in's mat has no markers that tell it
    assert (camera.trouble, camera.table) == (LIGHT_CHANGED_NOTE, None)


def test_an_empty_table_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StandIn, "found", lambda self, index: iter(()))
    first, *_ = rests_of(watched()[0])
    assert first.scene.pieces == ()
    assert len(first.scene.extra["photos"]) == 2
