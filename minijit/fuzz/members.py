"""Grammar: what the body of a class may hold, besides its constructor."""

from __future__ import annotations

from minijit.fuzz.writer import Lines, Rules, Writer, indent

rules = Rules()
METHODS = ("get", "bump", "mix", "look")


def method(w: Writer, head: str, names: dict[str, list[str]], most: int = 2, result: str | None = "int") -> Lines:
    """Write one method. `self` is no general object in it, so that methods cannot call each other forever."""
    return [head, *w.body(names, most, result)]


def fields(*arguments: str) -> dict[str, list[str]]:
    """Give the names a method sees."""
    return {"int": ["self.n", "self.m", "self.n", *arguments], "list": ["self.items"]}


@rules.lines("members", 8)
def plain_method(w: Writer) -> Lines:
    return method(w, f"def {w.pick(METHODS)}(self, k=1):", fields("k", "k"), 3)


@rules.lines("members", 2)
def quick_method(w: Writer) -> Lines:
    effect = w.pick(
        (
            "self.n += k",
            "self.n = k",
            "self.m, self.n = self.n, k",
            "self.items.append(k)",
            "LOG.append(k)",
            "self.extra = k",
        )
    )
    return [
        f"def {w.pick(METHODS)}(self, k=1):",
        *indent([effect, f"return {w.pick(('self.n', 'k', 'self.n + k', 'self.m'))}"]),
    ]


@rules.lines("members", 2)
def chained_method(w: Writer) -> Lines:
    return ["def chain(self, k=0):", *indent(["self.m = k", "return self"])]


@rules.lines("members", 3)
def class_method(w: Writer) -> Lines:
    body = ["cls.tag += k", "return cls(k)"] if w.chance(0.5) else ["return cls(k, cls.tag)"]
    return ["@classmethod", "def make(cls, k=1):", *indent(body)]


@rules.lines("members", 2)
def static_method(w: Writer) -> Lines:
    return ["@staticmethod", *method(w, f"def {w.pick(METHODS)}(k=2):", {"int": ["k", "k"]})]


@rules.lines("members", 4)
def computed(w: Writer) -> Lines:
    lines = ["@property", *method(w, "def twice(self):", fields(), 1)]
    if w.chance(0.6):
        lines += ["@twice.setter", *method(w, "def twice(self, value):", fields("value"), 2, None)]
        lines += indent([w.pick(("self.n = value", "self.items.append(value)", "LOG.append(('set', value))"))])
    return lines


@rules.lines("members", 1)
def cached(w: Writer) -> Lines:
    return ["@functools.cached_property", "def twice(self):", *indent(["LOG.append('computed')", "return self.n"])]


@rules.lines("members", 5)
def arithmetic_operator(w: Writer) -> Lines:
    name = w.pick(("add", "radd", "mul", "iadd", "or", "sub", "rsub", "ior"))
    first = w.pick(
        (
            f"if not isinstance(other, {w.pick(('int', '(int, float)', 'type(self)'))}):",
            "if other is None:",
            "if self.n == 2:",
        )
    )
    result = w.pick(("type(self)(self.n + 1, other)", "NotImplemented", "self.n", "type(self)(self.n)"))
    tail = ["self.n = other", "return self"] if name.startswith("i") else [f"return {result}"]
    note = [f"LOG.append('{name}')"] if w.chance(0.4) else []
    return [f"def __{name}__(self, other):", *indent([*note, first, "    return NotImplemented", *tail])]


@rules.lines("members", 3)
def equality(w: Writer) -> Lines:
    test = w.pick(("self.n == getattr(other, 'n', None)", "True", "self is other", "NotImplemented", "self.n"))
    return ["def __eq__(self, other):", *indent([*_note(w, "eq"), f"return {test}"])]


@rules.lines("members", 2)
def ordering(w: Writer) -> Lines:
    name = w.pick(("lt", "le", "gt", "ge"))
    return [
        f"def __{name}__(self, other):",
        *indent([*_note(w, name), f"return {w.pick(('self.n < 3', 'NotImplemented', 'self.n'))}"]),
    ]


@rules.lines("members", 2)
def truth(w: Writer) -> Lines:
    return [
        "def __bool__(self):",
        *indent([*_note(w, "bool"), f"return {w.pick(('self.n == 1', 'self.n', 'bool(self.n)', 'False'))}"]),
    ]


