"""Batches in worker processes: a crash or a hang is put down to one program and the rest go on."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from minijit.fuzz.compare import Difference
from minijit.fuzz.generator import generate
from minijit.fuzz.process import command, environment
from minijit.fuzz.program import Program
from minijit.fuzz.report import Failure, Report

BATCH = 250
SILENCE = 30.0
"""Seconds without a word after which a worker counts as hung."""


@dataclass(frozen=True, slots=True)
class Job:
    """Some programs of one kind, for one worker."""

    kind: str
    seeds: range
    side: str
    without: tuple[str, ...] = ()


def run_jobs(jobs: list[Job], workers: int, advance: Callable[[Report], None]) -> None:
    """Run all jobs, some at a time; `advance` is told of each result in this thread."""
    with ThreadPoolExecutor(workers) as pool:
        for report in pool.map(run_job, jobs):
            advance(report)


def split(kind: str, first: int, count: int, side: str, without: tuple[str, ...] = ()) -> list[Job]:
    """Cut a range of seeds into batches."""
    return [Job(kind, range(start, min(start + BATCH, first + count)), side, without) for start in range(first, first + count, BATCH)]


def run_job(job: Job) -> Report:
    """Run a batch; where its worker dies, blame the program that dies alone too, and go on after it."""
    report, left = Report(), job.seeds
    while left:
        part = _run_worker(job, left)
        report.add(part.report)
        if part.ended is None:
            break
        report.add(_blame(job, part, left))
        left = range(part.last + 1, left.stop)
    return report


@dataclass(frozen=True, slots=True)
class _Part:
    """What one worker process said; `ended` is how it died, if it did, at the seed `last`."""

    report: Report
    last: int
    ended: str | None


def _blame(job: Job, part: _Part, seeds: range) -> Report:
    """Run the suspect alone, then each one before it: memory may have been damaged earlier."""
    report = Report(programs=part.last - seeds.start + 1)
    for seed in (part.last, *range(seeds.start, part.last)):
        alone = _run_worker(job, range(seed, seed + 1))
        if alone.ended is not None:
            report.failures.append(_dead(job, seed, alone.ended))
            return report
    together = f"{part.ended}, only when run after seeds {seeds.start} to {part.last - 1} in one process"
    report.failures.append(_dead(job, part.last, together))
    return report


def _dead(job: Job, seed: int, how: str) -> Failure:
    program: Program = generate(job.kind, seed)
    return Failure(program, Difference(how.split(" ")[0], 0, how))


def _run_worker(job: Job, seeds: range) -> _Part:
    words = command("minijit.fuzz.worker", job.kind, str(seeds.start), str(len(seeds)), job.side, *job.without)
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, env=environment())
        part = _listen(process, seeds)
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    return part if part.ended is None else replace(part, ended=_how(process.returncode, text))


def _listen(process: subprocess.Popen[bytes], seeds: range) -> _Part:
    report, last, done = Report(), seeds.start, False
    for line in _lines(process):
        sign, _, rest = line.partition(" ")
        if sign == ">":
            last = int(rest)
        elif sign == "!":
            data = json.loads(rest)
            report.failures.append(Failure(Program.from_json(data["program"]), Difference(**data["difference"])))
        elif sign == "=":
            totals = json.loads(rest)
            refused, unfit = Counter(totals["refused"]), Counter(totals["unfit"])
            report.add(Report(totals["programs"], totals["compiled"], refused, unfit, totals["examples"]))
            done = True
    assert process.stdout is not None
    process.stdout.close()
    process.wait()
    return _Part(report, last, None if done else "dead")


def _lines(process: subprocess.Popen[bytes]) -> Iterator[str]:
    """Give the worker's lines; kill it when it is silent for too long."""
    assert process.stdout is not None
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(SILENCE):
                process.kill()
                return
            data = os.read(process.stdout.fileno(), 1 << 16)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            yield from (line.decode() for line in lines)


def _how(code: int, errors: str) -> str:
    """Say how a worker died."""
    if code == -9:
        return "hang (killed)"
    tail = [line for line in errors.strip().splitlines() if line.strip()]
    return f"crash with exit code {code}: {' | '.join(tail[:8])[:400]}"
