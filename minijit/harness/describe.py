"""One object in words: what it is, and the objects it holds, each with the way to it.

Nothing of the program runs: content is read through the built-in types' own functions, past
every override. Nothing is consumed: an iterator tells its position by what pickling it would store.
"""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from minijit.harness.atoms import ATOMS, UNSET
from minijit.harness.content import CONTENT, Part
from minijit.harness.owned import is_own_class

__all__ = ["Description", "describe", "instance_dict", "members", "mro", "namespace"]

NOT_COMPARED = frozenset({
    "__module__", "__dict__", "__weakref__", "__doc__", "__firstlineno__", "__static_attributes__",
    "__dataclass_params__", "__dataclass_fields__", "_abc_impl", "__annotations__", "__suppress_context__",
})  # fmt: skip
STORED_ELSEWHERE = (types.GetSetDescriptorType, types.MemberDescriptorType)
mro = type.__dict__["__mro__"].__get__
namespace = type.__dict__["__dict__"].__get__
_qualname = type.__dict__["__qualname__"].__get__
_bases = type.__dict__["__bases__"].__get__


@dataclass(frozen=True, slots=True)
class Description:
    """`head` says what the object is by itself; `parts` lead on, in order."""

    head: str
    parts: tuple[Part, ...] = ()


def describe(value: object) -> Description:
    """Describe one object that is not an atom."""
    kind = type(value)
    if issubclass(kind, type):
        return _class(value)  # type: ignore[arg-type]
    head, content = _content(value, kind)
    own = [(".__class__", kind)] if is_own_class(kind) else []
    name = f"{_name(kind)} {head}".rstrip()
    return Description(name, (*own, *content, *members(value, kind), *_attributes(value, kind)))


def _content(value: object, kind: type) -> tuple[str, Iterable[Part]]:
    """Read what the nearest built-in class holds."""
    for base in mro(kind):
        if base in CONTENT:
            return CONTENT[base](value)
        if base in ATOMS:
            return ATOMS[base](value), ()
    return "", _stored(value, kind)


def _stored(value: object, kind: type) -> Iterable[Part]:
    """Ask a class written in C what pickling would store; that is its state."""
    reduce = next((n for n in (namespace(base).get("__reduce__") for base in mro(kind))
                   if isinstance(n, types.MethodDescriptorType)), object.__reduce__)  # fmt: skip
    if reduce is object.__reduce__:
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            stored = reduce.__get__(value)()
        except Exception:  # what can't be pickled tells nothing this way
            return ()
    return [(f".<state {i}>", part) for i, part in enumerate(stored[1:])] if type(stored) is tuple else ()


def members(value: object, kind: type) -> Iterator[Part]:
    """Read slots and the fields of structures in C."""
    if kind in CONTENT:
        return
    for base in mro(kind):
        for name, member in namespace(base).items():
            if type(member) is types.MemberDescriptorType and name not in NOT_COMPARED:
                try:
                    yield f".{name}", member.__get__(value)
                except AttributeError:
                    yield f".{name}", UNSET


def _attributes(value: object, kind: type) -> Iterator[Part]:
    attributes = instance_dict(value, kind)
    if attributes is None or (kind is types.ModuleType and _is_imported(value)):
        return
    for name, attribute in dict.items(attributes):
        if name != "__builtins__":
            yield (f".{name}" if type(name) is str else f".__dict__[{name!r}]"), attribute


def _is_imported(module: object) -> bool:
    return any(module is known for known in sys.modules.values())


def instance_dict(value: object, kind: type) -> dict[str, object] | None:
    """Get the object's own dictionary even where its class shows another one."""
    for base in mro(kind):
        getter = namespace(base).get("__dict__")
        if isinstance(getter, STORED_ELSEWHERE):
            attributes = getter.__get__(value)
            return attributes if isinstance(attributes, dict) else None
    return None


def _name(kind: type) -> str:
    module = namespace(kind).get("__module__", "builtins")
    is_bare = not isinstance(module, str) or module == "builtins" or is_own_class(kind)
    return str(_qualname(kind)) if is_bare else f"{module}.{_qualname(kind)}"


def _class(value: type) -> Description:
    head = f"class {_name(value)}"
    if not is_own_class(value):
        return Description(head)
    parts: list[Part] = [(".__bases__", _bases(value))]
    parts += [(f".{name}", member) for name, member in namespace(value).items() if name not in NOT_COMPARED]
    return Description(head, tuple(parts))
