"""Measure several photos of one table: each by itself, two at a time, then all together."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace

from overruler.board import Board
from overruler.calibration import Problem
from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.report import MAX_PHOTOS, Report, with_problems
from overruler.scene import Grid
from overruler.vision.camera.problems import sort_by_severity
from overruler.vision.camera.told import Told
from overruler.vision.fusion.fuse import fuse_photos
from overruler.vision.fusion.photos_to_measure import (
    PhotoToMeasure,
    TableKnowledge,
    hang_lost_photos,
    tell_of_each,
)
from overruler.vision.fusion.same_table import (
    check_same_table,
    disagree,
    find_contradicting_photo,
    is_same_picture,
    is_same_view,
    leave_out,
)
from overruler.vision.fusion.table_errors import share_table_doubt
from overruler.vision.fusion.to_scene import report_fused
from overruler.vision.hanging.hang import Hung
from overruler.vision.pairing.ground.bare_cells import with_prints
from overruler.vision.pairing.sighting import PHOTOS_AT_A_TIME, SeenPhoto
from overruler.vision.refinement.marker_scale import flag_marker_size_of_all

DISAGREEMENT_TEXT = (
    "the photos disagree by more than their doubt, so all doubt is larger; "
    "check that nothing was moved, and the lens files"
)
"""What is said where photos contradict each other and none can be told from the others."""

LookAtOne = Callable[[Frame, int, Board | None, Told], Report]
"""Measures one photo, given its number among all, the board, and what is told of it."""

_Results = dict[int, Report | CannotMeasure]
"""What came of each photo, by its number."""


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
    seen = see_all(frames, look_at_one, known, progress, helper)
    photos, problems = seen.photos, [*seen.problems]
    progress("joining the photos")
    fused = fuse_photos(photos, known.radii_mm, known.hexagons)
    while (odd := find_contradicting_photo(fused, photos)) is not None:
        photos, left_out = leave_out(photos, odd)
        problems += left_out
        fused = fuse_photos(photos, known.radii_mm, known.hexagons)
    check_same_table(fused, photos)
    if disagree(fused):
        problems.append(Problem("photos_disagree", DISAGREEMENT_TEXT))
    photos = share_table_doubt(photos)  # one that is left out says nothing of the table
    report = report_fused(fused, photos, known.game, seen.is_on_map)
    scene = replace(report.scene, grid=seen.grid)
    report = replace(report, scene=scene, board=known.board)
    return with_problems(report, problems)


@dataclass(frozen=True, slots=True, eq=False)
class SeenTable:
    """What each photo of a table shows by itself."""

    photos: list[SeenPhoto]
    """Those that can be measured, from different places."""
    problems: Sequence[Problem]
    """What is said of the photos that are left out or hang on others."""
    grid: Grid | None
    """The printed grid, by the first photo that shows it."""
    is_on_map: bool
    """Whether the markers' places were measured, with their covariance."""


def see_all(
    frames: Sequence[Frame],
    look_at_one: LookAtOne,
    known: TableKnowledge,
    progress: Callable[[str], None],
    helper: Executor | None = None,
) -> SeenTable:
    """Measure each photo by itself; raise `CannotMeasure` where none can be measured, as `look_at_all`."""
    _check_count(frames)
    different, problems = _drop_repeated(frames)
    progress("finding the markers in all photos")
    shown = tell_of_each({k: frames[k] for k in different}, known)
    progress(f"measuring {len(different)} photos, {PHOTOS_AT_A_TIME} at a time")
    results = _look_at_each(look_at_one, shown, helper)
    reports = {k: one for k, one in results.items() if isinstance(one, Report)}
    hung = hang_lost_photos(shown, reports, known)
    if hung:
        progress("measuring the photos that hang on others by the ground")
        hanging = [replace(one, told=hung[one.index].told) for one in shown if one.index in hung]
        results |= _look_at_each(look_at_one, hanging, helper)
    reports = {k: one for k, one in results.items() if isinstance(one, Report)}
    problems += [*_say_who_hangs(reports, hung), *_say_who_is_left_out(frames, results)]
    if not reports:
        failures = [one for one in results.values() if isinstance(one, CannotMeasure)]
        raise failures[0].about(frames[different[0]].name)
    seen = [
        replace(_seen_photo(k, report), leans=hung[k].leans if k in hung else ())
        for k, report in reports.items()
    ]
    photos, repeated = _drop_repeated_views(seen)
    problems += repeated
    photos = with_prints(_doubt_marker_size(photos, known.radii_mm))
    on_map = any(one.board is not None and one.board.covariance is not None for one in shown)
    grids = [one.scene.grid for one in reports.values() if one.scene.grid is not None]
    return SeenTable(photos, problems, next(iter(grids), None), on_map)


