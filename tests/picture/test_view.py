"""Millimetres land where the camera sees them, and lines run where they are said to run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Pose
from overruler.geometry.shapes import Disc, Ellipse, Shape, gap, rectangle
from overruler.picture.view import View, offset_outline

DOWN = np.diag([1.0, -1.0, -1.0])
"""A camera that looks straight down, its upper edge away from the viewer."""


def camera(k1: float = 0.0, tilt_deg: float = 0.0) -> Camera:
    tilt = np.radians(tilt_deg)
    turn = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    rotation = turn @ DOWN
    matrix = np.array([[1500.0, 0, 959.5], [0, 1500, 539.5], [0, 0, 1]])
    pose = Pose(rotation, np.array([0, 0, 1400.0]) - rotation @ np.array([450.0, 300, 0]))
    return Camera(matrix, np.array([k1, 0, 0, 0, 0]), pose)


def test_the_middle_of_the_picture_is_half_a_pixel_off_its_pixel_coordinate() -> None:
    view = View(camera(), (1920, 1080))
    assert view.to_px([450, 300]) == pytest.approx([960, 540])


@given(
    st.floats(-300, 300),
    st.floats(-200, 200),
    st.floats(-0.25, 0.1),
    st.floats(0, 40),
    st.floats(0, 80),
)
def test_a_place_on_the_drawing_is_where_the_camera_sees_it(
    x: float, y: float, k1: float, tilt: float, z: float
) -> None:
    view = View(camera(k1, tilt), (1920, 1080))
    place = view.to_px([450 + x, 300 + y], z)
    assert view.camera.unproject(place - 0.5, z) == pytest.approx([450 + x, 300 + y], abs=1e-6)


def test_what_lies_beyond_the_lens_model_is_nowhere() -> None:
    """Far out a barrel lens's polynomial folds back: such points must not reappear in the middle of the picture."""
    view = View(camera(k1=-0.25), (1920, 1080))
    far = np.array([[9000.0, 300.0], [450, -9000], [30000, 30000]])
    assert np.isnan(view.to_px(far)).all()


def test_behind_the_camera_is_nowhere() -> None:
    assert np.isnan(View(camera(), (1920, 1080)).to_px([450.0, 300], 1500)).all()


def test_a_straight_line_bends_with_the_lens() -> None:
    view = View(camera(k1=-0.2), (1920, 1080))
    line = view.line_px([0, 600], [900, 600])
    middle, chord = line[16], (line[0] + line[-1]) / 2
    assert np.linalg.norm(middle - chord) > 5
    assert middle == pytest.approx(view.to_px([450, 600]))


shapes = st.one_of(
    st.builds(Disc, st.just((450.0, 300.0)), st.floats(5, 80)),
    st.builds(
        Ellipse,
        st.just((450.0, 300.0)),
        st.floats(30, 120),
        st.floats(20, 60),
        st.floats(-180, 180),
    ),
    st.builds(
        rectangle,
        st.just((450.0, 300.0)),
        st.floats(30, 120),
        st.floats(20, 60),
        st.floats(-180, 180),
    ),
)


@given(shapes, st.floats(0.5, 800))
def test_every_point_of_a_range_line_is_that_far_from_the_base(shape: Shape, offset: float) -> None:
    """Against the range engine's own exact distance."""
    for x, y in offset_outline(shape, offset, steps=24):
        assert gap(shape, Disc((float(x), float(y)))).distance_mm == pytest.approx(offset, abs=1e-6)


@pytest.mark.parametrize(
    "shape",
    [Disc((0, 0), 13.5), Ellipse((0, 0), 75, 42), rectangle((0, 0), 60, 40)],
    ids=lambda shape: type(shape).__name__,
)
def test_an_outline_has_the_base_s_extent(shape: Shape) -> None:
    points = offset_outline(shape, steps=4000)
    extent = {Disc: (27, 27), Ellipse: (75, 42)}.get(type(shape), (60, 40))
    assert np.ptp(points, axis=0) == pytest.approx(extent, abs=1e-3)
