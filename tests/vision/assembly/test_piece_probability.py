"""A finding's probability rests on its own score, on how sure the photo's others are, and on people."""

from dataclasses import replace

import numpy as np
import pytest

from overruler.bases import Base
from overruler.detections import Detection
from overruler.vision.assembly.piece_probability import piece_probabilities


def finding(
    score: float, is_confirmed: bool = False, clutter_score: float | None = None
) -> Detection:
    return Detection(
        base=Base.circle(32),
        xy_mm=np.zeros(2),
        z_mm=0.0,
        heading_deg=0.0,
        covariance_mm2=np.eye(2),
        d_xy_d_camera=np.zeros((2, 15)),
        score=score,
        visible=1.0,
        is_confirmed=is_confirmed,
        clutter_score=clutter_score,
    )


def test_the_likelier_by_score_the_likelier_a_piece() -> None:
    scores = [0.67, 0.8, 0.95, 0.99, 0.999, 1.0]
    probabilities = piece_probabilities([finding(score) for score in scores])
    assert probabilities == sorted(probabilities)
    assert all(0 < one < 1 for one in probabilities)


@pytest.mark.parametrize("score", [0.9, 0.999])
def test_in_a_photo_of_unsure_findings_each_is_less_sure(score: float) -> None:
    clear = piece_probabilities([finding(score), *[finding(0.9999)] * 30])
    vague = piece_probabilities([finding(score), *[finding(0.9)] * 30])
    assert vague[0] < clear[0]


def test_on_a_table_that_nobody_prepared_each_is_less_sure() -> None:
    photo = [finding(0.99), *[finding(0.9999)] * 30]
    assert piece_probabilities(photo, is_prepared=False)[0] < 0.99 < piece_probabilities(photo)[0]


def test_a_clear_photo_s_clear_findings_surely_are_pieces() -> None:
    assert min(piece_probabilities([finding(0.9999)] * 12)) > 0.995


def test_among_ships_a_round_finding_is_in_doubt() -> None:
    """A planet on a mat of space scores as high as a base; beside as many round bases it would be sure."""
    plates = [replace(finding(0.999), base=Base.rectangle(40, 40)) for _ in range(8)]
    planet = finding(0.995)
    *ships, among_ships = piece_probabilities([*plates, planet])
    assert 0.5 < among_ships < 0.9
    assert ships == [0.999] * 8
    assert piece_probabilities([*plates[:4], planet])[-1] > 0.97
    mixed = piece_probabilities([*plates, *[finding(0.9999)] * 6, planet])
    assert mixed[-1] > 0.97
    assert piece_probabilities([*plates, replace(planet, is_confirmed=True)])[-1] == 1


def test_what_a_person_said_is_sure_and_says_nothing_of_others() -> None:
    told = piece_probabilities([finding(0.7, is_confirmed=True), finding(0.95)])
    assert told[0] == 1
    assert told[1] == piece_probabilities([finding(0.95)])[0]


def test_no_findings_have_no_probabilities() -> None:
    assert piece_probabilities([]) == []


def test_the_score_of_a_plate_is_its_probability() -> None:
    """Rivals are in it already; the round bases beside it do not change it, nor it them."""
    plate = replace(finding(0.957), base=Base.rectangle(40, 40))
    told = piece_probabilities([plate, finding(0.95)])
    assert told[0] == 0.957
    assert told[1] == piece_probabilities([finding(0.95)])[0]


def test_the_lower_of_two_scores_says_how_likely_a_piece_is() -> None:
    both, alone, high = (
        piece_probabilities([finding(0.99, clutter_score=other)])[0] for other in (0.8, None, 0.999)
    )
    assert both == piece_probabilities([finding(0.8)])[0]
    assert both < alone == high


@pytest.mark.parametrize("is_prepared", [False, True])
def test_where_the_networks_in_play_judged_their_probability_counts(is_prepared: bool) -> None:
    """The other findings of the photo are in it already."""
    photo = [replace(finding(0.99), in_play_probability=share) for share in (0.6, 0.9, 0.999)]
    assert piece_probabilities(photo, is_prepared) == [0.6, 0.9, 0.999]
    usual = piece_probabilities([finding(0.99), *photo], is_prepared)[0]
    assert usual == piece_probabilities([finding(0.99)] * 4, is_prepared)[0]


def test_the_score_of_an_oval_is_its_probability_whatever_lies_about() -> None:
    oval = replace(finding(0.9), base=Base.oval(35, 60))
    among_lookalikes, alone = piece_probabilities([oval, *[finding(0.7)] * 30])[:2]
    assert among_lookalikes == 0.9
    assert alone < 0.5
    assert piece_probabilities([oval, *[finding(0.9999)] * 30])[0] == 0.9
