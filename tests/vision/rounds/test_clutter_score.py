"""What a finding is worth where much lies about that is no base."""

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.vision.assembly.piece_probability import piece_probabilities
from overruler.vision.rounds.scoring import LOGIT_WEIGHTS_ON_CLUTTER, LOGIT_WEIGHTS_WITH_OVERVIEW


def finding(score: float, clutter_score: float | None) -> Detection:
    return Detection(
        base=Base.circle(32),
        xy_mm=np.zeros(2),
        z_mm=0.0,
        heading_deg=0.0,
        covariance_mm2=np.eye(2),
        d_xy_d_camera=np.zeros((2, 15)),
        score=score,
        visible=1.0,
        clutter_score=clutter_score,
    )


def test_the_lower_of_two_scores_says_how_likely_a_piece_is() -> None:
    both, alone, high = (
        piece_probabilities([finding(0.99, other)])[0] for other in (0.8, None, 0.999)
    )
    assert both == piece_probabilities([finding(0.8, None)])[0]
    assert both < alone == high


def test_the_weights_weigh_the_same_features() -> None:
    assert LOGIT_WEIGHTS_ON_CLUTTER.shape == LOGIT_WEIGHTS_WITH_OVERVIEW.shape
    assert not np.array_equal(LOGIT_WEIGHTS_ON_CLUTTER, LOGIT_WEIGHTS_WITH_OVERVIEW)
