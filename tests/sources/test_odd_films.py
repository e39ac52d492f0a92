"""Films of odd make are shown as players show them, each picture at its own time."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overruler.errors import CannotMeasure
from overruler.sources.display_transform import DisplayTransform
from overruler.sources.folder import find_films
from overruler.sources.picture_kind import is_film_file
from overruler.sources.picture_times import PictureClock
from overruler.sources.video import Film
from tests.sources.odd_films import (
    corner_pictures,
    noisy_pictures,
    remuxed,
    with_display_matrix,
    with_sound,
    write_film,
)

av: Any = pytest.importorskip("av", reason="films need PyAV")
SIZE = (192, 128)
ONE = 65536
COUNT = 20
SQUARE = Fraction(1)


def shown(path: Path, **asked: Any) -> tuple[list[float], list[Any], list[str]]:
    with Film(path, **asked) as film:
        shots = list(film)
        return [shot.time_s for shot in shots], shots, film.problems()


def bright_corner(pixels: Any) -> tuple[bool, bool]:
    """Whether the bright corner is on the right, and whether it is below."""
    rows, columns = np.nonzero(np.asarray(pixels) > 220)
    height, width = pixels.shape[:2]
    return bool(columns.mean() > width / 2), bool(rows.mean() > height / 2)


MATRICES = {
    (ONE, 0, 0, ONE): (False, (False, False), 1),
    (-ONE, 0, 0, ONE): (False, (True, False), 2),
    (-ONE, 0, 0, -ONE): (False, (True, True), 3),
    (ONE, 0, 0, -ONE): (False, (False, True), 4),
    (0, ONE, ONE, 0): (True, (False, False), 5),
    (0, ONE, -ONE, 0): (True, (True, False), 6),
    (0, -ONE, -ONE, 0): (True, (True, True), 7),
    (0, -ONE, ONE, 0): (True, (False, True), 8),
}
"""By a, b, c, d of the matrix: whether it transposes, where the upper left corner comes out, and
the EXIF orientation that does the same (ISO/IEC 14496-12: x' = a x + c y, y' = b x + d y)."""


@pytest.mark.parametrize("matrix", MATRICES)
def test_every_track_matrix_is_applied_as_players_do(
    tmp_path: Path, matrix: tuple[int, int, int, int]
) -> None:
    transposed, corner, orientation = MATRICES[matrix]
    a, b, c, d = matrix
    path = write_film(tmp_path / "a.mp4", corner_pictures(5, SIZE))
    with_display_matrix(path, (a, b, 0, c, d, 0, 0, 0, 1 << 30))
    _, shots, _ = shown(path)
    shot = shots[0]
    assert shot.size_px == (SIZE[::-1] if transposed else SIZE)
    assert bright_corner(shot.grey) == corner
    assert bright_corner(shot.colours(None)[..., 0]) == corner
    assert shot.orientation == shot.frame().orientation == orientation
    part = shot.colours((10, 20, 70, 90)).astype(int)
    assert np.abs(part - shot.colours(None)[20:90, 10:70]).max() <= 1


class UnknownSideData:
    """A picture with a kind of side data that PyAV 18 does not know: it then reads none."""

    def __init__(self, picture: Any) -> None:
        self.rotation = picture.rotation

    @property
    def side_data(self) -> None:
        raise ValueError("31 is not a valid Type")


@pytest.mark.parametrize(
    "matrix", [(ONE, 0, 0, ONE), (0, ONE, -ONE, 0), (-ONE, 0, 0, -ONE), (0, -ONE, ONE, 0)]
)
def test_a_turn_is_known_beside_side_data_of_an_unknown_kind(
    tmp_path: Path, matrix: tuple[int, int, int, int]
) -> None:
    a, b, c, d = matrix
    path = write_film(tmp_path / "a.mp4", corner_pictures(2, SIZE))
    with_display_matrix(path, (a, b, 0, c, d, 0, 0, 0, 1 << 30))
    with av.open(str(path)) as container:
        picture = next(container.decode(video=0))
        unknown = UnknownSideData(picture)
        assert DisplayTransform.of(unknown, SQUARE) == DisplayTransform.of(picture, SQUARE)


@pytest.mark.parametrize(
    ("aspect", "size"), [(Fraction(4, 3), (256, 128)), (Fraction(1, 2), (192, 256))]
)
def test_pixels_that_are_not_square_are_stretched(
    tmp_path: Path, aspect: Fraction, size: tuple[int, int]
) -> None:
    pictures = corner_pictures(5, SIZE)
    path = write_film(tmp_path / "a.mp4", pictures, sample_aspect_ratio=aspect)
    _, shots, _ = shown(path)
    assert shots[0].size_px == size == shots[0].frame().size_px
    rows, columns = np.nonzero(shots[0].grey > 200)
    assert columns.max() + 1 == pytest.approx(size[0] / 3, abs=3)
    assert rows.max() + 1 == pytest.approx(size[1] / 3, abs=3)


def test_pixels_of_an_absurd_shape_are_refused(tmp_path: Path) -> None:
    pictures = corner_pictures(3, SIZE)
    path = write_film(tmp_path / "a.mp4", pictures, sample_aspect_ratio=Fraction(90, 1))
    with pytest.raises(CannotMeasure, match=r"90:1.*export the film again"):
        Film(path)


def levels(shots: list[Any]) -> list[int]:
    """The brightness of each picture's middle: it falls by one from picture to picture."""
    return [int(np.median(shot.grey[60:, 80:])) for shot in shots]


