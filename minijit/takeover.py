"""Other code for every Python function that is called while a takeover is in force.

Left alone are minijit's own functions, whatever runs while it compiles (the shim sees to that), and code that has no
fast locals: modules, class bodies, `exec`.
"""

from __future__ import annotations

import fnmatch
import functools
import re
import weakref
import zlib
from collections import Counter
from collections.abc import Iterator
from types import CodeType, FunctionType

import minijit
import minijit.codegen
import minijit.interpreter
from minijit import _shim
from minijit.codegen import embed
from minijit.errors import InternalError, Unsupported
from minijit.install import Installation, decided, install, internal_error
from minijit.options import Options

__all__ = ["Full", "Identity", "Takeover"]

PACKAGES = (minijit, minijit.interpreter, minijit.codegen)
OWN_FOLDERS = tuple(f"{path}/" for package in PACKAGES for path in package.__path__)


class Takeover:
    """A context; what to do with a function is up to the classes below. Mutates."""

    def __init__(self, pattern: str = "*") -> None:
        self.matches = re.compile(fnmatch.translate(pattern)).match
        self.compiled = 0
        self.refused: Counter[str] = Counter()
        self.errors: list[InternalError] = []

    def __enter__(self) -> None:
        _shim.capture(self.captured, is_wanted)

    def __exit__(self, *_: object) -> None:
        _shim.release()

    def captured(self, function: FunctionType, arguments: tuple[object, ...]) -> None:
        """A function is about to run code that is not ours."""
        code = function.__code__
        try:
            if self.matches(f"{function.__globals__.get('__name__')}.{function.__qualname__}"):
                self.take(function, arguments)
            else:
                _shim.unwatch(code)
        except Exception as error:  # the border with the user's program
            self.errors.append(internal_error(code, error))
            _shim.unwatch(code)

    def take(self, function: FunctionType, arguments: tuple[object, ...]) -> None:
        """Give the function other code."""
        raise NotImplementedError

    def aborted(self) -> int:
        """How many functions left compiled code half-way at least once."""
        return 0

    def report(self) -> Iterator[str]:
        """Lines that tell what happened."""
        refused = ", ".join(f"{code} {number}" for code, number in sorted(self.refused.items()))
        yield (f"minijit: {self.compiled} functions compiled, {self.refused.total()} refused"
               f"{f' ({refused})' if refused else ''}, {self.aborted()} aborted, {len(self.errors)} internal errors")
        yield from (f"minijit: {error}" for error in self.errors)


def is_wanted(code: CodeType) -> bool:
    """Tell whether a code object is neither part of minijit nor made by it."""
    made = any(isinstance(constant, _shim.Entry) for constant in code.co_consts)
    return not made and not code.co_filename.startswith(OWN_FOLDERS)


class Identity(Takeover):
    """A copy of the original behind an entry that is always true for half of all code objects, never for the rest."""

    def __init__(self, pattern: str = "*") -> None:
        super().__init__(pattern)
        self.copies: dict[int, tuple[weakref.ref[CodeType], CodeType]] = {}

    def take(self, function: FunctionType, arguments: tuple[object, ...]) -> None:
        """Install the copy; all functions made by one `def` share it."""
        original = function.__code__
        _, copy = self.copies.get(id(original)) or (None, None)
        try:
            function.__code__ = copy or self.copy(original)
        except embed.CannotEmbed:
            self.refused["MJ002"] += 1
            _shim.unwatch(original)

    def copy(self, original: CodeType) -> CodeType:
        """Make the code object, and keep it as long as the original is there."""
        taken = zlib.crc32(original.co_qualname.encode(errors="replace")) & 1
        code = embed.identity(original, _shim.Entry(() if taken else None, _shim.Counter(None)))
        copies, key = self.copies, id(original)
        copies[key] = weakref.ref(original, functools.partial(copies.pop, key)), code  # no frame for a tracer to see
        self.compiled += 1
        return code


class Full(Takeover):
    """`minijit.compile` for everything: at the second call, or at the first if `eager`.

    `gainless`: also functions that do not become faster.
    """

    def __init__(self, pattern: str = "*", eager: bool = False, gainless: bool = False) -> None:
        super().__init__(pattern)
        self.eager = eager
        self.options = Options(warmup=1 if eager else 2, gainless=gainless)
        self.installations: weakref.WeakSet[Installation] = weakref.WeakSet()

    def __enter__(self) -> None:
        decided.append(self.note)
        super().__enter__()

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        decided.remove(self.note)

    def take(self, function: FunctionType, arguments: tuple[object, ...]) -> None:
        """Install what counts, or what was compiled for another function of the same `def`."""
        installation = install(function, self.options)
        self.installations.add(installation)
        if installation.state == "refused":
            _shim.unwatch(installation.original)
        elif self.eager and installation.state == "cold":
            installation.event("warm", function, arguments)

    def note(self, installation: Installation) -> None:
        """Count a decision."""
        reason = installation.reason
        if isinstance(reason, Unsupported):
            self.refused[reason.code] += 1
        elif reason is not None:
            self.errors.append(reason)
        else:
            self.compiled += len(installation.regions) == 1
        if installation.state == "refused":
            _shim.unwatch(installation.original)

    def aborted(self) -> int:
        """Of those that are still there."""
        return sum(installation.counter.aborts > 0 for installation in self.installations)
