"""Faults to plant in the compiler, one at a time: each is a context in which compilations go wrong in one way."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from minijit import _shim, pipeline
from minijit.codegen.lower import RegionLowering
from minijit.codegen.operations import ROWS
from minijit.codegen.pads import Pads
from minijit.codegen.runtime import Runtime
from minijit.interpreter.ir import Snapshot
from minijit.interpreter.tracer import Tracer


@dataclass(frozen=True)
class Fault:
    """`part` and `kind`: what a program has to make use of for the fault to matter."""

    name: str
    part: str
    kind: str
    plant: Callable[[], contextlib.AbstractContextManager[None]]

    def __str__(self) -> str:
        return f"{self.part}: {self.kind}: {self.name}"


@contextlib.contextmanager
def patched(owner: object, name: str, value: object) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


# -- the ledger -------------------------------------------------------------------------------------------


def replayed(edit, wanted=lambda operation: True):
    """At every commit point other operations are emitted than the tracer believes."""
    flush = Tracer.flush

    def faulty(self):
        count = len(self.state.ledger)
        flush(self)
        if count:
            emitted = self.block.operations[-count:]
            self.block.operations[-count:] = edit(emitted, wanted)

    return patched(Tracer, "flush", faulty)


def twice(operations, wanted):
    """The first of them again, after all others."""
    first = next((operation for operation in operations if wanted(operation)), None)
    return operations if first is None else [*operations, replace(first)]


def dropped(operations, wanted):
    return [operation for operation in operations if not wanted(operation)]


def moved_first(operations, wanted):
    """The last of them overtakes all others."""
    last = max((place for place, operation in enumerate(operations) if wanted(operation)), default=None)
    return operations if last is None else [operations[last], *operations[:last], *operations[last + 1 :]]


LEDGER = ("set_attr", "del_attr", "set_item", "del_item", "append", "set_add", "list_extend", "effect_call",
          "set_deref", "del_deref", "set_global", "del_global", "set_local", "del_local")  # fmt: skip


def ledger_faults():
    for kind in LEDGER:
        for name, edit in (("replayed twice", twice), ("dropped", dropped), ("out of order", moved_first)):
            yield Fault(name, "ledger", kind,
                        lambda edit=edit, kind=kind: replayed(edit, lambda operation: operation.opcode == kind))


# -- guards -----------------------------------------------------------------------------------------------


def asked(edit):
    """Entries and checks ask edited questions."""

    def runtime(counter):
        return Runtime(lambda tests, counter, last: _shim.Entry(edited(tests), counter, last),
                       lambda tests, counter: _shim.Check(edited(tests), counter), _shim.is_redo, counter)

    def edited(tests):
        return tuple(row for test in tests for row in edit(test))

    return patched(pipeline, "runtime", runtime)


def unasked(kind):
    """A test is left out; what it should have loaded is None."""
    loads = _shim.TESTS[kind][-1:] == ("destination",)
    return lambda test: (test,) if test[0] != kind else ((("constant", None, test[-1]),) if loads else ())


def guard_faults():
    for kind in _shim.TESTS:
        yield Fault("removed", "guard", kind, lambda kind=kind: asked(unasked(kind)))


# -- code generation ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def lowered(opcode, row):
    before = ROWS[opcode]
    ROWS[opcode] = row(before)
    try:
        yield
    finally:
        ROWS[opcode] = before


def rebuilt(edit):
    """Ways back rebuild the state of an edited snapshot."""
    rebuild = Pads.rebuild

    def faulty(self, snapshot, stack):
        edited, stack = edit(snapshot, stack)
        edited.number = snapshot.number
        rebuild(self, edited, stack)

    return patched(Pads, "rebuild", faulty)


def with_locals(snapshot, found):
    return Snapshot(snapshot.number, snapshot.offset, snapshot.operations, found, snapshot.stack)


def code_faults():
    yield Fault("the last local is forgotten", "leave", "locals",
                lambda: rebuilt(lambda snapshot, stack: (with_locals(snapshot, snapshot.locals[:-1]), stack)))
    yield Fault("two items are swapped", "leave", "stack",
                lambda: rebuilt(lambda snapshot, stack: (snapshot, (*stack[:-2], *stack[:-3:-1]))))
    yield Fault("what is built is built without its last step", "leave", "operations",
                lambda: rebuilt(lambda snapshot, stack: (Snapshot(snapshot.number, snapshot.offset, snapshot.operations[:-1],
                                                                  snapshot.locals, snapshot.stack), stack)))
    yield Fault("values are kept", "operation", "drop", lambda: patched(RegionLowering, "drop", lambda self, operand: None))
    for opcode in ("set_local", "del_local", "set_attr", "append"):
        yield Fault("not emitted", "operation", opcode,
                    lambda opcode=opcode: lowered(opcode, lambda row: lambda low, operation: None))
    for opcode in ("append", "del_item", "effect_call"):
        yield Fault("emitted twice", "operation", opcode,
                    lambda opcode=opcode: lowered(opcode, lambda row: lambda low, operation: (row(low, operation), row(low, operation))))
    yield Fault("redone without asking", "operation", "is_redo", lambda: patched(pipeline._shim, "is_redo", lambda error, counter: True))
    yield Fault("never redone", "operation", "is_redo", lambda: patched(pipeline._shim, "is_redo", lambda error, counter: False))


FAULTS = (*ledger_faults(), *guard_faults(), *code_faults())
