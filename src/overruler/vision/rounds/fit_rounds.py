"""Fit round bases of catalogue sizes to the rim networks' guesses.

A rim seen by its upper edge (`size_likelihood`) looks like a smaller size of the catalogue. The
other bases on the table tell the two apart (`size_mixture`).
"""

import numpy as np
from numpy.typing import NDArray

from overruler.bases import ROUND_DIAMETERS_MM, Base
from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm
from overruler.vision.contours.rare_events import MIN_RIM_WEIGHT
from overruler.vision.contours.reproject import reproject_outline
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.ellipse_net import KNOWN_CIRCLE_PRIOR_SIGMA, trace_ovals_of_known_size
from overruler.vision.learned.patches import photo_pyramid
from overruler.vision.learned.rim_net import RimEstimates
from overruler.vision.rounds.further_networks import RimScores, score_rims
from overruler.vision.rounds.mat_print import is_printed
from overruler.vision.rounds.scoring import MIN_SCORE
from overruler.vision.rounds.size_likelihood import (
    SizeHypothesis,
    add_fit_likelihoods,
    fit_sizes,
)
from overruler.vision.rounds.table_sizes import sizes_in_play, sizes_on_table
from overruler.vision.rounds.uncertainty import (
    other_likely_bases,
    remeasure_uncertain,
    size_covariances,
)

LOW_SLANT_DEG = 40.0
"""The slant from which a table is seen from low down: the other networks learnt views up to here."""
CATALOGUE_REACH_MM = 0.5
"""Difference up to which a diameter somebody names is one of the catalogue's: 28 for 28.5 mm."""
SIGMA_INFLATION = load_coefficients("sigma_inflation")
"""Errors on rendered tables as multiples of the networks' stated σ. The rim centre's factor grows
by "rim_centre_per_hidden_share" times the hidden share of the rim. Of 370 retraced rims one in a
hundred was off by 2.4 mm along an axis where the size was open, by 1.2 mm where it was known."""
RETRACE_VISIBLE_SHARE = 0.7
"""Rims with a smaller expected visible share are traced again, by their size."""


def fit_rounds(
    frame: Frame,
    calibration: Calibration,
    guesses: RimEstimates,
    radii: Array,
    least_score: float = MIN_SCORE,
    from_above: Array | None = None,
    in_play: bool = False,
) -> tuple[Detection, ...]:
    """Return the bases among `guesses` with sizes out of `radii` (C,), the surest first.

    `guesses` must not overlap (`suppression`). `from_above` (K, 4), if given, is the overview's x,
    y, radius and probability of K circles. `in_play`: the in-play networks made the guesses, on a
    prepared table.
    """
    if not len(guesses.score):
        return ()
    camera = calibration.camera
    judged_in_play = in_play or is_in_play(calibration, radii)
    if judged_in_play:
        sizes = sizes_in_play(guesses, radii, camera, calibration.budget.scale_share)
    else:
        sizes = sizes_on_table(guesses, radii, camera)
    plausible = sizes.plausible
    fits = _first_fits(frame, camera, guesses, plausible, radii)
    asks_print = not judged_in_play and has_catalogue_size(radii)
    asked = sizes.usual if asks_print else None
    known = from_above, judged_in_play, asked, least_score
    scores = score_rims(frame, camera, guesses, fits, *known)
    likely = [k for k in scores.likely().tolist() if fits[k]]
    found = [k for k in likely if not _is_printed_ring(frame, camera, guesses, k)]
    _refit_hidden_rims(frame, camera, guesses, found, fits, plausible, radii)
    shares = sizes.probabilities(add_fit_likelihoods(sizes.log_likelihoods, fits)[:, found])
    made = (
        _make_detection(camera, fits[k], share, radii, guesses[np.array([k])], scores[[k]])
        for k, share in zip(found, shares, strict=True)
    )
    detections = [remeasure_uncertain(frame, calibration, one) for one in made]
    return tuple(sorted(detections, key=lambda detection: -detection.score))


def is_in_play(calibration: Calibration, radii: Array) -> bool:
    """Tell whether a table is in play: nobody prepared it for measuring, and bases are sought there.

    Where all `radii` (C,) are far from the catalogue's, something plain is: coins, lids, counters.
    """
    return not calibration.is_prepared and are_usual(radii)


def is_seen_from_low(calibration: Calibration, radii: Array) -> bool:
    """Tell whether bases are sought on a prepared table that is seen from low down."""
    is_low = slant_deg(calibration) > LOW_SLANT_DEG
    return is_low and calibration.is_prepared and are_usual(radii)


def are_usual(radii: Array) -> bool:
    """Tell whether bases are sought: any of `radii` (C,) is near one of the catalogue's, or there are none."""
    return not len(radii) or has_catalogue_size(radii)


def slant_deg(calibration: Calibration) -> float:
    """Return the angle from straight down, in degrees, at which the camera sees the middle of the board."""
    middle = np.array(calibration.board_mm) / 2
    leaning = relief_displacement_per_mm(calibration.camera, middle, 0.0)
    return float(np.degrees(np.arctan(np.hypot(*leaning))))


