"""Which locals are certainly bound where LOAD_FAST reads them.

Forward over all paths: a set of slots as bits of an int, intersected where paths meet. A handler
may be reached from before any instruction it covers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from types import CodeType

from minijit.interpreter.exception_table import Region
from minijit.interpreter.opcodes import NO_FALL_THROUGH, OPCODE
from minijit.interpreter.raw import Raw

LOAD_CONST = OPCODE["LOAD_CONST"]
COPY_FREE_VARS = OPCODE["COPY_FREE_VARS"]


class Unbound(Exception):
    """The instruction at `index` may read the unbound local `slot`."""

    def __init__(self, index: int, slot: int) -> None:
        super().__init__(f"instruction {index}: local {slot}")
        self.index = index
        self.slot = slot


def _one(arg: int) -> tuple[int, ...]:
    return (arg,)


def _upper(arg: int) -> tuple[int, ...]:
    return (arg >> 4,)


def _lower(arg: int) -> tuple[int, ...]:
    return (arg & 15,)


def _both(arg: int) -> tuple[int, ...]:
    return arg >> 4, arg & 15


Slots = Callable[[int], tuple[int, ...]]


def _by_opcode(rows: dict[str, Slots]) -> dict[int, Slots]:
    return {OPCODE[name]: slots for name, slots in rows.items() if name in OPCODE}


READS = _by_opcode({"LOAD_FAST": _one, "LOAD_CLOSURE": _one, "LOAD_FAST_LOAD_FAST": _both})
UNBINDS = _by_opcode({"DELETE_FAST": _one, "LOAD_FAST_AND_CLEAR": _one})
BINDS = _by_opcode(
    {
        "STORE_FAST": _one,
        "MAKE_CELL": _one,
        "LOAD_FAST_CHECK": _one,
        "STORE_FAST_STORE_FAST": _both,
        "STORE_FAST_LOAD_FAST": _upper,
    }
)
READS_AFTER = _by_opcode({"STORE_FAST_LOAD_FAST": _lower})


def check_bound(code: CodeType, raw: Raw, regions: Sequence[Region], binds: Callable[[object], Iterable[int]]) -> None:
    """Raise Unbound when a path leads to a plain load of a local that may be unbound."""
    _Walk(code, raw, regions, binds).run()


class _Walk:
    def __init__(
        self, code: CodeType, raw: Raw, regions: Sequence[Region], binds: Callable[[object], Iterable[int]]
    ) -> None:
        self.code = code
        self.raw = raw
        self.binds = binds
        self.bound: list[int | None] = [None] * len(raw.opcodes)
        self.handler: list[int | None] = [None] * len(raw.opcodes)
        for region in regions:
            self.handler[region.start : region.end] = [region.target] * (region.end - region.start)
        self.work = [(0, _parameters(code))]

    def run(self) -> None:
        while self.work:
            self.follow(*self.work.pop())
        for index, bound in enumerate(self.bound):
            if bound is not None:
                self.check(index, bound)

    def follow(self, index: int, bound: int) -> None:
        """Go on until nothing new is learned: sets only shrink, so this ends."""
        raw = self.raw
        while True:
            known = self.bound[index]
            if known is not None:
                bound &= known
                if bound == known:
                    return
            self.bound[index] = bound
            handler = self.handler[index]
            if handler is not None:
                self.work.append((handler, bound))
            bound = self.after(index, bound)
            if raw.targets[index] >= 0:
                self.work.append((raw.targets[index], bound))
            if raw.opcodes[index] in NO_FALL_THROUGH:
                return
            index += 1

    def after(self, index: int, bound: int) -> int:
        """Give the set after the instruction."""
        opcode, arg = self.raw.opcodes[index], self.raw.args[index]
        if opcode in BINDS:
            return bound | _bits(BINDS[opcode](arg))
        if opcode in UNBINDS:
            return bound & ~_bits(UNBINDS[opcode](arg))
        if opcode == LOAD_CONST:
            return bound | _bits(self.binds(self.code.co_consts[arg]))
        if opcode == COPY_FREE_VARS:
            last = len({*self.code.co_varnames, *self.code.co_cellvars}) + len(self.code.co_freevars)
            return bound | _bits(range(last - arg, last))
        return bound

    def check(self, index: int, bound: int) -> None:
        opcode, arg = self.raw.opcodes[index], self.raw.args[index]
        after = self.after(index, bound)
        for table, known in ((READS, bound), (READS_AFTER, after)):
            if opcode in table:
                for slot in table[opcode](arg):
                    if not known >> slot & 1:
                        raise Unbound(index, slot)


def _parameters(code: CodeType) -> int:
    flags = code.co_flags
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(flags & inspect.CO_VARARGS) + bool(flags & inspect.CO_VARKEYWORDS)
    return (1 << count) - 1


def _bits(slots: Iterable[int]) -> int:
    bits = 0
    for slot in slots:
        bits |= 1 << slot
    return bits
