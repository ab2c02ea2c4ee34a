"""Plant faults in the compiler, one at a time: some program tells each from a right compiler.

`pytest tests/mutation -s` prints a table: which program finds which fault. A fault that makes compiled code unsound may
crash, so each runs in a process of its own; only programs that make use of the faulty part are run.
"""

import contextlib
import functools

import pytest
from mutation.battery import first_difference, outcome
from mutation.planted import FAULTS, asked, lowered, patched, rebuilt, replayed
from mutation.programs import PROGRAMS

from minijit import _shim, pipeline
from minijit.codegen.operations import ROWS

EQUIVALENT = {
    "ledger: del_local: replayed twice": "it is the last entry of its slot, and unbinding twice is unbinding once",
    "guard: never: removed": "compiled code is left right behind it anyway; it only counts",
}
"""Faults that nobody can see, and why."""

UNUSED = frozenset({"same", "no_item", "list_items"})
"""Tests the shim knows and the interpreter does not ask at present."""


@pytest.fixture(autouse=True)
def _unverified(monkeypatch):
    """A fault is to be found by what it does."""
    monkeypatch.setattr(pipeline, "VERIFY", False)


@functools.cache
def expected(name):
    return outcome(name, compiled=False)


@functools.cache
def uses(name):
    """What a program makes use of, as (part, kind)."""
    used = set()
    with contextlib.ExitStack() as recorders:
        for recorder in recording(used):
            recorders.enter_context(recorder)
        outcome(name, compiled=True)
    return used


def recording(used):
    """Wrap everything that a fault may be in by something that changes nothing."""

    def replay(operations, wanted):
        used.update(("ledger", operation.opcode) for operation in operations)
        return operations

    def ask(test):
        used.add(("guard", test[0]))
        return (test,)

    def rebuild(snapshot, stack):
        found = {"locals": snapshot.locals, "operations": snapshot.operations, "stack": stack[1:]}
        used.update(("leave", kind) for kind, something in found.items() if something)
        return snapshot, stack

    def redo(error, counter, is_redo=_shim.is_redo):
        used.add(("operation", "is_redo"))
        return is_redo(error, counter)

    def row(opcode, low, operation, before):
        used.add(("operation", opcode))
        return before(low, operation)

    yield replayed(replay)
    yield asked(ask)
    yield rebuilt(rebuild)
    yield patched(_shim, "is_redo", redo)
    for opcode in ROWS:
        yield lowered(opcode, lambda before, opcode=opcode: functools.partial(row, opcode, before=before))


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_a_fault_nothing_differs(name):
    assert first_difference(expected(name), outcome(name, compiled=True)) is None


def killer(fault, names):
    """Run programs with a fault until one goes wrong."""
    with fault.plant():
        for name in names:
            found = first_difference(expected(name), outcome(name, compiled=True))
            if found is not None:
                return {"program": name, "found": found}
    return {"failure": None}


@pytest.fixture(scope="module")
def report():
    """What found which fault, printed at the end."""
    rows = []
    yield rows
    rows += [(fault, f"(equivalent: {why})") for fault, why in EQUIVALENT.items()]
    print("\n" + "\n".join(f"{fault:<60} {found}" for fault, found in sorted(rows)))


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_fault_is_found(fault, isolated, report):
    names = [name for name in PROGRAMS if (fault.part, fault.kind) in uses(name)]
    if not names and fault.part == "guard" and fault.kind in UNUSED:
        return
    if str(fault) in EQUIVALENT:
        assert "program" not in isolated(lambda: killer(fault, names))
        return
    assert names, "no program makes use of it"
    result = isolated(lambda: killer(fault, names), 10)
    found = result.get("program") or result["failure"]
    assert found is None or found in PROGRAMS or found.startswith("the process"), found
    report.append((str(fault), found or "SURVIVES"))
    assert found is not None, f"none of {names} tells"
