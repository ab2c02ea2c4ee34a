"""What it costs to change a container, by its size: the ledger replays operations, not contents.

    python benchmarks/replay.py

Each function changes a store through an inlined method. CPU nanoseconds a call, medians of rounds in which plain and
compiled code of all sizes take turns; then how often 100 calls on a growing container made the compiler run.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from types import FunctionType
from typing import Any

from minijit.install import install
from minijit.options import Options
from minijit.originals import original_code

SIZES = (10, 1_000, 1_000_000)
CALLS = 400
ROUNDS = 41


class Store:
    """A list, a dict and an attribute next to them."""

    def __init__(self, size: int) -> None:
        self.items: list[Any] = list(range(size))
        self.table: dict[Any, Any] = {str(number): number for number in range(size)}
        self.label = 0

    def add(self, value: int) -> None:
        """Append to the list."""
        self.items.append(value)

    def put(self, value: int) -> None:
        """Set a key of the dict."""
        self.table["key"] = value

    def mark(self, value: int) -> None:
        """Set the attribute."""
        self.label = value


def append(store: Store, value: int) -> None:
    """Append one item."""
    store.add(value)


def set_key(store: Store, value: int) -> None:
    """Set one key."""
    store.put(value)


def set_attribute(store: Store, value: int) -> None:
    """Set one attribute."""
    store.mark(value)


def copy_of(function: Callable[..., Any], compiled: bool) -> FunctionType:
    """The same function again, compiled or to stay as it is."""
    code: Any = original_code(function)  # type: ignore[arg-type]
    copy = FunctionType(code, function.__globals__, function.__name__)
    if compiled:
        install(copy, Options(gainless=True))
    return copy


def slot(function: Callable[..., Any], store: Store, size: int) -> float:
    """CPU nanoseconds a call; the list gets its old length back."""
    started = time.process_time()
    for number in range(CALLS):
        function(store, number)
    spent = (time.process_time() - started) / CALLS * 1e9
    del store.items[size:]
    return spent


def measure(function: Callable[..., Any], stores: dict[int, Store]) -> dict[tuple[int, bool], float]:
    """Medians by size and by whether the code is compiled."""
    sides = {(size, compiled): copy_of(function, compiled) for size in SIZES for compiled in (False, True)}
    samples: dict[tuple[int, bool], list[float]] = {side: [] for side in sides}
    for _ in range(ROUNDS):
        for (size, compiled), side in sides.items():
            samples[size, compiled].append(slot(side, stores[size], size))
    return {side: statistics.median(row[3:]) for side, row in samples.items()}


def compilations(function: Callable[..., Any]) -> int:
    """How often 100 calls on a container that grows made the compiler run."""
    copy = copy_of(function, False)
    installation = install(copy, Options(gainless=True))
    store = Store(0)
    seen = set()
    for number in range(100):
        copy(store, number)
        seen.add(id(copy.__code__))
        kept.append(copy.__code__)
    entries = len(installation.regions)
    return max(entries, len(seen) - 1)


kept: list[Any] = []
"""Code objects stay alive, so that each has an identity of its own."""


def main() -> None:
    """Print a table."""
    stores = {size: Store(size) for size in SIZES}
    print(f"{'ns a call':<16}" + "".join(f"{size:>24,}" for size in SIZES) + f"{'compilations':>16}")
    print(f"{'':<16}" + f"{'plain  compiled':>24}" * len(SIZES) + f"{'in 100 calls':>16}")
    for function in (append, set_key, set_attribute):
        found = measure(function, stores)
        cells = "".join(f"{found[size, False]:>13.1f}{found[size, True]:>11.1f}" for size in SIZES)
        print(f"{function.__name__:<16}{cells}{compilations(function):>16}")


if __name__ == "__main__":
    main()
