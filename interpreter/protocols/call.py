"""Calls: Python functions are inlined, known builtins modelled, all else is opaque."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodDescriptorType, MethodType, WrapperDescriptorType
from typing import TYPE_CHECKING, Any

from minijit.interpreter.ir import constant_text
from minijit.interpreter.protocols import lookup, promote
from minijit.interpreter.protocols.bind import Keywords, bind
from minijit.interpreter.protocols.continuation import Extras, complete
from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import CodeKey, Frame, Then, Unit, unit_of
from minijit.interpreter.trackers import (
    UNBOUND,
    Constant,
    Function,
    Generator,
    Instance,
    Mapping,
    Method,
    Sequence,
    Tracker,
)

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer

INLINE_DEPTH = 24
RECURSION = 1
STATIC_RECURSION = 24
CALLEE_SIZE = 400
GENERATOR, COROUTINE, ASYNC_GENERATOR, ITERABLE_COROUTINE = 0x20, 0x80, 0x200, 0x100
FRAME_FUNCTIONS = frozenset({"locals", "vars", "dir", "eval", "exec", "breakpoint"})
FRAME_ATTRIBUTES = frozenset({"_getframe", "currentframe", "_getframemodulename"})
"""Names by which a function may look at its own frame: such a function is not inlined."""

Model = Callable[["Tracer", list[Tracker], Keywords, Then, Extras], bool]
MODELS: dict[Any, Model] = {}
"""Builtin callable (by identity) -> its model. Filled by the modules of `models`."""


def model(*callables: Any) -> Callable[[Model], Model]:
    """Register the model of builtins."""

    def register(function: Model) -> Model:
        for builtin in callables:
            MODELS[builtin] = function
        return function

    return register


def invoke(
    t: Tracer, function: Tracker, arguments: list[Tracker], keywords: Keywords, then: Then, extras: Extras = ()
) -> bool:
    """Call something; `then` gets the result, now or when the inlined frame returns."""
    function = t.state.resolve(function)
    record = t.state.record(function)
    if isinstance(record, Method):
        return invoke(t, record.function, [record.owner, *arguments], keywords, then, extras)
    if isinstance(record, Function):
        return _call_virtual(t, function, record, arguments, keywords, then, extras)
    if isinstance(record, Instance):
        return _call_instance(t, function, record.cls, arguments, keywords, then, extras)
    if not isinstance(function, Constant):
        known = t.need_type(function)
        constant = promote.by_identity(t, function)
        if constant is None:
            if known is None or known.__flags__ & 1 << 8:
                raise Opaque("the callee is not known")
            return _call_instance(t, function, known, arguments, keywords, then, extras)
        function = constant
    return _call_constant(t, function, arguments, keywords, then, extras)


def _call_constant(
    t: Tracer, function: Constant, arguments: list[Tracker], keywords: Keywords, then: Then, extras: Extras
) -> bool:
    value: Any = function.value
    kind = type(value)
    if kind is FunctionType:
        return _call_function(t, function, value, arguments, keywords, then, extras)
    if kind is MethodType:
        bound = [function.derived(value.__self__), *arguments]
        return invoke(t, Constant(value.__func__), bound, keywords, then, extras)
    if kind is functools.partial:
        return _call_partial(t, function, value, arguments, keywords, then, extras)
    known = MODELS.get(value) if kind in HASHED_KINDS or kind is type else None
    if known is not None:
        return known(t, arguments, keywords, then, extras)
    if issubclass(type(value), type):
        return CONSTRUCT[0](t, value, arguments, keywords, then, extras)
    if kind in HASHED_KINDS:
        raise Opaque(f"{constant_text(value)} is not known")
    return _call_instance(t, function, kind, arguments, keywords, then, extras)


HASHED_KINDS = (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)
CONSTRUCT: list[Callable[..., bool]] = []
"""The protocol that makes instances; set by `construct`, which needs this module."""


def _call_partial(
    t: Tracer, function: Constant, value: Any, arguments: list[Tracker], keywords: Keywords, then: Then, extras: Extras
) -> bool:
    fixed = [function.derived(item) for item in value.args]
    given = dict(keywords)
    named = {name: given.pop(name, Constant(item)) for name, item in value.keywords.items()}
    if value.keywords:
        t.assume("dict_items", (value.keywords, tuple(value.keywords), tuple(value.keywords.values())))
    return invoke(t, Constant(value.func), fixed + arguments, (*named.items(), *given.items()), then, extras)


def _call_instance(
    t: Tracer, function: Tracker, cls: type, arguments: list[Tracker], keywords: Keywords, then: Then, extras: Extras
) -> bool:
    found = lookup.in_class(cls, "__call__")
    if type(found) is not FunctionType:
        raise Opaque("the callee is not known")
    t.assume_class(cls)
    return invoke(t, Constant(found), [function, *arguments], keywords, then, extras)


def invoke_special(t: Tracer, cls: type, name: str, arguments: list[Tracker], then: Then, extras: Extras) -> bool:
    """Call a special method found on the class; the caller has assumed the class."""
    function = lookup.in_class(cls, name)
    if type(function) is not FunctionType:
        raise Opaque(f"{cls.__name__}.{name} is not a Python function")
    return invoke(t, Constant(function), arguments, (), then, extras)


# -- Python functions ------------------------------------------------------------------------------


def _call_function(
    t: Tracer, tracker: Constant, function: FunctionType, arguments: list[Tracker], keywords: Keywords,
    then: Then, extras: Extras,
) -> bool:
    code = t.original_code(function)
    if not tracker.frozen:
        t.assume("function", (function, code, function.__defaults__, function.__kwdefaults__))
    defaults: list[Tracker] = [Constant(value) for value in function.__defaults__ or ()]
    kwdefaults: dict[str, Tracker] = {}
    for name, value in (function.__kwdefaults__ or {}).items():
        t.assume("global_is", (function.__kwdefaults__, name, value))
        kwdefaults[name] = Constant(value)
    why_not = why_not_inlined(t, code, arguments)
    if why_not is not None:
        raise Opaque(why_not)
    slots = bind(t, code, arguments, keywords, defaults, kwdefaults)
    closure: list[Tracker] = [Constant(cell) for cell in function.__closure__ or ()]
    return enter(t, code, tracker, slots, closure, then, extras)


def _call_virtual(
    t: Tracer, tracker: Tracker, record: Function, arguments: list[Tracker], keywords: Keywords,
    then: Then, extras: Extras,
) -> bool:
    why_not = why_not_inlined(t, record.code, arguments)
    if why_not is not None:
        raise Opaque(why_not)
    defaults, kwdefaults, _, closure = record.extras
    default_items = _items(t, defaults)
    mapping = t.state.record(kwdefaults)
    named: dict[str, Tracker] = {}
    if kwdefaults is not UNBOUND:
        if not isinstance(mapping, Mapping):
            raise Opaque("keyword defaults that are not known")
        named = dict(zip(mapping.keys, mapping.values, strict=True))
    slots = bind(t, record.code, arguments, keywords, default_items, named)
    return enter(t, record.code, tracker, slots, _items(t, closure), then, extras)


def _items(t: Tracer, tracker: Tracker) -> list[Tracker]:
    tracker = t.state.resolve(tracker)
    if tracker is UNBOUND:
        return []
    record = t.state.record(tracker)
    if isinstance(record, Sequence):
        return list(record.items)
    if isinstance(tracker, Constant) and type(tracker.value) is tuple:
        return [Constant(value) for value in tracker.value]
    raise Opaque("a closure that is not known")


def why_not_inlined(t: Tracer, code: CodeType, arguments: list[Tracker]) -> str | None:
    """The reason why a call of this code is not inlined, in a sentence; None if it is."""
    if code.co_flags & (COROUTINE | ASYNC_GENERATOR | ITERABLE_COROUTINE):
        return f"{code.co_qualname} is a coroutine function"
    names = frame_names(code)
    if names:
        return f"{code.co_qualname} uses {min(names)}"
    if unit_of(code).late_cells:
        return f"a comprehension of {code.co_qualname} makes closures"
    if len(code.co_code) > 2 * CALLEE_SIZE * 4:
        return f"{code.co_qualname} is too large"
    if len(t.state.frames) > INLINE_DEPTH:
        return "calls are nested too deeply"
    if t.in_root and CodeKey(code) in t.hopeless:
        return f"{code.co_qualname} needs a frame of its own"
    active = sum(frame.unit.code is code for frame in t.state.frames)
    static = any(isinstance(t.state.resolve(x), Constant) and t.state.resolve(x).static for x in arguments)  # type: ignore[attr-defined]
    if active > (STATIC_RECURSION if static else RECURSION):
        return f"{code.co_qualname} is recursive"
    return None


def frame_names(code: CodeType) -> set[str]:
    """Globals and attributes of the code by which a frame may be looked at."""
    if not (FRAME_FUNCTIONS | FRAME_ATTRIBUTES).intersection(code.co_names):
        return set()
    found = set(FRAME_ATTRIBUTES.intersection(code.co_names))
    for inst in unit_of(code).decoded.instructions:
        if inst.op == "LOAD_GLOBAL" and inst.arg[0] in FRAME_FUNCTIONS:
            found.add(inst.arg[0])
        elif inst.op in ("LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS") and inst.arg in FRAME_FUNCTIONS:
            found.add(inst.arg)
    return found


def yields_under_protection(unit: Unit) -> bool:
    """Whether a suspended generator, dropped, would still have code to run."""
    instructions = unit.decoded.instructions
    return any(
        inst.op in ("YIELD_VALUE", "SEND")
        for handler in unit.decoded.handlers
        if instructions[handler.target].op != "STOPITERATION_ERROR"
        for inst in instructions[handler.start : handler.end]
    )


def enter(
    t: Tracer,
    code: CodeType,
    function: Tracker,
    slots: list[Tracker],
    closure: list[Tracker],
    then: Then,
    extras: Extras,
) -> bool:
    """Push the frame of an inlined call (or make its generator)."""
    unit = unit_of(code)
    if code.co_flags & GENERATOR and yields_under_protection(unit):
        raise Opaque(f"{code.co_qualname} yields inside a try or with")
    if closure:
        slots[len(slots) - len(closure) :] = closure
    frame = Frame(unit, function, slots, then)
    frame.extras = extras
    t.gain("inlined", code.co_qualname, f"{code.co_filename}:{code.co_firstlineno}")
    if code.co_flags & GENERATOR:
        frame.then, frame.extras = Then("generator_return"), ()
        return complete(t, then, extras, t.virtual(Generator(frame, t.state.root.pc)))
    t.state.frames.append(frame)
    return True
