"""A folder of photos as a film: one a turn, each with a camera of its own; its seconds count the photos."""

from pathlib import Path
from typing import Any

import numpy as np

from overruler.apps.analyze.merge import FilmResults
from overruler.apps.analyze.segment import move_data, rest_data
from overruler.errors import CannotMeasure
from overruler.fixes import next_piece_id
from overruler.geometry.pose import Array
from overruler.pieces import Piece
from overruler.referee import Referee
from overruler.report import Report
from overruler.sources.folder import photos_in
from overruler.sources.photo import load_photo
from overruler.track import Move
from overruler.vision.tracking.assignment import MissingPiece, assign_pieces

MIN_MOVE_SIGMAS, MIN_MOVE_MM = 3.0, 1.0
"""A piece has moved where both are exceeded: two photos have two cameras."""


def analyze_folder(folder: Path, referee: Referee) -> FilmResults:
    """All that the photos tell; those that cannot be measured are named in `problems`."""
    told = FilmResults(folder.resolve().name)
    before: dict[str, Piece] = {}
    for turn, path in enumerate(photos_in(folder)):
        try:
            report = referee.look(load_photo(path))
        except CannotMeasure as error:
            told.problems.append(str(error))
            continue
        before |= _add_photo(told, float(turn), report, before)
        told.read_to_s = float(turn)
    if not told.rests:
        raise CannotMeasure(f"{folder}: none of the photos can be measured: {told.problems[0]}")
    return told


def _add_photo(
    told: FilmResults, time_s: float, report: Report, before: dict[str, Piece]
) -> dict[str, Piece]:
    """Note one photo; its pieces by the film's names."""
    rest = rest_data(time_s, report)
    pieces, names = report.scene.pieces, _match_names(report.scene.pieces, before)
    for piece, name, data in zip(pieces, names, rest["scene"]["pieces"], strict=True):
        data["id"] = name
        _record_piece(told, name, piece, time_s, before.get(name))
    if "covariance" in rest["scene"]:
        rest["scene"]["covariance"]["order"] = names
    told.rests.append(rest)
    return dict(zip(names, pieces, strict=True))


def _match_names(pieces: tuple[Piece, ...], before: dict[str, Piece]) -> list[str]:
    """Known pieces by size and nearness; new names for the others."""
    if not before:
        return [piece.id for piece in pieces]
    found = [(piece.base, _position_mm(piece)) for piece in pieces]
    missing = [MissingPiece(piece.base, _position_mm(piece)) for piece in before.values()]
    pairs = assign_pieces(missing, found, np.ones((len(missing), len(found))))
    known, names = {j: list(before)[i] for i, j in pairs}, list[str]()
    for j in range(len(pieces)):
        names.append(known.get(j) or next_piece_id([*before, *names]))
    return names


def _position_mm(piece: Piece) -> Array:
    return np.array([piece.x_mm, piece.y_mm])


def position_sigma_mm(piece: Piece) -> float:
    return (
        float(np.sqrt(np.trace(np.array(piece.covariance_mm2)) / 2))
        if piece.covariance_mm2
        else 0.0
    )


def _record_piece(
    told: FilmResults, name: str, piece: Piece, time_s: float, before: Piece | None
) -> None:
    """A row for a piece, and a move where it stands elsewhere than in the photo before."""
    place: dict[str, Any] = {
        "x_mm": piece.x_mm,
        "y_mm": piece.y_mm,
        "sigma_mm": position_sigma_mm(piece),
    }
    told.positions.append({"piece": name, "time_s": time_s, **place, "seen": True})
    told.bases.setdefault(name, piece.base.to_json())
    stays = told.stays.setdefault(name, [])
    away = (
        float(np.hypot(*(_position_mm(piece) - _position_mm(before))))
        if before is not None
        else 0.0
    )
    sigma = (
        float(np.hypot(position_sigma_mm(piece), position_sigma_mm(before)))
        if before is not None
        else 0.0
    )
    if before is not None and away > max(MIN_MOVE_MM, MIN_MOVE_SIGMAS * sigma):
        ends = (before.x_mm, before.y_mm), (piece.x_mm, piece.y_mm)
        start_s = stays[-1]["to_s"]
        told.moves.append(
            move_data(
                Move(name, start_s, time_s, *ends, away, sigma, away, sigma, ends, way_seen=False)
            )
        )
    elif stays:
        stays[-1]["to_s"] = time_s
        return
    stays.append({"from_s": time_s, "to_s": time_s, **place})
