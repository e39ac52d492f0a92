"""The sizes of one table: what is played together, and a scale that all bases share."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import ROUND_DIAMETERS_MM
from overruler.vision.learned.rim_net import RimEstimates
from overruler.vision.rounds.size_likelihood import Reading, rim_net_log_likelihood
from overruler.vision.rounds.size_mixture import size_probabilities
from overruler.vision.rounds.table_sizes import (
    PRIOR_TOTAL_IN_PLAY,
    TableSizes,
    size_set_priors,
    sizes_in_play,
    sizes_on_table,
)
from tests.tables import camera_over

SIZES_MM = np.array(ROUND_DIAMETERS_MM)


def rims(*diameters_mm: float, sigma_share: float = 0.02) -> RimEstimates:
    """Whole rims that look so large, each read to a share of its radius."""
    radius, ones = np.array(diameters_mm) / 2, np.ones(len(diameters_mm))
    places = np.stack([100.0 * np.arange(len(ones)), 200.0 * ones], -1)
    return RimEstimates(ones, places, radius, 0.3 * ones, sigma_share * radius, ones)


def likeliest_mm(sizes: TableSizes) -> list[float]:
    shares = sizes.probabilities(sizes.log_likelihoods).sum(2)
    return [float(size) for size in SIZES_MM[shares.argmax(1)]]


def in_play(seen: RimEstimates, scale_sigma: float = 0.0) -> TableSizes:
    return sizes_in_play(seen, SIZES_MM / 2, camera_over(8.0), scale_sigma)


def at_the_given_scale(sizes: TableSizes) -> TableSizes:
    middle = len(sizes.log_priors) // 2
    return sizes._replace(
        log_likelihoods=sizes.log_likelihoods[[middle]], log_priors=sizes.log_priors[[middle]]
    )


def test_bases_that_all_look_too_large_tell_the_scale() -> None:
    """A lone base of 90 mm looks like one of 100 where all others look 6 % too large as well."""
    played = [*[25.0] * 8, *[32.0] * 6, *[40.0] * 4, 90.0]
    seen = rims(*(1.06 * size for size in played), sigma_share=0.012)
    sizes = in_play(seen, scale_sigma=0.04)
    assert likeliest_mm(sizes) == played
    assert likeliest_mm(at_the_given_scale(sizes))[-1] == 100.0


@pytest.mark.parametrize("scale", [0.91, 0.94, 1.06, 1.1])
def test_a_scale_far_off_keeps_units_of_one_size_together(scale: float) -> None:
    played = [*[25.0] * 6, *[32.0] * 6, *[40.0] * 6, *[50.0] * 3]
    seen = rims(*(scale * size for size in played))
    assert likeliest_mm(in_play(seen, scale_sigma=0.06)) == played


def test_a_scale_that_is_unsure_leaves_one_size_open() -> None:
    """Bases of 30 mm alone may be of 28.5 or of 32 mm where nobody knows the scale."""
    seen = rims(*[30.0] * 6)
    sure, unsure = in_play(seen), in_play(seen, scale_sigma=0.08)
    sure_shares = sure.probabilities(sure.log_likelihoods).sum(2)[0]
    shares = unsure.probabilities(unsure.log_likelihoods).sum(2)[0]
    assert sure_shares[SIZES_MM == 30].sum() > 0.85
    assert shares[SIZES_MM == 30].sum() < 0.7
    assert shares[SIZES_MM == 28.5].sum() > 0.05
    assert shares[SIZES_MM == 32].sum() > 0.05
    assert unsure.plausible[0].any(1)[(SIZES_MM >= 28.5) & (SIZES_MM <= 32)].all()


@given(st.lists(st.sampled_from(ROUND_DIAMETERS_MM), min_size=1, max_size=8))
def test_the_scales_of_a_table_are_symmetric_about_the_given_one(played: list[float]) -> None:
    sizes = in_play(rims(*played), scale_sigma=0.03)
    count = len(sizes.log_priors)
    assert count % 2 == 1
    assert sizes.log_priors == pytest.approx(sizes.log_priors[::-1])
    assert sizes.log_priors.argmax() == count // 2
    lone = sizes_in_play(rims(*played), SIZES_MM / 2, camera_over(8.0), 0.0)
    given = sizes.log_likelihoods[count // 2]
    assert given == pytest.approx(lone.log_likelihoods[len(lone.log_priors) // 2])


def as_usual(sizes: TableSizes) -> TableSizes:
    return sizes._replace(log_likelihoods=sizes.usual[None], log_priors=np.zeros(1))


def test_the_usual_reading_of_a_prepared_table_comes_first_and_is_likeliest() -> None:
    seen, camera = rims(25, 32), camera_over(8.0)
    sizes = sizes_on_table(seen, SIZES_MM / 2, camera)
    assert sizes.log_priors.argmax() == 0
    assert np.array_equal(sizes.usual, rim_net_log_likelihood(seen, SIZES_MM / 2, camera))


def test_radii_that_scatter_more_than_usual_are_of_one_size() -> None:
    """As a photo with local tone mapping shows them: each is read surely, from 25.3 to 29.7 mm."""
    scattered = [*np.linspace(25.3, 27.0, 15), *np.linspace(27.0, 29.7, 15)]
    seen = rims(*scattered, sigma_share=0.018)
    sizes = sizes_on_table(seen, SIZES_MM / 2, camera_over(8.0))
    at = SIZES_MM == 27
    shares = sizes.probabilities(sizes.log_likelihoods).sum(2)[:, at]
    assert (shares > 0.9).all()
    usual = as_usual(sizes)
    assert usual.probabilities(usual.log_likelihoods).sum(2)[:, at].min() < 0.8


def test_radii_that_all_look_a_little_large_leave_the_size_open() -> None:
    """Where all are read as 28.1 mm, by prints as large as bases, they may be of 27 or of 28.5."""
    sizes = sizes_on_table(rims(*[28.1] * 8, sigma_share=0.01), SIZES_MM / 2, camera_over(8.0))
    usual = as_usual(sizes)
    read, plain = (one.probabilities(one.log_likelihoods).sum(2)[0] for one in (sizes, usual))
    assert plain[SIZES_MM == 28.5] > 0.95
    assert read[SIZES_MM == 28.5] < 0.9
    assert read[SIZES_MM == 27] > 0.1


@given(st.floats(-2, 2), st.floats(0.9, 1.1), st.floats(1, 3))
def test_a_reading_moves_and_widens_what_is_seen(
    offset: float, scale: float, spread: float
) -> None:
    camera, radii = camera_over(8.0), SIZES_MM / 2
    reading = Reading(scale, offset, spread)
    seen = rims(*SIZES_MM)
    moved = replace(seen, radius_mm=scale * (seen.radius_mm + offset))
    plain, read = (
        rim_net_log_likelihood(seen, radii, camera, False, Reading(spread=spread)),
        rim_net_log_likelihood(moved, radii, camera, False, reading),
    )
    assert read == pytest.approx(plain, abs=1e-6)


def test_a_size_of_ones_own_may_meet_any_that_are_played_together() -> None:
    sizes = np.sort([*ROUND_DIAMETERS_MM, 95.0])
    sets = [some for some, _ in size_set_priors(sizes / 2)]
    assert len(sets) > 1
    assert all(some[sizes == 95.0].all() for some in sets)
    assert any(not some[sizes == 27.0].any() for some in sets)


def test_a_table_in_play_is_less_often_of_one_games_sizes_than_a_prepared_one() -> None:
    def odds(prepared: bool) -> float:
        """Of the set with 27 mm that lacks most sizes, against all without 27 mm."""
        sizes = np.array(ROUND_DIAMETERS_MM)
        sets = size_set_priors(sizes / 2, prepared)
        own = min((pair for pair in sets if pair[0][sizes == 27.0]), key=lambda pair: pair[0].sum())
        return own[1] / sum(prior for some, prior in sets if not some[sizes == 27.0])

    assert odds(prepared=False) < 0.25 * odds(prepared=True)


def test_a_table_of_one_size_does_not_speak_for_the_game_with_the_fewest() -> None:
    """The more bases of one size, the more it would: here all look as much like 25 mm as like 27."""
    sizes = np.array(ROUND_DIAMETERS_MM)
    sets = size_set_priors(sizes / 2, prepared=False)

    def share_of_27(count: int, prior_total: float | None) -> float:
        likelihood = np.full((1, count, len(sizes), 1), -20.0)
        likelihood[:, :, np.isin(sizes, [25.0, 27.0])] = 0.0
        told = TableSizes(likelihood, np.zeros(1), sets, prior_total).probabilities(likelihood)
        return float(told[0, np.argmax(sizes == 27.0), 0])

    few, many = share_of_27(4, PRIOR_TOTAL_IN_PLAY), share_of_27(16, PRIOR_TOTAL_IN_PLAY)
    assert many == pytest.approx(few, abs=0.07)
    assert share_of_27(16, None) > share_of_27(4, None) + 0.1
    assert many < 0.5 < share_of_27(16, None)


@pytest.mark.parametrize(
    ("others_mm", "seen_mm", "played_mm"),
    [
        ([25, 25, 32, 32, 40], 63.0, 60.0),
        ([30, 30, 40, 50], 125.5, 120.0),
        ([25, 32, 32, 40], 124.5, 130.0),
        ([30, 30, 40, 50], 31.1, 30.0),
        ([35, 35, 50], 62.0, 65.0),
    ],
)
def test_a_size_between_two_is_the_one_of_the_games_that_the_others_are_of(
    others_mm: list[float], seen_mm: float, played_mm: float
) -> None:
    sizes = np.array(ROUND_DIAMETERS_MM)
    seen = np.array([*others_mm, seen_mm])
    likelihood = -0.5 * ((sizes - seen[:, None]) / (0.02 * seen[:, None])) ** 2
    shares = size_probabilities(likelihood[:, :, None], size_set_priors(sizes / 2, prepared=False))
    assert sizes[shares[-1, :, 0].argmax()] == played_mm
    assert np.abs(sizes - seen_mm).min() < abs(played_mm - seen_mm)  # the nearest is another
