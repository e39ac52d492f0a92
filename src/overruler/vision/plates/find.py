"""Square plates under ships on pegs: a fit of each guess of the look from above, and what tells plates from others."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import camera_jacobian
from overruler.vision.contours.outlines import penetration_depth_mm
from overruler.vision.contours.overlap_choice import make_detection
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.contours.rare_events import RARE_WITHIN_SIGMAS
from overruler.vision.learned.logits import MAX_LOGIT, probability_to_logit, sigmoid
from overruler.vision.learned.shape_net import ShapeCandidate
from overruler.vision.plates.coarse_grid import CoarseFit, fit_coarsely, fit_from_aside
from overruler.vision.plates.face_net import face_logit, probe_face_shifts
from overruler.vision.plates.fine_grid import PlateFit, fit_finely
from overruler.vision.plates.heading_net import Heading, find_heading
from overruler.vision.plates.more_views import AveragedGuess, refine_guess
from overruler.vision.plates.sides import PLATE_HEIGHT_MM, UNIT_CORNERS, side_normals

WORKER_THREADS = 2
"""So many guesses are looked into at a time: half of that is networks, which leave Python to the other."""
LOG_SIDE_SIGMA = 0.15
"""1 σ of the logarithm of a side as guessed; sides further off than this many of it are not fitted:"""
MAX_SIZE_ERROR_SIGMAS = 2.5
SURE_HEADING = 0.75
"""A heading guessed as surely as this, but for quarters of a turn, is where the fit starts, ..."""
START_TURNS_RAD = np.radians([0.0, 22.5, 45.0, 67.5])
"""... else it starts all round."""
SURE_SCORE = 0.97
"""Where plates are not expected and none is as sure as this, there are none: ships seldom come alone, and hidden."""
LIKELY_SCORE, MIN_LIKELY_GUESSES = 0.5, 3
"""Nor are there where fewer guesses of the look from above than these are as likely, and none of them proves so sure:
of 37 tables, 34 with ships, the plates of none went by this."""
HOPELESS_FACE_LOGIT, SURE_FACE_LOGIT = -2.0, 9.0
"""Log odds of a square's whole face: where they lie between these, it is also looked at a little aside, ..."""
RECHECK_MOVE_MM = 0.7
"""... and again where this moves it by so much."""
MAX_OVERLAP_SHARE = 0.12
"""Two plates may seem to overlap by this share of the smaller one's side, not more."""
MAX_SPREAD_MM = 6.0
"""Looks that disagree by more disagree no further."""
LOGIT_WEIGHTS = (-2.02, 0.49, 0.83, -0.16, 1.2, 1.47, -0.3, 0.86)
"""A plate's log odds: a constant, then what each of the signs counts for: logistic regression on rendered tables."""
MIN_LOGIT_FROM_ABOVE = -3.7
"""Log odds by what is seen from above: with less there is no hope any more."""
MIN_SCORE = 0.8
"""Squares that score lower are no plates: of 12 with 0.7 to 0.8 on 64 rendered tables three were."""
AMBIGUOUS_LOGIT_GAP = 2.9
"""Sides whose log odds are behind those of the likeliest by less, at least one in twenty, are told beside it; a plate
whose odds are so little behind those of a smaller one within it has that one printed on its card."""
MIN_SIDE_SEEN = 0.3
"""A side counts as seen from this much of it."""
CONFIDENT_LOGIT = 12.0
"""Of 1021 plates on 64 rendered tables whose log odds, the face's counted twice, are as high none was 1.6 mm off; of
the 98 others four were 3 mm off or more, ..."""
MAX_MISFIT_MM = 7.0
"""... some maybe by so much along each axis (`docs/plates.md`): that lies within `RARE_WITHIN_SIGMAS` then."""
UNDECIDED_LOGITS = -4.0, 4.0
"""Squares whose log odds lie between these, neither hopeless nor sure, are sought from beside their guess, too."""


@dataclass(frozen=True, slots=True, eq=False)
class Plate:
    """A square that may be a plate."""

    fit: PlateFit
    heading: Heading
    features: tuple[float, ...]
    """As of the square that it is."""
    view: LabPatch
    other_sides_mm: tuple[float, ...]
    """Other sides that it may have."""

    @property
    def score(self) -> float:
        """How likely it is one (0 to 1): by the looks from above, along its sides and at its whole face."""
        return plate_probability(self.features)

    @property
    def is_confident(self) -> bool:
        """Whether nothing speaks against its lying there."""
        return _log_odds(self.features) + self.features[-1] >= CONFIDENT_LOGIT

    @property
    def base(self) -> Base:
        return Base.rectangle(self.fit.side_mm, self.fit.side_mm)

    @property
    def xy_mm(self) -> Array:
        return self.fit.xy_mm

    @property
    def turn_rad(self) -> float:
        return self.heading.turn_rad

    @property
    def corners_mm(self) -> Array:
        """Of the underside (4, 2)."""
        forward, left = side_normals(self.turn_rad)[:2]
        return np.asarray(
            self.fit.xy_mm + self.fit.side_mm / 2 * (UNIT_CORNERS @ np.stack([forward, left]))
        )


