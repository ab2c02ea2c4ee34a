"""Compile every Python function of the program that is called while this is in force."""

from __future__ import annotations

import fnmatch
from types import CodeType, FunctionType

import minijit
from minijit import _shim
from minijit.harness.owned import INSTALLED, is_own_module
from minijit.install import Installation
from minijit.originals import installation_of

__all__ = ["Everything"]

class Everything:
    """A context. `installations` are those of the functions met so far, by address."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.paused = False
        self.installations: dict[int, Installation] = {}

    def __enter__(self) -> None:
        if not self.paused:
            _shim.capture(self._compile, is_of_the_program)

    def __exit__(self, *_: object) -> None:
        _shim.release()

    def _compile(self, function: FunctionType, arguments: tuple[object, ...]) -> None:
        """A function is about to run: install what counts its calls."""
        module = function.__module__ or ""
        if not is_own_module(module) or not fnmatch.fnmatch(f"{module}.{function.__qualname__}", self.pattern):
            return
        minijit.compile(function)
        installation = installation_of(function)
        if installation is not None:
            self.installations[id(installation)] = installation


def is_of_the_program(code: CodeType) -> bool:
    """Tell whether a code object comes from a file that is not installed."""
    return not code.co_filename.startswith((*INSTALLED, "<"))
