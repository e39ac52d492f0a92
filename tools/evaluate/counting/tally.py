"""A measured scene held against the truth."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from overruler.bases import Base, read_base
from overruler.geometry.pose import wrapped_turn
from overruler.reading import Node
from overruler.rules import ask
from overruler.scene import Piece, Scene
from overruler.verdict import CALL_THRESHOLDS, TOO_CLOSE

SEGMENT_MM, SEGMENTS = 152.4, 5
LEAST_RIM = 0.25
"""Pieces with less of their rim in sight need not be found."""
SAME_MM = 0.6
"""Diameters closer than this are the same."""
QUARTER_DEG = 90.0
Truth = dict[str, Any]
Pixels = NDArray[np.float64]


class Sum:
    """Counts and lists of one photo, to which those of others are added."""

    def add(self, other: Self) -> None:
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass
class Tally(Sum):
    """What was counted on one photo or on several."""

    wanted: int = 0
    found: int = 0
    false: int = 0
    matched: int = 0
    sized: int = 0
    errors_mm: list[float] = field(default_factory=list)
    z: list[float] = field(default_factory=list)
    rulings: int = 0
    wrong: int = 0
    said: list[float] = field(default_factory=list)
    """How likely each ruling says that its likeliest answer is, ..."""
    held: list[bool] = field(default_factory=list)
    """... and whether that is the right one."""
    plates: int = 0
    """Square ones that were found where the board's own x axis is known, ..."""
    headings: int = 0
    axes: int = 0
    astray: int = 0
    """... of how many the heading was told, of how many its axis alone, and of how many what was told is wrong."""

    @property
    def recall(self) -> float:
        return self.found / self.wanted if self.wanted else math.nan

    @property
    def precision(self) -> float:
        return self.matched / (self.matched + self.false) if self.matched + self.false else math.nan

    @property
    def size(self) -> float:
        return self.sized / self.matched if self.matched else math.nan

    @property
    def median_mm(self) -> float:
        return float(np.median(self.errors_mm)) if self.errors_mm else math.nan

    @property
    def within(self) -> float:
        """The share of distances whose truth lies within 1.96 stated σ."""
        return float(np.mean(np.abs(self.z) <= 1.96)) if self.z else math.nan


@dataclass(frozen=True, slots=True)
class Pairing:
    """What was found of one photo's pieces."""

    there: list[Truth]
    """The pieces in the picture."""
    pairs: list[tuple[int, int]]
    """Indexes of pieces and of findings."""
    false: int


def tally(scene: Scene, truth: Truth) -> Tally:
    """Hold a measured scene against the truth."""
    pairing = pairing_of(scene, truth)
    names = {scene.pieces[j].id: pairing.there[i] for i, j in pairing.pairs}
    right = {
        piece.id: names[piece.id]["id"]
        for piece in scene.pieces
        if right_size(piece, names.get(piece.id))
    }
    result = Tally(
        wanted=sum(p["visible_rim"] >= LEAST_RIM for p in pairing.there),
        found=sum(p["visible_rim"] >= LEAST_RIM for p in names.values()),
        false=pairing.false,
        matched=len(names),
        sized=len(right),
    )
    _distances(scene, truth, right, result)
    for piece in scene.pieces:
        if piece.id in right and piece.base.is_square and truth["markers"]["layout"] == "known":
            _heading(piece, names[piece.id]["heading_deg"], result)
    return result


def pairing_of(scene: Scene, truth: Truth) -> Pairing:
    there = [p for p in truth["pieces"] if p.get("in_frame", 1) > 0.5]
    centres = np.array(
        [piece.extra["image"]["center_px"] for piece in scene.pieces], float
    ).reshape(-1, 2)
    pairs = matches(centres, np.array([_radius_px(piece) for piece in scene.pieces]), there)
    return Pairing(there, pairs, len(scene.pieces) - len(pairs))


