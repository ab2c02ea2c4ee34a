"""Leaving source half-way: the original goes on at a snapshot, with the values the source has by then."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import CodeType, FunctionType
from typing import Any

from minijit import _shim
from minijit.codegen.lower import lower
from minijit.codegen.runtime import Runtime
from minijit.interpreter.ir import Block, Const, Deliver, Exit, Operand, Operation, Region, Return, Snapshot, Value
from minijit.interpreter.ir_values import Substitution, changed, snapshot_reads, substitute_operation
from minijit.originals import original_code

__all__ = ["Resume", "Resumer"]

Variables = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Resume:
    """What source returns to say where the original goes on, raising `error` there if there is one."""

    number: int
    variables: Variables
    error: BaseException | None = None


class Resumer:
    """Knows the snapshots of a region, and which variable of its source holds what."""

    def __init__(
        self,
        region: Region,
        function: FunctionType,
        names: dict[Value, str],
        changed_slots: set[int],
        namespace: Variables,
    ) -> None:
        self.function = function
        self.code = original_code(function)
        self.region = region
        self.names = names
        self.changed_slots = changed_slots
        self.namespace = namespace
        self.snapshots = {snapshot.number: snapshot for snapshot in region.snapshots()}

    def resuming(self, source: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap source: what it returns, or what the original returns where it left."""

        @functools.wraps(source)
        def call(*args: Any, **kwargs: Any) -> Any:
            result = source(*args, **kwargs)
            return self.go_on(result) if isinstance(result, Resume) else result

        return call

    def go_on(self, leave: Resume) -> Any:
        """Run the original from the snapshot on."""
        code = lower([self.exit(leave)], self.code, runtime())
        function = FunctionType(
            code, self.function.__globals__, self.function.__name__, None, self.function.__closure__
        )
        return call_by_slots(function, self.code, leave.variables)

    def exit(self, leave: Resume) -> Region:
        """A region that does nothing but leave, everything it needs as constants."""
        snapshot = self.filled(self.snapshots[leave.number], leave.variables)
        if leave.error is None:
            block = Block(0, [], [], Exit(snapshot))
        else:
            value = Value(1)
            thrown = Operation("call", (Const(throw), Const(leave.error)), (), (value,), Deliver(snapshot))
            block = Block(0, [], [thrown], Return(value))
        arguments = tuple((slot, Value(1000 + slot)) for slot, _ in self.region.arguments)
        return Region(self.code, arguments, [], [block])

    def filled(self, snapshot: Snapshot, variables: Variables) -> Snapshot:
        """The snapshot with the variables' values in the place of the region's."""
        everything = {**self.namespace, **variables}
        mapping: Substitution = {
            value: Const(everything[self.names[value]]) for value in snapshot_reads(snapshot) if value in self.names
        }
        operations = [replace(operation) for operation in snapshot.operations]
        for operation in operations:
            substitute_operation(operation, mapping)
        given = dict(snapshot.locals)
        slots: dict[int, Operand | None] = {**self.physical(variables), **given}
        put = tuple((slot, mapping.get(v, v) if isinstance(v, Value) else v) for slot, v in sorted(slots.items()))
        return Snapshot(snapshot.number, snapshot.offset, operations, put, changed(snapshot.stack, mapping))

    def physical(self, variables: Variables) -> dict[int, Operand | None]:
        """What local slots hold beside what the snapshot says: variables that were set, and cells."""
        names, count = self.code.co_varnames, len(self.code.co_varnames)
        found: dict[int, Operand | None] = {
            slot: Const(variables[names[slot]]) if names[slot] in variables else None
            for slot in self.changed_slots if slot < count
        }  # fmt: skip
        free = count + len(set(self.code.co_cellvars) - set(names))
        for slot, value in self.region.arguments:
            name = self.names.get(value, "")
            if name.endswith("_cell") and slot < free and name in variables:
                found[slot] = Const(variables[name])
        return found


def throw(error: BaseException) -> None:
    """Raise what was caught."""
    raise error


def runtime() -> Runtime:
    """The real guards; that of the entry asks nothing."""
    return Runtime(entry, _shim.Check, _shim.is_redo, _shim.Counter(None))


def entry(tests: tuple[Any, ...], counter: object, last: bool) -> object:
    """A guard that lets everything in, also under a tracer."""
    return _shim.Entry(tests, _shim.Counter(None), last) if tests else True


def call_by_slots(function: FunctionType, code: CodeType, variables: Variables) -> Any:
    """Call with the values of the parameters' variables."""
    names, positional, keyword = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
    after = positional + keyword
    args = [variables.get(name) for name in names[:positional]]
    kwargs = {name: variables.get(name) for name in names[positional:after]}
    if code.co_flags & inspect.CO_VARARGS:
        args += variables.get(names[after]) or ()
        after += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        kwargs.update(variables.get(names[after]) or {})
    return function(*args, **kwargs)
