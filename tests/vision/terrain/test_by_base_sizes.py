"""How high ground is by how large the bases on it look."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.bases import Base
from overruler.detections import Detection, RaisedArea
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.relief import reproject_to_height
from overruler.vision.contours.cone_fit import fit_base
from overruler.vision.refinement.base_scale import RimMeasurement, radius_covariance
from overruler.vision.terrain.by_base_sizes import (
    GROUND_EDGE_SIGMA_PX,
    RimSizes,
    height_posterior,
    heights_from_base_sizes,
)
from synthetic.flat_table import Plinth
from tests.tables import camera_over, exact, photo

HIGH_MM, EYE_MM = 40.0, 1500.0
ON = np.array([[540.0, 410.0], [630.0, 320.0], [620.0, 410.0], [530.0, 310.0]])
BESIDE = np.array([[150.0, 120.0], [250.0, 380.0], [330.0, 150.0], [120.0, 300.0]])
OUTLINE = np.array([[480.0, 250.0], [690.0, 250.0], [690.0, 480.0], [480.0, 480.0]])
THOUGHT = RaisedArea("h1", OUTLINE, 28.0, 15.0, 0.8, 8.0)
"""What the look of a hill tells of it."""


def shot(on_mm: float) -> tuple[Camera, Frame, list[Detection]]:
    """A camera, its photo of bases `on_mm` high and beside, and what is found as if all stood on the board."""
    camera = camera_over(24.0)
    places = [(place, on_mm) for place in ON] + [(place, 0.0) for place in BESIDE]
    frame = photo(
        camera, [Plinth(float(place[0]), float(place[1]), 60.0, z) for place, z in places]
    )
    return (
        camera,
        frame,
        [
            found_at(frame, camera, reproject_to_height(camera, place, z, 0.0))
            for place, z in places
        ],
    )


def found_at(frame: Frame, camera: Camera, start: Array) -> Detection:
    fit = fit_base(frame.pixels, camera, start, 1.0, 30.0, 0.0)
    assert fit is not None
    middle = camera.project(np.array([*fit.xy_mm, 0.0]))
    return Detection(
        Base.circle(60),
        fit.xy_mm,
        0,
        0,
        fit.covariance_mm2,
        fit.d_xy_d_camera,
        1,
        1,
        middle,
        middle[None],
    )


def test_bases_on_a_hill_tell_its_height() -> None:
    camera, frame, found = shot(HIGH_MM)
    (area,) = heights_from_base_sizes(frame, exact(camera), found, [THOUGHT])
    assert area.sigma_mm < 0.75 * THOUGHT.sigma_mm
    assert abs(area.top_z_mm - HIGH_MM) < 2.5 * area.sigma_mm
    assert odds(area) > 4 * odds(THOUGHT)


def test_bases_on_the_board_tell_that_there_is_no_hill() -> None:
    camera, frame, found = shot(0.0)
    areas = heights_from_base_sizes(frame, exact(camera), found, [THOUGHT])
    assert all(odds(area) < odds(THOUGHT) / 4 for area in areas)


def odds(area: RaisedArea) -> float:
    return area.probability / (1 - area.probability)


@pytest.mark.parametrize("change", [{"visible": 0.5}, {"base": Base.rectangle(40, 40)}])
def test_what_shows_no_whole_rim_of_known_size_tells_nothing(change: dict[str, object]) -> None:
    camera, frame, found = shot(HIGH_MM)
    found = [replace(one, **change) for one in found]  # type: ignore[arg-type]
    assert heights_from_base_sizes(frame, exact(camera), found, [THOUGHT]) == (THOUGHT,)


def test_the_more_open_sizes_are_the_less_they_tell() -> None:
    camera, frame, found = shot(HIGH_MM)

    def sigma_mm(radius_mm: float) -> float:
        """1 σ of the hill's height where sizes leave the radii of the bases so far open."""
        beyond, also = np.eye(2) * radius_mm**2, (Base.circle(65),)
        unsure = [replace(one, alternative_bases=also, unmodelled_mm2=beyond) for one in found]
        return heights_from_base_sizes(frame, exact(camera), unsure, [THOUGHT])[0].sigma_mm

    known = heights_from_base_sizes(frame, exact(camera), found, [THOUGHT])[0].sigma_mm
    open_by = [sigma_mm(radius_mm) for radius_mm in (0.0, 0.3, 1.0, 100.0)]
    assert open_by[0] == known
    assert open_by == sorted(open_by)
    assert open_by[1] > 1.1 * known
    assert open_by[3] == pytest.approx(THOUGHT.sigma_mm, rel=0.01)


