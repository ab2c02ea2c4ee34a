"""Attributes: the generic lookup rules, applied to what is known of class and instance.

`load` hands the attribute on; `absent` (a tracker) is handed on instead where there is none and the
caller has a default; without one, compiled code is left so that the original raises.
"""

from __future__ import annotations

from collections.abc import Callable
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

from minijit.interpreter import effects, naming
from minijit.interpreter.protocols import call, lookup, promote
from minijit.interpreter.protocols.continuation import Extras, complete
from minijit.interpreter.protocols.lookup import ABSENT
from minijit.interpreter.signals import Opaque
from minijit.interpreter.state import Then
from minijit.interpreter.tracer import same
from minijit.interpreter.trackers import (
    MISSING,
    PLAIN_TYPES,
    UNBOUND,
    Constant,
    Exception_,
    Function,
    Instance,
    Mark,
    Method,
    Runtime,
    Slice,
    Super,
    Tracker,
)

if TYPE_CHECKING:
    from minijit.interpreter.tracer import Tracer

GONE = Mark("GONE")
"""Fact: the instance itself has no such attribute."""


def load(t: Tracer, owner: Tracker, name: str, then: Then, extras: Extras, absent: Tracker | None = None) -> bool:
    """Hand on `owner.name`."""
    owner = t.state.resolve(owner)
    record = t.state.record(owner)
    special = RECORDS.get(type(record)) if record is not None else None
    if special is not None:
        found = special(t, record, name)
        if found is not None:
            return complete(t, then, extras, found)
    if isinstance(record, Super):
        return _load_super(t, record, name, then, extras)
    if isinstance(owner, Runtime):
        constant = promote.by_identity(t, owner) if issubclass(type(owner.example), promote.CALLABLES) else None
        owner = constant or owner
    if isinstance(owner, Constant):
        value = owner.value
        if issubclass(type(value), ModuleType):
            return _load_module(t, value, name, then, extras, absent)
        if issubclass(type(value), type):
            return _load_class(t, owner, value, name, then, extras, absent)
    cls = t.need_type(owner)
    if cls is None:
        raise Opaque(f"attribute {name} of a value of unknown type")
    return _load_instance(t, owner, cls, name, then, extras, absent)


# -- instances -------------------------------------------------------------------------------------


def _load_instance(
    t: Tracer, owner: Tracker, cls: type, name: str, then: Then, extras: Extras, absent: Tracker | None
) -> bool:
    if not lookup.plain_getattribute(cls):
        raise Opaque(f"{cls.__name__} has a __getattribute__ of its own")
    if not (isinstance(owner, Constant) and owner.frozen):
        t.assume_class(cls)
    found = lookup.in_class(cls, name)
    if found is not ABSENT and is_data_descriptor(found):
        return _through_descriptor(t, owner, cls, found, name, then, extras, absent)
    own = own_attribute(t, owner, cls, name, found)
    if own is not None and own is not GONE:
        return complete(t, then, extras, own)
    if found is not ABSENT:
        return _through_descriptor(t, owner, cls, found, name, then, extras, absent)
    hook = lookup.in_class(cls, "__getattr__")
    if hook is not ABSENT:
        if absent is not None:
            raise Opaque("a default beside a __getattr__")
        return call.invoke_special(t, cls, "__getattr__", [owner, Constant(name)], then, extras)
    return _missing(t, then, extras, absent, name)


def _missing(t: Tracer, then: Then, extras: Extras, absent: Tracker | None, name: str) -> bool:
    if absent is not None:
        return complete(t, then, extras, absent)
    t.leave(f"AttributeError: {name}")
    return True


