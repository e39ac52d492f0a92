"""The rim finder on discs drawn here, whose place and size are known exactly."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.vision.learned import inference, patch_net, patches, rim_net

SIZE_PX = (1000, 800)
MM_PER_PX = 0.5


def look(tilt_deg: float, distortion: tuple[float, ...] = (0, 0, 0, 0, 0)) -> Camera:
    """A camera 1 m above the point (250, 200), tilted towards greater y, half a millimetre a pixel in its middle."""
    tilt = np.radians(tilt_deg)
    rotation = np.array(
        [[1, 0, 0], [0, -np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), -np.cos(tilt)]]
    )
    eye = np.array([250.0, 200 - 1000 * np.tan(tilt), 1000.0])
    focal = 1000 / np.cos(tilt) / MM_PER_PX
    matrix = np.array([[focal, 0, SIZE_PX[0] / 2], [0, focal, SIZE_PX[1] / 2], [0, 0, 1]])
    return Camera(matrix, np.array(distortion, float), Pose(rotation, -rotation @ eye))


def ring(x: float, y: float, z: float, radius: float) -> Array:
    turn = np.linspace(0, 2 * np.pi, 180, endpoint=False)
    return np.stack([x + radius * np.cos(turn), y + radius * np.sin(turn), np.full(180, z)], -1)


class Table:
    """A picture to draw on, four times as fine as the photo that it becomes."""

    def __init__(
        self, camera: Camera, seed: int = 0, mat: tuple[int, int, int] = (90, 120, 150)
    ) -> None:
        self.camera = camera
        self.noise = np.random.default_rng(seed)
        grain = cv2.GaussianBlur(self.noise.normal(size=(SIZE_PX[1], SIZE_PX[0])), (0, 0), 2.0)
        picture = np.array(mat) + 40 * grain[..., None]
        self.fine = np.repeat(np.repeat(picture.clip(0, 255).astype(np.uint8), 4, 0), 4, 1)
        self.grains = self.rough()

    def shape(self, outline_mm: Array, colour: tuple[int, int, int]) -> None:
        """Fill the hull of points (n, 3) of the table."""
        at = (self.camera.project(outline_mm) + 0.5) * 4 - 0.5
        hull = cv2.convexHull(at.astype(np.float32))
        cv2.fillConvexPoly(self.fine, np.round(hull * 16).astype(np.int32), colour, cv2.LINE_8, 4)

    def light(self, outline_mm: Array, soft_mm: float, share: Array | float) -> None:
        """So much more or less light where an outline (n, 3) lies; flat discs without any might as well be prints."""
        soft_px = 4 * soft_mm / MM_PER_PX
        at = (self.camera.project(outline_mm) + 0.5) * 4 - 0.5
        left, top = np.maximum(np.floor(at.min(0) - 3 * soft_px), 0).astype(int)
        part = self.fine[
            top : int(at[:, 1].max() + 3 * soft_px), left : int(at[:, 0].max() + 3 * soft_px)
        ]
        mask = np.zeros(part.shape[:2], np.float32)
        cv2.fillConvexPoly(
            mask, np.round((at - [left, top]) * 16).astype(np.int32), 1.0, cv2.LINE_8, 4
        )
        soft = cv2.GaussianBlur(mask, (0, 0), soft_px) if soft_px else mask
        more = (
            share if isinstance(share, float) else share[top:, left:][: len(part), : part.shape[1]]
        )
        part[:] = (part * (1 + more * soft)[..., None]).clip(0, 255)

    def rough(self) -> Array:
        """What is sprinkled on tops, as shares of light: grains of a millimetre."""
        grain = cv2.GaussianBlur(self.noise.normal(size=(SIZE_PX[1], SIZE_PX[0])), (0, 0), 1.2)
        return np.asarray(np.repeat(np.repeat(1.2 * grain, 4, 0), 4, 1))

    def base(
        self, x: float, y: float, diameter: float, rim: tuple[int, int, int] = (25, 25, 28)
    ) -> None:
        """A truncated cone 4 mm high with a green top and someone on it."""
        radius = diameter / 2
        foot, top = ring(x, y, 0, radius), ring(x, y, 4, radius - 1.7)
        self.light(ring(x + 1.5, y - 1, 0, radius), 1.5, -0.3)
        self.light(foot, 0.7, -0.25)
        self.shape(np.concatenate([foot, top]), rim)
        self.shape(ring(x, y, 4, radius - 2.2), (50, 110, 80))
        self.light(ring(x, y, 4, radius - 2.2), 0.0, self.grains)
        self.shape(
            np.concatenate([ring(x, y, 4, radius / 4), ring(x, y, 20, radius / 4)]), (120, 60, 60)
        )

    def photo(self) -> Frame:
        small = cv2.resize(self.fine, SIZE_PX, interpolation=cv2.INTER_AREA)
        soft = (
            cv2.GaussianBlur(small.astype(float), (0, 0), 0.7)
            + self.noise.normal(size=small.shape) * 2
        )
        pixels = soft.clip(0, 255).astype(np.uint8)
        pixels.setflags(write=False)
        return Frame(pixels, "drawn")


BASES = np.array(
    [
        [90, 90, 25],
        [160, 90, 32],
        [250, 100, 40],
        [390, 110, 60],
        [120, 250, 80],
        [330, 270, 120],
        [420, 200, 28.5],
    ]
)


def drawn(tilt_deg: float, bases: Array = BASES, seed: int = 0) -> tuple[Frame, Camera]:
    table = Table(look(tilt_deg), seed)
    for x, y, diameter in bases[np.argsort(-bases[:, 1])]:
        table.base(x, y, diameter)
    return table.photo(), table.camera


def shaken(bases: Array, seed: int, place: float = 0.3, size: float = 0.2) -> Array:
    """Candidates (N, 3) that are off as a candidate finder's are."""
    rng = np.random.default_rng(seed)
    turn = rng.uniform(0, 2 * np.pi, len(bases))
    shift = place * bases[:, 2:] / 2 * np.stack([np.cos(turn), np.sin(turn)], -1)
    return np.column_stack(
        [bases[:, :2] + shift, bases[:, 2] / 2 * np.exp(rng.uniform(-size, size, len(bases)))]
    )


