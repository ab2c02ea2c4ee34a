"""Wrong compilers, to see that the fuzzer finds what they do wrong."""

from __future__ import annotations

import ast
import os
import signal
import time
from collections.abc import Callable
from typing import Any

from minijit.fuzz.program import Program
from minijit.fuzz.sides import ENTRY, Namespace, load, plain

Statements = list[ast.stmt]


def _run_of(tree: ast.Module) -> ast.FunctionDef:
    return next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "run")


def _edited(edit: Callable[[ast.FunctionDef], object]) -> Callable[[Program], Namespace]:
    """Make a compiler that edits the source of `run`, keeping its lines."""

    def side(program: Program) -> Namespace:
        tree = ast.parse(program.source)
        edit(_run_of(tree))
        return load(tree)

    return side


def _is_effect(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Expr, ast.AugAssign)) or (isinstance(statement, ast.Assign) and not isinstance(statement.targets[0], ast.Name))


def _swap(function: ast.FunctionDef) -> None:
    """Replay two effects in the wrong order."""
    for node in ast.walk(function):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            for i in range(len(body) - 1):
                if _is_effect(body[i]) and _is_effect(body[i + 1]):
                    body[i], body[i + 1] = body[i + 1], body[i]
                    return


def _edit_effects(function: ast.FunctionDef, replace: Callable[[ast.stmt], Statements], wanted: Callable[[ast.stmt], bool]) -> None:
    for node in ast.walk(function):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list):
                setattr(node, field, [new for old in body for new in (replace(old) if wanted(old) else [old])])


def _is_mutating_call(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "add", "insert", "appendleft", "bump")


def _is_store(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], (ast.Attribute, ast.Subscript))


def _repeat(function: ast.FunctionDef) -> None:
    """Replay an effect twice."""
    _edit_effects(function, lambda statement: [statement, statement], _is_mutating_call)


def _drop(function: ast.FunctionDef) -> None:
    """Lose a store."""
    _edit_effects(function, lambda statement: [ast.copy_location(ast.Pass(), statement)], _is_store)


def _keep_deleted(function: ast.FunctionDef) -> None:
    """Forget deletions."""
    _edit_effects(function, lambda statement: [ast.copy_location(ast.Pass(), statement)], lambda statement: isinstance(statement, ast.Delete))


def _wrapped(around: Callable[[Namespace, Callable[..., Any]], Callable[..., Any]]) -> Callable[[Program], Namespace]:
    """Make a compiler that puts a wrapper around `run`."""

    def side(program: Program) -> Namespace:
        namespace = plain(program)
        namespace[ENTRY] = around(namespace, namespace["run"])
        return namespace

    return side


def _forgetful(namespace: Namespace, run: Callable[..., Any]) -> Callable[..., Any]:
    """Lose the effects of a call that raises."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        length = len(namespace["LOG"])
        try:
            return run(*args, **kwargs)
        except Exception:
            del namespace["LOG"][length:]
            raise

    return wrapper


def _copying(namespace: Namespace, run: Callable[..., Any]) -> Callable[..., Any]:
    """Rebuild lists and dicts instead of changing them."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return run(*(value.copy() if type(value) in (list, dict) else value for value in args), **kwargs)

    return wrapper


def _unguarded(namespace: Namespace, run: Callable[..., Any]) -> Callable[..., Any]:
    """Take every later call for the second one."""
    globals_then: dict[str, Any] = {}

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        for name, value in list(namespace.items()):
            if isinstance(value, (int, float, str)) and not name.startswith("__"):
                namespace[name] = globals_then.setdefault(name, value)
        return run(*args, **kwargs)

    return wrapper


def _flattened(namespace: Namespace, run: Callable[..., Any]) -> Callable[..., Any]:
    """Lose the frames of a traceback, and the context."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return run(*args, **kwargs)
        except Exception as error:
            raise error.with_traceback(None) from None

    return wrapper


def deadly(program: Program) -> Namespace:
    """Crash on one program, never return from another."""
    if program.seed % 100 == 7:
        os.abort()
    if program.seed % 100 == 23:
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGALRM,))
        time.sleep(1000)
    return plain(program)


swap = _edited(_swap)
repeat = _edited(_repeat)
drop = _edited(_drop)
keep_deleted = _edited(_keep_deleted)
forgetful = _wrapped(_forgetful)
copying = _wrapped(_copying)
unguarded = _wrapped(_unguarded)
flattened = _wrapped(_flattened)
NAMES = ("swap", "repeat", "drop", "keep_deleted", "forgetful", "copying", "unguarded", "flattened")
