"""`pytest --minijit`: every Python function that the tests call is compiled.

A test that fails so is run once more with minijit switched off. If it passes then, the failure is minijit's, and the
report says so. Without the option nothing is changed but the fixture `minijit_same`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from minijit import _shim
from minijit.harness.everything import Everything
from minijit.harness.same import assert_same

__all__ = ["minijit_same"]

KEY = pytest.StashKey["Session"]()
SHOWN = 10


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
        self.blamed: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Any:
        """Compile what one test calls; fixtures are left out."""
        with self.everything:
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
        self.everything.paused = True
        try:
            item._initrequest()  # type: ignore[attr-defined]
            return all(report.passed for report in runtestprotocol(item, log=False, nextitem=nextitem))
        finally:
            self.everything.paused = False
            _shim.enable(before)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Tell what was compiled, what was not and why, and whom to blame."""
        write = terminalreporter.write_line
        stats = [installation.stats() for installation in self.everything.installations.values()]
        states = Counter(each.state for each in stats)
        aborted = sum(each.aborts > 0 for each in stats)
        terminalreporter.section("minijit")
        write(f"{states['compiled']} functions compiled, {states['refused']} refused, "
              f"{states['cold']} called once only, {aborted} left half-way at least once")  # fmt: skip
        reasons = Counter(reason_of(each.reason) for each in stats if each.state == "refused")
        for reason, number in reasons.most_common(SHOWN):
            write(f"  {number:5} refused: {reason}")
        for name in self.blamed:
            write(f"  passes without minijit: {name}")


def reason_of(text: str | None) -> str:
    """Cut a refusal's text down to what many refusals share."""
    code, _, rest = str(text).partition(" ")
    place, _, reason = rest.partition(": ")
    return f"{code}: {reason.partition(' (')[0]}" if rest.startswith("at ") else str(text).partition(" (")[0]
