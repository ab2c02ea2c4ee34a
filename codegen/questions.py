"""The tests of checks and entries, written as the shim wants them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from minijit.codegen.buffer import Resolve
from minijit.codegen.runtime import TestRow
from minijit.interpreter.ir import Const, Operand, Test, Value


def rows(lines: Sequence[Test], slot: Callable[[Operand], int], resolve: Resolve) -> tuple[TestRow, ...]:
    """Write tests with indices into the frame's locals in the place of values."""
    return tuple(row(test, lambda operand: resolve(slot(operand))) for test in lines)


def row(test: Test, index: Callable[[Operand], int]) -> TestRow:
    """Write one test."""
    items: list[object] = [test.kind]
    if test.subject is not None:
        items.append(index(test.subject))
    items += [index(item) if isinstance(item, (Value, Const)) else item for item in test.payload]
    if test.result is not None:
        items.append(index(test.result))
    return tuple(items)
