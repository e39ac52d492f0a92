"""How far a lens is to be trusted over the picture, and which photo of the sheet would help it most."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from overruler.chart import Chart
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose, rotation_from_vector
from overruler.lens import Lens
from overruler.vision.calibrators.charuco import MIN_CORNERS, ChartCorners
from overruler.vision.calibrators.lens_fit import LensFit
from overruler.vision.calibrators.sheet_model import LensAndPaper, PoseAndZoom, SheetAdjustment
from overruler.vision.camera.schur_solver import PhotoNormalEquations, invert_information

REFERENCE_TABLE_MM, REFERENCE_TILT_DEG = 1200.0, 25.0
"""The table that errors are stated for: its width fills the picture, seen this far from straight above."""
GRID_SHAPE = (17, 13)
"""Places across and down the picture."""
MARKER_INSET_SHARE = 0.03
"""Where the table's markers lie, in shares of the picture from its edge: eight, as on a printed sheet."""
SUGGESTED_TILT_DEG, AIM_OFFSET_SHARE = 35.0, 0.3
"""How far a suggested photo leans, and how far off the middle it shows the sheet, as a share of the picture."""
MAX_REMAINING_SHARE = 0.9
"""A suggestion brings the error down to this share, or it is not made."""
MAX_SUGGESTIONS = 3


@dataclass(frozen=True, slots=True, eq=False)
class LensErrorMap:
    """The error that a lens leaves in places on a table."""

    xy_px: Array
    """(rows, columns, 2): places in the picture."""
    error_mm: Array
    """(rows, columns): 1 σ there along the worse axis, once eight markers have placed the camera."""

    @property
    def typical_mm(self) -> float:
        return float(np.sqrt(np.mean(self.error_mm**2)))

    @property
    def worst_mm(self) -> float:
        return float(self.error_mm.max())


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A photo that would help."""

    text: str
    typical_mm: float
    """The typical error with it."""


def map_lens_error(lens: Lens, covariance: Array | None = None) -> LensErrorMap:
    """The error of places on a table `REFERENCE_TABLE_MM` wide, by the lens's covariance (9, 9) or another."""
    camera, size = _camera_over_table(lens), np.array(lens.size_px)
    across, down = (
        np.linspace(0, size[0] - 1, GRID_SHAPE[0]),
        np.linspace(0, size[1] - 1, GRID_SHAPE[1]),
    )
    pixels = np.stack(np.meshgrid(across, down), -1)
    markers = (size - 1) * np.array(
        [
            (x, y)
            for x in (MARKER_INSET_SHARE, 0.5, 1 - MARKER_INSET_SHARE)
            for y in (MARKER_INSET_SHARE, 0.5, 1 - MARKER_INSET_SHARE)
            if (x, y) != (0.5, 0.5)
        ]
    )
    _, _, at_markers = camera.project_with_jacobians(_project_to_table(camera, markers))
    rows = at_markers.reshape(-1, 15)
    pose_by_lens = -np.linalg.lstsq(rows[:, 9:], rows[:, :9], rcond=None)[0]
    on_table = camera.board_point_jacobian(_project_to_table(camera, pixels)) @ np.vstack(
        [np.eye(9), pose_by_lens]
    )
    spread = (
        on_table
        @ (lens.covariance if covariance is None else covariance)
        @ np.swapaxes(on_table, -1, -2)
    )
    return LensErrorMap(pixels, np.sqrt(np.linalg.eigvalsh(spread)[..., -1].clip(0)))


def _camera_over_table(lens: Lens) -> Camera:
    distance = REFERENCE_TABLE_MM * lens.matrix[0, 0] / lens.size_px[0]
    rotation = rotation_from_vector([np.pi - np.radians(REFERENCE_TILT_DEG), 0, 0])
    return Camera(lens.matrix, lens.distortion, Pose(rotation, np.array([0, 0, distance])))


def _project_to_table(camera: Camera, pixels: Array) -> Array:
    """Places (..., 3) on the table that pixels (..., 2) see; the middle's where the lens does not reach."""
    xy = np.nan_to_num(camera.unproject(pixels))
    return np.concatenate([xy, np.zeros((*xy.shape[:-1], 1))], -1)


# --- what would help ---


