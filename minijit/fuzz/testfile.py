"""Write a failure as a test file that pytest collects."""

from __future__ import annotations

from pathlib import Path

from minijit.fuzz.report import Failure

TEMPLATE = '''"""Found by `minijit fuzz --kind {kind} --seed {seed}`: {what}."""

from minijit.fuzz.judge import assert_same
from minijit.fuzz.program import Program

SOURCE = """\\
{source}"""


def test_{name}() -> None:
    """The program does the same plain and compiled."""
    assert_same(Program({kind!r}, {seed}, SOURCE, {calls}, {targets!r}, {options!r}, {eager}))
'''


def write_test(failure: Failure, folder: Path) -> Path:
    """Write `test_<kind>_<seed>.py`; give its path."""
    program = failure.program
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"test_{program.name}.py"
    source = program.source.replace("\\", "\\\\").replace('"""', r"\"\"\"")
    what = f"{failure.difference.kind} differs"
    path.write_text(TEMPLATE.format(
        kind=program.kind, seed=program.seed, what=what, source=source, name=program.name, calls=program.calls,
        targets=program.targets, options=program.options, eager=program.eager,
    ))  # fmt: skip
    return path