def own_attribute(t: Tracer, owner: Tracker, cls: type, name: str, found: Any) -> Tracker | None:
    """The attribute in the instance's own dict; GONE where there is none, None where it has no dict."""
    record = t.state.record(owner)
    if isinstance(record, Instance):
        return record.values[record.names.index(name)] if name in record.names else GONE
    if not lookup.has_instance_dict(cls):
        return None
    if isinstance(owner, Constant):
        return _own_of_constant(t, owner, name)
    assert isinstance(owner, Runtime)
    fact = t.fact(owner.value, "attr", name)
    if fact is not None:
        return fact
    value = example_attribute(t, owner.example, name)
    if value is ABSENT:
        if found is ABSENT and owner.example is MISSING:
            if lookup.in_class(cls, "__getattr__") is not ABSENT:
                raise Opaque(f"{cls.__name__} has a __getattr__")
            loaded = t.emit("attr", (owner,), name)
            t.learn(owner.value, "attr", name, loaded)
            return loaded
        t.test("no_attr", owner, (name,))
        t.learn(owner.value, "attr", name, GONE)
        return GONE
    loaded = t.load("attr", owner, (name,), value)
    t.learn(owner.value, "attr", name, loaded)
    return loaded


def _own_of_constant(t: Tracer, owner: Constant, name: str) -> Tracker:
    base = t.state.base(owner)
    fact = t.fact(base, "attr", name)
    if fact is not None:
        return fact
    value = example_attribute(t, owner.value, name)
    if value is ABSENT:
        if not owner.frozen:
            t.assume("attr_absent", (owner.value, name))
        return GONE
    if owner.frozen or promote.steady(t, value):
        if not owner.frozen:
            t.assume("attr_is", (owner.value, name, value))
        return Constant(value, owner.static, owner.frozen or t.is_frozen(value))
    loaded = t.emit("attr", (owner,), name, example=value)
    t.learn(base, "attr", name, loaded)
    return loaded


def example_attribute(t: Tracer, example: object, name: str) -> Any:
    """What the object met in the traced call has in its own dict."""
    if example is MISSING:
        return ABSENT
    try:
        return t.shim.instance_attribute(example, name)
    except LookupError:
        return ABSENT


def is_data_descriptor(found: Any) -> bool:
    """Whether the class attribute comes before the instance's own."""
    kind = type(found)
    return hasattr(kind, "__set__") or hasattr(kind, "__delete__")


def _through_descriptor(
    t: Tracer, owner: Tracker, cls: type, found: Any, name: str, then: Then, extras: Extras, absent: Tracker | None
) -> bool:
    kind = type(found)
    simple = DESCRIPTORS.get(kind)
    if simple is not None:
        result = simple(t, owner, cls, found, name)
        if result is GONE:
            return _missing(t, then, extras, absent, name)
        return complete(t, then, extras, result)
    if kind is property:
        if found.fget is None:
            return _missing(t, then, extras, absent, name)
        return call.invoke(t, Constant(found.fget), [owner], (), then, extras)
    getter = lookup.in_class(kind, "__get__")
    if getter is ABSENT:
        return complete(t, then, extras, Constant(found))
    if type(getter) is not FunctionType:
        raise Opaque(f"{cls.__name__}.{name} is a descriptor that is not known")
    t.assume_class(kind)
    return call.invoke(t, Constant(getter), [Constant(found), owner, Constant(cls)], (), then, extras)


def _bound(t: Tracer, owner: Tracker, cls: type, found: Any, name: str) -> Tracker:
    """The class of a frozen object is reached by it, and so is covered by the promise."""
    frozen = isinstance(owner, Constant) and owner.frozen
    return t.virtual(Method(Constant(found, frozen=frozen), owner))


def _static(t: Tracer, owner: Tracker, cls: type, found: Any, name: str) -> Tracker:
    return Constant(found.__func__)


def _class_bound(t: Tracer, owner: Tracker, cls: type, found: Any, name: str) -> Tracker:
    return t.virtual(Method(Constant(found.__func__), Constant(cls)))


def _member(t: Tracer, owner: Tracker, cls: type, found: Any, name: str) -> Tracker:
    record = t.state.record(owner)
    if isinstance(record, Instance):
        return record.values[record.names.index(name)] if name in record.names else GONE
    base = t.state.base(owner)
    fact = t.fact(base, "attr", name)
    if fact is not None:
        return fact
    example = owner.value if isinstance(owner, Constant) else owner.example  # type: ignore[attr-defined]
    value = _member_example(found, example)
    offset = t.shim.member_offset(found)
    if isinstance(owner, Constant) and owner.frozen and value is not MISSING:
        return owner.derived(value)
    if isinstance(owner, Runtime) and offset is not None and value is not MISSING:
        loaded = t.load("slot", owner, (offset,), value)
    else:
        loaded = t.emit("attr", (owner,), name, example=value)
    t.learn(base, "attr", name, loaded)
    return loaded


