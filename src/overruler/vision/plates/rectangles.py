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
from overruler.vision.contours.cone_fit import camera_jacobian
from overruler.vision.contours.overlap_choice import (
    PlacedBase,
    bases_overlap,
    likeliest_compatible_set,
    make_detection,
)
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.contours.rare_events import RARE_WITHIN_SIGMAS
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.learned.inference import WEIGHTS
from overruler.vision.learned.logits import probability_to_logit, sigmoid
from overruler.vision.learned.shape_net import ShapeCandidate, find_rectangle_candidates
from overruler.vision.plates.coarse_grid import PosePosterior, pose_posterior
from overruler.vision.plates.sides import PLATE_HEIGHT_MM, half_extents, side_normals

MODEL = WEIGHTS / "rectangle_edges.onnx"
"""Built as `plate_edges` is, and taught on bases under regiments."""
MAX_LOG_SIZE_ERROR = 0.45
"""Sizes whose side (logarithm of the square root of the area) is off the guessed one by less are laid, ..."""
CERTAIN_ELONGATION = 0.3
"""... but not across a guess that is this sure which way it is longer."""
SLACK_MM = 2.0
"""By so much bases may be larger than what they seem to make together."""
MIN_SIDE_NATS = 2.0
"""Where the sides say less, in nats, nothing is laid."""
SAME_POSE_MM, SAME_POSE_RAD = 3.0, 0.2
"""Two of one size that lie this near each other are the same."""
GUESS_REACH_MM, MIN_OVERVIEW_PROBABILITY = 8.0, 0.02
"""What the look from above says counts for what is laid this near, and this where it says nothing."""
LOGIT_WEIGHTS = np.array([-7.24, 1.157, 2.24, -39.1])
"""A base's log odds: a constant, and so much for what its sides say, for the log odds of the look from above, and for
how far its size is off what that guessed, squared: logistic regression on twelve rendered tables of all that was laid,
scaled by another of what was then chosen, by its margin."""
MIN_RIVAL_SCORE, MIN_SCORE = 0.32, 0.6
"""What is likelier than the first stands in the way of what else may lie there; what is likelier than the second is
told."""
AMBIGUOUS_LOGIT_GAP = 2.9
"""What else may lie there, and only there, with log odds behind by less, one in twenty or more, is in the doubt, ..."""
FLOOR_SIGMA_MM, FLOOR_SIGMA_RAD = 0.15, np.radians(0.3)
"""1 σ of a place and of a heading at best."""
MIN_STRETCH_NATS = 0.3
"""A stretch of a side counts as seen where it says as much, in nats."""


class BasePose(NamedTuple):
    """A base, where it may lie: (2,) in mm and rad."""

    base: Base
    xy_mm: Array
    turn_rad: float


@dataclass(frozen=True, slots=True, eq=False)
class RectangleHypothesis:
    """A base of one size, laid where its sides are seen best."""

    base: Base
    xy_mm: Array
    turn_rad: float
    view: LabPatch
    posterior: PosePosterior
    score: float
    """How likely it is there, by itself."""

    def is_same_base(self, other: "RectangleHypothesis") -> bool:
        """Whether two are one base."""
        if self.base != other.base or np.hypot(*(self.xy_mm - other.xy_mm)) > SAME_POSE_MM:
            return False
        modulo = np.pi / 2 if self.base.is_square else np.pi
        return bool(
            abs((self.turn_rad - other.turn_rad + modulo / 2) % modulo - modulo / 2) < SAME_POSE_RAD
        )


