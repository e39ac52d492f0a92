"""Find the stands of small scales on tables in play: rectangular bases covered as the ground is.

Their sides show little. The network of `in_play_net` knows them by the whole. Tokens, cards and tiles
look like them, so they count only on tables where they outnumber what is round.
"""

import numpy as np
from numpy.typing import NDArray

from overruler.bases import RECTANGLE_SIDES_MM, Base
from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.overlap_choice import make_detection
from overruler.vision.learned.in_play_net import (
    LOG_SIGMA_PLACE,
    LOG_SIGMA_SIZE,
    LOG_SIGMA_STRETCH,
    RECTANGLE_LOGIT,
)
from overruler.vision.learned.logits import sigmoid
from overruler.vision.learned.patches import equal_area_radius_mm
from overruler.vision.learned.rectangles_in_play import OVAL_TO_RECTANGLE
from overruler.vision.learned.rivals_for_a_place import likeliest_of_each_place
from overruler.vision.learned.shapes_in_play import SeenShapes, likelier_logits
from overruler.vision.plates.rectangle_fit import BasePose

LIKELY_LOGIT = 2.0
"""Log odds from which a shape counts as a likely stand, or as a likely round base."""
FEWEST = 5
"""So many likely stands make a table one of stands, if there are no more round bases. On 26 photographs of
other games there are at most 12, beside 25 round bases."""
TRUST = 0.6
"""How much of the log odds counts: on photographs the network is too sure."""
MIN_SCORE = 0.7
"""Smallest probability of a stand."""
SIZE_SIGMA, STRETCH_SIGMA = 0.08, 0.08
"""1 σ of the logarithms of size and stretch, beside what the network says."""
PLACE_SIGMA_INFLATION = 2.0
"""Factor on the network's 1 σ of a place."""
ALTERNATIVE_CHI2 = 4.0
"""A size whose squared error, in σ, is larger than the least by less is told as an alternative."""
SAME_PLACE = 0.6
"""Distance of two centres, in half widths, below which shapes are one stand."""
SIZES = np.array(RECTANGLE_SIDES_MM, float)
"""(C, 2): lengths and widths that are looked for."""


def shows_stands(seen: SeenShapes) -> bool:
    """Tell whether a table is one of stands."""
    apart = seen.among(_apart(seen))
    angular = apart.is_angular[likelier_logits(apart.answers) > LIKELY_LOGIT]
    stands = int(angular.sum())
    return stands >= FEWEST and stands >= len(angular) - stands


def find_stands(camera: Camera, seen: SeenShapes) -> list[Detection]:
    """Return the stands among what the network sees, the surest first."""
    angular = seen.among(seen.is_angular)
    found = angular.among(_apart(angular))
    scores = sigmoid(TRUST * found.answers[:, RECTANGLE_LOGIT])
    likely = np.flatnonzero(scores >= MIN_SCORE).tolist()
    chi2 = _size_chi2(found)
    made = [_make_detection(camera, found, k, chi2[k], float(scores[k])) for k in likely]
    return sorted(made, key=lambda detection: -detection.score)


def _apart(seen: SeenShapes) -> list[int]:
    """Return the likeliest shape of each place."""

    def are_one(k: int, others: list[int]) -> NDArray[np.bool_]:
        apart = np.hypot(*(seen.shapes[others, :2] - seen.shapes[k, :2]).T)
        return np.asarray(
            apart < SAME_PLACE * np.minimum(seen.shapes[others, 3], seen.shapes[k, 3])
        )

    return likeliest_of_each_place(likelier_logits(seen.answers), are_one)


def _size_chi2(found: SeenShapes) -> Array:
    """Return the squared errors (N, C), in σ, of the catalogue's sizes."""
    half = found.shapes[:, 2:4] * OVAL_TO_RECTANGLE
    logs, ours = np.log(SIZES / 2), np.log(half)
    size = logs.mean(1) - ours.mean(1)[:, None]
    stretch = (logs[:, 0] - logs[:, 1] - (ours[:, 0] - ours[:, 1])[:, None]) / 2
    sigmas = np.exp(found.answers[:, [LOG_SIGMA_SIZE, LOG_SIGMA_STRETCH]])
    size_sigma, stretch_sigma = np.hypot(sigmas, [SIZE_SIGMA, STRETCH_SIGMA]).T[..., None]
    return np.asarray((size / size_sigma) ** 2 + (stretch / stretch_sigma) ** 2)


def _make_detection(
    camera: Camera, found: SeenShapes, k: int, chi2: Array, score: float
) -> Detection:
    order = np.argsort(chi2, kind="stable")
    bases = [Base.rectangle(width, length) for length, width in SIZES[order].tolist()]
    also = [
        base
        for base, far in zip(bases, chi2[order], strict=True)
        if far < ALTERNATIVE_CHI2 + chi2.min()
    ]
    shape, answers = found.shapes[[k]], found.answers[k]
    sigma_mm = (
        PLACE_SIGMA_INFLATION * np.exp(answers[LOG_SIGMA_PLACE]) * equal_area_radius_mm(shape)
    )
    xy_mm = shape[0, :2]
    slopes = camera.board_point_jacobian(np.append(xy_mm, 0.0)[None])[0]
    pose = BasePose(bases[0], xy_mm, float(shape[0, 4]))
    covariance = np.eye(2) * float(sigma_mm[0]) ** 2
    return make_detection(camera, pose, covariance, slopes, score, 1.0, tuple(also[1:]))
