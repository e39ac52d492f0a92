#!/usr/bin/env python3
"""Is a calibration as sure as it may be, by cameras that are not like most? Photos are drawn, calibrated and counted.

    uv run tools/evaluate/strange_cameras.py --photos 40 [--seed 1] [--only points] [--kind zoom]

No picture is drawn: markers are seen, and corners clicked, with the noise that is stated. One row for what is seen and
each kind of camera, over distances between places on the table, and between places and tops of 40 mm:

    rms     root mean square error in mm, on the table; of tops
    in95    share of errors within 1.96 σ, by the σ that a scene states
    σ       median stated σ in mm, and that of the rare case
    false   share of distances whose error is beyond what a certain ruling (0.999) allows
    refused photos that were refused
"""

import argparse
import os
import sys
from collections import Counter
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.special import ndtr

from evaluate.drawn.markers import EIGHT, FOUR, as_specified, as_stated, known_board, marker_mm
from evaluate.drawn.strange import CORNERS, KINDS, Kind, Photo, draw_photo
from overruler.calibration import Calibration
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.assembly.flag_doubts import RARE_PROBABILITY, rare_probability
from overruler.vision.assembly.to_scene import with_strange_lens
from overruler.vision.camera.calibrate import calibrate_from_markers
from overruler.vision.camera.lens_prior import lens_prior
from overruler.vision.camera.observations import CLICK_SIGMA_PX, CLICKED_PLACE_SIGMA_MM
from overruler.vision.camera.table_bow import correct_for_bow_mm, place_jacobian_bow

SEEN = ("points", "four", "eight")
SPOTS = np.array([(x, y) for x in np.linspace(90, 810, 4) for y in np.linspace(90, 810, 4)])
TOP_MM = 40.0
PAIRS = np.column_stack(np.triu_indices(len(SPOTS), 1))
OUTCOMES = ("errors", "sigma", "rare", "false")
COLUMNS = ("in95", "σ", "rare", "false")
HEADS = ("seen", "kind", "rms", *COLUMNS, "rms top", *COLUMNS, "refused", "flags")
FALSE_PROBABILITY = 1e-3
"""A ruling is certain if the other answer is less likely than this."""


@dataclass(frozen=True)
class Outcome:
    """Of one photo's distances (P,): errors in mm, σ as stated and of the rare case, and whether certain and false."""

    errors: Array
    sigma: Array
    rare: Array
    false: NDArray[np.bool_]


def calibrated(seen: str, photo: Photo, random: Generator) -> Calibration:
    width, height = photo.size_px
    frame = Frame(np.broadcast_to(np.uint8(90), (height, width, 3)), "drawn", photo.focal_px, 0.03)
    if seen == "points":
        true = CORNERS + random.normal(0, CLICKED_PLACE_SIGMA_MM, CORNERS.shape)
        at = photo.camera.project(np.column_stack([true, np.zeros(len(true))]))
        at = at + random.normal(0, CLICK_SIGMA_PX, at.shape)
        clicked = [
            (float(u), float(v), float(x), float(y))
            for (u, v), (x, y) in zip(at, CORNERS, strict=True)
        ]
        return calibrate_from_markers(
            frame, None, (), clicked, lens_prior(frame, None, markers=False)
        )[0]
    places = FOUR if seen == "four" else EIGHT
    corners = {n: marker_mm(*place) for n, place in places.items()}
    drawn = as_specified if random.random() > RARE_PROBABILITY else as_stated
    markers = drawn(photo.camera, corners, random)
    return calibrate_from_markers(frame, known_board(places), markers, (), lens_prior(frame, None))[
        0
    ]


