"""The lens that photos of a sheet give lies within its stated doubt, and photos that spoil it are named."""

from collections.abc import Sequence

import numpy as np
import pytest

from overruler.errors import CannotMeasure
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.calibrators.charuco import ChartCorners
from overruler.vision.calibrators.initial_focal import estimate_focal_px
from overruler.vision.calibrators.lens_error_map import (
    _camera_over_table,
    map_lens_error,
    suggest_photos,
)
from overruler.vision.calibrators.lens_fit import LensFit, fit_lens
from overruler.vision.calibrators.sheet_model import LensAndPaper, PoseAndZoom, SheetAdjustment
from tests.vision.charts import DISTORTION, MATRIX, POSES, SIZE, SMALL, over

TRUTH = np.concatenate([MATRIX[[0, 1, 0, 1], [0, 1, 2, 2]], DISTORTION])
NOISE_PX = 0.03


def sightings(
    seed: int,
    poses: Sequence[Camera] = POSES,
    noise_px: float = NOISE_PX,
    bow_mm: float = 0.0,
    stretch: float = 0.0,
) -> dict[str, ChartCorners]:
    """The corners as cameras would see them on a sheet that is bent across and printed too long, with noise."""
    random = np.random.default_rng(seed)
    middle, reach = SMALL.corners_mm.mean(0), np.ptp(SMALL.corners_mm, axis=0).max() / 2
    found = {}
    for k, camera in enumerate(poses):
        real = SMALL.corners_mm.copy()
        real[:, 1] += stretch * (real - middle)[:, 1]
        real[:, 2] += bow_mm * (1 - ((real - middle)[:, 0] / reach) ** 2)
        seen = camera.project(real)
        seen += random.normal(0, noise_px, seen.shape)
        inside = ((seen > 4) & (seen < np.array(SIZE) - 5)).all(1)
        doubts = np.tile(np.eye(2) * 0.05**2, (int(inside.sum()), 1, 1))
        found[f"photo {k}"] = ChartCorners(SMALL.corners_mm[inside], seen[inside], doubts, 1.0)
    return found


def numbers(fit: LensFit) -> Array:
    return np.concatenate([fit.lens.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], fit.lens.distortion])


@pytest.mark.parametrize(("bow_mm", "stretch"), [(0.0, 0.0), (0.5, 2e-3)])
def test_the_lens_lies_within_its_doubt(bow_mm: float, stretch: float) -> None:
    squares = []
    for seed in range(100, 120):
        fit = fit_lens(SIZE, sightings(seed, bow_mm=bow_mm, stretch=stretch))
        away = numbers(fit) - TRUTH
        squares.append(away @ np.linalg.solve(fit.lens.covariance, away) / 9)
    assert 0.6 < np.mean(squares) < 1.25  # 180 squares: a standard deviation of 0.1 about 0.9


def test_the_doubt_follows_the_residuals_not_what_was_said_of_them() -> None:
    calm, noisy = (fit_lens(SIZE, sightings(7, noise_px=noise)) for noise in (0.02, 0.2))
    ratio = np.sqrt(np.diag(noisy.lens.covariance) / np.diag(calm.lens.covariance))
    assert np.median(ratio) == pytest.approx(10, rel=0.35)


def test_what_the_paper_does_is_found() -> None:
    fit = fit_lens(SIZE, sightings(3, bow_mm=0.8, stretch=1.5e-3))
    assert fit.bow_mm == pytest.approx(0.8, abs=0.05)
    assert fit.stretch_share == pytest.approx(1.5e-3, abs=3e-4)


@pytest.mark.parametrize("zoom", [1.03, 1.5])
def test_a_photo_at_another_zoom_is_left_out_by_name(zoom: float) -> None:
    photos = sightings(5)
    other = sightings(
        5, [over(32, 40, 20, lens=(MATRIX * [[zoom, 1, 1], [1, zoom, 1], [1, 1, 1]], DISTORTION))]
    )
    fit = fit_lens(SIZE, photos | {"zoomed": other["photo 0"]})
    assert list(fit.left_out) == ["zoomed"]
    assert "times better" in fit.left_out["zoomed"]
    assert [photo.name for photo in fit.photos] == list(photos)
    assert np.abs(numbers(fit) - TRUTH)[0] < 0.6


def test_a_stray_corner_changes_nothing() -> None:
    photos = sightings(6)
    spoiled = photos["photo 4"].xy_px.copy()
    spoiled[5] += (3.0, -2.0)
    whole, seen = fit_lens(SIZE, photos), photos["photo 4"]
    photos["photo 4"] = ChartCorners(seen.xyz_mm, spoiled, seen.covariance_px2, 1.0)
    fit = fit_lens(SIZE, photos)
    assert len(fit.photos[4].corners.xy_px) == len(spoiled) - 1
    assert (
        np.abs((numbers(fit) - numbers(whole)) / np.sqrt(np.diag(whole.lens.covariance))).max()
        < 0.5
    )


def breathing(seed: int, share: float) -> list[Camera]:
    """Cameras whose focal length changes from photo to photo, as focusing does; no single photo shows it."""
    zooms = 1 + np.random.default_rng(seed).normal(0, share, len(POSES))
    matrices = [MATRIX * [[zoom, 1, 1], [1, zoom, 1], [1, 1, 1]] for zoom in zooms]
    return [
        Camera(matrix, DISTORTION, c.T_camera_board)
        for matrix, c in zip(matrices, POSES, strict=True)
    ]


