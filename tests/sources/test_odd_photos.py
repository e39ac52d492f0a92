"""Photos that are damaged, raw or oddly wrapped: opened as every viewer does, or named."""

import io
from pathlib import Path

import cv2
import numpy as np
import pillow_heif
import pytest
from numpy.typing import NDArray
from PIL import Image

from overruler.errors import CannotMeasure
from overruler.sources.photo import load_photo

Pixels = NDArray[np.uint8]


def rough_picture() -> Pixels:
    """Blocks of random colours, so that every part of the data matters."""
    blocks = np.random.default_rng(2).integers(0, 255, (48, 64, 3), np.uint8)
    return np.kron(blocks, np.ones((10, 10, 1), np.uint8))


def jpeg_bytes(**options: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(rough_picture()).save(file, "JPEG", quality=90, **options)
    return file.getvalue()


def loaded(tmp_path: Path, data: bytes, name: str = "a.jpg") -> Pixels:
    (tmp_path / name).write_bytes(data)
    return load_photo(tmp_path / name).pixels


def test_a_jpeg_without_its_end_mark_is_the_same_picture(tmp_path: Path) -> None:
    data = jpeg_bytes()
    whole = loaded(tmp_path, data)
    assert np.array_equal(loaded(tmp_path, data[:-2]), whole)
    assert np.array_equal(loaded(tmp_path, data[:-1]), whole)
    assert np.array_equal(loaded(tmp_path, data + bytes(5000)), whole)


@pytest.mark.parametrize("progressive", [0, 1])
def test_a_sound_jpeg_has_no_damage(tmp_path: Path, progressive: int) -> None:
    pixels = loaded(tmp_path, jpeg_bytes(progressive=progressive))
    assert np.abs(pixels[..., ::-1].astype(int) - rough_picture()).mean() < 12


def test_a_jpeg_whose_data_are_shifted_is_refused_and_not_measured(tmp_path: Path) -> None:
    data, whole = jpeg_bytes(), loaded(tmp_path, jpeg_bytes())
    start = data.index(b"\xff\xda") + 20
    refused = shown = 0
    for at in np.random.default_rng(3).integers(start, len(data) - 2, 60):
        broken = bytearray(data)
        broken[at] ^= 1 << int(at) % 8
        try:
            pixels = loaded(tmp_path, bytes(broken))
        except CannotMeasure:
            refused += 1
            continue
        shown += (np.abs(pixels.astype(int) - whole) > 40).mean() > 0.02
    assert refused > 15
    assert shown <= refused / 8, "of a shift that ends in step the picture shows a seam"


@pytest.mark.parametrize("subsampling", [0, 1, 2])
def test_a_shift_that_leaves_the_data_in_step_is_seen_in_the_picture(
    tmp_path: Path, subsampling: int
) -> None:
    """The brightness is shifted from one unit on, as a wrong difference of the code shifts it."""
    draw = np.random.default_rng(4)
    small = draw.normal(120, 30, (30, 40, 3)).clip(60, 190).astype(np.uint8)
    picture = cv2.resize(small, (640, 480), interpolation=cv2.INTER_CUBIC)
    noisy = (picture + draw.normal(0, 3, picture.shape)).clip(0, 255).astype(np.uint8)
    width, height = ((8, 8), (16, 8), (16, 16))[subsampling]
    for row, column, shift, is_refused in ((9, 17, 20, True), (9, 17, 0, False), (9, 0, 20, False)):
        shifted = noisy.astype(int)
        shifted[row * height : (row + 1) * height, column * width :] += shift
        shifted[(row + 1) * height :] += shift
        file = io.BytesIO()
        Image.fromarray(shifted.clip(0, 255).astype(np.uint8)).save(
            file, "JPEG", quality=92, subsampling=subsampling
        )
        if is_refused:
            with pytest.raises(CannotMeasure, match="brightness is shifted"):
                loaded(tmp_path, file.getvalue())
        else:
            loaded(tmp_path, file.getvalue())


def test_a_jpeg_that_lost_its_second_half_is_refused(tmp_path: Path) -> None:
    data = jpeg_bytes()
    with pytest.raises(CannotMeasure, match="damaged"):
        loaded(tmp_path, data[: len(data) // 2])


@pytest.mark.parametrize("bits", [10, 12, 14, 16])
@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_colours_of_few_bits_in_sixteen_are_as_bright_as_in_eight(
    tmp_path: Path, bits: int, suffix: str
) -> None:
    wide = (rough_picture().astype(float) / 255 * (2**bits - 1)).round().astype(np.uint16)
    done, data = cv2.imencode(suffix, wide)
    assert done
    found = loaded(tmp_path, data.tobytes(), "a" + suffix)
    assert np.abs(found.astype(int) - rough_picture()).max() <= 1


def test_a_dark_picture_of_eight_bits_stays_dark(tmp_path: Path) -> None:
    done, data = cv2.imencode(".png", rough_picture() // 8)
    assert done
    assert np.array_equal(loaded(tmp_path, data.tobytes(), "a.png"), rough_picture() // 8)


def test_a_raw_picture_is_named_and_its_preview_not_measured(tmp_path: Path) -> None:
    preview = Image.fromarray(rough_picture())
    for tags, words in (({50706: b"\1\4\0\0"}, "raw picture .DNG."), ({254: 1}, "small preview")):
        preview.save(tmp_path / "a.dng", "TIFF", tiffinfo=tags)
        with pytest.raises(CannotMeasure, match=words):
            load_photo(tmp_path / "a.dng")


def boxed(*brands: bytes) -> bytes:
    """The head of a file with a main brand and those that it is compatible with."""
    body = brands[0] + bytes(4) + b"".join(brands[1:])
    return (8 + len(body)).to_bytes(4, "big") + b"ftyp" + body + bytes(200)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (boxed(b"qt  "), "is a film"),
        (boxed(b"mp42", b"isom"), "is a film"),
        (boxed(b"crx ", b"isom"), "raw picture"),
        (boxed(b"mif1", b"miaf", b"avif"), "AVIF|damaged"),
        (b"\xff\x0a" + bytes(100), "JPEG XL"),
        (b"II*\0\x10\0\0\0CR\2\0" + bytes(100), "raw picture|damaged"),
        (b"FUJIFILMCCD-RAW 0201" + bytes(100), "raw picture"),
        (b"IIRO\x08\0\0\0" + bytes(100), "raw picture"),
        (b"RIFF\0\1\0\0AVI LIST" + bytes(100), "is a film"),
        (b"\x1a\x45\xdf\xa3" + bytes(100), "is a film"),
        (b"%PDF-1.7\n" + bytes(100), "a PDF file; save the photo itself as JPEG"),
        (b"\xef\xbb\xbf <!DOCTYPE html>" + bytes(100), "a web page"),
        (b"\0\0\0\x0cjP  \r\n\x87\n" + bytes(100), "JPEG 2000"),
    ],
)
def test_other_kinds_are_named_by_what_they_are(tmp_path: Path, data: bytes, words: str) -> None:
    with pytest.raises(CannotMeasure, match=words):
        loaded(tmp_path, data)


def test_a_film_in_place_of_a_photo_is_sent_where_films_are_taken(tmp_path: Path) -> None:
    with pytest.raises(CannotMeasure, match=r"overruler measure by its file's name.*analyze"):
        loaded(tmp_path, boxed(b"qt  "))


@pytest.mark.parametrize("data", [b"", bytes(300)])
@pytest.mark.parametrize("name", ["walk.mp4", "WALK.MOV"])
def test_what_is_called_a_film_and_is_none_is_a_broken_film(
    tmp_path: Path, name: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(CannotMeasure, match="is no film that can be read; copy it again"):
        load_photo(tmp_path / name)


@pytest.mark.parametrize("kind", ["BMP", "GIF"])
def test_old_kinds_that_every_viewer_opens_are_read(tmp_path: Path, kind: str) -> None:
    grey = Image.fromarray(rough_picture()).convert("L")
    grey.save(tmp_path / "a", kind)
    assert np.array_equal(load_photo(tmp_path / "a").pixels[..., 0], np.asarray(grey))


def test_an_avif_picture_is_read_where_pillow_can(tmp_path: Path) -> None:
    pytest.importorskip("PIL.AvifImagePlugin")
    Image.fromarray(rough_picture()).save(tmp_path / "a.avif", quality=95)
    pixels = load_photo(tmp_path / "a.avif").pixels
    assert np.abs(pixels[..., ::-1].astype(int) - rough_picture()).mean() < 12


@pytest.mark.parametrize("brands", [(b"MiHB", b"mif1", b"heic"), (b"mif2", b"heic")])
def test_a_heic_picture_of_an_odd_brand_is_one(tmp_path: Path, brands: tuple[bytes, ...]) -> None:
    file = io.BytesIO()
    pillow_heif.from_pillow(Image.fromarray(rough_picture())).save(file, quality=95)
    data = file.getvalue()
    assert data[4:8] == b"ftyp"
    odd = brands[0] + data[12:16] + b"".join(brands[1:]) + data[16 + 4 * len(brands[1:]) :]
    pixels = loaded(tmp_path, data[:8] + odd, "a.heic")
    assert np.abs(pixels[..., ::-1].astype(int) - rough_picture()).mean() < 12


@pytest.mark.parametrize("stray", [b"", bytes(5)])
def test_a_jpeg_with_or_without_warnings_shows_the_same_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], stray: bytes
) -> None:
    pixels = np.random.default_rng(3).integers(0, 256, (80, 120, 3), np.uint8)
    path = tmp_path / "noise.jpg"
    Image.fromarray(pixels).save(path, quality=90)
    with Image.open(path) as image:
        wanted = np.asarray(image.convert("RGB"))[..., ::-1]
    data = path.read_bytes()
    scan = data.index(b"\xff\xda")
    path.write_bytes(data[:scan] + stray + data[scan:])
    assert np.array_equal(load_photo(path).pixels, wanted)
    assert capfd.readouterr().err == ""
