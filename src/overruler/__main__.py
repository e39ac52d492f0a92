"""`python -m overruler` is `overruler`."""

from overruler.apps.cli import run_process

run_process()
