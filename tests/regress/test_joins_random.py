"""Objects that meet where paths come together: random functions over them, as they are against compiled."""

from __future__ import annotations

import copy
import random
from types import FunctionType
from typing import Any

import pytest

from minijit import stats
from minijit.install import install
from minijit.options import Options

LOG: list[object] = []
CALLS: list[tuple[Any, ...]] = [
    (20,), (20,), (20,), (3,), (70,), (20, {}, []), (20, {}, []), (5, {}, []), (2.5,), (True,), ("x",),
]  # fmt: skip


class Money:
    def __init__(self, cents: int, kind: int = 0) -> None:
        self.cents = cents
        self.kind = kind

    def __add__(self, other: Money) -> Money:
        return Money(self.cents + other.cents, self.kind)


class Rule:
    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    def fits(self, money: Money) -> bool:
        return self.low <= money.cents < self.high


RULES = (Rule(0, 10), Rule(10, 50), Rule(50, 99_999))


class Writer:
    """Writes one random function. Mutates."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def name(self) -> str:
        return self.random.choice("ab")

    def body(self, depth: int) -> list[str]:
        lines = [line for _ in range(self.random.randrange(1, 3)) for line in self.statement(depth + 1)]
        return ["    " + line for line in lines]

    def statement(self, depth: int) -> list[str]:
        one, other, number = self.name(), self.name(), self.random.randrange(30)
        simple = [
            f"{one} = Money({other}.cents + {number})",
            f"{one} = {one} + {other}",
            f"{one} = {other}",
            f"{one}.kind = {other}.cents",
            f"t = (t, {one}.cents)",
            f"LOG.append({one}.cents)",
            f"if seen is not None: seen[n] = {one}.cents",
            f"if box is not None: box.append({one}.kind)",
        ]
        if depth > 1 or self.random.random() < len(simple) / 11:
            return [self.random.choice(simple)]
        shapes = (
            lambda: [f"if {one}.cents > {number}:", *self.body(depth), "else:", *self.body(depth)],
            lambda: ["for rule in RULES:", f"    if rule.fits({one}):", *indented(self.body(depth + 1)), "        break"],
            lambda: [f"for i in range({self.random.choice(['3', 'n % 4'])}):", *self.body(depth)],
        )
        return self.random.choice(shapes)()

    def function(self) -> str:
        lines = ["a = Money(n)", "b = Money(n + 1)", "t = (n,)"]
        for _ in range(self.random.randrange(3, 8)):
            lines += self.statement(0)
        lines.append("return " + self.random.choice(["a.cents", "(a.cents, b.cents, t)", "a.cents + b.kind", "t"]))
        return "\n".join(["def run(n, seen=None, box=None):", *indented(lines)])


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def outcomes(function: FunctionType) -> list[str]:
    """What each call returns or raises, logs, and leaves in its arguments."""
    found = []
    for call in CALLS:
        LOG.clear()
        arguments = copy.deepcopy(call)
        try:
            result = function(*arguments)
        except Exception as error:
            result = (type(error), str(error))
        found.append(repr((call, result, LOG, arguments)))
    return found


@pytest.mark.parametrize("seed", range(250))
def test_objects_that_meet_are_what_they_were(seed: int) -> None:
    source = Writer(seed).function()
    namespace: dict[str, Any] = {"Money": Money, "RULES": RULES, "LOG": LOG}
    exec(source, namespace)
    function = namespace["run"]
    expected = outcomes(function)
    install(function, Options(gainless=True))
    assert outcomes(function) == expected, source
    assert stats(function).state == "compiled", (stats(function), source)
