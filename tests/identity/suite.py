"""One module of CPython's tests in a process of its own: what became of each test in it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).parent
LAUNCH = [sys.executable, str(HERE / "launch.py"), "--all"]
MODES = {
    "plain": [sys.executable],
    "identity": [*LAUNCH, "--identity"],
    "full": [*LAUNCH, "--gainless"],
}
MODULES = """
    test_grammar test_generators test_coroutines test_asyncgen test_contextlib test_with test_exceptions test_traceback
    test_raise test_scope test_super test_descr test_dataclasses test_functools test_itertools test_collections
    test_dict test_list test_set test_deque test_listcomps test_inspect test_unpack_ex test_patma test_extcall
    test_keywordonlyarg test_named_expressions test_decorators test_property test_enum test_typing test_copy
    test_pickle test_unittest test_asyncio test_threading test_json test_re test_string test_random test_heapq
    test_bisect test_statistics test_fractions test_decimal test_sys test_sys_settrace test_sys_setprofile test_gc
    test_weakref
""".split()
COUNTS = re.compile(r"(\d+) functions compiled, (\d+) refused( \(.*?\))?, (\d+) aborted, (\d+) internal errors")
SHOWN = 4000


@dataclass(frozen=True)
class Result:
    """`ending` is "" when the module ran to its end. `outcomes`: test to "passed", "skipped", or how it failed."""

    ending: str
    outcomes: dict[str, str]
    report: str
    output: str

    def counts(self) -> tuple[int, int, int, int]:
        """Functions compiled, refused, aborted, and internal errors."""
        found = COUNTS.search(self.report)
        return tuple(int(found[i]) for i in (1, 2, 4, 5)) if found else (0, 0, 0, 0)

    def save(self, file: Path) -> None:
        """Keep it for later comparison."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(self)))


def load(file: Path) -> Result | None:
    """Read what `save` wrote."""
    return Result(**json.loads(file.read_text())) if file.exists() else None


def run(modules: tuple[str, ...], mode: str, seconds: int) -> Result:
    """Run some modules, all in one process."""
    with tempfile.TemporaryDirectory() as folder:
        report, xml = Path(folder, "report"), Path(folder, "results.xml")
        reporting = [] if mode == "plain" else ["--report", str(report)]
        command = [*MODES[mode], *reporting, "-m", "test", "--junit-xml", str(xml), *modules]
        ending, output = finish(command, seconds, folder)
        outcomes = read_outcomes(xml)
        told = report.read_text() if report.exists() else ""
        return Result(ending if outcomes is None else "", outcomes or {}, told, output[-SHOWN:])


def finish(command: list[str], seconds: int, folder: str) -> tuple[str, str]:
    """How a process ended, and the last of what it said; what it started is ended with it."""
    environment = {**os.environ, "PYTHONFAULTHANDLER": "1"}
    process = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, text=True,
                               errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGABRT)
        output, _ = process.communicate()
        return "timed out", output
    code = process.returncode
    return f"crashed: {signal.Signals(-code).name}" if code < 0 else f"ended with {code}", output


def read_outcomes(file: Path) -> dict[str, str] | None:
    """Each test of a report in JUnit's format; None when there is no report."""
    try:
        root = ElementTree.parse(file)
    except (OSError, ElementTree.ParseError):
        return None
    return {case.get("name", ""): outcome(case) for case in root.iter("testcase")}


def outcome(case: ElementTree.Element) -> str:
    """In one line."""
    for child in case:
        if child.tag == "skipped":
            return "skipped"
        if child.tag in ("failure", "error"):
            lines = (child.text or "").strip().splitlines() or [child.get("message") or ""]
            return f"{child.tag}: {lines[-1][:200]}"
    return "passed"
