"""Bases in rank and file, by all photos together.

Each photo is asked for every such base that any photo found. Beside the likely ones further bases of
their size are asked for: figures hide some in every photo, but not the same sides in all of them.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.vision.contours.overlap_choice import bases_overlap, likeliest_compatible_set
from overruler.vision.detection.finders import REGIMENT, is_plate
from overruler.vision.detection.raised_plane import RaisedPlane
from overruler.vision.learned.logits import probability_to_logit, sigmoid
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.ranks.rank_evidence import MIN_LOOKS, RankEvidence
from overruler.vision.pairing.ranks.told_places import Look, look_at_places
from overruler.vision.pairing.second_look import SAME_LEVEL_MM
from overruler.vision.pairing.sighting import PHOTOS_AT_A_TIME, SeenPhoto, Sighting
from overruler.vision.plates.lattice import find_units
from overruler.vision.plates.neighbours import Places
from overruler.vision.plates.rectangle_fit import BasePose, size_mm
from overruler.vision.plates.regiments import BASES, TAKEN_SHARE
from overruler.vision.plates.sides import half_extents, side_normals

GROWTH_PROBABILITY = 0.5
"""Beside a base of this probability others are asked for."""
GROWTH_ROUNDS = 6
"""Most times over that this is done: a unit whose middle is known has seldom more files beside it."""
SURE_SCORE = 0.9
"""Score in one photo, and probability by all, of a base that is surely one: where `REGIMENT` of them stand,
there are regiments."""
ODD_SIZE_CHI2 = 5.0
"""Mean squared error of the guessed size, in σ², from which on a base may be of another. Of 176 bases one in
six had more, of two taken for one 19 in 20."""
WEIGHT_OF_SIZE = -0.23
"""Weight of that error in the log odds of bases that exclude one another: that of a logistic regression with
halves of bases and two taken for one."""
MOST_PARTS = 4
"""Most bases in contact that may be taken for one."""
SLIP_MM = 3.0
"""How far two of them may be off their contact."""
EVEN = 0.5
"""Probability of a base from which on it may exclude others."""
MIN_UNIT = 3
"""Bases in contact, at least, of a unit: a card is taken for two."""
MIN_PROBABILITY = 0.9
"""Least probability of a base that no photo found by itself: many places are asked for."""

Looks = dict[int, Look]
"""What each photo, by its index, says of one place."""


def is_in_ranks(base: Base) -> bool:
    """Whether a base is one as regiments have: a rectangle that is no ship's plate."""
    return base.shape == "rectangle" and not is_plate(base)


def complete_ranks(photos: Sequence[SeenPhoto], findings: Sequence[Decided]) -> list[Decided]:
    """The findings with what all photos say of those in rank and file, and with what stands beside them."""
    if not any(is_in_ranks(one.base) for one in findings):
        return list(findings)
    others = [one for one in findings if not is_in_ranks(one.base)]
    ranks = [one for one in findings if is_in_ranks(one.base)]
    asked = _ask_all(photos, ranks)
    done = [_with_looks(one, looks, photos) for one, looks in zip(ranks, asked, strict=True)]
    if sum(map(_is_surely_found, done)) < REGIMENT:
        return [*others, *map(_among_few, done)]
    done = _settle_sizes(photos, done)
    tried = [_pose_of(one) for one in done]
    newest = done
    for _ in range(GROWTH_ROUNDS):
        cells = _cells_beside(newest, [_pose_of(one) for one in done if _is_likely(one)], tried)
        tried += [_pose_of(one) for one in cells]
        newest = _find_likely(photos, cells)
        if not newest:
            break
        done += newest
    return [*others, *_note_units(done)]


def _find_likely(photos: Sequence[SeenPhoto], cells: Sequence[Decided]) -> list[Decided]:
    """Those of the places that no photo told at which the photos show a likely base."""
    asked = _ask_all(photos, cells)
    new = [_with_looks(one, looks, photos) for one, looks in zip(cells, asked, strict=True)]
    return [one for one in new if one.sightings and _probability(one) >= MIN_PROBABILITY]


