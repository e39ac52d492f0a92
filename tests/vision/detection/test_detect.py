"""What is looked for on a table, by what a first look from above says of it."""

from collections.abc import Callable
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from overruler.bases import Base, catalogue
from overruler.vision.detection import finders, seen_in_play
from overruler.vision.detection.detect import detect
from overruler.vision.detection.finders import MANY_PLATES
from overruler.vision.learned.disc_net import Discs
from overruler.vision.learned.shape_net import ShapeCandidate
from overruler.vision.rounds.ring_filter import Candidates
from tests.tables import camera_over, exact, photo

NO_CANDIDATES = Candidates(np.empty((0, 2)), np.empty(0), np.empty(0))
PLATES, RECTANGLES = (
    "overruler.vision.plates.find.find_plates",
    "overruler.vision.plates.rectangles.find_rectangles",
)
CHOSEN = (Base.circle(32.0), Base.rectangle(40.0, 40.0))


def see_from_above(monkeypatch: pytest.MonkeyPatch, look: Callable[..., Discs]) -> None:
    """Have the look from above see what `look` gives, on prepared tables and on those in play."""
    for asking in (finders, seen_in_play):
        monkeypatch.setattr(asking, "find_discs", look)


@pytest.mark.parametrize(
    ("bases", "looked_for"),
    [
        (catalogue(None), True),
        (catalogue("xwing"), True),
        (CHOSEN, True),
        (catalogue("legion"), False),
    ],
    ids=["the catalogue", "a game of plates", "somebody's choice", "a game without plates"],
)
@pytest.mark.parametrize("likely", [0, 30])
def test_plates_are_looked_for_wherever_they_may_be(
    bases: tuple[Base, ...], looked_for: bool, likely: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = Mock(return_value=[])
    see_from_above(monkeypatch, lambda *_, **__: rounds_from_above(likely, 0))
    monkeypatch.setattr(finders, "find_candidates", Mock(return_value=NO_CANDIDATES))
    monkeypatch.setattr(finders, "find_plate_candidates", look)
    camera = camera_over()
    assert detect(photo(camera, []), exact(camera), bases) == ()
    assert look.called == looked_for


@pytest.mark.parametrize(
    ("bases", "squares", "rounds", "fleet"),
    [
        (catalogue(None), MANY_PLATES, 2, True),
        (catalogue(None), MANY_PLATES - 1, 0, False),
        (catalogue(None), MANY_PLATES, 3, False),
        (catalogue(None), 8, 4, True),
        (CHOSEN, 8, 0, False),
    ],
    ids=["a fleet", "too few", "too many round ones", "twice as many", "somebody's choice"],
)
def test_among_a_fleet_round_bases_are_proposed_by_the_network_alone(
    bases: tuple[Base, ...], squares: int, rounds: int, fleet: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    guesses = [
        ShapeCandidate(np.zeros(2), 40.0, 40.0, 0.0, 1.0, score)
        for score in [0.6] * squares + [0.4] * 20
    ]
    find_plates, find_candidates = Mock(return_value=[]), Mock(return_value=NO_CANDIDATES)
    find_ovals = Mock(return_value=[])
    see_from_above(monkeypatch, lambda *_, **__: rounds_from_above(rounds, 20))
    monkeypatch.setattr(finders, "find_candidates", find_candidates)
    monkeypatch.setattr(finders, "find_ovals", find_ovals)
    monkeypatch.setattr(finders, "find_plate_candidates", lambda *_: guesses)
    monkeypatch.setattr(PLATES, find_plates)
    camera = camera_over()
    detect(photo(camera, []), exact(camera), bases)
    assert find_plates.call_args.args[4] == fleet  # whether plates are expected
    assert find_candidates.call_args.kwargs["rings"] == (not fleet)
    assert find_ovals.called == (bases != CHOSEN)


def rounds_from_above(likely: int, unlikely: int) -> Discs:
    rounds = np.column_stack(
        [np.full((likely + unlikely, 3), 100.0), [0.6] * likely + [0.4] * unlikely]
    )
    return Discs(rounds, np.empty((0, 6)))


@pytest.mark.parametrize(
    ("bases", "looked_for"),
    [
        (catalogue(None), False),
        (catalogue("xwing"), False),
        (CHOSEN, False),
        ((*CHOSEN, Base.rectangle(25, 50)), True),
        ((Base.rectangle(25, 25),), True),
    ],
    ids=["the catalogue", "a game of plates", "a plate's size", "a rectangle", "no plate's size"],
)
def test_rectangles_are_looked_for_only_where_a_size_is_named_that_no_plate_has(
    bases: tuple[Base, ...], looked_for: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_rectangles = Mock(return_value=[])
    see_from_above(monkeypatch, lambda *_, **__: Discs(np.empty((0, 4)), np.empty((0, 6))))
    monkeypatch.setattr(finders, "find_candidates", Mock(return_value=NO_CANDIDATES))
    monkeypatch.setattr(PLATES, Mock(return_value=[]))
    monkeypatch.setattr(RECTANGLES, find_rectangles)
    camera = camera_over()
    assert detect(photo(camera, []), exact(camera), bases) == ()
    assert find_rectangles.called == looked_for
    if looked_for:
        assert find_rectangles.call_args.args[3] == [
            base for base in bases if base.shape == "rectangle"
        ]


@pytest.mark.parametrize(
    "within_mm", [None, np.array([[50.0, 50.0], [200.0, 200.0]])], ids=["all of it", "a part"]
)
def test_rings_are_sought_over_a_whole_table_and_not_in_a_part_of_a_known_one(
    within_mm: np.ndarray | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_candidates = Mock(return_value=NO_CANDIDATES)
    monkeypatch.setattr(finders, "find_candidates", find_candidates)
    camera = camera_over()
    detect(photo(camera, []), exact(camera), [Base.circle(32)], within_mm=within_mm)
    assert find_candidates.call_args.kwargs["rings"] == (within_mm is None)


def test_squares_that_no_plate_is_as_large_as_are_no_plates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find_plates, guesses = (
        Mock(return_value=[]),
        [ShapeCandidate(np.zeros(2), 40.0, 40.0, 0.0, 1.0, 0.6)],
    )
    see_from_above(monkeypatch, lambda *_, **__: Discs(np.empty((0, 4)), np.empty((0, 6))))
    monkeypatch.setattr(finders, "find_plate_candidates", lambda *_: guesses)
    monkeypatch.setattr(PLATES, find_plates)
    monkeypatch.setattr(RECTANGLES, Mock(return_value=[]))
    camera = camera_over()
    detect(photo(camera, []), exact(camera), [Base.rectangle(50, 50), Base.rectangle(40, 40)])
    assert find_plates.call_args.args[3] == [40]


@pytest.mark.parametrize("marked", [True, False])
def test_a_table_without_markers_is_seen_by_both_networks(
    marked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = Mock(return_value=Discs(np.empty((0, 4)), np.empty((0, 6))))
    see_from_above(monkeypatch, look)
    monkeypatch.setattr(finders, "find_candidates", Mock(return_value=NO_CANDIDATES))
    camera = camera_over()
    calibration = replace(exact(camera), markers=(Mock(),) if marked else ())
    detect(photo(camera, []), calibration, (Base.circle(32.0),))
    assert look.call_args.kwargs.get("in_play", False) == (not marked)
