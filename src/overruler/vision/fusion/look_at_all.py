"""Measure several photos of one table: each by itself, two at a time, then all together."""

from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace

from overruler.board import Board
from overruler.calibration import Problem
from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.report import MAX_PHOTOS, Report
from overruler.vision.camera.lens_prior import LensPrior
from overruler.vision.camera.problems import sort_by_severity
from overruler.vision.fusion.common_board import map_free_markers
from overruler.vision.fusion.fuse import fuse_photos
from overruler.vision.fusion.same_camera import tell_lenses
from overruler.vision.fusion.same_table import (
    check_same_table,
    disagree,
    find_contradicting_photo,
    is_same_picture,
    is_same_view,
)
from overruler.vision.fusion.to_scene import report_fused
from overruler.vision.pairing.sighting import PHOTOS_AT_A_TIME, SeenPhoto
from overruler.vision.refinement.marker_scale import flag_marker_size_of_all

DISAGREEMENT_TEXT = (
    "the photos disagree by more than their doubt, so all doubt is larger; "
    "check that nothing was moved, and the lens files"
)
"""What is said where photos contradict each other and none can be told from the others."""

LookAtOne = Callable[[Frame, int, Board | None, LensPrior | None], Report]
"""Measures one photo, given its number among all, the board, and its lens by the other photos."""

_Shown = tuple[Frame, int, Board | None, LensPrior | None]
"""What `LookAtOne` is given."""


@dataclass(frozen=True, slots=True, eq=False)
class TableKnowledge:
    """What is known of the table beforehand."""

    board: Board | None
    game: str | None
    radii_mm: Array
    """(C,): radii of the round bases to look for."""


def look_at_all(
    frames: Sequence[Frame],
    look_at_one: LookAtOne,
    known: TableKnowledge,
    progress: Callable[[str], None],
    helper: Executor | None = None,
) -> Report:
    """Measure a table by all its photos; raise `CannotMeasure` where none of them can be measured.

    `helper` measures every other photo; without it threads do.
    """
    _check_count(frames)
    different, problems = _drop_repeated(frames)
    progress("finding the markers in all photos")
    board = known.board
    if board is not None and not board.layout_known and len(different) > 1:
        board = map_free_markers([frames[k] for k in different], board)
    progress(f"measuring {len(different)} photos, {PHOTOS_AT_A_TIME} at a time")
    lenses = tell_lenses([frames[k] for k in different], board)
    shown = [(frames[k], k, board, lens) for k, lens in zip(different, lenses, strict=True)]
    results = _look_at_each(look_at_one, shown, helper)
    reports = {k: one for k, one in zip(different, results, strict=True) if isinstance(one, Report)}
    for k, one in zip(different, results, strict=True):
        if isinstance(one, CannotMeasure):
            text = f"{frames[k].name} is left out: {one}"
            problems.append(Problem("photo_left_out", text))
    if not reports:
        failures = [one for one in results if isinstance(one, CannotMeasure)]
        raise CannotMeasure(f"{frames[different[0]].name}: {failures[0]}")
    progress("joining the photos")
    photos, repeated = _drop_repeated_views(list(reports.values()))
    problems += repeated
    photos = _doubt_marker_size(photos, known.radii_mm)
    fused = fuse_photos(photos, known.radii_mm)
    while (odd := find_contradicting_photo(fused, photos)) is not None:
        text = f"{odd.frame.name} is left out: it contradicts the other photos, which agree"
        problems.append(Problem("photo_left_out", text))
        rest = [photo for photo in photos if photo is not odd]
        photos = [replace(photo, index=k) for k, photo in enumerate(rest)]
        fused = fuse_photos(photos, known.radii_mm)
    check_same_table(fused, photos)
    if disagree(fused):
        problems.append(Problem("photos_disagree", DISAGREEMENT_TEXT))
    on_map = board is not None and board.covariance is not None
    report = report_fused(fused, photos, known.game, on_map)
    grids = [one.scene.grid for one in reports.values() if one.scene.grid is not None]
    report = replace(report, scene=replace(report.scene, grid=next(iter(grids), None)))
    return _with_problems(report, problems)


