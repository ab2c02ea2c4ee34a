"""Programs for the ledger: many mutations of one object graph, with aliases, raising at a random point."""

from __future__ import annotations

from minijit.fuzz.header import header
from minijit.fuzz.program import Program
from minijit.fuzz.writer import Lines, Writer, indent

# {x} the object, {y} another of its kind, {v} any value, {k} a key, {i} an index, {n} a small number, {a} an attribute
OPERATIONS: dict[str, tuple[str, ...]] = {
    "list": (
        "{x}.append({v})", "{x}.append({v})", "{x}.extend({y}[:2])", "{x}.insert({i}, {v})", "{x}.pop()", "{x}.pop({i})", "{x}[{i}] = {v}",
        "del {x}[{i}]", "{x}[1:2] = [{v}, {v}]", "{x}[::2] = {x}[::2]", "del {x}[:1]", "{x}.reverse()", "{x}.sort(key=repr)", "{x}.clear()",
        "{x}.remove({v})", "{x} += [{v}]", "{x} *= 1", "{x}[{i}] += {n}", "{x}[:] = {y}[:3]", "LOG.append(len({x}))", "LOG.append({x}[{i}])",
        "LOG.append({v} in {x})", "{x}.append({x}.pop())", "{x}[{i}], {x}[-1] = {x}[-1], {x}[{i}]", "LOG.append({x} == {y})",
        "for item in {x}[:3]: LOG.append(item)", "LOG.append([*{x}])",
    ),
    "dict": (
        "{x}[{k}] = {v}", "{x}[{k}] = {v}", "{x}[{k}] += {n}", "del {x}[{k}]", "{x}.pop({k})", "{x}.pop({k}, None)", "{x}.popitem()",
        "{x}.update({y})", "{x}.update({{{k}: {v}}})", "{x}.update(a={v})", "{x}.setdefault({k}, {v})", "{x}.clear()", "{x} |= {{{k}: {v}}}",
        "LOG.append({x}.get({k}))", "LOG.append({x}[{k}])", "LOG.append({k} in {x})", "LOG.append(list({x}))", "LOG.append(len({x}))",
        "LOG.append({x} == {y})", "for key in list({x})[:3]: {x}[key] = {v}", "{x}[{k}], {x}['z'] = {v}, {v}",
    ),
    "ordered": (
        "{x}[{k}] = {v}", "{x}.move_to_end({k})", "{x}.move_to_end({k}, last=False)", "{x}.popitem()", "{x}.popitem(last=False)", "{x}.pop({k}, 0)",
        "del {x}[{k}]", "{x}.update(b={v}, a={v})", "{x}.setdefault({k}, {v})", "{x}.clear()", "LOG.append(list({x}.items()))", "LOG.append({x} == {y})",
        "LOG.append(next(reversed({x}), None))",
    ),
    "default": (
        "{x}[{k}].append({v})", "{x}[{k}]", "{x}[{k}] = [{v}]", "{x}.pop({k}, 0)", "{x}.get({k})", "LOG.append(list({x}))", "{x}.default_factory = {f}",
        "{x}.setdefault({k}, []).append({n})", "LOG.append({k} in {x})",
    ),
    "counter": (
        "{x}[{k}] += {n}", "{x}.update({y})", "{x}.subtract({{{k}: {n}}})", "LOG.append({x}[{k}])", "{x} += {y}", "del {x}[{k}]", "LOG.append(list({x}))",
    ),
    "set": (
        "{x}.add({k})", "{x}.add({n})", "{x}.discard({k})", "{x}.remove({n})", "{x}.update({y})", "{x} |= {{{k}}}", "{x} -= {y}", "{x}.clear()", "{x} ^= {{{n}}}",
        "{x} &= {y} | {{{n}}}", "LOG.append(len({x}))", "LOG.append({k} in {x})", "{x}.difference_update([{n}])", "LOG.append(sorted({x}, key=repr))",
        "{x}.intersection_update({y})", "LOG.append({x} == {y})",
    ),
    "deque": (
        "{x}.append({v})", "{x}.appendleft({v})", "{x}.pop()", "{x}.popleft()", "{x}.extend([{v}, {n}])", "{x}.extendleft([{v}, {n}])", "{x}.rotate({n})",
        "{x}[{i}] = {v}", "del {x}[{i}]", "{x}.reverse()", "{x}.clear()", "{x}.insert({i}, {v})", "{x}.remove({v})", "LOG.append(list({x}))", "{x} += [{v}]",
        "LOG.append({x}[{i}])", "LOG.append({x}.maxlen)",
    ),
    "bytearray": (
        "{x}.append({n})", "{x}.extend(b'ab')", "{x}[{i}] = {n}", "del {x}[{i}]", "{x}[1:2] = b'xyz'", "{x}.reverse()", "{x} += b'q'", "{x}.pop()",
        "LOG.append(bytes({x}))", "LOG.append({x}[{i}])", "{x}.insert({i}, {n})", "del {x}[3:]",
    ),
    "object": (
        "{x}.{a} = {v}", "{x}.{a} = {v}", "{x}.{a} += {n}", "del {x}.{a}", "{x}.{a} = {y}.{a}", "LOG.append({x}.{a})", "LOG.append(hasattr({x}, '{a}'))",
        "setattr({x}, '{a}', {v})", "delattr({x}, '{a}')", "LOG.append(getattr({x}, '{a}', 'none'))", "{x}.{a}, {y}.b = {y}.b, {n}", "{x}.a = {x}",
        "{x}.bump({n})", "{x}.a = {x}.b = {v}",
    ),
    "node": ("{x}.__dict__['{a}'] = {v}", "LOG.append(sorted({x}.__dict__))", "{x}.__dict__.pop('{a}')", "{x}.new = {v}", "{x}.__dict__.clear()", "{x}.kind = {n}",
             "type({x}).kind += 1", "LOG.append({x}.kind)", "del {x}.new"),
    "cell": ("cell = {v}", "cell = [cell]", "write_cell({v})", "LOG.append(read_cell())", "LOG.append(cell)", "del cell", "cell += {n}", "add_cell({n})"),
    "global": ("G0 = {v}", "G1 = {v}", "G0 += {n}", "LOG.append(G0)", "del G1", "globals()['G1'] = {v}", "LOG.append(G1)", "set_global({v})",
               "G0, G1 = G1, G0", "LOG.append('G1' in globals())"),
    "local": ("t = {v}", "LOG.append(t)", "t = [t]", "t = ({v}, t)", "LOG.append(t is {v})", "print(t)", "t = opaque({v})", "LOG.append({v} is {v})"),
}  # fmt: skip
NEW: dict[str, tuple[str, ...]] = {
    "list": ("[]", "[1, 2, 3]", "['a', 0]", "LoggedList([1, 2])"),
    "dict": ("{}", "{'a': 1, 'b': 2}", "{1: 'x', 'k': []}", "LoggedDict(a=1)"),
    "ordered": ("OrderedDict(a=1, b=2, k=3)", "OrderedDict()"),
    "default": ("defaultdict(list)", "defaultdict(list, a=[1])"),
    "counter": ("Counter('abca')", "Counter()"),
    "set": ("{1, 2}", "set()", "{'a', 'b', 1}"),
    "deque": ("deque([1, 2], 3)", "deque()", "deque([1, 2, 3, 4])", "deque(maxlen=1)"),
    "bytearray": ("bytearray(b'abc')", "bytearray()"),
    "node": ("Node(1)", "Node([])"),
    "slotted": ("Slotted(1)", "Slotted('s')"),
    "hooked": ("Hooked(1)",),
}
KEYS = ("'a'", "'a'", "'b'", "'k'", "1", "(1, 2)", "True")
CLOSURES = [
    "cell = 0", "t = None",
    "def write_cell(value):", "    nonlocal cell", "    cell = value",
    "def add_cell(value):", "    nonlocal cell", "    cell = cell + value", "    return cell",
    "def read_cell():", "    return cell",
]  # fmt: skip