def _settle_sizes(photos: Sequence[SeenPhoto], ranks: Sequence[Decided]) -> list[Decided]:
    """The likeliest bases that can stand together, among these and what else those of odd size may be.

    Bases in contact look like one, and a base looks like two where a figure's shadow crosses it.
    """
    odd = [one for one in ranks if _size_chi2(one) > ODD_SIZE_CHI2]
    others = [*(part for one in odd for part in _parts_of(one)), *_unions_of(ranks)]
    usual = [one for one in _find_likely(photos, others) if _size_chi2(one) <= ODD_SIZE_CHI2]
    every = [*ranks, *usual]
    odds = np.array([_log_odds(one) + WEIGHT_OF_SIZE * _size_chi2(one) for one in every])
    scores = sigmoid(odds).tolist()
    standing = likeliest_compatible_set([_pose_of(one) for one in every], scores, EVEN)
    return [one for k, one in enumerate(every) if k in standing or scores[k] <= EVEN]


def _size_chi2(one: Decided) -> float:
    return 0.0 if one.ranks is None else one.ranks.size_chi2


def _parts_of(one: Decided) -> Iterator[Decided]:
    """Yield the smaller bases that together look like one."""
    pose, (length_mm, width_mm) = _pose_of(one), size_mm(one.base)
    for count in range(2, MOST_PARTS + 1):
        sides = (length_mm / count, width_mm), (length_mm, width_mm / count)
        for along, (x_mm, y_mm) in enumerate(sides):
            base = Base.rectangle(min(x_mm, y_mm), max(x_mm, y_mm))
            if base not in BASES or is_plate(base):
                continue
            step = side_normals(pose.turn_rad)[along] * (x_mm, y_mm)[along]
            heading_deg = one.heading_deg + (0.0 if x_mm >= y_mm else 90.0)
            for k in range(count):
                xy_mm = pose.xy_mm + (k - (count - 1) / 2) * step
                yield _told(one, base, xy_mm, heading_deg)


def _unions_of(ranks: Sequence[Decided]) -> Iterator[Decided]:
    """Yield the bases that two of one size in contact look like together."""
    for one, other in combinations(ranks, 2):
        step = other.xyz_mm[:2] - one.xyz_mm[:2]
        pose, size = _pose_of(one), np.array(size_mm(one.base))
        is_odd = max(_size_chi2(one), _size_chi2(other)) > ODD_SIZE_CHI2
        higher_mm = abs(float(one.xyz_mm[2] - other.xyz_mm[2]))
        if not is_odd or one.base != other.base or higher_mm > SAME_LEVEL_MM:
            continue
        for along, normal in enumerate(side_normals(pose.turn_rad)[:2]):
            if min(np.hypot(*(step - sign * size[along] * normal)) for sign in (-1, 1)) > SLIP_MM:
                continue
            sides = size.copy()
            sides[along] *= 2
            base = Base.rectangle(float(sides.min()), float(sides.max()))
            if base in BASES and not is_plate(base):
                heading_deg = one.heading_deg + (0.0 if sides[0] >= sides[1] else 90.0)
                yield _told(one, base, one.xyz_mm[:2] + step / 2, heading_deg)


def _is_surely_found(one: Decided) -> bool:
    """Whether a photo found a base by itself, and all of them find it likely."""
    scores = [seen.detection.score for seen in one.sightings if not seen.again]
    return max(scores, default=0.0) >= SURE_SCORE and _probability(one) >= SURE_SCORE


def _among_few(one: Decided) -> Decided:
    ranks = one.ranks
    return one if ranks is None else replace(one, ranks=replace(ranks, is_among_few=True))


def _note_units(ranks: Sequence[Decided]) -> list[Decided]:
    """The bases, with whether they stand in a unit of likely ones."""
    likely = [one for one in ranks if _is_likely(one)]
    poses = [_pose_of(one) for one in likely]
    places = Places(
        np.reshape([pose.xy_mm for pose in poses], (-1, 2)),
        np.array([pose.turn_rad for pose in poses]),
        np.reshape([size_mm(pose.base) for pose in poses], (-1, 2)),
    )
    units = [unit.members for unit in find_units(places) if len(unit.members) >= MIN_UNIT]
    members = {id(likely[k]) for unit in units for k in unit}
    return [
        replace(one, ranks=replace(one.ranks, is_in_unit=True))
        if one.ranks is not None and id(one) in members
        else one
        for one in ranks
    ]


def _ask_all(photos: Sequence[SeenPhoto], ranks: Sequence[Decided]) -> list[Looks]:
    """What the photos say of each base."""
    with ThreadPoolExecutor(PHOTOS_AT_A_TIME) as pool:
        answers = list(pool.map(lambda photo: _ask(photo, ranks), photos))
    return [
        {photo.index: some[k] for photo, some in zip(photos, answers, strict=True) if k in some}
        for k in range(len(ranks))
    ]


