"""The renderer: what it draws is where its truth says, to hundredths of a millimetre and thousandths of a pixel."""

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from shapely.geometry import Polygon

from synthetic import camera, render_samples
from synthetic.arrays import Array
from synthetic.things import mesh
from synthetic.things.pieces import Piece, Shape, Stand, block, disc, distance_mm, oval, plate
from synthetic.things.terrain import Terrain
from synthetic.traced.armies import muster
from synthetic.traced.dress import feet_on
from synthetic.traced.ground import Ground, footprint
from synthetic.traced.rays import Rays
from synthetic.traced.spec import draw_spec
from synthetic.traced.table import Table, build
from synthetic.traced.troops import Kind

if TYPE_CHECKING:
    from synthetic.traced.tracer import Tracer

SHAPES = [
    disc(27),
    disc(100),
    oval(60, 35),
    oval(105, 70),
    plate(40),
    block(50, 25),
    block(100, 50, 0),
]
coordinates = st.floats(-300, 300)
angles = st.floats(0, 360)


def piece(shape: Shape, x_mm: float, y_mm: float, heading_deg: float) -> Piece:
    stand = Stand("cone", "black", "sand", 4.0, shape.length_mm - 3, [])
    return Piece(
        "p", shape, x_mm, y_mm, 0, heading_deg, stand, "inf", [], "legion", "rebels", "U1", True
    )


@given(st.sampled_from(SHAPES), st.sampled_from(SHAPES), coordinates, coordinates, angles, angles)
@settings(max_examples=60)
def test_no_two_points_of_two_rims_are_nearer_than_the_distance(
    a: Shape, b: Shape, x: float, y: float, turn_a: float, turn_b: float
) -> None:
    one, other = piece(a, 0, 0, turn_a), piece(b, x, y, turn_b)
    rims = [p.rim_mm(720)[0][:, :2] for p in (one, other)]
    nearest = np.linalg.norm(rims[0][:, None] - rims[1][None], axis=2).min()
    assert distance_mm(one, other) == pytest.approx(distance_mm(other, one), abs=1e-9)
    if distance_mm(one, other) > 0:
        assert distance_mm(one, other) <= nearest + 1e-3
        assert (
            nearest < distance_mm(one, other) + 0.15
        )  # the rims are sampled every half millimetre or less


@given(st.integers(0, 99), angles, coordinates, coordinates)
@settings(max_examples=20, deadline=None)
def test_all_figures_of_a_stand_stand_on_it(seed: int, turn_deg: float, x: float, y: float) -> None:
    kind = Kind(block(50, 32), "inf", 1, 1, figures=5)
    feet = feet_on(np.random.default_rng(seed), kind, (x, y, 3.0), turn_deg)
    assert 1 <= len(feet) <= 5
    for foot in feet:
        ahead, aside, up = (foot - [x, y, 3.0]) @ mesh.about_z(turn_deg)
        assert abs(ahead) < 25
        assert abs(aside) < 16
        assert up == pytest.approx(0)


@given(st.sampled_from(SHAPES), st.floats(0, 30), angles)
@settings(max_examples=40)
def test_a_gap_along_the_heading_is_what_it_was_set_to(
    shape: Shape, gap: float, turn: float
) -> None:
    ahead = (shape.length_mm + gap) * np.array([np.cos(np.radians(turn)), np.sin(np.radians(turn))])
    found = distance_mm(
        piece(shape, 0, 0, turn), piece(shape, float(ahead[0]), float(ahead[1]), turn)
    )
    assert found == pytest.approx(gap, abs=2e-4)


def test_bases_without_figures_stand_where_those_with_them_do() -> None:
    spec = draw_spec(3, "hd", "inches")
    manned, unmanned = build(spec, 2.0), build(replace(spec, unmanned=True), 2.0)
    assert [(p.id, p.x_mm, p.y_mm) for p in manned.pieces] == [
        (p.id, p.x_mm, p.y_mm) for p in unmanned.pieces
    ]
    assert all(len(piece.parts) > len(piece.stand.parts) for piece in manned.pieces)
    assert all(len(piece.parts) == len(piece.stand.parts) for piece in unmanned.pieces)


