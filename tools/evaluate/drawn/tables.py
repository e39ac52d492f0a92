"""Tables, cameras over them and what is known of both, drawn as the calibration's priors have them."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from evaluate.drawn.lenses import FAMILIES
from evaluate.drawn.markers import (
    BOARD_MM,
    EIGHT,
    FOUR,
    MARKER_MM,
    camera_over,
    known_board,
    marker_mm,
)
from overruler.board import Board
from overruler.calibration import Calibration, Covariances, ErrorBudget, TableBow
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.lens import Lens
from overruler.vision.camera.bundle_adjustment import BOW_SIGMA_SHARE, BundleAdjustment
from overruler.vision.camera.calibrate import calibrate_from_markers
from overruler.vision.camera.lens_prior import LensPrior, lens_prior
from overruler.vision.camera.marker_layout import FREE_MARKERS_BUDGET, add_height_uncertainty
from overruler.vision.camera.observations import free_marker_observation, known_marker_observation
from overruler.vision.camera.precision_map import place_jacobian_camera_bow
from overruler.vision.camera.state import State
from overruler.vision.camera.table_bow import correct_for_bow_mm
from overruler.vision.camera.variance_components import LOG_SCALE_SIGMA as SCALE_SIGMA
from overruler.vision.camera.variance_components import NoiseScales
from overruler.vision.markers.marker import Marker

LAID_WORSE, CURL_MM = 3.0, 0.3
"""The troubles: how many times worse than stated markers are laid and shaped, and how far their corners are lifted."""
SIZES = {"12 MP": (4032, 3024), "1080p": (1920, 1080)}
LENS_SIGMA = (1e-3, 1e-3, 2.0, 2.0, 2e-3, 2e-3, 2e-4, 2e-4, 1e-3)
"""1 σ of the lens files: focal lengths as shares, the middle in px, then k1 k2 p1 p2 k3."""
EXIF_SHARE, TRUE_EXIF_SHARE = {"12 MP": 0.03, "1080p": 0.15}, {"12 MP": 0.02, "1080p": 0.08}
"""1 σ of the metadata's focal length as it is taken, and as it is."""
EDGE_PX, MOST_TILT_DEG = 40.0, 40.0
"""How far from the picture's border the middle of every marker lies at least, and how much a camera leans at most."""
TILTS_DEG = (0.0, 15.0, 30.0, 40.0)
SPOTS = np.array([(x, y) for x in np.linspace(120, 780, 5) for y in np.linspace(120, 780, 5)])
PAIRS = np.column_stack(np.triu_indices(len(SPOTS), 1))


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    layout: str
    lens: str
    size: str
    trouble: str = ""
    tilt_deg: float | None = None
    families: bool = False

    @property
    def name(self) -> str:
        tilt = "" if self.tilt_deg is None else f"{self.tilt_deg:.0f}°"
        return ", ".join(filter(None, (self.layout, self.lens, self.size, self.trouble, tilt)))

    @property
    def scale_share(self) -> float:
        """1 σ of the print's scale, as the budget has it."""
        return (FREE_MARKERS_BUDGET if self.free else ErrorBudget()).scale_share

    @property
    def worse(self) -> float:
        """How many times worse than the priors have it the markers are laid and shaped."""
        return LAID_WORSE if self.trouble == "badly laid" else 1.0

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
        return {
            n: marker_mm(*at, heading_deg=h)
            for (n, at), h in zip(self.places.items(), turn, strict=True)
        }


def random_camera(random: Generator, case: "Case") -> Camera:
    """A camera over the whole board, from 0 to 40° of tilt, from any of its four sides; it sees all markers."""
    while True:
        camera = _camera(random, case)
        px = camera.project(np.array([(*at, 0.0) for at in EIGHT.values()]))
        if ((px > EDGE_PX) & (px < np.array(SIZES[case.size]) - EDGE_PX)).all():
            return camera


def _camera(random: Generator, case: "Case") -> Camera:
    width, height = SIZES[case.size]
    if case.families:
        families, shares = zip(*FAMILIES[case.size], strict=True)
        k1, k2, k3 = families[random.choice(len(families), p=shares)](random)
        lens = np.array(
            [width * random.uniform(0.70, 0.83), *random.normal(0, 0.003 * width, 2), k1, k2, k3]
        )
        fx, cx, cy, *_ = lens
        fy, distortion = fx, [k1, k2, *random.normal(0, 4e-4, 2), k3]
    else:
        focal = width * random.uniform(0.70, 0.83)
        prior = lens_prior(picture(case, focal if case.lens == "EXIF" else None), None)
        fx, fy, cx, cy, *distortion = prior.mean + np.linalg.cholesky(
            prior.covariance
        ) @ random.normal(size=9)
        cx, cy = cx - (width - 1) / 2, cy - (height - 1) / 2
    tilt = random.uniform(0, MOST_TILT_DEG) if case.tilt_deg is None else case.tilt_deg
    camera = camera_over(
        tilt,
        size_px=(width, height),
        focal_px=fx,
        height_mm=fx * BOARD_MM / height * random.uniform(1.15, 1.4) * (1 + tilt / 200),
        center_px=(cx, cy),
        distortion=tuple(distortion),
        turn_deg=90 * random.integers(4) + random.uniform(-12, 12),
    )
    matrix = camera.matrix.copy()
    matrix[1, 1] = fy
    return camera.with_lens(matrix, camera.distortion)


