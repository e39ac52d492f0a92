"""What all photos say of rectangular bases at told places, and how likely these are by that."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from overruler.detections import Detection
from overruler.vision.detection.raised_plane import RaisedPlane
from overruler.vision.learned.logits import probability_to_logit, sigmoid
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.ranks.rank_evidence import MIN_LOOKS, RankEvidence
from overruler.vision.pairing.ranks.told_places import Look, look_at_places
from overruler.vision.pairing.second_look import split_levels
from overruler.vision.pairing.sighting import PHOTOS_AT_A_TIME, SeenPhoto, Sighting
from overruler.vision.plates.rectangle_fit import BasePose

Looks = dict[int, Look]
"""What each photo, by its index, says of one place."""


def ask_photos(photos: Sequence[SeenPhoto], ranks: Sequence[Decided]) -> list[Decided]:
    """The bases with what all photos say of their places, and with the sightings that they lacked.

    One that too few photos show stays as it is.
    """
    with ThreadPoolExecutor(PHOTOS_AT_A_TIME) as pool:
        answers = list(pool.map(lambda photo: _ask(photo, ranks), photos))
    asked = []
    for k, one in enumerate(ranks):
        pairs = zip(photos, answers, strict=True)
        looks = {photo.index: said[k] for photo, said in pairs if k in said}
        asked.append(_with_looks(one, looks, photos))
    return asked


def _ask(photo: SeenPhoto, ranks: Sequence[Decided]) -> dict[int, Look]:
    """What one photo says of the bases that it shows, by their numbers."""
    shown = [k for k, one in enumerate(ranks) if photo.shows(one.xyz_mm)]
    said: dict[int, Look] = {}
    for members in split_levels([float(ranks[k].xyz_mm[2]) for k in shown]):
        level = [shown[k] for k in members]
        z_mm = float(np.mean([ranks[k].xyz_mm[2] for k in level]))
        calibration = photo.calibration
        plane = RaisedPlane.of(calibration, np.array([0.0, 0.0, z_mm]), calibration.board_mm)
        poses = [pose_of(ranks[k]) for k in level]
        looks = look_at_places(photo.frame, plane.calibration.camera, poses)
        for k, (place, base) in zip(level, looks, strict=True):
            said[k] = place, None if base is None else _on_plane(plane, base, z_mm)
    return said


def _on_plane(plane: RaisedPlane, base: Detection, z_mm: float) -> Detection:
    found = plane.to_board_frame(base)
    return replace(found, standing_on="", sigma_z_mm=0.0) if z_mm else found


def _with_looks(one: Decided, looks: Looks, photos: Sequence[SeenPhoto]) -> Decided:
    """A base with what photos say of its place, and as those show it that had not measured it there."""
    if len(looks) < MIN_LOOKS:
        return one
    own = {each.photo.index: each for each in one.sightings if each.detection.base == one.base}
    for photo in photos:
        _, base = looks.get(photo.index, (None, None))
        mine = own.get(photo.index)
        if base is not None and (mine is None or not one.is_measured_by(mine)):
            own[photo.index] = Sighting(photo, base, again=mine is None)
    said = {index: place for index, (place, _) in looks.items()}
    return replace(one, sightings=tuple(own.values()), ranks=RankEvidence(said))


def log_odds_of(one: Decided) -> float:
    """The log odds of a base: by all photos that were asked, else by the surest sighting."""
    odds = None if one.ranks is None else one.ranks.log_odds(one.ranks.seen.keys())
    if odds is not None:
        return odds
    return float(probability_to_logit(max((s.detection.score for s in one.sightings), default=0.0)))


def probability_of(one: Decided) -> float:
    """The same as a probability."""
    return float(sigmoid(np.asarray(log_odds_of(one))))


def pose_of(one: Decided) -> BasePose:
    """Where a base stands on the plane of its underside."""
    return BasePose(one.base, one.xy_mm, one.turn_rad)
