"""Can minijit work in this interpreter? Read by every Python there is, so it uses no newer syntax."""

from __future__ import annotations

import importlib.machinery
import os
import sys

__all__ = ["exit_code", "problem", "require"]

OLDEST, NEWEST = (3, 11), (3, 13)
exit_code = 6
"""Of the command line when the interpreter is not fit."""


def problem() -> str | None:
    """What is in the way, in a sentence; None when nothing is."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.implementation.name != "cpython":
        return f"minijit needs CPython 3.11 to 3.13; this is {sys.implementation.name} {version}"
    if not OLDEST <= tuple(sys.version_info[:2]) <= NEWEST:
        return f"minijit needs CPython 3.11 to 3.13; this is CPython {version}"
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return f"minijit needs the global interpreter lock, and this CPython {version} runs without"
    if shim() is None:
        return f"minijit's C extension is not built for CPython {version}; install minijit with this interpreter"
    return None


def shim() -> str | None:
    """Where the C extension for this interpreter is; None when it is not there."""
    spec = importlib.machinery.PathFinder.find_spec("minijit._shim", sys.modules["minijit"].__path__)
    return spec.origin if spec is not None else None


def require() -> None:
    """Raise ImportError where minijit can't work; the command line ends with a sentence instead."""
    found = problem()
    if found is None:
        return
    if is_command():
        sys.stderr.write(f"minijit: {found}\n")
        raise SystemExit(exit_code)
    raise ImportError(found)


def is_command() -> bool:
    """Is it the `minijit` command, or `python -m minijit`, that imports us?"""
    started = list(getattr(sys, "orig_argv", []))
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    return name in ("minijit", "minijit.exe") or (name == "-m" and "minijit" in started)
