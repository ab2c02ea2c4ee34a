"""Instructions that are the same for every Python version, and exception handlers over them."""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType
from typing import Any

from minijit.interpreter.ir import Position, constant_text


@dataclass(slots=True, eq=False)
class Instruction:
    """One neutral instruction; docs/architecture.md lists `op` and what `arg` then is.

    `target` is the index of the instruction a jump goes to. `offset` is where it begins in
    `co_code`, None for the second half of an instruction that was split; `next_offset` where the
    following one begins, None for the first half. `raw` are version-specific `(opcode, arg)`
    pairs that do the same. Never changed once made (freezing it would double decoding time).
    """

    index: int
    op: str
    arg: Any
    target: int | None
    offset: int | None
    next_offset: int | None
    position: Position
    raw: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        words = [self.op]
        if self.arg is not None:
            words.append(self.arg if isinstance(self.arg, str) and self.op != "LOAD_CONST" else constant_text(self.arg))
        if self.target is not None:
            words.append(f"-> {self.target}")
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class Handler:
    """Instructions start <= index < end go to `target` when they raise.

    The stack is cut to `depth`; then the instruction's offset is pushed if `lasti`, then the exception.
    """

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """A code object's instructions; `prologue` is the index of the first one after the first RESUME."""

    code: CodeType
    instructions: tuple[Instruction, ...]
    handlers: tuple[Handler, ...]
    prologue: int

    def __str__(self) -> str:
        return "\n".join(f"{inst.index:4} {inst}" for inst in self.instructions)
