"""Sizes: each base by what it looks like, all of them by what is on the table and by what is played together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special

from overruler.geometry.pose import Array
from overruler.vision.rounds import size_mixture
from overruler.vision.rounds.size_mixture import digamma, size_probabilities

SIZES_MM = np.array([25.0, 27.0, 28.5, 32.0])
LEGION = SIZES_MM == 27
OTHERS = ~LEGION
ANY = np.ones(4, bool)
PLAYED = [(LEGION, 0.49), (OTHERS, 0.49), (ANY, 0.02)]


def seen(*diameters_mm: float, sigma_mm: float = 0.5, taper_mm: float = 3.2) -> Array:
    """Log-likelihoods (N, 4, 2) of bases whose visible rim is so large: the lower one, or the upper one of a cone."""
    rims = np.stack([SIZES_MM, SIZES_MM - taper_mm], -1)
    return np.asarray(-0.5 * ((rims - np.array(diameters_mm)[:, None, None]) / sigma_mm) ** 2)


def one_kind(rows: object) -> Array:
    return np.asarray(rows, float)[..., None]


def test_a_doubtful_base_takes_the_size_of_its_table() -> None:
    clear = np.tile([0.0, -8.0, -8.0], (9, 1))
    doubtful = np.array([[-0.5, 0.0, -6.0]])
    alone = size_probabilities(one_kind(doubtful))[0, :, 0]
    among = size_probabilities(one_kind(np.vstack([clear, doubtful])))[-1, :, 0]
    assert alone[1] > 0.5
    assert among[0] > 0.7


def test_a_clear_base_keeps_its_size_among_others() -> None:
    shares = size_probabilities(
        one_kind(np.vstack([np.tile([0.0, -9.0], (20, 1)), [[-12.0, 0.0]]]))
    )
    assert shares[-1, 1] > 0.95


def test_a_lost_lower_rim_is_told_by_what_is_played_together() -> None:
    table = seen(*[27.0] * 12, *[24.6] * 5)
    either = size_probabilities(table)
    assert (either[12:, 0].sum(1) > 0.5).all()  # five alike, of a size that all may have
    legion = size_probabilities(table, PLAYED)
    assert (legion[12:, 1, 1] > 0.9).all()
    assert (legion[:12, 1, 0] > 0.9).all()


def test_a_size_of_its_own_game_is_not_seen_among_others() -> None:
    table = seen(*[25.0] * 6, *[32.0] * 6, 27.6)
    assert size_probabilities(table)[-1].sum(1)[[1, 2]].min() > 0.05
    assert size_probabilities(table, PLAYED)[-1].sum(1)[2] > 0.9


def test_what_fits_no_set_still_has_the_size_that_it_shows() -> None:
    table = seen(*[27.0] * 6, *[32.0] * 6, sigma_mm=0.3)
    shares = size_probabilities(table, PLAYED).sum(2)
    assert (shares[:6, 1] > 0.9).all()
    assert (shares[6:, 3] > 0.9).all()


def test_two_units_seen_wrong_together_are_not_of_another_game_s_size() -> None:
    """All 25 mm bases look a millimetre too large, all 28.5 mm ones too small, as in one light they do."""
    table = seen(*[25.95] * 6, *[27.65] * 6, *[32.0] * 5)
    shares = size_probabilities(table, PLAYED).sum(2)
    assert (shares[:6, 0] > 0.5).all()
    assert (shares[6:12, 2] > 0.5).all()


def test_a_stray_base_does_not_speak_against_the_game_of_all_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twelve that look a little large for 27 mm are of 27 mm still, though one of 32 mm is no base of that game."""
    table = seen(*[27.4] * 12, 32.0, sigma_mm=0.7)
    shares = size_probabilities(table, PLAYED).sum(2)
    assert (shares[:12, 1] > 0.8).all()
    assert shares[12, 3] > 0.99
    monkeypatch.setattr(size_mixture, "STRAYS_PROBABILITY", 1e-12)
    assert (size_probabilities(table, PLAYED).sum(2)[:12, 1] < 0.7).all()


@given(st.integers(1, 5), arrays(float, (3, 4), elements=st.floats(0.1, 50)))
def test_the_divergence_of_dirichlet_distributions_is_that_of_the_textbook(
    sizes: int, counts: Array
) -> None:
    count, prior = counts[:, :sizes], np.flip(counts, 1)[:, :sizes].copy()
    unused = np.column_stack([prior, np.zeros(3)])
    found = size_mixture._dirichlet_divergence(np.column_stack([count, np.ones(3)]), unused)
    total, before = count.sum(1), prior.sum(1)
    wanted = special.gammaln(total) - special.gammaln(before)
    wanted += (special.gammaln(prior) - special.gammaln(count)).sum(1)
    slopes = special.digamma(count) - special.digamma(total)[:, None]
    wanted += ((count - prior) * slopes).sum(1)
    assert found == pytest.approx(wanted, abs=1e-8)


def test_what_cannot_be_is_not() -> None:
    table = seen(25.0, 25.1, 24.8)
    table[:, 0] = -np.inf
    assert np.all(size_probabilities(table, PLAYED)[:, 0] == 0)


def test_no_bases() -> None:
    assert size_probabilities(np.empty((0, 4, 2))).shape == (0, 4, 2)


@given(arrays(float, (5, 4, 2), elements=st.floats(-30, 0)))
def test_probabilities(log_likelihood: Array) -> None:
    shares = size_probabilities(log_likelihood, PLAYED)
    assert np.allclose(shares.sum((1, 2)), 1)
    assert (shares >= 0).all()
    order = [2, 0, 3, 1]
    turned = [(some[order], before) for some, before in PLAYED]
    assert np.allclose(size_probabilities(log_likelihood[:, order], turned), shares[:, order])
    assert np.allclose(size_probabilities(log_likelihood[::-1], PLAYED), shares[::-1])


@given(st.floats(1e-9, 1e6))
def test_digamma_is_the_known_one(x: float) -> None:
    assert abs(float(digamma(x)) - special.digamma(x)) < 1e-12 * max(1.0, abs(special.digamma(x)))
