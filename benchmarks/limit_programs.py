"""Functions written with abstractions, beside the code an ideal compiler would write for them.

Each case: `base`, `ideal` (no guards), `guarded` (with the guards that can't be hoisted out), arguments.
"""

import functools
import math

# ---------------------------------------------------------------- 1. Vec3 with operator overloading
class Vec3:
    __slots__ = ("x", "y", "z")
    def __init__(self, x, y, z):
        self.x = x; self.y = y; self.z = z
    def __add__(self, o):
        if not isinstance(o, Vec3): return NotImplemented
        return Vec3(self.x + o.x, self.y + o.y, self.z + o.z)
    def __sub__(self, o):
        if not isinstance(o, Vec3): return NotImplemented
        return Vec3(self.x - o.x, self.y - o.y, self.z - o.z)
    def __mul__(self, k):
        if isinstance(k, Vec3): return self.dot(k)
        return Vec3(self.x * k, self.y * k, self.z * k)
    __rmul__ = __mul__
    def dot(self, o): return self.x * o.x + self.y * o.y + self.z * o.z
    def cross(self, o):
        return Vec3(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)
    def norm(self): return math.sqrt(self.dot(self))
    def normalized(self):
        n = self.norm()
        return self if n == 0 else self * (1.0 / n)

def vec_base(a, b):
    return (a.cross(b) + a * 2.0 - b).normalized().dot(a)

def vec_ideal(a, b, sqrt=math.sqrt):
    ax = a.x; ay = a.y; az = a.z; bx = b.x; by = b.y; bz = b.z
    x = ay * bz - az * by + ax * 2.0 - bx
    y = az * bx - ax * bz + ay * 2.0 - by
    z = ax * by - ay * bx + az * 2.0 - bz
    n = sqrt(x * x + y * y + z * z)
    if n == 0:
        return x * ax + y * ay + z * az
    k = 1.0 / n
    return x * k * ax + y * k * ay + z * k * az

def vec_guarded(a, b, V=Vec3, sqrt=math.sqrt):
    if type(a) is not V or type(b) is not V: return vec_base(a, b)
    ax = a.x; ay = a.y; az = a.z; bx = b.x; by = b.y; bz = b.z
    # a real JIT also guards the *field* types, because the arithmetic is inlined only as residual BINARY_OP
    # (which dispatches dynamically), no float guards are needed here.
    x = ay * bz - az * by + ax * 2.0 - bx
    y = az * bx - ax * bz + ay * 2.0 - by
    z = ax * by - ay * bx + az * 2.0 - bz
    n = sqrt(x * x + y * y + z * z)
    if n == 0:
        return x * ax + y * ay + z * az
    k = 1.0 / n
    return x * k * ax + y * k * ay + z * k * az

# 1b: the result escapes (one real allocation must remain), constructor still inlined
def vecesc_base(a, b):
    return (a.cross(b) + a * 2.0 - b).normalized()
def vecesc_ideal(a, b, V=Vec3, new=object.__new__, sqrt=math.sqrt):
    ax = a.x; ay = a.y; az = a.z; bx = b.x; by = b.y; bz = b.z
    x = ay * bz - az * by + ax * 2.0 - bx
    y = az * bx - ax * bz + ay * 2.0 - by
    z = ax * by - ay * bx + az * 2.0 - bz
    n = sqrt(x * x + y * y + z * z)
    r = new(V)
    if n == 0: r.x = x; r.y = y; r.z = z
    else:
        k = 1.0 / n
        r.x = x * k; r.y = y * k; r.z = z * k
    return r
def vecesc_guarded(a, b, V=Vec3):
    if type(a) is not V or type(b) is not V: return vecesc_base(a, b)
    return vecesc_ideal(a, b)

# 1c: same but in a loop over a list (per-iteration cost; guard per element)
def vecloop_base(vs, b):
    acc = Vec3(0.0, 0.0, 0.0)
    for v in vs:
        acc = acc + v.cross(b) * 0.5
    return acc.norm()
def vecloop_ideal(vs, b, V=Vec3, sqrt=math.sqrt):
    X = Y = Z = 0.0
    bx = b.x; by = b.y; bz = b.z
    for v in vs:
        x = v.x; y = v.y; z = v.z
        X = X + (y * bz - z * by) * 0.5
        Y = Y + (z * bx - x * bz) * 0.5
        Z = Z + (x * by - y * bx) * 0.5
    return sqrt(X * X + Y * Y + Z * Z)
