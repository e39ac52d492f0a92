"""Pieces on raised ground: where they stand, what doubt they share, and what is said where it is unsure."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import Base
from overruler.calibration import ErrorBudget
from overruler.detections import Detection, RaisedArea
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm, reproject_to_height
from overruler.vision.assembly.to_scene import build_scene, rare_covariance, shared_covariance
from overruler.vision.contours.cone_fit import fit_base
from overruler.vision.terrain.standing_on import detection_at_height, probability_on, raise_pieces
from synthetic.flat_table import Plinth
from tests.tables import camera_over, exact, photo

HIGH_MM = 36.0
PLACES = np.array([[560.0, 400.0], [620.0, 330.0], [150.0, 120.0]])
"""Two on the hill, one on the board."""
HEIGHTS = (HIGH_MM, HIGH_MM, 0.0)
HILL = np.array([[500.0, 260.0], [690.0, 260.0], [690.0, 470.0], [500.0, 470.0]])


@pytest.fixture(scope="module")
def table() -> tuple[Camera, Frame, list[Detection]]:
    """A camera, its photo and what is found when every base is taken to stand on the board."""
    camera = camera_over(24.0)
    plinths = [Plinth(x, y, 40.0, z) for (x, y), z in zip(PLACES, HEIGHTS, strict=True)]
    frame = photo(camera, plinths)
    starts = np.stack(
        [
            reproject_to_height(camera, place, z, 0.0)
            for place, z in zip(PLACES, HEIGHTS, strict=True)
        ]
    )
    return camera, frame, [found_at(frame, camera, start) for start in starts]


def found_at(frame: Frame, camera: Camera, start: Array) -> Detection:
    fit = fit_base(frame.pixels, camera, start, 1.0, 20.0, 0.0)
    assert fit is not None
    ring = fit.xy_mm + 20 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    pixels = camera.project(np.column_stack([np.vstack([fit.xy_mm, ring]), np.zeros(5)]))
    return Detection(
        Base.circle(40),
        fit.xy_mm,
        0.0,
        0.0,
        fit.covariance_mm2,
        fit.d_xy_d_camera,
        1,
        1,
        pixels[0],
        pixels[1:],
    )


def hill(**changes: object) -> RaisedArea:
    return replace(RaisedArea("h1", HILL, HIGH_MM, 2.0), **changes)  # type: ignore[arg-type]


Table = tuple[Camera, Frame, list[Detection]]


def test_pieces_on_a_hill_are_where_they_stand(table: Table) -> None:
    camera, frame, flat = table
    raised = raise_pieces(frame, exact(camera), flat, [hill()])
    assert np.hypot(*(flat[0].xy_mm - PLACES[0])) > 10  # what it is about
    for detection, place in zip(raised, PLACES, strict=True):
        assert np.hypot(*(detection.xy_mm - place)) < 0.3
    assert [detection.standing_on for detection in raised] == ["h1", "h1", None]
    assert [detection.z_mm for detection in raised] == [HIGH_MM, HIGH_MM, 0.0]


def test_their_outlines_stay_where_the_photo_shows_them(table: Table) -> None:
    camera, frame, flat = table
    for before, after in zip(flat, raise_pieces(frame, exact(camera), flat, [hill()]), strict=True):
        assert np.abs(after.center_px - before.center_px).max() < 1.0
        seen = camera.unproject(after.outline_px, after.z_mm) - after.xy_mm
        assert np.allclose(np.hypot(*seen.T), 20, atol=1e-6)


def test_a_piece_beside_the_hill_is_left_as_it_is(table: Table) -> None:
    camera, frame, flat = table
    assert raise_pieces(frame, exact(camera), flat, [hill()])[2] is flat[2]


def test_a_piece_at_the_far_edge_is_on_the_hill_though_it_seems_to_stand_outside(
    table: Table,
) -> None:
    camera, frame, _ = table
    edge = np.array([684.0, 464.0])
    seems = reproject_to_height(camera, edge, HIGH_MM, 0.0)
    assert (seems > HILL.max(0)).all()
    detection = Detection(
        Base.rectangle(40, 40),
        seems,
        0,
        0,
        np.eye(2),
        np.zeros((2, 15)),
        1,
        1,
        np.zeros(2),
        np.zeros((4, 2)),
    )
    (raised,) = raise_pieces(frame, exact(camera), [detection], [hill(edge_mm=0.5, sigma_mm=0.5)])
    assert raised.standing_on == "h1"
    assert np.allclose(raised.xy_mm, edge)


def test_heights_are_usually_off_by_a_share_of_what_they_may_be_off(table: Table) -> None:
    camera, frame, flat = table
    some, every, _ = (
        raise_pieces(frame, exact(camera), flat, [hill(usual_sigma_share=share)])[0]
        for share in (0.6, 1.0, 1.0)
    )
    assert some.shared_shifts_mm["h1"] == pytest.approx(0.6 * every.shared_shifts_mm["h1"])
    assert some.rare_shifts_mm["h1"] == pytest.approx(every.shared_shifts_mm["h1"])
    assert some.sigma_z_mm == every.sigma_z_mm == 2.0


def test_the_hill_s_height_moves_its_pieces_together(table: Table) -> None:
    camera, frame, flat = table
    calibration = replace(exact(camera), budget=ErrorBudget(0, 0, 0, 0, 0))
    raised = [
        replace(d, covariance_mm2=np.zeros((2, 2)))
        for d in raise_pieces(frame, calibration, flat, [hill()])
    ]
    stated = rare_covariance(calibration, raised)
    heights = np.random.default_rng(1).normal(HIGH_MM, 2.0, 4000)
    moved = np.stack(
        [reproject_to_height(camera, d.xy_mm, d.z_mm, heights[:, None]) for d in raised[:2]], 1
    )
    sampled = np.cov(moved.reshape(len(heights), 4).T)
    assert np.allclose(stated[:4, :4], sampled, rtol=0.1, atol=1e-3)
    assert np.allclose(stated[4:], 0)
    apart = np.array([1, 0, -1, 0, 0, 0])
    assert apart @ stated @ apart < 0.1 * stated[0, 0]  # most of it cancels in a distance


def joint_doubts(raised: Sequence[Detection]) -> tuple[Array, Array]:
    """(2, 2) each: of the first piece, what is usual, and what holds where something unlikely does."""
    one, causes = raised[0], [{**d.shared_shifts_mm, **d.rare_shifts_mm} for d in raised]
    usual = one.covariance_mm2 + shared_covariance([d.shared_shifts_mm for d in raised])[:2, :2]
    return usual, one.covariance_mm2 + one.rare_excess_mm2 + shared_covariance(causes)[:2, :2]


@pytest.mark.parametrize("probability", [0.6, 0.97])
def test_where_it_is_unsure_the_other_place_is_within_reach(
    table: Table, probability: float
) -> None:
    camera, frame, flat = table
    raised = raise_pieces(frame, exact(camera), flat, [hill(probability=probability)])
    off = flat[0].xy_mm - raised[0].xy_mm
    usual, rare = joint_doubts(raised)
    assert 1.0 < off @ np.linalg.solve(rare, off) < 3.05**2
    assert 0.85 / (1 - probability) < off @ np.linalg.solve(usual, off) < 1 / (1 - probability)
    assert raised[0].sigma_z_mm > HIGH_MM / 3.1


def test_no_later_fit_takes_it_from_a_piece_at_the_edge_that_it_may_stand_on_the_hill(
    table: Table,
) -> None:
    camera, frame, flat = table
    beside = replace(
        hill(edge_mm=8.0), footprint_mm=HILL + np.array([PLACES[0, 0] + 5.0 - HILL[0, 0], 0.0])
    )
    (one,) = raise_pieces(frame, exact(camera), flat[:1], [beside])
    other = reproject_to_height(camera, one.xy_mm, 0.0, HIGH_MM) - one.xy_mm
    assert (
        other @ np.linalg.solve(one.unmodelled_mm2 + one.rare_excess_mm2 + 0.1 * np.eye(2), other)
        < 3.05**2
    )
    assert one.covariance_mm2 == pytest.approx(flat[0].covariance_mm2 + one.unmodelled_mm2)


def test_what_hardly_is_a_hill_leaves_its_pieces_on_the_board(table: Table) -> None:
    camera, frame, flat = table
    raised = raise_pieces(frame, exact(camera), flat, [hill(probability=0.2)])
    assert [d.z_mm for d in raised] == [0.0, 0.0, 0.0]
    other = reproject_to_height(camera, flat[0].xy_mm, 0.0, HIGH_MM) - flat[0].xy_mm
    usual, rare = joint_doubts(raised)
    assert other @ np.linalg.solve(rare, other) < 3.05**2
    assert other @ np.linalg.solve(usual, other) < 1 / 0.2


def test_the_scene_says_what_stands_on_what(table: Table) -> None:
    camera, frame, flat = table
    calibration = exact(camera)
    scene = build_scene(
        calibration, raise_pieces(frame, calibration, flat, [hill()]), raised=[hill()]
    )
    out = scene.to_json()
    assert [piece["z_mm"] for piece in out["pieces"]] == [HIGH_MM, HIGH_MM, 0.0]
    assert [piece.get("on") for piece in out["pieces"]] == ["h1", "h1", None]
    (terrain,) = out["terrain"]
    assert (terrain["id"], terrain["top_z_mm"], terrain["sigma_mm"]) == ("h1", HIGH_MM, 2.0)
    assert np.allclose(terrain["footprint_mm"], HILL)
    assert type(scene).from_json(out).terrain == scene.terrain


@given(st.floats(0, 200), st.floats(0, 200), st.floats(-500, 1200), st.floats(-500, 1200))
def test_a_point_that_is_raised_and_lowered_again_is_where_it_was(
    z: float, other: float, x: float, y: float
) -> None:
    camera = camera_over(20.0)
    place = np.array([x, y])
    there = reproject_to_height(camera, place, z, other)
    assert np.allclose(
        camera.project([*there, other]), camera.project([x, y, z]), atol=1e-6, equal_nan=True
    )
    assert np.allclose(reproject_to_height(camera, there, other, z), place, atol=1e-6)
    step = reproject_to_height(camera, place, z, z + 1e-3) - place
    assert np.allclose(step, 1e-3 * relief_displacement_per_mm(camera, place, z), atol=1e-6)


@pytest.mark.parametrize("probability", [1.0, 0.3], ids=["on the hill", "rather beside it"])
def test_what_no_fit_knows_stays_part_of_the_doubt_at_any_height(
    table: Table, probability: float
) -> None:
    camera, frame, (first, *_) = table
    unsure = replace(
        first, covariance_mm2=first.covariance_mm2 + np.eye(2), unmodelled_mm2=np.eye(2)
    )
    for one in (
        detection_at_height(camera, unsure, 200.0),
        *raise_pieces(frame, exact(camera), [unsure], [hill(probability=probability)]),
    ):
        assert np.linalg.eigvalsh(one.covariance_mm2 - one.unmodelled_mm2).min() > 0


def test_how_high_ground_is_counts_where_a_piece_rather_stands_beside_it(table: Table) -> None:
    """The place it would have there is not surer than the height: (lean z)² + (lean σ)², z and σ being the height's."""
    camera, frame, flat = table
    sharp, wide = (
        raise_pieces(frame, exact(camera), flat[:1], [hill(probability=0.3, sigma_mm=sigma)])[0]
        for sigma in (1e-6, HIGH_MM / 2)
    )
    assert sharp.z_mm == wide.z_mm == 0.0
    (cause,) = sharp.shared_shifts_mm
    share = np.linalg.norm(wide.shared_shifts_mm[cause]) / np.linalg.norm(
        sharp.shared_shifts_mm[cause]
    )
    chances = [
        probability_on(camera, flat[0], hill(probability=0.3, sigma_mm=sigma))
        for sigma in (1e-6, HIGH_MM / 2)
    ]
    assert min(chances) > 1 / 9  # so that as likely as it is, not at the least that is rare
    assert share == pytest.approx(np.sqrt(1.25 * chances[1] / chances[0]))
    rarely = [
        np.linalg.norm(one.rare_shifts_mm[cause]) / np.sqrt(c)
        for one, c in zip((sharp, wide), chances, strict=True)
    ]
    assert rarely[1] / rarely[0] == pytest.approx(2.0)  # as high as by two σ more


