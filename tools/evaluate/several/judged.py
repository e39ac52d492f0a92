"""A scene by several photos held against the truth of its table."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from evaluate.counting.tally import LEAST_RIM, Sum, Truth, base_of, right_size
from evaluate.several.tables import PhotoTable
from overruler.calibration import Calibration
from overruler.report import Report
from overruler.rules import ask
from overruler.scene import Piece, Scene
from overruler.units import MM_PER_INCH
from overruler.verdict import CERTAIN

Places = NDArray[np.float64]

LINES_MM = {"legion": 152.4, "xwing": 100.0}
"""Distance of the lines of a game's ruler; of other games 3 inches."""
MAX_RULINGS = 60
"""Most rulings asked of a scene: those nearest to a line."""
MOVED_REACH_MM = 5.0
"""A moved piece is named where it is found this near to where it went."""


@dataclass
class Judged(Sum):
    """What was counted on a table, or on several."""

    wanted: int = 0
    found: int = 0
    hidden: int = 0
    hidden_found: int = 0
    raised: int = 0
    raised_found: int = 0
    pieces: int = 0
    true: int = 0
    sized: int = 0
    errors_mm: list[float] = field(default_factory=list)
    errors_sigmas: list[float] = field(default_factory=list)
    heights_mm: list[float] = field(default_factory=list)
    heights_sigmas: list[float] = field(default_factory=list)
    rulings: int = 0
    certain: int = 0
    wrong: int = 0
    moves: int = 0
    named: int = 0
    invented: int = 0


def judge(table: PhotoTable, report: Report) -> Judged:
    """Hold a report on a table against its truth."""
    scene, counted = report.scene, Judged()
    pieces = table.truth["pieces"]
    pairs, turn, shift = _pair(table, report)
    rims = {piece["id"]: piece for piece in table.whole["pieces"]}
    found = {pieces[i]["id"] for i, _ in pairs}
    for piece in pieces:
        rim = rims[piece["id"]]
        if rim["best_visible_rim"] < LEAST_RIM:
            continue
        hit, is_hidden = piece["id"] in found, min(rim["visible_rim"]) < LEAST_RIM
        counted.wanted, counted.found = counted.wanted + 1, counted.found + hit
        counted.hidden, counted.hidden_found = (
            counted.hidden + is_hidden, counted.hidden_found + (is_hidden and hit),
        )  # fmt: skip
        is_raised = piece["z_mm"] > 0
        counted.raised, counted.raised_found = (
            counted.raised + is_raised, counted.raised_found + (is_raised and hit),
        )  # fmt: skip
    counted.pieces, counted.true = len(scene.pieces), len(pairs)
    sized = [(i, j) for i, j in pairs if right_size(scene.pieces[j], pieces[i])]
    counted.sized = len(sized)
    _count_heights(counted, [(pieces[i], scene.pieces[j]) for i, j in pairs])
    moved = {move["piece"] for move in table.whole["moved"]}
    names = {pieces[i]["id"]: scene.pieces[j].id for i, j in sized if pieces[i]["id"] not in moved}
    _count_distances(counted, table, scene, names)
    by_truth = {pieces[i]["id"]: scene.pieces[j].id for i, j in pairs}
    _count_moves(counted, table, scene, by_truth, (turn, shift))
    return counted


def _pair(table: PhotoTable, report: Report) -> tuple[list[tuple[int, int]], Places, Places]:
    """Pairs of pieces, true and found, and the turn and shift from the scene's frame to the true one.

    Where markers lie anywhere, the photo whose camera makes most pairs tells the frame.
    """
    pieces, scene = table.truth["pieces"], report.scene
    there = np.array([[piece["x_mm"], piece["y_mm"]] for piece in pieces])
    here = np.array([[piece.x_mm, piece.y_mm] for piece in scene.pieces]).reshape(-1, 2)
    reach = np.array([_length_mm(piece) / 2 for piece in pieces])
    if table.board.layout_known:
        return _assign(there, here, reach), np.eye(2), np.zeros(2)
    found = []
    for turn, shift in _frames_by_cameras(table, report):
        for wide in (2.0, 1.0, 1.0, 1.0):
            pairs = _assign(there, here @ turn.T + shift, wide * reach)
            if len(pairs) > 2:
                turn, shift = _align(here[[j for _, j in pairs]], there[[i for i, _ in pairs]])
        found.append((_assign(there, here @ turn.T + shift, reach), turn, shift))
    return max(found, key=lambda one: len(one[0]))


def _length_mm(piece: Truth) -> float:
    base = base_of(piece)
    return max(base.width_mm, base.length_mm)


