"""Whose a piece is, by the colour of its ring or the half of the board it stands on; and a table's own rules.

Where the photo does not say it clearly nobody is named: `player_unsure` then lists who it may be.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import cv2
import numpy as np

from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.house_rules import BOARD_HALVES, RING_HUES_DEG, HouseRules
from overruler.pieces import Piece
from overruler.report import Report

RING_DEPTHS_MM = (0.5, 0.9, 1.3, 1.7)
"""How far inside a base's outline its ring is looked at."""
MIN_FACING_COSINE = 0.25
"""Only that part of the ring which faces the camera (cosine): on the other side the figure stands before it."""
MIN_SATURATION, MIN_VALUE = 0.3, 0.16
"""Less colourful or darker than this a pixel has no colour to speak of."""
MAX_HUE_DIFFERENCE_DEG = 30.0
"""How far a hue may be from the colour that it is taken for."""
SURE_COLOUR_SHARE, POSSIBLE_COLOUR_SHARE = 0.5, 0.2
"""A ring has the colour of this share of its pixels; where it is only as much as the second, it may have it."""


def apply_house_rules(
    report: Report, house: HouseRules, before: Mapping[str, Piece] | None = None
) -> Report:
    """The report with players' names and the table's own rules; pieces known `before` keep whose they are."""
    scene = house.apply_to(report.scene)
    if house.players:
        found = zip(scene.pieces, report.detections, strict=True)
        known = before or {}
        pieces = (
            _assign_owner(report, house, piece, one, known.get(piece.id)) for piece, one in found
        )
        scene = replace(scene, pieces=tuple(pieces))
    return report if scene is report.scene else replace(report, scene=scene)


def _assign_owner(
    report: Report, house: HouseRules, piece: Piece, detection: Detection, before: Piece | None
) -> Piece:
    if piece.player is not None:  # somebody said so
        return piece
    if before is not None:
        return replace(
            piece,
            player=before.player,
            extra=_with_unsure(piece, before.extra.get("player_unsure", ())),
        )
    sure, perhaps = possible_owners(report, house, piece, detection)
    if len(sure) == 1 and not perhaps:
        return replace(piece, player=next(iter(sure)))
    return replace(piece, extra=_with_unsure(piece, sorted(sure | perhaps)))


def _with_unsure(piece: Piece, names: Any) -> dict[str, Any]:
    return {**piece.extra, **({"player_unsure": list(names)} if names else {})}


def possible_owners(
    report: Report, house: HouseRules, piece: Piece, detection: Detection
) -> tuple[set[str], set[str]]:
    """The players that signs surely name, and those that others of them may name."""
    signs = [*_half_signs(report, house, piece), *_colour_signs(report, house, detection)]
    sure = {house.players[sign] for sign, certain in signs if certain}
    return sure, {house.players[sign] for sign, certain in signs if not certain} - sure


# --- halves of the board ---


def _half_signs(report: Report, house: HouseRules, piece: Piece) -> Iterator[tuple[str, bool]]:
    """The named halves that a piece stands on; neither is sure of one that stands across the middle."""
    width, height = report.calibration.board_mm
    for low, high, at, middle in (
        ("left", "right", piece.x_mm, width / 2),
        ("near", "far", piece.y_mm, height / 2),
    ):
        across = abs(at - middle) <= piece.shape.bounding_radius_mm
        for sign, here in ((low, at < middle), (high, at >= middle)):
            if sign in house.players and (here or across):
                yield sign, not across


# --- colours ---


def _colour_signs(
    report: Report, house: HouseRules, detection: Detection
) -> Iterator[tuple[str, bool]]:
    """The named colours that a piece's ring has or may have."""
    named = [sign for sign in house.players if sign not in BOARD_HALVES]
    if not named:
        return
    shares = colour_shares(report.frame, report.calibration, detection, named)
    best, *others = sorted(shares, key=shares.__getitem__, reverse=True)
    second = shares[others[0]] if others else 0.0
    if shares[best] >= SURE_COLOUR_SHARE and second < POSSIBLE_COLOUR_SHARE:
        yield best, True
        return
    yield from ((sign, False) for sign in (best, *others) if shares[sign] >= POSSIBLE_COLOUR_SHARE)


def colour_shares(
    frame: Frame, calibration: Calibration, detection: Detection, named: list[str]
) -> dict[str, float]:
    """Which share of a ring's pixels has each of the `named` colours, the nearest of them counting."""
    pixels = ring_pixels(frame, calibration, detection)
    if not len(pixels):
        return dict.fromkeys(named, 0.0)
    hue, saturation, value = _to_hsv(pixels)
    away = np.abs(
        (hue[:, None] - np.array([RING_HUES_DEG[name] for name in named]) + 180) % 360 - 180
    )
    clear = (
        (away.min(1) <= MAX_HUE_DIFFERENCE_DEG)
        & (saturation >= MIN_SATURATION)
        & (value >= MIN_VALUE)
    )
    nearest = away.argmin(1)
    return {name: float(np.mean(clear & (nearest == k))) for k, name in enumerate(named)}


def ring_pixels(frame: Frame, calibration: Calibration, detection: Detection) -> Array:
    """The colours (N, 3), blue green red, of a base's edge where it faces the camera."""
    outline, middle = detection.outline_px, detection.center_px
    eye, here = calibration.camera.center_mm[:2], detection.xy_mm
    nearer = np.append(
        here + (eye - here) / max(float(np.linalg.norm(eye - here)), 1e-9), detection.z_mm
    )
    facing = calibration.camera.project(nearer[None])[0] - middle
    out = outline - middle
    cosine = out @ facing / np.maximum(np.linalg.norm(out, axis=1) * np.linalg.norm(facing), 1e-9)
    shares = 1 - np.array(RING_DEPTHS_MM) / (
        min(detection.base.width_mm, detection.base.length_mm) / 2
    )
    points = (middle + shares[:, None, None] * out[cosine >= MIN_FACING_COSINE]).reshape(-1, 2)
    width, height = frame.size_px
    u, v = np.rint(points).astype(int).T
    inside = (u >= 0) & (u < width) & (v >= 0) & (v < height)
    return np.asarray(frame.pixels[v[inside], u[inside]])


def _to_hsv(pixels: Array) -> tuple[Array, Array, Array]:
    """Hue in degrees, saturation and value from 0 to 1, (N,) each."""
    hsv = cv2.cvtColor(pixels[None].astype(np.float32) / 255, cv2.COLOR_BGR2HSV)[0]
    return np.asarray(hsv[:, 0]), np.asarray(hsv[:, 1]), np.asarray(hsv[:, 2])
