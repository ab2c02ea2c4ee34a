"""Grammar: classes of every kind a partial evaluator treats specially."""

from __future__ import annotations

from minijit.fuzz.members import METHODS
from minijit.fuzz.writer import ClassNote, Lines, Rules, Writer, indent

rules = Rules()


def _members(w: Writer, most: int) -> Lines:
    lines: Lines = []
    for _ in range(w.below(most + 1)):
        lines += w.pick(w.tables.members)(w) or []
    return lines


def _note_class(w: Writer, name: str, body: Lines, arity: int = 2, plain: bool = False) -> None:
    """Tell later code which methods there are (the bases' methods are found by chance)."""
    names = (*METHODS, "make", "chain", "walk")
    methods = tuple(method for method in names if f"def {method}(" in "\n".join(body))
    w.classes.append(ClassNote(name, methods, arity, plain))
    w.targets.append(name)


def _name(w: Writer) -> str:
    w.counter += 1
    return f"C{w.counter}"


def _constructor(w: Writer, base: str) -> Lines:
    """Write `__init__`: it may log, let `self` escape, raise, or call up."""
    fields = ["self.n = n", "self.m = m", "self.items = [n]", "self.link = None"]
    lines = [*fields[:2], *([fields[2]] if w.chance(0.6) else []), *([fields[3]] if w.chance(0.3) else [])]
    if base and w.chance(0.6):
        lines = [
            *lines[:1],
            w.pick((f"{base}.__init__(self, n, m)", "super().__init__(n, m)", "super().__init__(n)")),
            *lines[1:],
        ]
    extra = w.pick(
        (
            None,
            None,
            None,
            "LOG.append(('new', n))",
            "REGISTRY.append(self)",
            "if n == 7: raise ValueError(n)",
            "self.n += 1",
        )
    )
    if extra:
        lines.insert(w.below(len(lines) + 1), extra)
    return [f"def __init__(self, n={w.pick('012')}, m={w.pick(('1', '[]', 'None'))}):", *indent(lines)]


def _representation(name: str) -> Lines:
    return ["def __repr__(self):", f"    return f'{name}({{self.n!r}})'"]


@rules.lines("classes", 8)
def plain(w: Writer) -> Lines:
    name = _name(w)
    bases = [note.name for note in w.classes if note.plain]
    base = w.pick(bases) if bases and w.chance(0.5) else ""
    head = f"class {name}({base}):" if base else f"class {name}:"
    slots = (
        []
        if w.chance(0.7)
        else ["__slots__ = ('n', 'm', 'items', 'link', 'extra')"]
    )
    body = [
        *slots,
        "tag = 1",
        *([] if base and w.chance(0.5) else _constructor(w, base)),
        *_members(w, 4),
        *_representation(name),
    ]
    _note_class(w, name, body, plain=True)
    return [head, *indent(_without_clash(body) if slots else body)]


def _without_clash(body: Lines) -> Lines:
    """Leave out class attributes that a slot of the same name forbids."""
    clashing = ("extra =", "n =", "link =")
    return [line for line in body if not line.startswith(clashing)]


@rules.lines("classes", 2)
def data_class(w: Writer) -> Lines:
    name = _name(w)
    options = w.pick(("", "(frozen=True)", "(slots=True)", "(order=True)", "(eq=False)"))
    fields = [
        "n: object = 0",
        "m: object = 1",
        *(["items: list = dataclasses.field(default_factory=list)"] if w.chance(0.5) else []),
    ]
    body = [
        *fields,
        *(["def __post_init__(self):", "    LOG.append(self.n)"] if w.chance(0.3) else []),
        *_dataclass_members(w),
    ]
    _note_class(w, name, body)
    return [f"@dataclasses.dataclass{options}", f"class {name}:", *indent(body)]


def _dataclass_members(w: Writer) -> Lines:
    return ["def get(self, k=1):", f"    return {w.pick(('self.n', '(self.n, k)', 'self.m'))}"]


