"""Instructions that run as they are, in the root frame: how much they pop and push."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minijit.interpreter.instruction import Instruction
from minijit.interpreter.opcodes import NULL_BELOW
from minijit.interpreter.tracer import Tracer
from minijit.interpreter.trackers import NULL_SLOT, Constant, Mark, Runtime, Tracker

EFFECTS: dict[str, tuple[Callable[[Any], int], int]] = {
    "LOAD_FAST": (lambda arg: 0, 1),
    "LOAD_FAST_CHECK": (lambda arg: 0, 1),
    "LOAD_NAME": (lambda arg: 0, 1),
    "LOAD_DEREF": (lambda arg: 0, 1),
    "LOAD_ATTR": (lambda arg: 1, 1),
    "STORE_ATTR": (lambda arg: 2, 0),
    "DELETE_ATTR": (lambda arg: 1, 0),
    "STORE_GLOBAL": (lambda arg: 1, 0),
    "DELETE_GLOBAL": (lambda arg: 0, 0),
    "STORE_NAME": (lambda arg: 1, 0),
    "DELETE_NAME": (lambda arg: 0, 0),
    "STORE_DEREF": (lambda arg: 1, 0),
    "DELETE_DEREF": (lambda arg: 0, 0),
    "LOAD_SUPER_ATTR": (lambda arg: 3, 1),
    "BINARY_OP": (lambda arg: 2, 1),
    "UNARY_OP": (lambda arg: 1, 1),
    "COMPARE_OP": (lambda arg: 2, 1),
    "CONTAINS_OP": (lambda arg: 2, 1),
    "IS_OP": (lambda arg: 2, 1),
    "BINARY_SUBSCR": (lambda arg: 2, 1),
    "STORE_SUBSCR": (lambda arg: 3, 0),
    "DELETE_SUBSCR": (lambda arg: 2, 0),
    "BINARY_SLICE": (lambda arg: 3, 1),
    "STORE_SLICE": (lambda arg: 4, 0),
    "TO_BOOL": (lambda arg: 1, 1),
    "BUILD_TUPLE": (lambda arg: arg, 1),
    "BUILD_LIST": (lambda arg: arg, 1),
    "BUILD_SET": (lambda arg: arg, 1),
    "BUILD_MAP": (lambda arg: 2 * arg, 1),
    "BUILD_CONST_KEY_MAP": (lambda arg: arg + 1, 1),
    "BUILD_STRING": (lambda arg: arg, 1),
    "BUILD_SLICE": (lambda arg: arg, 1),
    "FORMAT": (lambda arg: 2 if arg[1] else 1, 1),
    "CONVERT": (lambda arg: 1, 1),
    "CALL": (lambda arg: arg[0] + 2, 1),
    "CALL_FUNCTION_EX": (lambda arg: 4 if arg else 3, 1),
    "GET_ITER": (lambda arg: 1, 1),
    "GET_LEN": (lambda arg: 1, 2),
    "IMPORT_NAME": (lambda arg: 2, 1),
    "IMPORT_FROM": (lambda arg: 1, 2),
    "BEFORE_WITH": (lambda arg: 1, 2),
    "LIST_TO_TUPLE": (lambda arg: 1, 1),
    "MATCH_SEQUENCE": (lambda arg: 1, 2),
    "MATCH_MAPPING": (lambda arg: 1, 2),
    "MATCH_KEYS": (lambda arg: 2, 3),
    "MATCH_CLASS": (lambda arg: 3, 1),
    "LOAD_BUILD_CLASS": (lambda arg: 0, 1),
    "MAKE_FUNCTION": (lambda arg: 1 + sum(arg >> bit & 1 for bit in range(4)), 1),
    "SET_FUNCTION_ATTRIBUTE": (lambda arg: 2, 1),
}
"""Neutral opcode -> how many it pops (by its argument), how many it pushes."""

SPREADING = ("LIST_APPEND", "SET_ADD", "LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE", "MAP_ADD")
"""Opcodes that change the container `arg` deep in the stack in place: all above is handed over."""


def run_original(t: Tracer, inst: Instruction, reason: str) -> None:
    """Run the instruction as it is, or leave compiled code where that can't be."""
    special = SPECIAL.get(inst.op)
    if special is not None:
        special(t, inst, reason)
    elif inst.op in EFFECTS:
        pops, pushes = EFFECTS[inst.op]
        t.original(inst, pops(inst.arg), pushes, reason)
    else:
        t.leave(reason)
        return
    t.frame.pc += 1


