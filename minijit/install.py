"""What is installed in functions: a stub that counts, compiled code, or the original again.

All functions made by one `def` share a code object, and so one `Unit`. A unit is found by its
original code object, and from installed code by the `Entry` among its constants.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from types import CodeType, FunctionType

from minijit import _shim
from minijit._shim import Counter, Entry
from minijit.codegen.embed import CannotEmbed, stub
from minijit.errors import Unsupported
from minijit.interpreter.ir import Region
from minijit.options import Options
from minijit.pipeline import Product, Request, build
from minijit.stats import State, Stats

__all__ = ["Unit", "prepare", "unit_of"]

MISS_LIMITS = (2, 8, 32)
"""Misses that call for a second, third and fourth entry: each is worth less than the one before."""

ABORT_LIMIT = 64

RETRY_CALLS = 100
"""How many calls to wait after a compilation that had no room: deep recursion, no memory."""


class _Compiling:
    """The one lock of all compilations; a forked child gets its own, as its holder may not exist there."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self.lock = threading.RLock()


_compiling = _Compiling()
_units: dict[int, Unit] = {}


class _Events:
    """What a counter calls. Weak: installed code holds it, and code objects are not collected."""

    __slots__ = ("unit",)

    def __init__(self, unit: Unit) -> None:
        self.unit = weakref.ref(unit)

    def __call__(self, event: str, function: FunctionType, arguments: tuple[object, ...]) -> BaseException | None:
        unit = self.unit()
        return None if unit is None else unit.handle(event, function, arguments)


