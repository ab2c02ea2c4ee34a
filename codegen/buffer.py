"""The generated instructions of one code object while they are collected."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType

from minijit.interpreter.ir import Position
from minijit.interpreter.opcodes import SLOTS

NO_POSITION: Position = (None, None, None, None)


class Label:
    """A place in the generated code; known once it is placed."""

    __slots__ = ("index",)

    def __init__(self) -> None:
        self.index: int | None = None


class Original:
    """A place in the verbatim original body, by its byte offset in the original's `co_code`."""

    __slots__ = ("offset",)

    def __init__(self, offset: int) -> None:
        self.offset = offset


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """A handler as the exception table has it: cut the stack to `depth`, push the index if `lasti`."""

    label: Label
    depth: int = 0
    lasti: bool = False


class Box:
    """Holds a constant that a code object would not keep as it is, or could not be hashed with."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


Target = Label | Original | None
Handler = Label | Cover | None
"""A bare label is a handler for an empty stack."""


@dataclass(slots=True, eq=False)
class Emitted:
    """One instruction of the generated part. `is_slot` marks an argument that is still symbolic."""

    opcode: int
    arg: int
    target: Target
    position: Position
    handler: Handler
    is_slot: bool = False


Resolve = Callable[[int], int]
"""Gives the final localsplus index of a slot of the generated code."""


class Buffer:
    """Collects instructions, constants, names, temporaries and labels.

    A slot in generated code is a number: an original local keeps its index, temporaries come
    next, and a cell or free variable (which moves up by the number of temporaries, known only at
    the end) is written as the complement of its original index, as `slot()` gives it.
    """

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.position: Position = NO_POSITION
        self.handler: Handler = None
        self.emitted: list[Emitted] = []
        self.temporaries = 0
        self.constants: list[object] = list(code.co_consts)
        self.later: list[tuple[int, Callable[[Resolve], object]]] = []
        self.lasti: list[tuple[int, int]] = []
        self.names: list[str] = list(code.co_names)
        self._constant_index: dict[tuple[int, type], int] = {}
        for index, constant in reversed(list(enumerate(self.constants))):
            self._constant_index[id(constant), type(constant)] = index
        self._boxes: dict[int, Box] = {}
        self._keyword_names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._name_index = {name: index for index, name in enumerate(self.names)}

    def label(self) -> Label:
        """Make a label that is not placed yet."""
        return Label()

    def place(self, label: Label) -> None:
        """Let the label mean the instruction emitted next."""
        if label.index is not None:
            raise ValueError("label placed twice")
        label.index = len(self.emitted)

    def temporary(self) -> int:
        """Add a local of the generated code; returns its slot."""
        self.temporaries += 1
        return self.code.co_nlocals + self.temporaries - 1

    def slot(self, original: int) -> int:
        """Slot, in generated code, of an index into the original's localsplus."""
        return original if original < self.code.co_nlocals else ~original

    def resolve(self, slot: int) -> int:
        """Give the final localsplus index of a slot; right only when all temporaries are known."""
        return slot if slot >= 0 else ~slot + self.temporaries

    def emit(self, opcode: int, arg: int = 0, target: Target = None) -> Emitted:
        """Append one instruction at the current position, under the current handler."""
        item = Emitted(opcode, arg, target, self.position, self.handler)
        self.emitted.append(item)
        return item

    def emit_slot(self, opcode: int, slot: int) -> None:
        """Append one instruction whose argument is a slot."""
        self.emit(opcode, slot).is_slot = True

    def emit_raw(self, opcode: int, arg: int, target: Target = None) -> None:
        """Append one instruction of the original; its slot, if it has one, is an original one."""
        if opcode in SLOTS:
            self.emit_slot(opcode, self.slot(arg))
        else:
            self.emit(opcode, arg, target)

    def constant(self, value: object) -> int:
        """Index of a constant: that very object, never an equal one."""
        key = (id(value), type(value))
        index = self._constant_index.get(key)
        if index is None:
            index = self._constant_index[key] = len(self.constants)
            self.constants.append(value)
        return index

    def box(self, value: object) -> Box:
        """Give the one box of this very object."""
        return self._boxes.setdefault(id(value), Box(value))

    def constant_later(self, build: Callable[[Resolve], object]) -> int:
        """Index of a constant that is built by `build(resolve)` when all slots are known."""
        self.later.append((len(self.constants), build))
        self.constants.append(None)
        return len(self.constants) - 1

    def constant_lasti(self, offset: int) -> int:
        """Index of the int that says 'raised by the original instruction at `offset`'."""
        self.lasti.append((len(self.constants), offset))
        self.constants.append(None)
        return len(self.constants) - 1

    def keyword_names(self, names: tuple[str, ...]) -> int:
        """Index of the tuple of a call's keyword names."""
        return self.constant(self._keyword_names.setdefault(names, tuple(map(sys.intern, names))))

    def name(self, name: str) -> int:
        """Index of a name."""
        index = self._name_index.get(name)
        if index is None:
            index = self._name_index[name] = len(self.names)
            self.names.append(name)
        return index


def survives(value: object) -> bool:
    """Tell whether a code object keeps this very object, and can still be hashed.

    A code object replaces name-like strings by their interned twins, also within tuples and frozensets.
    """
    if type(value) is str:
        return not value.isascii() or not value.replace("_", "a").isalnum() or sys.intern(value) is value
    if type(value) in (tuple, frozenset):
        return all(map(survives, value))  # type: ignore[call-overload]
    return type(value).__hash__ is not None