def find_rectangles(
    frame: Frame,
    camera: Camera,
    from_above: Orthophoto,
    bases: Sequence[Base],
    hidden: Sequence[Array] = (),
) -> list[Detection]:
    """Those of the rectangular `bases` that lie in the photo, the surest first.

    `from_above` shows the board at `networks.MM_PER_PX`; there are none where a `hidden` polygon (K, 2) in mm lies.
    """
    laid = place_hypotheses(
        frame, camera, bases, find_rectangle_candidates(from_above, camera, hidden)
    )
    together = likeliest_compatible_set(laid, [one.score for one in laid], MIN_RIVAL_SCORE)
    likely = [(laid[k], score) for k, score in together.items() if score >= MIN_SCORE]
    return [
        _make_detection(camera, one, score, _alternatives(one, laid, [laid[k] for k in together]))
        for one, score in likely
    ]


def place_hypotheses(
    frame: Frame, camera: Camera, bases: Sequence[Base], guesses: Sequence[ShapeCandidate]
) -> list[RectangleHypothesis]:
    """All that may be there, each once, the likeliest first.

    Where some are likely, others are also laid beside them, and side by side within them.
    """
    places = [
        place for guess in guesses for base in bases for place in _poses_of_guess(guess, base)
    ]
    laid = _deduplicate(
        [one for place in places for one in _fit_pose(frame, camera, guesses, place)]
    )
    likely = [
        laid[k]
        for k in likeliest_compatible_set(laid, [one.score for one in laid], MIN_RIVAL_SCORE)
    ]
    places = [
        place
        for one in likely
        for base in bases
        for place in (*_poses_beside(one, base), *_poses_within(one, base))
    ]
    return _deduplicate(
        [*laid, *(one for place in places for one in _fit_pose(frame, camera, guesses, place))]
    )


def _deduplicate(laid: Iterable[RectangleHypothesis]) -> list[RectangleHypothesis]:
    """Each once, the likeliest first."""
    kept: list[RectangleHypothesis] = []
    for one in sorted(laid, key=lambda one: -one.score):
        if not any(one.is_same_base(other) for other in kept):
            kept.append(one)
    return kept


def _poses_of_guess(guess: ShapeCandidate, base: Base) -> Iterator[BasePose]:
    """Where a guess may mean a base: lengthwise, and across where it may lie either way."""
    for turn in guess.turn_rad + _distinct_turns(base):
        along = np.dot(guess.double_heading_vector, [np.cos(2 * turn), np.sin(2 * turn)])
        if abs(_log_size_error(guess, base)) < MAX_LOG_SIZE_ERROR and (
            base.is_square or along > -CERTAIN_ELONGATION
        ):
            yield BasePose(base, guess.xy_mm, turn)


def _distinct_turns(base: Base) -> Array:
    """The quarters of a turn (rad) after which a base lies otherwise."""
    return np.arange(1 if base.is_square else 2) * np.pi / 2


def _poses_beside(one: PlacedBase, base: Base) -> Iterator[BasePose]:
    """Where the next of a rank or a file would be."""
    steps = 2 * half_extents(_size_mm(base))[:, None] * side_normals(one.turn_rad)
    yield from (
        BasePose(base, one.xy_mm + step, one.turn_rad) for step in steps if base == one.base
    )


def _poses_within(one: PlacedBase, base: Base) -> Iterator[BasePose]:
    """Where a base would lie of which two or more side by side look like one larger."""
    for quarter in _distinct_turns(base):
        room = (
            half_extents(_size_mm(one.base))[:2]
            - np.roll(half_extents(_size_mm(base)), int(quarter > 0))[:2]
        )
        if room.min() > -SLACK_MM and room.max() > half_extents(_size_mm(base)).min() - SLACK_MM:
            for step in {(x, y) for x in (-room[0], room[0]) for y in (-room[1], room[1])}:
                yield BasePose(
                    base,
                    one.xy_mm + np.array(step) @ side_normals(one.turn_rad)[:2],
                    one.turn_rad + quarter,
                )


def _size_mm(base: Base) -> tuple[float, float]:
    return base.length_mm, base.width_mm


