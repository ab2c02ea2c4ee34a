"""Grammar: lists, dicts, sets, deques and bytearrays: reads, every mutating method, slices, unpacking."""

from __future__ import annotations

from minijit.fuzz.writer import Lines, Rules, Writer

rules = Rules()
KEYS = ("'a'", "'b'", "'k1'", "1", "True", "(1, 2)", "None")
ITERABLES = ("list", "tuple", "dict", "set", "deque", "gen", "str")


def key(w: Writer) -> str:
    """Write a key: mostly a literal, so that keys meet."""
    return w.pick(KEYS) if w.chance(0.7) else w.leaf(w.pick(("int", "str")))


def index(w: Writer) -> str:
    """Write an index that is often in range."""
    return w.pick(("0", "-1", "1", "0")) if w.chance(0.8) else w.leaf("int")


def bounds(w: Writer) -> str:
    """Write a slice."""
    return w.pick((":", "1:", ":1", ":-1", "::-1", "0:2", "1:1", "::2", f"{index(w)}:"))


def element(w: Writer) -> str:
    """Write what goes into a container: aliases of others, now and then."""
    return w.expr(w.pick(("int", "int", "int", "str", "list", "obj", "tuple", "dict", "fn")))


def some(w: Writer) -> str:
    """Write an iterable to extend a container with, short where a loop would double it."""
    iterable = w.leaf(w.pick(ITERABLES))
    return f"list({iterable})[:2]" if w.loops else iterable


# reads


@rules.expression("int", 4)
def read_item(w: Writer) -> str:
    if w.chance(0.5):
        return f"{w.leaf(w.pick(('list', 'deque', 'tuple')))}[{index(w)}]"
    return f"{w.leaf('dict')}[{key(w)}]" if w.chance(0.4) else f"{w.leaf('dict')}.get({key(w)}, {w.leaf('int')})"


@rules.expression("int", 3)
def length(w: Writer) -> str:
    return f"len({w.leaf(w.pick(('list', 'dict', 'set', 'deque', 'tuple', 'bytearray')))})"


@rules.expression("int", 3)
def membership(w: Writer) -> str:
    kind = w.pick(("list", "dict", "set", "deque", "tuple"))
    return f"({w.leaf(w.pick(('int', 'str')))} {w.pick(('in', 'not in'))} {w.leaf(kind)})"


@rules.expression("int", 2)
def popped(w: Writer) -> str:
    name = w.leaf(w.pick(("list", "deque")))
    d = w.leaf("dict")
    return w.pick((f"{name}.pop()", f"{name}.count({w.leaf('int')})", f"{d}.pop({key(w)}, 0)",
                   f"{d}.setdefault({key(w)}, {w.leaf('int')})", f"{w.leaf('list')}.index({w.leaf('int')})"))  # fmt: skip


@rules.expression("list", 3)
def new_list(w: Writer) -> str:
    return f"[{', '.join(element(w) for _ in range(w.below(4)))}]"


@rules.expression("list", 3)
def list_from(w: Writer) -> str:
    return f"{w.pick(('list', 'list', 'sorted'))}({w.leaf(w.pick(ITERABLES))})"


@rules.expression("list", 2)
def list_operation(w: Writer) -> str:
    a, b = w.leaf("list"), w.leaf("list")
    return w.pick((f"({a} + {b})[:8]", f"{a}[{bounds(w)}]", f"({a} * 2)[:6]", f"[*{a}, {w.leaf('int')}][:9]",
                   f"{a}.copy()", f"{w.leaf('str')}.split('x')", f"list(reversed({a}))"))  # fmt: skip


@rules.expression("list", 1)
def nested_list(w: Writer) -> str:
    return f"{w.leaf('dict')}.setdefault({key(w)}, {w.literal('list')})"


@rules.expression("dict", 3)
def new_dict(w: Writer) -> str:
    return "{" + ", ".join(f"{key(w)}: {element(w)}" for _ in range(w.below(4))) + "}"


