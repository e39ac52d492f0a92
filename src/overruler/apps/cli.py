"""The command line: `overruler measure | ask | markers | calibrate | rules | doctor`.

Nothing but the chosen command's own module is loaded, so that help and rulings come at once.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from overruler import __version__
from overruler.apps.commands import (
    COMMANDS,
    COMMANDS_WITH_USER_CONFIG,
    COMMANDS_WITHOUT_TEARDOWN,
    Command,
    Parser,
)
from overruler.errors import BadInput, OverrulerError, UnknownName, explain_import_error

EXIT_INTERRUPTED = 130
"""The status of a process ended by Ctrl-C: 128 + SIGINT."""
EXIT_PIPE_CLOSED = 141
"""The status of a process whose reader went away: 128 + SIGPIPE."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the process's exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if "_ARGCOMPLETE" in os.environ:
        import_module("overruler.apps.completion").complete()
    try:
        status = _exit_status(arguments)
        print(end="", flush=True)
    except OverrulerError as error:
        return _print_error(error)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        return _leave_quietly()
    except OSError as error:
        return _print_error(
            BadInput(f"{error.filename or 'input or output'}: {error.strerror or error}")
        )
    except ImportError as error:
        known = explain_import_error(error)
        if known is None:
            raise
        return _print_error(known)
    return status


def run_process() -> NoReturn:
    """`main`, then the end of the process."""
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # its threads gain nothing here, and wait by running in circles
    at_once = next(iter(sys.argv[1:]), "") in COMMANDS_WITHOUT_TEARDOWN
    if at_once:
        import_module("overruler.apps.memory").keep_memory()
    status = main()
    if status or not at_once:
        raise SystemExit(status)
    sys.stderr.flush()  # main has seen to what was printed
    os._exit(0)


def _exit_status(arguments: list[str]) -> int:
    """The status, also where argparse ends the program: what it printed must reach the reader or fail here."""
    try:
        return _run_command(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0


def _run_command(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        name, *rest = arguments
        command: Command = import_module(f"overruler.apps.{name}")
        args = _command_parser(name, command).parse_args(rest)
        if name in COMMANDS_WITH_USER_CONFIG:
            from overruler.apps.user_config import Config

            Config.load_user_config().fill_defaults(args)
        return command.run(args)
    if arguments and not arguments[0].startswith("-"):
        raise UnknownName("command", arguments[0], COMMANDS)
    parser = _top_parser()
    parser.parse_args(arguments)
    print(parser.format_help(), end="")
    return 0


def _top_parser() -> Parser:
    width = max(map(len, COMMANDS)) + 2
    parser = Parser(
        prog="overruler",
        usage="overruler [--version] COMMAND ...",
        description="A photo of the table in, the ruling and its doubt out.",
        epilog="\n".join(
            ["commands:"]
            + [f"  {name:<{width}}{line}" for name, (line, _) in COMMANDS.items()]
            + ["", "overruler COMMAND --help says more."]
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.example = COMMANDS["measure"][1]
    parser.add_argument("--version", action="version", version=f"overruler {__version__}")
    return parser


def _command_parser(name: str, command: Command) -> Parser:
    line, example = COMMANDS[name]
    parser = Parser(
        prog=f"overruler {name}", description=f"{line[0].upper()}{line[1:]}.", allow_abbrev=False
    )
    parser.example = example
    command.add_arguments(parser)
    return parser


def _print_error(error: OverrulerError) -> int:
    print(f"overruler: {' '.join(str(error).split())}", file=sys.stderr)
    return error.exit_code


def _leave_quietly() -> int:
    # What is still buffered has nowhere to go, and the interpreter must not complain about it on its way out.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EXIT_PIPE_CLOSED
