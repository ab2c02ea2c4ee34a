"""Run the programs, plain and compiled."""

from __future__ import annotations

import functools
import textwrap

from mutation.programs import PROGRAMS

from minijit.install import install
from minijit.options import Options


def outcome(name: str, compiled: bool) -> list[str]:
    """Run a program; everything it wrote down."""
    log: list[str] = []
    namespace: dict = {"__name__": "program", "note": lambda *seen: log.append(repr(seen))}
    exec(code(name), namespace)
    function = namespace["f"]
    if compiled:
        install(function, Options(gainless=True, **namespace.get("OPTIONS", {})))
    try:
        namespace["drive"](functools.partial(call, function, log))
    except Exception as error:  # a fault may break what the program looks at
        log.append(f"{type(error).__name__}: {error}")
    return log


@functools.cache
def code(name: str):
    return compile(textwrap.dedent(PROGRAMS[name]), f"<{name}>", "exec")


def call(function, log, *args):
    try:
        result = function(*args)
    except Exception as error:
        log.append(f"{type(error).__name__}: {error}, line {line_of(error)}")
        return None
    log.append(f"{result!r}" if "object at" not in repr(result) else "an object")
    return result


def line_of(error):
    traceback = error.__traceback__
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_lineno


def first_difference(expected: list[str], actual: list[str]) -> str | None:
    for left, right in zip(expected, actual, strict=False):
        if left != right:
            return f"{left} became {right}"
    return None if len(expected) == len(actual) else f"{len(expected)} lines became {len(actual)}"
