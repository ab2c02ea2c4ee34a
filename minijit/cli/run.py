"""`minijit run`: a script or a module under minijit."""

from __future__ import annotations

import argparse
import os
import sys

from minijit.run import CannotRun, Program, execute, load_module, load_script
from minijit.takeover import Full, Identity, Takeover

__all__ = ["add_arguments", "command"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--all", action="store_true", help="compile every Python function that is called")
    parser.add_argument("--identity", action="store_true", help="with --all: only copy each function, behind a guard")
    parser.add_argument("--eager", action="store_true", help="with --all: compile at the first call, not the second")
    parser.add_argument("--gainless", action="store_true", help="with --all: also functions that do not become faster")
    parser.add_argument("--only", metavar="PATTERN", default="*", help="with --all: functions like 'package.module.*'")
    parser.add_argument("--report", metavar="FILE", help="write the counts to FILE instead of standard error")
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE", help="a module to run")
    parser.add_argument("script", nargs=argparse.REMAINDER, help="a script to run, with its arguments")


def command(args: argparse.Namespace) -> int:
    """Run it; its own exit code is ours. 2: there is nothing that can be run."""
    given = args.module or args.script
    if not given:
        print("minijit run: give a script, or -m and a module", file=sys.stderr)
        return 2
    try:
        program = load_module(given[0]) if args.module else load_script(given[0])
    except (CannotRun, OSError, SyntaxError) as error:
        print(f"minijit run: {error}", file=sys.stderr)
        return 2
    return _run(program, given[1:], _takeover(args), args.report)


def _takeover(args: argparse.Namespace) -> Takeover | None:
    if not args.all or os.environ.get("MINIJIT") == "0":
        return None
    return Identity(args.only) if args.identity else Full(args.only, args.eager, args.gainless)


def _run(program: Program, arguments: list[str], takeover: Takeover | None, report: str | None) -> int:
    process = os.getpid()
    try:
        execute(program, arguments, takeover)
    finally:
        if takeover is not None and os.getpid() == process:
            _tell(takeover, report)
    return 0


def _tell(takeover: Takeover, report: str | None) -> None:
    text = "".join(f"{line}\n" for line in takeover.report())
    if report is None:
        sys.stderr.write(text)
    else:
        with open(report, "w", encoding="utf-8") as file:
            file.write(text)
