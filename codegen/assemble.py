"""Instructions with jumps as indices -> `co_code`, exception table, line table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from minijit.codegen.line_table import write_lines
from minijit.interpreter.exception_table import Region, write_regions
from minijit.interpreter.ir import Position
from minijit.interpreter.opcodes import BACKWARD_JUMPS, CACHES, EXTENDED_ARG
from minijit.interpreter.raw import Raw

ZEROS = [bytes(2 * count) for count in CACHES]
SIZES = [1 + count for count in CACHES]


@dataclass(frozen=True, slots=True)
class Assembled:
    """The three byte strings of a code object."""

    code: bytes
    exceptions: bytes
    lines: bytes


def assemble(raw: Raw, regions: Iterable[Region], positions: Sequence[Position], first_line: int) -> Assembled:
    """Encode; `raw.offsets` and `raw.where` are filled in. Regions count instructions, not bytes."""
    sizes = place(raw)
    at = raw.offsets
    moved = (Region(at[r.start], at[r.end], at[r.target], r.depth, r.lasti) for r in regions)
    return Assembled(_encode(raw, sizes), write_regions(moved), write_lines(positions, sizes, first_line))


def place(raw: Raw) -> list[int]:
    """Set offsets and jump arguments; gives each instruction's size in code units.

    An instruction only ever grows, so this ends; a jump that shrank again keeps a zero EXTENDED_ARG.
    """
    opcodes, args, targets = raw.opcodes, raw.args, raw.targets
    sizes = list(raw.least) or [SIZES[opcode] for opcode in opcodes]
    jumps = [index for index, target in enumerate(targets) if target >= 0]
    for index, arg in enumerate(args):
        if arg > 255 and targets[index] < 0:
            sizes[index] = max(sizes[index], SIZES[opcodes[index]] + _extensions(arg))
    while _resolve(raw, sizes, jumps):
        pass
    raw.where = [end - 2 * SIZES[opcode] for opcode, end in zip(opcodes, raw.offsets[1:], strict=True)]
    return sizes


def _extensions(arg: int) -> int:
    return (arg > 0xFF) + (arg > 0xFFFF) + (arg > 0xFFFFFF)


def _resolve(raw: Raw, sizes: list[int], jumps: list[int]) -> bool:
    """Compute offsets and jump arguments for these sizes; tells whether some size was too small."""
    offsets = [0]
    offset = 0
    for size in sizes:
        offset += 2 * size
        offsets.append(offset)
    raw.offsets = offsets
    grew = False
    for index in jumps:
        opcode = raw.opcodes[index]
        distance = (offsets[raw.targets[index]] - offsets[index + 1]) // 2
        arg = raw.args[index] = -distance if opcode in BACKWARD_JUMPS else distance
        if arg < 0:
            raise ValueError(f"instruction {index} jumps the wrong way")
        if arg > 255:
            size = SIZES[opcode] + _extensions(arg)
            if size > sizes[index]:
                sizes[index] = size
                grew = True
    return grew


def _encode(raw: Raw, sizes: list[int]) -> bytes:
    code = bytearray()
    for opcode, arg, size in zip(raw.opcodes, raw.args, sizes, strict=True):
        for shift in range(8 * (size - SIZES[opcode]), 0, -8):
            code += bytes((EXTENDED_ARG, arg >> shift & 0xFF))
        code.append(opcode)
        code.append(arg & 0xFF)
        if CACHES[opcode]:
            code += ZEROS[opcode]
    return bytes(code)
