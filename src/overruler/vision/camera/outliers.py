"""Outlier rejection: a marker that was moved, or is none, is left out of the bundle adjustment."""

from collections.abc import Callable, Iterable, Sequence
from heapq import nlargest

import numpy as np

from overruler.errors import CannotMeasure
from overruler.vision.camera.bundle_adjustment import ROUNDS
from overruler.vision.camera.lens_prior import LensPrior
from overruler.vision.camera.observations import Observation, choose_spread
from overruler.vision.camera.state import Solution

OUTLIER_SEARCH_SIGMA = 1.25
"""Standard deviation of unit weight above which an outlier is searched for."""
OUTLIER_SEARCH_LENS_PULL = 1.5
"""Deviation of the lens from its prior, in σ, above which an outlier is searched for."""
MAX_RATIO_TO_ALL = 0.75
"""Without the outlier the residuals are at most this share of those with it."""
MAX_RATIO_TO_RUNNER_UP = 0.88
"""Without the outlier the residuals are at most this share of those without any other."""
MAX_OUTLIER_CANDIDATES = 6
"""Number of observations tried, the worst first: a moved marker is among the worst residuals."""
MAX_OUTLIER_TRIALS = 3
"""How many of them are solved to the end: those with the best sketches. Of 96 searches on badly laid,
bent and moved markers all ended as with six."""
MIN_REMAINING_POINTS = 5
"""What must remain, two for a marker and one for a clicked point: fewer fit anything."""
CROPPED_LENS_PULL = 1.0
"""Deviation of the lens from its prior, in σ, above which the picture may be cropped. Of 60 whole
pictures without a lens file, the worst has 0.9."""

MIN_STRETCH = 0.01
"""Smallest stretch of a picture that is told from a lens's own, as a share."""
MIN_EVIDENCE_GAIN = 10.0
"""What the log evidence of a stretched picture must be ahead."""
SKETCH_ROUNDS = 12
"""Rounds of a sketch: a solution that is good enough to be compared with others."""
CENTRED_NATS = 4.0
"""What the log evidence of a zoomed whole picture must be ahead of a cropped one's. Many a cropped picture looks
like a whole one by another focal length, at a false tilt."""
MAX_STRETCHES = 3
"""How many stretches are solved to the end: those with the best sketches."""
MAX_TRIAL_GROUPS = 24
"""Most observations by which stretches and zooms are tried; what fits best is then fitted to all."""
MIN_MARKERS_FOR_STRETCH = 3
"""Fewer markers fit a stretched picture and a tilted camera alike."""

Solver = Callable[[Sequence[Observation], int], Solution]
"""Solves for the state from some observations, in so many rounds."""
PriorSolver = Callable[[Sequence[Observation], LensPrior, int], Solution]
"""Solves for the state from some observations under a prior of the lens, in so many rounds."""
InlierFit = tuple[Solution, list[int]]
"""The solution by the inliers, and their indices."""


def fit_choosing_prior(
    groups: Sequence[Observation],
    solve: PriorSolver,
    prior: LensPrior,
    cropped: LensPrior,
) -> tuple[InlierFit, LensPrior]:
    """Fit the inliers under `prior`, or `cropped` if the photo shows it; also return the prior used."""
    fit = fit_without_outliers(groups, with_prior(solve, prior))
    if fit[0].lens_pull_sigmas <= CROPPED_LENS_PULL:
        return fit, prior
    other = fit_without_outliers(groups, with_prior(solve, cropped))
    return (other, cropped) if _merit(other) > _merit(fit) else (fit, prior)


def fit_zoomed(
    groups: Sequence[Observation],
    solve: PriorSolver,
    fit: InlierFit,
    zoomed: Sequence[LensPrior],
    is_odd: bool = False,
) -> tuple[InlierFit, LensPrior] | None:
    """Fit the inliers by another focal length, in a whole picture or a cropped one; None unless `fit` is worse.

    It is tried where the lens of `fit` is far from its prior, or the picture `is_odd` otherwise. Markers
    that were laid badly fit best by a lens that none is like, so the new lens must be near its prior.
    """
    if fit[0].lens_pull_sigmas <= CROPPED_LENS_PULL and not is_odd:
        return None
    some = [groups[k] for k in choose_spread(groups, MAX_TRIAL_GROUPS)]
    best, least = None, fit[0].log_evidence
    for is_cropped in (True, False):
        tried = [one for one in zoomed if one.assumes_cropped is is_cropped]
        sketches = _solve_each(some, solve, tried, SKETCH_ROUNDS)
        if not sketches:
            continue
        _, prior = max(sketches, key=lambda sketch: sketch[0].log_evidence)
        other = fit_without_outliers(groups, with_prior(solve, prior))
        is_near = other[0].lens_pull_sigmas <= CROPPED_LENS_PULL
        fits_well = is_near and other[0].unit_weight_sigma <= OUTLIER_SEARCH_SIGMA
        is_likelier = other[0].log_evidence > least + (0.0 if is_cropped else CENTRED_NATS)
        if fits_well and len(other[1]) >= len(fit[1]) and is_likelier:
            best, least = (other, prior), other[0].log_evidence
    return best


