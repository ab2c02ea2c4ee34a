"""Grammar: objects whose death shows: `__del__` and weak references."""

from __future__ import annotations

from minijit.fuzz.functions import name_function
from minijit.fuzz.writer import Lines, Rules, Writer, indent

rules = Rules()


@rules.statement(2)
def make_final(w: Writer) -> Lines:
    return [f"{w.bind('final', w.target('final'))} = Final({w.leaf('int')})"]


@rules.statement(1)
def die_at_once(w: Writer) -> Lines:
    return [f"Final({w.leaf('int')})", "LOG.append('after')"]


@rules.statement(1)
def hold(w: Writer) -> Lines:
    """Keep it in an attribute, then put another in its place."""
    o = w.leaf("obj")
    lines = [
        f"{o}.held = Final(1)",
        w.pick((f"{o}.held = None", f"del {o}.held", f"{o}.held = Final(2)", f"{o}.n = {o}.held")),
        "LOG.append('replaced')",
    ]
    return ["try:", *indent(lines), "except AttributeError:", "    LOG.append('no attribute')"]


@rules.statement(2)
def drop(w: Writer) -> Lines | None:
    names = w.names["final"]
    if not names or w.nesting:
        return None
    name = w.pick(names)
    return [w.pick((f"{name} = None", f"{name} = Final({name}.n)", f"{name} = 1")), "LOG.append('dropped')"]


@rules.statement(2)
def watch(w: Writer) -> Lines:
    name, reference = w.fresh("final"), w.fresh("any")
    callback = w.pick(("", ", lambda r: LOG.append('dead')"))
    return [f"{name} = {w.pick(('Final(3)', 'Box(4)', w.literal('obj')))}", f"{reference} = weakref.ref({name}{callback})",
            f"LOG.append({reference}() is {name})", f"{name} = None", f"LOG.append({reference}() is None)"]  # fmt: skip


@rules.lines("functions", 1)
def passing(w: Writer) -> Lines:
    """A function that receives the only reference."""
    name = name_function(w)
    w.targets.append(name)
    body = w.pick((["return x.n"], ["x = None", "LOG.append('let go')", "return 1"], ["return x"], ["y = x", "del x", "LOG.append('one left')", "return y.n"],
                   ["raise ValueError(x.n)"]))  # fmt: skip
    w.finals.append(name)
    return [f"def {name}(x):", *indent(body)]


@rules.statement(2)
def pass_on(w: Writer) -> Lines | None:
    if not w.finals:
        return None
    call = f"{w.pick(w.finals)}({w.pick(('Final(5)', *w.names['final']))})"
    return [
        "try:",
        f"    {w.pick((call, f'LOG.append(type({call}).__name__)'))}",
        "except ValueError as e:",
        "    LOG.append(e.args)",
        "LOG.append('passed')",
    ]
