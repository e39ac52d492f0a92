"""Square plates under ships on pegs: a fit of each guess of the look from above, and what tells plates from others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.fit import sensitivity
from overruler.vision.orthophoto import Orthophoto
from overruler.vision.overview import Guess, look
from overruler.vision.plate_fit import PlateFit, fit_closely
from overruler.vision.plate_front import Front, front_of
from overruler.vision.plate_looks import Looks, look_closer
from overruler.vision.plate_sides import HEIGHT_MM, normals_of
from overruler.vision.plate_start import Start, start_at
from overruler.vision.rays import View

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
OVERLAP = 0.12
"""Two plates may seem to overlap by this share of the smaller one's side, not more."""
ENOUGH = 0.8
"""A side, or a limit of an arc, of which this much is seen counts in full."""
MOST_SPREAD_MM = 6.0
"""Looks that disagree by more disagree no further."""
ODDS = (-4.43, 0.63, 2.52, -0.13, 1.56, 4.03, 0.63, 1.76)
"""A plate's log odds: a constant, then what each of the signs counts for: logistic regression on rendered tables."""
LEAST_HOPE_FROM_ABOVE, LEAST_HOPE = -8.5, -2.5
"""Log odds by what is seen from above, and with what the sides tell from further away: less has no hope any more."""
LEAST_SCORE = 0.7
"""Squares that score lower are no plates."""
LEAST_SEEN = 0.3
"""A side counts as seen from this much of it."""
PLAIN = 0.99
"""Of plates as sure as this one of 327 was 3 mm off or more; of the others one in twelve was, ..."""
ASTRAY_MM, WITHIN_SIGMAS = 7.0, 3.0
"""... by about so much along each axis at worst (`docs/plates.md`): that lies within so many σ of what is said then."""
LEAST_ARCS = 0.4
"""The card's axis is known where so much of its arcs is seen, of 4."""
CORNERS = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
"""Of a plate that looks along +x, counter-clockwise."""
OUTLINE_POINTS = 18
"""Along each side."""


@dataclass(frozen=True, slots=True, eq=False)
class Plate:
    """A square that may be a plate."""

    fit: PlateFit
    front: Front
    signs: tuple[float, ...]
    """What speaks for one, in the order of `ODDS`."""
    view: View

    @property
    def score(self) -> float:
        """How likely it is one (0 to 1), by the looks from above, and by what is seen of its sides and its card."""
        return float(1 / (1 + np.exp(-np.clip(_log_odds(self.signs), -30, 30))))

    @property
    def heading_rad(self) -> float:
        return self.fit.turn_rad + np.pi * self.front.opposite

    @property
    def corners_mm(self) -> Array:
        """Of the underside (4, 2)."""
        forward, left = normals_of(self.heading_rad)[:2]
        return np.asarray(self.fit.xy_mm + self.fit.side_mm / 2 * (CORNERS @ np.stack([forward, left])))


def find_plates(
    frame: Frame,
    camera: Camera,
    from_above: Orthophoto,
    sides_mm: Sequence[float],
    hidden: Sequence[Array] = (),
    expected: bool = True,
) -> list[Detection]:
    """The plates with one of these sides, the likeliest first; none where a `hidden` polygon (K, 2) in mm lies.

    `from_above` shows the board at `overview.MM_PER_PX`. Where plates are not `expected`, nothing being known of the
    game, there are none unless one is plain to see.
    """
    guesses, plates = look(from_above, camera, hidden), list[Plate]()
    few = sum(guess.score >= LIKELY for guess in guesses) < FEW and not expected
    for guess in guesses:  # the likeliest first
        if few and guess.score < LIKELY and not any(plate.score > SURE for plate in plates):
            return []
        plate = _plate(frame, camera, guess, sides_mm)
        plates += [plate] if plate is not None and plate.score >= LEAST_SCORE else []
    plain = expected or any(plate.score > SURE for plate in plates)
    return [_detection(camera, plate) for plate in _standing(plates if plain else ())]


def maybe_astray(plate: Detection) -> Detection:
    """The plate, with the doubt that its fit may have gone astray where that is not plain."""
    if plate.score >= PLAIN:
        return plate
    return replace(plate, covariance_mm2=plate.covariance_mm2 + np.eye(2) * (ASTRAY_MM / WITHIN_SIGMAS) ** 2)


def _plate(frame: Frame, camera: Camera, first: Guess, sides_mm: Sequence[float]) -> Plate | None:
    """The plate that a guess speaks of, of the side that its looks and its fit make likeliest."""
    looks = look_closer(frame.pixels, camera, first)
    if looks is None or not _hopeful(_signs_from_above(first, looks), LEAST_HOPE_FROM_ABOVE):
        return None
    guess = looks.guess
    rough = [_rough(frame, camera, guess, side_mm, off) for side_mm, off in _sides(guess, sides_mm)]
    best = max((one for one in rough if one is not None), key=lambda one: one[0], default=None)
    if best is None:
        return None
    _, view, start = best
    fit = fit_closely(view, start) if _hopeful(_early_signs(start, first, looks), LEAST_HOPE) else None
    if fit is None:
        return None
    front = front_of(view, fit.xy_mm, fit.turn_rad, fit.side_mm)
    return Plate(fit, front, tuple(_signs(start, fit, first, looks)), view)


