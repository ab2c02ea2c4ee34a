"""Grammar: strings, formatting, printing and the log."""

from __future__ import annotations

from minijit.fuzz.writer import Lines, Rules, Writer

rules = Rules()
FORMATTED = ("int", "int", "str", "list", "tuple", "obj", "dict")


@rules.expression("str", 3)
def fstring(w: Writer) -> str:
    first, second = w.leaf(w.pick(FORMATTED)), w.leaf("int")
    if "'" in first + second:
        return f"('%s-%r' % ({first}, {second}))"
    return f"f'{{{first}}}:{{{second}{w.pick(('', '!r', '!s', ':>3', '!a'))}}}'"


@rules.expression("str", 1)
def percent(w: Writer) -> str:
    return f"('%{w.pick('drs')}|%s' % ({w.expr('int')}, {w.leaf(w.pick(FORMATTED))}))"


@rules.expression("str", 1)
def format_method(w: Writer) -> str:
    return f"'{{}}/{{x!r}}'.format({w.leaf(w.pick(FORMATTED))}, x={w.leaf('int')})"


@rules.expression("str", 2)
def concatenation(w: Writer) -> str:
    return f"({w.leaf('str')} + {w.leaf('str')})[:12]"


@rules.expression("str", 2)
def string_method(w: Writer) -> str:
    s = w.leaf("str")
    return w.pick((f"{s}.upper()", f"{s}[::-1]", f"{s}[1:]", f"{s}.replace('a', 'bb')", f"str({w.expr('int')})",
                   f"repr({w.leaf('int')})", f"{s}.join(['p', {w.leaf('str')}])", f"{s}.partition('x')[2]"))  # fmt: skip


@rules.expression("str", 1)
def type_name(w: Writer) -> str:
    return f"type({w.leaf('any')}).__name__"


@rules.expression("int", 1)
def string_number(w: Writer) -> str:
    s = w.leaf("str")
    return w.pick((f"len({s})", f"({s} in {w.leaf('str')})", f"{s}.find('b')", f"{s}.isdigit()", f"int({s})"))


@rules.statement(3)
def print_values(w: Writer) -> Lines:
    return [f"print({w.expr('int')}, {w.leaf(w.pick(FORMATTED))})"]


@rules.statement(6)
def log_value(w: Writer) -> Lines:
    return [f"LOG.append({w.expr(w.pick(('int', 'str', 'tuple', 'int')))})"]


@rules.statement(3)
def log_container(w: Writer) -> Lines:
    kind = w.pick(("list", "dict", "set", "deque"))
    return [f"LOG.append({w.pick(('list', 'len', 'sorted', 'tuple', 'repr', 'bool'))}({w.leaf(kind)}))"]


@rules.statement(1)
def augment_string(w: Writer) -> Lines:
    name = w.target("str")
    if name in w.names["str"]:
        return [f"{name} += {w.pick(('{0!r}', 'str({1})')).format('z', w.leaf('int'))}", f"{name} = {name}[-9:]"]
    return [f"{w.bind('str', name)} = {w.literal('str')}"]
