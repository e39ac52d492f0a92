"""The steps from the sample photo to a ruling, each with a picture and a few sentences with its figures.

Where the referee does not keep an intermediate result, the step computes it again.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from overruler import picture
from overruler.apps.rulings import rule_on_questions
from overruler.board import Board
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.picture import pipeline_stages, raster
from overruler.referee import Referee
from overruler.report import Report
from overruler.sources.photo import load_photo
from overruler.units import SIGMAS_95
from overruler.vision.detection.detect import rectify_board
from overruler.vision.learned.disc_net import find_discs
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX
from overruler.vision.learned.rim_net import estimate_rims
from overruler.vision.markers.detect import find_markers
from overruler.vision.rounds.ring_filter import find_candidates

DEMO_FOLDER = Path(__file__).parent
PHOTO_PATH = DEMO_FOLDER / "table.jpg"
BOARD_PATH = DEMO_FOLDER / "table.toml"
TRUTH_PATH = DEMO_FOLDER / "truth.json"
GAME = "legion"
FINE_MM_PER_PX = 0.75
"""Pixel size of the orthophotos that are shown."""
CORNER_MAGNIFICATION = 300.0
"""Enlargement of the error ellipses of marker corners in the photo."""
POSITION_MAGNIFICATION = 40.0
"""Enlargement of the error ellipses of positions on the board."""
MATCH_DISTANCE_MM = 8.0
"""Largest distance between the centres of a detected base and the true one."""
CROWD_NEIGHBOURS = 4
"""The close-up shows the base whose neighbour of this rank is closest."""
CLOSE_UP_WIDTH_PX = 420
"""Width of the close-up in the photo."""
LIKELY_SCORE = 0.5
"""Least score of a candidate that looks like a base."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step, as the page shows it."""

    file: str
    """File name of the picture."""
    title: str
    text: str
    data: bytes
    """The picture's file."""


def generate_steps(progress: Callable[[str], None]) -> Iterator[Step]:
    """Generate the steps in order; `progress` is called with what is done meanwhile."""
    frame, board = load_photo(PHOTO_PATH), Board.load(BOARD_PATH)
    yield _photo_step(frame, board)
    progress("finding the markers")
    yield _marker_step(frame, board)
    report = Referee(board, game=GAME).look(frame, progress)
    report = replace(report, verdicts=rule_on_questions(report.scene, ()))
    progress("drawing")
    yield _orthophoto_step(report)
    yield _candidate_step(report)
    yield _rim_step(report)
    yield _covariance_step(report)
    yield _ruling_step(report)
    yield _truth_step(report)


def _photo_step(frame: Frame, board: Board) -> Step:
    width, height = frame.size_px
    text = (
        f"A photo of {width} × {height} pixels, taken from above the table with no lens file: only the board's size "
        f"({board.width_mm:g} × {board.height_mm:g} mm) and the places of its printed markers are known. The picture "
        "is rendered, so that the truth is known exactly and the last step can say how wrong all of this was."
    )
    return Step("1-photo.jpg", "The photo", text, pipeline_stages.draw_photo(frame.pixels))


def _marker_step(frame: Frame, board: Board) -> Step:
    squares = {marker.id: marker.square for marker in find_markers(frame, board)}
    variances_px2 = [np.trace(square.covariance_px2) / 8 for square in squares.values()]
    sigma = np.median([np.sqrt(variance) for variance in variances_px2])
    text = (
        f"{len(squares)} markers are read on a smaller copy, then every black-to-white edge of each is fitted in the "
        f"photo's own pixels. A corner is then known to ± {SIGMAS_95 * sigma:.3f} pixels (95 %): the ellipses are "
        f"drawn {CORNER_MAGNIFICATION:.0f} times larger than they are."
    )
    corners = {
        number: (square.corners_px, square.covariance_px2) for number, square in squares.items()
    }
    picture_data = pipeline_stages.draw_markers(frame.pixels, corners, CORNER_MAGNIFICATION)
    return Step("2-markers.jpg", "Markers", text, picture_data)