def find_plates(
    frame: Frame,
    camera: Camera,
    guesses: Sequence[ShapeCandidate],
    sides_mm: Sequence[float],
    expected: bool = True,
) -> list[Detection]:
    """The plates with one of these sides among the `guesses` of the look from above, the likeliest first.

    Where plates are not `expected`, nothing being known of the game, there are none unless one is plain to see.
    """
    likely = [guess for guess in guesses if guess.score >= LIKELY_SCORE]
    with ThreadPoolExecutor(WORKER_THREADS) as pool:

        def tried(some: Sequence[ShapeCandidate]) -> list[Plate]:
            found = pool.map(lambda guess: _fit_guess(frame, camera, guess, sides_mm), some)
            return [plate for plate in found if plate is not None]

        plates = tried(likely)
        if expected or len(likely) >= MIN_LIKELY_GUESSES or _any_sure(plates):
            plates += tried([guess for guess in guesses if guess.score < LIKELY_SCORE])
    return [
        _make_detection(camera, plate)
        for plate in _suppress_overlaps(plates if expected or _any_sure(plates) else ())
    ]


def _any_sure(plates: Iterable[Plate]) -> bool:
    return any(plate.score > SURE_SCORE for plate in plates)


def _fit_guess(
    frame: Frame, camera: Camera, first: ShapeCandidate, sides_mm: Sequence[float]
) -> Plate | None:
    """The plate that a guess speaks of, of the side that its looks and its fit make likeliest."""
    looks = refine_guess(frame.pixels, camera, first)
    if looks is None or _log_odds(_features_from_above(first, looks)) < MIN_LOGIT_FROM_ABOVE:
        return None
    tried = [
        _try_side(frame, camera, first, looks, side_mm)
        for side_mm in _plausible_sides(looks.guess, sides_mm)
    ]
    known = [one for one in tried if one is not None]
    best = max(known, key=lambda one: one.log_odds, default=None)
    fit = (
        fit_finely(best.view, best.start)
        if best is not None and plate_probability(best.features) >= MIN_SCORE
        else None
    )
    if best is None or fit is None:
        return None
    heading = find_heading(frame.pixels, camera, fit.xy_mm, fit.turn_rad, fit.side_mm)
    return Plate(fit, heading, best.features, best.view, _ambiguous_sides(best, known))


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A square of one size, where it fits roughly."""

    view: LabPatch
    start: CoarseFit
    features: tuple[float, ...]
    """What speaks for a plate, in the order of `LOGIT_WEIGHTS`."""

    @property
    def log_odds(self) -> float:
        return _log_odds(self.features)


def _try_side(
    frame: Frame, camera: Camera, first: ShapeCandidate, looks: AveragedGuess, side_mm: float
) -> _Candidate | None:
    """The likeliest rough fit of one side; None where the photo does not show it."""
    guess = looks.guess
    view = LabPatch.crop_around(frame.pixels, camera, guess.xy_mm, side_mm * 0.75, PLATE_HEIGHT_MM)
    if view is None:
        return None
    turns = (
        guess.turn_rad
        + (START_TURNS_RAD[:1] if guess.heading_confidence > SURE_HEADING else START_TURNS_RAD)
    ).tolist()

    def judged(start: CoarseFit | None) -> _Candidate | None:
        laid = None if start is None else _adjust_by_face(frame, camera, start)
        if laid is None:
            return None
        start, face = laid
        told = float(np.sqrt(max(start.log_evidence, 0.0))), float(start.side_information.sum())
        return _Candidate(
            view,
            start,
            (
                *_features_from_above(first, looks),
                *told,
                _size_error_sigmas(guess, side_mm) ** 2,
                face,
            ),
        )

    found = judged(fit_coarsely(view, guess.xy_mm, turns, side_mm))
    if found is None or not UNDECIDED_LOGITS[0] < found.log_odds < UNDECIDED_LOGITS[1]:
        return found
    others = [judged(start) for start in fit_from_aside(view, guess.xy_mm, turns, side_mm)]
    return max([found, *(one for one in others if one is not None)], key=lambda one: one.log_odds)


def _adjust_by_face(
    frame: Frame, camera: Camera, start: CoarseFit
) -> tuple[CoarseFit, float] | None:
    """Where its sides say that a square lies, and its whole face where that is not plain; and the log odds of this."""
    face = _face_logit(frame, camera, start)
    if face is None or not HOPELESS_FACE_LOGIT < face < SURE_FACE_LOGIT:
        return None if face is None else (start, face)
    way = probe_face_shifts(frame.pixels, camera, start.xy_mm, start.turn_rad, start.side_mm, face)
    agreed = start if way is None else start.with_face(way)
    if np.hypot(*(agreed.xy_mm - start.xy_mm)) < RECHECK_MOVE_MM:
        return agreed, face
    better = _face_logit(frame, camera, agreed)
    return (start, face) if better is None else (agreed, better)


def _face_logit(frame: Frame, camera: Camera, start: CoarseFit) -> float | None:
    return face_logit(frame.pixels, camera, start.xy_mm, start.turn_rad, start.side_mm)


def _ambiguous_sides(best: _Candidate, tried: Iterable[_Candidate]) -> tuple[float, ...]:
    """Other sides that are nearly as likely."""
    return tuple(
        one.start.side_mm
        for one in tried
        if one is not best and best.log_odds - one.log_odds < AMBIGUOUS_LOGIT_GAP
    )


def _plausible_sides(guess: ShapeCandidate, sides_mm: Sequence[float]) -> list[float]:
    """The sides that a guess may have."""
    return [
        side_mm
        for side_mm in sides_mm
        if abs(_size_error_sigmas(guess, side_mm)) < MAX_SIZE_ERROR_SIGMAS
    ]


def _size_error_sigmas(guess: ShapeCandidate, side_mm: float) -> float:
    """By how many σ a side is longer than the guess says."""
    return float(np.log(side_mm) - np.log(guess.length_mm * guess.width_mm) / 2) / LOG_SIDE_SIGMA


def plate_probability(signs: Sequence[float]) -> float:
    """How likely a square is a plate (0 to 1)."""
    return float(sigmoid(_log_odds(signs)))


def _log_odds(signs: Sequence[float]) -> float:
    """Of a plate, by the first of the signs, or all of them."""
    return float(np.dot(LOGIT_WEIGHTS[: 1 + len(signs)], [1.0, *signs]))


def _features_from_above(first: ShapeCandidate, looks: AveragedGuess) -> tuple[float, float, float]:
    """The log odds by the first look and by the closer ones, and how far these disagree."""
    by_first, by_closer = probability_to_logit([first.score, looks.guess.score], MAX_LOGIT).tolist()
    return by_first, by_closer, min(looks.spread_mm, MAX_SPREAD_MM)


def _suppress_overlaps(plates: Iterable[Plate]) -> list[Plate]:
    """The plates that can all stand there, surer ones first: they lie beside each other, never in each other."""
    kept, known = list[Plate](), list(plates)
    whole = [one for one in known if not any(_is_card_print(one, other) for other in known)]
    for plate in sorted(whole, key=lambda one: -one.score):
        if all(
            penetration_depth_mm(plate.corners_mm, other.corners_mm)
            < MAX_OVERLAP_SHARE * min(plate.fit.side_mm, other.fit.side_mm)
            for other in kept
        ):
            kept.append(plate)
    return kept


def _is_card_print(small: Plate, large: Plate) -> bool:
    """Whether a square is but print on the card of a larger one: it lies in one that is not much less likely."""
    if (
        small.fit.side_mm >= large.fit.side_mm
        or _log_odds(small.features) > _log_odds(large.features) + AMBIGUOUS_LOGIT_GAP
    ):
        return False
    inside = (small.corners_mm - large.fit.xy_mm) @ side_normals(large.turn_rad)[:2].T
    return bool(
        np.abs(inside).max() <= large.fit.side_mm / 2 + MAX_OVERLAP_SHARE * small.fit.side_mm
    )


def _misfit_covariance(plate: Plate) -> Array:
    """The doubt (2, 2) that its fit went astray, and that it is of another size: its edges then lie elsewhere.

    Both lie within so many σ of what is said.
    """
    apart = max(
        (abs(side_mm - plate.fit.side_mm) / 2 for side_mm in plate.other_sides_mm), default=0.0
    )
    astray = 0.0 if plate.is_confident else MAX_MISFIT_MM
    return np.eye(2) * (apart**2 + astray**2) / RARE_WITHIN_SIGMAS**2


def _make_detection(camera: Camera, plate: Plate) -> Detection:
    fit = plate.fit
    normals = side_normals(fit.turn_rad)
    found = make_detection(
        camera,
        plate,
        fit.covariance_mm2 + _misfit_covariance(plate),
        camera_jacobian(
            plate.view, fit.xy_mm + fit.side_mm / 2 * normals, normals, np.clip(fit.seen, 0.05, 1)
        ),
        plate.score,
        float(np.mean(fit.seen > MIN_SIDE_SEEN)),
        tuple(Base.rectangle(side_mm, side_mm) for side_mm in plate.other_sides_mm),
    )
    return replace(
        found,
        heading_deg=_to_degrees(plate.turn_rad),
        heading_modulo_deg=plate.heading.modulo_deg,
        other_headings=tuple((_to_degrees(turn), chance) for turn, chance in plate.heading.others),
    )


def _to_degrees(turn_rad: float) -> float:
    return float(np.degrees(turn_rad) % 360)
