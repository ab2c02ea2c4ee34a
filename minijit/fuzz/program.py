"""A generated program: its source, what of it is compiled, and how often it is called."""

from __future__ import annotations

import ast
import functools
import warnings
from dataclasses import asdict, dataclass
from types import CodeType
from typing import Any

FILENAME = "<program>"
MODULE = "program"


@functools.lru_cache(maxsize=4)
def code_of(source: str | ast.Module) -> CodeType:
    """Compile a program's source, once for all its instances."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(source, FILENAME, "exec", dont_inherit=True)


@dataclass(frozen=True, slots=True)
class Program:
    """Source of a module with `run(...)`, `make(i)` and `change(i)`, and how to drive it.

    `make(i)` gives the positional and keyword arguments of call `i`; `change(i)` alters the
    module's world before it. `targets` are the module-level names given to the compiler,
    `options` what is passed to it for `run`. `eager` takes a snapshot after every call
    rather than only at the end: reading an instance's attributes changes how CPython
    stores them, so both ways are needed.
    """

    kind: str
    seed: int
    source: str
    calls: int = 4
    targets: tuple[str, ...] = ("run",)
    options: tuple[tuple[str, object], ...] = ()
    eager: bool = False

    @property
    def name(self) -> str:
        """Name the program in reports and file names."""
        return f"{self.kind}_{self.seed}"

    def to_json(self) -> dict[str, Any]:
        """Give the program as plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Program:
        """Undo `to_json`, also after a round trip that made lists of the tuples."""
        options = tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in data["options"])
        return cls(**{**data, "targets": tuple(data["targets"]), "options": options})
