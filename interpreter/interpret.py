"""From a function and the arguments of a real call to a region, without running any of its code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType
from typing import Any

from minijit.errors import Unsupported
from minijit.interpreter.estimate import estimate
from minijit.interpreter.ir import Region, Value
from minijit.interpreter.machine import interpret_once
from minijit.interpreter.notes import Notes
from minijit.interpreter.protocols.call import frame_names
from minijit.interpreter.signals import CallForReal, CommitNeeded, KeyLocalNeeded, Opaque, OverBudget
from minijit.interpreter.snapshots import fill
from minijit.interpreter.state import Frame, State, unbound_slots, unit_of
from minijit.interpreter.tracer import Plan, Tracer
from minijit.interpreter.trackers import MISSING, UNBOUND, Constant, Runtime, Tracker

ATTEMPTS = 24
STEP_BUDGET = 25_000
"""Instructions traced for one region, all attempts together."""
GENERATOR_KINDS = 0x20 | 0x80 | 0x100 | 0x200


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """What interpretation may ask of the rest of minijit.

    `shim` reads objects without running code; `is_frozen` knows the user's promises;
    `original_code` sees through code that minijit installed; `static` names parameters to
    take as constants; `distrusted` speculations that failed before; `pessimistic`: leave no
    rarely taken path for the original body to redo.
    """

    shim: Any
    is_frozen: Callable[[object], bool]
    original_code: Callable[[FunctionType], CodeType]
    static: tuple[str, ...] = ()
    distrusted: frozenset[Any] = frozenset()
    pessimistic: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What interpretation gives: a region, and what there is to say about it.

    `profit`: nanoseconds a typical call is expected to save; negative where compiled code would be slower.
    """

    region: Region
    notes: Notes
    steps: int
    attempts: int
    profit: float


def interpret(function: FunctionType, code: CodeType, arguments: Sequence[object], world: World) -> Outcome:
    """Trace `function`, whose original code is `code`, called with these values in its parameter slots.

    Raises Unsupported when the function can't be or is not worth being compiled.
    """
    _refuse_at_once(function, code)
    plan = Plan()
    steps = 0
    for attempt in range(1, ATTEMPTS + 1):
        tracer = Tracer(function, code, plan, world, STEP_BUDGET - steps)
        try:
            region = _attempt(tracer, arguments, world)
        except (CallForReal, CommitNeeded, KeyLocalNeeded) as signal:
            _learn(plan, signal, tracer)
        except Opaque as signal:
            raise refusal(code, "MJ012", signal.reason) from None
        except OverBudget as signal:
            raise refusal(code, "MJ004", f"over budget: {signal}") from None
        else:
            profit = estimate(region, tracer.saved)
            return Outcome(region, tracer.notes, steps + tracer.steps, attempt, profit)
        finally:
            release(tracer)
        steps += tracer.steps
    raise refusal(code, "MJ004", "over budget: attempts")


def _refuse_at_once(function: FunctionType, code: CodeType) -> None:
    if code.co_flags & GENERATOR_KINDS:
        raise refusal(code, "MJ011", "a generator or coroutine function")
    names = frame_names(code)
    if names:
        raise refusal(code, "MJ003", f"the function uses {min(names)}")
    if type(function.__globals__) is not dict:
        raise refusal(code, "MJ012", "its globals are not a plain dict")
    if unit_of(code).late_cells:
        raise refusal(code, "MJ012", "a comprehension and closures share a variable's place")


def _learn(plan: Plan, signal: CallForReal | CommitNeeded | KeyLocalNeeded, t: Tracer) -> None:
    """Each attempt teaches something new, or there is no use in another."""
    if isinstance(signal, CommitNeeded):
        plan.commits.add(signal.pc)
    elif isinstance(signal, KeyLocalNeeded):
        if signal.key in plan.key_locals:
            raise refusal(t.code, "MJ004", "static data is walked without end") from None
        plan.key_locals.add(signal.key)
    else:
        if signal.pc in plan.blocked:
            raise refusal(t.code, "MJ012", signal.reason) from None
        plan.blocked[signal.pc] = signal.reason
        plan.failed(t)


def refusal(code: CodeType, number: str, reason: str) -> Unsupported:
    """The function is left as it is."""
    return Unsupported(number, reason, filename=code.co_filename, line=code.co_firstlineno)


def _attempt(t: Tracer, arguments: Sequence[object], world: World) -> Region:
    state, slots = entry_state(t, arguments, world)
    region = interpret_once(t, state)
    fill(t, region)
    region.arguments = slots
    return region


def release(t: Tracer) -> None:
    """Let go of the traced call's arguments at once, not at the next garbage collection."""
    if t.machine is not None:
        t.machine.release()
    t.drafts.clear()


def entry_state(t: Tracer, arguments: Sequence[object], world: World) -> tuple[State, tuple[tuple[int, Value], ...]]:
    """The state right after the prologue: parameters and cells hold values not known yet."""
    code = t.code
    unit = unit_of(code)
    root = Frame(unit, Constant(t.function), unbound_slots(code))
    root.pc = unit.decoded.prologue
    state = State([root], None)  # type: ignore[arg-type]
    cells = unit.cells
    slots: list[tuple[int, Value]] = []
    closure = t.function.__closure__ or ()
    free_start = len(root.locals) - len(closure)
    for slot in range(len(root.locals)):
        is_cell = cells >> slot & 1
        if slot >= len(arguments) and not is_cell:
            continue
        value = t.new_value(CellType if is_cell else None)
        t.entry_values.add(value)
        slots.append((slot, value))
        if is_cell:
            t.root_cells[value] = slot
            root.locals[slot] = Runtime(value)
            t.cell_examples[value] = _cell_example(arguments, closure, slot, free_start)
            if t.cell_examples[value] is MISSING and slot < free_start:
                state.facts[(value, "cell", "")] = UNBOUND
        else:
            state.owned.add(value)
            root.locals[slot] = _parameter(t, world, state, slot, value, arguments[slot])
        state.physical[slot] = Runtime(value)
    state.snapshot = t.draft(state)
    return state, tuple(slots)


def _cell_example(arguments: Sequence[object], closure: tuple[CellType, ...], slot: int, free_start: int) -> object:
    if slot >= free_start:
        try:
            return closure[slot - free_start].cell_contents
        except ValueError:
            return MISSING
    return arguments[slot] if slot < len(arguments) else MISSING


def _parameter(t: Tracer, world: World, state: State, slot: int, value: Value, example: object) -> Tracker:
    runtime = Runtime(value, example)
    name = t.code.co_varnames[slot]
    frozen = world.is_frozen(example)
    if name in world.static or frozen:
        t.state = state
        kind = "value" if type(example) in (int, float, str, bytes) else "is"
        t.test(kind, runtime, (example,))
        return Constant(example, static=True, frozen=frozen)
    return runtime
