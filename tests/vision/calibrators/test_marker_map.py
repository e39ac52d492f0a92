"""A layout of markers comes back from photos of it as surely as it says, in the frame that board files have."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from evaluate.drawn.markers import camera_over, marker_mm, seen_markers, swollen
from overruler.board import Board
from overruler.errors import CannotMeasure
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.marker_card import PrintMeasurement
from overruler.vision.calibrators import map_adjustment
from overruler.vision.calibrators.map_adjustment import PLACES_START, MarkerMapAdjustment
from overruler.vision.calibrators.marker_map import (
    MarkerMapFit,
    fit_marker_map,
)
from overruler.vision.calibrators.views import LayoutView, link_views
from overruler.vision.camera.lens_prior import LensPrior, lens_prior
from overruler.vision.camera.marker_layout import UNMEASURED_PRINT_SIGMA
from overruler.vision.markers import edge_noise
from overruler.vision.markers.marker import Marker
from tests.vision.sight import ANYWHERE, FREE, blank

CAMERAS = [
    camera_over(tilt, turn_deg=turn)
    for tilt, turn in ((5.0, 2.0), (30.0, 40.0), (30.0, 130.0), (30.0, 220.0))
]
PRIOR = lens_prior(blank(1250.0), None)
Seen = dict[str, tuple[Sequence[Marker], LensPrior]]


@pytest.fixture(autouse=True)
def markers_stay_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """One photo's noise moves no marker in millimetres: all photos show the same table."""
    monkeypatch.setattr(edge_noise, "PLACE_SIGMA_MM", 0.0)


def photos(
    seed: int, cameras: Sequence[Camera] = CAMERAS, layout: Mapping[int, Array] = ANYWHERE
) -> Seen:
    random = np.random.default_rng(seed)
    return {
        f"photo {k}": (seen_markers(camera, layout, random), PRIOR)
        for k, camera in enumerate(cameras)
    }


def truth(layout: Mapping[int, Array] = ANYWHERE) -> Array:
    """(3 M,): middles and headings in the frame of board files, by its own words."""
    lowest = layout[min(layout)]
    x = (lowest[1] - lowest[0])[:2] / np.linalg.norm(lowest[1] - lowest[0])
    turn = np.stack([x, [-x[1], x[0]]], 1)
    flat = {number: corners[:, :2] @ turn for number, corners in sorted(layout.items())}
    low = np.concatenate(list(flat.values())).min(0)
    return np.concatenate(
        [[*(c.mean(0) - low), np.arctan2(*(c[1] - c[0])[::-1])] for c in flat.values()]
    )


def away(fit: MarkerMapFit, layout: Mapping[int, Array] = ANYWHERE) -> Array:
    difference = np.concatenate(list(fit.places.values())) - truth(layout)
    difference[2::3] = (difference[2::3] + np.pi) % (2 * np.pi) - np.pi
    return np.asarray(difference)


def mean_square(fit: MarkerMapFit) -> float:
    """Mean square of the errors by their doubts along all directions that are not held by the frame."""
    scale = np.sqrt(np.diag(fit.covariance)).clip(1e-9)
    values, vectors = np.linalg.eigh(fit.covariance / np.outer(scale, scale))
    free = values > 1e-6
    return float(np.mean((vectors.T @ (away(fit) / scale))[free] ** 2 / values[free]))


@pytest.fixture
def markers_keep_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """No camera draws all markers too large or too small."""
    monkeypatch.setattr(map_adjustment, "MARKER_GROWTH_SIGMA_PX", 1e-4)


def test_a_camera_that_draws_all_markers_too_large_is_allowed_for() -> None:
    """All photos err alike: more of them make the scale no surer."""
    exact = Board("exact print", 60.0, "DICT_4X4_50", scale_share=1e-9)
    grown = {name: (swollen(markers, 0.03), prior) for name, (markers, prior) in photos(12).items()}
    fit, few = fit_marker_map(exact, grown), fit_marker_map(exact, dict(list(grown.items())[:2]))
    assert mean_square(fit) < 2.5
    assert fit.scale_share > 0.6 * few.scale_share > 3e-4


@pytest.mark.usefixtures("markers_keep_their_size")
def test_the_layout_lies_within_its_doubt() -> None:
    exact = Board("exact print", 60.0, "DICT_4X4_50", scale_share=1e-9)
    fits = [fit_marker_map(exact, photos(seed)) for seed in range(200, 210)]
    assert (
        0.7 < np.mean([mean_square(fit) for fit in fits]) < 1.3
    )  # 210 squares: a standard deviation of 0.1
    assert max(np.abs(away(fit)).max() for fit in fits) < 1.5
    assert np.mean([np.median(fit.distance_sigmas_mm()) for fit in fits]) < 0.15


