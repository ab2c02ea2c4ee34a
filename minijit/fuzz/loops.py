"""Grammar: branches and loops; every loop is bounded."""

from __future__ import annotations

from minijit.fuzz.scalars import condition
from minijit.fuzz.writer import Lines, Rules, Writer, indent

rules = Rules()


@rules.statement(7)
def branch(w: Writer) -> Lines | None:
    if w.crowded:
        return None
    test = condition(w) if w.chance(0.7) else w.leaf(w.pick(("list", "obj", "dict", "str")))
    lines = [f"if {test}:", *w.block()]
    if w.chance(0.3):
        lines += [f"elif {condition(w)}:", *w.block()]
    if w.chance(0.5):
        lines += ["else:", *w.block()]
    return lines


@rules.statement(5)
def counted_loop(w: Writer) -> Lines | None:
    if w.crowded or w.loops > 1:
        return None
    name = w.fresh("int")
    steps = w.pick(
        ("range(3)", "range(4)", "range(1, 4)", "range(3, 0, -1)", "range(0)", f"range(min(3, {w.leaf('int')}))")
    )
    w.bind("int", name)
    return [f"for {name} in {steps}:", *w.block(loop=True), *_otherwise(w)]


@rules.statement(4)
def fixed_loop(w: Writer) -> Lines | None:
    """Loop over something that cannot grow meanwhile."""
    if w.crowded or w.loops > 1:
        return None
    a, b = w.fresh("int"), w.fresh("int")
    two = w.pick(
        (
            f"{w.leaf('dict')}.items()",
            f"enumerate({w.leaf('tuple')})",
            f"zip({w.leaf('list')}[:3], {w.leaf('tuple')})",
            "((1, 2), (3, 4))",
        )
    )
    one = w.pick((w.leaf("tuple"), f"reversed({w.leaf('tuple')})", f"list({w.leaf('list')})", f"sorted({w.leaf('set')}, key=str)", w.leaf("dict"),
                  f"map({w.leaf('fn')}, {w.leaf('tuple')})", f"{w.leaf('str')}", f"filter(None, {w.leaf('tuple')})"))  # fmt: skip
    w.bind("int", a)
    if w.chance(0.4):
        w.bind("int", b)
        return [f"for {a}, {b} in {two}:", *w.block(loop=True), *_otherwise(w)]
    return [f"for {a} in {one}:", *w.block(loop=True), *_otherwise(w)]


@rules.statement(5)
def growing_loop(w: Writer) -> Lines | None:
    """Loop over what the body may lengthen or shorten; a count ends it."""
    if w.crowded or w.loops > 1:
        return None
    name, count = w.fresh("int"), f"n{w.counter}"
    source = (
        w.leaf(w.pick(("list", "list", "obj", "deque", "gen", "dict", "bytearray"))) if w.chance(0.7) else w.expr("gen")
    )
    w.bind("int", name)
    stop = [f"{count} += 1", f"if {count} > 5:", "    break"]
    return [f"{count} = 0", f"for {name} in {source}:", *indent(stop), *w.block(loop=True), *_otherwise(w)]


@rules.statement(3)
def while_loop(w: Writer) -> Lines | None:
    if w.crowded or w.loops > 1:
        return None
    w.counter += 1
    count = f"n{w.counter}"
    test = f"{count} < {w.pick('234')}" + (f" and {condition(w)}" if w.chance(0.5) else "")
    return [f"{count} = 0", f"while {test}:", f"    {count} += 1", *w.block(loop=True), *_otherwise(w)]


@rules.statement(2)
def consuming_loop(w: Writer) -> Lines | None:
    """Take items away until there are none."""
    name, item = w.leaf("list"), w.fresh("int")
    if w.crowded or w.loops > 1:
        return None
    count = f"n{w.counter}"
    return [
        f"{count} = 9",
        f"while {name} and {count}:",
        f"    {count} -= 1",
        f"    {item} = {name}.pop({w.pick(('', '0'))})",
        f"    LOG.append({item})",
    ]


@rules.statement(4)
def leave_loop(w: Writer) -> Lines | None:
    if not w.loops:
        return None
    return [f"if {condition(w)}:", f"    {w.pick(('break', 'continue', 'break'))}"]


@rules.statement(2)
def early_return(w: Writer) -> Lines | None:
    if not w.nesting and w.chance(0.7):
        return None
    return [f"if {condition(w)}:", f"    return {w.expr('int')}"]


@rules.statement(1)
def do_nothing(w: Writer) -> Lines:
    return ["pass"]


def _otherwise(w: Writer) -> Lines:
    return ["else:", *w.block(1)] if w.chance(0.2) else []
