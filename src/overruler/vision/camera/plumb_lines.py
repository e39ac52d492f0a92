"""What the straight edges of the mat say about the lens (plumb lines: Brown, Close-range camera calibration, 1971).

Four markers in the corners leave open how far an unknown lens bends the picture between them. The board's edges run
there, straight to within a share of their length: they are looked for in the photo, and by how much they come out bent
on the board is what the lens bends too little or too much. Where an edge lies and how it is turned does not count, for
mats are cut and laid as they are; nor does its height, for a straight line over the board looks straight as well.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.calibration import Calibration
from overruler.frame import Frame
from overruler.geometry.parabola import parabolic_peak_offset
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm
from overruler.vision.camera.measurement_update import (
    Measurements,
    find_worst_outlier,
    kalman_update,
)
from overruler.vision.camera.precision_map import place_jacobian_camera_bow
from overruler.vision.imaging.line_profiles import log_colours, sample_picture, steps_across

STRAIGHTNESS_SIGMA_SHARE = 5e-4
"""1 σ of how far an edge's middle stands off the line between its ends, as a share of its length: mats are cut by hand
and stretch. Half of that is expected of an edge's wriggling, one half against the other."""
CURL_SIGMA_MM = 0.7
"""1 σ of how far it stands up or down there, which looks like a bend where the camera looks aslant: mats curl."""
SEARCH_REACH_MM, MAX_SLANT_MM, MAX_BEND_MM = 20.0, 8.0, 6.0
"""How far from the board's edge the mat's may lie; how far it may turn off by half its length, and bend."""
STATION_COUNT, STEP_PX = 120, 0.5
"""Places along an edge where it is looked across, and how finely."""
OVERSAMPLING = 8
"""So many times finer colours are taken along an edge, and averaged."""
STRIPE_WIDTH_MM, MIN_STRIPE_SAMPLES, MAX_STEP_STRENGTH = 1.2, 3, 4.0
"""Stripes on both sides are compared that are so wide, and so many samples; a step counts up to so many usual ones."""
COARSE_STRIDE, COARSE_HALF_WIDTH_MM = 2, 2.0
"""Every so many-th place tells roughly where the edge runs, so far to either side."""
SEARCH_REACHES_PX = (6.0, 4.0, 3.0, 3.0)
"""How many pixels off the line the edge is looked for, one time after the other."""
INLIER_DISTANCE_PX, MIN_INLIER_SHARE, MIN_INLIERS = 0.8, 0.6, 30
"""A line is an edge if it is seen so near to it at so many places, and at this share of those in sight."""
MIN_SPAN_SHARE = 0.5
"""The share of the edge, from its first place in sight to its last one, without which its bend says nothing."""
CORRELATED_STATIONS = 4
"""So many neighbouring places share texture and shadow: they count as one."""
CARD_SIZE_RATIO = 2.0
"""Markers hide so many times their own size of an edge: their cards have edges of their own."""


@dataclass(frozen=True, slots=True, eq=False)
class MatEdge:
    """One edge of the mat as the camera measures it: how far its middle stands outwards, and how far it wriggles."""

    bend_mm: Array
    """(2,)."""
    covariance_mm2: Array
    """(2, 2): of these by the pixels, and by what edges are bent in truth."""
    table_jacobian: Array
    """(2, 17): how they move with the camera's parameters and the bow's, the edge staying where it is in the photo."""