def matches(centres_px: Pixels, radii_px: Pixels, there: Sequence[Truth]) -> list[tuple[int, int]]:
    """Pairs (truth, finding), one to one, whose centres in the photo lie within half a radius of each other."""
    if not there or not len(centres_px):
        return []
    want = np.array([p["center_px"] for p in there], float)
    cost = np.linalg.norm(want[:, None] - centres_px[None], axis=2) / radii_px[None]
    rows, columns = linear_sum_assignment(np.minimum(cost, 5))
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if cost[i, j] < 0.5]


def same_size(diameter_mm: float, shape: Truth) -> bool:
    """Whether a round finding has the size of a piece."""
    return bool(shape["type"] == "circle" and abs(shape["diameter_mm"] - diameter_mm) < SAME_MM)


def right_size(piece: Piece | None, truth: Truth | None) -> bool:
    """Whether a finding has the shape and the size of a piece."""
    if piece is None or truth is None:
        return False
    found, there = piece.base, base_of(truth)
    off_mm = np.subtract(
        sorted([found.width_mm, found.length_mm]), sorted([there.width_mm, there.length_mm])
    )
    return found.shape == there.shape and bool(np.abs(off_mm).max() < SAME_MM)


def base_of(truth: Truth) -> Base:
    """The base of a piece."""
    shape = truth["shape"]
    return read_base(Node({**shape, "shape": shape["type"]}, "truth"))


def _radius_px(piece: Piece) -> float:
    image = piece.extra["image"]
    away = np.array(image["outline_px"]) - np.array(image["center_px"])
    return float(np.median(np.linalg.norm(away, axis=1)))


def _distances(scene: Scene, truth: Truth, right: dict[str, str], result: Tally) -> None:
    known = {frozenset((d["a"], d["b"])): d["mm"] for d in truth["distances"]}
    for a, b in combinations(right, 2):
        mm = known[frozenset((right[a], right[b]))]
        answer = ask(scene, {"question": "range", "from": a, "to": b}).to_json()
        error = answer["distance_mm"] - mm
        result.errors_mm.append(abs(error))
        result.z.append(error / max(answer["sigma_mm"], 1e-9))
        result.rulings += 1
        result.wrong += answer["call"] == "certain" and answer["range"] != _range(mm)
        likeliest = max(answer["probability"], key=answer["probability"].get)
        result.said.append(answer["probability"][likeliest])
        result.held.append(json.loads(likeliest) == _range(mm))


def _heading(piece: Piece, truth_deg: float, result: Tally) -> None:
    """Whether which way a plate faces was told, all of it or its axis, and truly so."""
    modulo = float(piece.extra.get("heading_modulo_deg", 360.0))
    off = wrapped_turn(piece.heading_deg - truth_deg, modulo)
    result.plates += 1
    result.headings += modulo == 360
    result.axes += modulo == 180
    result.astray += abs(off) > QUARTER_DEG / 2


def _range(distance_mm: float) -> int | None:
    segment = max(1, math.ceil(distance_mm / SEGMENT_MM - 1e-6))
    return segment if segment <= SEGMENTS else None


def calls(counted: Tally) -> list[str]:
    """Of each call how often it is made, how likely it says that it is right, and how often it is."""
    said, held = np.array(counted.said), np.array(counted.held, bool)
    lines, below = [], np.inf
    for least, call in (*CALL_THRESHOLDS, (0.0, TOO_CLOSE)):
        of = (said >= least) & (said < below)
        below = least
        if of.any():
            times = f"{of.sum()} of {len(said)} rulings"
            lines.append(
                f"{times} are {call}: {held[of].mean():.2%} of them right, {said[of].mean():.2%} as they say"
            )
    return lines


def row(name: str, counted: Tally) -> list[str]:
    errors = np.array(counted.errors_mm or [np.nan])
    return [
        name,
        f"{counted.found}/{counted.wanted}",
        str(counted.false),
        share(counted.size),
        f"{np.median(errors):.2f}",
        f"{np.percentile(errors, 95):.2f}",
        share(counted.within),
        f"{counted.wrong}/{counted.rulings}",
    ]


def share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"
