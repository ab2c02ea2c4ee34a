"""From a seed to a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields as dataclass_fields

from minijit.fuzz import (
    classes,
    closures,
    comprehensions,
    containers,
    coroutines,
    exceptions,
    finalizers,
    functions,
    generators,
    globals,
    introspection,
    loops,
    matching,
    members,
    objects,
    operations,
    scalars,
    texts,
    world,
)
from minijit.fuzz.arguments import maker, parameters, shared_objects
from minijit.fuzz.header import header
from minijit.fuzz.program import Program, code_of
from minijit.fuzz.writer import Lines, Tables, Writer, indent

PIECES = (
    scalars, texts, containers, objects, members, classes, functions, closures, generators, comprehensions,
    loops, exceptions, matching, globals, finalizers, introspection, coroutines, world,
)  # fmt: skip


def _merge() -> Tables:
    merged = Tables()
    for piece in PIECES:
        for table in dataclass_fields(Tables):
            source, into = getattr(piece.rules.tables, table.name), getattr(merged, table.name)
            if isinstance(into, list):
                into.extend(source)
            else:
                for kind, rules in source.items():
                    into.setdefault(kind, []).extend(rules)
    return merged


TABLES = _merge()


def _program(w: Writer, kind: str, seed: int) -> Program:
    """Write classes and helpers, then `run`, its arguments, and what changes between calls."""
    lines: Lines = []
    for table, count in ((w.tables.functions, w.below(2)), (w.tables.classes, w.below(3)), (w.tables.functions, w.below(4))):
        for _ in range(count):
            lines += w.pick(table)(w) or []
    lines += shared_objects(w)
    calls = w.pick((3, 4, 4, 5, 6))
    chosen = parameters(w)
    keywords = w.chance(0.2)
    lines += _run(w, chosen, keywords)
    lines += maker(w, chosen, calls, keywords)
    lines += _changes(w, calls)
    source = "\n".join([*header("\n".join(lines)), *lines, ""])
    targets = tuple(["run", *(name for name in w.targets if w.chance(0.3))])
    return Program(kind, seed, source, calls, targets, _options(w, chosen), eager=w.chance(0.5))


def _run(w: Writer, chosen: list[tuple[str, str]], keywords: bool) -> Lines:
    """Write the entry function; sometimes it is a closure that keeps state."""
    names: dict[str, list[str]] = {}
    for name, kind in chosen:
        names.setdefault(kind, []).append(name)
    head = ", ".join(name for name, _ in chosen) + (", *rest, k=1, **options" if keywords else "")
    size = w.pick((2, 4, 6, 8, 12))
    if w.chance(0.85):
        return [f"def run({head}):", *w.body(names, size)]
    names.setdefault("int", []).append("total")
    names.setdefault("list", []).append("seen")
    inner = [f"def run({head}):", "    nonlocal total", *w.body(names, size)]
    return ["def build():", *indent(["total = 0", "seen = []", *inner, "return run"]), "run = build()"]


def _changes(w: Writer, calls: int) -> Lines:
    """Write `change(i)`; half of the programs keep their world."""
    lines = ["def change(i):", "    pass"]
    if w.chance(0.5):
        return lines
    for i in range(1, calls):
        if w.chance(0.6):
            for _ in range(1 + w.below(2)):
                change = w.pick(w.tables.changes)(w)
                if change:
                    lines += indent([f"if i == {i}:", *indent(["try:", *indent(change), "except Exception:", "    pass"])])
    return lines


def _options(w: Writer, chosen: list[tuple[str, str]]) -> tuple[tuple[str, object], ...]:
    options: list[tuple[str, object]] = []
    if w.chance(0.2):
        options.append(("static", (w.pick(chosen)[0],)))
    if w.chance(0.15):
        options.append(("warmup", w.pick((0, 2))))
    return tuple(options)


KINDS: dict[str, Callable[[Writer, str, int], Program]] = {"programs": _program, "operations": operations.program}


def generate(kind: str, seed: int) -> Program:
    """Write the program of this kind and seed; the same one every time, on every Python."""
    for attempt in range(20):
        program = KINDS[kind](Writer(f"{kind}/{seed}/{attempt}", TABLES), kind, seed)
        if _is_valid(program.source):
            return program
    raise AssertionError(f"no valid program for {kind} {seed}")


def _is_valid(source: str) -> bool:
    """A few combinations are no Python (a name both global and nonlocal, say): those are written anew."""
    try:
        code_of(source)
    except SyntaxError:
        return False
    return True
