"""Values and tests in words: what a guard asks, as Python, without running any code of the user's."""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any

from minijit import _shim
from minijit.interpreter.ir import Const, Region, Test, Value

__all__ = ["Names", "class_name", "guard_text", "in_brief", "shown"]

PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes, type(...)})
MOST_ITEMS = 4
WIDTH = 60


def class_name(cls: type) -> str:
    """The qualified name of a class, past any metaclass."""
    name = type.__dict__["__qualname__"].__get__(cls)
    return name if isinstance(name, str) else "?"


def clipped(text: str, width: int = WIDTH) -> str:
    """A text that is not too long."""
    return text if len(text) <= width else text[: width - 3] + "..."


def shown(value: object, depth: int = 2) -> str:
    """Describe a value by what is certain to run no code: no `__repr__` of the user's is called."""
    kind = type(value)
    if kind in PLAIN:
        return clipped(repr(value))
    describe = DESCRIPTIONS.get(kind)
    if describe is not None and (depth or kind not in CONTAINERS):
        return describe(value, depth - 1)
    if issubclass(kind, type):
        return class_name(value)  # type: ignore[arg-type]
    return f"<{class_name(kind)} object>"


def _items(items: Iterator[str], count: int, brackets: str) -> str:
    parts = [item for _, item in zip(range(MOST_ITEMS), items, strict=False)]
    more = [f"... {count} in all"] if count > MOST_ITEMS else []
    return brackets[0] + ", ".join(parts + more) + brackets[1]


def _pairs(value: dict[object, object], depth: int) -> str:
    return _items((f"{shown(k, depth)}: {shown(v, depth)}" for k, v in value.items()), len(value), "{}")


def _sequence(brackets: str) -> Callable[[Any, int], str]:
    return lambda value, depth: _items((shown(item, depth) for item in value), len(value), brackets)


def _tuple(value: tuple[object, ...], depth: int) -> str:
    return f"({shown(value[0], depth)},)" if len(value) == 1 else _sequence("()")(value, depth)


def _set(value: set[object], depth: int) -> str:
    return _sequence("{}")(value, depth) if value else "set()"


CONTAINERS = frozenset({list, tuple, dict, set})
DESCRIPTIONS: dict[type, Callable[[Any, int], str]] = {
    list: _sequence("[]"),
    tuple: _tuple,
    dict: _pairs,
    set: _set,
    FunctionType: lambda value, depth: value.__qualname__,
    type(len): lambda value, depth: value.__qualname__,
    ModuleType: lambda value, depth: f"<module {ModuleType.__getattribute__(value, '__dict__').get('__name__')}>",
    CodeType: lambda value, depth: f"<code of {value.co_qualname}>",
}


class Names:
    """What to call each value of a region, and what it was in the explained call. Mutates while it is made."""

    def __init__(self, region: Region, function: FunctionType, arguments: tuple[object, ...]) -> None:
        code = region.code
        self.namespace = function.__globals__
        self.names: dict[Value, str] = {}
        self.seen: dict[Value, object] = {}
        cells = (*(name for name in code.co_cellvars if name not in code.co_varnames), *code.co_freevars)
        variables = (*code.co_varnames, *cells)
        for slot, value in region.arguments:
            self.names[value] = variables[slot]
            if slot < len(arguments):
                self.seen[value] = arguments[slot]
        free_start = len(variables) - len(code.co_freevars)
        for slot, value in region.arguments:
            if slot >= free_start and function.__closure__:
                self.seen[value] = function.__closure__[slot - free_start]
        self.cells = dict(named_cells(region))
        for test in all_tests(region):
            self._learn(test)

    def _learn(self, test: Test) -> None:
        if test.result is None:
            return
        load = LOADS.get(test.kind)
        owner = test.subject
        if test.kind == "cell" and isinstance(test.payload[0], CellType):
            self.names[test.result] = self.cell(test.payload[0])
            self.seen[test.result] = content(test.payload[0])
        if load is None or owner is None:
            return
        found = load(self.name(owner), self.seen.get(owner, MISSING), test.payload)
        self.names[test.result] = found.name
        if found.value is not MISSING:
            self.seen[test.result] = found.value

    def name(self, operand: object) -> str:
        """An operand in words."""
        if isinstance(operand, Value):
            return self.names.get(operand, f"v{operand.number}")
        return self.constant(operand.value if isinstance(operand, Const) else operand)

    def constant(self, value: object) -> str:
        """A constant by its global name if it has one."""
        if type(value) in PLAIN:
            return shown(value)
        found = next((name for name, known in list(self.namespace.items()) if known is value), None)
        return found if isinstance(found, str) else shown(value)

    def cell(self, cell: object) -> str:
        """A cell by the name that a function has for it."""
        return self.cells.get(id(cell), "a closure variable")

    def namespace_prefix(self, namespace: object) -> str:
        """What to write before the name of a global."""
        if namespace is self.namespace:
            return ""
        if namespace is vars(builtins):
            return "builtins."
        for name, module in list(sys.modules.items()):
            if isinstance(module, ModuleType) and ModuleType.__getattribute__(module, "__dict__") is namespace:
                return f"{name}."
        return "<namespace>."


