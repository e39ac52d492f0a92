"""The joint covariance says what sampling says: camera errors move all pieces together and cancel in a distance."""

from dataclasses import replace

import numpy as np
import pytest

from overruler.bases import Base
from overruler.calibration import SPEC_SHARE, Calibration, Covariances, ErrorBudget, Light, Problem
from overruler.detections import DetectedRuler, Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.scene import Grid
from overruler.vision.assembly.flag_doubts import RARE_PROBABILITY, RARE_PROBABILITY_BY_FLAG, SURE
from overruler.vision.assembly.to_scene import build_scene, rare_covariance
from overruler.vision.camera.problems import FLAGS_BY_SEVERITY
from overruler.vision.contours.cone_fit import fit_base
from overruler.vision.contours.shading import shade_covariance_mm2
from synthetic.flat_table import Plinth
from tests.tables import camera_over, exact, photo

PLACES = np.array([[180.0, 120.0], [300.0, 160.0], [560.0, 380.0]])
SIGMA = np.array([6, 6, 3, 3, 0.004, 0, 0, 0, 0, 0.0012, 0.0012, 0.0008, 0.7, 0.7, 1.5])
"""1 σ of a camera that is known badly: each parameter on its own."""
NO_BUDGET = ErrorBudget(0, 0, 0, 0, 0)


@pytest.fixture(scope="module")
def scene() -> tuple[Camera, Frame]:
    camera = camera_over(24.0)
    return camera, photo(camera, [Plinth(x, y, 50.0) for x, y in PLACES])


def detections(frame: Frame, camera: Camera, starts: Array) -> list[Detection]:
    found = []
    for start in starts:
        fit = fit_base(frame.pixels, camera, start, 1.0, 25.0, 0.0)
        assert fit is not None
        none = np.zeros((0, 2))
        found.append(
            Detection(
                Base.circle(50),
                fit.xy_mm,
                0,
                0,
                np.zeros((2, 2)),
                fit.d_xy_d_camera,
                1,
                fit.support,
                none[:0],
                none,
            )
        )
    return found


def test_the_camera_s_share_agrees_with_sampling(scene: tuple[Camera, Frame]) -> None:
    camera, frame = scene
    base = detections(frame, camera, PLACES)
    calibration = Calibration(
        camera,
        Covariances.same(np.diag(SIGMA**2)),
        frame.size_px,
        0,
        (),
        (700, 500),
        budget=NO_BUDGET,
    )
    predicted = rare_covariance(calibration, base)
    rng = np.random.default_rng(3)
    draws = []
    for step in rng.normal(0, SIGMA, (80, 15)):
        starts = [d.xy_mm + d.d_xy_d_camera @ step for d in base]
        draws.append(
            np.concatenate(
                [d.xy_mm for d in detections(frame, camera.moved(step), np.array(starts))]
            )
        )
    sampled = np.cov(np.array(draws).T)
    for direction in np.linalg.eigh(predicted)[1].T[-4:]:  # where there is anything to compare
        assert direction @ sampled @ direction == pytest.approx(
            direction @ predicted @ direction, rel=0.5
        )
    apart = np.array([-1, 0, 1, 0, 0, 0.0])
    assert apart @ predicted @ apart < 0.1 * (
        predicted[0, 0] + predicted[2, 2]
    )  # most of it cancels
    assert apart @ sampled @ apart < 0.1 * (sampled[0, 0] + sampled[2, 2])


def test_every_term_of_the_budget_counts_where_it_belongs(scene: tuple[Camera, Frame]) -> None:
    camera, frame = scene
    found = detections(frame, camera, PLACES)

    def covariance(budget: ErrorBudget) -> Array:
        return rare_covariance(
            Calibration(
                camera,
                Covariances.same(np.zeros((15, 15))),
                (9, 9),
                0,
                (),
                (700, 500),
                budget=budget,
            ),
            found,
        )

    assert np.allclose(covariance(NO_BUDGET), 0)
    scale = covariance(ErrorBudget(1e-3, 0, 0, 0, 0))
    gap = np.concatenate([-(PLACES[2] - PLACES[0]), [0, 0], PLACES[2] - PLACES[0]])
    distance = np.hypot(*(PLACES[2] - PLACES[0]))
    assert np.sqrt(gap @ scale @ gap) / distance == pytest.approx(1e-3 * distance, rel=1e-3)
    height = covariance(ErrorBudget(0, 0, 1.0, 0, 0))
    assert np.allclose(height[:2, 2:], 0)
    lean = (found[0].xy_mm - camera.center_mm[:2]) / camera.center_mm[2]
    assert np.allclose(height[:2, :2], np.outer(lean, lean))
    assert np.allclose(covariance(ErrorBudget(0, 0, 0, 0.2, 0.5)), 0.01 * np.eye(6))
    found = [replace(found[0], base=Base.rectangle(40, 40))]
    assert np.allclose(covariance(ErrorBudget(0, 0, 0, 0.2, 0.5)), (0.01 + 0.25) * np.eye(2))


