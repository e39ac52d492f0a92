"""Photos of one table, each with the layout of markers that it alone would give, brought into one frame."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.vision.camera.bundle_adjustment import Bundle, Prior, State
from overruler.vision.camera.initial_pose import pose_of_squares
from overruler.vision.camera.lens_prior import camera_of, matrix_of, straightened
from overruler.vision.camera.observations import Group, free_group
from overruler.vision.markers.edge_noise import place_columns
from overruler.vision.markers.marker import Marker

Places = Mapping[int, Array]
"""Each marker's upper left corner in mm and the heading of its upper edge in radians (3,)."""

EDGE_MM = 60.0
"""How far a marker's turn reaches when views are laid on one another: about its side."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One photo, and the layout that it alone would give."""

    name: str
    ids: tuple[int, ...]
    groups: tuple[Group, ...]
    prior: Prior
    camera: Camera
    shift_px: float
    places: dict[int, Array]
    """As `Places`, in a frame of the photo's own or a common one."""

    @classmethod
    def of(cls, name: str, markers: Sequence[Marker], prior: Prior, sides_mm: tuple[float, float]) -> "View":
        across, along = sides_mm
        side, aspect = (across + along) / 2, np.array([across, along, 0.0]) * 2 / (across + along)
        groups = tuple(free_group(marker, side) for marker in markers)
        groups = tuple(replace(group, xyz_mm=group.xyz_mm * aspect) for group in groups)
        held = [place_columns(marker.square.edges, np.inf) for marker in markers]
        corners = straightened(prior, np.stack([marker.corners_px for marker in markers]))
        pose, places = pose_of_squares(corners, side, matrix_of(prior))
        state = Bundle(groups, prior).solve(State(camera_of(prior, pose), 0.0, places)).state
        # a photo alone lays each marker where it sees it; several see it where their own errors put it
        groups = tuple(replace(group, place_px=columns) for group, columns in zip(groups, held, strict=True))
        ids = tuple(marker.id for marker in markers)
        assert state.places is not None  # it started with some
        return cls(name, ids, groups, prior, state.camera, state.shift_px, dict(zip(ids, state.places, strict=True)))

    def laid(self, turn_rad: float, shift_mm: Array) -> "View":
        """In a board frame in which its own is turned, then shifted."""
        turn, rotation = turned(turn_rad), np.eye(3)
        places = {n: np.array([*(turn @ p[:2] + shift_mm), p[2] + turn_rad]) for n, p in self.places.items()}
        rotation[:2, :2] = turn
        T_own_board = Pose(rotation, np.array([*shift_mm, 0.0])).inverse()
        camera = replace(self.camera, T_camera_board=self.camera.T_camera_board @ T_own_board)
        return replace(self, places=places, camera=camera)


def linked(views: Sequence[View]) -> tuple[list[View], dict[str, str]]:
    """The photos in one frame, each by markers that it shares with others, and those that share none."""
    waiting = sorted(views, key=lambda view: -len(view.ids))
    joined, waiting = waiting[:1], waiting[1:]
    while len(joined) < len(views):
        places = places_of(joined)
        shared = [len(places.keys() & view.places.keys()) for view in waiting]
        best = int(np.argmax(shared))
        if not shared[best]:
            break
        view = waiting.pop(best)
        joined.append(view.laid(*_onto(view.places, places)))
    return joined, {view.name: "shows no marker that the other photos show" for view in waiting}


def places_of(views: Iterable[View]) -> dict[int, Array]:
    """Each marker's place as the first view has it that shows it, ascending by id."""
    places: dict[int, Array] = {}
    for view in views:
        places = view.places | places
    return dict(sorted(places.items()))


def _onto(own: Places, common: Places) -> tuple[float, Array]:
    """The turn in radians and the shift (2,) in mm that lay a view on to the places that it shares with others."""
    shared = sorted(own.keys() & common.keys())
    a, b = (_ends([places[number] for number in shared]) for places in (own, common))
    da, db = a - a.mean(0), b - b.mean(0)
    turn = float(np.arctan2((da[:, 0] * db[:, 1] - da[:, 1] * db[:, 0]).sum(), (da * db).sum()))
    return turn, b.mean(0) - turned(turn) @ a.mean(0)


def _ends(places: Sequence[Array]) -> Array:
    """(2 N, 2): both ends of each marker's upper edge, taken as `EDGE_MM` long."""
    start = np.stack(places)
    end = start[:, :2] + EDGE_MM * np.stack([np.cos(start[:, 2]), np.sin(start[:, 2])], 1)
    return np.concatenate([start[:, :2], end])


def turned(angle_rad: float) -> Array:
    """The turn (2, 2) by an angle."""
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[c, -s], [s, c]])