FACING = np.array([[363.0, 200.0], [690.0, 200.0], [690.0, 600.0], [363.0, 600.0]])
"""Ground whose left edge lies on the way from the point below the camera: nothing leans across it."""
STOREYS = (
    RaisedArea("ground floor", FACING, 75.0, 1.0),
    RaisedArea("upper floor", FACING, 150.0, 1.0, base_z_mm=75.0),
)


def seems_to_stand(x: float, y: float, z: float = 0.0) -> Detection:
    return Detection(
        Base.rectangle(40, 40), np.array([x, y]), z, 0, np.eye(2), np.zeros((2, 15)), 1, 1
    )


@pytest.mark.parametrize("x", [357.0, 359.0, 361.0, 362.5])
def test_a_piece_beside_a_building_of_two_storeys_stands_on_the_board(
    table: Table, x: float
) -> None:
    """Not in the air, at the height of the upper storey's foot."""
    camera, frame, _ = table
    (one,) = raise_pieces(frame, exact(camera), [seems_to_stand(x, 500.0)], STOREYS)
    assert (one.z_mm, one.standing_on) == (0.0, None)
    assert np.allclose(one.xy_mm, [x, 500.0])
    for storey in STOREYS:
        other = reproject_to_height(camera, one.xy_mm, 0.0, storey.top_z_mm) - one.xy_mm
        doubt = one.covariance_mm2 + one.rare_excess_mm2
        assert other @ np.linalg.solve(doubt, other) < 3.05**2


