"""The camera of a photo with too few markers, found by the ground that calibrated photos show too.

features of the ground → one consensus of matches → camera → markers where it sees them → camera
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from overruler.board import Board
from overruler.calibration import Calibration, Case, Covariances
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.camera.calibrate import calibrate_from_markers
from overruler.vision.camera.lens_prior import LensPrior
from overruler.vision.camera.marker_layout import add_height_uncertainty, laid_marker_observation
from overruler.vision.camera.plausibility import check_camera
from overruler.vision.camera.state import State
from overruler.vision.camera.told import Told
from overruler.vision.hanging.ground_features import (
    GroundFeatures,
    describe_board,
    describe_by_guess,
)
from overruler.vision.hanging.ground_fit import (
    GroundFit,
    agreeing_with,
    fit_to_ground,
    following_height,
    leaning_on,
    places_in,
    start_on_ground,
)
from overruler.vision.hanging.ground_matches import (
    MIN_MATCHES,
    REACH_SHARE,
    Matches,
    find_consensus,
    match_features,
)
from overruler.vision.hanging.lean import Lean
from overruler.vision.markers.detect import fit_expected_marker
from overruler.vision.markers.marker import Marker

GUESSED_TILTS_DEG = (35.0, 50.0, 15.0)
"""Tilts of a photo from straight down that are tried. Features bear 15 degrees of error."""
MAX_CLOSE_UP_REFERENCES = 3
"""A close-up is held against so many photos, those that show the board largest: each takes seconds."""
MAX_MARKER_OFFSET_SHARE = 0.1
"""Largest distance of a marker's corners from where the camera sees them, as a share of its side."""
ENOUGH_MARKERS = 3
"""So many markers tell the camera better than the ground: on 17 rendered tables to 0.1 mm against 1."""
MAX_READ_OFFSET_SHARE = 0.5
"""A marker that was read farther away than this contradicts the camera."""
MAX_LENS_PULL_SIGMAS = 3.0
"""Lens parameters that are off by more, in the mean, are of no lens."""
MAX_SIGMA_SHARE = 0.001
"""Largest 1 σ of the ground's places in the photo, as a share of its longer side."""


@dataclass(frozen=True, eq=False)
class Reference:
    """A calibrated photo, and what it shows of the ground."""

    frame: Frame
    calibration: Calibration
    features: GroundFeatures
    """What another photo of the table may show."""

    @classmethod
    def of(cls, frame: Frame, calibration: Calibration) -> "Reference":
        return cls(frame, calibration, describe_board(frame, calibration))

    @cached_property
    def fine_features(self) -> GroundFeatures:
        """What a photo of a part of the table may show; it takes seconds, and most photos need none."""
        return describe_board(self.frame, self.calibration, for_close_up=True)

    @property
    def mm_per_px(self) -> float:
        """How coarsely it shows the middle of the board."""
        width, height = self.calibration.board_mm
        return float(self.calibration.camera.mm_per_px(np.array([width / 2, height / 2, 0.0])))

    def features_for(self, close_up: bool) -> GroundFeatures:
        """What a photo may show, a close-up or not."""
        return self.fine_features if close_up else self.features


@dataclass(frozen=True, slots=True, eq=False)
class Hung:
    """A photo's calibration by other photos, and how it follows theirs."""

    calibration: Calibration
    others: tuple[Frame, ...]
    """The photos that show the same ground."""
    leans: tuple[Lean, ...] = ()
    """How its camera depends on the references' cameras. Empty if its own markers fix the camera."""

    @property
    def told(self) -> Told:
        """What it says of its photo."""
        return Told(calibration=self.calibration)


def hang_photo(
    frame: Frame,
    prior: LensPrior,
    board: Board,
    read: Sequence[Marker],
    references: Mapping[int, Reference],
) -> Hung | None:
    """Find a photo's camera by the ground that it shares with calibrated photos; None where unsure.

    `read` are the markers that were found in it. The board says where its markers lie.
    """
    matched = _match_to_one(frame, prior, references)
    if matched is None:
        return None
    try:
        fit = _fit_to_all(prior, matched, references, REACH_SHARE * max(frame.size_px))
        markers = _fit_markers(frame, board, read, fit.state)
        if _contradict(read, board, fit.state) or not _is_sound(fit, frame):
            return None
        others = tuple(references[k].frame for k in fit.points)
        if len(markers) >= ENOUGH_MARKERS:
            found, _ = calibrate_from_markers(frame, board, markers, (), prior)
            return Hung(found, others)
        if markers:
            observed = [laid_marker_observation(marker, board) for marker in markers]
            observed = add_height_uncertainty(observed, fit.state.camera)
            fit = fit_to_ground(prior, fit.points, observed, fit.state)
        return _build(frame, fit, markers, references)
    except CannotMeasure:
        return None


@dataclass(frozen=True, slots=True, eq=False)
class _Matched:
    """A photo that shows the ground of a reference."""

    number: int
    """The reference's."""
    agreed: Matches
    features: GroundFeatures
    close_up: bool


