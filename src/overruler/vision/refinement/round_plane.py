"""The table's plane by its round bases, where points given by hand tell it.

People click beside a corner, or give a table's size as it was sold. Then the plane is stretched and tilted, and every
round base looks stretched the same way as its neighbours. What makes all of them round is the true plane, but for its
scale: the metric rectification from circles (Hartley and Zisserman, Multiple View Geometry, 2004, 2.7).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.calibration import Calibration, Problem
from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Frame
from overruler.geometry.batched.vectors import unit_vectors
from overruler.geometry.pose import Array
from overruler.units import SIGMAS_95
from overruler.vision.camera.observations import ClickedPoint
from overruler.vision.camera.problems import sort_by_severity
from overruler.vision.detection.detect import rectify_board
from overruler.vision.detection.seen_in_play import see_in_play
from overruler.vision.learned.in_play_net import LOG_SIGMA_STRETCH, LOGIT, VISIBLE_LOGIT
from overruler.vision.learned.logits import sigmoid
from overruler.vision.learned.shapes_in_play import SeenShapes
from overruler.vision.rounds.fit_rounds import is_in_play

MIN_LOGIT = 3.0
"""Smallest log odds of a base that tells the plane."""
MIN_VISIBLE_SHARE = 0.55
"""Smallest visible share of its rim: the network guesses the rest of it, and not without bias."""
MAX_ASPECT = 1.45
"""Largest ratio of length to width: beyond lie ovals."""
MIN_BASES, MIN_BASES_AGAIN = 5, 3
"""Smallest number of such bases, and of those that a second look goes by."""
LOG_SIGMA_BOUNDS = -5.5, 1.0
"""Bounds of the log σ that the network states."""
SHAPE_SIGMA = 0.02
"""1 σ of a base's half log ratio of length to width beside what the network states."""
STRETCH_SIGMA, TILT_SIGMA = 0.1, 0.08
"""1 σ of the plane's half log stretch beforehand, and of its tilt: how depth grows out to the farthest point."""
ROBUST_SIGMAS = 2.0
"""Scale of the Cauchy weights, in σ: ovals and bases that hide much count less."""
ROUNDS = 30
"""Rounds of the robust fit."""
MIN_STRETCH = 0.035
"""Smallest half log stretch of the bases (root mean square) at which the plane is corrected: by 7 %."""
MIN_CHI_SQUARED = 8.0
"""Smallest χ² of the four numbers, by their covariance, at which it is: without an error one in eleven has more."""
SURE_CHI_SQUARED = 25.0
"""χ² from which the points are said to be wrong even where no correction makes the bases round."""
ROUNDER = 0.6
"""Largest ratio of the median stretch after the correction to that before."""
MAX_PASSES = 3
"""Times that the plane is corrected: on one that is far off the network sees few bases, and those not as they are."""
LEAST_DEPTH = 0.6
"""Smallest depth of a given point in the corrected plane, by that of the bases' middle: a larger tilt is corrected
in several passes, and so is what one pass overdoes: no camera sees any four points where they are said to be."""


