"""A network that became an ONNX file is the same network again, and can be taught on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs the group `train`: uv sync --group train")
torch = pytest.importorskip("torch", reason="needs the group `train`: uv sync --group train")


def networks() -> dict[str, Callable[[], Any]]:
    from training.lessons.hills.network import HillNet
    from training.lessons.rims.network import PatchNet, RingNet
    from training.lessons.shapes.headings import HeadingNet
    from training.lessons.shapes.network import OverviewNet

    return {
        "overview": OverviewNet,
        "hills": HillNet,
        "rims": PatchNet,
        "rings": RingNet,
        "plate_heading": HeadingNet,
    }


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("overview", (5, 64, 64)),
        ("hills", (5, 64, 64)),
        ("rims", (7, 64, 64)),
        ("rings", (8, 40, 64)),
        ("plate_heading", (6, 128, 128)),
    ],
)
def test_a_revived_network_says_what_its_file_says_while_it_is_taught_too(
    name: str, shape: tuple[int, ...]
) -> None:
    from overruler.vision.learned import inference as vision
    from training.revived import revive

    model = vision.WEIGHTS / (f"{name}.onnx")
    pictures = np.random.default_rng(0).normal(0, 0.5, (4, *shape)).astype(np.float32)
    said = np.concatenate([vision.infer_batch(model, one[None]) for one in pictures])
    net = networks()[name]()
    revive(net, model, torch.from_numpy(pictures))
    for mode in (False, True):
        net.train(mode)
        with torch.inference_mode():
            assert net(torch.from_numpy(pictures)).numpy() == pytest.approx(
                said, rel=2e-3, abs=5e-3
            )


def test_a_revived_network_whose_file_joins_its_first_two_layers_says_the_same() -> None:
    from overruler.vision.learned import in_play_net, inference
    from training.lessons.in_play.network import InPlayNet
    from training.revived import revive

    pictures = np.random.default_rng(0).normal(size=(8, *InPlayNet.shape)).astype(np.float32)
    net = InPlayNet()
    revive(net, in_play_net.MODEL, torch.from_numpy(pictures))
    said = inference.infer_batch(in_play_net.MODEL, pictures)
    with torch.inference_mode():
        assert net.eval()(torch.from_numpy(pictures)).numpy() == pytest.approx(said, abs=1e-4)
    assert said.std() > 1


def test_a_network_in_bytes_is_taught_on_from_the_numbers_that_they_stand_for() -> None:
    from overruler.vision.learned import inference as vision
    from overruler.vision.plates.regiment_net import MODEL
    from training.lessons.shapes.network import OverviewNet
    from training.revived import revive

    noise = np.random.default_rng(0).normal(0, 0.5, (2, 5, 64, 64)).astype(np.float32)
    said = np.concatenate([vision.infer_batch(MODEL, one[None]) for one in noise])
    net = OverviewNet()
    revive(net, MODEL, torch.from_numpy(noise))
    with torch.inference_mode():
        whole = net.eval()(torch.from_numpy(noise)).numpy()
    assert np.corrcoef(whole.ravel(), said.ravel())[0, 1] > 0.98


def test_the_file_of_another_network_is_refused(tmp_path: Path) -> None:
    from overruler.vision.learned.shape_net import MODEL
    from training.lessons.shapes.network import OverviewNet
    from training.revived import revive

    with pytest.raises(ValueError, match=r"overview\.onnx: holds another network"):
        revive(OverviewNet(channels=9), MODEL, torch.zeros(1, 5, 64, 64))


def test_a_blended_network_lies_between_the_two() -> None:
    import onnx

    from overruler.vision.learned import inference as vision
    from training.blend import blended

    def at(share: float) -> dict[str, "np.ndarray[tuple[int, ...], np.dtype[np.float32]]"]:
        before, after = (onnx.load(str(vision.WEIGHTS / ("hills.onnx"))) for _ in range(2))
        for one in after.graph.initializer:
            one.CopyFrom(
                onnx.numpy_helper.from_array(3 * onnx.numpy_helper.to_array(one), one.name)
            )
        return {
            one.name: onnx.numpy_helper.to_array(one)
            for one in blended(before, after, share).graph.initializer
        }

    first, half = at(0.0), at(0.5)
    assert all(half[name] == pytest.approx(2 * weights) for name, weights in first.items())


def test_other_networks_are_not_blended() -> None:
    import onnx

    from overruler.vision.learned import inference as vision
    from training.blend import blended

    hills, rims = (onnx.load(str(vision.WEIGHTS / (f"{name}.onnx"))) for name in ("hills", "rims"))
    with pytest.raises(ValueError, match="not the same network"):
        blended(hills, rims, 0.5)


def test_a_look_beside_a_base_says_how_far_out_each_side_lies() -> None:
    from overruler.bases import Base
    from overruler.vision.plates.rectangle_fit import BasePose
    from training.lessons.shapes.regiment_sides import places

    square = np.array([[10.0, 20.0, 25.0, 25.0, 0.0, 1.0, 1.0]])
    off = places(BasePose(Base.rectangle(25, 25), np.array([8.0, 21.5]), 0.0), square)
    assert off.reshape(4, -1) == pytest.approx(np.repeat([[2.0], [-1.5], [-2.0], [1.5]], 3, 1))
    quarter = places(BasePose(Base.rectangle(25, 25), np.array([8.0, 21.5]), np.pi / 2), square)
    assert quarter.reshape(4, -1)[:, 0] == pytest.approx([-1.5, -2.0, 1.5, 2.0])
    longer = places(BasePose(Base.rectangle(25, 50), np.array([10.0, 20.0]), 0.0), square)
    ends, sides = longer.reshape(4, -1)[::2], longer.reshape(4, -1)[1::2]
    assert np.isnan(ends).all()
    assert (~np.isnan(sides)).sum(1).tolist() == [1, 1]  # only the middle stretches lie on a side
    turned = places(BasePose(Base.rectangle(25, 25), np.array([10.0, 20.0]), 0.3), square)
    assert np.isnan(turned).all()
