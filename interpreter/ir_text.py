"""A region as text that is the same in every run: what golden tests compare.

Values, blocks and snapshots are numbered in the order of the text. What differs between runs or
versions of Python is left out: a class's version tag, and the place of a call's empty stack slot.
A snapshot names the source line it resumes at, where `str(region)` has a byte offset.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import CodeType

from minijit.interpreter.ir import (
    NULL,
    Block,
    Operand,
    Operation,
    Region,
    Snapshot,
    Terminator,
    Test,
    Value,
    with_failure,
)
from minijit.interpreter.ir_values import condition, edges, failure, operands, snapshot_operands, test_operands, tests

__all__ = ["region_text"]

Numbered = Value | Block | Snapshot


def region_text(region: Region) -> str:
    """Print a region; it is as before afterwards."""
    with _renumbered(region):
        lines = [f"region {region.code.co_qualname}({', '.join(_arguments(region))})"]
        lines += [f"  entry: {_test(test)}" for test in region.entry_tests]
        for block in region.blocks:
            lines += _block(block)
        for snapshot in region.snapshots():
            lines += _snapshot(snapshot, region.code)
    return "\n".join(line.rstrip() for line in lines)


@contextmanager
def _renumbered(region: Region) -> Iterator[None]:
    """Number everything in the order in which it is met, for a while."""
    before = {thing: thing.number for thing in _numbered(region)}
    counts = dict.fromkeys((Value, Block, Snapshot), 0)
    try:
        for thing in before:
            thing.number = counts[type(thing)]
            counts[type(thing)] += 1
        yield
    finally:
        for thing, number in before.items():
            thing.number = number


def _numbered(region: Region) -> Iterator[Numbered]:
    for _, value in region.arguments:
        yield value
    yield from _of_tests(region.entry_tests)
    for block in region.blocks:
        yield block
        yield from block.parameters
        for operation in block.operations:
            yield from _of_operation(operation)
        yield from _of_terminator(block.terminator)
    for block in region.blocks:
        yield from () if block.poll is None else (block.poll,)
    for snapshot in region.snapshots():
        for operation in snapshot.operations:
            yield from _of_operation(operation)
        yield from _values(snapshot_operands(snapshot))


def _of_operation(operation: Operation) -> Iterator[Numbered]:
    yield from _values(operands(operation))
    yield from _of_tests(tests(operation))
    yield from operation.results
    yield from _left_by(operation)


def _of_terminator(terminator: Terminator | None) -> Iterator[Numbered]:
    yield from _values(condition(terminator))
    result = getattr(terminator, "result", None)
    yield from () if result is None else (result,)
    yield from _left_by(terminator)
    for edge in edges(Block(-1, terminator=terminator)):
        yield from _values(edge.arguments)


def _of_tests(lines: list[Test] | tuple[Test, ...]) -> Iterator[Value]:
    for test in lines:
        yield from _values(test_operands((test,)))
        yield from () if test.result is None else (test.result,)


def _left_by(step: Operation | Terminator | None) -> Iterator[Snapshot]:
    fails = failure(step)
    snapshot = fails.snapshot if fails is not None else getattr(step, "snapshot", None)
    yield from () if snapshot is None else (snapshot,)


def _values(found: tuple[Operand, ...] | Iterator[Operand]) -> Iterator[Value]:
    return (operand for operand in found if isinstance(operand, Value))


def _arguments(region: Region) -> Iterator[str]:
    names = _variables(region.code)
    return (f"{names[slot]}: {value!r}" for slot, value in region.arguments)


def _variables(code: CodeType) -> tuple[str, ...]:
    cells = tuple(name for name in code.co_cellvars if name not in code.co_varnames)
    return code.co_varnames + cells + code.co_freevars


def _test(test: Test) -> str:
    """A class's version tag depends on what ran before."""
    payload = test.payload[:1] if test.kind == "version" else test.payload
    return str(Test(test.kind, test.subject, payload, test.result))


def _block(block: Block) -> Iterator[str]:
    parameters = ", ".join(map(repr, block.parameters))
    yield f"b{block.number}" + (f"({parameters}):" if parameters else ":")
    for operation in block.operations:
        yield f"  {_operation(operation)}"
    yield f"  {block.terminator}"


def _operation(operation: Operation) -> str:
    if operation.opcode != "check":
        return str(replace(operation, operands=_filled(operation.operands)))
    return with_failure("check " + ", ".join(map(_test, tests(operation))), operation.failure)


def _filled(found: tuple[Operand, ...]) -> tuple[Operand, ...]:
    return tuple(operand for operand in found if operand is not NULL)


def _snapshot(snapshot: Snapshot, code: CodeType) -> Iterator[str]:
    names, stack = _variables(code), _filled(snapshot.stack)
    parts = [f"{names[slot]} " + ("unbound" if value is None else f"= {value!r}") for slot, value in snapshot.locals]
    parts += ["stack " + ", ".join(map(repr, stack))] if stack else []
    yield f"s{snapshot.number}: at line {_line(snapshot, code)}" + (": " + "; ".join(parts) if parts else "")
    for operation in snapshot.operations:
        yield f"    {_operation(operation)}"


def _line(snapshot: Snapshot, code: CodeType) -> int | None:
    return list(code.co_positions())[snapshot.offset // 2][0]
