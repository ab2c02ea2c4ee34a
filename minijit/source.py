"""A region as Python source that runs and gives the same results.

    @resuming
    def total(points):
        if not (type(points) is list):
            return original(points)
        try:
            ...
        except Exception:
            return leave(3, locals())

`leave(3, locals())` is where compiled code would go back to the original at snapshot 3; so does the source.
"""

from __future__ import annotations

import ast
import linecache
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import astor  # type: ignore[import-untyped]

from minijit.as_python.expressions import Untranslatable
from minijit.as_python.structure import Structure, Unstructured, labelled
from minijit.as_python.writer import Writer
from minijit.interpreter.ir import Branch, Operation, Region, Terminator
from minijit.originals import original_code

__all__ = ["Source", "render_source", "step_describer"]

MARK = re.compile(r"^( *)[\"']+@(\d+)[\"']+$", re.M)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Compiled code as Python. `function` runs it; None, with the `reason`, where it can't be run.

    A `reason` beside a function tells why it is written in labelled blocks.
    """

    text: str
    complete: bool
    reason: str
    function: Callable[..., Any] | None


def render_source(region: Region, function: FunctionType) -> Source:
    """Write a region as Python."""
    try:
        return _rendered(region, function)
    except Untranslatable as untranslatable:
        reason = str(untranslatable)
    except Exception as error:  # a view must not spoil the explanation it is part of
        reason = f"internal error, {type(error).__name__}: {error}"
    text = "\n".join(f"# {line}" for line in str(region).splitlines())
    return Source(text, False, f"can't be run as source: {reason}; its blocks are", None)


def _rendered(region: Region, function: FunctionType) -> Source:
    reason = ""
    writer = Writer(region, function)
    try:
        body = Structure(region, writer).body()
    except Unstructured as unstructured:
        reason = f"labelled blocks, since {unstructured}"
        writer = Writer(region, function)
        body = labelled(region, writer)
    tree = ast.Module([writer.definition(body)], [])
    text = commented(printed(tree), original_code(function))
    namespace = writer.namespace
    exec(compile(text, f"<source of {function.__qualname__}>", "exec"), namespace)
    return Source(text, True, reason, namespace[writer.title])


def step_describer(region: Region, function: FunctionType) -> Callable[[Operation | Terminator], str]:
    """How to say in Python, in the names of the source, what one step does."""
    try:
        writer = Writer(region, function)
    except Untranslatable:
        return str
    writer.folded = {}

    def describe(step: Operation | Terminator) -> str:
        try:
            statements = writer.operation(step) if isinstance(step, Operation) else writer.terminator(step)
        except Untranslatable:
            return str(step)
        tree = ast.Module([statement for statement, _ in statements], [])
        text = ast.unparse(ast.fix_missing_locations(tree))
        words = "; ".join(" ".join(line.split()) for line in text.splitlines() if line.strip())
        return f"if {words}" if isinstance(step, Branch) else words

    return describe


def printed(tree: ast.Module) -> str:
    """A tree as text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        text: str = astor.to_source(ast.fix_missing_locations(tree))
    return text


def commented(text: str, code: CodeType) -> str:
    """Turn marks into comments: the line of the original that what follows came from."""

    def comment(match: re.Match[str]) -> str:
        line = linecache.getline(code.co_filename, int(match[2])).strip()
        return f"{match[1]}# line {match[2]}" + (f": {line}" if line else "")

    return MARK.sub(comment, text)
