"""What the fuzzer found: each program as it is against compiled, step by step the same."""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import pytest

from minijit import stats
from minijit.install import install
from minijit.options import Options

LOG: list[object] = []
CALLS = 4
Case = Callable[[int], object]


class Final:
    """Says when it dies."""

    def __init__(self, n: object) -> None:
        self.n = n

    def __del__(self) -> None:
        LOG.append(("del", self.n))


class Thing:
    """Can be watched."""


def let_go(x: object) -> int:
    x = None
    LOG.append("let go")
    return 1


def keep(x: object) -> None:
    if LOG:
        LOG.append("kept")


def fail(x: object) -> None:
    x = None
    LOG.append("failing")
    raise ValueError


def returned_locals_die_in_order(i: int) -> int:
    z = Final(1)
    y = Final(2)
    x = Final(3)
    return 5


def slots_decide_the_order(i: int) -> bool:
    y = x = None
    z, y, x = Final(1), Final(2), Final(3)
    return x is y


def a_local_dies_before_what_watches_it(i: int) -> None:
    watched = Thing()
    watcher = weakref.ref(watched, lambda reference: LOG.append("dead"))


def a_watched_object_is_replaced(i: int) -> None:
    watched: object = Thing()
    watcher = weakref.ref(watched, lambda reference: LOG.append("dead"))
    watched = None
    LOG.append(watcher() is None)


def a_temporary_object_dies_after_the_store(i: int) -> None:
    Thing().held = Final(i)  # type: ignore[attr-defined]
    LOG.append("stored")


def an_argument_dies_when_the_call_returns(i: int) -> None:
    LOG.append(keep(Final(i)))


def an_argument_dies_inside_the_call(i: int) -> None:
    try:
        let_go(Final(i))
    except ValueError:
        LOG.append("caught")


def an_argument_dies_before_the_call_fails(i: int) -> None:
    fail(Final(i))


def only_a_failing_builtin_holds_it(i: int) -> None:
    setattr(Final(i), isinstance)  # type: ignore[call-overload]


def a_loop_in_a_loop_keeps_its_iterator(i: int) -> int:
    total = 0
    for _ in "ab":
        for item in LETTERS:
            total += len(item)
        LOG  # noqa: B018
    return total


LETTERS = "cde"


def a_factory_was_just_replaced(i: int) -> None:
    found: defaultdict[int, object] = FOUND
    try:
        found.default_factory = None
        LOG.append(found[i])
    except KeyError:
        LOG.append("no factory")
    found.default_factory = list


FOUND: defaultdict[int, Any] = defaultdict(list)


def a_popped_value_is_no_commit_point(i: int) -> None:
    global WRITTEN
    content = 0

    def write(value: int) -> None:
        nonlocal content
        content = value

    try:
        write(1)
        ROW["a"]
        WRITTEN = 2
    except KeyError:
        LOG.append("absent")
    LOG.append(content)


WRITTEN = 0
ROW = {"a": 1}
PLACE: Any = None


def what_is_deep_inside_dies_with_it(n: int) -> object:
    global PLACE
    PLACE = [(1, {"k": [Final(n)]})]
    PLACE = None
    LOG.append("let go")
    return n


def a_default_dies_with_its_function(n: int) -> object:
    global PLACE

    def g(x: object = Final(n)) -> object:
        return x

    PLACE = g
    del g
    PLACE = None
    LOG.append("let go")
    return n


def what_a_closure_holds_dies_with_it(n: int) -> object:
    global PLACE
    final: Final | None = Final(n)

    def g() -> object:
        return final

    PLACE = g
    del g
    final = None
    PLACE = None
    LOG.append("let go")
    return n


def what_a_cell_holds_dies_when_it_is_replaced(n: int) -> object:
    place: object = [(1, [Final(n)])]

    def drop() -> None:
        nonlocal place
        place = None
        LOG.append("let go")

    drop()
    return place


class Amount:
    def __init__(self, cents: int) -> None:
        self.cents = cents


class Band:
    def __init__(self, low: int, rate: int) -> None:
        self.low, self.rate = low, rate


BANDS = (Band(50, 3), Band(10, 2), Band(0, 1))


def what_paths_brought_together_is_read_by_an_instruction(n: int, seen: Any = None) -> object:
    total = Amount(n * 20)
    for band in BANDS:
        if band.low <= total.cents:
            total = Amount(total.cents + band.rate)
            break
    if seen is not None:
        seen[n] = total.cents
    return total.cents


CASES: list[Any] = [
    returned_locals_die_in_order,
    slots_decide_the_order,
    a_local_dies_before_what_watches_it,
    a_watched_object_is_replaced,
    a_temporary_object_dies_after_the_store,
    an_argument_dies_when_the_call_returns,
    an_argument_dies_inside_the_call,
    an_argument_dies_before_the_call_fails,
    only_a_failing_builtin_holds_it,
    a_loop_in_a_loop_keeps_its_iterator,
    a_factory_was_just_replaced,
    a_popped_value_is_no_commit_point,
    what_is_deep_inside_dies_with_it,
    a_default_dies_with_its_function,
    what_a_closure_holds_dies_with_it,
    what_a_cell_holds_dies_when_it_is_replaced,
    what_paths_brought_together_is_read_by_an_instruction,
]


@pytest.fixture(autouse=True)
def empty_log() -> Iterator[None]:
    LOG.clear()
    yield
    LOG.clear()


def driven(function: Case) -> list[list[object]]:
    """What each call logs, returns or raises, and when the error is gone."""
    seen: list[list[object]] = []
    for i in range(CALLS):
        LOG.clear()
        try:
            LOG.append(("returned", function(i)))
        except Exception as error:
            LOG.append(type(error))
        LOG.append("after")
        seen.append(list(LOG))
    return seen


@pytest.mark.parametrize("case", CASES)
def test_compiled_code_does_as_the_original(case: FunctionType) -> None:
    expected = driven(case)
    twin = FunctionType(case.__code__, case.__globals__, case.__name__, case.__defaults__, case.__closure__)
    install(twin, Options(gainless=True))
    assert driven(twin) == expected
    assert stats(twin).state == "compiled", stats(twin)