@pytest.mark.parametrize("seed", range(2))
def test_who_reaches_in_moves_nothing_and_comes_from_beyond_the_edge(seed: int) -> None:
    spec = replace(draw_spec(seed, "hd", "inches"), terrain=2)
    alone, reached = build(spec, 2.0), build(replace(spec, hand=True), 2.0)
    assert [(p.id, p.x_mm, p.y_mm) for p in alone.pieces] == [
        (p.id, p.x_mm, p.y_mm) for p in reached.pieces
    ]
    assert [prop.kind for prop in reached.props] == [*(prop.kind for prop in alone.props), "hand"]
    points = np.concatenate(
        [part.mesh.points_mm.reshape(-1, 3) for part in reached.props[-1].parts]
    )
    inside = ((points[:, :2] > 0) & (points[:, :2] < spec.size_mm)).all(1)
    assert inside.any()
    assert not inside.all()
    assert points[:, 2].min() > 5


@pytest.mark.parametrize("shape", SHAPES)
def test_a_rim_lies_on_its_outline_with_its_normals_outwards(shape: Shape) -> None:
    points, normals = shape.rim(144)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1)
    assert ((points * normals).sum(1) > 0).all()
    x, y = points.T
    if shape.type != "rectangle":
        np.testing.assert_allclose(
            (2 * x / shape.length_mm) ** 2 + (2 * y / shape.width_mm) ** 2, 1, atol=1e-4
        )
    else:
        assert np.abs(points).max(0) == pytest.approx([shape.length_mm / 2, shape.width_mm / 2])
        inside = np.minimum(shape.length_mm / 2 - np.abs(x), shape.width_mm / 2 - np.abs(y))
        assert (
            inside.max() < 0.3 * shape.corner_mm
        )  # a corner's middle lies (1 - 1 / √2) of its radius inside


@pytest.mark.parametrize("kind", camera.SIZES_PX)
def test_rays_go_back_through_their_pixels(kind: str) -> None:
    rng = np.random.default_rng(4)
    view = camera.over_board(kind, (1828.8, 914.4), 25, rng)
    x, y = rng.uniform(0, 1, (2, 500)) * (np.array(view.size_px)[:, None] - 1)
    rays = Rays(view)
    there = rays.eye_mm + 1500 * rays.through(x.astype(np.float32), y.astype(np.float32)).astype(
        float
    )
    np.testing.assert_allclose(view.camera.project(there), np.stack([x, y], 1), atol=0.005)


def test_the_whole_board_is_in_the_picture() -> None:
    view = camera.over_board("hd", (914.4, 914.4), 35, np.random.default_rng(1))
    corners = np.array([[0, 0, 0], [914.4, 0, 0], [914.4, 914.4, 0], [0, 914.4, 0]])
    assert view.inside(view.camera.project(corners)).all()
    tilt = np.degrees(np.arccos(-view.camera.T_camera_board.rotation[2, 2]))
    assert tilt == pytest.approx(35)


@given(st.floats(0.2, 1), st.integers(0, 50))
@settings(max_examples=15)
def test_a_smaller_picture_shows_the_same(share: float, seed: int) -> None:
    view = camera.over_board("hd", (914.4, 914.4), 10, np.random.default_rng(seed))
    points = np.random.default_rng(seed).uniform(0, 900, (20, 3)) * [1, 1, 0.1]
    small = view.resized(share)
    across = (
        view.camera.project(points) + 0.5
    ) / view.size_px  # as shares of the picture, from its outer corner
    np.testing.assert_allclose(
        (small.camera.project(points) + 0.5) / small.size_px, across, atol=1e-12
    )
    assert small.size_px[0] == pytest.approx(share * view.size_px[0], abs=0.5)


