"""Measure one photo whose camera is known: find what lies on the table, then settle where it stands.

`find_all` finds rulers, a grid, hills and bases. `settle` puts the bases at their heights, improves the
camera by them, estimates the light and weighs the witnesses of the scale. `report_photo` builds the scene.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from overruler.bases import Base
from overruler.board import Board
from overruler.calibration import Calibration
from overruler.declared_terrain import DeclaredTerrain
from overruler.detections import DetectedRuler, Detection, RaisedArea
from overruler.frame import Frame
from overruler.report import Report
from overruler.vision.assembly.to_scene import build_scene
from overruler.vision.camera.problems import sort_by_severity
from overruler.vision.contours.shading import check_low_light, estimate_light
from overruler.vision.detection.choice import split_doubtful
from overruler.vision.detection.detect import detect, rectify_board
from overruler.vision.detection.lazy_polygons import LazyPolygons
from overruler.vision.detection.sizes import Sizes, round_radii_mm
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.imaging.veil import veil_problems
from overruler.vision.learned.hill_net import HillMap, predict_hill_map
from overruler.vision.prints.printed_grid import PrintedGrid
from overruler.vision.refinement.base_scale import refine_by_bases
from overruler.vision.refinement.lit_side import remeasure_by_lit_side
from overruler.vision.refinement.marker_scale import flag_marker_size
from overruler.vision.refinement.scale_doubt import doubt_scale
from overruler.vision.rounds.scoring import MIN_SCORE
from overruler.vision.rulers.find import find_rulers, ruler_footprints, ruler_problems
from overruler.vision.rulers.hexgrid import GridSeen, find_grid, grid_problems
from overruler.vision.terrain.declared import board_cards_mm, detect_on_ground, locate_ground
from overruler.vision.terrain.raised import raise_found

ORTHOPHOTO_PIXEL_MM = 1.6
"""Pixel size of the orthophoto for the detection of rulers, grids and hills."""
DOUBTFUL_SCORE = 0.15
"""Least score of what other photos may confirm as a base."""


@dataclass(frozen=True, slots=True)
class PhotoKnowledge:
    """What is known of a photo's table beforehand."""

    board: Board | None
    game: str | None
    bases: Sequence[Base]
    """The bases to look for."""
    terrain: Sequence[DeclaredTerrain]
    """Declared raised ground."""
    is_flat: bool
    """Whether there is no raised ground but the declared one."""
    margin_mm: float
    """How far beyond the board bases may stand."""
    is_one_of_several: bool = False
    """Whether other photos show the table too: what scores less than a base is then doubtful, not lost."""


@dataclass(frozen=True, slots=True, eq=False)
class Finds:
    """What a photo shows on the table."""

    view: Orthophoto
    """The board from above."""
    bases: tuple[Detection, ...]
    doubtful: tuple[Detection, ...]
    """What only other photos may confirm."""
    rulers: tuple[DetectedRuler, ...]
    grid: GridSeen | None
    ground: tuple[RaisedArea, ...]
    """Declared raised ground, where the photo shows it."""
    hills: HillMap | None
    """The network's map of raised ground; None where the table is flat."""


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """Where the bases stand, by a camera that they helped to measure."""

    calibration: Calibration
    bases: tuple[Detection, ...]
    """By their x."""
    ground: tuple[RaisedArea, ...]


def find_all(
    frame: Frame,
    calibration: Calibration,
    known: PhotoKnowledge,
    progress: Callable[[str], None] = lambda text: None,
) -> Finds:
    """Find what lies on the table; rulers, grids and hills on another thread, beside the bases."""
    ground = locate_ground(frame, calibration, known.terrain, known.board)
    view = rectify_board(frame, calibration, ORTHOPHOTO_PIXEL_MM, known.margin_mm)
    least = DOUBTFUL_SCORE if known.is_one_of_several else MIN_SCORE
    with ThreadPoolExecutor(1) as aside:  # in the order in which the results are needed
        rulers = aside.submit(find_rulers, frame, calibration, view)
        printed = aside.submit(PrintedGrid.of, view, calibration.board_mm)
        grid = aside.submit(find_grid, view, calibration.board_mm)
        hills = None if known.is_flat else aside.submit(predict_hill_map, view, calibration.camera)
        cards = [*board_cards_mm(known.board, calibration), *ground.cards_mm()]
        hidden = LazyPolygons(lambda: [*cards, *ruler_footprints(rulers.result())])
        wanted = (known.bases, hidden, known.margin_mm, progress, None, least, printed.result)
        on_board, doubtful = split_doubtful(detect(frame, calibration, *wanted))
    on_ground = detect_on_ground(frame, calibration, known.bases, ground, progress)
    return Finds(
        view,
        ground.merge_detections(on_board, on_ground),
        doubtful,
        rulers.result(),
        grid.result(),
        ground.areas,
        None if hills is None else hills.result(),
    )


def settle(frame: Frame, calibration: Calibration, finds: Finds, known: PhotoKnowledge) -> Settled:
    """Put the bases at their heights, and improve the camera, the light and the scale by them."""
    alone = not known.is_one_of_several
    radii_mm = round_radii_mm(known.bases) if alone else Sizes.of(known.bases).radii_mm
    hills = None if finds.hills is None else (finds.view, finds.hills)
    ground_facts = finds.ground, hills, radii_mm, alone
    found, ground = raise_found(frame, calibration, finds.bases, *ground_facts)
    calibration, found = refine_by_bases(frame, calibration, found)
    light = estimate_light(finds.view, calibration.camera, calibration.board_mm, found)
    calibration = replace(calibration, light=light)
    found = tuple(remeasure_by_lit_side(frame, calibration, base) for base in found)
    if alone:
        calibration = flag_marker_size(frame, calibration, found, radii_mm)
    calibration = doubt_scale(frame, calibration, known.board, found, finds.rulers)
    in_order = tuple(sorted(found, key=lambda detection: float(detection.xy_mm[0])))
    return Settled(calibration, in_order, ground)


def report_photo(frame: Frame, finds: Finds, settled: Settled, known: PhotoKnowledge) -> Report:
    """Build the scene of what was found and settled, and tell what is wrong with the photo."""
    problems = [
        *settled.calibration.problems,
        *check_low_light(settled.calibration, settled.bases),
        *veil_problems(frame),
        *ruler_problems(finds.rulers),
        *grid_problems(finds.grid),
    ]
    calibration = replace(settled.calibration, problems=sort_by_severity(problems))
    grid = finds.grid.grid if finds.grid is not None and finds.grid.is_aligned else None
    on_table = finds.rulers, grid, settled.ground
    return Report(
        frame,
        calibration,
        settled.bases,
        build_scene(calibration, settled.bases, known.game, *on_table),
        rulers=finds.rulers,
        areas=settled.ground,
        board=known.board,
        doubtful=finds.doubtful,
    )
