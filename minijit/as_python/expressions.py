"""Operations of the intermediate form as Python syntax."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from minijit.interpreter.instruction import Instruction
from minijit.interpreter.ir import Const, Null, Operand, Operation

if TYPE_CHECKING:
    from minijit.as_python.writer import Writer

__all__ = ["EXPRESSIONS", "ORIGINALS", "SPREADING", "STATEMENTS", "Untranslatable", "assign", "call", "name"]

BINARY = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "**": ast.Pow,
    "@": ast.MatMult, "<<": ast.LShift, ">>": ast.RShift, "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor,
}  # fmt: skip
UNARY = {"-": ast.USub, "~": ast.Invert, "+": ast.UAdd, "not": ast.Not}
COMPARE = {"<": ast.Lt, "<=": ast.LtE, "==": ast.Eq, "!=": ast.NotEq, ">": ast.Gt, ">=": ast.GtE}
IMMUTABLE = frozenset({int, float, str, bytes, bool, complex, tuple})


class Untranslatable(Exception):
    """There is no Python for it."""


def name(text: str) -> ast.expr:
    """A name that is read."""
    return ast.Name(text, ast.Load())


def stored(text: str) -> ast.expr:
    """A name that is assigned."""
    return ast.Name(text, ast.Store())


def assign(target: ast.expr | str, value: ast.expr) -> ast.stmt:
    """An assignment."""
    return ast.Assign([stored(target) if isinstance(target, str) else target], value, lineno=1)


def call(function: ast.expr | str, *arguments: ast.expr, keywords: Sequence[ast.keyword] = ()) -> ast.expr:
    """A call."""
    return ast.Call(name(function) if isinstance(function, str) else function, list(arguments), list(keywords))


def attribute(owner: ast.expr, text: str, context: ast.expr_context | None = None) -> ast.expr:
    """An attribute."""
    return ast.Attribute(owner, text, context or ast.Load())


def item(owner: ast.expr, key: ast.expr, context: ast.expr_context | None = None) -> ast.expr:
    """A subscript."""
    return ast.Subscript(owner, key, context or ast.Load())


def constant(value: Any) -> ast.expr:
    """A literal."""
    return ast.Constant(value)


# -- expressions ---------------------------------------------------------------------------------------


def binary(w: Writer, op: Operation) -> ast.expr:
    """In place only where that could be told from a new object."""
    left, right = op.operands
    return binary_of(w, str(op.payload), left, right, quietly=op.failure is not None)


def binary_of(w: Writer, text: str, left: Operand, right: Operand, quietly: bool = False) -> ast.expr:
    """An operator by its text; `quietly`: what it raises is not what the user sees."""
    operator = text.rstrip("=")
    if operator != text and not (quietly and type_of(left) in IMMUTABLE):
        return call("in_place", constant(text), w.load(left), w.load(right))
    return ast.BinOp(w.load(left), BINARY[operator](), w.load(right))


def type_of(operand: Operand) -> type | None:
    """The exact type where it is known."""
    return type(operand.value) if isinstance(operand, Const) else getattr(operand, "type", None)


def compared(w: Writer, operator: ast.cmpop, left: Operand, right: Operand) -> ast.expr:
    """A comparison of any kind."""
    return ast.Compare(w.load(left), [operator], [w.load(right)])


def identity(w: Writer, op: Operation) -> ast.expr:
    """The same object or not."""
    left, right = map(w.identical, op.operands)
    return ast.Compare(left, [ast.IsNot() if op.payload else ast.Is()], [right])


def keyworded(w: Writer, function: ast.expr, arguments: Sequence[Operand], names: tuple[str, ...] | None) -> ast.expr:
    """A call whose last arguments are keywords."""
    count = len(arguments) - len(names or ())
    keywords = [ast.keyword(key, w.load(a)) for key, a in zip(names or (), arguments[count:], strict=True)]
    return call(function, *map(w.load, arguments[:count]), keywords=keywords)


def mapping(w: Writer, op: Operation) -> ast.expr:
    """A dict display."""
    loaded: list[ast.expr] = [w.load(operand) for operand in op.operands]
    keys: list[ast.expr | None] = [*loaded[::2]]
    return ast.Dict(keys, loaded[1::2])


def collection(make: Callable[[list[ast.expr]], ast.expr]) -> Callable[[Writer, Operation], ast.expr]:
    """A display of items."""
    return lambda w, op: make([w.load(operand) for operand in op.operands])


def new_tuple(items: list[ast.expr]) -> ast.expr:
    """A tuple made now: a display of literals would be one object for good."""
    if items and all(isinstance(item, ast.Constant) for item in items):
        return call("tuple", ast.List(items, ast.Load()))
    return ast.Tuple(items, ast.Load())


def formatted(w: Writer, op: Operation) -> ast.expr:
    """What a replacement field of an f-string does."""
    payload: Any = op.payload
    convert = {"": None, "s": "str", "r": "repr", "a": "ascii"}[payload[0]]
    value = w.load(op.operands[0])
    return call("format", call(convert, value) if convert else value, *map(w.load, op.operands[1:]))


def function(w: Writer, op: Operation) -> ast.expr:
    """A function object, from its code and what goes with it."""
    letters = {"d": "defaults", "k": "kwdefaults", "a": "annotations", "c": "closure"}
    given = [ast.keyword(letters[l], w.load(o)) for l, o in zip(str(op.payload), op.operands[1:], strict=True)]  # noqa: E741
    return call("make_function", w.load(op.operands[0]), keywords=given)


def method_call(w: Writer, op: Operation) -> ast.expr:
    """A method called by name."""
    payload: Any = op.payload
    return keyworded(w, attribute(w.load(op.operands[0]), payload[0]), op.operands[1:], payload[1])


def call_ex(w: Writer, op: Operation) -> ast.expr:
    """A call with `*` and `**`."""
    return starred(w, op.operands)


def starred(w: Writer, operands: Sequence[Operand]) -> ast.expr:
    """A function, its arguments in one sequence, its keywords in one mapping."""
    keywords = [ast.keyword(None, w.load(operand)) for operand in operands[2:]]
    return call(w.load(operands[0]), ast.Starred(w.load(operands[1]), ast.Load()), keywords=keywords)


EXPRESSIONS: dict[str, Callable[[Writer, Operation], ast.expr]] = {
    "binary": binary,
    "unary": lambda w, op: ast.UnaryOp(UNARY[str(op.payload)](), w.load(op.operands[0])),
    "truth": lambda w, op: call("bool", w.load(op.operands[0])),
    "compare": lambda w, op: compared(w, COMPARE[str(op.payload)](), *op.operands),
    "is": identity,
    "contains": lambda w, op: compared(w, ast.NotIn() if op.payload else ast.In(), *op.operands),
    "attr": lambda w, op: attribute(w.load(op.operands[0]), str(op.payload)),
    "item": lambda w, op: item(w.load(op.operands[0]), w.load(op.operands[1])),
    "slice_item": lambda w, op: item(w.load(op.operands[0]), call("slice", *map(w.load, op.operands[1:]))),
    "deref": lambda w, op: attribute(w.load(op.operands[0]), "cell_contents"),
    "global": lambda w, op: call("load_global", constant(op.payload)),
    "tuple": collection(new_tuple),
    "list": collection(lambda items: ast.List(items, ast.Load())),
    "set": collection(lambda items: ast.Set(items) if items else call("set")),
    "map": mapping,
    "slice": lambda w, op: call("slice", *map(w.load, op.operands)),
    "string": collection(lambda parts: call(attribute(constant(""), "join"), ast.Tuple(parts, ast.Load()))),
    "format": formatted,
    "call": lambda w, op: keyworded(w, w.load(op.operands[0]), op.operands[1:], op.payload),  # type: ignore[arg-type]
    "call_method": method_call,
    "call_ex": call_ex,
    "new": lambda w, op: call(attribute(name("object"), "__new__"), w.load(op.operands[0])),
    "iter": lambda w, op: call("iter", w.load(op.operands[0])),
    "cell": lambda w, op: call("CellType", *map(w.load, op.operands)),
    "function": function,
    "list_to_tuple": lambda w, op: call("tuple", w.load(op.operands[0])),
}
"""Rows that give a value."""


# -- statements ----------------------------------------------------------------------------------------


def method(cls: type, text: str) -> Callable[[Writer, Operation], ast.stmt]:
    """A statement that calls a container's own method, of its base class where it may be of another."""

    def row(w: Writer, op: Operation) -> ast.stmt:
        owner, arguments = w.load(op.operands[0]), map(w.load, op.operands[1:])
        if w.known_type(op.operands[0]) is cls:
            return ast.Expr(call(attribute(owner, text), *arguments))
        return ast.Expr(call(attribute(name(cls.__name__), text), owner, *arguments))

    return row