@pytest.mark.parametrize(
    "outline", [mesh.rectangle(40, 20), mesh.circle(20, 64), mesh.rounded(30, 30, 5)]
)
def test_solids_have_no_holes_and_face_outwards(outline: Array) -> None:
    solid = mesh.join(
        [
            mesh.prism(outline, 0, 10),
            mesh.fan(np.column_stack([outline, np.zeros(len(outline))])[::-1]),
        ]
    )
    a, b, c = np.moveaxis(solid.points_mm, 1, 0)
    volume = float((np.cross(a, b) * c).sum() / 6)  # the divergence theorem
    x, y = outline.T
    area = float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2)
    assert volume == pytest.approx(10 * area)
    np.testing.assert_allclose(np.cross(b - a, c - a).sum(0), 0, atol=1e-9)


SOLIDS = {
    "box": mesh.box(30, 20, 10, 0.8),
    "lathe": mesh.lathe([(10, 0), (8, 4), (8, 9)]),
    "ball": mesh.ball(5),
    "limb": mesh.limb([1, 2, 3], [9, -4, 7], 2, 1),
    "turned": mesh.box(30, 20, 10, 0.8).scaled(1, -2, 1.5).moved(5, 5, 0, 40),
}


@pytest.mark.parametrize("name", [name for name in SOLIDS if name != "turned"])
def test_normals_point_the_way_the_triangles_do(name: str) -> None:
    a, b, c = np.moveaxis(SOLIDS[name].points_mm, 1, 0)
    face = np.cross(b - a, c - a)
    assert ((SOLIDS[name].normals * face[:, None]).sum(-1) >= -1e-9).all()


def test_a_mirrored_solid_keeps_its_normals_square_to_its_faces() -> None:
    a, b, c = np.moveaxis(SOLIDS["turned"].points_mm, 1, 0)
    across = np.cross(SOLIDS["turned"].normals[:, 0], np.cross(b - a, c - a))
    np.testing.assert_allclose(across, 0, atol=1e-6)


def test_a_seed_gives_the_same_spec_and_another_seed_another() -> None:
    assert draw_spec(5) == draw_spec(5)
    assert len({draw_spec(seed) for seed in range(20)}) == 20
    assert draw_spec(5, "hd", "xwing").kind == "hd"


@pytest.mark.parametrize(
    "words", [["--count", "-1"], ["--seed", "x"], ["--scale", "2"], ["--only", "chess"]]
)
def test_a_wrong_option_is_named_in_a_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        render_samples.main(words)
    assert end.value.code == 2
    assert words[0] in capsys.readouterr().err.splitlines()[-1]


def test_without_the_ray_tracer_one_line_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(render_samples, "find_spec", lambda name: None)
    assert render_samples.main([]) == 2
    assert "--group render" in capsys.readouterr().err


class Bench(NamedTuple):
    """A small table, ready for rays."""

    table: Table
    tracer: "Tracer"
    view: camera.View

    def part(self, points_mm: Array) -> NDArray[np.intp]:
        """The number of the part that the camera sees towards each point (N, 3)."""
        eye = self.view.camera.center_mm.astype(np.float32)
        ways = points_mm.astype(np.float32) - eye
        dice = np.full((len(ways), 2), 0.5, np.float32)
        found: NDArray[np.intp] = self.tracer.see(np.tile(eye, (len(ways), 1)), ways, dice)[1]
        return found


@pytest.fixture(scope="module")
def bench() -> Bench:
    tracer = pytest.importorskip(
        "synthetic.traced.tracer", reason="needs the render group", exc_type=ImportError
    )
    spec = replace(
        draw_spec(3, "hd", "inches"), mat="none", table="felt", terrain=2, layout="known", crowd=0.6
    )
    table = build(spec, 4.0)
    view = camera.over_board("hd", spec.size_mm, 12, np.random.default_rng(2))
    return Bench(table, tracer.Tracer(table.parts, table.lights), view)