def _sides(guess: Guess, sides_mm: Sequence[float]) -> list[tuple[float, float]]:
    """The sides that a guess may have, and by how many σ each is off."""
    guessed = np.log(guess.length_mm * guess.width_mm) / 2
    off = [(side_mm, float(np.log(side_mm) - guessed) / SIZE_SIGMA) for side_mm in sides_mm]
    return [pair for pair in off if abs(pair[1]) < MOST_OFF]


def _rough(frame: Frame, camera: Camera, guess: Guess, side_mm: float, off: float) -> tuple[float, View, Start] | None:
    """The likeliest rough fit of one side, and its log-likelihood."""
    view = View.around(frame.pixels, camera, guess.xy_mm, side_mm * 0.75, HEIGHT_MM)
    if view is None:
        return None
    turns = guess.turn_rad + (TURNS_RAD[:1] if guess.turned > SURE_TURN else TURNS_RAD)
    start = start_at(view, guess.xy_mm, turns.tolist(), side_mm)
    return None if start is None else (start.merit - off**2 / 2, view, start)


def _hopeful(signs: Sequence[float], least: float) -> bool:
    """Whether, by the first of the signs, a closer look could still make this a plate."""
    return _log_odds(signs) > least


def _log_odds(signs: Sequence[float]) -> float:
    """Of a plate, by the first of the signs, or all of them."""
    return float(np.dot(ODDS[: 1 + len(signs)], [1.0, *signs]))


def _signs(start: Start, fit: PlateFit, first: Guess, looks: Looks) -> list[float]:
    """What speaks for a plate: all of the early signs, and how much is seen of its sides and of its card's arcs."""
    seen = (float(np.clip(part, 0, ENOUGH).sum()) for part in (fit.seen, fit.arcs))
    return [*_early_signs(start, first, looks), *seen]


def _early_signs(start: Start, first: Guess, looks: Looks) -> list[float]:
    """What is seen from above, and how much the sides tell of a plate and of where each lies."""
    return [*_signs_from_above(first, looks), float(np.sqrt(max(start.merit, 0.0))), float(start.told.sum())]


def _signs_from_above(first: Guess, looks: Looks) -> list[float]:
    """The log odds by the first look and by the closer ones, and how far these disagree."""
    odds = [float(np.log(guess.score / (1 - guess.score))) for guess in (first, looks.guess)]
    return [*odds, min(looks.spread_mm, MOST_SPREAD_MM)]


def _standing(plates: Iterable[Plate]) -> list[Plate]:
    """The plates that can all stand there, surer ones first: they lie beside each other, never in each other."""
    kept: list[Plate] = []
    for plate in sorted(plates, key=lambda one: -one.score):
        if all(
            overlap_mm(plate.corners_mm, other.corners_mm) < OVERLAP * min(plate.fit.side_mm, other.fit.side_mm)
            for other in kept
        ):
            kept.append(plate)
    return kept


def overlap_mm(one_mm: Array, other_mm: Array) -> float:
    """How far two convex outlines (K, 2) and (L, 2) would have to move to lie apart; below 0, how far they lie apart.

    Along the normals of their sides only: exact where they overlap (the separating axis theorem).
    """
    sides = np.concatenate([np.roll(outline, -1, 0) - outline for outline in (one_mm, other_mm)])
    normals = np.stack([sides[:, 1], -sides[:, 0]], -1) / np.linalg.norm(sides, axis=1, keepdims=True)
    one, other = one_mm @ normals.T, other_mm @ normals.T
    return float(np.minimum(one.max(0) - other.min(0), other.max(0) - one.min(0)).min())


def _detection(camera: Camera, plate: Plate) -> Detection:
    fit, corners = plate.fit, plate.corners_mm
    share = np.linspace(0, 1, OUTLINE_POINTS, endpoint=False)[:, None]
    outline = np.concatenate([a + share * (b - a) for a, b in zip(corners, np.roll(corners, -1, 0), strict=True)])
    points = np.vstack([fit.xy_mm, outline])
    pixels = camera.project(np.column_stack([points, np.zeros(len(points))]))
    normals = normals_of(fit.turn_rad)
    middles = fit.xy_mm + fit.side_mm / 2 * normals
    return Detection(
        base=Base.rectangle(fit.side_mm, fit.side_mm),
        xy_mm=fit.xy_mm,
        z_mm=0.0,
        heading_deg=float(np.degrees(plate.heading_rad) % 360),
        covariance_mm2=fit.covariance_mm2,
        d_xy_d_camera=sensitivity(plate.view, middles, normals, np.clip(fit.seen, 0.05, 1)),
        score=plate.score,
        visible=float(np.mean(fit.seen > LEAST_SEEN)),
        center_px=pixels[0],
        outline_px=pixels[1:],
        heading_modulo_deg=180.0
        if plate.front.known and fit.arcs.clip(0).sum() > LEAST_ARCS
        else 90.0,  # of fronts that seem known one in eight is the rear
    )
