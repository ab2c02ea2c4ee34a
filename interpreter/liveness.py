"""Which locals of a code object may still be read, per instruction; and its leaders."""

from __future__ import annotations

from dataclasses import dataclass

from minijit.interpreter.decode import Decoded

READS = frozenset({"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR", "DELETE_FAST"})
WRITES = frozenset({"STORE_FAST"})
ENDS = frozenset({"RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "JUMP", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """Static facts of one code object's control flow.

    `live[pc]` is a bit set of slots; `covered[pc]` tells handlers apart (0: none); `leaders` are
    positions reached from two places or more; `headers` the targets of backward jumps; `returns` how
    many RETURN_VALUEs there are.
    """

    live: tuple[int, ...]
    covered: tuple[int, ...]
    leaders: frozenset[int]
    headers: frozenset[int]
    returns: int


def successors(decoded: Decoded, pc: int) -> list[int]:
    """Positions that may follow, exception handlers left out."""
    inst = decoded.instructions[pc]
    after = [] if inst.op in ENDS else [pc + 1]
    return after + [inst.target] if inst.target is not None else after


def analyse(decoded: Decoded) -> Flow:
    """Backward liveness to a fixpoint (a handler's live locals are live all over its range)."""
    instructions = decoded.instructions
    count = len(instructions)
    reached_from: list[int] = [0] * (count + 1)
    headers: set[int] = set()
    for pc, inst in enumerate(instructions):
        for following in successors(decoded, pc):
            reached_from[following] += 1
        if inst.target is not None and inst.target <= pc:
            headers.add(inst.target)
    handlers_of: list[list[int]] = [[] for _ in range(count)]
    for handler in decoded.handlers:
        for pc in range(handler.start, handler.end):
            handlers_of[pc].append(handler.target)
    live = _live(decoded, handlers_of)
    leaders = {pc for pc in range(count) if reached_from[pc] > 1} | headers
    returns = sum(inst.op == "RETURN_VALUE" for inst in instructions)
    covered = [0] * (count + 1)
    for number, handler in enumerate(decoded.handlers, 1):
        covered[handler.start : handler.end] = [number] * (handler.end - handler.start)
    return Flow(tuple(live), tuple(covered), frozenset(leaders), frozenset(headers), returns)


def _live(decoded: Decoded, handlers_of: list[list[int]]) -> list[int]:
    instructions = decoded.instructions
    live = [0] * (len(instructions) + 1)
    changed = True
    while changed:
        changed = False
        for pc in range(len(instructions) - 1, -1, -1):
            inst = instructions[pc]
            after = 0
            for following in successors(decoded, pc):
                after |= live[following]
            if inst.op in WRITES:
                after &= ~(1 << inst.arg)
            elif inst.op in READS:
                after |= 1 << inst.arg
            for handler in handlers_of[pc]:
                after |= live[handler]
            if after != live[pc]:
                live[pc] = after
                changed = True
    return live
