"""`overruler serve`: the web page for phones, and the HTTP API, served by this machine."""

import argparse
import logging
import os
import socket
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from overruler.apps.process.log import COMMAND_LOGGER, QUIET_HELP, add_log_arguments, say
from overruler.apps.settings import house_options
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.apps.settings.table_options import add_taught_argument
from overruler.apps.web.address import (
    ServerAddress,
    add_network_arguments,
    closing_on_error,
    listen,
)
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
MAX_KEEP_DAYS = 36_500
"""Longest time, in days, that photos can be kept: a hundred years."""
MIN_PHOTO_MB, MAX_PHOTO_MB = 0.1, 1000
"""What `--most-mb` may be: no photo of a table is smaller, no camera's is larger."""
MAX_WORKERS = 2
"""Most photos that are measured at once."""
SWITCH_INTERVAL_S = 0.001
"""How long a thread that computes may keep the one that answers waiting."""
SERVER_QUIET_HELP = f"{QUIET_HELP} and the address"
"""What `-q` does to a server."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_network_arguments(parser, DEFAULT_PORT)
    add_log_arguments(parser, SERVER_QUIET_HELP)
    option = parser.add_argument_group("what is known of the tables").add_argument
    for name in ("board", "lens"):
        metavar, text = f"{name.upper()}.toml", f"a {name} file to choose from"
        option(f"--{name}", type=Path, action="append", default=[], metavar=metavar, help=text)
    house_options.add_house_arguments(parser)
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


def check_installed() -> None:
    """Raise `MissingExtra` where the libraries of a server are missing."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtra.with_install_hint("the server is not installed", "web") from None


def read_settings(args: argparse.Namespace, place: ServerAddress) -> "Settings":
    """The settings of the application; `BadInput` names what is wrong with the options."""
    from overruler.apps.web.guard import AccessPolicy
    from overruler.apps.web.phone.app import Settings
    from overruler.apps.web.phone.request_options import Choices, usual_boards

    if not 0 < args.keep <= MAX_KEEP_DAYS:
        raise BadInput(
            f"--keep: must be more than 0 and at most {MAX_KEEP_DAYS} days, is {args.keep:g}"
        )
    if not MIN_PHOTO_MB <= args.most_mb <= MAX_PHOTO_MB:
        raise BadInput(
            f"--most-mb: must be from {MIN_PHOTO_MB} to {MAX_PHOTO_MB} MB, is {args.most_mb:g}"
        )
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
    house_options.check_given_house_options(args)
    house_options.read_house(request)
    house_options.read_own_bases(request.own_base)
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
