"""What somebody on the network can and cannot do: one test for each promise of docs/promises.md."""

import hmac
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from overruler.apps.web import guard
from overruler.apps.web.address import ACCESS_KEY_BYTES
from overruler.apps.web.guard import AccessPolicy
from tests.apps.web.desk import client, measured

KEY = "k7Hq-3vXbT_9sLmN2pRw8A"
LAN = AccessPolicy(frozenset({"localhost", "192.168.1.5"}), KEY)
BEARER = {"authorization": f"Bearer {KEY}"}
GPS_IFD = 0x8825
OWNER = "Anna Example"


@pytest.fixture
def lan(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[TestClient]:
    with client(monkeypatch, tmp_path / "store", LAN) as found:
        yield found


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=40) | st.sampled_from([KEY[:-1], KEY.lower(), KEY + " x", KEY * 2]))
def test_no_guess_but_the_key_opens_anything(lan: TestClient, guess: str) -> None:
    answer = lan.get("/api/measurements", params={"key": guess})
    assert answer.status_code == (200 if guess.strip() == KEY else 401)
    lan.cookies.clear()


def test_a_key_has_more_bits_than_anybody_can_try() -> None:
    assert ACCESS_KEY_BYTES * 8 >= 128


def test_every_guess_is_compared_in_the_same_time(
    lan: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[bytes, bytes]] = []
    same_time = hmac.compare_digest

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return same_time(one, other)

    monkeypatch.setattr(guard.hmac, "compare_digest", compare)  # type: ignore[attr-defined]
    for guess in ("x", KEY[:-1], KEY[:1]):
        lan.get("/api/about", params={"key": guess})
    assert [pair[0].decode() for pair in compared] == ["x", KEY[:-1], KEY[:1]]
    assert {pair[1].decode() for pair in compared} == {KEY}


class Unequal(str):
    """A key that tells whenever it is compared other than in the same time."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared letter by letter")


def test_no_guess_is_compared_letter_by_letter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with client(monkeypatch, tmp_path / "store", AccessPolicy(LAN.hosts, Unequal(KEY))) as found:
        for guess, status in ((KEY[:-1], 401), (KEY, 200)):
            assert found.get("/api/about", params={"key": guess}).status_code == status
            found.cookies.clear()


@pytest.mark.parametrize("host", ["evil.example", "192.168.1.5.evil.example", "10.0.0.1"])
def test_a_name_turned_to_this_machine_is_refused_even_with_the_key(
    lan: TestClient, host: str
) -> None:
    for path in ("/", "/api/measurements", "/static/app.js", "/api/health"):
        assert lan.get(path, headers={**BEARER, "host": host}).status_code == 421


def test_a_page_of_another_site_does_nothing_with_a_phones_cookie(lan: TestClient) -> None:
    name = measured_with_key(lan)
    assert lan.get("/", params={"key": KEY}).status_code == 200  # now the phone has the cookie
    for headers in (
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    ):
        path = f"/api/measurements/{name}"
        assert lan.delete(path, headers=headers).status_code == 403
        assert lan.post("/api/measurements", content=b"x", headers=headers).status_code == 403
        assert lan.put(f"{path}/fixes", content=b"{}", headers=headers).status_code == 403
    address = f"/api/measurements/{name}/watch"
    headers = {"host": "localhost", "origin": "http://evil.example"}
    with (
        pytest.raises(WebSocketDisconnect),
        lan.websocket_connect(address, headers=headers) as line,
    ):
        line.receive_json()
    assert lan.get(f"/api/measurements/{name}").status_code == 200


def test_a_socket_needs_the_key(lan: TestClient) -> None:
    name = measured_with_key(lan)
    lan.cookies.clear()
    address = f"/api/measurements/{name}/watch"
    with pytest.raises(WebSocketDisconnect), lan.websocket_connect(address) as line:
        line.receive_json()


def test_a_photo_tells_neither_where_nor_whose_it_is(lan: TestClient, tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x9C9D] = OWNER
    exif[0x8298] = OWNER
    exif.get_ifd(GPS_IFD).update({1: "N", 2: (52.0, 31.0, 12.0), 3: "E", 4: (13.0, 24.0, 36.0)})
    out = io.BytesIO()
    Image.new("RGB", (320, 240), "grey").save(out, "JPEG", exif=exif, comment=OWNER.encode())
    assert OWNER.encode() in out.getvalue()
    name = measured_with_key(lan, out.getvalue())
    kept = lan.get(
        f"/api/measurements/{name}/photo", params={"size": "full"}, headers=BEARER
    ).content
    with Image.open(io.BytesIO(kept)) as image:
        assert not image.getexif().get_ifd(GPS_IFD)
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not [data for data in (kept, *written) if OWNER.encode() in data]


def test_health_needs_no_key_and_tells_no_secret(lan: TestClient, tmp_path: Path) -> None:
    answer = lan.get("/api/health")
    assert answer.json() == {"ok": True, "problems": []}
    assert str(tmp_path) not in answer.text


def measured_with_key(found: TestClient, photo: bytes | None = None) -> str:
    found.headers.update(BEARER)
    try:
        return measured(found, photo)
    finally:
        found.headers.pop("authorization")
