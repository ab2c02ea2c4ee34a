"""How many of the project's own cases run compiled, and why the others don't: a table as Markdown.

    python benchmarks/case_share.py
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECTION = re.compile(r"=+ cases that ran compiled =+\n(.*?)\n(?:=+ |\d+ passed|\d+ failed)", re.DOTALL)


def main():
    """Run the cases and print what pytest says of them."""
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", str(ROOT / "tests" / "test_cases.py")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = SECTION.search(run.stdout)
    if found is None:
        raise SystemExit(run.stdout + run.stderr)
    print(f"Python {sys.version.split()[0]}\n")
    print("| suite | ran compiled | of | share |\n|---|---|---|---|")
    for line in found[1].splitlines():
        row = re.match(r"(\S.*): (\d+) of (\d+) \((\d+) %\)", line)
        if row:
            print("| {} | {} | {} | {} % |".format(*row.groups()))
        else:
            print(f"| &nbsp;&nbsp;{line.strip()} | | | |")


if __name__ == "__main__":
    main()
