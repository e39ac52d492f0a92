"""Oval bases: places where one may lie, seen from above, and a fit of each in the photo's own pixels.

The field of doubled gradient angles that finds rings (`candidates`) finds ovals as well: along the rim of one the
gradients run square to it, and one pair of convolutions for each size and heading answers for every place at once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.candidates import Image, level_mask, orientation
from overruler.vision.orthophoto import Orthophoto
from overruler.vision.outlined import outline_of
from overruler.vision.outlined_fit import OutlineFit, Start, fit_outline
from overruler.vision.plates import overlap_mm

MM_PER_PX = 3.0
"""Candidates are looked for at no finer a resolution than this."""
TURNS_DEG = np.arange(0.0, 180.0, 15.0)
WIDTH_PX = 1.2
"""1 σ of a rim's width in the picture from above."""
LEAST_RESPONSE = 0.42
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
    cosine, sine = orientation(view.pixels, level_mask(view, hidden, 0))
    field = _Spectra.of(cosine, sine, max(base.length_mm for base in bases) / view.mm_per_px)
    rows = [row for k, base in enumerate(bases) for row in _of_size(view, field, base, k)]
    kept: list[Array] = []
    for row in sorted(rows, key=lambda row: -row[4]):
        near = (bases[int(row[3])].width_mm / 4 > np.hypot(*(row[:2] - other[:2])) for other in kept)
        if len(kept) < MOST and sum(near) < 2:  # the second best at one place may be the right one
            kept.append(row)
    return [(bases[int(row[3])], Start(row[:2], START_MM, float(row[2]))) for row in kept]


def _of_size(view: Orthophoto, field: "_Spectra", base: Base, number: int) -> Iterable[Array]:
    """Rows of x, y, heading in rad, the base's number, and the share of the rim that is there."""
    best = np.full(field.shape, -1.0, np.float32)
    turn = np.zeros(field.shape, np.float32)
    for turn_deg in TURNS_DEG:
        response = field.response(_kernels(base, view.mm_per_px, np.radians(turn_deg)))
        np.copyto(turn, np.float32(np.radians(turn_deg)), where=response > best)
        np.maximum(best, response, out=best)
    reach = max(2, int(base.width_mm / 4 / view.mm_per_px))
    highest = cv2.dilate(best, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8))
    rows, columns = np.nonzero((best >= highest) & (best > LEAST_RESPONSE))
    xy = view.to_mm(np.stack([columns, rows], -1))
    return np.column_stack([xy, turn[rows, columns], np.full(len(xy), number), best[rows, columns]])


@dataclass(frozen=True, slots=True, eq=False)
class _Spectra:
    """The field of doubled gradient angles, transformed once for all sizes and headings."""

    cosine: Image
    sine: Image
    margin_px: int
    shape: tuple[int, int]

    @classmethod
    def of(cls, cosine: Image, sine: Image, length_px: float) -> "_Spectra":
        """The two fields mirrored at their borders, for kernels up to `length_px` and their rims' width."""
        margin = int(np.ceil(length_px / 2 + 3 * WIDTH_PX))
        rows, columns = (cv2.getOptimalDFTSize(size + 2 * margin) for size in cosine.shape)
        more = rows - cosine.shape[0] - margin, columns - cosine.shape[1] - margin

        def spectrum(part: Image) -> Image:
            wide = cv2.copyMakeBorder(part, margin, more[0], margin, more[1], cv2.BORDER_REFLECT_101)
            return np.asarray(cv2.dft(wide), np.float32)

        return cls(spectrum(cosine), spectrum(sine), margin, (cosine.shape[0], cosine.shape[1]))

    def response(self, kernels: tuple[Image, Image]) -> Image:
        """The sum of both fields, each filtered by its kernel: a product of spectra."""
        total: Image = np.zeros_like(self.cosine)
        for part, kernel in zip((self.cosine, self.sine), kernels, strict=True):
            wide = np.zeros_like(part)
            wide[: len(kernel), : len(kernel)] = kernel
            total += cv2.mulSpectrums(part, cv2.dft(wide, nonzeroRows=len(kernel)), 0, conjB=True)
        start = self.margin_px - len(kernel) // 2
        flat = cv2.idft(total, flags=cv2.DFT_SCALE | cv2.DFT_REAL_OUTPUT)
        return np.asarray(flat[start : start + self.shape[0], start : start + self.shape[1]], np.float32)


def _kernels(base: Base, mm_per_px: float, turn_rad: float) -> tuple[Image, Image]:
    """What sums (cosine, sine) of the doubled direction square to an oval's rim, along a rim of weight 1."""
    half = np.array([base.length_mm, base.width_mm]) / 2 / mm_per_px
    reach = int(np.ceil(half[0] + 3 * WIDTH_PX))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1].astype(float)
    c, s = np.cos(turn_rad), np.sin(turn_rad)
    along, across = c * x - s * y, s * x + c * y  # the picture's y runs down
    size = np.hypot(along / half[0], across / half[1])
    steep = np.hypot(along / half[0] ** 2, across / half[1] ** 2) / np.maximum(size, 1e-6)
    rim = np.exp(-0.5 * ((size - 1) / np.maximum(steep, 1e-6) / WIDTH_PX) ** 2)
    rim /= rim.sum()
    angle = 2 * (np.arctan2(across / half[1] ** 2, along / half[0] ** 2) - turn_rad)
    return (rim * np.cos(angle)).astype(np.float32), (rim * np.sin(angle)).astype(np.float32)


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