@rules.expression("dict", 2)
def dict_operation(w: Writer) -> str:
    d = w.leaf("dict")
    return w.pick((f"dict({d})", f"{{**{d}, {key(w)}: {w.leaf('int')}}}", f"({d} | {w.leaf('dict')})", f"{d}.copy()",
                   f"dict(zip({w.leaf('list')}, {w.leaf('tuple')}))", f"dict.fromkeys({w.leaf('str')}, 0)",
                   f"dict(m={w.leaf('int')}, n=2)"))  # fmt: skip


@rules.expression("dict", 2)
def special_dict(w: Writer) -> str:
    d = w.leaf("dict")
    return w.pick((f"OrderedDict({d})", f"defaultdict(list, {d})", f"Counter({w.leaf('str')})", f"defaultdict(int, {d})",
                   f"Counter({w.leaf('tuple')})", "OrderedDict(a=1, b=2)"))  # fmt: skip


@rules.expression("set", 2)
def new_set(w: Writer) -> str:
    return "{" + ", ".join(w.leaf(w.pick(("int", "str"))) for _ in range(1 + w.below(3))) + "}"


@rules.expression("set", 2)
def set_operation(w: Writer) -> str:
    return f"({w.leaf('set')} {w.pick('|&-^')} {w.leaf('set')})"


@rules.expression("tuple", 3)
def new_tuple(w: Writer) -> str:
    return f"({element(w)}, {element(w)})" if w.chance(0.7) else f"({element(w)},)"


@rules.expression("tuple", 2)
def tuple_from(w: Writer) -> str:
    return w.pick((f"tuple({w.leaf(w.pick(ITERABLES))})", f"{w.leaf('tuple')}[{bounds(w)}]",
                   f"(*{w.leaf('list')}, {w.leaf('int')})", f"({w.leaf('tuple')} + {w.leaf('tuple')})[:6]"))  # fmt: skip


@rules.expression("deque", 1)
def new_deque(w: Writer) -> str:
    return f"deque({w.leaf(w.pick(ITERABLES))}, {w.pick(('None', '2', '3', '0'))})"


# mutations


@rules.statement(5)
def list_method(w: Writer) -> Lines:
    name = w.leaf("list")
    return [w.pick((f"{name}.append({element(w)})", f"{name}.append({element(w)})", f"{name}.insert({index(w)}, {element(w)})",
                    f"{name}.extend({some(w)})", f"{name}.pop({w.pick(('', '0', '-1'))})",
                    f"{name}.remove({w.leaf('int')})", f"{name}.reverse()", f"{name}.sort({w.pick(('', 'key=str', 'reverse=True'))})",
                    f"{name}.clear()"))]  # fmt: skip


@rules.statement(5)
def store_item(w: Writer) -> Lines:
    if w.chance(0.5):
        return [f"{w.leaf('dict')}[{key(w)}] = {element(w)}"]
    return [f"{w.leaf(w.pick(('list', 'deque')))}[{index(w)}] = {element(w)}"]


@rules.statement(2)
def augment_item(w: Writer) -> Lines:
    place = f"{w.leaf('dict')}[{key(w)}]" if w.chance(0.5) else f"{w.leaf('list')}[{index(w)}]"
    return [f"{place} {w.pick(('+=', '-=', '+='))} {w.expr('int')}"]


@rules.statement(2)
def delete_item(w: Writer) -> Lines:
    place = f"{w.leaf('dict')}[{key(w)}]" if w.chance(0.5) else f"{w.leaf(w.pick(('list', 'deque')))}[{index(w)}]"
    return [f"del {place}"]


@rules.statement(2)
def slice_statement(w: Writer) -> Lines:
    name = w.leaf("list")
    return [w.pick((f"{name}[{bounds(w)}] = {w.expr('list')}", f"del {name}[{bounds(w)}]", f"{name}[:] = {w.leaf('tuple')}",
                    f"{name}[len({name}):] = [{element(w)}]"))]  # fmt: skip


