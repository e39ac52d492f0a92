"""What a command says of its work: nothing, its results, or each step; and a log file of it.

All of it goes through Python's `logging`, under the name `overruler`.
"""

import argparse
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from overruler.errors import BadInput, OverrulerError

logging.getLogger("overruler").addHandler(logging.NullHandler())  # nobody asked: nothing is said

LOG_FORMAT = "%(asctime)s %(levelname)s %(message)s"
"""A line of a log file."""
STEP_FORMAT = "overruler: %(relativeCreated)6.0f ms  %(message)s"
"""A step on standard error: the time since the program started, and what is done."""


def add_log_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `-q`, `-v` and `--log`, for a command whose work takes long."""
    group = parser.add_argument_group("how much it says")
    loudness = group.add_mutually_exclusive_group()
    quiet = "say nothing but errors; --json still prints"
    loudness.add_argument("-q", "--quiet", action="store_true", help=quiet)
    verbose = "say each step, and when (standard error)"
    loudness.add_argument("-v", "--verbose", action="store_true", help=verbose)
    log = "add each step, result and error to a file, with the time"
    group.add_argument("--log", type=Path, metavar="FILE", help=log)


@contextmanager
def keeping_log(args: argparse.Namespace) -> Iterator[None]:
    """Log what the block does, as the options say, and the error that ends it.

    Raises `BadInput` where the log file cannot be written.
    """
    logger = logging.getLogger("overruler")
    handlers = list(_handlers(args))
    for handler in handlers:
        logger.addHandler(handler)
    level = logger.level
    if handlers:
        logger.setLevel(logging.INFO)
    try:
        yield
    except OverrulerError as error:
        logger.error(" ".join(str(error).split()))
        raise
    finally:
        logger.setLevel(level)
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()


def _handlers(args: argparse.Namespace) -> Iterator[logging.Handler]:
    if args.verbose:
        steps = logging.StreamHandler()
        steps.setFormatter(logging.Formatter(STEP_FORMAT))
        steps.addFilter(lambda record: record.levelno < logging.WARNING)  # it says those anyway
        yield steps
    if args.log:
        try:
            file = logging.FileHandler(args.log, encoding="utf-8")
        except OSError as error:
            raise BadInput(
                f"--log: {args.log}: cannot be written: {error.strerror or error}"
            ) from None
        file.setFormatter(logging.Formatter(LOG_FORMAT))
        yield file
