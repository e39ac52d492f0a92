"""`overruler live`: range lines and rulings over a camera's picture, for OBS and whoever shows web pages."""

import argparse
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from overruler.apps.measure import add_table_arguments
from overruler.apps.serve import (
    ACCESS_KEY_BYTES,
    ServerAddress,
    add_network_arguments,
    check_installed,
    listen,
    serve,
)

if TYPE_CHECKING:
    from overruler.apps.web.live.app import LiveServices
    from overruler.track import Tick

DEFAULT_PORT = 8322
SOURCE_HELP = "a camera (0, /dev/video0), a film, a stream (http, rtsp, rtmp, udp), or obs://localhost:4455/Source name"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", help=SOURCE_HELP)
    parser.add_argument("--loop", action="store_true", help="a film begins again when it has ended")
    add_table_arguments(parser)
    add_network_arguments(parser, DEFAULT_PORT)
    out = parser.add_argument_group("what comes out").add_argument
    out(
        "--record",
        type=Path,
        metavar="DIR",
        help="write what overruler analyze writes, when it ends",
    )


def run(args: argparse.Namespace) -> int:
    check_installed()
    sockets, place = listen(args)
    overlay_key = secrets.token_urlsafe(ACCESS_KEY_BYTES) if place.key else None
    try:
        air, finish = _assemble_server(args, place, overlay_key)
    except BaseException:
        for line in sockets:
            line.close()
        raise
    _print_addresses(place, overlay_key)
    try:
        _serve_live(args, air, sockets)
    finally:  # Ctrl-C is how it ends
        finish()
    return 0


def _assemble_server(
    args: argparse.Namespace, place: ServerAddress, overlay_key: str | None
) -> "tuple[LiveServices, Callable[[], None]]":
    """All that the server is made of, and what is to be done when it ends."""
    from overruler.apps.analyze.pipeline import make_referee
    from overruler.apps.web.guard import AccessPolicy
    from overruler.apps.web.live.app import LiveServices
    from overruler.apps.web.live.desk import Desk
    from overruler.apps.web.live.watcher import TableWatcher
    from overruler.apps.web.phone.lan_address import host_names
    from overruler.sources.live import LiveReader, parse_source

    referee, desk = make_referee(args), Desk()
    ticked, finish = _make_recorder(args)
    eyes = TableWatcher(
        LiveReader(parse_source(args.source, args.loop)),
        referee,
        lambda seen: desk.update_table(seen, eyes.shot),
        ticked,
    )
    hosts = host_names(place.hosts[0] if place.key else None) | {
        *place.hosts,
        *(name.lower() for name in args.name),
    }
    return LiveServices(desk, eyes, AccessPolicy(frozenset(hosts), place.key), overlay_key), finish


def _make_recorder(args: argparse.Namespace) -> "tuple[Callable[[Tick], None], Callable[[], None]]":
    if args.record is None:
        return lambda tick: None, lambda: None
    from overruler.apps.analyze.recorder import Recorder

    recorder = Recorder(args.record, args.game is not None)
    return recorder.record_tick, recorder.finish


def _print_addresses(place: ServerAddress, overlay_key: str | None) -> None:
    from overruler.apps.web.phone.lan_address import terminal_qr_code

    control = f"{place.base_url}control" + (f"?key={place.key}" if place.key else "")
    if place.key:
        print(terminal_qr_code(control))
    print(f"{place.base_url}overlay" + (f"?key={overlay_key}" if overlay_key else ""))
    print(control)
    print(
        "the first is a browser source of 1920 × 1080, the second a dock; Ctrl-C ends", flush=True
    )


def _serve_live(
    args: argparse.Namespace, air: "LiveServices", sockets: list[socket.socket]
) -> None:
    from overruler.apps.web.live.app import make_live_app

    serve(args, make_live_app(air), sockets)
