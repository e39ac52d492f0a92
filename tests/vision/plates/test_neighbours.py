"""Rectangular bases among others: who touches, who cannot stand together, and what each says of the rest."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import RECTANGLE_SIDES_MM, Base
from overruler.geometry.pose import Array
from overruler.vision.contours.overlap_choice import bases_overlap
from overruler.vision.plates.neighbours import OWN_FEATURES, Places, Relations, settled_scores
from overruler.vision.plates.rectangle_fit import BasePose
from synthetic.painted.plates import spun

SIZES = st.sampled_from(RECTANGLE_SIDES_MM)
TURNS = st.floats(-3, 3)
FAIR = [1.0, 1.0, 4.0, 0.5, 1.0, 0.0, 1.0, 1.0, 0.1, 0.1, 0.1]
"""Own features of a base that the photo shows fairly well."""


def block(columns: int, rows: int, sides: tuple[float, float], turn: float = 0.0) -> Places:
    """A unit in rank and file, its bases in contact."""
    cells = np.array(list(product(range(columns), range(rows))), float)
    count = len(cells)
    return Places(spun(cells * sides, turn), np.full(count, turn), np.tile(sides, (count, 1)))


def joined(one: Places, other: Places) -> Places:
    xy, turns = np.concatenate([one.xy_mm, other.xy_mm]), [*one.turn_rad, *other.turn_rad]
    return Places(xy, np.array(turns), np.concatenate([one.size_mm, other.size_mm]))


@given(st.integers(1, 4), st.integers(1, 4), TURNS, SIZES)
def test_in_rank_and_file_a_base_has_as_many_contacts_as_neighbours(
    columns: int, rows: int, turn: float, sides: tuple[float, float]
) -> None:
    cells = list(product(range(columns), range(rows)))
    unit = block(columns, rows, sides, turn)
    steps = [
        sum((x + a, y + b) in cells for a, b in ((1, 0), (0, 1), (-1, 0), (0, -1)))
        for x, y in cells
    ]
    relations = Relations.of(unit)
    assert relations.features(np.ones(len(unit)))[:, 0].tolist() == steps
    assert not relations.rivals.any()
    apart = Places(2 * unit.xy_mm, unit.turn_rad, unit.size_mm)
    assert not Relations.of(apart).touching.any()


@given(SIZES, SIZES, st.tuples(st.floats(-60, 60), st.floats(-60, 60)), TURNS, TURNS)
def test_those_that_overlap_exclude_each_other(
    one: tuple[float, float],
    other: tuple[float, float],
    offset: tuple[float, float],
    turn: float,
    turn_of_other: float,
) -> None:
    xy, turns = np.array([[0.0, 0.0], offset]), np.array([turn, turn_of_other])
    rivals = Relations.of(Places(xy, turns, np.array([one, other]))).rivals
    poses = [
        BasePose(Base.rectangle(width, length), xy[k], float(turns[k]))
        for k, (length, width) in enumerate((one, other))
    ]
    shares = 0.17, 0.23  # of the limit's two sides: the exact outlines have other corners
    likely, surely = (bases_overlap(poses[0], poses[1], share) for share in shares)
    assert surely <= rivals[0, 1] <= likely
    assert rivals[0, 1] == rivals[1, 0]


def scores(places: Places, own: list[list[float]]) -> Array:
    return settled_scores(np.array(own), places)


@given(st.integers(2, 4), st.integers(1, 3), SIZES)
def test_a_base_is_likelier_in_rank_and_file_than_alone(
    columns: int, rows: int, sides: tuple[float, float]
) -> None:
    (alone,) = scores(block(1, 1, sides), [FAIR])
    unit = scores(block(columns, rows, sides), [FAIR] * (columns * rows))
    assert (unit > alone).all()


def test_a_unit_tells_the_size_of_a_member_that_looks_like_another() -> None:
    unit, wider = block(3, 3, (25.0, 25.0)), block(1, 1, (32.0, 25.0))
    places = joined(unit, Places(unit.xy_mm[4:5], wider.turn_rad, wider.size_mm))
    own = [FAIR] * 9 + [[1.0, 1.0, 4.3, 0.5, 0.8, 0.0, *FAIR[6:]]]
    two = Places(places.xy_mm[[4, 9]], places.turn_rad[[4, 9]], places.size_mm[[4, 9]])
    alone = scores(two, [own[4], own[9]])
    among = scores(places, own)
    assert alone[1] > alone[0]
    assert among[9] < among[4]


MORE = [
    ("network_logit", -4.0, 4.0),
    ("side_nats", -2.0, 12.0),
    ("size_chi2", 20.0, 0.0),
    ("closer_look_logit", -4.0, 4.0),
    ("in_play_logit", -8.0, 4.0),
]
"""What tells bases, from what speaks against one to what speaks for it."""


@given(st.sampled_from(MORE), st.integers(1, 3), SIZES, st.floats(0, 1), st.floats(0, 1))
def test_more_evidence_never_counts_against_a_base(
    feature: tuple[str, float, float],
    columns: int,
    sides: tuple[float, float],
    some: float,
    more: float,
) -> None:
    name, least, most = feature
    chances = []
    for share in sorted((some, more)):
        own = np.tile(FAIR, (columns, 1))
        own[:, OWN_FEATURES.index("log_side")] = np.log(np.sqrt(np.prod(sides)) / 30)
        own[0, OWN_FEATURES.index(name)] = least + share * (most - least)
        chances.append(float(settled_scores(own, block(columns, 1, sides))[0]))
    assert chances[0] <= chances[1] + 0.01
