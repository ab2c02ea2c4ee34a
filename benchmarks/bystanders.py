"""What minijit costs code that nobody decorated.

    python benchmarks/bystanders.py [rounds]

Child processes take turns: nothing imported; other modules imported, none of them minijit (the baseline);
something decorated but never called; called once; warmed up.
Each times the same call-heavy code; the ratios of neighbours are compared.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

WORKLOAD = """
import time
class Point:
    def __init__(self, x, y): self.x = x; self.y = y
    def moved(self, dx): return Point(self.x + dx, self.y)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def work():
    p = Point(0, 0)
    for i in range(2000): p = p.moved(i)
    return fib(17) + p.x
for _ in range(5): work()
best = 1e9
for _ in range(25):
    started = time.process_time(); work(); best = min(best, time.process_time() - started)
print(best)
"""
DECORATED = """
import minijit
class Pair:
    def __init__(self, a, b): self.a = a; self.b = b
@minijit.compile
def decorated(a, b): return Pair(a, b).a + Pair(b, a).a
"""
OTHERS = "import asyncio, dataclasses, inspect, dis, typing\n"
"""Importing anything of that size moves objects in memory, which alone costs this workload some percent."""

BASELINE = "other modules"
STATES = {
    "nothing imported": "",
    BASELINE: OTHERS,
    "never called": DECORATED,
    "called once": DECORATED + "decorated(1, 2)\n",
    "warmed up": DECORATED + "for _ in range(10): decorated(1, 2)\n",
}


def sample(prelude: str) -> float:
    """Seconds of the workload in a new process."""
    finished = subprocess.run([sys.executable, "-c", prelude + WORKLOAD], capture_output=True, text=True, check=True)
    return float(finished.stdout)


def main(rounds: int) -> None:
    """Print the table."""
    samples: dict[str, list[float]] = {state: [] for state in STATES}
    for _ in range(rounds):
        for state, prelude in STATES.items():
            samples[state].append(sample(prelude))
    plain = samples[BASELINE]
    print(f"Python {sys.version.split()[0]}, {rounds} rounds")
    for state, row in samples.items():
        ratios = [a / b for a, b in zip(row, plain, strict=True)]
        print(f"{state:<18} {statistics.median(row) * 1e3:>8.2f} ms   x{statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
