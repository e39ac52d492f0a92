"""The lens of photos by one camera: what each tells of it helps the others.

A photo with few markers leaves its lens open, and by a wrong lens its hills have a wrong height.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from overruler.board import Board
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.lens import LENS_SIZE
from overruler.vision.camera.bundle_adjustment import BundleAdjustment
from overruler.vision.camera.calibrate import MIN_MARKERS, fit_at_known_places
from overruler.vision.camera.lens_prior import LensPrior, lens_prior
from overruler.vision.camera.marker_layout import add_height_uncertainty, laid_marker_observation
from overruler.vision.camera.observations import Observation
from overruler.vision.camera.shared_lens import (
    OUTER_ITERATIONS,
    LensInformation,
    fuse_lens_information,
    information_between,
    wander_covariance,
)
from overruler.vision.camera.state import Solution
from overruler.vision.markers.marker import Marker

NAMED_CAMERA_NATS = 3.0
"""Log odds that two photos show one lens where their metadata name one camera and one zoom."""
UNNAMED_CAMERA_NATS = -3.0
"""The same where they name none: the markers have to tell that it is one lens."""


@dataclass(frozen=True, slots=True, eq=False)
class _Photo:
    """A photo with its markers, and its lens by itself."""

    frame: Frame
    groups: Sequence[Observation]
    """Its markers, without outliers."""
    own_prior: LensPrior
    own: Solution
    """The fit by itself, as of a cropped or stretched picture if it is likelier one."""
    is_whole: bool
    """Whether it is neither."""

    def fit(self, prior: LensPrior) -> Solution:
        """Fit the markers under a prior of the lens, near the fit by itself."""
        return BundleAdjustment(self.groups, prior).solve(self.own.state)


def tell_lenses(
    frames: Sequence[Frame], board: Board | None, seen: Sequence[Sequence[Marker]]
) -> list[LensPrior | None]:
    """The prior of each photo's lens by the other photos of its camera; None where none tells it.

    `seen` are the markers of each photo.
    """
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
        fits = {k: _fit_alone(frames[k], board, seen[k]) for k in group}
        photos = {k: one for k, one in fits.items() if one is not None}
        for k, prior in _share(photos).items():
            told[k] = prior
        for k in group:
            if k not in photos and frames[k].camera is not None:
                told[k] = _tell_silent(frames[k], list(photos.values()))
    return told


def _fit_alone(frame: Frame, board: Board, seen: Sequence[Marker]) -> _Photo | None:
    """A photo by itself; None where its markers do not fit."""
    known = board.corners_mm or {}
    markers = [marker for marker in seen if marker.id in known]
    if len(markers) < MIN_MARKERS:
        return None
    prior = lens_prior(frame, None)
    try:
        (found, kept), chosen = fit_at_known_places(frame, board, markers, prior)
    except CannotMeasure:
        return None
    groups = [laid_marker_observation(markers[k], board) for k in kept]
    groups = add_height_uncertainty(groups, found.state.camera)
    own = BundleAdjustment(groups, chosen).solve(found.state)
    return _Photo(frame, groups, prior, own, is_whole=chosen is prior)


def _tell_silent(frame: Frame, photos: Sequence[_Photo]) -> LensPrior | None:
    """The lens prior of a photo with too few markers, from other photos that name its camera."""
    whole = [one for one in photos if one.is_whole]
    if not whole:
        return None
    added = [_added_information(one.frame, one.own_prior, one.own) for one in whole]
    return fuse_lens_information(lens_prior(frame, None), added)


def _share(photos: Mapping[int, _Photo]) -> dict[int, LensPrior]:
    """The prior of each photo that agrees with the others, by what these tell of the lens."""
    if len(photos) < 2:
        return {}
    priors, least = _fit_together(photos)
    while least <= 0 and len(photos) > 2:
        # one that differs spoils the priors of all others, so each is left out in turn
        rest = [{j: one for j, one in photos.items() if j != k} for k in photos]
        fits = [(*_fit_together(some), some) for some in rest]
        priors, least, photos = max(fits, key=lambda fit: fit[1])
    return priors if least > 0 else {}


def _fit_together(photos: Mapping[int, _Photo]) -> tuple[dict[int, LensPrior], float]:
    """Each photo's lens prior by the others, and the least of their log odds of having the same lens."""
    priors = {k: one.own_prior for k, one in photos.items()}
    fits = {k: one.own for k, one in photos.items() if one.is_whole}
    for _ in range(OUTER_ITERATIONS):
        added = {k: _added_information(photos[k].frame, priors[k], fit) for k, fit in fits.items()}
        first = next(iter(photos.values())).own_prior
        common = fuse_lens_information(first, list(added.values())).covariance
        for k, one in photos.items():
            others = [each for j, each in added.items() if j != k]
            priors[k] = replace(fuse_lens_information(one.own_prior, others), common=common)
        fits = {k: one.fit(priors[k]) for k, one in photos.items()}
    return priors, min(_log_odds(one, fits[k]) for k, one in photos.items())


def _added_information(frame: Frame, prior: LensPrior, fit: Solution) -> LensInformation:
    covariance: Array = fit.camera_bow_covariance[:LENS_SIZE, :LENS_SIZE]
    wander = wander_covariance(float(fit.state.lens[0]), frame.size_px)
    return information_between(prior, fit.state.lens, covariance, wander)


def _log_odds(photo: _Photo, told: Solution) -> float:
    """Log odds that a photo's lens is that by the others, by how much the log evidence grows."""
    is_named = photo.frame.camera is not None
    before = NAMED_CAMERA_NATS if is_named else UNNAMED_CAMERA_NATS
    return before + told.log_evidence - photo.own.log_evidence
