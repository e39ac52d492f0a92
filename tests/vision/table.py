"""A table with markers, drawn exactly: each pixel is the mean of what 6 × 6 rays through it meet on the board."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.board import Board
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose, rotation_from_vector
from overruler.vision.markers import edge_noise
from overruler.vision.markers.marker import Marker
from overruler.vision.markers.print_edges import place_stations
from overruler.vision.markers.square_fit import MarkerEdges, Square, side_px

SUBPIXELS = 6
MAT, CARD, BLACK = 0.25, 0.85, 0.03
"""Shares of the light that come back, linear."""
DICTIONARY = "DICT_4X4_50"
MARKER_MM = 60.0
BOARD_MM = 900.0


def camera_over(
    tilt_deg: float,
    *,
    size_px: tuple[int, int] = (1600, 1200),
    height_mm: float = 1050.0,
    focal_px: float = 1250.0,
    center_px: tuple[float, float] = (3.0, -2.0),
    distortion: tuple[float, ...] = (-0.06, 0.01, 0.0, 0.0, 0.0),
    turn_deg: float = 2.0,
    aim_mm: tuple[float, float] = (450.0, 450.0),
) -> Camera:
    """A camera that looks at `aim_mm`, `tilt_deg` from straight above; its `center_px` is that far off the middle."""
    turn = rotation_from_vector([np.pi - np.radians(tilt_deg), 0, 0]) @ rotation_from_vector(
        [0, 0, np.radians(turn_deg)]
    )
    middle = (np.array(size_px) - 1) / 2 + center_px
    matrix = np.array([[focal_px, 0, middle[0]], [0, focal_px, middle[1]], [0, 0, 1]])
    aim = turn @ np.array([*aim_mm, 0.0])
    return Camera(matrix, np.array(distortion), Pose(turn, np.array([0, 0, height_mm]) - aim))


def square_mm(
    x_mm: float,
    y_mm: float,
    side_mm: float = MARKER_MM,
    heading_deg: float = 0.0,
    z_mm: float = 0.0,
) -> Array:
    """A marker's corners (4, 3) round its middle, the printed top left first and clockwise as printed."""
    c, s = np.cos(np.radians(heading_deg)), np.sin(np.radians(heading_deg))
    corners = (
        np.array([(-1, 1), (1, 1), (1, -1), (-1, -1)]) * side_mm / 2 @ np.array([[c, s], [-s, c]])
    )
    return np.column_stack([corners + np.array([x_mm, y_mm]), np.full(4, z_mm)])


def known_board(places: Mapping[int, tuple[float, float]]) -> Board:
    """A board with markers (middles in mm) at known places."""
    corners = {number: square_mm(*place) for number, place in places.items()}
    return Board("test", MARKER_MM, DICTIONARY, BOARD_MM, BOARD_MM, corners)


FOUR = {0: (60.0, 60.0), 1: (840.0, 60.0), 2: (840.0, 840.0), 3: (60.0, 840.0)}
EIGHT = FOUR | {4: (450.0, 60.0), 5: (840.0, 450.0), 6: (450.0, 840.0), 7: (60.0, 450.0)}


@dataclass(frozen=True)
class Look:
    """How the light becomes a picture."""

    blur_px: float = 0.7
    noise: float = 1.0
    gamma: float = 1.0
    """Applied to the light before the blur, as sharpening and coding come after the tone curve."""
    seed: int = 1


def shoot(
    camera: Camera,
    markers: Mapping[int, Array],
    *,
    size_px: tuple[int, int] = (1600, 1200),
    look: Look | None = None,
    cover: Callable[[Array], NDArray[np.bool_]] | None = None,
    dictionary: str = DICTIONARY,
) -> Frame:
    """The photo of markers with corners (4, 3); `cover` says which board points (..., 2) something grey lies on."""
    look = look or Look()
    light = np.full((size_px[1], size_px[0]), MAT)
    for number, corners in markers.items():
        _draw(light, camera, _print(number, dictionary), corners, cover)
    tone = cv2.GaussianBlur(light ** (1 / look.gamma), (0, 0), look.blur_px)
    noise = np.random.default_rng(look.seed).normal(0, look.noise, tone.shape)
    grey = np.clip(tone * 255 + noise, 0, 255).round().astype(np.uint8)
    return Frame(np.repeat(grey[:, :, None], 3, 2), "test")


def _print(number: int, dictionary: str) -> Array:
    """A marker's cells with a white margin of two, as light."""
    code = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary))
    cells = code.generateImageMarker(number, code.markerSize + 2) > 127
    return np.where(np.pad(cells, 2, constant_values=True), CARD, BLACK)


