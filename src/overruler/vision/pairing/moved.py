"""What moved between the photos: a base that one photo shows elsewhere than the others.

A photo that does not see a base where others do may have it hidden. A base moved where the photo shows
bare ground in its place, shows a base of its size elsewhere, and the others show bare ground there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.pairing.sighting import SeenPhoto, Sighting

MIN_MOVED_SCORE = 0.98
"""Least score of a base at the place to which it moved, and at its place in a single other photo."""
MIN_STEP_SIGMAS = 8.0
"""Least distance of a move, in σ of the places, where the two places overlap."""
MIN_STEP_MM = 3.0
"""The same in mm."""
MAX_MOVE_MM = 400.0
"""Largest move that is recognized as one."""
GROUND_RADII = (1.25, 1.9)
"""Ring round a base, in radii, that shows the ground it stands on."""
DISC_RADII = 0.9
"""Radius of the disc that shows the ground where no base stands, in radii."""
SAME_GROUND_LAB = 14.0
"""Largest difference in L*a*b* between pixels of one ground."""
SAME_GROUND_ELSEWHERE_LAB = 22.0
"""The same between the ground in two photos, each against its board's usual colour."""
BOARD_STEPS = 24
"""Samples along and across the board for its usual colour."""
MIN_BARE_SHARE = 0.7
"""Least share of a disc's pixels that look like the ground around, where it is bare."""
DISC_STEPS = 15
"""Samples along and across a disc."""


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """A base by some of the photos."""

    base: Base
    xyz_mm: Array
    """(3,)."""
    sightings: tuple[Sighting, ...]
    sigma_mm: float = 1.0
    """1 σ of its place."""

    @property
    def photos(self) -> set[int]:
        return {one.photo.index for one in self.sightings}


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """A base that stands elsewhere in one photo."""

    stays: int
    """Number of the finding by the photos that agree."""
    strays: int
    """Number of the finding by the photo that differs."""


def find_moves(findings: Sequence[Finding], photos: Sequence[SeenPhoto]) -> list[Move]:
    """Pair findings of single photos with findings that just these photos lack, the nearest first."""
    pairs = []
    for strays, there in enumerate(findings):
        if len(there.photos) > 1 or there.sightings[0].detection.score < MIN_MOVED_SCORE:
            continue
        for stays, here in enumerate(findings):
            if stays != strays and _may_have_moved(here, there, photos):
                pairs.append((float(np.hypot(*(here.xyz_mm - there.xyz_mm)[:2])), stays, strays))
    moves: list[Move] = []
    taken: set[int] = set()
    for _, stays, strays in sorted(pairs):
        if stays not in taken and strays not in taken:
            taken |= {stays, strays}
            moves.append(Move(stays, strays))
    return moves


def _may_have_moved(here: Finding, there: Finding, photos: Sequence[SeenPhoto]) -> bool:
    """Whether `there`, in one photo, may be the base that the others show at `here`."""
    if here.base != there.base or here.photos & there.photos:
        return False
    if len(here.photos) == 1 and not _is_first_of_two(here, there):
        return False
    apart_mm = float(np.hypot(*(here.xyz_mm - there.xyz_mm)[:2]))
    if apart_mm > MAX_MOVE_MM:
        return False
    (strayed,) = there.photos
    if apart_mm < here.base.width_mm:
        sigma_mm = float(np.hypot(here.sigma_mm, there.sigma_mm))
        return apart_mm > max(MIN_STEP_MM, MIN_STEP_SIGMAS * sigma_mm)
    by_index = {photo.index: photo for photo in photos}
    lacks_here = [(by_index[strayed], by_index[min(here.photos)], here)]
    lack_there = [(by_index[k], by_index[strayed], there) for k in here.photos]
    return all(
        is_bare(photo, one.base, one.xyz_mm, beside)
        for photo, beside, one in (*lacks_here, *lack_there)
    )


def _is_first_of_two(here: Finding, there: Finding) -> bool:
    """Whether two photos differ about a base, of which the first one counts, and sees it well."""
    is_first = min(here.photos) < min(there.photos)
    return is_first and here.sightings[0].detection.score >= MIN_MOVED_SCORE


