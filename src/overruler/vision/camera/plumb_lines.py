"""Plumb lines: the straight edges of the mat correct the lens's distortion.

The method is Brown's (Close-range camera calibration, 1971). Four markers in the corners leave open
how an unknown lens distorts the picture between them. The mat's edges run there, straight to within
a share of their length. Each edge is found in the photo and unprojected onto the board; its bend is
a residual of the distortion. Its offset and its direction do not count, since mats are cut and laid
inaccurately. Nor does its height: a straight line above the board looks straight as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.calibration import Calibration
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm
from overruler.vision.camera.edge_trace import (
    MIN_INLIERS,
    MIN_SPAN_SHARE,
    SEARCH_REACH_MM,
    bend_basis,
    trace_edge,
)
from overruler.vision.camera.measurement_update import (
    Measurements,
    find_worst_outlier,
    kalman_update,
)
from overruler.vision.camera.precision_map import place_jacobian_camera_bow
from overruler.vision.camera.table_bow import correct_for_bow_mm
from overruler.vision.imaging.line_profiles import log_colours, sample_picture, steps_across

STRAIGHTNESS_SIGMA_SHARE = 5e-4
"""1 σ of an edge's bend, as a share of its length: mats are cut by hand and stretch. The second
shape, one half of the edge against the other, has half this σ."""
CURL_SIGMA_MM = 0.7
"""1 σ of the height of an edge's centre over its ends: curl looks like a bend at a slant."""
STATION_COUNT = 120
"""Number of stations along an edge at which it is measured."""
STEP_PX = 0.5
"""Spacing of the samples across an edge."""
MIN_MM_PER_PX = 0.005
"""Least size of a pixel on the table at an edge. It bounds the number of samples across."""
OVERSAMPLING = 8
"""Factor of oversampling along an edge; the samples are averaged."""
STRIPE_WIDTH_MM = 1.2
"""Width of the stripes on both sides of a point that are compared."""
MIN_STRIPE_SAMPLES = 3
"""Smallest width of these stripes in samples."""
CORRELATED_STATIONS = 4
"""Number of neighbouring stations that share texture and shadow and count as one."""
CARD_SIZE_RATIO = 2.0
"""Size of a marker's card, which has edges of its own, in sizes of the marker."""


MIN_MAT_MM = 500.0
"""Least longer side of a mat, of which points were clicked. A sheet of paper is smaller, and curls."""

Side = tuple[Array, Array]
"""Start (2,) and end (2,) in mm of a line along which an edge of the mat may run."""


@dataclass(frozen=True, slots=True, eq=False)
class MatEdge:
    """The shape of one edge of the mat as the camera measures it."""

    bend_mm: Array
    """(2,): outward bend of the centre, and amplitude of the S-shape."""
    covariance_mm2: Array
    """(2, 2): their covariance, by the pixels and by how straight mats are."""
    table_jacobian: Array
    """(2, 17): Jacobian by camera and bow for an edge that is fixed in the photo."""


@dataclass(frozen=True, slots=True, eq=False)
class Straightened:
    """A calibration updated by the mat's edges, and what these said."""

    calibration: Calibration
    """The updated one; the given one without edges."""
    edge_count: int = 0
    """Edges that are visible and agree with each other."""
    bend_mm: float = 0.0
    """How bent the given calibration had them, root mean square."""

    @property
    def merit(self) -> tuple[int, float]:
        """Larger for the calibration that knows the lens better beforehand."""
        return self.edge_count, -self.bend_mm


