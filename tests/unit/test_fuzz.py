"""The fuzzer: deterministic programs, planted faults found, failures made small, minijit without a difference."""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from minijit.fuzz import faults
from minijit.fuzz.canonical import canonical
from minijit.fuzz.compare import Difference, Verdict, compare
from minijit.fuzz.generator import generate
from minijit.fuzz.judge import assert_same, judge
from minijit.fuzz.main import KINDS, add_arguments, command, fuzz
from minijit.fuzz.process import environment
from minijit.fuzz.program import Program
from minijit.fuzz.report import Failure
from minijit.fuzz.shrink import Shrinker, shrink
from minijit.fuzz.sides import Namespace, load, plain
from minijit.fuzz.testfile import write_test

SEEDS = range(120)
EMPTY = "LOG = []\ndef run(a):\n    {body}\ndef make(i):\n    return (i,), {{}}\ndef change(i):\n    pass\n"


def written(body: str, calls: int = 2) -> Program:
    """Give a program whose `run` has this body."""
    return Program("programs", 0, EMPTY.format(body=body), calls)


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_program_in_every_process(kind: str) -> None:
    code = f"from minijit.fuzz.generator import generate; print(generate({kind!r}, 5).to_json())"
    env = {**environment(), "PYTHONHASHSEED": "77"}
    printed = subprocess.run([sys.executable, "-P", "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == str(generate(kind, 5).to_json())
    assert generate(kind, 5) != generate(kind, 6)


@pytest.mark.parametrize("kind", KINDS)
def test_programs_load_end_and_repeat(kind: str) -> None:
    unfit = {seed: verdict.unfit for seed in SEEDS if (verdict := compare(generate(kind, seed), plain)).unfit}
    assert len(unfit) <= len(SEEDS) // 50, unfit
    assert not any(str(reason).startswith("does not load") for reason in unfit.values())


@pytest.mark.parametrize("kind", KINDS)
def test_programs_are_no_difference_from_themselves(kind: str) -> None:
    assert [seed for seed in SEEDS if compare(generate(kind, seed), plain).difference] == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", faults.NAMES)
def test_planted_faults_are_found(fault: str, kind: str) -> None:
    side = getattr(faults, fault)
    assert any(compare(generate(kind, seed), side).difference for seed in SEEDS)


def test_shrinking_keeps_the_failure_and_loses_the_rest() -> None:
    program = next(p for p in map(lambda seed: generate("programs", seed), SEEDS) if _kind(compare(p, faults.repeat)) == "log")
    small = Shrinker(Failure(program, Difference("log", 0, "")), faults.repeat, seconds=60).run()
    assert _kind(compare(small.program, faults.repeat)) == "log"
    lines = len(small.program.source.splitlines())
    assert lines < min(20, len(program.source.splitlines())), small.program.source


def _kind(verdict: Verdict) -> str | None:
    return verdict.difference.kind if verdict.difference else None


def test_shrinking_in_a_process_of_its_own() -> None:
    program = written("LOG.append(a)\n    print(a)")
    small = shrink(Failure(program, Difference("log", 1, "")), "minijit.fuzz.faults:repeat", 20)
    assert "print" not in small.program.source
    assert "LOG.append" in small.program.source


def _crashing(program: Program) -> Namespace:
    namespace = plain(program)
    if "CRASH" in program.source:
        load("import os\nos.abort()")
    return namespace


def test_a_crash_is_a_difference() -> None:
    assert _kind(Verdict(judge(written("return 'CRASH'"), _crashing))) == "crash"
    assert judge(written("return 1"), _crashing) is None


def test_a_crash_and_a_hang_are_put_down_to_their_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("minijit.fuzz.pool.SILENCE", 4.0)
    report = fuzz(40, kinds=("programs",), side="minijit.fuzz.faults:deadly")
    assert report.programs == 40
    found = {failure.program.seed: failure.difference.kind for failure in report.failures}
    assert found == {1000007: "crash", 1000023: "hang"}


def test_a_written_test_file_fails_and_passes_as_it_should(tmp_path: Path) -> None:
    program = written("LOG.append('\\\\n\"\"\"')\n    return a")
    path = write_test(Failure(program, Difference("log", 1, "")), tmp_path)
    names: dict[str, object] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    assert names["SOURCE"] == program.source
    assert_same(program, plain)
    with pytest.raises(AssertionError, match="log differs"):
        assert_same(program, faults.repeat)


@pytest.mark.parametrize("body", ["return [[], []]", "x = []\n    return [x, x]", "return {1: 2, 3: 4}", "return {3: 4, 1: 2}", "return 1", "return True",
                                  "return -0.0", "return 0.0", "return iter([1, 2])", "x = iter([1, 2]); next(x)\n    return x", "raise ValueError",
                                  "raise ValueError from KeyError()", "print(1)", "LOG.append(1)"])  # fmt: skip
def test_snapshots_tell_programs_apart(body: str) -> None:
    other = written("return 7")
    program = replace(other, source=EMPTY.format(body=body))
    verdict = compare(program, lambda _: plain(other))
    assert verdict.difference is not None
    assert compare(program, plain).difference is None


def test_snapshots_see_aliases_and_types() -> None:
    shared: list[int] = []
    assert canonical([shared, shared]) != canonical([[], []])
    assert canonical([1]) != canonical([True]) != canonical([1.0])
    assert canonical([(1, [2])]) == canonical([(1, [2])])


def test_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser(prog="minijit fuzz")
    add_arguments(parser)
    arguments = ["--count", "30", "--kind", "programs", "--side"]
    assert command(parser.parse_args([*arguments, "minijit.fuzz.sides:plain"])) == 0
    assert command(parser.parse_args([*arguments, "minijit.fuzz.faults:repeat"])) == 1
    assert "30 programs" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stop:
        parser.parse_args(["--count", "0"])
    assert stop.value.code == 2


@pytest.mark.parametrize("kind", KINDS)
def test_minijit_does_as_cpython(kind: str) -> None:
    report = fuzz(200, seed=11, kinds=(kind,))
    assert not report.failures, str(report)
    assert report.compiled > report.programs // 3, str(report)