def _assign(there: Places, here: Places, reach: Places) -> list[tuple[int, int]]:
    if not len(here):
        return []
    cost = np.linalg.norm(there[:, None] - here[None], axis=2) / reach[:, None]
    rows, columns = linear_sum_assignment(np.minimum(cost, 5))
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(i, j) for i, j in pairs if cost[i, j] < 0.5]


def _frames_by_cameras(table: PhotoTable, report: Report) -> list[tuple[Places, Places]]:
    """The turn and shift of the plane by the pose of each photo."""
    shown = [(photo.frame, photo.calibration) for photo in report.photos]
    shown = shown or [(report.frame, report.calibration)]
    truths = dict(zip(table.whole["views"], table.truths, strict=True))
    names = [Path(frame.name).name.split(" ")[0] for frame, _ in shown]
    return [
        frame_by_camera(truths[name], calibration)
        for name, (_, calibration) in zip(names, shown, strict=True)
    ]


def frame_by_camera(truth: Truth, calibration: Calibration) -> tuple[Places, Places]:
    """The turn (2, 2) and shift (2,) that bring the program's plane on the truth's, by the pose of one photo."""
    true, pose = truth["camera"], calibration.camera.T_camera_board
    turned = np.array(true["rotation"]).T
    turn = turned @ pose.rotation
    shift = turned @ (pose.translation_mm - np.array(true["translation_mm"]))
    angle = math.atan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1])
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]]), shift[:2]


def _align(here: Places, there: Places) -> tuple[Places, Places]:
    """The turn and shift of the plane that bring points here on points there."""
    a, b = here.mean(0), there.mean(0)
    u, _, vt = np.linalg.svd((here - a).T @ (there - b))
    turn = vt.T @ np.diag([1, np.sign(np.linalg.det(vt.T @ u.T))]) @ u.T
    return turn, b - turn @ a


def _count_heights(counted: Judged, pairs: Sequence[tuple[Truth, Piece]]) -> None:
    for truth, piece in pairs:
        if truth["z_mm"] > 0:
            error = piece.z_mm - truth["z_mm"]
            sigma = piece.extra.get("z_sigma_mm")
            counted.heights_mm.append(error)
            if sigma:
                counted.heights_sigmas.append(error / sigma)


def _count_distances(
    counted: Judged, table: PhotoTable, scene: Scene, names: dict[str, str]
) -> None:
    """Count distances between round bases, and rulings at the lines nearest to them."""
    game = table.truth["pieces"][0]["game"]
    step = LINES_MM.get(game, 3 * MM_PER_INCH)
    asked = replace(scene, game="positioning")
    near = []
    for true in table.truth["distances"]:
        if true["a"] not in names or true["b"] not in names:
            continue
        pair = {"from": names[true["a"]], "to": names[true["b"]]}
        line = max(1, round(true["mm"] / step)) * step
        near.append((abs(true["mm"] - line), line, true["mm"], pair))
        verdict = ask(asked, {"question": "distance", **pair})
        if verdict.distance_mm is not None:
            error = verdict.distance_mm - true["mm"]
            counted.errors_mm.append(error)
            counted.errors_sigmas.append(error / max(verdict.sigma_mm or 0.0, 1e-9))
    for _, line, true_mm, pair in sorted(near, key=lambda one: one[0])[:MAX_RULINGS]:
        verdict = ask(asked, {"question": "within", **pair, "distance_in": line / MM_PER_INCH})
        is_certain = verdict.call == CERTAIN
        counted.rulings, counted.certain = counted.rulings + 1, counted.certain + is_certain
        counted.wrong += is_certain and verdict.answer["answer"] != (true_mm <= line)


def _count_moves(
    counted: Judged,
    table: PhotoTable,
    scene: Scene,
    names: dict[str, str],
    frame: tuple[Places, Places],
) -> None:
    turn, shift = frame
    said: list[dict[str, Any]] = scene.extra.get("moved", [])
    true: set[str] = set()
    for move in table.whole["moved"]:
        photo = table.whole["views"].index(move["before"])
        mine = [one for one in said if one["id"] == names.get(move["piece"])]
        true |= {one["id"] for one in mine}
        there = [turn @ np.array([one["x_mm"], one["y_mm"]]) + shift for one in mine]
        counted.named += any(
            one["photo"] == photo and np.linalg.norm(at - move["to_mm"]) < MOVED_REACH_MM
            for one, at in zip(mine, there, strict=True)
        )
    counted.moves += len(table.whole["moved"])
    counted.invented += len({one["id"] for one in said} - true)