def test_corners_agree_with_places_and_the_box_begins_at_the_origin() -> None:
    fit = fit_marker_map(FREE, photos(1))
    corners = np.stack(list(fit.corners_mm.values()))
    assert corners[..., :2].reshape(-1, 2).min(0) == pytest.approx([0, 0], abs=1e-9)
    assert corners[..., :2].reshape(-1, 2).max(0) == pytest.approx(fit.size_mm)
    upper = corners[0, 1] - corners[0, 0]
    assert upper == pytest.approx([60, 0, 0])
    for place, quad in zip(fit.places.values(), corners, strict=True):
        assert quad[:, :2].mean(0) == pytest.approx(place[:2])
        assert np.cos(place[2]) * 60 == pytest.approx((quad[1] - quad[0])[0])


def test_what_holds_the_frame_is_in_no_doubt() -> None:
    """The corners that touch the box from the left and from below are at 0 by its making, however they turn."""
    exact = Board("exact print", 60.0, "DICT_4X4_50", scale_share=1e-9)
    fit = fit_marker_map(exact, photos(11))
    corners = np.stack(list(fit.corners_mm.values()))[..., :2]
    for axis in (0, 1):
        marker, corner = np.unravel_index(corners[..., axis].argmin(), corners.shape[:2])
        arm = corners[marker, corner] - corners[marker].mean(0)
        row = np.zeros(3 * len(corners))
        row[3 * marker + axis], row[3 * marker + 2] = 1.0, (-arm[1], arm[0])[axis]
        assert abs(float(row @ fit.covariance @ row)) < 1e-10


def test_the_cameras_see_the_board_that_came_out() -> None:
    fit = fit_marker_map(FREE, photos(2))
    random = np.random.default_rng(2)
    for view, camera in zip(sorted(fit.photos, key=lambda one: one.name), CAMERAS, strict=True):
        for marker in seen_markers(camera, ANYWHERE, random):
            seen = view.camera.project(fit.corners_mm[marker.id])
            assert np.abs(seen - camera.project(ANYWHERE[marker.id])).max() < 1.0


@pytest.mark.usefixtures("markers_keep_their_size")
def test_the_scale_is_that_of_the_print_and_its_doubt_is_carried() -> None:
    large = {number: corners * [1, 1, 1] for number, corners in ANYWHERE.items()}
    told = Board("told", 60.3, "DICT_4X4_50", scale_share=4e-3)
    fit, plain = fit_marker_map(told, photos(3, layout=large)), fit_marker_map(FREE, photos(3))
    assert fit.size_mm[0] / plain.size_mm[0] == pytest.approx(60.3 / 60, rel=1e-6)
    longest = max(
        np.linalg.norm(a[:2] - b[:2]) for a in fit.places.values() for b in fit.places.values()
    )
    assert fit.distance_sigmas_mm().max() == pytest.approx(4e-3 * longest, rel=0.1)
    assert plain.scale_share == pytest.approx(UNMEASURED_PRINT_SIGMA, rel=0.05)


@pytest.mark.usefixtures("markers_keep_their_size")
def test_a_measured_print_gives_surer_places_than_one_that_nobody_measured() -> None:
    confirmed = FREE.as_printed(PrintMeasurement(100.0, 100.0, 100.0, 0.2))
    fit, plain = fit_marker_map(confirmed, photos(3)), fit_marker_map(FREE, photos(3))
    assert fit.scale_share < 0.6 * plain.scale_share
    assert not fit.board("confirmed", confirmed, "DICT_4X4_50", None).scale_by_print
    assert plain.board("plain", FREE, "DICT_4X4_50", None).scale_by_print


def test_a_print_longer_than_wide_is_allowed_for() -> None:
    stretched = {number: _stretched(corners, 1.005) for number, corners in ANYWHERE.items()}
    known = Board("stretched", 60.15, "DICT_4X4_50", sides_mm=(60.0, 60.3), scale_share=1e-9)
    fit, blind = (
        fit_marker_map(known, photos(4, layout=stretched)),
        fit_marker_map(FREE, photos(4, layout=stretched)),
    )
    sides = np.linalg.norm(np.diff(np.stack(list(fit.corners_mm.values())), axis=1), axis=2)
    assert sides[:, 0] == pytest.approx(60.0)
    assert sides[:, 1] == pytest.approx(60.3)
    assert fit.rms_px < blind.rms_px


