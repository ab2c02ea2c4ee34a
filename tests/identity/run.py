"""CPython's own tests under minijit, beside the same tests without it; keeps docs/cpython-tests.md.

    python tests/identity/run.py [--mode identity] [--mode full] [MODULE ...]

Results of earlier runs are kept in build/, so that a module can be run again alone. Exit code 1: something differs
that exceptions.txt does not expect.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from exceptions import expected
from suite import MODES, MODULES, Result, load, run
from table import update

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
ROOT = Path(__file__).parents[2]
KEPT = ROOT / "build" / "cpython-tests" / VERSION
COMPARED = ("identity", "full")


def kept(module: str, mode: str) -> Path:
    """Where the result is."""
    return KEPT / f"{module}.{mode}.json"


def obtain(module: str, mode: str, seconds: int, again: bool) -> Result:
    """Run, or take the result of an earlier run."""
    found = None if again else load(kept(module, mode))
    if found is None:
        found = run((module,), mode, seconds)
        found.save(kept(module, mode))
    return found


def differences(plain: Result, result: Result) -> dict[str, str]:
    """Tests that end otherwise than they do plain: a failure's text does not count."""
    if result.ending:
        return {"(module)": result.ending}
    found = {}
    for test in plain.outcomes.keys() | result.outcomes.keys():
        before, after = plain.outcomes.get(test, "missing"), result.outcomes.get(test, "missing")
        if before.partition(":")[0] != after.partition(":")[0]:
            found[test] = f"{before} -> {after}"
    return dict(sorted(found.items()))


def compare(module: str, modes: list[str], seconds: int) -> bool:
    """Run a module in some modes and print what differs; True when nothing unexpected does."""
    right = True
    plain = obtain(module, "plain", seconds, again=False)
    for mode in modes:
        started = time.perf_counter()
        result = obtain(module, mode, seconds, again=True)
        unexpected = {test: text for test, text in differences(plain, result).items()
                      if expected(VERSION, mode, module, test) is None}
        right = right and not unexpected
        print(f"{VERSION} {module} {mode}: {len(result.outcomes)} tests, {len(unexpected)} differ, "
              f"{time.perf_counter() - started:.0f} s; {result.report.strip()}", flush=True)
        for test, text in unexpected.items():
            print(f"    {test}: {text}", flush=True)
        if result.ending:
            print(result.output, flush=True)
    return right


def rows() -> list[tuple[str, dict[str, tuple[Result, dict[str, str]]]]]:
    """All that is known of this version: per module and mode the result and what differs."""
    table = []
    for module in MODULES:
        plain = load(kept(module, "plain"))
        results = {mode: load(kept(module, mode)) for mode in COMPARED}
        if plain is not None:
            table.append((module, {mode: (result, differences(plain, result))
                                   for mode, result in results.items() if result is not None}))
    return table


def main() -> int:
    """Run what is asked for and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", action="append", choices=[mode for mode in MODES if mode != "plain"])
    parser.add_argument("--seconds", type=int, default=600, help="for one module")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="all, if none is given")
    args = parser.parse_args()
    right = True
    for module in args.modules or MODULES:
        right = compare(module, args.mode or list(COMPARED), args.seconds) and right
        update(ROOT / "docs" / "cpython-tests.md", VERSION, rows())
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
