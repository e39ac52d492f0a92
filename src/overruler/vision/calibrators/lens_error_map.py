"""The error that a lens leaves over the picture, and the photos of the sheet that would reduce it most."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from overruler.chart import Chart
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose, rotation_from_vector
from overruler.lens import Lens, pack_lens
from overruler.vision.calibrators.charuco import MIN_CORNERS, ChartCorners
from overruler.vision.calibrators.lens_fit import LensFit
from overruler.vision.calibrators.sheet_model import (
    SHARED_COUNT,
    LensAndPaper,
    PoseAndZoom,
    SheetAdjustment,
)
from overruler.vision.least_squares.schur_solver import PhotoNormalEquations, invert_information

REFERENCE_TABLE_MM = 1200.0
"""Width of the table for which errors are stated; it fills the picture."""
REFERENCE_TILT_DEG = 25.0
"""Tilt of the camera over that table from straight down."""
GRID_SHAPE = (17, 13)
"""Number of places across and down the picture."""
MARKER_INSET_SHARE = 0.03
"""Distance of that table's eight markers from the picture's edge, as a share of the picture."""
SUGGESTED_TILT_DEG = 35.0
"""Tilt of the sheet in a suggested photo."""
AIM_OFFSET_SHARE = 0.3
"""Distance of the sheet's centre from the picture's in a suggested photo, as a share of the picture."""
MAX_REMAINING_SHARE = 0.9
"""A photo is suggested if at most this share of the error remains."""
MAX_SUGGESTIONS = 3
"""Largest number of suggestions."""
TILT_AXES_DEG = {"lower": 0.0, "right": 270.0, "upper": 180.0, "left": 90.0}
"""The edge of the picture at which the sheet is tilted back, and the angle of the axis in the picture."""


@dataclass(frozen=True, slots=True, eq=False)
class LensErrorMap:
    """The error of places on a table by the covariance of a lens."""

    xy_px: Array
    """(rows, columns, 2): places in the picture."""
    error_mm: Array
    """(rows, columns): 1 σ along the worse axis, with the camera's pose from eight markers."""

    @property
    def typical_mm(self) -> float:
        """Root mean square of the error."""
        return float(np.sqrt(np.mean(self.error_mm**2)))

    @property
    def worst_mm(self) -> float:
        """Largest error."""
        return float(self.error_mm.max())


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A photo of the sheet that would reduce the error."""

    text: str
    """How to take it."""
    typical_mm: float
    """The typical error with it."""


def map_lens_error(lens: Lens, covariance: Array | None = None) -> LensErrorMap:
    """Map the error of places on a table by the lens's covariance (9, 9), or by another one."""
    camera, size = _camera_over_table(lens), np.array(lens.size_px)
    columns = np.linspace(0, size[0] - 1, GRID_SHAPE[0])
    rows = np.linspace(0, size[1] - 1, GRID_SHAPE[1])
    pixels = np.stack(np.meshgrid(columns, rows), -1)
    markers_px = (size - 1) * _marker_positions()
    markers = _project_to_table(camera, markers_px)
    jacobian = camera.project_with_jacobians(markers)[2].reshape(-1, 15)
    pose_by_lens = -np.linalg.lstsq(jacobian[:, 9:], jacobian[:, :9], rcond=None)[0]
    camera_by_lens = np.vstack([np.eye(9), pose_by_lens])
    places = _project_to_table(camera, pixels)
    place_by_lens = camera.board_point_jacobian(places) @ camera_by_lens
    lens_covariance = lens.covariance if covariance is None else covariance
    place_covariance = place_by_lens @ lens_covariance @ np.swapaxes(place_by_lens, -1, -2)
    variance = np.linalg.eigvalsh(place_covariance)[..., -1].clip(0)
    return LensErrorMap(pixels, np.sqrt(variance))


def _marker_positions() -> Array:
    """Positions (8, 2) of the reference table's markers, in shares of the picture."""
    shares = (MARKER_INSET_SHARE, 0.5, 1 - MARKER_INSET_SHARE)
    return np.array([(x, y) for x in shares for y in shares if (x, y) != (0.5, 0.5)])


def _camera_over_table(lens: Lens) -> Camera:
    distance = REFERENCE_TABLE_MM * lens.matrix[0, 0] / lens.size_px[0]
    rotation = rotation_from_vector([np.pi - np.radians(REFERENCE_TILT_DEG), 0, 0])
    return Camera(lens.matrix, lens.distortion, Pose(rotation, np.array([0, 0, distance])))


def _project_to_table(camera: Camera, pixels: Array) -> Array:
    """Points (..., 3) of the table at pixels (..., 2); the origin where the lens model fails."""
    xy = np.nan_to_num(camera.unproject(pixels))
    return np.concatenate([xy, np.zeros((*xy.shape[:-1], 1))], -1)


