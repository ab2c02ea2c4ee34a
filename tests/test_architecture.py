"""The shape of the source: layers, names, packages, opcodes. Sizes are printed, not judged."""

import ast
import configparser
import dis
import pathlib
import types

import pytest

from minijit.interpreter import decode, decode_table, opcodes
from minijit.interpreter.dispatch import HANDLERS

ROOT = pathlib.Path(__file__).parent.parent
PACKAGES = {"minijit": ROOT / "minijit", "minijit.interpreter": ROOT / "interpreter", "minijit.codegen": ROOT / "codegen"}
BASE = {"minijit.errors", "minijit.codes", "minijit.options", "minijit._shim"}
"""What every layer may import: they import nothing but each other."""
FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc", "util", "helper"}

NOT_DECODED = {
    "CACHE": "part of the instruction before it",
    "EXTENDED_ARG": "part of the instruction after it",
    "PRECALL": "part of the call after it",
    "KW_NAMES": "part of the call after it",
    "CALL": "decode joins it with its keyword names",
    "CALL_KW": "decode joins it with its keyword names",
    "RETURN_CONST": "decode makes two instructions of it",
    "LOAD_FAST_LOAD_FAST": "decode splits it",
    "STORE_FAST_LOAD_FAST": "decode splits it",
    "STORE_FAST_STORE_FAST": "decode splits it",
    **({"LOAD_FAST": "decode tells cells from plain locals"} if opcodes.VERSION >= (3, 13) else {}),
    "ENTER_EXECUTOR": "never in co_code",
    "INSTRUMENTED_LINE": "never in co_code",
}
"""Opcodes that no row of the decoder's table names."""


def modules():
    """Every module of the project: its name and its syntax tree."""
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join((package, *parts)).removesuffix(".__init__")
            yield name, path, ast.parse(path.read_text())


MODULES = list(modules())
NAMES = {name for name, _, _ in MODULES} | {"minijit._shim"}


def layer(name):
    """Higher may import lower."""
    if name in BASE:
        return 0
    if name.startswith("minijit.interpreter"):
        return 1
    if name.startswith("minijit.codegen"):
        return 2
    return 4 if name.startswith(("minijit.cli", "minijit.fuzz", "minijit.__main__")) else 3


