"""Photo files: turned once, read in every form that cameras write, and refused in one line."""

import io
import os
import struct
import tempfile
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pillow_heif
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image, ImageOps

from overruler.errors import BadInput, CannotMeasure
from overruler.sources.photo import load_photo

SIZE = (96, 72)


def picture() -> Image.Image:
    """A picture no two turns of which look alike: red left to right, green top to bottom, a blue corner."""
    width, height = SIZE
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[..., 0] = np.linspace(0, 255, width)
    pixels[..., 1] = np.linspace(0, 255, height)[:, None]
    pixels[: height // 3, : width // 4, 2] = 255
    return Image.fromarray(pixels)


def exif_with(orientation: int = 1, **details: float) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    names = {"focal_35mm": 0xA405, "width": 0xA002, "height": 0xA003, "zoom": 0xA404}
    if details:
        exif[0x8769] = {names[name]: value for name, value in details.items()}
    return exif


def close(a: NDArray[np.uint8], b: NDArray[np.uint8], tolerance: int) -> bool:
    return a.shape == b.shape and int(np.abs(a.astype(int) - b.astype(int)).max()) <= tolerance


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize(("suffix", "options", "tolerance"), [
    ("jpg", {"quality": 97, "subsampling": 0}, 24), ("png", {}, 0), ("webp", {"lossless": True}, 0),
    ("tif", {}, 0), ("tif", {"compression": "tiff_lzw"}, 0),
])  # fmt: skip
def test_every_orientation_is_applied_once(
    tmp_path: Path, orientation: int, suffix: str, options: dict[str, Any], tolerance: int
) -> None:
    path = tmp_path / f"turned.{suffix}"
    picture().save(path, exif=exif_with(orientation), **options)
    stored = picture()
    stored.getexif()[0x0112] = orientation
    expected = np.asarray(ImageOps.exif_transpose(stored))[:, :, ::-1]
    frame = load_photo(path)
    assert close(frame.pixels, np.asarray(expected), tolerance)
    assert frame.orientation == orientation
    assert frame.size_px == (SIZE if orientation < 5 else SIZE[::-1])


def test_orientation_six_puts_the_stored_left_column_on_top(tmp_path: Path) -> None:
    """Without Pillow's help: a phone held upright stores row 0 as the right-hand side of what it saw."""
    path = tmp_path / "upright.png"
    picture().save(path, exif=exif_with(6))
    stored = np.asarray(picture())[:, :, ::-1]
    assert (load_photo(path).pixels[0] == stored[::-1, 0]).all()


@pytest.mark.parametrize("orientation", [0, 9, 77])
def test_an_orientation_that_does_not_exist_is_ignored(tmp_path: Path, orientation: int) -> None:
    path = tmp_path / "odd.png"
    picture().save(path, exif=exif_with(orientation))
    assert load_photo(path).size_px == SIZE


def grey_frame(image: Image.Image, path: Path) -> NDArray[np.uint8]:
    image.save(path)
    pixels = load_photo(path).pixels
    assert (pixels[..., 0] == pixels[..., 1]).all()
    assert (pixels[..., 0] == pixels[..., 2]).all()
    return pixels[..., 0]


def test_grey_and_sixteen_bit_pictures(tmp_path: Path) -> None:
    ramp = np.tile(np.linspace(0, 255, 96).round().astype(np.uint8), (72, 1))
    assert (grey_frame(Image.fromarray(ramp), tmp_path / "grey.png") == ramp).all()
    assert close(
        grey_frame(Image.fromarray(ramp.astype(np.uint16) * 257), tmp_path / "deep.png"), ramp, 1
    )
    assert close(
        grey_frame(Image.fromarray(ramp.astype(np.uint16) * 257), tmp_path / "deep.tif"), ramp, 1
    )
    assert close(
        grey_frame(Image.fromarray(ramp.astype(np.float32) / 255), tmp_path / "float.tif"), ramp, 1
    )


def test_transparent_parts_are_white_and_the_rest_as_it_was(tmp_path: Path) -> None:
    rgba = np.dstack([np.asarray(picture()), np.full(SIZE[::-1], 255, np.uint8)])
    rgba[:10, :, 3] = 0
    Image.fromarray(rgba).save(tmp_path / "clear.png")
    pixels = load_photo(tmp_path / "clear.png").pixels
    assert (pixels[:10] == 255).all()
    assert (pixels[10:] == np.asarray(picture())[10:, :, ::-1]).all()


@pytest.mark.parametrize("mode", ["CMYK", "P", "1", "LA", "YCbCr"])
def test_unusual_modes_come_out_as_the_picture(tmp_path: Path, mode: str) -> None:
    suffix = {"CMYK": "jpg", "YCbCr": "jpg"}.get(mode, "png")
    picture().convert(mode).save(tmp_path / f"mode.{suffix}")
    pixels = load_photo(tmp_path / f"mode.{suffix}").pixels
    wanted = np.asarray(picture().convert(mode).convert("RGB"))[:, :, ::-1]
    assert np.abs(pixels.astype(int) - wanted).mean() < 6


def test_pixels_are_read_only_and_three_channels(tmp_path: Path) -> None:
    picture().save(tmp_path / "photo.png")
    frame = load_photo(tmp_path / "photo.png")
    assert frame.pixels.shape == (72, 96, 3)
    assert frame.name == str(tmp_path / "photo.png")
    with pytest.raises(ValueError, match="read-only"):
        frame.pixels[0, 0] = 0


# --- focal length ---


def focal_of(tmp_path: Path, size: tuple[int, int], exif: Image.Exif) -> tuple[float | None, float]:
    Image.new("L", size).save(tmp_path / "focal.jpg", exif=exif)
    frame = load_photo(tmp_path / "focal.jpg")
    return frame.focal_px, frame.focal_share


def test_focal_length_of_a_whole_picture_lies_between_the_two_readings_of_the_standard(
    tmp_path: Path,
) -> None:
    focal, share = focal_of(
        tmp_path, (4032, 3024), exif_with(focal_35mm=26, width=4032, height=3024)
    )
    by_width, by_diagonal = 26 / 36 * 4032, 26 / 43.26661530556787 * 5040
    assert focal is not None
    assert by_width < focal < by_diagonal
    assert share == 0.03
    assert abs(np.log(by_width / focal)) < share
    assert abs(np.log(by_diagonal / focal)) < share


@pytest.mark.parametrize(("size", "details"), [
    ((4032, 3024), {"focal_35mm": 26}),                                              # sizes unknown
    ((2016, 1512), {"focal_35mm": 26, "width": 4032, "height": 3024}),               # made smaller, or cut
    ((640, 480), {"focal_35mm": 26, "width": 640, "height": 480}),                   # no sensor is that small
    ((4032, 3024), {"focal_35mm": 52, "width": 4032, "height": 3024, "zoom": 2.0}),  # zoomed digitally
])  # fmt: skip
def test_a_picture_that_may_be_cut_has_a_wide_doubt(
    tmp_path: Path, size: tuple[int, int], details: dict[str, Any]
) -> None:
    focal, share = focal_of(tmp_path, size, exif_with(**details))
    assert focal is not None
    assert share == 0.15


def test_the_metadata_name_the_camera_and_its_zoom(tmp_path: Path) -> None:
    def camera_of(maker: str, model: str, **details: float) -> str | None:
        exif = exif_with(1, **details)
        exif[0x010F], exif[0x0110] = maker, model
        Image.new("L", (640, 480)).save(tmp_path / "camera.jpg", exif=exif)
        return load_photo(tmp_path / "camera.jpg").camera

    one = camera_of("Tern", "Tern 9", focal_35mm=26)
    assert one is not None
    assert one == camera_of("Tern", "Tern 9", focal_35mm=26, width=640)
    others = [
        camera_of("Tern", "Tern 8", focal_35mm=26),
        camera_of("Tern", "Tern 9", focal_35mm=52),
        camera_of("Tern", "Tern 9", focal_35mm=26, zoom=2.0),
    ]
    assert one not in others
    assert camera_of("", " \0") is None
    assert camera_of("", "", focal_35mm=26) is None


def test_a_picture_held_upright_has_the_same_focal_length(tmp_path: Path) -> None:
    level = focal_of(tmp_path, (4032, 3024), exif_with(1, focal_35mm=26, width=4032, height=3024))
    upright = focal_of(tmp_path, (4032, 3024), exif_with(6, focal_35mm=26, width=4032, height=3024))
    assert level == upright
    assert (
        focal_of(tmp_path, (3024, 4032), exif_with(1, focal_35mm=26, width=3024, height=4032))
        == level
    )


@pytest.mark.parametrize("focal_35mm", [0, 4000])
def test_no_focal_length_is_none(tmp_path: Path, focal_35mm: float) -> None:
    assert focal_of(tmp_path, (4032, 3024), exif_with(focal_35mm=focal_35mm))[0] is None
    assert focal_of(tmp_path, (640, 480), Image.Exif())[0] is None


# --- refusals ---


def png_header(width: int, height: int) -> bytes:
    """A PNG that claims a size and holds nothing."""
    body = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + body
    head = (
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    )
    return head + struct.pack(">I", 1000) + b"IDAT"


def jpeg_bytes() -> bytes:
    file = io.BytesIO()
    picture().resize((640, 480)).save(file, "JPEG", quality=90)
    return file.getvalue()


BROKEN = {
    "text.jpg": b"this is no picture\n",
    "empty.jpg": b"",
    "cut.jpg": jpeg_bytes()[: len(jpeg_bytes()) // 2],
    "head.jpg": jpeg_bytes()[:300],
    "tiny.png": b"",
    "photo.heic": b"\x00\x00\x00\x18ftypheic" + bytes(100),
    "photo.avif": b"\x00\x00\x00\x18ftypavif" + bytes(100),
    "huge.png": png_header(10_000, 10_000),
    "absurd.png": png_header(200_000, 200_000),
    "header.png": png_header(640, 480),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_read_is_one_line_with_a_remedy_and_status_three(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(BROKEN[name])
    if name == "tiny.png":
        Image.new("RGB", (1, 1)).save(path)
    with pytest.raises(CannotMeasure) as caught:
        load_photo(path)
    message = str(caught.value)
    assert caught.value.exit_code == 3
    assert message.startswith(str(path))
    assert "\n" not in message
    assert any(
        word in message for word in ("use ", "save it", "export it", "copy or take it again")
    ), message


@pytest.mark.parametrize("name", ["huge.png", "absurd.png"])
def test_a_picture_too_large_is_refused_by_its_header(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(BROKEN[name])
    with pytest.raises(CannotMeasure, match="more than 60 megapixels"):
        load_photo(tmp_path / name)


def test_an_avif_picture_is_named_as_one(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(BROKEN["photo.avif"])
    with pytest.raises(CannotMeasure, match="AVIF"):
        load_photo(tmp_path / "a.jpg")


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_a_heic_picture_is_seen_as_a_jpeg_is(tmp_path: Path, orientation: int) -> None:
    shown = Image.new("RGB", (320, 240), "white")
    shown.paste("red", (0, 0, 40, 40))
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif.get_ifd(0x8769)[0xA405] = 26  # the focal length, as on film
    shown.save(tmp_path / "a.jpg", quality=98, exif=exif.tobytes())
    pillow_heif.from_pillow(shown).save(tmp_path / "a.heic", quality=98, exif=exif.tobytes())
    jpeg, found = load_photo(tmp_path / "a.jpg"), load_photo(tmp_path / "a.heic")
    assert found.size_px == jpeg.size_px
    assert found.focal_px == jpeg.focal_px is not None
    assert np.abs(found.pixels.astype(int) - jpeg.pixels).mean() < 2


@given(st.integers(0, 200), st.integers(1, 255))
def test_a_damaged_heic_picture_is_refused_as_any_other(at: int, by: int) -> None:
    data = bytearray(heic_bytes())
    data[at] ^= by
    for broken in (bytes(data), heic_bytes()[: at * 4]):
        with tempfile.NamedTemporaryFile(suffix=".heic") as file:
            file.write(broken)
            file.flush()
            with suppress(CannotMeasure):  # and nothing else
                load_photo(file.name)


@cache
def heic_bytes() -> bytes:
    out = io.BytesIO()
    pillow_heif.from_pillow(Image.new("RGB", (96, 80), "teal")).save(out)
    return out.getvalue()


def test_missing_files_and_folders_are_wrong_options(tmp_path: Path) -> None:
    for path, words in (
        (tmp_path / "none.jpg", "no such file"),
        (tmp_path, "folder"),
        ("a\0b.jpg", "cannot be read"),
    ):
        with pytest.raises(BadInput, match=words) as caught:
            load_photo(path)
        assert caught.value.exit_code == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_a_wrong_option(tmp_path: Path) -> None:
    path = tmp_path / "locked.jpg"
    path.write_bytes(jpeg_bytes())
    path.chmod(0)
    with pytest.raises(BadInput, match="Permission denied"):
        load_photo(path)