def test_an_avi_with_pictures_out_of_order_has_all_of_them_in_time(tmp_path: Path) -> None:
    plain, plain_shots, _ = shown(write_film(tmp_path / "a.mp4", corner_pictures(COUNT, SIZE)))
    times, shots, problems = shown(write_film(tmp_path / "a.avi", corner_pictures(COUNT, SIZE)))
    assert times == pytest.approx(plain)
    assert times == pytest.approx([k / 10 for k in range(COUNT)])
    assert levels(shots) == levels(plain_shots)
    assert not problems


def test_times_of_decoding_in_another_container_are_put_in_order(tmp_path: Path) -> None:
    source = write_film(tmp_path / "a.mp4", corner_pictures(COUNT, SIZE))
    path = remuxed(source, tmp_path / "b.mkv", stamp=lambda number: (number, number))
    times, shots, _ = shown(path)
    assert times == pytest.approx([k / 10 for k in range(COUNT)], abs=1e-3)
    assert levels(shots) == sorted(levels(shots), reverse=True)


@pytest.mark.parametrize("ending", [".mkv", ".mp4"])
def test_time_counts_from_where_the_sound_begins_as_in_players(tmp_path: Path, ending: str) -> None:
    silent = write_film(tmp_path / "silent.mp4", corner_pictures(COUNT, SIZE))
    path = with_sound(silent, tmp_path / f"sound{ending}", late_s=2.0, sound_s=3.9)
    times, shots, problems = shown(path)
    assert times == pytest.approx([2.0 + k / 10 for k in range(COUNT)], abs=2e-3)
    assert problems == []
    part, at, _ = shown(path, from_s=3.0, to_s=3.25)
    assert part == times[10:13]
    assert np.array_equal(at[0].grey, shots[10].grey)


def test_a_stream_whose_times_are_all_the_same_is_counted(tmp_path: Path) -> None:
    source = write_film(tmp_path / "a.mp4", corner_pictures(COUNT, SIZE), options={"bf": "0"})
    path = remuxed(source, tmp_path / "b.mkv", stamp=lambda number: (7, 7))
    times, shots, problems = shown(path, looks_per_s=float("inf"))
    assert len(shots) == COUNT
    assert np.diff(times).min() > 0
    assert "states no times" in problems[0]


def test_a_stream_without_times_is_counted_and_says_so(tmp_path: Path) -> None:
    path = write_film(tmp_path / "a.h264", corner_pictures(COUNT, SIZE), format="h264")
    times, shots, problems = shown(path, looks_per_s=float("inf"))
    assert len(shots) == COUNT
    assert np.diff(times) == pytest.approx(np.full(COUNT - 1, times[1] - times[0]))
    assert levels(shots) == sorted(levels(shots), reverse=True)
    assert problems == ["the film states no times: they follow from 25 pictures a second"]
    part, _, _ = shown(path, looks_per_s=float("inf"), from_s=0.3, to_s=0.5)
    assert part == [time_s for time_s in times if 0.3 <= time_s < 0.5]


def test_a_clock_never_steps_back_and_counts_what_it_corrected() -> None:
    clock = PictureClock(Fraction(0), 10.0)
    stamps = [0.0, 0.1, 0.05, None, 0.4, 0.4, 0.5]
    times = [
        clock.advance(None if stamp is None else Fraction(stamp).limit_denominator(100))
        for stamp in stamps
    ]
    assert times == sorted(times)
    assert clock.corrected_count == 3
    assert clock.advance(Fraction(-9)) == pytest.approx(times[-1] + 0.1), "a second recording"


def test_a_cover_picture_is_not_the_film_and_of_two_angles_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    with av.open(str(path), "w") as container:
        streams = []
        for side in (64, 192):
            stream = container.add_stream("libx264", rate=10, options={"crf": "12"})
            stream.width, stream.height, stream.pix_fmt = side, 128, "yuv420p"
            streams.append(stream)
        for stream in streams:
            stream.disposition = av.stream.Disposition(0)
        for number in range(8):
            for stream in streams:
                pixels = corner_pictures(1, (stream.width, 128))[0]
                frame = av.VideoFrame.from_ndarray(pixels, format="bgr24")
                frame.pts, frame.time_base = number, Fraction(1, 10)
                container.mux(stream.encode(frame))
        for stream in streams:
            container.mux(stream.encode())
    _, shots, problems = shown(path)
    assert shots[0].size_px in ((64, 128), (192, 128))
    assert "the file holds 2 recordings" in problems[0]