def is_for_types_only(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports(tree, top_level):
    """Imports of a module: those at its top, or those inside of functions."""
    if top_level:
        nodes = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    else:
        functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
        nodes = [node for function in functions for node in ast.walk(function) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return nodes


def targets(node):
    """Modules of the project that an import statement names."""
    if isinstance(node, ast.Import):
        found = [alias.name for alias in node.names]
    else:
        inner = [f"{node.module}.{alias.name}" for alias in node.names]
        found = [name if name in NAMES else node.module for name in inner]
    return {name for name in found if name and name.split(".")[0] == "minijit"}


@pytest.mark.parametrize(("name", "path", "tree"), MODULES, ids=[name for name, _, _ in MODULES])
def test_imports_lead_downwards(name, path, tree):
    upwards = {target for node in imports(tree, True) for target in targets(node) if layer(target) > layer(name)}
    if name == "minijit":  # it only gives names to what lies above
        return
    assert not upwards, f"{path.name} imports {sorted(upwards)}"


def test_imports_are_at_module_level():
    inside = [f"{path.relative_to(ROOT)}:{node.lineno}" for _, path, tree in MODULES for node in imports(tree, False)]
    assert not inside


def test_imports_are_absolute_and_never_bare():
    for _, path, tree in MODULES:
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path.name}:{node.lineno} is relative"
                assert (node.module or "").split(".")[0] not in {"interpreter", "codegen"}, f"{path.name}:{node.lineno}"


def test_layers_know_what_lies_below_only():
    """The check itself: an import upwards would be found."""
    assert layer("minijit.errors") < layer("minijit.interpreter.ir") < layer("minijit.codegen.lower")
    assert layer("minijit.codegen.lower") < layer("minijit.pipeline") < layer("minijit.cli.main")
    node = ast.parse("from minijit.codegen import lower").body[0]
    assert targets(node) == {"minijit.codegen.lower"}


def test_a_file_is_named_after_what_is_in_it():
    assert not {path.stem for _, path, _ in MODULES} & FORBIDDEN_NAMES


def test_packages_in_setup_cfg_are_those_in_the_tree():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    listed = set(setup["options"]["packages"].split())
    there = {name for name, path, _ in MODULES if path.name == "__init__.py"}
    holding = {".".join(name.split(".")[:-1]) for name, path, _ in MODULES if path.name != "__init__.py"}
    assert listed == there
    assert holding <= there, "a folder without __init__.py does not install"


NEVER_ALONE = {"CACHE", "EXTENDED_ARG"}


def real_opcodes():
    return [name for name, number in opcodes.OPCODE.items() if not name.startswith("INSTRUMENTED_") and number < 256]


@pytest.mark.parametrize("name", real_opcodes())
def test_every_opcode_is_decoded(name):
    known = decode_table.READERS[opcodes.OPCODE[name]] is not None
    assert known != (name in NOT_DECODED), f"{name} has {'a' if known else 'no'} row"


def test_what_the_interpreter_handles_is_decoded():
    """A handler's name is a neutral name, so that no handler is dead."""
    produced = neutral_names() | set(decode_made_names())
    assert set(HANDLERS) - NEVER_ALONE <= produced


SAME_AS_OPCODE = {"LIST_TO_TUPLE", "PREP_RERAISE_STAR", "ASYNC_GEN_WRAP", "STOPITERATION_ERROR"}
"""Intrinsics that are opcodes in another version."""


def neutral_names():
    """Names that some row of some version's table gives, and those that decode makes itself."""
    words = {word for words in decode_table.WORDS.values() for word in words.split()}
    jumps = {f"POP_JUMP_IF_{what}" for what in ("TRUE", "FALSE", "NONE", "NOT_NONE")}
    special = {"UNARY_OP", "JUMP", "LOAD_CONST", "LOAD_GLOBAL", "LOAD_ATTR", "BINARY_OP", "COMPARE_OP", "UNPACK_EX"}
    return words | jumps | special | {"FORMAT", "CONVERT", "INTRINSIC", "LOAD_SUPER_ATTR", "LOAD_SUPER_METHOD", *SAME_AS_OPCODE}


def decode_made_names():
    source = ast.parse(pathlib.Path(decode.__file__).read_text())
    return [node.value for node in ast.walk(source) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_code_of_this_file_decodes_to_known_names():
    known = neutral_names() | set(decode_made_names())
    for value in list(globals().values()):
        if isinstance(value, types.FunctionType):
            unknown = {inst.op for inst in decode.decode(value.__code__).instructions} - known
            assert not unknown, dis.Bytecode(value).dis()


def test_sizes(record_property, capsys):
    """Print how large files and functions are."""
    files = sorted(((len(path.read_text().splitlines()), name) for name, path, _ in MODULES), reverse=True)
    functions = sorted(
        ((node.end_lineno - node.lineno + 1, f"{name}.{node.name}")
         for name, _, tree in MODULES for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))),
        reverse=True,
    )  # fmt: skip
    with capsys.disabled():
        print(f"\n{len(files)} files, {sum(size for size, _ in files)} lines, {len(functions)} functions")
        for title, rows in (("file", files), ("function", functions)):
            sizes = [size for size, _ in rows]
            print(f"lines of a {title}: median {sizes[len(sizes) // 2]}, 90 % below {sizes[len(sizes) // 10]}; longest "
                  + ", ".join(f"{name} {size}" for size, name in rows[:4]))  # fmt: skip
    record_property("lines", sum(size for size, _ in files))
