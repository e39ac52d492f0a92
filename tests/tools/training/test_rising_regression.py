"""Scores on products of features: they learn what two features say together, and rise with the evidence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.geometry.pose import Array
from overruler.vision.learned.products import names_with_products, with_products
from training import rising_regression

SCALES = np.array([2.0, 0.5])


def examples(seed: int, odds_of: str, count: int = 4000) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(0, 2.0, count), rng.normal(0, 0.5, count)
    odds = {"sum": first + second, "product": 2 * first * second}[odds_of]
    truth = (rng.random(count) < 1 / (1 + np.exp(-odds))).astype(float)
    return np.column_stack([np.ones(count), first, second]), truth


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=4))
def test_each_product_has_its_name(row: list[float]) -> None:
    features = np.array([[1.0, *row]])
    names = names_with_products(["constant", *(f"f{k}" for k in range(len(row)))])
    told = dict(zip(names, with_products(features, np.ones(len(row)))[0], strict=True))
    for name, value in told.items():
        factors = [told[factor] for factor in name.split("*")]
        assert value == np.prod(factors)
    assert len(names) == 1 + len(row) + len(row) * (len(row) + 1) // 2


def test_it_learns_what_two_features_say_together() -> None:
    features, truth = examples(1, "product")
    weights = rising_regression.rising_regression(features, truth, SCALES, [0, 0], 1.0)
    right = ((with_products(features, SCALES) @ weights > 0) == truth).mean()
    plane, *_ = np.linalg.lstsq(features, truth - 0.5, rcond=None)
    alone = ((features @ plane > 0) == truth).mean()
    assert right > 0.7 > 0.55 > alone


@pytest.mark.parametrize("seed", range(4))
def test_few_examples_do_not_make_the_odds_fall_with_the_evidence(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rising_regression, "FIRMNESS", 5.0)
    features, truth = examples(seed, "sum", count=60)
    elsewhere, _ = examples(seed + 100, "sum")
    more = elsewhere + np.array([0.0, 0.0, 0.1])
    falls = []
    for direction in (0, 1):
        weights = rising_regression.rising_regression(features, truth, SCALES, [0, direction], 0.1)
        change = (with_products(more, SCALES) - with_products(elsewhere, SCALES)) @ weights
        falls.append(float(-change.clip(max=0).mean()))
    assert falls[0] > 0.01
    assert falls[1] < falls[0] / 2


def test_where_the_odds_rise_anyway_the_direction_changes_nothing() -> None:
    features, truth = examples(3, "sum")
    free, held = (
        rising_regression.rising_regression(features, truth, SCALES, [way] * 2, 1.0)
        for way in (0, 1)
    )
    odds = with_products(features, SCALES) @ np.column_stack([free, held])
    assert np.abs(odds[:, 0] - odds[:, 1]).mean() < 0.1
    assert abs(free[1] - 1.0) < 0.15
