"""Bases in rank and file are judged by all photos together, and others like them found beside them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import camera_from, see
from overruler.bases import Base
from overruler.detections import Detection
from overruler.vision.pairing import ranks
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.evidence import piece_probability
from overruler.vision.pairing.hypotheses import Hypothesis
from overruler.vision.pairing.rank_evidence import RankEvidence
from overruler.vision.pairing.ranks import complete_ranks
from overruler.vision.pairing.sight import Sight
from overruler.vision.pairing.sighting import SeenPhoto, Sighting
from overruler.vision.plates.rectangle_fit import BasePose
from overruler.vision.plates.told_places import SeenPlace

SQUARE = Base.rectangle(25, 25)
FIRST = np.array([400.0, 300.0])
FILES = 4
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
    hidden = rank_log_odds([*three, SeenPlace(0.0, 1.0, NOTHING, 0.0)])
    assert rank_log_odds([*three, side_seen(3, -1.0)]) < hidden - 2


def detection_at(photo: SeenPhoto, pose: BasePose) -> Detection:
    return replace(photo.detections[0], base=pose.base, xy_mm=pose.xy_mm, score=0.5)


class Table:
    """Photos of a unit of four squares in file, of which each photo shows what it is told to."""

    def __init__(self, files: int = FILES) -> None:
        self.places = [FIRST + [25.0 * k, 0.0] for k in range(files)]
        self.asked = 0

    def look_at_places(
        self, _frame: object, _camera: object, poses: Sequence[BasePose]
    ) -> list[tuple[SeenPlace, Detection | None]]:
        self.asked += len(poses)
        answers: list[tuple[SeenPlace, Detection | None]] = []
        for pose in poses:
            if min(np.hypot(*(place - pose.xy_mm)) for place in self.places) < 2:
                answers.append((SeenPlace(1.0, 1.0, SEEN, 0.0), detection_at(PHOTOS[0], pose)))
            else:
                answers.append((SeenPlace(-3.0, 1.0, NOTHING, 0.0), None))
        return answers


def found_by_one(score: float = 0.7) -> Decided:
    """The first of the unit, as one photo alone found it."""
    photo = PHOTOS[0]
    one = replace(photo.detections[0], base=SQUARE, score=score)
    return Decided.of(Hypothesis.of(Sighting(photo, one)), ()).with_sizes({SQUARE: 1.0})


def test_a_unit_grows_to_its_ends_and_no_farther(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table()
    monkeypatch.setattr(ranks, "look_at_places", table.look_at_places)
    done = complete_ranks(PHOTOS, [found_by_one()])
    along = sorted(float(one.xyz_mm[0] - FIRST[0]) for one in done)
    assert along == pytest.approx([0, 25, 50, 75], abs=0.1)
    assert all({one.photo.index for one in each.sightings} == {0, 1, 2} for each in done)
    assert table.asked == 3 * (FILES + 2 * FILES + 2)  # each place once in each photo


def test_what_one_photo_takes_for_a_base_goes_where_no_photo_shows_its_sides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ranks, "look_at_places", Table().look_at_places)
    there = found_by_one()
    gone = replace(there, xyz_mm=there.xyz_mm + [0.0, 100.0, 0.0])
    seen, unseen = complete_ranks(PHOTOS, [there, gone])[:2]
    likely = [piece_probability(one.as_finding(), PHOTOS, Sight({})) for one in (seen, unseen)]
    assert likely[0] > 0.95
    assert likely[1] < 0.1


def test_one_photo_alone_is_judged_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "look_at_places", Table().look_at_places)
    one = found_by_one()
    assert complete_ranks(PHOTOS[:1], [one]) == [one]


def test_plates_and_round_bases_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "look_at_places", None)
    plate = replace(found_by_one(), base=Base.rectangle(40, 40))
    assert complete_ranks(PHOTOS, [plate]) == [plate]
