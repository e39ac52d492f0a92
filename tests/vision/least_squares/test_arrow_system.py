"""Eliminating the groups' own parameters gives what all parameters together give."""

import numpy as np
import pytest

from overruler.geometry.pose import Array
from overruler.vision.least_squares.arrow_system import ArrowSystem
from overruler.vision.least_squares.whitened_groups import WhitenedGroups

SHARED, OWN, GROUPS, ROWS = 4, 3, 5, 9


def both(seed: int) -> tuple[ArrowSystem, Array, Array, list[tuple[int | None, Array, Array]]]:
    """A system, the same as one dense matrix and gradient, and its observations."""
    random = np.random.default_rng(seed)
    system, seen = ArrowSystem.empty(SHARED, GROUPS, OWN), []
    rows_of_all: list[Array] = []
    size = SHARED + GROUPS * OWN
    dense, gradient = np.zeros((size, size)), np.zeros(size)
    for group in (None, *range(GROUPS)):
        shared, own = random.normal(size=(ROWS, SHARED)), random.normal(size=(ROWS, OWN))
        residual, rows = random.normal(size=ROWS), np.zeros((ROWS, size))
        rows[:, :SHARED] = shared
        if group is not None:
            rows[:, SHARED + OWN * group :][:, :OWN] = own
        rows_of_all.append(np.column_stack([residual, shared, own]))
        dense, gradient = dense + rows.T @ rows, gradient + rows.T @ residual
        seen.append((group, rows, residual))
    plain = WhitenedGroups([np.eye(ROWS)] * len(seen))
    system.observe(plain.products(np.concatenate(rows_of_all)))
    prior, pull = np.diag(random.uniform(1, 2, SHARED)), random.normal(size=SHARED)
    dense[:SHARED, :SHARED] += prior
    gradient[:SHARED] += pull
    return system.with_prior(prior, pull), dense, gradient, seen


@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_the_step_is_that_of_all_parameters_together(damping: float) -> None:
    system, dense, gradient, _ = both(1)
    step = -np.linalg.solve(dense + damping * np.diag(np.diag(dense)), gradient)
    assert system.damped_step(damping, system) == pytest.approx(step)
    assert system.gradient == pytest.approx(gradient)


@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_the_expected_decrease_is_that_of_the_quadratic_cost(damping: float) -> None:
    system, dense, gradient, _ = both(4)
    step = system.damped_step(damping, system)
    expected = -2 * gradient @ step - step @ dense @ step
    assert system.expected_decrease(step, damping) == pytest.approx(expected)


def test_covariance_and_volume_are_those_of_all_parameters_together() -> None:
    system, dense, _, _ = both(2)
    assert system.shared_covariance() == pytest.approx(np.linalg.inv(dense)[:SHARED, :SHARED])
    assert system.log_volume() == pytest.approx(np.linalg.slogdet(dense)[1])


@pytest.mark.parametrize("which", range(GROUPS + 1))
def test_without_a_group_is_as_if_it_had_not_been_seen(which: int) -> None:
    system, dense, gradient, seen = both(3)
    group, rows, residual = seen[which]
    others = system.without(group, rows[:, :SHARED], residual)
    left, pull = dense - rows.T @ rows, gradient - rows.T @ residual
    known = np.diag(left) > 1e-9
    step = -np.linalg.solve(left[np.ix_(known, known)], pull[known])
    assert others.damped_step(1e-9, system)[known] == pytest.approx(step, rel=1e-5)
    assert others.damped_step(1e-9, system)[~known] == pytest.approx(0)