def effect_call(w: Writer, op: Operation) -> ast.stmt:
    """A builtin called for its effect."""
    payload: Any = op.payload
    return ast.Expr(call(w.constant(payload.function), *map(w.load, op.operands)))


def set_attribute(w: Writer, text: str, owner: Operand, value: Operand) -> ast.stmt:
    """An attribute assignment."""
    return assign(attribute(w.load(owner), text, ast.Store()), w.load(value))


def set_global(w: Writer, text: object, value: Operand) -> ast.stmt:
    """An assignment to a global of the function's own module."""
    return assign(item(name("G"), constant(text), ast.Store()), w.load(value))


def delete(target: ast.expr) -> ast.stmt:
    """A del statement."""
    return ast.Delete([target])


STATEMENTS: dict[str, Callable[[Writer, Operation], ast.stmt]] = {
    "set_attr": lambda w, op: set_attribute(w, str(op.payload), *op.operands),
    "del_attr": lambda w, op: delete(attribute(w.load(op.operands[0]), str(op.payload), ast.Del())),
    "set_item": lambda w, op: assign(
        item(w.load(op.operands[0]), w.load(op.operands[1]), ast.Store()), w.load(op.operands[2])
    ),
    "del_item": lambda w, op: delete(item(w.load(op.operands[0]), w.load(op.operands[1]), ast.Del())),
    "append": method(list, "append"),
    "set_add": method(set, "add"),
    "list_extend": method(list, "extend"),
    "set_update": method(set, "update"),
    "dict_update": method(dict, "update"),
    "dict_merge": method(dict, "update"),
    "effect_call": effect_call,
    "set_deref": lambda w, op: set_attribute(w, "cell_contents", *op.operands),
    "del_deref": lambda w, op: delete(attribute(w.load(op.operands[0]), "cell_contents", ast.Del())),
    "set_global": lambda w, op: set_global(w, op.payload, op.operands[0]),
    "del_global": lambda w, op: delete(item(name("G"), constant(op.payload), ast.Del())),
    "set_local": lambda w, op: assign(w.variable(op.payload), w.load(op.operands[0])),
    "drop": lambda w, op: assign(w.target(op.operands[0]), constant(None)),
}
"""Rows that give none."""


