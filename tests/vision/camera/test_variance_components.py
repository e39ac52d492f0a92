"""Scales of noise: the short way to the sums is the long way, and stated doubts are what errors are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.geometry.pose import Array
from overruler.vision.camera.variance_components import (
    LOG_SCALE_SIGMA,
    TAIL_DEGREES_OF_FREEDOM,
    LinearizedProblem,
    MarginalSolution,
    WhitenedBlocks,
    estimate_scales,
    marginalize_scales,
    scale_grid,
)

UNKNOWNS = 3
COMMON = np.array([0.0, 0.0, 0.7])
"""1 σ of the unknowns that go by the scale of shapes."""


def problem(random: np.random.Generator, groups: int = 3, rows: int = 7) -> list[WhitenedBlocks]:
    """Groups of noise, Jacobian and residual, the second without any place of its own."""
    sizes = [
        (random.normal(size=(rows, 0 if g == 1 else 2)), random.normal(size=(rows, 3)))
        for g in range(groups)
    ]
    return [
        WhitenedBlocks(
            p,
            s,
            np.zeros((rows, 0)),
            random.normal(size=(rows, UNKNOWNS)),
            random.normal(size=rows),
        )
        for p, s in sizes
    ]


def prior_of(random: np.random.Generator) -> tuple[Array, Array]:
    root = random.normal(size=(UNKNOWNS, UNKNOWNS))
    apart = np.outer(COMMON == 0, COMMON == 0)
    return (root @ root.T + 0.1 * np.eye(UNKNOWNS)) * apart, random.normal(size=UNKNOWNS)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.tuples(*[st.floats(0.3, 5)] * 3))
def test_a_scale_is_as_likely_as_the_residuals_under_it(
    seed: int, scales: tuple[float, float, float]
) -> None:
    """The residuals are Gaussian once the unknowns are integrated out; everything by dense matrices."""
    random = np.random.default_rng(seed)
    groups, (prior, away) = problem(random), prior_of(random)
    jacobian, residual = (np.concatenate([group[k] for group in groups]) for k in (3, 4))
    likely, step, covariance = LinearizedProblem.from_observations(
        groups, prior, away, COMMON
    ).evaluate_scales(np.array([scales, (1.0, 1.0, 1.0)]))
    wanted = []
    for own, place, shape in (scales, (1.0, 1.0, 1.0)):
        noise = np.zeros((len(residual), len(residual)))
        for k, (by_place, by_shape, _, _, r) in enumerate(groups):
            at = slice(k * len(r), (k + 1) * len(r))
            noise[at, at] = (
                own**2 * np.eye(len(r))
                + place**2 * by_place @ by_place.T
                + shape**2 * by_shape @ by_shape.T
            )
        known = prior + np.diag([0, 0, 1 / (COMMON[2] * shape) ** 2])
        whole = noise + jacobian @ np.linalg.solve(known, jacobian.T)
        mean = jacobian @ away
        off = residual - mean
        far = np.log([own, place, shape]) / LOG_SCALE_SIGMA + LOG_SCALE_SIGMA
        surprise = np.sum(
            np.where(
                far < 0,
                far**2,
                (TAIL_DEGREES_OF_FREEDOM + 1) * np.log(1 + far**2 / TAIL_DEGREES_OF_FREEDOM),
            )
        )
        wanted.append(
            -(np.linalg.slogdet(whole)[1] + off @ np.linalg.solve(whole, off) + surprise) / 2
        )
        information = jacobian.T @ np.linalg.solve(noise, jacobian) + known
        best = -np.linalg.solve(
            information, jacobian.T @ np.linalg.solve(noise, residual) + known @ away
        )
        k = len(wanted) - 1
        assert step[k] == pytest.approx(best, rel=1e-6, abs=1e-8)
        assert covariance[k] == pytest.approx(np.linalg.inv(information), rel=1e-6, abs=1e-9)
    assert likely[0] - likely[1] == pytest.approx(wanted[0] - wanted[1], rel=1e-6, abs=1e-6)


def test_own_parameters_are_shared_ones_that_one_observation_has() -> None:
    """Eliminated or written out among the shared ones, of which nothing is known: the same solution."""
    random = np.random.default_rng(4)
    groups, (prior, away) = problem(random, rows=9), prior_of(random)
    own = [random.normal(size=(9, 0 if k == 0 else 2)) for k in range(3)]
    short = LinearizedProblem.from_observations(
        [g._replace(own=o) for g, o in zip(groups, own, strict=True)], prior, away, COMMON
    )
    columns = np.split(np.eye(4), 2)
    wide = [np.zeros((9, 4)), own[1] @ columns[0], own[2] @ columns[1]]
    written_out = LinearizedProblem.from_observations(
        [
            g._replace(jacobian=np.column_stack([g.jacobian, o]))
            for g, o in zip(groups, wide, strict=True)
        ],
        np.pad(prior, (0, 4)),
        np.pad(away, (0, 4)),
        np.pad(COMMON, (0, 4)),
    )
    one, other = (marginalize_scales(linear) for linear in (short, written_out))
    assert one.scales == pytest.approx(other.scales)
    assert one.step == pytest.approx(other.step[:UNKNOWNS])
    assert one.own_steps[1:].ravel() == pytest.approx(other.step[UNKNOWNS:])
    assert one.covariance == pytest.approx(other.covariance[:UNKNOWNS, :UNKNOWNS])


def drawn(
    random: np.random.Generator, scales: Array, groups: int, rows: int
) -> tuple[MarginalSolution, Array]:
    """A least squares with noise of such scales, and the step that would have been right."""
    own, place, shape = scales
    true, parts = random.normal(size=UNKNOWNS) * np.where(COMMON > 0, COMMON * shape, 1), []
    for by_place, by_shape, own_jacobian, jacobian, _ in problem(random, groups, rows):
        noise = own * random.normal(size=rows) + place * by_place @ random.normal(
            size=by_place.shape[1]
        )
        noise += shape * by_shape @ random.normal(size=3)
        parts.append(
            WhitenedBlocks(by_place, by_shape, own_jacobian, jacobian, noise - jacobian @ true)
        )
    linear = LinearizedProblem.from_observations(
        parts, np.diag(COMMON == 0).astype(float), np.zeros(UNKNOWNS), COMMON
    )
    return marginalize_scales(linear, estimate_scales(linear)), true


@pytest.mark.parametrize("groups", [2, 8])
def test_stated_doubts_are_what_errors_are(groups: int) -> None:
    """With unknowns, scales and noise drawn from their priors: few residuals and many."""
    random, z2, within = np.random.default_rng(3), [], []
    for _ in range(150):
        found, true = drawn(
            random, np.exp(LOG_SCALE_SIGMA * (random.normal(size=3) - LOG_SCALE_SIGMA)), groups, 6
        )
        off = found.step - true
        z2.append(off @ np.linalg.solve(found.covariance, off) / UNKNOWNS)
        within += list(np.abs(off) < 1.96 * np.sqrt(np.diag(found.covariance)))
    assert np.mean(z2) == pytest.approx(1, abs=0.2)
    assert np.mean(within) == pytest.approx(0.95, abs=0.025)


@pytest.mark.parametrize("which", range(3))
def test_each_scale_goes_up_and_down(which: int) -> None:
    random = np.random.default_rng(which)
    for times in (0.35, 1.0, 4.0):
        scales = np.ones(3)
        scales[which] = times
        found = drawn(random, scales, 80, 12)[0]
        assert found.scales[which] == pytest.approx(times, rel=0.3)
        others = [k for k in range(3) if k != which]
        assert all(0.5 < found.scales[k] < 2 for k in others)


def test_one_is_among_the_trials_of_every_scale() -> None:
    for which in range(3):
        assert np.abs(scale_grid(which) - 1).min() < 1e-12
        assert (np.diff(scale_grid(which)) > 0).all()