@dataclass(frozen=True)
class Truth:
    """One table as it is."""

    camera: Camera
    corners: dict[int, Array]
    """The markers', on the table were it flat and the print exact."""
    bow: TableBow
    scales: NoiseScales
    """How many times as large as expected the noise of edges, places and shapes is."""
    print_share: float
    """By which share everything printed is larger than meant."""

    @classmethod
    def drawn(cls, case: Case, random: Generator) -> "Truth":
        half = np.full(2, BOARD_MM / 2)
        bow = TableBow(half, half, BOW_SIGMA_SHARE * 2 * half * random.normal(size=2))
        own, place, shape = np.exp(SCALE_SIGMA * (random.normal(size=3) - SCALE_SIGMA))
        scales = NoiseScales(float(own), float(case.worse * place), float(case.worse * shape))
        camera, corners = random_camera(random, case), case.corners(random)
        return cls(camera, corners, bow, scales, float(case.scale_share * random.normal()))

    def lifted(self, corners_mm: Array) -> Array:
        """A card's corners (4, 3) where the table lifts it, as a whole."""
        rise = self.bow.z_mm(corners_mm[:, :2].mean(0))
        return np.asarray(corners_mm + np.array([0, 0, float(rise)]))

    def on_table(self, xyz_mm: Array) -> Array:
        """Places (..., 3) of a flat table where this one has them."""
        return np.asarray(
            xyz_mm
            + np.concatenate([0 * xyz_mm[..., :2], self.bow.z_mm(xyz_mm[..., :2])[..., None]], -1)
        )


def picture(case: Case, focal_px: float | None) -> Frame:
    width, height = SIZES[case.size]
    return Frame(
        np.broadcast_to(np.uint8(90), (height, width, 3)), "drawn", focal_px, EXIF_SHARE[case.size]
    )


def frame_of(case: Case, camera: Camera, random: Generator) -> Frame:
    share = TRUE_EXIF_SHARE[case.size] if case.families else EXIF_SHARE[case.size]
    focal = (
        float(camera.matrix[0, 0] * (1 + share * random.normal())) if case.lens == "EXIF" else None
    )
    return picture(case, focal)


def lens_file(camera: Camera, size_px: tuple[int, int], random: Generator) -> Lens:
    """A lens file as far off the truth as it says."""
    sigma = np.array(LENS_SIGMA) * np.concatenate([camera.matrix[[0, 1], [0, 1]], np.ones(7)])
    true = np.concatenate([camera.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], camera.distortion])
    fx, fy, cx, cy, *distortion = true + sigma * random.normal(size=9)
    matrix = np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
    return Lens(size_px, matrix, np.array(distortion), np.diag(sigma**2))


def best(
    case: Case, truth: Truth, found: Calibration, seen: list[Marker], prior: LensPrior
) -> Calibration:
    """The true camera, as sure as the markers, the prior and a true knowledge of the noise can make it."""
    camera = truth.camera
    if case.free:
        groups = [free_marker_observation(marker, MARKER_MM) for marker in seen]
        edge = np.array([(at[1] - at[0])[:2] for at in truth.corners.values()])
        origin = np.array([at[0, :2] for at in truth.corners.values()])
        places = np.column_stack([origin, np.arctan2(edge[:, 1], edge[:, 0])])
        state = State(camera, 0.0, places, bow=truth.bow)
    else:
        groups = [known_marker_observation(marker, truth.corners[marker.id]) for marker in seen]
        groups, state = add_height_uncertainty(groups, camera), State(camera, 0.0, bow=truth.bow)
    joint = BundleAdjustment(groups, prior, truth.scales).covariance(state)
    return replace(found, camera=camera, covariances=Covariances.same(joint), bow=truth.bow)


def distances(found: Calibration, pixels: Array) -> tuple[Array, Array]:
    """Lengths (P,) in mm between pixels (N, 2) on the table, and their σ (P,)."""
    flat = found.camera.unproject(pixels)
    slopes = place_jacobian_camera_bow(found, flat)
    at = correct_for_bow_mm(found, flat)
    first, second = PAIRS.T
    gap = at[second] - at[first]
    length = np.linalg.norm(gap, axis=1)
    slope = np.einsum("pi,pik->pk", gap / length[:, None], slopes[second] - slopes[first])
    return length, np.sqrt(np.einsum("pi,ij,pj->p", slope, found.joint_covariance, slope))


@dataclass(frozen=True)
class Measured:
    """One table calibrated, and its distances (P,) in mm between `SPOTS`."""

    found: Calibration
    true: Array
    length: Array
    sigma: Array
    bound: Array
    """What no method can beat."""

    @property
    def errors(self) -> Array:
        return self.length - self.true


def measured(
    case: Case, truth: Truth, frame: Frame, seen: list[Marker], random: Generator
) -> Measured:
    """A table calibrated by the markers that are seen of it, with what is known of the lens."""
    camera = truth.camera
    lens = lens_file(camera, frame.size_px, random) if case.lens == "file" else None
    prior = lens_prior(frame, lens)
    found, _ = calibrate_from_markers(frame, case.board, seen, (), prior)
    spots = np.column_stack([SPOTS, np.zeros(len(SPOTS))])
    pixels = camera.project(truth.on_table(spots))
    true = np.linalg.norm(np.diff(SPOTS[PAIRS], axis=1)[:, 0], axis=1)
    _, bound = distances(best(case, truth, found, seen, prior), pixels)
    return Measured(found, true, *distances(found, pixels), bound)
