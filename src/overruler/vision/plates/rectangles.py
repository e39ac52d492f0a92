"""Rectangular bases that are no ships' plates: laid wherever one may lie, moved by their sides, and chosen together.

In rank and file bases touch and figures stand in the way: from above it is hard to say where one ends. So every size is
laid at every place that the look from above takes for the middle of a rectangle (`overview`), and a learned look along
its sides moves it to where these speak for it most (`plate_start`). The bases are those that can all be there and that
are together the likeliest: four small squares side by side explain more than the large one that they make.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import sensitivity
from overruler.vision.contours.overlap_choice import Placed, detection_of, likeliest_together, overlap
from overruler.vision.contours.radial_edges import View
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.learned.inference import WEIGHTS
from overruler.vision.learned.logits import logit_of, share_of
from overruler.vision.learned.shape_net import Guess, look_for_rectangles
from overruler.vision.plates.coarse_grid import Posterior, posterior_at
from overruler.vision.plates.sides import HEIGHT_MM, normals_of, reaches_of

MODEL = WEIGHTS / "rectangle_edges.onnx"
"""Built as `plate_edges` is, and taught on bases under regiments."""
MOST_OFF = 0.45
"""Sizes whose side (logarithm of the square root of the area) is off the guessed one by less are laid, ..."""
ACROSS = 0.3
"""... but not across a guess that is this sure which way it is longer."""
SLACK_MM = 2.0
"""By so much bases may be larger than what they seem to make together."""
LEAST_SIDES = 2.0
"""Where the sides say less, in nats, nothing is laid."""
SAME_MM, SAME_RAD = 3.0, 0.2
"""Two of one size that lie this near each other are the same."""
NEAR_MM, UNKNOWN = 8.0, 0.02
"""What the look from above says counts for what is laid this near, and this where it says nothing."""
ODDS = np.array([-7.24, 1.157, 2.24, -39.1])
"""A base's log odds: a constant, and so much for what its sides say, for the log odds of the look from above, and for
how far its size is off what that guessed, squared: logistic regression on twelve rendered tables of all that was laid,
scaled by another of what was then chosen, by its margin."""
LEAST_WORTH, LEAST_SCORE = 0.32, 0.6
"""What is likelier than the first stands in the way of what else may lie there; what is likelier than the second is
told."""
AMBIGUOUS = 2.9
"""What else may lie there, and only there, with log odds behind by less, one in twenty or more, is in the doubt, ..."""
WITHIN_SIGMAS = 3.0
"""... within so many σ of what is said."""
FLOOR_MM, FLOOR_RAD = 0.15, np.radians(0.3)
"""1 σ of a place and of a heading at best."""
LEAST_SEEN = 0.3
"""A stretch of a side counts as seen where it says as much, in nats."""


class Place(NamedTuple):
    """A base, where it may lie: (2,) in mm and rad."""

    base: Base
    xy_mm: Array
    turn_rad: float


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """A base of one size, laid where its sides are seen best."""

    base: Base
    xy_mm: Array
    turn_rad: float
    view: View
    look: Posterior
    score: float
    """How likely it is there, by itself."""

    def same(self, other: "Laid") -> bool:
        """Whether two are one base."""
        if self.base != other.base or np.hypot(*(self.xy_mm - other.xy_mm)) > SAME_MM:
            return False
        modulo = np.pi / 2 if self.base.square else np.pi
        return bool(abs((self.turn_rad - other.turn_rad + modulo / 2) % modulo - modulo / 2) < SAME_RAD)


def find_rectangles(
    frame: Frame, camera: Camera, from_above: Orthophoto, bases: Sequence[Base], hidden: Sequence[Array] = ()
) -> list[Detection]:
    """Those of the rectangular `bases` that lie in the photo, the surest first.

    `from_above` shows the board at `networks.MM_PER_PX`; there are none where a `hidden` polygon (K, 2) in mm lies.
    """
    laid = lay_all(frame, camera, bases, look_for_rectangles(from_above, camera, hidden))
    together = likeliest_together(laid, [one.score for one in laid], LEAST_WORTH)
    likely = [(laid[k], score) for k, score in together.items() if score >= LEAST_SCORE]
    return [_detection(camera, one, score, _instead(one, laid, [laid[k] for k in together])) for one, score in likely]


def lay_all(frame: Frame, camera: Camera, bases: Sequence[Base], guesses: Sequence[Guess]) -> list[Laid]:
    """All that may be there, each once, the likeliest first.

    Where some are likely, others are also laid beside them, and side by side within them.
    """
    places = [place for guess in guesses for base in bases for place in _at(guess, base)]
    laid = _distinct([one for place in places for one in _lay(frame, camera, guesses, place)])
    likely = [laid[k] for k in likeliest_together(laid, [one.score for one in laid], LEAST_WORTH)]
    places = [place for one in likely for base in bases for place in (*_beside(one, base), *_within(one, base))]
    return _distinct([*laid, *(one for place in places for one in _lay(frame, camera, guesses, place))])


def _distinct(laid: Iterable[Laid]) -> list[Laid]:
    """Each once, the likeliest first."""
    kept: list[Laid] = []
    for one in sorted(laid, key=lambda one: -one.score):
        if not any(one.same(other) for other in kept):
            kept.append(one)
    return kept


def _at(guess: Guess, base: Base) -> Iterator[Place]:
    """Where a guess may mean a base: lengthwise, and across where it may lie either way."""
    for turn in guess.turn_rad + _quarters(base):
        along = np.dot(guess.along, [np.cos(2 * turn), np.sin(2 * turn)])
        if abs(_off(guess, base)) < MOST_OFF and (base.square or along > -ACROSS):
            yield Place(base, guess.xy_mm, turn)


def _quarters(base: Base) -> Array:
    """The quarters of a turn (rad) after which a base lies otherwise."""
    return np.arange(1 if base.square else 2) * np.pi / 2


def _beside(one: Placed, base: Base) -> Iterator[Place]:
    """Where the next of a rank or a file would be."""
    steps = 2 * reaches_of(_size(base))[:, None] * normals_of(one.turn_rad)
    yield from (Place(base, one.xy_mm + step, one.turn_rad) for step in steps if base == one.base)


def _within(one: Placed, base: Base) -> Iterator[Place]:
    """Where a base would lie of which two or more side by side look like one larger."""
    for quarter in _quarters(base):
        room = reaches_of(_size(one.base))[:2] - np.roll(reaches_of(_size(base)), int(quarter > 0))[:2]
        if room.min() > -SLACK_MM and room.max() > reaches_of(_size(base)).min() - SLACK_MM:
            for step in {(x, y) for x in (-room[0], room[0]) for y in (-room[1], room[1])}:
                yield Place(base, one.xy_mm + np.array(step) @ normals_of(one.turn_rad)[:2], one.turn_rad + quarter)


def _size(base: Base) -> tuple[float, float]:
    return base.length_mm, base.width_mm


def _lay(frame: Frame, camera: Camera, guesses: Sequence[Guess], place: Place) -> Iterator[Laid]:
    """A base near a place, if its sides say anything of it there."""
    base, xy_mm, turn_rad = place
    view = View.around(frame.pixels, camera, xy_mm, base.length_mm * 0.75, HEIGHT_MM)
    if view is None:
        return
    size = _size(base)
    look = posterior_at(view, xy_mm, turn_rad, size, xy_mm, MODEL)
    if look is None or look.seen.sum() < LEAST_SIDES:
        return
    xy, turn = look.best
    look = posterior_at(view, xy, turn, size, xy, MODEL)
    if look is not None and look.seen.sum() > LEAST_SIDES:
        xy, turn = look.best
        yield Laid(base, xy, turn, view, look, _score(base, xy, look, guesses))


def _score(base: Base, xy_mm: Array, look: Posterior, guesses: Sequence[Guess]) -> float:
    """How likely a base is there, 0 to 1."""
    away = np.hypot(*(np.array([guess.xy_mm for guess in guesses]) - xy_mm).T)
    likely = max((guesses[k].score for k in np.flatnonzero(away < NEAR_MM).tolist()), default=UNKNOWN)
    off = _off(guesses[int(np.argmin(away))], base)
    return float(share_of(ODDS @ [1.0, look.seen.sum(), logit_of(likely), off**2]))


def _off(guess: Guess, base: Base) -> float:
    """How much longer a base's side is than the guess says (logarithm)."""
    return float(np.log(base.length_mm * base.width_mm / (guess.length_mm * guess.width_mm)) / 2)


