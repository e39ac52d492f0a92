"""Whether the markers have the size that was given: if not, all bases look larger or smaller than they are made.

Each base is found under the size of the catalogue nearest to it, its rim then standing apart from where that size would
have it. How much of its rim is seen for every share by which it could be larger says where the rim is; of one base that
may be the upper rim or a ring of sand, of many alike it is the scale.
"""

from collections.abc import Sequence

import numpy as np

from overruler.calibration import Calibration, Problem
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.evidence import lower_rim
from overruler.vision.rays import claims, edges_across

SHARES = np.arange(-0.085, 0.0851, 0.005)
"""By how much bases are tried larger."""
FEWEST, MOST = 5, 14
"""Bases below which nothing is said, and so many, the surest, that are looked at."""
LEAST_VISIBLE = 0.3
EDGE_PX = 0.5
"""1 σ of an edge about a rim."""
LEAST_SHARE, LEAST_GAIN, SIGMAS = 0.02, 0.03, 3.0
"""The markers are doubted where bases look larger or smaller by so much, where so much more of their rims is seen so,
and where the scatter between them does not explain it."""


def doubted_size(frame: Frame, calibration: Calibration, detections: Sequence[Detection]) -> tuple[Problem, ...]:
    """A problem where the bases on the board contradict the size of the markers, and nobody has said so yet."""
    if any(problem.flag == "marker_size" for problem in calibration.problems):
        return ()
    flat = [d for d in detections if d.base.shape == "circle" and not d.z_mm and d.visible >= LEAST_VISIBLE]
    surest = sorted(flat, key=lambda d: -d.score)[:MOST]
    seen = [rim for d in surest if (rim := rim_seen(frame, calibration, d)) is not None]
    if len(seen) < FEWEST:
        return ()
    rims = np.stack(seen)
    peaks = SHARES[rims.argmax(1)]
    share = float(np.median(peaks))
    error = 1.4826 * float(np.median(np.abs(peaks - share))) * 1.2533 / len(peaks) ** 0.5  # of a median, robustly
    gain = float((rims[:, np.abs(SHARES - share).argmin()] - rims[:, np.abs(SHARES).argmin()]).mean())
    if abs(share) < LEAST_SHARE or gain < LEAST_GAIN or abs(share) < SIGMAS * error:
        return ()
    which = "larger" if share > 0 else "smaller"
    text = f"bases look {abs(share):.1%} {which} than they are made: measure the markers' printed size, and give that"
    return (Problem("marker_size", text),)


def rim_seen(frame: Frame, calibration: Calibration, detection: Detection) -> Array | None:
    """The share of its lower rim that is seen, were the base larger by each of `SHARES`; None where it is hidden."""
    lower = lower_rim(frame, calibration, detection)
    if lower is None:
        return None
    radius, (view, rays) = detection.base.width_mm / 2, lower
    reach = np.full(len(rays), SHARES.max() * radius + 2 * EDGE_PX * view.mm_per_px)
    edges = edges_across(view, detection.xy_mm, rays, radius - reach, radius + reach)
    sigma = EDGE_PX * view.mm_per_px
    weights = [claims(edges, edges.radius_mm - radius * (1 + share), sigma, len(rays)) for share in SHARES]
    return np.array([np.minimum(np.bincount(edges.ray, weight, len(rays)), 1).mean() for weight in weights])
