"""Find rectangular bases that nobody named: in rank and file, alone, or under small scales.

A network sees the whole table from above (`regiment_net`) and says where bases lie, how large they
are and how they are turned. Every size of the catalogue that is about as large is placed there and
fitted along its sides. Beside the likely ones further bases of their size are tried: in rank and
file the network misses some. What each says of the others (`neighbours`) settles sizes and chances.
The result is the likeliest set that can stand together.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from overruler.bases import RECTANGLE_SIDES_MM, Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.overlap_choice import likeliest_compatible_set
from overruler.vision.contours.reproject import reproject_outline
from overruler.vision.learned.inference import WEIGHTS
from overruler.vision.learned.logits import (
    MAX_LOGIT,
    MAX_LOGIT_PER_VIEW,
    probability_to_logit,
)
from overruler.vision.learned.patch_net import run_patch_network
from overruler.vision.learned.patches import photo_pyramid
from overruler.vision.learned.print_net import CORNERED_MODEL, rectangle_circles
from overruler.vision.learned.rectangles_in_play import (
    OVAL_TO_RECTANGLE,
    look_at_rectangles,
    rectangle_ovals,
)
from overruler.vision.learned.shape_net import ShapeCandidate
from overruler.vision.learned.shapes_in_play import correct_shapes
from overruler.vision.plates.coarse_grid import PosePosterior
from overruler.vision.plates.lattice import settle_places, settle_turns
from overruler.vision.plates.neighbours import Places, settled_scores
from overruler.vision.plates.rectangle_fit import (
    MIN_SIDE_NATS,
    BasePose,
    RectangleHypothesis,
    find_alternatives,
    fit_pose,
    make_rectangle_detection,
    size_mm,
)
from overruler.vision.plates.regiment_net import SeenCells
from overruler.vision.plates.sides import half_extents, side_normals

SIDES_MODEL = WEIGHTS / "regiment_edges.onnx"
"""The network that looks along sides: it also knows places without any."""
BASES = tuple(Base.rectangle(width, length) for length, width in RECTANGLE_SIDES_MM)
"""The sizes that are looked for."""
LOG_SIDE_SIGMA = 0.08
"""1 σ of the logarithm of a side that the network guesses."""
MAX_SIZE_CHI2 = 9.0
"""Largest squared error of a guessed size, in σ²."""
WORST_SIZE_CHI2 = 20.0
"""A larger one counts as this: where the network sees no middle it says nothing of the size."""
MOST_SIZES = 3
"""Most sizes that are fitted at a guess."""
CERTAIN_ELONGATION = 0.3
"""Certainty of a guess's long axis from which no base is placed across it."""
PROBED_GUESSES = 12
"""So many of the likeliest guesses are looked at first, ..."""
PROMISING_SCORE = 0.5
"""... and the others only if one of those is a base of this probability."""
CORRECTIONS = 3
"""Times that the network in play corrects a guess."""
GROWTH_SCORE = 0.5
"""A base of this probability is tried again beside itself, ..."""
GROWTH_ROUNDS = 2
"""... so many times over."""
TAKEN_SHARE = 0.4
"""A place is known where a base of its size was fitted within this share of its width."""
MAX_STRETCH_NATS = 1.5
"""Most evidence of one stretch of a side, for or against: the errors of neighbouring ones go together."""
USUAL_SIDE_MM = 30.0
"""Side of a usual base: sizes count against it."""
MIN_RIVAL_SCORE = 0.2
"""Smallest probability of a hypothesis that can exclude others."""
MIN_SCORE = 0.6
"""Smallest probability of a base that is told."""


class Fitted(NamedTuple):
    """A hypothesis and the evidence for it alone, before a closer look."""

    hypothesis: RectangleHypothesis
    """Where its sides have most evidence; its score is that evidence."""
    features: Array
    """(6,): the first of `neighbours.OWN_FEATURES`."""

    def with_closer_look(self, said: Array) -> "Examined":
        """Return the same with what a closer look says (5,)."""
        return Examined(self.hypothesis, np.append(self.features, said))


class Examined(NamedTuple):
    """A hypothesis and all evidence for it alone."""

    hypothesis: RectangleHypothesis
    """As that of `Fitted`."""
    features: Array
    """(11,): as `neighbours.OWN_FEATURES` names them."""