# -- instructions that were kept -----------------------------------------------------------------------

Row = Callable[["Writer", Instruction, Sequence[Operand]], ast.expr | ast.stmt]


def original_call(w: Writer, inst: Instruction, operands: Sequence[Operand]) -> ast.expr:
    """A call: a callable beside NULL, or a method and its object."""
    first, second, *arguments = operands
    method = w.methods.get(first)
    if method is not None:
        function = name(method)
    elif isinstance(first, Null) or isinstance(second, Null):
        function = w.load(second if isinstance(first, Null) else first)
    else:
        function, arguments = w.load(first), [second, *arguments]
    return keyworded(w, function, arguments, inst.arg[1])


def original_store(w: Writer, inst: Instruction, operands: Sequence[Operand]) -> ast.stmt:
    """An attribute assignment: value, object."""
    return set_attribute(w, inst.arg, operands[1], operands[0])


def original_store_item(w: Writer, inst: Instruction, operands: Sequence[Operand]) -> ast.stmt:
    """An item assignment: value, container, key."""
    value, container, key = operands
    return assign(item(w.load(container), w.load(key), ast.Store()), w.load(value))


def original_store_slice(w: Writer, inst: Instruction, operands: Sequence[Operand]) -> ast.stmt:
    """A slice assignment: value, container, start, stop."""
    value, container, *bounds = operands
    return assign(item(w.load(container), call("slice", *map(w.load, bounds)), ast.Store()), w.load(value))


