"""Round bases of a whole table: sizes that agree, a lower rim that is lost, a doubt that no other size escapes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.bases import ROUND_DIAMETERS_MM
from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import BaseFit
from overruler.vision.contours.rare_events import NEGLIGIBLE_PROBABILITY, RARE_WITHIN_SIGMAS
from overruler.vision.contours.silhouette import PROFILES
from overruler.vision.learned.rim_net import RimEstimates
from overruler.vision.rounds import fit_rounds as module
from overruler.vision.rounds import further_networks, scoring, uncertainty
from overruler.vision.rounds.fit_rounds import fit_rounds, is_seen_from_low, slant_deg
from overruler.vision.rounds.scoring import (
    base_probability,
    near_company,
    relative_contrast,
    same_size_ratio,
)
from overruler.vision.rounds.size_likelihood import SizeHypothesis, rim_net_log_likelihood
from overruler.vision.rounds.suppression import suppress_overlaps
from overruler.vision.rounds.uncertainty import (
    CONFIDENT_SCORE,
    misfit_covariances,
    size_covariances,
)
from synthetic.flat_table import Plinth
from tests.tables import camera_over, exact, photo

RADII = np.array(ROUND_DIAMETERS_MM) / 2
CONE = PROFILES[0]
MAT = (0.15, 0.3, 0.4)
LIGHT = (0.6, 0.65, 0.6)
SURE = [(100.0, 100.0), (250.0, 120.0), (420.0, 90.0), (600.0, 130.0), (120.0, 380.0)]
LOST = (400.0, 330.0)


def guesses(
    xy_mm: list[tuple[float, float]], radius_mm: list[float], sigma_mm: float = 0.2
) -> RimEstimates:
    ones = np.ones(len(xy_mm))
    return RimEstimates(
        0.995 * ones, np.array(xy_mm), np.array(radius_mm), 0.3 * ones, sigma_mm * ones, 0.9 * ones
    )


def fitted(xy_mm: Array, shown: tuple[float, float] = (0.7, 0.2)) -> BaseFit:
    seen = np.full(60, shown[0])
    merit = shown[0] + 0.2 * shown[1]
    return BaseFit(
        xy_mm,
        np.eye(2) * 0.01,
        np.zeros((2, 15)),
        seen,
        merit,
        CONE,
        upper=False,
        visible_shares=shown,
    )


def test_a_lost_lower_rim_does_not_make_a_smaller_base() -> None:
    """The rim of one base has the mat's own colour: its upper edge is as large as a 25 mm base would be."""
    camera = camera_over(8.0)
    plinths = [
        *(Plinth(x, y, 27.0, rim=LIGHT) for x, y in SURE),
        Plinth(*LOST, 27.0, rim=MAT, top=LIGHT),
    ]
    frame = photo(camera, plinths)
    height = camera.center_mm[2]
    upper = (13.5 - CONE.taper_mm) * height / (height - CONE.height_mm)
    found = fit_rounds(
        frame, exact(camera), guesses([*SURE, LOST], [13.5] * 5 + [float(upper)]), RADII
    )
    assert [one.base.width_mm for one in found] == [27.0] * 6
    lost = min(found, key=lambda one: float(np.hypot(*(one.xy_mm - LOST))))
    assert np.hypot(*(lost.xy_mm - LOST)) < 0.6
    alone = fit_rounds(frame, exact(camera), guesses([LOST], [float(upper)]), RADII)
    assert {base.width_mm for one in alone for base in (one.base, *one.alternative_bases)} >= {
        25.0,
        27.0,
    }


def test_chosen_sizes_may_all_meet() -> None:
    """Who asks for 25 and 27 mm knows that both are on the table."""
    camera = camera_over(8.0)
    small = (400.0, 330.0)
    frame = photo(
        camera, [*(Plinth(x, y, 27.0, rim=LIGHT) for x, y in SURE), Plinth(*small, 25.0, rim=LIGHT)]
    )
    seen = guesses([*SURE, small], [13.5] * 5 + [12.5], sigma_mm=0.05)
    sizes = {
        one.base.width_mm for one in fit_rounds(frame, exact(camera), seen, np.array([12.5, 13.5]))
    }
    assert sizes == {25.0, 27.0}