class Unit:
    """One original code object: its state, its entries, and the functions that run it.

    It keeps the original alive while one of those functions lives. After that it rests: a `def` that
    runs again finds it and what was compiled, and it goes when the original goes.
    """

    def __init__(self, original: CodeType, options: Options) -> None:
        key = id(original)
        self.options = options
        self.failure: Unsupported | None = None
        self._original = weakref.ref(original, lambda _: _units.pop(key, None))
        self._kept: CodeType | None = None
        self._functions: set[weakref.ref[FunctionType]] = set()
        self.clear()

    def clear(self) -> None:
        """Forget what was compiled and counted."""
        self.state: State = "cold"
        self.failure = None
        self.counter = Counter(_Events(self), self.options.warmup)
        self.regions: tuple[Region, ...] = ()
        self.installed: CodeType | None = None
        self.compile_seconds = 0.0
        self._cold_calls = 0

    @property
    def original(self) -> CodeType:
        """The code object as the user wrote it. Call only while a function of the unit lives."""
        original = self._original()
        assert original is not None
        return original

    @property
    def stats(self) -> Stats:
        """The counts, as `minijit.stats` gives them."""
        counter = self.counter
        misses = counter.misses
        calls = counter.calls
        cold_calls = calls if self.state == "cold" else self._cold_calls
        hits = max(0, calls - cold_calls - misses - counter.aborts)
        reason = str(self.failure) if self.failure is not None else None
        return Stats(
            self.state, reason, calls, hits, misses, counter.aborts, len(self.regions), self.compile_seconds
        )

    # ---- functions ----

    def functions(self) -> list[FunctionType]:
        """Those alive that run this unit's code; one that was given other code by its owner is not ours."""
        alive = [function for ref in list(self._functions) if (function := ref()) is not None]
        return [function for function in alive if unit_of(function) is self]

    def adopt(self, function: FunctionType) -> None:
        """Let the function run what is installed."""
        self._kept = self.original
        self._functions.add(weakref.ref(function, self._lost))
        self._give(function)

    def _lost(self, ref: weakref.ref[FunctionType]) -> None:
        self._functions.discard(ref)
        if not self._functions:
            self._kept = None

    def _give(self, function: FunctionType) -> None:
        code = self.original if self.installed is None else self.installed
        if function.__code__ is not code:
            function.__code__ = code

    def _install(self, code: CodeType | None) -> None:
        functions = self.functions()
        self.installed = code
        for function in functions:
            self._give(function)

    # ---- states ----

    def prepare(self) -> None:
        """Install a stub that counts calls; with warmup=0, see the frame of the first one instead."""
        if self.options.warmup == 0:
            _shim.watch(self.original)
            self._install(None)
            return
        try:
            self._install(stub(self.original, Entry(None, self.counter)))
        except CannotEmbed as reason:
            self.refuse(Unsupported("MJ002", str(reason), filename=self.original.co_filename))

    def reset(self) -> None:
        """Be cold again."""
        functions = self.functions()
        self.clear()
        for function in functions:
            self._give(function)
        self.prepare()

    def _leave_cold(self, state: State) -> None:
        if self.state == "cold":
            self._cold_calls = self.counter.calls
        self.state = state

    def refuse(self, failure: Unsupported) -> None:
        """Run the original from now on, and say why."""
        self._leave_cold("refused")
        self.failure = failure
        self.regions = ()
        self._install(None)
        _shim.unwatch(self.original)

    def handle(self, event: str, function: FunctionType, arguments: tuple[object, ...]) -> BaseException | None:
        """Compile for this call; other threads run the original meanwhile. An answer is to be raised."""
        lock = _compiling.lock
        if not lock.acquire(blocking=False):
            self._ask_again(event, 1)
            return None
        try:
            return self._compile(event, function, arguments)
        finally:
            lock.release()

    def _compile(self, event: str, function: FunctionType, arguments: tuple[object, ...]) -> BaseException | None:
        start = time.perf_counter()
        request = Request(
            event, self.original, function, arguments, self.options, self.counter, self.regions
        )
        try:
            self._compiled(build(request))
        except Unsupported as failure:
            return self._failed(event, failure.with_traceback(None))
        except (RecursionError, MemoryError):
            self._ask_again(event, RETRY_CALLS)
        except Exception as error:  # a bug of ours must not stop the user's program
            return self._failed(event, internal(error, self.original))
        finally:
            self.compile_seconds += time.perf_counter() - start
        return None

    def _compiled(self, product: Product) -> None:
        self._leave_cold("compiled")
        self.regions = product.regions
        self._install(product.code)
        _shim.unwatch(self.original)
        self._set_limits()

    def _set_limits(self) -> None:
        made = len(self.regions) - 1
        if made < len(MISS_LIMITS):
            self.counter.miss_limit = self.counter.misses + MISS_LIMITS[max(made, 0)]
        self.counter.abort_limit = self.counter.aborts + ABORT_LIMIT

    def _failed(self, event: str, failure: Unsupported) -> BaseException | None:
        """A later entry that can't be made leaves those there are; aborts without end do not."""
        if event == "miss":
            return None
        self.refuse(failure)
        return failure if self.options.strict else None

    def _ask_again(self, event: str, calls: int) -> None:
        counter = self.counter
        if event == "warm":
            counter.warmup = counter.calls + calls
        elif event == "miss":
            counter.miss_limit = counter.misses + calls
        else:
            counter.abort_limit = counter.aborts + calls


def internal(error: Exception, code: CodeType) -> Unsupported:
    """A failure of minijit as the reason to leave a function alone; without the frames it held."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" ({place.tb_frame.f_code.co_qualname}, line {place.tb_lineno})" if place is not None else ""
    reason = f"{type(error).__name__}: {error}{where}"
    return Unsupported("MJ007", reason, filename=code.co_filename, line=code.co_firstlineno)


def unit_of(function: FunctionType) -> Unit | None:
    """The unit whose code the function runs."""
    code = function.__code__
    unit = _units.get(id(code))
    return unit if unit is not None else unit_of_installed(code)


def unit_of_installed(code: CodeType) -> Unit | None:
    """The unit that a stub or compiled code belongs to."""
    for constant in code.co_consts:
        if type(constant) is Entry and isinstance(constant.counter.callback, _Events):
            return constant.counter.callback.unit()
    return None


def prepare(function: FunctionType, options: Options) -> Unit:
    """Take the function over; a second time changes nothing."""
    with _compiling.lock:
        unit = unit_of(function)
        if unit is None:
            unit = Unit(function.__code__, options)
            _units[id(function.__code__)] = unit
            unit.adopt(function)
            unit.prepare()
        else:
            unit.adopt(function)
    if unit.failure is not None and options.strict:
        raise unit.failure
    return unit
