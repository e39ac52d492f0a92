"""Oval bases: places where one may lie, seen from above, and a fit of each in the photo's own pixels.

The field of doubled gradient angles that finds rings (`candidates`) finds ovals as well: along the rim of one the
gradients run square to it, and a sum over places along the rim, for each size and heading, answers for all middles.
"""

from collections.abc import Iterable, Sequence

import cv2
import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.candidates import level_mask, orientation
from overruler.vision.orthophoto import Orthophoto
from overruler.vision.outlined import outline_of
from overruler.vision.outlined_fit import OutlineFit, Start, fit_outline
from overruler.vision.plates import overlap_mm
from overruler.vision.rimfield import STRIDE, Field, Rim

MM_PER_PX = 3.0
"""Candidates are looked for at no finer a resolution than this."""
TURNS_RAD = np.radians(np.arange(0.0, 180.0, 15.0))
LEAST_RESPONSE, NEARLY = 0.42, 0.8
"""What responds by the second share of the first at one of the places looked at first gets a closer look."""
MOST = 20
"""Candidates that are fitted at most: the best ones."""
START_MM = 2.5
"""1 σ of a candidate's place."""
LEAST_MERIT = 0.6
"""Of an oval at least so much of the outline must be seen."""
ODDS_BIAS, ODDS_MERIT = -9.0, 18.0
"""An oval's log odds: a constant, and so much for what the fit saw of its outline."""
OVERLAP = 0.2
"""Two ovals may seem to overlap by this share of the smaller one's width, not more."""
LEAST_SEEN = 0.35


def find_ovals(
    frame: Frame, camera: Camera, from_above: Orthophoto, bases: Sequence[Base], hidden: Sequence[Array] = ()
) -> list[Detection]:
    """Those of the oval `bases` that lie in the photo, the surest first; none where a `hidden` polygon (K, 2) lies."""
    fits = [
        fit
        for base, start in _candidates(from_above, bases, hidden)
        if (fit := fit_outline(frame.pixels, camera, start, base, 0.0, LEAST_MERIT)) and fit.merit > LEAST_MERIT
    ]
    return [_detection(camera, fit) for fit in _beside_each_other(fits)]


def _candidates(view: Orthophoto, bases: Sequence[Base], hidden: Sequence[Array]) -> list[tuple[Base, Start]]:
    """Where ovals may lie, and of which size: the best of all sizes and headings at each place."""
    reach_px = max(base.length_mm for base in bases) / 2 / view.mm_per_px
    field = Field.of(orientation(view.pixels, level_mask(view, hidden, 0)), reach_px)
    rows = [row for k, base in enumerate(bases) for row in _of_size(view, field, base, k)]
    kept: list[Array] = []
    for row in sorted(rows, key=lambda row: -row[4]):
        near = (bases[int(row[3])].width_mm / 4 > np.hypot(*(row[:2] - other[:2])) for other in kept)
        if len(kept) < MOST and sum(near) < 2:  # the second best at one place may be the right one
            kept.append(row)
    return [(bases[int(row[3])], Start(row[:2], START_MM, float(row[2]))) for row in kept]


def _of_size(view: Orthophoto, field: Field, base: Base, number: int) -> Iterable[Array]:
    """Rows of x, y, heading in rad, the base's number, and the share of the rim that is there."""
    half_px = base.length_mm / 2 / view.mm_per_px, base.width_mm / 2 / view.mm_per_px
    rims = [Rim.of(half_px, turn_rad) for turn_rad in TURNS_RAD]
    responses = np.stack([field.response(rim) for rim in rims])
    best = responses.max(0)
    reach = max(1, int(base.width_mm / 4 / view.mm_per_px / STRIDE))
    highest = cv2.dilate(best, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8))
    rows, columns = np.nonzero((best >= highest) & (best > NEARLY * LEAST_RESPONSE))
    turn = responses[:, rows, columns].argmax(0)
    at, share = field.closer(np.stack([columns, rows], -1) * STRIDE, [rims[k] for k in turn])
    found = np.column_stack([view.to_mm(at), TURNS_RAD[turn], np.full(len(at), number), share])
    return found[share > LEAST_RESPONSE]


def _beside_each_other(fits: Sequence[OutlineFit]) -> list[OutlineFit]:
    """The fits that can all be there, those that show most first."""
    kept: list[tuple[OutlineFit, Array]] = []
    for fit in sorted(fits, key=lambda fit: -fit.merit):
        ring = _outline(fit)
        if all(overlap_mm(ring, other) < OVERLAP * min(fit.base.width_mm, k.base.width_mm) for k, other in kept):
            kept.append((fit, ring))
    return [fit for fit, _ in kept]


def _outline(fit: OutlineFit) -> Array:
    """The lower edge (N, 2) on the board."""
    c, s = np.cos(fit.turn_rad), np.sin(fit.turn_rad)
    return np.asarray(outline_of(fit.base) @ np.array([[c, s], [-s, c]]) + fit.xy_mm)


def _detection(camera: Camera, fit: OutlineFit) -> Detection:
    points = np.vstack([fit.xy_mm, _outline(fit)])
    pixels = camera.project(np.column_stack([points, np.zeros(len(points))]))
    return Detection(
        base=fit.base,
        xy_mm=fit.xy_mm,
        z_mm=0.0,
        heading_deg=float(np.degrees(fit.turn_rad) % 180),
        covariance_mm2=fit.covariance_mm2,
        d_xy_d_camera=fit.d_xy_d_camera,
        score=float(1 / (1 + np.exp(-(ODDS_BIAS + ODDS_MERIT * fit.merit)))),
        visible=float(np.mean(fit.seen > LEAST_SEEN)),
        center_px=pixels[0],
        outline_px=pixels[1:],
        heading_modulo_deg=180.0,
    )
