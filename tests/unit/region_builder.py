"""Regions written by hand, and stand-ins for what generated code calls."""

from __future__ import annotations

import dis
from collections.abc import Callable
from types import FunctionType
from typing import Any

from minijit import _shim
from minijit.codegen.lower import lower
from minijit.codegen.runtime import Runtime
from minijit.codegen.verify import verify as verify_code
from minijit.interpreter.ir import (
    NULL,
    Abort,
    Block,
    Branch,
    Const,
    Deliver,
    Edge,
    Exit,
    Failure,
    Jump,
    Next,
    Null,
    Operand,
    Operation,
    Region,
    Return,
    Snapshot,
    Test,
    Value,
)
from minijit.interpreter.ir_signatures import SIGNATURES
from minijit.interpreter.ir_verify import verify
from minijit.pipeline import binds


def operand(item: object) -> Operand:
    """Take values and NULL as they are; everything else is a constant."""
    return item if isinstance(item, (Value, Const, Null)) else Const(item)


def offset_of(function: Callable[..., Any], opname: str, nth: int = 0) -> int:
    """Byte offset of the nth instruction of that name in a function."""
    found = [i.offset for i in dis.get_instructions(function) if i.opname.startswith(opname)]
    return found[nth]


def line_offset(function: Callable[..., Any], line: int) -> int:
    """Byte offset of the first instruction of a line, counted from the `def`."""
    return next(o for o, n in dis.findlinestarts(function.__code__) if n == function.__code__.co_firstlineno + line)


def start_of(function: Callable[..., Any]) -> int:
    """Byte offset of the first instruction after the prologue."""
    return offset_of(function, "RESUME") + 2


class Builder:
    """Writes one region for a function; parameters are named like its own."""

    def __init__(self, function: Callable[..., Any], **types: type | None) -> None:
        self.function = function
        self.code = function.__code__
        names = self.code.co_varnames[: self.code.co_argcount]
        self.counter = 0
        self.arguments = {name: self.value(types.get(name)) for name in names}
        self.entry_tests: list[Test] = []
        self.blocks: list[Block] = []
        self.snapshots = 0
        self.block_count = 0
        self.failure: Failure = None
        self.block()

    def __getitem__(self, name: str) -> Value:
        return self.arguments[name]

    def value(self, type: type | None = None) -> Value:
        """Make a value."""
        self.counter += 1
        return Value(self.counter - 1, type)

    def block(self, *parameters: Value) -> Block:
        """Begin a block; operations go there."""
        block = Block(self.block_count, list(parameters))
        self.block_count += 1
        self.blocks.append(block)
        self.current = block
        return block

    def at(self, block: Block) -> None:
        """Write to that block again."""
        self.current = block

    def snapshot(self, offset: int | None = None, locals: dict[str, object] | None = None, stack: tuple[object, ...] = ()) -> Snapshot:
        """Make a snapshot; `...` means unbound."""
        names = self.code.co_varnames + tuple(n for n in self.code.co_cellvars if n not in self.code.co_varnames) + self.code.co_freevars
        slots = tuple((names.index(n), None if v is ... else operand(v)) for n, v in (locals or {}).items())
        made = Snapshot(self.snapshots, start_of(self.function) if offset is None else offset, [], slots, tuple(map(operand, stack)))
        self.snapshots += 1
        return made

    def op(self, opcode: str, *operands: object, payload: object = None, type: type | None = None,
           failure: Any = "current", effect: bool | None = None, results: int | None = None) -> Any:
        """Append an operation; returns its result, or results."""
        operation = make(self, opcode, operands, payload, type, effect, results)
        operation.failure = self.failure if failure == "current" else failure
        self.current.operations.append(operation)
        return operation.results[0] if len(operation.results) == 1 else operation.results

    def check(self, *lines: Test, failure: Failure = None) -> None:
        """Append a check."""
        asked = tuple(line.subject for line in lines if line.subject is not None)
        loaded = tuple(line.result for line in lines if line.result is not None)
        self.current.operations.append(Operation("check", asked, lines, loaded, failure or self.failure))

    def built(self, snapshot: Snapshot, opcode: str, *operands: object, **keywords: Any) -> Any:
        """Append an operation to a snapshot."""
        operation = make(self, opcode, operands, keywords.get("payload"), None, keywords.get("effect"), None)
        snapshot.operations.append(operation)
        return operation.results[0] if operation.results else None

    def jump(self, block: Block, *arguments: object, backward: bool = False) -> None:
        """End the block with a jump."""
        self.current.terminator = Jump(Edge(block, tuple(map(operand, arguments))), backward)

    def branch(self, condition: object, then: Any, otherwise: Any, kind: str = "true") -> None:
        """End the block with a branch to blocks or to `(block, argument, ...)`."""
        self.current.terminator = Branch(kind, operand(condition), edge(then), edge(otherwise))

    def next(self, iterator: Value, body: Any, done: Any, result: Value, failure: Any = "current") -> None:
        """End the block with an advance of an iterator."""
        fails = self.failure if failure == "current" else failure
        self.current.terminator = Next(iterator, result, edge(body), edge(done), fails)

    def ret(self, value: object) -> None:
        """End the block with a return."""
        self.current.terminator = Return(operand(value))

    def exit(self, snapshot: Snapshot) -> None:
        """End the block with an exit to the original."""
        self.current.terminator = Exit(snapshot)

    def region(self) -> Region:
        """Return the region, which must be well-formed."""
        slots = tuple((self.code.co_varnames.index(name), value) for name, value in self.arguments.items())
        region = Region(self.code, slots, self.entry_tests, self.blocks)
        assert verify(region) == [], str(region)
        return region


