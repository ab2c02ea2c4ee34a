"""The instructions as they are in `co_code`, with jumps as instruction indices.

Parallel lists instead of objects: this is the hot loop of every compilation.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from types import CodeType

from minijit.interpreter.ir import Position
from minijit.interpreter.opcodes import BACKWARD_JUMPS, BODY_START, CACHES, EXTENDED_ARG, JUMPS


class CannotEmbed(Exception):
    """This code object cannot carry a second body; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True, eq=False)
class Raw:
    """Instructions without caches and EXTENDED_ARG.

    `targets` holds the index of the instruction a jump goes to, else -1; `offsets` the byte
    offset of each instruction (of its first EXTENDED_ARG) and of the end; `where` the byte
    offset of the opcode itself, which is what `lasti` and positions go by. `least` holds the
    size in code units each instruction had or has at least: the compiler sometimes leaves a
    jump an EXTENDED_ARG that it could do without, and verbatim means verbatim.
    """

    opcodes: list[int] = field(default_factory=list)
    args: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    where: list[int] = field(default_factory=list)
    least: list[int] = field(default_factory=list)

    def index(self, offset: int) -> int:
        """Find the instruction that the byte offset is in."""
        return bisect_right(self.offsets, offset) - 1

    def prologue(self) -> int:
        """Index of the first instruction after the first RESUME."""
        try:
            return self.opcodes.index(BODY_START) + 1
        except ValueError:
            raise CannotEmbed("the code object has no RESUME") from None

    def positions(self, code: CodeType) -> list[Position]:
        """One source position for each instruction."""
        units = list(code.co_positions())
        return [units[offset >> 1] for offset in self.where]


def read(code: CodeType) -> Raw:
    """Decode `co_code`."""
    raw = Raw()
    pending = _read_instructions(code.co_code, raw)
    index_of = {offset: index for index, offset in enumerate(raw.offsets)}
    for index in pending:
        raw.targets[index] = index_of[raw.targets[index]]
    raw.least = [end - start >> 1 for start, end in pairwise(raw.offsets)]
    return raw


def _read_instructions(data: bytes, raw: Raw) -> list[int]:
    opcodes, args, targets, offsets, where = raw.opcodes, raw.args, raw.targets, raw.offsets, raw.where
    jumps = []
    position = start = high = 0
    end = len(data)
    while position < end:
        opcode = data[position]
        arg = data[position + 1] | high
        if opcode == EXTENDED_ARG:
            high = arg << 8
            position += 2
            continue
        following = position + 2 + 2 * CACHES[opcode]
        if opcode in JUMPS:
            jumps.append(len(opcodes))
            targets.append(following - 2 * arg if opcode in BACKWARD_JUMPS else following + 2 * arg)
        else:
            targets.append(-1)
        opcodes.append(opcode)
        args.append(arg)
        offsets.append(start)
        where.append(position)
        position = start = following
        high = 0
    offsets.append(end)
    return jumps
