"""Code object -> neutral instructions."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

from minijit.interpreter.decode_table import READERS
from minijit.interpreter.exception_table import read_regions
from minijit.interpreter.instruction import Decoded, Handler, Instruction
from minijit.interpreter.opcodes import OPCODE, OPNAME, VERSION
from minijit.interpreter.raw import Raw, read

__all__ = ["Decoded", "Handler", "Instruction", "decode"]

LOAD_CONST = OPCODE["LOAD_CONST"]
LOAD_FAST = OPCODE["LOAD_FAST"]
STORE_FAST = OPCODE["STORE_FAST"]
LOOP_ENDS = [OPCODE[name] for name in {(3, 11): (), (3, 12): ("END_FOR",), (3, 13): ("END_FOR", "POP_TOP")}[VERSION]]

Span = tuple[int | None, int | None]
Pairs = tuple[tuple[int, int], ...]
Half = tuple[str, Any, int, int]
"""Neutral name and payload, opcode and argument."""


def decode(code: CodeType) -> Decoded:
    """Decode; a code object without a RESUME is refused with CannotEmbed."""
    raw = read(code)
    decoder = _Decoder(code, raw)
    decoder.run()
    index_of = decoder.index_of
    handlers = tuple(
        Handler(
            index_of[raw.index(r.start)], index_of[raw.index(r.end)], index_of[raw.index(r.target)], r.depth, r.lasti
        )
        for r in read_regions(code.co_exceptiontable)
    )
    return Decoded(code, tuple(decoder.instructions), handlers, index_of[raw.prologue()])


class _Decoder:
    """One pass over the raw instructions; `index_of` maps their indices to neutral ones."""

    def __init__(self, code: CodeType, raw: Raw) -> None:
        self.code = code
        self.raw = raw
        self.positions = raw.positions(code)
        self.targets = frozenset(raw.targets)
        self.instructions: list[Instruction] = []
        self.index_of: list[int] = []
        self.keyword_names: tuple[str, ...] = ()
        self.pending: list[tuple[int, int]] = []
        self.cells = _certain_cells(code, raw)

    def run(self) -> None:
        raw, code, instructions, index_of = self.raw, self.code, self.instructions, self.index_of
        opcodes, targets, offsets = raw.opcodes, raw.targets, raw.offsets
        readers, positions, make = READERS, self.positions, Instruction
        jumps = []
        for index, (opcode, arg) in enumerate(zip(opcodes, raw.args, strict=True)):
            index_of.append(len(instructions))
            reader = readers[opcode]
            if reader is None:
                COMPOUND[opcode](self, index, arg)
                continue
            op, payload = reader(code, arg)
            if targets[index] >= 0:
                jumps.append((len(instructions), index))
            pairs = ((opcode, arg),)
            instructions.append(
                make(len(instructions), op, payload, None, offsets[index], offsets[index + 1], positions[index], pairs)
            )
        index_of.append(len(instructions))
        for at, index in jumps:
            instructions[at].target = index_of[self._landing(index)]

    def _landing(self, index: int) -> int:
        """Raw index where a jump goes on: an exhausted loop's END_FOR is skipped by FOR_ITER itself."""
        target = self.raw.targets[index]
        return target + len(LOOP_ENDS) if self.raw.opcodes[index] == OPCODE["FOR_ITER"] else target

    def append(self, index: int, op: str, payload: Any, span: Span, pairs: Pairs) -> None:
        """Add one neutral instruction that is no jump, at the position of raw instruction `index`."""
        at, position = len(self.instructions), self.positions[index]
        self.instructions.append(Instruction(at, op, payload, None, span[0], span[1], position, pairs))

    def span(self, first: int, last: int) -> Span:
        """Byte offsets where raw instructions first..last begin, and where the next one does."""
        return self.raw.offsets[first], self.raw.offsets[last + 1]

    def halves(self, index: int, first: Half, second: Half) -> None:
        """Split an instruction in two."""
        start, end = self.span(index, index)
        self.append(index, *first[:2], (start, None), (first[2:],))
        self.append(index, *second[:2], (None, end), (second[2:],))

    def part(self, index: int, arg: int) -> None:
        """KW_NAMES or PRECALL: the beginning of a call."""
        self.pending.append((self.raw.opcodes[index], arg))

    def keywords(self, index: int, arg: int) -> None:
        """KW_NAMES says how the following CALL names its last arguments."""
        self.part(index, arg)
        self.keyword_names = self.code.co_consts[arg]

    def call(self, index: int, arg: int) -> None:
        """CALL, with what went before it."""
        self.part(index, arg)
        span = self.span(index + 1 - len(self.pending), index)
        self.append(index, "CALL", (arg, self.keyword_names), span, tuple(self.pending))
        self.keyword_names = ()
        self.pending.clear()

    def call_kw(self, index: int, arg: int) -> None:
        """CALL_KW takes the names from the stack, where a LOAD_CONST just put them."""
        pair = (self.raw.opcodes[index], arg)
        if not index or self.raw.opcodes[index - 1] != LOAD_CONST or index in self.targets:
            self.append(index, "CALL_KW", arg, self.span(index, index), (pair,))
            return
        names = self.instructions.pop()
        self.index_of[index] = len(self.instructions)
        self.append(index, "CALL", (arg, names.arg), self.span(index - 1, index), (*names.raw, pair))

    def load_fast(self, index: int, arg: int) -> None:
        """3.13 pushes a cell itself with LOAD_FAST."""
        op = "LOAD_CLOSURE" if arg in self.cells else "LOAD_FAST"
        self.append(index, op, arg, self.span(index, index), ((LOAD_FAST, arg),))

    def load_load(self, index: int, arg: int) -> None:
        """LOAD_FAST_LOAD_FAST."""
        first, second = arg >> 4, arg & 15
        self.halves(index, ("LOAD_FAST", first, LOAD_FAST, first), ("LOAD_FAST", second, LOAD_FAST, second))

    def store_load(self, index: int, arg: int) -> None:
        """STORE_FAST_LOAD_FAST."""
        first, second = arg >> 4, arg & 15
        self.halves(index, ("STORE_FAST", first, STORE_FAST, first), ("LOAD_FAST", second, LOAD_FAST, second))

    def store_store(self, index: int, arg: int) -> None:
        """STORE_FAST_STORE_FAST."""
        first, second = arg >> 4, arg & 15
        self.halves(index, ("STORE_FAST", first, STORE_FAST, first), ("STORE_FAST", second, STORE_FAST, second))

    def return_const(self, index: int, arg: int) -> None:
        """RETURN_CONST."""
        value = self.code.co_consts[arg]
        self.halves(index, ("LOAD_CONST", value, LOAD_CONST, arg), ("RETURN_VALUE", None, OPCODE["RETURN_VALUE"], 0))

    def unknown(self, index: int, arg: int) -> None:
        """An opcode that does not occur in code objects."""
        raise ValueError(f"unexpected opcode {OPNAME[self.raw.opcodes[index]]}")


