"""`minijit bench`: one call timed before and after. Unlike `explain`, it runs the function."""

from __future__ import annotations

import argparse

from minijit.cli.failure import OK
from minijit.cli.target import add_target, target_of
from minijit.cli.timing import measure

__all__ = ["add_arguments", "command"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_target(parser)


def command(args: argparse.Namespace) -> int:
    """Time it."""
    print(measure(target_of(args)))
    return OK