def find_regiments(
    frame: Frame, camera: Camera, cells: SeenCells, least_score: float = MIN_SCORE
) -> list[Detection]:
    """Return the rectangular bases among what the network sees, of that probability at least.

    The surest are first.
    """
    hypotheses = rate(measure_hypotheses(frame, camera, cells))
    scores = [one.score for one in hypotheses]
    chosen = likeliest_compatible_set(hypotheses, scores, min(MIN_RIVAL_SCORE, least_score))
    standing = [hypotheses[k] for k in chosen]
    detections = []
    for k, score in chosen.items():
        if score >= least_score:
            others = find_alternatives(hypotheses[k], hypotheses, standing)
            told = hypotheses[k], score, others, SIDES_MODEL
            detections.append(make_rectangle_detection(frame, camera, *told))
    return _settled(camera, detections)


def _settled(camera: Camera, detections: Sequence[Detection]) -> list[Detection]:
    """Return detections at the places that all members of their units tell together."""
    if not detections:
        return []
    places = places_of_detections(detections)
    settled = settle_places(places, np.array([one.covariance_mm2 for one in detections]))
    headings = np.degrees(settle_turns(places)).tolist()
    moved = []
    for one, at, covariance, heading in zip(detections, *settled, headings, strict=True):
        turned = replace(one, heading_deg=heading % one.heading_modulo_deg)
        placed = replace(turned, xy_mm=at, covariance_mm2=covariance)
        moved.append(reproject_outline(camera, placed))
    return moved


def measure_hypotheses(frame: Frame, camera: Camera, cells: SeenCells) -> list[Examined]:
    """Return the likely sizes at all guesses, and beside likely ones, with the evidence for each."""

    def fit_all(poses: Iterable[tuple[ShapeCandidate, BasePose]]) -> list[Examined]:
        fits = [fit_at_guess(frame, camera, guess, pose) for guess, pose in poses]
        return look_closely(frame, camera, [one for one in fits if one is not None])

    def fit_guesses(guesses: Sequence[ShapeCandidate]) -> list[Examined]:
        return fit_all((guess, pose) for guess in guesses for pose in likely_poses(guess))

    found = fit_guesses(cells.guesses[:PROBED_GUESSES])
    if not any(one.score >= PROMISING_SCORE for one in rate(found)):
        return []
    found += fit_guesses(cells.guesses[PROBED_GUESSES:])
    found += fit_all(_poses_in_play(frame, camera, cells, found))
    for _ in range(GROWTH_ROUNDS):
        beside = _poses_beside_likely(found)
        new = fit_all([(cells.guess_near(pose.xy_mm), pose) for pose in beside])
        if not new:
            break
        found += new
    return found


def rate(found: Sequence[Examined]) -> list[RectangleHypothesis]:
    """Return the hypotheses with their probabilities."""
    if not found:
        return []
    own = np.stack([one.features for one in found])
    scores = settled_scores(own, places_of([one.hypothesis for one in found])).tolist()
    return [replace(one.hypothesis, score=score) for one, score in zip(found, scores, strict=True)]


def places_of(hypotheses: Sequence[RectangleHypothesis]) -> Places:
    """Return where hypotheses lie."""
    xy = np.array([one.xy_mm for one in hypotheses])
    turns = np.array([one.turn_rad for one in hypotheses])
    return Places(xy, turns, np.array([size_mm(one.base) for one in hypotheses]))


def places_of_detections(detections: Sequence[Detection]) -> Places:
    """Return where rectangles stand."""
    xy = np.array([one.xy_mm for one in detections]).reshape(-1, 2)
    turns = np.array([one.turn_rad for one in detections])
    return Places(xy, turns, np.array([size_mm(one.base) for one in detections]).reshape(-1, 2))


def fit_at_guess(
    frame: Frame,
    camera: Camera,
    guess: ShapeCandidate,
    pose: BasePose,
    least_nats: float = MIN_SIDE_NATS,
) -> Fitted | None:
    """Return the hypothesis near a pose, by what the network guesses there."""
    fit = fit_pose(frame, camera, pose, _side_nats, SIDES_MODEL, least_nats)
    if fit is None:
        return None
    logit = float(probability_to_logit(guess.score, MAX_LOGIT))
    nats = np.clip(fit.stretch_nats, -MAX_STRETCH_NATS, MAX_STRETCH_NATS).sum(1)
    chi2 = min(size_chi2(guess, pose.base), WORST_SIZE_CHI2)
    log_side = float(np.log(size_mm(pose.base)).mean() - np.log(USUAL_SIDE_MM))
    return Fitted(fit, np.array([1.0, logit, nats.sum(), nats.min(), chi2, log_side]))


