"""Tiles that are cut from photographs of ground."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from synthetic.tiles import GROUNDS, library

SEED, COUNT = 5, 8


def test_about_half_of_the_tiles_are_photographed_and_the_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = library(SEED, COUNT)
    flat = np.zeros((600, 640, 3), np.uint8)
    flat[..., 2] = 200
    cv2.imwrite(str(tmp_path / "red.png"), flat)
    monkeypatch.setenv(GROUNDS, str(tmp_path))
    mixed = library(SEED, COUNT)
    same = [np.array_equal(a, b) for a, b in zip(drawn, mixed, strict=True)]
    assert 1 <= sum(same) <= COUNT - 1
    photographed = [tile for tile, kept in zip(mixed, same, strict=True) if not kept]
    assert all(tile.shape == drawn[0].shape for tile in photographed)
    assert any(np.ptp(tile.reshape(-1, 3), axis=0).max() == 0 for tile in photographed)


def test_without_a_folder_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(GROUNDS, raising=False)
    assert all(map(np.array_equal, library(SEED, 2), library(SEED, 2)))