class Graph:
    """The objects `run` receives: names by kind. Mutates while it is drawn."""

    def __init__(self, w: Writer) -> None:
        self.w = w
        self.kinds = {f"x{i}": w.pick(tuple(NEW)) for i in range(3 + w.below(6))}
        self.names = list(self.kinds)

    def of_kind(self, kind: str) -> list[str]:
        """Give the names that hold this kind."""
        return [name for name, its in self.kinds.items() if its == kind]

    def value(self) -> str:
        """Write a value: a number, a text, or one of the objects."""
        w = self.w
        return w.pick(self.names) if w.chance(0.35) else w.pick(("0", "1", "2", "'s'", "None", "(1, 2)", "[]", "3.5"))

    def operation(self) -> str:
        """Write one operation."""
        w = self.w
        name = w.pick((*self.names, *self.names, "cell", "global", "local"))
        kind = self.kinds.get(name, name)
        tables = {"node": ("node", "object"), "slotted": ("object",), "hooked": ("object",)}.get(kind, (kind,))
        text = w.pick(OPERATIONS[w.pick(tables)])
        return text.format(
            x=name, y=w.pick(self.of_kind(kind) or [name]), v=self.value(), k=w.pick(KEYS), i=w.pick(("0", "-1", "1")),
            n=w.pick("0123"), a=w.pick("abc"), f=w.pick(("list", "None")),
        )  # fmt: skip


