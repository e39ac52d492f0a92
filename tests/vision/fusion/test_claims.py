"""Which findings of several photos stand where two claim one place."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import Truth, camera_from, see
from overruler.bases import Base
from overruler.vision.fusion.fuse import fuse_photos
from overruler.vision.pairing import evidence, sight
from overruler.vision.pairing.sighting import SeenPhoto

RADII_MM = np.array([25, 27, 32, 40, 50]) / 2
OTHERS: list[Truth] = [(180.0 + 80 * k, 150.0 + 70 * (k % 4), 0.0, 27.0) for k in range(7)]
PLACE = (450.0, 550.0)
OVAL, END = Base.oval(35, 60), Base.circle(25)

pytestmark = pytest.mark.usefixtures("fits_as_stated")


def photo_of(index: int, shown: list[tuple[Base, float, float]]) -> SeenPhoto:
    """A photo that shows bases, so far along from a place and with such scores, beside the others."""
    places = [(PLACE[0] + along_mm, PLACE[1], 0.0, base.width_mm) for base, along_mm, _ in shown]
    random = np.random.default_rng(index)
    photo = see(index, camera_from(90.0 * index), [*OTHERS, *places], random)
    found = photo.detections[len(OTHERS) :]
    more = [
        replace(one, base=base, score=score, heading_deg=0.0)
        for one, (base, _, score) in zip(found, shown, strict=True)
    ]
    return replace(photo, detections=(*photo.detections[: len(OTHERS)], *more))


def told(photos: list[SeenPhoto]) -> list[Base]:
    bases = [one.base for one in fuse_photos(photos, RADII_MM).bases]
    return sorted((base for base in bases if base.width_mm != 27), key=lambda base: base.length_mm)


@pytest.fixture(autouse=True)
def _nothing_is_bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """The frames are of one colour."""
    for module in (evidence, sight):
        monkeypatch.setattr(module, "is_bare_instead", lambda *_: False)


def test_an_oval_stands_though_its_end_looks_like_a_surer_round_base() -> None:
    ovals = [photo_of(k, [(OVAL, 0.0, 0.75)]) for k in range(2)]
    ends = [photo_of(k, [(END, 17.0, 0.99)]) for k in range(2, 4)]
    assert told([*ovals, *ends]) == [OVAL]


def test_a_round_base_beside_an_oval_stands_with_it() -> None:
    both = [(OVAL, 0.0, 0.9), (END, 44.0, 0.99)]
    assert told([photo_of(k, both) for k in range(3)]) == [END, OVAL]