def test_focus_that_moves_is_found_and_widens_the_doubt() -> None:
    steady = [fit_lens(SIZE, sightings(seed)) for seed in range(40, 46)]
    moving = [fit_lens(SIZE, sightings(seed, breathing(seed, 8e-3))) for seed in range(40, 46)]
    assert np.median([fit.zoom_sigma for fit in steady]) == 0
    assert 3e-3 < np.median([fit.zoom_sigma for fit in moving]) < 1.7e-2
    away = np.array([numbers(fit) - TRUTH for fit in moving])
    squares = [
        a @ np.linalg.solve(f.lens.covariance, a) / 9 for a, f in zip(away, moving, strict=True)
    ]
    assert 0.5 < np.mean(squares) < 1.6
    # the next photo's zoom is as uncertain as any
    assert all(
        np.sqrt(fit.lens.covariance[0, 0]) > fit.zoom_sigma * fit.lens.matrix[0, 0]
        for fit in moving
    )


def test_two_photos_are_too_few_and_the_complaint_says_so() -> None:
    photos = sightings(9)
    with pytest.raises(
        CannotMeasure, match="2 of the photos show the sheet well enough, 3 are needed"
    ):
        fit_lens(SIZE, {name: photos[name] for name in ("photo 0", "photo 1")})
    with pytest.raises(CannotMeasure, match="1 of the photos shows the sheet well enough"):
        fit_lens(SIZE, {"photo 0": photos["photo 0"]})


def test_the_focal_length_is_guessed_from_leaning_views_alone() -> None:
    leaning = list(sightings(10).values())
    assert estimate_focal_px(SIZE, leaning) == pytest.approx(640, rel=0.15)
    flat = sightings(10, [over(0, 0, turn) for turn in (0.0, 40.0, 80.0)], noise_px=0.0)
    straight = estimate_focal_px(SIZE, [flat["photo 0"]])
    assert straight is None or straight > 0


def test_slopes_agree_with_finite_differences() -> None:
    sheets = SheetAdjustment(SIZE, sightings(11), 640.0, zoom_sigma=1e-3)
    shared = LensAndPaper(np.concatenate([TRUTH, [1e-3, 2e-3, -1e-3]]))
    stand = PoseAndZoom(POSES[3].T_camera_board, 2e-3)
    rows = sheets.residual_block(3, shared, stand)
    assert rows is not None

    def residual(step: Array) -> Array:
        moved = sheets.residual_block(3, shared.moved(step[7:]), stand.moved(step[:7]))
        assert moved is not None
        return moved.residual

    for slopes, step in zip(
        np.hstack([rows.own_jacobian, rows.shared_jacobian]).T, np.eye(7 + 12) * 1e-6, strict=True
    ):
        assert slopes == pytest.approx(
            (residual(step) - residual(-step)) / 2e-6, rel=1e-3, abs=1e-2
        )


def test_the_map_of_doubt_is_the_error_that_is_made() -> None:
    """Lenses drawn from the covariance, each placed by eight markers, err on the table as the map says."""
    fit, random = fit_lens(SIZE, sightings(12, POSES[:6])), np.random.default_rng(2)
    told = map_lens_error(fit.lens)
    table = _camera_over_table(fit.lens)
    pixels = told.xy_px[2:-2:4, 2:-2:4].reshape(-1, 2)
    marks = (np.array(SIZE) - 1) * np.array(
        [(x, y) for x in (0.03, 0.5, 0.97) for y in (0.03, 0.5, 0.97) if (x, y) != (0.5, 0.5)]
    )
    marks_mm = np.column_stack([table.unproject(marks), np.zeros(8)])
    worst = []
    for _ in range(250):
        drawn = np.linalg.cholesky(fit.lens.covariance) @ random.normal(size=9) * 0.3
        camera = table.moved(np.concatenate([drawn, np.zeros(6)]))
        for _ in range(3):
            seen, _, slopes = camera.project_with_jacobians(marks_mm)
            step = np.linalg.lstsq(slopes.reshape(-1, 15)[:, 9:], (marks - seen).ravel())[0]
            camera = camera.moved(np.concatenate([np.zeros(9), step]))
        worst.append((camera.unproject(pixels) - table.unproject(pixels)) / 0.3)
    spread = np.einsum("kni,knj->nij", worst, worst) / len(worst)
    drawn_mm = np.sqrt(np.linalg.eigvalsh(spread)[:, -1])
    assert drawn_mm == pytest.approx(told.error_mm[2:-2:4, 2:-2:4].ravel(), rel=0.2)


def test_the_suggested_photo_helps_as_much_as_was_said() -> None:
    few = POSES[:1] + POSES[5:8]
    fit = fit_lens(SIZE, sightings(13, few))
    before, best = map_lens_error(fit.lens).typical_mm, suggest_photos(fit, SMALL)
    assert best
    assert best[0].typical_mm < 0.9 * before
    assert [one.typical_mm for one in best] == sorted(
        (one.typical_mm for one in best), reverse=True
    )
    from overruler.vision.calibrators.lens_error_map import _candidate_views

    camera = dict(_candidate_views(fit.lens, SMALL))[best[0].text]
    after = fit_lens(SIZE, sightings(13, (*few, Camera(MATRIX, DISTORTION, camera.T_camera_board))))
    assert map_lens_error(after.lens).typical_mm == pytest.approx(best[0].typical_mm, rel=0.4)


def test_views_from_the_front_alone_ask_for_a_leaning_one() -> None:
    fit = fit_lens(SIZE, sightings(14, [over(0, 0, turn) for turn in (0.0, 30.0, 90.0)]))
    assert map_lens_error(fit.lens).worst_mm > 0.5
    assert suggest_photos(fit, SMALL)
