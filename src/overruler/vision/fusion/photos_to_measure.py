"""What is told of each of several photos before it is measured: markers, board, lens, or its camera."""

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from overruler.board import Board
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.lens import Lens
from overruler.report import Report
from overruler.vision.camera.calibrate import MIN_MARKERS
from overruler.vision.camera.lens_prior import lens_prior
from overruler.vision.camera.told import NOTHING_TOLD, Told
from overruler.vision.fusion.common_board import map_free_markers
from overruler.vision.fusion.same_camera import tell_lenses
from overruler.vision.hanging.hang import Hung, Reference, hang_photo
from overruler.vision.hexagons.wanted import NO_HEXAGONS, WantedHexagons
from overruler.vision.markers.detect import choose_markers, search_markers
from overruler.vision.markers.marker import Marker
from overruler.vision.pairing.sighting import PHOTOS_AT_A_TIME


@dataclass(frozen=True, slots=True, eq=False)
class TableKnowledge:
    """What is known of the table and its photos beforehand."""

    board: Board | None
    game: str | None
    radii_mm: Array
    """(C,): radii of the round bases to look for, and of those that stand for hexagons."""
    elsewhere: Collection[int] = ()
    """Ids of markers that do not lie on the board."""
    lenses: Sequence[Lens | None] = ()
    """The lens file of each photo, in their order; empty for none."""
    hexagons: WantedHexagons = NO_HEXAGONS
    """The hexagons to look for."""


@dataclass(frozen=True, slots=True, eq=False)
class PhotoToMeasure:
    """A photo with what other photos say of its markers, its lens or its camera."""

    frame: Frame
    index: int
    """Its number among all that were given."""
    board: Board | None
    """The board, with the places of its markers by all photos where they were not known."""
    told: Told = NOTHING_TOLD

    @property
    def known_board(self) -> Board:
        """The board of a photo that has one."""
        if self.board is None:
            raise ValueError("the photo has no board")
        return self.board

    @property
    def shows_too_few_markers(self) -> bool:
        """Whether its markers alone cannot tell its camera, but those of other photos may."""
        if self.board is None or not self.board.layout_known or self.told.markers is None:
            return False
        return len(self.told.markers) < MIN_MARKERS


def tell_of_each(frames: Mapping[int, Frame], known: TableKnowledge) -> list[PhotoToMeasure]:
    """The photos, by their numbers, with their markers and what they tell each other."""
    board, elsewhere = known.board, known.elsewhere
    if board is None:
        return [PhotoToMeasure(frame, k, None) for k, frame in frames.items()]
    pictures, laid = list(frames.values()), board
    with ThreadPoolExecutor(PHOTOS_AT_A_TIME) as pool:
        found = list(pool.map(lambda frame: search_markers(frame, laid), pictures))
    if not board.layout_known and len(pictures) > 1:
        board = _map_markers(pictures, board, [choose_markers(one, board) for one in found])
    on_board = board.without_markers(elsewhere)
    seen = [choose_markers(one, on_board) for one in found]
    seen = [tuple(marker for marker in some if marker.id not in elsewhere) for some in seen]
    lenses = tell_lenses(pictures, on_board, seen)
    return [
        PhotoToMeasure(frames[k], k, board, Told(lens, markers))
        for k, lens, markers in zip(frames, lenses, seen, strict=True)
    ]


def _map_markers(frames: Sequence[Frame], board: Board, seen: Sequence[Sequence[Marker]]) -> Board:
    """The board with its markers' places by the photos that show enough to tell them."""
    enough = [some if len(some) >= MIN_MARKERS else () for some in seen]
    return map_free_markers(frames, board, enough)


def hang_lost_photos(
    photos: Sequence[PhotoToMeasure], measured: Mapping[int, Report], known: TableKnowledge
) -> dict[int, Hung]:
    """The cameras of photos with too few markers, by the ground that measured photos show too.

    Both go by their numbers. Photos of which no camera is sure are left out.
    """
    lost = [one for one in photos if one.index not in measured and one.shows_too_few_markers]
    if not lost or not measured:
        return {}
    every = [marker for one in photos for marker in one.told.markers or ()]
    dictionary = every[0].dictionary if every else lost[0].known_board.dictionary

    def hang(photo: PhotoToMeasure) -> Hung | None:
        lens = known.lenses[photo.index] if known.lenses else None
        board = photo.known_board.without_markers(known.elsewhere)
        board = replace(board, dictionary=dictionary)
        told = photo.told.lens if lens is None else None
        prior = told or lens_prior(photo.frame, lens)
        read = photo.told.markers or ()
        return hang_photo(photo.frame, prior, board, read, references)

    with ThreadPoolExecutor(PHOTOS_AT_A_TIME) as pool:
        described = pool.map(_describe, measured.values())
        references = dict(zip(measured, described, strict=True))
        hung = list(pool.map(hang, lost))
    pairs = zip(lost, hung, strict=True)
    return {photo.index: one for photo, one in pairs if one is not None}


def _describe(report: Report) -> Reference:
    return Reference.of(report.frame, report.calibration)
