"""Markers as calibration meets them: cameras over a board, markers at known places, and seen with no picture drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from overruler.board import Board
from overruler.calibration import SPEC_SHARE
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.camera.bundle_adjustment import MARKER_GROWTH_SIGMA_PX
from overruler.vision.camera.marker_layout import MARKER_HEIGHT_SIGMA_MM
from overruler.vision.markers import edge_noise
from overruler.vision.markers.marker import Marker
from overruler.vision.markers.marker_edges import MarkerEdges
from overruler.vision.markers.print_edges import place_stations
from overruler.vision.markers.square_fit import Square, side_px
from synthetic.arrays import Rng
from synthetic.camera import camera_above, lens_matrix
from synthetic.flat_table import marker_cells, square_mm

DICTIONARY = "DICT_4X4_50"
MARKER_MM = 60.0
BOARD_MM = 900.0
FOUR = {0: (60.0, 60.0), 1: (840.0, 60.0), 2: (840.0, 840.0), 3: (60.0, 840.0)}
EIGHT = FOUR | {4: (450.0, 60.0), 5: (840.0, 450.0), 6: (450.0, 840.0), 7: (60.0, 450.0)}
"""The middles of markers, in mm."""


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
    middle = (np.array(size_px) - 1) / 2 + center_px
    matrix = lens_matrix(focal_px, middle)
    return camera_above(aim_mm, height_mm, tilt_deg, turn_deg, matrix, distortion)


def marker_mm(
    x_mm: float,
    y_mm: float,
    side_mm: float = MARKER_MM,
    heading_deg: float = 0.0,
    z_mm: float = 0.0,
) -> Array:
    """The corners (4, 3) of a marker of the usual size round its middle."""
    return square_mm(x_mm, y_mm, side_mm, heading_deg, z_mm)


def known_board(places: Mapping[int, tuple[float, float]]) -> Board:
    """A board with markers (middles in mm) at known places."""
    corners = {number: marker_mm(*place) for number, place in places.items()}
    return Board("test", MARKER_MM, DICTIONARY, BOARD_MM, BOARD_MM, corners)


def seen_markers(
    camera: Camera,
    markers: Mapping[int, Array],
    random: Rng,
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
    random: Rng,
    scales: tuple[float, float, float],
) -> Marker:
    cells = marker_cells(number, DICTIONARY)
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
        shape * edge_noise.shape_noise_columns_px(true, shift_px=0.0, cell_px=10.0),
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


def swollen(found: Sequence[Marker], swell_px: float) -> list[Marker]:
    """The same markers, looking that much larger at their sides than they are."""
    grown = []
    for marker in found:
        edges = marker.square.edges
        reach = edges.xy_px - edges.xy_px.mean(0)
        out = (reach * edges.normal_px).sum(1) / np.abs(reach).max() * swell_px
        seen = replace(edges, xy_px=edges.xy_px + edges.normal_px * out[:, None])
        grown.append(replace(marker, square=replace(marker.square, edges=seen)))
    return grown


def as_stated(
    camera: Camera,
    markers: Mapping[int, Array],
    random: Rng,
    spoil: float = 1.0,
    own: float = 1.0,
    shape: float | None = None,
) -> list[Marker]:
    """Markers as a camera would find them, with all the noise that calibration states: heights and swell, too."""
    lifted = {
        n: at + np.array([0, 0, spoil * MARKER_HEIGHT_SIGMA_MM * random.normal()])
        for n, at in markers.items()
    }
    swell_px = MARKER_GROWTH_SIGMA_PX * (spoil if shape is None else shape) * random.normal()
    return swollen(seen_markers(camera, lifted, random, spoil, own, shape), swell_px)


def as_specified(camera: Camera, markers: Mapping[int, Array], random: Rng) -> list[Marker]:
    """The same on a table that is as its board file says: laid well, on cards that lie flat."""
    lifted = {
        n: at + np.array([0, 0, SPEC_SHARE * MARKER_HEIGHT_SIGMA_MM * random.normal()])
        for n, at in markers.items()
    }
    seen = seen_markers(camera, lifted, random, edge_noise.PLACE_SPEC_SHARE, shape=1.0)
    return swollen(seen, MARKER_GROWTH_SIGMA_PX * float(random.normal()))