def looks(random: np.random.Generator, height_mm: float, on: int = 4, beside: int = 8) -> RimSizes:
    """Rims as they are measured, with noise as stated, some of them at a height."""
    size = random.choice([27.0, 50.0], on + beside)
    rings = [
        RimMeasurement(0.0, 0.1, np.zeros(15), float(d), 0.3, random.uniform(-1, 1, 2))
        for d in size
    ]
    raised = np.repeat([1.0, 0.0], [on, beside])
    off = np.linalg.cholesky(radius_covariance(rings)) @ random.normal(size=on + beside)
    off = off + raised * size / 2 * height_mm / (EYE_MM - height_mm)
    off = off + raised * GROUND_EDGE_SIGMA_PX * 0.3 * random.normal()
    rings = [
        replace(ring, radius_excess_mm=float(value)) for ring, value in zip(rings, off, strict=True)
    ]
    return RimSizes(rings, raised, EYE_MM, np.zeros((15, 15)))


def test_the_stated_height_holds_as_often_as_it_says() -> None:
    random = np.random.default_rng(5)
    z2 = []
    for _ in range(300):
        true = THOUGHT.top_z_mm * float(
            np.exp(random.normal() * THOUGHT.sigma_mm / THOUGHT.top_z_mm)
        )
        height, sigma, _ = height_posterior(looks(random, min(true, 300.0)), THOUGHT)
        z2.append((np.log(height / true) / (sigma / height)) ** 2)
    assert np.mean(z2) == pytest.approx(1, abs=0.2)


def test_evidence_for_a_hill_is_honest() -> None:
    """Of tables half with a hill and half without, as many as stated have one, of those too that are left unsure."""
    random = np.random.default_rng(6)
    true = THOUGHT.top_z_mm * np.exp(random.normal(size=800) * THOUGHT.sigma_mm / THOUGHT.top_z_mm)
    hill = random.random(len(true)) < 0.5
    nats = [
        height_posterior(looks(random, float(h), on=1), THOUGHT)[2]
        for h in np.where(hill, np.minimum(true, 300), 0)
    ]
    chance = 1 / (1 + np.exp(-np.array(nats)))
    unsure = (chance > 0.15) & (chance < 0.85)
    assert 100 < unsure.sum() < 700
    assert hill[unsure].mean() == pytest.approx(chance[unsure].mean(), abs=0.07)
    assert hill[~unsure].mean() == pytest.approx(chance[~unsure].mean(), abs=0.04)


@settings(max_examples=30)
@given(shift=st.floats(-0.3, 0.3), seed=st.integers(0, 1000))
def test_what_all_bases_have_in_common_is_no_height(shift: float, seed: int) -> None:
    seen = looks(np.random.default_rng(seed), 30.0)
    moved = replace(
        seen,
        rings=[
            replace(ring, radius_excess_mm=ring.radius_excess_mm + shift) for ring in seen.rings
        ],
    )
    height, sigma, _ = height_posterior(seen, THOUGHT)
    assert abs(height_posterior(moved, THOUGHT)[0] - height) < 0.6 * sigma + abs(shift) * 20


def test_a_base_that_the_others_contradict_is_dropped() -> None:
    seen = looks(np.random.default_rng(7), 30.0)
    wrong = replace(seen, rings=[replace(seen.rings[0], radius_excess_mm=3.0), *seen.rings[1:]])
    without = replace(seen, rings=seen.rings[1:], raised=seen.raised[1:])
    assert height_posterior(wrong, THOUGHT)[:2] == height_posterior(without, THOUGHT)[:2]
