"""Compare one program in a forked child, so that it may crash or hang."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from dataclasses import asdict

from minijit.fuzz.compare import Difference, compare
from minijit.fuzz.program import Program
from minijit.fuzz.sides import Side, compiled

SECONDS = 12.0


def judge(program: Program, side: Side = compiled) -> Difference | None:
    """Give the program's difference, a crash or a hang being one."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _answer(writer, program, side)
    os.close(writer)
    text = _read(reader, child)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGKILL:
        return Difference("hang", 0, "still running")
    if code != 0:
        return Difference("crash", 0, f"exit code {code}")
    data = json.loads(text)
    return Difference(**data) if data else None


def _answer(writer: int, program: Program, side: Side) -> None:
    """Write the verdict and end this process without any cleaning up."""
    code = 1
    try:
        difference = compare(program, side).difference
        os.write(writer, json.dumps(asdict(difference) if difference else None)[:60000].encode())
        code = 0
    finally:
        os._exit(code)


def _read(reader: int, child: int) -> str:
    parts: list[bytes] = []
    while True:
        ready, _, _ = select.select([reader], [], [], SECONDS)
        if not ready:
            os.kill(child, signal.SIGKILL)
            break
        data = os.read(reader, 1 << 16)
        if not data:
            break
        parts.append(data)
    os.close(reader)
    return b"".join(parts).decode() or "null"


def assert_same(program: Program, side: Side = compiled) -> None:
    """Fail with what differs between the program as it is and compiled."""
    difference = judge(program, side)
    assert difference is None, f"{program.name}: {difference}\n{program.source}"