def vecloop_guarded(vs, b, V=Vec3, sqrt=math.sqrt):
    if type(b) is not V: return vecloop_base(vs, b)
    X = Y = Z = 0.0
    for v in vs:
        if type(v) is not V: raise AssertionError("side exit")
        # b is re-read each iteration: BINARY_OP on unknown floats may run arbitrary __mul__ => heap is clobbered
        x = v.x; y = v.y; z = v.z; bx = b.x; by = b.y; bz = b.z
        X = X + (y * bz - z * by) * 0.5
        Y = Y + (z * bx - x * bz) * 0.5
        Z = Z + (x * by - y * bx) * 0.5
    return sqrt(X * X + Y * Y + Z * Z)

# ---------------------------------------------------------------- 2. property / descriptor chain
class Typed:
    def __set_name__(self, owner, name): self.name = "_" + name
    def __init__(self, tp): self.tp = tp
    def __get__(self, obj, owner=None):
        if obj is None: return self
        return getattr(obj, self.name)
    def __set__(self, obj, v):
        if not isinstance(v, self.tp): raise TypeError(self.name)
        setattr(obj, self.name, v)
class Money:
    amount = Typed(int)
    def __init__(self, a): self.amount = a
    @property
    def cents(self): return self.amount * 100
class Item:
    price = Typed(Money); qty = Typed(int)
    def __init__(self, p, q): self.price = p; self.qty = q
    @property
    def total(self): return self.price.cents * self.qty
class Proxy:
    def __init__(self, target): self.__dict__["_t"] = target
    def __getattr__(self, n): return getattr(self._t, n)
class Order:
    def __init__(self, item): self._item = item
    @property
    def item(self): return self._item
    @property
    def grand_total(self): return self.item.total + self.shipping
    @property
    def shipping(self): return 500 if self.item.qty > 3 else 900

def desc_base(proxy):
    return proxy.grand_total + proxy.item.price.amount
def desc_ideal(proxy):
    it = proxy._t._item
    q = it._qty
    m = it._price._amount
    return m * 100 * q + (500 if q > 3 else 900) + m
def desc_guarded(proxy, P=Proxy, O=Order, I=Item, M=Money):
    if type(proxy) is not P: return desc_base(proxy)
    o = proxy._t
    if type(o) is not O or 'grand_total' in proxy.__dict__ : return desc_base(proxy)
    it = o._item
    if type(it) is not I: return desc_base(proxy)
    mo = it._price
    if type(mo) is not M: return desc_base(proxy)
    q = it._qty; m = mo._amount
    return m * 100 * q + (500 if q > 3 else 900) + m

# ---------------------------------------------------------------- 3. decorator stack with *args/**kwargs forwarding
DEBUG = False
def log(fn):
    @functools.wraps(fn)
    def w(*args, **kwargs):
        if DEBUG: print(fn.__name__, args, kwargs)
        return fn(*args, **kwargs)
    return w
def count(fn):
    n = 0
    @functools.wraps(fn)
    def w(*args, **kwargs):
        nonlocal n
        n += 1
        return fn(*args, **kwargs)
    w.count = lambda: n
    return w
def check(*types):
    def deco(fn):
        @functools.wraps(fn)
        def w(*args, **kwargs):
            for a, t in zip(args, types):
                if not isinstance(a, t): raise TypeError(a)
            return fn(*args, **kwargs)
        return w
    return deco
def default(**dflt):
    def deco(fn):
        @functools.wraps(fn)
        def w(*args, **kwargs):
            for k in dflt:
                kwargs.setdefault(k, dflt[k])
            return fn(*args, **kwargs)
        return w
    return deco
@log
@count
@check(int, int)
@default(scale=3, offset=1)
def deco_target(a, b, *, scale, offset):
    return (a + b) * scale + offset
def deco_base(a, b):
    return deco_target(a, b, offset=7)