def straighten_mat_edges(
    frame: Frame, calibration: Calibration, sides: Sequence[Side]
) -> Straightened:
    """Update the calibration by all edges of the mat that are visible and agree with each other."""
    edges = []
    for start_mm, end_mm in sides:
        edge = _measure_edge(frame, calibration, start_mm, end_mm)
        if edge is not None:
            edges.append(edge)
    covariance = calibration.joint_covariance
    while edges:
        measurements = _stack_measurements(edges)
        worst = find_worst_outlier(
            measurements.innovation, measurements.innovation_covariance(covariance)
        )
        if worst is None:
            update = kalman_update(measurements, covariance)
            updated = calibration.updated_by(update.step, update.updated_covariance)
            bend_mm = float(np.sqrt(np.mean(measurements.innovation**2)))
            return Straightened(updated, len(edges), bend_mm)
        del edges[worst // 2]
    return Straightened(calibration)


def _stack_measurements(edges: list[MatEdge]) -> Measurements:
    """The bends of all edges as measurements of zero."""
    noise = np.zeros((2 * len(edges), 2 * len(edges)))
    for k, edge in enumerate(edges):
        block = slice(2 * k, 2 * k + 2)
        noise[block, block] = edge.covariance_mm2
    bends = np.concatenate([edge.bend_mm for edge in edges])
    jacobian = np.concatenate([edge.table_jacobian for edge in edges])
    return Measurements(-bends, jacobian, noise)


def board_sides(board_mm: tuple[float, float]) -> list[Side]:
    """The board's edges, counter-clockwise."""
    return _sides_between(np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * board_mm)


def sides_between_clicks(xy_mm: Array) -> list[Side]:
    """The lines between clicked points (N, 2), where a mat's edges may run; none on a small sheet."""
    if np.ptp(xy_mm, axis=0).max() < MIN_MAT_MM:
        return []
    hull = cv2.convexHull(xy_mm.astype(np.float32), returnPoints=False)
    return _sides_between(xy_mm[np.ravel(hull)])


def _sides_between(corners_mm: Array) -> list[Side]:
    return list(zip(corners_mm, np.roll(corners_mm, -1, axis=0), strict=True))


def _measure_edge(
    frame: Frame, calibration: Calibration, start_mm: Array, end_mm: Array
) -> MatEdge | None:
    """The mat's edge along one of the board's; None if too little of it is visible."""
    camera = calibration.camera
    length = float(np.linalg.norm(end_mm - start_mm))
    along = (end_mm - start_mm) / length
    outwards = np.array([along[1], -along[0]])
    middle = (start_mm + end_mm) / 2
    s = np.linspace(-1, 1, STATION_COUNT)
    places = middle + s[:, None] * (end_mm - start_mm) / 2
    mm_per_px = float(camera.mm_per_px(np.array([*places[STATION_COUNT // 2], 0.0])))
    if not MIN_MM_PER_PX < mm_per_px < SEARCH_REACH_MM:
        return None
    across = np.arange(-SEARCH_REACH_MM, SEARCH_REACH_MM + 1e-9, STEP_PX * mm_per_px)
    steps, seen = _sample_colour_steps(frame, calibration, places, outwards, across)
    seen &= ~_hidden_by_cards(calibration, places)
    if seen.sum() < MIN_INLIERS or np.ptp(s[seen]) < 2 * MIN_SPAN_SHARE:
        return None
    trace = trace_edge(steps[seen], s[seen], across, mm_per_px)
    if trace is None:
        return None
    offset_mm, weight = trace
    on_edge = places[seen] + offset_mm[:, None] * outwards
    # a bowed table lifts the middle of an edge, which looks bent at a slant
    offset_mm = offset_mm + (correct_for_bow_mm(calibration, on_edge) - on_edge) @ outwards
    by_table = place_jacobian_camera_bow(calibration, on_edge)
    jacobian = np.einsum("i,nij->nj", outwards, by_table)
    slant = float(outwards @ relief_displacement_per_mm(camera, middle, 0.0))
    bend_sigma_mm = float(np.hypot(STRAIGHTNESS_SIGMA_SHARE * length, CURL_SIGMA_MM * slant))
    return _fit_bend(s[seen], offset_mm, weight, jacobian, bend_sigma_mm)


def _fit_bend(
    s: Array, offset_mm: Array, weight: Array, jacobian: Array, bend_sigma_mm: float
) -> MatEdge:
    """Fit the shape of an edge to its offsets (N,) at stations (N,) with Jacobian (N, 17)."""
    basis = bend_basis(s)
    weighted = basis * weight[:, None]
    solver = np.linalg.solve(basis.T @ weighted, weighted.T)
    amplitudes = solver @ offset_mm
    residual = offset_mm - basis @ amplitudes
    variance = CORRELATED_STATIONS * float(weight @ residual**2 / weight.sum())
    by_pixels = variance * (solver @ solver.T)[2:, 2:]
    by_mat = np.diag(np.square([bend_sigma_mm, bend_sigma_mm / 2]))
    return MatEdge(amplitudes[2:], by_pixels + by_mat, (solver @ jacobian)[2:])


def _hidden_by_cards(calibration: Calibration, places_mm: Array) -> NDArray[np.bool_]:
    """Which places (N, 2) lie near a marker's card."""
    squares = np.reshape(calibration.squares_mm, (-1, 4, 2))
    centres = squares.mean(1)
    half = np.abs(squares - centres[:, None]).max((1, 2))
    distance = np.abs(places_mm[:, None] - centres).max(-1)
    return np.asarray((distance < CARD_SIZE_RATIO * half + SEARCH_REACH_MM).any(1))


def _sample_colour_steps(
    frame: Frame, calibration: Calibration, places_mm: Array, outwards: Array, across_mm: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """Colour steps (N, A, 3) across an edge at N stations, and which stations are in the picture."""
    ends = places_mm[:, None] + np.array([across_mm[0], across_mm[-1]])[:, None] * outwards
    ends_3d = np.concatenate([ends, np.zeros((*ends.shape[:2], 1))], -1)
    ends_px = calibration.camera.project(ends_3d)
    # over so short a line the lens's distortion is linear
    share = np.linspace(0, 1, len(across_mm))[:, None]
    samples_px = (1 - share) * ends_px[:, :1] + share * ends_px[:, 1:]
    limit = np.array(frame.size_px) - 1
    seen = np.asarray(((ends_px >= 0) & (ends_px <= limit)).all((1, 2)))
    colours = _averaged_samples(frame, samples_px.astype(np.float32))
    spacing_mm = float(across_mm[1] - across_mm[0])
    stripe = max(MIN_STRIPE_SAMPLES, round(STRIPE_WIDTH_MM / spacing_mm))
    return steps_across(log_colours(colours), stripe), seen


def _averaged_samples(frame: Frame, samples_px: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Colours (N, A, 3) at pixels (N, A, 2), averaged along the first axis."""
    rows, columns = samples_px.shape[:2]
    fine_size = (columns, OVERSAMPLING * rows)
    fine_px = cv2.resize(samples_px, fine_size, interpolation=cv2.INTER_LINEAR)
    fine = sample_picture(frame.pixels, np.asarray(fine_px, np.float32))
    colours = cv2.resize(fine, (columns, rows), interpolation=cv2.INTER_AREA)
    return np.asarray(colours, np.uint8)
