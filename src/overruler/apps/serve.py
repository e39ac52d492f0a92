"""`overruler serve`: the page for phones, and the HTTP API, from this machine."""

import argparse
import os
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from overruler.apps.house_options import add_house_arguments, read_house, read_own_bases
from overruler.apps.measure_request import MeasureRequest
from overruler.board import Board
from overruler.errors import BadInput, MissingExtra
from overruler.lens import Lens
from overruler.reading import read_text

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from overruler.apps.web.phone.app import Settings

DEFAULT_PORT = 8321
DEFAULT_KEEP_DAYS = 30.0
DEFAULT_MAX_PHOTO_MB = 25.0
ACCESS_KEY_BYTES = 16
WILDCARD_HOSTS = ("0.0.0.0", "::")
"""To listen there is to listen at all of the machine's addresses; nobody can be sent there."""


def add_network_arguments(parser: argparse.ArgumentParser, port: int) -> None:
    """Where a server listens, and whom it lets in."""
    reach = parser.add_argument_group("who can reach it").add_argument
    reach(
        "--lan",
        action="store_true",
        help="let phones on this network in: prints an address with a key, as a QR code",
    )
    reach(
        "--host",
        metavar="ADDRESS",
        help="the address to listen at (127.0.0.1; with --lan this machine's own)",
    )
    reach(
        "--port",
        type=int,
        default=port,
        metavar="N",
        help=f"the port ({port}; 0 for any that is free)",
    )
    reach(
        "--name",
        action="append",
        default=[],
        metavar="HOST",
        help="another name that the server may be called by",
    )
    reach("--tls-cert", type=Path, metavar="PEM", help="a certificate, for https; with --tls-key")
    reach("--tls-key", type=Path, metavar="PEM", help="its key")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_network_arguments(parser, DEFAULT_PORT)
    table = parser.add_argument_group("what is known of the tables").add_argument
    table(
        "--board",
        type=Path,
        action="append",
        default=[],
        metavar="BOARD.toml",
        help="a board file to choose from",
    )
    table(
        "--lens",
        type=Path,
        action="append",
        default=[],
        metavar="LENS.toml",
        help="a lens file to choose from",
    )
    add_house_arguments(parser)
    kept = parser.add_argument_group("what is kept").add_argument
    kept(
        "--store",
        type=Path,
        metavar="DIR",
        help="where photos and scenes are kept (this user's data folder)",
    )
    kept(
        "--keep",
        type=float,
        default=DEFAULT_KEEP_DAYS,
        metavar="DAYS",
        help=f"for how long ({DEFAULT_KEEP_DAYS:g} days)",
    )
    kept(
        "--most-mb",
        type=float,
        default=DEFAULT_MAX_PHOTO_MB,
        metavar="MB",
        help=f"the largest photo taken ({DEFAULT_MAX_PHOTO_MB:g})",
    )
    kept(
        "--workers",
        type=int,
        metavar="N",
        help="photos measured at once: 1 or 2 (by the number of cores)",
    )


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where the server can be reached."""

    hosts: tuple[str, ...]
    """The addresses it listens at, the one to be told first."""
    port: int
    secure: bool
    key: str | None
    name: str | None = None
    """The name that others know it by, where it listens at every address."""

    @property
    def base_url(self) -> str:
        """The address that others find it at."""
        shown = self.name or ("localhost" if self.hosts[0] == "127.0.0.1" else self.hosts[0])
        shown = f"[{shown}]" if ":" in shown else shown
        return f"http{'s' if self.secure else ''}://{shown}:{self.port}/"

    @property
    def url(self) -> str:
        """The same with the key, for those who are let in."""
        return f"{self.base_url}?key={self.key}" if self.key else self.base_url


def run(args: argparse.Namespace) -> int:
    check_installed()
    sockets, place = listen(args)
    try:
        settings = read_settings(args, place)
    except BaseException:
        for line in sockets:
            line.close()
        raise
    _print_address(place, settings)
    from overruler.apps.web.phone.app import make_app

    serve(args, make_app(settings), sockets)
    return 0


def check_installed() -> None:
    """Raise `MissingExtra` where a server cannot run."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtra.with_install_hint("the server is not installed", "web") from None


