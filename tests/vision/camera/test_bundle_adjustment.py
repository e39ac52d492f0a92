"""The least squares themselves: slopes, scaling of doubts, and which doubt it is that grows."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.markers import (
    EIGHT,
    MARKER_MM,
    camera_over,
    known_board,
    marker_mm,
    seen_markers,
)
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.camera import bundle_adjustment
from overruler.vision.camera.bundle_adjustment import BundleAdjustment
from overruler.vision.camera.lens_prior import LensPrior, lens_prior
from overruler.vision.camera.observations import (
    Observation,
    free_marker_observation,
    known_marker_observation,
    point_observations,
)
from overruler.vision.camera.state import State
from overruler.vision.camera.variance_components import UNIT_SCALES, NoiseScales

CAMERA = camera_over(18)
PLACES = known_board(EIGHT).corners_mm or {}
PRIOR = lens_prior(Frame(np.zeros((1200, 1600, 3), np.uint8), "blank"), None)
HEADINGS = np.array([37.0 * n for n in EIGHT])


def known(seed: int = 0, spoil: float = 1.0) -> list[Observation]:
    found = seen_markers(CAMERA, PLACES, np.random.default_rng(seed), spoil)
    return [known_marker_observation(marker, PLACES[marker.id]) for marker in found]


def free_state() -> tuple[list[Observation], State]:
    corners = {n: marker_mm(x, y, heading_deg=37.0 * n) for n, (x, y) in EIGHT.items()}
    found = seen_markers(CAMERA, corners, np.random.default_rng(1))
    places = np.array([(*corners[n][0, :2], np.radians(37.0 * n)) for n in EIGHT])
    return [free_marker_observation(marker, MARKER_MM) for marker in found], State(
        CAMERA, 0.05, places
    )


def cost_and_gradient(bundle: BundleAdjustment, state: State) -> tuple[float, Array]:
    cost, system = bundle._normal_equations(state)
    return cost, system.gradient


@pytest.mark.parametrize("layout", ["known", "free", "points"])
def test_the_gradient_is_the_slope_of_the_cost(layout: str) -> None:
    if layout == "free":
        groups, state = free_state()
    else:
        state = State(CAMERA, 0.05)
        clicked = [(u, v, float(x), float(y)) for (x, y), (u, v) in zip(
            EIGHT.values(), CAMERA.project([(x, y, 0.0) for x, y in EIGHT.values()]) + 2, strict=True)]  # fmt: skip
        groups = known() if layout == "known" else point_observations(clicked)
    bundle = BundleAdjustment(groups, PRIOR)
    gradient = cost_and_gradient(bundle, state)[1]
    sizes = np.array(
        [1e-3] * 4 + [1e-6] * 5 + [1e-7] * 3 + [1e-4] * 3 + [1e-4] * 4 + [1e-4, 1e-4, 1e-6] * 7
    )
    for i in range(state.unknown_count):
        step = np.zeros(state.unknown_count)
        step[i] = sizes[i]
        rise = (
            cost_and_gradient(bundle, state.moved(step))[0]
            - cost_and_gradient(bundle, state.moved(-step))[0]
        )
        assert 2 * gradient[i] == pytest.approx(
            rise / (2 * sizes[i]), rel=1e-3, abs=1e-3 * np.abs(gradient[i]) + 0.5
        )


def test_the_cost_alone_is_that_of_the_equations_and_infinite_where_points_lie_behind_the_camera() -> (
    None
):
    bundle, state = BundleAdjustment(known(), PRIOR), State(CAMERA, 0.05)
    assert bundle._cost(state) == pytest.approx(cost_and_gradient(bundle, state)[0])
    step = np.zeros(state.unknown_count)
    step[14] = -3000.0
    behind = state.moved(step)
    assert bundle._cost(behind) == cost_and_gradient(bundle, behind)[0] == np.inf


def test_the_prior_knows_of_the_lens_what_its_covariance_says() -> None:
    bundle = BundleAdjustment(known(), PRIOR)
    information = bundle.prior_information(State(CAMERA, 0.0))[:9, :9]
    assert information @ PRIOR.covariance == pytest.approx(np.eye(9), abs=1e-6)


def sure() -> LensPrior:
    """The lens known, so that the pose is all that the data decide."""
    lens = np.concatenate([CAMERA.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], CAMERA.distortion])
    return LensPrior(lens, PRIOR.covariance * 1e-11)


def test_noise_three_times_as_large_makes_the_doubt_three_times_as_large() -> None:
    groups = known(3)
    exact = [
        replace(
            g,
            xy_px=CAMERA.project(g.xyz_mm),
            place_factors_px=g.place_factors_px * 0,
            shape_factors_px=g.shape_factors_px * 0,
        )
        for g in groups
    ]
    random = np.random.default_rng(2)
    roots = [np.linalg.cholesky(group.edge_covariance_px2) for group in exact]
    noise = [
        (root @ random.normal(size=len(root)))[:, None] * g.normal_px
        for root, g in zip(roots, exact, strict=True)
    ]
    doubts = []
    for times in (1.0, 3.0):
        spoiled = [replace(g, xy_px=g.xy_px + times * n) for g, n in zip(exact, noise, strict=True)]
        solution = BundleAdjustment(spoiled, sure()).solve(State(CAMERA, 0.0))
        doubts.append(np.sqrt(np.diag(solution.covariance)))
        assert solution.unit_weight_sigma == pytest.approx(times, rel=0.1)
    assert doubts[1][9:] / doubts[0][9:] == pytest.approx(
        np.full(6, 3.0), rel=0.02 + abs(solution.unit_weight_sigma / 3 - 1)
    )


def test_on_a_table_as_told_errors_are_what_is_said_of_one() -> None:
    """Places are off by what they are on such a table, the solution weighing them as if by more: its errors are between
    those of its own covariance and none at all."""
    random, groups, errors = (
        np.random.default_rng(3),
        [replace(g, place_factors_px=4 * g.place_factors_px) for g in known(3)],
        [],
    )
    exact = [
        replace(
            g,
            xy_px=CAMERA.project(g.xyz_mm),
            shape_factors_px=0 * g.shape_factors_px,
            specified_place_factors_px=2 * g.specified_place_factors_px,
        )
        for g in groups
    ]
    bundle, start = BundleAdjustment(exact, sure()), State(CAMERA, 0.0)
    roots = [np.linalg.cholesky(group.covariance_as_specified(UNIT_SCALES)) for group in exact]
    for _ in range(200):
        spoiled = [
            replace(
                g, xy_px=g.xy_px + (root @ random.normal(size=len(root)))[:, None] * g.normal_px
            )
            for g, root in zip(exact, roots, strict=True)
        ]
        errors.append(
            BundleAdjustment(spoiled, sure()).solve(start).state.camera.center_mm - CAMERA.center_mm
        )
    by_pose = np.zeros((3, 17))
    for k in range(9, 15):
        step = np.eye(15)[k] * 1e-4
        by_pose[:, k] = (CAMERA.moved(step).center_mm - CAMERA.moved(-step).center_mm) / 2e-4
    told, as_they_are = (
        by_pose @ joint @ by_pose.T
        for joint in (bundle.covariance_as_specified(start), bundle.covariance(start))
    )
    counted = np.cov(np.array(errors).T)
    assert np.diag(counted) == pytest.approx(np.diag(told), rel=0.25)
    assert np.all(np.diag(counted) < 0.75 * np.diag(as_they_are))


@pytest.mark.parametrize("layout", ["known", "free"])
def test_noise_as_it_is_weighed_has_the_solution_s_own_covariance(
    layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle_adjustment, "SPEC_SHARE", 1.0)
    groups, state = free_state() if layout == "free" else (known(), State(CAMERA, 0.05))
    same = BundleAdjustment(
        [replace(g, specified_place_factors_px=g.place_factors_px) for g in groups], PRIOR
    )
    size = np.sqrt(np.diag(same.covariance(state)))
    assert same.covariance_as_specified(state) / np.outer(size, size) == pytest.approx(
        same.covariance(state) / np.outer(size, size), abs=1e-6
    )


@pytest.mark.parametrize("which", ["place", "shape", "neither"])
def test_the_residuals_say_which_doubt_is_larger(which: str) -> None:
    """Eight markers, either laid six times worse or bent six times worse than expected."""
    random, groups = np.random.default_rng(5), known(4)
    times = 6.0 if which != "neither" else 0.0
    spoiled = []
    for g in groups:
        columns = g.place_factors_px if which == "place" else g.shape_factors_px
        extra = times * columns @ random.normal(size=columns.shape[1])
        spoiled.append(replace(g, xy_px=g.xy_px + extra[:, None] * g.normal_px))
    state = State(CAMERA, 0.0)
    _, place, shape = (
        BundleAdjustment(spoiled, PRIOR)
        .solve_averaging_scales(BundleAdjustment(spoiled, PRIOR).solve(state).state)[0]
        .scales
    )
    assert (2.9 < place < 12) == (which == "place")
    assert (2.9 < shape < 12) == (which == "shape")


def test_what_all_markers_share_of_their_shape_is_small_where_they_differ_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By their size alone the camera's height is known: as surely as their common swell, which goes by their shapes."""
    corners = {n: marker_mm(x, y, heading_deg=37.0 * n) for n, (x, y) in EIGHT.items()}
    places = np.array([(*corners[n][0, :2], np.radians(37.0 * n)) for n in EIGHT])

    def variances(shape: float, swell_px: float) -> tuple[float, float]:
        """Of the height, mm²: with the noise as found, and with that noise told."""
        monkeypatch.setattr(bundle_adjustment, "MARKER_GROWTH_SIGMA_PX", swell_px)
        found = seen_markers(CAMERA, corners, np.random.default_rng(1), shape, shape)
        groups, state = (
            [free_marker_observation(marker, MARKER_MM) for marker in found],
            State(CAMERA, 0.0, places),
        )
        averaged = (
            BundleAdjustment(groups, sure())
            .solve_averaging_scales(BundleAdjustment(groups, sure()).solve(state).state)[1]
            .camera_bow_covariance
        )
        told = BundleAdjustment(groups, sure(), NoiseScales(shape, 1.0, shape)).covariance(state)
        return float(averaged[14, 14]), float(told[14, 14])

    shares = {
        shape: [
            whole - rest
            for whole, rest in zip(variances(shape, 0.01), variances(shape, 1e-5), strict=True)
        ]
        for shape in (0.25, 1.0)
    }
    assert shares[0.25][0] < 0.25 * shares[1.0][0]
    assert shares[0.25][1] == pytest.approx(shares[1.0][1] / 16, rel=0.1)


