"""What source calls at run time, beside the questions of its checks."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from minijit.as_python.quiet import ABSENT

__all__ = ["function_maker", "global_loader", "in_place"]


def in_place(text: str, left: Any, right: Any) -> Any:
    """An in-place operator on a value of any type."""
    scope = {"left": left, "right": right}
    exec(f"left {text} right", scope)
    return scope["left"]


def global_loader(function: FunctionType) -> Callable[[str], Any]:
    """What LOAD_GLOBAL does in that function."""
    bare = FunctionType((lambda: None).__code__, function.__globals__)

    def load(text: str) -> Any:
        found = function.__globals__.get(text, ABSENT)
        found = bare.__builtins__.get(text, ABSENT) if found is ABSENT else found
        if found is ABSENT:
            raise NameError(f"name {text!r} is not defined", name=text)
        return found

    return load


def function_maker(function: FunctionType) -> Callable[..., FunctionType]:
    """What MAKE_FUNCTION does in that function."""

    def make(
        code: CodeType, defaults: Any = None, kwdefaults: Any = None, annotations: Any = None, closure: Any = ()
    ) -> FunctionType:
        made = FunctionType(code, function.__globals__, code.co_name, defaults, closure)
        made.__qualname__ = code.co_qualname
        made.__kwdefaults__ = kwdefaults
        if annotations is not None:
            names_and_values = iter(annotations)
            made.__annotations__ = dict(zip(names_and_values, names_and_values, strict=True))
        return made

    return make