def _stretched(corners: Array, share: float) -> Array:
    down = corners[3] - corners[0]
    return np.stack([corners[0], corners[1], corners[1] + share * down, corners[0] + share * down])


def test_a_photo_with_a_moved_marker_is_left_out_by_name() -> None:
    moved = dict(ANYWHERE)
    moved[3] = moved[3] + np.array([6.0, -4.0, 0.0])
    spoiled = photos(5, CAMERAS[1:2], moved)["photo 0"]
    fit = fit_marker_map(FREE, photos(5) | {"later": spoiled})
    assert list(fit.left_out) == ["later"]
    assert mean_square(fit) < 2.5


def test_photos_hang_together_by_the_markers_they_share() -> None:
    every = photos(6)
    halves = {name: ([m for m in markers if m.id in ids], prior) for (name, (markers, prior)), ids in
              zip(every.items(), ({0, 1, 4, 5}, {4, 5, 2}, {2, 3, 6, 7}, {6, 7, 0}), strict=True)}  # fmt: skip
    fit = fit_marker_map(FREE, halves)
    assert not fit.left_out
    assert list(fit.places) == list(range(8))
    assert np.abs(away(fit)).max() < 5
    assert mean_square(fit) < 2.5


def test_a_photo_that_shares_no_marker_is_left_out_and_one_that_shows_none_too() -> None:
    every = photos(7)
    some = {
        "a": ([m for m in every["photo 0"][0] if m.id < 4], PRIOR),
        "b": ([m for m in every["photo 1"][0] if m.id < 5], PRIOR),
        "c": ([m for m in every["photo 2"][0] if m.id > 5], PRIOR),
        "d": ([], PRIOR),
    }
    fit = fit_marker_map(FREE, some)
    assert sorted(fit.left_out) == ["c", "d"]
    assert "no marker that the other photos show" in fit.left_out["c"]
    assert list(fit.places) == [0, 1, 2, 3, 4]


def test_one_photo_is_enough_and_none_is_an_error() -> None:
    fit = fit_marker_map(FREE, photos(8, CAMERAS[1:2]))
    assert len(fit.photos) == 1
    assert mean_square(fit) < 2.5
    with pytest.raises(CannotMeasure, match="no photo shows 2 of the markers"):
        fit_marker_map(FREE, {"empty": ([], PRIOR)})


def two_views(seed: int) -> MarkerMapAdjustment:
    views, _ = link_views(
        [
            LayoutView.from_markers(name, *given, (60.0, 60.0))
            for name, given in photos(seed, CAMERAS[:2]).items()
        ]
    )
    return MarkerMapAdjustment(views)


def test_slopes_agree_with_finite_differences() -> None:
    table = two_views(9)
    layout, stand = table.start, table.own_parameters[1]
    rows = table.residual_block(1, layout, stand)
    assert rows is not None

    def residual(step: Array) -> Array:
        moved = table.residual_block(1, layout.moved(step[7:]), stand.moved(step[:7]))
        assert moved is not None
        return moved.residual

    for slopes, step in zip(
        np.hstack([rows.own_jacobian, rows.shared_jacobian]).T,
        np.eye(7 + PLACES_START + 3 * 7) * 1e-6,
        strict=True,
    ):
        assert slopes == pytest.approx(
            (residual(step) - residual(-step)) / 2e-6, rel=1e-3, abs=1e-2
        )


def test_a_camera_that_a_marker_lies_behind_is_impossible() -> None:
    """A step of the fit may turn a camera round; markers behind it would be seen mirrored, as though in sight."""
    table = two_views(3)
    stand = table.own_parameters[1]
    away = np.array([0, 0, 0, 0, 0, -2 * stand.pose.translation_mm[2], 0])
    assert table.residual_block(1, table.start, stand) is not None
    assert table.residual_block(1, table.start, stand.moved(away)) is None


def test_a_marker_upside_down_counts_its_turn_once() -> None:
    layout = {
        4: marker_mm(200, 200),
        9: marker_mm(700, 650, heading_deg=180.0),
        11: marker_mm(650, 250),
    }
    fit = fit_marker_map(FREE, photos(10, layout=layout))
    assert np.abs(away(fit, layout)).max() < 2
    assert np.abs(away(fit, layout)[2::3]).max() < 0.01