def _member_example(found: Any, example: object) -> object:
    if example is MISSING:
        return MISSING
    try:
        return found.__get__(example)
    except AttributeError:
        return MISSING


def _class_of(t: Tracer, owner: Tracker, cls: type, found: Any, name: str) -> Tracker:
    if name == "__class__":
        return Constant(cls)
    raise Opaque(f"{name} is computed in C")


DESCRIPTORS: dict[type, Callable[..., Tracker]] = {
    FunctionType: _bound,
    MethodDescriptorType: _bound,
    WrapperDescriptorType: _bound,
    staticmethod: _static,
    classmethod: _class_bound,
    MemberDescriptorType: _member,
    GetSetDescriptorType: _class_of,
}


# -- classes, modules, super ----------------------------------------------------------------------


def _load_class(
    t: Tracer, owner: Constant, cls: type, name: str, then: Then, extras: Extras, absent: Tracker | None
) -> bool:
    meta = type(cls)
    if lookup.in_class(meta, "__getattribute__") is not type.__getattribute__:
        raise Opaque(f"{meta.__name__} has a __getattribute__ of its own")
    t.assume_class(cls)
    t.assume_class(meta)
    in_meta = lookup.in_class(meta, name)
    if in_meta is not ABSENT and is_data_descriptor(in_meta):
        if name in ("__name__", "__qualname__", "__module__") and meta is type:
            return complete(t, then, extras, owner.derived(getattr(cls, name)))
        raise Opaque(f"{cls.__name__}.{name} comes from the metaclass")
    found = lookup.in_class(cls, name)
    if found is ABSENT:
        if in_meta is not ABSENT or lookup.in_class(meta, "__getattr__") is not ABSENT:
            return _from_meta(t, owner, in_meta, name, then, extras)
        return _missing(t, then, extras, absent, name)
    return complete(t, then, extras, _class_attribute(t, cls, found, name))


def _from_meta(t: Tracer, owner: Constant, found: Any, name: str, then: Then, extras: Extras) -> bool:
    if isinstance(found, FunctionType):
        return complete(t, then, extras, t.virtual(Method(Constant(found), owner)))
    raise Opaque(f"{name} comes from the metaclass")


def _class_attribute(t: Tracer, cls: type, found: Any, name: str) -> Tracker:
    kind = type(found)
    if lookup.in_class(kind, "__del__") is not ABSENT:
        raise Opaque(f"{cls.__name__}.{name} has a finalizer, and compiled code would keep it alive")
    if kind is staticmethod:
        return Constant(found.__func__)
    if kind is classmethod:
        return t.virtual(Method(Constant(found.__func__), Constant(cls)))
    if kind in (FunctionType, property, MethodDescriptorType, WrapperDescriptorType, MemberDescriptorType):
        return Constant(found)
    if lookup.in_class(kind, "__get__") is not ABSENT:
        if name == "__new__" or kind.__name__ == "builtin_function_or_method":
            return Constant(found)
        raise Opaque(f"{cls.__name__}.{name} is a descriptor")
    return Constant(found)


def _load_module(
    t: Tracer, module: ModuleType, name: str, then: Then, extras: Extras, absent: Tracker | None
) -> bool:
    if type(module) is not ModuleType:
        raise Opaque("a module of a class of its own")
    namespace: dict[str, Any] = object.__getattribute__(module, "__dict__")
    found = namespace.get(name, ABSENT)
    if found is ABSENT:
        raise Opaque(f"module attribute {name} is missing")
    if lookup.in_class(ModuleType, name) is not ABSENT and not name.startswith("__"):
        raise Opaque(f"module attribute {name} is computed")
    t.assume("global_is", (namespace, name, found))
    return complete(t, then, extras, Constant(found, frozen=t.is_frozen(found)))


