"""The state of a program being written: random choices, names in scope, room left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

T = TypeVar("T")
Lines = list[str]
ExpressionRule = Callable[["Writer"], "str | None"]
LinesRule = Callable[["Writer"], "Lines | None"]

INDENT = "    "
MAX_DEPTH = 3
MAX_NESTING = 3

KINDS = ("int", "str", "list", "dict", "set", "deque", "tuple", "obj", "fn", "gen", "bytearray")
PREFIX = {
    "int": "i", "str": "s", "list": "l", "dict": "d", "set": "e", "deque": "q", "tuple": "t",
    "obj": "o", "fn": "f", "gen": "g", "bytearray": "y", "final": "z", "any": "x",
}  # fmt: skip
LITERALS: dict[str, tuple[str, ...]] = {
    "int": ("0", "1", "2", "3", "5", "-1", "7", "True", "1.5", "10"),
    "str": ("'a'", "'b'", "'xy'", "''", "'k1'"),
    "list": ("[]", "[1, 2]", "[3, 1, 2]", "[0]", "[1, [2]]"),
    "dict": ("{}", "{'a': 1}", "{'a': 1, 'b': 2}", "{1: 'x', 'k1': 0}", "{True: 5, 'xy': 6}"),
    "set": ("set()", "{1, 2}", "{'a', 3}", "{0, 1, 2}"),
    "deque": ("deque()", "deque([1, 2], 3)", "deque([4, 5, 6])", "deque([7], 1)"),
    "tuple": ("()", "(1, 2)", "(3, 'a')", "(0, 1, 2)"),
    "obj": ("Box(1)", "Box(2, 3)"),
    "fn": ("abs", "str", "bool", "(lambda q: q)", "Box"),
    "gen": ("iter([1, 2, 3])", "iter(range(3))", "iter(())", "(q for q in (4, 5))"),
    "bytearray": ("bytearray(b'ab')", "bytearray()", "bytearray(3)"),
    "final": ("Final(1)", "Final(2)"),
    "any": ("None", "1", "'a'", "(1, 2)"),
}


@dataclass(frozen=True, slots=True)
class ClassNote:
    """What later code may do with a class that has been written."""

    name: str
    methods: tuple[str, ...]
    arity: int = 2
    plain: bool = False


@dataclass(frozen=True, slots=True)
class FunctionNote:
    """What later code may do with a function that has been written."""

    name: str
    parameters: tuple[str, ...]
    result: str = "int"


@dataclass(slots=True)
class Tables:
    """The rules of every piece, by what they produce."""

    expressions: dict[str, list[ExpressionRule]] = field(default_factory=dict)
    statements: list[LinesRule] = field(default_factory=list)
    members: list[LinesRule] = field(default_factory=list)
    functions: list[LinesRule] = field(default_factory=list)
    classes: list[LinesRule] = field(default_factory=list)
    changes: list[LinesRule] = field(default_factory=list)


class Rules:
    """The rules one piece of the grammar adds; weight is how often a rule is drawn."""

    def __init__(self) -> None:
        self.tables = Tables()

    def expression(self, kind: str, weight: int = 2) -> Callable[[ExpressionRule], ExpressionRule]:
        """Add a way to write an expression of this kind."""

        def add(rule: ExpressionRule) -> ExpressionRule:
            self.tables.expressions.setdefault(kind, []).extend([rule] * weight)
            return rule

        return add

    def lines(self, table: str, weight: int = 2) -> Callable[[LinesRule], LinesRule]:
        """Add a way to write lines: a statement, a member of a class, a world change, ..."""

        def add(rule: LinesRule) -> LinesRule:
            getattr(self.tables, table).extend([rule] * weight)
            return rule

        return add

    def statement(self, weight: int = 2) -> Callable[[LinesRule], LinesRule]:
        """Add a way to write a statement."""
        return self.lines("statements", weight)


def indent(lines: Lines) -> Lines:
    """Move lines one level to the right."""
    return [INDENT + line for line in lines]


class Writer:
    """Mutates while a program is written; every choice comes from the seed."""

    def __init__(self, seed: str, tables: Tables) -> None:
        random = Random(seed)
        self.random = random.random
        self.tables = _swarm(tables, self.random)
        self.names: dict[str, list[str]] = {kind: [] for kind in PREFIX}
        self.global_names: dict[str, list[str]] = {kind: [] for kind in PREFIX}
        self.classes: list[ClassNote] = []
        self.functions: list[FunctionNote] = []
        self.targets: list[str] = []
        self.finals: list[str] = []
        self.decorated: set[str] = set()
        self.declared: set[str] = set()
        self.depth = 0
        self.nesting = 0
        self.loops = 0
        self.functions_deep = 0
        self.room = 0
        self.counter = 0
        self.caution = self.pick((0.05, 0.3, 0.7))
        self.in_generator = False
        self.in_comprehension = False

    # choices

    def below(self, bound: int) -> int:
        """Give an index below the bound."""
        return int(self.random() * bound)

    def pick(self, choices: Sequence[T]) -> T:
        """Give one of the choices."""
        return choices[int(self.random() * len(choices))]

    def chance(self, probability: float) -> bool:
        """Say yes that often."""
        return self.random() < probability

    # names

    def fresh(self, kind: str) -> str:
        """Make a name nobody uses yet; `bind` puts it in scope."""
        self.counter += 1
        return f"{PREFIX[kind]}{self.counter}"

    def bind(self, kind: str, name: str) -> str:
        """Put a name in scope."""
        names = self.names[kind]
        if name not in names:
            names.append(name)
        return name

    def target(self, kind: str) -> str:
        """Give a local name to assign: one in scope or a new one. The caller binds it afterwards."""
        local = [name for name in self.names[kind] if "." not in name and not name.isupper()]
        return self.pick(local) if local and self.chance(0.5) else self.fresh(kind)

    def name(self, kind: str) -> str | None:
        """Give a name in scope that holds (as far as is known) a value of this kind."""
        names, shared = self.names[kind], self.global_names[kind]
        if not names and not shared:
            return None
        index = self.below(len(names) * 2 + len(shared))
        return names[index // 2] if index < len(names) * 2 else shared[index - len(names) * 2]

    @contextmanager
    def nested(self, keep: float = 0.15) -> Iterator[None]:
        """Scope of a block: names bound in it may be unbound afterwards, so few are kept."""
        before = {kind: len(names) for kind, names in self.names.items()}
        self.nesting += 1
        yield
        self.nesting -= 1
        if not self.chance(keep):
            for kind, length in before.items():
                del self.names[kind][length:]

    # text

    def literal(self, kind: str) -> str:
        """Write a value of this kind that needs no name."""
        if kind == "obj" and self.classes and self.chance(0.8):
            return self.instance()
        return self.pick(LITERALS[kind])

    def instance(self) -> str:
        """Write the construction of an object of one of the program's classes."""
        note = self.pick(self.classes)
        arguments = [self.leaf("int") for _ in range(self.below(note.arity + 1))]
        return f"{note.name}({', '.join(arguments)})"

    def leaf(self, kind: str) -> str:
        """Write a name or a literal."""
        if kind == "any":
            kind = self.pick(KINDS)
        name = self.name(kind) if self.chance(0.8) else None
        return name or self.literal(kind)

    def expr(self, kind: str) -> str:
        """Write an expression of this kind."""
        if kind == "any":
            kind = self.pick(KINDS)
        rules = self.tables.expressions.get(kind)
        if self.depth >= MAX_DEPTH or not rules or self.chance(0.3):
            return self.leaf(kind)
        self.depth += 1
        text = self.pick(rules)(self)
        self.depth -= 1
        return text or self.leaf(kind)

    def statement(self) -> Lines:
        """Write one statement."""
        self.room -= 1
        for _ in range(4):
            lines = self.pick(self.tables.statements)(self)
            if lines:
                return lines
        return [f"LOG.append({self.leaf('int')})"]

    def statements(self, count: int) -> Lines:
        """Write a few statements that follow each other."""
        lines: Lines = []
        for _ in range(count):
            written = self.statement()
            if self.chance(self.caution):
                written = ["try:", *indent(written), "except Exception as e:", f"{INDENT}LOG.append(type(e).__name__)"]
            lines += written
        return lines

    def block(self, most: int = 3, loop: bool = False, keep: float = 0.15) -> Lines:
        """Write an indented block in its own scope."""
        self.loops += loop
        with self.nested(keep):
            lines = self.statements(1 + self.below(max(1, min(most, self.room))))
        self.loops -= loop
        return indent(lines)

    @property
    def crowded(self) -> bool:
        """Whether compound statements should no longer be begun."""
        return self.room <= 0 or self.nesting >= MAX_NESTING

    def body(self, names: dict[str, list[str]], most: int, result: str | None = "int") -> Lines:
        """Write the body of a function that begins a scope of its own."""
        saved = (self.names, self.declared, self.room, self.nesting, self.loops, self.in_generator, self.depth)
        self.names = {kind: list(names.get(kind, ())) for kind in PREFIX}
        self.declared, self.room, self.nesting, self.loops, self.depth = set(), most, 0, 0, 0
        self.functions_deep += 1
        lines = self.statements(self.below(most) + 1)
        if result is not None:
            lines.append(f"return {self.expr(result)}")
        declared = [f"global {', '.join(sorted(self.declared))}"] if self.declared else []
        self.functions_deep -= 1
        self.names, self.declared, self.room, self.nesting, self.loops, self.in_generator, self.depth = saved
        return indent(declared + lines)


def _swarm(tables: Tables, random: Callable[[], float]) -> Tables:
    """Leave out a random part of the rules, so that programs differ in what they are about."""

    def some(rules: list[T]) -> list[T]:
        kept = [rule for rule in dict.fromkeys(rules) if random() < 0.6]
        chosen = set(map(id, kept))
        return [rule for rule in rules if id(rule) in chosen] or rules

    return Tables(
        {kind: some(rules) for kind, rules in tables.expressions.items()},
        some(tables.statements),
        some(tables.members),
        some(tables.functions),
        some(tables.classes),
        some(tables.changes),
    )
