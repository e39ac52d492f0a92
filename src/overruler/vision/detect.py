"""Find the bases in a photo: candidates from above, a learned look at each, then a fit in the photo's own pixels.

look from above (orthophoto) → candidates → rims (what is a base, roughly where) → sizes → fit → detections
Square plates go their own way (`plates`); where a round base and a plate claim the same place, the surer one stands.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import Base
from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.candidates import find_candidates
from overruler.vision.fit import MERIT_NATS, Fit, fit_base
from overruler.vision.orthophoto import Orthophoto, orthophoto
from overruler.vision.plates import FINEST_MM, find_plates
from overruler.vision.rims import RimGuesses, refine
from overruler.vision.sizes import size_probabilities

RADIUS_PX = 18
"""The smallest base's radius in the picture from above, at most: finer detail only costs time."""
MARGIN_MM = 40.0
"""How far beyond a known board bases are looked for."""
WORTH_A_FIT = 0.5
"""Candidates that the learned look scores lower are not fitted."""
WORTH_A_SIZE = 4.5
"""Sizes whose log-likelihood by the learned look is lower than the best one's by more are not fitted."""
LEAST_SCORE = 0.55
"""Fitted candidates that score lower are no bases."""
ODDS_BIAS, ODDS_LOOK, ODDS_SEEN = -11.2, 1.0, 12.0
"""A base's log odds: a constant, plus so much for the learned look's log odds and for the share of the rim that the fit
saw. Logistic regression on rendered tables trusts the learned look more; photos unlike those it learned from do not."""
OVERLAP = 0.25
"""Two bases may seem to overlap by this share of the smaller one's diameter, not more."""
LOOK_PLACE, LOOK_SIZE = 1.5, 1.25
"""The learned look is taken at so many of its stated σ: on rendered tables it had not seen, 68 % lie within 1.3 and 1.2
of them; its place shares the pixels of the fit that it is weighed against, which costs the rest."""
HULLS = 10.0
"""A round base must be surer than a plate at the same place, its doubt so many times less: ships have round hulls."""
A_TABLE = 4
"""Where so many round bases stand, no plates are looked for: ships do not fly among foot soldiers."""
ONE_KIND = 2.0
"""Where plates outnumber round bases so many times, the round ones are the hulls and tokens of a table of ships: no
game of the catalogue stands on both."""
AMBIGUOUS = 0.05
"""Sizes at least this probable are reported beside the likeliest."""
LEAST_SEEN = 0.35
"""A rim counts as seen in a direction where the fit gave its edge at least this weight."""
OUTLINE_POINTS = 72


def detect(
    frame: Frame,
    calibration: Calibration,
    bases: Sequence[Base],
    hidden: Sequence[Array] = (),
    margin_mm: float = MARGIN_MM,
    progress: Callable[[str], None] = lambda text: None,
) -> tuple[Detection, ...]:
    """The round bases and square plates among `bases` that stand in the photo, the surest first.

    `hidden` are polygons (K, 2) in mm, the markers' cards, where nothing is looked for; `margin_mm` is how far beyond
    the board bases may stand.
    """
    radii = np.array(sorted({base.width_mm / 2 for base in bases if base.shape == "circle"}))
    sides = sorted({base.width_mm for base in bases if base.shape == "rectangle" and base.width_mm == base.length_mm})
    found: tuple[Detection, ...] = ()
    if len(radii):
        found += _detect_round(frame, calibration, radii, hidden, margin_mm, progress)
    if sides and len(found) < A_TABLE:
        progress("looking for square plates")
        view = look_from_above(frame, calibration, FINEST_MM * RADIUS_PX, margin_mm)
        found += tuple(find_plates(frame, calibration.camera, view, sides, hidden, expected=not len(radii)))
    return _of_one_kind(_apart(found))


def _of_one_kind(detections: tuple[Detection, ...]) -> tuple[Detection, ...]:
    """Without the few round bases among many plates."""
    plates = tuple(one for one in detections if one.base.shape == "rectangle")
    few = len(plates) >= ONE_KIND * (len(detections) - len(plates))
    return plates if plates and few else detections