@rules.statement(2)
def augment_container(w: Writer) -> Lines | None:
    kind = w.pick(("list", "list", "set", "dict", "deque", "bytearray"))
    name = w.name(kind)
    if name is None or name.isupper():
        return None
    operand = {"list": some(w), "set": w.leaf("set"), "dict": w.leaf("dict"),
               "deque": w.leaf("tuple"), "bytearray": "b'q'"}[kind]  # fmt: skip
    operator = {"set": w.pick(("|=", "&=", "-=", "^=")), "dict": "|="}.get(kind, "+=")
    return [f"{name} {operator} {operand}", *([f"del {name}[8:]"] if kind in ("list", "bytearray") else [])]


@rules.statement(4)
def dict_method(w: Writer) -> Lines:
    name = w.leaf("dict")
    return [w.pick((f"{name}.update({w.leaf('dict')})", f"{name}.update(a={element(w)})", f"{name}.pop({key(w)}, None)",
                    f"{name}.popitem()", f"{name}.setdefault({key(w)}, []).append({w.leaf('int')})", f"{name}.clear()",
                    f"{name}.setdefault({key(w)}, {element(w)})", f"{name}.update([({key(w)}, {w.leaf('int')})])"))]  # fmt: skip


@rules.statement(2)
def ordered_method(w: Writer) -> Lines:
    name = w.fresh("dict")
    lines = [f"{name} = OrderedDict({w.leaf('dict')})"]
    for _ in range(1 + w.below(3)):
        lines.append(w.pick((f"{name}.move_to_end({key(w)})", f"{name}.popitem(last=False)", f"{name}[{key(w)}] = {element(w)}",
                             f"{name}.move_to_end({key(w)}, last=False)", f"{name}.pop({key(w)}, None)")))  # fmt: skip
    w.bind("dict", name)
    return lines


@rules.statement(3)
def set_method(w: Writer) -> Lines:
    name, value = w.leaf("set"), w.leaf(w.pick(("int", "str", "int")))
    return [w.pick((f"{name}.add({value})", f"{name}.discard({value})", f"{name}.remove({value})", f"{name}.update({w.leaf('set')})",
                    f"{name}.clear()", f"{name}.difference_update({w.leaf('list')})", f"{name}.pop()",
                    f"{name}.symmetric_difference_update({w.leaf('set')})"))]  # fmt: skip


@rules.statement(3)
def deque_method(w: Writer) -> Lines:
    name = w.leaf("deque")
    return [w.pick((f"{name}.append({element(w)})", f"{name}.appendleft({element(w)})", f"{name}.pop()", f"{name}.popleft()",
                    f"{name}.rotate({w.pick(('1', '-1', '2'))})", f"{name}.extend({w.leaf('tuple')})", f"{name}.clear()",
                    f"{name}.extendleft({w.leaf('list')})", f"{name}.insert({index(w)}, {element(w)})", f"{name}.reverse()"))]  # fmt: skip


@rules.statement(1)
def bytearray_method(w: Writer) -> Lines:
    name = w.leaf("bytearray")
    return [w.pick((f"{name}.append({w.leaf('int')})", f"{name}.extend(b'xy')", f"{name}[0] = {w.leaf('int')}", f"del {name}[1:]",
                    f"{name}[1:2] = b'zz'", f"{name}.pop()", f"{name}.reverse()", f"{name}.clear()"))]  # fmt: skip


@rules.statement(3)
def unpack(w: Writer) -> Lines:
    source = w.expr(w.pick(("tuple", "list", "tuple", "str", "dict", "gen", "deque")))
    a, b = w.target("int"), w.target("int")
    rest = w.fresh("list")
    shape = w.pick(
        (f"{a}, {b}", f"{a}, *{rest}", f"*{rest}, {a}", f"[{a}, {b}]", f"{a}, *{rest}, {b}", f"({a},), *{rest}")
    )
    for name in (a, b):
        if name in shape:
            w.bind("int", name)
    if rest in shape:
        w.bind("list", rest)
    return [f"{shape} = {source}"]


@rules.statement(1)
def order_of_targets(w: Writer) -> Lines:
    """`i, l[i] = 0, 9` stores from left to right."""
    name, place = w.bind("int", w.target("int")), w.leaf("list")
    return [f"{name}, {place}[{name}] = {w.pick(('0', '-1', '1'))}, {element(w)}"]
