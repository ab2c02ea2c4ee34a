"""Compile every function of the program under test, and leave installed packages alone."""

from __future__ import annotations

from types import FunctionType

from minijit import _shim
from minijit.harness.owned import is_own_module
from minijit.takeover import Full

__all__ = ["Everything"]


class Everything(Full):
    """A context, to be entered for each test."""

    def captured(self, function: FunctionType, arguments: tuple[object, ...]) -> None:
        """A function is about to run that was not looked at yet."""
        if is_own_module(function.__module__ or ""):
            super().captured(function, arguments)
        else:
            _shim.unwatch(function.__code__)