def _fit_pose(
    frame: Frame, camera: Camera, guesses: Sequence[ShapeCandidate], place: BasePose
) -> Iterator[RectangleHypothesis]:
    """A base near a place, if its sides say anything of it there."""
    base, xy_mm, turn_rad = place
    view = LabPatch.crop_around(frame.pixels, camera, xy_mm, base.length_mm * 0.75, PLATE_HEIGHT_MM)
    if view is None:
        return
    size = _size_mm(base)
    look = pose_posterior(view, xy_mm, turn_rad, size, xy_mm, MODEL)
    if look is None or look.stretch_nats.sum() < MIN_SIDE_NATS:
        return
    xy, turn = look.best_pose
    look = pose_posterior(view, xy, turn, size, xy, MODEL)
    if look is not None and look.stretch_nats.sum() > MIN_SIDE_NATS:
        xy, turn = look.best_pose
        yield RectangleHypothesis(
            base, xy, turn, view, look, _base_probability(base, xy, look, guesses)
        )


def _base_probability(
    base: Base, xy_mm: Array, look: PosePosterior, guesses: Sequence[ShapeCandidate]
) -> float:
    """How likely a base is there, 0 to 1."""
    away = np.hypot(*(np.array([guess.xy_mm for guess in guesses]) - xy_mm).T)
    likely = max(
        (guesses[k].score for k in np.flatnonzero(away < GUESS_REACH_MM).tolist()),
        default=MIN_OVERVIEW_PROBABILITY,
    )
    off = _log_size_error(guesses[int(np.argmin(away))], base)
    return float(
        sigmoid(
            LOGIT_WEIGHTS @ [1.0, look.stretch_nats.sum(), probability_to_logit(likely), off**2]
        )
    )


def _log_size_error(guess: ShapeCandidate, base: Base) -> float:
    """How much longer a base's side is than the guess says (logarithm)."""
    return float(np.log(base.length_mm * base.width_mm / (guess.length_mm * guess.width_mm)) / 2)


def _alternatives(
    one: RectangleHypothesis,
    laid: Sequence[RectangleHypothesis],
    chosen: Sequence[RectangleHypothesis],
) -> list[RectangleHypothesis]:
    """What else may lie there, of those that only this one excludes: what two exclude does not explain both."""
    least = sigmoid(probability_to_logit(one.score) - AMBIGUOUS_LOGIT_GAP)
    near = [
        other
        for other in laid
        if other is not one and other.score > least and bases_overlap(one, other)
    ]
    return [
        other
        for other in near
        if not any(bases_overlap(other, third) for third in chosen if third is not one)
    ]


def _make_detection(
    camera: Camera, one: RectangleHypothesis, score: float, instead: Sequence[RectangleHypothesis]
) -> Detection:
    xy, turn, moments, turned = one.posterior.mean_and_moments()
    lever = one.base.length_mm / 2
    apart = max((_side_distance_mm(one, other) for other in instead), default=0.0)
    doubt = (
        FLOOR_SIGMA_MM**2
        + (turned + FLOOR_SIGMA_RAD**2) * lever**2 / 2
        + (apart / RARE_WITHIN_SIGMAS) ** 2
    )
    seen, normals = one.posterior.stretch_nats > MIN_STRETCH_NATS, side_normals(turn)
    middles = xy + half_extents(_size_mm(one.base))[:, None] * normals
    slopes = camera_jacobian(one.view, middles, normals, np.clip(seen.mean(1), 0.05, 1))
    also = tuple(dict.fromkeys(other.base for other in instead if other.base != one.base))
    place = BasePose(one.base, xy, turn)
    return make_detection(
        camera, place, moments + np.eye(2) * doubt, slopes, score, float(seen.mean()), also
    )


def _side_distance_mm(one: RectangleHypothesis, other: RectangleHypothesis) -> float:
    """How far at most a side of the one lies from the other's."""
    return float(
        np.hypot(*(one.xy_mm - other.xy_mm)) + abs(one.base.length_mm - other.base.length_mm) / 2
    )
