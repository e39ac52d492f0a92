"""A table under two cameras, drawn small and quickly, and a measurer that knows where all stands."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from overruler.bases import Base
from overruler.board import Board
from overruler.calibration import Calibration, Covariances
from overruler.detections import Detection
from overruler.errors import CannotMeasure
from overruler.frame import Frame, Shot, crop_box
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose, rotation_from_vector
from overruler.house_rules import HouseRules
from overruler.report import Report
from overruler.track import Move, Tick
from overruler.vision.assembly.to_scene import build_scene
from overruler.vision.several_cameras.watch import TableFacts, WatchSeveral

SIZE_PX = (720, 540)
BOARD_MM = (700.0, 500.0)
HOMES = {"a": (150.0, 250.0, 27.0), "b": (300.0, 140.0, 50.0), "c": (470.0, 300.0, 27.0)}
TO_MM = (520.0, 230.0)
START_S, END_S, HAND_S, UNTIL_S = 1.2, 2.4, (0.9, 2.9), 4.4
KINDS = (Base.circle(27.0), Base.circle(50.0))

Pixels = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
Spoil = Callable[[int, float, Pixels], None]


def camera_from(side_deg: float) -> Camera:
    """A camera over the middle of the board, tilted by 25° towards it from one side."""
    tilt, turn = np.radians([25.0, side_deg])
    rotation = rotation_from_vector([np.pi - tilt, 0, 0]) @ rotation_from_vector([0, 0, turn])
    middle = np.array([BOARD_MM[0] / 2, BOARD_MM[1] / 2, 0.0])
    eye = middle - rotation[2] * 1000.0
    matrix = np.array([[720.0, 0, 360.0], [0, 720.0, 270.0], [0, 0, 1.0]])
    return Camera(matrix, np.zeros(5), Pose(rotation, -rotation @ eye))


CAMERAS = (camera_from(0.0), camera_from(140.0))


def carried(time_s: float) -> Array:
    """Where piece b is."""
    share = float(np.clip((time_s - START_S) / (END_S - START_S), 0, 1))
    start = np.array(HOMES["b"][:2])
    return np.asarray(start + (3 * share**2 - 2 * share**3) * (np.array(TO_MM) - start))


def places_at(time_s: float) -> dict[str, Array]:
    return {
        name: carried(time_s) if name == "b" else np.array(home[:2]) for name, home in HOMES.items()
    }


@dataclass(slots=True)
class StandIn:
    """Knows where the bases are; what is tested is the watching, not the finding."""

    time_s: float = 0.0
    blind: frozenset[int] = frozenset()
    """Cameras that cannot measure anything."""
    unknown: dict[int, str] = field(default_factory=dict)
    """A piece that a camera does not find, by the camera's number."""

    def look_at_one_of_several(self, frame: Frame, index: int, board: Board | None) -> Report:
        if index in self.blind:
            raise CannotMeasure("no markers were found")
        calibration = Calibration(
            CAMERAS[index], Covariances.same(1e-8 * np.eye(15)), SIZE_PX, 0.0, (), BOARD_MM
        )
        found = tuple(self.found(index))
        return Report(frame, calibration, found, build_scene(calibration, found))

    def redetect_bases(
        self, frame: Frame, report: Report, bases: Sequence[Base] | None, within_mm: Array | None
    ) -> tuple[Detection, ...]:
        index = int(frame.name)
        low, high = within_mm if within_mm is not None else (-np.inf, np.inf)
        found = self.found(index)
        inside = [one for one in found if (one.xy_mm > low).all() and (one.xy_mm < high).all()]
        # the picture may be a part of the whole one, whose pixels count from its own corner
        corner = CAMERAS[index].matrix[:2, 2] - report.calibration.camera.matrix[:2, 2]
        moved = [_shifted(one, -corner) for one in inside]
        return tuple(one for one in moved if bases is None or one.base in bases)

    def remeasure_base(self, frame: Frame, report: Report, one: Detection) -> None:
        """Nothing more to be said."""

    def found(self, index: int) -> Iterator[Detection]:
        for name, at in places_at(self.time_s).items():
            if self.unknown.get(index) != name:
                pixel = CAMERAS[index].project(np.array([*at, 0.0]))
                base, doubt = Base.circle(HOMES[name][2]), np.eye(2) * 0.01
                jacobian, outline = np.zeros((2, 15)), np.tile(pixel, (8, 1))
                yield Detection(base, at, 0.0, 0.0, doubt, jacobian, 0.99, 1.0, pixel, outline)


def _shifted(one: Detection, by_px: Array) -> Detection:
    return replace(one, center_px=one.center_px + by_px, outline_px=one.outline_px + by_px)