def test_rays_meet_a_marker_just_inside_its_corners_and_the_card_just_outside(bench: Bench) -> None:
    prints = [k for k, part in enumerate(bench.tracer.parts) if part.material.sharp]
    assert len(prints) == len(bench.table.markers)
    for marker in bench.table.markers:
        middle = marker.corners_mm.mean(0)
        inside, outside = (middle + (marker.corners_mm - middle) * s for s in (1 - 1e-3, 1 + 1e-3))
        assert np.isin(bench.part(inside), prints).all()
        assert not np.isin(bench.part(outside), prints).any()


def test_rays_meet_a_base_just_inside_its_lower_edge_and_miss_it_just_outside(bench: Bench) -> None:
    from synthetic.traced.embree import Solid

    eye = bench.view.camera.center_mm
    inside: list[bool] = []
    outside: list[bool] = []
    for piece in bench.table.pieces:
        rim, outward = piece.rim_mm(144)
        near = rim + outward * 0.05 + [0, 0, 0.05]
        seen = ~Solid(piece.stand.parts[:1]).hides(near, eye) & ~bench.tracer.solid.hides(near, eye)
        sides = next(k for k, part in enumerate(bench.tracer.parts) if part is piece.stand.parts[0])
        inside += (bench.part((rim - outward * 0.05)[seen]) == sides).tolist()
        outside += (bench.part((rim + outward * 0.05)[seen]) == sides).tolist()
    assert len(inside) > 1000
    assert np.mean(inside) > 0.99  # a stone or a blade of grass may hang over
    assert np.mean(outside) < 0.01  # where the ray grazes the rim


def test_bases_on_a_hill_keep_clear_of_one_another_however_they_are_turned() -> None:
    """A stand is twice as long as it is wide."""
    outline = 160 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) + [400, 300]
    for seed in range(12):
        hill = Terrain("hill", outline, 40.0, [])
        pieces, _ = muster("stands", 0.0, Ground(800, 600), [hill], np.random.default_rng(seed))
        bases = [footprint(one.shape, one.x_mm, one.y_mm, one.heading_deg) for one in pieces]
        assert len(bases) > 1
        assert not any(one.intersects(other) for one, other in combinations(bases, 2))
        assert all(Polygon(outline).contains(base) for base in bases)


def test_where_only_a_part_is_traced_it_looks_as_in_the_whole_picture(bench: Bench) -> None:
    from synthetic.traced.expose import Effort, expose

    small = bench.view.resized(240 / bench.view.size_px[0])
    where = np.zeros(small.size_px[::-1], bool)
    where[60:100, 80:140] = True
    whole = expose(bench.tracer, small, Effort(1, 1, 2))
    part = expose(bench.tracer, small, Effort(1, 1, 2), where=where)
    alike = part[66:94, 86:134] == whole[66:94, 86:134]
    assert alike.mean() > 0.9  # what counts as an edge hangs a little on the mean brightness
    assert (np.ptp(part[~where], axis=0) == 0).all()
    assert part[~where].mean(0) == pytest.approx(part[where].mean(0), rel=0.1)


def test_near_bases_is_around_each_and_nowhere_else(bench: Bench) -> None:
    from synthetic.traced.crowded_tables import CLOSE, near_bases

    one = next(piece for piece in bench.table.pieces if piece.z_mm == 0)
    near, reach_mm = near_bases([one], bench.view), CLOSE * one.shape.length_mm
    for share, is_near in ((0.0, True), (0.9, True), (1.1, False)):
        aside = one.x_mm + share * reach_mm, one.y_mm
        column, row = np.round(bench.view.pixels(np.array([aside]), 0.0)[0]).astype(int)
        assert near[row, column] == is_near
