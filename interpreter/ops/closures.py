"""Cells and functions."""

from __future__ import annotations

from types import CellType
from typing import Any

from minijit.interpreter.family import Family
from minijit.interpreter.instruction import Instruction
from minijit.interpreter.protocols import promote
from minijit.interpreter.signals import Opaque
from minijit.interpreter.tracer import Tracer, is_inert
from minijit.interpreter.trackers import (
    MISSING,
    PLAIN_TYPES,
    UNBOUND,
    Cell,
    Constant,
    Function,
    Runtime,
    Sequence,
    Tracker,
)

ops = Family("closures")


@ops("MAKE_CELL")
def make_cell(t: Tracer, inst: Instruction) -> None:
    """(--)"""
    slots = t.frame.locals
    slots[inst.arg] = t.virtual(Cell(slots[inst.arg]))


@ops("COPY_FREE_VARS")
def copy_free_vars(t: Tracer, inst: Instruction) -> None:
    """(--) the slots were filled when the frame was entered"""


@ops("LOAD_CLOSURE")
def load_closure(t: Tracer, inst: Instruction) -> None:
    """(-- cell)"""
    t.push(t.frame.locals[inst.arg])


@ops("LOAD_DEREF")
def load_deref(t: Tracer, inst: Instruction) -> bool | None:
    """(-- value)"""
    tracker = content(t, t.state.resolve(t.frame.locals[inst.arg]))
    if tracker is UNBOUND:
        t.leave("an unbound closure variable")
        return True
    t.push(tracker)
    return None


def content(t: Tracer, cell: Tracker) -> Tracker:
    """What a cell holds."""
    record = t.state.record(cell)
    if isinstance(record, Cell):
        return record.content
    base = t.state.base(cell)
    fact = t.fact(base, "cell", "")
    if fact is not None:
        return fact
    loaded = _read_constant(t, cell) if isinstance(cell, Constant) else _read_cell(t, cell)
    t.learn(base, "cell", "", loaded)
    return loaded


def _read_constant(t: Tracer, cell: Constant) -> Tracker:
    real: Any = cell.value
    try:
        value = real.cell_contents
    except ValueError:
        raise Opaque("an empty cell") from None
    if promote.steady(t, value) and ("cell", id(real)) not in t.distrusted:
        t.assume("cell_is", (real, value))
        return Constant(value, cell.static, t.is_frozen(value))
    return t.load("cell", None, (real,), value)


def _read_cell(t: Tracer, cell: Tracker) -> Tracker:
    assert isinstance(cell, Runtime)
    example = t.cell_examples.get(cell.value, MISSING)
    slot = t.root_cells.get(cell.value)
    if example is MISSING or slot is None:
        return t.emit("deref", (cell,))
    loaded = t.load("cell_slot", cell, (), example)
    if issubclass(type(example), promote.CALLABLES):
        return promote.by_identity(t, loaded) or loaded
    return loaded


@ops("STORE_DEREF")
def store_deref(t: Tracer, inst: Instruction) -> None:
    """(value --)"""
    cell = t.state.resolve(t.frame.locals[inst.arg])
    value = t.peek()
    write(t, cell, value, t.frame.unit.code, inst.arg)
    t.pop()


def write(t: Tracer, cell: Tracker, value: Tracker, code: Any, slot: int) -> None:
    """Put a value into a cell."""
    if isinstance(t.state.record(cell), Cell):
        t.update(cell, Cell(value))
        return
    base = t.state.base(cell)
    if isinstance(cell, Runtime) and cell.value in t.state.fresh:
        t.emit_fresh_effect("set_deref", (cell, value))
        t.escape(value)
    else:
        _need_inert_content(t, cell)
        t.pend("set_deref", (cell, value), None, f"nonlocal {variable(code, slot)} = ...")
    t.wrote(base, "cell", "", value)


def _need_inert_content(t: Tracer, cell: Tracker) -> None:
    """Nobody notices the death of what the cell holds."""
    old = t.state.facts.get((t.state.base(cell), "cell", ""))
    if old is None:
        old = content(t, cell)
    if old is not UNBOUND and not is_inert(t, old) and t.need_type(old) not in PLAIN_TYPES:
        raise Opaque("what the cell held before is not known")


def variable(code: Any, slot: int) -> str:
    """Name of a local slot."""
    names = [*code.co_varnames, *(n for n in code.co_cellvars if n not in code.co_varnames), *code.co_freevars]
    return names[slot] if slot < len(names) else "?"


@ops("DELETE_DEREF")
def delete_deref(t: Tracer, inst: Instruction) -> None:
    """(--)"""
    cell = t.state.resolve(t.frame.locals[inst.arg])
    record = t.state.record(cell)
    if isinstance(record, Cell) and record.content is not UNBOUND:
        t.update(cell, Cell(UNBOUND))
        return
    if record is not None or (isinstance(cell, Runtime) and cell.value in t.state.fresh):
        raise Opaque("del of a closure variable")
    _need_inert_content(t, cell)
    base = t.state.base(cell)
    if t.state.facts.get((base, "cell", "")) is UNBOUND:
        raise Opaque("del of an unbound closure variable")
    t.pend("del_deref", (cell,), None, f"del {variable(t.frame.unit.code, inst.arg)}")
    t.wrote(base, "cell", "", UNBOUND)


# -- functions ---------------------------------------------------------------------------------------


@ops("MAKE_FUNCTION")
def make_function(t: Tracer, inst: Instruction) -> None:
    """([defaults], [kwdefaults], [annotations], [closure], code -- function)"""
    flags = inst.arg or 0
    code = t.pop()
    if not isinstance(code, Constant):
        raise Opaque("a code object that is not known")
    parts: list[Tracker] = [UNBOUND] * 4
    for bit in (3, 2, 1, 0):
        if flags >> bit & 1:
            parts[bit] = t.pop()
    value: Any = code.value
    extras = (parts[0], parts[1], parts[2], parts[3])
    t.gain("removed", f"function {value.co_name}")
    t.push(t.virtual(Function(value, t.globals_of(t.frame), extras)))


@ops("SET_FUNCTION_ATTRIBUTE")
def set_function_attribute(t: Tracer, inst: Instruction) -> None:
    """(value, function -- function)"""
    function = t.pop()
    value = t.pop()
    record = t.state.record(function)
    if not isinstance(record, Function):
        raise Opaque("an attribute of a function that is not new")
    parts = list(record.extras)
    parts[inst.arg.bit_length() - 1] = value
    extras = (parts[0], parts[1], parts[2], parts[3])
    t.update(function, Function(record.code, record.namespace, extras))
    t.push(function)


__all__ = ["CellType", "Sequence", "ops"]