def _draw(
    light: Array,
    camera: Camera,
    cells: Array,
    corners: Array,
    cover: Callable[[Array], NDArray[np.bool_]] | None,
) -> None:
    middle, right, down = (
        corners.mean(0),
        (corners[1] - corners[0])[:2],
        (corners[3] - corners[0])[:2],
    )
    ring = camera.project(middle + (corners - middle) * 1.75)
    low = np.floor(ring.min(0)).astype(int).clip(0)
    high = np.ceil(ring.max(0)).astype(int).clip(0, np.array(light.shape)[::-1] - 1) + 1
    if (high <= low).any():
        return
    pixels = np.stack(
        np.meshgrid(np.arange(low[0], high[0]), np.arange(low[1], high[1])), -1
    ).astype(float)
    board = camera.unproject(pixels, middle[2])
    by_v, by_u = np.gradient(board, axis=(0, 1))
    patch, old, count = (
        np.zeros(pixels.shape[:2]),
        light[low[1] : high[1], low[0] : high[0]],
        len(cells) - 4,
    )
    for v in (np.arange(SUBPIXELS) + 0.5) / SUBPIXELS - 0.5:
        for u in (np.arange(SUBPIXELS) + 0.5) / SUBPIXELS - 0.5:
            at = board + by_u * u + by_v * v
            local = (at - corners[0, :2]) @ np.linalg.inv(np.stack([right, down])) * count + 2
            column, row = np.floor(local).astype(int).transpose(2, 0, 1)
            inside = (np.minimum(row, column) >= 0) & (np.maximum(row, column) < len(cells))
            seen = np.where(
                inside, cells[row.clip(0, len(cells) - 1), column.clip(0, len(cells) - 1)], old
            )
            patch += seen if cover is None else np.where(cover(at), 0.5, seen)
    light[low[1] : high[1], low[0] : high[0]] = patch / SUBPIXELS**2


def seen_markers(
    camera: Camera,
    markers: Mapping[int, Array],
    random: np.random.Generator,
    spoil: float = 1.0,
    own: float = 1.0,
    shape: float | None = None,
) -> list[Marker]:
    """Markers as a camera would find them, with no picture drawn: true edges, and the noise that they are said to have.

    `spoil` is how many times that of what the edges of a marker share, of its `shape` something else where told;
    `own` how many times that of each edge.
    """
    scales = own, spoil, spoil if shape is None else shape
    return [_seen(camera, number, corners, random, scales) for number, corners in markers.items()]


def _seen(
    camera: Camera,
    number: int,
    corners: Array,
    random: np.random.Generator,
    scales: tuple[float, float, float],
) -> Marker:
    cells = _print(number, DICTIONARY)[2:-2, 2:-2] > MAT
    spots = place_stations(cells, 2.0)
    middle = np.array([spots.place[spots.edge == edge].mean(0) for edge in range(len(spots.line))])
    across = np.array([spots.across[spots.edge == edge][0] for edge in range(len(spots.line))])
    along = across[:, ::-1]

    def project(place: Array) -> Array:
        right, down = corners[1] - corners[0], corners[3] - corners[0]
        return camera.project(corners[0] + place[:, :1] * right + place[:, 1:] * down)

    tangent = project(middle + along * 1e-4) - project(middle - along * 1e-4)
    normal = np.column_stack([tangent[:, 1], -tangent[:, 0]])
    normal *= np.sign(
        (normal * (project(middle + across * 1e-4) - project(middle))).sum(1, keepdims=True)
    )
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    true = MarkerEdges(middle, project(middle), normal, np.full(len(middle), 0.06), spots.line)
    seen = project(np.array([(0, 0), (1, 0), (1, 1), (0, 1)], float))
    own, place, shape = scales
    shared = [
        shape * edge_noise.shape_noise_columns_px(true),
        place * edge_noise.place_noise_columns_px(true, MARKER_MM / side_px(seen)),
    ]
    error = (
        own
        * np.linalg.cholesky(edge_noise.edge_noise_covariance_px2(true))
        @ random.normal(size=len(middle))
    )
    error += sum(columns @ random.normal(size=columns.shape[1]) for columns in shared)
    edges = replace(true, xy_px=true.xy_px + normal * error[:, None])
    return Marker(number, DICTIONARY, 1.0, 0.7, Square(seen, np.eye(8) * 0.01, 0.0, edges, 60.0))
