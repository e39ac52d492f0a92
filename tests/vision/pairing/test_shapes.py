"""The shape of a base is what all photos of it say together."""

from dataclasses import replace

import pytest

from evaluate.drawn.views import camera_from, see
from overruler.bases import Base
from overruler.vision.pairing.hypotheses import Hypothesis
from overruler.vision.pairing.shapes import settle_shapes
from overruler.vision.pairing.sighting import Sighting

SQUARE, DISC, OVAL = Base.rectangle(25, 25), Base.circle(27), Base.oval(25, 50)
PLACE = (450.0, 350.0, 0.0, 27.0)
ASIDE = (456.0, 350.0, 0.0, 27.0)


def seen_as(*looks: tuple[Base, float], height_mm: float = 0.0) -> Hypothesis:
    """A base that each photo takes for something, with a score; for a disc it lies aside."""
    sightings = []
    for k, (base, score) in enumerate(looks):
        x, y, _, width = ASIDE if base == DISC and not height_mm else PLACE
        photo = see(k, camera_from(120.0 * k), [(x, y, height_mm, width)])
        sightings.append(Sighting(photo, replace(photo.detections[0], base=base, score=score)))
    first, *rest = sightings
    joint = Hypothesis.of(first)
    for one in rest:
        joint = joint.joined_by(one)
    return joint


@pytest.mark.parametrize(
    ("looks", "shapes"),
    [
        ([(DISC, 0.95), (SQUARE, 0.9), (SQUARE, 0.9)], ["rectangle"]),
        ([(DISC, 0.99), (SQUARE, 0.7), (DISC, 0.6)], ["circle", "rectangle"]),
        ([(OVAL, 0.9), (DISC, 0.9), (Base.stadium(25, 50), 0.9)], ["oval"]),
    ],
)
def test_the_photos_vote_each_with_its_log_odds(
    looks: list[tuple[Base, float]], shapes: list[str]
) -> None:
    """What some photo took for a rectangle stays one beside: its sides will tell."""
    settled = settle_shapes([seen_as(*looks)])
    assert [one.base.shape for one in settled] == shapes
    for one in settled:
        named = {seen.detection.base.shape for seen in one.sightings}
        assert ("circle" in named) == (one.base.shape == "circle")


def test_what_took_it_for_another_shape_does_not_move_it() -> None:
    """A figure hides corners: what looks round of a square lies aside of its middle."""
    mixed = seen_as((DISC, 0.95), (SQUARE, 0.9), (SQUARE, 0.9))
    assert mixed.best.mean[0] > PLACE[0] + 1
    (settled,) = settle_shapes([mixed])
    assert settled.best.mean[0] == pytest.approx(PLACE[0], abs=0.1)


def test_what_took_it_for_another_shape_still_tells_its_height() -> None:
    high = seen_as((DISC, 0.95), (SQUARE, 0.9), height_mm=60.0)
    settled = settle_shapes([high])
    assert [one.best.mean[2] for one in settled] == pytest.approx([60, 60], abs=3)


def test_photos_that_agree_change_nothing() -> None:
    alike = seen_as((SQUARE, 0.9), (SQUARE, 0.6))
    assert settle_shapes([alike]) == [alike]
