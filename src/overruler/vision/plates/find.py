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
from overruler.vision.contours.cone_fit import sensitivity
from overruler.vision.contours.outlines import overlap_mm
from overruler.vision.contours.overlap_choice import detection_of
from overruler.vision.contours.radial_edges import View
from overruler.vision.learned.logits import SUREST, logit_of, share_of
from overruler.vision.learned.shape_net import Guess
from overruler.vision.plates.coarse_grid import Start, start_at, starts_aside
from overruler.vision.plates.face_net import face_odds, leaning
from overruler.vision.plates.fine_grid import PlateFit, fit_closely
from overruler.vision.plates.heading_net import Heading, heading_of
from overruler.vision.plates.more_views import Looks, look_closer
from overruler.vision.plates.sides import CORNERS, HEIGHT_MM, normals_of

AT_ONCE = 2
"""So many guesses are looked into at a time: half of that is networks, which leave Python to the other."""
SIZE_SIGMA = 0.15
"""1 σ of the logarithm of a side as guessed; sides further off than this many of it are not fitted:"""
MOST_OFF = 2.5
SURE_TURN = 0.75
"""A heading guessed as surely as this, but for quarters of a turn, is where the fit starts, ..."""
TURNS_RAD = np.radians([0.0, 22.5, 45.0, 67.5])
"""... else it starts all round."""
SURE = 0.97
"""Where plates are not expected and none is as sure as this, there are none: ships seldom come alone, and hidden."""
LIKELY, FEW = 0.5, 3
"""Nor are there where fewer guesses of the look from above than these are as likely, and none of them proves so sure:
of 37 tables, 34 with ships, the plates of none went by this."""
HOPELESS_FACE, SURE_FACE = -2.0, 9.0
"""Log odds of a square's whole face: where they lie between these, it is also looked at a little aside, ..."""
MOVED_MM = 0.7
"""... and again where this moves it by so much."""
OVERLAP = 0.12
"""Two plates may seem to overlap by this share of the smaller one's side, not more."""
MOST_SPREAD_MM = 6.0
"""Looks that disagree by more disagree no further."""
ODDS = (-2.02, 0.49, 0.83, -0.16, 1.2, 1.47, -0.3, 0.86)
"""A plate's log odds: a constant, then what each of the signs counts for: logistic regression on rendered tables."""
LEAST_HOPE = -3.7
"""Log odds by what is seen from above: with less there is no hope any more."""
LEAST_SCORE = 0.8
"""Squares that score lower are no plates: of 12 with 0.7 to 0.8 on 64 rendered tables three were."""
AMBIGUOUS = 2.9
"""Sides whose log odds are behind those of the likeliest by less, at least one in twenty, are told beside it; a plate
whose odds are so little behind those of a smaller one within it has that one printed on its card."""
LEAST_SEEN = 0.3
"""A side counts as seen from this much of it."""
PLAIN = 12.0
"""Of 1021 plates on 64 rendered tables whose log odds, the face's counted twice, are as high none was 1.6 mm off; of
the 98 others four were 3 mm off or more, ..."""
ASTRAY_MM, WITHIN_SIGMAS = 7.0, 3.0
"""... some maybe by so much along each axis (`docs/plates.md`): that lies within so many σ of what is said then."""
OPEN = -4.0, 4.0
"""Squares whose log odds lie between these, neither hopeless nor sure, are sought from beside their guess, too."""


@dataclass(frozen=True, slots=True, eq=False)
class Plate:
    """A square that may be a plate."""

    fit: PlateFit
    heading: Heading
    signs: tuple[float, ...]
    """As of the square that it is."""
    view: View
    others_mm: tuple[float, ...]
    """Other sides that it may have."""

    @property
    def score(self) -> float:
        """How likely it is one (0 to 1): by the looks from above, along its sides and at its whole face."""
        return score_of(self.signs)

    @property
    def plain(self) -> bool:
        """Whether nothing speaks against its lying there."""
        return _log_odds(self.signs) + self.signs[-1] >= PLAIN

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
        forward, left = normals_of(self.turn_rad)[:2]
        return np.asarray(self.fit.xy_mm + self.fit.side_mm / 2 * (CORNERS @ np.stack([forward, left])))


