"""A network that finds rectangular bases of any unit in the orthophoto of the whole table.

It is built like the whole-table network of plates (`learned/shape_net`) and started from its weights.
It sees the table larger, because the seams of bases in contact are thin. It learnt from painted
regiments, lone bases and stands among cards, counters, houses and round bases.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from overruler.bases import PLATE_SIDES_MM, Base
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.imaging.orthophoto import (
    Orthophoto,
    rectify_photo,
    visibility_mask,
)
from overruler.vision.learned.inference import (
    OUTPUT_STRIDE_PX,
    OVERVIEW_MM_PER_PX,
    WEIGHTS,
)
from overruler.vision.learned.logits import sigmoid
from overruler.vision.learned.mirror_images import COLUMNS, ROWS, mean_with_mirror_images
from overruler.vision.learned.shape_net import (
    RECTANGLE_CHANNEL,
    REFERENCE_SIZE_MM,
    ShapeCandidate,
    decode_cell,
    infer_orthophoto,
)
from overruler.vision.prints.printed_grid import PlacedBase, PrintedGrid, without_bare_cells

MODEL = WEIGHTS / "regiments.onnx"
"""The network's weights."""
MM_PER_PX = 1.5
"""Resolution of the orthophoto that the network takes, in mm per px."""
FINE_MM_PER_PX = 1.05
"""The same where there are bases: it also sees the table larger than it learnt, and small ones better."""
MAGNIFICATION = OVERVIEW_MM_PER_PX / MM_PER_PX
"""How much larger it sees the table than the other whole-table networks, whose cells it has."""
COARSEST_MM_PER_PX = 2.5
"""Coarsest photo, in mm per px, in which bases are looked for: the seams of others are lost."""
SIGNED_CHANNELS = {ROWS: (4, 8, 10, 12), COLUMNS: (3, 7, 10, 12)}
"""Its answers that change their sign in the mirror: the offset, and the sine or cosine of the heading's multiples."""
LIKELY_SCORE = 0.6
"""Score of the likeliest candidate of a table without which there is none."""
MIN_SCORE = 0.15
"""Smallest probability of a candidate."""
MAX_PLATE_ASPECT = 1.25
"""Largest length in widths of what may be a plate."""
MIN_PLATE_SHARE = 0.85
"""Its smallest side, in sides of the smallest plate."""
MIN_SPACING_SHARE = 0.5
"""Candidates nearer than this share of the smaller width are the same base."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What the network says of a table at one resolution."""

    view: Orthophoto
    """The table from above."""
    answer: Array
    """(13, rows, columns): by cell."""
    score: Array
    """(rows, columns): probability of a middle in each cell, 0 where nothing is looked for."""

    @classmethod
    def of(cls, view: Orthophoto, said: Floats, hidden: Sequence[Array]) -> "Look":
        """Take what the network said, but for what lies inside a `hidden` polygon (K, 2) in mm."""
        answer: Array = said.astype(float)
        score = sigmoid(answer[RECTANGLE_CHANNEL])
        mask = visibility_mask(view, hidden, 0)
        score *= cv2.resize(mask, score.shape[::-1], interpolation=cv2.INTER_NEAREST)
        return cls(view, answer, score)

    def guesses(self) -> list[ShapeCandidate]:
        """Return what the cells say that are likelier than those around them."""
        highest_around = cv2.dilate(self.score, np.ones((3, 3), np.uint8))
        rows, columns = np.nonzero((self.score >= highest_around) & (self.score > MIN_SCORE))
        return [self._decode(*cell) for cell in zip(rows.tolist(), columns.tolist(), strict=True)]

    def guess_near(self, xy_mm: Array) -> ShapeCandidate:
        """Return what the likeliest cell at a place or beside it says."""
        column_px, row_px = self.view.to_px(xy_mm)
        cells = (np.array([row_px, column_px]) + 0.5) / OUTPUT_STRIDE_PX - 0.5
        row, column = np.clip(np.round(cells).astype(int), 0, np.array(self.score.shape) - 1)
        top, left = max(row - 1, 0), max(column - 1, 0)
        around = self.score[top : row + 2, left : column + 2]
        down, right = np.unravel_index(int(np.argmax(around)), around.shape)
        return self._decode(top + int(down), left + int(right))

    def _decode(self, row: int, column: int) -> ShapeCandidate:
        size_mm = REFERENCE_SIZE_MM * self.view.mm_per_px / OVERVIEW_MM_PER_PX
        cell = self.answer[:, row, column]
        return decode_cell(self.view, cell, row, column, RECTANGLE_CHANNEL, size_mm)