def _orthophoto_step(report: Report) -> Step:
    calibration, (width, height) = report.calibration, report.calibration.board_mm
    view = rectify_board(report.frame, calibration, FINE_MM_PER_PX)
    lines_mm = [np.array([[x, 0.0], [x, height]]) for x in np.arange(0, width, 100)]
    lines_mm += [np.array([[0.0, y], [width, y]]) for y in np.arange(0, height, 100)]
    camera_height_m = calibration.camera.center_mm[2] / 1000
    left_out = calibration.left_out_mm or 0.0
    text = (
        f"The markers say where the camera was, {camera_height_m:.2f} m above the mat and leaning by "
        f"{calibration.camera.tilt_deg:.0f}°, how long its lens is and how it bends lines, each with its doubt. A "
        f"marker is predicted by the others to {left_out:.2f} mm. With that the board can be drawn as from straight "
        "above, a line every 100 mm. This picture serves to find things; nothing is measured in it."
    )
    squares = [view.to_px(square) + 0.5 for square in calibration.squares_mm]
    lines = [view.to_px(line) + 0.5 for line in lines_mm]
    label = "the board from above"
    picture_data = pipeline_stages.draw_orthophoto(view.pixels, squares, lines, label)
    return Step("3-from-above.jpg", "The camera, and the board from above", text, picture_data)


def _candidate_step(report: Report) -> Step:
    view = rectify_board(report.frame, report.calibration, OVERVIEW_MM_PER_PX)
    fine = rectify_board(report.frame, report.calibration, FINE_MM_PER_PX)
    radii = sorted({piece.base.width_mm / 2 for piece in report.scene.pieces})
    camera = report.calibration.camera
    found = find_candidates(view, radii, [], find_discs(view, camera).rounds)
    circles = np.column_stack([found.xy_mm, found.radius_mm])
    rims = estimate_rims(report.frame, camera, circles)
    likely = int(np.sum(rims.score > LIKELY_SCORE))
    text = (
        f"A ring filter and a network that sees the whole board name {len(found.response)} places where something "
        "round might be, most of them nonsense: they must miss nothing. A small network looks at each, and "
        f"{likely} look like bases to it (blue)."
    )
    circles_px = np.column_stack([fine.to_px(found.xy_mm) + 0.5, found.radius_mm / fine.mm_per_px])
    label = f"{len(circles_px)} candidates; blue: looks like a base"
    picture_data = pipeline_stages.draw_candidates(fine.pixels, circles_px, rims.score, label)
    return Step("4-candidates.jpg", "Candidates", text, picture_data)


def _rim_step(report: Report) -> Step:
    outlines = _outlines_by_id(report)
    box = _most_crowded_box(report)
    text = (
        f"{len(outlines)} bases are fitted in the photo's own pixels where they meet the mat. A rim stands some "
        "millimetres above the board and is seen displaced; the fit knows the profile of a base and where the camera "
        "was, and finds the lower edge, also where a figure hides part of it. What sizes the bases have is weighed "
        "across the whole table."
    )
    label = "fitted lower rims, a part of it"
    picture_data = pipeline_stages.draw_outlines(report.frame.shown, outlines, label, box)
    return Step("5-rims.jpg", "Rims", text, picture_data)


def _outlines_by_id(report: Report) -> dict[str, Array]:
    """The fitted lower rim (K, 2) of each base in the photo, by its id."""
    pairs = zip(report.scene.pieces, report.detections, strict=True)
    return {piece.id: detection.outline_px for piece, detection in pairs}


def _most_crowded_box(report: Report) -> tuple[int, int, int, int]:
    """A box of the photo (left, top, right, bottom) round the base with the closest neighbours."""
    centers = np.array([detection.center_px for detection in report.detections])
    distances = np.sort(np.linalg.norm(centers[:, None] - centers, axis=-1), axis=1)
    rank = min(CROWD_NEIGHBOURS, len(centers) - 1)
    x, y = centers[int(np.argmin(distances[:, rank]))]
    width, height = report.frame.size_px
    box_height = CLOSE_UP_WIDTH_PX * 9 // 16
    left = int(np.clip(x - CLOSE_UP_WIDTH_PX / 2, 0, width - CLOSE_UP_WIDTH_PX))
    top = int(np.clip(y - box_height / 2, 0, height - box_height))
    return left, top, left + CLOSE_UP_WIDTH_PX, top + box_height