def _look_at_each(
    look_at_one: LookAtOne,
    shown: Sequence[_Shown],
    helper: Executor | None,
) -> list[Report | CannotMeasure]:
    """Measure each photo by itself, every other one by the helper if there is one."""
    with ThreadPoolExecutor(1 if helper else PHOTOS_AT_A_TIME) as own:
        executors = (own, helper or own)
        looks = [
            executors[n % 2].submit(_try_to_look, look_at_one, *one) for n, one in enumerate(shown)
        ]
        results = []
        for look, one in zip(looks, shown, strict=True):
            try:
                result = look.result()
            except BrokenExecutor:  # for want of memory, perhaps: this process does it after all
                result = _try_to_look(look_at_one, *one)
            if isinstance(result, Report):
                result = replace(result, frame=one[0])  # not the helper's copy of it
            results.append(result)
    return results


def _check_count(frames: Sequence[Frame]) -> None:
    if not frames:
        raise BadInput("no photo is given")
    if len(frames) > MAX_PHOTOS:
        raise BadInput(f"{len(frames)} photos of a table are given, at most {MAX_PHOTOS}")


def _drop_repeated(frames: Sequence[Frame]) -> tuple[list[int], list[Problem]]:
    """Indices of the photos that differ, and a problem for each photo that is given again."""
    different: list[int] = []
    problems = []
    for k, frame in enumerate(frames):
        again = next((j for j in different if is_same_picture(frames[j], frame)), None)
        if again is None:
            different.append(k)
            continue
        text = f"{frame.name} is the same picture as {frames[again].name}: it adds nothing"
        problems.append(Problem("photo_twice", text))
    return different, problems


def _drop_repeated_views(reports: Sequence[Report]) -> tuple[list[SeenPhoto], list[Problem]]:
    """The photos from different places; of two from one place that with more bases counts."""
    photos = [_seen_photo(k, report) for k, report in enumerate(reports)]
    kept: list[SeenPhoto] = []
    problems = []
    for photo in sorted(photos, key=lambda one: (-len(one.detections), one.index)):
        same = next((one for one in kept if is_same_view(one, photo)), None)
        if same is None:
            kept.append(photo)
            continue
        text = f"{photo.frame.name} is from the same place as {same.frame.name}: it adds nothing"
        problems.append(Problem("photo_twice", text))
    kept.sort(key=lambda one: one.index)
    return [replace(photo, index=k) for k, photo in enumerate(kept)], problems


def _doubt_marker_size(photos: Sequence[SeenPhoto], radii_mm: Array) -> list[SeenPhoto]:
    """The photos with what the bases in all of them say of the markers' size."""
    looks = [(photo.frame, photo.calibration, photo.detections) for photo in photos]
    told = flag_marker_size_of_all(looks, radii_mm)
    sorted_ = [replace(one, problems=sort_by_severity(one.problems)) for one in told]
    return [replace(one, calibration=each) for one, each in zip(photos, sorted_, strict=True)]


def _try_to_look(
    look_at_one: LookAtOne, frame: Frame, index: int, board: Board | None, lens: LensPrior | None
) -> Report | CannotMeasure:
    try:
        return look_at_one(frame, index, board, lens)
    except CannotMeasure as error:
        return error


def _seen_photo(index: int, report: Report) -> SeenPhoto:
    return SeenPhoto(
        index,
        report.frame,
        report.calibration,
        (*report.detections, *report.doubtful),
        report.areas,
        report.rulers,
    )


def _with_problems(report: Report, problems: Sequence[Problem]) -> Report:
    """The report with problems of the photos as a whole before those of its first photo."""
    if not problems:
        return report
    extra = dict(report.scene.extra)
    own = [{"flag": problem.flag, "text": problem.text} for problem in problems]
    calibration = dict(extra["calibration"])
    calibration["problems"] = [*own, *calibration["problems"]]
    extra["calibration"] = calibration
    all_problems = (*problems, *report.calibration.problems)
    return replace(
        report,
        calibration=replace(report.calibration, problems=all_problems),
        scene=replace(report.scene, extra=extra),
    )
