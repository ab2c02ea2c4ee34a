"""Test that compiled functions do what the originals do, and that they stay compiled.

    from minijit.testing import assert_same

    def test_total():
        assert_same(total, lambda: ([1, 2.5, 3],))
"""

from minijit.harness.compiled import assert_compiled
from minijit.harness.observe import Arguments
from minijit.harness.same import Unrepeatable, assert_same
from minijit.harness.snapshot import Snapshot, difference, snapshot

__all__ = ["Arguments", "Snapshot", "Unrepeatable", "assert_compiled", "assert_same", "difference", "snapshot"]