@dataclass(frozen=True, slots=True, eq=False)
class PlaneError:
    """How the plane that points tell differs from one on which bases are round."""

    middle_mm: Array
    """(2,): middle of the bases; it stays where it is."""
    reach_mm: float
    """Distance of the farthest given point from there."""
    stretch: Array
    """(2,): half log ratio of lengths along x to those along y, and along the diagonal to those across."""
    tilt: Array
    """(2,): by how much the plane's depth grows from the middle out to the reach, along x and along y."""
    chi_squared: float
    """How surely there is an error: χ² of the four numbers by their covariance."""
    mean_stretch: float
    """Half log stretch of the bases that this explains, root mean square."""
    median_stretch: float
    """Half log stretch of the bases, as they look."""
    bases: int
    """How many there are."""

    @property
    def is_told(self) -> bool:
        """Whether the bases tell the error, and it is worth correcting."""
        is_sure = self.bases >= MIN_BASES and self.chi_squared > MIN_CHI_SQUARED
        return is_sure and self.mean_stretch > MIN_STRETCH

    @property
    def is_certain(self) -> bool:
        """Whether χ² is so large that the points count as wrong even without a correction that helps."""
        return self.chi_squared > SURE_CHI_SQUARED

    def corrected_mm(self, xy_mm: Array) -> Array:
        """Return where points (N, 2) lie if bases are round."""
        offset = (xy_mm - self.middle_mm) / self.reach_mm
        deeper = offset @ self.tilt
        depth = 1 + deeper * min(1.0, (1 - LEAST_DEPTH) / max(-float(deeper.min()), 1e-9))
        (along, diagonal), size = self.stretch, float(np.hypot(*self.stretch))
        direction = np.array([[along, diagonal], [diagonal, -along]]) / max(size, 1e-12)
        shrink = np.cosh(size) * np.eye(2) - np.sinh(size) * direction  # the matrix exponential
        return np.asarray(self.middle_mm + self.reach_mm * (offset / depth[:, None]) @ shrink)


def find_plane_error(seen: SeenShapes, points_mm: Array) -> PlaneError | None:
    """Fit the error of the plane that points (M, 2) tell to the round bases plain to see; None if these are too few."""
    plain = seen.among(_tell_the_plane(seen))
    if len(plain.shapes) < MIN_BASES_AGAIN:
        return None
    x, y, length, width, heading = plain.shapes.T
    half_log = np.log(length / width) / 2
    looks = half_log[:, None] * unit_vectors(2 * heading)
    stated = np.exp(plain.answers[:, LOG_SIGMA_STRETCH].clip(*LOG_SIGMA_BOUNDS))
    return _fit(np.stack([x, y], -1), points_mm, looks, np.hypot(stated, SHAPE_SIGMA))


def _tell_the_plane(seen: SeenShapes) -> NDArray[np.bool_]:
    is_plain = (seen.answers[:, LOGIT] > MIN_LOGIT) & ~seen.is_angular
    is_whole = sigmoid(seen.answers[:, VISIBLE_LOGIT]) > MIN_VISIBLE_SHARE
    is_wide = seen.shapes[:, 2] < MAX_ASPECT * seen.shapes[:, 3]
    return np.asarray(is_plain & is_whole & is_wide)


def _fit(xy_mm: Array, points_mm: Array, looks: Array, sigma: Array) -> PlaneError:
    """Fit by reweighted least squares; `looks` (N, 2) are stretches as `PlaneError.stretch` is, `sigma` (N,) theirs."""
    middle = xy_mm.mean(0)
    reach = float(np.hypot(*(points_mm - middle).T).max())
    design = _design((xy_mm - middle) / reach)
    prior = np.diag(np.repeat([STRETCH_SIGMA, TILT_SIGMA], 2) ** -2.0)
    values = np.array([*np.median(looks, 0), 0, 0])
    for _ in range(ROUNDS):
        misfit = np.hypot(*(looks - design @ values).T) / sigma
        weight = 1 / (sigma**2 * (1 + (misfit / ROBUST_SIGMAS) ** 2))
        normal = np.einsum("nik,n,nil->kl", design, weight, design) + prior
        values = np.linalg.solve(normal, np.einsum("nik,n,ni->k", design, weight, looks))
    mean_stretch = float(np.sqrt(np.mean(np.sum((design @ values) ** 2, 1))))
    chi_squared = float(values @ normal @ values)
    median = float(np.median(np.hypot(*looks.T)))
    told = chi_squared, mean_stretch, median, len(looks)
    return PlaneError(middle, reach, values[:2], values[2:], *told)


