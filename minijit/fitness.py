"""Can minijit work in this interpreter? Read by every Python there is, so it uses no newer syntax."""

from __future__ import annotations

import importlib.machinery
import os
import sys

__all__ = ["exit_code", "problem", "require"]

OLDEST, NEWEST = (3, 11), (3, 13)
exit_code = 6
"""Of the command line when the interpreter is not fit."""


def problem():  # type: ignore[no-untyped-def]
    """What is in the way, in a sentence; None when nothing is."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.implementation.name != "cpython":
        return "minijit needs CPython 3.11 to 3.13; this is %s %s" % (sys.implementation.name, version)
    if not OLDEST <= tuple(sys.version_info[:2]) <= NEWEST:
        return "minijit needs CPython 3.11 to 3.13; this is CPython %s" % version
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return "minijit needs the global interpreter lock, and this CPython %s runs without" % version
    if shim() is None:
        return "minijit's C extension is not built for CPython %s; install minijit with this interpreter" % version
    return None


def shim():  # type: ignore[no-untyped-def]
    """Where the C extension for this interpreter is; None when it is not there."""
    folder = os.path.dirname(os.path.abspath(__file__))
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        path = os.path.join(folder, "_shim" + suffix)
        if os.path.exists(path):
            return path
    spec = importlib.machinery.PathFinder.find_spec("minijit._shim", sys.modules["minijit"].__path__)
    return spec.origin if spec is not None else None


def require():  # type: ignore[no-untyped-def]
    """Raise ImportError where minijit can't work; the command line ends with a sentence instead."""
    found = problem()
    if found is None:
        return
    if is_command():
        sys.stderr.write("minijit: %s\n" % found)
        raise SystemExit(exit_code)
    raise ImportError(found)


def is_command():  # type: ignore[no-untyped-def]
    """Is it the `minijit` command, or `python -m minijit`, that imports us?"""
    started = list(getattr(sys, "orig_argv", []))
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    return name in ("minijit", "minijit.exe") or (name == "-m" and "minijit" in started)
