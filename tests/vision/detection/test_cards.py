"""Rectangles that nobody named: cards go, and what may be one is in doubt, most among round bases."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from overruler.bases import Base
from overruler.detections import Detection
from overruler.vision.assembly.piece_probability import piece_probabilities
from overruler.vision.detection import cards, choice, detect
from overruler.vision.detection.finders import Search
from overruler.vision.detection.sizes import Sizes
from overruler.vision.learned.print_net import CORNERED_MODEL
from overruler.vision.rounds.scoring import MIN_SCORE
from tests.vision.detection.test_detect_plates import found_at

NOTHING: Any = None


def table(rounds: int, rectangles: int, score: float = 0.999) -> list[Detection]:
    discs = [found_at(100.0 * k, Base.circle(32), score) for k in range(rounds)]
    corners = [found_at(-100.0 * k - 100, Base.rectangle(60, 40), score) for k in range(rectangles)]
    return [*discs, *corners]


def judged(
    monkeypatch: pytest.MonkeyPatch, logits: list[float], found: list[Detection]
) -> tuple[Detection, ...]:
    monkeypatch.setattr(cards, "photo_pyramid", lambda _: [])
    monkeypatch.setattr(cards, "LOGIT_WEIGHTS", np.array([0.0, 1.0]))
    monkeypatch.setattr(cards, "unprinted_logits", lambda *_: np.array(logits))
    return cards.without_cards(NOTHING, NOTHING, found)


def test_a_likely_card_goes_and_a_likely_base_is_as_sure_as_the_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = table(3, 2)
    kept = judged(monkeypatch, [-1.0, 2.0], found)
    assert [one.xy_mm[0] for one in kept] == [0, 100, 200, -200]
    assert kept[:3] == tuple(found[:3])
    assert kept[3].score == 0.999
    assert 0.8 < piece_probabilities(kept)[3] < 0.9


def test_a_poor_score_stays_poor_where_no_card_is_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = judged(monkeypatch, [5.0], table(3, 1, score=0.7))
    assert piece_probabilities(kept)[3] == 0.7


@pytest.mark.parametrize(("rounds", "rectangles"), [(2, 2), (0, 6)])
def test_unless_round_bases_outnumber_rectangles_few_are_cards(
    rounds: int, rectangles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = judged(monkeypatch, [-1.0] + [3.0] * (rectangles - 1), table(rounds, rectangles))
    assert 0.98 < piece_probabilities(kept)[rounds] < 0.999
    logits = [-7.0] + [3.0] * (rectangles - 1)
    assert len(judged(monkeypatch, logits, table(rounds, rectangles))) == rounds + rectangles - 1


def test_where_many_look_like_cards_each_is_less_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    clear, vague = (
        piece_probabilities(judged(monkeypatch, [-1.0, *[others] * 9], table(0, 10)))[0]
        for others in (3.0, -2.0)
    )
    assert vague < clear - 0.01


def test_in_rank_and_file_all_are_bases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the third, which touches none, may be a card."""
    unit = [found_at(x, Base.rectangle(25, 25), 0.9) for x in (0, 25.4, 80)]
    kept = judged(monkeypatch, [-7.0], unit)
    assert kept == tuple(unit[:2])


def test_round_bases_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    found = table(3, 0)
    assert judged(monkeypatch, [], found) == tuple(found)
    assert judged(monkeypatch, [], []) == ()


def test_what_a_person_called_a_base_is_no_card(monkeypatch: pytest.MonkeyPatch) -> None:
    *discs, card = judged(monkeypatch, [1.0], table(2, 1))
    assert piece_probabilities([*discs, replace(card, is_confirmed=True)])[2] == 1


def test_the_network_looks_where_a_rectangle_lies_and_as_wide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    look = Mock(return_value=np.zeros(2))
    monkeypatch.setattr(cards, "photo_pyramid", lambda _: [])
    monkeypatch.setattr(cards, "unprinted_logits", look)
    rows = cards.card_features(NOTHING, NOTHING, table(0, 2))
    assert rows.tolist() == [[1, 0], [1, 0]]
    _, _, circles, model = look.call_args.args
    assert model == CORNERED_MODEL
    assert circles[:, :2].tolist() == [[-100, 0], [-200, 0]]
    assert np.pi * circles[:, 2] ** 2 == pytest.approx(60 * 40)


@pytest.mark.parametrize(
    ("seen", "sizes_chosen", "least_score", "is_asked"),
    [
        (None, False, MIN_SCORE, True),
        ("a table in play", False, MIN_SCORE, False),
        (None, True, MIN_SCORE, False),
        (None, False, MIN_SCORE / 2, False),
    ],
    ids=["a photo", "without markers", "named sizes", "one of several photos"],
)
def test_cards_are_told_with_markers_and_where_nobody_named_sizes(
    seen: str | None,
    sizes_chosen: bool,
    least_score: float,
    is_asked: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bases, photo = [Base.rectangle(40, 40)], SimpleNamespace(camera=None, pixels=None)
    search = SimpleNamespace(
        seen=seen, slant_deg=0.0, sizes_chosen=sizes_chosen, is_fleet=False, least_score=least_score,
        sizes=Sizes.of(bases), frame=photo, calibration=photo,
    )  # fmt: skip
    found = table(2, 1)
    monkeypatch.setattr(Search, "begin", lambda *_: search)
    monkeypatch.setattr(detect, "rectify_board", lambda *_, **__: None)
    monkeypatch.setattr(detect, "_run_finders", lambda _: (found, []))
    monkeypatch.setattr(choice, "without_cards", lambda *_: ("asked",))
    monkeypatch.setattr(detect, "with_hexagons", lambda *_: _[1])
    known: Any = photo
    told: Any = detect.detect(known, known, bases, least_score=least_score)
    assert (told == ("asked",)) == is_asked