def look_closely(frame: Frame, camera: Camera, found: Sequence[Fitted]) -> list[Examined]:
    """Return the same with what two networks say of each.

    That of cards tells bases from prints by sides and figures. That in play knows bases by the whole.
    """
    if not found:
        return []
    pyramid, places = photo_pyramid(frame), places_of([one.hypothesis for one in found])
    circles = rectangle_circles(places.xy_mm, places.size_mm)
    logits = run_patch_network(pyramid, camera, circles, model=CORNERED_MODEL)[:, 0]
    as_card = logits.clip(-MAX_LOGIT_PER_VIEW, MAX_LOGIT_PER_VIEW)
    ovals = rectangle_ovals(places.xy_mm, places.size_mm, places.turn_rad)
    said = np.column_stack([as_card, look_at_rectangles(pyramid, camera, ovals)])
    return [one.with_closer_look(some) for one, some in zip(found, said, strict=True)]


def _side_nats(xy_mm: Array, posterior: PosePosterior) -> float:
    return float(posterior.stretch_nats.sum())


def likely_poses(guess: ShapeCandidate) -> list[BasePose]:
    """Return the sizes at a guess, the likeliest first."""
    poses = [pose for base in BASES for pose in _poses_of_size(guess, base)]
    likely = [pose for pose in poses if size_chi2(guess, pose.base) < MAX_SIZE_CHI2]
    return sorted(likely, key=lambda pose: size_chi2(guess, pose.base))[:MOST_SIZES]


def size_chi2(guess: ShapeCandidate, base: Base) -> float:
    """Return the squared error of a guessed size, if a base is of another, in σ²."""
    size = np.log([base.length_mm, base.width_mm])
    error = (np.log([guess.length_mm, guess.width_mm]) - size) / LOG_SIDE_SIGMA
    return float(error @ error)


def _poses_of_size(guess: ShapeCandidate, base: Base) -> Iterator[BasePose]:
    """Yield the poses of a size, lengthwise and across."""
    for quarter in range(1 if base.is_square else 2):
        turn = guess.turn_rad + quarter * np.pi / 2
        axis = [np.cos(2 * turn), np.sin(2 * turn)]
        if base.is_square or np.dot(guess.double_heading_vector, axis) > -CERTAIN_ELONGATION:
            yield BasePose(base, guess.xy_mm, turn)


def _poses_in_play(
    frame: Frame, camera: Camera, cells: SeenCells, found: Sequence[Examined]
) -> Iterator[tuple[ShapeCandidate, BasePose]]:
    """Yield the sizes that the network in play sees at guesses, where they were not fitted yet."""
    guesses = cells.guesses
    sizes = np.array([[one.length_mm, one.width_mm] for one in guesses])
    turns = np.array([one.turn_rad for one in guesses])
    ovals = rectangle_ovals(np.array([one.xy_mm for one in guesses]), sizes, turns)
    numbers, corrected, _ = correct_shapes(photo_pyramid(frame), camera, ovals, CORRECTIONS)
    tried: list[BasePose | RectangleHypothesis] = [one.hypothesis for one in found]
    for k, oval in zip(numbers.tolist(), corrected, strict=True):
        guess, (length, width) = guesses[k], (2 * OVAL_TO_RECTANGLE * oval[2:4]).tolist()
        seen = ShapeCandidate(oval[:2], length, width, float(oval[4]), 1.0, guess.score)
        for pose in likely_poses(seen):
            if not is_taken(pose, tried):
                tried.append(pose)
                yield guess, pose


def _poses_beside_likely(found: Sequence[Examined]) -> list[BasePose]:
    """Return the places in contact with likely bases where none of their size was fitted yet."""
    rated = rate(found)
    likely = [one for one in rated if one.score >= GROWTH_SCORE]
    new: list[BasePose] = []
    for one in sorted(likely, key=lambda one: -one.score):
        steps = 2 * half_extents(size_mm(one.base))[:, None] * side_normals(one.turn_rad)
        for step in steps:
            pose = BasePose(one.base, one.xy_mm + step, one.turn_rad)
            if not is_taken(pose, [*rated, *new]):
                new.append(pose)
    return new


def is_taken(pose: BasePose, others: Sequence[BasePose | RectangleHypothesis]) -> bool:
    """Tell whether a base of its size was fitted at a place already."""
    same = [other.xy_mm for other in others if other.base == pose.base]
    limit_mm = TAKEN_SHARE * pose.base.width_mm
    return any(np.hypot(*(xy_mm - pose.xy_mm)) < limit_mm for xy_mm in same)
