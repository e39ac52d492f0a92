"""Square plates under ships on pegs: candidates from above, a fit of each, and what tells plates from other squares."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.fit import sensitivity
from overruler.vision.orthophoto import Orthophoto
from overruler.vision.plate_candidates import find_squares
from overruler.vision.plate_fit import PlateFit, fit_closely, fit_roughly
from overruler.vision.plate_front import Front, front_of
from overruler.vision.plate_sides import HEIGHT_MM, normals_of
from overruler.vision.rays import View

FINEST_MM = 1.6
"""Candidates are looked for at no finer a resolution than this."""
FIRST = 25
"""Where plates are not expected, so many candidates of each size, the best ones, are looked at first, ..."""
SURE = 0.95
"""... and where none of them is a plate as surely as this, the table has none: ships seldom come alone, and hidden."""
LEAST_ROUGH_MERIT = 14.0
"""Rough fits that explain less are not looked at closely."""
SAME = 0.2
"""Rough fits whose centres are closer than this share of the side speak of the same plate: one is kept."""
OVERLAP = 0.12
"""Two plates may seem to overlap by this share of the smaller one's side, not more."""
ENOUGH = 0.8
"""A side, or a limit of an arc, of which this much is seen counts in full."""
ODDS_BIAS, ODDS_SIDES, ODDS_ARCS, ODDS_MERIT, ODDS_DOUBLING = -16.4, 2.0, 7.7, 0.432, -4.1
"""A plate's log odds: a constant, then for each side seen, for each limit of an arc, for the log-likelihood of it all
and for each doubling of the smallest side: logistic regression on rendered tables."""
SMALLEST_MM = 40.0
LEAST_SCORE = 0.6
"""Squares that score lower are no plates."""
LEAST_SEEN = 0.3
"""A side counts as seen from this much of it."""
CORNERS = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
"""Of a plate that looks along +x, counter-clockwise."""
OUTLINE_POINTS = 18
"""Along each side."""


@dataclass(frozen=True, slots=True, eq=False)
class Plate:
    """A square that may be a plate."""

    fit: PlateFit
    front: Front
    score: float
    """0 to 1: how likely it is one."""
    view: View

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

    Where they are not `expected`, nothing being known of the game, there are none unless one is plain to see.
    """
    squares = find_squares(from_above, sides_mm, hidden)
    if not expected:
        best = np.concatenate([squares[squares[:, 2] == side][:FIRST] for side in sides_mm])
        if not any(plate.score > SURE for plate in _among(frame, camera, best)):
            return []
    return [_detection(camera, plate) for plate in _standing(_among(frame, camera, squares))]


def _among(frame: Frame, camera: Camera, squares: Array) -> list[Plate]:
    """Those of the candidates (N, 5) that look like plates; they may still overlap."""
    rough = [_rough(frame, camera, row) for row in squares]
    likely = _distinct([pair for pair in rough if pair is not None and pair[1].merit > LEAST_ROUGH_MERIT])
    plates = [_plate(*pair) for pair in likely]
    return [plate for plate in plates if plate is not None and plate.score >= LEAST_SCORE]


def _rough(frame: Frame, camera: Camera, row: Array) -> tuple[View, PlateFit] | None:
    x, y, side_mm, turn_deg, _ = row
    view = View.around(frame.pixels, camera, np.array([x, y]), side_mm * 0.75, HEIGHT_MM)
    if view is None:
        return None
    fit = fit_roughly(view, np.array([x, y]), float(np.radians(turn_deg)), float(side_mm))
    return (view, fit) if fit is not None else None


def _distinct(rough: list[tuple[View, PlateFit]]) -> list[tuple[View, PlateFit]]:
    """The likeliest of every group of rough fits that speak of the same plate."""
    kept: list[tuple[View, PlateFit]] = []
    for view, fit in sorted(rough, key=lambda pair: -pair[1].merit):
        same = (np.hypot(*(fit.xy_mm - k.xy_mm)) < SAME * fit.side_mm for _, k in kept if k.side_mm == fit.side_mm)
        if not any(same):
            kept.append((view, fit))
    return kept


def _plate(view: View, rough: PlateFit) -> Plate | None:
    fit = fit_closely(view, rough)
    if fit is None:
        return None
    return Plate(fit, front_of(view, fit.xy_mm, fit.turn_rad, fit.side_mm), _score(fit), view)


def _score(fit: PlateFit) -> float:
    """How likely this is a plate (0 to 1), by what is seen of its sides and of its card."""
    sides, arcs = (float(np.clip(seen, 0, ENOUGH).sum()) for seen in (fit.seen, fit.arcs))
    odds = ODDS_BIAS + ODDS_SIDES * sides + ODDS_ARCS * arcs + ODDS_MERIT * fit.merit
    odds += ODDS_DOUBLING * np.log2(fit.side_mm / SMALLEST_MM)
    return float(1 / (1 + np.exp(-odds)))


def _standing(plates: Iterable[Plate]) -> list[Plate]:
    """The plates that can all stand there, surer ones first: they lie beside each other, never in each other."""
    kept: list[Plate] = []
    for plate in sorted(plates, key=lambda one: -one.fit.merit):
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
        heading_modulo_deg=180.0 if plate.front.known else 90.0,  # of fronts that seem known one in eight is the rear
    )