def test_only_a_cover_picture_is_no_film() -> None:
    from overruler.sources.film_file import choose_stream

    class Cover:
        disposition = av.stream.Disposition.attached_pic

    class Streams:
        video = (Cover(),)

    class Container:
        streams = Streams()

    with pytest.raises(CannotMeasure, match=r"a\.m4a: holds sound and a cover picture, no film"):
        choose_stream(Container(), "a.m4a")


def test_a_picture_size_that_changes_is_read_to_the_end(tmp_path: Path) -> None:
    data = b""
    for name, size in (("a", SIZE), ("b", (128, 96))):
        path = write_film(tmp_path / f"{name}.ts", corner_pictures(10, size), format="mpegts")
        data += path.read_bytes()
    (tmp_path / "c.ts").write_bytes(data)
    times, shots, _ = shown(tmp_path / "c.ts")
    assert {shot.size_px for shot in shots} == {SIZE, (128, 96)}
    assert times == sorted(times)
    assert len(times) >= 18


FRAGMENTED = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
"""How phones and browsers record: each part of the film has its own index (`moof`)."""


def test_a_film_in_fragments_is_read_whole_and_as_far_as_it_goes(tmp_path: Path) -> None:
    path = write_film(tmp_path / "a.mp4", noisy_pictures(40), container=FRAGMENTED)
    data = path.read_bytes()
    assert data.count(b"moof") > 2
    times, _, problems = shown(path)
    assert times == pytest.approx([k / 10 for k in range(40)])
    assert not problems
    (tmp_path / "cut.mp4").write_bytes(data[: len(data) // 2])
    times, _, problems = shown(tmp_path / "cut.mp4")
    assert 10 <= len(times) <= 25
    assert any("can be read to" in problem for problem in problems)


def test_fragments_that_are_missing_shift_no_time_of_the_others(tmp_path: Path) -> None:
    path = write_film(tmp_path / "a.mp4", noisy_pictures(40), container=FRAGMENTED)
    data = path.read_bytes()
    starts = [at - 4 for at in range(len(data)) if data[at : at + 4] == b"moof"]
    (tmp_path / "b.mp4").write_bytes(data[: starts[1]] + data[starts[3] :])
    times, shots, problems = shown(tmp_path / "b.mp4")
    (text,) = problems
    assert re.match(
        r"the film has no pictures from 0\.\d s to [23]\.\d s: moves were not seen", text
    )
    assert len(times) == pytest.approx(20, abs=2)
    assert max(np.diff(times)) == pytest.approx(2.0, abs=0.15)
    assert levels(shots)[-1] < levels(shots)[0]
    assert times[-1] == pytest.approx(3.9, abs=0.05)


@pytest.mark.parametrize("ending", [".ts", ".mkv"])
@pytest.mark.parametrize(("start", "end"), [(0.4, 0.6), (0.3, 0.7)])
def test_bytes_missing_in_the_middle_cost_their_pictures_and_are_told(
    tmp_path: Path, ending: str, start: float, end: float
) -> None:
    data = write_film(tmp_path / f"a{ending}", noisy_pictures(40)).read_bytes()
    hole = slice(int(start * len(data)), int(end * len(data)))
    (tmp_path / f"b{ending}").write_bytes(data[: hole.start] + data[hole.stop :])
    times, _, problems = shown(tmp_path / f"b{ending}")
    assert 18 <= len(times) < 36
    assert times == sorted(times)
    assert times[-1] == pytest.approx(3.9, abs=0.15)
    assert any("damaged" in text or "no pictures from" in text for text in problems)


def test_no_picture_made_from_lost_bytes_is_shown_wherever_they_lay(tmp_path: Path) -> None:
    data = write_film(tmp_path / "a.ts", noisy_pictures(40)).read_bytes()
    sound = {shot.grey.tobytes() for shot in shown(tmp_path / "a.ts")[1]}
    for first in range(20):
        hole = slice(int((0.2 + 0.03 * first) * len(data)), int((0.22 + 0.03 * first) * len(data)))
        (tmp_path / "b.ts").write_bytes(data[: hole.start] + data[hole.stop :])
        _, shots, problems = shown(tmp_path / "b.ts")
        assert {shot.grey.tobytes() for shot in shots} <= sound
        assert any("damaged" in problem for problem in problems)


@pytest.mark.parametrize(
    ("name", "asked"),
    [("a.3gp", {}), ("a.ts", {}), ("a.mts", {"mpegts_m2ts_mode": "1"})],
)
def test_films_of_phones_and_camcorders_are_known_as_films_and_read(
    tmp_path: Path, name: str, asked: dict[str, str]
) -> None:
    form = "3gp" if name == "a.3gp" else "mpegts"
    pictures = corner_pictures(COUNT, SIZE)
    film = write_film(tmp_path / name, pictures, format=form, container=asked)
    assert find_films(tmp_path) == [film]
    assert is_film_file(film)
    assert len(shown(film)[0]) == COUNT
