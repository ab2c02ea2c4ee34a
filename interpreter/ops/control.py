"""Jumps, branches, loops and returns."""

from __future__ import annotations

from typing import Any

from minijit.interpreter.family import Family
from minijit.interpreter.instruction import Instruction
from minijit.interpreter.ir import Jump, Operation, Return
from minijit.interpreter.protocols import iterate, truth
from minijit.interpreter.protocols.continuation import Extras, complete, continuation
from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import PUSH, Then
from minijit.interpreter.tracer import Tracer
from minijit.interpreter.trackers import NULL_SLOT, Constant, Mark, Runtime, Tracker

ops = Family("control")


@ops("JUMP", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
def jump(t: Tracer, inst: Instruction) -> bool:
    """(--)"""
    assert inst.target is not None
    return bool(t.machine.jump(inst.target))


@ops("POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE")
def pop_jump_if(t: Tracer, inst: Instruction) -> bool:
    """(condition --)"""
    wanted = inst.op == "POP_JUMP_IF_TRUE"
    return _decide(t, t.pop(), Then("jump_if", (wanted, inst.target, "")))


@ops("JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP")
def jump_if_or_pop(t: Tracer, inst: Instruction) -> bool:
    """(value -- value) when it jumps, else ( -- )"""
    wanted = inst.op == "JUMP_IF_TRUE_OR_POP"
    return _decide(t, t.peek(), Then("jump_if", (wanted, inst.target, "pop")))


def _decide(t: Tracer, condition: Tracker, then: Then) -> bool:
    """Truth of a condition; of a value of unknown type it is asked for real, in the root frame."""
    saved = t.frame.stack.copy()
    try:
        return truth.of(t, condition, then, ())
    except Opaque as opaque:
        if not t.in_root or t.state.record(condition) is not None:
            raise
        t.frame.stack[:] = saved
        result = _truth_for_real(t, condition, opaque.reason)
    return complete(t, then, (), result)


def _truth_for_real(t: Tracer, condition: Tracker, reason: str) -> Tracker:
    popped = t.frame.unit.decoded.instructions[t.frame.pc].op.startswith("POP_JUMP")
    if popped:
        t.push(condition)
    deliver = t.before_opaque()
    if popped:
        t.frame.stack.pop()
    operand = t.operand(condition)
    value = t.new_value(bool)
    t.notes.add("kept", t.position, f"truth: {reason}")
    t.block.operations.append(
        Operation("truth", (operand,), None, (value,), deliver, t.position, effect=True)
    )
    t.forget_world()
    t.state.stale = True
    return Runtime(value)


@continuation("jump_if")
def jump_if(t: Tracer, extras: Extras, result: Tracker, payload: Any) -> bool:
    """Go one way or the other by a bool."""
    wanted, target, pop = payload
    if isinstance(result, Constant):
        taken = result.value is wanted
        if result.static:
            t.gain("folded", "a branch on something static")
        if not taken and pop:
            t.frame.stack.pop()
        return t.machine.jump(target) if taken else False
    then, otherwise = t.state.clone(), t.state.clone()
    if pop:
        (otherwise if wanted else then).frame.stack.pop()
    yes, no = (then, otherwise) if wanted else (otherwise, then)
    yes.frame.pc, no.frame.pc = target, t.frame.pc + 1
    t.machine.fork("true", t.operand(result), then, otherwise)
    return True


@ops("POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE")
def pop_jump_if_none(t: Tracer, inst: Instruction) -> bool:
    """(value --)"""
    wanted = inst.op == "POP_JUMP_IF_NONE"
    tracker = t.pop()
    assert inst.target is not None
    known = _is_none(t, tracker)
    if known is not None:
        return t.machine.jump(inst.target) if known == wanted else False
    then, otherwise = t.state.clone(), t.state.clone()
    assert isinstance(tracker, Runtime)
    then.types[tracker.value] = type(None)
    yes, no = (then, otherwise) if wanted else (otherwise, then)
    yes.frame.pc, no.frame.pc = inst.target, t.frame.pc + 1
    t.machine.fork("none", tracker.value, then, otherwise)
    return True


def _is_none(t: Tracer, tracker: Tracker) -> bool | None:
    if isinstance(tracker, Constant):
        return tracker.value is None
    if not isinstance(tracker, Runtime):
        return False
    kind = t.known_type(tracker)
    return None if kind is None else kind is type(None)


@ops("RETURN_VALUE")
def return_value(t: Tracer, inst: Instruction) -> bool:
    """(value --)"""
    result = t.pop()
    if t.in_root:
        operand = t.operand(result)
        t.flush()
        t.leave_to_locals(operand)
        t.end(Return(operand, t.position))
        return True
    frame = t.frame
    t.state.frames.pop()
    moved = complete(t, frame.then, frame.extras, result)
    if not t.open:
        return True
    if not moved:
        t.frame.pc += 1
        if frame.unit.flow.returns > 1:
            t.end(Jump(t.machine.goto(t.state)))
    return True


# -- loops --------------------------------------------------------------------------------------------


@ops("GET_ITER")
def get_iter(t: Tracer, inst: Instruction) -> bool:
    """(iterable -- iterator)"""
    return iterate.start(t, t.pop(), PUSH)


@ops("FOR_ITER")
def for_iter(t: Tracer, inst: Instruction) -> bool:
    """(iterator -- iterator, item) or, at the end, ( -- )"""
    return iterate.advance(t, t.peek(), PUSH, Then("loop_done", inst.target))


@continuation("loop_done")
def loop_done(t: Tracer, extras: Extras, result: Tracker, payload: Any) -> bool:
    """The loop is over: its iterator goes."""
    t.frame.stack.pop()
    t.frame.pc = payload
    return True


@ops("YIELD_VALUE")
def yield_value(t: Tracer, inst: Instruction) -> bool:
    """(value -- sent)"""
    if t.in_root:
        t.leave("yield")
        return True
    if t.frame.then.name != "generator_return":
        raise Opaque("a yield outside of a loop")
    return iterate.yielded(t)


@ops("RETURN_GENERATOR")
def return_generator(t: Tracer, inst: Instruction) -> None:
    """( -- generator) in the generator's own frame: it has been made already"""
    t.push(Mark("generator"))


__all__ = ["NULL_SLOT", "ops"]
