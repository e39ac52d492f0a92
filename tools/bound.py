#!/usr/bin/env python3
"""Is a calibration as good as it can be, and as sure as it says? Tables are drawn, calibrated and counted.

    uv run tools/bound.py --tables 100 [--seed 1] [--only four]

No picture is drawn: markers are seen with the noise that the marker fit states, by lenses as cameras have them (see
FAMILIES), not as the calibration's own prior has them. The print is exact: what its scale adds is one number of the
budget, and would hide the rest. One row a case, over distances between places all over the board:

    error   root mean square error in mm
    bound   what no method can beat with the same priors: Cramér and Rao's bound at the true camera
    ratio   error by bound
    z²      mean square of error by stated σ: 1 is honest
    in95    share of errors within 1.96 stated σ: 0.95 is honest
    focal   z² of the focal length
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from numpy.random import Generator
from rich.console import Console
from rich.progress import track
from rich.table import Table

from overruler.board import Board
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.lens import Lens
from overruler.vision.calibrate import calibrate_seen
from overruler.vision.groups import free_group, known_group
from overruler.vision.layout import lifted
from overruler.vision.markers import Marker
from overruler.vision.priors import lens_prior
from overruler.vision.solve import Bundle, Prior, State
from tests.vision.sight import as_stated
from tests.vision.table import EIGHT, FOUR, MARKER_MM, camera_over, known_board, square_mm

SIZES = {"12 MP": (4032, 3024), "1080p": (1920, 1080)}
LENS_SIGMA = (1e-3, 1e-3, 2.0, 2.0, 2e-3, 2e-3, 2e-4, 2e-4, 1e-3)
"""1 σ of the lens files: focal lengths as shares, the middle in px, then k1 k2 p1 p2 k3."""
EXIF_SHARE, TRUE_EXIF_SHARE = {"12 MP": 0.03, "1080p": 0.15}, {"12 MP": 0.02, "1080p": 0.08}
"""1 σ of the metadata's focal length as it is taken, and as it is."""
LAID_WORSE, CURL_MM = 3.0, 0.3
"""The troubles: how many times worse than stated markers are laid and shaped, and how far their corners are lifted."""
SPOTS = np.array([(x, y) for x in np.linspace(120, 780, 5) for y in np.linspace(120, 780, 5)])
PAIRS = np.column_stack(np.triu_indices(len(SPOTS), 1))


# --- lenses as cameras have them ---


def straightened(random: Generator) -> Array:
    """A phone's own correction leaves a little of either sign (k1 k2 k3)."""
    return np.array([random.uniform(-0.05, 0.05), random.uniform(-0.03, 0.03), 0])


def moustache(random: Generator) -> Array:
    """A phone's or a good webcam's lens as it is: outwards, then inwards; published ones: (0.17, -0.72, 1.63),
    (0.27, -1.24, 1.85), (0.13, -0.31, 0), (0.11, -0.56, 0)."""
    k1 = random.uniform(0.04, 0.16)
    return np.array([k1, -k1 * random.uniform(1.8, 3.0), k1 * random.uniform(0, 3.0)])


def barrel(random: Generator) -> Array:
    """A cheap or wide lens: (-0.31, 0.08, 0), (-0.33, 0.07, 0), (-0.17, 0.11, 0), (-0.34, 0.14, -0.03) for some."""
    k1 = random.uniform(-0.35, -0.03)
    return np.array([k1, -k1 * random.uniform(0.1, 0.45), k1 * random.uniform(0, 0.08)])


def webcam(random: Generator) -> Array:
    """A webcam of today: a tenth of barrel."""
    return np.array([random.uniform(-0.16, 0.05), random.uniform(-0.03, 0.03), 0])


Family = Callable[[Generator], Array]
FAMILIES: dict[str, tuple[tuple[Family, float], ...]] = {
    "12 MP": ((straightened, 0.85), (moustache, 0.15)),
    "1080p": ((webcam, 0.6), (moustache, 0.15), (barrel, 0.25)),
}
"""Which lenses take pictures of a size, and how often."""


