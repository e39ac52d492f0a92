"""The program that holds marker corners against the truth: its pictures are true, and it counts what it says."""

import cv2
import numpy as np
import pytest

from evaluate.corners import picture
from evaluate.corners.count import DICTIONARY, Trial, _figures, trial
from evaluate.corners.methods import METHODS, Found
from evaluate.corners.picture import BLACK, CARD, look, random_look, take
from evaluate.corners.view import LEAST_PX, MOST_PX, SIZE_PX, MarkerView, random_view
from overruler.geometry.pose import Array
from synthetic.develop import Style, decode_srgb

VIEW = random_view(np.random.default_rng(11))
SOME = MarkerView(
    VIEW.camera, VIEW.tilt_deg, {number: VIEW.corners_mm[number] for number in (1, 4, 6)}
)


def grey(style: Style) -> Array:
    return take(SOME, style, DICTIONARY, np.random.default_rng(3)).pixels[..., 0].astype(float)


def test_markers_lie_in_the_picture_and_are_as_large_as_they_should_be() -> None:
    for seed in range(6):
        view = random_view(np.random.default_rng(seed))
        assert len(view.corners_mm) == 12
        for number, corners in view.corners_mm.items():
            seen = view.corners_px(number)
            side = np.linalg.norm(seen - np.roll(seen, 1, 0), axis=1).mean()
            assert LEAST_PX - 1 < side < MOST_PX + 1
            assert ((seen > 0) & (seen < SIZE_PX)).all()
            assert (
                np.ptp(np.linalg.norm(corners - np.roll(corners, 1, 0), axis=1))
                < 1e-9 * side + 1e-6
            )


def light_of(picture: Array) -> Array:
    """The tone curve and the lamp undone."""
    return np.asarray(decode_srgb(picture / 255) / np.linspace(1.1, 0.9, SIZE_PX[0]))


def test_a_black_square_takes_as_much_light_as_its_area_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Blur moves light about and loses none: what is missing from the card's white is the square's area."""
    monkeypatch.setattr(picture, "print_of", lambda number, dictionary: np.full((6, 6), BLACK))
    light = light_of(grey(look(blur_px=0.8, noise=0.0, quality=100)))
    for number in SOME.corners_mm:
        corners = SOME.corners_px(number)
        u, v = corners.T
        area = 0.5 * abs(float(u @ np.roll(v, -1) - v @ np.roll(u, -1)))
        card = (corners.mean(0) + (corners - corners.mean(0)) * 1.25).astype(np.float32)
        inside = (
            cv2.fillConvexPoly(np.zeros(light.shape, np.uint8), card.round().astype(np.int32), 1)
            > 0
        )
        missing = float((CARD - light)[inside].sum()) / (CARD - BLACK)
        assert missing == pytest.approx(area, rel=0.006)


@pytest.mark.parametrize("soft", [False, True])
def test_our_corners_hold_and_opencvs_lean_inwards(soft: bool) -> None:
    random = np.random.default_rng(22)
    frame = take(SOME, random_look(random, soft=soft), DICTIONARY, random)
    trials = {name: METHODS[name](frame, DICTIONARY) for name in ("overruler", "OpenCV SUBPIX")}
    ours, theirs = (
        [trial(SOME, number, found.get(number), soft) for number in SOME.corners_mm]
        for found in trials.values()
    )
    errors = np.array([t.errors_px for t in ours])
    assert np.sqrt(np.mean(errors**2)) < (0.09 if soft else 0.03)
    assert np.mean([t.outward_px for t in theirs]) < -0.2


def test_what_is_counted_is_what_was_wrong() -> None:
    number = 4
    truth = SOME.corners_px(number)
    shifted = trial(SOME, number, Found(truth + np.array([0.3, -0.4]), np.eye(8) * 0.25), False)
    assert shifted.z2 == pytest.approx(0.5)
    assert abs(shifted.outward_px) < 0.1
    grown = trial(SOME, number, Found(truth + (truth - truth.mean(0)) * 0.01), False)
    assert grown.outward_px == pytest.approx(
        0.01 * np.linalg.norm(truth - truth.mean(0), axis=1).mean()
    )
    missed = Trial(False, 50.0, 10.0, None)
    assert _figures([shifted, missed])[:3] == ["2", "1", "0.354"]
