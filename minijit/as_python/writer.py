"""The statements of a region: its operations, checks, ends and moves."""

from __future__ import annotations

import ast
import inspect
import types
from collections import Counter
from collections.abc import Callable, Iterator
from types import CellType, FunctionType
from typing import Any

from minijit.as_python.expressions import (
    EXPRESSIONS,
    ORIGINALS,
    SPREADING,
    STATEMENTS,
    Untranslatable,
    assign,
    call,
    constant,
    name,
)
from minijit.as_python.naming import Naming
from minijit.as_python.quiet import ABSENT, QUESTIONS
from minijit.as_python.resume import Resume, Resumer
from minijit.as_python.runtime import function_maker, global_loader, in_place
from minijit.as_python.structure import Statements
from minijit.interpreter.ir import (
    Abort,
    Block,
    Branch,
    Const,
    Deliver,
    Edge,
    Exit,
    Failure,
    Jump,
    Next,
    Null,
    Operand,
    Operation,
    Region,
    Return,
    Terminator,
    Test,
    Value,
)
from minijit.interpreter.ir_values import condition, edges, operands, snapshot_reads, tests

__all__ = ["Writer"]

WORLD = frozenset({
    "version", "function", "global_is", "global_absent", "item_is", "dict_items", "list_items", "attr_is",
    "attr_absent", "cell_is",
})  # fmt: skip
"""Tests that name objects of the program rather than values of the call, and load nothing."""
STEADY = frozenset({list, tuple, str, bytes, range})
"""Iterables whose iterators never raise."""
FOLDED_INTO = frozenset(EXPRESSIONS) | {"set_attr", "set_item", "append", "set_add", "set_local", "set_deref"}