def random_camera(random: Generator, size: str, tilt_deg: float | None) -> Camera:
    """A camera over the whole board, from 0 to 40° of tilt, from any of its four sides."""
    width, height = SIZES[size]
    families, shares = zip(*FAMILIES[size], strict=True)
    k1, k2, k3 = families[random.choice(len(families), p=shares)](random)
    focal = width * random.uniform(0.70, 0.83)
    tilt = random.uniform(0, 40) if tilt_deg is None else tilt_deg
    return camera_over(
        tilt,
        size_px=(width, height),
        focal_px=focal,
        height_mm=focal * 900 / height * random.uniform(1.15, 1.35) * (1 + tilt / 200),
        center_px=tuple(random.normal(0, 0.003 * width, 2)),
        distortion=(k1, k2, *random.normal(0, 4e-4, 2), k3),
        turn_deg=90 * random.integers(4) + random.uniform(-12, 12),
    )


# --- one table ---


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    layout: str
    lens: str
    size: str
    trouble: str = ""
    tilt_deg: float | None = None

    @property
    def name(self) -> str:
        return ", ".join(filter(None, (self.layout, self.lens, self.size, self.trouble)))

    @property
    def free(self) -> bool:
        return self.layout == "eight anywhere"

    @property
    def places(self) -> dict[int, tuple[float, float]]:
        return FOUR if self.layout == "four" else EIGHT

    @property
    def board(self) -> Board:
        return Board.free(MARKER_MM, "DICT_4X4_50") if self.free else known_board(self.places)

    def corners(self, random: Generator) -> dict[int, Array]:
        """Where the markers lie: free ones at any heading."""
        turn = random.uniform(-180, 180, len(self.places)) * self.free
        return {n: square_mm(*at, heading_deg=h) for (n, at), h in zip(self.places.items(), turn, strict=True)}


CASES = [Case(*names) for names in product(("eight", "four", "eight anywhere"), ("file", "EXIF", "none"), SIZES)]
CASES += [
    Case(layout, "none", "12 MP", trouble) for layout in ("eight", "four") for trouble in ("badly laid", "curled")
]


@dataclass(frozen=True)
class Outcome:
    """Errors, stated σ and bound (P,) in mm of one table's distances, and the focal length's error by its σ."""

    errors: Array
    sigma: Array
    bound: Array
    focal_z: float


def outcome(case: Case, random: Generator) -> Outcome:
    camera, corners = random_camera(random, case.size, case.tilt_deg), case.corners(random)
    seen = _seen(case, camera, corners, random)
    frame = _frame(case, camera, random)
    lens = _lens(camera, frame.size_px, random) if case.lens == "file" else None
    prior = lens_prior(frame, lens)
    found = calibrate_seen(frame, case.board, seen, (), prior, lens is not None)
    pixels = camera.project(np.column_stack([SPOTS, np.zeros(len(SPOTS))]))
    length, sigma = distances(found.camera, found.covariance, pixels)
    true = np.linalg.norm(np.diff(SPOTS[PAIRS], axis=1)[:, 0], axis=1)
    _, bound = distances(camera, bound_covariance(case, camera, corners, seen, prior), pixels)
    focal_z = (found.camera.matrix[0, 0] - camera.matrix[0, 0]) / found.covariance[0, 0] ** 0.5
    return Outcome(length - true, sigma, bound, float(focal_z))


def _seen(case: Case, camera: Camera, corners: dict[int, Array], random: Generator) -> list[Marker]:
    """The markers as found, with the noise that is stated, or with the trouble that the case is about."""
    if case.trouble == "curled":
        lift = np.abs(random.normal(0, CURL_MM, (len(corners), 4)))
        up = np.stack([np.zeros_like(lift), np.zeros_like(lift), lift], -1)
        corners = {n: at + rise for (n, at), rise in zip(corners.items(), up, strict=True)}
    return as_stated(camera, corners, random, LAID_WORSE if case.trouble == "badly laid" else 1.0)


