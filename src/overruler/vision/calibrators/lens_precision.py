"""How far a lens is to be trusted over the picture, and which photo of the sheet would help it most."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from overruler.chart import Chart
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose, rotation_from_vector
from overruler.lens import Lens
from overruler.vision.calibrators.charuco import FEWEST_CORNERS, Sighting
from overruler.vision.calibrators.lens_fit import LensFit
from overruler.vision.calibrators.sheet_model import Shared, Sheets, Stand
from overruler.vision.camera.schur_solver import Part, inverse

TABLE_MM, TABLE_TILT_DEG = 1200.0, 25.0
"""The table that errors are stated for: its width fills the picture, seen this far from straight above."""
GRID = (17, 13)
"""Places across and down the picture."""
INSET = 0.03
"""Where the table's markers lie, in shares of the picture from its edge: eight, as on a printed sheet."""
LEAN_DEG, AIM = 35.0, 0.3
"""How far a suggested photo leans, and how far off the middle it shows the sheet, as a share of the picture."""
WORTH = 0.9
"""A suggestion brings the error down to this share, or it is not made."""
SUGGESTIONS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Doubt:
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


def doubt(lens: Lens, covariance: Array | None = None) -> Doubt:
    """The error of places on a table `TABLE_MM` wide, by the lens's covariance (9, 9) or another."""
    camera, size = _over_table(lens), np.array(lens.size_px)
    across, down = np.linspace(0, size[0] - 1, GRID[0]), np.linspace(0, size[1] - 1, GRID[1])
    pixels = np.stack(np.meshgrid(across, down), -1)
    markers = (size - 1) * np.array(
        [(x, y) for x in (INSET, 0.5, 1 - INSET) for y in (INSET, 0.5, 1 - INSET) if (x, y) != (0.5, 0.5)]
    )
    _, _, at_markers = camera.jacobians(_on_table(camera, markers))
    rows = at_markers.reshape(-1, 15)
    pose_by_lens = -np.linalg.lstsq(rows[:, 9:], rows[:, :9], rcond=None)[0]
    on_table = camera.drift(_on_table(camera, pixels)) @ np.vstack([np.eye(9), pose_by_lens])
    spread = on_table @ (lens.covariance if covariance is None else covariance) @ np.swapaxes(on_table, -1, -2)
    return Doubt(pixels, np.sqrt(np.linalg.eigvalsh(spread)[..., -1].clip(0)))


def _over_table(lens: Lens) -> Camera:
    distance = TABLE_MM * lens.matrix[0, 0] / lens.size_px[0]
    rotation = rotation_from_vector([np.pi - np.radians(TABLE_TILT_DEG), 0, 0])
    return Camera(lens.matrix, lens.distortion, Pose(rotation, np.array([0, 0, distance])))


def _on_table(camera: Camera, pixels: Array) -> Array:
    """Places (..., 3) on the table that pixels (..., 2) see; the middle's where the lens does not reach."""
    xy = np.nan_to_num(camera.unproject(pixels))
    return np.concatenate([xy, np.zeros((*xy.shape[:-1], 1))], -1)


# --- what would help ---


def suggestions(fit: LensFit, chart: Chart) -> tuple[Suggestion, ...]:
    """The photos that would bring the error down most, the best first, each counted on top of those before it."""
    information, best = fit.information, doubt(fit.lens).typical_mm
    gains = {text: _gain(fit, chart, camera) for text, camera in _views(fit.lens, chart)}
    chosen: list[Suggestion] = []
    while len(chosen) < SUGGESTIONS:
        errors = {text: _typical(fit.lens, information + gain) for text, gain in gains.items()}
        text = min(errors, key=lambda name: errors[name])
        if errors[text] > WORTH * best:
            break
        information, best = information + gains.pop(text), errors[text]
        chosen.append(Suggestion(text, best))
    return tuple(chosen)


def _typical(lens: Lens, information: Array) -> float:
    return doubt(lens, inverse(information)[:9, :9]).typical_mm


def _gain(fit: LensFit, chart: Chart, camera: Camera) -> Array:
    """The information (12, 12) that the sheet seen by a camera would add."""
    xyz = chart.corners_mm
    xy = camera.project(xyz)
    seen = ((xy > 0) & (xy < np.array(fit.lens.size_px) - 1)).all(1)
    if seen.sum() < FEWEST_CORNERS:
        return np.zeros((12, 12))
    variance = fit.rms_px**2 * max(fit.disagreement, 1.0)
    noise = np.tile(np.eye(2) * variance, (int(seen.sum()), 1, 1))
    sheets = Sheets(fit.lens.size_px, {"": Sighting(xyz[seen], xy[seen], noise, 0.0)}, float(fit.lens.matrix[0, 0]))
    lens = np.concatenate([fit.lens.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], fit.lens.distortion, np.zeros(3)])
    rows = sheets.look(0, Shared(lens), Stand(camera.T_camera_board))
    return Part.of(rows).reduced()[0] if rows is not None else np.zeros((12, 12))


LEANS = {"lower": 0.0, "right": 270.0, "upper": 180.0, "left": 90.0}
"""Which edge of the picture the sheet leans away at, and the axis in the picture that it turns about, in degrees."""


def _views(lens: Lens, chart: Chart) -> Iterator[tuple[str, Camera]]:
    """Photos that could be taken, and how to say so."""
    for edge, axis in LEANS.items():
        lean = f"lean the sheet {LEAN_DEG:.0f}° back at the picture's {edge} edge"
        yield lean, _view(lens, chart, axis, (0.0, 0.0))
        yield f"{lean} and turn it by 90°", _view(lens, chart, axis, (0.0, 0.0), 90.0)
    for across, x in (("left", -AIM), ("", 0.0), ("right", AIM)):
        for down, y in (("upper", -AIM), ("", 0.0), ("lower", AIM)):
            if across and down:
                yield f"fill the {down} {across} corner of the picture", _view(lens, chart, 45.0, (x, y))
            elif across or down:
                yield (
                    f"fill the {across or down} edge of the picture",
                    _view(lens, chart, 90.0 if across else 0, (x, y)),
                )


def _view(lens: Lens, chart: Chart, axis_deg: float, aim: tuple[float, float], turn_deg: float = 0.0) -> Camera:
    """A camera before the sheet, whose middle it sees `aim` (shares of the picture) off its own."""
    axis = np.array([np.cos(np.radians(axis_deg)), np.sin(np.radians(axis_deg)), 0.0])
    rotation = rotation_from_vector(axis * np.radians(LEAN_DEG)) @ np.diag([1.0, -1.0, -1.0])
    rotation = rotation @ rotation_from_vector([0, 0, np.radians(turn_deg)])
    focal, size = lens.matrix[0, 0], np.array(lens.size_px)
    share = 0.75 if aim == (0.0, 0.0) else 0.5
    distance = max(np.array(chart.size_mm) / size) * focal / share
    middle = np.array([chart.size_mm[0] / 2, -chart.size_mm[1] / 2, 0.0])
    sight = np.array([*np.array(aim) * size / focal, 1.0]) * distance
    return Camera(lens.matrix, lens.distortion, Pose(rotation, sight - rotation @ middle))
