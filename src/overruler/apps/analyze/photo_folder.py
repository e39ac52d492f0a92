"""A folder of photos as a film: one photo a turn, each with its own camera; its seconds count the photos."""

from dataclasses import replace
from math import hypot
from pathlib import Path

import numpy as np

from overruler.apps.analyze.event_log import move_data, rest_data
from overruler.apps.analyze.merge import Data, FilmResults
from overruler.errors import CannotMeasure, printable
from overruler.fixes import next_piece_id
from overruler.geometry.covariance import mean_sigma
from overruler.geometry.pose import Array
from overruler.pieces import Piece
from overruler.referee import Referee
from overruler.report import Report
from overruler.sources.folder import photos_in
from overruler.sources.photo import load_photo
from overruler.track import Move
from overruler.vision.tracking.assignment import MissingPiece, assign_pieces, name_doubts
from overruler.vision.tracking.path import excess_sigma_mm

MIN_MOVE_SIGMAS = 3.0
"""Least distance of a move, in σ of the distance between two photos' positions."""
MIN_MOVE_MM = 1.0
"""Least distance of a move: two photos have two cameras."""


def analyze_folder(folder: Path, referee: Referee) -> FilmResults:
    """Analyse the photos of a folder; those that cannot be measured are named in `problems`."""
    film = FilmResults(folder.resolve().name)
    before: dict[str, Piece] = {}
    for turn, path in enumerate(photos_in(folder)):
        try:
            report = referee.look(load_photo(path))
        except CannotMeasure as error:
            reason = str(error).removeprefix(f"{printable(str(path))}: ")
            film.problems.append(f"{path}: {reason}")
            continue
        before |= _add_photo(film, float(turn), report, before)
        film.read_to_s = float(turn)
    if not film.rests:
        raise CannotMeasure(f"none of the photos can be measured: {film.problems[0]}")
    return film


def _add_photo(
    film: FilmResults, time_s: float, report: Report, before: dict[str, Piece]
) -> dict[str, Piece]:
    """Record a photo; return its pieces by the film's names."""
    rest = rest_data(time_s, report)
    pieces = report.scene.pieces
    names, doubts = _match_names(pieces, before)
    for piece, name, data in zip(pieces, names, rest["scene"]["pieces"], strict=True):
        data["id"] = name
        _record_piece(film, name, piece, time_s, before.get(name), doubts.get(name, ("", 0.0)))
    if "covariance" in rest["scene"]:
        rest["scene"]["covariance"]["order"] = names
    film.rests.append(rest)
    return dict(zip(names, pieces, strict=True))


def _match_names(
    pieces: tuple[Piece, ...], before: dict[str, Piece]
) -> tuple[list[str], dict[str, tuple[str, float]]]:
    """Match pieces to known ones by size and distance; the others get new names.

    Then, by name, which other piece each may be, and with which probability it is another.
    """
    if not before:
        return [piece.id for piece in pieces], {}
    found = [(piece.base, _position_mm(piece)) for piece in pieces]
    missing = [MissingPiece(piece.base, _position_mm(piece)) for piece in before.values()]
    looks = np.ones((len(missing), len(found)))
    pairs = assign_pieces(missing, found, looks)
    known_names = list(before)
    matched = {j: known_names[i] for i, j in pairs}
    names: list[str] = []
    for j in range(len(pieces)):
        names.append(matched.get(j) or next_piece_id([*before, *names]))
    doubts = name_doubts(missing, found, looks, pairs)
    told = {matched[j]: (known_names[one.other], one.probability) for j, one in doubts.items()}
    return names, told


def _position_mm(piece: Piece) -> Array:
    return np.array([piece.x_mm, piece.y_mm])


def position_sigma_mm(piece: Piece) -> float:
    """1 σ of a piece's position, averaged over the directions; 0 without a covariance."""
    return mean_sigma(piece.covariance_mm2) if piece.covariance_mm2 else 0.0


def _record_piece(
    film: FilmResults,
    name: str,
    piece: Piece,
    time_s: float,
    before: Piece | None,
    doubt: tuple[str, float],
) -> None:
    """Record a piece's position, and a move if it stands elsewhere than in the photo before."""
    place: Data = {"x_mm": piece.x_mm, "y_mm": piece.y_mm, "sigma_mm": position_sigma_mm(piece)}
    film.positions.append({"piece": name, "time_s": time_s, **place, "seen": True})
    film.bases.setdefault(name, piece.base.to_json())
    stays = film.stays.setdefault(name, [])
    start_s = stays[-1]["to_s"] if stays else time_s
    move = find_move(name, before, piece, (start_s, time_s)) if before is not None else None
    if move is not None:
        other, probability = doubt
        move = replace(move, name_probability=1 - probability, perhaps=other)
        film.moves.append(move_data(move))
    elif stays:
        stays[-1]["to_s"] = time_s
        return
    stays.append({"from_s": time_s, "to_s": time_s, **place})


def find_move(name: str, before: Piece, after: Piece, times_s: tuple[float, float]) -> Move | None:
    """The move of a piece between two photos; None if its positions agree within their σ."""
    distance = float(np.hypot(*(_position_mm(after) - _position_mm(before))))
    sigma = float(np.hypot(position_sigma_mm(after), position_sigma_mm(before)))
    if distance <= max(MIN_MOVE_MM, MIN_MOVE_SIGMAS * sigma):
        return None
    ends = (before.x_mm, before.y_mm), (after.x_mm, after.y_mm)
    detour = float(excess_sigma_mm(0.0, distance, 1.0))  # no photo tells how long it was on its way
    lengths = (distance, sigma, distance, hypot(sigma, detour))
    return Move(name, *times_s, *ends, *lengths, ends, way_seen=False)