def _frame(case: Case, camera: Camera, random: Generator) -> Frame:
    width, height = SIZES[case.size]
    focal = (
        float(camera.matrix[0, 0] * (1 + TRUE_EXIF_SHARE[case.size] * random.normal())) if case.lens == "EXIF" else None
    )
    return Frame(np.broadcast_to(np.uint8(90), (height, width, 3)), "drawn", focal, EXIF_SHARE[case.size])


def _lens(camera: Camera, size_px: tuple[int, int], random: Generator) -> Lens:
    """A lens file as far off the truth as it says."""
    sigma = np.array(LENS_SIGMA) * np.concatenate([camera.matrix[[0, 1], [0, 1]], np.ones(7)])
    true = np.concatenate([camera.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], camera.distortion])
    fx, fy, cx, cy, *distortion = true + sigma * random.normal(size=9)
    matrix = np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
    return Lens(size_px, matrix, np.array(distortion), np.diag(sigma**2))


def bound_covariance(case: Case, camera: Camera, corners: dict[int, Array], seen: list[Marker], prior: Prior) -> Array:
    """(15, 15): the inverse of the information that the markers and the prior hold about the true camera."""
    if case.free:
        groups = [free_group(marker, MARKER_MM) for marker in seen]
        edge = np.array([(at[1] - at[0])[:2] for at in corners.values()])
        origin = np.array([at[0, :2] for at in corners.values()])
        places = np.column_stack([origin, np.arctan2(edge[:, 1], edge[:, 0])])
        state = State(camera, 0.0, places)
    else:
        groups = [known_group(marker, corners[marker.id]) for marker in seen]
        groups, state = lifted(groups, camera), State(camera, 0.0)
    return Bundle(groups, prior).covariance(state)


def distances(camera: Camera, covariance: Array, pixels: Array) -> tuple[Array, Array]:
    """Lengths (P,) in mm between pixels (N, 2) on the board, and their σ (P,) by the camera's covariance."""
    at = camera.unproject(pixels)
    _, d_point, d_camera = camera.jacobians(np.column_stack([at, np.zeros(len(at))]))
    by_camera = -np.linalg.solve(d_point[:, :, :2], d_camera)
    first, second = PAIRS.T
    gap = at[second] - at[first]
    length = np.linalg.norm(gap, axis=1)
    slope = np.einsum("pi,pik->pk", gap / length[:, None], by_camera[second] - by_camera[first])
    return length, np.sqrt(np.einsum("pi,ij,pj->p", slope, covariance, slope))


# --- all tables of a case ---


def outcomes(case: Case, tables: int, seed: int) -> Iterator[Outcome]:
    for table in range(tables):
        try:
            yield outcome(case, np.random.default_rng([seed, table]))
        except CannotMeasure as error:
            print(f"{case.name}, table {table}: {error}", file=sys.stderr)


def row(case: Case, results: list[Outcome]) -> list[str]:
    errors, sigma, bound = (np.stack([getattr(r, name) for r in results]) for name in ("errors", "sigma", "bound"))
    z = errors / sigma
    error, least = np.sqrt(np.mean(errors**2)), np.sqrt(np.mean(bound**2))
    focal = np.mean([r.focal_z**2 for r in results])
    figures = error, least, error / least, np.mean(z**2), np.mean(np.abs(z) < 1.96), focal
    return [case.name, *(f"{figure:.3f}" for figure in figures)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=100, help="tables drawn for each case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="only cases whose name holds this")
    args = parser.parse_args()
    table = Table(box=None)
    for name in ("case", "error", "bound", "ratio", "z²", "in95", "focal"):
        table.add_column(name, no_wrap=True)
    for case in track([case for case in CASES if args.only in case.name], console=Console(stderr=True)):
        table.add_row(*row(case, list(outcomes(case, args.tables, args.seed))))
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
