"""The process a batch runs in: `python -m minijit.fuzz.worker kind first count side [without ...]`."""

from __future__ import annotations

import os
import resource
import sys

from minijit.fuzz.batch import find_side, run_batch

MEMORY = 2 << 30


def main(kind: str, first: str, count: str, side: str, *without: str) -> None:
    """Run one batch; the lines go to the real stdout, whatever the programs do to `sys.stdout`."""
    channel = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    seeds = range(int(first), int(first) + int(count))
    run_batch(kind, seeds, find_side(side), without, lambda line: os.write(channel, line.encode() + b"\n"))


if __name__ == "__main__":
    main(*sys.argv[1:])
