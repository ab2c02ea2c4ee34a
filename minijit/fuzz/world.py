"""Grammar: what changes between two calls, so that guards must fail."""

from __future__ import annotations

from minijit.fuzz.writer import Lines, Rules, Writer

rules = Rules()
NEW_METHODS = (
    "lambda self, k=1: 40", "lambda self, *a: LOG.append('patched')", "property(lambda self: 41)", "staticmethod(lambda *a: 42)", "43", "None",
)  # fmt: skip


def classes(w: Writer) -> list[str]:
    """Give the names of classes written in Python (a namedtuple's methods are better left alone)."""
    return [note.name for note in w.classes]


@rules.lines("changes", 4)
def set_global(w: Writer) -> Lines | None:
    names = w.global_names["int"]
    return [f"globals()['{w.pick(names)}'] = {w.pick((w.literal('int'), w.literal('str'), 'None', '2.5'))}"] if names else None


@rules.lines("changes", 2)
def replace_shared(w: Writer) -> Lines | None:
    kind = w.pick(("list", "dict", "obj", "set", "deque"))
    names = w.global_names[kind]
    return [f"globals()['{w.pick(names)}'] = {w.literal(kind)}"] if names else None


@rules.lines("changes", 3)
def fill_shared(w: Writer) -> Lines | None:
    names = w.global_names["list"]
    return [w.pick((f"{w.pick(names)}.append({w.literal('int')})", f"{w.pick(names)}.clear()"))] if names else None


@rules.lines("changes", 2)
def change_shared_dict(w: Writer) -> Lines | None:
    names = w.global_names["dict"]
    return [f"{w.pick(names)}[{w.pick(('chr(97)', '1', 'Box(1)', '2.0'))}] = {w.literal('int')}"] if names else None


@rules.lines("changes", 4)
def change_object(w: Writer) -> Lines | None:
    names = w.global_names["obj"]
    if not names:
        return None
    name = w.pick(names)
    return [w.pick((f"{name}.n = {w.literal(w.pick(('int', 'str', 'list')))}", f"{name}.get = lambda k=1: 44", f"{name}.__dict__['twice'] = 45",
                    f"del {name}.n", f"{name}.extra = 1", f"{name}.__dict__ = dict(n=1, m=2, items=[])"))]  # fmt: skip


@rules.lines("changes", 1)
def change_class_of_object(w: Writer) -> Lines | None:
    names = w.global_names["obj"]
    return [f"{w.pick(names)}.__class__ = {w.pick(classes(w))}"] if names and w.classes else None


@rules.lines("changes", 4)
def patch_method(w: Writer) -> Lines | None:
    if not w.classes:
        return None
    name = w.pick(("get", "bump", "mix", "look", "twice", "tag", "__bool__", "__len__", "__call__", "__add__", "__eq__", "make"))
    return [f"{w.pick(classes(w))}.{name} = {w.pick(NEW_METHODS)}"]


@rules.lines("changes", 2)
def add_hook(w: Writer) -> Lines | None:
    if not w.classes:
        return None
    hook = w.pick(("__getattr__ = lambda self, name: len(name)", "__setattr__ = lambda self, name, value: object.__setattr__(self, name, (value, 1)[0])",
                   "__getattribute__ = lambda self, name: object.__getattribute__(self, name)", "__hash__ = lambda self: 1",
                   "__del__ = lambda self: LOG.append('died')", "extra = property(lambda self: 46)", "n = 47"))  # fmt: skip
    return [f"{w.pick(classes(w))}.{hook}"]


@rules.lines("changes", 2)
def delete_from_class(w: Writer) -> Lines | None:
    return [f"del {w.pick(classes(w))}.{w.pick(('get', 'bump', 'tag', 'twice', '__repr__'))}"] if w.classes else None


@rules.lines("changes", 3)
def replace_function(w: Writer) -> Lines | None:
    if not w.functions:
        return None
    return [f"globals()['{w.pick(w.functions).name}'] = {w.pick(('lambda *a, **k: 48', 'lambda a=0, *r: LOG.append(a)', 'abs', 'len'))}"]


@rules.lines("changes", 2)
def change_defaults(w: Writer) -> Lines | None:
    if not w.functions:
        return None
    name = w.pick(w.functions).name
    return [w.pick((f"{name}.__defaults__ = (49,)", f"{name}.__defaults__ = None", f"{name}.__kwdefaults__ = {{'c': 50}}", f"{name}.count = 5"))]


@rules.lines("changes", 2)
def change_cell(w: Writer) -> Lines | None:
    if not w.functions:
        return None
    return [f"{w.pick(w.functions).name}.__closure__[0].cell_contents = {w.literal(w.pick(('int', 'str')))}"]


@rules.lines("changes", 1)
def change_code(w: Writer) -> Lines | None:
    names = [name for name in w.targets if name.startswith("h") and name not in w.decorated]
    return [f"{w.pick(names)}.__code__ = (lambda *a, **k: 51).__code__"] if names else None


@rules.lines("changes", 1)
def shadow_builtin(w: Writer) -> Lines:
    return [w.pick(("globals()['len'] = lambda x: 52", "globals()['abs'] = str", "globals().pop('len', None)", "globals()['list'] = tuple",
                    "globals()['isinstance'] = lambda *a: True", "globals()['range'] = lambda *a: (7, 8)"))]  # fmt: skip


@rules.lines("changes", 1)
def change_default_list(w: Writer) -> Lines:
    return ["LOG.append('changed')"]
