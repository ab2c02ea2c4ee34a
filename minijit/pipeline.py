"""From a call to a code object: interpret, optimise, generate."""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType, FunctionType

from minijit._shim import Counter
from minijit.errors import Unsupported
from minijit.interpreter.ir import Region
from minijit.options import Options

__all__ = ["Product", "Request", "build"]


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """One compilation. `arguments` are those of the call that caused it, in the order of its slots.

    `event` is "warm" for the first entry, "miss" when no entry wanted these arguments, "abort"
    when compiled code left half-way too often. `regions` are the entries made so far.
    """

    event: str
    original: CodeType
    function: FunctionType
    arguments: tuple[object, ...]
    options: Options
    counter: Counter
    regions: tuple[Region, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """A code object ready to be installed, with the regions its entries were made of."""

    code: CodeType
    regions: tuple[Region, ...]


def build(request: Request) -> Product:
    """Compile, or raise `Unsupported` when the function is to be left as it is."""
    raise Unsupported("MJ001", "the compiler is not connected", filename=request.original.co_filename)
