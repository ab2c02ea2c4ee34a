"""Models of the methods of deques."""

from __future__ import annotations

from collections import deque
from typing import Any

from minijit.interpreter.effects import example_of, need_index, overwritable, own, replay, settled
from minijit.interpreter.models.types import Arguments, exactly
from minijit.interpreter.protocols import call
from minijit.interpreter.protocols.bind import Keywords
from minijit.interpreter.protocols.call import model
from minijit.interpreter.protocols.continuation import Extras, complete
from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import Then
from minijit.interpreter.tracer import Tracer
from minijit.interpreter.trackers import MISSING, PLAIN_TYPES, Constant, Tracker


def real_deque(t: Tracer, tracker: Tracker, method: str) -> tuple[Tracker, Any]:
    """An exact deque, and the one met in the traced call."""
    target = t.state.resolve(tracker)
    example = example_of(target)
    if t.need_type(target) is not deque or type(example) is not deque:
        raise Opaque(f"deque.{method} of something that is not a deque")
    return target, example


def item_at(t: Tracer, target: Tracker, example: Any, index: int) -> Any:
    """Read an end of the deque; that it is empty aborts."""
    held = example[index] if example else MISSING
    return t.emit("item", (target, Constant(index)), None, None, held)


def _appends(method: Any, other_end: int) -> None:
    def append(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
        exactly(arguments, keywords, 2)
        target, example = real_deque(t, arguments[0], method.__name__)
        limit = t.emit("attr", (target,), "maxlen", None, example.maxlen, raises=False)
        if example.maxlen is None:
            t.test("is", limit, (None,))
        else:
            overwritable(t, target)
            settled(t, target)
            if not example or t.need_type(item_at(t, target, example, other_end)) not in PLAIN_TYPES:
                raise Opaque("what falls out of the deque is not known")
        replay(t, method, (target, arguments[1]))
        return complete(t, then, extras, Constant(None))

    call.MODELS[method] = append


def _pops(method: Any, end: int) -> None:
    def pop(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
        exactly(arguments, keywords, 1)
        target, example = real_deque(t, arguments[0], method.__name__)
        settled(t, target)
        item = item_at(t, target, example, end)
        own(t, item)
        replay(t, method, (target,), exclusive=True)
        return complete(t, then, extras, item)

    call.MODELS[method] = pop


_appends(deque.append, 0)
_appends(deque.appendleft, -1)
_pops(deque.pop, -1)
_pops(deque.popleft, 0)


@model(deque.rotate)
def rotate(t: Tracer, arguments: Arguments, keywords: Keywords, then: Then, extras: Extras) -> bool:
    """deque.rotate(n=1)."""
    exactly(arguments, keywords, 1, 2)
    target, _ = real_deque(t, arguments[0], "rotate")
    count = need_index(t, t.state.resolve(arguments[1])) if len(arguments) == 2 else Constant(1)
    replay(t, deque.rotate, (target, count))
    return complete(t, then, extras, Constant(None))
