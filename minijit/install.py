"""Putting code objects into functions: a stub that counts, then compiled code, or the original again."""

from __future__ import annotations

import threading
import time
import traceback
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import TypeVar

from minijit import _shim
from minijit.codegen import embed
from minijit.codegen.emitter import Emitter
from minijit.errors import InternalError, Unsupported
from minijit.interpreter.interpret import Outcome
from minijit.interpreter.ir import Region
from minijit.options import Options
from minijit.originals import installation_of, register
from minijit.pipeline import Product, Request, build
from minijit.stats import State, Stats

__all__ = ["Installation", "decided", "install", "internal_error"]

Refusal = TypeVar("Refusal", bound="Unsupported | InternalError")

ENTRIES = 4
MISSES = 2
ABORTS = 64

_compiling = threading.RLock()
"""One compilation at a time; a thread that finds it taken goes on with what is installed."""

Emitter.hide = staticmethod(_shim.hide_locals)

decided: list[Callable[[Installation], None]] = []
"""Who wants to be told of every function compiled or refused."""


class Installation:
    """All that happens to the functions made by one `def`. Mutates."""

    def __init__(self, function: FunctionType, options: Options) -> None:
        self.original = function.__code__
        self.namespace = function.__globals__
        self.options = options
        self.functions: weakref.WeakSet[FunctionType] = weakref.WeakSet()
        self.state: State = "cold"
        self.reason: Unsupported | InternalError | None = None
        self.outcome: Outcome | None = None
        self.regions: tuple[Region, ...] = ()
        self.seconds = 0.0
        self.cold_calls = 0
        self.pessimistic = False
        self.counter = _shim.Counter(self.event, options.warmup, -1, -1)
        self.current: Callable[[], CodeType | None] = lambda: None
        register(self.original, self)

    # -- what is installed ---------------------------------------------------------------------------

    def adopt(self, function: FunctionType) -> None:
        """Take charge of one more function object."""
        self.functions.add(function)
        if self.state == "refused":
            return
        code = self.current()
        if code is None and self.options.warmup == 0:
            watch(self.original)
            return
        function.__code__ = code if code is not None else self.make_stub()

    def make_stub(self) -> CodeType:
        """Code that counts calls and runs the original; it is what keeps this object alive."""
        code = embed.stub(self.original, _shim.Entry(None, self.counter))
        self.remember(code)
        return code

    def remember(self, code: CodeType) -> None:
        """Make a code object the current one."""
        register(code, self)
        self.current = weakref.ref(code)

    def put(self, code: CodeType) -> None:
        """Install a code object in every function that still runs one of ours."""
        for function in list(self.functions):
            if installation_of(function) is self:
                function.__code__ = code

    # -- events ----------------------------------------------------------------------------------------

    def event(self, event: str, function: FunctionType, arguments: tuple[object, ...]) -> BaseException | None:
        """A counter has reached a limit. What is returned is raised in the user's function."""
        if not _compiling.acquire(blocking=False):
            self.rearm(event)
            return None
        try:
            return self.compile(event, function, arguments)
        finally:
            _compiling.release()

    def rearm(self, event: str) -> None:
        """Ask again at the next call."""
        counter = self.counter
        if event == "warm":
            counter.warmup = counter.calls + 1
        elif event == "miss":
            counter.miss_limit = counter.misses + 1
        else:
            counter.abort_limit = counter.aborts + 1

    def compile(self, event: str, function: FunctionType, arguments: tuple[object, ...]) -> BaseException | None:
        """Make one more entry, or decide against it."""
        started = time.perf_counter()
        try:
            if event == "abort" and self.pessimistic:
                raise Unsupported("MJ006", "compiled code keeps leaving half-way", filename=self.original.co_filename,
                                  line=self.original.co_firstlineno)
            self.pessimistic = self.pessimistic or event == "abort"
            request = Request(event, self.original, function, arguments, self.options, self.counter, self.regions,
                              self.pessimistic)
            self.accept(build(request))
        except Unsupported as refusal:
            return self.refuse(event, refusal)
        except RecursionError:
            return self.refuse(event, Unsupported("MJ004", "called too deep in the stack to be compiled",
                                                  filename=self.original.co_filename,
                                                  line=self.original.co_firstlineno))
        except Exception as error:  # the border with the user's program: our bug must not become theirs
            return self.refuse(event, internal_error(self.original, error))
        finally:
            self.seconds += time.perf_counter() - started
        return None

    def accept(self, product: Product) -> None:
        """Install what was built."""
        if self.state == "cold":
            self.cold_calls = self.counter.calls
        self.state, self.reason = "compiled", None
        self.regions, self.outcome = product.regions, product.outcome
        self.remember(product.code)
        self.put(product.code)
        counter = self.counter
        counter.miss_limit = counter.misses + MISSES if len(self.regions) < ENTRIES else -1
        counter.abort_limit = counter.aborts + ABORTS
        self.tell()

    def refuse(self, event: str, reason: Unsupported | InternalError) -> BaseException | None:
        """A first refusal, or failing speculation, gives the original back for good."""
        self.reason = forget_frames(reason)
        if event == "miss":
            return None
        if self.state == "cold":
            self.cold_calls = self.counter.calls
        self.state, self.regions = "refused", ()
        self.put(self.original)
        self.tell()
        return reason if self.options.strict else None

    def tell(self) -> None:
        """Pass a decision on."""
        for listener in decided:
            listener(self)

    # -- what it tells ----------------------------------------------------------------------------------

    def stats(self) -> Stats:
        """Counts so far."""
        counter = self.counter
        entered = counter.calls - self.cold_calls if self.state != "cold" else 0
        hits = max(0, entered - counter.misses - counter.aborts)
        reason = str(self.reason) if self.reason is not None else None
        return Stats(self.state, reason, counter.calls, hits, counter.misses, counter.aborts, len(self.regions),
                     self.seconds)

    def reset(self) -> None:
        """Start again as if never called."""
        self.put(self.original)
        self.state, self.reason, self.regions, self.outcome = "cold", None, (), None
        self.cold_calls, self.seconds, self.pessimistic = 0, 0.0, False
        self.counter = _shim.Counter(self.event, self.options.warmup, -1, -1)
        self.current = lambda: None
        for function in list(self.functions):
            self.adopt(function)


