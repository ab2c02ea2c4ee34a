"""`minijit codes`: what a refusal means and what to do."""

from __future__ import annotations

import argparse

from minijit.cli.failure import OK, USAGE, Failure
from minijit.codes import CODES

__all__ = ["add_arguments", "command"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("codes", nargs="*", metavar="MJ...", help="codes to tell about (default: list all)")


def command(args: argparse.Namespace) -> int:
    """Tell about some codes, or list all."""
    if not args.codes:
        for number, code in CODES.items():
            print(f"{number}  {code.title}")
        return OK
    for number in map(str.upper, args.codes):
        if number not in CODES:
            raise Failure(USAGE, f"there is no code {number}; the codes are {min(CODES)} to {max(CODES)}")
        code = CODES[number]
        print(f"{number}: {code.title}\n  {code.explanation}")
        if code.advice:
            print(f"  What to do: {code.advice}.")
    return OK
