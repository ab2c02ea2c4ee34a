"""Grammar: comprehensions and generator expressions."""

from __future__ import annotations

from minijit.fuzz.writer import Rules, Writer

rules = Rules()


def clause(w: Writer, name: str) -> str:
    """Write `for name in ...`, perhaps with a condition. Nothing here may lengthen what is iterated."""
    source = w.leaf(w.pick(("list", "tuple", "dict", "set", "str", "list")))
    if w.chance(0.2):
        source = f"range({w.pick('0123')})"
    condition = w.pick((name, f"{name} != {w.leaf('int')}", w.leaf("int")))
    condition = w.pick((name, f"{name} != {w.leaf('int')}", w.leaf("int")))
    return f"for {name} in {source}" + (f" if {condition}" if w.chance(0.4) else "")


def element(w: Writer, name: str) -> str:
    """Write the element, from the loop variable and what is in scope."""
    other = w.leaf(w.pick(("int", "obj", "str")))
    f = w.pick(("str", "bool", "type", "len"))
    return w.pick(
        (
            name,
            f"{name} + {w.leaf('int')}",
            f"({name}, {other})",
            f"{f}({name})",
            f"lambda: {name}",
            f"{w.leaf('obj')}.n",
            f"-{name}",
        )
    )


def loop_name(w: Writer) -> str:
    """Make a loop variable: sometimes the name of a local, which must survive."""
    local = [name for name in w.names["int"] if "." not in name]
    return w.pick(local) if local and w.chance(0.2) else w.fresh("int")


@rules.expression("list", 5)
def list_comprehension(w: Writer) -> str:
    name = loop_name(w)
    inner = f" {clause(w, w.fresh('int'))}" if w.chance(0.15) else ""
    return f"[{element(w, name)} {clause(w, name)}{inner}]"


@rules.expression("dict", 3)
def dict_comprehension(w: Writer) -> str:
    name = loop_name(w)
    return f"{{{name}: {element(w, name)} {clause(w, name)}}}"


@rules.expression("set", 2)
def set_comprehension(w: Writer) -> str:
    name = loop_name(w)
    return f"{{str({name}) {clause(w, name)}}}"


@rules.expression("gen", 3)
def generator_expression(w: Writer) -> str:
    name = loop_name(w)
    return f"({element(w, name)} {clause(w, name)})"


@rules.expression("list", 2)
def nested_comprehension(w: Writer) -> str:
    a, b = w.fresh("int"), w.fresh("int")
    return f"[[({a}, {b}) for {b} in range(2)] {clause(w, a)}]"


@rules.expression("int", 2)
def reduced(w: Writer) -> str:
    name = loop_name(w)
    return f"{w.pick(('sum', 'any', 'all', 'len', 'max'))}([{element(w, name)} {clause(w, name)}])"