_cell = deco_target.__wrapped__.__closure__[1] if deco_target.__wrapped__.__code__.co_freevars[1] == 'n' else deco_target.__wrapped__.__closure__[0]
def _mk():
    n = 0
    def deco_ideal(a, b):
        nonlocal n
        n += 1                      # the closure cell update must stay (observable through .count())
        if not isinstance(a, int): raise TypeError(a)
        if not isinstance(b, int): raise TypeError(b)
        return (a + b) * 3 + 7
    def deco_guarded(a, b):
        if DEBUG: raise AssertionError      # dict-version/watcher guard stands here (free with watchers)
        nonlocal n
        n += 1
        if type(a) is not int or type(b) is not int: raise AssertionError("side exit")
        return (a + b) * 3 + 7
    return deco_ideal, deco_guarded
deco_ideal, deco_guarded = _mk()

# ---------------------------------------------------------------- 4. expression-tree interpreter over a static tree
class Node: pass
class Num(Node):
    def __init__(self, v): self.v = v
    def eval(self, env): return self.v
class Var(Node):
    def __init__(self, n): self.n = n
    def eval(self, env): return env[self.n]
class Bin(Node):
    def __init__(self, op, l, r): self.op = op; self.l = l; self.r = r
    def eval(self, env):
        l = self.l.eval(env); r = self.r.eval(env)
        if self.op == '+': return l + r
        elif self.op == '-': return l - r
        elif self.op == '*': return l * r
        elif self.op == '<': return l < r
        raise ValueError(self.op)
class If(Node):
    def __init__(self, c, t, e): self.c = c; self.t = t; self.e = e
    def eval(self, env): return self.t.eval(env) if self.c.eval(env) else self.e.eval(env)
TREE = If(Bin('<', Var('x'), Num(10)),
          Bin('+', Bin('*', Var('x'), Num(2)), Bin('-', Var('y'), Num(1))),
          Bin('*', Bin('+', Var('x'), Var('y')), Bin('-', Var('x'), Var('z'))))
def tree_base(env): return TREE.eval(env)
def tree_ideal(env):
    if env['x'] < 10:
        return env['x'] * 2 + (env['y'] - 1)
    return (env['x'] + env['y']) * (env['x'] - env['z'])
def tree_guarded(env):
    if type(env) is not dict: return tree_base(env)
    if env['x'] < 10:
        return env['x'] * 2 + (env['y'] - 1)
    return (env['x'] + env['y']) * (env['x'] - env['z'])

# ---------------------------------------------------------------- 4b. bytecode-loop interpreter over a static program
PROG = (('load', 0), ('push', 3), ('mul', None), ('load', 1), ('add', None), ('store', 2),
        ('load', 2), ('push', 100), ('lt', None), ('jz', 13), ('load', 2), ('push', 7), ('ret_add', None), ('load', 2), ('ret', None))
def vm_base(prog, a, b):
    regs = [a, b, 0]; st = []; pc = 0
    while True:
        op, arg = prog[pc]; pc += 1
        if op == 'load': st.append(regs[arg])
        elif op == 'push': st.append(arg)
        elif op == 'add': r = st.pop(); l = st.pop(); st.append(l + r)
        elif op == 'mul': r = st.pop(); l = st.pop(); st.append(l * r)
        elif op == 'lt': r = st.pop(); l = st.pop(); st.append(l < r)
        elif op == 'store': regs[arg] = st.pop()
        elif op == 'jz':
            if not st.pop(): pc = arg
        elif op == 'ret_add': r = st.pop(); l = st.pop(); return l + r
        elif op == 'ret': return st.pop()
def vm_base1(a, b): return vm_base(PROG, a, b)
def vm_ideal(a, b):
    t = a * 3 + b
    if t < 100: return t + 7
    return t
vm_guarded = vm_ideal

# ---------------------------------------------------------------- 5. schema validator over a static schema
SCHEMA = {"type": "object", "required": ["id", "name", "tags"],
          "properties": {"id": {"type": "integer", "minimum": 1},
                         "name": {"type": "string", "minLength": 1, "maxLength": 40},
                         "active": {"type": "boolean"},
                         "tags": {"type": "array", "items": {"type": "string", "maxLength": 10}},
                         "geo": {"type": "object", "required": ["lat"], "properties": {"lat": {"type": "number", "minimum": -90, "maximum": 90}}}}}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
