"""Grammar: numbers, truth, comparisons, conditional and walrus expressions."""

from __future__ import annotations

from minijit.fuzz.writer import Lines, Rules, Writer

rules = Rules()
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=", "is", "is not")


def condition(w: Writer) -> str:
    """Write an expression that is likely to be true now and false later."""
    return w.expr("int") if w.chance(0.3) else f"{w.expr('int')} {w.pick(COMPARISONS[:6])} {w.leaf('int')}"


@rules.expression("int", 5)
def arithmetic(w: Writer) -> str:
    return f"({w.expr('int')} {w.pick(('+', '-'))} {w.expr('int')})"


@rules.expression("int", 2)
def product(w: Writer) -> str:
    return f"({w.expr('int')} * {w.leaf('int')} % 97)"


@rules.expression("int", 1)
def scaled(w: Writer) -> str:
    return f"({w.expr('int')} * {w.pick(('2', '3', '0', '-1'))})"


@rules.expression("int", 2)
def division(w: Writer) -> str:
    return f"({w.expr('int')} {w.pick(('//', '%', '/'))} {w.leaf('int')})"


@rules.expression("int", 1)
def bits(w: Writer) -> str:
    return f"({w.leaf('int')} {w.pick(('&', '|', '^'))} {w.leaf('int')})"


@rules.expression("int", 1)
def shift(w: Writer) -> str:
    return f"({w.leaf('int')} {w.pick(('<<', '>>'))} {w.pick('0123')})"


@rules.expression("int", 2)
def unary(w: Writer) -> str:
    return f"({w.pick(('-', '+', 'not ', '~'))}{w.leaf('int')})"


@rules.expression("int", 3)
def comparison(w: Writer) -> str:
    kind = w.pick(("int", "int", "str", "list", "tuple", "obj", "set"))
    return f"({w.expr(kind)} {w.pick(COMPARISONS)} {w.leaf(kind)})"


@rules.expression("int", 2)
def chained(w: Writer) -> str:
    return f"({w.expr('int')} {w.pick(COMPARISONS)} {w.expr('int')} {w.pick(COMPARISONS)} {w.leaf('int')})"


@rules.expression("int", 2)
def identity(w: Writer) -> str:
    kind = w.pick(("list", "dict", "obj", "fn"))
    return f"({w.leaf(kind)} {w.pick(('is', 'is not'))} {w.pick((w.leaf(kind), 'None'))})"


@rules.expression("int", 3)
def conditional(w: Writer) -> str:
    return f"({w.expr('int')} if {condition(w)} else {w.expr('int')})"


@rules.expression("int", 2)
def short_circuit(w: Writer) -> str:
    kind = w.pick(("int", "list", "obj", "str"))
    return f"({w.expr(kind)} {w.pick(('and', 'or'))} {w.expr('int')})"


@rules.expression("int", 2)
def walrus(w: Writer) -> str | None:
    if not w.functions_deep or w.in_comprehension:
        return None
    return f"({w.target('int')} := {w.expr('int')})"


@rules.expression("int", 2)
def builtin_number(w: Writer) -> str:
    a, b = w.leaf("int"), w.leaf("int")
    return w.pick((f"abs({a})", f"round({a})", f"min({a}, {b})", f"max({a}, {b})", f"divmod({a}, {b})[1]",
                   f"int({a})", f"bool({a})", f"float({a})", f"pow({a}, 2)"))  # fmt: skip


@rules.expression("int", 2)
def type_test(w: Writer) -> str:
    value = w.leaf(w.pick(("int", "any")))
    return f"{w.pick(('isinstance', 'isinstance'))}({value}, {w.pick(('int', 'str', '(list, dict)', 'float', 'bool'))})"


@rules.expression("int", 1)
def type_identity(w: Writer) -> str:
    return f"(type({w.leaf('int')}) is {w.pick(('int', 'str', 'float', 'bool'))})"


@rules.statement(6)
def assign_number(w: Writer) -> Lines:
    value = w.expr("int")
    return [f"{w.bind('int', w.target('int'))} = {value}"]


@rules.statement(4)
def augment_number(w: Writer) -> Lines | None:
    name = w.name("int")
    if name is None or name.isupper():
        return None
    return [f"{name} {w.pick(('+=', '-=', '+=', '|=', '//=', '%='))} {w.expr('int')}"]


@rules.statement(2)
def scale_number(w: Writer) -> Lines | None:
    name = w.name("int")
    return None if name is None or name.isupper() else [f"{name} *= {w.pick(('2', '-1', '3'))}"]


@rules.statement(2)
def swap_numbers(w: Writer) -> Lines | None:
    a, b = w.name("int"), w.name("int")
    if a is None or b is None or a.isupper() or b.isupper():
        return None
    return [f"{a}, {b} = {b}, {a}"]


@rules.statement(2)
def chained_assignment(w: Writer) -> Lines:
    kind = w.pick(("int", "list", "obj", "dict"))
    value = w.expr(kind)
    first, second = w.target(kind), w.target(kind)
    return [f"{w.bind(kind, first)} = {w.bind(kind, second)} = {value}"]


@rules.statement(4)
def alias(w: Writer) -> Lines:
    kind = w.pick(("list", "dict", "obj", "set", "deque", "fn", "str", "tuple", "bytearray"))
    value = w.expr(kind)
    return [f"{w.bind(kind, w.target(kind))} = {value}"]


@rules.statement(1)
def delete_name(w: Writer) -> Lines | None:
    kind = w.pick(("int", "list", "obj", "dict"))
    local = [name for name in w.names[kind] if "." not in name]
    if not local or w.nesting:
        return None
    name = w.pick(local)
    w.names[kind].remove(name)
    return [f"del {name}"]
