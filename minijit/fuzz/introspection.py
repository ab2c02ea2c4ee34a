"""Grammar: code that looks at frames, names and identities, and must see what CPython shows."""

from __future__ import annotations

from minijit.fuzz.functions import name_function, note
from minijit.fuzz.writer import Lines, Rules, Writer, indent

rules = Rules()


@rules.statement(1)
def look_at_frames(w: Writer) -> Lines:
    return [
        w.pick(
            (
                "LOG.append(frames())",
                "LOG.append(caller())",
                "LOG.append(sorted(locals()))",
                "LOG.append(sys._getframe().f_lineno)",
            )
        )
    ]


@rules.statement(1)
def look_at_local(w: Writer) -> Lines | None:
    names = [name for name in w.names["int"] if "." not in name]
    if not names:
        return None
    name = w.pick(names)
    return [f"LOG.append((peek('{name}'), {name}))"]  # still alive: what is dead may be missing from a frame


@rules.lines("functions", 1)
def framed_helper(w: Writer) -> Lines:
    name = name_function(w)
    look = w.pick(("frames()", "caller()", "sorted(locals())", "sys._getframe(1).f_code.co_name"))
    note(w, name, "int")
    return [f"def {name}(a):", *indent([f"LOG.append({look})", "return a"])]


@rules.statement(1)
def identities(w: Writer) -> Lines:
    kind = w.pick(("list", "dict", "obj", "tuple"))
    a, b = w.leaf(kind), w.leaf(kind)
    return [f"LOG.append(({a} is {b}, {a} is {a}))"]


@rules.statement(1)
def function_attribute(w: Writer) -> Lines | None:
    if not w.functions:
        return None
    name = w.pick(w.functions).name
    return [f"{name}.count = getattr({name}, 'count', 0) + 1", f"LOG.append({name}.count)"]


@rules.statement(1)
def evaluate(w: Writer) -> Lines:
    return [
        f"LOG.append(eval('{w.pick(('1 + 1', 'len(LOG)', 'sorted(k for k in locals() if k[0] != chr(46))[:3]'))}'))"
    ]
