"""Fixtures for all tests: running something where it can crash or hang, and the share of cases that run compiled."""

import faulthandler
import os
import pickle
import re
import select
import signal
import sys
import traceback
from collections import Counter

import pytest

SECONDS = 30
SHARE = pytest.StashKey[list]()


def pytest_addoption(parser):
    """Let expected texts be written anew."""
    parser.addoption("--update-golden", action="store_true", help="write the texts of tests/golden anew")


def in_child(work, seconds=SECONDS):
    """Run `work()` in a forked process; give its result, or a sentence on how it failed."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiving)
        _serve(work, sending, seconds)
    os.close(sending)
    data = _receive(receiving, seconds + 5)
    if data is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if data:
        return pickle.loads(data)
    number = os.waitstatus_to_exitcode(status)
    how = f"did not end within {seconds} seconds" if data is None else f"ended with {number}"
    return {"failure": f"the process {how}" + (f" ({signal.Signals(-number).name})" if number < 0 else "")}


def _serve(work, sending, seconds):
    faulthandler.enable(sys.__stderr__)
    faulthandler.dump_traceback_later(seconds, exit=True, file=sys.__stderr__)
    try:
        result = work()
    except BaseException:  # the parent process reports it
        result = {"failure": traceback.format_exc()}
    with os.fdopen(sending, "wb") as pipe:
        pickle.dump(result, pipe)
    os._exit(0)


def _receive(receiving, seconds):
    chunks = []
    with os.fdopen(receiving, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], seconds)[0]:
            chunk = pipe.read(1 << 16)
            if not chunk:
                return b"".join(chunks)
            chunks.append(chunk)
    return None


@pytest.fixture
def isolated():
    """`isolated(work)` runs `work()` in a process of its own."""
    return in_child


@pytest.fixture
def share(request):
    """Where a case notes how it ran."""
    return request.config.stash.setdefault(SHARE, [])


def ran_compiled(note):
    """Tell whether compiled code ran to its end at least once and is still in place."""
    return note["state"] == "compiled" and note["hits"] > 0


def pytest_terminal_summary(terminalreporter, config):
    """Tell how many cases ran compiled code to its end, and why the others did not."""
    notes = config.stash.get(SHARE, [])
    if not notes:
        return
    terminalreporter.section("cases that ran compiled")
    for suite in sorted({note["suite"] for note in notes}):
        mine = [note for note in notes if note["suite"] == suite]
        ran = sum(ran_compiled(note) for note in mine)
        terminalreporter.write_line(f"{suite}: {ran} of {len(mine)} ({100 * ran // len(mine)} %)")
        reasons = Counter(re.sub(r" at \S+:\d+(:\d+)?:", ":", note["reason"]) for note in mine if not ran_compiled(note))
        for reason, number in reasons.most_common(12):
            terminalreporter.write_line(f"  {number:4} {reason}")