@rules.lines("members", 2)
def size(w: Writer) -> Lines:
    return [
        "def __len__(self):",
        *indent([*_note(w, "len"), f"return {w.pick(('2', 'len(self.items)', 'self.n', '0'))}"]),
    ]


@rules.lines("members", 3)
def iteration(w: Writer) -> Lines:
    body = w.pick(
        (
            ["return iter((1, self.n))"],
            ["yield self.n", "LOG.append('iter')", "yield self.m"],
            ["return iter(self.items)"],
        )
    )
    return ["def __iter__(self):", *indent(body)]


@rules.lines("members", 2)
def containment(w: Writer) -> Lines:
    return [
        "def __contains__(self, k):",
        *indent([*_note(w, "in"), f"return {w.pick(('k == self.n', 'k', 'k in self.items'))}"]),
    ]


@rules.lines("members", 2)
def calling(w: Writer) -> Lines:
    return method(w, "def __call__(self, k=0):", fields("k"))


@rules.lines("members", 2)
def item_access(w: Writer) -> Lines:
    lines = [
        "def __getitem__(self, k):",
        *indent([*_note(w, "get"), f"return {w.pick(('k', 'self.items[k]', 'self.n'))}"]),
    ]
    if w.chance(0.5):
        lines += ["def __setitem__(self, k, value):", *indent(["LOG.append(('set', k))", "self.n = value"])]
    return lines


@rules.lines("members", 2)
def missing_attribute(w: Writer) -> Lines:
    guard = ["if name.startswith('__') or name == 'items':", "    raise AttributeError(name)"]
    return [
        "def __getattr__(self, name):",
        *indent([*guard, *_note(w, "getattr"), f"return {w.pick(('7', 'len(name)', 'name'))}"]),
    ]


@rules.lines("members", 1)
def every_attribute(w: Writer) -> Lines:
    note = ["if name == 'n':", "    LOG.append('read n')"]
    return ["def __getattribute__(self, name):", *indent([*note, "return super().__getattribute__(name)"])]


@rules.lines("members", 2)
def storing_hook(w: Writer) -> Lines:
    store = w.pick(("object.__setattr__(self, name, value)", "super().__setattr__(name, value)"))
    effect = w.pick(
        (
            "LOG.append((name, value))",
            "if name == 'n': value = (value, 1)[1]",
            "if value == 3: raise ValueError('three')",
        )
    )
    return ["def __setattr__(self, name, value):", *indent([effect, store])]


@rules.lines("members", 1)
def deleting_hook(w: Writer) -> Lines:
    return ["def __delattr__(self, name):", *indent(["LOG.append(('del', name))", "super().__delattr__(name)"])]


@rules.lines("members", 1)
def negation(w: Writer) -> Lines:
    return [
        f"def __{w.pick(('neg', 'index', 'invert'))}__(self):",
        *indent([w.pick(("return type(self)(0)", "return self.n", "return 1"))]),
    ]


@rules.lines("members", 2)
def descriptor(w: Writer) -> Lines:
    return [f"twice = {w.pick(('Descriptor', 'DataDescriptor'))}({w.pick('135')})"]


@rules.lines("members", 2)
def class_level(w: Writer) -> Lines:
    return [w.pick(("extra = 5", "shared = []", "n = 'class n'", "total = tag + 1", "link = None"))]


@rules.lines("members", 1)
def context_manager(w: Writer) -> Lines:
    leave = w.pick(
        ("return True", "return False", "self.n += 1", "LOG.append(kind and kind.__name__)", "raise KeyError('exit')")
    )
    return ["def __enter__(self):", *indent(["LOG.append('enter')", "return self"]),
            "def __exit__(self, kind, value, trace):", *indent([leave])]  # fmt: skip


@rules.lines("members", 1)
def generator_method(w: Writer) -> Lines:
    return ["def walk(self):", *indent(["for k in range(3):", "    self.n += k", "    yield self.n"])]


def _note(w: Writer, text: str) -> Lines:
    """Log that the method ran, in half of the cases."""
    return [f"LOG.append('{text}')"] if w.chance(0.5) else []
