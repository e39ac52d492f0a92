"""The command line: `overruler COMMAND`.

Only the module of the chosen command is loaded, so that help and rulings appear at once.
"""

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import NoReturn

from overruler import __version__
from overruler.apps.commands import (
    COMMANDS,
    COMMANDS_WITH_FILES_BETWEEN,
    COMMANDS_WITH_USER_CONFIG,
    COMMANDS_WITHOUT_TEARDOWN,
    GIVEN,
    MORE_EXAMPLES,
    Command,
    Parser,
)
from overruler.errors import BadInput, OverrulerError, UnknownName, explain_import_error

TOP_HINTS = (
    "New here? overruler demo --open measures a photo that comes with the program.",
    "overruler COMMAND --help says more.",
)
"""What the help of the program ends with."""
EXIT_INTERRUPTED = 130
"""Exit status after Ctrl-C: 128 + SIGINT."""
EXIT_PIPE_CLOSED = 141
"""Exit status when the reader of a pipe is gone: 128 + SIGPIPE."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status of the process."""
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
        where = error.filename or "input or output"
        return _print_error(BadInput(f"{where}: {error.strerror or error}"))
    except ImportError as error:
        known = explain_import_error(error)
        if known is None:
            raise
        return _print_error(known)
    return status


def run_process() -> NoReturn:
    """Run `main` and end the process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # an old console lacks some of our signs
            stream.reconfigure(errors="replace")
    if sys.stdin is None:  # whoever started this process closed it: nothing comes in
        sys.stdin = open(os.devnull)  # noqa: SIM115 - it is open as long as the process runs
    # More threads gain nothing here, and they wait by spinning.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    skips_teardown = next(iter(sys.argv[1:]), "") in COMMANDS_WITHOUT_TEARDOWN
    if skips_teardown:
        import_module("overruler.apps.process.memory").keep_memory()
    status = main()
    if status or not skips_teardown:
        raise SystemExit(status)
    sys.stderr.flush()  # main has flushed the standard output
    os._exit(0)


def _exit_status(arguments: list[str]) -> int:
    """The exit status, also where argparse exits: its output must be flushed, or fail, in `main`."""
    try:
        return _run_command(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0


def _run_command(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        name, *rest = arguments
        command: Command = import_module(f"overruler.apps.{name}")
        parser = _command_parser(name, command)
        between = name in COMMANDS_WITH_FILES_BETWEEN
        args = parser.parse_intermixed_args(rest) if between else parser.parse_args(rest)
        if name in COMMANDS_WITH_USER_CONFIG:
            from overruler.apps.settings.user_config import Config

            setattr(args, GIVEN, Namespace(**vars(args)))
            Config.load_user_config().fill_defaults(args, makes_taught=name == "teach")
        if hasattr(args, "verbose"):
            from overruler.apps.process.log import keeping_log

            with keeping_log(args):
                return command.run(args)
        return command.run(args)
    if arguments and not arguments[0].startswith("-"):
        raise UnknownName("command", arguments[0], COMMANDS)
    top = _top_parser()
    top.parse_args(arguments)
    print(top.format_help(), end="")
    return 0


def _top_parser() -> Parser:
    width = max(map(len, COMMANDS)) + 2
    lines = [f"  {name:<{width}}{about}" for name, (about, _) in COMMANDS.items()]
    parser = Parser(
        prog="overruler",
        usage="overruler [--version] COMMAND ...",
        description="A photo of the table in, the ruling and its doubt out.",
        epilog="\n".join(["commands:", *lines, "", *TOP_HINTS]),
    )
    parser.example = COMMANDS["measure"][1]
    parser.add_argument("--version", action="version", version=f"overruler {__version__}")
    return parser


def _command_parser(name: str, command: Command) -> Parser:
    about, example = COMMANDS[name]
    parser = Parser(
        prog=f"overruler {name}",
        description=f"{about[0].upper()}{about[1:]}.{_more_examples(name)}",
        allow_abbrev=False,
    )
    parser.example = example
    command.add_arguments(parser)
    return parser


def _more_examples(name: str) -> str:
    """More examples of a command with what they do, as its help shows them."""
    examples = MORE_EXAMPLES.get(name, ())
    width = max((len(example) for example, _ in examples), default=0) + 2
    lines = [f"  {example:<{width}}{what}" for example, what in examples]
    return "\n".join(["\n\nexamples:", *lines]) if lines else ""


def _print_error(error: OverrulerError) -> int:
    print(f"overruler: {' '.join(str(error).split())}", file=sys.stderr)
    return error.exit_code


def _leave_quietly() -> int:
    # What is still buffered has no reader. The interpreter must not report that as it exits.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EXIT_PIPE_CLOSED
