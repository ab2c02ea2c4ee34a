"""Grammar: match statements."""

from __future__ import annotations

from minijit.fuzz.writer import Lines, Rules, Writer, indent

rules = Rules()


def pattern(w: Writer) -> str:
    """Write a pattern that is not a bare capture."""
    classes = [note.name for note in w.classes] or ["Box"]
    name = w.fresh("any")
    return w.pick(("0", "1 | 2", "'a'", "None", "True", f"[{name}]", f"[1, *{name}]", f"({name}, _)", f"{{'a': {name}}}", f"{{'a': 1, **{name}}}",
                   f"int({name})", "str()", f"{w.pick(classes)}(n={name})", f"{w.pick(classes)}()", f"[int() as {name}, *_]", f"float() | None as {name}",
                   "[]", "{}"))  # fmt: skip


@rules.statement(4)
def match(w: Writer) -> Lines | None:
    if w.crowded:
        return None
    lines = [f"match {w.expr(w.pick(('int', 'list', 'tuple', 'dict', 'obj', 'str')))}:"]
    for _ in range(1 + w.below(3)):
        guard = f" if {w.expr('int')}" if w.chance(0.2) else ""
        lines += indent([f"case {pattern(w)}{guard}:", *w.block(2)])
    if w.chance(0.6):
        lines += indent([f"case {w.pick(('_', w.fresh('any')))}:", *w.block(2)])
    return lines