def _unpack(t: Tracer, inst: Instruction, reason: str) -> None:
    t.original(inst, 1, inst.arg, reason)


def _unpack_rest(t: Tracer, inst: Instruction, reason: str) -> None:
    t.original(inst, 1, inst.arg[0] + inst.arg[1] + 1, reason)


def _load_method(t: Tracer, inst: Instruction, reason: str) -> None:
    """Called at once it is one operation; else read as a plain attribute.

    What LOAD_METHOD pushes may be a NULL, which is no value.
    """
    owner = t.peek()
    t.operand(owner)
    if _call_at_once(t, inst, owner, reason):
        return
    deliver = t.before_opaque()
    t.pop()
    result = t.opaque_value("attr", (owner,), inst.arg, deliver, reason, inst)
    _beside_null(t, result)


def _call_at_once(t: Tracer, inst: Instruction, owner: Tracker, reason: str) -> bool:
    """Where only constants and locals are loaded between a method's load and its call, nothing can come between."""
    frame = t.frame
    instructions = frame.unit.decoded.instructions
    arguments: list[Tracker] = []
    place = frame.pc + 1
    while instructions[place].op in ("LOAD_FAST", "LOAD_CONST"):
        load = instructions[place]
        arguments.append(Constant(load.arg) if load.op == "LOAD_CONST" else t.state.resolve(frame.locals[load.arg]))
        place += 1
    call = instructions[place]
    same_line = call.position[0] == inst.position[0]
    if call.op != "CALL" or call.arg[0] != len(arguments) or not same_line or place in frame.unit.flow.leaders:
        return False
    if any(isinstance(argument, Mark) for argument in arguments):
        return False
    for argument in arguments:
        t.operand(argument)
    deliver = t.before_opaque()
    t.pop()
    t.push(t.opaque_value("call_method", (owner, *arguments), (inst.arg, call.arg[1]), deliver, reason, inst))
    frame.pc = place
    return True


def _load_global(t: Tracer, inst: Instruction, reason: str) -> None:
    name, push_null = inst.arg
    result = t.opaque_value("global", (), name, t.before_opaque(), reason, inst)
    if push_null:
        _beside_null(t, result)
    else:
        t.push(result)


def _beside_null(t: Tracer, result: Runtime) -> None:
    for tracker in (NULL_SLOT, result) if NULL_BELOW else (result, NULL_SLOT):
        t.push(tracker)


def _spread(t: Tracer, inst: Instruction, reason: str) -> None:
    """The container stays on the stack; it and all above it are operands and come back."""
    extra = 2 if inst.op == "MAP_ADD" else 1
    depth = inst.arg + extra
    kept = [t.state.resolve(x) for x in t.frame.stack[-depth:-extra]]
    t.original(inst, depth, depth - extra, reason, settled=False)
    for place, tracker in enumerate(kept, len(t.frame.stack) - len(kept)):
        t.state.owned.discard(t.frame.stack[place].value)  # type: ignore[attr-defined]
        t.frame.stack[place] = t.state.resolve(tracker)
    t.drop_unreachable()


SPECIAL: dict[str, Callable[[Tracer, Instruction, str], None]] = {
    **dict.fromkeys(SPREADING, _spread),
    "UNPACK_SEQUENCE": _unpack,
    "UNPACK_EX": _unpack_rest,
    "LOAD_METHOD": _load_method,
    "LOAD_GLOBAL": _load_global,
}
"""Opcodes whose results are not simply a number of values on top."""
