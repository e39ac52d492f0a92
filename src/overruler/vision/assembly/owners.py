"""The owner of a piece, by its ring's colour or its half of the board; and house rules.

Where the photo does not show it clearly, no player is named: `player_unsure` then lists who it may
be.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import cv2
import numpy as np

from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.pose import Array, wrapped_turn
from overruler.house_rules import BOARD_HALVES, RING_HUES_DEG, HouseRules
from overruler.pieces import Piece
from overruler.records import PieceRecord
from overruler.report import Report

RING_DEPTHS_MM = (0.5, 0.9, 1.3, 1.7)
"""Depths inside a base's outline at which its ring is sampled, in mm."""
MIN_FACING_COSINE = 0.25
"""Least cosine to the camera at which the ring is sampled: behind, the figure hides it."""
MIN_SATURATION = 0.3
"""Least saturation of a pixel with a recognisable colour, 0 to 1."""
MIN_VALUE = 0.16
"""Least brightness of a pixel with a recognisable colour, 0 to 1."""
MAX_HUE_DIFFERENCE_DEG = 30.0
"""Largest difference of a hue from the named colour, in degrees."""
SURE_COLOUR_SHARE = 0.5
"""A ring has a colour if at least this share of its pixels has it."""
POSSIBLE_COLOUR_SHARE = 0.2
"""A ring may have a colour if at least this share of its pixels has it."""


def apply_house_rules(
    report: Report, house: HouseRules, before: Mapping[str, Piece] | None = None
) -> Report:
    """Add players' names and house rules; pieces in `before`, by id, keep their owners."""
    scene = house.apply_to(report.scene)
    if house.players:
        known = before or {}
        pieces = []
        for piece, detection in zip(scene.pieces, report.detections, strict=True):
            old = known.get(piece.id)
            pieces.append(_assign_owner(report, house, piece, detection, old))
        scene = replace(scene, pieces=tuple(pieces))
    return report if scene is report.scene else replace(report, scene=scene)


def _assign_owner(
    report: Report, house: HouseRules, piece: Piece, detection: Detection, before: Piece | None
) -> Piece:
    if piece.player is not None:  # a person has named the player
        return piece
    if before is not None:
        unsure = PieceRecord.from_json(before.extra).player_unsure
        return replace(piece, player=before.player, extra=_with_unsure(piece, unsure))
    sure, possible = possible_owners(report, house, piece, detection)
    if len(sure) == 1 and not possible:
        return replace(piece, player=next(iter(sure)))
    return replace(piece, extra=_with_unsure(piece, sorted(sure | possible)))


def _with_unsure(piece: Piece, names: Any) -> dict[str, Any]:
    if not names:
        return {**piece.extra}
    return {**piece.extra, "player_unsure": list(names)}


def possible_owners(
    report: Report, house: HouseRules, piece: Piece, detection: Detection
) -> tuple[set[str], set[str]]:
    """The players that certain signs name, and others that uncertain signs name."""
    signs = [*_half_signs(report, house, piece), *_colour_signs(report, house, detection)]
    sure = {house.players[sign] for sign, certain in signs if certain}
    unsure = {house.players[sign] for sign, certain in signs if not certain}
    return sure, unsure - sure


# --- halves of the board ---


def _half_signs(report: Report, house: HouseRules, piece: Piece) -> Iterator[tuple[str, bool]]:
    """The named halves that a piece stands on, and whether it is clear of the middle."""
    width, height = report.calibration.board_mm
    radius = piece.shape.bounding_radius_mm
    axes = (("left", "right", piece.x_mm, width / 2), ("near", "far", piece.y_mm, height / 2))
    for low, high, at, middle in axes:
        across = abs(at - middle) <= radius
        for sign, here in ((low, at < middle), (high, at >= middle)):
            if sign in house.players and (here or across):
                yield sign, not across


# --- colours ---


def _colour_signs(
    report: Report, house: HouseRules, detection: Detection
) -> Iterator[tuple[str, bool]]:
    """The named colours that a piece's ring may have, each with whether that is certain."""
    named = [sign for sign in house.players if sign not in BOARD_HALVES]
    if not named:
        return
    shares = colour_shares(report.frame, report.calibration, detection, named)
    best, *others = sorted(shares, key=shares.__getitem__, reverse=True)
    second = shares[others[0]] if others else 0.0
    if shares[best] >= SURE_COLOUR_SHARE and second < POSSIBLE_COLOUR_SHARE:
        yield best, True
        return
    for sign in (best, *others):
        if shares[sign] >= POSSIBLE_COLOUR_SHARE:
            yield sign, False


def colour_shares(
    frame: Frame, calibration: Calibration, detection: Detection, named: list[str]
) -> dict[str, float]:
    """The share of a ring's pixels that has each named colour; a pixel counts for the nearest one."""
    pixels = ring_pixels(frame, calibration, detection)
    if not len(pixels):
        return dict.fromkeys(named, 0.0)
    hue, saturation, value = _to_hsv(pixels)
    named_hues = np.array([RING_HUES_DEG[name] for name in named])
    difference = np.abs(wrapped_turn(hue[:, None] - named_hues, 360.0))
    colourful = (saturation >= MIN_SATURATION) & (value >= MIN_VALUE)
    clear = (difference.min(1) <= MAX_HUE_DIFFERENCE_DEG) & colourful
    nearest = difference.argmin(1)
    return {name: float(np.mean(clear & (nearest == k))) for k, name in enumerate(named)}


def ring_pixels(frame: Frame, calibration: Calibration, detection: Detection) -> Array:
    """The colours (N, 3), blue green red, of a base's ring where it faces the camera."""
    outward = detection.outline_px - detection.center_px
    facing = _facing_px(calibration, detection)
    length = np.linalg.norm(outward, axis=1) * np.linalg.norm(facing)
    cosine = outward @ facing / np.maximum(length, 1e-9)
    radius_mm = min(detection.base.width_mm, detection.base.length_mm) / 2
    shares = 1 - np.array(RING_DEPTHS_MM) / radius_mm
    visible = outward[cosine >= MIN_FACING_COSINE]
    points = (detection.center_px + shares[:, None, None] * visible).reshape(-1, 2)
    width, height = frame.size_px
    u, v = np.rint(points).astype(int).T
    inside = (u >= 0) & (u < width) & (v >= 0) & (v < height)
    return np.asarray(frame.pixels[v[inside], u[inside]])


def _facing_px(calibration: Calibration, detection: Detection) -> Array:
    """The direction (2,) in the photo from a base's centre to its side that faces the camera."""
    eye, here = calibration.camera.center_mm[:2], detection.xy_mm
    towards = eye - here
    nearer = here + towards / max(float(np.linalg.norm(towards)), 1e-9)
    pixel = calibration.camera.project(np.append(nearer, detection.z_mm)[None])[0]
    return np.asarray(pixel - detection.center_px)


def _to_hsv(pixels: Array) -> tuple[Array, Array, Array]:
    """Hue in degrees, saturation and value from 0 to 1, (N,) each."""
    hsv = cv2.cvtColor(pixels[None].astype(np.float32) / 255, cv2.COLOR_BGR2HSV)[0]
    hue, saturation, value = hsv.T
    return np.asarray(hue), np.asarray(saturation), np.asarray(value)