def _instead(one: Laid, laid: Sequence[Laid], chosen: Sequence[Laid]) -> list[Laid]:
    """What else may lie there, of those that only this one excludes: what two exclude does not explain both."""
    least = share_of(logit_of(one.score) - AMBIGUOUS)
    near = [other for other in laid if other is not one and other.score > least and overlap(one, other)]
    return [other for other in near if not any(overlap(other, third) for third in chosen if third is not one)]


def _detection(camera: Camera, one: Laid, score: float, instead: Sequence[Laid]) -> Detection:
    xy, turn, moments, turned = one.look.settled()
    lever = one.base.length_mm / 2
    apart = max((_apart_mm(one, other) for other in instead), default=0.0)
    doubt = FLOOR_MM**2 + (turned + FLOOR_RAD**2) * lever**2 / 2 + (apart / WITHIN_SIGMAS) ** 2
    seen, normals = one.look.seen > LEAST_SEEN, normals_of(turn)
    middles = xy + reaches_of(_size(one.base))[:, None] * normals
    slopes = sensitivity(one.view, middles, normals, np.clip(seen.mean(1), 0.05, 1))
    also = tuple(dict.fromkeys(other.base for other in instead if other.base != one.base))
    place = Place(one.base, xy, turn)
    return detection_of(camera, place, moments + np.eye(2) * doubt, slopes, score, float(seen.mean()), also)


def _apart_mm(one: Laid, other: Laid) -> float:
    """How far at most a side of the one lies from the other's."""
    return float(np.hypot(*(one.xy_mm - other.xy_mm)) + abs(one.base.length_mm - other.base.length_mm) / 2)
