"""What the network in play is shown, and what it is told is true of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.vision.learned.in_play_net import COLUMNS, SIZE, STRETCH, corrected_shapes
from synthetic.arrays import Array, Floats
from tests.tables import camera_over

pytest.importorskip("torch", reason="training needs `uv sync --group train`")
import torch

from training.lessons.in_play.learn import (
    IS_ROUND,
    PLACE,
    TOLD,
    TRUE_PLACE,
    TRUE_SIZE,
    TRUE_STRETCH,
    loss,
    mirror,
)
from training.lessons.in_play.looks import label
from training.lessons.in_play.photographed import CAMERA as TAKING
from training.lessons.in_play.photographed import LIGHT, Effect, photographed

CAMERA = camera_over(25.0, turn_deg=0.0)
AHEAD_MM = 40.0
"""A candidate lies so far beyond the point below the camera, straight ahead: its mirror is x = const."""


def told(truth: Floats) -> Array:
    """The answers of a network that says what is true."""
    answers = np.zeros((len(truth), COLUMNS))
    for said, true in ((PLACE, TRUE_PLACE), ([SIZE], [TRUE_SIZE]), (STRETCH, TRUE_STRETCH)):
        answers[:, said] = truth[:, true]
    return answers


@settings(max_examples=30)
@given(st.floats(-5, 5), st.floats(-5, 5), st.floats(1.1, 1.5), st.floats(0.1, 3.0))
def test_a_mirrored_look_with_its_truth_tells_of_the_mirrored_base(
    right: float, up: float, aspect: float, heading: float
) -> None:
    x, y = CAMERA.center_mm[:2]
    candidate = np.array([[x, y + AHEAD_MM, 20.0, 20.0, 0.0]])
    base = np.array([[x + right, y + AHEAD_MM + up, 20.0 * aspect, 20.0, heading]])
    seen = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    truth = label(CAMERA, candidate, np.column_stack([base, [[0.8, 0.0]]]))
    assert corrected_shapes(CAMERA, candidate, told(truth))[0, :4] == pytest.approx(
        base[0, :4], abs=1e-3
    )
    other, mirrored = mirror(seen, truth, np.array([0]))
    found = corrected_shapes(CAMERA, candidate, told(mirrored))[0]
    assert found[:4] == pytest.approx([x - right, *base[0, 1:4]], abs=1e-3)
    assert np.tan(found[4] + heading) == pytest.approx(0, abs=1e-3)
    assert (other == seen[..., ::-1]).all()


def test_a_photographed_patch_is_a_patch_again_and_seldom_the_same() -> None:
    rng = np.random.default_rng(5)
    patches = rng.integers(0, 256, (12, 96, 96, 3), np.uint8)
    before = patches.copy()
    taken = photographed(rng, patches)
    assert (taken.shape, taken.dtype) == (patches.shape, patches.dtype)
    assert (patches == before).all()
    assert all((new != old).mean() > 0.2 for new, old in zip(taken, patches, strict=True))


@pytest.mark.parametrize("effect", [effect for _, effect in (*LIGHT, *TAKING)])
def test_an_effect_keeps_shape_and_kind_and_about_the_brightness(effect: Effect) -> None:
    rng = np.random.default_rng(6)
    patch = np.full((96, 96, 3), 0.5, np.float32)
    changed = np.stack([effect(rng, patch) for _ in range(40)])
    assert (changed.shape[1:], changed.dtype) == (patch.shape, patch.dtype)
    assert np.isfinite(changed).all()
    assert changed.mean() == pytest.approx(0.5, abs=0.12)


@pytest.mark.parametrize(("told_of", "teaches"), [(0.0, False), (1.0, True)])
def test_a_wrong_candidate_near_a_base_teaches_its_shape_and_one_of_nothing_none(
    told_of: float, teaches: bool
) -> None:
    truth = torch.full((4, 9), 0.3)
    truth[:, IS_ROUND], truth[:, TOLD] = 0, told_of
    answer = torch.zeros(4, COLUMNS, requires_grad=True)
    loss(answer, truth).backward()
    assert bool((answer.grad[:, [*PLACE, SIZE, *STRETCH]] < 0).all()) is teaches
    assert bool((answer.grad[:, [*PLACE, SIZE, *STRETCH]] == 0).all()) is not teaches
    assert bool((answer.grad[:, 0] > 0).all())


def test_the_trunk_learns_slower_where_it_knows_photographs() -> None:
    from training.lessons.in_play.network import InPlayNet
    from training.lite import LITE0
    from training.loop import parameter_groups

    net = InPlayNet(LITE0)
    groups = {group["share"]: group["params"] for group in parameter_groups(net, 0.6)}
    assert sum(map(len, groups.values())) == len(list(net.parameters()))
    slow, usual = ({id(one) for one in groups[share]} for share in (0.6, 1.0))
    assert {id(net.trunk.colours.weight), *map(id, net.trunk.blocks.parameters())} <= slow
    assert {id(net.trunk.aside.weight), *map(id, net.head.parameters())} <= usual
