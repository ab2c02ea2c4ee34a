"""How deep the value stack is at every instruction."""

from __future__ import annotations

import opcode as cpython
from collections.abc import Sequence

from minijit.codegen.stack_needs import NEEDS
from minijit.interpreter.exception_table import Region
from minijit.interpreter.opcodes import NO_FALL_THROUGH, OPCODE
from minijit.interpreter.raw import Raw

RETURN_GENERATOR = OPCODE["RETURN_GENERATOR"]
HAS_ARGUMENT = frozenset(getattr(cpython, "hasarg", range(cpython.HAVE_ARGUMENT, 256)))


class StackError(Exception):
    """The stack is used wrongly at instruction `index`."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(f"instruction {index}: {reason}")
        self.index = index
        self.reason = reason


def effect(opcode: int, arg: int, jump: bool) -> int:
    """By how much the stack grows when the jump is, or is not, taken."""
    if opcode == RETURN_GENERATOR:
        return 1  # 3.11 and 3.12 count the value that resuming pushes from the function's start
    return cpython.stack_effect(opcode, arg if opcode in HAS_ARGUMENT else None, jump=jump)


class Depths:
    """A walk over every path from `first`, which leaves when it gets outside first <= index < end."""

    def __init__(self, raw: Raw, regions: Sequence[Region], first: int, end: int) -> None:
        self.raw = raw
        self.first = first
        self.end = end
        self.depths: list[int | None] = [None] * len(raw.opcodes)
        self.deepest = 0
        self._region: list[Region | None] = [None] * len(raw.opcodes)
        for region in regions:
            for index in range(region.start, region.end):
                self._region[index] = region
        self._work = [(first, 0)]
        while self._work:
            self._walk(*self._work.pop())

    def _walk(self, index: int, depth: int) -> None:
        raw = self.raw
        while self._arrive(index, depth):
            opcode, arg, target = raw.opcodes[index], raw.args[index], raw.targets[index]
            need = NEEDS[opcode]
            if need is not None and depth < need(arg):
                raise StackError(index, f"it wants {need(arg)} items on the stack, there are {depth}")
            if target >= 0:
                self._work.append((target, depth + effect(opcode, arg, True)))
            if opcode in NO_FALL_THROUGH:
                return
            depth += effect(opcode, arg, False)
            index += 1
            if index == self.end:
                raise StackError(index - 1, "execution falls off the end")

    def _arrive(self, index: int, depth: int) -> bool:
        """Note the depth; tells whether the walk goes on from here."""
        if depth < 0:
            raise StackError(index, "something was popped that is not there")
        self.deepest = max(self.deepest, depth)
        if not self.first <= index < self.end:
            return False
        known = self.depths[index]
        if known is not None:
            if known != depth:
                raise StackError(index, f"reached with {known} and with {depth} items on the stack")
            return False
        self.depths[index] = depth
        region = self._region[index]
        if region is not None:
            self._enter(region, index, depth)
        return True

    def _enter(self, region: Region, index: int, depth: int) -> None:
        if depth < region.depth:
            raise StackError(index, f"its handler wants {region.depth} items, there are {depth}")
        self._work.append((region.target, region.depth + region.lasti + 1))
