"""What else may lie where a plate was found: it lowers the probability and widens the doubt."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import Base
from overruler.geometry.covariance import Covariance, RareAlternative
from overruler.geometry.pose import Array
from overruler.rules import ask
from overruler.scene import Piece, Scene, Table
from overruler.vision.assembly.flag_doubts import RARE_PROBABILITY
from overruler.vision.contours.rare_events import NEGLIGIBLE_PROBABILITY, RARE_WITHIN_SIGMAS
from overruler.vision.learned.logits import sigmoid
from overruler.vision.plates.compatible_plates import StandingPlate, keep_compatible
from overruler.vision.plates.fine_grid import PlateFit
from overruler.vision.plates.heading_net import Heading
from overruler.vision.plates.plate import LOGIT_WEIGHTS, Plate
from overruler.vision.plates.rivals import ODDS_TEMPER, Rival, rival_covariances

SIDES_MM = (40.0, 60.0, 80.0)
PLACE = np.array([200.0, 200.0])


def plate(x_mm: float, side_mm: float, log_odds: float, *rivals: Rival) -> Plate:
    """A plate with these log odds, which come from its face alone."""
    fit = PlateFit(side_mm, np.array([x_mm, 200.0]), 0.0, 2.0, np.eye(2), np.ones(4), 0.0)
    face = (log_odds - LOGIT_WEIGHTS[0]) / LOGIT_WEIGHTS[-1]
    features = (*[0.0] * (len(LOGIT_WEIGHTS) - 2), face)
    return Plate(fit, Heading(0.0, 90.0), features, None, rivals)  # type: ignore[arg-type]


def only(standing: list[StandingPlate]) -> StandingPlate:
    (one,) = standing
    return one


@given(st.floats(-3, 12), st.lists(st.tuples(st.sampled_from((40.0, 80.0)), st.floats(-9, 12))))
def test_a_plate_and_its_rivals_share_one_certainty(
    log_odds: float, told: list[tuple[float, float]]
) -> None:
    """The probabilities of a plate, of each rival and of none sum to 1."""
    best = {side_mm: max(odds for side, odds in told if side == side_mm) for side_mm, _ in told}
    rivals = [Rival(PLACE, side_mm, odds) for side_mm, odds in told]
    one = only(keep_compatible([plate(200, 60, log_odds, *rivals)]))
    total = 1 + np.exp(log_odds) + np.exp(list(best.values())).sum()
    assert one.probability == pytest.approx(np.exp(log_odds) / total, rel=1e-6)
    assert one.any_probability == pytest.approx(1 - 1 / total, rel=1e-6)


@given(
    st.sampled_from(SIDES_MM),
    st.floats(-20, 20),
    st.floats(-20, 20),
    st.floats(0, 12),
    st.floats(0, 2 * np.pi),
)
def test_a_rival_lies_within_reach_of_the_rare_covariance(
    side_mm: float, x_mm: float, y_mm: float, behind: float, way: float
) -> None:
    """So do its edges, in any direction; a negligible rival adds nothing."""
    rival = Rival(PLACE + np.array([x_mm, y_mm]), side_mm, 5.0 - behind)
    usual, rare = rival_covariances(PLACE, 40.0, 5.0, [rival])
    chance = 1 / (1 + np.exp(behind / ODDS_TEMPER))
    if chance < NEGLIGIBLE_PROBABILITY:
        assert not rare.any()
        return
    direction = np.array([np.cos(way), np.sin(way)])
    for moved_mm in (direction @ [x_mm, y_mm], (side_mm - 40) / 2):
        assert abs(moved_mm) <= RARE_WITHIN_SIGMAS * np.sqrt(direction @ rare @ direction) + 1e-6
    assert np.linalg.eigvalsh(rare - usual).min() >= -1e-9


@pytest.mark.parametrize("away_mm", [3.0, 10.0])
def test_no_call_is_certain_against_a_rival(away_mm: float) -> None:
    """A line of the ruler lies where the rival's edge would be; no other error is known."""
    rival = Rival(PLACE + np.array([away_mm, 0.0]), 40.0, 0.0)
    usual, rare = rival_covariances(PLACE, 40.0, 8.0, [rival])
    assert call(usual, rare, 100 - away_mm) != "certain"
    assert call(usual, rare, 100 - 1.3 * away_mm) == "certain"


def call(usual: Array, rare: Array, distance_mm: float) -> str:
    """The call on the range of two plates so far apart, by the covariances of one of them."""
    first, second = np.zeros((4, 4)), np.zeros((4, 4))
    first[2:, 2:], second[2:, 2:] = usual, rare
    alternative = RareAlternative(RARE_PROBABILITY, Covariance(second.tolist()))
    base = Base.rectangle(40.0, 40.0)
    pieces = (Piece("a", base, 0.0, 0.0), Piece("b", base, 40 + distance_mm, 0.0))
    covariance = Covariance(first.tolist(), alternative)
    scene = Scene("xwing", Table(914.4, 914.4), pieces, covariance=covariance)
    said = ask(scene, {"question": "range", "from": "a", "to": "b"}).to_json()
    assert said["range"] == 1
    return str(said["call"])


def test_what_overlaps_deeply_excludes_each_other() -> None:
    """The unsurer one is dropped, and the surer one loses what the other had."""
    one = only(keep_compatible([plate(200, 60, 2.0), plate(235, 40, 3.0)]))
    assert one.plate.fit.side_mm == 40
    assert one.probability == pytest.approx(np.exp(3) / (1 + np.exp(2) + np.exp(3)))


def test_a_slight_overlap_speaks_against_the_unsurer_one() -> None:
    """Plates in contact keep their odds; those 4 mm within each other do not."""
    for gap_mm, is_doubted in ((0.5, False), (0.0, False), (-4.0, True)):
        sure, other = keep_compatible([plate(200, 60, 8.0), plate(250 + gap_mm, 40, 3.0)])
        assert sure.probability == pytest.approx(sigmoid(8.0))
        alone = float(sigmoid(3.0))
        assert (other.probability < alone - 0.1) == is_doubted
        assert is_doubted or other.probability == pytest.approx(alone)


def test_two_guesses_of_one_plate_are_no_rivals() -> None:
    one = only(keep_compatible([plate(200, 40, 5.0), plate(203, 40, 4.0)]))
    assert one.probability == pytest.approx(sigmoid(5.0))
