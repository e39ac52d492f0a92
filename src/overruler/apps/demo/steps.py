"""The steps from the sample photo to a ruling, each with its picture and a few sentences in which its figures stand.

What the referee does in one go is done once more piece by piece, where it keeps nothing of what was found on the way.
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
from overruler.vision.camera.problems import tilt_deg
from overruler.vision.detection.detect import rectify_board
from overruler.vision.learned.disc_net import find_discs
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX
from overruler.vision.learned.rim_net import estimate_rims
from overruler.vision.markers.detect import find_markers
from overruler.vision.rounds.ring_filter import find_candidates

DEMO_FOLDER = Path(__file__).parent
PHOTO_PATH, BOARD_PATH, TRUTH_PATH = (
    DEMO_FOLDER / "table.jpg",
    DEMO_FOLDER / "table.toml",
    DEMO_FOLDER / "truth.json",
)
GAME = "legion"
FINE_MM_PER_PX = 0.75
"""A pixel of the pictures from above that are shown."""
CORNER_MAGNIFICATION, POSITION_MAGNIFICATION = 300.0, 40.0
"""How many times larger than it is doubt is drawn: of corners in the photo, and of places on the board."""
MATCH_DISTANCE_MM = 8.0
"""A base that was found is the true one whose middle lies so near."""
CROWD_NEIGHBOURS, CLOSE_UP_WIDTH_PX = 4, 420
"""The part of the photo that is shown large holds a base with so many others about, and is so wide."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step, as the page shows it."""

    file: str
    """The picture's name."""
    title: str
    text: str
    data: bytes
    """The picture's."""


def generate_steps(say: Callable[[str], None]) -> Iterator[Step]:
    """All steps, in order; `say` hears what is being done meanwhile."""
    frame, board = load_photo(PHOTO_PATH), Board.load(BOARD_PATH)
    yield _photo_step(frame, board)
    say("finding the markers")
    yield _marker_step(frame, board)
    report = Referee(board, game=GAME).look(frame, say)
    report = replace(report, verdicts=rule_on_questions(report.scene, ()))
    say("drawing")
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
    found = {marker.id: marker.square for marker in find_markers(frame, board)}
    sigma = np.median([np.sqrt(np.trace(square.covariance_px2) / 8) for square in found.values()])
    text = (
        f"{len(found)} markers are read on a smaller copy, then every black-to-white edge of each is fitted in the "
        f"photo's own pixels. A corner is then known to {sigma:.3f} pixels (1 σ): the ellipses are drawn "
        f"{CORNER_MAGNIFICATION:.0f} times larger than they are."
    )
    seen = {number: (square.corners_px, square.covariance_px2) for number, square in found.items()}
    return Step(
        "2-markers.jpg",
        "Markers",
        text,
        pipeline_stages.draw_markers(frame.pixels, seen, CORNER_MAGNIFICATION),
    )


def _orthophoto_step(report: Report) -> Step:
    calibration, (width, height) = report.calibration, report.calibration.board_mm
    view = rectify_board(report.frame, calibration, FINE_MM_PER_PX)
    lines = [np.array([[x, 0.0], [x, height]]) for x in np.arange(0, width, 100)]
    lines += [np.array([[0.0, y], [width, y]]) for y in np.arange(0, height, 100)]
    eye = calibration.camera.center_mm
    left_out = calibration.left_out_mm or 0.0
    text = (
        f"The markers say where the camera was, {eye[2] / 1000:.2f} m above the mat and leaning by "
        f"{tilt_deg(calibration.camera):.0f}°, how long its lens is and how it bends lines, each with its doubt. A "
        f"marker is predicted by the others to {left_out:.2f} mm. With that the board can be drawn as from straight "
        "above, a line every 100 mm. This picture serves to find things; nothing is measured in it."
    )
    squares = [view.to_px(square) + 0.5 for square in calibration.squares_mm]
    drawn = pipeline_stages.draw_orthophoto(
        view.pixels, squares, [view.to_px(line) + 0.5 for line in lines], "the board from above"
    )
    return Step("3-from-above.jpg", "The camera, and the board from above", text, drawn)


