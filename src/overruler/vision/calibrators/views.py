"""Views of one table: each photo's own layout of the markers, brought into one common frame."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.geometry.batched.vectors import unit_vectors
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.vision.camera.bundle_adjustment import BundleAdjustment
from overruler.vision.camera.initial_pose import pose_from_free_squares
from overruler.vision.camera.lens_prior import LensPrior
from overruler.vision.camera.observations import Observation, free_marker_observation
from overruler.vision.camera.state import State
from overruler.vision.camera.variance_components import UNIT_SCALES, NoiseScales
from overruler.vision.markers.edge_noise import place_noise_columns_px
from overruler.vision.markers.marker import Marker

MarkerPlaces = Mapping[int, Array]
"""Each marker's place (3,) by id: upper left corner in mm, heading of its upper edge in radians."""

ALIGNMENT_EDGE_MM = 60.0
"""Lever arm of a marker's heading in the alignment of views: about its side."""


@dataclass(frozen=True, slots=True, eq=False)
class LayoutView:
    """One photo, and the layout of markers that it alone gives."""

    name: str
    """The photo's name."""
    ids: tuple[int, ...]
    """Ids of the markers in it."""
    groups: tuple[Observation, ...]
    """The observation of each marker."""
    prior: LensPrior
    """Prior of the lens."""
    camera: Camera
    """The camera over the frame of `places`."""
    edge_shift_px: float
    """Shift of edges towards their dark side."""
    places: dict[int, Array]
    """Places as in `MarkerPlaces`, in the photo's own frame or in a common one."""
    scales: NoiseScales = UNIT_SCALES
    """Actual noise of its markers against the expected one."""

    @classmethod
    def from_markers(
        cls, name: str, markers: Sequence[Marker], prior: LensPrior, sides_mm: tuple[float, float]
    ) -> "LayoutView":
        """Solve for the layout of markers of this width and height from one photo."""
        observations = [_printed_observation(marker, sides_mm) for marker in markers]
        state, scales = _solve_layout(observations, markers, prior, sum(sides_mm) / 2)
        # one photo puts each marker where it sees it; only several photos show its place noise
        groups = tuple(
            replace(
                observation, place_factors_px=place_noise_columns_px(marker.square.edges, np.inf)
            )
            for observation, marker in zip(observations, markers, strict=True)
        )
        ids = tuple(marker.id for marker in markers)
        assert state.places is not None
        places = dict(zip(ids, state.places, strict=True))
        return cls(name, ids, groups, prior, state.camera, state.edge_shift_px, places, scales)

    def in_frame(self, turn_rad: float, shift_mm: Array) -> "LayoutView":
        """Express the view in a board frame in which its own is rotated, then shifted."""
        rotation = rotation_2d(turn_rad)
        places = {
            number: np.array([*(rotation @ place[:2] + shift_mm), place[2] + turn_rad])
            for number, place in self.places.items()
        }
        rotation_3d = np.eye(3)
        rotation_3d[:2, :2] = rotation
        T_own_board = Pose(rotation_3d, np.array([*shift_mm, 0.0])).inverse()
        camera = replace(self.camera, T_camera_board=self.camera.T_camera_board @ T_own_board)
        return replace(self, places=places, camera=camera)


def _printed_observation(marker: Marker, sides_mm: tuple[float, float]) -> Observation:
    width, height = sides_mm
    aspect = np.array([width, height, 0.0]) * 2 / (width + height)
    observation = free_marker_observation(marker, (width + height) / 2)
    return replace(observation, xyz_mm=observation.xyz_mm * aspect)


def _solve_layout(
    observations: Sequence[Observation], markers: Sequence[Marker], prior: LensPrior, side_mm: float
) -> tuple[State, NoiseScales]:
    """The layout by one photo, and the scales of its noise; that of places is for photos together."""
    corners_px = np.stack([marker.corners_px for marker in markers])
    undistorted = prior.undistort_pixels(corners_px)
    pose, places = pose_from_free_squares(undistorted, side_mm, prior.matrix)
    start = State(prior.camera_at(pose), 0.0, places)
    adjustment = BundleAdjustment(observations, prior)
    better, solution = adjustment.solve_averaging_scales(adjustment.solve(start).state)
    return solution.state, better.scales._replace(place=1.0)


def link_views(views: Sequence[LayoutView]) -> tuple[list[LayoutView], dict[str, str]]:
    """Bring views into one frame by the markers that they share; also name those that share none."""
    waiting = sorted(views, key=lambda view: -len(view.ids))
    linked, waiting = waiting[:1], waiting[1:]
    while len(linked) < len(views):
        places = merge_places(linked)
        shared = [len(places.keys() & view.places.keys()) for view in waiting]
        best = int(np.argmax(shared))
        if not shared[best]:
            break
        view = waiting.pop(best)
        linked.append(view.in_frame(*_align_to_common(view.places, places)))
    return linked, {view.name: "shows no marker that the other photos show" for view in waiting}


def merge_places(views: Iterable[LayoutView]) -> dict[int, Array]:
    """Each marker's place in the first view that shows it, ascending by id."""
    places: dict[int, Array] = {}
    for view in views:
        places = view.places | places
    return dict(sorted(places.items()))


def _align_to_common(own: MarkerPlaces, common: MarkerPlaces) -> tuple[float, Array]:
    """Rotation in radians and shift (2,) in mm that align a view with the markers that it shares."""
    shared = sorted(own.keys() & common.keys())
    ends = _edge_ends([own[number] for number in shared])
    target = _edge_ends([common[number] for number in shared])
    a, b = ends - ends.mean(0), target - target.mean(0)
    sine = (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum()
    cosine = (a * b).sum()
    turn = float(np.arctan2(sine, cosine))
    return turn, target.mean(0) - rotation_2d(turn) @ ends.mean(0)


def _edge_ends(places: Sequence[Array]) -> Array:
    """(2 N, 2): both ends of each marker's upper edge, `ALIGNMENT_EDGE_MM` long."""
    xy, heading = np.stack(places)[:, :2], np.stack(places)[:, 2]
    direction = unit_vectors(heading)
    return np.concatenate([xy, xy + ALIGNMENT_EDGE_MM * direction])


def rotation_2d(angle_rad: float) -> Array:
    """The rotation matrix (2, 2) of an angle."""
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[c, -s], [s, c]])
