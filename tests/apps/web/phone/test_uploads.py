"""What is kept of a photo: the same pixels, none of the rest; and what is no photo is not kept at all."""

import io
import struct
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pillow_heif
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from overruler.apps.web.faults import UploadRefused
from overruler.apps.web.phone.uploads import detect_format, strip_metadata
from overruler.sources.photo import load_photo
from tests.apps.web.desk import jpeg

SECRETS = (b"GPS", b"Photoshop", b"xpacket", b"thumbnail", b"Anna", b"ftypqt")


def exif(orientation: int = 6) -> Image.Exif:
    found = Image.Exif()
    found[0x0112] = orientation
    found[0x010F], found[0x0110] = "Maker", "Model 7"
    found[0x013B] = "Anna"
    found.get_ifd(0x8769).update(
        {0xA405: 26, 0xA002: 320, 0xA003: 240, 0x920A: 5.7, 0x927C: b"maker notes: Anna"}
    )
    found.get_ifd(0x8825).update({1: "N", 2: (48.0, 12.0, 30.0), 3: "E", 4: (16.0, 22.0, 1.0)})
    return found


def laden_jpeg() -> bytes:
    """A photo with all that phones and programs put into it, and a film at its end."""
    data = jpeg(exif=exif())
    extras = b"".join(
        marker + struct.pack(">H", len(body) + 2) + body
        for marker, body in (
            (b"\xff\xe1", b"http://ns.adobe.com/xap/1.0/\0<?xpacket GPS 48.2 ?>"),
            (b"\xff\xed", b"Photoshop 3.0\0Anna"),
            (b"\xff\xfe", b"taken by Anna"),
        )
    )
    return data[:2] + extras + data[2:] + b"\0\0\0\x14ftypqt  GPS Anna"


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def laden_png() -> bytes:
    text = PngImagePlugin.PngInfo()
    text.add_text("Author", "Anna")
    text.add_itxt("XML:com.adobe.xmp", "<?xpacket GPS?>", zip=True)
    return saved(Image.open(io.BytesIO(jpeg())), "PNG", pnginfo=text, exif=exif())


def laden_webp() -> bytes:
    return saved(
        Image.open(io.BytesIO(jpeg())),
        "WEBP",
        exif=exif().tobytes(),
        xmp=b"<?xpacket GPS Anna?>",
        lossless=True,
    )


LADEN = {"jpg": laden_jpeg, "png": laden_png, "webp": laden_webp}


@pytest.mark.parametrize("ending", LADEN)
def test_pixels_orientation_and_focal_length_stay_and_the_rest_goes(
    ending: str, tmp_path: Path
) -> None:
    data = LADEN[ending]()
    before, after = tmp_path / f"before.{ending}", tmp_path / f"after.{ending}"
    before.write_bytes(data)
    after.write_bytes(strip_metadata(data))
    one, other = load_photo(before), load_photo(after)
    assert np.array_equal(one.pixels, other.pixels)
    assert (one.orientation, one.focal_px, one.focal_share) == (
        other.orientation,
        other.focal_px,
        other.focal_share,
    )
    assert other.orientation == 6
    assert other.focal_px is not None
    assert not [secret for secret in SECRETS if secret in after.read_bytes()]
    with Image.open(after) as kept:
        assert not kept.getexif().get_ifd(0x8825)
        assert not kept.info.get("comment")


