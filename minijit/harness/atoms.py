"""Objects whose identity says nothing: they are told by exact type and value, bit for bit."""

from __future__ import annotations

import re
import struct
import types
from collections.abc import Callable
from typing import Any

__all__ = ["ATOMS", "UNSET", "scrub"]

ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
DIGITS = 10**1000
"""Integers above are written in hexadecimal, which CPython does not limit."""


def scrub(text: str) -> str:
    """Take the addresses out of a text; no two runs have the same."""
    return ADDRESS.sub("at 0x...", text) if " at 0x" in text else text


def _int(value: int) -> str:
    return int.__repr__(value) if -DIGITS < int(value) < DIGITS else hex(value)


def _float(value: float) -> str:
    bits = "" if float.__eq__(value, value) is True else " " + struct.pack(">d", value).hex()
    return float.__repr__(value) + bits


def _complex(value: complex) -> str:
    real, imag = complex.__dict__["real"].__get__(value), complex.__dict__["imag"].__get__(value)
    return f"({_float(real)}, {_float(imag)})"


def _str(value: str) -> str:
    return scrub(str.__repr__(value))


def _code(value: types.CodeType) -> str:
    return f"{value.co_qualname} line {value.co_firstlineno}"


class _Unset:
    """Stands where nothing is bound."""

    def __repr__(self) -> str:
        return "unset"


UNSET = _Unset()

ATOMS: dict[type, Callable[[Any], str]] = {
    type(None): repr, type(...): repr, type(NotImplemented): repr, bool: repr,
    int: _int, float: _float, complex: _complex, str: _str, bytes: bytes.__repr__, range: range.__repr__,
    types.CodeType: _code, types.FrameType: lambda value: f"frame of {value.f_code.co_qualname}",
    _Unset: repr,
}  # fmt: skip
