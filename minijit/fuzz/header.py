"""Classes and functions with fixed text that generated programs may use; only those named are included."""

from __future__ import annotations

import re

from minijit.fuzz.writer import Lines

PARTS = {
    "Oops": """
class Oops(Exception):
    pass
""",
    "SubInt": """
class SubInt(int):
    def __add__(self, other):
        LOG.append('sub add')
        return int(self) + 1
""",
    "Box": """
class Box:
    tag = 0
    def __init__(self, n=0, m=1):
        self.n = n
        self.m = m
        self.items = [n]
        self.link = None
    def get(self, k=1):
        return self.n + k
    def __repr__(self):
        return f'Box({self.n!r})'
""",
    "Final": """
class Final:
    def __init__(self, n=0):
        self.n = n
    def __del__(self):
        LOG.append(('del', self.n))
    def __repr__(self):
        return 'Final'
""",
    "Manager": """
class Manager:
    def __init__(self, swallow):
        self.swallow = swallow
    def __enter__(self):
        LOG.append('enter')
        return self.swallow
    def __exit__(self, kind, value, trace):
        LOG.append(('exit', kind and kind.__name__))
        return self.swallow
""",
    "managed": """
@contextlib.contextmanager
def managed(value):
    LOG.append('before')
    try:
        yield value
    finally:
        LOG.append('after')
""",
    "Descriptor": """
class Descriptor:
    def __init__(self, value):
        self.value = value
    def __get__(self, instance, owner):
        return self.value if instance is None else instance.n
    def __set_name__(self, owner, name):
        self.name = name
""",
    "DataDescriptor": """
class DataDescriptor:
    def __init__(self, value):
        self.value = value
    def __get__(self, instance, owner):
        return self if instance is None else instance.m
    def __set__(self, instance, value):
        LOG.append('set')
        instance.m = value
""",
    "Pause": """
class Pause:
    def __init__(self, value):
        self.value = value
    def __await__(self):
        LOG.append('await')
        got = yield self.value
        return got
""",
    "AsyncManager": """
class AsyncManager:
    async def __aenter__(self):
        return await Pause('in')
    async def __aexit__(self, *a):
        await Pause('out')
""",
    "Node": """
class Node:
    kind = 0
    def __init__(self, a):
        self.a = a
        self.b = 0
    def __repr__(self):
        return 'Node'
    def bump(self, by):
        self.b += by
        return self.b
""",
    "Slotted": """
class Slotted:
    __slots__ = ('a', 'b', 'c')
    def __init__(self, a):
        self.a = a
        self.b = 0
    def __repr__(self):
        return 'Slotted'
    def bump(self, by):
        self.b += by
        return self.b
""",
    "Hooked": """
class Hooked:
    def __init__(self, a):
        object.__setattr__(self, 'a', a)
        self.b = 0
    def __setattr__(self, name, value):
        LOG.append(('store', name))
        object.__setattr__(self, name, value)
    def __delattr__(self, name):
        LOG.append(('delete', name))
        object.__delattr__(self, name)
    def __repr__(self):
        return 'Hooked'
    def bump(self, by):
        self.b += by
        return self.b
""",
    "LoggedList": """
class LoggedList(list):
    def append(self, value):
        LOG.append('append')
        super().append(value)
    def __setitem__(self, index, value):
        LOG.append('setitem')
        list.__setitem__(self, index, value)
""",
    "LoggedDict": """
class LoggedDict(dict):
    def __setitem__(self, key, value):
        LOG.append('setitem')
        super().__setitem__(key, value)
    def __missing__(self, key):
        return 0
""",
}


def header(text: str) -> Lines:
    """Give the parts the program's text names, and the log."""
    words = set(re.findall(r"\w+", text))
    if "AsyncManager" in words:
        words.add("Pause")
    lines = ["LOG = []", "REGISTRY = []"]
    for name, part in PARTS.items():
        if name in words:
            lines += part.strip("\n").split("\n")
    return lines
