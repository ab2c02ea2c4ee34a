"""How a person would write down what a tracker stands for: `self.items`, `d['k']`, `G`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from minijit.interpreter.ir import constant_text
from minijit.interpreter.trackers import Constant, Runtime, Tracker

if TYPE_CHECKING:
    from minijit.interpreter.state import Frame
    from minijit.interpreter.tracer import Tracer

DEPTH = 4


def path(t: Tracer, tracker: Tracker, depth: int = DEPTH) -> str:
    """The expression of the running frame that gives the value, as far as it is known."""
    tracker = t.state.resolve(tracker)
    if isinstance(tracker, Constant):
        return _constant(t, tracker.value)
    if isinstance(tracker, Runtime):
        for name, local in variables(t, t.frame):
            if isinstance(local, Runtime) and local.value is tracker.value:
                return name
        found = _place(t, tracker, depth) if depth else None
        if found is not None:
            return found
    kind = t.known_type(tracker)
    return f"<{kind.__name__}>" if kind is not None else "<object>"


def variables(t: Tracer, frame: Frame) -> Iterator[tuple[str, Tracker]]:
    """Names and values of a frame's locals, those in cells included where their content is known."""
    code = frame.unit.code
    names = [*code.co_varnames, *(n for n in code.co_cellvars if n not in code.co_varnames), *code.co_freevars]
    for name, local in zip(names, frame.locals, strict=False):
        tracker = t.state.resolve(local)
        yield name, tracker
        if isinstance(tracker, Runtime):
            content = t.state.facts.get((tracker.value, "cell", ""))
            if content is not None:
                yield name, t.state.resolve(content)


def _place(t: Tracer, tracker: Runtime, depth: int) -> str | None:
    """A location that is known to hold the value."""
    for (base, kind, name), found in t.state.facts.items():
        held = t.state.resolve(found)
        if not isinstance(held, Runtime) or held.value is not tracker.value or kind not in ("attr", "item"):
            continue
        owner = _base(t, base, depth - 1)
        return f"{owner}.{name}" if kind == "attr" else f"{owner}[{constant_text(name)}]"
    return None


def _base(t: Tracer, base: Any, depth: int) -> str:
    if isinstance(base, tuple):
        return next((name for name, value in t.globals_of(t.frame).items() if id(value) == base[1]), "<object>")
    return path(t, Runtime(base), depth)


def _constant(t: Tracer, value: object) -> str:
    for name, known in t.globals_of(t.frame).items():
        if known is value:
            return name
    return constant_text(value)
