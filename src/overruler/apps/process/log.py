"""What a command says of its work: errors alone, its results, or each step; and a log file of it.

All of it goes through Python's `logging`, under the name `overruler`: results by `say`, steps as
`INFO`, problems that do not end the command as `WARNING`.
"""

import argparse
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from overruler.errors import BadInput, OverrulerError, printable
from overruler.writing import check_ending

COMMAND_LOGGER = "overruler"
"""Name of the logger of all parts; its own records are of the error that ends the command."""
SAID_LOGGER = "overruler.said"
"""Name of the logger of the results for people."""
LOG_FORMAT = "%(asctime)s %(levelname)s %(message)s"
"""A line of a log file."""
STEP_FORMAT = "overruler: %(relativeCreated)6.0f ms  %(message)s"
"""A step on standard error: the time since the program started, and what is done."""
LOG_ENDINGS = (".log", ".txt")
"""What the name of a log file ends in."""
QUIET_HELP = "say nothing but errors"
"""What `-q` does."""

logging.getLogger(COMMAND_LOGGER).addHandler(logging.NullHandler())  # nobody asked: nothing is said
_said = logging.getLogger(SAID_LOGGER)
_said.setLevel(logging.INFO)


def say(text: str) -> None:
    """Print a line of the results, unless `-q` is given; a log file gets it anyway."""
    _said.info("%s", text)


def add_log_arguments(parser: argparse.ArgumentParser, quiet: str = QUIET_HELP) -> None:
    """Add `-q`, `-v` and `--log`, for a command whose work takes long."""
    group = parser.add_argument_group("how much it says")
    loudness = group.add_mutually_exclusive_group()
    loudness.add_argument("-q", "--quiet", action="store_true", help=quiet)
    verbose = "say each step, and when (standard error)"
    loudness.add_argument("-v", "--verbose", action="store_true", help=verbose)
    log = "add each step, result and error to a file, with the time"
    group.add_argument("--log", type=Path, metavar="FILE", help=log)


@contextmanager
def keeping_log(args: argparse.Namespace) -> Iterator[None]:
    """Say and log what the block does, as the options say, and log the error that ends it.

    Raises `BadInput` where the log file cannot be written.
    """
    logger = logging.getLogger(COMMAND_LOGGER)
    handlers = list(_handlers(args))
    level = logger.level
    if args.verbose or args.log:
        logger.setLevel(logging.INFO)
    for handler in handlers:
        logger.addHandler(handler)
    try:
        yield
    except OverrulerError as error:
        logger.error(" ".join(str(error).split()))
        raise
    except Exception:
        logger.exception("this should not have happened: please report it")
        raise
    finally:
        logger.setLevel(level)
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()


class _LineFormatter(logging.Formatter):
    """Makes a line of a message, whatever names it quotes; the trace of an error stands below it."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return printable(super().formatMessage(record))


class _Printer(logging.Handler):
    """Prints some records on a standard stream: on the one that a progress bar puts there, too."""

    def __init__(
        self, stream: str, form: str, is_printed: Callable[[logging.LogRecord], bool]
    ) -> None:
        super().__init__()
        self._stream = stream
        self.setFormatter(_LineFormatter(form))
        self.addFilter(is_printed)

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=getattr(sys, self._stream), flush=True)


def _handlers(args: argparse.Namespace) -> Iterator[logging.Handler]:
    yield _Printer("stderr", "overruler: %(message)s", _is_problem)
    if not args.quiet:
        yield _Printer("stdout", "%(message)s", _is_result)
    if args.verbose:
        yield _Printer("stderr", STEP_FORMAT, _is_step)
    if args.log:
        yield _log_file(args.log)


def _is_problem(record: logging.LogRecord) -> bool:
    """Whether a record is of a problem that the command survives: the last one is printed anyway."""
    return record.levelno >= logging.WARNING and record.name != COMMAND_LOGGER


def _is_result(record: logging.LogRecord) -> bool:
    return record.name == SAID_LOGGER


def _is_step(record: logging.LogRecord) -> bool:
    return record.levelno < logging.WARNING and not _is_result(record)


def _log_file(path: Path) -> logging.Handler:
    check_ending("--log", path, LOG_ENDINGS)
    try:
        file = logging.FileHandler(path, encoding="utf-8")
    except OSError as error:
        text = f"--log: {path}: cannot be written: {error.strerror or error}"
        raise BadInput(text) from None
    file.setFormatter(_LineFormatter(LOG_FORMAT))
    return file
