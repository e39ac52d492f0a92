"""Weak findings that other photos do not confirm take the trust from the weak findings beside them."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluate.drawn.views import camera_from, see
from overruler.bases import Base
from overruler.vision.pairing.finding import Finding
from overruler.vision.pairing.sighting import SeenPhoto, Sighting
from overruler.vision.pairing.trust import Distrust

PLACES = [(120.0 + 60 * (k % 10), 100.0 + 90 * (k // 10), 0.0, 27.0) for k in range(30)]
PHOTOS = [see(k, camera_from(120.0 * k), PLACES) for k in range(2)]


def findings(score: float, confirmed: int) -> list[Finding]:
    """30 bases of one score in the first photo, of which the second one sees some."""
    seen = [_sighting(PHOTOS[0], k, score) for k in range(len(PLACES))]
    again = [_sighting(PHOTOS[1], k, 0.6) for k in range(confirmed)]
    pairs = [(one, *again[k : k + 1]) for k, one in enumerate(seen)]
    return [
        Finding(Base.circle(27), np.array(place[:3]), pair)
        for place, pair in zip(PLACES, pairs, strict=True)
    ]


def _sighting(photo: SeenPhoto, number: int, score: float) -> Sighting:
    return Sighting(photo, replace(photo.detections[number], score=score))


def nats_against_alone(score: float, confirmed: int) -> float:
    """What speaks against one more base that no other photo sees."""
    told = findings(score, confirmed)
    return Distrust.of(told, PHOTOS).nats_against(told[-1])


def test_a_photo_of_which_others_confirm_what_it_promises_is_trusted() -> None:
    assert nats_against_alone(0.6, 18) == 0


def test_a_photo_whose_weak_findings_are_nothing_elsewhere_is_not() -> None:
    told = findings(0.6, 3)
    distrust = Distrust.of(told, PHOTOS)
    assert distrust.nats_against(told[-1]) > 1
    assert distrust.nats_against(told[0]) == 0  # the other photo sees this one


def test_a_base_is_no_evidence_against_itself_and_one_is_little() -> None:
    told = findings(0.6, 0)
    assert Distrust.of(told[:1], PHOTOS).nats_against(told[0]) == 0
    assert 0 < Distrust.of(told[:2], PHOTOS).nats_against(told[0]) < 0.2


def test_what_a_photo_is_sure_of_says_nothing_of_its_weak_findings() -> None:
    assert nats_against_alone(0.99, 0) == 0


def test_weak_findings_take_no_trust_from_what_the_photo_is_sure_of() -> None:
    told = findings(0.6, 3)
    (sure,) = told[-1].sightings
    sure = sure.with_detection(replace(sure.detection, score=0.995))
    told[-1] = replace(told[-1], sightings=(sure,))
    assert Distrust.of(told, PHOTOS).nats_against(told[-1]) == 0


@settings(max_examples=25)
@given(st.floats(0.1, 0.9), st.integers(0, 28))
def test_each_confirmed_base_adds_trust(score: float, confirmed: int) -> None:
    fewer, more = (nats_against_alone(score, n) for n in (confirmed, confirmed + 1))
    assert fewer >= more - 1e-4
    assert fewer < 1e-9 or fewer > more
