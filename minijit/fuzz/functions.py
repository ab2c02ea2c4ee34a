"""Grammar: helper functions, their parameters and the many ways to call them."""

from __future__ import annotations

from minijit.fuzz.writer import FunctionNote, Lines, Rules, Writer, indent

rules = Rules()
PARAMETER_KINDS = ("int", "int", "int", "list", "dict", "obj", "str", "fn")


def name_function(w: Writer) -> str:
    """Make a name for a helper function."""
    w.counter += 1
    return f"h{w.counter}"


def note(w: Writer, name: str, *parameters: str, result: str = "int") -> None:
    """Let later code call the function, and the compiler have it."""
    w.functions.append(FunctionNote(name, parameters, result))
    w.targets.append(name)


@rules.lines("functions", 8)
def plain(w: Writer) -> Lines:
    name = name_function(w)
    kinds = [w.pick(PARAMETER_KINDS) for _ in range(w.below(4))]
    result = w.pick(("int", "int", "int", "list", "obj", "tuple", "str"))
    names: dict[str, list[str]] = {}
    for i, kind in enumerate(kinds):
        names.setdefault(kind, []).append(f"p{i}")
    lines = [f"def {name}({', '.join(f'p{i}' for i in range(len(kinds)))}):", *w.body(names, 3, result)]
    note(w, name, *kinds, result=result)
    return lines


@rules.lines("functions", 3)
def with_defaults(w: Writer) -> Lines:
    name = name_function(w)
    signature = w.pick(("a, b=2, *, c=3", "a, b=[]", "a, /, b=None, **kw", "a=1, *rest", "a, *rest, c=0, **kw"))
    names = {
        "int": ["a"] + ["c"] * ("c=" in signature),
        "tuple": ["rest"] * ("*rest" in signature),
        "dict": ["kw"] * ("kw" in signature),
    }
    if "b=[]" in signature:
        names["list"] = ["b"]
        lines = ["b.append(a)", "LOG.append(len(b))", "del b[6:]"]
    else:
        lines = []
    body = [f"def {name}({signature}):", *indent(lines), *w.body(names, 3)]
    note(w, name, "int")
    return body


@rules.lines("functions", 3)
def forwarding_decorator(w: Writer) -> Lines:
    decorator, name = name_function(w), name_function(w)
    wraps = ["@functools.wraps(fn)"] if w.chance(0.6) else []
    before = w.pick(("LOG.append('before')", "kw.setdefault('b', 3)", "args = args[:1]", "pass", "calls.append(1)"))
    after = w.pick(("return result", "LOG.append(result); return result", "return (result, len(args))[0]"))
    inner = [*wraps, *_jit(w), "def wrapper(*args, **kw):", *indent([before, "result = fn(*args, **kw)", after])]
    lines = [f"def {decorator}(fn):", *indent(["calls = []", *inner, "return wrapper"]),
             *[f"@{decorator}"] * (1 + w.below(3)), f"def {name}(a, b=1):", *w.body({"int": ["a", "b"]}, 2)]  # fmt: skip
    note(w, name, "int")
    return lines


@rules.lines("functions", 2)
def parametrised_decorator(w: Writer) -> Lines:
    decorator, name = name_function(w), name_function(w)
    lines = [f"def {decorator}(times):", *indent(["def decorate(fn):", *indent(["def wrapper(x):", *indent([
        "for _ in range(times):", "    x = fn(x)", "return x"]), "return wrapper"]), "return decorate"]),
        f"@{decorator}({w.pick('0123')})", f"def {name}(a):", *w.body({"int": ["a"]}, 2)]  # fmt: skip
    note(w, name, "int")
    return lines


@rules.lines("functions", 2)
def partial(w: Writer) -> Lines:
    if not w.functions:
        return []
    base, name = w.pick(w.functions), name_function(w)
    if not base.parameters:
        return []
    w.functions.append(FunctionNote(name, base.parameters[1:], base.result))
    return [f"{name} = functools.partial({base.name}, {w.literal(base.parameters[0])})"]


