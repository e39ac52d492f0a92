"""What a camera saw before it was measured anew is of other photos than what it sees now."""

from dataclasses import dataclass
from typing import Any

import pytest

from overruler.vision.fusion.noise import PlacedBase
from overruler.vision.several_cameras import outdated
from overruler.vision.several_cameras.joint_piece import JointPiece, camera_of


@dataclass(frozen=True)
class Photo:
    """A photo by a camera, as far as this asks."""

    index: int
    calibration: str


@dataclass(frozen=True)
class Seen:
    photo: Photo


def piece(name: str, photo: Photo) -> JointPiece:
    sighting: Any = Seen(photo)
    fused: Any = None
    return JointPiece(name, fused, PlacedBase((sighting,), 0.0, 0.0))


def test_a_camera_that_is_measured_anew_twice_has_three_photos(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pieces of two of them do not share the error of one calibration."""
    monkeypatch.setattr(outdated, "_has_gone", lambda *told: False)
    pieces = [piece("a", Photo(1, "first")), piece("b", Photo(1, "first"))]
    for calibration in ("second", "third"):
        now: Any = Photo(1, calibration)
        outdated.keep_what_was_seen(pieces, [], [now], 0.0)
        pieces.append(piece(calibration, now))
    sightings = [one.placed.sightings[0] for one in pieces]
    by_number = {(one.photo.index, one.photo.calibration) for one in sightings}
    assert len(by_number) == len({number for number, _ in by_number}) == 3
    assert {camera_of(one) for one in sightings} == {1}
