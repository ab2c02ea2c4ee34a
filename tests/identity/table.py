"""The page docs/cpython-tests.md: a section for each version, written anew by a run on that version."""

from __future__ import annotations

import platform
import re
from pathlib import Path

from exceptions import expected
from suite import Result

Differing = dict[str, str]
Row = tuple[str, dict[str, tuple[Result, Differing]]]

HEAD = """# CPython's own tests under minijit

Each module runs three times, each time in a process of its own: plain, in *identity* mode (every Python function
that is called runs a copy of itself behind a guard, or the original behind a guard that fails) and in *full* mode
(every function is compiled at its second call, also where nothing is gained). A test differs when it passes, fails
or is skipped otherwise than plain. `python tests/identity/run.py` writes the section of the Python it runs on.
"""
COLUMNS = """
| module | tests | identity | full | compiled | refused | aborted | internal errors |
|---|--:|---|---|--:|--:|--:|--:|
"""


def update(page: Path, version: str, rows: list[Row]) -> None:
    """Write the section of one version, keeping the others."""
    old = page.read_text() if page.exists() else ""
    sections = dict(re.findall(r"^(## CPython (?:\S+)).*?\n(.*?)(?=^## |\Z)", old, re.M | re.S))
    sections[f"## CPython {version}"] = section(version, rows)
    page.write_text(HEAD + "".join(f"\n{title}\n{text.rstrip()}\n" for title, text in sorted(sections.items())))


def section(version: str, rows: list[Row]) -> str:
    """The table, what differs as expected and what should not, and the sums."""
    lines = "".join(line(version, *row) for row in rows)
    return f"\nMeasured on {platform.python_version()}.\n{COLUMNS}{lines}{total(rows)}{notes(version, rows)}"


def line(version: str, module: str, results: dict[str, tuple[Result, Differing]]) -> str:
    """One row of the table."""
    tests = max((len(result.outcomes) for result, _ in results.values()), default=0)
    cells = [cell(version, mode, module, results) for mode in ("identity", "full")]
    counts = results["full"][0].counts() if "full" in results else ("",) * 4
    return f"| {' | '.join(str(part) for part in (module, tests, *cells, *counts))} |\n"


def cell(version: str, mode: str, module: str, results: dict[str, tuple[Result, Differing]]) -> str:
    """One mode of one module."""
    if mode not in results:
        return "not run"
    differing = results[mode][1]
    known = sum(expected(version, mode, module, test) is not None for test in differing)
    parts = [f"{len(differing) - known} differ" if known < len(differing) else "", f"{known} expected" if known else ""]
    return ", ".join(part for part in parts if part) or "same"


def total(rows: list[Row]) -> str:
    """The last row."""
    full = [results["full"][0].counts() for _, results in rows if "full" in results]
    tests = sum(max((len(result.outcomes) for result, _ in results.values()), default=0) for _, results in rows)
    sums = [sum(column) for column in zip(*full, strict=True)] if full else [""] * 4
    return f"| {' | '.join(str(part) for part in ('all', tests, '', '', *sums))} |\n"


def notes(version: str, rows: list[Row]) -> str:
    """A list of what differs."""
    found: dict[tuple[str, str], list[str]] = {}
    for module, results in rows:
        for mode, (_, differing) in results.items():
            for test, text in differing.items():
                reason = expected(version, mode, module, test)
                found.setdefault((f"{module}: `{test}`", reason or f"**unexpected**: `{text}`"), []).append(mode)
    lines = [f"- {test} ({', '.join(modes)}): {reason}\n" for (test, reason), modes in found.items()]
    return "\n" + "".join(lines) if lines else ""
