"""`overruler live`: range lines and rulings over a camera's picture, as web pages for OBS."""

import argparse
import secrets
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from overruler.apps.process.log import add_log_arguments, say
from overruler.apps.serve import SERVER_QUIET_HELP, check_installed, serve
from overruler.apps.settings.table_options import add_camera_lens_argument, add_table_arguments
from overruler.apps.web.address import (
    ACCESS_KEY_BYTES,
    ServerAddress,
    add_network_arguments,
    closing_on_error,
    listen,
)
from overruler.errors import BadInput
from overruler.writing import check_different, check_ending, check_folder_name, check_writable

if TYPE_CHECKING:
    from overruler.apps.web.live.app import LiveServices
    from overruler.apps.web.live.watcher import TableStatus, TableWatcher
    from overruler.referee import Referee
    from overruler.track import Tick

DEFAULT_PORT = 8322
MAX_CAMERAS = 10
"""Most cameras over one table: as many as photos of one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    source = (
        "a camera (0, /dev/video0), a film, a photo, a stream (http, rtsp, rtmp, udp), "
        "or obs://localhost:4455/Source name"
    )
    parser.add_argument("source", metavar="SOURCE", nargs="?", help=source)
    more = "more sources of the same table: other cameras, which stand still too"
    parser.add_argument("others", metavar="MORE", nargs="*", default=[], help=more)
    parser.add_argument("--loop", action="store_true", help="a film begins again when it has ended")
    add_table_arguments(parser, of_photo=False)
    add_log_arguments(parser, SERVER_QUIET_HELP)
    add_camera_lens_argument(parser.add_argument)
    add_network_arguments(parser, DEFAULT_PORT)
    group = parser.add_argument_group("what comes out")
    look = "the overlay's colours, size, players and logos; read again whenever you save it"
    group.add_argument("--look", type=Path, metavar="LOOK.toml", help=look)
    names = "keeps the pieces' names, the players and the scores from one start to the next"
    group.add_argument("--names", type=Path, metavar="NAMES.json", help=names)
    record = (
        "write what overruler analyze writes, when it ends; without SOURCE, of one that was cut off"
    )
    group.add_argument("--record", type=Path, metavar="DIR", help=record)


def run(args: argparse.Namespace) -> int:
    if args.source is None:
        return _finish_recording(args.record)
    _check_cameras(args)
    check_installed()
    sockets, address = listen(args)
    overlay_key = secrets.token_urlsafe(ACCESS_KEY_BYTES) if address.key else None
    with closing_on_error(sockets):
        services, finish = _assemble_server(args, address, overlay_key)
    _print_addresses(address, overlay_key, args.quiet)
    try:
        _serve_live(args, services, sockets)
    finally:  # it ends with Ctrl-C
        finish()
    return 0


def _finish_recording(folder: Path | None) -> int:
    """Write the results of a broadcast that was cut off."""
    if folder is None:
        raise BadInput("SOURCE: name what shows the table: 0 for the first camera")
    from overruler.apps.recording.recorder import finish_recording

    finish_recording(folder)
    return 0


def _check_cameras(args: argparse.Namespace) -> None:
    """Refuse options that go with one camera only."""
    if not args.others:
        if args.lens_of_camera:
            raise BadInput("--lens-of-camera goes with several sources: give --lens")
        return
    check_different("SOURCE", (args.source, *args.others))
    if len(args.others) >= MAX_CAMERAS:
        raise BadInput(f"{len(args.others) + 1} sources are given, at most {MAX_CAMERAS}")
    for option in ("loop", "fix", "point"):
        if getattr(args, option):
            raise BadInput(f"--{option} goes with one source: leave it away, or all but one source")


def _assemble_server(
    args: argparse.Namespace, address: ServerAddress, overlay_key: str | None
) -> "tuple[LiveServices, Callable[[], None]]":
    """The services of the server, and a function to call when it ends."""
    from overruler.apps.analyze.pipeline import make_referee
    from overruler.apps.web.guard import AccessPolicy
    from overruler.apps.web.live.app import LiveServices
    from overruler.apps.web.live.desk import Desk
    from overruler.apps.web.live.look import LookFile, read_look
    from overruler.apps.web.live.names_file import read_names

    if args.look is not None:
        read_look(args.look)  # a wrong one is told before the camera is opened
    if args.names is not None:
        check_ending("--names", args.names, (".json",))
        check_writable(args.names)  # a name is kept when it is given, long after the start
    names = (args.names, read_names(args.names)) if args.names is not None else None
    referee = make_referee(args, 1 + len(args.others))
    signs = {player: sign for sign, player in referee.house.players.items()}
    desk = Desk(LookFile(args.look), signs)
    begin_s, record_tick, finish = _make_recorder(args)
    watcher = _make_watcher(
        args, referee, lambda seen: desk.update_table(seen, watcher.shot), record_tick, begin_s
    )
    policy = AccessPolicy(address.accepted_hosts(args.name), address.key)
    return LiveServices(desk, watcher, policy, overlay_key, names), finish


def _make_watcher(
    args: argparse.Namespace,
    referee: "Referee",
    on_status: "Callable[[TableStatus], None]",
    on_tick: "Callable[[Tick], None]",
    begin_s: float,
) -> "TableWatcher":
    """The watcher of one source, or of several over one table; its time counts from `begin_s`."""
    from overruler.apps.web.live.several.watcher import SeveralCamerasWatcher
    from overruler.apps.web.live.watcher import TableWatcher
    from overruler.sources.live import LiveReader, parse_source

    sources = [parse_source(address, args.loop) for address in (args.source, *args.others)]
    start_s = time.monotonic() - begin_s
    first, *others = [LiveReader(source, start_s=start_s) for source in sources]
    if not others:
        return TableWatcher(first, referee, on_status, on_tick)
    return SeveralCamerasWatcher(first, referee, on_status, on_tick, others=others)


def _make_recorder(
    args: argparse.Namespace,
) -> "tuple[float, Callable[[Tick], None], Callable[[], None]]":
    """The time that the recording begins at, and what to call with each tick, and at the end."""
    if args.record is None:
        return 0.0, lambda tick: None, lambda: None
    from overruler.apps.recording.recorder import Recorder

    check_folder_name("--record", args.record)
    recorder = Recorder(args.record, args.game is not None)
    return recorder.go_on(), recorder.record_tick, recorder.finish


def _print_addresses(address: ServerAddress, overlay_key: str | None, quiet: bool) -> None:
    """Print the addresses, which no log file gets: they hold the keys."""
    from overruler.apps.web.phone.lan_address import terminal_qr_code

    control, overlay = f"{address.base_url}control", f"{address.base_url}overlay"
    if address.key:
        control += f"?key={address.key}"
        if not quiet:
            print(terminal_qr_code(control))
    if overlay_key:
        overlay += f"?key={overlay_key}"
    print(overlay)
    print(control, flush=True)
    say("the first is a browser source of 1920 × 1080, the second a dock; Ctrl-C ends")


def _serve_live(
    args: argparse.Namespace, services: "LiveServices", sockets: list[socket.socket]
) -> None:
    from overruler.apps.web.live.app import make_live_app

    serve(args, make_live_app(services), sockets)