@pytest.mark.parametrize("ending", LADEN)
def test_cleaning_twice_changes_nothing_more(ending: str) -> None:
    once = strip_metadata(LADEN[ending]())
    assert strip_metadata(once) == once


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_is_kept(orientation: int, tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(strip_metadata(jpeg(exif=exif(orientation))))
    assert load_photo(path).orientation == orientation


def test_exif_nonsense_is_left_out() -> None:
    nonsense = Image.Exif()
    nonsense[0x0112] = 77
    nonsense[0x010F] = "../../etc/passwd\n<script>"
    nonsense.get_ifd(0x8769).update({0xA404: 1e30, 0xA002: 70_000})
    with Image.open(io.BytesIO(strip_metadata(jpeg(exif=nonsense)))) as kept:
        found = kept.getexif()
        assert 0x0112 not in found
        assert not set("/<>\n") & set(found.get(0x010F, ""))
        assert not {0xA404, 0xA002} & set(found.get_ifd(0x8769))


def test_a_broken_exif_block_does_not_stop_a_photo() -> None:
    data = jpeg()
    body = b"Exif\0\0II*\0\xff\xff\xff\xff"
    broken = data[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + data[2:]
    assert detect_format(strip_metadata(broken)) == "JPEG"


def test_a_progressive_photo_keeps_all_its_scans(tmp_path: Path) -> None:
    data = jpeg((400, 300), progressive=True)
    path = tmp_path / "photo.jpg"
    path.write_bytes(strip_metadata(data))
    assert np.array_equal(np.asarray(Image.open(path)), np.asarray(Image.open(io.BytesIO(data))))


# --- what is refused ---


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_of_zeros(width: int, height: int, rows: int) -> bytes:
    """A PNG that says it is so large, with so many rows of black in it."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes(rows * (1 + 3 * width)), 9)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    )


def large_header() -> bytes:
    data = bytearray(jpeg())
    at = data.index(b"\xff\xc0") + 5
    data[at : at + 4] = struct.pack(">HH", 15_000, 20_000)
    return bytes(data)


REFUSED: dict[str, tuple[Callable[[], bytes], int, str]] = {
    "svg": (
        lambda: b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        415,
        "SVG",
    ),
    "svg after a byte order mark": (
        lambda: b"\xef\xbb\xbf \n<?xml version='1.0'?><svg/>",
        415,
        "SVG",
    ),
    "html": (lambda: b"<!doctype html><script>alert(1)</script>", 415, "page"),
    "text": (lambda: b"hello, this is no photo at all " * 9, 415, "not a photo"),
    "nothing": (lambda: b"", 415, "not a photo"),
    "gif": (lambda: saved(Image.new("P", (64, 64)), "GIF"), 415, "not a photo"),
    "tiff": (lambda: saved(Image.new("L", (64, 64)), "TIFF"), 415, "not a photo"),
    "300 megapixels by its header": (large_header, 413, "megapixels"),
    "300 megapixels as png": (lambda: png_of_zeros(20_000, 15_000, 1), 413, "megapixels"),
    "zip bomb": (lambda: png_of_zeros(7000, 8000, 8000), 422, "packed tighter"),
    "a jpeg's first bytes and no more": (lambda: jpeg()[:16], 422, "damaged"),
    "png chunks that run past the end": (lambda: png_of_zeros(64, 64, 64)[:60], 422, "damaged"),
    "moving": (
        lambda: saved(
            Image.new("RGB", (64, 64)),
            "WEBP",
            save_all=True,
            append_images=[Image.new("RGB", (64, 64), "red")],
        ),
        415,
        "moving",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_photo_or_a_trap_is_refused(name: str) -> None:
    make, status, word = REFUSED[name]
    with pytest.raises(UploadRefused, match=word) as refusal:
        strip_metadata(make())
    assert refusal.value.status == status


@settings(max_examples=60)
@given(st.data())
def test_a_photo_cut_off_anywhere_is_refused(data: st.DataObject) -> None:
    whole = SMALL[data.draw(st.sampled_from(sorted(SMALL)))]
    ends = whole.rfind(b"\xff\xd9") if whole.startswith(b"\xff\xd8") else len(whole) - 2
    with pytest.raises(UploadRefused):
        strip_metadata(whole[: data.draw(st.integers(0, ends))])


@given(st.binary(max_size=400), st.integers(0, 3))
def test_whatever_comes_is_cleaned_or_refused(noise: bytes, start: int) -> None:
    heads = (b"", b"\xff\xd8\xff\xe0", b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0WEBP")
    try:
        strip_metadata(heads[start] + noise)
    except UploadRefused:
        return


@settings(max_examples=60)
@given(st.data())
def test_a_photo_with_bytes_changed_is_cleaned_or_refused(data: st.DataObject) -> None:
    photo = bytearray(SMALL[data.draw(st.sampled_from(sorted(SMALL)))])
    for _ in range(data.draw(st.integers(1, 6))):
        photo[data.draw(st.integers(0, len(photo) - 1))] = data.draw(st.integers(0, 255))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            strip_metadata(bytes(photo))
        except UploadRefused:
            return


SMALL = {"jpg": laden_jpeg(), "png": laden_png(), "webp": laden_webp()}


def test_a_heic_picture_becomes_a_jpeg_the_right_way_up(tmp_path: Path) -> None:
    picture = Image.new("RGB", (320, 240), "white")
    picture.paste("red", (0, 0, 40, 40))
    out = io.BytesIO()
    pillow_heif.from_pillow(picture).save(out, exif=exif(6).tobytes())
    path = tmp_path / "photo.jpg"
    path.write_bytes(strip_metadata(out.getvalue()))
    frame = load_photo(path)
    assert frame.orientation == 1
    assert frame.focal_px is not None
    assert frame.size_px == (240, 320)
    blue, green, red = frame.pixels[5, -5]
    assert red > 200 > 90 > max(blue, green)
    assert b"Anna" not in path.read_bytes()


def test_a_broken_heic_picture_is_refused() -> None:
    with pytest.raises(UploadRefused, match="cannot be decoded"):
        strip_metadata(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(200))
