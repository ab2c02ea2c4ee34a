"""Grammar: nested functions, shared cells, late binding, lambdas."""

from __future__ import annotations

from minijit.fuzz.functions import name_function, note
from minijit.fuzz.writer import Lines, Rules, Writer, indent

rules = Rules()


def _captured(w: Writer) -> dict[str, list[str]]:
    return {kind: [name for name in names if "." not in name] for kind, names in w.names.items()}


@rules.statement(4)
def nested_function(w: Writer) -> Lines | None:
    if w.functions_deep > 2 or w.crowded:
        return None
    name, parameter = w.fresh("fn"), w.fresh("int")
    captured = _captured(w)
    shared = w.pick(captured["int"]) if captured["int"] and w.functions_deep and w.chance(0.5) else None
    # a nonlocal name must not be global or rebound here, so it is only assigned by this one statement
    names = {**{kind: [] for kind in captured}, "int": [parameter, parameter]}
    effect = [f"nonlocal {shared}", f"{shared} {w.pick(('+=', '=', '-='))} {parameter}"] if shared else []
    read = [f"LOG.append({w.pick(captured['int'])})"] if captured["int"] and w.chance(0.5) else []
    lines = [
        *(["@jit"] if w.chance(0.2) else []),
        f"def {name}({parameter}=1):",
        *indent([*effect, *read]),
        *w.body(names, 2),
    ]
    w.bind("fn", name)
    return lines


@rules.statement(3)
def capturing_lambda(w: Writer) -> Lines:
    name, parameter = w.fresh("fn"), w.fresh("int")
    captured = _captured(w)
    values = [n for kind in ("int", "list", "obj") for n in captured[kind]] or ["1"]
    body = w.pick((f"{parameter} + {w.pick(values)}", f"({parameter}, {w.pick(values)})", w.pick(values)))
    default = "" if w.chance(0.5) else "=1"
    w.bind("fn", name)
    return [f"{name} = lambda {parameter}{default}: {body}"]


@rules.statement(2)
def late_binding(w: Writer) -> Lines:
    functions, k = w.fresh("list"), w.fresh("int")
    form = w.pick((f"lambda: {k}", f"lambda {k}={k}: {k}", f"lambda: ({k}, {w.leaf('int')})"))
    w.bind("list", functions)
    return [
        f"{functions} = []",
        f"for {k} in range(3):",
        f"    {functions}.append({form})",
        f"LOG.append([f() for f in {functions}])",
    ]


@rules.statement(2)
def counter(w: Writer) -> Lines:
    """Two closures share one cell."""
    if w.functions_deep > 2:
        return []
    up, read, cell = w.fresh("fn"), w.fresh("fn"), w.fresh("int")
    w.bind("fn", up)
    return [f"{cell} = {w.leaf('int')}", f"def {up}(by=1):", f"    nonlocal {cell}", f"    {cell} = {cell} + by", f"    return {cell}",
            f"{read} = lambda by=0: {cell}", f"LOG.append(({up}(2), {read}(), {cell}))"]  # fmt: skip


@rules.lines("functions", 3)
def maker(w: Writer) -> Lines:
    make, name, other = name_function(w), name_function(w), name_function(w)
    effect = w.pick(("total += x", "total = x", "seen.append(x)", "seen.append(total)", "del total; total = x"))
    first = ["def add(x):", *indent(["nonlocal total", effect, "return total"])]
    second = [
        "def look(x=0):",
        *indent([w.pick(("return (total, len(seen))", "return total", "seen.append(x); return x"))]),
    ]
    lines = [
        f"def {make}(total):",
        *indent(["seen = []", *first, *second, "return add, look"]),
        f"{name}, {other} = {make}({w.pick('0123')})",
    ]
    note(w, name, "int")
    note(w, other, "int")
    w.targets.append(make)
    return lines


@rules.expression("fn", 3)
def lambda_value(w: Writer) -> str:
    return f"(lambda q: q {w.pick(('+', '-', '=='))} {w.leaf('int')})"


@rules.expression("int", 2)
def immediate_lambda(w: Writer) -> str:
    return f"(lambda q, r=1: (q, r)[0])({w.expr('int')})"
