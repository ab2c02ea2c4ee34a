"""`minijit step`: compiled code one step at a time; Enter goes on, q ends. Without a terminal all steps are printed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from minijit.cli.failure import OK
from minijit.cli.target import add_target, target_of
from minijit.explain import Explanation

__all__ = ["add_arguments", "command"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_target(parser)


def command(args: argparse.Namespace) -> int:
    """Print step after step."""
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    for text in steps(target_of(args).explain()):
        print(text)
        if interactive and input().strip() == "q":
            break
    return OK


def steps(explanation: Explanation) -> Iterator[str]:
    """Each purpose in the generated code with its source line and its instructions."""
    if not explanation.after:
        yield f"{explanation.name} is left as it is: {explanation.refused}"
        return
    sources = {line.number: line.source.strip() for line in explanation.lines}
    last: int | None = None
    rows: list[str] = []
    for instruction in explanation.after:
        if instruction.part == "leave":
            break
        if instruction.purpose and rows:
            yield "\n".join(rows)
            rows = []
        if instruction.line is not None and instruction.line != last:
            rows.append(f"line {instruction.line}: {sources.get(instruction.line, '')}")
            last = instruction.line
        if instruction.purpose:
            rows.append(f"  {instruction.purpose}")
        rows.append(f"      {instruction.opname} {instruction.argument}".rstrip())
    yield "\n".join(rows)
