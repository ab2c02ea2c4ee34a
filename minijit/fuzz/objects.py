"""Grammar: attributes, methods and operators of the program's own objects."""

from __future__ import annotations

from minijit.fuzz.writer import Lines, Rules, Writer

rules = Rules()
ATTRIBUTES = ("n", "n", "m", "n", "m", "extra", "tag", "twice")


def receiver(w: Writer) -> str:
    """Write an object to read from or act on."""
    return w.leaf("obj") if w.chance(0.9) else f"{w.leaf('obj')}.link"


def method_call(w: Writer) -> str | None:
    """Write a call of a method that some class of the program has."""
    notes = [note for note in w.classes if note.methods]
    if not notes:
        return None
    method = w.pick(w.pick(notes).methods)
    argument = "" if w.chance(0.15) else w.expr("int")
    return f"{receiver(w)}.{method}({argument})"


@rules.expression("int", 7)
def attribute(w: Writer) -> str:
    return f"{receiver(w)}.{w.pick(ATTRIBUTES)}"


@rules.expression("int", 6)
def called_method(w: Writer) -> str | None:
    return method_call(w)


@rules.expression("int", 2)
def dynamic_attribute(w: Writer) -> str:
    o, name = w.leaf("obj"), w.pick(ATTRIBUTES)
    return w.pick((f"getattr({o}, '{name}', {w.leaf('int')})", f"hasattr({o}, '{name}')", f"{o}.__dict__.get('{name}')",
                   f"getattr({o}, {w.leaf('str')}, None)", f"len(vars({o}))"))  # fmt: skip


@rules.expression("int", 3)
def operator_on_object(w: Writer) -> str:
    o, other = w.leaf("obj"), w.leaf(w.pick(("obj", "int")))
    return w.pick((f"({o} == {other})", f"({o} != {other})", f"({o} < {other})", f"bool({o})", f"len({o})", f"(not {o})",
                   f"({other} in {o})", f"{o}[{w.leaf('int')}]", f"{o}({w.leaf('int')})", f"(-{o}).n", f"({o} >= {other})"))  # fmt: skip


@rules.expression("int", 2)
def class_test(w: Writer) -> str | None:
    if not w.classes:
        return None
    name = w.pick(w.classes).name
    o = w.leaf(w.pick(("obj", "int")))
    return w.pick((f"isinstance({o}, {name})", f"(type({o}) is {name})", f"issubclass(type({o}), {name})"))


@rules.expression("int", 2)
def class_attribute(w: Writer) -> str | None:
    return f"{w.pick(w.classes).name}.tag" if w.classes else None


@rules.expression("obj", 4)
def new_object(w: Writer) -> str | None:
    if not w.classes:
        return None
    note = w.pick(w.classes)
    return f"{note.name}({', '.join(w.expr('int') for _ in range(w.below(note.arity + 1)))})"


@rules.expression("obj", 3)
def combined_object(w: Writer) -> str:
    o, other = w.leaf("obj"), w.leaf(w.pick(("obj", "int", "int")))
    return w.pick((f"({o} + {other})", f"({other} + {o})", f"({o} * {other})", f"({o} | {other})", f"({other} - {o})"))


@rules.expression("obj", 1)
def chosen_object(w: Writer) -> str:
    test = f"if {w.leaf('int')} else"
    return f"({w.leaf('obj')} {w.pick(('or', 'and', test))} {w.leaf('obj')})"


@rules.expression("list", 2)
def objects_list(w: Writer) -> str:
    return f"{w.leaf('obj')}.items"


@rules.statement(7)
def store_attribute(w: Writer) -> Lines:
    return [f"{w.leaf('obj')}.{w.pick(('n', 'm', 'n', 'extra', 'twice', 'tag'))} = {w.expr('int')}"]


@rules.statement(4)
def augment_attribute(w: Writer) -> Lines:
    return [f"{w.leaf('obj')}.{w.pick(('n', 'm', 'n', 'twice'))} {w.pick(('+=', '-=', '+='))} {w.expr('int')}"]


@rules.statement(3)
def link_objects(w: Writer) -> Lines:
    return [f"{w.leaf('obj')}.link = {w.leaf(w.pick(('obj', 'list', 'obj', 'fn')))}"]


@rules.statement(2)
def delete_attribute(w: Writer) -> Lines:
    return [f"del {w.leaf('obj')}.{w.pick(('n', 'extra', 'm', 'link'))}"]


@rules.statement(2)
def dynamic_store(w: Writer) -> Lines:
    o, name = w.leaf("obj"), w.pick(("n", "extra", "m"))
    return [w.pick((f"setattr({o}, '{name}', {w.expr('int')})", f"{o}.__dict__['{name}'] = {w.expr('int')}",
                    f"{o}.__dict__.update({name}={w.leaf('int')})", f"object.__setattr__({o}, '{name}', {w.leaf('int')})",
                    f"delattr({o}, '{name}')", f"vars({o}).pop('{name}', None)"))]  # fmt: skip


@rules.statement(4)
def call_method(w: Writer) -> Lines | None:
    call = method_call(w)
    return [call] if call else None


@rules.statement(1)
def bound_method(w: Writer) -> Lines | None:
    notes = [note for note in w.classes if note.methods]
    if not notes:
        return None
    value = f"{w.leaf('obj')}.{w.pick(w.pick(notes).methods)}"
    return [f"{w.bind('fn', w.target('fn'))} = {value}"]


@rules.statement(3)
def augment_object(w: Writer) -> Lines | None:
    name = w.name("obj")
    if name is None or name.isupper():
        return None
    return [f"{name} {w.pick(('+=', '*=', '|='))} {w.leaf(w.pick(('int', 'obj')))}"]


@rules.statement(1)
def object_item(w: Writer) -> Lines:
    o = w.leaf("obj")
    return [
        w.pick((f"{o}[{w.leaf('int')}] = {w.expr('int')}", f"del {o}[{w.leaf('int')}]", f"{o}[{w.leaf('str')}] = 1"))
    ]


@rules.statement(2)
def class_store(w: Writer) -> Lines | None:
    if not w.classes:
        return None
    name = w.pick(w.classes).name
    return [f"{name}.tag {w.pick(('=', '+='))} {w.expr('int')}"]


@rules.statement(1)
def change_class(w: Writer) -> Lines | None:
    return [f"{w.leaf('obj')}.__class__ = {w.pick(w.classes).name}"] if w.classes else None


@rules.statement(4)
def new_object_statement(w: Writer) -> Lines | None:
    if not w.classes:
        return None
    value = w.instance()
    return [f"{w.bind('obj', w.target('obj'))} = {value}"]
