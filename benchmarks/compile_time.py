"""How long compilation takes, by the number of traced instructions and by nesting depth.

    python benchmarks/compile_time.py

Prints milliseconds (median of fresh functions) and microseconds a traced instruction.
"""

from __future__ import annotations

import statistics
import sys
import time
from types import FunctionType
from typing import Any

from minijit._shim import Counter
from minijit.interpreter.interpret import Outcome
from minijit.options import Options
from minijit.pipeline import Request, build

ARITHMETIC = "    v{0} = v{1} * 3 + {0}\n"
HELPERS = "    v{0} = add(v{1}, {0})\n"
MUTATIONS = "    o.a{0} = v{1} + {0}; v{0} = o.a{0}\n"
OBJECTS = "    v{0} = P(v{1}, {0}).x + 1\n"
PRELUDE = """
def add(a, b): return a + b
class P:
    __slots__ = ("x", "y")
    def __init__(self, x, y): self.x = x; self.y = y
class O: pass
"""
KINDS = {"arithmetic": ARITHMETIC, "helpers": HELPERS, "mutations": MUTATIONS, "objects": OBJECTS}
LINES = {"arithmetic": 6, "helpers": 9, "mutations": 10, "objects": 22}
"""Traced instructions a line, roughly: only to choose how many lines to write."""


def straight(kind: str, count: int) -> str:
    """Source of a function of `count` lines of one kind."""
    lines = "".join(KINDS[kind].format(i + 1, i) for i in range(count))
    return f"{PRELUDE}\ndef f(v0, o):\n    add(1, 1)\n{lines}    return v{count}\n"


def nested(depth: int) -> str:
    """Source of functions that call one another `depth` deep."""
    calls = "".join(f"def g{i + 1}(a): return g{i}(a) + 1\n" for i in range(depth))
    return f"{PRELUDE}\ndef g0(a): return a\n{calls}def f(v0, o): return g{depth}(v0)\n"


def loops(depth: int) -> str:
    """Source of `depth` nested loops around an inlined call."""
    lines = "".join("    " * (i + 1) + f"for i{i} in range(v0):\n" for i in range(depth))
    return f"{PRELUDE}\ndef f(v0, o):\n    s = 0\n{lines}{'    ' * (depth + 1)}s = add(s, 1)\n    return s\n"


def compiled(source: str) -> tuple[float, Outcome | None, int]:
    """Seconds, outcome and size of one compilation of a fresh function."""
    names: dict[str, Any] = {}
    exec(source, names)
    function = names["f"]
    assert isinstance(function, FunctionType)
    counter = Counter(None)
    options = Options(gainless=True)
    request = Request("warm", function.__code__, function, (2, names["O"]()), options, counter)
    started = time.perf_counter()
    product = build(request)
    return time.perf_counter() - started, product.outcome, len(product.code.co_code)


def row(name: str, source: str) -> None:
    """Print one line of the table."""
    samples = [compiled(source) for _ in range(7)]
    seconds = statistics.median(sample[0] for sample in samples)
    outcome = samples[0][1]
    steps = outcome.steps if outcome is not None else 0
    a_step = seconds * 1e6 / max(steps, 1)
    print(f"{name:<24} {steps:>8} {seconds * 1e3:>9.2f} {a_step:>9.1f} {samples[0][2]:>9}", flush=True)


def main() -> None:
    """Print the table."""
    print(f"Python {sys.version.split()[0]}")
    print(f"{'':<24} {'traced':>8} {'ms':>9} {'us/instr':>9} {'bytes':>9}")
    for kind in KINDS:
        for traced in (10, 50, 200, 1000, 5000, 10000):
            row(f"{kind} {traced}", straight(kind, max(1, traced // LINES[kind])))
    for depth in (1, 4, 8, 16):
        row(f"calls {depth} deep", nested(depth))
    for depth in (1, 2, 3, 4):
        row(f"loops {depth} deep", loops(depth))


if __name__ == "__main__":
    main()
