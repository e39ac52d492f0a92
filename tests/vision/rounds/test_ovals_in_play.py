"""Trials of ovals on tables in play."""

from collections.abc import Callable

import numpy as np
import pytest

from overruler.bases import OVAL_SHARES, catalogue
from overruler.geometry.pose import Array
from overruler.vision.learned.in_play_net import COLUMNS, LOGIT
from overruler.vision.learned.shapes_in_play import SeenShapes
from overruler.vision.rounds import ovals_in_play
from overruler.vision.rounds.oval_trials import SizeTrials
from overruler.vision.rounds.ovals_in_play import log_shares, trials_in_play
from overruler.vision.rounds.scoring import MIN_SCORE_IN_PLAY

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


UNIT_MM = np.array([[300.0 + 42 * k, 200.0 + 10 * (k % 2)] for k in range(5)])
"""Middles of a unit of ovals, staggered and a little apart."""


def network_that_knows(places: Array) -> Callable[..., Array]:
    """A stand-in for the network in play: it moves ovals to the nearest of the places, and is sure there."""

    def look(pyramid: object, camera: object, ovals: Array, mirrored: object = None) -> Array:
        way = places[None] - ovals[:, None, :2]
        nearest = np.argmin(np.linalg.norm(way, axis=2), axis=1)
        answers = np.zeros((len(ovals), COLUMNS))
        answers[:, 1:3] = way[np.arange(len(ovals)), nearest]
        answers[:, LOGIT] = np.where(np.linalg.norm(answers[:, 1:3], axis=1) < 16, 6.0, -6.0)
        return answers

    return look


def test_a_unit_is_followed_from_the_one_oval_that_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    look = network_that_knows(UNIT_MM)
    monkeypatch.setattr(ovals_in_play, "look_at_shapes", look)
    monkeypatch.setattr(ovals_in_play, "answers_from_both_sides", look)
    monkeypatch.setattr(
        ovals_in_play,
        "corrected_shapes",
        lambda _, ovals, answers: np.column_stack([ovals[:, :2] + answers[:, 1:3], ovals[:, 2:]]),
    )
    sizes = np.array([[30.0, 17.5]])
    answers = np.zeros((1, COLUMNS))
    answers[:, LOGIT] = 6.0
    seen = SeenShapes(np.array([[*UNIT_MM[0], 30.0, 17.5, np.pi / 2]]), answers, np.array([0.9]))
    trials = trials_in_play([], None, seen, sizes)  # type: ignore[arg-type]
    likely = trials.poses[trials.probabilities() > MIN_SCORE_IN_PLAY, :2]
    reached = np.linalg.norm(likely[:, None] - UNIT_MM, axis=2).min(0) < 1
    assert reached.tolist() == [True, True, True, True, False]  # one further each round