# --- what it finds ---


@pytest.mark.parametrize("tilt_deg", [0.0, 12.0, 25.0])
def test_bases_are_found_where_they_are(tilt_deg: float) -> None:
    frame, camera = drawn(tilt_deg)
    found = rim_net.estimate_rims(frame, camera, shaken(BASES, 1))
    radius = BASES[:, 2] / 2
    # Large plain discs are less like what the network learned from: the fit's own evidence has to carry them.
    assert (found.score > np.where(BASES[:, 2] > 50, 0.2, 0.5)).all()
    assert np.median(np.linalg.norm(found.xy_mm - BASES[:, :2], axis=1) / radius) < 0.03
    assert np.median(np.abs(np.log(found.radius_mm / radius))) < 0.02
    assert (np.linalg.norm(found.xy_mm - BASES[:, :2], axis=1) < 0.12 * radius).all()


def test_the_empty_mat_is_no_base() -> None:
    table = Table(look(10))
    places = np.random.default_rng(3).uniform([80, 80, 13], [420, 320, 40], (60, 3))
    assert (rim_net.estimate_rims(table.photo(), table.camera, places).score < 0.5).mean() > 0.9


def test_between_two_bases_is_no_base() -> None:
    bases = np.array([[200.0, 200, 32], [232.5, 200, 32]])
    frame, camera = drawn(8, bases)
    places = np.array([[216.2, 200, 16], [200, 200, 16], [232, 200, 16]])
    pyramid = patches.build_pyramid(frame.pixels)
    score = patch_net.run_patch_network(pyramid, camera, places)[:, 0]
    assert score[0] < 0 < score[1:].min()


def test_a_square_is_no_round_base() -> None:
    table = Table(look(8))
    corners = np.array([[-20, -20], [20, -20], [20, 20], [-20, 20]])
    foot, top = (
        np.column_stack([corners * k + np.array([250, 200]), np.full(4, z)])
        for k, z in ((1, 0), (0.9, 4))
    )
    table.shape(np.concatenate([foot, top]), (25, 25, 28))
    table.shape(top, (60, 90, 80))
    assert rim_net.estimate_rims(table.photo(), table.camera, [[250, 200, 20]]).score[0] < 0.5


