"""Leaving out what was moved: only where it is clear that something was, and clear what."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.markers import camera_over
from overruler.errors import CannotMeasure
from overruler.vision.camera.lens_prior import LensPrior
from overruler.vision.camera.observations import Observation
from overruler.vision.camera.outliers import fit_choosing_prior, fit_without_outliers
from overruler.vision.camera.state import Solution, State

STATE = State(camera_over(10), 0.0)


def things(markers: int, points: int = 0) -> list[Observation]:
    """Groups that can be told apart by their first coordinate, and hold nothing else."""
    nothing = (np.zeros((1, 0)),) * 3
    return [
        Observation(
            np.array([[float(i), 0, 0]]),
            np.zeros((1, 2)),
            np.ones((1, 2)),
            np.eye(1),
            *nothing,
            is_marker=i < markers,
        )
        for i in range(markers + points)
    ]


class Oracle:
    """A solver that knows how large the residuals are without each thing."""

    def __init__(
        self, whole: float, without: Mapping[int, float], strain: float = 0.0, count: int = 4
    ) -> None:
        self.whole, self.without, self.strain, self.count, self.calls = (
            whole,
            without,
            strain,
            count,
            0,
        )

    def __call__(self, groups: Sequence[Observation], rounds: int) -> Solution:
        self.calls += 1
        names = [int(group.xyz_mm[0, 0]) for group in groups]
        missing = sorted(set(range(self.count)) - set(names))
        sigma = min((self.without.get(name, self.whole) for name in missing), default=self.whole)
        if sigma < 0:
            raise CannotMeasure("no pose")
        strain = self.strain if not missing else 0.0
        misfits = tuple(
            10.0 if self.without.get(name, self.whole) < self.whole else 1.0 for name in names
        )
        return Solution(STATE, np.eye(15), 0.0, 0.0, sigma, misfits, strain)


def test_where_all_agree_nothing_is_tried() -> None:
    oracle = Oracle(1.1, {0: 0.5})
    assert fit_without_outliers(things(4), oracle)[1] == [0, 1, 2, 3]
    assert oracle.calls == 1


def test_the_one_without_which_all_is_well_is_left_out() -> None:
    solution, kept = fit_without_outliers(things(4), Oracle(3.0, {2: 1.0}))
    assert kept == [0, 1, 3]
    assert solution.unit_weight_sigma == 1.0


def test_a_strained_lens_is_a_reason_to_look_too() -> None:
    assert fit_without_outliers(things(4), Oracle(1.2, {2: 0.8}, strain=4.0))[1] == [0, 1, 3]


WHOLE, CUT = (
    LensPrior(np.zeros(9), np.eye(9)),
    LensPrior(np.zeros(9), np.eye(9), assumes_cropped=True),
)


@pytest.mark.parametrize(
    ("strain", "whole", "cut", "taken"),
    [(0.9, 0.0, 9.0, WHOLE), (1.1, 0.0, 9.0, CUT), (9.0, 0.0, -1.0, WHOLE)],
)
def test_a_picture_is_taken_as_cut_where_its_lens_is_strained_and_that_explains_it(
    strain: float, whole: float, cut: float, taken: LensPrior
) -> None:
    def solve(groups: Sequence[Observation], prior: LensPrior, rounds: int) -> Solution:
        return replace(
            Oracle(1.0, {}, 0.0 if prior.assumes_cropped else strain)(groups, rounds),
            log_evidence=cut if prior.assumes_cropped else whole,
        )

    (solution, kept), prior = fit_choosing_prior(things(4), solve, WHOLE, CUT)
    assert prior is taken
    assert solution.log_evidence == (cut if taken is CUT else whole)
    assert kept == [0, 1, 2, 3]


def test_a_picture_is_taken_as_cut_where_all_markers_agree_then() -> None:
    def solve(groups: Sequence[Observation], prior: LensPrior, rounds: int) -> Solution:
        return Oracle(
            1.0 if prior.assumes_cropped else 3.0, {2: 1.0}, 0.0 if prior.assumes_cropped else 4.0
        )(groups, rounds)

    assert (
        fit_choosing_prior(things(4), solve, WHOLE, CUT)[1] is WHOLE
    )  # without the third marker the lens is as expected

    def strained(groups: Sequence[Observation], prior: LensPrior, rounds: int) -> Solution:
        return replace(
            solve(groups, prior, rounds), lens_pull_sigmas=0.5 if prior.assumes_cropped else 4.0
        )

    (_, kept), prior = fit_choosing_prior(things(4), strained, WHOLE, CUT)
    assert (prior, kept) == (CUT, [0, 1, 2, 3])


@pytest.mark.parametrize("without", [{1: 2.7}, {1: 1.0, 2: 1.05}, {}])
def test_where_no_one_is_clearly_to_blame_all_are_kept(without: Mapping[int, float]) -> None:
    assert fit_without_outliers(things(4), Oracle(3.0, without))[1] == [0, 1, 2, 3]


def test_one_after_the_other_may_go() -> None:
    class Two(Oracle):
        def __call__(self, groups: Sequence[Observation], rounds: int) -> Solution:
            names = {int(group.xyz_mm[0, 0]) for group in groups}
            sigma = 1.0 + 4.0 * (1 in names) + 10.0 * (6 in names)
            return Solution(
                STATE,
                np.eye(15),
                0.0,
                0.0,
                sigma,
                tuple(float(n in (1, 6)) for n in sorted(names)),
                0.0,
            )

    assert fit_without_outliers(things(8), Two(0, {}))[1] == [0, 2, 3, 4, 5, 7]


@pytest.mark.parametrize(("markers", "points"), [(3, 0), (2, 0), (0, 5), (1, 3)])
def test_so_few_fit_anything_that_none_is_blamed(markers: int, points: int) -> None:
    count = markers + points
    oracle = Oracle(9.0, {0: 0.1}, count=count)
    assert fit_without_outliers(things(markers, points), oracle)[1] == list(range(count))
    assert oracle.calls == 1


def test_what_has_no_pose_without_a_thing_does_not_stop_the_search() -> None:
    assert fit_without_outliers(things(4), Oracle(3.0, {0: -1.0, 2: 1.0}))[1] == [0, 1, 3]
