"""Opcodes that only move values on the stack."""

from __future__ import annotations

from minijit.interpreter.family import Family
from minijit.interpreter.instruction import Instruction
from minijit.interpreter.tracer import Tracer
from minijit.interpreter.trackers import NULL_SLOT, Constant, Runtime

ops = Family("stack")


@ops("NOP", "RESUME")
def nothing(t: Tracer, inst: Instruction) -> None:
    """(--)"""


@ops("LOAD_CONST")
def load_const(t: Tracer, inst: Instruction) -> None:
    """(-- const)"""
    t.push(Constant(inst.arg))


@ops("LOAD_ASSERTION_ERROR")
def load_assertion_error(t: Tracer, inst: Instruction) -> None:
    """(-- AssertionError)"""
    t.push(Constant(AssertionError))


@ops("POP_TOP", "END_FOR")
def pop_top(t: Tracer, inst: Instruction) -> None:
    """(value --)"""
    dropped = t.frame.stack.pop()
    if t.state.owned:
        if isinstance(dropped, Runtime) and dropped.value in t.state.owned and _is_on_top(t, dropped):
            t.state.owned.discard(dropped.value)
            t.state.stale = True  # or what aborts later would keep it, to pop it again
        t.settle_deaths()


def _is_on_top(t: Tracer, dropped: Runtime) -> bool:
    """Whether the value was made last, with nothing waiting: it is popped rather than kept and let go."""
    operations = t.block.operations
    return not t.state.ledger and bool(operations) and dropped.value in operations[-1].results


@ops("COPY")
def copy(t: Tracer, inst: Instruction) -> None:
    """(item, ... -- item, ..., item)"""
    t.push(t.frame.stack[-inst.arg])


@ops("SWAP")
def swap(t: Tracer, inst: Instruction) -> None:
    """(item, ..., top -- top, ..., item)"""
    stack = t.frame.stack
    stack[-inst.arg], stack[-1] = stack[-1], stack[-inst.arg]


@ops("PUSH_NULL")
def push_null(t: Tracer, inst: Instruction) -> None:
    """(-- NULL)"""
    t.push(NULL_SLOT)
