"""Faults among several photos: none of them makes a scene surer than it is."""

from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evaluate.drawn.views import BOARD_MM, Truth, camera_from, see, without
from overruler.apps.settings.known_boards import usual_boards
from overruler.board import Board
from overruler.calibration import Problem
from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Frame
from overruler.geometry.plane_doubt import MarkerContrast, TableDoubt
from overruler.geometry.pose import Array
from overruler.report import Report
from overruler.scene import Scene
from overruler.units import lengths_in_unit
from overruler.vision.assembly.to_scene import build_scene
from overruler.vision.fusion.look_at_all import look_at_all
from overruler.vision.fusion.photos_to_measure import TableKnowledge
from overruler.vision.fusion.table_errors import share_table_doubt
from overruler.vision.pairing.sighting import SeenPhoto

RADII_MM = np.array([25, 27, 32, 40, 50]) / 2
BASES: list[Truth] = [(180.0 + 80 * k, 150.0 + 70 * (k % 4), 0.0, 27.0) for k in range(8)]
KNOWN = TableKnowledge(None, "legion", RADII_MM)

pytestmark = pytest.mark.usefixtures("fits_as_stated")


def speckled(frame: Frame, seed: int) -> Frame:
    """A frame that is like no other."""
    noise = np.random.default_rng(seed).integers(40, 200, (9, 12, 3), np.uint8)
    return replace(frame, pixels=np.repeat(np.repeat(noise, 100, 0), 100, 1))


def table(count: int, bases: Sequence[Truth] = BASES) -> list[SeenPhoto]:
    photos = []
    for k in range(count):
        seen = see(k, camera_from(360 * k / count), bases, np.random.default_rng(k))
        photos.append(replace(seen, frame=speckled(seen.frame, k)))
    return photos


def report_of(photo: SeenPhoto) -> Report:
    scene = build_scene(photo.calibration, photo.detections, "legion")
    return Report(photo.frame, photo.calibration, photo.detections, scene)


def measure(
    photos: Sequence[SeenPhoto],
    fails: Callable[[int], bool] = lambda index: False,
    helper: Executor | None = None,
    known: TableKnowledge = KNOWN,
) -> Report:
    def look(frame: Frame, index: int, board: Board | None, lens: object) -> Report:
        if fails(index):
            raise CannotMeasure("the photo is blurred")
        return report_of(replace(photos[index], frame=frame))

    frames = [photo.frame for photo in photos]
    return look_at_all(frames, look, known, lambda text: None, helper)


def variances(scene: Scene) -> Array:
    assert scene.covariance is not None
    return np.diag(scene.covariance.array)


def test_three_photos_make_one_scene_with_all_they_show() -> None:
    photos = table(3)
    report = measure([without(photos[0], 2), without(photos[1], 5), photos[2]])
    assert len(report.scene.pieces) == len(BASES)
    truth = np.array(sorted(BASES))[:, :2]
    places = np.array([[piece.x_mm, piece.y_mm] for piece in report.scene.pieces])
    assert np.abs(places - truth).max() < 1.5
    extra = report.scene.extra
    assert [photo["file"] for photo in extra["photos"]] == [f"photo{k}.jpg" for k in range(3)]
    assert "moved" not in extra
    images = report.scene.pieces[2].extra["images"]
    assert [(image["photo"], image["seen"]) for image in images] == [
        (0, False), (1, True), (2, True),
    ]  # fmt: skip
    assert Scene.from_json(report.scene.to_json()).to_json() == report.scene.to_json()


def test_the_report_names_the_board_as_that_of_one_photo_does() -> None:
    board = usual_boards()["6x3"]
    assert measure(table(2), known=replace(KNOWN, board=board)).board is board


class Helper(Executor):
    """Does what it is given at once, or ends as a process does that lacks memory.

    A pool of processes refuses what it is given after that.
    """

    def __init__(self, ends: str) -> None:
        self.ends, self.asked = ends, list[int]()

    def submit(self, task: Any, /, *args: Any, **_: Any) -> "Future[Any]":
        self.asked.append(args[1].index)
        if self.ends == "before":
            raise BrokenExecutor
        future: Future[Any] = Future()
        if self.ends == "meanwhile":
            future.set_exception(BrokenExecutor())
        else:
            future.set_result(task(*args))
        return future


@pytest.mark.parametrize("ends", ["never", "meanwhile", "before"])
def test_a_helper_measures_every_other_photo_and_may_end(ends: str) -> None:
    photos, helper = table(3), Helper(ends)
    alone, helped = measure(photos), measure(photos, helper=helper)
    assert helper.asked == [1]
    assert helped.scene.to_json() == alone.scene.to_json()
    assert all(one.frame is photo.frame for one, photo in zip(helped.photos, photos, strict=True))


def test_a_photo_given_twice_adds_no_precision() -> None:
    (one, _) = table(2)
    again = replace(one, index=1, frame=replace(one.frame, name="again.jpg"))
    once, twice = measure([one]), measure([one, again])
    assert variances(twice.scene) == pytest.approx(variances(once.scene))
    flags = [problem.flag for problem in twice.calibration.problems]
    assert flags == ["photo_twice"]


def test_a_photo_from_the_same_place_adds_no_precision() -> None:
    """Cut, turned or brightened, a picture is still the same; so is the next one of a burst."""
    one, other = table(2)
    burst = see(1, camera_from(0.5), BASES, np.random.default_rng(5), speckled(one.frame, 9))
    once, twice = measure([one]), measure([one, burst])
    assert variances(twice.scene) == pytest.approx(variances(once.scene))
    assert [problem.flag for problem in twice.calibration.problems] == ["photo_twice"]
    assert variances(measure([one, other]).scene).mean() < 0.7 * variances(once.scene).mean()