@dataclass(frozen=True, slots=True, eq=False)
class SeenCells:
    """What the network says of a table."""

    looks: tuple[Look, ...]
    """At each resolution."""
    guesses: list[ShapeCandidate]
    """The likely middles, the likeliest first."""

    @classmethod
    def of(cls, *looks: Look) -> "SeenCells":
        """Put together what looks at one table say: what one misses another may see."""
        kept: list[ShapeCandidate] = []
        for one in sorted((one for look in looks for one in look.guesses()), key=_by_score):
            if not any(_is_same(one, other) for other in kept):
                kept.append(one)
        return cls(looks, kept)

    @property
    def is_likely(self) -> bool:
        """Whether there may be a base at all."""
        return bool(self.guesses) and self.guesses[0].score >= LIKELY_SCORE

    def without_plates(self) -> "SeenCells":
        """Return the same without what may be the plate of a ship."""
        rest = [one for one in self.guesses if not _may_be_plate(one)]
        return replace(self, guesses=rest)

    def without_bare_cells(self, grid: PrintedGrid | None) -> "SeenCells":
        """Return the same without guesses where just a cell of the mat's grid is."""
        rest = without_bare_cells(grid, self.guesses, _as_base)
        return replace(self, guesses=rest)

    def guess_near(self, xy_mm: Array) -> ShapeCandidate:
        """Return what the likeliest cell of any look at a place or beside it says."""
        return min((look.guess_near(xy_mm) for look in self.looks), key=_by_score)


def look_for_bases(
    frame: Frame,
    camera: Camera,
    from_above: Orthophoto,
    hidden: Sequence[Array] = (),
) -> SeenCells | None:
    """Return what looks like rectangular bases in the part of a table that is seen from above.

    None lies inside a `hidden` polygon (K, 2) in mm or where the photo shows nothing. Where none is
    likely there is nothing to return.
    """
    if from_above.mm_per_px > COARSEST_MM_PER_PX:
        return None
    height, width = np.array(from_above.pixels.shape[:2]) * from_above.mm_per_px
    left, top = from_above.left_mm, from_above.top_mm
    box = (left, top - height, left + width, top)
    view = rectify_photo(frame.pixels, camera, box, MM_PER_PX)
    first = infer_orthophoto(MODEL, view, camera)
    if not SeenCells.of(Look.of(view, first, hidden)).is_likely:  # as on most tables
        return None
    usual = Look.of(view, _with_mirror_images(view, camera, first), hidden)
    if not SeenCells.of(usual).is_likely:
        return None
    larger = rectify_photo(frame.pixels, camera, box, FINE_MM_PER_PX)
    return SeenCells.of(usual, look_at(larger, camera, hidden))


def _as_base(guess: ShapeCandidate) -> PlacedBase:
    return Base.rectangle(guess.width_mm, guess.length_mm), guess.xy_mm, guess.turn_rad


def _may_be_plate(one: ShapeCandidate) -> bool:
    """Tell whether a candidate is about as large as a plate under a ship."""
    if one.length_mm > MAX_PLATE_ASPECT * one.width_mm:
        return False
    side_mm = np.sqrt(one.length_mm * one.width_mm)
    return bool(side_mm > MIN_PLATE_SHARE * PLATE_SIDES_MM[0])


def look_at(view: Orthophoto, camera: Camera, hidden: Sequence[Array] = ()) -> Look:
    """Return what the network says of a view and of its mirror images, in the mean."""
    first = infer_orthophoto(MODEL, view, camera)
    return Look.of(view, _with_mirror_images(view, camera, first), hidden)


def _with_mirror_images(view: Orthophoto, camera: Camera, first: Floats) -> Floats:
    """Return the mean answer about a view and its mirror images, where that about the view itself is known."""
    return mean_with_mirror_images(MODEL, view, camera, first, SIGNED_CHANNELS)


def _by_score(one: ShapeCandidate) -> float:
    return -one.score


def _is_same(one: ShapeCandidate, other: ShapeCandidate) -> bool:
    """Tell whether two candidates are one base."""
    apart_mm = float(np.hypot(*(one.xy_mm - other.xy_mm)))
    return apart_mm < MIN_SPACING_SHARE * min(one.width_mm, other.width_mm)