def _look_at_each(
    look_at_one: LookAtOne, shown: Sequence[PhotoToMeasure], helper: Executor | None
) -> _Results:
    """Measure each photo by itself, every other one by the helper if there is one."""
    with ThreadPoolExecutor(1 if helper else PHOTOS_AT_A_TIME) as own:
        looks = [
            _start_look(own, helper if n % 2 else None, look_at_one, one)
            for n, one in enumerate(shown)
        ]
        results: _Results = {}
        for look, one in zip(looks, shown, strict=True):
            try:
                result = look.result()
            except BrokenExecutor:  # for want of memory, perhaps: this process does it after all
                result = _try_to_look(look_at_one, one)
            if isinstance(result, Report):
                result = replace(result, frame=one.frame)
            results[one.index] = result
    return results


def _start_look(
    own: Executor, helper: Executor | None, look_at_one: LookAtOne, one: PhotoToMeasure
) -> Future[Report | CannotMeasure]:
    """Have the helper measure a photo; without one, or if it has ended before, this process does."""
    if helper is not None:
        with suppress(BrokenExecutor):
            return helper.submit(_look_for_another, look_at_one, one)
    return own.submit(_try_to_look, look_at_one, one)


def _say_who_hangs(reports: Mapping[int, Report], hung: Mapping[int, Hung]) -> list[Problem]:
    """A problem for each photo whose camera others tell."""
    said = []
    for k in sorted(hung.keys() & reports.keys()):
        others = " and ".join(frame.name for frame in hung[k].others)
        reason = "too few of its markers can be read"
        text = f"{reports[k].frame.name} hangs on {others} by the ground that both show: {reason}"
        said.append(Problem("photo_hangs", text))
    return said


def _say_who_is_left_out(frames: Sequence[Frame], results: _Results) -> list[Problem]:
    """A problem for each photo that cannot be measured."""
    return [
        Problem("photo_left_out", f"{frames[k].name} is left out: {one}")
        for k, one in results.items()
        if isinstance(one, CannotMeasure)
    ]


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


def _drop_repeated_views(photos: Sequence[SeenPhoto]) -> tuple[list[SeenPhoto], list[Problem]]:
    """The photos from different places; of two from one place that with more bases counts."""
    kept: list[SeenPhoto] = []
    problems = []
    for photo in sorted(
        photos, key=lambda one: (len(one.leans) > 0, -len(one.detections), one.index)
    ):
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


def _try_to_look(look_at_one: LookAtOne, one: PhotoToMeasure) -> Report | CannotMeasure:
    try:
        return look_at_one(one.frame, one.index, one.board, one.told)
    except CannotMeasure as error:
        return error


def _look_for_another(look_at_one: LookAtOne, one: PhotoToMeasure) -> Report | CannotMeasure:
    """The same in another process, which does not send the picture back."""
    result = _try_to_look(look_at_one, one)
    if isinstance(result, Report):
        frame = replace(one.frame, pixels=one.frame.pixels[:1, :1].copy(), taken=None)
        result = replace(result, frame=frame)
    return result


def _seen_photo(index: int, report: Report) -> SeenPhoto:
    return SeenPhoto(
        index,
        report.frame,
        report.calibration,
        (*report.detections, *report.doubtful),
        report.areas,
        report.rulers,
    )
