"""Golden cases: what becomes of small functions, as text, and that it does what the original does.

README.md in this folder says what a case consists of and how to write the expected texts anew.
"""

import ast
import pathlib
import re
import sys
import types
from dataclasses import dataclass

import pytest

import minijit
from minijit import _shim
from minijit.codegen.passes import clean_up
from minijit.explain import bind, explain_call, underlying
from minijit.harness.observe import Arguments
from minijit.harness.same import first_difference, record
from minijit.install import install
from minijit.interpreter.ir_text import region_text
from minijit.options import Options
from minijit.originals import original_code
from minijit.pipeline import Request, trace

HERE = pathlib.Path(__file__).parent
CASES = sorted(path.stem for path in HERE.glob("*.case"))
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
HEADING = re.compile(r"^\[(\w+)(?: (3\.\d+))?\]$", re.MULTILINE)
REFERENCE = "3.13"
ROUNDS = 3
"""One to warm up, two compiled."""


@dataclass(frozen=True)
class Case:
    """A case file: an introduction, then sections by name and version (empty: every version)."""

    introduction: str
    sections: dict[tuple[str, str], str]

    @classmethod
    def parse(cls, text):
        introduction, *rest = HEADING.split(text)
        return cls(introduction, {(name, version or ""): body.strip("\n")
                                  for name, version, body in zip(rest[::3], rest[1::3], rest[2::3], strict=True)})

    def __str__(self):
        parts = [f"[{name}{version and ' ' + version}]\n{body}\n" for (name, version), body in self.sections.items()]
        return self.introduction.rstrip("\n") + "\n\n" + "\n".join(parts)

    def section(self, name):
        return self.sections.get((name, VERSION), self.sections.get((name, "")))

    def expected(self):
        """Names of the sections that say what the compiler does."""
        return [name for name in PRINTERS if self.section(name) is not None]

    def calls(self):
        return self.section("call").splitlines()

    def options(self):
        return Options(gainless=True, **eval(f"dict({self.section('options') or ''})"))

    def updated(self, texts):
        """Put the running version's texts in place: the reference's is the common one, others only if they differ."""
        sections = dict(self.sections)
        for name, text in texts.items():
            sections.pop((name, VERSION), None)
            if VERSION == REFERENCE or not sections.get((name, "")):
                sections[name, ""] = text
            elif sections[name, ""] != text:
                sections[name, VERSION] = text
        return Case(self.introduction, {key: sections[key] for key in sorted(sections, key=order)})


def order(key):
    names = ["source", "options", "call", *PRINTERS]
    return names.index(key[0]), key[1]


@dataclass(frozen=True)
class Called:
    """The module of a case, and the function that its calls name."""

    namespace: dict
    function: types.FunctionType

    @classmethod
    def load(cls, case, name):
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(case.section("source"), "<case>", "exec"), module.__dict__)
        functions = [ast.unparse(ast.parse(call, mode="eval").body.func) for call in case.calls()]
        assert len(set(functions)) == 1, "all calls of a case are of one function"
        return cls(module.__dict__, eval(functions[0], module.__dict__))

    def arguments(self, call):
        """Evaluate what a call passes."""
        made = ast.parse(call, mode="eval").body
        made.func = ast.Name("__arguments__", ast.Load())
        names = {**self.namespace, "__arguments__": Arguments}
        return eval(compile(ast.fix_missing_locations(ast.Expression(made)), "<case>", "eval"), self.namespace | names)

    def maker(self, call):
        return lambda: self.arguments(call)


# -- the texts ------------------------------------------------------------------------------------------


def slots_of(case, called):
    arguments = called.arguments(case.calls()[0])
    python, positional = underlying(called.function, arguments.positional)
    return python, bind(python, positional, arguments.keywords)


def ir(case, called):
    python, slots = slots_of(case, called)
    request = Request("warm", original_code(python), python, slots, case.options(), _shim.Counter(None))
    return region_text(clean_up(trace(request).region))


def explained(case, called):
    python, slots = slots_of(case, called)
    return explain_call(python, slots, case.options())


def guards(case, called):
    return "\n".join(guard.text for guard in explained(case, called).guards)


def ledger(case, called):
    return "\n".join(f"{effect.line}: {effect.text}" for effect in explained(case, called).ledger)


def notes(case, called):
    return "\n".join(f"{line.number}: {happening.kind}: {happening.text}"
                     for line in explained(case, called).lines for happening in line.happened)


def bytecode(case, called):
    """The compiled part, without the ways back into the original; a jump out of it goes there."""
    listed = [instruction for instruction in explained(case, called).after if instruction.part != "leave"]
    places = {instruction.offset: number for number, instruction in enumerate(listed)}
    return "\n".join(f"{number:>2} {instruction.line or '-':>4}  {instruction.opname:<28}"
                     f"{argument(instruction.argument, places)}".rstrip() for number, instruction in enumerate(listed))


def argument(text, places):
    jump = re.fullmatch(r"to (\d+)", text)
    return text if jump is None else f"to {places.get(int(jump[1]), 'the original')}"


PRINTERS = {"ir": ir, "guards": guards, "ledger": ledger, "notes": notes, "bytecode": bytecode}


# -- the tests ------------------------------------------------------------------------------------------


@pytest.fixture
def module_name():
    yield "case"
    sys.modules.pop("case", None)


@pytest.mark.parametrize("name", CASES)
def test_text(name, module_name, pytestconfig):
    path = HERE / f"{name}.case"
    case = Case.parse(path.read_text())
    assert case.expected(), "the case says nothing about the compiler"
    found = {part: PRINTERS[part](case, Called.load(case, module_name)) for part in case.expected()}
    if pytestconfig.getoption("update_golden"):
        path.write_text(str(case.updated(found)))
    else:
        assert {part: case.section(part) for part in found} == found


def outcomes(case, name, compiled):
    """Record some rounds of the calls."""
    called = Called.load(case, name)
    python, _ = underlying(called.function, ())
    if compiled:
        install(python, case.options())
    makers = [called.maker(call) for call in case.calls()] * ROUNDS
    return called.function, record(called.function, makers)


@pytest.mark.parametrize("name", CASES)
def test_same(name, module_name):
    case = Case.parse((HERE / f"{name}.case").read_text())
    _, expected = outcomes(case, module_name, compiled=False)
    function, actual = outcomes(case, module_name, compiled=True)
    assert first_difference(expected, actual) is None
    stats = minijit.stats(function)
    assert (stats.state, stats.reason) == ("compiled", None)
    assert stats.hits > 0


def test_sections_of_a_version_come_before_the_common_one():
    case = Case.parse("intro\n[ir]\nx\n[ir " + VERSION + "]\ny\n[guards]\nz\n")
    assert (case.section("ir"), case.section("guards")) == ("y", "z")
    assert Case.parse(str(case)) == Case.parse(str(Case.parse(str(case))))


def test_a_changed_text_is_noticed():
    case = Case.parse((HERE / f"{CASES[0]}.case").read_text())
    name = case.expected()[0]
    changed = case.updated({name: "other"})
    assert changed.section(name) == "other" != case.section(name)
    assert changed.updated({name: case.section(name)}).section(name) == case.section(name)
