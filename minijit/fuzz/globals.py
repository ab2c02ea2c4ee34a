"""Grammar: reading, writing and deleting module globals."""

from __future__ import annotations

from minijit.fuzz.writer import Lines, Rules, Writer

rules = Rules()


def declared(w: Writer, name: str) -> str:
    """Have the function being written declare the name global."""
    w.declared.add(name)
    return name


@rules.expression("int", 4)
def read_global(w: Writer) -> str | None:
    names = w.global_names["int"]
    return w.pick(names) if names else None


@rules.statement(4)
def write_global(w: Writer) -> Lines | None:
    names = w.global_names["int"]
    if not names:
        return None
    name = declared(w, w.pick(names))
    return [f"{name} {w.pick(('=', '+=', '='))} {w.expr('int')}"]


@rules.statement(2)
def rebind_global(w: Writer) -> Lines | None:
    kind = w.pick(("list", "dict", "obj"))
    names = [name for name in w.global_names[kind] if name.isupper()]
    return [f"{declared(w, w.pick(names))} = {w.expr(kind)}"] if names else None


@rules.statement(1)
def delete_global(w: Writer) -> Lines | None:
    names = w.global_names["int"]
    if not names:
        return None
    name = declared(w, w.pick(names))
    return [f"del {name}", *([f"LOG.append({name})"] if w.chance(0.1) else []), f"{name} = {w.expr('int')}"]


@rules.statement(1)
def new_global(w: Writer) -> Lines:
    name = declared(w, w.pick(("NEW1", "NEW2")))
    return [f"{name} = {w.expr('int')}", f"LOG.append({name})"]


@rules.statement(1)
def through_the_dict(w: Writer) -> Lines | None:
    names = w.global_names["int"]
    return [f"globals()['{w.pick(names)}'] = {w.expr('int')}"] if names else None
