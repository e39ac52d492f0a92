"""`overruler live`: range lines and rulings over a camera's picture, for OBS and whoever shows web pages."""

import argparse
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from overruler.apps.measure import add_table_arguments
from overruler.apps.serve import KEY_BYTES, Place, add_reach_arguments, check_installed, listen, serve

if TYPE_CHECKING:
    from overruler.apps.web.live.app import Air
    from overruler.track import Tick

PORT = 8322
SOURCE = "a camera (0, /dev/video0), a film, a stream (http, rtsp, rtmp, udp), or obs://localhost:4455/Source name"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", help=SOURCE)
    parser.add_argument("--loop", action="store_true", help="a film begins again when it has ended")
    add_table_arguments(parser)
    add_reach_arguments(parser, PORT)
    out = parser.add_argument_group("what comes out").add_argument
    out("--record", type=Path, metavar="DIR", help="write what overruler analyze writes, when it ends")


def run(args: argparse.Namespace) -> int:
    check_installed()
    sockets, place = listen(args)
    overlay_key = secrets.token_urlsafe(KEY_BYTES) if place.key else None
    try:
        air, finish = _opened(args, place, overlay_key)
    except BaseException:
        for line in sockets:
            line.close()
        raise
    _tell(place, overlay_key)
    try:
        _serve(args, air, sockets)
    finally:  # Ctrl-C is how it ends
        finish()
    return 0


def _opened(args: argparse.Namespace, place: Place, overlay_key: str | None) -> "tuple[Air, Callable[[], None]]":
    """All that the server is made of, and what is to be done when it ends."""
    from overruler.apps.analyze.work import referee_of
    from overruler.apps.web.guard import Door
    from overruler.apps.web.live.app import Air
    from overruler.apps.web.live.desk import Desk
    from overruler.apps.web.live.watcher import Eyes
    from overruler.apps.web.phone.lan_address import names
    from overruler.sources.live import Live, source

    referee, desk = referee_of(args), Desk()
    ticked, finish = _recorder(args)
    eyes = Eyes(Live(source(args.source, args.loop)), referee, lambda seen: desk.told(seen, eyes.shot), ticked)
    hosts = names(place.hosts[0] if place.key else None) | {*place.hosts, *(name.lower() for name in args.name)}
    return Air(desk, eyes, Door(frozenset(hosts), place.key), overlay_key), finish


def _recorder(args: argparse.Namespace) -> "tuple[Callable[[Tick], None], Callable[[], None]]":
    if args.record is None:
        return lambda tick: None, lambda: None
    from overruler.apps.analyze.live import Recorder

    recorder = Recorder(args.record, args.game is not None)
    return recorder.note, recorder.finish


def _tell(place: Place, overlay_key: str | None) -> None:
    from overruler.apps.web.phone.lan_address import code

    control = f"{place.root}control" + (f"?key={place.key}" if place.key else "")
    if place.key:
        print(code(control))
    print(f"{place.root}overlay" + (f"?key={overlay_key}" if overlay_key else ""))
    print(control)
    print("the first is a browser source of 1920 × 1080, the second a dock; Ctrl-C ends", flush=True)


def _serve(args: argparse.Namespace, air: "Air", sockets: list[socket.socket]) -> None:
    from overruler.apps.web.live.app import make_live_app

    serve(args, make_live_app(air), sockets)
