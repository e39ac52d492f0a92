"""Which of the things seen agree: a marker that was moved, or that is none, is left out."""

from collections.abc import Callable, Sequence

from overruler.errors import CannotMeasure
from overruler.vision.camera.bundle_adjustment import LensPrior, Solution
from overruler.vision.camera.observations import Observation

OUTLIER_SEARCH_SIGMA, OUTLIER_SEARCH_LENS_PULL = 1.25, 1.5
"""Residuals this many times the expected ones, or a lens this many σ from what was known, ask for a moved marker."""
MAX_RATIO_TO_ALL, MAX_RATIO_TO_RUNNER_UP = 0.75, 0.88
"""It is the one without which residuals are this share of what they were, and this share of those without any other."""
MAX_OUTLIER_CANDIDATES = 6
"""How many are tried: among more, the one that was moved fits among the worst."""
MIN_REMAINING_POINTS = 5
"""What must be left, a marker counting two and a point one: fewer fit anything."""

CROPPED_LENS_PULL = 1.0
"""A lens this many σ from what was known may be that of a picture that somebody cut: of 60 whole ones, no lens file
given, the worst is 0.9."""

Solver = Callable[[Sequence[Observation]], Solution]
InlierFit = tuple[Solution, list[int]]
"""The solution by the groups that agree, and which those are."""


def fit_choosing_prior(
    groups: Sequence[Observation],
    solve: Callable[[Sequence[Observation], LensPrior], Solution],
    prior: LensPrior,
    cut: LensPrior,
) -> tuple[InlierFit, LensPrior]:
    """What agrees under the `prior`; or under that of a `cut` picture, where the photo itself says that it was."""
    found = fit_without_outliers(groups, lambda some: solve(some, prior))
    if found[0].lens_pull_sigmas <= CROPPED_LENS_PULL:
        return found, prior
    other = fit_without_outliers(groups, lambda some: solve(some, cut))
    better = (len(other[1]), other[0].log_evidence) > (len(found[1]), found[0].log_evidence)
    return (other, cut) if better else (found, prior)


def fit_without_outliers(groups: Sequence[Observation], solve: Solver) -> InlierFit:
    """The solution by the groups that agree, and which those are."""
    kept = list(range(len(groups)))
    solution = solve(groups)
    while (
        solution.unit_weight_sigma > OUTLIER_SEARCH_SIGMA
        or solution.lens_pull_sigmas > OUTLIER_SEARCH_LENS_PULL
    ):
        better = _remove_one_outlier(groups, kept, solution, solve)
        if better is None:
            break
        solution, kept = better
    return solution, kept


def _remove_one_outlier(
    groups: Sequence[Observation], kept: list[int], solution: Solution, solve: Solver
) -> InlierFit | None:
    """The solution without the one group that spoils it; None where it is none, or not clear which."""
    worst = sorted(range(len(kept)), key=lambda k: -solution.mean_square_residuals[k])[
        :MAX_OUTLIER_CANDIDATES
    ]
    trials = [[k for k in kept if k != kept[out]] for out in worst]
    enough = [
        trial
        for trial in trials
        if sum(2 if groups[k].is_marker else 1 for k in trial) >= MIN_REMAINING_POINTS
    ]
    solved = [(_try_solve(solve, [groups[k] for k in trial]), trial) for trial in enough]
    ranked = sorted(
        ((s, trial) for s, trial in solved if s is not None),
        key=lambda pair: pair[0].unit_weight_sigma,
    )
    if len(ranked) < 2 or ranked[0][0].unit_weight_sigma > min(
        MAX_RATIO_TO_ALL * solution.unit_weight_sigma,
        MAX_RATIO_TO_RUNNER_UP * ranked[1][0].unit_weight_sigma,
    ):
        return None
    return ranked[0]


def _try_solve(solve: Solver, groups: Sequence[Observation]) -> Solution | None:
    try:
        return solve(groups)
    except CannotMeasure:
        return None