def _ask(photo: SeenPhoto, ranks: Sequence[Decided]) -> dict[int, Look]:
    """What one photo says of the bases that it shows, by their numbers."""
    shown = [k for k, one in enumerate(ranks) if photo.shows(one.xyz_mm)]
    said: dict[int, Look] = {}
    for level in _split_levels(ranks, shown):
        z_mm = float(np.mean([ranks[k].xyz_mm[2] for k in level]))
        calibration = photo.calibration
        plane = RaisedPlane.of(calibration, np.array([0.0, 0.0, z_mm]), calibration.board_mm)
        poses = [_pose_of(ranks[k]) for k in level]
        looks = look_at_places(photo.frame, plane.calibration.camera, poses)
        for k, (place, base) in zip(level, looks, strict=True):
            said[k] = place, None if base is None else _on_plane(plane, base, z_mm)
    return said


def _on_plane(plane: RaisedPlane, base: Detection, z_mm: float) -> Detection:
    found = plane.to_board_frame(base)
    return replace(found, standing_on="", sigma_z_mm=0.0) if z_mm else found


def _split_levels(ranks: Sequence[Decided], shown: Sequence[int]) -> list[list[int]]:
    """Numbers of the bases at about one height, the lowest first."""
    levels: list[list[int]] = []
    for k in sorted(shown, key=lambda k: float(ranks[k].xyz_mm[2])):
        lowest = ranks[levels[-1][0]].xyz_mm[2] if levels else -np.inf
        if ranks[k].xyz_mm[2] - lowest < SAME_LEVEL_MM:
            levels[-1].append(k)
        else:
            levels.append([k])
    return levels


def _with_looks(one: Decided, looks: Looks, photos: Sequence[SeenPhoto]) -> Decided:
    """A base with what photos say of its place, and with the sightings of those that lacked it."""
    if len(looks) < MIN_LOOKS:
        return one
    own = {each.photo.index for each in one.sightings if each.detection.base == one.base}
    kept = [each for each in one.sightings if each.photo.index in own]
    for photo in photos:
        _, base = looks.get(photo.index, (None, None))
        if base is not None and photo.index not in own:
            kept.append(Sighting(photo, base, again=True))
    said = {index: place for index, (place, _) in looks.items()}
    return replace(one, sightings=tuple(kept), ranks=RankEvidence(said))


def _log_odds(one: Decided) -> float:
    odds = None if one.ranks is None else one.ranks.log_odds(one.ranks.seen.keys())
    if odds is not None:
        return odds
    return float(probability_to_logit(max((s.detection.score for s in one.sightings), default=0.0)))


def _probability(one: Decided) -> float:
    return float(sigmoid(np.asarray(_log_odds(one))))


def _is_likely(one: Decided) -> bool:
    return _probability(one) >= GROWTH_PROBABILITY


def _pose_of(one: Decided) -> BasePose:
    return BasePose(one.base, one.xyz_mm[:2], float(np.radians(one.heading_deg)))


def _cells_beside(
    ranks: Sequence[Decided], standing: Sequence[BasePose], tried: Sequence[BasePose]
) -> list[Decided]:
    """The places in contact with likely bases where none stands and none was asked for."""
    cells: list[Decided] = []
    for one in ranks:
        if not _is_likely(one):
            continue
        pose = _pose_of(one)
        for step in 2 * half_extents(size_mm(one.base))[:, None] * side_normals(pose.turn_rad):
            cell = BasePose(one.base, pose.xy_mm + step, pose.turn_rad)
            known = [*tried, *(_pose_of(other) for other in cells)]
            if not _is_tried(cell, known) and not any(bases_overlap(cell, at) for at in standing):
                cells.append(_told(one, one.base, cell.xy_mm, one.heading_deg))
    return cells


def _is_tried(cell: BasePose, poses: Sequence[BasePose]) -> bool:
    limit_mm = TAKEN_SHARE * cell.base.width_mm
    same = [pose.xy_mm for pose in poses if pose.base == cell.base]
    return any(np.hypot(*(xy_mm - cell.xy_mm)) < limit_mm for xy_mm in same)


def _told(like: Decided, base: Base, xy_mm: Array, heading_deg: float) -> Decided:
    """A base at a place that no photo told, at the height of another."""
    xyz_mm = np.array([*xy_mm, like.xyz_mm[2]])
    return replace(
        like,
        sightings=(),
        base=base,
        sizes={base: 1.0},
        xyz_mm=xyz_mm,
        told_heading_deg=heading_deg,
        ranks=None,
    )
