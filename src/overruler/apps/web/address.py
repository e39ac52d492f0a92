"""Where a server listens, and whom it lets in: the options, the sockets and the address to print."""

import argparse
import ipaddress
import re
import secrets
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from overruler.errors import BadInput

ACCESS_KEY_BYTES = 16
"""Random bytes in an access key."""
LOOPBACK = "127.0.0.1"
WILDCARD_HOSTS = ("0.0.0.0", "::")
"""A server that listens there listens at all addresses of the machine; they are no address to visit."""
_NAME = re.compile(r"[a-z\d]([\w.-]*[a-z\d])?", re.ASCII | re.IGNORECASE)
"""What a machine may be called, without a port."""
_NUMBER_AT_END = re.compile(r"(^|\.)(\d+|0x[\da-f]*)$", re.ASCII | re.IGNORECASE)
"""What browsers take for the end of an IPv4 address, which they then spell as four numbers."""


def add_network_arguments(parser: argparse.ArgumentParser, port: int) -> None:
    """Add the options that say where a server listens, and whom it lets in."""
    option = parser.add_argument_group("who can reach it").add_argument
    lan = "let phones on this network in: prints an address with a key, as a QR code"
    option("--lan", action="store_true", help=lan)
    host = "the address to listen at (127.0.0.1; with --lan this machine's own)"
    option("--host", metavar="ADDRESS", help=host)
    port_help = f"the port ({port}; 0 for any that is free)"
    option("--port", type=int, default=port, metavar="N", help=port_help)
    name = "another name that the server may be called by"
    option("--name", action="append", default=[], metavar="HOST", help=name)
    certificate = "a certificate, for https; with --tls-key"
    option("--tls-cert", type=Path, metavar="PEM", help=certificate)
    option("--tls-key", type=Path, metavar="PEM", help="its key")


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a server can be reached."""

    hosts: tuple[str, ...]
    """The addresses that it listens at, the one to print first."""
    port: int
    secure: bool
    """Whether it speaks https."""
    key: str | None
    """The access key; None where only this machine can reach it."""
    name: str | None = None
    """The name or address to print where it listens at all addresses."""

    @property
    def base_url(self) -> str:
        """The URL without the key."""
        host = self.name or ("localhost" if self.hosts[0] == LOOPBACK else self.hosts[0])
        return f"http{'s' if self.secure else ''}://{_host_in_url(host)}:{self.port}/"

    @property
    def url(self) -> str:
        """The URL with the key."""
        return f"{self.base_url}?key={self.key}" if self.key else self.base_url

    def accepted_hosts(self, names: Sequence[str]) -> frozenset[str]:
        """The values of the `Host` header that the server accepts; `names` are the user's own."""
        from overruler.apps.web.phone.lan_address import host_names

        own_names = host_names(self.hosts[0] if self.key else None)
        others = (*self.hosts, *names, *([self.name] if self.name else []))
        return frozenset(own_names | {_host_in_url(one.lower()) for one in others})


@contextmanager
def closing_on_error(sockets: Sequence[socket.socket]) -> Iterator[None]:
    """Close the sockets if the block raises."""
    try:
        yield
    except BaseException:
        for listener in sockets:
            listener.close()
        raise


def listen(args: argparse.Namespace) -> tuple[list[socket.socket], ServerAddress]:
    """Open the sockets, and return them with their address; `BadInput` where that fails."""
    hosts = [_first_host(args)]
    sockets: list[socket.socket] = []
    with closing_on_error(sockets):
        sockets.append(_open(hosts[0], args.port))
        address, port = sockets[0].getsockname()[:2]
        if args.lan and address not in (*WILDCARD_HOSTS, LOOPBACK):  # both hold the loopback
            hosts.append(LOOPBACK)
            sockets.append(_open(LOOPBACK, port))
        name = _name_to_visit(args) if address in WILDCARD_HOSTS else None
    key = None if address in (LOOPBACK, "::1") else secrets.token_urlsafe(ACCESS_KEY_BYTES)
    return sockets, ServerAddress(tuple(hosts), port, args.tls_cert is not None, key, name)


def _open(host: str, port: int) -> socket.socket:
    from overruler.apps.web.phone.lan_address import describe_listen_error, open_listener

    try:
        return open_listener(host, port)
    except (OSError, OverflowError, ValueError) as error:
        raise BadInput(describe_listen_error(error, host, port)) from None


def _name_to_visit(args: argparse.Namespace) -> str:
    """What a server that listens at all addresses is visited at."""
    from overruler.apps.web.phone.lan_address import find_lan_address

    name: str | None = args.name[0] if args.name else find_lan_address()
    if name is None:
        raise BadInput(
            f"--host: {args.host} is every address of this machine, and none was found that phones "
            "can open: give the name or address that they call it by with --name"
        )
    return name


def _check_name(name: str) -> None:
    """Raise `BadInput` where no request can call the server by a name."""
    if not name:
        raise BadInput("--name: is empty: give the name that the server is called by")
    if not (_is_ip_address(name) or (_NAME.fullmatch(name) and not _NUMBER_AT_END.search(name))):
        raise BadInput(
            f"--name: {name} is no name of a machine: give it alone, without http:// and port, "
            "as table.example.org"
        )


def _check_host(host: str) -> None:
    """Raise `BadInput` for an address that no browser can open: one that needs a zone, as `%eth0` is."""
    address = _read_ipv6(host)
    if address is None:
        return
    if address.is_link_local:
        raise BadInput(
            f"--host: {host} is a link-local address, which browsers do not open: "
            "name another address of this machine"
        )
    if address.scope_id is not None:
        bare = host.partition("%")[0]
        raise BadInput(f"--host: {host}: no browser opens an address with a zone: name {bare}")


def _is_ip_address(name: str) -> bool:
    """Whether a name is an address that a URL can hold: one without a scope, as `%eth0` is."""
    try:
        ipaddress.IPv4Address(name)
    except ValueError:
        address = _read_ipv6(name)
        return address is not None and address.scope_id is None
    return True


def _read_ipv6(host: str) -> ipaddress.IPv6Address | None:
    """The IPv6 address that a host is, in brackets or not; None where it is none."""
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        return ipaddress.IPv6Address(bare)
    except ValueError:
        return None


def _host_in_url(host: str) -> str:
    """A host as URLs and the `Host` header spell it: an IPv6 address in brackets, at its shortest."""
    address = _read_ipv6(host)
    return host if address is None else f"[{address.compressed}]"


def _first_host(args: argparse.Namespace) -> str:
    """The address to listen at, and to print."""
    from overruler.apps.web.certificate import check_certificate
    from overruler.apps.web.phone.lan_address import find_lan_address

    for name in args.name:
        _check_name(name)
    if (args.tls_cert is None) != (args.tls_key is None):
        raise BadInput("--tls-cert and --tls-key go together: give both, or neither")
    if args.tls_cert:
        check_certificate(args.tls_cert, args.tls_key)
    if args.host:
        _check_host(args.host)
    if not args.lan:
        return args.host or LOOPBACK
    lan_address: str | None = args.host or find_lan_address()
    if lan_address is None:
        raise BadInput(
            "--lan: this machine is on no network that could be found: name its address with --host"
        )
    return lan_address
