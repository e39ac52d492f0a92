"""Round bases and plates in one photo: which of two at one place stays, and where plates are looked for at all."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from overruler.bases import Base, catalogue
from overruler.calibration import Calibration, Covariances
from overruler.detections import Detection
from overruler.vision.detection import choice, finders
from overruler.vision.detection import detect as module
from overruler.vision.detection.sizes import Sizes
from overruler.vision.learned.disc_net import NO_DISCS
from overruler.vision.learned.shape_net import ShapeCandidate
from overruler.vision.plates.regiment_net import SeenCells
from overruler.vision.rounds.scoring import MIN_SCORE
from tests.tables import camera_over, exact
from tests.vision.plate_table import SHIPS, SIZE_PX, table_camera, table_with


def found_at(x_mm: float, base: Base, score: float) -> Detection:
    none = np.zeros((0, 2))
    return Detection(
        base, np.array([x_mm, 0.0]), 0, 0, np.eye(2), np.zeros((2, 15)), score, 1, none, none
    )


@pytest.mark.parametrize(
    ("round_score", "plate_score", "left"),
    [(0.9, 0.99, "rectangle"), (0.999, 0.9, "circle"), (0.9, 0.8, "rectangle")],
)
def test_of_a_round_base_and_a_plate_at_one_place_one_stays(
    round_score: float, plate_score: float, left: str
) -> None:
    one, other = (
        found_at(0, Base.circle(32), round_score),
        found_at(5, Base.rectangle(40, 40), plate_score),
    )
    assert [kept.base.shape for kept in choice.suppress_overlaps([one, other])] == [left]


@pytest.mark.parametrize(("oval_score", "left"), [(0.9, "oval"), (0.61, "circle")])
def test_an_oval_stays_where_its_end_looks_like_a_round_base(oval_score: float, left: str) -> None:
    oval = found_at(0, Base.oval(35, 60), oval_score)
    end = found_at(12, Base.circle(32), 0.993)
    assert [kept.base.shape for kept in choice.suppress_overlaps([end, oval])] == [left]


def test_a_round_base_wider_than_an_oval_is_no_end_of_it() -> None:
    oval, wide = found_at(0, Base.oval(35, 60), 0.9), found_at(12, Base.circle(50), 0.97)
    assert [kept.base.shape for kept in choice.suppress_overlaps([oval, wide])] == ["circle"]


def test_two_ovals_side_by_side_are_no_wider_round_base() -> None:
    """One of them alone is less sure than the round base, both together are surer."""
    ovals = [found_at(x, Base.oval(35, 60), 0.9) for x in (-18, 18)]
    wide = found_at(0, Base.circle(70), 0.97)
    kept = choice.suppress_overlaps([*ovals, wide])
    assert [one.base.shape for one in kept] == ["oval", "oval"]
    kept = choice.suppress_overlaps([ovals[0], wide])
    assert [one.base.shape for one in kept] == ["circle"]


def test_a_round_base_beside_a_plate_stays() -> None:
    one, other = found_at(0, Base.circle(32), 0.9), found_at(37, Base.rectangle(40, 40), 0.99)
    assert len(choice.suppress_overlaps([one, other])) == 2


@pytest.mark.parametrize(
    ("rounds", "plates", "score", "left"),
    [
        (3, 0, 0.9, 3),
        (3, 5, 0.9, 8),
        (3, 6, 0.9, 6),
        (3, 6, 0.999, 9),
        (6, 3, 0.9, 6),
        (6, 3, 0.999, 9),
    ],
    ids=["no plate", "mixed", "hulls", "sure round ones", "printed rooms", "sure plates"],
)
def test_of_plates_and_round_bases_the_far_fewer_must_be_sure(
    rounds: int, plates: int, score: float, left: int
) -> None:
    round_ones = [found_at(100.0 * k, Base.circle(32), score) for k in range(rounds)]
    squares = [found_at(1000.0 + 100 * k, Base.rectangle(40, 40), score) for k in range(plates)]
    assert len(choice._prefer_dominant_kind((*round_ones, *squares))) == left


@pytest.mark.parametrize("rounds", [3, 20])
def test_rectangles_that_nobody_named_stay_among_round_bases(rounds: int) -> None:
    round_ones = [found_at(100.0 * k, Base.circle(32), 0.9) for k in range(rounds)]
    squares = [found_at(5000.0 + 100 * k, Base.rectangle(40, 40), 0.9) for k in range(6)]
    assert len(choice._prefer_dominant_kind(round_ones, squares)) == rounds + len(squares)


@pytest.mark.parametrize(
    ("sizes", "left"),
    [([(20, 40)], 1), ([(20, 40), (20, 40)], 0), ([(50, 100)], 0), ([(40, 40), (40, 40)], 1)],
    ids=["one smaller", "two halves", "a larger one", "the same"],
)
def test_a_plate_is_no_part_of_a_regiment(sizes: list[tuple[float, float]], left: int) -> None:
    plate = found_at(100, Base.rectangle(40, 40), 0.999)
    unnamed = [found_at(90.0 + 20 * k, Base.rectangle(*one), 0.9) for k, one in enumerate(sizes)]
    assert len(choice._without_parts([plate], unnamed)) == left


@pytest.mark.parametrize(("oblong", "told"), [(4, 4), (5, 11)], ids=["ships", "a regiment"])
def test_squares_as_large_as_plates_count_where_a_regiment_stands(
    oblong: int, told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found_in(frame: object, camera: object, cells: SeenCells, least: float) -> list[Detection]:
        sides = [Base.rectangle(one.width_mm, one.length_mm) for one in cells.guesses]
        return [found_at(100.0 * k, base, 0.9) for k, base in enumerate(sides)]

    sizes = [(25.0, 20.0)] * oblong + [(40.0, 40.0)] * 6
    guesses = [ShapeCandidate(np.zeros(2), *size, 0.0, 1.0, 0.9, (1.0, 0.0)) for size in sizes]
    cells = SeenCells((), guesses)
    monkeypatch.setattr("overruler.vision.plates.regiments.find_regiments", found_in)
    fleet: Any = SimpleNamespace(
        is_fleet=True, frame=None, least_score=MIN_SCORE, calibration=SimpleNamespace(camera=None), seen=None,
        unnamed=SimpleNamespace(result=lambda: cells),
        progress=lambda text: None, printed=lambda: None,
    )  # fmt: skip
    assert len(list(finders._find_regiments(fleet))) == told


@pytest.mark.parametrize(("likely", "told"), [(5, 6), (4, 4)], ids=["a regiment", "a few"])
def test_doubtful_rectangles_are_told_to_other_photos_where_a_regiment_stands(
    likely: int, told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of them lies where a round base does, and is not told."""
    square = Base.rectangle(20, 20)
    angular = [found_at(100.0 * k, square, 0.8) for k in range(likely)]
    angular += [found_at(-100, square, 0.4), found_at(-205, square, 0.4)]
    nothing: Any = SimpleNamespace(camera=None)
    bases, least = [Base.rectangle(40, 40)], MIN_SCORE / 2
    search = SimpleNamespace(
        seen=None,
        sizes_chosen=False,
        is_fleet=False,
        least_score=least,
        sizes=Sizes.of(bases),
    )
    monkeypatch.setattr(finders.Search, "begin", lambda *_: search)
    monkeypatch.setattr(module, "rectify_board", lambda *_, **__: None)
    round_one = found_at(-200, Base.circle(32), 0.9)
    monkeypatch.setattr(module, "_run_finders", lambda _: ([round_one], angular))
    found = module.detect(nothing, nothing, bases, least_score=least)
    sure, doubtful = choice.split_doubtful([one for one in found if one is not round_one])
    assert {one.score for one in sure} == {0.8}
    assert [one.xy_mm[0] for one in doubtful] == [-100] * (told - likely)