def internal_error(code: CodeType, error: Exception) -> InternalError:
    """Our own failure, with what caused it."""
    failure = InternalError(f"MJ007: {code.co_qualname}: {type(error).__name__}: {error}")
    failure.details = "".join(traceback.format_exception(error))
    return failure


def forget_frames(reason: Refusal) -> Refusal:
    """An exception that is kept must not keep the frames it came through, and with them the user's objects."""
    reason.__traceback__ = reason.__context__ = reason.__cause__ = None
    return reason


def install(function: FunctionType, options: Options) -> Installation:
    """Take a function over. Idempotent; raises nothing: what can't be taken over is refused."""
    found = installation_of(function)
    if found is None:
        found = Installation(function, options)
        KEPT[function] = found
        try:
            embed.stub(function.__code__, _shim.Entry(None, found.counter))
        except embed.CannotEmbed as error:
            found.refuse("warm", Unsupported("MJ002", str(error), filename=function.__code__.co_filename,
                                             line=function.__code__.co_firstlineno))
    found.adopt(function)
    KEPT[function] = found
    return found


KEPT: weakref.WeakKeyDictionary[FunctionType, Installation] = weakref.WeakKeyDictionary()
"""Installations of functions that run their original code, which does not keep them alive."""


# -- functions to be compiled at their first call ---------------------------------------------------

_watched: set[int] = set()


def watch(code: CodeType) -> None:
    """Capture the next call of a code object by the hook; it is in place only until then."""
    if not _watched:
        _shim.capture(_captured)
    _watched.add(id(code))
    _shim.watch(code)


def _captured(function: FunctionType, arguments: tuple[object, ...]) -> None:
    code = function.__code__
    _shim.unwatch(code)
    _watched.discard(id(code))
    if not _watched:
        _shim.release()
    found = installation_of(function)
    if found is not None and found.state == "cold":
        failure = found.event("warm", function, arguments)
        if failure is not None:
            raise failure
