"""How many lookalikes a photo has follows from its findings, and says what each middling one is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.vision.rounds.lookalike_share import probabilities_among

RATIOS = st.lists(st.floats(-8, 8), min_size=1, max_size=40)


@given(RATIOS, st.floats(0.001, 0.6))
def test_the_likelier_by_its_ratio_the_likelier_a_base(ratios: list[float], usual: float) -> None:
    told = probabilities_among(np.sort(ratios), usual)
    assert np.all(np.diff(told) >= 0)
    assert np.all((told > 0) & (told < 1))


@given(RATIOS, st.floats(-8, 8))
def test_a_further_lookalike_makes_no_other_finding_surer(ratios: list[float], more: float) -> None:
    alone = probabilities_among(np.array([*ratios, more]), 0.3)
    worse = probabilities_among(np.array([*ratios, more - 1]), 0.3)
    assert np.all(worse[:-1] <= alone[:-1] + 1e-6)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_of_many_findings_the_share_is_found(share: float) -> None:
    """Ratios of two classes whose evidence is Gaussian: the mean is half the variance."""
    rng = np.random.default_rng(4)
    lookalike = rng.random(4000) < share
    ratios = np.where(lookalike, -2.0, 2.0) + rng.normal(0, 2.0, 4000)
    told = probabilities_among(ratios, 0.3)
    assert 1 - told.mean() == pytest.approx(share, abs=0.03)
    middling = (told > 0.4) & (told < 0.6)
    assert (~lookalike[middling]).mean() == pytest.approx(0.5, abs=0.1)
