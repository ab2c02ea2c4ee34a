"""`minijit explain`: what would become of a function. Only the argument expressions are evaluated."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from minijit.cli.failure import NOT_FOUND, OK, Failure
from minijit.cli.target import add_target, target_of
from minijit.cli.timing import measure
from minijit.explain import Explanation

__all__ = ["add_arguments", "command"]

PARTS = {
    "bytecode": "original bytecode beside generated, by source line",
    "guards": "every guard with the value seen",
    "ledger": "every effect with file, line and column",
    "ir": "the intermediate form",
    "source": "compiled code as Python that runs",
    "stats": "counts",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_target(parser)
    for name, summary in PARTS.items():
        parser.add_argument(f"--{name}", dest="parts", action="append_const", const=name, help=summary)
    parser.add_argument("--time", action="store_true", help="also time the call before and after, which runs it")
    parser.add_argument("--json", action="store_true", help="everything, as JSON")
    parser.add_argument("--html", metavar="FILE", help="everything, as a page")


def command(args: argparse.Namespace) -> int:
    """Explain; a function that is left as it is is an answer, not an error."""
    target = target_of(args)
    explanation = target.explain()
    if args.html:
        write(args.html, explanation.html())
    if args.json:
        print(explanation.json())
    elif args.parts or not args.html:
        show(explanation, args.parts or ())
    if args.time:
        print(measure(target))
    return OK


def write(path: str, text: str) -> None:
    """Write a file."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(NOT_FOUND, f"{path} can't be written: {error.strerror}") from None


def show(explanation: Explanation, parts: list[str] | tuple[str, ...]) -> None:
    """The first screen, or the parts asked for."""
    console = Console()
    if not parts:
        if console.is_terminal:
            console.print(explanation)
        else:
            print(explanation)
    for number, name in enumerate(parts):
        if len(parts) > 1:
            print(("\n" if number else "") + f"== {name}")
        print(explanation.section(name))