# --- pictures ---


def _mat(index: int) -> Pixels:
    rng = np.random.default_rng(index)
    lumps = rng.normal(0, 1, (54, 72)).astype(np.float32)
    light = 110 + 9 * cv2.resize(lumps, SIZE_PX, interpolation=cv2.INTER_CUBIC)
    return np.repeat(np.clip(light, 0, 255).astype(np.uint8)[..., None], 3, axis=2)


MATS = tuple(map(_mat, range(len(CAMERAS))))


def picture(index: int, time_s: float, spoil: Spoil | None = None) -> Pixels:
    camera, pixels = CAMERAS[index], MATS[index].copy()
    for name, at in places_at(time_s).items():
        radius = HOMES[name][2] / 2
        _fill(pixels, camera.project(_ring(at, radius)), 20)
        _fill(pixels, camera.project(_ring(at, radius * 0.85)), 70)
        _fill(pixels, camera.project(_ring(at + np.array([radius * 0.3, 0]), radius * 0.35)), 200)
    if HAND_S[0] <= time_s < HAND_S[1]:
        away = 500 * max(START_S - time_s, time_s - END_S, 0) / 0.5
        tip = carried(time_s) + np.array([0, 12 + away])
        arm = np.array([[-25, 30], [0, 0], [25, 30], [60, 700], [-60, 700]]) + tip
        _fill(pixels, camera.project(np.column_stack([arm, np.full(5, 25.0)])), 170)
    if spoil is not None:
        spoil(index, time_s, pixels)
    return pixels


def shot_of(
    index: int, game_s: float, spoil: Spoil | None = None, time_s: float | None = None
) -> Shot:
    """A camera's picture, which is grey, of a moment of the game, at that time or another."""
    pixels = picture(index, game_s, spoil)
    time_s = game_s if time_s is None else time_s
    return Shot(time_s, pixels[..., 0].copy(), lambda box: crop_box(pixels, box), str(index))


def _ring(middle: Array, radius: float) -> Array:
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    flat = middle + radius * np.stack([np.cos(angle), np.sin(angle)], -1)
    return np.column_stack([flat, np.zeros(len(flat))])


def _fill(pixels: Pixels, outline_px: Array, level: int) -> None:
    fine = np.rint(outline_px * 16).astype(np.int32)
    cv2.fillPoly(pixels, [fine], (level,) * 3, lineType=cv2.LINE_AA, shift=4)


def hide(pixels: Pixels, index: int, at: tuple[float, float], reach_mm: float) -> None:
    """Something large stands before a place of the board, in one camera's picture."""
    u, v = CAMERAS[index].project(np.array([*at, 0.0])).astype(int).tolist()
    reach = int(reach_mm * 0.72)
    pixels[max(v - reach, 0) : v + reach, max(u - reach, 0) : u + reach] = 60


# --- watching ---


def watch_of(standing_in: StandIn) -> WatchSeveral:
    radii = np.array([kind.width_mm / 2 for kind in KINDS])
    known = TableFacts(None, "inches", HouseRules(), KINDS, radii)
    return WatchSeveral(standing_in, known, ("left", "right"))


def watched(
    standing_in: StandIn | None = None,
    spoil: Spoil | None = None,
    ends_s: tuple[float, float] = (UNTIL_S, UNTIL_S),
    at_s: tuple[float, Callable[[WatchSeveral], None]] = (-1.0, lambda watch: None),
) -> tuple[list[Tick], WatchSeveral]:
    """The ticks of a game in which piece b is carried.

    `ends_s` says when either camera ends, `at_s` what else happens, and when.
    """
    standing_in = standing_in or StandIn()
    watch, ticks = watch_of(standing_in), []
    for step in range(round(UNTIL_S * 10)):
        standing_in.time_s = step / 10
        if step == round(at_s[0] * 10):
            at_s[1](watch)
        shots = []
        for index in range(len(CAMERAS)):
            if step == round(ends_s[index] * 10):
                watch.end_camera(index)
            elif step < round(ends_s[index] * 10):
                shots.append((index, shot_of(index, step / 10, spoil)))
        ticks.append(watch.look(shots))
    last = watch.close()
    return ticks + ([last] if last is not None else []), watch


def moves_of(ticks: Sequence[Tick]) -> list[Move]:
    return [move for tick in ticks for move in tick.moves]


def notes_of(ticks: Sequence[Tick]) -> list[str]:
    return [note for tick in ticks for note in tick.notes]


def rests_of(ticks: Sequence[Tick]) -> list[Report]:
    return [tick.rest for tick in ticks if tick.rest is not None]