def test_leaving_one_out_is_solving_without_it() -> None:
    groups = known(6, spoil=3.0)
    bundle = BundleAdjustment(groups, PRIOR)
    state = bundle.solve(State(CAMERA, 0.0)).state
    again = BundleAdjustment(groups[1:], PRIOR).solve(state).state
    spots = np.array([(x, y, 0.0) for x in (100, 450, 800) for y in (100, 450, 800)])
    all_px, without_px, again_px = (
        s.camera.project(spots) for s in (state, next(bundle.states_without(state)), again)
    )
    assert np.abs(without_px - again_px).max() < 0.1 * np.abs(all_px - again_px).max()


def test_memory_does_not_grow_with_the_square_of_the_markers() -> None:
    """Each marker's place is its own: the tables hold the shared parameters and three numbers more."""
    groups, state = free_state()
    bundle = BundleAdjustment(groups, PRIOR)
    factors = groups[0].place_factors_px.shape[1] + groups[0].shape_factors_px.shape[1]
    assert bundle._linearize(state).products.shape[1] == factors + 3 + 19 + 1
    assert bundle._normal_equations(state).system.cross.shape == (len(groups) - 1, 19, 3)


def test_the_state_with_the_least_cost_is_found_from_far_away() -> None:
    groups = known(7)
    bundle = BundleAdjustment(groups, PRIOR)
    near = bundle.solve(State(CAMERA, 0.0))
    far = bundle.solve(
        State(PRIOR.camera_at(CAMERA.T_camera_board.moved([0.1, -0.1, 0.2, 40, -30, 100])), 0.3)
    )
    assert far.log_evidence == pytest.approx(near.log_evidence, rel=1e-4)
    assert far.state.camera.matrix == pytest.approx(near.state.camera.matrix, rel=1e-3)