def test_what_is_seen_on_the_upper_storey_is_not_below(table: Table) -> None:
    camera, frame, _ = table
    on_edge = seems_to_stand(363.5, 500.0)
    lower, upper = (probability_on(camera, on_edge, storey) for storey in STOREYS)
    assert 0.5 < upper < lower  # what it is about
    (one,) = raise_pieces(frame, exact(camera), [on_edge], STOREYS)
    assert (one.z_mm, one.standing_on) == (150.0, "upper floor")


def test_the_doubt_of_a_height_is_that_from_the_ground_beside(table: Table) -> None:
    """0.3 for 150 mm and 0.7 for 100 mm: 1 σ about the latter is 50 mm times the root of 0.3."""
    camera, frame, _ = table
    tower = hill(top_z_mm=150.0, base_z_mm=100.0, probability=0.3, sigma_mm=0.1)
    (one,) = raise_pieces(frame, exact(camera), [seems_to_stand(600.0, 400.0, 100.0)], [tower])
    assert one.z_mm == 100.0
    assert one.sigma_z_mm == pytest.approx(50 * np.sqrt(0.3), rel=1e-3)


def test_ground_that_a_marker_shows_to_be_no_higher_than_its_foot_is_ground(table: Table) -> None:
    camera, frame, _ = table
    flat = hill(top_z_mm=0.0, footprint_mm=FACING)
    (one,) = raise_pieces(frame, exact(camera), [seems_to_stand(362.0, 500.0)], [flat])
    assert (one.z_mm, one.standing_on) == (0.0, None)
    assert np.isfinite(one.covariance_mm2).all()
