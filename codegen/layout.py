"""Prologue, generated part and original body as one code object."""

from __future__ import annotations

from types import CodeType

from minijit.codegen.buffer import Buffer


def lay_out(buffer: Buffer) -> CodeType:
    """Build the code object of everything the buffer collected and of the original body."""
    raise NotImplementedError(buffer)