@pytest.mark.parametrize(("sigma_px", "cost"), [(1000.0, np.log(10)), (1e-4, 0.0)])
def test_a_prior_ten_times_as_wide_costs_only_what_the_data_told(
    sigma_px: float, cost: float
) -> None:
    """Occam's factor: of a focal length that the markers tell better by far, and of one that was known beforehand."""

    def evidence(sigma_px: float) -> float:
        sigmas = np.array([sigma_px, sigma_px, 1e-4, 1e-4, *np.full(5, 1e-8)])
        return (
            BundleAdjustment(known(8), LensPrior(sure().mean, np.diag(sigmas**2)))
            .solve(State(CAMERA, 0.0))
            .log_evidence
        )

    assert evidence(sigma_px) - evidence(10 * sigma_px) == pytest.approx(2 * cost, abs=0.05)


def test_a_point_is_as_unsure_as_its_click_and_its_place() -> None:
    """At 0.1 mm a pixel the half millimetre or so of its place rules; at 2 mm a pixel the click does."""
    square = [(0.0, 0.0), (900.0, 0.0), (900.0, 900.0), (0.0, 900.0)]
    for mm_per_px, sigma_px in ((0.1, np.hypot(1, 6)), (2.0, np.hypot(1, 0.3))):
        groups = point_observations(
            [(100 + x / mm_per_px, 2000 - y / mm_per_px, x, y) for x, y in square]
        )
        assert np.sqrt(groups[0].edge_covariance_px2) == pytest.approx(
            np.eye(2) * sigma_px, rel=0.02
        )
        assert not any(group.is_marker for group in groups)