def refine_by_mat_edges(frame: Frame, calibration: Calibration) -> Calibration:
    """The calibration with what the edges of the board say, those that are seen and do not contradict each other."""
    edges = [
        edge
        for side in _board_sides(calibration)
        if (edge := _measure_edge(frame, calibration, *side)) is not None
    ]
    while edges:
        measures = _stack_measurements(edges)
        worst = find_worst_outlier(
            measures.innovation, measures.innovation_covariance(calibration.joint_covariance)
        )
        if worst is None:
            update = kalman_update(measures, calibration.joint_covariance)
            return calibration.updated_by(update.step, update.updated_covariance)
        del edges[worst // 2]
    return calibration


def _stack_measurements(edges: list[MatEdge]) -> Measurements:
    noise = np.zeros((2 * len(edges), 2 * len(edges)))
    for k, edge in enumerate(edges):
        noise[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = edge.covariance_mm2
    bent, slope = (
        np.concatenate([edge.bend_mm for edge in edges]),
        np.concatenate([edge.table_jacobian for edge in edges]),
    )
    return Measurements(-bent, slope, noise)


def _board_sides(calibration: Calibration) -> Iterable[tuple[Array, Array]]:
    """The board's edges, each from its start (2,) to its end (2,), the board on the left."""
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * calibration.board_mm
    return zip(corners, np.roll(corners, -1, axis=0), strict=True)


def _measure_edge(
    frame: Frame, calibration: Calibration, start_mm: Array, end_mm: Array
) -> MatEdge | None:
    """The mat's edge along one of the board's; None where it is not seen, or not well enough."""
    length = float(np.linalg.norm(end_mm - start_mm))
    along = (end_mm - start_mm) / length
    outwards = np.array([along[1], -along[0]])
    s = np.linspace(-1, 1, STATION_COUNT)
    places = (start_mm + end_mm) / 2 + s[:, None] * (end_mm - start_mm) / 2
    scale = float(calibration.camera.mm_per_px(np.array([*places[STATION_COUNT // 2], 0.0])))
    if not np.isfinite(scale):
        return None
    across = np.arange(-SEARCH_REACH_MM, SEARCH_REACH_MM + 1e-9, STEP_PX * scale)
    steps, seen = _sample_colour_steps(frame, calibration, places, outwards, across)
    seen &= ~_hidden_by_cards(calibration, places)
    if seen.sum() < MIN_INLIERS or np.ptp(s[seen]) < 2 * MIN_SPAN_SHARE:
        return None
    followed = _trace_edge(steps[seen], s[seen], across, scale)
    if followed is None:
        return None
    at_mm, weight = followed
    slope = np.einsum(
        "i,nij->nj",
        outwards,
        place_jacobian_camera_bow(calibration, places[seen] + at_mm[:, None] * outwards),
    )
    aslant = float(
        outwards @ relief_displacement_per_mm(calibration.camera, (start_mm + end_mm) / 2, 0.0)
    )
    straight = float(np.hypot(STRAIGHTNESS_SIGMA_SHARE * length, CURL_SIGMA_MM * aslant))
    return _fit_bend(s[seen], at_mm, weight, slope, straight)


def _fit_bend(s: Array, at_mm: Array, weight: Array, slope: Array, straight_mm: float) -> MatEdge:
    """How bent an edge is by where it is seen (N,) at its places (N,), which move by `slope` (N, 17) with the table."""
    shapes = _bend_basis(s)
    weighted = shapes * weight[:, None]
    solver = np.linalg.solve(shapes.T @ weighted, weighted.T)
    size = solver @ at_mm
    variance = CORRELATED_STATIONS * float(weight @ (at_mm - shapes @ size) ** 2 / weight.sum())
    by_pixels = variance * (solver @ solver.T)[2:, 2:]
    in_truth = np.diag(np.square([straight_mm, straight_mm / 2]))
    return MatEdge(size[2:], by_pixels + in_truth, (solver @ slope)[2:])


def _bend_basis(s: Array) -> Array:
    """(N, 4) how an edge may run, at places (N,) from -1 to 1 along it: off, turned, bent, and wriggling."""
    return np.stack(
        [np.ones_like(s), s, 1 - s**2, 2.6 * s * (1 - s**2)], -1
    )  # each as much as 1 where it is most


def _hidden_by_cards(calibration: Calibration, places_mm: Array) -> NDArray[np.bool_]:
    """Which places (N, 2) lie beside a marker's card."""
    squares = np.reshape(calibration.squares_mm, (-1, 4, 2))
    middles = squares.mean(1)
    half = np.abs(squares - middles[:, None]).max((1, 2))
    apart = np.abs(places_mm[:, None] - middles).max(-1)
    return np.asarray((apart < CARD_SIZE_RATIO * half + SEARCH_REACH_MM).any(1))


def _sample_colour_steps(
    frame: Frame, calibration: Calibration, places_mm: Array, outwards: Array, across_mm: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """The step of colour (N, A, 3) across an edge at each of its places, and which places are in sight."""
    ends = places_mm[:, None] + np.array([across_mm[0], across_mm[-1]])[:, None] * outwards
    ends_px = calibration.camera.project(np.concatenate([ends, np.zeros((*ends.shape[:2], 1))], -1))
    share = np.linspace(0, 1, len(across_mm))[:, None]
    at = ((1 - share) * ends_px[:, :1] + share * ends_px[:, 1:]).astype(
        np.float32
    )  # no lens bends that little
    seen = np.asarray(((ends_px >= 0) & (ends_px <= np.array(frame.size_px) - 1)).all((1, 2)))
    fine = np.asarray(
        cv2.resize(at, (at.shape[1], OVERSAMPLING * len(at)), interpolation=cv2.INTER_LINEAR),
        np.float32,
    )
    colours = cv2.resize(
        sample_picture(frame.pixels, fine), at.shape[1::-1], interpolation=cv2.INTER_AREA
    )
    wide = max(MIN_STRIPE_SAMPLES, round(STRIPE_WIDTH_MM / float(across_mm[1] - across_mm[0])))
    return steps_across(log_colours(np.asarray(colours, np.uint8)), wide), seen


def _trace_edge(
    steps: Array, s: Array, across_mm: Array, scale: float
) -> tuple[Array, Array] | None:
    """Where the edge is (N,), in mm outwards, and how much each place counts (N,); None where there is no edge."""
    size = np.linalg.norm(steps, axis=-1)
    usual = np.median(size) + 1e-3
    shapes, line = _bend_basis(s), _find_coarse_line(np.minimum(size / usual, MAX_STEP_STRENGTH), s)
    way = np.median(
        steps[np.abs(across_mm - line[:, None]) < COARSE_HALF_WIDTH_MM], axis=0
    )  # from the mat's colours to the table's
    towards = steps @ way / max(float(np.linalg.norm(way)), 1e-9) / usual
    for reach_px in SEARCH_REACHES_PX:
        at_mm, strength = _find_step_peaks(towards, across_mm, line, reach_px * scale)
        for _ in range(3):
            weight = strength / (1 + ((at_mm - line) / (INLIER_DISTANCE_PX * scale)) ** 2)
            weighted = shapes * weight[:, None]
            line = shapes @ np.linalg.lstsq(weighted.T @ shapes, weighted.T @ at_mm, rcond=None)[0]
    on = (np.abs(at_mm - line) < INLIER_DISTANCE_PX * scale) & (strength > 0)
    if on.sum() < MIN_INLIERS or on.mean() < MIN_INLIER_SHARE or np.ptp(s[on]) < 2 * MIN_SPAN_SHARE:
        return None
    return at_mm, weight * on


def _find_coarse_line(steps: Array, s: Array) -> Array:
    """The smooth line (N,), to a millimetre or two, along which the steps (N, A) are greatest."""
    few, reach = s[::COARSE_STRIDE], round(SEARCH_REACH_MM)
    by_mm = cv2.resize(
        steps[::COARSE_STRIDE], (2 * reach + 1, len(few)), interpolation=cv2.INTER_AREA
    )
    beyond = round(MAX_SLANT_MM + MAX_BEND_MM)
    wide = np.pad(
        cv2.blur(by_mm, (2 * round(COARSE_HALF_WIDTH_MM) + 1, 1)), ((0, 0), (beyond, beyond))
    )
    slant, bent = np.meshgrid(
        np.arange(-MAX_SLANT_MM, MAX_SLANT_MM + 1, 2.0),
        np.arange(-MAX_BEND_MM, MAX_BEND_MM + 1, 2.0),
    )
    lines = np.stack([slant.ravel(), bent.ravel()], -1)
    shift = np.rint(lines @ [few, 1 - few**2]).astype(int)
    along = wide[
        np.arange(len(few))[:, None], beyond + np.arange(by_mm.shape[1]) + shift[..., None]
    ].sum(1)
    which, off = np.unravel_index(int(along.argmax()), along.shape)
    return np.asarray(off - reach + lines[which] @ [s, 1 - s**2])


def _find_step_peaks(
    steps: Array, across_mm: Array, line_mm: Array, reach_mm: float
) -> tuple[Array, Array]:
    """Where each place's greatest step (N,) near the line is, between samples, and how great against the usual."""
    near = np.abs(across_mm - line_mm[:, None]) <= reach_mm
    rows, peak = (
        np.arange(len(steps)),
        np.clip(np.where(near, steps, -np.inf).argmax(1), 1, len(across_mm) - 2),
    )
    between = parabolic_peak_offset(*(steps[rows, peak + k] for k in (-1, 0, 1)))
    return across_mm[peak] + between * (across_mm[1] - across_mm[0]), np.clip(
        steps[rows, peak] - 1, 0, MAX_STEP_STRENGTH
    )