def suggest_photos(fit: LensFit, chart: Chart) -> tuple[Suggestion, ...]:
    """The photos that would bring the error down most, the best first, each counted on top of those before it."""
    information, best = fit.information, map_lens_error(fit.lens).typical_mm
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
        if errors[text] > MAX_REMAINING_SHARE * best:
            break
        information, best = information + gains.pop(text), errors[text]
        chosen.append(Suggestion(text, best))
    return tuple(chosen)


def _typical_error_mm(lens: Lens, information: Array) -> float:
    return map_lens_error(lens, invert_information(information)[:9, :9]).typical_mm


def _information_gain(fit: LensFit, chart: Chart, camera: Camera) -> Array:
    """The information (12, 12) that the sheet seen by a camera would add."""
    xyz = chart.corners_mm
    xy = camera.project(xyz)
    seen = ((xy > 0) & (xy < np.array(fit.lens.size_px) - 1)).all(1)
    if seen.sum() < MIN_CORNERS:
        return np.zeros((12, 12))
    variance = fit.rms_px**2 * max(fit.disagreement, 1.0)
    noise = np.tile(np.eye(2) * variance, (int(seen.sum()), 1, 1))
    sheets = SheetAdjustment(
        fit.lens.size_px,
        {"": ChartCorners(xyz[seen], xy[seen], noise, 0.0)},
        float(fit.lens.matrix[0, 0]),
    )
    lens = np.concatenate(
        [fit.lens.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], fit.lens.distortion, np.zeros(3)]
    )
    rows = sheets.residual_block(0, LensAndPaper(lens), PoseAndZoom(camera.T_camera_board))
    return (
        PhotoNormalEquations.from_residuals(rows).schur_complement()[0]
        if rows is not None
        else np.zeros((12, 12))
    )


TILT_AXES_DEG = {"lower": 0.0, "right": 270.0, "upper": 180.0, "left": 90.0}
"""Which edge of the picture the sheet leans away at, and the axis in the picture that it turns about, in degrees."""


def _candidate_views(lens: Lens, chart: Chart) -> Iterator[tuple[str, Camera]]:
    """Photos that could be taken, and how to say so."""
    for edge, axis in TILT_AXES_DEG.items():
        lean = f"lean the sheet {SUGGESTED_TILT_DEG:.0f}° back at the picture's {edge} edge"
        yield lean, _camera_over_sheet(lens, chart, axis, (0.0, 0.0))
        yield f"{lean} and turn it by 90°", _camera_over_sheet(lens, chart, axis, (0.0, 0.0), 90.0)
    for across, x in (("left", -AIM_OFFSET_SHARE), ("", 0.0), ("right", AIM_OFFSET_SHARE)):
        for down, y in (("upper", -AIM_OFFSET_SHARE), ("", 0.0), ("lower", AIM_OFFSET_SHARE)):
            if across and down:
                yield (
                    f"fill the {down} {across} corner of the picture",
                    _camera_over_sheet(lens, chart, 45.0, (x, y)),
                )
            elif across or down:
                yield (
                    f"fill the {across or down} edge of the picture",
                    _camera_over_sheet(lens, chart, 90.0 if across else 0, (x, y)),
                )


def _camera_over_sheet(
    lens: Lens, chart: Chart, axis_deg: float, aim: tuple[float, float], turn_deg: float = 0.0
) -> Camera:
    """A camera before the sheet, whose middle it sees `aim` (shares of the picture) off its own."""
    axis = np.array([np.cos(np.radians(axis_deg)), np.sin(np.radians(axis_deg)), 0.0])
    rotation = rotation_from_vector(axis * np.radians(SUGGESTED_TILT_DEG)) @ np.diag(
        [1.0, -1.0, -1.0]
    )
    rotation = rotation @ rotation_from_vector([0, 0, np.radians(turn_deg)])
    focal, size = lens.matrix[0, 0], np.array(lens.size_px)
    share = 0.75 if aim == (0.0, 0.0) else 0.5
    distance = max(np.array(chart.size_mm) / size) * focal / share
    middle = np.array([chart.size_mm[0] / 2, -chart.size_mm[1] / 2, 0.0])
    sight = np.array([*np.array(aim) * size / focal, 1.0]) * distance
    return Camera(lens.matrix, lens.distortion, Pose(rotation, sight - rotation @ middle))