def all_tests(region: Region) -> Iterator[Test]:
    """Every test of a region, those of the entry first."""
    yield from region.entry_tests
    for block in region.blocks:
        for operation in block.operations:
            if operation.opcode == "check" and isinstance(operation.payload, tuple):
                yield from operation.payload


def named_cells(region: Region) -> Iterator[tuple[int, str]]:
    """The cells of functions that the tests ask about, with the names of their variables."""
    for test in all_tests(region):
        for item in test.payload:
            if isinstance(item, FunctionType) and item.__closure__:
                yield from zip(map(id, item.__closure__), item.__code__.co_freevars, strict=False)


class Missing:
    """No value is known."""


MISSING = Missing()


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a test loads: how to write it, and what it was."""

    name: str
    value: object = MISSING


def _slot(name: str, owner: object, payload: tuple[object, ...]) -> Found:
    offset = payload[0]
    for cls in type.__dict__["__mro__"].__get__(type(owner)) if owner is not MISSING else ():
        for key, member in list(type.__dict__["__dict__"].__get__(cls).items()):
            if isinstance(member, MemberDescriptorType) and _shim.member_offset(member) == offset:
                return Found(f"{name}.{key}", attempt(functools.partial(member.__get__, owner)))
    return Found(f"{name}.<member at {offset}>")


def attempt(read: Callable[[], object]) -> object:
    """A value that may not be there."""
    try:
        return read()
    except (LookupError, AttributeError, ValueError):
        return MISSING


def _attr(name: str, owner: object, payload: tuple[Any, ...]) -> Found:
    value = MISSING if owner is MISSING else attempt(lambda: _shim.instance_attribute(owner, payload[0]))
    return Found(f"{name}.{payload[0]}", value)


def _item(name: str, owner: Any, payload: tuple[Any, ...]) -> Found:
    quiet = type(owner) in (list, tuple, dict) and type(payload[0]) in PLAIN
    return Found(f"{name}[{shown(payload[0])}]", attempt(lambda: owner[payload[0]]) if quiet else MISSING)


def content(cell: CellType) -> object:
    """What a cell holds, if anything."""
    return attempt(lambda: cell.cell_contents)


def _content(name: str, owner: Any, payload: tuple[Any, ...]) -> Found:
    return Found(name, MISSING if owner is MISSING else content(owner))


LOADS: dict[str, Callable[[str, Any, tuple[Any, ...]], Found]] = {
    "slot": _slot,
    "attr": _attr,
    "item": _item,
    "list_item": _item,
    "cell_slot": _content,
}

GUARDS: dict[str, str] = {
    "type": "type({0}) is {1}",
    "is": "{0} is {1}",
    "is_not": "{0} is not {1}",
    "same": "{0} is {1}",
    "distinct": "{0} is not {1}",
    "not_dict_of": "{1} is not vars({0})",
    "value": "{0} == {1}",
    "slot": "{result} is set",
    "attr": "{1!r} in vars({0})",
    "no_attr": "{1!r} not in vars({0})",
    "inert_slot": "the member of {0} that is overwritten is a plain value",
    "inert_attr": "{0}.{1} is a plain value, or absent",
    "cell_slot": "{0} is bound",
    "unicode_keys": "all(type(key) is str for key in {0})",
    "item": "{1} in {0}",
    "no_item": "{1} not in {0}",
    "list_item": "{1} is an index of {0}",
    "len": "len({0}) == {1}",
    "quiet_key": "{1} is a plain key of {0}",
    "has_key": "{1} in {0}",
    "no_key": "{1} not in {0}",
    "inert_item": "{0}[{1}] is a plain value, or absent",
    "keyed_item": "{1} in {0}",
    "all_plain": "all items of {0} are plain values",
    "all_of": "all(type(item) is {1} for item in {0})",
    "index": "{0} fits a machine word",
    "dict_items": "{0} is unchanged",
    "list_items": "{0} is unchanged",
    "attr_is": "{0}.{1} is {2}",
    "attr_absent": "{1!r} not in vars({0})",
    "item_is": "{0}[{1!r}] is {2}",
    "never": "never",
}
ATTRIBUTE_NAMES = frozenset({"attr", "no_attr", "inert_attr", "attr_is", "attr_absent"})


def guard_text(test: Test, names: Names) -> str:
    """Write a test as Python, or nearly."""
    special = SPECIAL.get(test.kind)
    if special is not None:
        return special(test.payload, names)
    subjects = () if test.subject is None else (names.name(test.subject),)
    words = [names.name(item) for item in test.payload]
    if test.kind in ATTRIBUTE_NAMES:
        words = [item if isinstance(item, str) else word for item, word in zip(test.payload, words, strict=True)]
    parts = [*subjects, *words]
    template = GUARDS.get(test.kind)
    if template is None:
        return f"{test.kind}({', '.join(parts)})"
    return template.format(*parts, result=names.name(test.result) if test.result is not None else "")


def _global_is(payload: tuple[Any, ...], names: Names) -> str:
    return f"{names.namespace_prefix(payload[0])}{payload[1]} is {defined(payload[2])}"


def defined(value: object) -> str:
    """A value by the place where it was defined."""
    module = getattr(value, "__module__", None) if type(value) in (type, FunctionType) else None
    return f"{module}.{shown(value)}" if isinstance(module, str) else shown(value)


def _global_absent(payload: tuple[Any, ...], names: Names) -> str:
    return f"{names.namespace_prefix(payload[0])}{payload[1]} is not defined"


SPECIAL: dict[str, Callable[[tuple[Any, ...], Names], str]] = {
    "global_is": _global_is,
    "global_absent": _global_absent,
    "version": lambda payload, names: f"class {class_name(payload[0])} is unchanged",
    "function": lambda payload, names: f"function {payload[0].__qualname__} is unchanged",
    "cell": lambda payload, names: f"{names.cell(payload[0])} is bound",
    "cell_is": lambda payload, names: f"{names.cell(payload[0])} is {names.constant(payload[1])}",
    "constant": lambda payload, names: f"{shown(payload[0])} is at hand",
}


UNCHANGED = frozenset({"version", "function", "global_is"})


def in_brief(asked: Iterable[Test], names: Names) -> str:
    """Tests in one line: questions about values one by one, what must not have changed together."""
    asked = list(asked)
    texts = [guard_text(test, names) for test in asked if test.kind not in UNCHANGED]
    unchanged = [guard_text(test, names).split(" is ")[0].split()[-1] for test in asked if test.kind in UNCHANGED]
    if unchanged:
        texts.append("unchanged: " + ", ".join(dict.fromkeys(unchanged)))
    return "; ".join(dict.fromkeys(texts))