def _covariance_step(report: Report) -> Step:
    scene, camera = report.scene, report.calibration.camera
    count = len(scene.pieces)
    covariance = np.zeros((2 * count, 2 * count))
    if scene.covariance:
        covariance = np.array(scene.covariance.rows)
    total_px2, own_px2, sigmas_mm = [], [], []
    for k, detection in enumerate(report.detections):
        block = covariance[2 * k : 2 * k + 2, 2 * k : 2 * k + 2]
        jacobian = _px_per_mm(report, k)
        total_px2.append(jacobian @ block @ jacobian.T)
        own_px2.append(jacobian @ detection.covariance_mm2 @ jacobian.T)
        sigmas_mm.append(float(np.sqrt(np.linalg.eigvalsh(block)[-1])))
    positions_mm = np.array([[piece.x_mm, piece.y_mm, piece.z_mm] for piece in scene.pieces])
    text = (
        f"Each place has its doubt: ± {SIGMAS_95 * min(sigmas_mm):.2f} to ± {SIGMAS_95 * max(sigmas_mm):.2f} mm "
        "(95 %). Most of it (orange) is the "
        "calibration's, which moves all bases together and therefore mostly cancels in the distance between two of "
        f"them; each base's own part is blue. Drawn {POSITION_MAGNIFICATION:.0f} times larger. "
        "The scene keeps one matrix over all places, so that a distance is not called less sure than it is."
    )
    label = f"doubt of the places, 95 %, drawn {POSITION_MAGNIFICATION:.0f} times larger"
    picture_data = pipeline_stages.draw_positions(
        report.frame.shown,
        camera.project(positions_mm),
        own_px2,
        total_px2,
        POSITION_MAGNIFICATION,
        label,
    )
    return Step("6-doubt.jpg", "Places, with their doubt", text, picture_data)


def _px_per_mm(report: Report, index: int) -> Array:
    """Jacobian (2, 2) of a base's centre in the photo by its position on the board, in pixels per mm."""
    piece, camera = report.scene.pieces[index], report.calibration.camera
    position = np.array([piece.x_mm, piece.y_mm, piece.z_mm])
    offsets = np.array([[0.5, 0, 0], [0, 0.5, 0], [-0.5, 0, 0], [0, -0.5, 0.0]])
    moved_px = camera.project(position + offsets)
    return np.asarray(moved_px[:2] - moved_px[2:]).T


def _ruling_step(report: Report) -> Step:
    rulings = "; ".join(
        f"{' → '.join(verdict.pair or ())}: {verdict.sentence()}" for verdict in report.verdicts
    )
    text = (
        f"The rules answer from the exact shapes, with the probability of every answer: {rulings}. What cannot be told "
        "by this photo is said to be too close to call."
    )
    pixels = picture.annotated_pixels(report)
    picture_data = raster.encode_small_jpeg(pixels, pipeline_stages.WIDTH_PX)
    return Step("7-ruling.jpg", "The ruling", text, picture_data)


def _truth_step(report: Report) -> Step:
    true = np.array(json.loads(TRUTH_PATH.read_text("utf-8"))["pieces_mm"])
    errors, z = _distance_errors(report, true)
    within = np.mean(z < SIGMAS_95)
    outlines = _outlines_by_id(report)
    text = (
        f"{len(report.scene.pieces)} of {len(true)} bases were found. Over {len(errors)} distances between bases the "
        f"error is {np.median(errors):.2f} mm in the median and {np.quantile(errors, 0.95):.2f} mm at the 95th "
        f"percentile, and {100 * within:.1f} % of them lie within the doubt that was stated for 95 %."
    )
    label = f"all {len(outlines)} bases that were found"
    picture_data = pipeline_stages.draw_outlines(report.frame.shown, outlines, label)
    return Step("8-truth.jpg", "How wrong was it?", text, picture_data)


def _distance_errors(report: Report, true: Array) -> tuple[Array, Array]:
    """The error of each distance between two true bases, in mm and in σ.

    `true` (K, 3) has the x, y and diameter of the true bases.
    """
    pieces, covariance = report.scene.pieces, report.scene.covariance
    offsets_mm = np.array(
        [np.hypot(true[:, 0] - piece.x_mm, true[:, 1] - piece.y_mm) for piece in pieces]
    )
    matched = [k for k in range(len(pieces)) if offsets_mm[k].min() < MATCH_DISTANCE_MM]
    partner, distances = offsets_mm.argmin(1), report.scene.distances()
    errors, z = [], []
    for i, j in combinations(matched, 2):
        (ax, ay, a), (bx, by, b) = true[partner[i]], true[partner[j]]
        true_distance = max(float(np.hypot(ax - bx, ay - by)) - (a + b) / 2, 0.0)
        error = abs(float(distances[i, j]) - true_distance)
        line = np.array([pieces[j].x_mm - pieces[i].x_mm, pieces[j].y_mm - pieces[i].y_mm])
        line = line / np.linalg.norm(line)
        relative = np.array(covariance.of_difference(i, j)) if covariance else np.zeros((2, 2))
        sigma = max(float(np.sqrt(line @ relative @ line)), 1e-9)
        errors.append(error)
        z.append(error / sigma)
    return np.array(errors), np.array(z)
