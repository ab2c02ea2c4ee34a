"""`pytest --minijit`: every Python function that the tests call is compiled.

A test that fails so is run once more with minijit switched off. If it passes then, the failure is minijit's, and the
report says so. Without the option nothing is changed but the fixture `minijit_same`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from minijit import _shim
from minijit.codes import CODES
from minijit.harness.everything import Everything
from minijit.harness.same import assert_same

__all__ = ["minijit_same"]

KEY = pytest.StashKey["Session"]()


@pytest.fixture
def minijit_same() -> Callable[..., None]:
    """`minijit.testing.assert_same`."""
    return assert_same


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("minijit")
    group.addoption("--minijit", action="store_true", help="compile every Python function that the tests call")
    group.addoption(
        "--minijit-only", metavar="PATTERN", help="compile only functions like PATTERN, as in 'package.module.*'"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Start compiling if asked to."""
    pattern = config.getoption("--minijit-only")
    if config.getoption("--minijit") or pattern:
        config.stash[KEY] = session = Session(pattern or "*")
        config.pluginmanager.register(session, "minijit-session")


class Session:
    """What happens in one run of pytest with `--minijit`. Mutates."""

    def __init__(self, pattern: str) -> None:
        self.everything = Everything(pattern)
        self.paused = False
        self.blamed: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Any:
        """Compile what one test calls; fixtures are left out."""
        with contextlib.nullcontext() if self.paused else self.everything:
            return (yield)

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test, and once more without minijit if it fails."""
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        if any(report.failed and report.when == "call" for report in reports) and self._passes_plain(item, nextitem):
            self.blamed.append(item.nodeid)
            for report in reports:
                report.sections.append(("minijit", "this test passes without minijit"))
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _passes_plain(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        before = _shim.enable(False)
        self.paused = True
        try:
            item._initrequest()  # type: ignore[attr-defined]
            return all(report.passed for report in runtestprotocol(item, log=False, nextitem=nextitem))
        finally:
            self.paused = False
            _shim.enable(before)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Tell what was compiled, what was not and why, and whom to blame."""
        write, everything = terminalreporter.write_line, self.everything
        terminalreporter.section("minijit")
        write(f"{everything.compiled} functions compiled, {everything.refused.total()} refused, "
              f"{everything.aborted()} left half-way, {len(everything.errors)} internal errors")  # fmt: skip
        for code, number in everything.refused.most_common():
            write(f"  {number:5} refused: {code} {CODES[code].title}")
        for error in everything.errors:
            write(f"  {error}")
        for name in self.blamed:
            write(f"  passes without minijit: {name}")