def _candidate_step(report: Report) -> Step:
    view, fine = (
        rectify_board(report.frame, report.calibration, mm)
        for mm in (OVERVIEW_MM_PER_PX, FINE_MM_PER_PX)
    )
    radii = sorted({piece.base.width_mm / 2 for piece in report.scene.pieces})
    camera = report.calibration.camera
    found = find_candidates(view, radii, [], find_discs(view, camera).rounds)
    guesses = estimate_rims(report.frame, camera, np.column_stack([found.xy_mm, found.radius_mm]))
    likely = int(np.sum(guesses.score > 0.5))
    text = (
        f"A ring filter and a network that sees the whole board name {len(found.response)} places where something "
        "round might be, most of them nonsense: they must miss nothing. A small network looks at each, and "
        f"{likely} look like bases to it (blue)."
    )
    rows = np.column_stack([fine.to_px(found.xy_mm) + 0.5, found.radius_mm / fine.mm_per_px])
    told = f"{len(rows)} candidates; blue: looks like a base"
    return Step(
        "4-candidates.jpg",
        "Candidates",
        text,
        pipeline_stages.draw_candidates(fine.pixels, rows, guesses.score, told),
    )


def _rim_step(report: Report) -> Step:
    outlines = _outlines_by_id(report)
    box = _most_crowded_box(report)
    text = (
        f"{len(outlines)} bases are fitted in the photo's own pixels where they meet the mat. A rim stands some "
        "millimetres above the board and is seen displaced; the fit knows the profile of a base and where the camera "
        "was, and finds the lower edge, also where a figure hides part of it. What sizes the bases have is weighed "
        "across the whole table."
    )
    return Step(
        "5-rims.jpg",
        "Rims",
        text,
        pipeline_stages.draw_outlines(
            report.frame.pixels, outlines, "fitted lower rims, a part of it", box
        ),
    )


def _outlines_by_id(report: Report) -> dict[str, Array]:
    """Each base's fitted lower rim (K, 2) in the photo, by its id."""
    return {
        piece.id: found.outline_px
        for piece, found in zip(report.scene.pieces, report.detections, strict=True)
    }


def _most_crowded_box(report: Report) -> tuple[int, int, int, int]:
    """A box of the photo (left, top, right, bottom) round the base that stands closest among others."""
    middles = np.array([found.center_px for found in report.detections])
    apart = np.sort(np.linalg.norm(middles[:, None] - middles, axis=-1), axis=1)
    x, y = middles[int(np.argmin(apart[:, min(CROWD_NEIGHBOURS, len(middles) - 1)]))]
    (width, height), high = report.frame.size_px, CLOSE_UP_WIDTH_PX * 9 // 16
    left = int(np.clip(x - CLOSE_UP_WIDTH_PX / 2, 0, width - CLOSE_UP_WIDTH_PX))
    top = int(np.clip(y - high / 2, 0, height - high))
    return left, top, left + CLOSE_UP_WIDTH_PX, top + high


def _covariance_step(report: Report) -> Step:
    scene, camera = report.scene, report.calibration.camera
    rows = (
        np.array(scene.covariance.rows)
        if scene.covariance
        else np.zeros((2 * len(scene.pieces),) * 2)
    )
    blocks = [rows[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] for k in range(len(scene.pieces))]
    steps_px = [_px_per_mm(report, k) for k in range(len(scene.pieces))]
    whole = [turn @ block @ turn.T for turn, block in zip(steps_px, blocks, strict=True)]
    own = [
        turn @ found.covariance_mm2 @ turn.T
        for turn, found in zip(steps_px, report.detections, strict=True)
    ]
    places = camera.project(
        np.array([[piece.x_mm, piece.y_mm, piece.z_mm] for piece in scene.pieces])
    )
    sure = [float(np.sqrt(np.linalg.eigvalsh(block)[-1])) for block in blocks]
    text = (
        f"Each place has its doubt: {min(sure):.2f} to {max(sure):.2f} mm (1 σ). Most of it (orange) is the "
        "calibration's, which moves all bases together and therefore mostly cancels in the distance between two of "
        f"them; each base's own part is blue. Drawn {POSITION_MAGNIFICATION:.0f} times larger. The scene keeps one matrix over "
        "all places, so that a distance is not called less sure than it is."
    )
    told = f"doubt of the places, 95 %, drawn {POSITION_MAGNIFICATION:.0f} times larger"
    drawn = pipeline_stages.draw_positions(
        report.frame.pixels, places, own, whole, POSITION_MAGNIFICATION, told
    )
    return Step("6-doubt.jpg", "Places, with their doubt", text, drawn)


