"""What each problem of a photo does to the doubt: the one place where flags and certainty meet.

A photo without problems is as its board file says but for one table in five. A problem makes it
likelier that something about the table is off, up to sure.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from overruler.calibration import Problem

RARE_PROBABILITY = 0.2
"""How likely the rare covariance holds in a photo without problems."""
LIKELIER = 0.5
"""The same for a problem that lets errors go unseen, but shows none."""
SURE = 1.0
"""The same for a problem that shows itself an error of the scale, the lens or the fit."""

RARE_PROBABILITY_BY_FLAG: Mapping[str, float] = MappingProxyType(
    {
        "large_residuals": SURE,
        "uneven_picture": SURE,
        "lens_disagrees": SURE,
        "stretched": SURE,
        "cropped": SURE,
        "scale_disagrees": SURE,
        "marker_size": SURE,
        "ruler_disagrees": SURE,
        "markers_not_flat": SURE,
        "marker_left_out": SURE,
        "blurred": SURE,
        "low_view": SURE,
        "points_alone": SURE,
        "points_disagree": SURE,
        "few_markers": LIKELIER,
        "markers_hidden": LIKELIER,
        "markers_close_together": LIKELIER,
    }
)
"""Probability of the rare covariance for each flag that says the scale, the lens or the fit is in doubt."""
DOUBT_ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        "veiled": "it was taken off before anything was measured",
        "low_light": "the shade of each base is in its own covariance",
        "unsure_distances": "it reports what the covariances say already",
        "overhead_without_lens": "the focal length's doubt is in the camera's covariance",
        "grid_turned": "it concerns the grid of hexes and no place",
        "photos_disagree": "all covariances have grown by as much as the photos disagree",
        "photo_left_out": "the scene does not rest on it",
        "photo_hangs": "its camera errs as those that it hangs on, which the joint covariance says",
        "photo_twice": "it counts once",
        "photo_alone": "the scene is as sure as that of a photo",
        "photo_few_views": "the covariances are those of the views that are measured",
    }
)
"""All other flags, and why they add nothing."""


def rare_probability(problems: Iterable[Problem]) -> float:
    """How likely the rare covariance holds in a photo with these problems."""
    found = [RARE_PROBABILITY_BY_FLAG.get(problem.flag, 0.0) for problem in problems]
    return max([RARE_PROBABILITY, *found])
