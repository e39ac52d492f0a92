"""Films: exact times, the right way up, read as far as they go."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overruler.errors import BadInput, CannotMeasure
from overruler.sources.video import Film

av: Any = pytest.importorskip("av", reason="films need PyAV")
SIZE = 160, 96
EVENLY = tuple(k / 25 for k in range(75))


def written(path: Path, times_s: tuple[float, ...] = EVENLY, size: tuple[int, int] = SIZE) -> Path:
    """A film whose pictures have these times and get brighter by one level each."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(
            "libx264", rate=1000, options={"crf": "12", "g": "10", "bf": "2", "threads": "1"}
        )
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
        for number, time_s in enumerate(times_s):
            pixels = np.full((size[1], size[0], 3), 40 + number % 160, np.uint8)
            pixels[: size[1] // 2, : size[0] // 2] = 200, 60, 30
            frame = av.VideoFrame.from_ndarray(pixels, format="bgr24")
            frame.pts, frame.time_base = round(time_s * 1000), Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def test_times_are_the_films_own_also_at_a_changing_rate(tmp_path: Path) -> None:
    times = (0.0, 0.04, 0.5, 0.54, 0.58, 1.3, 1.31, 1.32, 2.0)
    with Film(written(tmp_path / "a.mkv", times), looks_per_s=1000) as film:
        assert [shot.time_s for shot in film] == pytest.approx(times, abs=1e-3)
        assert film.problems() == []


@pytest.mark.parametrize("ending", ["mkv", "mp4", "mov", "ts", "flv"])
def test_a_part_that_keeps_the_times_of_the_whole_is_as_long_as_it_is(
    tmp_path: Path, ending: str
) -> None:
    """`ffmpeg -ss 2:00:00 -copyts` cuts so."""
    late = tuple(7200.0 + time_s for time_s in EVENLY)
    path = written(tmp_path / f"a.{ending}", late)
    with Film(path, looks_per_s=1000) as film:
        assert film.duration_s == pytest.approx(3.0, abs=0.1)
        assert [shot.time_s for shot in film] == pytest.approx(EVENLY, abs=2e-3)
        assert film.problems() == []
    with Film(path, looks_per_s=1000, from_s=1.6) as film:
        assert next(iter(film)).time_s == pytest.approx(1.6, abs=2e-3)


def test_a_film_may_be_named_by_a_text(tmp_path: Path) -> None:
    with Film(str(written(tmp_path / "a.mkv"))) as film:  # type: ignore[arg-type]
        assert len(list(film)) > 1
    with pytest.raises(BadInput, match="no such file"):
        Film("nowhere.mkv")  # type: ignore[arg-type]


def test_ten_shots_a_second_are_looked_at(tmp_path: Path) -> None:
    with Film(written(tmp_path / "a.mp4")) as film:
        times = [shot.time_s for shot in film]
    assert len(times) == pytest.approx(30, abs=2)
    assert np.diff(times).max() < 0.17
    assert set(np.round(times, 6)) <= set(np.round(EVENLY, 6))


def test_a_part_of_a_film_holds_the_same_pictures(tmp_path: Path) -> None:
    path = written(tmp_path / "a.mp4")
    with Film(path, looks_per_s=1000) as film:
        whole = {round(shot.time_s, 3): shot.grey.copy() for shot in film}
    with Film(path, looks_per_s=1000, from_s=1.0, to_s=2.0) as film:
        part = {round(shot.time_s, 3): shot.grey.copy() for shot in film}
    assert sorted(part) == [time for time in sorted(whole) if 1.0 <= time < 2.0]
    assert all(np.array_equal(part[time], whole[time]) for time in part)


def test_colours_of_a_part_are_those_of_the_whole(tmp_path: Path) -> None:
    with Film(written(tmp_path / "a.mp4")) as film:
        shot = next(iter(film))
    whole, part = shot.colours(None), shot.colours((33, 11, 101, 80))
    assert shot.size_px == SIZE
    assert part.shape == (69, 68, 3)
    assert np.abs(part.astype(int) - whole[11:80, 33:101]).max() <= 6
    assert shot.frame().time_s == shot.time_s


def test_a_film_that_is_cut_short_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    times = tuple(k / 25 for k in range(250))
    data = written(tmp_path / "whole.mkv", times).read_bytes()
    cut = tmp_path / "cut.mkv"
    cut.write_bytes(data[: len(data) // 2])
    with Film(cut) as film:
        last = max(shot.time_s for shot in film)
        assert 2 < last < 8
        assert f"can be read to {film.read_to_s:.1f} s of 10.0 s" in film.problems()[-1]


def test_flipped_bits_cost_some_pictures_and_are_named_where_the_decoder_says_so(
    tmp_path: Path,
) -> None:
    data = bytearray(written(tmp_path / "whole.mkv").read_bytes())
    for place in np.random.default_rng(4).integers(1000, len(data), 40):
        data[place] ^= 0x5A
    (tmp_path / "flipped.mkv").write_bytes(data)
    with Film(tmp_path / "flipped.mkv") as film:
        shots = list(film)
        assert len(shots) > 3
        assert film.problems()


def textured(path: Path) -> Path:
    """Blotches that drift over the picture, a picture that stands alone each second."""
    rough = np.random.default_rng(3).integers(0, 255, (SIZE[1] * 2, SIZE[0] * 2), np.uint8) // 8 * 4
    with av.open(str(path), "w") as container:
        stream = container.add_stream(
            "libx264",
            rate=25,
            options={"crf": "20", "g": "25", "bf": "0", "preset": "fast", "threads": "1"},
        )
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        for k in range(200):
            pixels = np.repeat(
                rough[k // 4 : k // 4 + SIZE[1], k // 3 : k // 3 + SIZE[0], None], 3, axis=2
            )
            container.mux(
                stream.encode(
                    av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="bgr24")
                )
            )
        container.mux(stream.encode())
    return path


@pytest.mark.parametrize("number", [30, 75, 120])
def test_what_is_made_from_a_damaged_picture_is_not_shown_either(
    tmp_path: Path, number: int
) -> None:
    data = bytearray(textured(tmp_path / "whole.mkv").read_bytes())
    with av.open(str(tmp_path / "whole.mkv")) as container:
        packet = [bytes(packet) for packet in container.demux(video=0) if packet.size][number]
    third, begin = len(packet) // 3, data.index(packet)
    noise = np.random.default_rng(number).integers(0, 255, third, np.uint8).tobytes()
    data[begin + third : begin + 2 * third] = noise
    (tmp_path / "flipped.mkv").write_bytes(data)
    with Film(tmp_path / "whole.mkv", looks_per_s=1000) as film:
        whole = {round(shot.time_s, 3): shot.grey.astype(int) for shot in film}
    with Film(tmp_path / "flipped.mkv", looks_per_s=1000) as film:
        shown = {round(shot.time_s, 3): shot.grey.astype(int) for shot in film}
    assert film.damaged_count
    assert len(whole) - 27 < len(shown) < len(whole), "all but what is left of a second"
    assert all(np.array_equal(shown[time_s], whole[time_s]) for time_s in shown)
    hidden = {
        time_s for time_s in whole if any(a - 1e-3 <= time_s < b - 1e-3 for a, b in film.gaps_s)
    }
    assert hidden == set(whole) - set(shown)


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (b"", CannotMeasure, "is empty"),
        (b"no film at all", CannotMeasure, "no film that can be read"),
    ],
)
def test_what_is_no_film_is_a_clear_refusal(
    tmp_path: Path, data: bytes, error: type[Exception], words: str
) -> None:
    (tmp_path / "a.mp4").write_bytes(data)
    with pytest.raises(error, match=words):
        Film(tmp_path / "a.mp4")


def test_no_file_a_folder_and_sound_alone(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        Film(tmp_path / "a.mp4")
    with pytest.raises(BadInput, match="is a folder"):
        Film(tmp_path)
    with av.open(str(tmp_path / "sound.mka"), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000)
        sound = av.AudioFrame.from_ndarray(
            np.zeros((1, 800), np.int16), format="s16", layout="mono"
        )
        sound.rate = 8000
        container.mux(stream.encode(sound))
    with pytest.raises(CannotMeasure, match="only sound"):
        Film(tmp_path / "sound.mka")


def drifting(path: Path, codec: str, options: dict[str, str]) -> Path:
    """Rough blotches that drift, so that most pictures are made from others."""
    rough = np.random.default_rng(5).integers(0, 255, (SIZE[1] * 2, SIZE[0] * 2), np.uint8)
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=30, options={"threads": "1", **options})
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        for k in range(90):
            pixels = np.repeat(
                rough[k // 2 : k // 2 + SIZE[1], k // 3 : k // 3 + SIZE[0], None], 3, axis=2
            )
            container.mux(
                stream.encode(
                    av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="bgr24")
                )
            )
        container.mux(stream.encode())
    return path


def looked_at(path: Path, **asked: Any) -> tuple[int, dict[float, bytes]]:
    """How many pictures were decoded, and those that were shown by their times."""
    decoded, pictures = 0, Film._decode_packets

    def counted(film: Film, first: Fraction) -> Any:
        nonlocal decoded
        for picture in pictures(film, first):
            decoded += 1
            yield picture

    with pytest.MonkeyPatch.context() as patch, Film(path, **asked) as film:
        patch.setattr(Film, "_decode_packets", counted)
        shown = {round(shot.time_s, 3): shot.grey.tobytes() for shot in film}
        assert film.problems() == []
        return decoded, shown


CODECS = {
    "libx264": {"bf": "3", "g": "40", "preset": "veryfast"},
    "libx265": {"preset": "ultrafast", "x265-params": "log-level=none:bframes=3:keyint=40"},
    "mpeg4": {"bf": "2"},
}


@pytest.mark.parametrize("name", ["a.mkv", "a.mp4", "a.ts"])
@pytest.mark.parametrize("codec", CODECS)
def test_pictures_that_nobody_looks_at_are_not_decoded_and_the_others_are_as_they_were(
    tmp_path: Path, name: str, codec: str
) -> None:
    if codec not in av.codecs_available:
        pytest.skip(f"this FFmpeg has no {codec}")
    path = drifting(tmp_path / name, codec, CODECS[codec])
    all_of_them, whole = looked_at(path, looks_per_s=np.inf)
    some, shown = looked_at(path)
    assert all_of_them == len(whole) == 90
    layered = (
        codec == "libx265" and name == "a.ts"
    )  # such a stream does not say beforehand whether it has layers
    assert some == 90 if layered else some < 75
    assert all(whole[time_s] == pixels for time_s, pixels in shown.items())
    assert [int(time_s * 10 + 0.01) for time_s in shown] == list(range(30)), (
        "one in each tenth of a second"
    )
    part = looked_at(path, from_s=1.5, to_s=2.5)[1]
    assert part == {time_s: pixels for time_s, pixels in shown.items() if 1.5 <= time_s < 2.5}