def find_plates(
    frame: Frame,
    camera: Camera,
    guesses: Sequence[Guess],
    sides_mm: Sequence[float],
    expected: bool = True,
) -> list[Detection]:
    """The plates with one of these sides among the `guesses` of the look from above, the likeliest first.

    Where plates are not `expected`, nothing being known of the game, there are none unless one is plain to see.
    """
    likely = [guess for guess in guesses if guess.score >= LIKELY]
    with ThreadPoolExecutor(AT_ONCE) as pool:

        def tried(some: Sequence[Guess]) -> list[Plate]:
            found = pool.map(lambda guess: _plate(frame, camera, guess, sides_mm), some)
            return [plate for plate in found if plate is not None]

        plates = tried(likely)
        if expected or len(likely) >= FEW or _sure(plates):
            plates += tried([guess for guess in guesses if guess.score < LIKELY])
    return [_detection(camera, plate) for plate in _standing(plates if expected or _sure(plates) else ())]


def _sure(plates: Iterable[Plate]) -> bool:
    return any(plate.score > SURE for plate in plates)


def _plate(frame: Frame, camera: Camera, first: Guess, sides_mm: Sequence[float]) -> Plate | None:
    """The plate that a guess speaks of, of the side that its looks and its fit make likeliest."""
    looks = look_closer(frame.pixels, camera, first)
    if looks is None or _log_odds(_signs_from_above(first, looks)) < LEAST_HOPE:
        return None
    tried = [_tried(frame, camera, first, looks, side_mm) for side_mm in _sides(looks.guess, sides_mm)]
    known = [one for one in tried if one is not None]
    best = max(known, key=lambda one: one.odds, default=None)
    fit = fit_closely(best.view, best.start) if best is not None and score_of(best.signs) >= LEAST_SCORE else None
    if best is None or fit is None:
        return None
    heading = heading_of(frame.pixels, camera, fit.xy_mm, fit.turn_rad, fit.side_mm)
    return Plate(fit, heading, best.signs, best.view, _others(best, known))


@dataclass(frozen=True, slots=True, eq=False)
class _Tried:
    """A square of one size, where it fits roughly."""

    view: View
    start: Start
    signs: tuple[float, ...]
    """What speaks for a plate, in the order of `ODDS`."""

    @property
    def odds(self) -> float:
        return _log_odds(self.signs)


def _tried(frame: Frame, camera: Camera, first: Guess, looks: Looks, side_mm: float) -> _Tried | None:
    """The likeliest rough fit of one side; None where the photo does not show it."""
    guess = looks.guess
    view = View.around(frame.pixels, camera, guess.xy_mm, side_mm * 0.75, HEIGHT_MM)
    if view is None:
        return None
    turns = (guess.turn_rad + (TURNS_RAD[:1] if guess.turned > SURE_TURN else TURNS_RAD)).tolist()

    def judged(start: Start | None) -> _Tried | None:
        laid = None if start is None else _laid(frame, camera, start)
        if laid is None:
            return None
        start, face = laid
        told = float(np.sqrt(max(start.merit, 0.0))), float(start.told.sum())
        return _Tried(view, start, (*_signs_from_above(first, looks), *told, _off(guess, side_mm) ** 2, face))

    found = judged(start_at(view, guess.xy_mm, turns, side_mm))
    if found is None or not OPEN[0] < found.odds < OPEN[1]:
        return found
    others = [judged(start) for start in starts_aside(view, guess.xy_mm, turns, side_mm)]
    return max([found, *(one for one in others if one is not None)], key=lambda one: one.odds)


def _laid(frame: Frame, camera: Camera, start: Start) -> tuple[Start, float] | None:
    """Where its sides say that a square lies, and its whole face where that is not plain; and the log odds of this."""
    face = _face(frame, camera, start)
    if face is None or not HOPELESS_FACE < face < SURE_FACE:
        return None if face is None else (start, face)
    way = leaning(frame.pixels, camera, start.xy_mm, start.turn_rad, start.side_mm, face)
    agreed = start if way is None else start.agreed(way)
    if np.hypot(*(agreed.xy_mm - start.xy_mm)) < MOVED_MM:
        return agreed, face
    better = _face(frame, camera, agreed)
    return (start, face) if better is None else (agreed, better)