def _design(offset: Array) -> Array:
    """How bases at offsets (N, 2), in reaches, look stretched by each of the four numbers (N, 2, 4).

    The correction takes a point X to X / (1 + q · X), by a tilt q. At X it undoes a stretch of (X qᵀ + q Xᵀ) / 2,
    scale apart.
    """
    x, y = offset.T
    one, none = np.ones(len(x)), np.zeros(len(x))
    along = np.stack([one, none, x / 2, -y / 2], -1)
    diagonal = np.stack([none, one, y / 2, x / 2], -1)
    return np.stack([along, diagonal], 1)


class Plane(NamedTuple):
    """What points tell, and what the bases say of that."""

    calibration: Calibration
    points: Sequence[ClickedPoint]
    error: PlaneError | None

    @property
    def looks_stretched(self) -> float:
        """Half log stretch of the bases as they look, median; infinite where too few are seen."""
        return np.inf if self.error is None else self.error.median_stretch


def correct_plane(
    frame: Frame,
    calibration: Calibration,
    points: Sequence[ClickedPoint],
    radii_mm: Array,
    margin_mm: float,
    calibrate_by: Callable[[Sequence[ClickedPoint]], Calibration],
) -> Calibration:
    """Calibrate anew by the points as round bases place them, if these tell that the points lie elsewhere.

    Nothing changes where markers lie on the table, or where no base of the catalogue is among `radii_mm` (C,).
    """
    if not points or not is_in_play(calibration, radii_mm):
        return calibration

    def look(calibration: Calibration, points: Sequence[ClickedPoint]) -> Plane:
        view = rectify_board(frame, calibration, margin_mm=margin_mm)
        seen = see_in_play(frame, calibration.camera, view)[1]
        error = find_plane_error(seen, np.array([point[2:] for point in points]))
        return Plane(calibration, points, error)

    first = look(calibration, points)
    if first.error is None or not first.error.is_told:
        return calibration
    planes = [first]
    while len(planes) <= MAX_PASSES and (plane := _corrected(planes[-1], look, calibrate_by)):
        planes.append(plane)
    best = min(planes, key=lambda plane: plane.looks_stretched)
    if best.looks_stretched < ROUNDER * first.looks_stretched:
        calibration = best.calibration
    elif not first.error.is_certain:
        return calibration
    return _with_doubt(calibration, first.error.mean_stretch)


def _corrected(
    plane: Plane,
    look: Callable[[Calibration, Sequence[ClickedPoint]], Plane],
    calibrate_by: Callable[[Sequence[ClickedPoint]], Calibration],
) -> Plane | None:
    """Correct a plane's error and look again; None where no error is told, or no camera sees the points there."""
    if plane.error is None or not plane.error.is_told:
        return None
    moved = plane.error.corrected_mm(np.array([point[2:] for point in plane.points]))
    seen_px = [point[:2] for point in plane.points]
    points = [(u, v, float(x), float(y)) for (u, v), (x, y) in zip(seen_px, moved, strict=True)]
    try:
        return look(calibrate_by(points), points)
    except (BadInput, CannotMeasure):
        return None


def _with_doubt(calibration: Calibration, sigma: float) -> Calibration:
    """Add the doubt of the scale (1 σ, as a share), which round bases do not tell, and say what was done.

    If lengths along x and along y were wrong independently, the scale is as far off as the stretch is large. No
    size of the catalogue tells it either: bases of 28.5 mm on a plane that is too large look like those of 32.
    """
    known = calibration.budget
    budget = replace(
        known,
        scale_share=float(np.hypot(known.scale_share, sigma)),
        specified_scale_share=float(np.hypot(known.specified_scale_share, sigma)),
    )
    longer, unsure = 100 * np.expm1(2 * sigma), 100 * SIGMAS_95 * sigma
    text = (
        f"the round bases look {longer:.0f} % longer one way than the other, so the points do not lie where they "
        f"are said to: lengths are unsure by ± {unsure:.0f} % (95 %); give the points anew"
    )
    others = [one for one in calibration.problems if one.flag != "unsure_distances"]  # it is more
    problems = sort_by_severity([*others, Problem("points_disagree", text)])
    return replace(calibration, budget=budget, problems=problems)
