"""A network that became an ONNX file is the same network again, and can be taught on."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs the group `train`: uv sync --group train")
torch = pytest.importorskip("torch", reason="needs the group `train`: uv sync --group train")


def test_a_revived_network_says_what_its_file_says_while_it_is_taught_too() -> None:
    from overruler.vision.networks import answer
    from overruler.vision.overview import MODEL
    from shapes.network import OverviewNet
    from training.revived import revive

    pictures = np.random.default_rng(0).normal(0, 0.5, (4, 5, 64, 64)).astype(np.float32)
    said = np.concatenate([answer(MODEL, one[None]) for one in pictures])
    net = OverviewNet()
    revive(net, MODEL, torch.from_numpy(pictures))
    for mode in (False, True):
        net.train(mode)
        with torch.inference_mode():
            assert net(torch.from_numpy(pictures)).numpy() == pytest.approx(said, abs=2e-3)


def test_the_file_of_another_network_is_refused(tmp_path: Path) -> None:
    from overruler.vision.overview import MODEL
    from shapes.network import OverviewNet
    from training.revived import revive

    with pytest.raises(ValueError, match=r"overview\.onnx: holds another network"):
        revive(OverviewNet(channels=9), MODEL, torch.zeros(1, 5, 64, 64))
