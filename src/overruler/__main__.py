"""Lets `python -m overruler` stand for `overruler`."""

from overruler.apps.cli import run_process

run_process()
