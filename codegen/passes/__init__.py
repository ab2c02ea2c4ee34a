"""Clean-up of a region before it is lowered: small passes, run in the order of `PASSES`.

    b0: jump b1(%0)          b0:
    b1(%3):                    %4 = binary + %0, 1
      %4 = binary + %3, 1      return %4
      return %4
"""

from __future__ import annotations

from collections.abc import Callable

from minijit.codegen.passes.blocks import (
    duplicate_returns,
    merge_blocks,
    remove_unreachable_blocks,
    simplify_branches,
    thread_jumps,
)
from minijit.codegen.passes.parameters import remove_constant_parameters, remove_unused_parameters
from minijit.codegen.passes.steps import learn_types, merge_checks, remove_dead_operations
from minijit.interpreter.ir import Region

__all__ = ["PASSES", "clean_up"]

Pass = Callable[[Region], None]

PASSES: tuple[Pass, ...] = (
    remove_unreachable_blocks,
    simplify_branches,
    remove_dead_operations,
    remove_constant_parameters,
    remove_unused_parameters,
    thread_jumps,
    duplicate_returns,
    remove_unreachable_blocks,
    merge_blocks,
    merge_checks,
    learn_types,
)


def clean_up(region: Region) -> Region:
    """Run all passes on a region, in place. A region may be cleaned up again, when another entry joins it."""
    for step in PASSES:
        step(region)
    return region
