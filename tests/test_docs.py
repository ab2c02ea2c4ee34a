"""What the documentation prints is what really comes out; `python tests/test_docs.py` writes it anew (on 3.12).

A block that starts with ```console holds `$ minijit ...` commands with their output; "```console 3.12" is checked
on that version only. A ```python block whose first line is "# path" is that file, or a run of its lines.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
PAGES = ["README.md", "docs/tutorial.md", "docs/cli.md"]
BLOCK = re.compile(r"^```(\w+)(?: ([\d.]+))?\n(.*?)^```$", re.M | re.S)
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


def run(command):
    """What a command prints, on standard output and then on standard error."""
    words = shlex.split(command)
    if words[0] == "minijit":
        words[:1] = [sys.executable, "-m", "minijit"]
    elif words[0] == "python":
        words[0] = sys.executable
    environment = {**os.environ, "PYTHONSAFEPATH": "1", "COLUMNS": "100"}
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=environment)
    return (done.stdout + done.stderr).rstrip().replace(f"{ROOT}{os.sep}", "")


def filled(block):
    """A console block with the output of its commands as it is now."""
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "\n\n".join(f"{command}\n{run(command[2:])}" for command in commands) + "\n"


def steady(text):
    """Without what depends on how large a gain is thought to be."""
    return re.sub(r"about -?\d+ ns", "about N ns", text)


def blocks():
    for page in PAGES:
        for number, (kind, version, body) in enumerate(BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))):
            yield pytest.param(kind, version, body, id=f"{page}-{number}-{kind}")


@pytest.mark.parametrize(("kind", "version", "body"), list(blocks()))
def test_block(kind, version, body):
    if kind == "console":
        if version and version != VERSION:
            pytest.skip(f"shows {version}")
        assert "$ " in body
        assert steady(filled(body)) == steady(body)
    elif kind == "python" and body.startswith("# "):
        path, _, rest = body.removeprefix("# ").partition("\n")
        assert rest.strip("\n") in (ROOT / path).read_text(encoding="utf-8")
    elif kind == "python":
        environment = {**os.environ, "PYTHONSAFEPATH": "1"}
        done = subprocess.run([sys.executable, "-"], input=body, capture_output=True, text=True, cwd=ROOT, env=environment)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_example(path):
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "compiled" in done.stdout


def update():
    for page in PAGES:
        path = ROOT / page
        text = path.read_text(encoding="utf-8")
        path.write_text(BLOCK.sub(rewritten, text), encoding="utf-8")


def rewritten(match):
    kind, version, body = match.groups()
    if kind != "console" or (version and version != VERSION):
        return match[0]
    return f"```{kind}{f' {version}' if version else ''}\n{filled(body)}```"


if __name__ == "__main__":
    update()