def _certain_cells(code: CodeType, raw: Raw) -> frozenset[int]:
    """Slots that hold a cell from the prologue on.

    A comprehension that was inlined makes a cell of a plain local for a while: that slot is not in here.
    """
    first = code.co_nlocals
    own = len(set(code.co_cellvars) - set(code.co_varnames))
    cells = set(range(first + own, first + own + len(code.co_freevars)))
    for opcode, arg in zip(raw.opcodes[: raw.prologue()], raw.args, strict=False):
        if opcode == OPCODE["MAKE_CELL"]:
            cells.add(arg)
    return frozenset(cells)


Compound = Callable[[_Decoder, int, int], None]
COMPOUND: list[Compound] = [_Decoder.unknown] * 256
for _name, _method in (
    ("KW_NAMES", _Decoder.keywords),
    ("PRECALL", _Decoder.part),
    ("CALL", _Decoder.call),
    ("CALL_KW", _Decoder.call_kw),
    ("LOAD_FAST_LOAD_FAST", _Decoder.load_load),
    ("STORE_FAST_LOAD_FAST", _Decoder.store_load),
    ("STORE_FAST_STORE_FAST", _Decoder.store_store),
    ("RETURN_CONST", _Decoder.return_const),
):
    if _name in OPCODE:
        COMPOUND[OPCODE[_name]] = _method
if VERSION >= (3, 13):
    COMPOUND[LOAD_FAST] = _Decoder.load_fast
    READERS[LOAD_FAST] = None