def has_catalogue_size(radii: Array) -> bool:
    """Tell whether any of `radii` (C,) is near one of the catalogue's."""
    off_mm = np.abs(2 * radii[:, None] - np.array(ROUND_DIAMETERS_MM))
    return bool((off_mm <= CATALOGUE_REACH_MM).any())


def _is_printed_ring(frame: Frame, camera: Camera, guesses: RimEstimates, k: int) -> bool:
    return is_printed(frame.pixels, camera, guesses.xy_mm[k], float(guesses.radius_mm[k]))


def fits_of_guesses(
    frame: Frame, camera: Camera, guesses: RimEstimates, radii: Array
) -> tuple[list[list[SizeHypothesis]], Array]:
    """Return each guess's fits on a prepared table, and its log likelihoods (N, C, 2) of sizes."""
    sizes = sizes_on_table(guesses, radii, camera)
    fits = _first_fits(frame, camera, guesses, sizes.plausible, radii)
    return fits, sizes.usual


def _first_fits(
    frame: Frame, camera: Camera, guesses: RimEstimates, plausible: NDArray[np.bool_], radii: Array
) -> list[list[SizeHypothesis]]:
    sigmas = _centre_sigma_mm(guesses)[:, None]
    return fit_sizes(frame, camera, guesses.xy_mm[:, None], sigmas, plausible, radii)


def _centre_sigma_mm(guesses: RimEstimates) -> Array:
    """Return 1 σ of each guess's centre (N,)."""
    inflation = SIGMA_INFLATION["rim_centre"] + SIGMA_INFLATION["rim_centre_per_hidden_share"] * (
        1 - guesses.visible
    )
    return np.asarray(inflation * guesses.sigma_xy_mm)


def _refit_hidden_rims(
    frame: Frame,
    camera: Camera,
    guesses: RimEstimates,
    found: list[int],
    fits: list[list[SizeHypothesis]],
    plausible: NDArray[np.bool_],
    radii: Array,
) -> None:
    """Refit in `fits` the `found` rims with less than `RETRACE_VISIBLE_SHARE` in sight."""
    hidden = np.array([k for k in found if guesses.visible[k] < RETRACE_VISIBLE_SHARE], int)
    refits = _fit_from_traced_rims(frame, camera, guesses[hidden], plausible[hidden], radii)
    for k, refit in zip(hidden.tolist(), refits, strict=True):
        fits[k] = refit or fits[k]


def _fit_from_traced_rims(
    frame: Frame, camera: Camera, guesses: RimEstimates, plausible: NDArray[np.bool_], radii: Array
) -> list[list[SizeHypothesis]]:
    """Refit each size of `plausible` (N, C, 2) from a rim traced with that size known.

    A trace that leaves the size open confuses a larger base nearby with a smaller one farther away
    where half the rim is hidden.
    """
    start = np.zeros((*plausible.shape[:2], 2))
    sigma = np.ones(plausible.shape[:2])
    i, c = np.nonzero(plausible.any(2))
    turns = np.zeros(len(i))
    circles = np.column_stack([guesses.xy_mm[i], radii[c], radii[c], turns])
    traced, traced_sigma = trace_ovals_of_known_size(
        photo_pyramid(frame), camera, circles, KNOWN_CIRCLE_PRIOR_SIGMA
    )
    start[i, c] = traced[:, :2]
    sigma[i, c] = SIGMA_INFLATION["retraced_rim_centre"] * traced_sigma[:, 0]
    return fit_sizes(frame, camera, start, sigma, plausible, radii)


def _make_detection(
    camera: Camera,
    tried: list[SizeHypothesis],
    share: Array,
    radii: Array,
    guess: RimEstimates,
    scores: RimScores,
) -> Detection:
    """Make the detection of a base from its fits; `share` (C, 2) holds the probabilities.

    `guess` and `scores` are its own, of one rim. The size and then the rim kind are the likeliest.
    """
    sizes = share.sum(1)

    def rank(hypothesis: SizeHypothesis) -> tuple[float, float]:
        size = hypothesis.size_index
        return sizes[size], share[size, hypothesis.rim_kind]

    best = max(tried, key=rank)
    fit = best.fit
    detection = Detection(
        base=Base.circle(float(2 * radii[best.size_index])),
        xy_mm=fit.xy_mm,
        z_mm=0.0,
        heading_deg=0.0,
        covariance_mm2=fit.covariance_mm2,
        d_xy_d_camera=fit.d_xy_d_camera,
        score=float(scores.base[0]),
        visible=float(np.mean(fit.seen > MIN_RIM_WEIGHT)),
        alternative_bases=other_likely_bases(sizes, best.size_index, radii),
        learned_radius_mm=(float(guess.radius_mm[0]), float(guess.sigma_radius_mm[0])),
        clutter_score=None if scores.on_clutter is None else float(scores.on_clutter[0]),
        in_play_probability=None if scores.in_play is None else float(scores.in_play[0]),
    )
    covariances = size_covariances(best, tried, share, radii)
    return reproject_outline(camera, detection.with_added_covariance(*covariances))
