"""What the running interpreter's opcodes are like: cache sizes, jumps, local slots."""

from __future__ import annotations

import opcode
import sys

VERSION = sys.version_info[:2]
OPCODE: dict[str, int] = {name: number for name, number in opcode.opmap.items() if number < 256}
OPNAME: list[str] = list(opcode.opname[:256])
EXTENDED_ARG = OPCODE["EXTENDED_ARG"]
BODY_START = OPCODE["RESUME"]


def _cache_sizes() -> list[int]:
    """Code units that follow each opcode, indexed by opcode."""
    entries = opcode._inline_cache_entries  # type: ignore[attr-defined]
    if isinstance(entries, dict):
        return [entries.get(name, 0) for name in OPNAME]
    return list(entries[:256])


CACHES: list[int] = _cache_sizes()
JUMPS = frozenset(number for number in opcode.hasjrel if number < 256)
BACKWARD_JUMPS = frozenset(number for name, number in OPCODE.items() if number in JUMPS and "BACKWARD" in name)
NO_FALL_THROUGH = frozenset(
    OPCODE[name]
    for name in (
        "JUMP_FORWARD",
        "JUMP_BACKWARD",
        "JUMP_BACKWARD_NO_INTERRUPT",
        "RETURN_VALUE",
        "RETURN_CONST",
        "RAISE_VARARGS",
        "RERAISE",
    )
    if name in OPCODE
)
PAIRED_SLOTS = frozenset(
    OPCODE[name] for name in ("LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST") if name in OPCODE
)
"""Superinstructions: two slots of four bits each, the first in the upper half."""

SLOTS = (frozenset(opcode.haslocal) | frozenset(opcode.hasfree)) - PAIRED_SLOTS
"""Opcodes whose argument is an index into the frame's localsplus."""

NULL_BELOW = VERSION < (3, 13)
"""Whether the NULL of a call without a self stands below the callable."""