@rules.lines("classes", 1)
def named_tuple(w: Writer) -> Lines:
    name = _name(w)
    _note_class(w, name, [])
    return [f"{name} = namedtuple('{name}', 'n m', defaults=(0, 1))"]


@rules.lines("classes", 3)
def container_subclass(w: Writer) -> Lines:
    name = _name(w)
    base = w.pick(("list", "dict", "set", "deque", "OrderedDict", "tuple"))
    kind = {"OrderedDict": "dict"}.get(base, base)
    body = [
        "n = 4",
        *(line for _ in range(w.below(3)) for line in _override(w, kind)),
        "def get(self, k=1):",
        f"    return {w.pick(('k', 'len(self)'))}",
    ]
    _note_class(w, name, body, arity=0)
    w.global_names[kind].append(f"K{w.counter}")
    content = "{'a': 1}" if kind == "dict" else "(1, 2)"
    return [f"class {name}({base}):", *indent(body), f"K{w.counter} = {name}({content})"]


def _override(w: Writer, kind: str) -> Lines:
    """Write an override of a mutating method, which a replay must not run twice."""
    table = {
        "list": (("append", "self, x"), ("__setitem__", "self, i, x"), ("extend", "self, x"), ("pop", "self, *a")),
        "dict": (
            ("__setitem__", "self, i, x"),
            ("__getitem__", "self, i"),
            ("update", "self, *a, **k"),
            ("__missing__", "self, i"),
        ),
        "set": (("add", "self, x"), ("discard", "self, x"), ("__contains__", "self, x")),
        "deque": (("append", "self, x"), ("pop", "self"), ("appendleft", "self, x")),
        "tuple": (("__getitem__", "self, i"), ("__len__", "self")),
    }
    name, parameters = w.pick(table[kind])
    arguments = parameters.removeprefix("self").removeprefix(", ")
    call = "0" if name == "__missing__" else f"super().{name}({arguments})"
    return [f"def {name}({parameters}):", *indent([f"LOG.append('{name}')", f"return {call}"])]


@rules.lines("classes", 1)
def number_subclass(w: Writer) -> Lines:
    name = _name(w)
    body = [
        "tag = 1",
        "n = 3",
        "def get(self, k=1):",
        "    return self + k",
        *(["def __add__(self, other):", "    LOG.append('add')", "    return 5"] if w.chance(0.5) else []),
    ]
    _note_class(w, name, body, arity=1)
    return [f"class {name}({w.pick(('int', 'float', 'int'))}):", *indent(body)]


@rules.lines("classes", 1)
def with_metaclass(w: Writer) -> Lines:
    name = _name(w)
    hook = w.pick((["def __call__(cls, *a):", "    LOG.append('meta call')", "    return super().__call__(*a)"],
                   ["def __instancecheck__(cls, o):", "    LOG.append('check')", "    return True"],
                   ["def __getattr__(cls, name):", "    return 9"], ["tag = 8"]))  # fmt: skip
    body = ["tag = 1", *_constructor(w, ""), *_members(w, 2), *_representation(name)]
    _note_class(w, name, body)
    return [f"class M{name}(type):", *indent(hook), f"class {name}(metaclass=M{name}):", *indent(body)]


@rules.lines("classes", 1)
def with_new(w: Writer) -> Lines:
    name = _name(w)
    new = w.pick((["return object.__new__(cls)"], ["LOG.append('new')", "return super().__new__(cls)"],
                  ["if n == 5:", "    return 5", "return super().__new__(cls)"],
                  ["if REGISTRY:", "    return REGISTRY[0]", "return object.__new__(cls)"]))  # fmt: skip
    body = [
        "tag = 2",
        "def __new__(cls, n=0, m=1):",
        *indent(new),
        *_constructor(w, ""),
        *_members(w, 2),
        *_representation(name),
    ]
    _note_class(w, name, body)
    return [f"class {name}:", *indent(body)]