def _load_super(t: Tracer, record: Super, name: str, then: Then, extras: Extras) -> bool:
    cls = t.need_type(record.owner)
    owner = t.state.resolve(record.owner)
    if isinstance(owner, Constant) and issubclass(type(owner.value), type):
        cls = owner.value
    if cls is None or not issubclass(cls, record.cls):
        raise Opaque("super() of a value of unknown type")
    t.assume_class(cls)
    found = lookup.after(cls, record.cls, name)
    if found is ABSENT or name == "__class__":
        raise Opaque(f"super() has no {name}")
    if isinstance(owner, Constant) and issubclass(type(owner.value), type):
        if type(found) is classmethod:
            return complete(t, then, extras, t.virtual(Method(Constant(found.__func__), owner)))
        return complete(t, then, extras, _class_attribute(t, cls, found, name))
    return _through_descriptor(t, owner, cls, found, name, then, extras, None)


# -- other virtual objects --------------------------------------------------------------------------


def _of_method(t: Tracer, record: Any, name: str) -> Tracker | None:
    parts = {"__self__": record.owner, "__func__": record.function}
    return parts.get(name)


def _of_slice(t: Tracer, record: Any, name: str) -> Tracker | None:
    bounds = record.bounds if len(record.bounds) > 1 else (Constant(None), *record.bounds)
    parts = dict(zip(("start", "stop", "step"), (*bounds, Constant(None)), strict=False))
    return parts.get(name)


def _of_function(t: Tracer, record: Any, name: str) -> Tracker | None:
    code = record.code
    parts = {"__name__": code.co_name, "__qualname__": code.co_qualname, "__code__": code}
    if name in parts:
        return Constant(parts[name])
    raise Opaque(f"function attribute {name}")


def _of_exception(t: Tracer, record: Any, name: str) -> Tracker | None:
    raise Opaque(f"exception attribute {name}")


RECORDS: dict[type, Callable[..., Tracker | None]] = {
    Method: _of_method,
    Slice: _of_slice,
    Function: _of_function,
    Exception_: _of_exception,
}


# -- stores ------------------------------------------------------------------------------------------


def store(t: Tracer, owner: Tracker, name: str, value: Tracker, then: Then, extras: Extras = ()) -> bool:
    """`owner.name = value`; `then` gets None when that is done."""
    owner = t.state.resolve(owner)
    named = isinstance(owner, Constant) and issubclass(type(owner.value), (type, ModuleType))
    cls = None if named else t.need_type(owner)
    if cls is None:
        raise Opaque(f"store to {name} of a value of unknown type")
    t.assume_class(cls)
    if not lookup.plain_setattr(cls):
        setter = lookup.in_class(cls, "__setattr__")
        if type(setter) is not FunctionType:
            raise Opaque(f"{cls.__name__} has a __setattr__ of its own")
        chained = Then("done", then)
        return call.invoke(t, Constant(setter), [owner, Constant(name), value], (), chained, extras)
    return generic_store(t, owner, cls, name, value, then, extras)


def generic_store(
    t: Tracer, owner: Tracker, cls: type, name: str, value: Tracker, then: Then, extras: Extras
) -> bool:
    """What `object.__setattr__` does."""
    found = lookup.in_class(cls, name)
    if found is not ABSENT and is_data_descriptor(found) and type(found) is not MemberDescriptorType:
        return _through_setter(t, owner, cls, found, name, value, then, extras)
    if type(found) is not MemberDescriptorType and not lookup.has_instance_dict(cls):
        t.leave(f"AttributeError: {name}")
        return True
    record = t.state.record(owner)
    if isinstance(record, Instance):
        t.update(owner, with_attribute(record, name, value))
    else:
        _store_real(t, owner, cls, name, value, found)
    return complete(t, then, extras, Constant(None))


def _through_setter(
    t: Tracer, owner: Tracker, cls: type, found: Any, name: str, value: Tracker, then: Then, extras: Extras
) -> bool:
    chained = Then("done", then)
    if type(found) is property:
        if found.fset is None:
            t.leave(f"AttributeError: {name} has no setter")
            return True
        return call.invoke(t, Constant(found.fset), [owner, value], (), chained, extras)
    setter = lookup.in_class(type(found), "__set__")
    if type(setter) is not FunctionType:
        raise Opaque(f"{cls.__name__}.{name} is a descriptor that is not known")
    t.assume_class(type(found))
    return call.invoke(t, Constant(setter), [Constant(found), owner, value], (), chained, extras)