class Writer(Naming):
    """Writes the statements of one region. Mutates."""

    def __init__(self, region: Region, function: FunctionType) -> None:
        super().__init__(region, function)
        self.methods: dict[Operand, str] = {}
        self.worlds: list[list[Test]] = []
        self.line: int | None = None
        self.folded: dict[Value, Operation] = dict(self._single_uses())
        changed = {slot for slot in self.changed if isinstance(slot, int)}
        self.resumer = Resumer(region, function, self.names, changed, self.namespace)
        self._fill_namespace()
        self.guards: list[ast.stmt] = []
        if region.entry_tests:
            self.guards = [self.unless(region.entry_tests, ast.Return(self.call_original()))]

    def _fill_namespace(self) -> None:
        function = self.function
        namespace, closure = function.__globals__, function.__closure__
        original = FunctionType(self.code, namespace, function.__name__, function.__defaults__, closure)
        original.__kwdefaults__ = function.__kwdefaults__
        self.namespace.update(
            ABSENT=ABSENT, CellType=CellType, DONE=object(), G=namespace, ask=types.SimpleNamespace(**QUESTIONS),
            in_place=in_place, leave=Resume, load_global=global_loader(function), original=original,
            make_function=function_maker(function), resuming=self.resumer.resuming,
            unchanged=lambda number: all(QUESTIONS[test.kind](*test.payload) for test in self.worlds[number - 1]),
        )  # fmt: skip

    # -- operands --

    def load(self, operand: Operand) -> ast.expr:
        """An operand as an expression."""
        if isinstance(operand, Null):
            raise Untranslatable("an empty stack slot is used")
        if isinstance(operand, Const):
            return self.constant(operand.value)
        operation = self.folded.get(operand)
        if operation is not None:
            return EXPRESSIONS[operation.opcode](self, operation)
        return name(self.names[operand])

    def identical(self, operand: Operand) -> ast.expr:
        """An operand whose identity is asked about: a literal could be another object."""
        if isinstance(operand, Const) and type(operand.value) not in (type(None), bool):
            return self.named(operand.value)
        return self.load(operand)

    def _single_uses(self) -> Iterator[tuple[Value, Operation]]:
        """Values used once, soon after, and nowhere else: they are written where they are used."""
        uses = Counter(self._uses())
        for block in self.region.blocks:
            pending: dict[Value, Operation] = {}
            for operation in block.operations:
                for operand in operands(operation):
                    made = pending.pop(operand, None) if isinstance(operand, Value) else None
                    fits = made is not None and operation.opcode in FOLDED_INTO
                    if made is not None and fits and same_failure(made.failure, operation.failure):
                        yield made.result, made
                if operation.effect or operation.opcode in ("original", "check"):
                    pending.clear()
                if operation.opcode in EXPRESSIONS and len(operation.results) == 1 and uses[operation.results[0]] == 1:
                    pending[operation.results[0]] = operation

    def _uses(self) -> Iterator[Value]:
        for block in self.region.blocks:
            for operation in block.operations:
                yield from (operand for operand in operands(operation) if isinstance(operand, Value))
            ends = [*condition(block.terminator), *(a for edge in edges(block) for a in edge.arguments)]
            yield from (operand for operand in ends if isinstance(operand, Value))
        for snapshot in self.region.snapshots():
            yield from snapshot_reads(snapshot)

    # -- statements --

    def operations(self, block: Block) -> Statements:
        """The operations of a block."""
        found: Statements = []
        for operation in block.operations:
            if len(operation.results) == 1 and operation.results[0] in self.folded:
                continue
            self._mark(operation.position[0], found)
            found += self.operation(operation)
        return found

    def _mark(self, line: int | None, found: Statements) -> None:
        if line is not None and line != self.line:
            self.line = line
            found.append((ast.Expr(constant(f"@{line}")), None))

    def operation(self, operation: Operation) -> Statements:
        """One operation."""
        if operation.opcode == "check":
            return [self.check(operation)]
        if operation.opcode == "original":
            return self._original(operation)
        if operation.opcode == "drop" and operation.operands[0] not in self.names:
            return []
        if operation.opcode == "del_local":
            return self._forget(self.variable(operation.payload))
        failure = self.failure(operation.failure)
        if operation.opcode in STATEMENTS:
            return [(STATEMENTS[operation.opcode](self, operation), failure)]
        return [(assign(self.target(operation.result), EXPRESSIONS[operation.opcode](self, operation)), failure)]

    def _forget(self, variable: str) -> Statements:
        """Leave a variable unbound, whether it is bound or not."""
        return [(assign(variable, constant(None)), None), (ast.Delete([ast.Name(variable, ast.Del())]), None)]

    def failure(self, failure: Failure) -> Failure:
        """An exception that the original has no handler for leaves the source as well."""
        return None if isinstance(failure, Deliver) and not self.code.co_exceptiontable else failure

    def _original(self, operation: Operation) -> Statements:
        inst: Any = operation.payload
        failure = self.failure(operation.failure)
        if inst.op == "LOAD_METHOD":
            return self._method(operation, inst.arg, failure)
        if inst.op in ("UNPACK_SEQUENCE", "UNPACK_EX"):
            return [(assign(self._targets(operation, inst), self.load(operation.operands[0])), failure)]
        if inst.op in SPREADING:
            return self._spread(operation, SPREADING[inst.op], failure)
        row = ORIGINALS.get(inst.op)
        if row is None:
            raise Untranslatable(f"{inst.op} has no form in it")
        made = row(self, inst, operation.operands)
        if isinstance(made, ast.stmt):
            return [(made, failure)]
        if len(operation.results) == 1:
            return [(assign(self.target(operation.result), made), failure)]
        raise Untranslatable(f"{inst.op} gives {len(operation.results)} values")

    def _targets(self, operation: Operation, inst: Any) -> ast.expr:
        """What an unpacking assigns to, the first target being what it pushes last."""
        targets = [self.stored(value) for value in reversed(operation.results)]
        if inst.op == "UNPACK_EX":
            before = inst.arg[0]
            targets[before] = ast.Starred(targets[before], ast.Store())
        return ast.Tuple(targets, ast.Store())

    def cell(self, slot: object) -> ast.expr:
        """The variable that holds the cell of a slot."""
        found = next((value for number, value in self.region.arguments if number == slot), None)
        if found is None or found not in self.names:
            raise Untranslatable("a cell that is not known")
        return name(self.names[found])

    def _method(self, operation: Operation, text: str, failure: Failure) -> Statements:
        """A method that is loaded and called later: one value in the place of two."""
        bound = self.names[operation.results[0]]
        self.methods[operation.results[0]] = self.methods[operation.results[1]] = bound
        value = ast.Attribute(self.load(operation.operands[0]), text, ast.Load())
        return [(assign(bound, value), failure)]

    def _spread(self, operation: Operation, text: str, failure: Failure) -> Statements:
        """A display grows; all that lay above it on the stack comes back under other names."""
        container, *_, added = operation.operands
        grow = call(ast.Attribute(self.load(container), text, ast.Load()), self.load(added))
        kept = zip(operation.results, operation.operands, strict=False)
        return [(ast.Expr(grow), failure), *((assign(self.names[v], self.load(operand)), None) for v, operand in kept)]

    def moves(self, edge: Edge) -> Statements:
        """Give a block's parameters their values."""
        pairs = [
            (self.names[parameter], argument)
            for parameter, argument in zip(edge.block.parameters, edge.arguments, strict=True)
            if not isinstance(argument, Value) or self.names[argument] != self.names[parameter]
        ]
        if not pairs:
            return []
        if len(pairs) == 1:
            return [(assign(pairs[0][0], self.load(pairs[0][1])), None)]
        targets: list[ast.expr] = [ast.Name(text, ast.Store()) for text, _ in pairs]
        values = [self.load(argument) for _, argument in pairs]
        return [(assign(ast.Tuple(targets, ast.Store()), ast.Tuple(values, ast.Load())), None)]

    def terminator(self, end: Terminator) -> Statements:
        """What a terminator does before control goes elsewhere."""
        if isinstance(end, Jump):
            return self.moves(end.target)
        if isinstance(end, Next):
            step = call("next", self.load(end.iterator), name("DONE"))
            return [(assign(self.names[end.result], step), None)]
        if isinstance(end, Branch):
            test = self.load(end.condition)
            test = ast.Compare(test, [ast.Is()], [constant(None)]) if end.kind == "none" else test
            return [(ast.Expr(test), None)]
        return [(ast.Return(self.load(end.value)), None)] if isinstance(end, Return) else []

    def ending(self, block: Block) -> Statements:
        """Return, or leave."""
        end = block.terminator
        if isinstance(end, Exit):
            return [(self.leave(end.snapshot.number), None)]
        assert isinstance(end, Return)
        return [(ast.Return(self.load(end.value)), None)]

    def leave(self, number: int, *error: ast.expr) -> ast.stmt:
        """Go back to the original."""
        return ast.Return(call("leave", constant(number), call("locals"), *error))

    def steps_quietly(self, step: Next) -> bool:
        """Whether advancing the iterator never raises."""
        for block in self.region.blocks:
            for operation in block.operations:
                if step.iterator in operation.results and operation.opcode == "iter":
                    return self.known_type(operation.operands[0]) in STEADY
        return False

    def known_type(self, operand: Operand) -> object:
        """The exact type of an operand, also where only the guards know it."""
        if isinstance(operand, Const):
            return type(operand.value)
        asked = (test.payload[0] for test in self.region.entry_tests if test.kind == "type" and test.subject is operand)
        return getattr(operand, "type", None) or next(asked, None)

    def group(self, statements: Statements) -> list[ast.stmt]:
        """Statements that fail alike go into one try statement."""
        found: list[ast.stmt] = []
        run: list[ast.stmt] = []
        current: Failure = None
        for statement, failure in [*statements, (None, None)]:
            if statement is not None and is_mark(statement) and run:
                run.append(statement)
                continue
            if run and not same_failure(current, failure):
                found += self._guarded(run, current)
                run = []
            if statement is not None:
                current = failure if not run else current
                run.append(statement)
        return found + self._guarded(run, current)

    def _guarded(self, run: list[ast.stmt], failure: Failure) -> list[ast.stmt]:
        trailing: list[ast.stmt] = []
        while run and is_mark(run[-1]):
            trailing.insert(0, run.pop())
        if failure is None or not run:
            return run + trailing
        if isinstance(failure, Abort):
            handler = ast.ExceptHandler(name("Exception"), None, [self.leave(failure.snapshot.number)])
        else:
            leave = self.leave(failure.snapshot.number, name("error"))
            handler = ast.ExceptHandler(name("BaseException"), "error", [leave])
        return [ast.Try(run, [handler], [], []), *trailing]

    # -- checks --

    def check(self, operation: Operation) -> tuple[ast.stmt, Failure]:
        """Leave when a speculation does not hold."""
        assert operation.failure is not None
        return self.unless(tests(operation), self.leave(operation.failure.snapshot.number)), None

    def unless(self, asked: tuple[Test, ...] | list[Test], otherwise: ast.stmt) -> ast.stmt:
        """Ask one after another, of the rest of the world all at once."""
        world = [test for test in asked if test.kind in WORLD]
        questions = [self.question(test) for test in asked if test.kind not in WORLD]
        if world:
            self.worlds.append(world)
            questions.insert(0, call("unchanged", constant(len(self.worlds))))
        whole = questions[0] if len(questions) == 1 else ast.BoolOp(ast.And(), questions)
        return ast.If(ast.UnaryOp(ast.Not(), whole), [otherwise], [])

    def question(self, test: Test) -> ast.expr:
        """One test."""
        subject = () if test.subject is None else (self.load(test.subject),)
        as_operands = [p if isinstance(p, (Value, Const)) else Const(p) for p in test.payload]
        payload = [self.identical(p) if test.kind in IDENTITY else self.load(p) for p in as_operands]
        simple = QUESTION_FORMS.get(test.kind)
        if simple is not None:
            return simple(*subject, *payload)
        if test.kind not in QUESTIONS:
            raise Untranslatable(f"a check of kind {test.kind}")
        asked = call(ast.Attribute(name("ask"), test.kind, ast.Load()), *subject, *payload)
        if test.result is None:
            return asked
        loaded = ast.NamedExpr(ast.Name(self.names[test.result], ast.Store()), asked)
        return ast.Compare(loaded, [ast.IsNot()], [name("ABSENT")])

    # -- the function --

    def definition(self, body: Statements) -> ast.stmt:
        """The whole function."""
        statements = [*self.prologue, *self.guards, *self.group(body)]
        definition: Any = ast.FunctionDef(
            self.title, self.signature(), statements or [ast.Pass()], [name("resuming")], None, lineno=1
        )
        if hasattr(ast, "TypeVar"):
            definition.type_params = []
        return definition  # type: ignore[no-any-return]

    def signature(self) -> ast.arguments:
        """The parameters, with their defaults."""
        code, names = self.code, [ast.arg(text) for text in self.parameters()]
        after = code.co_argcount + code.co_kwonlyargcount
        positional, keywords, rest = names[: code.co_argcount], names[code.co_argcount : after], names[after:]
        vararg = rest.pop(0) if code.co_flags & inspect.CO_VARARGS else None
        kwarg = rest.pop(0) if code.co_flags & inspect.CO_VARKEYWORDS else None
        defaults = [self.constant(value) for value in self.function.__defaults__ or ()]
        given = self.function.__kwdefaults__ or {}
        kw_defaults = [self.constant(given[arg.arg]) if arg.arg in given else None for arg in keywords]
        only = code.co_posonlyargcount
        return ast.arguments(positional[:only], positional[only:], vararg, keywords, kw_defaults, kwarg, defaults)

    def call_original(self) -> ast.expr:
        """The original with the same arguments."""
        signature = self.signature()
        arguments: list[ast.expr] = [name(arg.arg) for arg in (*signature.posonlyargs, *signature.args)]
        if signature.vararg is not None:
            arguments.append(ast.Starred(name(signature.vararg.arg), ast.Load()))
        keywords = [ast.keyword(arg.arg, name(arg.arg)) for arg in signature.kwonlyargs]
        if signature.kwarg is not None:
            keywords.append(ast.keyword(None, name(signature.kwarg.arg)))
        return call("original", *arguments, keywords=keywords)


def _compared(operator: ast.cmpop) -> Callable[..., ast.expr]:
    return lambda left, right: ast.Compare(left, [operator], [right])


IDENTITY = frozenset({"is", "is_not", "same", "distinct"})
QUESTION_FORMS: dict[str, Callable[..., ast.expr]] = {
    "type": lambda value, cls: ast.Compare(call("type", value), [ast.Is()], [cls]),
    "is": _compared(ast.Is()),
    "is_not": _compared(ast.IsNot()),
    "same": _compared(ast.Is()),
    "distinct": _compared(ast.IsNot()),
    "len": lambda items, count: ast.Compare(call("len", items), [ast.Eq()], [count]),
}


def is_mark(statement: ast.stmt) -> bool:
    """Whether a statement only says which line comes next."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return False
    return isinstance(statement.value.value, str) and statement.value.value.startswith("@")


def same_failure(left: Failure, right: Failure) -> bool:
    """Whether two steps that fail go on alike."""
    if left is None or right is None:
        return left is right
    return type(left) is type(right) and left.snapshot is right.snapshot
