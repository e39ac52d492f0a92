"""What a photo does not see counts as much as it sees of the bases of which others are sure."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import camera_from, see
from overruler.bases import Base
from overruler.vision.pairing import sight
from overruler.vision.pairing.finding import Finding
from overruler.vision.pairing.sight import BARE_NATS, SILENT_NATS, Sight
from overruler.vision.pairing.sighting import SeenPhoto, Sighting

PLACES = [(120.0 + 60 * (k % 10), 100.0 + 90 * (k // 10), 0.0, 27.0) for k in range(30)]
SHARP, BLURRED = (see(k, camera_from(120.0 * k), PLACES) for k in range(2))
PHOTOS = [SHARP, BLURRED]


def findings(seen: int, score: float = 0.99) -> list[Finding]:
    """30 bases that the sharp photo finds with a score, and of which the other one sees some."""
    return [
        Finding(
            Base.circle(27),
            np.array(place[:3]),
            (_sighting(SHARP, k, score), *([_sighting(BLURRED, k, 0.6)] if k < seen else [])),
        )
        for k, place in enumerate(PLACES)
    ]


def _sighting(photo: SeenPhoto, number: int, score: float) -> Sighting:
    return Sighting(photo, replace(photo.detections[number], score=score))


@pytest.fixture(autouse=True)
def _nothing_is_bare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sight, "is_bare_instead", lambda *_: False)


def test_a_photo_that_sees_most_bases_refutes_what_it_does_not_see() -> None:
    told = findings(29)
    assert Sight.of(told, PHOTOS).silent_nats(told[-1], BLURRED) == pytest.approx(
        SILENT_NATS, abs=0.05
    )
    assert Sight({}).silent_nats(told[-1], BLURRED) == pytest.approx(SILENT_NATS, abs=0.05)


def test_the_silence_of_a_photo_that_misses_most_of_them_says_little() -> None:
    told = findings(8)
    assert -0.3 < Sight.of(told, PHOTOS).silent_nats(told[-1], BLURRED) <= 0


def test_a_base_is_no_evidence_about_itself() -> None:
    told = findings(0)[:1]
    assert Sight.of(told, PHOTOS).silent_nats(told[0], BLURRED) == pytest.approx(
        SILENT_NATS, abs=0.05
    )


def test_only_bases_of_which_another_photo_is_sure_tell() -> None:
    told = findings(8, 0.9)
    assert Sight.of(told, PHOTOS).silent_nats(told[-1], BLURRED) == pytest.approx(
        SILENT_NATS, abs=0.05
    )


def test_bare_ground_says_little_where_many_bases_look_bare(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = findings(20)
    assert Sight.of(told, PHOTOS).bare_nats(told[-1], BLURRED) == BARE_NATS
    monkeypatch.setattr(sight, "is_bare_instead", lambda *_: True)
    assert -1.0 < Sight.of(told, PHOTOS).bare_nats(told[-1], BLURRED) < 0


def test_what_only_a_coarser_photo_is_sure_of_measures_no_finer_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Marks on the mat look like bases to it, and are bare ground to the finer one."""
    monkeypatch.setattr(sight, "is_bare_instead", lambda *_: True)
    told = findings(0)
    assert Sight.of(told, PHOTOS).bare_nats(told[0], BLURRED) > -0.5
    monkeypatch.setattr(SeenPhoto, "mm_per_px", lambda photo, _: 2.0 if photo is SHARP else 1.0)
    assert Sight.of(told, PHOTOS).bare_nats(told[0], BLURRED) == BARE_NATS
    monkeypatch.setattr(SeenPhoto, "mm_per_px", lambda photo, _: 1.0 if photo is SHARP else 2.0)
    assert Sight.of(told, PHOTOS).bare_nats(told[0], BLURRED) > -0.5
