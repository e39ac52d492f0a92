"""Few corrections move little, and nothing moves that does not help the photos left out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.apps.teach.fit import (
    MIN_PHOTOS,
    PRIOR_SIGMA,
    fit_weighing,
    learn_weighings,
    left_out_gains,
    log_likelihood,
)
from overruler.taught import CorrectedPhoto, JudgedFinding, Weighing, log_odds

findings = st.lists(
    st.builds(JudgedFinding, st.just("25 mm"), st.floats(0.001, 0.9999), st.booleans()),
    min_size=1,
    max_size=30,
)


def photos_of(*judged: list[tuple[float, bool]]) -> list[CorrectedPhoto]:
    return [
        CorrectedPhoto(f"{k}.jpg", str(k), tuple(JudgedFinding("25 mm", *one) for one in photo))
        for k, photo in enumerate(judged)
    ]


TOKENS = [(0.8, False)] * 4
"""A photo whose small findings are all tokens."""


@settings(max_examples=25)
@given(findings)
def test_few_corrections_move_little(judged: list[JudgedFinding]) -> None:
    """Each finding moves a weight by at most the prior's variance times its feature."""
    how = fit_weighing(judged)
    offset_variance, slope_variance = PRIOR_SIGMA**2
    steepness = sum(abs(log_odds(one.probability)) for one in judged)
    assert abs(how.offset) <= offset_variance * len(judged) + 1e-3
    assert abs(how.slope - 1) <= slope_variance * steepness + 1e-3


@settings(max_examples=25)
@given(findings)
def test_no_other_re_weighing_is_likelier(judged: list[JudgedFinding]) -> None:
    """The fit is a maximum: a step to any side loses, the prior counted."""

    def merit(how: Weighing) -> float:
        steps = np.array([how.offset, how.slope - 1]) / PRIOR_SIGMA
        return log_likelihood(judged, how) - float(steps @ steps) / 2

    best = fit_weighing(judged)
    if any(abs(best.offset + best.slope * log_odds(one.probability)) > 8.9 for one in judged):
        return  # beyond, no log odds are believed
    for offset, slope in ((0.02, 0), (-0.02, 0), (0, 0.02), (0, -0.02)):
        beside = Weighing(best.offset + offset, best.slope + slope)
        assert merit(beside) <= merit(best) + 1e-6


def test_tokens_of_a_table_become_less_likely() -> None:
    learned = learn_weighings(photos_of(TOKENS, TOKENS, TOKENS))
    assert learned["25 mm"].reweigh(0.8) < 0.3


def test_two_photos_are_too_few() -> None:
    assert learn_weighings(photos_of(*[TOKENS] * (MIN_PHOTOS - 1))) == {}


def test_photos_that_contradict_each_other_teach_nothing() -> None:
    bases = [(0.8, True)] * 4
    photos = photos_of(TOKENS, bases, TOKENS, bases)
    assert left_out_gains([photo.findings for photo in photos]).sum() < 0
    assert learn_weighings(photos) == {}


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_what_is_right_as_it_is_seldom_moves(seed: int) -> None:
    """Truth that is drawn by the probabilities themselves: what is kept all the same moves little."""
    draw = np.random.default_rng(seed)
    said = draw.uniform(0.5, 0.999, (5, 12))
    truth = draw.uniform(size=said.shape) < said
    rows = zip(said.tolist(), truth.tolist(), strict=True)
    learned = learn_weighings(photos_of(*[list(zip(*row, strict=True)) for row in rows]))
    for how in learned.values():
        assert abs(how.reweigh(0.9) - 0.9) < 0.15


def test_other_kinds_stay_as_they_are() -> None:
    more = CorrectedPhoto("9.jpg", "9", (JudgedFinding("32 mm", 0.99, True),))
    learned = learn_weighings([*photos_of(TOKENS, TOKENS, TOKENS), more])
    assert list(learned) == ["25 mm"]


def test_photos_without_findings_teach_nothing() -> None:
    assert learn_weighings(photos_of([], [], [])) == {}
    assert learn_weighings([]) == {}


@pytest.mark.parametrize("is_piece", [True, False])
def test_one_photo_alone_moves_nothing(is_piece: bool) -> None:
    assert learn_weighings(photos_of([(0.5, is_piece)] * 40)) == {}
