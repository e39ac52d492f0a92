"""A short film of a walk round the table: its sharpest pictures, spread over its time."""

from collections.abc import Callable
from pathlib import Path

import cv2

from overruler.errors import CannotMeasure
from overruler.frame import Frame, Shot
from overruler.sources.video import Film

CANDIDATES = 16
"""Most pictures that are kept of a film: one of 4K has 12 MB."""
FIRST_SPAN_S = 0.4
"""First length of a stretch of film of which the sharpest picture is kept."""
MAX_WALK_S = 180.0
"""Longest film that is a walk round a table."""
SHARPNESS_WIDTH_PX = 960
"""Width of the picture in which sharpness is measured, in px."""


def sharpest_pictures(path: Path, progress: Callable[[str], None]) -> list[Frame]:
    """The sharpest picture of each of up to `CANDIDATES` stretches of a film, in their order."""
    kept: list[tuple[float, Shot]] = []
    span_s = FIRST_SPAN_S
    with Film(path) as film:
        duration_s = film.duration_s
        if duration_s and duration_s > MAX_WALK_S:
            raise _too_long(path, duration_s)
        said = -1
        for shot in film:
            if shot.time_s > MAX_WALK_S:
                raise _too_long(path, shot.time_s)
            share = int(10 * shot.time_s / duration_s) if duration_s else 0
            if share > said:
                said = share
                progress(f"reading the film: {min(10 * share, 100)} %")
            _keep_sharper(kept, shot, span_s)
            if len(kept) > CANDIDATES:
                span_s *= 2
                kept = _merge(kept, span_s)
    if not kept:
        raise CannotMeasure(f"{path}: shows no whole picture; film the table again")
    return [shot.frame() for _, shot in kept]


def _too_long(path: Path, duration_s: float) -> CannotMeasure:
    return CannotMeasure(
        f"{path}: is {duration_s:.0f} s long, a walk round the table at most {MAX_WALK_S:.0f} s; "
        "cut it, or give it to overruler analyze if the camera stood still"
    )


def sharpness_of(shot: Shot) -> float:
    """How sharp a picture is: the variance of its Laplacian. Only like pictures compare."""
    height, width = shot.grey.shape
    size = (SHARPNESS_WIDTH_PX, max(1, round(height * SHARPNESS_WIDTH_PX / width)))
    small = cv2.resize(shot.grey, size, interpolation=cv2.INTER_AREA)
    return float(cv2.Laplacian(small, cv2.CV_32F).var())


def _keep_sharper(kept: list[tuple[float, Shot]], shot: Shot, span_s: float) -> None:
    """Add a picture, in place of the last one where that is of the same stretch and less sharp."""
    sharpness = sharpness_of(shot)
    if not kept or int(kept[-1][1].time_s / span_s) < int(shot.time_s / span_s):
        kept.append((sharpness, shot))
    elif sharpness > kept[-1][0]:
        kept[-1] = (sharpness, shot)


def _merge(kept: list[tuple[float, Shot]], span_s: float) -> list[tuple[float, Shot]]:
    """The sharper picture of each longer stretch."""
    best: dict[int, tuple[float, Shot]] = {}
    for one in kept:
        stretch = int(one[1].time_s / span_s)
        if stretch not in best or one[0] > best[stretch][0]:
            best[stretch] = one
    return list(best.values())