def test_on_a_table_of_ships_no_surer_hull_costs_a_plate() -> None:
    squares = [found_at(1000.0 + 100 * k, Base.rectangle(40, 40), 0.9) for k in range(6)]
    found = [*squares, found_at(1005.0, Base.circle(32), 0.999)]
    assert len(choice.suppress_overlaps(found)) == len(squares)
    assert [one.base.shape for one in choice._prefer_dominant_kind(found)] == ["rectangle"] * len(
        squares
    )


def test_plates_are_looked_for_only_where_there_may_be_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "overruler.vision.plates.find.find_plates",
        lambda *_, **__: pytest.fail("looked for plates"),
    )
    monkeypatch.setattr(finders, "fit_rounds", lambda *_, **__: ())
    camera = table_camera(10.0)
    frame = table_with(camera, [], SIZE_PX)
    calibration = Calibration(
        camera, Covariances.same(np.zeros((15, 15))), SIZE_PX, 0.1, (), (560.0, 500.0)
    )
    assert module.detect(frame, calibration, catalogue("legion")) == ()


def test_plates_are_found_among_round_bases(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = tuple(found_at(2000.0 + 100 * k, Base.circle(32), 0.9) for k in range(30))
    monkeypatch.setattr(finders, "fit_rounds", lambda *_, **__: rounds)
    camera = table_camera(10.0)
    frame = table_with(camera, SHIPS, SIZE_PX)
    calibration = Calibration(
        camera, Covariances.same(np.zeros((15, 15))), SIZE_PX, 0.1, (), (560.0, 500.0)
    )
    shapes = [
        one.base.shape
        for one in module.detect(frame, calibration, [Base.circle(32), *catalogue("xwing")])
    ]
    assert (shapes.count("circle"), shapes.count("rectangle")) == (len(rounds), len(SHIPS))


@pytest.mark.parametrize(
    ("rings", "bases", "looked_for"),
    [
        (True, catalogue(None), True),
        (False, catalogue(None), False),
        (True, [Base.circle(32), Base.rectangle(40, 40)], False),
    ],
    ids=["nobody named sizes", "a part of a table", "named sizes"],
)
def test_rectangles_that_nobody_named_are_looked_for_on_whole_tables(
    rings: bool, bases: Sequence[Base], looked_for: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = Mock(return_value=None)
    monkeypatch.setattr(finders, "_look_for_unnamed", look)
    monkeypatch.setattr(finders, "find_discs", lambda *_, **__: NO_DISCS)
    monkeypatch.setattr(finders, "find_plate_candidates", lambda *_: [])
    nothing: Any = None
    laid = replace(exact(camera_over()), markers=(0, 1, 2, 3))
    sizes = Sizes.of(bases)
    search = finders.Search.begin(nothing, laid, nothing, sizes, (), rings, print)
    assert (search.unnamed is not None) == looked_for
    assert not list(finders._find_regiments(search))
    assert look.called == looked_for


def test_a_square_of_no_plate_has_no_preference_over_a_round_base() -> None:
    one, other = (
        found_at(0, Base.circle(32), 0.97),
        found_at(2, Base.rectangle(25, 25), 0.95),
    )
    assert [kept.base.shape for kept in choice.suppress_overlaps([one, other])] == ["circle"]
