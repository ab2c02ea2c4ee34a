"""Small programs for planted faults: each compiles `f`, and changes the world between calls.

`drive(call)` runs a program: `call(...)` calls `f` and writes down how it ended, `note(...)` writes down what
one can see. Its first call warms up.
"""

PROGRAMS = {
    # -- the ledger --
    "attributes in order": """
        class Box: pass
        def f(box, x):
            box.first = x
            box.second = x
            box.first = x + 1
        def drive(call):
            for x in (1, 2, 2.5):
                box = Box()
                call(box, x)
                note(list(vars(box).items()))
    """,
    "an attribute through its descriptor": """
        class Box:
            __slots__ = ("x", "y")
        def f(box, x):
            box.x = x
            box.y = x + 1
            box.x = box.y + 1
        def drive(call):
            for x in (1, 2, 3):
                box = Box()
                box.x = box.y = 0
                call(box, x)
                note(box.x, box.y)
    """,
    "deleted attributes": """
        class Box: pass
        def f(box):
            box.x = 5
            del box.x
            box.y = 1
        def drive(call):
            for x in (1, 2, 3):
                box = Box()
                box.x = x
                call(box)
                note(sorted(vars(box).items()))
    """,
    "a deletion is not stored over": """
        class Box: pass
        def f(box):
            del box.x
            box.x = 2
        def drive(call):
            for x in (1, 2, 3):
                box = Box()
                box.x, box.y = x, 0
                call(box)
                note(list(vars(box).items()))
    """,
    "items of a dict in order": """
        def f(table, x):
            table["a"] = x
            table["b"] = x
            table["a"] = x * 2
        def drive(call):
            for x in (1, 2, 2.5):
                table = {}
                call(table, x)
                note(table)
    """,
    "items of a list": """
        def f(items, x):
            items[0] = x
            items[1] = x
            items[0] = x + 1
        def drive(call):
            for x in (1, 2, 3):
                items = [0, 0, 0]
                call(items, x)
                note(items)
            call([], 1)
    """,
    "deleted items": """
        def f(table, items):
            del table["a"]
            table["a"] = 3
            items.append(1)
            del items[0]
        def drive(call):
            for x in (1, 2, 3):
                table, items = {"a": x, "b": x}, [x, x]
                call(table, items)
                note(table, items)
    """,
    "popped": """
        def f(items, table):
            items.append(5)
            return items.pop(), table.pop("a"), items.pop(0)
        def drive(call):
            for x in (1, 2, 3):
                table, items = {"a": x, "b": x}, [x, x, x]
                call(items, table)
                note(table, items)
            call([1], {})
    """,
    "appends": """
        def f(items, x):
            items.append(x)
            items.append(x + 1)
            items.append("end")
        def drive(call):
            for x in (1, 2, "no", 3):
                items = [0]
                call(items, x)
                note(items)
    """,
    "a list extended": """
        def f(items, more):
            items.append(1)
            items.extend(more)
            items.append(2)
            items += more
        def drive(call):
            for x in (1, 2, 3):
                items = [0]
                call(items, [x])
                note(items)
    """,
    "a set": """
        def f(found, x):
            found.add(x)
            found.discard(2)
            found.add(2)
            found.discard(3)
            return len(found)
        def drive(call):
            for x in (1, 2, 3):
                found = {3, 7}
                call(found, x)
                note(sorted(found))
    """,
    "a set filled by order": """
        def f(found, x):
            found.add(3)
            found.clear()
            found.add(x)
        def drive(call):
            for x in (1, 2, 3):
                found = {9}
                call(found, x)
                note(sorted(found))
    """,
    "builtin methods": """
        def f(items, x):
            items.insert(0, x)
            items.reverse()
            items.insert(1, 7)
        def drive(call):
            for x in (1, 2, 3):
                items = [5, 6]
                call(items, x)
                note(items)
    """,
    "a closure's variable": """
        def make():
            n = 0
            def f(by):
                nonlocal n
                n = n + by
                n = n + 10
                return n
            return f
        f = make()
        def drive(call):
            for x in (1, 2, 3):
                call(x)
                note(f.__closure__[0].cell_contents)
    """,
    "a closure's variable deleted": """
        def make():
            n = 0
            def f(x):
                nonlocal n
                n = x
                del n
                n = x + 1
                del n
            def set(x):
                nonlocal n
                n = x
            def empty():
                try:
                    return n
                except NameError:
                    return "empty"
            return f, set, empty
        f, set, empty = make()
        def drive(call):
            for x in (1, 2, 3):
                set(x)
                call(x)
                note(empty())
    """,
    "globals": """
        G = H = 0
        def f(x):
            global G, H
            G = x
            H = x
            G = x + 1
        def drive(call):
            for x in (1, 2, 3):
                call(x)
                note(G, H)
    """,
    "a global deleted": """
        G = 0
        def f(x):
            global G
            del G
            G = x
            del G
            G = x + 1
        def g(x):
            pass
        def drive(call):
            global G
            for x in (1, 2, 3):
                G = 7
                call(x)
                note(globals().get("G", "gone"))
    """,
    "a global gone": """
        G = 0
        def f():
            global G
            del G
        def drive(call):
            global G
            for x in (1, 2, 3):
                G = x
                call()
                note(globals().get("G", "gone"))
    """,
    "locals seen by a frame": """
        import sys
        def look(log):
            log.append(sorted(sys._getframe(1).f_locals.items(), key=str))
        calls = {"look": look}
        def f(x, log):
            y = x + 1
            z = [y]
            calls["look"](log)
            del z
            y = y + 1
            calls["look"](log)
            return y
        def drive(call):
            for x in (1, 2, 3):
                log = []
                call(x, log)
                note(len(log), [[(k, v) for k, v in each if k in ("x", "y", "z")] for each in log])
    """,
    "locals of a handler": """
        def f(items, x):
            y = x
            try:
                y = x + 1
                found = items.index(x)
                y = x + 2
                found = items.index(x + 1)
            except ValueError:
                return y
            return found
        def drive(call):
            call([1, 2], 1)
            call([1, 2], 1)
            call([1, 2], 2)
            call([1, 2], 3)
    """,
    "a local that is gone": """
        def f(items, x):
            y = x
            try:
                items.index(x)
                del y
                items.index(x + 1)
                y = 0
                items.index(x + 2)
            except ValueError:
                try:
                    return y
                except NameError:
                    return "gone"
            return 1
        def drive(call):
            for items in ([1, 2, 3], [1, 2, 3], [1, 2], [1], []):
                call(items, 1)
    """,
    "a local deleted and bound again": """
        def f(items, x):
            y = x
            try:
                y = x + 1
                del y
                y = 5
                items.index(x)
                y = 6
                del y
                items.index(x + 1)
            except ValueError:
                try:
                    return y
                except NameError:
                    return "gone"
            return 1
        def drive(call):
            for items in ([1, 2, 3], [1, 2, 3], [1], []):
                call(items, 1)
    """,
    "a local taken from an object and deleted": """
        class Box: pass
        def f(box, items):
            y = box.inner
            n = y.n
            del y
            try:
                return items.index(n)
            except ValueError:
                try:
                    return y.n
                except NameError:
                    return "gone"
        def drive(call):
            for items in ([1], [1, 2], [], [3]):
                box = Box()
                box.inner = Box()
                box.inner.n = 1
                call(box, items)
    """,
    # -- guards --
    "types": """
        def f(a, b):
            return a + b
        class Odd(int):
            def __add__(self, other):
                return "odd"
        def drive(call):
            for a in (1, 2, "s", 2.5, Odd(1), True):
                call(a, a)
    """,
    "types inlined": """
        class A:
            def go(self, x): return ("A", x)
        class B(A):
            def go(self, x): return ("B", x)
        def f(obj, x):
            return obj.go(x)
        def drive(call):
            for kind in (A, A, B, B, A):
                call(kind(), 1)
    """,
    "nothing, or something": """
        def f(a):
            if a is None:
                return "none"
            return a + 1
        def drive(call):
            for a in (None, None, 1, None, 2):
                call(a)
    """,
    "static arguments": """
        def f(a, b):
            return a * b
        OPTIONS = dict(static=("a",))
        def drive(call):
            for a in (2, 2, 3, 2.0, 2):
                call(a, 5)
    """,
    "a static object": """
        class Rule:
            def __init__(self, n): self.n = n
        def f(rule, b):
            return rule.n * b
        OPTIONS = dict(static=("rule",))
        rules = [Rule(2), Rule(3)]
        def drive(call):
            call(rules[0], 5)
            call(rules[0], 5)
            call(rules[1], 5)
            rules[0].n = 7
            call(rules[0], 5)
    """,
    "a static list": """
        def f(steps, x):
            for step in steps:
                x = x + step
            return x
        OPTIONS = dict(static=("steps",))
        steps = [1, 2]
        def drive(call):
            call(steps, 5)
            call(steps, 5)
            steps[0] = 4
            call(steps, 5)
            steps.append(4)
            call(steps, 5)
    """,
    "a static dict": """
        def f(table, x):
            for key in table:
                x = x + table[key]
            return x + table["a"]
        OPTIONS = dict(static=("table",))
        table = {"a": 1, "b": 2}
        def drive(call):
            call(table, 5)
            call(table, 5)
            table["a"] = 9
            call(table, 5)
            table["c"] = 4
            call(table, 5)
    """,
    "a static class's attributes": """
        class Rule:
            def go(self): return 1
        rule = Rule()
        rule.n = 2
        def f(rule, x):
            return rule.go() + rule.n + x
        OPTIONS = dict(static=("rule",))
        def drive(call):
            call(rule, 5)
            call(rule, 5)
            rule.n = 7
            call(rule, 5)
            rule.go = lambda: 100
            call(rule, 5)
    """,
    "a global object's attributes": """
        class Rule:
            def go(self): return 1
        rule = Rule()
        rule.n = 2
        def f(x):
            return rule.go() + rule.n + x
        def drive(call):
            call(5)
            call(5)
            rule.n = 7
            call(5)
            rule.go = lambda: 100
            call(5)
    """,
    "slots": """
        class Box:
            __slots__ = ("x",)
        def f(box):
            return box.x
        def drive(call):
            for x in (1, 2, 3):
                box = Box()
                box.x = x
                call(box)
            call(Box())
    """,
    "instance attributes": """
        class Box:
            x = "the class's"
            def go(self): return 1
        def f(box):
            return box.x, box.go()
        def drive(call):
            for x in (1, 2, 3):
                box = Box()
                box.x = x
                call(box)
            call(Box())
            box.go = lambda: 2
            call(box)
    """,
    "an attribute that is overwritten has a finalizer": """
        class Box: pass
        class Loud:
            def __del__(self): other.n = 100
        other = Box()
        def f(box, other):
            n = other.n
            box.x = 1
            return other.n + n
        def drive(call):
            for make in (int, int, Loud, str):
                other.n, box = 1, Box()
                box.x = make()
                call(box, other)
    """,
    "a slot that is overwritten has a finalizer": """
        class Box: pass
        class Slotted:
            __slots__ = ("x",)
        class Loud:
            def __del__(self): other.n = 100
        other = Box()
        def f(box, other):
            n = other.n
            box.x = 1
            return other.n + n
        def drive(call):
            for make in (int, int, Loud, str):
                other.n, box = 1, Slotted()
                box.x = make()
                call(box, other)
    """,
    "an item that is overwritten has a finalizer": """
        class Box: pass
        class Loud:
            def __del__(self): other.n = 100
        other = Box()
        def f(table, other):
            n = other.n
            table["a"] = 1
            return other.n + n
        def drive(call):
            for make in (int, int, Loud, str):
                other.n, table = 1, {}
                table["a"] = make()
                call(table, other)
    """,
    "items that are cleared have a finalizer": """
        class Box: pass
        class Loud:
            def __del__(self): other.n = 100
        other = Box()
        def f(items, other):
            n = other.n
            items.clear()
            return other.n + n
        def drive(call):
            for make in (int, int, Loud, str):
                other.n, items = 1, []
                items.append(make())
                call(items, other)
    """,
    "keys that look": """
        class Box: pass
        class Key:
            def __hash__(self): return hash("a")
            def __eq__(self, value):
                other.n = 100
                return False
        other = Box()
        def f(table, key, other):
            n = other.n
            found = table.get(key)
            return other.n + n, found
        def drive(call):
            for make in (int, int, Key, str):
                other.n = 1
                call({make(): 5}, "a", other)
    """,
    "keys that look when asked whether they are there": """
        class Box: pass
        class Key:
            def __hash__(self): return hash("a")
            def __eq__(self, value):
                other.n = 100
                return False
        other = Box()
        def f(table, key, other):
            n = other.n
            found = key in table
            return other.n + n, found
        def drive(call):
            for make in (str, str, Key, str):
                other.n = 1
                call({make(): 5}, "a", other)
    """,
    "members that look": """
        class Box: pass
        class Key:
            def __hash__(self): return hash("a")
            def __eq__(self, value):
                other.n = 100
                return False
        other = Box()
        def f(found, key, other):
            n = other.n
            found.add(key)
            return other.n + n
        def drive(call):
            for make in (int, int, Key, str):
                other.n = 1
                call({make()}, "a", other)
    """,
    "a key that is not there": """
        def f(found, key):
            found.remove(key)
            n = len(key)
            return n
        def drive(call):
            for found in ({"a"}, {"a", "b"}, {"b"}, {"a"}):
                call(found, "a")
                note(sorted(found))
    """,
    "an index out of all range": """
        def f(items, place, log):
            items.insert(place, "x")
            log.append("later")
            return log
        def drive(call):
            for place in (0, 1, 10 ** 30, -10 ** 30, 2):
                call([1, 2], place, [])
    """,
    "a cell that is handed on": """
        def make(n):
            def f(x):
                return n, x
            def set(x):
                nonlocal n
                n = x
            def unset():
                nonlocal n
                del n
            return f, set, unset
        f, set, unset = make(1)
        def drive(call):
            call(1)
            call(1)
            set("s")
            call(1)
            unset()
            call(1)
    """,
    "a cell of an inlined function that is handed on": """
        def make(n):
            def g(x):
                return n, x
            def set(x):
                nonlocal n
                n = x
            def unset():
                nonlocal n
                del n
            return g, set, unset
        g, set, unset = make(1)
        def f(x):
            return g(x)
        def drive(call):
            call(1)
            call(1)
            set("s")
            call("x")
            unset()
            call(1)
    """,
    "a static dict spread": """
        def g(**names): return names
        def f(table, x):
            return g(x=x, **table)
        OPTIONS = dict(static=("table",))
        table = {"a": 1, "b": 2}
        def drive(call):
            call(table, 5)
            call(table, 5)
            table["a"] = 9
            call(table, 5)
            table["c"] = 4
            call(table, 5)
    """,
    "a function in an attribute": """
        class Box: pass
        box = Box()
        box.go = lambda x: x + 1
        def f(x):
            return box.go(x) * 2
        def drive(call):
            call(1)
            call(1)
            box.go = lambda x: x + 50
            call(1)
            del box.go
            call(1)
    """,
    "a list displayed": """
        def look(items):
            note(items)
            return 7
        calls = {"look": look}
        def f(more):
            return [*more, calls["look"](more), *more, 8, *more]
        def drive(call):
            for more in ([1], [2, 3], (4,)):
                call(more)
    """,
    "interrupted": """
        import signal
        class Late(Exception): pass
        def late(number, frame):
            raise Late("late")
        def f(items, log):
            log.append("start")
            changed = items.replace("a", "bb")
            return len(changed)
        long = "a" * 4_000_000
        def drive(call):
            before = signal.signal(signal.SIGALRM, late)
            try:
                call("ab", [])
                call("ab", [])
                signal.setitimer(signal.ITIMER_REAL, 0.002)
                call(long, [])
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
    """,
    "keys": """
        class Key:
            def __hash__(self): return hash("a")
            def __eq__(self, other):
                LOG.append("asked")
                return isinstance(other, Key)
        LOG = []
        def f(table, log):
            log.append("before")
            found = table["a"]
            log.append("after")
            return found
        def drive(call):
            for table in ({"a": 1}, {"a": 2}, {Key(): 0, "a": 3}, {}, {"b": 2, 3: 4, "a": 6}):
                LOG.clear()
                call(table, LOG)
                note(LOG)
    """,
    "keys that come in": """
        class Key:
            def __hash__(self): return hash("a")
            def __eq__(self, other):
                LOG.append("asked")
                return isinstance(other, Key)
        LOG = []
        def f(table, key, log):
            log.append("before")
            table[key] = 1
            log.append("after")
            return log
        def drive(call):
            for table in ({"a": 1}, {}, {Key(): 0}, {"b": 2}):
                LOG.clear()
                call(table, "a", LOG)
                note(len(table))
    """,
    "get, setdefault, in": """
        def f(table, key):
            return table.get(key), table.get(key, 0), key in table, table.setdefault(key, 4)
        def drive(call):
            for table in ({"a": 1}, {"a": 2}, {}, {}, {"b": 1}):
                call(table, "a")
                note(table)
    """,
    "missing keys": """
        def f(table, key):
            return table.get(key), table.setdefault(key, 4), table.pop("c", None)
        def drive(call):
            for table in ({}, {}, {"a": 1}, {"a": 2, "c": 2}, {"b": 1}):
                call(table, "a")
                note(table)
    """,
    "popped keys": """
        def f(table, key, found):
            found.remove(key)
            return table.pop(key)
        def drive(call):
            for table in ({"a": 1}, {"a": 1, "b": 2}, {"b": 1}, {}):
                found = set(table)
                call(table, "a", found)
                note(table, sorted(found))
    """,
    "positions of a list": """
        def f(items):
            return items[0], items[-1]
        def drive(call):
            for items in ([1, 2], [3, 4], [], [5], (1, 2)):
                call(items)
    """,
    "stores to positions": """
        def f(items, place, x):
            items[place] = x
            return items
        def drive(call):
            for place in (0, 1, -1, 5, 10 ** 30, True):
                call([1, 2], place, "x")
    """,
    "unpacking": """
        def f(pair):
            a, b = pair
            return a - b
        def drive(call):
            for pair in ((1, 2), (3, 4), (1,), (1, 2, 3), [5, 6]):
                call(pair)
    """,
    "aliases": """
        class Box: pass
        def f(a, b):
            a.x = 1
            b.x = 2
            return a.x, b.x
        def drive(call):
            for same in (0, 0, 1, 0, 1):
                a, b = Box(), Box()
                a.x = b.x = 0
                call(a, a if same else b)
    """,
    "aliases of one object": """
        class Box: pass
        def f(a, b):
            a.x = 1
            b.x = 2
            return a.x, a is b
        def drive(call):
            for same in (1, 1, 0, 1, 0):
                a, b = Box(), Box()
                a.x = b.x = 0
                call(a, a if same else b)
    """,
    "aliases of lists": """
        def f(a, b):
            a.append(1)
            return len(b), b[-1]
        def drive(call):
            for same in (0, 0, 1, 0, 1):
                a, b = [0], [5]
                call(a, a if same else b)
    """,
    "an alias of a global": """
        TABLE = {"n": 1}
        def f(table):
            table["n"] = 5
            return TABLE["n"]
        def drive(call):
            for table in ({"n": 2}, {"n": 3}, TABLE, {"n": 2}):
                call(table)
    """,
    "an alias of the globals": """
        N = 1
        def f(table):
            table["N"] = 5
            return N
        def drive(call):
            for table in ({"N": 2}, {"N": 3}, globals(), {"N": 2}):
                call(table)
    """,
    "an alias of a namespace": """
        class Box: pass
        def f(box, table):
            table["x"] = 5
            return box.x
        def drive(call):
            for mine in (0, 0, 1, 0, 1):
                box = Box()
                box.x = 1
                call(box, vars(box) if mine else {"x": 2})
    """,
    "cells": """
        def make(n):
            def f(x):
                return n + x
            def set(x):
                nonlocal n
                n = x
            def unset():
                nonlocal n
                del n
            return f, set, unset
        f, set, unset = make(1)
        def drive(call):
            call(1)
            call(1)
            set(2)
            call(1)
            set("s")
            call(1)
            unset()
            call(1)
    """,
    "cells of an inlined function": """
        def make(n):
            def g(x):
                return n + x
            def set(x):
                nonlocal n
                n = x
            def unset():
                nonlocal n
                del n
            return g, set, unset
        g, set, unset = make(1)
        def f(x):
            return g(x) * 2
        def drive(call):
            call(1)
            call(1)
            set(2)
            call(1)
            set("s")
            call("x")
            unset()
            call(1)
    """,
    "a function in a cell": """
        def make(h):
            def g(x):
                return h(x) + 1
            def set(x):
                nonlocal h
                h = x
            return g, set
        g, set = make(lambda x: x)
        def f(x):
            return g(x) * 2
        def drive(call):
            call(1)
            call(1)
            set(lambda x: x + 50)
            call(1)
    """,
    "classes change": """
        class A:
            def go(self): return 1
        def f(a):
            return a.go()
        def drive(call):
            call(A())
            call(A())
            A.go = lambda self: 2
            call(A())
    """,
    "globals change": """
        def g(x): return x + 1
        N = 10
        def f(x):
            return g(x) + N + len("abc")
        def drive(call):
            global N, g, len
            call(1)
            call(1)
            N = 20
            call(1)
            g = lambda x: 100
            call(1)
            len = lambda x: 1000
            call(1)
    """,
    "a builtin shadowed": """
        def f(x):
            return len(x)
        def drive(call):
            global len
            call("a")
            call("bc")
            len = lambda x: 1000
            call("def")
    """,
    "a module's attributes": """
        import types
        m = types.ModuleType("m")
        m.n = 1
        def f(x):
            return m.n + x
        def drive(call):
            call(1)
            call(1)
            m.n = 50
            call(1)
            del m.n
            call(1)
    """,
    "functions change": """
        def g(x, y=1): return x + y
        def f(x):
            return g(x)
        def drive(call):
            call(1)
            call(1)
            g.__defaults__ = (50,)
            call(1)
            g.__code__ = (lambda x, y: 7).__code__
            call(1)
    """,
    "functions passed in": """
        def g(x): return x + 1
        def h(x): return x * 50
        def f(function, x):
            return function(x)
        def drive(call):
            for function in (g, g, h, len, g):
                call(function, 3)
    """,
    "items of one type": """
        class Odd:
            def __init__(self, n): self.n = n
            def __lt__(self, other):
                note("compared")
                return self.n < other.n
        def f(items, log):
            items.sort()
            log.append("sorted")
            return items[0]
        def drive(call):
            for items in ([3, 1], [2, 1], [2.5, 1], ["b", 1], ["b", "a"]):
                log = []
                call(items, log)
                note(items, log)
    """,
    "a sum of items": """
        def f(items):
            return sum(items), max(items)
        def drive(call):
            for items in ([3, 1], [2, 1], [2.5, 1], ["b", 1], []):
                call(items)
    """,
    # -- ways back, code --
    "left with work on the stack": """
        def pair(a, b): return [a, b]
        def f(a, b):
            x = a + 1
            y = a - 1
            return pair(x, (y, pair(a, b * 2) + [b - 1]))
        def drive(call):
            for b in (1, 2, "no", 2.5, 3):
                call(1, b)
    """,
    "left with objects to build": """
        class Box:
            def __init__(self, x, y):
                self.x = x
                self.y = y
        def f(items, a):
            box = Box(a, a + 1)
            n = 0
            for item in items:
                n = n + item
            return box, n, box.x + box.y
        def drive(call):
            for items in ([1, 2], [1, 2], [1, "x"], [1.5, 2], [2, 2.5], [2, 3]):
                try:
                    box, n, m = call(items, 1)
                    note(sorted(vars(box).items()), n, m)
                except TypeError:
                    pass
    """,
    "left after effects": """
        def f(log, xs):
            total = 0
            for x in xs:
                log.append(x)
                total = total + x
            return total
        def drive(call):
            for xs in ([1, 2], [1, 2], [1, "x", 3], [1, 2.5, 3], [7]):
                log = []
                call(log, xs)
                note(log)
    """,
    "left for an exception of the user's": """
        class Error(Exception): pass
        class Picky:
            def __add__(self, other):
                note("asked")
                raise Error("picky")
        def f(items, log):
            n = 0
            for item in items:
                log.append("round")
                n = item + n
            return n
        def drive(call):
            for items in ([1, 2], [1, 2], [1, Picky()], [2, 3]):
                log = []
                call(items, log)
                note(log)
    """,
    "what raises is asked once": """
        from collections import deque
        def f(text, log, table):
            log.append("start")
            n = int(text)
            log.append(n)
            return table[n]
        def drive(call):
            for text in ("1", "1", "x", "2", "3"):
                log = []
                call(text, log, {1: "one", 2: "two"})
                note(log)
    """,
    "values die in time": """
        class Loud:
            def __init__(self, name): self.name = name
            def __del__(self): note("dead", self.name)
        things = {"make": Loud}
        def look(x): note("alive", x)
        calls = {"look": look}
        def f(x):
            a = things["make"](x)
            calls["look"](x)
            a = None
            calls["look"](x + 1)
            b = things["make"](x + 5)
            return x
        def drive(call):
            for x in (1, 2, 3):
                call(x)
                note("after", x)
    """,
    "loaded values die in time": """
        import gc
        class Loud:
            def __init__(self, name): self.name = name
            def __del__(self): note("dead", self.name)
        class Box: pass
        def look(box):
            box.inner = None
            note("alive")
        calls = {"look": look}
        def f(box, n):
            inner = box.inner
            name = inner.name
            inner = None
            calls["look"](box)
            return name + n
        def drive(call):
            for n in (1, 2, 2.5, 3):
                box = Box()
                box.inner = Loud(n)
                call(box, n)
                note("after", n)
    """,
    "a guard that loads, then refuses": """
        class Loud:
            def __init__(self, n): self.n = n
            def __del__(self): note("dead")
        class Box: pass
        def look(box):
            box.inner = None
            note("alive")
        def f(box, x):
            n = box.inner.n + x
            return n, look(box)
        def drive(call):
            for x in (1, 2, "s", 2.5, 3):
                box = Box()
                box.inner = Loud("t" if x == "s" else 1)
                call(box, x)
                note("after")
    """,
}
