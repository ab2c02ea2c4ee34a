"""Timing that can be trusted on a noisy machine: interleaved rounds in one process, medians, ratios."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

SLOT_SECONDS = 0.004


def calls_per_slot(function: Callable[..., Any], arguments: Sequence[Any]) -> int:
    """How many calls fill one slot of CPU time."""
    count = 1
    while True:
        started = time.process_time()
        for _ in range(count):
            function(*arguments)
        if time.process_time() - started > SLOT_SECONDS:
            return count
        count *= 2


def interleaved(
    functions: Sequence[Callable[..., Any]], arguments: Sequence[Any], rounds: int = 25
) -> list[list[float]]:
    """CPU nanoseconds a call, per function and round; the functions take turns within each round."""
    for function in functions:
        for _ in range(200):
            function(*arguments)
    counts = [calls_per_slot(function, arguments) for function in functions]
    samples: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for row, function, count in zip(samples, functions, counts, strict=True):
            started = time.process_time()
            for _ in range(count):
                function(*arguments)
            row.append((time.process_time() - started) / count * 1e9)
    return samples


def medians(samples: list[list[float]]) -> list[float]:
    """Median of each row."""
    return [statistics.median(row) for row in samples]


def ratio(numerator: list[float], denominator: list[float]) -> float:
    """Median of the ratios of samples taken next to each other."""
    return statistics.median(a / b for a, b in zip(numerator, denominator, strict=True))
