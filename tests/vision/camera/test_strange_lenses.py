"""Lenses that are not like most: the doubt has room for them where nothing seen tells the lens."""

from collections.abc import Sequence

import numpy as np
import pytest

from evaluate.drawn.strange import KINDS, draw_photo
from evaluate.strange_cameras import TOP_MM, Outcome, calibrated, judge
from overruler.frame import Frame
from overruler.vision.camera.lens_prior import lens_prior
from overruler.vision.camera.shared_lens import fuse_lens_information

PHOTOS = 6


def outcomes(seen: str, name: str, top_mm: float = 0.0) -> Sequence[Outcome]:
    kind = next(one for one in KINDS if one.name == name)
    found = []
    for number in range(PHOTOS):
        random = np.random.default_rng([1, number])
        photo = draw_photo(kind, random)
        found.append(judge(calibrated(seen, photo, random), photo.camera, top_mm))
    return found


def false_share(some: Sequence[Outcome]) -> float:
    return float(np.mean([one.false for one in some]))


@pytest.mark.parametrize("name", ["webcam", "k1 -0.1", "moustache", "zoom", "phone"])
def test_points_allow_no_certainty_that_a_strong_lens_makes_false(name: str) -> None:
    assert false_share(outcomes("points", name)) < 0.005


@pytest.mark.parametrize("name", ["zoom, overhead", "wide, overhead", "zoom"])
def test_no_top_is_surely_placed_where_a_zoom_goes_unseen(name: str) -> None:
    assert false_share(outcomes("four", name, TOP_MM)) < 0.01


def test_a_photo_that_names_its_phone_stays_as_sure_as_it_was() -> None:
    told, silent = outcomes("points", "phone, metadata"), outcomes("points", "phone")
    assert np.median([one.sigma for one in told]) < 2.3
    assert np.median([one.sigma for one in silent]) < 2 * np.median([one.sigma for one in told])


def test_a_phone_s_whole_picture_has_no_room_for_other_lenses() -> None:
    pixels = np.broadcast_to(np.uint8(90), (1200, 1600, 3))
    assert lens_prior(Frame(pixels, "phone", 1250.0, 0.03), None).rare is None
    assert lens_prior(Frame(pixels, "unknown"), None).rare is not None


def test_room_for_rare_lenses_lasts_where_no_other_photo_tells_the_lens() -> None:
    prior = lens_prior(Frame(np.broadcast_to(np.uint8(90), (1200, 1600, 3)), "unknown"), None)
    fused = fuse_lens_information(prior, [])
    assert prior.rare is not None
    assert fused.rare == pytest.approx(prior.rare, rel=1e-4, abs=1e-9)
