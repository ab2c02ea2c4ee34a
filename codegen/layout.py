"""Prologue, generated part and original body as one code object."""

from __future__ import annotations

from types import CodeType

from minijit.codegen.assemble import SIZES, assemble
from minijit.codegen.buffer import Buffer, Cover, Emitted, Label, Original
from minijit.codegen.stack_depth import Depths
from minijit.interpreter.exception_table import Region, read_regions
from minijit.interpreter.opcodes import PAIRED_SLOTS, SLOTS
from minijit.interpreter.raw import CannotEmbed, Raw, read


def lay_out(buffer: Buffer) -> CodeType:
    """Build the code object of everything the buffer collected and of the original body."""
    return _Layout(buffer).build()


class _Layout:
    """Index arithmetic: the original's instructions from `body` on move up by `count`."""

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.code = buffer.code
        self.original = read(buffer.code)
        self.body = self.original.prologue()
        self.count = len(buffer.emitted)

    def build(self) -> CodeType:
        code, buffer = self.code, self.buffer
        raw, regions = self._merge(), self._regions()
        assembled = assemble(raw, regions, self._positions(), code.co_firstlineno)
        self._fill_constants(raw)
        return code.replace(
            co_code=assembled.code,
            co_exceptiontable=assembled.exceptions,
            co_linetable=assembled.lines,
            co_stacksize=max(code.co_stacksize, self._depth(raw, regions)),
            co_consts=tuple(buffer.constants),
            co_names=tuple(buffer.names),
            co_varnames=code.co_varnames + self._temporary_names(),
            co_nlocals=code.co_nlocals + buffer.temporaries,
        )

    # -- the three parts, one after another --

    def _merge(self) -> Raw:
        original, body, emitted = self.original, self.body, self.buffer.emitted
        args = self._moved_args()
        return Raw(
            opcodes=original.opcodes[:body] + [item.opcode for item in emitted] + original.opcodes[body:],
            args=args[:body] + [self._arg(item) for item in emitted] + args[body:],
            targets=original.targets[:body]
            + [self._target(item) for item in emitted]
            + [self._moved(target) if target >= 0 else -1 for target in original.targets[body:]],
            least=original.least[:body] + [SIZES[item.opcode] for item in emitted] + original.least[body:],
        )

    def _moved(self, index: int) -> int:
        return index if index < self.body else index + self.count

    def _arg(self, item: Emitted) -> int:
        return self.buffer.resolve(item.arg) if item.is_slot else item.arg

    def _target(self, item: Emitted) -> int:
        target = item.target
        if target is None:
            return -1
        return self._label(target) if isinstance(target, Label) else self._at(target)

    def _label(self, label: Label) -> int:
        if label.index is None:
            raise ValueError("a label was used and never placed")
        return self.body + label.index

    def _at(self, target: Original) -> int:
        index = self.original.index(target.offset)
        if index < self.body or self.original.offsets[index] != target.offset:
            raise ValueError(f"no instruction of the original body begins at {target.offset}")
        return index + self.count

    def _moved_args(self) -> list[int]:
        """Arguments of the original: cell and free variables move up by the number of temporaries."""
        original, first, by = self.original, self.code.co_nlocals, self.buffer.temporaries
        if not by or not (self.code.co_cellvars or self.code.co_freevars):
            return original.args
        pairs = list(zip(original.opcodes, original.args, strict=True))
        if any(opcode in PAIRED_SLOTS and max(arg >> 4, arg & 15) >= first for opcode, arg in pairs):
            raise CannotEmbed("a superinstruction accesses a cell")
        return [arg + by if opcode in SLOTS and arg >= first else arg for opcode, arg in pairs]

    # -- exception table and positions --

    def _regions(self) -> list[Region]:
        before, after = [], []
        for region in read_regions(self.code.co_exceptiontable):
            start, end = self.original.index(region.start), self.original.index(region.end)
            target = self._moved(self.original.index(region.target))
            if start < self.body:
                before.append(Region(start, min(end, self.body), target, region.depth, region.lasti))
            if end > self.body:
                start = max(start, self.body)
                after.append(Region(start + self.count, end + self.count, target, region.depth, region.lasti))
        return before + self._generated_regions() + after

    def _generated_regions(self) -> list[Region]:
        """One region for each run of instructions with the same handler."""
        regions = []
        start, handler = 0, None
        for index, item in enumerate([*self.buffer.emitted, None]):
            following = item.handler if item is not None else None
            if following is not handler:
                if handler is not None:
                    cover = handler if isinstance(handler, Cover) else Cover(handler)
                    target = self._label(cover.label)
                    regions.append(Region(self.body + start, self.body + index, target, cover.depth, cover.lasti))
                start, handler = index, following
        return regions

    def _positions(self) -> list[tuple[int | None, int | None, int | None, int | None]]:
        positions = self.original.positions(self.code)
        return positions[: self.body] + [item.position for item in self.buffer.emitted] + positions[self.body :]

    # -- the rest of the code object --

    def _depth(self, raw: Raw, regions: list[Region]) -> int:
        if not self.count:
            return 0
        return Depths(raw, regions, self.body, self.body + self.count).deepest

    def _fill_constants(self, raw: Raw) -> None:
        buffer = self.buffer
        for index, build in buffer.later:
            buffer.constants[index] = build(buffer.resolve)
        for index, offset in buffer.lasti:
            buffer.constants[index] = raw.where[self._at(Original(offset))] // 2

    def _temporary_names(self) -> tuple[str, ...]:
        taken = {*self.code.co_varnames, *self.code.co_cellvars, *self.code.co_freevars}
        names: list[str] = []
        number = 0
        while len(names) < self.buffer.temporaries:
            number += 1
            if (name := f".{number}") not in taken:
                names.append(name)
        return tuple(names)
