"""Code objects of the standard library, to try things on.

MINIJIT_SWEEP=1 takes all of `Lib/**/*.py` instead of a sample; that runs for minutes.
"""

import os
import pathlib
import warnings
from types import CodeType

import pytest

LIBRARY = pathlib.Path(os.__file__).parent
ODD = ("test_patma", "test_except_star", "test_coroutines", "test_asyncgen", "test_contextlib", "test_scope")
"""Modules with the rarer instructions."""
EVERY = 12


def _files() -> list[pathlib.Path]:
    if os.environ.get("MINIJIT_SWEEP"):
        return sorted(path for path in LIBRARY.rglob("*.py") if "site-packages" not in path.parts)
    odd = [LIBRARY / "test" / f"{name}.py" for name in ODD]
    return sorted(LIBRARY.glob("*.py"))[::EVERY] + [path for path in odd if path.exists()]


def _walk(code: CodeType) -> list[CodeType]:
    codes = [code]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            codes += _walk(constant)
    return codes


def compile_all(path: pathlib.Path) -> list[CodeType]:
    """Every code object of a file; none when it is not meant to compile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _walk(compile(path.read_bytes(), str(path), "exec"))
        except (SyntaxError, ValueError):
            return []


@pytest.fixture(scope="session")
def library_codes() -> list[CodeType]:
    """Some thousand code objects."""
    return [code for path in _files() for code in compile_all(path)]
