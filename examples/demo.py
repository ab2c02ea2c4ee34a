"""One function before and after: `make demo`.

`summarize` is written with small classes, since that reads well. Compiled, no vector and no summary
is ever built and no call is left: what remains is the arithmetic, and the two effects that the caller sees.
"""

import sys
import time

import minijit


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def scaled(self, factor):
        return Vector(self.x * factor, self.y * factor)

    @property
    def size(self):
        return self.x * self.x + self.y * self.y


class Summary:
    def __init__(self):
        self.total = 0.0
        self.count = 0
        self.largest = 0.0

    def add(self, value):
        self.total += value
        self.count += 1
        if value > self.largest:
            self.largest = value

    @property
    def mean(self):
        return self.total / self.count


def summarize(points, factor, report):
    shift = Vector(1.0, 1.0)
    summary = Summary()
    for x, y in points:
        summary.add((Vector(x, y).scaled(factor) + shift).size)
    report["mean"] = summary.mean
    report["largest"] = summary.largest
    return summary.count


POINTS = [(float(i), i + 1.0) for i in range(1000)]


def title(text):
    print(f"\n\033[1m== {text}\033[0m" if sys.stdout.isatty() else f"\n== {text}")


def run():
    """Call it once: result, effect, and the best time of some calls."""
    report, times = {}, []
    for _ in range(30):
        started = time.perf_counter()
        count = summarize(POINTS, 2.0, report)
        times.append(time.perf_counter() - started)
    return (count, report), min(times)


def main():
    plain, before = run()

    explanation = minijit.explain(summarize, POINTS, 2.0, {})
    for name in ("original", "guards", "ledger", "bytecode"):
        title(name)
        print(getattr(explanation, name))

    minijit.compile(summarize)
    summarize(POINTS, 2.0, {})
    compiled, after = run()

    title("the same result from both")
    print(f"original: {plain}   {before * 1e6:.0f} microseconds")
    print(f"compiled: {compiled}   {after * 1e6:.0f} microseconds, {before / after:.1f} times as fast")
    print(minijit.stats(summarize))
    if plain != compiled or minijit.stats(summarize).state != "compiled":
        raise SystemExit("the results differ, or it was not compiled")


if __name__ == "__main__":
    main()