def _apart(detections: Sequence[Detection]) -> tuple[Detection, ...]:
    """The detections without those that stand in a surer one, the surest first."""
    kept: list[Detection] = []
    for one in sorted(detections, key=lambda one: (1 - one.score) * (HULLS if one.base.shape == "circle" else 1)):
        if all(one.base.shape == other.base.shape or _beside(one, other) for other in kept):
            kept.append(one)
    return tuple(sorted(kept, key=lambda one: -one.score))


def _beside(one: Detection, other: Detection) -> bool:
    """Whether a round base and a plate can both stand where they seem to."""
    least = min(one.base.width_mm, other.base.width_mm)
    return bool(np.hypot(*(one.xy_mm - other.xy_mm)) > (one.base.width_mm + other.base.width_mm) / 2 - OVERLAP * least)


def _detect_round(
    frame: Frame,
    calibration: Calibration,
    radii: Array,
    hidden: Sequence[Array],
    margin_mm: float,
    progress: Callable[[str], None],
) -> tuple[Detection, ...]:
    progress("looking for bases")
    view = look_from_above(frame, calibration, float(radii[0]), margin_mm)
    candidates = find_candidates(view, radii.tolist(), hidden)
    progress(f"looking closer at {len(candidates.response)} candidates")
    guesses = refine(frame, calibration.camera, np.column_stack([candidates.xy_mm, candidates.radius_mm]))
    chosen = _distinct(guesses, radii)
    progress(f"fitting {len(chosen)} bases")
    return _fit_all(frame, calibration, guesses, chosen, radii)


def look_from_above(
    frame: Frame, calibration: Calibration, least_radius_mm: float, margin_mm: float = MARGIN_MM
) -> Orthophoto:
    """The board and a margin, as far as the photo shows them, rectified as finely as the smallest base needs."""
    width, height = calibration.board_mm
    camera = calibration.camera
    scale = float(camera.mm_per_px(np.array([width / 2, height / 2, 0.0])))
    box = np.array([[-margin_mm, -margin_mm], [width + margin_mm, height + margin_mm]])
    shown = _footprint(camera, frame.size_px)
    if shown is not None:
        box = np.array([np.maximum(box[0], shown[0]), np.minimum(box[1], shown[1])])
    (left, bottom), (right, top) = box
    return orthophoto(frame.pixels, camera, (left, bottom, right, top), max(scale, least_radius_mm / RADIUS_PX))


def _footprint(camera: Camera, size_px: tuple[int, int]) -> Array | None:
    """The box (2, 2), lower left and upper right, round what the photo shows of z = 0; None with a horizon in it."""
    width, height = size_px
    u, v = np.linspace(0, width - 1, 9), np.linspace(0, height - 1, 9)
    border = [*[(x, y) for x in u for y in (v[0], v[-1])], *[(x, y) for y in v for x in (u[0], u[-1])]]
    corners = camera.unproject(np.array(border))
    return np.array([corners.min(0), corners.max(0)]) if np.isfinite(corners).all() else None


def _distinct(guesses: RimGuesses, radii: Array) -> list[int]:
    """The guesses to keep, best first: bases stand beside each other, never in each other."""
    kept: list[int] = []
    limits = radii[0] * 0.85, radii[-1] * 1.15
    for i in np.argsort(-guesses.score, kind="stable"):
        radius = guesses.radius_mm[i]
        if guesses.score[i] < WORTH_A_FIT or not limits[0] < radius < limits[1]:
            continue
        apart = np.hypot(*(guesses.xy_mm[kept] - guesses.xy_mm[i]).T)
        others = guesses.radius_mm[kept]
        if np.all(apart > others + radius - OVERLAP * 2 * np.minimum(others, radius)):
            kept.append(int(i))
    return kept


@dataclass(frozen=True, slots=True, eq=False)
class _Hypothesis:
    """One size for one base, fitted."""

    column: int
    """Which of the radii."""
    fit: Fit
    log_likelihood: float