def _loaded(graph: Graph) -> Lines:
    """Reach an object a second way, through the graph."""
    w = graph.w
    name = w.pick(graph.names)
    places = {"list": f"{name}[0]", "dict": f"{name}.get({w.pick(KEYS)})", "node": f"{name}.a", "slotted": f"{name}.b", "deque": f"{name}[-1]"}
    place = places.get(graph.kinds[name])
    if place is None:
        return []
    return [f"t = {place}", w.pick(("LOG.append(t is {0})", "if type(t) is list: t.append({0})", "if type(t) is dict: t['a'] = {0}")).format(graph.value())]


def _statements(graph: Graph, count: int) -> Lines:
    w = graph.w
    lines: Lines = []
    for _ in range(count):
        lines += _loaded(graph) if w.chance(0.08) else [graph.operation()]
    return lines


def _failure(w: Writer) -> Lines:
    failure = w.pick(("raise ValueError('here')", "1 // 0", "[][5]", "None.x", "boom()", "{}['k']", "raise KeyError(a)"))
    return [failure] if w.chance(0.4) else [f"if a == {w.pick('012')}: {failure}"]


def _body(graph: Graph, count: int) -> Lines:
    """Write the operations in groups: bare, protected, conditional, repeated; then perhaps a failure."""
    w = graph.w
    lines: Lines = []
    while count > 0:
        size = 1 + w.below(min(count, 14))
        count -= size
        group = _statements(graph, size)
        if w.chance(0.5):
            failure = _failure(w) if w.chance(0.3) else []
            tail = w.pick((["except Exception as e:", "    LOG.append((type(e).__name__, trace(e)))"], ["except (IndexError, KeyError, AttributeError):", "    pass",
                           "except Exception as e:", "    LOG.append(e.args)"]))  # fmt: skip
            group = ["try:", *indent(group + failure), *tail, *(["finally:", *indent(_statements(graph, 1))] if w.chance(0.2) else [])]
        elif w.chance(0.25):
            group = [w.pick(("if a:", "if not a:", "for _ in range(2):", "for _ in range(a):")), *indent(group)]
        lines += group
    return lines + (_failure(w) if w.chance(0.4) else [])


def _make(graph: Graph, calls: int) -> Lines:
    """Write `make(i)`: fresh objects, linked to each other, some of them the same object."""
    w = graph.w
    lines = ["def make(i):"]
    for name, kind in graph.kinds.items():
        earlier = [other for other in graph.of_kind(kind) if other < name]
        same = w.pick(earlier) if earlier and w.chance(0.3) else None
        lines.append(f"    {name} = {same or w.pick(NEW[kind])}")
        if same and w.chance(0.3):
            lines.append(f"    if i == {calls - 1}: {name} = {w.pick(NEW[kind])}")
    for name, kind in graph.kinds.items():
        link = {"list": f"{name}.append({graph.value()})", "dict": f"{name}['k'] = {graph.value()}", "node": f"{name}.b = {graph.value()}",
                "slotted": f"{name}.c = {graph.value()}", "deque": f"{name}.append({graph.value()})"}.get(kind)  # fmt: skip
        if link and w.chance(0.6):
            lines.append(f"    {link}")
    if w.chance(0.3):
        kept = w.pick(graph.names)
        lines.append(f"    {kept} = KEEP.setdefault('{kept}', {kept})")
    flags = [w.pick(("0", "1", "2")) for _ in range(calls)]
    return [*lines, f"    return ({', '.join(graph.names)}, ({', '.join(flags)})[i]), {{}}"]


def program(w: Writer, kind: str, seed: int) -> Program:
    """Write a program of mutations."""
    graph = Graph(w)
    count = w.pick((3, 8, 15, 30, 60, 100))
    body = _body(graph, count)
    run = [f"def run({', '.join(graph.names)}, a):", "    global G0, G1", *indent(CLOSURES), *indent(body)]
    run.append(f"    return {w.pick(('t', 'x0', f'({graph.value()}, cell)', 'None', '[x1, x2]', 'read_cell'))}")
    calls = w.pick((3, 4))
    lines = ["G0 = 1", "G1 = 'g'", "KEEP = {}", "def boom():", "    raise RuntimeError('boom')", "def opaque(x):", "    return x",
             "def set_global(value):", "    global G0", "    G0 = value", *run, *_make(graph, calls), "def change(i):", "    pass"]  # fmt: skip
    source = "\n".join([*header("\n".join(lines)), *lines, ""])
    targets = ("run", *(name for name in ("boom", "set_global", "Node", "Slotted") if name in source and w.chance(0.2)))
    options: tuple[tuple[str, object], ...] = (("warmup", 0),) if w.chance(0.1) else ()
    targets = tuple(name for name in targets if f"def {name}(" in source or f"class {name}" in source)
    return Program(kind, seed, source, calls, targets, options, eager=w.chance(0.5))
