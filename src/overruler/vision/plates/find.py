"""Find the square plates under ships on pegs: fit each overview guess, then score it."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.learned.logits import MAX_LOGIT, probability_to_logit
from overruler.vision.learned.shape_net import ShapeCandidate
from overruler.vision.plates.coarse_grid import (
    MIN_SEPARATION_MM,
    CoarseFit,
    fit_coarsely,
    fit_from_aside,
)
from overruler.vision.plates.compatible_plates import StandingPlate, keep_compatible
from overruler.vision.plates.face_net import face_logit, probe_face_shifts
from overruler.vision.plates.fine_grid import fit_finely
from overruler.vision.plates.heading_net import find_heading
from overruler.vision.plates.more_views import AveragedGuess, refine_guess
from overruler.vision.plates.plate import Plate, plate_detection, plate_log_odds
from overruler.vision.plates.rivals import Rival
from overruler.vision.plates.sides import crop_view

WORKER_THREADS = 2
"""Guesses fitted at a time: half the work is networks, which run without Python's lock."""
LOG_SIDE_SIGMA = 0.15
"""1 σ of the logarithm of a guessed side."""
MAX_SIZE_ERROR_SIGMAS = 2.5
"""Largest error of a guessed side, in σ; sizes further off are not fitted."""
SURE_HEADING = 0.75
"""Confidence of a guessed heading from which the fit starts there alone, but for quarter turns."""
START_TURNS_RAD = np.radians([0.0, 22.5, 45.0, 67.5])
"""Turns from the guessed heading at which other fits start."""
SURE_SCORE = 0.97
"""Score that one plate must exceed where none are expected: ships seldom come alone and hidden."""
LIKELY_SCORE = 0.5
"""Overview score of a likely guess."""
MIN_LIKELY_GUESSES = 3
"""Likely guesses from which the others are fitted too where plates are not expected. Of 37 tables,
34 with ships, this lost the plates of none."""
HOPELESS_FACE_LOGIT = -2.0
"""Log odds of a face up to which it is not probed by shifts."""
SURE_FACE_LOGIT = 9.0
"""Log odds of a face from which it is not probed either."""
RECHECK_MOVE_MM = 0.7
"""Shift by the face's probe from which the face is evaluated again."""
MAX_SPREAD_MM = 6.0
"""Largest spread of the views that counts."""
MIN_LOGIT_FROM_ABOVE = -3.7
"""Smallest log odds, by the views from above alone, of a guess that is fitted."""
MIN_SCORE = 0.8
"""Smallest score of a plate. Of 12 with 0.8 to 0.9 on 104 crowded tables three were none, as the scores
say: each is stated with its probability, and no ruling on it is certain."""
SURE_PLACE = 0.99
"""Probability of a plate of any size from which it is told although its size is open."""
MIN_OPEN_SCORE = 0.5
"""Smallest score of such a plate."""
MIN_RIVAL_LOGIT = -1.0
"""Smallest log odds of a square that counts as a rival of those that it overlaps."""
UNDECIDED_LOGITS = -4.0, 4.0
"""Range of log odds within which fits also start from beside the guess."""


def find_plates(
    frame: Frame,
    camera: Camera,
    guesses: Sequence[ShapeCandidate],
    sides_mm: Sequence[float],
    expected: bool = True,
) -> list[Detection]:
    """Return the plates of one of these sides among the overview's `guesses`, the likeliest first.

    Where plates are not `expected`, because the game is unknown, there are none unless one is sure.
    """
    likely = [guess for guess in guesses if guess.score >= LIKELY_SCORE]
    with ThreadPoolExecutor(WORKER_THREADS) as pool:

        def fit_all(batch: Sequence[ShapeCandidate]) -> list[Plate]:
            fits = pool.map(lambda guess: _fit_guess(frame, camera, guess, sides_mm), batch)
            return [plate for plate in fits if plate is not None]

        plates = fit_all(likely)
        if expected or len(likely) >= MIN_LIKELY_GUESSES or _any_sure(plates):
            plates += fit_all([guess for guess in guesses if guess.score < LIKELY_SCORE])
    if not expected and not _any_sure(plates):
        return []
    standing = [one for one in keep_compatible(plates) if _is_told(one)]
    return [plate_detection(camera, one.plate, one.probability) for one in standing]


def find_plate_at(frame: Frame, camera: Camera, guess: ShapeCandidate) -> Detection | None:
    """Return the plate about a guess that names its side, with its own score, however low."""
    plate = _fit_guess(frame, camera, guess, [guess.width_mm])
    return None if plate is None else plate_detection(camera, plate, plate.score)


def _is_told(standing: StandingPlate) -> bool:
    """Tell whether a plate is likely enough, or surely one of which only the size is open."""
    if standing.any_probability >= SURE_PLACE:
        return standing.probability >= MIN_OPEN_SCORE
    return standing.probability >= MIN_SCORE


def _any_sure(plates: Iterable[Plate]) -> bool:
    return any(plate.score > SURE_SCORE for plate in plates)


