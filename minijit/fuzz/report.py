"""What a run of the fuzzer found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from minijit.fuzz.compare import Difference
from minijit.fuzz.program import Program


@dataclass(frozen=True, slots=True)
class Failure:
    """A program that differs, and how."""

    program: Program
    difference: Difference

    def __str__(self) -> str:
        return f"{self.program.kind} --seed {self.program.seed}: {self.difference}"


@dataclass(slots=True)
class Report:
    """Totals of a run. Grows while results come in.

    `compiled` counts programs in which some call ran specialised code to its end; `refused`
    says why others did not, `examples` gives a seed for each reason; `unfit` programs were too slow or too deep to compare.
    """

    programs: int = 0
    compiled: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    unfit: Counter[str] = field(default_factory=Counter)
    examples: dict[str, int] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: Report) -> None:
        """Take in the totals of a batch."""
        self.programs += other.programs
        self.compiled += other.compiled
        self.refused += other.refused
        self.unfit += other.unfit
        self.examples = {**other.examples, **self.examples}
        self.failures += other.failures

    @property
    def exit_code(self) -> int:
        """Give 0 when there is no difference, 1 otherwise."""
        return 1 if self.failures else 0

    def __str__(self) -> str:
        share = 100 * self.compiled / max(1, self.programs)
        rate = self.programs / max(0.001, self.seconds)
        lines = [f"{self.programs} programs in {self.seconds:.1f} s ({rate:.0f}/s), {share:.0f} % ran compiled code, {len(self.failures)} differ"]
        lines += [f"  {count:6} not compiled: {reason} (seed {self.examples.get(reason, 0)})" for reason, count in self.refused.most_common(12)]
        lines += [f"  {count:6} not compared: {reason}" for reason, count in self.unfit.most_common(5)]
        return "\n".join(lines + [f"  {failure}" for failure in self.failures])
