"""`overruler serve`: the web page for phones, and the HTTP API, served by this machine."""

import argparse
import logging
import os
import secrets
import socket
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from overruler.apps.process.log import COMMAND_LOGGER, QUIET_HELP, add_log_arguments, say
from overruler.apps.settings.house_options import add_house_arguments, read_house, read_own_bases
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.apps.settings.table_options import add_taught_argument
from overruler.board import Board
from overruler.errors import BadInput, MissingExtra
from overruler.lens import Lens
from overruler.reading.files import read_text
from overruler.writing import check_folder_name

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from overruler.apps.web.phone.app import Settings

DEFAULT_PORT = 8321
DEFAULT_KEEP_DAYS = 30.0
DEFAULT_MAX_PHOTO_MB = 25.0
ACCESS_KEY_BYTES = 16
"""Random bytes in an access key."""
MAX_WORKERS = 2
"""Most photos that are measured at once."""
SWITCH_INTERVAL_S = 0.001
"""How long a thread that computes may keep the one that answers waiting."""
SERVER_QUIET_HELP = f"{QUIET_HELP} and the address"
"""What `-q` does to a server."""
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_network_arguments(parser, DEFAULT_PORT)
    add_log_arguments(parser, SERVER_QUIET_HELP)
    option = parser.add_argument_group("what is known of the tables").add_argument
    for name in ("board", "lens"):
        metavar, text = f"{name.upper()}.toml", f"a {name} file to choose from"
        option(f"--{name}", type=Path, action="append", default=[], metavar=metavar, help=text)
    add_house_arguments(parser)
    add_taught_argument(parser)
    option = parser.add_argument_group("what is kept").add_argument
    store = "where photos and scenes are kept (this user's data folder)"
    option("--store", type=Path, metavar="DIR", help=store)
    keep = f"for how long ({DEFAULT_KEEP_DAYS:g} days)"
    option("--keep", type=float, default=DEFAULT_KEEP_DAYS, metavar="DAYS", help=keep)
    most_mb = f"the largest photo taken ({DEFAULT_MAX_PHOTO_MB:g})"
    option("--most-mb", type=float, default=DEFAULT_MAX_PHOTO_MB, metavar="MB", help=most_mb)
    workers = "photos measured at once: 1 or 2 (by the number of cores)"
    option("--workers", type=int, metavar="N", help=workers)


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


def run(args: argparse.Namespace) -> int:
    check_installed()
    sockets, address = listen(args)
    from overruler.apps.web.phone.app import make_app
    from overruler.apps.web.phone.store import Store

    with closing_on_error(sockets):
        settings = read_settings(args, address)
        store = Store(settings.store)
    _print_address(address, settings, args.quiet)
    serve(args, make_app(settings, store), sockets)
    return 0


@contextmanager
def closing_on_error(sockets: Sequence[socket.socket]) -> Iterator[None]:
    """Close the sockets if the block raises."""
    try:
        yield
    except BaseException:
        for listener in sockets:
            listener.close()
        raise


def check_installed() -> None:
    """Raise `MissingExtra` where the libraries of a server are missing."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtra.with_install_hint("the server is not installed", "web") from None


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


def read_settings(args: argparse.Namespace, place: ServerAddress) -> "Settings":
    """The settings of the application; `BadInput` names what is wrong with the options."""
    from overruler.apps.web.guard import AccessPolicy
    from overruler.apps.web.phone.app import Settings
    from overruler.apps.web.phone.request_options import Choices, usual_boards

    if args.keep <= 0 or args.most_mb <= 0:
        raise BadInput("--keep and --most-mb must be greater than 0")
    processes = _worker_count(args.workers)
    boards = _read_named("--board", ((Board.load(path).name, path) for path in args.board))
    lenses = _read_named("--lens", ((path.stem, path) for path in args.lens if Lens.load(path)))
    usual = {name: text for name, text in usual_boards().items() if name not in boards}
    return Settings(
        store=check_folder_name("--store", args.store or _data_folder()),
        access_policy=AccessPolicy(place.accepted_hosts(args.name), place.key),
        url=place.base_url,
        choices=Choices(boards | usual, lenses, house_request(args), _read_taught(args.taught)),
        keep_days=args.keep,
        processes=processes,
        most_bytes=int(args.most_mb * 1e6),
    )


def _read_named(option: str, files: Iterable[tuple[str, Path]]) -> dict[str, str]:
    """The texts of files by name; `BadInput` where two different files have one name."""
    texts: dict[str, str] = {}
    paths: dict[str, Path] = {}
    for name, path in files:
        text = read_text(path)
        if texts.setdefault(name, text) != text:
            raise BadInput(
                f"{option}: {paths[name]} and {path} are both called {name!r}: rename one of them"
            )
        paths.setdefault(name, path)
    return texts


def _read_taught(path: Path | None) -> str:
    """The text of the file of what corrections taught; empty for none."""
    if path is None:
        return ""
    from overruler.vision.assembly.taught_pieces import load_taught

    load_taught(path)  # a wrong one is told before anything is served
    return read_text(path)


def _worker_count(wanted: int | None) -> int:
    if wanted is None:
        return max(1, min(MAX_WORKERS, (os.cpu_count() or 1) // 2))
    if not 1 <= wanted <= MAX_WORKERS:
        raise BadInput(f"--workers: 1 or {MAX_WORKERS}, not {wanted}")
    return wanted


def house_request(args: argparse.Namespace) -> MeasureRequest:
    """The options of every measurement: the tables' own settings; `BadInput` if one is wrong."""
    request = MeasureRequest(
        own_base=tuple(args.own_base),
        player=tuple(args.player),
        house_rule=tuple(args.house_rule),
        units=args.units,
    )
    read_house(request)
    read_own_bases(request.own_base)
    return request


def _data_folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("overruler", appauthor=False) / "server"


def _print_address(address: ServerAddress, settings: "Settings", quiet: bool) -> None:
    """Print the address, which no log file gets: it holds the key."""
    from overruler.apps.web.phone.lan_address import terminal_qr_code

    if address.key and not quiet:
        print(terminal_qr_code(address.url))
    print(address.url, flush=True)
    who = "whoever is on this network and has the address" if address.key else "this machine alone"
    kept = f"photos are kept in {settings.store.absolute()} for {settings.keep_days:g} days"
    say(f"open to {who}; {kept}; Ctrl-C ends")


def serve(args: argparse.Namespace, app: "Starlette", sockets: list[socket.socket]) -> None:
    """Serve an application until Ctrl-C."""
    import uvicorn

    from overruler.apps.web.connections import LimitedProtocol
    from overruler.apps.web.sockets import NoFaults, SocketProtocol

    sys.setswitchinterval(SWITCH_INTERVAL_S)
    errors = logging.getLogger("uvicorn.error")
    errors.addFilter(NoFaults())
    errors.handlers = [*logging.getLogger(COMMAND_LOGGER).handlers]
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        http=LimitedProtocol,
        ws=SocketProtocol,
        ws_max_size=65_536,
        timeout_keep_alive=20,
        timeout_graceful_shutdown=3,
        ssl_certfile=args.tls_cert,
        ssl_keyfile=args.tls_key,
    )
    uvicorn.Server(config).run(sockets)