def _match_to_one(
    frame: Frame, prior: LensPrior, references: Mapping[int, Reference]
) -> _Matched | None:
    """The first consensus of a photo's matches with a reference: as a photo of the table, or of a part of it."""
    for close_up, tilt_deg in product((False, True), GUESSED_TILTS_DEG):
        features = describe_by_guess(frame, prior.matrix, tilt_deg, close_up)
        for k, one in (_finest(references) if close_up else references).items():
            matches = match_features(one.features_for(close_up), features)
            flat_px = prior.undistort_pixels(matches.xy_px)
            seen = np.flatnonzero(np.isfinite(flat_px).all(1))
            matches, flat_px = matches.only(seen), flat_px[seen]
            agreed = find_consensus(matches, flat_px, frame.size_px, one.calibration.board_mm)
            if agreed is not None:
                return _Matched(k, agreed, features, close_up)
    return None


def _finest(references: Mapping[int, Reference]) -> dict[int, Reference]:
    """The photos that show the middle of the board largest."""
    by_scale = sorted(references.items(), key=lambda one: one[1].mm_per_px)
    return dict(by_scale[:MAX_CLOSE_UP_REFERENCES])


def _fit_to_all(
    prior: LensPrior, matched: _Matched, references: Mapping[int, Reference], reach_px: float
) -> GroundFit:
    """The camera by the first reference, then by all that show the same ground."""
    first = references[matched.number].calibration
    known = {matched.number: places_in(first, matched.agreed)}
    fit = fit_to_ground(prior, known, (), start_on_ground(prior, known[matched.number], first.bow))
    asked = _finest(references) if matched.close_up else references
    for k, one in asked.items():
        if k == matched.number:
            continue
        ground = one.features_for(matched.close_up)
        matches = places_in(one.calibration, match_features(ground, matched.features))
        agreeing = agreeing_with(fit.state, matches, reach_px)
        if len(agreeing) >= MIN_MATCHES:
            known[k] = agreeing
    return fit if len(known) == 1 else fit_to_ground(prior, known, (), fit.state)


def _fit_markers(frame: Frame, board: Board, read: Sequence[Marker], state: State) -> list[Marker]:
    """The board's markers where the camera sees them, readable or not."""
    own = {marker.id: marker for marker in read}
    found = []
    for number, corners_mm in (board.corners_mm or {}).items():
        predicted_px = state.camera.project(corners_mm)
        marker = own.get(number)
        if marker is None:
            marker = fit_expected_marker(frame, board.dictionary, number, predicted_px)
        if marker is None:
            continue
        offset_px = float(np.abs(marker.corners_px - predicted_px).max())
        if offset_px < MAX_MARKER_OFFSET_SHARE * marker.side_px:
            found.append(marker)
    return found


def _contradict(read: Sequence[Marker], board: Board, state: State) -> bool:
    """Whether a marker that was read lies elsewhere than the camera sees it."""
    known = board.corners_mm or {}
    off = [
        np.abs(marker.corners_px - state.camera.project(known[marker.id])).max() / marker.side_px
        for marker in read
        if marker.id in known
    ]
    return max(off, default=0.0) > MAX_READ_OFFSET_SHARE


def _is_sound(fit: GroundFit, frame: Frame) -> bool:
    """Whether enough places fit a likely lens well."""
    is_close = fit.sigma_px < MAX_SIGMA_SHARE * max(frame.size_px)
    pull = fit.bundle.solve(fit.state).lens_pull_sigmas
    return is_close and fit.count >= MIN_MATCHES and pull < MAX_LENS_PULL_SIGMAS


def _build(
    frame: Frame, fit: GroundFit, markers: Sequence[Marker], references: Mapping[int, Reference]
) -> Hung:
    """The calibration, whose covariances include those of the references."""
    state, size = fit.state, frame.size_px
    reference = references[max(fit.points, key=lambda k: len(fit.points[k]))].calibration
    middle = np.mean([one.xy_mm.mean(0) for one in fit.points.values()], axis=0)
    check_camera(state.camera, size, (float(middle[0]), float(middle[1])))
    leans = {k: _lean(fit, k, references[k]) for k in fit.points}
    calibration = Calibration(
        camera=state.camera,
        covariances=_covariances(fit, leans, references),
        bow=state.bow,
        size_px=size,
        rms_px=fit.sigma_px,
        markers=tuple(sorted(marker.id for marker in markers)),
        board_mm=reference.board_mm,
        edge_shift_px=state.edge_shift_px,
        corners_px=tuple(marker.corners_px for marker in markers),
        layout_known=reference.layout_known,
        budget=reference.budget,
        doubt=reference.doubt,
        by_ground=True,
    )
    others = tuple(references[k].frame for k in leans)
    return Hung(calibration, others, tuple(leans.values()))


def _covariances(
    fit: GroundFit, leans: Mapping[int, Lean], references: Mapping[int, Reference]
) -> Covariances:
    """The fit's own covariances, with the ground's height and with the errors of the references."""
    usual, rare = fit.bundle.covariance_as_specified(fit.state), fit.bundle.covariance(fit.state)
    own = Covariances(usual, rare, rare + fit.bundle.prior.added_by_rare_lenses(rare))
    by_height = np.sum([lean.by_height for lean in leans.values()], axis=0)
    uneven = np.outer(by_height, by_height)

    def covariance(case: Case) -> Array:
        by_references = (
            lean.by_camera @ references[k].calibration.covariances.of(case) @ lean.by_camera.T
            for k, lean in leans.items()
        )
        return np.asarray(own.of(case) + uneven + sum(by_references))

    return Covariances(covariance("usual"), covariance("rare"), covariance("strange"))


def _lean(fit: GroundFit, number: int, reference: Reference) -> Lean:
    known = fit.points[number], reference.calibration
    return Lean(reference.frame, leaning_on(fit, *known), following_height(fit, *known))
