"""One ruler, measured in the photo's own pixels at the height of its face: middle line, ends, cross lines."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.calibration import Calibration
from overruler.detections import RulerSeen
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.doubt import by_camera

LEAST_SHARE = 0.4
"""The share of a ruler's length along which both its edges must be seen."""
WIDTH_MM = 1.8
"""By how much the two edges may lie too far apart or too near: shadows, wear, chamfers."""
FAINTEST = 3.0
"""The faintest cross line of a stick that has many, L*a*b* units against what lies beside it."""
STEP_MM = 0.4
"""Spacing of the samples of the straightened picture."""
MARGIN_MM = 8.0
"""How far that reaches past the ruler."""
LINE_MM = 4.0
"""How far a cross line lies from its joint at most."""
END_SIGMA_MM, LINE_SIGMA_MM, PRINT_SIGMA_MM = 0.3, 0.15, 0.8
"""1 σ: of an end against where the ruler's print has it, of a cross line, and of how far all lines are printed off."""
INSET_MM = 0.15
"""A cut ruler's ends lie so much inside its outermost joints."""
THICKNESS_SIGMA_MM = 0.5
"""1 σ of how high a ruler's face lies."""
AGREE = 5.0
"""By how many σ what the ends say and what the lines say may differ."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A ruler that is known."""

    name: str
    segment_mm: float
    segments: int
    width_mm: float
    z_mm: float
    """Its upper face."""
    stands_out: float
    """How many times stronger its cross lines are than what else crosses it, at least."""
    scatter: float
    """How many σ its ends and cross lines scatter about an even scale, at most."""
    jointed: bool = False
    """Whether it bends at its joints."""
    stretch: float = 0.03
    """By which share it may seem longer or shorter: markers may be printed to a wrong size."""

    @property
    def length_mm(self) -> float:
        return self.segment_mm * self.segments


def broken_line(way: Array, knots: Array, values: Array, good: NDArray[np.bool_]) -> Array:
    """The broken line (K, ...) with corners at `knots` (K,) that is nearest to `values` (S, ...) at `way` (S,)."""
    hats = np.stack([np.interp(way[good], knots, row) for row in np.eye(len(knots))], -1)
    bend = np.diff(np.eye(len(knots)), 2, axis=0) * 0.5  # a little stiff: a joint seen badly is no corner
    rows, right = np.concatenate([hats, bend]), np.concatenate([values[good], np.zeros((len(bend), *values.shape[1:]))])
    return np.asarray(np.linalg.lstsq(rows, right, rcond=None)[0])