def test_errors_agree_with_their_doubt() -> None:
    """Two in three errors within 1 σ would be perfect; a drawing is not what the network was trained on."""
    misses: list[Array] = []
    for seed in range(6):
        frame, camera = drawn(4.0 * seed, seed=seed)
        found = rim_net.estimate_rims(frame, camera, shaken(BASES, seed))
        misses.append(np.abs(found.radius_mm - BASES[:, 2] / 2) / found.sigma_radius_mm)
        misses.extend(np.abs(found.xy_mm - BASES[:, :2]).T / found.sigma_xy_mm)
    share = [float(np.mean(np.concatenate(misses) < k)) for k in (1, 3)]
    assert share[0] > 0.4
    assert share[1] > 0.9


def test_less_is_visible_behind_a_wall() -> None:
    table = Table(look(10))
    table.base(250, 200, 40)
    free = rim_net.estimate_rims(table.photo(), table.camera, [[250, 200, 20]]).visible[0]
    wall = np.array([[x, y, z] for x in (200, 300) for y in (170, 199) for z in (0, 10)], float)
    table.shape(wall, (200, 200, 205))
    hidden = rim_net.estimate_rims(table.photo(), table.camera, [[250, 200, 20]]).visible[0]
    assert hidden < free - 0.05


def test_where_a_candidate_stood_is_forgotten() -> None:
    frame, camera = drawn(12)
    one, other = (rim_net.estimate_rims(frame, camera, shaken(BASES, seed)) for seed in (1, 2))
    apart = np.linalg.norm(one.xy_mm - other.xy_mm, axis=1) / (BASES[:, 2] / 2)
    assert np.median(apart) < 0.02


# --- laws ---


def test_a_mirrored_table_has_mirrored_bases() -> None:
    """The camera stands at x = 250, so a picture turned left to right is the mirrored table's."""
    frame, camera = drawn(15)
    mirror = Frame(np.ascontiguousarray(frame.pixels[:, ::-1]), "mirrored")
    matrix = camera.matrix.copy()
    matrix[0, 2] = SIZE_PX[0] - 1 - matrix[0, 2]
    turned = Camera(matrix, camera.distortion, camera.T_camera_board)
    candidates = shaken(BASES, 4)
    here = rim_net.estimate_rims(frame, camera, candidates)
    there = rim_net.estimate_rims(
        mirror, turned, np.column_stack([500 - candidates[:, 0], candidates[:, 1:]])
    )
    assert np.median(np.abs(here.xy_mm[:, 0] - (500 - there.xy_mm[:, 0])) / here.radius_mm) < 0.02


def many_for_each() -> tuple[Frame, Camera, Array]:
    """More candidates than go through a network together: twelve for each base."""
    frame, camera = drawn(10)
    candidates = np.concatenate([shaken(BASES, seed) for seed in range(12)])
    assert len(candidates) > inference.BATCH_SIZE
    return frame, camera, candidates


def test_each_candidate_stands_alone() -> None:
    frame, camera, candidates = many_for_each()
    together = rim_net.estimate_rims(frame, camera, candidates)
    best = int(together.score.argmax())
    alone = rim_net.estimate_rims(frame, camera, candidates[best])
    np.testing.assert_allclose(together.xy_mm[best], alone.xy_mm[0], atol=1e-3)
    np.testing.assert_allclose(together.score[best], alone.score[0], atol=1e-4)


def test_a_base_counts_once_however_many_candidates_it_has() -> None:
    frame, camera, candidates = many_for_each()
    found = rim_net.estimate_rims(frame, camera, candidates)
    kept = found.score.reshape(12, -1) > 0.2
    assert kept.sum(0).tolist() == [1] * len(BASES)
    places = found.xy_mm.reshape(12, -1, 2)[kept.argmax(0), np.arange(len(BASES))]
    assert (np.linalg.norm(places - BASES[:, :2], axis=1) < 0.12 * BASES[:, 2] / 2).all()


def test_sizes_at_one_place_are_told_apart() -> None:
    """A small thing on a large one is no second candidate of it."""
    score, ones = np.array([0.9, 0.8, 0.7, 0.6]), np.ones(4)
    places, radii = (
        np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [9.0, 0.0]]),
        np.array([32.0, 16.0, 32.0, 32.0]),
    )
    guesses = rim_net.RimEstimates(score, places, radii, ones, ones, ones)
    rim_net._suppress_duplicates(guesses, 0.1)
    assert guesses.score.tolist() == [0.9, 0.8, 0.0, 0.6]


def test_no_candidates_no_guesses() -> None:
    frame, camera = drawn(10)
    found = rim_net.estimate_rims(frame, camera, np.empty((0, 3)))
    assert found.xy_mm.shape == (0, 2)
    assert found.score.shape == found.visible.shape == (0,)