def listen(args: argparse.Namespace) -> tuple[list[socket.socket], ServerAddress]:
    """The sockets that listen, and the place they make; `BadInput` where they cannot."""
    from overruler.apps.web.phone.lan_address import open_listener

    hosts = _hosts(args)
    sockets: list[socket.socket] = []
    port = args.port
    for host in hosts:
        try:
            sockets.append(open_listener(host, port))
        except (OSError, OverflowError) as error:
            raise BadInput(
                f"cannot listen at {host}, port {port}: {error}; --port chooses another"
            ) from None
        port = sockets[-1].getsockname()[1]
    open_to_others = any(host not in ("127.0.0.1", "::1") for host in hosts)
    key = secrets.token_urlsafe(ACCESS_KEY_BYTES) if open_to_others else None
    name = args.name[0] if args.name and hosts[0] in WILDCARD_HOSTS else None
    return sockets, ServerAddress(hosts, port, args.tls_cert is not None, key, name)


def _hosts(args: argparse.Namespace) -> tuple[str, ...]:
    from overruler.apps.web.phone.lan_address import find_lan_address

    if (args.tls_cert is None) != (args.tls_key is None):
        raise BadInput("--tls-cert and --tls-key go together")
    if not args.lan:
        return (args.host or "127.0.0.1",)
    own = args.host or find_lan_address()
    if own is None:
        raise BadInput(
            "--lan: this machine is on no network that could be found: name its address with --host"
        )
    return (own, "127.0.0.1") if own != "127.0.0.1" else (own,)


def read_settings(args: argparse.Namespace, place: ServerAddress) -> "Settings":
    """What the application is told."""
    from overruler.apps.web.guard import AccessPolicy
    from overruler.apps.web.phone.app import Settings
    from overruler.apps.web.phone.lan_address import host_names
    from overruler.apps.web.phone.request_options import Choices, usual_boards

    if args.keep <= 0 or args.most_mb <= 0:
        raise BadInput("--keep and --most-mb must be greater than 0")
    workers = (
        args.workers if args.workers is not None else max(1, min(2, (os.cpu_count() or 1) // 2))
    )
    if workers not in (1, 2):
        raise BadInput(f"--workers: 1 or 2, not {workers}")
    boards = {Board.load(path).name: read_text(path) for path in args.board}
    lenses = {path.stem: read_text(path) for path in args.lens if Lens.load(path)}
    hosts = host_names(place.hosts[0] if place.key else None) | {
        *place.hosts,
        *(name.lower() for name in args.name),
    }
    return Settings(
        store=args.store or _data_folder(),
        access_policy=AccessPolicy(frozenset(hosts), place.key),
        url=place.base_url,
        choices=Choices(boards | usual_boards(), lenses, house_request(args)),
        keep_days=args.keep,
        processes=workers,
        most_bytes=int(args.most_mb * 1e6),
    )


def house_request(args: argparse.Namespace) -> MeasureRequest:
    """The options of every measurement: the tables' own bases, players and rules; `BadInput` names what is wrong."""
    request = MeasureRequest(
        own_base=tuple(args.own_base),
        player=tuple(args.player),
        house_rule=tuple(args.house_rule),
    )
    read_house(request)
    read_own_bases(request.own_base)
    return request


def _data_folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("overruler", appauthor=False) / "server"


def _print_address(place: ServerAddress, settings: "Settings") -> None:
    from overruler.apps.web.phone.lan_address import terminal_qr_code

    if place.key:
        print(terminal_qr_code(place.url))
    print(place.url)
    who = "whoever is on this network and has the address" if place.key else "this machine alone"
    print(
        f"open to {who}; photos are kept in {settings.store} for {settings.keep_days:g} days; Ctrl-C ends",
        flush=True,
    )


def serve(args: argparse.Namespace, app: "Starlette", sockets: list[socket.socket]) -> None:
    """Serve an application until Ctrl-C."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="websockets-sansio",
        ws_max_size=65_536,
        timeout_keep_alive=20,
        timeout_graceful_shutdown=3,
        limit_concurrency=200,
        ssl_certfile=args.tls_cert,
        ssl_keyfile=args.tls_key,
    )
    uvicorn.Server(config).run(sockets)
