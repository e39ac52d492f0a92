"""A piece while people's corrections of it are applied."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from overruler.detections import Detection
from overruler.fixes import Fix
from overruler.geometry.batched.vectors import distance
from overruler.records import PieceRecord
from overruler.scene import Piece

SAME_HEIGHT_MM = 5.0
"""Bases whose heights differ by more may stand over each other, in mm."""


@dataclass(frozen=True, slots=True, eq=False)
class CorrectedPiece:
    """A piece and its detection."""

    piece: Piece
    """The piece of the scene; a new measurement replaces its place only."""
    detection: Detection
    corrections: tuple[str, ...] = ()
    """What was corrected about it."""
    last_fix: Fix | None = None
    """The last correction of its place."""
    former_id: str = ""  # where it was renamed

    @property
    def id(self) -> str:
        """The id that it has now."""
        return self.piece.id

    @property
    def seen_in(self) -> list[int]:
        """The photos, of several, that it is measured in."""
        if self.last_fix is not None:
            return [self.last_fix.photo_index]
        images = PieceRecord.from_json(self.piece.extra).images
        return [image.photo for image in images if image.seen]


def check_no_overlap(pieces: Sequence[CorrectedPiece]) -> None:
    """Reject a correction that puts a base where another one stands."""
    for one, other in combinations(pieces, 2):
        last, first = (one, other) if other.last_fix is None else (other, one)
        if last.last_fix is not None and _overlap(one.detection, other.detection):
            last.last_fix.fail(
                f"{last.id} would stand where {first.id} does: move, resize or remove that one"
            )


def _overlap(one: Detection, other: Detection) -> bool:
    if abs(one.z_mm - other.z_mm) >= SAME_HEIGHT_MM:
        return False
    nearest_mm = min(one.base.width_mm, other.base.width_mm) / 2
    return distance(one.xy_mm, other.xy_mm) < nearest_mm
