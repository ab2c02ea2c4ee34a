"""Is this code object sound? A wrong one does not raise, it corrupts memory."""

from __future__ import annotations

import opcode as cpython
from collections.abc import Callable, Iterable
from types import CodeType

from minijit.codegen.bound_locals import Unbound, check_bound
from minijit.codegen.stack_depth import Depths, StackError
from minijit.interpreter.exception_table import Region, read_regions
from minijit.interpreter.opcodes import (
    BACKWARD_JUMPS,
    CACHES,
    EXTENDED_ARG,
    JUMPS,
    OPCODE,
    OPNAME,
    PAIRED_SLOTS,
    SLOTS,
    VERSION,
)
from minijit.interpreter.raw import Raw, read

INTERNAL = ("CACHE", "RESERVED", "INTERPRETER_EXIT", "EXIT_INIT_CHECK", "ENTER_EXECUTOR")
KNOWN = frozenset(
    opcode for name, opcode in OPCODE.items() if name not in INTERNAL and not name.startswith("INSTRUMENTED")
)
CONSTANTS = frozenset(cpython.hasconst)
NAMES = frozenset(cpython.hasname)
NAME_SHIFT = {OPCODE["LOAD_GLOBAL"]: 1}
if VERSION >= (3, 12):
    NAME_SHIFT |= {OPCODE["LOAD_ATTR"]: 1, OPCODE["LOAD_SUPER_ATTR"]: 2}

GLUED = {
    "KW_NAMES": ("PRECALL", "CALL"),
    "PRECALL": ("CALL",),
    "YIELD_VALUE": ("RESUME",),
    "RETURN_GENERATOR": ("POP_TOP",),
}
"""The interpreter looks at, or hands something to, the instruction that follows."""
if VERSION >= (3, 13):
    GLUED["END_FOR"] = ("POP_TOP",)  # an exhausted FOR_ITER skips two instructions

LANDS_ON = {"FOR_ITER": "END_FOR", "SEND": "END_SEND"} if VERSION >= (3, 12) else {}
FOLLOWERS = {OPCODE[name]: {OPCODE[n] for n in after if n in OPCODE} for name, after in GLUED.items() if name in OPCODE}
LANDINGS = {OPCODE[name]: OPCODE[target] for name, target in LANDS_ON.items()}
RETURN_DEPTH = {OPCODE["RETURN_VALUE"]: 1} | ({OPCODE["RETURN_CONST"]: 0} if "RETURN_CONST" in OPCODE else {})

Binds = Callable[[object], Iterable[int]]


class VerifyError(Exception):
    """The code object is wrong at byte `offset` of its `co_code`."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"at {offset}: {reason}")
        self.offset = offset
        self.reason = reason


def verify(code: CodeType, binds: Binds = lambda constant: ()) -> None:
    """Raise VerifyError unless the code is sound on every path.

    `binds(constant)` names the local slots that asking that constant for its truth stores into.
    """
    _check_encoding(code.co_code)
    raw = read(code)
    _check_operands(code, raw)
    _check_neighbours(raw)
    regions = _regions(code, raw)
    _check_stack(code, raw, regions)
    if VERSION >= (3, 12):
        _check_locals(code, raw, regions, binds)


def _check_encoding(data: bytes) -> None:
    """Opcodes exist, caches are whole, jumps go to where an instruction begins."""
    starts, jumps = set(), []
    position = start = high = 0
    while position < len(data):
        if start == position:
            starts.add(start)
        opcode, arg = data[position], data[position + 1] | high
        if opcode not in KNOWN:
            raise VerifyError(position, f"{OPNAME[opcode]} does not belong here")
        position += 2 + 2 * CACHES[opcode]
        if opcode == EXTENDED_ARG:
            high = arg << 8
            continue
        if opcode in JUMPS:
            jumps.append((start, position + (-2 if opcode in BACKWARD_JUMPS else 2) * arg))
        start, high = position, 0
    if start != len(data):
        raise VerifyError(start, "the last instruction is cut off")
    for start, target in jumps:
        if target not in starts:
            raise VerifyError(start, f"no instruction begins at its target {target}")


def _check_operands(code: CodeType, raw: Raw) -> None:
    """Constants, names and slots exist."""
    slots = len({*code.co_varnames, *code.co_cellvars}) + len(code.co_freevars)
    for index, (opcode, arg) in enumerate(zip(raw.opcodes, raw.args, strict=True)):
        if opcode in CONSTANTS:
            fits = arg < len(code.co_consts)
        elif opcode in NAMES:
            fits = arg >> NAME_SHIFT.get(opcode, 0) < len(code.co_names)
        elif opcode in SLOTS:
            fits = arg < slots
        elif opcode in PAIRED_SLOTS:
            fits = arg <= 0xFF and max(arg >> 4, arg & 15) < slots
        else:
            continue
        if not fits:
            raise VerifyError(raw.offsets[index], f"{OPNAME[opcode]} {arg} is out of range")


def _check_neighbours(raw: Raw) -> None:
    """Instructions that belong together are together, and nothing jumps between them."""
    targets = frozenset(raw.targets)
    for index, (opcode, target) in enumerate(zip(raw.opcodes, raw.targets, strict=True)):
        followers = FOLLOWERS.get(opcode)
        if followers is not None and (index + 1 in targets or raw.opcodes[index + 1 : index + 2][0] not in followers):
            raise VerifyError(raw.offsets[index], f"{OPNAME[opcode]} is torn from what must follow it")
        landing = LANDINGS.get(opcode)
        if landing is not None and raw.opcodes[target] != landing:
            raise VerifyError(raw.offsets[index], f"{OPNAME[opcode]} does not lead to {OPNAME[landing]}")


def _regions(code: CodeType, raw: Raw) -> list[Region]:
    """Exception-table entries in instruction indices, in order and apart."""
    regions = []
    before = 0
    index_of = {offset: index for index, offset in enumerate(raw.offsets)}
    for region in read_regions(code.co_exceptiontable):
        if not before <= region.start < region.end:
            raise VerifyError(region.start, "exception-table entries are out of order or overlap")
        try:
            start, end, target = index_of[region.start], index_of[region.end], index_of[region.target]
            raw.opcodes[target]
        except LookupError:
            raise VerifyError(region.start, "an exception-table entry cuts through an instruction") from None
        before = region.end
        regions.append(Region(start, end, target, region.depth, region.lasti))
    return regions


def _check_stack(code: CodeType, raw: Raw, regions: list[Region]) -> None:
    """Every instruction is reached with one depth, which suffices, fits, and is right at a return."""
    try:
        walk = Depths(raw, regions, 0, len(raw.opcodes))
    except StackError as error:
        raise VerifyError(raw.offsets[error.index], error.reason) from None
    for index, depth in enumerate(walk.depths):
        if depth is None:
            continue
        if depth > code.co_stacksize:
            raise VerifyError(raw.offsets[index], f"{depth} items on a stack of {code.co_stacksize}")
        if RETURN_DEPTH.get(raw.opcodes[index], depth) != depth:
            raise VerifyError(raw.offsets[index], f"returns with {depth} items on the stack")
    if walk.deepest > code.co_stacksize:
        raise VerifyError(0, f"{walk.deepest} items on a stack of {code.co_stacksize}")


def _check_locals(code: CodeType, raw: Raw, regions: list[Region], binds: Binds) -> None:
    """Plain LOAD_FAST does not look for NULL on these versions."""
    try:
        check_bound(code, raw, regions, binds)
    except Unbound as error:
        raise VerifyError(raw.offsets[error.index], f"local {error.slot} may be unbound") from None