def _face(frame: Frame, camera: Camera, start: Start) -> float | None:
    return face_odds(frame.pixels, camera, start.xy_mm, start.turn_rad, start.side_mm)


def _others(best: _Tried, tried: Iterable[_Tried]) -> tuple[float, ...]:
    """Other sides that are nearly as likely."""
    return tuple(one.start.side_mm for one in tried if one is not best and best.odds - one.odds < AMBIGUOUS)


def _sides(guess: Guess, sides_mm: Sequence[float]) -> list[float]:
    """The sides that a guess may have."""
    return [side_mm for side_mm in sides_mm if abs(_off(guess, side_mm)) < MOST_OFF]


def _off(guess: Guess, side_mm: float) -> float:
    """By how many σ a side is longer than the guess says."""
    return float(np.log(side_mm) - np.log(guess.length_mm * guess.width_mm) / 2) / SIZE_SIGMA


def score_of(signs: Sequence[float]) -> float:
    """How likely a square is a plate (0 to 1)."""
    return float(share_of(_log_odds(signs)))


def _log_odds(signs: Sequence[float]) -> float:
    """Of a plate, by the first of the signs, or all of them."""
    return float(np.dot(ODDS[: 1 + len(signs)], [1.0, *signs]))


def _signs_from_above(first: Guess, looks: Looks) -> tuple[float, float, float]:
    """The log odds by the first look and by the closer ones, and how far these disagree."""
    by_first, by_closer = logit_of([first.score, looks.guess.score], SUREST).tolist()
    return by_first, by_closer, min(looks.spread_mm, MOST_SPREAD_MM)


def _standing(plates: Iterable[Plate]) -> list[Plate]:
    """The plates that can all stand there, surer ones first: they lie beside each other, never in each other."""
    kept, known = list[Plate](), list(plates)
    whole = [one for one in known if not any(_printed(one, other) for other in known)]
    for plate in sorted(whole, key=lambda one: -one.score):
        if all(
            overlap_mm(plate.corners_mm, other.corners_mm) < OVERLAP * min(plate.fit.side_mm, other.fit.side_mm)
            for other in kept
        ):
            kept.append(plate)
    return kept


def _printed(small: Plate, large: Plate) -> bool:
    """Whether a square is but print on the card of a larger one: it lies in one that is not much less likely."""
    if small.fit.side_mm >= large.fit.side_mm or _log_odds(small.signs) > _log_odds(large.signs) + AMBIGUOUS:
        return False
    inside = (small.corners_mm - large.fit.xy_mm) @ normals_of(large.turn_rad)[:2].T
    return bool(np.abs(inside).max() <= large.fit.side_mm / 2 + OVERLAP * small.fit.side_mm)


def _more_doubt(plate: Plate) -> Array:
    """The doubt (2, 2) that its fit went astray, and that it is of another size: its edges then lie elsewhere.

    Both lie within so many σ of what is said.
    """
    apart = max((abs(side_mm - plate.fit.side_mm) / 2 for side_mm in plate.others_mm), default=0.0)
    astray = 0.0 if plate.plain else ASTRAY_MM
    return np.eye(2) * (apart**2 + astray**2) / WITHIN_SIGMAS**2


def _detection(camera: Camera, plate: Plate) -> Detection:
    fit = plate.fit
    normals = normals_of(fit.turn_rad)
    found = detection_of(
        camera,
        plate,
        fit.covariance_mm2 + _more_doubt(plate),
        sensitivity(plate.view, fit.xy_mm + fit.side_mm / 2 * normals, normals, np.clip(fit.seen, 0.05, 1)),
        plate.score,
        float(np.mean(fit.seen > LEAST_SEEN)),
        tuple(Base.rectangle(side_mm, side_mm) for side_mm in plate.others_mm),
    )
    return replace(
        found,
        heading_deg=_degrees(plate.turn_rad),
        heading_modulo_deg=plate.heading.modulo_deg,
        other_headings=tuple((_degrees(turn), chance) for turn, chance in plate.heading.others),
    )


def _degrees(turn_rad: float) -> float:
    return float(np.degrees(turn_rad) % 360)
