"""The command line: what it prints, its exit codes, one sentence for whatever goes wrong."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import minijit
from minijit.cli.main import COMMANDS, main
from minijit.codes import CODES

DEMO = str(pathlib.Path(__file__).parents[2] / "examples" / "demo.py")
TARGET = [f"{DEMO}:summarize", "--call", "POINTS[:3], 2.0, {}"]

PROGRAM = '''
calls = []


class Point:
    def __init__(self, x):
        self.x = x

    def double(self):
        return self.x * 2

    @staticmethod
    def make(x):
        return Point(x).double()


def use(x):
    calls.append(x)
    return Point(x).double()


def boom():
    raise RuntimeError("boom")


first, second = lambda x: x, lambda x: -x
alone = lambda x: Point(x).double()
length = len
'''


@pytest.fixture
def program(tmp_path):
    path = tmp_path / f"program_{tmp_path.name}.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture
def cli(capsys):
    """`cli(arguments)` runs a command in this process: exit code, output, errors."""

    def run(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as leave:
            code = leave.code
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_explain_first_screen(cli):
    code, out, err = cli("explain", *TARGET)
    assert (code, err) == (0, "")
    assert "never built Vector object" in out
    assert "demo.py:53:5: report['mean']" in out
    assert "type(factor) is float" in out
    assert len(out.splitlines()) < 45


@pytest.mark.parametrize(("part", "expected"), [
    ("bytecode", "original"), ("ir", "region summarize"), ("ledger", "report['mean']"), ("guards", "# factor = 2.0"),
    ("source", "def summarize(points, factor, report):"), ("stats", "generated instructions"),
])  # fmt: skip
def test_explain_parts(cli, part, expected):
    code, out, err = cli("explain", *TARGET, f"--{part}")
    assert (code, err) == (0, "")
    assert expected in out


def test_explain_json_and_html(cli, tmp_path):
    page = tmp_path / "page.html"
    code, out, _ = cli("explain", *TARGET, "--json", "--html", page)
    assert code == 0
    assert json.loads(out)["name"] == "summarize"
    assert "summarize" in page.read_text()


def test_explain_time(cli):
    code, out, _ = cli("explain", *TARGET, "--time")
    assert code == 0
    assert "times as fast (compiled)" in out


def test_explain_never_runs_the_function(cli, program):
    code, out, _ = cli("explain", f"{program}:use", "--call", "len(calls)")
    assert code == 0
    assert out.startswith("use: compiled")
    assert sys.modules[program.stem].calls == []


@pytest.mark.parametrize("target", ["Point.double", "Point.make", "alone"])
def test_kinds_of_functions(cli, program, target):
    call = "Point(3)" if target == "Point.double" else "3"
    assert cli("explain", f"{program}:{target}", "--call", call)[0] == 0


def test_a_function_by_its_line(cli, program):
    line = PROGRAM.splitlines().index("def use(x):") + 1
    assert cli("explain", f"{program}:{line}", "--call", "3")[1].startswith("use: compiled")


def test_dump(cli):
    code, out, err = cli("dump", *TARGET)
    assert (code, err) == (0, "")
    assert "# the guards" in out
    assert "# ledger: report['mean']" in out
    assert "<entry: " in out


def test_step(cli):
    code, out, _ = cli("step", *TARGET)
    assert code == 0
    assert "line 53: report" in out


def test_bench(cli):
    code, out, _ = cli("bench", *TARGET)
    assert code == 0
    assert "before" in out


def test_codes(cli):
    code, out, _ = cli("codes")
    assert code == 0
    assert len(out.splitlines()) == len(CODES)
    code, out, _ = cli("codes", "mj011", "MJ004")
    assert code == 0
    assert "MJ011: " in out
    assert "What to do" in out


def test_doctor(cli):
    code, out, _ = cli("doctor")
    assert code == (0 if sys.gettrace() is None else 1)
    assert "ns while frames are captured" in out
    assert "a small function was compiled and gives the same" in out


def test_fuzz(cli):
    code, out, _ = cli("fuzz", "--count", "2")
    assert code == 0, out


@pytest.mark.parametrize(("arguments", "exit_code", "sentence"), [
    (["explain", "nowhere.py:f"], 3, "minijit explain: there is no file nowhere.py"),
    (["explain", "no_such_module:f"], 3, "minijit explain: no_such_module can't be imported"),
    (["explain", "FILE:nothing"], 3, "minijit explain: there is no function nothing in FILE"),
    (["explain", "FILE:Point.nothing"], 3, "minijit explain: there is no function Point.nothing in FILE"),
    (["explain", "FILE"], 2, "minijit explain: 'FILE' does not name a function"),
    (["explain", "FILE:use", "--call", "1 +"], 4, "minijit explain: --call '1 +' is not Python"),
    (["explain", "FILE:use", "--call", "boom()"], 4, "minijit explain: --call 'boom()' raises RuntimeError: boom"),
    (["explain", "FILE:use", "--call", "1, 2"], 4, "minijit explain: --call '1, 2' does not fit: use: too many positional"),
    (["explain", "FILE:length", "--call", "[]"], 5, "minijit explain: len is written in C"),
    (["explain", "FILE:Point", "--call", "1"], 5, "minijit explain: Point is not a Python function"),
    (["explain", "FILE:LINE", "--call", "1"], 5, "minijit explain: line LINE of FILE has 2 functions"),
    (["explain", "FILE:1", "--call", "1"], 3, "minijit explain: no function that can be reached begins at line 1"),
    (["explain", "FILE:use", "--call", "1", "--html", "/nowhere/x"], 3, "minijit explain: /nowhere/x can't be written"),
    (["dump", "BROKEN:f"], 3, "minijit dump: BROKEN can't be imported: ZeroDivisionError: division by zero"),
    (["bench", "FILE:boom"], 4, "minijit bench: the call raises RuntimeError: boom"),
    (["codes", "MJ999"], 2, "minijit codes: there is no code MJ999"),
    (["run"], 2, "minijit run: give a script"),
    (["run", "nowhere.py"], 2, "minijit run: "),
    (["nothing"], 2, "usage: minijit"),
    ([], 2, "usage: minijit"),
])  # fmt: skip
def test_what_goes_wrong_is_one_sentence(cli, program, tmp_path, arguments, exit_code, sentence):
    broken = tmp_path / "broken.py"
    broken.write_text("1 / 0")
    line = str(PROGRAM.splitlines().index("first, second = lambda x: x, lambda x: -x") + 1)

    def filled(text):
        return text.replace("FILE", str(program)).replace("BROKEN", str(broken)).replace("LINE", line)

    code, out, err = cli(*map(filled, arguments))
    assert code == exit_code
    assert out == ""
    assert err.startswith(filled(sentence))
    assert "Traceback" not in err
    assert len(err.splitlines()) == 1 or err.startswith("usage")


def fresh(code, *arguments):
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=environment)


@pytest.mark.parametrize(("change", "sentence"), [
    ("sys.version_info = (3, 10, 4)", "minijit: minijit needs CPython 3.11 to 3.13; this is CPython 3.10.4"),
    ("sys.version_info = (3, 15, 0)", "this is CPython 3.15.0"),
    ("sys.implementation.name = 'pypy'", "this is pypy"),
])  # fmt: skip
def test_an_unfit_interpreter_is_told_in_a_sentence(change, sentence):
    start = "import sys; " + change
    as_command = fresh(f"{start}; sys.argv[0] = 'minijit'; import minijit")
    assert as_command.returncode == 6
    assert sentence in as_command.stderr
    assert len(as_command.stderr.splitlines()) == 1
    as_library = fresh(f"{start}\ntry: import minijit\nexcept ImportError as e: print(e)")
    assert sentence.removeprefix("minijit: ") in as_library.stdout


def test_a_missing_shim_is_told_in_a_sentence(tmp_path):
    (tmp_path / "minijit").mkdir()
    for name in ("__init__.py", "fitness.py"):
        source = pathlib.Path(minijit.__file__).with_name(name).read_text()
        (tmp_path / "minijit" / name).write_text(source)
    done = fresh(f"import sys; sys.argv[0] = 'minijit'; sys.path.insert(0, {str(tmp_path)!r}); import minijit")
    assert done.returncode == 6
    assert "C extension is not built" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_python_dash_m():
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    done = subprocess.run([sys.executable, "-m", "minijit", "codes"], capture_output=True, text=True, env=environment)
    assert done.returncode == 0
    assert "MJ011" in done.stdout


def test_a_closed_pipe_is_no_error():
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    command = f"{sys.executable} -m minijit dump {DEMO}:summarize --call 'POINTS, 2.0, {{}}' | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, env=environment)
    assert "Traceback" not in done.stderr
    assert done.stdout.startswith("# summarize: guards")


def test_help_names_every_command_and_exit_code(cli):
    code, out, _ = cli("--help")
    assert code == 0
    assert all(name in out for name in COMMANDS)
    assert "examples:" in out
    assert "exit codes:" in out