def validate(schema, v, path, errors):
    t = schema.get("type")
    if t is not None:
        py = TYPES[t]
        if not isinstance(v, py) or (t in ("integer", "number") and isinstance(v, bool)):
            errors.append((path, "type")); return
    if "minimum" in schema and v < schema["minimum"]: errors.append((path, "minimum"))
    if "maximum" in schema and v > schema["maximum"]: errors.append((path, "maximum"))
    if "minLength" in schema and len(v) < schema["minLength"]: errors.append((path, "minLength"))
    if "maxLength" in schema and len(v) > schema["maxLength"]: errors.append((path, "maxLength"))
    for k in schema.get("required", ()):
        if k not in v: errors.append((path + (k,), "required"))
    for k, sub in schema.get("properties", {}).items():
        if k in v: validate(sub, v[k], path + (k,), errors)
    if "items" in schema:
        sub = schema["items"]
        for i, x in enumerate(v): validate(sub, x, path + (i,), errors)
def schema_base(doc):
    errors = []
    validate(SCHEMA, doc, (), errors)
    return errors
def schema_ideal(doc):
    errors = []
    if not isinstance(doc, dict): errors.append(((), "type")); return errors
    if "id" not in doc: errors.append((("id",), "required"))
    if "name" not in doc: errors.append((("name",), "required"))
    if "tags" not in doc: errors.append((("tags",), "required"))
    if "id" in doc:
        v = doc["id"]
        if not isinstance(v, int) or isinstance(v, bool): errors.append((("id",), "type"))
        elif v < 1: errors.append((("id",), "minimum"))
    if "name" in doc:
        v = doc["name"]
        if not isinstance(v, str): errors.append((("name",), "type"))
        else:
            if len(v) < 1: errors.append((("name",), "minLength"))
            if len(v) > 40: errors.append((("name",), "maxLength"))
    if "active" in doc:
        if not isinstance(doc["active"], bool): errors.append((("active",), "type"))
    if "tags" in doc:
        v = doc["tags"]
        if not isinstance(v, list): errors.append((("tags",), "type"))
        else:
            for i, x in enumerate(v):
                if not isinstance(x, str): errors.append((("tags", i), "type"))
                elif len(x) > 10: errors.append((("tags", i), "maxLength"))
    if "geo" in doc:
        g = doc["geo"]
        if not isinstance(g, dict): errors.append((("geo",), "type"))
        else:
            if "lat" not in g: errors.append((("geo", "lat"), "required"))
            if "lat" in g:
                v = g["lat"]
                if not isinstance(v, (int, float)) or isinstance(v, bool): errors.append((("geo", "lat"), "type"))
                else:
                    if v < -90: errors.append((("geo", "lat"), "minimum"))
                    if v > 90: errors.append((("geo", "lat"), "maximum"))
    return errors
schema_guarded = schema_ideal

# ---------------------------------------------------------------- 6. control: plain numeric loop, nothing to abstract away
def plain_base(n):
    s = 0
    for i in range(n):
        if i & 1: s += i
        else: s -= i >> 1
    return s
plain_ideal = plain_base
plain_guarded = plain_base

DOC = {"id": 5, "name": "widget", "active": True, "tags": ["a", "bb", "ccc", "dddd"], "geo": {"lat": 12.5}}
a, b = Vec3(1.0, 2.0, 3.0), Vec3(-4.0, 0.5, 2.25)
prox = Proxy(Order(Item(Money(25), 4)))
vs = [Vec3(i * .5, i * .25, 1.0 - i) for i in range(20)]
CASES = [
    ("vec3 scalar result (all virtual)", vec_base, vec_ideal, vec_guarded, (a, b)),
    ("vec3 result escapes", vecesc_base, vecesc_ideal, vecesc_guarded, (a, b)),
    ("vec3 loop over 20 (virtual acc)", vecloop_base, vecloop_ideal, vecloop_guarded, (vs, b)),
    ("property/descriptor/proxy chain", desc_base, desc_ideal, desc_guarded, (prox,)),
    ("decorator stack *args/**kw", deco_base, deco_ideal, deco_guarded, (3, 4)),
    ("expr-tree interp, static tree", tree_base, tree_ideal, tree_guarded, ({"x": 12, "y": 5, "z": 3},)),
    ("stack VM, static program", vm_base1, vm_ideal, vm_guarded, (5, 6)),
    ("schema validator, static schema", schema_base, schema_ideal, schema_guarded, (DOC,)),
    ("control: plain int loop n=50", plain_base, plain_ideal, plain_guarded, (50,)),
]