@rules.lines("functions", 2)
def recursive(w: Writer) -> Lines:
    name = name_function(w)
    step = w.pick((f"{name}(n - 1) + 1", f"{name}(n - 1) + {name}(n - 2)", f"LOG.append(n) or {name}(n - 1)"))
    lines = [
        f"def {name}(n):",
        *indent(["if not 0 < n < 6:", f"    return {w.pick(('n', '1', '0'))}", f"return {step}"]),
    ]
    note(w, name, "int")
    return lines


@rules.lines("functions", 1)
def memoised(w: Writer) -> Lines:
    name = name_function(w)
    lines = ["@functools.lru_cache(None)", f"def {name}(a):", *w.body({"int": ["a"]}, 1)]
    w.functions.append(FunctionNote(name, ("int",)))
    return lines


@rules.lines("functions", 1)
def raising(w: Writer) -> Lines:
    name = name_function(w)
    error = w.pick(("ValueError(a)", "KeyError('k')", "Oops(a)", "RuntimeError"))
    lines = [
        f"def {name}(a):",
        *indent([f"if a {w.pick(('>', '<', '=='))} {w.pick('0123')}:", f"    raise {error}"]),
        *w.body({"int": ["a"]}, 1),
    ]
    note(w, name, "int")
    return lines


def _jit(w: Writer) -> Lines:
    return ["@jit"] if w.chance(0.3) else []


def arguments(w: Writer, function: FunctionNote) -> str:
    """Write matching arguments, in one of several forms."""
    values = [w.expr(kind) for kind in function.parameters]
    if w.chance(0.04):
        values.append(w.leaf("int"))
    if len(values) == 1 and w.chance(0.2):
        return w.pick((f"*[{values[0]}]", f"*({values[0]},)", f"*({values[0]},), **{{}}"))
    return ", ".join(values)


def call(w: Writer, kind: str | None) -> str | None:
    """Write a call of a helper that gives this kind."""
    functions = [function for function in w.functions if kind is None or function.result == kind]
    if not functions:
        return None
    function = w.pick(functions)
    return f"{function.name}({arguments(w, function)})"


@rules.expression("int", 8)
def call_number(w: Writer) -> str | None:
    return call(w, "int")


@rules.expression("list", 3)
def call_list(w: Writer) -> str | None:
    return call(w, "list")


@rules.expression("obj", 2)
def call_object(w: Writer) -> str | None:
    return call(w, "obj")


@rules.expression("tuple", 2)
def call_tuple(w: Writer) -> str | None:
    return call(w, "tuple")


@rules.expression("str", 2)
def call_string(w: Writer) -> str | None:
    return call(w, "str")


@rules.expression("int", 3)
def call_value(w: Writer) -> str:
    return f"{w.leaf('fn')}({w.expr('int')})"


@rules.expression("fn", 3)
def function_value(w: Writer) -> str | None:
    functions = [function.name for function in w.functions if function.parameters == ("int",)]
    return w.pick(functions) if functions else None


@rules.expression("fn", 2)
def partial_value(w: Writer) -> str:
    return w.pick(
        (
            f"functools.partial(max, {w.leaf('int')})",
            f"functools.partial({w.leaf('fn')})",
            "operator.itemgetter(0)",
            "operator.neg",
        )
    )


@rules.expression("int", 3)
def called_back(w: Writer) -> str:
    f, xs = w.leaf("fn"), w.leaf(w.pick(("list", "tuple")))
    return w.pick((f"sum(map({f}, {xs}))", f"sorted({xs}, key={f})[0]", f"functools.reduce(lambda p, q: q, {xs}, {w.leaf('int')})",
                   f"max({xs}, key={f}, default=0)", f"len(list(filter({f}, {xs})))", f"any(map({f}, {xs}))"))  # fmt: skip


@rules.statement(5)
def call_statement(w: Writer) -> Lines | None:
    text = call(w, None)
    return [text] if text else None
