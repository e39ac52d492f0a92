"""Where a server listens, and whom it lets in: the options, the sockets and the address to print."""

import argparse
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
    """The name to print where it listens at all addresses."""

    @property
    def base_url(self) -> str:
        """The URL without the key."""
        host = self.name or ("localhost" if self.hosts[0] == LOOPBACK else self.hosts[0])
        host = f"[{host}]" if ":" in host else host
        return f"http{'s' if self.secure else ''}://{host}:{self.port}/"

    @property
    def url(self) -> str:
        """The URL with the key."""
        return f"{self.base_url}?key={self.key}" if self.key else self.base_url

    def accepted_hosts(self, names: Sequence[str]) -> frozenset[str]:
        """The values of the `Host` header that the server accepts; `names` are the user's own."""
        from overruler.apps.web.phone.lan_address import host_names

        own_names = host_names(self.hosts[0] if self.key else None)
        return frozenset(own_names | {*self.hosts, *(name.lower() for name in names)})


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
    from overruler.apps.web.phone.lan_address import describe_listen_error, open_listener

    hosts = _hosts(args)
    sockets: list[socket.socket] = []
    port = args.port
    for host in hosts:
        try:
            sockets.append(open_listener(host, port))
        except (OSError, OverflowError) as error:
            raise BadInput(describe_listen_error(error, host, port)) from None
        port = sockets[-1].getsockname()[1]
    open_to_others = any(host not in (LOOPBACK, "::1") for host in hosts)
    key = secrets.token_urlsafe(ACCESS_KEY_BYTES) if open_to_others else None
    name = args.name[0] if args.name and hosts[0] in WILDCARD_HOSTS else None
    return sockets, ServerAddress(hosts, port, args.tls_cert is not None, key, name)


def _hosts(args: argparse.Namespace) -> tuple[str, ...]:
    """The addresses to listen at, the one to print first."""
    from overruler.apps.web.certificate import check_certificate
    from overruler.apps.web.phone.lan_address import find_lan_address

    if "" in args.name:
        raise BadInput("--name: is empty: give the name that the server is called by")
    if (args.tls_cert is None) != (args.tls_key is None):
        raise BadInput("--tls-cert and --tls-key go together: give both, or neither")
    if args.tls_cert:
        check_certificate(args.tls_cert, args.tls_key)
    if not args.lan:
        return (args.host or LOOPBACK,)
    lan_address = args.host or find_lan_address()
    if lan_address is None:
        raise BadInput(
            "--lan: this machine is on no network that could be found: name its address with --host"
        )
    return (lan_address,) if lan_address == LOOPBACK else (lan_address, LOOPBACK)