def _px_per_mm(report: Report, index: int) -> Array:
    """How far (2, 2) a base's middle moves in the photo for each mm along x and along y on the board."""
    piece, camera = report.scene.pieces[index], report.calibration.camera
    place = np.array([piece.x_mm, piece.y_mm, piece.z_mm])
    there = camera.project(
        place + np.array([[0.5, 0, 0], [0, 0.5, 0], [-0.5, 0, 0], [0, -0.5, 0.0]])
    )
    return np.asarray(there[:2] - there[2:]).T


def _ruling_step(report: Report) -> Step:
    said = "; ".join(
        f"{' → '.join(verdict.pair or ())}: {verdict.sentence()}" for verdict in report.verdicts
    )
    text = (
        f"The rules answer from the exact shapes, with the probability of every answer: {said}. What cannot be told "
        "by this photo is said to be too close to call."
    )
    drawn = raster.encode_small_jpeg(picture.annotated_pixels(report), pipeline_stages.WIDTH_PX)
    return Step("7-ruling.jpg", "The ruling", text, drawn)


def _truth_step(report: Report) -> Step:
    true = np.array(json.loads(TRUTH_PATH.read_text("utf-8"))["pieces_mm"])
    errors, z = _distance_errors(report, true)
    outlines = _outlines_by_id(report)
    text = (
        f"{len(report.scene.pieces)} of {len(true)} bases were found. Over {len(errors)} distances between bases the "
        f"error is {np.median(errors):.2f} mm in the median and {np.quantile(errors, 0.95):.2f} mm at the 95th "
        f"percentile, and {np.mean(z < 1.96):.1%} of them lie within the doubt that was stated for 95 %."
    )
    told = f"all {len(outlines)} bases that were found"
    return Step(
        "8-truth.jpg",
        "How wrong was it?",
        text,
        pipeline_stages.draw_outlines(report.frame.pixels, outlines, told),
    )


def _distance_errors(report: Report, true: Array) -> tuple[Array, Array]:
    """Of every distance between two bases that truly are there: its error in mm, and in σ."""
    pieces, covariance = report.scene.pieces, report.scene.covariance
    apart = np.array(
        [np.hypot(true[:, 0] - piece.x_mm, true[:, 1] - piece.y_mm) for piece in pieces]
    )
    right = [k for k in range(len(pieces)) if apart[k].min() < MATCH_DISTANCE_MM]
    partner, distances = apart.argmin(1), report.scene.distances()
    errors, z = [], []
    for i, j in combinations(right, 2):
        (ax, ay, a), (bx, by, b) = true[partner[i]], true[partner[j]]
        error = abs(
            float(distances[i, j]) - max(float(np.hypot(ax - bx, ay - by)) - (a + b) / 2, 0.0)
        )
        way = np.array([pieces[j].x_mm - pieces[i].x_mm, pieces[j].y_mm - pieces[i].y_mm])
        way = way / np.linalg.norm(way)
        shared = np.array(covariance.of_difference(i, j)) if covariance else np.zeros((2, 2))
        errors.append(error)
        z.append(error / max(float(np.sqrt(way @ shared @ way)), 1e-9))
    return np.array(errors), np.array(z)
