"""The lens of photos by one camera: what each tells of it helps the others.

A photo with few markers leaves its lens open, and by a wrong lens its hills have a wrong height.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.board import Board
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.camera.calibrate import MIN_MARKERS, fit_at_known_places
from overruler.vision.camera.lens_prior import LensPrior, lens_prior
from overruler.vision.camera.shared_lens import (
    OUTER_ITERATIONS,
    LensInformation,
    fuse_lens_information,
    information_between,
    wander_covariance,
)
from overruler.vision.camera.state import Solution
from overruler.vision.markers.detect import find_markers
from overruler.vision.markers.marker import Marker

NAMED_CAMERA_NATS = 3.0
"""Log odds that two photos show one lens where their metadata name one camera and one zoom."""
UNNAMED_CAMERA_NATS = -3.0
"""The same where they name none: the markers have to tell that it is one lens."""


@dataclass(frozen=True, slots=True, eq=False)
class _Photo:
    """A photo with its markers, and its lens by itself."""

    frame: Frame
    markers: Sequence[Marker]
    own_prior: LensPrior
    own: Solution
    """The fit under that prior."""


def tell_lenses(frames: Sequence[Frame], board: Board | None) -> list[LensPrior | None]:
    """The prior of each photo's lens by the other photos of its camera; None where none tells it."""
    told: list[LensPrior | None] = [None] * len(frames)
    if board is None or not board.layout_known:
        return told
    groups: dict[object, list[int]] = {}
    for k, frame in enumerate(frames):
        key = (frame.size_px, frame.orientation, frame.camera, frame.focal_px)
        groups.setdefault(key, []).append(k)
    for group in groups.values():
        if len(group) < 2:
            continue
        photos = {k: one for k in group if (one := _fit_alone(frames[k], board)) is not None}
        for k, prior in _share(photos, board).items():
            told[k] = prior
    return told


def _fit_alone(frame: Frame, board: Board) -> _Photo | None:
    """A photo by itself; None where its markers do not fit."""
    known = board.corners_mm or {}
    markers = [marker for marker in find_markers(frame, board) if marker.id in known]
    if len(markers) < MIN_MARKERS:
        return None
    prior = lens_prior(frame, None)
    try:
        (solution, _), _ = fit_at_known_places(frame, board, markers, prior)
    except CannotMeasure:
        return None
    return _Photo(frame, markers, prior, solution)


def _share(photos: Mapping[int, _Photo], board: Board) -> dict[int, LensPrior]:
    """The prior of each photo that agrees with the others, by what these tell of the lens."""
    while len(photos) > 1:
        priors, gains = _fit_together(photos, board)
        worst = min(gains, key=gains.__getitem__)
        is_named = photos[worst].frame.camera is not None
        odds = NAMED_CAMERA_NATS if is_named else UNNAMED_CAMERA_NATS
        if gains[worst] + odds > 0:
            return priors
        photos = {k: one for k, one in photos.items() if k != worst}
    return {}


def _fit_together(
    photos: Mapping[int, _Photo], board: Board
) -> tuple[dict[int, LensPrior], dict[int, float]]:
    """Priors by the others, and how much likelier each makes its photo's markers, in nats."""
    priors = {k: one.own_prior for k, one in photos.items()}
    fits: dict[int, Solution | None] = {k: one.own for k, one in photos.items()}
    for _ in range(OUTER_ITERATIONS):
        added = {
            k: _added_information(photos[k].frame, priors[k], fit)
            for k, fit in fits.items()
            if fit is not None
        }
        first = next(iter(photos.values())).own_prior
        common = fuse_lens_information(first, list(added.values())).covariance
        for k, one in photos.items():
            others = [each for j, each in added.items() if j != k]
            priors[k] = replace(fuse_lens_information(one.own_prior, others), common=common)
        fits = {k: _fit(one, board, priors[k]) for k, one in photos.items()}
    gains = {k: _gain(photos[k].own, fit) for k, fit in fits.items()}
    return priors, gains


def _added_information(frame: Frame, prior: LensPrior, fit: Solution) -> LensInformation:
    covariance: Array = fit.camera_bow_covariance[:9, :9]
    wander = wander_covariance(float(fit.state.lens[0]), frame.size_px)
    return information_between(prior, fit.state.lens, covariance, wander)


def _fit(photo: _Photo, board: Board, prior: LensPrior) -> Solution | None:
    try:
        (solution, _), _ = fit_at_known_places(photo.frame, board, photo.markers, prior)
    except CannotMeasure:
        return None
    return solution


def _gain(own: Solution, told: Solution | None) -> float:
    """How much the log evidence grows."""
    return -np.inf if told is None else told.log_evidence - own.log_evidence
