"""Bases in rank and file are judged by all photos together, and others like them found beside them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evaluate.drawn.views import camera_from, see
from overruler.bases import Base
from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.vision.detection.finders import REGIMENT
from overruler.vision.pairing import evidence
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.evidence import piece_probability
from overruler.vision.pairing.finding import Finding
from overruler.vision.pairing.hypotheses import Hypothesis
from overruler.vision.pairing.ranks import ask_photos as asking
from overruler.vision.pairing.ranks.complete_ranks import complete_ranks
from overruler.vision.pairing.ranks.rank_evidence import RankEvidence
from overruler.vision.pairing.ranks.told_places import SeenPlace
from overruler.vision.pairing.sight import Sight
from overruler.vision.pairing.sighting import SeenPhoto, Sighting
from overruler.vision.plates.rectangle_fit import BasePose

SQUARE = Base.rectangle(25, 25)
FIRST = np.array([400.0, 300.0])
POSE = BasePose(SQUARE, FIRST, 0.0)
FILES = 7
NOTHING, SEEN = np.zeros((4, 3)), np.full((4, 3), 1.5)
PHOTOS = [see(k, camera_from(120.0 * k), [(*FIRST, 0.0, 25.0)]) for k in range(3)]


def rank_log_odds(looks: Sequence[SeenPlace]) -> float:
    odds = RankEvidence(dict(enumerate(looks))).log_odds(range(len(looks)))
    assert odds is not None
    return odds


def side_seen(side: int, nats: float = 1.5) -> SeenPlace:
    """A photo that shows one side of a base."""
    sides = NOTHING.copy()
    sides[side] = nats
    return SeenPlace(0.5, 1.0, sides, 0.0)


def test_sides_that_different_photos_show_count_together() -> None:
    whole = rank_log_odds([SeenPlace(0.5, 1.0, SEEN, 0.0), SeenPlace(0.5, 1.0, SEEN, 0.0)])
    halves = rank_log_odds([side_seen(k) for k in range(4)])
    assert halves == pytest.approx(whole)
    assert rank_log_odds([side_seen(0), side_seen(0)]) < whole - 5


def test_a_side_that_no_photo_shows_where_it_should_be_speaks_against_a_base() -> None:
    """Of a gap between two bases three sides are theirs."""
    three = [side_seen(k) for k in range(3)]
    hidden = rank_log_odds([*three, side_seen(3, 0.0)])
    assert rank_log_odds([*three, side_seen(3, -1.0)]) < hidden - 2


def test_one_photo_alone_tells_whether_a_base_stands_in_its_place() -> None:
    ranks = RankEvidence({0: SeenPlace(0.5, 1.0, SEEN, 0.0), 2: SeenPlace(-3.0, 1.0, -SEEN, 0.0)})
    there, gone = ranks.log_odds_by(0), ranks.log_odds_by(2)
    assert there is not None
    assert gone is not None
    assert there > 3
    assert gone < -3
    assert ranks.log_odds_by(1) is None


def detection_at(photo: SeenPhoto, pose: BasePose) -> Detection:
    return replace(photo.detections[0], base=pose.base, xy_mm=pose.xy_mm, score=0.5)


class Table:
    """Photos of a unit of squares in file, all of which each photo shows if it is asked for them."""

    def __init__(self, files: int = FILES) -> None:
        self.places = [FIRST + np.array([25.0 * k, 0.0]) for k in range(files)]
        self.asked: list[BasePose] = []

    def look_at_places(
        self, _frame: object, _camera: object, poses: Sequence[BasePose]
    ) -> list[tuple[SeenPlace, Detection | None]]:
        self.asked += poses
        answers: list[tuple[SeenPlace, Detection | None]] = []
        for pose in poses:
            if min(np.hypot(*(place - pose.xy_mm)) for place in self.places) < 2:
                answers.append((SeenPlace(1.0, 1.0, SEEN, 0.0), detection_at(PHOTOS[0], pose)))
            else:
                answers.append((SeenPlace(-3.0, 1.0, NOTHING, 0.0), None))
        return answers


def found_by_one(xy_mm: Array, score: float = 0.95, base: Base = SQUARE) -> Decided:
    """A rectangle that one photo alone found."""
    photo = PHOTOS[0]
    one = replace(photo.detections[0], base=base, xy_mm=xy_mm, score=score)
    return Decided.of(Hypothesis.of(Sighting(photo, one)), ()).with_sizes({base: 1.0})


def first_of(table: Table, score: float = 0.95) -> list[Decided]:
    """The members of a unit that one photo found: enough to tell that there is one."""
    return [found_by_one(xy_mm, score) for xy_mm in table.places[:REGIMENT]]


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Table:
    table = Table()
    monkeypatch.setattr(asking, "look_at_places", table.look_at_places)
    return table


def test_a_unit_grows_to_its_ends_and_no_farther(table: Table) -> None:
    done = complete_ranks(PHOTOS, first_of(table))
    along = sorted(float(one.xyz_mm[0] - FIRST[0]) for one in done)
    assert along == pytest.approx([25 * k for k in range(FILES)], abs=0.1)
    assert all({one.photo.index for one in each.sightings} == {0, 1, 2} for each in done)
    places = {(round(pose.xy_mm[0]), round(pose.xy_mm[1])) for pose in table.asked}
    assert len(table.asked) == 3 * len(places) == 3 * (FILES + 2 * FILES + 2)


def test_few_rectangles_are_no_regiment(table: Table) -> None:
    """Nothing grows beside them, and each needs more evidence: cards and boxes have corners, too."""
    few = complete_ranks(PHOTOS, first_of(table)[:2])
    assert len(few) == 2
    likely = [
        [piece_probability(one.as_finding(), PHOTOS, Sight({})) for one in some]
        for some in (few, complete_ranks(PHOTOS, first_of(table)))
    ]
    assert max(likely[0]) < min(likely[1]) - 0.001


@pytest.mark.parametrize(
    ("count", "score", "is_regiment"), [(5, 0.9, True), (7, 0.7, True), (6, 0.7, False)]
)
def test_a_regiment_may_be_told_by_many_that_no_photo_is_sure_of(
    table: Table, count: int, score: float, is_regiment: bool
) -> None:
    """Five are expected: five that one photo is sure of, or more that each photo finds likely."""
    found = [found_by_one(xy_mm, score) for xy_mm in table.places[:count]]
    done = complete_ranks(PHOTOS, found)
    assert [one.ranks is not None and one.ranks.is_among_few for one in done].count(True) == (
        0 if is_regiment else count
    )


def test_what_one_photo_takes_for_a_base_goes_where_no_photo_shows_its_sides(table: Table) -> None:
    aside = found_by_one(FIRST + np.array([0.0, 100.0]), 0.7)
    done = complete_ranks(PHOTOS, [*first_of(table), aside])
    likely = [piece_probability(one.as_finding(), PHOTOS, Sight({})) for one in done]
    gone = [one.xyz_mm[1] > FIRST[1] + 50 for one in done]
    assert [one > 0.6 for one in likely] == [not one for one in gone]
    assert sum(gone) == 1


def test_cards_do_not_lie_in_rank_and_file(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """What looks the same from all sides is a card, unless it stands in a unit."""
    monkeypatch.setattr(evidence, "correlate_from_all_sides", lambda *_: 1.0)
    alone = FIRST + np.array([0.0, 150.0])
    table.places.append(alone)
    done = complete_ranks(PHOTOS, [*first_of(table), found_by_one(alone)])
    likely = {
        bool(one.xyz_mm[1] > FIRST[1] + 50): piece_probability(one.as_finding(), PHOTOS, Sight({}))
        for one in done
    }
    assert likely[False] > 0.9 > 0.1 > likely[True]


def test_in_no_unit_a_rectangle_needs_more_evidence(table: Table) -> None:
    def probability(is_in_unit: bool, *shown: int) -> float:
        """The probability of a base of which these photos show the sides, and the others nothing."""
        places = {k: SeenPlace(0.0, 1.0, SEEN if k in shown else NOTHING, 0.0) for k in range(3)}
        sightings = tuple(Sighting(PHOTOS[k], detection_at(PHOTOS[k], POSE)) for k in shown)
        ranks = RankEvidence(places, is_in_unit)
        found = Finding(SQUARE, np.array([*FIRST, 0.0]), sightings, 1.0, ranks)
        asked = [p if k in shown else replace(p, detections=()) for k, p in enumerate(PHOTOS)]
        return piece_probability(found, asked, Sight({}))

    assert probability(True, 0) == pytest.approx(probability(True, 0, 1))
    odds = [np.log(p / (1 - p)) for p in (probability(True, 0, 1), probability(False, 0, 1))]
    assert odds[1] - odds[0] == pytest.approx(evidence.LONE_NATS)
    assert probability(False, 0) < probability(False, 0, 1)


def test_two_bases_in_contact_that_look_like_one_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The network guesses the size of one of them."""
    table = Table()

    def look(*asked: Any) -> list[tuple[SeenPlace, Detection | None]]:
        odd = SeenPlace(0.5, 1.0, SEEN, 15.0)
        return [
            look if pose.base == SQUARE else (odd, detection_at(PHOTOS[0], pose))
            for pose, look in zip(asked[2], table.look_at_places(*asked), strict=True)
        ]

    monkeypatch.setattr(asking, "look_at_places", look)
    both = found_by_one((table.places[0] + table.places[1]) / 2, base=Base.rectangle(25, 50))
    done = complete_ranks(PHOTOS, [both, *first_of(table)[2:], found_by_one(table.places[5])])
    assert {one.base for one in done} == {SQUARE}
    assert len(done) == FILES


def test_one_photo_alone_is_judged_as_before(table: Table) -> None:
    one = found_by_one(FIRST)
    assert complete_ranks(PHOTOS[:1], [one]) == [one]


def test_plates_and_round_bases_are_not_asked_for(table: Table) -> None:
    plate = replace(found_by_one(FIRST), base=Base.rectangle(40, 40))
    assert complete_ranks(PHOTOS, [plate]) == [plate]
    assert table.asked == []
