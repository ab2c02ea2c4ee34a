"""`minijit fuzz`: generate programs, compare, shrink what differs, write test files.

Exit codes: 0 no difference, 1 a difference was found, 2 bad usage.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from minijit.fuzz.pool import run_jobs, split
from minijit.fuzz.report import Report
from minijit.fuzz.shrink import shrink
from minijit.fuzz.testfile import write_test

KINDS = ("programs", "operations")
COMPILED = "minijit.fuzz.sides:compiled"
SEEDS_PER_RUN = 1_000_000
Advance = Callable[[int], None]


def fuzz(
    count: int,
    seed: int = 1,
    jobs: int = 1,
    kinds: Sequence[str] = KINDS,
    out: Path | None = None,
    side: str = COMPILED,
    without: Sequence[str] = (),
    advance: Advance = lambda programs: None,
) -> Report:
    """Compare `count` programs of each kind; with `out`, shrink differences and write tests there.

    Programs whose source has one of the texts in `without` are left out.
    """
    report, start = Report(), time.monotonic()

    def take(part: Report) -> None:
        report.add(part)
        advance(part.programs)

    run_jobs([job for kind in kinds for job in split(kind, seed * SEEDS_PER_RUN, count, side, tuple(without))], jobs, take)
    report.seconds = time.monotonic() - start
    if out is not None:
        report.failures = [shrink(failure, side) for failure in report.failures]
        for failure in report.failures:
            write_test(failure, out)
    return report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `minijit fuzz`."""
    parser.add_argument("--count", type=_positive, default=1000, help="programs of each kind (default 1000)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other programs (default 1)")
    parser.add_argument("--jobs", type=_positive, default=1, help="worker processes (default 1)")
    parser.add_argument("--kind", choices=KINDS, action="append", help="what to generate (default: both)")
    parser.add_argument("--shrink", action="store_true", help="make failing programs small and write them as test files")
    parser.add_argument("--out", type=Path, default=Path("fuzz-failures"), help="folder for the test files (default fuzz-failures)")
    parser.add_argument("--without", action="append", default=[], metavar="TEXT", help="leave out programs that contain this text")
    parser.add_argument("--side", default=COMPILED, help=argparse.SUPPRESS)


def command(arguments: argparse.Namespace) -> int:
    """Run `minijit fuzz` and print the totals."""
    kinds = tuple(arguments.kind or KINDS)
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task("programs", total=arguments.count * len(kinds))
        report = fuzz(
            arguments.count, arguments.seed, arguments.jobs, kinds,
            arguments.out if arguments.shrink else None, arguments.side, arguments.without,
            lambda programs: progress.update(task, advance=programs),
        )  # fmt: skip
    print(report)
    return report.exit_code


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


if __name__ == "__main__":
    options = argparse.ArgumentParser(prog="minijit fuzz", description=__doc__)
    add_arguments(options)
    sys.exit(command(options.parse_args()))
