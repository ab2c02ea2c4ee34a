"""Work that threads share by `list.pop` is done once: reading and taking out are one step, also in an inlined call."""

import sys
import threading

from minijit.install import install
from minijit.options import Options

ITEMS = 30_000


class Work:
    """A heap of things to do."""

    def __init__(self, count):
        self.items = list(range(count))

    def take(self):
        """Take one."""
        return self.items.pop()


def step(work):
    """The call in here is inlined."""
    return work.take()


def drain(work, taken):
    while True:
        try:
            taken.append(step(work))
        except IndexError:
            return


def test_nothing_is_taken_twice():
    installation = install(step, Options(gainless=True))
    warm = Work(10)
    assert [step(warm) for _ in range(5)] == [9, 8, 7, 6, 5]
    assert installation.state == "compiled"
    work, taken = Work(ITEMS), [[] for _ in range(4)]
    threads = [threading.Thread(target=drain, args=(work, mine)) for mine in taken]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert sorted(item for mine in taken for item in mine) == list(range(ITEMS))