def _fit_guess(
    frame: Frame, camera: Camera, first: ShapeCandidate, sides_mm: Sequence[float]
) -> Plate | None:
    """Return the plate of a guess at its likeliest place; the others are its rivals."""
    views = refine_guess(frame.pixels, camera, first)
    if views is None:
        return None
    if plate_log_odds(_features_from_above(first, views)) < MIN_LOGIT_FROM_ABOVE:
        return None
    candidates: list[_Candidate] = []
    for side_mm in _plausible_sides(views.guess, sides_mm):
        candidates += _try_side(frame, camera, first, views, side_mm)
    best = max(candidates, key=lambda candidate: candidate.log_odds, default=None)
    if best is None or best.log_odds < MIN_RIVAL_LOGIT:
        return None
    fit = fit_finely(best.view, best.start)
    if fit is None:
        return None
    heading = find_heading(frame.pixels, camera, fit.xy_mm, fit.turn_rad, fit.side_mm)
    rivals = tuple(one.as_rival for one in candidates if one.differs_from(best))
    return Plate(fit, heading, best.features, best.view, rivals)


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A square of one size at its coarse fit."""

    view: LabPatch
    """The photo around it."""
    start: CoarseFit
    """Its coarse fit."""
    features: tuple[float, ...]
    """In the order of `plate.LOGIT_WEIGHTS`."""

    @property
    def log_odds(self) -> float:
        return plate_log_odds(self.features)

    @property
    def as_rival(self) -> Rival:
        return Rival(self.start.xy_mm, self.start.side_mm, self.log_odds)

    def differs_from(self, other: "_Candidate") -> bool:
        """Tell whether it has another size or lies elsewhere."""
        apart_mm = float(np.hypot(*(self.start.xy_mm - other.start.xy_mm)))
        return self.start.side_mm != other.start.side_mm or apart_mm > MIN_SEPARATION_MM


def _try_side(
    frame: Frame, camera: Camera, first: ShapeCandidate, views: AveragedGuess, side_mm: float
) -> list[_Candidate]:
    """Return the coarse fits of one side; none where the photo does not show it."""
    guess = views.guess
    view = crop_view(frame, camera, guess.xy_mm, side_mm)
    if view is None:
        return []
    size_error = _size_error_sigmas(guess, side_mm)

    def evaluate(start: CoarseFit) -> _Candidate | None:
        adjusted = _adjust_by_face(frame, camera, start)
        if adjusted is None:
            return None
        fit, face = adjusted
        evidence = float(np.sqrt(max(fit.log_evidence, 0.0)))
        information = float(fit.side_information.sum())
        from_above = _features_from_above(first, views)
        features = *from_above, evidence, information, size_error**2, face
        return _Candidate(view, fit, features)

    is_heading_sure = guess.heading_confidence > SURE_HEADING
    turns = guess.turn_rad + (START_TURNS_RAD[:1] if is_heading_sure else START_TURNS_RAD)
    start = fit_coarsely(view, guess.xy_mm, turns.tolist(), side_mm)
    found = None if start is None else evaluate(start)
    if found is None:
        return []
    if not UNDECIDED_LOGITS[0] < found.log_odds < UNDECIDED_LOGITS[1]:
        return [found]
    aside = fit_from_aside(view, guess.xy_mm, turns.tolist(), side_mm)
    return [found, *(candidate for start in aside if (candidate := evaluate(start)) is not None)]


def _adjust_by_face(
    frame: Frame, camera: Camera, start: CoarseFit
) -> tuple[CoarseFit, float] | None:
    """Return a fit, moved by its whole face where that is undecided, and the face's log odds."""
    face = _face_logit(frame, camera, start)
    if face is None:
        return None
    if not HOPELESS_FACE_LOGIT < face < SURE_FACE_LOGIT:
        return start, face
    xy, turn, side_mm = start.xy_mm, start.turn_rad, start.side_mm
    likelihood = probe_face_shifts(frame.pixels, camera, xy, turn, side_mm, face)
    moved = start if likelihood is None else start.with_face(likelihood)
    if np.hypot(*(moved.xy_mm - start.xy_mm)) < RECHECK_MOVE_MM:
        return moved, face
    moved_face = _face_logit(frame, camera, moved)
    return (start, face) if moved_face is None else (moved, moved_face)


def _face_logit(frame: Frame, camera: Camera, start: CoarseFit) -> float | None:
    return face_logit(frame.pixels, camera, start.xy_mm, start.turn_rad, start.side_mm)


def _plausible_sides(guess: ShapeCandidate, sides_mm: Sequence[float]) -> list[float]:
    """Return the sides that a guess may have."""
    limit = MAX_SIZE_ERROR_SIGMAS
    return [side_mm for side_mm in sides_mm if abs(_size_error_sigmas(guess, side_mm)) < limit]


def _size_error_sigmas(guess: ShapeCandidate, side_mm: float) -> float:
    """Return how much longer a side is than the guessed one, in σ."""
    log_side = np.log(guess.length_mm * guess.width_mm) / 2
    return float(np.log(side_mm) - log_side) / LOG_SIDE_SIGMA


def _features_from_above(first: ShapeCandidate, views: AveragedGuess) -> tuple[float, float, float]:
    """Return the log odds of the overview and of the closer views, and the views' spread."""
    scores = [first.score, views.guess.score]
    overview_logit, views_logit = probability_to_logit(scores, MAX_LOGIT).tolist()
    return overview_logit, views_logit, min(views.spread_mm, MAX_SPREAD_MM)