@dataclass(frozen=True, slots=True, eq=False)
class Strip:
    """A ruler straightened out: its colours (S, D, 3) at places along it (S,) and across it (D,)."""

    lab: Array
    along_mm: Array
    across_mm: Array
    path_mm: Array

    @classmethod
    def of(cls, frame: Frame, camera: Camera, kind: Kind, path: Array) -> "Strip":
        along = np.arange(-MARGIN_MM, kind.length_mm + MARGIN_MM, STEP_MM)
        half = kind.width_mm / 2 + 4
        across = np.arange(-half, half + STEP_MM, STEP_MM)
        middle, normal = _on_path(path, kind, along)
        xy = middle[:, None] + normal[:, None] * across[:, None]
        at = camera.project(np.concatenate([xy, np.full((*xy.shape[:2], 1), kind.z_mm)], -1)).astype(np.float32)
        pixels = cv2.remap(frame.pixels, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        lab = cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
        return cls(np.asarray(cv2.GaussianBlur(lab, (0, 0), 0.8), float), along, across, path)


def _on_path(path: Array, kind: Kind, along: Array) -> tuple[Array, Array]:
    """Places (S, 2) so far along a broken line whose pieces are a segment each, and unit normals (S, 2)."""
    piece = np.clip((along // kind.segment_mm).astype(int), 0, kind.segments - 1)
    steps = np.diff(path, axis=0)
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    middle = path[piece] + steps[piece] * (along - piece * kind.segment_mm)[:, None]
    return middle, np.stack([-steps[piece, 1], steps[piece, 0]], -1)


def measured_ruler(frame: Frame, calibration: Calibration, kind: Kind, path_mm: Array) -> RulerSeen | None:
    """A ruler, once its middle line and the places along it are found; None where it turns out to be none."""
    camera = calibration.camera
    flat = camera.project(np.column_stack([path_mm, np.zeros(len(path_mm))]))
    path = camera.unproject(flat, kind.z_mm)
    size = np.array(frame.size_px) - 1
    if not ((flat > 0) & (flat < size)).all():
        return None
    for _ in range(2):
        path = _relaid(kind, path)
        strip = Strip.of(frame, camera, kind, path)
        shift = _sideways(strip, kind)
        if shift is None:
            return None
        path = path + shift[:, None] * _corner_normals(path)
    fit = _lengthways(Strip.of(frame, camera, kind, _relaid(kind, path)), kind)
    return None if fit is None else _seen(calibration, kind, _relaid(kind, path), fit)


def _relaid(kind: Kind, path: Array) -> Array:
    """The same line with pieces of a segment each, about the same middle; straight unless the ruler is jointed."""
    number = np.arange(len(path))
    if not kind.jointed:
        path = np.stack([np.polyval(np.polyfit(number, column, 1), number) for column in path.T], -1)
    steps = np.diff(path, axis=0)
    steps *= kind.segment_mm / np.linalg.norm(steps, axis=1, keepdims=True)
    laid = np.concatenate([[[0.0, 0.0]], np.cumsum(steps, 0)])
    return np.asarray(laid - laid.mean(0) + path.mean(0))


def _corner_normals(path: Array) -> Array:
    steps = np.gradient(path, axis=0)
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    return np.stack([-steps[:, 1], steps[:, 0]], -1)


def _sideways(strip: Strip, kind: Kind) -> Array | None:
    """How far each joint (n + 1,) is to be moved across, by the ruler's long edges."""
    slope = np.asarray(cv2.blur(np.linalg.norm(np.diff(strip.lab, axis=1), axis=2), (1, 9)), float)
    middle = (strip.across_mm[1:] + strip.across_mm[:-1]) / 2
    left, right = (_peak(slope, middle, side * kind.width_mm / 2, 3.5) for side in (-1, 1))
    good = (strip.along_mm > 4) & (strip.along_mm < kind.length_mm - 4)
    good &= np.abs(right - left - kind.width_mm) < WIDTH_MM
    if good.mean() < LEAST_SHARE:
        return None
    joints = np.asarray(kind.segment_mm * np.arange(kind.segments + 1), float)
    center = (left + right) / 2
    knots = joints if kind.jointed else joints[[0, -1]]
    for _ in range(3):
        moved = broken_line(strip.along_mm, knots, center, good)
        off = np.abs(center - np.interp(strip.along_mm, knots, moved))
        good = good & (off < max(3 * np.median(off[good]), 0.2))
    if good.mean() < LEAST_SHARE / 2:
        return None
    return np.asarray(np.interp(joints, knots, moved))


def _peak(height: Array, at: Array, near: float, reach: float) -> Array:
    """Where (S,) rows (S, D) are highest near a place, to a part of a step: the centroid of the peak."""
    window = np.abs(at - near) <= reach
    best = np.where(window, height, 0).argmax(1)
    weight = height * (np.abs(at - at[best][:, None]) <= 1.3)
    return np.asarray((weight * at).sum(1) / np.maximum(weight.sum(1), 1e-9))


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Where a ruler's first end lies along the strip, how long a segment is, and how sure that is."""

    start_mm: float
    segment_mm: float
    sigma_mm: float


def _lengthways(strip: Strip, kind: Kind) -> Fit | None:
    """The ruler's own scale, by its ends and the lines across it."""
    inner = np.abs(strip.across_mm) < 0.4 * kind.width_mm
    profile = strip.lab[:, inner].mean(1)
    start, end = (_end(profile, strip.along_mm, at, side) for at, side in ((0.0, -1), (kind.length_mm, 1)))
    joints = np.arange(1, kind.segments)
    ridge = _ridge(profile)
    places, stands_out = _common(ridge, strip.along_mm, kind)
    if stands_out < kind.stands_out or start is None or end is None:
        return None
    if kind.segments > 6 and _faintest(ridge, strip.along_mm, places) < FAINTEST:
        return None
    lines = [_line(ridge, strip.along_mm, float(place)) for place in places]
    rows = np.array([[1, 0, 0], [1, kind.segments, 0], *([1, k, 1] for k in joints), [0, 0, 1]], float)
    right = np.array([start - INSET_MM, end + INSET_MM, *lines, 0.0], float)
    sigma = np.array([END_SIGMA_MM] * 2 + [LINE_SIGMA_MM] * len(lines) + [PRINT_SIGMA_MM], float)
    solution, covariance, worst = _robust(rows, right, sigma)
    if (
        worst > kind.scatter
        or abs(solution[1] / kind.segment_mm - 1) > kind.stretch
        or not _agree(kind, end - start, lines)
    ):
        return None
    return Fit(float(solution[0]), float(solution[1]), float(np.sqrt(covariance[1, 1])))


def _agree(kind: Kind, length_mm: float, lines: Sequence[float]) -> bool:
    """Whether the ends and the lines between them tell one length of a segment."""
    if len(lines) < 2:
        return True
    by_ends = (length_mm + 2 * INSET_MM) / kind.segments
    by_lines = float(np.median(np.diff(lines)))
    sigma = np.hypot(END_SIGMA_MM / kind.segments, LINE_SIGMA_MM)
    return bool(abs(by_ends - by_lines) < AGREE * sigma)


def _robust(rows: Array, right: Array, sigma: Array) -> tuple[Array, Array, float]:
    """Least squares with few strays; its covariance, and how many σ the measures scatter."""
    weight = 1 / sigma**2
    for _ in range(5):
        covariance = np.linalg.inv(rows.T @ (rows * weight[:, None]))
        solution = covariance @ rows.T @ (weight * right)
        z = (right - rows @ solution) / sigma
        weight = 1 / sigma**2 / (1 + (z / 2.5) ** 2)
    spread = max(1.0, float(1.4826 * np.median(np.abs(z))))
    return solution, np.asarray(covariance * spread**2), spread


def _end(profile: Array, along: Array, near: float, side: int) -> float | None:
    """The outermost clear edge (mm) near an end; `side` is -1 at the first end."""
    slope = np.linalg.norm(np.diff(profile, axis=0), axis=1)
    middle = (along[1:] + along[:-1]) / 2
    window = np.abs(middle - near) < 6
    height = np.where(window, slope, 0)
    peaks = np.flatnonzero(
        (height >= np.roll(height, 1)) & (height >= np.roll(height, -1)) & (height > 0.4 * height.max())
    )
    if not len(peaks):
        return None
    best = peaks[0 if side < 0 else -1]
    weight = slope * (np.abs(middle - middle[best]) < 0.9)
    return float((weight * middle).sum() / weight.sum())


def _ridge(profile: Array) -> Array:
    """How much a place (S,) differs from both its sides: lines, not steps."""
    reach = round(2.4 / STEP_MM)
    padded = np.pad(profile, ((reach, reach), (0, 0)), mode="edge")
    low, high = profile - padded[: -2 * reach], profile - padded[2 * reach :]
    same = (low * high).sum(1)
    return np.asarray(np.sqrt(np.maximum(same, 0)))


def _common(ridge: Array, along: Array, kind: Kind) -> tuple[Array, float]:
    """Where the lines (n - 1,) are if evenly spaced, and how many times stronger they are than what lies between."""
    offsets = np.arange(-LINE_MM, LINE_MM, STEP_MM / 2)
    reach = 0.0 if kind.jointed else kind.stretch  # colours change at joints: more freedom finds those steps
    stretches = np.linspace(-reach, reach, 13)
    places = (kind.segment_mm * np.arange(1, kind.segments) - kind.length_mm / 2) * (1 + stretches[:, None])
    places = places[:, None] + kind.length_mm / 2 + offsets[:, None]
    smooth = np.convolve(ridge, np.ones(5) / 5, "same")
    strength = np.interp(places, along, smooth).mean(-1)
    best = np.unravel_index(strength.argmax(), strength.shape)
    between = smooth[(along > 5) & (along < along[-1] - MARGIN_MM - 5)].mean()
    return np.asarray(places[best]), float(strength[best] / max(between, 0.2))


def _faintest(ridge: Array, along: Array, places: Array) -> float:
    return float(np.interp(places, along, np.convolve(ridge, np.ones(5) / 5, "same")).min())


def _line(ridge: Array, along: Array, near: float) -> float:
    window = np.abs(along - near) < 1.6
    return (
        float((ridge[window] * along[window]).sum() / max(ridge[window].sum(), 1e-9)) if ridge[window].sum() else near
    )


def _seen(calibration: Calibration, kind: Kind, path: Array, fit: Fit) -> RulerSeen:
    stretched = np.asarray(fit.start_mm + fit.segment_mm * np.arange(kind.segments + 1), float)
    xy, _ = _on_path(path, kind, stretched)
    along = (xy[-1] - xy[0]) / np.linalg.norm(xy[-1] - xy[0])
    slope = along @ np.diff(by_camera(calibration.camera, xy[[0, -1]]), axis=0)[0]
    height = calibration.camera.center_mm[2]
    shares = [calibration.budget.scale_share, THICKNESS_SIGMA_MM / height]
    shared = np.sqrt(slope @ calibration.covariance @ slope) / kind.segments
    sigma = float(np.linalg.norm([fit.sigma_mm, shared, *(share * kind.segment_mm for share in shares)]))
    return RulerSeen(kind.name, kind.segment_mm, fit.segment_mm, sigma, xy, kind.width_mm)