@given(st.sampled_from(range(len(RADII))), st.floats(0, 38), st.floats(60, 640), st.floats(60, 440))
def test_a_rim_is_likeliest_where_its_base_shows_it(
    size: int, tilt_deg: float, x: float, y: float
) -> None:
    camera = camera_over(tilt_deg)
    height = camera.center_mm[2]
    rims = RADII[size], (RADII[size] - CONE.taper_mm) * height / (height - CONE.height_mm)
    for kind, rim in enumerate(rims):
        likelihood = rim_net_log_likelihood(guesses([(x, y)], [float(rim)]), RADII, camera)[0]
        assert likelihood[:, kind].argmax() == size
        assert likelihood[size, 0] >= likelihood[size, 1] or kind == 1


def test_bases_stand_beside_each_other() -> None:
    seen = guesses([(100, 100), (101, 100), (128, 100), (300, 100)], [13.5, 13.5, 13.5, 40.0])
    seen = replace(seen, score=np.array([0.9, 0.95, 0.8, 0.1]))
    assert suppress_overlaps(seen, RADII) == [1, 2]


@settings(max_examples=60)
@given(st.floats(0, 1), st.floats(-2, 2), st.floats(-2, 2))
def test_no_other_size_lies_far_outside_the_doubt(chance: float, dx: float, dy: float) -> None:
    """A call is certain from 3.1 σ on: another size that is not rare keeps it from that."""
    here, there = fitted(np.zeros(2)), fitted(np.array([dx, dy]))
    tried = [SizeHypothesis(1, 0, here, 0.0), SizeHypothesis(2, 0, there, 0.0)]
    share = np.zeros((len(RADII), 2))
    share[1, 0], share[2, 0] = 1 - chance, chance
    usual, rare = size_covariances(tried[0], tried, share, RADII)
    edge = RADII[2] - RADII[1]
    if chance < NEGLIGIBLE_PROBABILITY:
        assert not usual.any()
        assert not rare.any()
        return
    for turn in np.linspace(0, np.pi, 7):
        way = np.array([np.cos(turn), np.sin(turn)])
        off = np.hypot(way @ there.xy_mm, edge)
        assert off <= RARE_WITHIN_SIGMAS * np.sqrt(way @ rare @ way) + 1e-9
        assert way @ rare @ way >= way @ usual @ way - 1e-9
        assert way @ usual @ way == pytest.approx(chance * off**2)


@given(
    st.floats(0.01, 0.99), st.floats(0, 1), st.floats(0.05, 1), st.floats(0.1, 5), st.floats(0.2, 5)
)
def test_whatever_speaks_for_a_base_makes_it_likelier(
    look: float, shown: float, sigma_mm: float, contrast: float, company: float
) -> None:
    def scored(
        look: float, shown: float, sigma_mm: float, contrast: float, company: float
    ) -> float:
        seen = replace(guesses([(0, 0)], [16.0], sigma_mm), score=np.array([look]))
        return base_probability(
            seen,
            0,
            [SizeHypothesis(0, 0, fitted(np.zeros(2), (shown, 0.0)), 0.0)],
            contrast,
            company,
        )

    here = scored(look, shown, sigma_mm, contrast, company)
    assert 0 <= here <= 1
    assert here < scored(look + 0.009, shown, sigma_mm, contrast, company)
    assert here < scored(look, shown + 0.009, sigma_mm, contrast, company)
    assert here < scored(look, shown, 0.9 * sigma_mm, contrast, company)
    assert here < scored(look, shown, sigma_mm, 1.1 * contrast, company)
    assert here < scored(look, shown, sigma_mm, contrast, 1.1 * company)


