"""Calibration against cameras that are known: its places, and above all its doubts, counted."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pytest

from overruler.board import Board
from overruler.calibration import Calibration
from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.lens import Lens
from overruler.vision import calibrate as module
from overruler.vision.calibrate import calibrate
from overruler.vision.priors import lens_prior
from overruler.vision.problems import tilt_deg

from .table import (
    EIGHT,
    FOUR,
    MARKER_MM,
    Look,
    camera_over,
    known_board,
    seen_markers,
    shoot,
    square_mm,
)

SIZE = (1600, 1200)
BOARD = known_board(EIGHT)
FREE = Board.free(MARKER_MM, "DICT_4X4_50")
ANYWHERE = {n: square_mm(x, y, heading_deg=37.0 * n) for n, (x, y) in EIGHT.items()}
SPOTS = np.array([(x, y) for x in (200.0, 450.0, 700.0) for y in (200.0, 450.0, 700.0)])
PAIRS = np.column_stack(np.triu_indices(len(SPOTS), 1))


def blank(focal_px: float | None = None) -> Frame:
    return Frame(np.full((SIZE[1], SIZE[0], 3), 90, np.uint8), "blank", focal_px, 0.03)


def corners_of(board: Board) -> dict[int, Array]:
    assert board.corners_mm is not None
    return board.corners_mm


def distances(found: Calibration, truth: Camera) -> tuple[Array, Array]:
    """Errors (P,) in mm of the distances between spots as the true camera shows them, and their stated σ (P,)."""
    pixels = truth.project(np.column_stack([SPOTS, np.zeros(len(SPOTS))]))
    gap = np.diff(found.camera.unproject(pixels)[PAIRS], axis=1)[:, 0]
    length = np.linalg.norm(gap, axis=1)
    slopes = []
    for step in np.diag(np.sqrt(np.diag(found.covariance)) * 0.01):
        moved = (found.camera.moved(step).unproject(pixels) - found.camera.moved(-step).unproject(pixels)) / 2
        slopes.append((np.diff(moved[PAIRS], axis=1)[:, 0] * gap).sum(1) / length / max(step.max(), 1e-300))
    sigma = np.sqrt(np.einsum("ip,ij,jp->p", slopes, found.covariance, slopes))
    return length - np.linalg.norm(np.diff(SPOTS[PAIRS], axis=1)[:, 0], axis=1), sigma


def flags(found: Calibration) -> set[str]:
    return {problem.flag for problem in found.problems}


@pytest.fixture
def see(monkeypatch: pytest.MonkeyPatch) -> "type[Sight]":
    Sight.monkeypatch = monkeypatch
    return Sight


class Sight:
    """Puts markers before `calibrate` without drawing a picture."""

    monkeypatch: pytest.MonkeyPatch

    def __init__(self, camera: Camera, markers: Mapping[int, Array], seed: int = 0, spoil: float = 1.0) -> None:
        found = seen_markers(camera, markers, np.random.default_rng(seed), spoil)
        self.monkeypatch.setattr(module, "find_markers", lambda frame, board: tuple(sorted(found, key=lambda m: m.id)))


# --- from pictures ---


def test_a_photo_with_eight_markers_measures_to_a_twentieth_of_a_millimetre() -> None:
    camera = camera_over(20)
    found = calibrate(shoot(camera, corners_of(BOARD)), BOARD)
    errors, sigma = distances(found, camera)
    assert np.abs(errors).max() < 0.08
    assert np.abs(errors / sigma).max() < 3
    assert found.markers == tuple(range(8))
    assert found.board_mm == (900.0, 900.0)
    assert found.problems == ()
    assert found.left_out_mm is not None
    assert found.left_out_mm < 0.3
    assert found.rms_px < 0.1
    assert found.camera.matrix[0, 0] == pytest.approx(camera.matrix[0, 0], abs=3 * found.covariance[0, 0] ** 0.5)


def test_the_shift_of_edges_does_not_become_scale() -> None:
    camera = camera_over(20)
    found = calibrate(shoot(camera, ANYWHERE, look=Look(gamma=2.2)), FREE)
    errors, sigma = distances(found, camera)
    assert found.edge_shift_px > 0.08
    assert np.abs(errors).max() < 0.4
    assert np.abs(errors / sigma).max() < 3


def test_a_marker_too_hidden_to_be_read_still_counts() -> None:
    camera, corners = camera_over(12), corners_of(known_board(FOUR))
    right = float(corners[2][1, 0])
    frame = shoot(camera, corners, cover=lambda at: (np.abs(at[..., 0] - right) < 14) & (at[..., 1] > 600))
    found = calibrate(frame, known_board(FOUR))
    assert found.markers == (0, 1, 2, 3)
    errors, sigma = distances(found, camera)
    assert np.abs(errors / sigma).max() < 3


def test_a_marker_wholly_hidden_is_named() -> None:
    corners = corners_of(known_board(FOUR))
    frame = shoot(camera_over(12), {n: corners[n] for n in (0, 1, 3)})
    found = calibrate(frame, known_board(FOUR))
    assert found.markers == (0, 1, 3)
    assert flags(found) >= {"few_markers", "markers_hidden"}
    assert any("marker 2" in problem.text for problem in found.problems)


def test_a_blurred_photo_is_flagged() -> None:
    found = calibrate(shoot(camera_over(12), corners_of(BOARD), look=Look(blur_px=4.0)), BOARD)
    assert "blurred" in flags(found)


# --- doubts, counted ---


def random_camera(random: np.random.Generator, **fixed: float) -> Camera:
    """A camera as the prior without metadata has it: its lens drawn from there, over a table at some tilt."""
    prior = lens_prior(blank(), None)
    fx, fy, cx, cy, *distortion = prior.mean + np.linalg.cholesky(prior.covariance) @ random.normal(size=9)
    camera = camera_over(fixed.get("tilt_deg", random.uniform(5, 40)), turn_deg=random.uniform(-20, 20), focal_px=fx,
                         height_mm=fx * random.uniform(0.95, 1.3), distortion=tuple(distortion))  # fmt: skip
    return camera.with_lens([[fx, 0, cx], [0, fy, cy], [0, 0, 1]], distortion)


def counted(results: Iterable[tuple[Array, Array]]) -> tuple[float, float]:
    """Mean square of error by stated σ over all distances, and the share within 1.96 σ."""
    z = np.concatenate([errors / sigma for errors, sigma in results])
    return float(np.mean(z**2)), float(np.mean(np.abs(z) < 1.96))


LAYOUTS = {
    "four known": (known_board(FOUR), corners_of(known_board(FOUR))),
    "eight known": (BOARD, corners_of(BOARD)),
    "eight anywhere": (FREE, ANYWHERE),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_stated_doubts_of_distances_are_what_errors_are(see: type[Sight], layout: str) -> None:
    """Over cameras drawn from the prior and noise drawn as stated: 95 % within 1.96 σ, of distances of all lengths."""
    board, markers = LAYOUTS[layout]
    random, results = np.random.default_rng(7), []
    for seed in range(40):
        camera = random_camera(random)
        see(camera, markers, seed)
        results.append(distances(calibrate(blank(), board), camera))
    mean_square, within = counted(results)
    assert 0.6 < mean_square < 1.5
    assert 0.90 < within < 0.995


def test_the_doubt_of_a_lens_file_is_carried(see: type[Sight]) -> None:
    """With a lens that is only roughly what the file says, as the file itself admits."""
    random, results = np.random.default_rng(8), []
    sigma = np.array([12.0, 12.0, 3.0, 3.0, 0.01, 0.01, 2e-4, 2e-4, 1e-3])
    for seed in range(40):
        camera = random_camera(random)
        true = np.concatenate([camera.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], camera.distortion])
        fx, fy, cx, cy, *distortion = true + sigma * random.normal(size=9)
        matrix = np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
        see(camera, corners_of(known_board(FOUR)), seed)
        lens = Lens(SIZE, matrix, np.array(distortion), np.diag(sigma**2))
        results.append(distances(calibrate(blank(), known_board(FOUR), lens=lens), camera))
    mean_square, within = counted(results)
    assert 0.6 < mean_square < 1.5
    assert 0.90 < within < 0.995


def test_badly_laid_markers_widen_the_doubt(see: type[Sight]) -> None:
    """Eight markers each off by six times what is expected: the residuals tell, and the doubt follows."""
    random, results, plain = np.random.default_rng(9), [], []
    for seed in range(25):
        camera = random_camera(random)
        see(camera, corners_of(BOARD), seed, spoil=6.0)
        results.append(distances(calibrate(blank(), BOARD), camera))
        see(camera, corners_of(BOARD), seed)
        plain.append(distances(calibrate(blank(), BOARD), camera)[1])
    assert counted(results)[0] < 2.2
    assert np.median([sigma for _, sigma in results]) > 2.5 * np.median(plain)


def test_a_lens_file_sharpens_what_four_markers_leave_open(see: type[Sight]) -> None:
    camera, board = camera_over(6), known_board(FOUR)
    see(camera, corners_of(board))
    lens = Lens(SIZE, camera.matrix, camera.distortion, np.diag([1.0, 1, 1, 1, 1e-6, 1e-6, 1e-9, 1e-9, 1e-8]))
    without = distances(calibrate(blank(), board), camera)[1]
    assert np.median(distances(calibrate(blank(), board, lens=lens), camera)[1]) < 0.4 * np.median(without)


def test_leaving_a_marker_out_says_what_solving_without_it_does(see: type[Sight]) -> None:
    camera = camera_over(25)
    see(camera, corners_of(BOARD), spoil=3.0)
    whole = calibrate(blank(), BOARD)
    errors = []
    for number, corners in corners_of(BOARD).items():
        others = {n: c for n, c in corners_of(BOARD).items() if n != number}
        found = seen_markers(camera, corners_of(BOARD), np.random.default_rng(0), 3.0)
        Sight.monkeypatch.setattr(
            module, "find_markers", lambda frame, board, f=found: tuple(m for m in f if m.id in board.corners_mm)
        )
        part = calibrate(blank(), Board("part", MARKER_MM, "DICT_4X4_50", 900, 900, others))
        seen = next(marker for marker in found if marker.id == number).corners_px
        errors.append(np.linalg.norm(part.camera.unproject(seen) - corners[:, :2], axis=1).mean())
    assert whole.left_out_mm == pytest.approx(np.mean(errors), rel=0.35)


# --- markers that lie anywhere ---


def test_the_frame_of_free_markers_is_the_lowest_one_s(see: type[Sight]) -> None:
    camera = camera_over(20)
    see(camera, ANYWHERE)
    found = calibrate(blank(), FREE)
    corners = {n: found.camera.unproject(camera.project(c)) for n, c in ANYWHERE.items()}
    everything = np.concatenate(list(corners.values()))
    assert everything.min(0) == pytest.approx([0, 0], abs=0.3)
    assert everything.max(0) == pytest.approx(found.board_mm, abs=0.3)
    upper = corners[0][1] - corners[0][0]
    assert np.degrees(np.arctan2(upper[1], upper[0])) == pytest.approx(0, abs=0.2)
    assert found.camera.center_mm[2] > 0
    assert found.left_out_mm is not None
    assert found.left_out_mm < 0.3


def test_which_marker_is_the_lowest_changes_no_distance_and_no_doubt(see: type[Sight]) -> None:
    camera, number = camera_over(20), {0: 20, 1: 3, 2: 11, 3: 8, 4: 5, 5: 30, 6: 2, 7: 19}
    found = seen_markers(camera, ANYWHERE, np.random.default_rng(4))
    results = []
    for names in ({n: n for n in number}, number):
        renamed = tuple(sorted((type(m)(names[m.id], m.dictionary, m.score, m.blur_px, m.square) for m in found),
                               key=lambda m: m.id))  # fmt: skip
        Sight.monkeypatch = see.monkeypatch
        see.monkeypatch.setattr(module, "find_markers", lambda frame, board, r=renamed: r)
        results.append(distances(calibrate(blank(), FREE), camera))
    assert results[0][0] == pytest.approx(results[1][0], abs=2e-3)
    assert results[0][1] == pytest.approx(results[1][1], rel=2e-2)


@pytest.mark.parametrize("tilt", [0.0, 30.0, 55.0])
def test_free_markers_are_solved_from_any_side(see: type[Sight], tilt: float) -> None:
    camera = camera_over(tilt, turn_deg=130, height_mm=1300)
    see(camera, ANYWHERE)
    errors, sigma = distances(calibrate(blank(), FREE), camera)
    assert np.abs(errors / sigma).max() < 4


# --- points ---

CLICKED = [(0.0, 0.0), (900.0, 0.0), (900.0, 900.0), (0.0, 900.0), (450.0, 0.0), (450.0, 900.0)]


def clicks(
    camera: Camera, places: Sequence[tuple[float, float]], seed: int = 0
) -> list[tuple[float, float, float, float]]:
    """Points as a person clicks them."""
    at = camera.project(np.column_stack([places, np.zeros(len(places))]))
    at += np.random.default_rng(seed).normal(0, 1, at.shape)
    return [(float(u), float(v), x, y) for (u, v), (x, y) in zip(at, places, strict=True)]


@pytest.mark.parametrize("count", [4, 6])
def test_four_points_measure_a_board(count: int) -> None:
    camera = camera_over(15, distortion=(0.01, 0, 0, 0, 0), height_mm=1200)
    found = calibrate(blank(), None, clicks(camera, CLICKED[:count]))
    errors, sigma = distances(found, camera)
    assert np.abs(errors / sigma).max() < 3.5
    assert np.abs(errors).max() < 6
    assert found.markers == ()
    assert found.board_mm == (900.0, 900.0)
    assert "points_alone" in flags(found)


@pytest.mark.parametrize("lens_known", [False, True])
def test_the_doubt_of_points_is_counted_too(lens_known: bool) -> None:
    """Lenses as phones have them, clicks a pixel off and places on the board half a millimetre off."""
    random, results = np.random.default_rng(11), []
    for seed in range(40):
        camera = random_camera(random)
        camera = camera.with_lens(camera.matrix, camera.distortion * [0.3, 0.3, 1, 1, 0.4])
        named = list(FOUR.values())
        true = [(x + random.normal(0, 0.6), y + random.normal(0, 0.6)) for x, y in named]
        seen = clicks(camera, true, seed)
        points = [(u, v, *name) for (u, v, _, _), name in zip(seen, named, strict=True)]
        lens = Lens(SIZE, camera.matrix, camera.distortion, np.eye(9) * 1e-12) if lens_known else None
        found = calibrate(blank(), None, points, lens)
        results.append(distances(found, camera))
    mean_square, within = counted(results)
    assert 0.5 < mean_square < 1.5
    assert 0.90 < within < 0.999


def test_a_curled_sheet_does_not_bend_the_lens() -> None:
    """The corners of a real A4 sheet whose edges curl: a lens could be bent to fit them, and would spoil the middle."""
    frame = Frame(np.zeros((2016, 1508, 3), np.uint8), "sheet")
    sheet = [
        (129.8, 109.2, 0.0, 297.0),
        (1434.1, 83.6, 210.0, 297.0),
        (1442.5, 1990.3, 210.0, 0.0),
        (94.0, 1965.9, 0.0, 0.0),
    ]
    found = calibrate(frame, None, sheet)
    assert abs(found.camera.distortion[0]) < 0.03
    corner, middle = found.camera.unproject([(129.8, 109.2), (770.0, 1040.0)])
    assert np.linalg.norm(middle - corner) == pytest.approx(np.hypot(105, 148.5), abs=4)


def test_points_and_markers_work_together(see: type[Sight]) -> None:
    camera, board = camera_over(15), known_board({n: EIGHT[n] for n in (0, 1)})
    see(camera, corners_of(board))
    alone = distances(calibrate(blank(), board), camera)[1]
    errors, sigma = distances(calibrate(blank(), board, clicks(camera, CLICKED[2:4])), camera)
    assert np.median(sigma) < 0.8 * np.median(alone)
    assert np.abs(errors / sigma).max() < 3.5


# --- what is wrong with a photo ---


def test_a_moved_marker_is_left_out_and_named(see: type[Sight]) -> None:
    camera = camera_over(15)
    moved = corners_of(BOARD) | {5: square_mm(812, 470)}
    see(camera, moved)
    found = calibrate(blank(), BOARD)
    assert found.markers == (0, 1, 2, 3, 4, 6, 7)
    assert flags(found) == {"marker_left_out"}
    assert "marker 5" in found.problems[0].text
    errors, sigma = distances(found, camera)
    assert np.abs(errors / sigma).max() < 4


def test_markers_that_do_not_fit_the_board_are_refused(see: type[Sight]) -> None:
    camera = camera_over(15)
    swapped = {1: 0, 0: 1, 2: 3, 3: 2, 4: 6, 6: 4, 5: 5, 7: 7}
    see(camera, {swapped[n]: c for n, c in corners_of(BOARD).items()})
    with pytest.raises(CannotMeasure, match="do not fit") as caught:
        calibrate(blank(), BOARD)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(("tilt", "flag"), [(3.0, "overhead_without_lens"), (20.0, None), (60.0, "low_view")])
def test_the_view_is_flagged_where_it_makes_measures_worse(see: type[Sight], tilt: float, flag: str | None) -> None:
    camera = camera_over(tilt, height_mm=1500 if tilt > 50 else 1100)
    see(camera, corners_of(BOARD))
    found = calibrate(blank(), BOARD)
    assert tilt_deg(found.camera) == pytest.approx(tilt, abs=2)
    assert flags(found) - {"markers_close_together"} == ({flag} if flag else set())


def test_a_lens_of_another_camera_is_flagged(see: type[Sight]) -> None:
    camera = camera_over(25)
    see(camera, corners_of(BOARD))
    other = Lens(SIZE, camera.matrix * [[1.2, 1, 1], [1, 1.2, 1], [1, 1, 1]], camera.distortion, np.diag(
        [1.0, 1, 4, 4, 1e-6, 1e-6, 1e-8, 1e-8, 1e-8]))  # fmt: skip
    assert "lens_disagrees" in flags(calibrate(blank(), BOARD, lens=other))


def test_markers_close_together_are_flagged(see: type[Sight]) -> None:
    places = {n: (150.0 + x / 6, 150.0 + y / 6) for n, (x, y) in FOUR.items()}
    board = known_board(places)
    see(camera_over(15), corners_of(board))
    assert "markers_close_together" in flags(calibrate(blank(), board))


REFUSED = [
    (None, [], CannotMeasure, "0 points given, four are needed"),
    (None, [(10, 10, 0, 0), (900, 10, 900, 0), (900, 900, 900, 900)], CannotMeasure, "3 points given"),
    (None, [(10, 10, 0, 0), (300, 10, 300, 0), (600, 10, 600, 0), (900, 10, 900, 0)], CannotMeasure, "one line"),
    (
        None,
        [(10, 10, 0, 0), (900, 10, 900, 0), (900, 900, 900, 900), (10, 1200, 0, 900)],
        BadInput,
        "outside the photo",
    ),
    (
        None,
        [(10, 10, 0, 0), (900, 10, 900, 0), (900, 900, 900, 900), (10, 900, 0, float("nan"))],
        BadInput,
        "not a place",
    ),
    (None, [(300, 900, 0, 0), (900, 900, 900, 900), (900, 300, 900, 0), (300, 300, 0, 900)], CannotMeasure, "order"),
    (FREE, [(300, 900, 0, 0), (900, 900, 900, 0), (900, 300, 900, 900), (300, 300, 0, 900)], BadInput, "board file"),
    (BOARD, [], CannotMeasure, "no marker"),
    (FREE, [], CannotMeasure, "no marker"),
]


@pytest.mark.parametrize(("board", "points", "error", "words"), REFUSED)
def test_too_little_is_refused_in_one_line(
    board: Board | None, points: list[tuple[float, float, float, float]], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        calibrate(blank(), board, points)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("board", [known_board({0: EIGHT[0]}), FREE])
def test_one_marker_is_too_few(see: type[Sight], board: Board) -> None:
    see(camera_over(10), {0: corners_of(BOARD)[0]})
    with pytest.raises(CannotMeasure, match="only one marker"):
        calibrate(blank(), board)


def test_a_lens_file_for_another_picture_size_is_refused() -> None:
    lens = Lens((1920, 1080), np.diag([1000.0, 1000.0, 1.0]), np.zeros(5), np.eye(9))
    with pytest.raises(BadInput, match="1920 × 1080"):
        calibrate(blank(), BOARD, lens=lens)


@pytest.mark.parametrize(("tilt", "focal", "height", "turn", "k1", "k2"), [
    (29.5894, 552.8334, 746.5855, 116.0546, -0.1341, -0.042), (25.5235, 626.0517, 677.5544, 96.3548, -0.053, -0.0881),
])  # fmt: skip
def test_an_ultra_wide_camera_is_found_though_no_metadata_tells(
    see: type[Sight], tilt: float, focal: float, height: float, turn: float, k1: float, k2: float
) -> None:
    """Less than half the focal length that is expected: the first start ends in the wrong valley, another does not."""
    camera = camera_over(tilt, focal_px=focal, height_mm=height, turn_deg=turn, distortion=(k1, k2, 0, 0, 0))
    see(camera, corners_of(BOARD), 16)
    found = calibrate(blank(), BOARD)
    assert found.camera.matrix[0, 0] == pytest.approx(focal, rel=0.03)
    assert found.markers == tuple(range(8))
