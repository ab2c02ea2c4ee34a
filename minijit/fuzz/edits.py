"""Ways to make a program smaller: every variant one step down, the big steps first."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from minijit.fuzz.program import Program, code_of

Edit = Callable[[ast.Module], object]
Variants = Callable[[Program], Iterator[Program]]
KEPT = ("run", "make", "change")
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
SIMPLE = ("0", "None", "'a'", "[]", "1")


def driving(program: Program) -> Iterator[Program]:
    """Fewer calls, targets and options."""
    for calls in range(1, program.calls):
        yield replace(program, calls=calls)
    for name in program.targets if len(program.targets) > 1 else ():
        yield replace(program, targets=(name,))
    for name in program.targets:
        yield replace(program, targets=tuple(other for other in program.targets if other != name))
    for option in program.options:
        yield replace(program, options=tuple(other for other in program.options if other != option))
    if program.eager:
        yield replace(program, eager=False)


def tidied(program: Program) -> Iterator[Program]:
    """Write the source the way later edits will."""
    yield replace(program, source=ast.unparse(ast.parse(program.source)) + "\n")


def _blocks(tree: ast.Module) -> list[tuple[ast.AST, str]]:
    return [(node, field) for node in ast.walk(tree) for field in BLOCKS if isinstance(getattr(node, field, None), list)]


def shorter(program: Program) -> Iterator[Program]:
    """Leave out runs of statements, handlers and cases."""
    tree = ast.parse(program.source)
    for number, (node, field) in enumerate(_blocks(tree)):
        length = len(getattr(node, field))
        size = length
        while size:
            for start in range(0, length, size):
                yield from _edited(program, _deletion(number, field, start, start + size))
            size //= 2


def _deletion(number: int, field: str, start: int, stop: int) -> Edit:
    def edit(tree: ast.Module) -> bool:
        node, _ = _blocks(tree)[number]
        block = getattr(node, field)
        if any(getattr(statement, "name", None) in KEPT for statement in block[start:stop]):
            return False
        del block[start:stop]
        if not block and field == "body":
            block.append(ast.Pass())
        return True

    return edit


def flatter(program: Program) -> Iterator[Program]:
    """Put the body of a compound statement in its place."""
    tree = ast.parse(program.source)
    for number, (node, field) in enumerate(_blocks(tree)):
        for index, statement in enumerate(getattr(node, field)):
            for inner in ("body", "orelse", "finalbody"):
                if getattr(statement, inner, None) and not isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                    yield from _edited(program, _hoisting(number, field, index, inner))


def _hoisting(number: int, field: str, index: int, inner: str) -> Edit:
    def edit(tree: ast.Module) -> bool:
        node, _ = _blocks(tree)[number]
        block = getattr(node, field)
        if field in ("handlers", "cases"):
            return False
        block[index : index + 1] = getattr(block[index], inner)
        return True

    return edit


def _places(tree: ast.Module) -> list[tuple[ast.AST, str, int | None]]:
    """Give where expressions stand: node, field, and index where the field is a list."""
    places: list[tuple[ast.AST, str, int | None]] = []
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                places.append((node, field, None))
            elif isinstance(value, list):
                places += [(node, field, i) for i, item in enumerate(value) if isinstance(item, (ast.expr, ast.keyword, ast.comprehension))]
    return places


def _at(place: tuple[ast.AST, str, int | None]) -> ast.AST:
    node, field, index = place
    value = getattr(node, field)
    found: ast.AST = value if index is None else value[index]
    return found


def simpler(program: Program) -> Iterator[Program]:
    """Put a part of an expression, or a constant, in its place; leave out arguments and decorators."""
    for number, place in enumerate(_places(ast.parse(program.source))):
        expression = _at(place)
        if place[2] is not None:
            yield from _edited(program, _omission(number))
        if isinstance(expression, ast.Name):
            continue
        for child in range(sum(isinstance(node, ast.expr) for node in ast.iter_child_nodes(expression))):
            yield from _edited(program, _replacement(number, child, None))
        if not isinstance(expression, ast.Constant):
            for text in SIMPLE:
                yield from _edited(program, _replacement(number, 0, text))


def _omission(number: int) -> Edit:
    def edit(tree: ast.Module) -> bool:
        node, field, index = _places(tree)[number]
        assert index is not None
        del getattr(node, field)[index]
        return True

    return edit


def _replacement(number: int, child: int, text: str | None) -> Edit:
    def edit(tree: ast.Module) -> bool:
        place = _places(tree)[number]
        node, field, index = place
        children = [node for node in ast.iter_child_nodes(_at(place)) if isinstance(node, ast.expr)]
        new = children[child] if text is None else ast.parse(text, mode="eval").body
        if index is None:
            setattr(node, field, new)
        else:
            getattr(node, field)[index] = new
        return True

    return edit


def _edited(program: Program, edit: Edit) -> Iterator[Program]:
    """Give the program after an edit, unless that is no Python or changes nothing."""
    tree = ast.parse(program.source)
    try:
        if not edit(tree):
            return
        source = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        code_of(source)
    except (SyntaxError, ValueError, AttributeError, TypeError, IndexError, RecursionError):
        return
    if source != program.source:
        yield replace(program, source=source)


PASSES: tuple[Variants, ...] = (driving, tidied, shorter, flatter, simpler)
