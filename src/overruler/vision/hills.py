"""The ground that pieces stand on, where it stands up above the board: found in the photo, with its height.

pieces → places to look round → best outlines for every height and run (`hill_outline`) → heights with their doubt
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import count

import cv2
import numpy as np

from overruler.calibration import Calibration
from overruler.detections import Detection, Raised
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.heights import at_height, lean
from overruler.vision.hill_outline import Guess, Outlines, best_outlines, full_guess, quick_guess, rims
from overruler.vision.orthophoto import Orthophoto
from overruler.vision.ridges import Field, distinctness, field_of

TOGETHER_MM = 60.0
"""Pieces that stand nearer to each other stand on the same ground: it is looked at once."""
FIGURE_MM = 30.0
"""How high what stands on bases usually is: it hides the table behind it."""
QUICK, FULL = 48, 96
"""Directions looked in at first, and where that was promising."""
PROMISING = 1.9
"""What speaks for an outline, in nats a direction, from which on it is looked at closely."""
SELDOM = 0.7
"""Log odds that go off because pieces stand on the mat far more often than on hills."""
HARDLY_DISTINCT = 0.8
"""Ground less distinct from what is round it is not looked at closely."""
CLEAR, CLEAR_WORTH = 2.7, 6.0
DISTINCT, DISTINCT_WORTH = 3.0, 2.2
"""Where a hill is as likely as none, and what more is worth in log odds: of what speaks for the outline, and of the
logarithm of how distinct the ground inside is from that outside."""
INDEPENDENT = 0.2
"""Neighbouring directions share texture and light: the share of all that err by themselves."""
OF_HEIGHT = (0.12, 0.02)
"""The same where heights are told apart. Mostly it is the first; but a shadow's edge beside the foot is one edge to all
directions, and then it is the second: both are believed alike."""
USUAL_MM, SPREAD = 25.0, 0.75
"""The usual height of hills and its spread, as a ratio's logarithm."""
RUN_MM = 8.0
"""How far sides usually run out."""
PRINT = 0.3
"""The share of clear outlines that are prints, sheets and cards: flat."""
LEAST_CHANCE = 0.2
"""Ground that is less likely raised is left out."""
HEIGHT_MM, HEIGHT_SHARE = 1.5, 0.1
"""1 σ of a height that no outline tells, and its share of the height: edges are rounded, sides are rough."""
EDGE_MM = 4.0
"""1 σ of an outline's place."""


def find_hills(
    view: Orthophoto, calibration: Calibration, standing: Sequence[Detection], taken: Collection[str] = ()
) -> tuple[Raised, ...]:
    """The raised ground that bases, found as if they stood on the board, stand on; named h1, h2 and so on.

    `view` is the picture from above, 2 mm a pixel or finer; names already `taken` are not given again.
    """
    names = (name for number in count(1) if (name := f"h{number}") not in taken)
    camera = calibration.camera
    flat = [one for one in standing if one.z_mm == 0]
    field = field_of(view, list(_hidden(camera, standing)))
    found: list[Raised] = []
    for first in best_outlines(field, camera.center_mm, _places(flat), quick_guess(), QUICK):
        if not any(_within(camera, area, first.middle_mm) for area in found):
            area = _ground(field, camera, first)
            if area is not None:
                found.append(replace(area, id=next(names)))
    return tuple(found)


def _hidden(camera: Camera, standing: Sequence[Detection]) -> Iterator[tuple[Array, float]]:
    """The discs in which bases and the figures on them hide the table."""
    for one in standing:
        radius, place = max(one.base.width_mm, one.base.length_mm) / 2, at_height(camera, one.xy_mm, one.z_mm, 0.0)
        yield place, 1.3 * radius + 5
        yield place - FIGURE_MM * lean(camera, place, 0.0), radius