def original_starred(w: Writer, inst: Instruction, operands: Sequence[Operand]) -> ast.expr:
    """A call with `*`."""
    return starred(w, [operand for operand in operands if not isinstance(operand, Null)])


def original_raise(w: Writer, inst: Instruction, operands: Sequence[Operand]) -> ast.stmt:
    """A raise statement."""
    if not operands:
        raise Untranslatable("a bare raise")
    return ast.Raise(*map(w.load, operands))


ORIGINALS: dict[str, Row] = {
    "CALL": original_call,
    "CALL_FUNCTION_EX": original_starred,
    "LOAD_ATTR": lambda w, inst, operands: attribute(w.load(operands[0]), inst.arg),
    "STORE_ATTR": original_store,
    "DELETE_ATTR": lambda w, inst, operands: delete(attribute(w.load(operands[0]), inst.arg, ast.Del())),
    "BINARY_SUBSCR": lambda w, inst, operands: item(w.load(operands[0]), w.load(operands[1])),
    "STORE_SUBSCR": original_store_item,
    "DELETE_SUBSCR": lambda w, inst, operands: delete(item(w.load(operands[0]), w.load(operands[1]), ast.Del())),
    "BINARY_SLICE": lambda w, inst, operands: item(w.load(operands[0]), call("slice", *map(w.load, operands[1:]))),
    "BINARY_OP": lambda w, inst, operands: binary_of(w, inst.arg, operands[0], operands[1]),
    "UNARY_OP": lambda w, inst, operands: ast.UnaryOp(UNARY[inst.arg](), w.load(operands[0])),
    "COMPARE_OP": lambda w, inst, operands: compared(w, COMPARE[inst.arg[0]](), *operands),
    "CONTAINS_OP": lambda w, inst, operands: compared(w, ast.NotIn() if inst.arg else ast.In(), *operands),
    "IS_OP": lambda w, inst, operands: identity(w, Operation("is", tuple(operands), inst.arg)),
    "TO_BOOL": lambda w, inst, operands: call("bool", w.load(operands[0])),
    "GET_ITER": lambda w, inst, operands: call("iter", w.load(operands[0])),
    "LOAD_GLOBAL": lambda w, inst, operands: call("load_global", constant(inst.arg[0])),
    "FORMAT": lambda w, inst, operands: formatted(w, Operation("format", tuple(operands), inst.arg)),
    "RAISE_VARARGS": original_raise,
    "POP_TOP": lambda w, inst, operands: assign(w.target(operands[0]), constant(None)),
    "STORE_GLOBAL": lambda w, inst, operands: set_global(w, inst.arg, operands[0]),
    "STORE_SLICE": original_store_slice,
    "BUILD_MAP": lambda w, inst, operands: mapping(w, Operation("map", tuple(operands))),
    "STORE_DEREF": lambda w, inst, operands: assign(
        attribute(w.cell(inst.arg), "cell_contents", ast.Store()), w.load(operands[0])
    ),
    "LOAD_FAST_CHECK": lambda w, inst, operands: name(w.variable(inst.arg)),
    "BUILD_SET": lambda w, inst, operands: ast.Set([w.load(operand) for operand in operands]),
    "BUILD_STRING": lambda w, inst, operands: call(
        attribute(constant(""), "join"), ast.Tuple([w.load(operand) for operand in operands], ast.Load())
    ),
}


SPREADING = {
    "LIST_APPEND": "append",
    "LIST_EXTEND": "extend",
    "SET_ADD": "add",
    "SET_UPDATE": "update",
    "DICT_UPDATE": "update",
}
"""Instructions by which a display grows deep in the stack: the container is the first operand, what is added last."""