def _fit_all(
    frame: Frame, calibration: Calibration, guesses: RimGuesses, chosen: list[int], radii: Array
) -> tuple[Detection, ...]:
    likelihood = _size_likelihood(guesses, chosen, radii)
    fits = [
        _fit_sizes(frame, calibration.camera, guesses, i, row, radii) for i, row in zip(chosen, likelihood, strict=True)
    ]
    for row, hypotheses in zip(likelihood, fits, strict=True):
        fitted = {h.column: h.log_likelihood for h in hypotheses}
        row[:] = [row[c] + fitted.get(c, -np.inf) for c in range(len(radii))]
    scores = [_score(float(guesses.score[i]), hypotheses) for i, hypotheses in zip(chosen, fits, strict=True)]
    found = [k for k, score in enumerate(scores) if score >= LEAST_SCORE]
    shares = size_probabilities(likelihood[found])
    detections = []
    for k, share in zip(found, shares, strict=True):
        best = max(fits[k], key=lambda h: (share[h.column], h.log_likelihood))
        also = tuple(Base.circle(2 * radii[c]) for c in np.flatnonzero(share > AMBIGUOUS) if c != best.column)
        base = Base.circle(float(2 * radii[best.column]))
        fit = replace(best.fit, covariance_mm2=best.fit.covariance_mm2 + _size_doubt(best, fits[k], share, radii))
        detections.append(_detection(calibration.camera, base, also, fit, scores[k]))
    return tuple(sorted(detections, key=lambda detection: -detection.score))


def _size_likelihood(guesses: RimGuesses, chosen: list[int], radii: Array) -> Array:
    """Log-likelihood (N, C) of each catalogue radius, from the learned look's radius alone."""
    sigma = LOOK_SIZE * guesses.sigma_radius_mm[chosen] / guesses.radius_mm[chosen] + 0.005
    ratio = np.log(radii[None] / guesses.radius_mm[chosen][:, None])
    return np.asarray(-0.5 * (ratio / sigma[:, None]) ** 2)


def _fit_sizes(
    frame: Frame, camera: Camera, guesses: RimGuesses, i: int, log_likelihood: Array, radii: Array
) -> list[_Hypothesis]:
    """The sizes worth a fit, fitted."""
    found = []
    for column in np.flatnonzero(log_likelihood > log_likelihood.max() - WORTH_A_SIZE):
        start = guesses.xy_mm[i], LOOK_PLACE * float(guesses.sigma_xy_mm[i])
        best = fit_base(frame.pixels, camera, *start, float(radii[column]), 0.0)
        if best is not None:
            found.append(_Hypothesis(int(column), best, MERIT_NATS * best.merit))
    return found


def _size_doubt(best: _Hypothesis, others: list[_Hypothesis], share: Array, radii: Array) -> Array:
    """What the other sizes add to the doubt (2, 2): their edge lies elsewhere, and so may their centre."""
    doubt = np.zeros((2, 2))
    for other in others:
        apart = other.fit.xy_mm - best.fit.xy_mm
        edge = radii[other.column] - radii[best.column]
        doubt += share[other.column] * (np.outer(apart, apart) + np.eye(2) * edge**2)
    return doubt


def _detection(camera: Camera, base: Base, also: tuple[Base, ...], fit: Fit, score: float) -> Detection:
    angles = np.linspace(0, 2 * np.pi, OUTLINE_POINTS, endpoint=False)
    ring = fit.xy_mm + base.width_mm / 2 * np.stack([np.cos(angles), np.sin(angles)], -1)
    points = np.column_stack([np.vstack([fit.xy_mm, ring]), np.zeros(OUTLINE_POINTS + 1)])
    pixels = camera.project(points)
    return Detection(
        base=base,
        xy_mm=fit.xy_mm,
        z_mm=0.0,
        heading_deg=0.0,
        covariance_mm2=fit.covariance_mm2,
        d_xy_d_camera=fit.d_xy_d_camera,
        score=score,
        visible=_visible(fit),
        center_px=pixels[0],
        outline_px=pixels[1:],
        also=also,
    )


def _visible(fit: Fit) -> float:
    """The share of the rim that the fit saw."""
    return float(np.mean(fit.seen > LEAST_SEEN))


def _score(look: float, hypotheses: list[_Hypothesis]) -> float:
    """How likely this is a base (0 to 1), by the learned look and by how much of the rim the best fit saw."""
    if not hypotheses:
        return 0.0
    visible = _visible(max(hypotheses, key=lambda h: h.log_likelihood).fit)
    look_odds = np.log(look / max(1 - look, 1e-9))
    return float(1 / (1 + np.exp(-(ODDS_BIAS + ODDS_LOOK * look_odds + ODDS_SEEN * visible))))
