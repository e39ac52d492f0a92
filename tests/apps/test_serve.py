"""`overruler serve`: where it listens, what it tells, and what it refuses before it starts."""

import argparse
import socket
from pathlib import Path

import pytest

from overruler.apps import serve
from overruler.apps.cli import main
from overruler.apps.serve import read_settings
from overruler.apps.web.address import ServerAddress, listen
from overruler.apps.web.phone import lan_address
from overruler.apps.web.phone.lan_address import open_listener
from overruler.errors import BadInput

SAMPLES = Path(__file__).parents[2] / "sample_images"


def arguments(*given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    serve.add_arguments(parser)
    return parser.parse_args(["--port", "0", *given])


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def place(*given: str) -> ServerAddress:
    sockets, found = listen(arguments(*given))
    assert [line.getsockname()[1] for line in sockets] == [found.port] * len(sockets)
    for line in sockets:
        line.close()
    return found


def test_it_listens_to_this_machine_alone_and_needs_no_key() -> None:
    found = place()
    assert found.hosts == ("127.0.0.1",)
    assert found.url == f"http://localhost:{found.port}/"
    assert found.key is None


def test_on_the_network_it_has_a_key_that_is_another_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        lan_address, "find_lan_address", lambda: "127.0.0.2"
    )  # stands for the machine's own
    one, other = place("--lan"), place("--lan")
    assert one.hosts == ("127.0.0.2", "127.0.0.1")
    assert one.key != other.key
    assert len(one.key or "") >= 20
    assert one.url == f"http://127.0.0.2:{one.port}/?key={one.key}"


@pytest.mark.parametrize("host", ["0.0.0.0", "0", "::"])
@pytest.mark.parametrize("more", [(), ("--lan",)])
def test_all_addresses_are_printed_as_one_that_phones_can_open(
    host: str, more: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    if host == "::" and not has_ipv6():
        pytest.skip("this machine has no IPv6")
    monkeypatch.setattr(lan_address, "find_lan_address", lambda: "192.168.1.5")
    found = place("--host", host, *more)
    assert found.key
    assert found.url == f"http://192.168.1.5:{found.port}/?key={found.key}"
    assert "192.168.1.5" in found.accepted_hosts(())
    named = place("--host", host, "--name", "table.local", *more)
    assert named.base_url == f"http://table.local:{named.port}/"
    monkeypatch.setattr(lan_address, "find_lan_address", lambda: None)
    with pytest.raises(BadInput, match="--name"):
        place("--host", host, *more)


def test_it_listens_at_the_loopback_once() -> None:
    found = place("--lan", "--host", "localhost")
    assert found.hosts == ("localhost",)
    assert found.key is None


def test_an_address_of_ipv6_is_called_as_browsers_do() -> None:
    found = ServerAddress(("fd00::5",), 80, False, "key")
    assert found.base_url == "http://[fd00::5]:80/"
    assert {"[fd00::5]", "[fd00::6]", "[fd00::7]"} <= found.accepted_hosts(["FD00::6", "[fd00::7]"])
    long = "fd00:0:0:0:0:0:0:5"
    for spelling in (long, f"[{long}]", long.upper()):
        assert "[fd00::5]" in ServerAddress(("::1",), 80, False, None).accepted_hosts([spelling])
        named = ServerAddress(("::",), 80, False, "key", spelling)
        assert named.base_url == "http://[fd00::5]:80/"
    assert "[fd00::5]" in ServerAddress((long,), 80, False, "key").accepted_hosts(())


@pytest.mark.parametrize("host", ["::", "0::0", "0:0:0:0:0:0:0:0"])
def test_all_addresses_of_ipv6_hold_those_of_ipv4_however_they_are_spelled(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_ipv6():
        pytest.skip("this machine has no IPv6")

    class Ipv6Alone(socket.socket):
        """As on machines whose sockets of IPv6 take no IPv4 unless they are told to."""

        def __init__(self, *given: int) -> None:
            super().__init__(*given)
            if self.family == socket.AF_INET6:
                self.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)

    monkeypatch.setattr(socket, "socket", Ipv6Alone)
    with open_listener(host, 0) as found:
        assert found.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY) == 0
    with open_listener("::1", 0) as found:
        assert found.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY) == 1


@pytest.mark.parametrize("host", ["10.9.9.9", "http://x/", "a..b", "nobody.invalid"])
def test_a_host_that_is_not_this_machine_is_not_the_ports_fault(
    host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--lan", "--port", "0", "--host", host]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"overruler: --host: {host} is no address of this machine")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("fe80::1%eth0", "is a link-local address, which browsers do not open"),
        ("fe80::1", "is a link-local address, which browsers do not open"),
        ("::1%lo", "no browser opens an address with a zone: name ::1"),
    ],
)
@pytest.mark.parametrize("more", [[], ["--lan"]])
def test_an_address_that_no_browser_opens_is_refused_with_the_reason(
    host: str, told: str, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--port", "0", "--host", host, *more]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"overruler: --host: {host}")
    assert told in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "name",
    [
        *("", "http://x/", "x:8321", "x/", "[x]", "two words", "caf\u00e9.local", "-", ".", "x-"),
        *("fe80::1%eth0", "[fe80::1%eth0]", "[fd00::5", "fd00::5]", "300.1.1.1", "192.168.5"),
        *("x.5", "7", "0x7f"),
    ],
)
def test_a_name_that_no_request_can_use_is_refused(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--port", "0", "--name", name]) == 2
    said = capsys.readouterr().err
    assert said.startswith("overruler: --name: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("name", ["x", "table-2", "my_table.local", "a.2b", "192.168.1.5"])
def test_a_name_of_a_machine_is_taken(name: str) -> None:
    assert name in place("--name", name).accepted_hosts([name])


def test_without_a_network_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lan_address, "find_lan_address", lambda: None)
    with pytest.raises(BadInput, match="--host"):
        place("--lan")


def test_a_taken_port_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    sockets, found = listen(arguments())
    assert main(["serve", "--port", str(found.port)]) == 2
    for line in sockets:
        line.close()
    assert "--port" in capsys.readouterr().err


def test_boards_are_chosen_by_name_and_hosts_are_those_it_listens_at(tmp_path: Path) -> None:
    board = SAMPLES / "legion_desert.toml"
    given = arguments(
        "--board", str(board), "--store", str(tmp_path), "--name", "Table.local", "--keep", "2"
    )
    found = read_settings(given, ServerAddress(("192.168.1.5", "127.0.0.1"), 80, False, "key"))
    assert found.choices.boards["legion desert"] == board.read_text()
    assert {"localhost", "192.168.1.5", "table.local"} <= found.access_policy.hosts
    assert (found.keep_days, found.url) == (2.0, "http://192.168.1.5:80/")


@pytest.mark.parametrize(
    "given",
    [
        ("--keep", "0"),
        ("--most-mb", "-1"),
        ("--workers", "3"),
        ("--tls-cert", "x.pem"),
        ("--board", "no.toml"),
    ],
)
def test_what_makes_no_sense_is_refused_before_it_starts(given: tuple[str, ...]) -> None:
    with pytest.raises(BadInput):
        read_settings(arguments(*given), place(*given))


def test_the_code_is_drawn_for_a_terminal() -> None:
    rows = lan_address.terminal_qr_code("http://192.168.1.5:8321/?key=abc").splitlines()
    assert len({len(row) for row in rows}) <= 3
    assert "█" in "".join(rows) or "▄" in "".join(rows)