def _places(standing: Sequence[Detection]) -> list[Array]:
    """Where to look (2,): the middles of groups of pieces."""
    groups: list[list[Array]] = []
    for one in standing:
        near = next((group for group in groups if np.hypot(*(np.mean(group, 0) - one.xy_mm)) < TOGETHER_MM), None)
        if near is None:
            groups.append([one.xy_mm])
        else:
            near.append(one.xy_mm)
    return [np.mean(group, 0) for group in groups]


def _within(camera: Camera, area: Raised, place_mm: Array) -> bool:
    x, y = at_height(camera, place_mm, 0.0, area.top_z_mm).tolist()
    return cv2.pointPolygonTest(area.footprint_mm.astype(np.float32).reshape(-1, 1, 2), (x, y), False) >= 0


def _ground(field: Field, camera: Camera, first: Outlines) -> Raised | None:
    """The raised ground round a place, by a first look at it; None where it hardly is."""
    eye = camera.center_mm
    if first.nats.max() < PROMISING or _different(field, eye, first, quick_guess()) < HARDLY_DISTINCT:
        return None
    guess = full_guess()
    (outlines,) = best_outlines(field, eye, [first.middle_mm], guess, FULL)
    share = posterior(outlines.nats * FULL, guess)
    flat, raised = share[0], share[1:] / max(share[1:].sum(), 1e-12)
    different = _different(field, eye, outlines, guess)
    odds = CLEAR_WORTH * (outlines.nats.max() - CLEAR) + DISTINCT_WORTH * np.log(max(different, 1e-6) / DISTINCT)
    chance = float((1 - flat) / (1 + np.exp(SELDOM - odds)))
    if chance < LEAST_CHANCE:
        return None
    height = float(raised @ guess.heights_mm[1:])
    spread = float(raised @ (guess.heights_mm[1:] - height) ** 2)
    sigma = float(np.sqrt(spread + HEIGHT_MM**2 + (HEIGHT_SHARE * height) ** 2))
    return Raised("", _footprint(camera, outlines, raised, height), height, sigma, chance, EDGE_MM)


def _different(field: Field, eye_mm: Array, outlines: Outlines, guess: Guess) -> float:
    """How distinct the ground within the best outline is."""
    return distinctness(field, *rims(eye_mm, outlines, guess, int(outlines.nats.argmax())))


def posterior(nats: Array, guess: Guess) -> Array:
    """The probability of each guess (K,), the first being "flat", by what speaks for the best outline of each."""
    height, run = guess.heights_mm[1:], guess.runs_mm[1:]
    usual = -0.5 * (np.log(height / USUAL_MM) / SPREAD) ** 2 - run / RUN_MM + np.log(_room(height) * _room(run))
    usual += np.log(1 - PRINT) - np.log(np.exp(usual).sum())
    odds = np.concatenate([[np.log(PRINT)], usual])
    flat = _shares(INDEPENDENT * nats + odds)[0]
    raised = np.mean([_shares(share * nats[1:] + usual) for share in OF_HEIGHT], 0)
    return np.concatenate([[flat], (1 - flat) * raised])


def _shares(log: Array) -> Array:
    power = np.exp(log - log.max())
    return np.asarray(power / power.sum())


def _room(values: Array) -> Array:
    """How much of the line each of the values (K,) of a grid stands for, heights by their ratios."""
    grid = np.unique(values)
    room = np.gradient(grid) / (grid if grid[0] > 0 else 1.0)
    return np.asarray(room[np.searchsorted(grid, values)])


def _footprint(camera: Camera, outlines: Outlines, raised: Array, height_mm: float) -> Array:
    """The likeliest outline (K, 2) as it lies at its height, with as few corners as it needs."""
    seen = outlines.points_mm(1 + int(raised.argmax()))
    there = at_height(camera, seen, 0.0, height_mm).astype(np.float32).reshape(-1, 1, 2)
    return np.asarray(cv2.approxPolyDP(there, 2.0, True)[:, 0], float)
