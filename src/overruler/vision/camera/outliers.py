"""Which of the things seen agree: a marker that was moved, or that is none, is left out."""

from collections.abc import Callable, Sequence

from overruler.errors import CannotMeasure
from overruler.vision.camera.bundle_adjustment import Prior, Solution
from overruler.vision.camera.observations import Group

SPOILED, STRAINED = 1.25, 1.5
"""Residuals this many times the expected ones, or a lens this many σ from what was known, ask for a moved marker."""
BETTER, ALONE = 0.75, 0.88
"""It is the one without which residuals are this share of what they were, and this share of those without any other."""
SUSPECTS = 6
"""How many are tried: among more, the one that was moved fits among the worst."""
FEWEST = 5
"""What must be left, a marker counting two and a point one: fewer fit anything."""

CUT_STRAIN = 1.0
"""A lens this many σ from what was known may be that of a picture that somebody cut: of 60 whole ones, no lens file
given, the worst is 0.9."""

Solve = Callable[[Sequence[Group]], Solution]
Agreed = tuple[Solution, list[int]]
"""The solution by the groups that agree, and which those are."""


def agreed(
    groups: Sequence[Group], solve: Callable[[Sequence[Group], Prior], Solution], prior: Prior, cut: Prior
) -> tuple[Agreed, Prior]:
    """What agrees under the `prior`; or under that of a `cut` picture, where the photo itself says that it was."""
    found = consistent(groups, lambda some: solve(some, prior))
    if found[0].strain <= CUT_STRAIN:
        return found, prior
    other = consistent(groups, lambda some: solve(some, cut))
    better = (len(other[1]), other[0].evidence) > (len(found[1]), found[0].evidence)
    return (other, cut) if better else (found, prior)


def consistent(groups: Sequence[Group], solve: Solve) -> Agreed:
    """The solution by the groups that agree, and which those are."""
    kept = list(range(len(groups)))
    solution = solve(groups)
    while solution.sigma > SPOILED or solution.strain > STRAINED:
        better = _without_one(groups, kept, solution, solve)
        if better is None:
            break
        solution, kept = better
    return solution, kept


def _without_one(groups: Sequence[Group], kept: list[int], solution: Solution, solve: Solve) -> Agreed | None:
    """The solution without the one group that spoils it; None where it is none, or not clear which."""
    worst = sorted(range(len(kept)), key=lambda k: -solution.misfits[k])[:SUSPECTS]
    trials = [[k for k in kept if k != kept[out]] for out in worst]
    enough = [trial for trial in trials if sum(2 if groups[k].shifts else 1 for k in trial) >= FEWEST]
    solved = [(_or_none(solve, [groups[k] for k in trial]), trial) for trial in enough]
    ranked = sorted(((s, trial) for s, trial in solved if s is not None), key=lambda pair: pair[0].sigma)
    if len(ranked) < 2 or ranked[0][0].sigma > min(BETTER * solution.sigma, ALONE * ranked[1][0].sigma):
        return None
    return ranked[0]


def _or_none(solve: Solve, groups: Sequence[Group]) -> Solution | None:
    try:
        return solve(groups)
    except CannotMeasure:
        return None