def test_candidates_off_the_picture_do_no_harm() -> None:
    frame, camera = drawn(10)
    found = rim_net.estimate_rims(frame, camera, [[-3000, 0, 16], [250, 9000, 60], [250, 100, 20]])
    assert np.isfinite(found.score).all()
    assert found.score[2] > 0.5


# --- patches ---


@settings(max_examples=40)
@given(tilt=st.floats(0, 35), x=st.floats(60, 440), y=st.floats(60, 340), k1=st.floats(-0.2, 0.1))
def test_up_is_away_from_the_camera(tilt: float, x: float, y: float, k1: float) -> None:
    camera = look(tilt, (k1, 0, 0, 0, 0))
    (right, up), away = (
        patches.patch_axes_mm(camera, np.array([[x, y, 16.0]]))[0] / 16,
        [x, y] - camera.center_mm[:2],
    )
    assert np.linalg.norm(up) == pytest.approx(1)
    assert right @ up == pytest.approx(0, abs=1e-12)
    assert right[0] * up[1] - right[1] * up[0] == pytest.approx(1)
    assert up @ away == pytest.approx(np.linalg.norm(away))


@settings(max_examples=40)
@given(
    tilt=st.floats(0, 35), x=st.floats(60, 440), y=st.floats(60, 340), radius=st.floats(12, 80), k1=st.floats(-0.2, 0.1)
)  # fmt: skip
def test_a_patch_samples_the_plane_where_it_says(
    tilt: float, x: float, y: float, radius: float, k1: float
) -> None:
    """The coarse grid with lines between stays within a tenth of a patch's pixel of the exact projection."""
    camera = look(tilt, (k1, 0.02, 0, 0, 0))
    candidate = np.array([[x, y, radius]])
    steps = ((np.arange(64) + 0.5) / 32 - 1) * patches.PATCH_HALF_WIDTH_RADII
    right, up = patches.patch_axes_mm(camera, candidate)[0]
    plane = [x, y] + steps[None, :, None] * right - steps[:, None, None] * up
    exact = camera.project(np.concatenate([plane, np.zeros((64, 64, 1))], -1))
    pitch = np.linalg.norm(exact[32, 33] - exact[32, 32])
    assert np.abs(patches.patch_maps(camera, candidate)[0] - exact).max() < 0.1 * pitch


@pytest.mark.parametrize("radius", [12.5, 30, 80])
def test_a_disc_fills_its_place_in_the_patch(radius: float) -> None:
    """Also where the patch is cut from a halved picture: no pixel is lost on the way."""
    table = Table(look(20), mat=(200, 200, 200))
    table.shape(ring(250, 210, 0, radius), (20, 20, 20))
    patch = patches.cut_patches(
        patches.build_pyramid(table.photo().pixels), table.camera, np.array([[250, 210, radius]])
    )[0]
    dark = (patch.mean(2) < 110).astype(np.uint8)
    rows, columns = np.nonzero(dark)
    assert (rows.mean(), columns.mean()) == pytest.approx((31.5, 31.5), abs=0.15)
    assert np.sqrt(dark.sum() / np.pi) == pytest.approx(
        32 / patches.PATCH_HALF_WIDTH_RADII, abs=0.25
    )


@pytest.mark.parametrize("radius", [12.5, 30, 80])
def test_a_disc_ends_in_the_middle_of_its_ring(radius: float) -> None:
    table = Table(look(20), mat=(200, 200, 200))
    table.shape(ring(250, 210, 0, radius), (20, 20, 20))
    circle = np.array([[250, 210, radius]])
    unrolled = patches.cut_rings(patches.build_pyramid(table.photo().pixels), table.camera, circle)[
        0
    ]
    dark = (unrolled.mean(2) < 110).sum(0) / patches.RING_ROW_COUNT
    edge = patches.RING_INNER_RADII + dark * (patches.RING_OUTER_RADII - patches.RING_INNER_RADII)
    assert edge == pytest.approx(np.ones(patches.RING_ANGLE_COUNT), abs=0.03)
    assert edge.mean() == pytest.approx(1, abs=0.008)