def test_a_photo_that_cannot_be_measured_is_left_out_and_named() -> None:
    report = measure(table(3), fails=lambda index: index == 1)
    assert [photo["file"] for photo in report.scene.extra["photos"]] == ["photo0.jpg", "photo2.jpg"]
    (problem,) = report.calibration.problems
    assert "photo1.jpg is left out: the photo is blurred" in problem.text
    with pytest.raises(CannotMeasure, match="blurred"):
        measure(table(2), fails=lambda index: True)


def test_a_photo_of_another_table_is_refused_with_that_word() -> None:
    others = [(260.0 + 60 * k, 480.0 - 50 * (k % 5), 0.0, 32.0) for k in range(7)]
    photos = [*table(3)[:2], replace(table(3, others)[2], index=2)]
    with pytest.raises(CannotMeasure, match=r"photo2\.jpg shows another table"):
        measure(photos)


def stretched(photo: SeenPhoto, share: float) -> SeenPhoto:
    """A photo by a wrong lens file, or with a moved marker: all is off its place."""
    middle = np.array(BOARD_MM) / 2
    off = [
        replace(
            one, xy_mm=middle + share * (one.xy_mm - middle) + 2 * (share - 1) * one.xy_mm[::-1]
        )
        for one in photo.detections
    ]
    return replace(photo, detections=tuple(off))


@pytest.mark.parametrize("share", [1.003, 1.006, 1.02])
def test_a_photo_that_contradicts_two_others_is_left_out(share: float) -> None:
    photos = table(3)
    report = measure([*photos[:2], stretched(photos[2], share)])
    (problem,) = report.calibration.problems
    assert (problem.flag, problem.text[:25]) == ("photo_left_out", "photo2.jpg is left out: i")
    assert len(report.photos) == 2
    assert variances(report.scene) == pytest.approx(variances(measure(photos[:2]).scene))


def test_of_two_photos_that_contradict_each_other_none_is_believed() -> None:
    photos = table(2)
    good, bad = measure(photos), measure([photos[0], stretched(photos[1], 1.003)])
    assert [problem.flag for problem in bad.calibration.problems] == ["photos_disagree"]
    assert np.sqrt(variances(bad.scene)).mean() > 1.5 * np.sqrt(variances(good.scene)).mean()
    with pytest.raises(CannotMeasure, match="in other places than the other photos"):
        measure([photos[0], stretched(photos[1], 1.02)])


def test_ten_photos_are_the_most() -> None:
    assert len(measure(table(10)).scene.pieces) == len(BASES)
    with pytest.raises(BadInput, match="at most 10"):
        measure(table(11))


def test_the_photo_that_tells_the_scale_best_speaks_for_the_table() -> None:
    """A coarse photo that doubts the print does not make a sharp one's scene unsure, whichever comes first."""
    said = Problem("scale_disagrees", "the scale is in doubt")
    coarse, sharp, blind = (
        _doubting(one, *how)
        for one, how in zip(
            table(3), ((1e-4, 0.05, (said,)), (1e-6, 1e-3, ()), (None, 0.2, ())), strict=True
        )
    )
    for photos in ([coarse, sharp, blind], [sharp, blind, coarse], [blind, coarse, sharp]):
        for photo in share_table_doubt(photos):
            assert photo.calibration.doubt is sharp.calibration.doubt
            assert photo.calibration.problems == ()
    told = share_table_doubt([blind, coarse])
    assert [photo.calibration.problems for photo in told] == [(said,), (said,)]
    assert all(photo.calibration.doubt is coarse.calibration.doubt for photo in told)


def test_a_photo_that_is_left_out_says_nothing_of_the_table() -> None:
    photos = table(3)
    doubted = [_doubting(one, 1e-4, 1e-3, ()) for one in photos[:2]]
    odd = _doubting(stretched(photos[2], 1.02), 1e-9, 0.05, ())
    with_odd, without_it = measure([*doubted, odd]), measure(doubted)
    assert [problem.flag for problem in with_odd.calibration.problems] == ["photo_left_out"]
    assert _rare(with_odd.scene) == pytest.approx(_rare(without_it.scene))


def _rare(scene: Scene) -> Array:
    """The variances under what is seldom wrong with a table."""
    assert scene.covariance is not None
    assert scene.covariance.rare_alternative is not None
    return np.diag(scene.covariance.rare_alternative.covariance.array)


def _doubting(
    photo: SeenPhoto, variance: float | None, strain: float, problems: tuple[Problem, ...]
) -> SeenPhoto:
    """The photo with this variance of its contrast, if any, this σ of the table's strain, and problems."""
    contrast = None if variance is None else MarkerContrast(np.zeros(3), np.eye(3) * variance)
    doubt = TableDoubt(strain_covariance=np.eye(3) * strain**2)
    calibration = replace(photo.calibration, contrast=contrast, doubt=doubt, problems=problems)
    return replace(photo, calibration=calibration)


def test_an_error_of_all_photos_tells_its_lengths_in_any_unit() -> None:
    def look(frame: Frame, index: int, board: Board | None, lens: object) -> Report:
        raise CannotMeasure("it would hang", in_mm=" 50.8 mm over the table")

    frames = [photo.frame for photo in table(2)]
    with pytest.raises(CannotMeasure) as caught:
        look_at_all(frames, look, KNOWN, lambda text: None)
    caught.value.tell_lengths(lambda text: lengths_in_unit(text, "in"))
    assert str(caught.value) == "photo0.jpg: it would hang 2.00 in over the table"
