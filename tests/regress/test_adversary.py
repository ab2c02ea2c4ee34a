"""Differences an outside user found: each program runs plain and compiled, and what it logs must be the same."""

import sys

import pytest

from minijit import stats
from minijit.install import install
from minijit.options import Options

CALLS = 4

PROGRAMS = {
    "a weak reference is cleared when the last local lets go": """
import weakref
class Thing: pass
def f(n):
    thing = Thing()
    reference = weakref.ref(thing, lambda _: log('cleared'))
    thing = None
    log('dropped')
""",
    "an argument dies when its only name is bound anew": """
import weakref
class Thing: pass
def g(thing):
    thing.count += 1
    thing = None
    log('dropped')
def f(n):
    thing = Thing()
    thing.count = 0
    weakref.finalize(thing, log, 'finalized')
    passed = [thing]
    del thing
    return inner(passed.pop())
inner = compiled(g)
""",
    "old value of a loop variable dies when the new one is stored": """
class Thing:
    def __init__(self, x): self.x = x
    def __del__(self): log('del', self.x)
    def __add__(self, other): return Thing(self.x + other.x)
def f(n):
    total = Thing(0)
    for i in (1, 2):
        total = total + Thing(i)
        log('loop', total.x)
    return total.x
""",
    "what pop gives dies at once when nobody takes it": """
class Thing:
    def __del__(self): log('del')
def f(n):
    things = [Thing(), Thing()]
    return inner(things)
def g(things):
    things.pop()
    log('popped')
    things[0] = None
    log('replaced')
inner = compiled(g)
""",
    "a dict subclass as globals is asked as often, and does not break the compiler": """
class Names(dict):
    def __getitem__(self, key):
        log('get', key)
        return dict.__getitem__(self, key)
names = Names(h=lambda x: x)
exec('def f(n): return h(h(n))', names)
f = names['f']
""",
    "locals of a frame in a traceback are all there": """
import sys
def g(o):
    text = 'hello'
    longer = text + 'x'
    for i in range(3):
        double = i * 2
        o.foo(i)
def f(n):
    try:
        inner(1)
    except AttributeError as error:
        log(sorted(error.__traceback__.tb_next.tb_frame.f_locals.items()))
inner = compiled(g)
""",
    "a caller's locals have no temporaries": """
import sys
class Peek:
    def __add__(self, other):
        log(sorted(sys._getframe(1).f_locals))
        return 1
class Box:
    def __init__(self, x): self.x = x
def f(n):
    box = Box(n)
    peek = Peek()
    total = box.x + 1
    return peek + total, box.x + total
""",
    "a flag that a signal handler clears ends the loop, the work before it is not done again": """
import signal
go = True
def read(): return go
def handler(number, frame):
    global go
    go = False
def f(n):
    return inner()
def g():
    global_flag()
    if not read(): raise RuntimeError('not started')
    count = 0
    while read(): count += 1
    return count > 0
def global_flag(): pass
inner = compiled(g)
def before():
    global go
    go = True
    signal.signal(signal.SIGVTALRM, handler)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.03)
""",
    "the code object of a function can still be marshalled": """
import marshal
class Box:
    def __init__(self, x): self.x = x
def f(n):
    box = Box(n)
    return box.x
def after():
    log(len(marshal.dumps(f.__code__)) > 0)
""",
}

if sys.version_info >= (3, 12):
    PROGRAMS["local monitoring events of a called function are seen"] = """
import sys
monitoring = sys.monitoring
def h(x):
    return x + 1
def f(n):
    return h(n) + h(n)
def before():
    monitoring.use_tool_id(4, 'adversary')
    monitoring.register_callback(4, monitoring.events.LINE, lambda code, line: log(code.co_name, line))
    monitoring.set_local_events(4, h.__code__, monitoring.events.LINE)
def after():
    monitoring.set_local_events(4, h.__code__, 0)
    monitoring.free_tool_id(4)
"""

if sys.version_info >= (3, 13):
    PROGRAMS["a store through a frame's f_locals is seen"] = """
import sys
def poke():
    sys._getframe(1).f_locals['x'] = 99
    return 0
def f(n):
    x = n
    y = poke()
    z = [x]
    return x + y, z[0]
"""


def run(source, compiling):
    """What a program logs in some calls of its function."""
    seen, functions = [], []

    def log(*parts):
        seen.append(parts)

    def compiled(function):
        if compiling:
            install(function, Options(gainless=True))
            functions.append(function)
        return function

    namespace = {"log": log, "compiled": compiled, "__name__": "program"}
    exec(compile(source, "program.py", "exec"), namespace)
    function = namespace["f"] if functions else compiled(namespace["f"])
    for number in range(CALLS):
        namespace.get("before", int)()
        try:
            log("result", function(number))
        except Exception as error:
            log("error", repr(error))
        namespace.get("after", int)()
    return seen, [stats(function).reason or "" for function in functions]


DOCUMENTED = {
    "locals of a frame in a traceback are all there": "a local that can't be read any more may be missing",
    "a caller's locals have no temporaries": "temporaries show in f_locals under names like '.1'",
    "the code object of a function can still be marshalled": "guards are constants of the code object",
    "a store through a frame's f_locals is seen": "a store into a running frame's f_locals is not seen",
}
"""Differences that docs/architecture.md lists under 'What may differ from CPython'."""


def marked(name):
    """A program, expected to fail if the difference is a documented one."""
    reason = DOCUMENTED.get(name)
    return name if reason is None else pytest.param(name, marks=pytest.mark.xfail(reason=reason, strict=True))


@pytest.mark.parametrize("name", map(marked, PROGRAMS))
def test_same_as_plain(name):
    """The compiled program logs what the plain one does, and nothing went wrong inside."""
    expected, _ = run(PROGRAMS[name], False)
    actual, reasons = run(PROGRAMS[name], True)
    assert actual == expected
    assert not [reason for reason in reasons if "MJ007" in reason]