@settings(max_examples=30)
@given(dx=st.floats(-0.15, 0.15), dy=st.floats(-0.15, 0.15), size=st.floats(0.88, 1.12))
def test_columns_of_a_ring_go_round_from_the_right(dx: float, dy: float, size: float) -> None:
    """Pixels of the photo that hold their own place on the board: a ring's columns are where their angles say."""
    camera, circle = look(15), np.array([[250 + 20 * dx, 200 + 20 * dy, 20 * size]])
    at = patches.ring_maps(camera, circle)[0]
    seen = camera.unproject(at) - circle[0, :2]
    right, up = patches.patch_axes_mm(camera, circle)[0]
    turn = np.arctan2(seen @ up, seen @ right) % (2 * np.pi)
    assert np.abs(turn - patches.ring_angles()).max() < 1e-4
    reach = np.linalg.norm(seen, axis=-1) / circle[0, 2]
    assert (
        reach[0].max()
        < patches.RING_INNER_RADII + 0.02
        < patches.RING_OUTER_RADII - 0.02
        < reach[-1].min()
    )


# --- the circle through the rim ---


def reach_of(x: float, y: float, size: float) -> Array:
    """How far out a circle lies in each direction, by intersecting rays with it."""
    turn = patches.ring_angles()
    along = x * np.cos(turn) + y * np.sin(turn)
    return along + np.sqrt(size**2 - x * x - y * y + along**2)


@settings(max_examples=60)
@given(
    x=st.floats(-0.2, 0.2),
    y=st.floats(-0.2, 0.2),
    size=st.floats(0.8, 1.2),
    hidden=st.integers(0, 20),
)
def test_an_exact_rim_gives_its_circle(x: float, y: float, size: float, hidden: int) -> None:
    """Also where a part of it is hidden and the network knows so."""
    reach, sigma = reach_of(x, y, size), np.full(48, 0.01)
    reach[:hidden], sigma[:hidden] = 1.5, 1e3
    circle, doubt = rim_net.fit_circles(reach[None], sigma[None], np.full((1, 3), 1e3))
    assert circle[0] == pytest.approx((x, y, size), abs=2e-3)
    assert (doubt > 0).all()


def test_stray_directions_hardly_move_the_circle() -> None:
    reach = reach_of(0.05, -0.03, 1.02)
    reach[[3, 4, 5, 20, 31]] += 0.25
    circle, _ = rim_net.fit_circles(reach[None], np.full((1, 48), 0.01), np.full((1, 3), 1e3))
    assert circle[0] == pytest.approx((0.05, -0.03, 1.02), abs=2e-3)


def test_without_a_rim_the_first_guess_stands() -> None:
    circle, doubt = rim_net.fit_circles(
        np.full((1, 48), 1.3), np.full((1, 48), 50.0), np.full((1, 3), 0.03)
    )
    assert circle[0] == pytest.approx((0, 0, 1), abs=1e-3)
    assert doubt[0] == pytest.approx((0.03, 0.03), rel=0.02)


def test_the_circles_doubt_is_that_of_its_spread() -> None:
    """Independent errors of 2 %: the circles scatter as they say, but for the inflation that real rims need."""
    noise = np.random.default_rng(0).normal(size=(2000, 48)) * 0.02
    circle, doubt = rim_net.fit_circles(
        reach_of(0, 0, 1) + noise, np.full((2000, 48), 0.02), np.full((2000, 3), 1e3)
    )
    spread = circle.std(0)
    assert np.median(doubt[:, 0]) / rim_net.CENTRE_SIGMA_INFLATION == pytest.approx(
        spread[:2].mean(), rel=0.25
    )
    assert np.median(doubt[:, 1]) / rim_net.RADIUS_SIGMA_INFLATION == pytest.approx(
        spread[2], rel=0.25
    )


@given(gain=st.floats(0.5, 1.5), offset=st.integers(0, 40))
@settings(max_examples=20)
def test_brightness_and_contrast_hardly_matter(gain: float, offset: int) -> None:
    noise = np.random.default_rng(0).uniform(40, 130, (1, 64, 64, 3))
    side = np.zeros((1, 3), np.float32)
    one = patches.patch_input(noise.round().astype(np.uint8), side)
    other = patches.patch_input((gain * noise + offset).round().astype(np.uint8), side)
    assert np.abs(one - other).max() < 0.25


# --- what is shipped ---


def test_the_network_is_small_and_beside_its_code() -> None:
    files = (patch_net.PATCH_MODEL, rim_net.RING_MODEL)
    assert {file.parent for file in files} == {Path(rim_net.__file__).with_name("weights")}
    assert 100_000 < sum(file.stat().st_size for file in files) < 1_000_000