def test_contrast_is_against_what_is_usual_in_this_light() -> None:
    """Half the light halves every contrast and makes nothing less likely; what cannot be fitted has no say."""

    def told(light: float) -> Array:
        fits = [
            replace(fitted(np.zeros(2)), contrast=light * (1 + step) - 1)
            for step in (40.0, 40.0, 9.0)
        ]
        tried = [[SizeHypothesis(0, 0, fit, 0.0)] for fit in fits]
        return relative_contrast(guesses([(0.0, 0.0)] * 4, [13.5] * 4), [*tried, []])

    full = told(1.0)
    assert told(0.5)[:3] == pytest.approx(full[:3])
    assert full[0] == full[1] > 1 > full[2]
    alone = [SizeHypothesis(0, 0, replace(fitted(np.zeros(2)), contrast=7.0), 0.0)]
    assert relative_contrast(guesses([(0.0, 0.0)], [13.5]), [alone]) == pytest.approx([1.0])


@given(st.lists(st.floats(12, 80), min_size=1, max_size=20), st.sampled_from([0.9, 1.0, 1.1]))
def test_company_is_that_of_others_of_the_same_size(radii: list[float], scale: float) -> None:
    """What stands alone has none to be judged by; a unit's members have more of it than what is of another size."""
    seen = guesses([(0.0, 0.0)] * len(radii), [scale * radius for radius in radii])
    others = same_size_ratio(seen)
    assert others == pytest.approx(same_size_ratio(replace(seen, radius_mm=np.array(radii))))
    assert same_size_ratio(seen[:1]) == pytest.approx([1.0])
    unit = guesses([(0.0, 0.0)] * 6, [13.5] * 5 + [31.0])
    assert (same_size_ratio(unit)[:5] > 1).all()
    assert same_size_ratio(unit)[5] < 1


def test_what_could_not_be_fitted_is_no_base() -> None:
    assert base_probability(guesses([(0, 0)], [16.0]), 0, []) == 0
    camera = camera_over()
    outside = guesses([(5000.0, 5000.0)], [16.0])
    frame = photo(camera, [])
    assert fit_rounds(frame, exact(camera), outside, RADII) == ()
    assert fit_rounds(frame, exact(camera), outside[:0], RADII) == ()


@pytest.mark.parametrize("least", [0.0, 0.9])
def test_only_what_scores_enough_is_a_base(least: float) -> None:
    camera = camera_over(8.0)
    frame = photo(camera, [Plinth(x, y, 27.0, rim=LIGHT) for x, y in SURE])
    seen = replace(guesses(SURE, [13.5] * 5), score=np.array([0.99, 0.97, 0.9, 0.6, 0.25]))
    found = fit_rounds(frame, exact(camera), seen, RADII, least)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(one.score >= least for one in found)
    assert (len(found) == 5) == (least == 0)