def with_attribute(record: Instance, name: str, value: Tracker) -> Instance:
    """The instance after an attribute was set."""
    if name in record.names:
        place = record.names.index(name)
        return Instance(record.cls, record.names, (*record.values[:place], value, *record.values[place + 1 :]))
    return Instance(record.cls, (*record.names, name), (*record.values, value))


def _store_real(t: Tracer, owner: Tracker, cls: type, name: str, value: Tracker, found: Any) -> None:
    base = t.state.base(owner)
    if isinstance(owner, Runtime) and owner.value in t.state.fresh:
        t.emit_fresh_effect("set_attr", (owner, value), name)
        t.escape(value)
    else:
        fact = t.state.facts.get((base, "attr", name))
        if fact is None or not same(t.state.resolve(fact), t.state.resolve(value)):
            require_inert_attribute(t, owner, cls, name, found)
        t.pend("set_attr", (owner, value), name, f"{naming.path(t, owner)}.{name} = ...")
    t.wrote(base, "attr", name, value)


def require_inert_attribute(t: Tracer, owner: Tracker, cls: type, name: str, found: Any) -> None:
    """The value to be overwritten or deleted must be such that nobody notices when it dies."""
    fact = t.state.facts.get((t.state.base(owner), "attr", name))
    if fact is GONE or (fact is not None and t.known_type(fact) in PLAIN_TYPES):
        return
    if not isinstance(owner, Runtime):
        raise Opaque(f"what {name} held before is not known")
    effects.overwritable(t, owner, "attr", name)
    offset = t.shim.member_offset(found) if type(found) is MemberDescriptorType else None
    old = _member_example(found, owner.example) if offset is not None else example_attribute(t, owner.example, name)
    if not (old is ABSENT or old is MISSING or type(old) in PLAIN_TYPES):
        raise Opaque(f"what {name} held before may have a finalizer")
    if offset is not None:
        t.test("inert_slot", owner, (offset,))
    else:
        t.test("inert_attr", owner, (name,))


def delete(t: Tracer, owner: Tracker, name: str) -> None:
    """`del owner.name`, where that is simple."""
    owner = t.state.resolve(owner)
    record = t.state.record(owner)
    cls = t.need_type(owner)
    if cls is None or not lookup.plain_setattr(cls) or isinstance(owner, Constant):
        raise Opaque(f"del {name}")
    found = lookup.in_class(cls, name)
    if found is not ABSENT and is_data_descriptor(found) and type(found) is not MemberDescriptorType:
        raise Opaque(f"del {name} through a descriptor")
    t.assume_class(cls)
    if isinstance(record, Instance):
        _delete_virtual(t, owner, record, name)
    elif record is None:
        _delete_real(t, owner, cls, name, found)
    else:
        raise Opaque(f"del {name}")


def _delete_real(t: Tracer, owner: Tracker, cls: type, name: str, found: Any) -> None:
    """The attribute is there, and nobody notices the death of its value."""
    if type(found) is MemberDescriptorType:
        old: Tracker | None = _member(t, owner, cls, found, name)
    else:
        old = own_attribute(t, owner, cls, name, found)
    if old is None or old is GONE or t.need_type(old) not in PLAIN_TYPES:
        raise Opaque(f"what {name} holds is not known")
    base = t.state.base(owner)
    t.pend("del_attr", (owner,), name, f"del {naming.path(t, owner)}.{name}")
    t.wrote(base, "attr", name, GONE)


def _delete_virtual(t: Tracer, owner: Tracker, record: Instance, name: str) -> None:
    if name not in record.names:
        raise Opaque(f"AttributeError: {name}")
    place = record.names.index(name)
    names = record.names[:place] + record.names[place + 1 :]
    t.update(owner, Instance(record.cls, names, record.values[:place] + record.values[place + 1 :]))


__all__ = ["GONE", "MethodType", "UNBOUND", "delete", "load", "store"]