def distances(found: Calibration, truth: Camera, top_mm: float) -> tuple[Array, Array, Array]:
    """Errors (P,) of distances in mm, and their σ by the usual and the rare case; the second place has a top."""
    heights = np.where(np.arange(len(SPOTS)) % 2, top_mm, 0.0)
    pixels = truth.project(np.column_stack([SPOTS, heights]))
    flat = np.array(
        [found.camera.unproject(p, float(z)) for p, z in zip(pixels, heights, strict=True)]
    )
    at = np.array(
        [correct_for_bow_mm(found, p, float(z)) for p, z in zip(flat, heights, strict=True)]
    )
    by_bow = np.array(
        [place_jacobian_bow(found, p, float(z)) for p, z in zip(flat, heights, strict=True)]
    )
    slopes = np.concatenate(
        [found.camera.board_point_jacobian(np.column_stack([flat, heights])), by_bow], -1
    )
    first, second = PAIRS.T
    if top_mm:
        unlike = heights[first] != heights[second]
        first, second = first[unlike], second[unlike]
    gap = at[second] - at[first]
    length = np.linalg.norm(gap, axis=1)
    slope = np.einsum("pi,pik->pk", gap / length[:, None], slopes[second] - slopes[first])
    true = np.linalg.norm(SPOTS[second] - SPOTS[first], axis=1)
    centre = np.array(found.board_mm) / 2
    field = found.doubt.covariance_mm2(at - centre).reshape(len(at), 2, len(at), 2)
    u = gap / length[:, None]
    own = [
        np.einsum("pi,pij,pj->p", u, field[a, :, b], u)
        for a, b in ((first, first), (second, second), (first, second))
    ]
    by_field = own[0] + own[1] - 2 * own[2]
    sigmas = [
        np.sqrt(np.einsum("pi,ij,pj->p", slope, c, slope) + f)
        for c, f in (
            (found.covariances.usual, 0.0),
            (with_strange_lens(found).joint_covariance, by_field),
        )
    ]
    return length - true, sigmas[0], sigmas[1]


def judge(found: Calibration, truth: Camera, top_mm: float) -> Outcome:
    errors, usual, rare = distances(found, truth, top_mm)
    share = rare_probability(found.problems)
    sigma = rare if share == 1 else usual
    off = np.abs(errors)
    tail = (1 - share) * _beyond(off / usual) + share * _beyond(off / rare)
    return Outcome(errors, sigma, rare, tail < FALSE_PROBABILITY)


def _beyond(sigmas: Array) -> Array:
    """The probability of an error beyond so many σ, to one side."""
    return np.asarray(ndtr(-sigmas))


def row(seen: str, kind: Kind, photos: int, seed: int) -> list[str]:
    flat: list[Outcome] = []
    tops: list[Outcome] = []
    flags: Counter[str] = Counter()
    refused = 0
    for number in range(photos):
        random = np.random.default_rng([seed, number])
        photo = draw_photo(kind, random)
        try:
            found = calibrated(seen, photo, random)
        except CannotMeasure as error:
            refused += 1
            flags[str(error)[:40]] += 1
            continue
        flags.update(p.flag for p in found.problems)
        flat.append(judge(found, photo.camera, 0.0))
        tops.append(judge(found, photo.camera, TOP_MM))
    cells = [seen, kind.name]
    for some in (flat, tops):
        if not some:
            cells += ["-"] * 5
            continue
        errors, sigma, rare, false = (
            np.concatenate([getattr(one, n) for one in some]) for n in OUTCOMES
        )
        cells += [f"{np.sqrt(np.mean(errors**2)):.2f}", f"{np.mean(np.abs(errors) < 1.96 * sigma):.2f}",
                  f"{np.median(sigma):.2f}", f"{np.median(rare):.2f}", f"{np.mean(false):.3f}"]  # fmt: skip
    return [*cells, str(refused), " ".join(f"{n}:{c}" for n, c in flags.most_common(4))]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--photos", type=int, default=40, help="photos drawn for each row")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="only what is seen whose name holds this")
    parser.add_argument("--kind", default="", help="only kinds whose name holds this")
    args = parser.parse_args()
    table = Table(box=None)
    for name in HEADS:
        table.add_column(name, no_wrap=True)
    for seen in SEEN:
        for kind in KINDS:
            if args.only in seen and args.kind in kind.name:
                table.add_row(*row(seen, kind, args.photos, args.seed))
    Console(width=260).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
