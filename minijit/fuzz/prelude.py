"""Names every generated program finds: library modules and functions that must stay opaque."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import operator
import sys
import weakref
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Coroutine
from types import FrameType, TracebackType
from typing import Any

from minijit.fuzz.program import FILENAME


def trace(error: BaseException) -> list[tuple[str, int]]:
    """Give the function names and lines of a traceback."""
    steps: list[tuple[str, int]] = []
    step: TracebackType | None = error.__traceback__
    while step is not None:
        steps.append((step.tb_frame.f_code.co_name, step.tb_lineno))
        step = step.tb_next
    return steps


def context(error: BaseException) -> list[tuple[str, bool]]:
    """Give the types along the context chain, and whether each is also the cause."""
    chain: list[tuple[str, bool]] = []
    step: BaseException | None = error
    while step is not None and len(chain) < 10:
        chain.append((type(step).__name__, step.__cause__ is not None))
        step = step.__context__
    return chain


def _program_frames() -> list[FrameType]:
    frames: list[FrameType] = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == FILENAME:
            frames.append(frame)
        frame = frame.f_back
    return frames


def frames() -> list[tuple[str, int]]:
    """Give the names and lines of the program's frames, innermost first."""
    return [(frame.f_code.co_name, frame.f_lineno) for frame in _program_frames()]


def caller() -> tuple[str, int]:
    """Give the name and line of the calling function."""
    frame = sys._getframe(1)
    return frame.f_code.co_name, frame.f_lineno


def peek(name: str) -> object:
    """Give the value of the caller's local."""
    return sys._getframe(1).f_locals.get(name, "unbound")


def drive(coroutine: Coroutine[Any, Any, Any]) -> list[object]:
    """Run a coroutine; give what it yielded and returned."""
    seen: list[object] = []
    for step in range(9):
        try:
            seen.append(coroutine.send(None if step == 0 else step))
        except StopIteration as stop:
            return [*seen, stop.value]
        except Exception as error:
            return [*seen, type(error).__name__, error.args]
    coroutine.close()
    return seen


NAMES: dict[str, object] = {
    "Counter": Counter,
    "OrderedDict": OrderedDict,
    "caller": caller,
    "context": context,
    "contextlib": contextlib,
    "dataclasses": dataclasses,
    "defaultdict": defaultdict,
    "deque": deque,
    "drive": drive,
    "frames": frames,
    "functools": functools,
    "itertools": itertools,
    "namedtuple": namedtuple,
    "operator": operator,
    "peek": peek,
    "sys": sys,
    "trace": trace,
    "weakref": weakref,
}
