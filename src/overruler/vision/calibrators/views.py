"""Photos of one table, each with the layout of markers that it alone would give, brought into one frame."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.vision.camera.bundle_adjustment import BundleAdjustment, LensPrior, State
from overruler.vision.camera.initial_pose import pose_from_free_squares
from overruler.vision.camera.lens_prior import camera_at_pose, intrinsic_matrix, undistort_pixels
from overruler.vision.camera.observations import Observation, free_marker_observation
from overruler.vision.markers.edge_noise import place_noise_columns_px
from overruler.vision.markers.marker import Marker

MarkerPlaces = Mapping[int, Array]
"""Each marker's upper left corner in mm and the heading of its upper edge in radians (3,)."""

ALIGNMENT_EDGE_MM = 60.0
"""How far a marker's turn reaches when views are laid on one another: about its side."""


@dataclass(frozen=True, slots=True, eq=False)
class LayoutView:
    """One photo, and the layout that it alone would give."""

    name: str
    ids: tuple[int, ...]
    groups: tuple[Observation, ...]
    prior: LensPrior
    camera: Camera
    edge_shift_px: float
    places: dict[int, Array]
    """As `MarkerPlaces`, in a frame of the photo's own or a common one."""

    @classmethod
    def from_markers(
        cls, name: str, markers: Sequence[Marker], prior: LensPrior, sides_mm: tuple[float, float]
    ) -> "LayoutView":
        across, along = sides_mm
        side, aspect = (across + along) / 2, np.array([across, along, 0.0]) * 2 / (across + along)
        groups = tuple(free_marker_observation(marker, side) for marker in markers)
        groups = tuple(replace(group, xyz_mm=group.xyz_mm * aspect) for group in groups)
        held = [place_noise_columns_px(marker.square.edges, np.inf) for marker in markers]
        corners = undistort_pixels(prior, np.stack([marker.corners_px for marker in markers]))
        pose, places = pose_from_free_squares(corners, side, intrinsic_matrix(prior))
        state = (
            BundleAdjustment(groups, prior)
            .solve(State(camera_at_pose(prior, pose), 0.0, places))
            .state
        )
        # a photo alone lays each marker where it sees it; several see it where their own errors put it
        groups = tuple(
            replace(group, place_factors_px=columns)
            for group, columns in zip(groups, held, strict=True)
        )
        ids = tuple(marker.id for marker in markers)
        assert state.places is not None  # it started with some
        return cls(
            name,
            ids,
            groups,
            prior,
            state.camera,
            state.edge_shift_px,
            dict(zip(ids, state.places, strict=True)),
        )

    def in_frame(self, turn_rad: float, shift_mm: Array) -> "LayoutView":
        """In a board frame in which its own is turned, then shifted."""
        turn, rotation = rotation_2d(turn_rad), np.eye(3)
        places = {
            n: np.array([*(turn @ p[:2] + shift_mm), p[2] + turn_rad])
            for n, p in self.places.items()
        }
        rotation[:2, :2] = turn
        T_own_board = Pose(rotation, np.array([*shift_mm, 0.0])).inverse()
        camera = replace(self.camera, T_camera_board=self.camera.T_camera_board @ T_own_board)
        return replace(self, places=places, camera=camera)


def link_views(views: Sequence[LayoutView]) -> tuple[list[LayoutView], dict[str, str]]:
    """The photos in one frame, each by markers that it shares with others, and those that share none."""
    waiting = sorted(views, key=lambda view: -len(view.ids))
    joined, waiting = waiting[:1], waiting[1:]
    while len(joined) < len(views):
        places = merge_places(joined)
        shared = [len(places.keys() & view.places.keys()) for view in waiting]
        best = int(np.argmax(shared))
        if not shared[best]:
            break
        view = waiting.pop(best)
        joined.append(view.in_frame(*_align_to_common(view.places, places)))
    return joined, {view.name: "shows no marker that the other photos show" for view in waiting}


def merge_places(views: Iterable[LayoutView]) -> dict[int, Array]:
    """Each marker's place as the first view has it that shows it, ascending by id."""
    places: dict[int, Array] = {}
    for view in views:
        places = view.places | places
    return dict(sorted(places.items()))


def _align_to_common(own: MarkerPlaces, common: MarkerPlaces) -> tuple[float, Array]:
    """The turn in radians and the shift (2,) in mm that lay a view on to the places that it shares with others."""
    shared = sorted(own.keys() & common.keys())
    a, b = (_edge_ends([places[number] for number in shared]) for places in (own, common))
    da, db = a - a.mean(0), b - b.mean(0)
    turn = float(np.arctan2((da[:, 0] * db[:, 1] - da[:, 1] * db[:, 0]).sum(), (da * db).sum()))
    return turn, b.mean(0) - rotation_2d(turn) @ a.mean(0)


def _edge_ends(places: Sequence[Array]) -> Array:
    """(2 N, 2): both ends of each marker's upper edge, taken as `ALIGNMENT_EDGE_MM` long."""
    start = np.stack(places)
    end = start[:, :2] + ALIGNMENT_EDGE_MM * np.stack([np.cos(start[:, 2]), np.sin(start[:, 2])], 1)
    return np.concatenate([start[:, :2], end])


def rotation_2d(angle_rad: float) -> Array:
    """The turn (2, 2) by an angle."""
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[c, -s], [s, c]])