def test_what_is_not_plain_to_see_is_measured_once_more_and_stated_wider(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    camera = camera_over(12.0)
    frame, start = (
        photo(camera, [Plinth(*at, 27.0, rim=(0.03,) * 3) for at in SURE]),
        (SURE[0][0] + 0.6, SURE[0][1]),
    )
    seen = guesses([start, *SURE[1:]], [13.5] * 5)

    def told(scored: float) -> Detection:
        monkeypatch.setattr(scoring, "base_probability", lambda *_: scored)
        found = fit_rounds(frame, exact(camera), seen, np.array([13.5]))
        return min(found, key=lambda one: float(np.hypot(*(one.xy_mm - SURE[0]))))

    plain, doubtful = told(CONFIDENT_SCORE), told(CONFIDENT_SCORE - 0.001)
    usual, rare = misfit_covariances(camera, doubtful)
    assert np.linalg.eigvalsh(plain.covariance_mm2).max() < 0.1
    assert not plain.rare_excess_mm2.any()
    assert doubtful.unmodelled_mm2 == pytest.approx(usual)
    assert np.linalg.eigvalsh(doubtful.covariance_mm2).max() < usual[0, 0] + 0.1
    assert doubtful.unmodelled_mm2 + doubtful.rare_excess_mm2 == pytest.approx(rare)
    assert np.hypot(*(doubtful.xy_mm - SURE[0])) < 0.2
    assert doubtful.center_px == pytest.approx(camera.project(np.array([*doubtful.xy_mm, 0.0])))
    monkeypatch.setattr(uncertainty, "remeasure_base", lambda *_: None)
    kept = told(CONFIDENT_SCORE - 0.001)
    assert kept.xy_mm == pytest.approx(plain.xy_mm)
    _, rare = misfit_covariances(camera, kept)
    assert kept.unmodelled_mm2 + kept.rare_excess_mm2 == pytest.approx(rare)


def test_others_of_a_size_count_as_company_where_they_are_near() -> None:
    """Of two alike at 3 radii each counts as much as it looks like a base; far ones and others do not."""
    at = [(0.0, 0.0), (48.0, 0.0), (100.0, 0.0), (0.0, 48.0), (400.0, 0.0)]
    seen = replace(
        guesses(at, [16.0, 16.0, 16.0, 20.0, 16.0]), score=np.array([0.9, 0.8, 0.5, 0.9, 0.9])
    )
    assert near_company(seen) == pytest.approx([0.8, 0.9 + 0.5, 0.8, 0.0, 0.0], abs=1e-3)
    assert near_company(seen[:1]) == pytest.approx([0.0])
    larger = replace(seen, xy_mm=2 * seen.xy_mm, radius_mm=2 * seen.radius_mm)
    assert near_company(larger) == pytest.approx(near_company(seen))


def test_in_play_the_probability_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is likelier a base than none is one, whatever its look on prepared tables."""
    camera = camera_over()
    frame = photo(camera, [Plinth(*at, 27.0, rim=(0.03,) * 3) for at in SURE])
    seen, above = guesses(SURE, [13.5] * 5), np.array([[*at, 13.5, 0.9] for at in SURE])
    in_play = np.array([0.45, 0.55, 0.9, 0.1, 0.999])
    monkeypatch.setattr(further_networks, "probabilities_in_play", lambda *_: in_play)
    found = fit_rounds(frame, exact(camera), seen, np.array([13.5]), from_above=above)
    assert [one.score for one in found] == [0.999, 0.9, 0.55]


@pytest.mark.parametrize(
    ("said", "told"), [(0.0, 0.0), (0.3, 0.3), (0.9, 0.9), (0.99, 0.9735), (0.998, 0.9897)]
)
def test_the_surest_probabilities_in_play_are_tempered(said: float, told: float) -> None:
    assert further_networks.temper_surest(np.array([said]))[0] == pytest.approx(told, abs=2e-3)


def test_a_table_with_markers_is_not_in_play(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain discs without figures, which look like tokens, stay bases where somebody laid markers."""
    camera = camera_over()
    frame = photo(camera, [Plinth(*at, 27.0, rim=(0.03,) * 3) for at in SURE])
    seen, above = guesses(SURE, [13.5] * 5), np.array([[*at, 13.5, 0.9] for at in SURE])
    monkeypatch.setattr(further_networks, "probabilities_in_play", lambda *_: np.zeros(5))
    without = exact(camera)
    laid = replace(without, markers=(0, 1, 2, 3))
    found = fit_rounds(frame, laid, seen, np.array([13.5]), from_above=above)
    assert [one.in_play_probability for one in found] == [None] * 5
    assert not fit_rounds(frame, without, seen, np.array([13.5]), from_above=above)
    assert not fit_rounds(frame, laid, seen, np.array([13.5]), from_above=above, in_play=True)


def test_the_networks_in_play_tell_how_likely_a_base_of_a_prepared_table_is_where_they_guessed_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    camera = camera_over()
    frame = photo(camera, [Plinth(*at, 27.0, rim=(0.03,) * 3) for at in SURE])
    seen, above = guesses(SURE, [13.5] * 5), np.array([[*at, 13.5, 0.9] for at in SURE])
    monkeypatch.setattr(further_networks, "probabilities_in_play", lambda *_: np.full(5, 0.75))
    laid = replace(exact(camera), markers=(0, 1, 2, 3))
    found = fit_rounds(frame, laid, seen, np.array([13.5]), from_above=above, in_play=True)
    assert [one.in_play_probability for one in found] == [0.75] * 5
    assert [one.score for one in found] == [0.75] * 5


@pytest.mark.parametrize(
    ("tilt_deg", "is_low"), [(0.0, False), (35.0, False), (45.0, True), (65.0, True)]
)
def test_a_prepared_table_is_seen_from_low_by_the_slant_to_its_middle(
    tilt_deg: float, is_low: bool
) -> None:
    usual, coins = np.array([13.5]), np.array([10.6])
    seen = exact(camera_over(tilt_deg))
    laid = replace(seen, markers=(0, 1, 2, 3))
    assert slant_deg(laid) == pytest.approx(tilt_deg, abs=2.0)
    assert is_seen_from_low(laid, usual) == is_low
    assert not is_seen_from_low(seen, usual)
    assert not is_seen_from_low(laid, coins)


def test_where_sizes_of_bases_are_sought_a_network_that_knows_prints_looks_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It refuses what the first network is sure of; coins that somebody names are the first one's."""
    camera = camera_over()
    laid = replace(exact(camera), markers=(0, 1, 2, 3))
    says = np.array([6.0, -60.0, 6.0, 6.0, -60.0])

    def found(diameter_mm: float) -> set[float]:
        frame = photo(camera, [Plinth(*at, diameter_mm, rim=(0.03,) * 3) for at in SURE])
        radius = diameter_mm / 2
        seen, above = guesses(SURE, [radius] * 5), np.array([[*at, radius, 0.9] for at in SURE])
        told = fit_rounds(frame, laid, seen, np.array([radius]), from_above=above)
        return {round(float(one.xy_mm[0])) for one in told}

    everywhere = {round(at[0]) for at in SURE}
    monkeypatch.setattr(further_networks, "unprinted_logits", lambda *_: says)
    assert found(27.0) == {round(SURE[k][0]) for k in (0, 2, 3)}
    assert found(21.25) == everywhere
    monkeypatch.setattr(further_networks, "unprinted_logits", lambda *_: np.full(5, 6.0))
    assert found(27.0) == everywhere


def test_a_size_that_no_base_has_counts_against_a_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    camera = camera_over()
    laid = replace(exact(camera), markers=(0, 1, 2, 3))
    frame = photo(camera, [Plinth(*at, 54.0, rim=(0.03,) * 3) for at in SURE])
    above = np.array([[*at, 27.0, 0.9] for at in SURE])
    monkeypatch.setattr(further_networks, "unprinted_logits", lambda *_: np.full(5, 2.0))

    def score(radius_mm: float) -> float:
        seen = guesses(SURE, [radius_mm] * 5)
        told = fit_rounds(frame, laid, seen, np.array([25.0]), 0.0, above)
        return max(one.score for one in told)

    assert score(27.0) < score(25.1)


@pytest.mark.parametrize(
    ("diameters_mm", "is_played"),
    [((21.25, 19.75, 23.25, 22.25, 25.75), False), ((28.0, 95.0), True), ((), True)],
)
def test_a_table_without_markers_is_in_play_unless_things_of_other_sizes_are_sought(
    diameters_mm: tuple[float, ...], is_played: bool
) -> None:
    without, radii = exact(camera_over()), np.array(diameters_mm) / 2
    assert module.is_in_play(without, radii) == is_played
    assert not module.is_in_play(replace(without, markers=(0, 1, 2, 3)), radii)
    assert not module.is_in_play(replace(without, by_ground=True), radii)