# --- suggestions ---


def suggest_photos(fit: LensFit, chart: Chart) -> tuple[Suggestion, ...]:
    """The photos that would reduce the error most, best first, each in addition to those before."""
    information = fit.information
    smallest = map_lens_error(fit.lens).typical_mm
    gains = {
        text: _information_gain(fit, chart, camera)
        for text, camera in _candidate_views(fit.lens, chart)
    }
    chosen: list[Suggestion] = []
    while len(chosen) < MAX_SUGGESTIONS:
        errors = {
            text: _typical_error_mm(fit.lens, information + gain) for text, gain in gains.items()
        }
        text = min(errors, key=lambda name: errors[name])
        if errors[text] > MAX_REMAINING_SHARE * smallest:
            break
        information, smallest = information + gains.pop(text), errors[text]
        chosen.append(Suggestion(text, smallest))
    return tuple(chosen)


def _typical_error_mm(lens: Lens, information: Array) -> float:
    return map_lens_error(lens, invert_information(information)[:9, :9]).typical_mm


def _information_gain(fit: LensFit, chart: Chart, camera: Camera) -> Array:
    """The information (12, 12) that a photo of the sheet by `camera` would add."""
    lens = fit.lens
    xyz = chart.corners_mm
    xy = camera.project(xyz)
    visible = ((xy > 0) & (xy < np.array(lens.size_px) - 1)).all(1)
    if visible.sum() < MIN_CORNERS:
        return np.zeros((SHARED_COUNT, SHARED_COUNT))
    variance = fit.rms_px**2 * max(fit.disagreement, 1.0)
    noise = np.tile(np.eye(2) * variance, (int(visible.sum()), 1, 1))
    corners = ChartCorners(xyz[visible], xy[visible], noise, 0.0)
    adjustment = SheetAdjustment(lens.size_px, {"": corners}, float(lens.matrix[0, 0]))
    shared = np.concatenate([pack_lens(lens.matrix, lens.distortion), np.zeros(3)])
    own = PoseAndZoom(camera.T_camera_board)
    block = adjustment.residual_block(0, LensAndPaper(shared), own)
    if block is None:
        return np.zeros((SHARED_COUNT, SHARED_COUNT))
    information, _ = PhotoNormalEquations.from_residuals(block).schur_complement()
    return information


def _candidate_views(lens: Lens, chart: Chart) -> Iterator[tuple[str, Camera]]:
    """Photos that could be taken: how to take each, and its camera."""
    for edge, axis_deg in TILT_AXES_DEG.items():
        tilt = f"lean the sheet {SUGGESTED_TILT_DEG:.0f}° back at the picture's {edge} edge"
        yield tilt, _camera_over_sheet(lens, chart, axis_deg, (0.0, 0.0))
        rotated = _camera_over_sheet(lens, chart, axis_deg, (0.0, 0.0), turn_deg=90.0)
        yield f"{tilt} and turn it by 90°", rotated
    for column, x in (("left", -AIM_OFFSET_SHARE), ("", 0.0), ("right", AIM_OFFSET_SHARE)):
        for row, y in (("upper", -AIM_OFFSET_SHARE), ("", 0.0), ("lower", AIM_OFFSET_SHARE)):
            if column and row:
                corner = _camera_over_sheet(lens, chart, 45.0, (x, y))
                yield f"fill the {row} {column} corner of the picture", corner
            elif column or row:
                side = _camera_over_sheet(lens, chart, 90.0 if column else 0, (x, y))
                yield f"fill the {column or row} edge of the picture", side


def _camera_over_sheet(
    lens: Lens, chart: Chart, axis_deg: float, aim: tuple[float, float], turn_deg: float = 0.0
) -> Camera:
    """A camera over the tilted sheet, whose centre it sees off its own by `aim`, shares of the picture."""
    angle = np.radians(axis_deg)
    axis = np.array([np.cos(angle), np.sin(angle), 0.0])
    tilt = rotation_from_vector(axis * np.radians(SUGGESTED_TILT_DEG))
    facing = tilt @ np.diag([1.0, -1.0, -1.0])
    rotation = facing @ rotation_from_vector([0, 0, np.radians(turn_deg)])
    focal, size = lens.matrix[0, 0], np.array(lens.size_px)
    fill = 0.75 if aim == (0.0, 0.0) else 0.5
    distance = max(np.array(chart.size_mm) / size) * focal / fill
    middle = np.array([chart.size_mm[0] / 2, -chart.size_mm[1] / 2, 0.0])
    ray = np.array([*np.array(aim) * size / focal, 1.0]) * distance
    return Camera(lens.matrix, lens.distortion, Pose(rotation, ray - rotation @ middle))
