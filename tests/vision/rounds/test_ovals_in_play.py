"""Trials of ovals on tables in play."""

import numpy as np
import pytest

from overruler.bases import OVAL_SHARES, catalogue
from overruler.geometry.pose import Array
from overruler.vision.rounds.oval_trials import SizeTrials
from overruler.vision.rounds.ovals_in_play import log_shares

HALF_SIZES = np.array([[b.length_mm, b.width_mm] for b in catalogue() if b.shape == "oval"]) / 2


def test_of_the_catalogues_ovals_the_small_ones_are_commoner() -> None:
    shares = np.exp(log_shares(HALF_SIZES))
    assert shares.mean() == pytest.approx(1)
    assert np.all(np.diff(shares) < 0)
    assert shares[0] / shares[-1] == pytest.approx(OVAL_SHARES[0] / OVAL_SHARES[-1])


@pytest.mark.parametrize(
    "sizes", [HALF_SIZES[3:], HALF_SIZES[:1], HALF_SIZES + 1, np.empty((0, 2))]
)
def test_sizes_that_somebody_chose_are_as_common_as_each_other(sizes: Array) -> None:
    assert not log_shares(sizes).any()


def test_log_odds_beside_the_features_count_in_full() -> None:
    features, weights = np.array([[1.0, 0.5], [1.0, -2.0]]), np.array([0.3, 1.1])
    trials = SizeTrials(np.arange(2), np.zeros((2, 5)), np.zeros((2, 5)), features, weights)
    shifted = trials.with_offset(np.array([2.0, -1.0]))
    odds = [np.log(p / (1 - p)) for p in (trials.probabilities(), shifted.probabilities())]
    assert odds[1] - odds[0] == pytest.approx([2.0, -1.0])
