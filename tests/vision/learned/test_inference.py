"""Networks say the same however many are asked at once, and in however many threads."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.learned import disc_net, inference, patch_net, shape_net
from overruler.vision.learned.inference import (
    infer_batch,
    infer_in_strips,
    infer_whole_picture,
    run_in_batches,
)
from overruler.vision.plates import regiment_net, side_net

PATCHES = np.random.default_rng(7).normal(size=(24, 7, 64, 64)).astype(np.float32)


def parts(count: int) -> list[Floats]:
    return [PATCHES[start : start + count] for start in range(0, len(PATCHES), count)]


@pytest.mark.parametrize("count", [1, 5, 16])
def test_answers_do_not_depend_on_who_is_asked_along(count: int) -> None:
    together = infer_batch(patch_net.PATCH_MODEL, PATCHES)
    apart = np.concatenate([infer_batch(patch_net.PATCH_MODEL, part) for part in parts(count)])
    assert together.shape == (len(PATCHES), 7)
    assert together.std(0).min() > 0.01  # it tells them apart
    np.testing.assert_allclose(apart, together, atol=1e-4)


def test_threads_do_not_disturb_each_other() -> None:
    one_by_one = [infer_batch(patch_net.PATCH_MODEL, part) for part in parts(3)]
    with ThreadPoolExecutor(4) as pool:
        at_once = list(pool.map(lambda part: infer_batch(patch_net.PATCH_MODEL, part), parts(3)))
    for one, other in zip(one_by_one, at_once, strict=True):
        assert np.array_equal(one, other)


def test_batches_come_back_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.arange(len(PATCHES), dtype=float)[:, None]
    whole = infer_batch(patch_net.PATCH_MODEL, PATCHES)
    monkeypatch.setattr(inference, "BATCH_SIZE", 5)
    found = run_in_batches(
        patch_net.PATCH_MODEL, lambda some: PATCHES[some[:, 0].astype(int)], rows
    )
    np.testing.assert_allclose(found, whole, atol=1e-4)
    assert run_in_batches(patch_net.PATCH_MODEL, lambda some: PATCHES[:0], rows[:0]).size == 0


@pytest.mark.parametrize("model", [disc_net.MODEL, shape_net.MODEL])
def test_a_picture_s_answers_lie_where_the_picture_does(model: Path) -> None:
    """What is shown further to the right by four cells is answered so, but near the borders."""
    picture = np.random.default_rng(8).normal(size=(1, 5, 256, 320)).astype(np.float32)
    moved = np.roll(picture, 16, axis=3)
    first, second = (infer_batch(model, one) for one in (picture, moved))
    inner = (slice(None), slice(None), slice(24, -24), slice(28, -28))
    np.testing.assert_allclose(np.roll(first, 4, axis=3)[inner], second[inner], atol=1e-3)


def test_what_the_edges_of_plates_say_has_a_place_for_each_bin() -> None:
    strips = np.zeros(
        (4 * side_net.STRETCHES_PER_SIDE, 6, side_net.SAMPLES_ACROSS, side_net.SAMPLES_ALONG),
        np.float32,
    )
    said = infer_batch(side_net.MODEL, strips)
    assert said.size == 4 * side_net.STRETCHES_PER_SIDE * side_net.OFFSET_BINS


def test_the_looks_from_above_reckon_in_bytes() -> None:
    """As `tools/training/quantize.py` makes it: in a third to seven tenths of the time."""
    for model in (disc_net.MODEL, disc_net.MODEL_IN_PLAY, regiment_net.MODEL):
        assert b"QuantizeLinear" in model.read_bytes()


def test_the_networks_engine_keeps_nothing_to_tell_its_maker(tmp_path: Path) -> None:
    """It would keep a number of this machine in the home, and events until it has a network."""
    program = (
        "from overruler.vision.learned import inference, patch_net\n"
        "inference.load_session(patch_net.PATCH_MODEL)"
    )
    hushed = (
        "CI",
        "ORT_",
        "GITHUB_",
        "BUILD_",
        "TF_BUILD",
        "XDG_",
    )  # it is silent in a CI by itself
    own = {key: value for key, value in os.environ.items() if not key.startswith(hushed)}
    subprocess.run([sys.executable, "-c", program], env=own | {"HOME": str(tmp_path)}, check=True)
    assert [*tmp_path.rglob("*")] == []


@pytest.mark.parametrize("model", [disc_net.MODEL, shape_net.MODEL, regiment_net.MODEL])
def test_strips_of_a_tall_picture_answer_as_the_whole(model: Path) -> None:
    """The strips overlap by more than what an answer depends on."""
    whole, strips = _both_ways(model, 1200)
    np.testing.assert_allclose(strips, whole, atol=1e-4)


def test_strips_of_a_tall_table_in_play_hardly_answer_otherwise() -> None:
    """An answer there depends on more than the overlap, but little; a byte may be rounded to the next one."""
    whole, strips = _both_ways(disc_net.MODEL_IN_PLAY, 1200)
    assert np.quantile(np.abs(strips - whole), 0.999) < 0.05
    assert np.abs(strips - whole).mean() < 0.005


def test_a_low_picture_is_one_strip() -> None:
    whole, strips = _both_ways(disc_net.MODEL_IN_PLAY, 160)
    assert np.array_equal(strips, whole)


def _both_ways(model: Path, height: int) -> tuple[Floats, Floats]:
    """What a network says of a picture as a whole, and strip by strip."""
    picture = np.random.default_rng(8).normal(size=(5, height, 48)).astype(np.float32)
    whole = infer_whole_picture(model, picture)
    strips = infer_in_strips(model, height, lambda rows: picture[:, rows])
    assert strips.shape == whole.shape
    return whole, strips


COPIED = """
import os, signal
import numpy as np
from overruler.vision.learned import patch_net
from overruler.vision.learned.inference import BATCH_SIZE, run_in_batches

def answers():
    pictures = np.random.default_rng(7).normal(size=(BATCH_SIZE, 7, 64, 64)).astype(np.float32)
    return run_in_batches(patch_net.PATCH_MODEL, lambda rows: pictures[: len(rows)], np.zeros((2 * BATCH_SIZE, 3)))

expected = answers()
child = os.fork()
if not child:
    signal.alarm(60)
    os._exit(0 if np.array_equal(answers(), expected) else 1)
raise SystemExit(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is copied here")
def test_a_copied_process_runs_batches_too() -> None:
    """It has none of the threads of the first one: lessons are drawn by such processes."""
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", COPIED], timeout=300)
    assert run.returncode == 0