def make(builder: Builder, opcode: str, operands: tuple[object, ...], payload: object, type: type | None,
         effect: bool | None, results: int | None) -> Operation:
    """Make an operation with the results and effect of its row."""
    row = SIGNATURES[opcode]
    count = results if results is not None else (row.results if row.results is not None else 1)
    values = tuple(builder.value(type) for _ in range(count))
    changes = bool(row.effect) if effect is None else effect
    return Operation(opcode, tuple(map(operand, operands)), payload, values, None, (1, 1, 0, 0), changes)


def edge(way: Any) -> Edge:
    """Make an edge of a block or of a block with arguments."""
    if isinstance(way, Block):
        return Edge(way)
    return Edge(way[0], tuple(map(operand, way[1:])))


class Answer:
    """A guard that says what it is told, and counts how often it was asked."""

    def __init__(self, tests: tuple[Any, ...] = (), answers: list[bool] | None = None) -> None:
        self.tests = tests
        self.answers = answers
        self.asked = 0

    def __bool__(self) -> bool:
        self.asked += 1
        return self.answers.pop(0) if self.answers else True


Ask = Test
"""A name that pytest does not take for a class of tests."""

LOADS = frozenset({"slot", "attr", "cell_slot", "cell", "item", "list_item", "constant"})


def stored_by(constant: object) -> list[int]:
    """Local slots that asking a guard stores into."""
    return [row[-1] for row in constant.tests if row[0] in LOADS] if isinstance(constant, Answer) else []


def checked(code: Any) -> Any:
    """The code, which must be sound, guards of the shim included."""
    verify_code(code, lambda c: stored_by(c) if isinstance(c, Answer) else binds(c))
    return code


class Compiled:
    """A function with the region in front, with the real guards."""

    def __init__(self, function: Callable[..., Any], *regions: Region) -> None:
        self.counter = _shim.Counter(None)
        runtime = Runtime(_shim.Entry, _shim.Check, _shim.is_redo, self.counter)
        self.code = checked(lower(regions, function.__code__, runtime))
        self.function = FunctionType(self.code, function.__globals__, function.__name__, function.__defaults__,
                                     function.__closure__)

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


class Lowered:
    """A function with the region in front, and what was asked at run time."""

    def __init__(self, function: Callable[..., Any], *regions: Region, checks: list[bool] | None = None,
                 entries: list[bool] | None = None, make: type[Answer] = Answer) -> None:
        self.make = make
        self.entries: list[Answer] = []
        self.checks: list[Answer] = []
        self.dropped: list[BaseException] = []
        self.original = function
        runtime = Runtime(self.make_entry, self.make_check, self.is_redo, "counter")
        self.answers, self.entry_answers = checks, entries
        self.code = checked(lower(regions, function.__code__, runtime))
        self.function = FunctionType(self.code, function.__globals__, function.__name__, function.__defaults__,
                                     function.__closure__)

    def make_entry(self, tests: Any, counter: object, last: bool) -> Answer:
        self.entries.append(Answer(tests, self.entry_answers))
        return self.entries[-1]

    def make_check(self, tests: Any, counter: object) -> object:
        if tests and tests[0][0] == "unbind":
            return _shim.Check(tests, _shim.Counter(None))
        self.checks.append(self.make(tests, self.answers))
        return self.checks[-1]

    def is_redo(self, exception: BaseException, counter: object) -> bool:
        assert counter == "counter"
        if isinstance(exception, KeyboardInterrupt):
            return False
        self.dropped.append(type(exception))
        return True

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def text(self) -> list[str]:
        """The generated instructions up to the first pad or original instruction, as `NAME arg`."""
        return [f"{i.opname} {i.argrepr}".strip() for i in dis.get_instructions(self.code)]


__all__ = ["NULL", "Abort", "Answer", "Builder", "Compiled", "Const", "Deliver", "Lowered", "Ask", "line_offset", "offset_of", "start_of"]
