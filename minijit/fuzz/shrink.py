"""Make a failing program as small as it gets while it fails in the same way."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from dataclasses import asdict
from itertools import islice

from minijit.fuzz.batch import find_side
from minijit.fuzz.compare import Difference
from minijit.fuzz.edits import PASSES, Variants
from minijit.fuzz.judge import judge
from minijit.fuzz.process import command, environment
from minijit.fuzz.program import Program
from minijit.fuzz.report import Failure
from minijit.fuzz.sides import Side

SECONDS = 90.0


class Shrinker:
    """Holds the smallest failing program so far, and the time left."""

    def __init__(self, failure: Failure, side: Side, seconds: float = SECONDS) -> None:
        self.program = failure.program
        self.difference = failure.difference
        self.side = side
        self.end = time.monotonic() + seconds

    def run(self) -> Failure:
        """Go through the passes until none of them helps."""
        progress = True
        while progress and time.monotonic() < self.end:
            before = self.program
            for variants in PASSES:
                self._reduce(variants)
            progress = before != self.program
        return Failure(self.program, self.difference)

    def _reduce(self, variants: Variants) -> None:
        """Take each variant that still fails, and go on from there."""
        position, progress = 0, True
        while progress:
            progress = False
            for i, candidate in enumerate(islice(variants(self.program), position, None), position):
                if time.monotonic() > self.end:
                    return
                if self._fails(candidate):
                    self.program, position, progress = candidate, i, True
                    break

    def _fails(self, candidate: Program) -> bool:
        difference = None if candidate == self.program else judge(candidate, self.side)
        if difference is None or difference.kind != self.difference.kind:
            return False
        self.difference = difference
        return True


def shrink(failure: Failure, side: str, seconds: float = SECONDS) -> Failure:
    """Shrink in a process of its own: it forks for every candidate, with fixed string hashes."""
    words = command("minijit.fuzz.shrink", side, str(seconds))
    data = json.dumps({"program": failure.program.to_json(), "difference": asdict(failure.difference)})
    done = subprocess.run(words, input=data, capture_output=True, text=True, env=environment(), timeout=seconds + 60, check=False)
    if done.returncode != 0:
        return failure
    return _failure(done.stdout)


def _failure(text: str) -> Failure:
    data = json.loads(text)
    return Failure(Program.from_json(data["program"]), Difference(**data["difference"]))


def main(side: str, seconds: str) -> None:
    """Read a failure, write a smaller one."""
    warnings.simplefilter("ignore")
    smaller = Shrinker(_failure(sys.stdin.read()), find_side(side), float(seconds)).run()
    json.dump({"program": smaller.program.to_json(), "difference": asdict(smaller.difference)}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
