"""Grammar: generators, made and consumed in every way."""

from __future__ import annotations

from minijit.fuzz.functions import name_function
from minijit.fuzz.writer import FunctionNote, Lines, Rules, Writer, indent

rules = Rules()


def _note(w: Writer, name: str) -> None:
    w.functions.append(FunctionNote(name, ("int",), "gen"))
    w.targets.append(name)


@rules.lines("functions", 4)
def counting(w: Writer) -> Lines:
    name = name_function(w)
    inner = w.pick(
        (
            ["yield a"],
            ["LOG.append(('yield', k))", "yield k"],
            ["a = yield k"],
            ["yield (k, a)"],
            ["yield k", "yield a"],
        )
    )
    tail = w.pick(([], ["return a"], ["LOG.append('end')"], ["raise ValueError(a)"]))
    body = [f"for k in range({w.pick('0123')}):", *indent(inner), *tail]
    if w.chance(0.4):
        body = [
            "try:",
            *indent(body),
            *w.pick((["finally:", "    LOG.append('closed')"], ["except KeyError:", "    yield 'caught'"])),
        ]
    _note(w, name)
    return [f"def {name}(a=1):", *indent(body)]


@rules.lines("functions", 2)
def delegating(w: Writer) -> Lines:
    name = name_function(w)
    source = w.pick((*(f"{f.name}(a)" for f in w.functions if f.result == "gen"), "[1, 2]", "range(2)"))
    body = w.pick(
        (
            [f"yield from {source}", "yield a"],
            [f"x = yield from {source}", "LOG.append(x)"],
            [f"for x in {source}:", "    yield x", "    LOG.append('back')"],
        )
    )
    _note(w, name)
    return [f"def {name}(a=1):", *indent(body)]


@rules.lines("functions", 2)
def accumulating(w: Writer) -> Lines:
    """A generator with state, as `send` uses it."""
    name = name_function(w)
    _note(w, name)
    return [
        f"def {name}(a=0):",
        *indent(
            [
                "total = a",
                "while True:",
                "    got = yield total",
                "    if got is None:",
                "        return",
                "    total = got",
            ]
        ),
    ]


@rules.expression("gen", 5)
def call_generator(w: Writer) -> str | None:
    functions = [function.name for function in w.functions if function.result == "gen"]
    return f"{w.pick(functions)}({w.leaf('int')})" if functions else None


@rules.expression("gen", 4)
def iterator(w: Writer) -> str:
    xs = w.leaf(w.pick(("list", "tuple", "dict")))
    return w.pick((f"iter({xs})", f"enumerate({xs})", f"zip({xs}, {w.leaf('list')})", f"reversed({w.leaf('list')})",
                   f"map({w.leaf('fn')}, {xs})", f"filter(None, {xs})", f"iter({w.leaf('dict')}.items())", f"itertools.islice({xs}, 2)",
                   f"itertools.chain({xs}, {w.leaf('tuple')})", f"(q for q in {xs})", f"iter({w.leaf('obj')})"))  # fmt: skip


@rules.expression("int", 5)
def consumed(w: Writer) -> str:
    g = w.expr("gen") if w.chance(0.7) else w.leaf("gen")
    return w.pick((f"next({g}, 0)", f"next({g})", f"sum({g})", f"len(list({g}))", f"list({g})[:1]", f"any({g})", f"all({g})",
                   f"max({g}, default=1)", f"sum(1 for _ in {g})", f"min({g}, default=2)"))  # fmt: skip


@rules.expression("list", 3)
def listed(w: Writer) -> str:
    g = w.expr("gen")
    return w.pick(
        (f"list({g})", f"[*{g}]", f"sorted({g}, key=str)", f"list(zip({g}, {w.leaf('list')}))", f"list(enumerate({g}))")
    )


@rules.statement(3)
def keep_generator(w: Writer) -> Lines:
    value = w.expr("gen")
    name = w.bind("gen", w.target("gen"))
    return [f"{name} = {value}", *([f"LOG.append(next({name}, None))"] if w.chance(0.5) else [])]


@rules.statement(3)
def drive(w: Writer) -> Lines:
    value, name = w.expr("gen"), w.fresh("gen")
    lines = [f"{name} = {value}"]
    for _ in range(1 + w.below(3)):
        lines.append(w.pick((f"LOG.append(next({name}, 'stop'))", f"LOG.append({name}.send({w.pick(('None', '1', '2'))}))", f"{name}.close()",
                             f"LOG.append({name}.throw({w.pick(('KeyError', 'ValueError(1)'))}))", f"LOG.append(list({name}))")))  # fmt: skip
    return ["try:", *indent(lines), "except Exception as e:", "    LOG.append((type(e).__name__, e.args))"]


@rules.statement(3)
def break_in_the_middle(w: Writer) -> Lines:
    value, name, k = w.expr("gen"), w.fresh("gen"), w.fresh("int")
    return [f"{name} = {value}", f"for {k} in {name}:", f"    LOG.append({k})", f"    if {k} {w.pick(('>', '==', '!='))} {w.leaf('int')}:",
            "        break", f"LOG.append(next({name}, 'end'))"]  # fmt: skip