def fit_stretched(
    groups: Sequence[Observation],
    solve: PriorSolver,
    fit: InlierFit,
    stretched: Sequence[LensPrior],
    is_odd: bool,
) -> tuple[InlierFit, LensPrior] | None:
    """Fit the inliers as in a picture resized along one side only; None unless `fit` is far worse.

    It is tried where the lens of `fit` is far from its prior, or the picture `is_odd` otherwise.
    """
    if fit[0].lens_pull_sigmas <= CROPPED_LENS_PULL and not is_odd:
        return None
    if sum(group.is_marker for group in groups) < MIN_MARKERS_FOR_STRETCH:
        return None
    some = [groups[k] for k in choose_spread(groups, MAX_TRIAL_GROUPS)]
    sketches = _solve_each(some, solve, stretched, SKETCH_ROUNDS)
    leading = [prior for _, prior in nlargest(MAX_STRETCHES, sketches, _evidence_of_stretch)]
    solved = _solve_each(some, solve, leading, ROUNDS)
    if not solved:
        return None
    solution, prior = max(solved, key=_evidence_of_stretch)
    fx, fy = solution.state.camera.matrix[[0, 1], [0, 1]]
    if abs(np.log(fy / fx)) < MIN_STRETCH:
        return None
    best = fit_without_outliers(groups, with_prior(solve, prior))
    is_likelier = best[0].log_evidence > fit[0].log_evidence + MIN_EVIDENCE_GAIN
    fits_well = best[0].unit_weight_sigma <= OUTLIER_SEARCH_SIGMA
    is_better = fits_well and len(best[1]) >= len(fit[1]) and is_likelier
    return (best, prior) if is_better else None


def _solve_each(
    groups: Sequence[Observation],
    solve: PriorSolver,
    priors: Iterable[LensPrior],
    rounds: int,
) -> list[tuple[Solution, LensPrior]]:
    """The solutions under those of the priors that have one."""
    fits = [(_try_solve(with_prior(solve, prior), groups, rounds), prior) for prior in priors]
    return [(solution, prior) for solution, prior in fits if solution is not None]


def _evidence_of_stretch(fit: tuple[Solution, LensPrior]) -> float:
    """The log evidence, less where the photo was not simply resized: that is rarer."""
    solution, prior = fit
    is_resized = prior.pixel_shape_sigma < MIN_STRETCH
    return solution.log_evidence - (0.0 if is_resized else MIN_EVIDENCE_GAIN)


def with_prior(solve: PriorSolver, prior: LensPrior) -> Solver:
    """The solver under this prior."""
    return lambda some, rounds: solve(some, prior, rounds)


def _merit(fit: InlierFit) -> tuple[int, float]:
    solution, inliers = fit
    return len(inliers), solution.log_evidence


def fit_without_outliers(groups: Sequence[Observation], solve: Solver) -> InlierFit:
    """Fit the observations, and leave out outliers one by one while that helps."""
    inliers = list(range(len(groups)))
    solution = solve(groups, ROUNDS)
    while _is_suspicious(solution):
        better = _remove_one_outlier(groups, inliers, solution, solve)
        if better is None:
            break
        solution, inliers = better
    return solution, inliers


def _is_suspicious(solution: Solution) -> bool:
    if solution.unit_weight_sigma > OUTLIER_SEARCH_SIGMA:
        return True
    return solution.lens_pull_sigmas > OUTLIER_SEARCH_LENS_PULL


def _remove_one_outlier(
    groups: Sequence[Observation], inliers: list[int], solution: Solution, solve: Solver
) -> InlierFit | None:
    """The fit without the one outlier; None if there is none, or if several could be it."""
    by_residual = sorted(range(len(inliers)), key=lambda k: -solution.mean_square_residuals[k])
    remaining = [
        [k for k in inliers if k != inliers[out]] for out in by_residual[:MAX_OUTLIER_CANDIDATES]
    ]
    possible = [
        others
        for others in remaining
        if sum(_weight(groups[k]) for k in others) >= MIN_REMAINING_POINTS
    ]
    leading = _fit_each(groups, solve, possible, SKETCH_ROUNDS)[:MAX_OUTLIER_TRIALS]
    fits = _fit_each(groups, solve, [others for _, others in leading], ROUNDS)
    if len(fits) < 2:
        return None
    best, runner_up = (fit[0].unit_weight_sigma for fit in fits[:2])
    limit = min(MAX_RATIO_TO_ALL * solution.unit_weight_sigma, MAX_RATIO_TO_RUNNER_UP * runner_up)
    return None if best > limit else fits[0]


def _fit_each(
    groups: Sequence[Observation], solve: Solver, subsets: Iterable[list[int]], rounds: int
) -> list[InlierFit]:
    """The fits of those subsets that have one, the best first."""
    tried = [(_try_solve(solve, [groups[k] for k in some], rounds), some) for some in subsets]
    fits = [(solution, some) for solution, some in tried if solution is not None]
    return sorted(fits, key=lambda fit: fit[0].unit_weight_sigma)


def _weight(group: Observation) -> int:
    return 2 if group.is_marker else 1


def _try_solve(solve: Solver, groups: Sequence[Observation], rounds: int) -> Solution | None:
    try:
        return solve(groups, rounds)
    except CannotMeasure:
        return None