def test_what_is_usual_is_less_than_what_may_be(scene: tuple[Camera, Frame]) -> None:
    """Of each of two causes as much as usually, and all of it otherwise; what fits say is in both."""
    camera, frame = scene
    usual = np.diag(np.append(SIGMA**2, [0, 0])) / 16
    light, still = Light(np.array([0.0, 5000.0]), 1.0), np.eye(2) * 0.04
    calibration = Calibration(
        camera,
        replace(Covariances.same(np.diag(SIGMA**2)), usual=usual),
        frame.size_px,
        0,
        (),
        (700, 500),
        budget=NO_BUDGET,
        light=light,
    )
    found = [replace(one, covariance_mm2=still) for one in detections(frame, camera, PLACES)]
    found[0] = replace(
        found[0],
        shared_shifts_mm={"hill": np.array([0.6, 0])},
        rare_shifts_mm={"hill": np.array([1.0, 0])},
    )
    found[1] = found[1].with_added_covariance(np.eye(2) * 0.25, np.eye(2) * 4)
    result = build_scene(calibration, found).covariance
    assert result is not None
    assert result.rare_alternative is not None
    usual, rare = result.array, result.rare_alternative.covariance.array
    slopes = np.concatenate([one.d_xy_d_camera for one in found])
    by_camera = slopes @ np.diag(SIGMA**2) @ slopes.T
    shade = [shade_covariance_mm2(calibration, one) for one in found]
    first, second = usual - by_camera / 16, rare - by_camera
    assert first[:2, :2] == pytest.approx(still + 0.09 * shade[0] + np.diag([0.36, 0]))
    assert second[:2, :2] == pytest.approx(still + shade[0] + np.diag([1.0, 0]))
    assert first[2:4, 2:4] == pytest.approx(still + 0.09 * shade[1] + np.eye(2) * 0.25)
    assert second[2:4, 2:4] == pytest.approx(still + shade[1] + np.eye(2) * 4)
    assert np.linalg.eigvalsh(rare - usual).min() > -1e-9
    assert result.rare_alternative.probability == RARE_PROBABILITY


@pytest.mark.parametrize(
    "flag", [flag for flag, chance in RARE_PROBABILITY_BY_FLAG.items() if chance == SURE]
)
def test_a_photo_that_shows_that_something_is_amiss_is_not_as_sure_as_usual(
    scene: tuple[Camera, Frame], flag: str
) -> None:
    camera, frame = scene
    assert flag in FLAGS_BY_SEVERITY
    found = [
        one.with_added_covariance(np.eye(2) * 0.25, np.eye(2) * 4)
        for one in detections(frame, camera, PLACES)
    ]
    amiss = replace(exact(camera), problems=(Problem(flag, "not as it should be"),))
    covariance = build_scene(amiss, found).covariance
    assert covariance is not None
    assert covariance.rare_alternative is None
    assert covariance.array == pytest.approx(rare_covariance(amiss, found))
    usual = build_scene(
        replace(amiss, problems=(Problem("few_markers", "only four"),)), found
    ).covariance
    assert usual is not None
    assert usual.rare_alternative is not None
    assert usual.rare_alternative.covariance.array == pytest.approx(covariance.array)


def test_a_budget_as_told_is_smaller_where_the_board_file_and_the_catalogue_speak() -> None:
    told = ErrorBudget(1e-3, 2e-4, 1.0, 0.2, 0.5).as_specified
    assert told == ErrorBudget(2e-4, 2e-4, SPEC_SHARE, SPEC_SHARE * 0.2, 0.5)


def test_a_scene_has_a_piece_for_each_and_the_camera_for_others(
    scene: tuple[Camera, Frame],
) -> None:
    camera, frame = scene
    result = build_scene(exact(camera), detections(frame, camera, PLACES), "skirmish")
    assert [piece.id for piece in result.pieces] == ["p01", "p02", "p03"]
    assert result.game == "skirmish"
    assert result.covariance is not None
    assert result.covariance.array.shape == (6, 6)
    out = result.to_json()
    assert np.allclose(out["calibration"]["matrix"], camera.matrix)
    assert out["rulers"] == []
    assert set(out["pieces"][0]["image"]) == {"center_px", "outline_px"}


def test_ships_plates_are_as_they_are_made(scene: tuple[Camera, Frame]) -> None:
    """Whatever finds or corrects a square of a plate's size, in a scene its corners are rounded; others stay sharp."""
    camera, frame = scene
    plate, other, tray = detections(frame, camera, PLACES)
    seen = [
        replace(
            plate,
            base=Base.rectangle(40, 40),
            alternative_bases=(Base.rectangle(60, 60), Base.circle(40)),
        ),
        replace(other, base=Base.rectangle(60, 60)),
        replace(tray, base=Base.rectangle(25, 50)),
    ]
    result = build_scene(exact(camera), seen)
    assert [piece.base.corner_radius_mm for piece in result.pieces] == [1.5, 1.5, 0]
    assert [base.get("corner_radius_mm") for base in result.pieces[0].extra["also"]] == [1.5, None]


def test_an_empty_table_is_a_scene(scene: tuple[Camera, Frame]) -> None:
    assert build_scene(exact(scene[0]), []).to_json()["pieces"] == []


def test_rulers_and_a_grid_go_into_the_scene(scene: tuple[Camera, Frame]) -> None:
    path = np.array([[0.0, 0.0], [100.0, 0.0], [200.0, 0.0], [300.0, 0.0]])
    ruler = DetectedRuler("xwing", 100.0, 100.02, 0.1, path, 20.0, 25.0)
    result = build_scene(
        exact(scene[0]), [], None, [ruler], Grid("flat", 28.0, (3.0, 4.0))
    ).to_json()
    (told,) = result["rulers"]
    assert told["joints_mm"] == [[100.0, 0.0], [200.0, 0.0]]
    assert told["ends_mm"] == [[0.0, 0.0], [300.0, 0.0]]
    assert (told["segment_mm"], told["sigma_mm"]) == (100.02, 0.1)
    assert result["grid"] == {
        "type": "hex",
        "orientation": "flat",
        "size_mm": 28.0,
        "origin_mm": [3.0, 4.0],
    }
