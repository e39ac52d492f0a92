"""Photos of a calibration sheet, drawn exactly: each pixel is the mean of what a grid of rays meet on the paper."""

import cv2
import numpy as np

from overruler.chart import Chart
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose, rotation_from_vector

from .table import BLACK, CARD, MAT, Look

SIZE = (800, 600)
MATRIX = np.array([[640.0, 0, 405.0], [0, 641.0, 293.0], [0, 0, 1]])
DISTORTION = np.array([-0.11, 0.05, 5e-4, -4e-4, 0.0])
SMALL = Chart(7, 5, 25.0, 18.0)
"""Wide as a picture is: large squares in a small photo."""
RAYS = 48
"""Through each pixel."""
MARGIN_MM = 12.0
"""White paper round the squares."""


def over(
    tilt_deg: float,
    towards_deg: float,
    turn_deg: float = 0.0,
    distance_mm: float = 190.0,
    aim: tuple[float, float] = (0.0, 0.0),
    chart: Chart = SMALL,
    lens: tuple[Array, Array] = (MATRIX, DISTORTION),
) -> Camera:
    """A camera before a chart that leans `tilt_deg` over towards `towards_deg`, its middle seen `aim` (shares) off."""
    axis = np.array([np.cos(np.radians(towards_deg)), np.sin(np.radians(towards_deg)), 0.0])
    facing = np.diag([1.0, -1.0, -1.0])
    rotation = rotation_from_vector(axis * np.radians(tilt_deg)) @ facing
    rotation = rotation @ rotation_from_vector([0, 0, np.radians(turn_deg)])
    middle = np.array([chart.size_mm[0] / 2, -chart.size_mm[1] / 2, 0.0])
    sight = np.array([aim[0], aim[1], 1.0]) * distance_mm
    return Camera(*lens, Pose(rotation, sight - rotation @ middle))


POSES = (
    over(0, 0, 2), over(32, 0, 10), over(32, 180, -8), over(32, 90, 92), over(32, 270, 4),
    over(25, 45, 0, 240, (0.25, 0.15)), over(25, 200, 180, 240, (-0.28, -0.18)), over(28, 300, 30, 240, (0.25, -0.2)),
    over(28, 130, 75, 240, (-0.25, 0.2)),
)  # fmt: skip


def photo(
    camera: Camera,
    chart: Chart = SMALL,
    *,
    size_px: tuple[int, int] = SIZE,
    look: Look | None = None,
) -> Frame:
    """The photo of a flat sheet on a grey table."""
    look = look or Look()
    pixels = np.stack(np.meshgrid(np.arange(size_px[0]), np.arange(size_px[1])), -1).astype(float)
    board = np.nan_to_num(camera.unproject(pixels), nan=-1e6)
    by_v, by_u = (np.asarray(slope, float) for slope in np.gradient(board, axis=(0, 1)))
    codes, random = _codes(chart), np.random.default_rng(look.seed)
    around = [
        _light(chart, codes, board + u * by_u + v * by_v) for u in (-0.8, 0.8) for v in (-0.8, 0.8)
    ]
    light, mixed = around[0], np.asarray(np.ptp(np.array(around), axis=0) > 0)
    turn = random.random(
        (int(mixed.sum()), 2)
    )  # each pixel's own, so that no edge lies like that in all of them
    rays = (_spread(RAYS)[:, None] + turn) % 1 - 0.5
    at = board[mixed] + rays[..., :1] * by_u[mixed] + rays[..., 1:] * by_v[mixed]
    light[mixed] = _light(chart, codes, at).mean(0)
    tone = cv2.GaussianBlur(light ** (1 / look.gamma), (0, 0), look.blur_px)
    grey = tone * 255 + random.normal(0, look.noise, tone.shape)
    return Frame(
        np.repeat(np.clip(grey, 0, 255).round().astype(np.uint8)[:, :, None], 3, 2), "test"
    )


def _spread(count: int) -> Array:
    """(count, 2): places in a unit square, spread so that no edge along rows or columns meets many at once.

    By the plastic number (Roberts, The unreasonable effectiveness of quasirandom sequences, 2018).
    """
    plastic = 1.32471795724474602596
    steps = np.array([1 / plastic, 1 / plastic**2])
    return np.asarray(np.arange(count)[:, None] * steps % 1)


def _codes(chart: Chart) -> Array:
    """The markers' cells (M, n, n) as light."""
    if chart.marker_mm is None:
        return np.full((chart.columns * chart.rows, 1, 1), CARD)
    family = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, chart.dictionary))
    side = family.markerSize + 2
    cells = (
        np.array([family.generateImageMarker(number, side) for number in chart.markers_mm]) > 127
    )
    return np.asarray(np.where(cells, CARD, BLACK), float)


def _light(chart: Chart, codes: Array, xy_mm: Array) -> Array:
    """What comes back from places (..., 2) on the table."""
    across, down = xy_mm[..., 0] / chart.square_mm, -xy_mm[..., 1] / chart.square_mm
    column, row = np.floor(across).astype(int), np.floor(down).astype(int)
    within = (across >= 0) & (down >= 0) & (across < chart.columns) & (down < chart.rows)
    margin = MARGIN_MM / chart.square_mm
    paper = (
        (np.minimum(across, down) > -margin)
        & (across < chart.columns + margin)
        & (down < chart.rows + margin)
    )
    black = within & ((column + row) % 2 == 0)
    light = np.where(paper, np.where(black, BLACK, CARD), MAT)
    if chart.marker_mm is None:
        return light
    number = (np.cumsum(_white(chart).ravel()) - 1).reshape(_white(chart).shape)
    cells = codes.shape[1]
    inner = (
        (np.stack([across - column, down - row], -1) - 0.5) * chart.square_mm / chart.marker_mm
        + 0.5
    ) * cells
    cell = np.floor(inner).astype(int)
    coded = within & ~black & (cell.min(-1) >= 0) & (cell.max(-1) < cells)
    at = number[row[coded], column[coded]], cell[coded][:, 1], cell[coded][:, 0]
    light[coded] = codes[at]
    return light


def _white(chart: Chart) -> Array:
    row, column = np.indices((chart.rows, chart.columns))
    return np.asarray((row + column) % 2 == 1)