def is_bare(photo: SeenPhoto, base: Base, xyz_mm: Array, beside: SeenPhoto) -> bool:
    """Whether a photo shows at a base's place the ground that `beside` shows around the base."""
    shown = _sample_place(photo, base, xyz_mm)
    reference = _sample_place(beside, base, xyz_mm)
    if shown is None or reference is None:
        return False
    on_disc, ground = shown
    if (
        np.linalg.norm(np.median(ground, 0) - np.median(reference[1], 0))
        > SAME_GROUND_ELSEWHERE_LAB
    ):
        return False  # something large hides the place
    apart = np.linalg.norm(on_disc[:, None] - ground[None], axis=2).min(1)
    usual = np.linalg.norm(on_disc - np.median(ground, 0), axis=1)
    like = (usual < SAME_GROUND_LAB) | (apart < SAME_GROUND_LAB / 4)
    return bool(like.mean() >= MIN_BARE_SHARE)


def is_ground_as_before(photo: SeenPhoto, before: SeenPhoto, base: Base, xyz_mm: Array) -> bool:
    """Whether the ground round a base's place has the colour that it had for the same camera before."""
    now, then = (_sample_place(one, base, xyz_mm) for one in (photo, before))
    if now is None or then is None:
        return False
    colour, colour_before = np.median(now[1], 0), np.median(then[1], 0)
    change = colour + _usual_colour(photo) - colour_before - _usual_colour(before)
    return bool(np.linalg.norm(change) < SAME_GROUND_LAB)


def _sample_place(photo: SeenPhoto, base: Base, xyz_mm: Array) -> tuple[Array, Array] | None:
    """Colours on a disc (N, 3) and around it (M, 3), less the board's usual one; None out of sight."""
    if not photo.shows(xyz_mm):
        return None
    radius, z_mm = base.length_mm / 2, float(xyz_mm[2])
    camera = photo.calibration.camera
    patch = LabPatch.crop_around(photo.frame.pixels, camera, xyz_mm[:2], 2 * radius, z_mm)
    if patch is None:
        return None
    steps = np.linspace(-1, 1, DISC_STEPS)
    grid = np.stack(np.meshgrid(steps, steps), -1).reshape(-1, 2)
    disc = grid[np.hypot(*grid.T) <= 1] * radius * DISC_RADII
    angles = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    rays = np.stack([np.cos(angles), np.sin(angles)], -1)
    ring = np.concatenate([rays * radius * share for share in np.linspace(*GROUND_RADII, 5)])
    on_disc, inside = patch.sample_board(xyz_mm[:2] + disc)
    around, seen = patch.sample_board(xyz_mm[:2] + ring)
    if not (inside.all() and seen.any()):
        return None
    usual = _usual_colour(photo)
    return on_disc.reshape(-1, 3) - usual, around.reshape(-1, 3)[seen.ravel()] - usual


def _usual_colour(photo: SeenPhoto) -> Array:
    """The median colour (3,) of the board, which takes the photo's exposure and white balance off."""
    width, height = photo.calibration.board_mm
    x, y = np.meshgrid(np.linspace(0, width, BOARD_STEPS), np.linspace(0, height, BOARD_STEPS))
    pixels = photo.calibration.camera.project(np.stack([x, y, np.zeros_like(x)], -1).reshape(-1, 3))
    inside = np.isfinite(pixels).all(1)
    columns, rows = np.rint(pixels[inside]).astype(int).T
    seen = (columns >= 0) & (rows >= 0)
    seen &= (columns < photo.frame.size_px[0]) & (rows < photo.frame.size_px[1])
    colours = photo.frame.pixels[rows[seen], columns[seen]].astype(np.float32) / 255
    if not len(colours):
        return np.zeros(3)
    lab = cv2.cvtColor(colours[None], cv2.COLOR_BGR2Lab)[0]
    return np.asarray(np.median(lab, 0), float)
