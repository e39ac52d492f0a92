"""What the calibration's tests share: boards, cameras drawn from the prior, and errors held against stated doubts."""

from collections.abc import Iterable, Mapping

import numpy as np
import pytest

from evaluate.drawn.markers import (
    EIGHT,
    MARKER_MM,
    as_specified,
    as_stated,
    camera_over,
    known_board,
    marker_mm,
)
from overruler.board import Board
from overruler.calibration import Calibration, TableBow
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.camera import calibrate as module
from overruler.vision.camera.lens_prior import lens_prior
from overruler.vision.camera.table_bow import correct_for_bow_mm, place_jacobian_bow

SIZE = (1600, 1200)
BOARD = known_board(EIGHT)
FREE = Board.free(MARKER_MM, "DICT_4X4_50")
ANYWHERE = {n: marker_mm(x, y, heading_deg=37.0 * n) for n, (x, y) in EIGHT.items()}
SPOTS = np.array([(x, y) for x in (200.0, 450.0, 700.0) for y in (200.0, 450.0, 700.0)])
PAIRS = np.column_stack(np.triu_indices(len(SPOTS), 1))


def blank(focal_px: float | None = None) -> Frame:
    return Frame(np.full((SIZE[1], SIZE[0], 3), 90, np.uint8), "blank", focal_px, 0.03)


def corners_of(board: Board) -> dict[int, Array]:
    assert board.corners_mm is not None
    return board.corners_mm


def lifted(corners_mm: Array, bow: TableBow) -> Array:
    """A card's corners (4, 3) where a bowed table lifts it, as a whole."""
    return np.asarray(corners_mm + np.array([0, 0, float(bow.z_mm(corners_mm[:, :2].mean(0)))]))


def distances(
    found: Calibration, truth: Camera, bow: TableBow | None = None, z_mm: float = 0.0
) -> tuple[Array, Array]:
    """Errors (P,) in mm of the distances between spots as the true camera shows them, and their stated σ (P,).

    The spots lie on a flat table, or on a bowed one, or so high above it.
    """
    heights = np.full(len(SPOTS), z_mm) + (0.0 if bow is None else bow.z_mm(SPOTS))
    flat = found.camera.unproject(truth.project(np.column_stack([SPOTS, heights])), z_mm)
    gap = np.diff(correct_for_bow_mm(found, flat, z_mm)[PAIRS], axis=1)[:, 0]
    length = np.linalg.norm(gap, axis=1)
    at = np.column_stack([flat, np.full(len(flat), z_mm)])
    by_both = found.camera.board_point_jacobian(at), place_jacobian_bow(found, flat, z_mm)
    moved = np.diff(np.concatenate(by_both, -1)[PAIRS], axis=1)[:, 0]
    slopes = np.einsum("pk,pkj->pj", gap / length[:, None], moved)
    sigma = np.sqrt(np.einsum("pi,ij,pj->p", slopes, found.joint_covariance, slopes))
    return length - np.linalg.norm(np.diff(SPOTS[PAIRS], axis=1)[:, 0], axis=1), sigma


def flags(found: Calibration) -> set[str]:
    return {problem.flag for problem in found.problems}


class Sight:
    """Puts markers before `calibrate` without drawing a picture."""

    monkeypatch: pytest.MonkeyPatch

    def __init__(
        self,
        camera: Camera,
        markers: Mapping[int, Array],
        seed: int = 0,
        spoil: float = 1.0,
        told: bool = False,
    ) -> None:
        random = np.random.default_rng(seed)
        found = (
            as_specified(camera, markers, random)
            if told
            else as_stated(camera, markers, random, spoil)
        )
        self.monkeypatch.setattr(
            module, "find_markers", lambda frame, board: tuple(sorted(found, key=lambda m: m.id))
        )


def random_camera(random: np.random.Generator, **fixed: float) -> Camera:
    """A camera as the prior without metadata has it: its lens drawn from there, over a table at some tilt."""
    prior = lens_prior(blank(), None)
    fx, fy, cx, cy, *distortion = prior.mean + np.linalg.cholesky(prior.covariance) @ random.normal(
        size=9
    )
    camera = camera_over(fixed.get("tilt_deg", random.uniform(5, 40)), turn_deg=random.uniform(-20, 20), focal_px=fx,
                         height_mm=fx * random.uniform(0.95, 1.3), distortion=tuple(distortion))  # fmt: skip
    return camera.with_lens([[fx, 0, cx], [0, fy, cy], [0, 0, 1]], distortion)


def counted(results: Iterable[tuple[Array, Array]]) -> tuple[float, float]:
    """Mean square of error by stated σ over all distances, and the share within 1.96 σ."""
    z = np.concatenate([errors / sigma for errors, sigma in results])
    return float(np.mean(z**2)), float(np.mean(np.abs(z) < 1.96))
