"""Neutral operations to the running version's instructions.

This and the assembler are the only places of codegen that know which Python they run on.
"""

from __future__ import annotations

import opcode as cpython
from collections.abc import Callable
from types import CodeType

from minijit.codegen.buffer import Buffer, Cover, Emitted, Label, Original, Resolve, Target, survives
from minijit.codegen.layout import lay_out
from minijit.interpreter.exception_table import Region, covering
from minijit.interpreter.opcodes import OPCODE, VERSION

BINARY = {text: number for number, (_, text) in enumerate(cpython._nb_ops)}  # type: ignore[attr-defined]
COMPARE = {
    (3, 11): {text: number for number, text in enumerate(cpython.cmp_op)},
    # The low bits say for which outcomes of comparing two ints, floats or strings the answer is true.
    (3, 12): {"<": 0x02, "<=": 0x1A, "==": 0x28, "!=": 0x37, ">": 0x44, ">=": 0x5C},
    (3, 13): {"<": 0x02, "<=": 0x2A, "==": 0x48, "!=": 0x67, ">": 0x84, ">=": 0xAC},
}[VERSION]
COMPARE_TO_BOOL = 16
UNARY = {"-": "UNARY_NEGATIVE", "~": "UNARY_INVERT", "not": "UNARY_NOT", "+": "UNARY_POSITIVE"}
BUILD = {
    "tuple": "BUILD_TUPLE",
    "list": "BUILD_LIST",
    "set": "BUILD_SET",
    "map": "BUILD_MAP",
    "slice": "BUILD_SLICE",
    "string": "BUILD_STRING",
}
CONVERSION = {"": 0, "s": 1, "r": 2, "a": 3}
HAS_SPEC = 4
INTRINSIC = {"UNARY_POSITIVE": 5, "LIST_TO_TUPLE": 6}
FUNCTION_ATTRIBUTES = (8, 4, 2, 1)
"""Closure, annotations, keyword defaults, defaults: from the top of the stack down."""

INVERTED = {"TRUE": "FALSE", "FALSE": "TRUE", "NONE": "NOT_NONE", "NOT_NONE": "NONE"}
CONDITIONAL = "POP_JUMP_FORWARD_IF_" if VERSION == (3, 11) else "POP_JUMP_IF_"
ATTRIBUTE_SHIFT = 0 if VERSION == (3, 11) else 1
LOAD_CLOSURE = OPCODE.get("LOAD_CLOSURE", OPCODE["LOAD_FAST"])
LOAD_FAST_CHECK = OPCODE.get("LOAD_FAST_CHECK", OPCODE["LOAD_FAST"])
NULL_BELOW = VERSION < (3, 13)
TO_BOOL = OPCODE.get("TO_BOOL")
FOR_ITER_END = {(3, 11): (), (3, 12): ("END_FOR",), (3, 13): ("END_FOR", "POP_TOP")}[VERSION]
FRAME_ENTERING = frozenset(
    OPCODE[name]
    for name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX", "LOAD_ATTR", "BINARY_SUBSCR", "FOR_ITER", "SEND")
    if VERSION == (3, 13)
)
"""May enter a frame without recursion; what is raised there is looked up one code unit before them on 3.13."""

PAIRS = {
    (OPCODE[first], OPCODE[second]): OPCODE[f"{first}_{second}"]
    for first in ("LOAD_FAST", "STORE_FAST")
    for second in ("LOAD_FAST", "STORE_FAST")
    if VERSION >= (3, 13) and f"{first}_{second}" in OPCODE
}
"""Two instructions in one, which 3.13's compiler writes itself; earlier versions find them at run time."""

HARMLESS = frozenset(
    OPCODE[name] for name in ("LOAD_FAST", "LOAD_CONST", "PUSH_NULL", "STORE_FAST", "COPY", "NOP")
) | set(PAIRS.values())
FORWARD_FORM = {
    OPCODE[name]: OPCODE[name.replace("BACKWARD", "FORWARD")] for name in OPCODE if name.startswith("POP_JUMP_BACKWARD")
}


class Emitter(Buffer):
    """Collects the generated part of one code object, then lays it out with the original.

    Everything emitted runs right after the original's first RESUME. Nothing may fall off the end.
    """

    hide: Callable[[CodeType, int, int], None] = staticmethod(lambda code, first, count: None)
    """Marks `count` locals from `first` on as hidden, where the version can."""

    def __init__(self, code: CodeType) -> None:
        super().__init__(code)
        self._placed = 0
        self._loop_ends: list[tuple[Label, Label]] = []

    def emit(self, opcode: int, arg: int = 0, target: Target = None) -> Emitted:
        """Append one instruction at the current position, under the current handler."""
        if opcode in FRAME_ENTERING and self.emitted:
            self._cover_before(self.emitted[-1])
        return super().emit(opcode, arg, target)

    def place(self, label: Label) -> None:
        """Let the label mean the instruction emitted next."""
        super().place(label)
        self._placed = len(self.emitted)

    def emit_slot(self, opcode: int, slot: int) -> None:
        """Append one instruction whose argument is a slot, or make one of it and the one before."""
        before = self.emitted[-1] if len(self.emitted) > self._placed else None
        if before is not None and self._pairs(before, opcode, slot):
            before.opcode, before.arg, before.is_slot = PAIRS[before.opcode, opcode], before.arg << 4 | slot, False
        else:
            super().emit_slot(opcode, slot)

    def _pairs(self, before: Emitted, opcode: int, slot: int) -> bool:
        """May the two be one? Both slots have four bits."""
        fits = before.is_slot and 0 <= slot < 16 and 0 <= before.arg < 16
        alike = before.handler is self.handler and before.position == self.position
        return fits and alike and (before.opcode, opcode) in PAIRS

    def _cover_before(self, before: Emitted) -> None:
        """Let the instruction before have the same handler as the next one: one that can't raise, or a NOP."""
        if before.handler is self.handler or isinstance(before.handler, Cover) or isinstance(self.handler, Cover):
            return
        if before.opcode in HARMLESS:
            before.handler = self.handler
        else:
            super().emit(OPCODE["NOP"])

    def _op(self, name: str, arg: int = 0) -> None:
        self.emit(OPCODE[name], arg)

    # -- constants, locals, cells, names --

    def load_const(self, value: object) -> None:
        """Push that very object."""
        if survives(value):
            self._op("LOAD_CONST", self.constant(value))
        else:
            self._op("LOAD_CONST", self.constant(self.box(value)))
            self.load_attr("value")

    def load_const_later(self, build: Callable[[Resolve], object]) -> None:
        """Push what `build(resolve)` gives when all slots are known; it must be hashable."""
        self._op("LOAD_CONST", self.constant_later(build))

    def load_original_lasti(self, offset: int) -> None:
        """Push the int with which RERAISE restores the original instruction at `offset`."""
        self._op("LOAD_CONST", self.constant_lasti(offset))

    def load_fast(self, slot: int) -> None:
        """Push a local that is certainly bound."""
        self.emit_slot(OPCODE["LOAD_FAST"], slot)

    def load_fast_check(self, slot: int) -> None:
        """Push a local or raise UnboundLocalError."""
        self.emit_slot(LOAD_FAST_CHECK, slot)

    def store_fast(self, slot: int) -> None:
        """Pop into a local."""
        self.emit_slot(OPCODE["STORE_FAST"], slot)

    def delete_fast(self, slot: int) -> None:
        """Unbind a local; raises when it is unbound."""
        self.emit_slot(OPCODE["DELETE_FAST"], slot)

    def load_deref(self, slot: int) -> None:
        """Push the content of the cell in `slot`."""
        self.emit_slot(OPCODE["LOAD_DEREF"], slot)

    def store_deref(self, slot: int) -> None:
        """Pop into the cell in `slot`."""
        self.emit_slot(OPCODE["STORE_DEREF"], slot)

    def delete_deref(self, slot: int) -> None:
        """Empty the cell in `slot`; raises when it is empty."""
        self.emit_slot(OPCODE["DELETE_DEREF"], slot)

    def load_closure(self, slot: int) -> None:
        """Push the cell in `slot` itself."""
        self.emit_slot(LOAD_CLOSURE, slot)

    def make_cell(self, slot: int) -> None:
        """Put what is in `slot`, or nothing, into a new cell in `slot`."""
        self.emit_slot(OPCODE["MAKE_CELL"], slot)

    def load_global(self, name: str) -> None:
        """Push a global or builtin."""
        self._op("LOAD_GLOBAL", self.name(name) << 1)

    def store_global(self, name: str) -> None:
        """Pop into a global."""
        self._op("STORE_GLOBAL", self.name(name))

    def delete_global(self, name: str) -> None:
        """Delete a global."""
        self._op("DELETE_GLOBAL", self.name(name))

    def load_attr(self, name: str) -> None:
        """object -- object.name"""
        self._op("LOAD_ATTR", self.name(name) << ATTRIBUTE_SHIFT)

    def store_attr(self, name: str) -> None:
        """value, object --"""
        self._op("STORE_ATTR", self.name(name))

    def delete_attr(self, name: str) -> None:
        """object --"""
        self._op("DELETE_ATTR", self.name(name))

    # -- operators --

    def binary(self, text: str) -> None:
        """left, right -- result; `text` is `+` or `+=` and so on."""
        self._op("BINARY_OP", BINARY[text])

    def unary(self, text: str) -> None:
        """operand -- result; `text` is `-`, `~`, `+` or `not`."""
        if text == "not":
            self.to_bool()
        self._op_or_intrinsic(UNARY[text])

    def to_bool(self) -> None:
        """Make the top of the stack a bool, on versions whose jumps and `not` want that."""
        if TO_BOOL is not None:
            self.emit(TO_BOOL)

    def _op_or_intrinsic(self, name: str) -> None:
        if name in OPCODE:
            self._op(name)
        else:
            self._op("CALL_INTRINSIC_1", INTRINSIC[name])

    def compare(self, text: str, to_bool: bool = False) -> None:
        """left, right -- result; made a bool when asked, on versions that can."""
        self._op("COMPARE_OP", COMPARE[text] | (COMPARE_TO_BOOL if to_bool and TO_BOOL else 0))

    def is_(self, inverted: bool) -> None:
        """left, right -- bool"""
        self._op("IS_OP", int(inverted))

    def contains(self, inverted: bool) -> None:
        """item, container -- bool"""
        self._op("CONTAINS_OP", int(inverted))

    def subscript(self) -> None:
        """object, key -- item"""
        self._op("BINARY_SUBSCR")

    def store_subscript(self) -> None:
        """value, object, key --"""
        self._op("STORE_SUBSCR")

    def delete_subscript(self) -> None:
        """object, key --"""
        self._op("DELETE_SUBSCR")

    def slice_item(self) -> None:
        """object, start, stop -- item"""
        if "BINARY_SLICE" in OPCODE:
            self._op("BINARY_SLICE")
        else:
            self.build("slice", 2)
            self.subscript()

    def store_slice(self) -> None:
        """value, object, start, stop --"""
        if "STORE_SLICE" in OPCODE:
            self._op("STORE_SLICE")
        else:
            self.build("slice", 2)
            self.store_subscript()

    # -- containers --

    def build(self, kind: str, count: int) -> None:
        """Pop `count` items (pairs, for a map) and push the container."""
        self._op(BUILD[kind], count)

    def list_append(self, depth: int) -> None:
        """Pop into the list at `depth`, counted after the pop."""
        self._op("LIST_APPEND", depth)

    def set_add(self, depth: int) -> None:
        """Pop into the set at `depth`."""
        self._op("SET_ADD", depth)

    def map_add(self, depth: int) -> None:
        """Pop key and value into the dict at `depth`."""
        self._op("MAP_ADD", depth)

    def list_extend(self, depth: int) -> None:
        """Pop an iterable into the list at `depth`."""
        self._op("LIST_EXTEND", depth)

    def set_update(self, depth: int) -> None:
        """Pop an iterable into the set at `depth`."""
        self._op("SET_UPDATE", depth)

    def dict_update(self, depth: int) -> None:
        """Pop a mapping into the dict at `depth`."""
        self._op("DICT_UPDATE", depth)

    def dict_merge(self, depth: int) -> None:
        """Pop a mapping of keyword arguments into the dict at `depth`."""
        self._op("DICT_MERGE", depth)

    def list_to_tuple(self) -> None:
        """list -- tuple"""
        self._op_or_intrinsic("LIST_TO_TUPLE")

    def format(self, conversion: str, has_spec: bool) -> None:
        """value[, spec] -- string"""
        if "FORMAT_VALUE" in OPCODE:
            self._op("FORMAT_VALUE", CONVERSION[conversion] | (HAS_SPEC if has_spec else 0))
            return
        if conversion:
            self._convert_below(conversion, has_spec)
        self._op("FORMAT_WITH_SPEC" if has_spec else "FORMAT_SIMPLE")

    def _convert_below(self, conversion: str, has_spec: bool) -> None:
        if has_spec:
            self.swap(2)
        self._op("CONVERT_VALUE", CONVERSION[conversion])
        if has_spec:
            self.swap(2)

    # -- calls --

    def before_callable(self) -> None:
        """Push the NULL that some versions want below the callable."""
        if NULL_BELOW:
            self.push_null()

    def after_callable(self) -> None:
        """Push the NULL that some versions want above the callable."""
        if not NULL_BELOW:
            self.push_null()

    def load_method(self, name: str) -> None:
        """object -- the two slots that `call_method` wants below the arguments."""
        if "LOAD_METHOD" in OPCODE:
            self._op("LOAD_METHOD", self.name(name))
        else:
            self._op("LOAD_ATTR", self.name(name) << 1 | 1)

    def call_method(self, count: int, keyword_names: tuple[str, ...] = ()) -> None:
        """Call with `count` arguments, of which the last ones are keywords."""
        self.call(count, keyword_names)

    def call(self, count: int, keyword_names: tuple[str, ...] = ()) -> None:
        """Call with `count` arguments, of which the last ones are keywords."""
        if "CALL_KW" in OPCODE and keyword_names:
            self._op("LOAD_CONST", self.keyword_names(keyword_names))
            self._op("CALL_KW", count)
            return
        if keyword_names:
            self._op("KW_NAMES", self.keyword_names(keyword_names))
        if "PRECALL" in OPCODE:
            self._op("PRECALL", count)
        self._op("CALL", count)

    def call_ex(self, has_kwargs: bool) -> None:
        """Call with a tuple of arguments and maybe a dict of keyword arguments."""
        self._op("CALL_FUNCTION_EX", int(has_kwargs))

    def make_function(self, flags: int) -> None:
        """[defaults][, kwdefaults][, annotations][, closure], code -- function; flags 1, 2, 4, 8."""
        if "SET_FUNCTION_ATTRIBUTE" not in OPCODE:
            self._op("MAKE_FUNCTION", flags)
            return
        self._op("MAKE_FUNCTION")
        for flag in FUNCTION_ATTRIBUTES:
            if flags & flag:
                self._op("SET_FUNCTION_ATTRIBUTE", flag)

    # -- stack --

    def pop(self) -> None:
        """Drop the top of the stack."""
        self._op("POP_TOP")

    def swap(self, depth: int) -> None:
        """Exchange the top with the item at `depth` (2 is the one below)."""
        self._op("SWAP", depth)

    def copy(self, depth: int) -> None:
        """Push the item at `depth` (1 is the top) again."""
        self._op("COPY", depth)

    def push_null(self) -> None:
        """Push an empty slot."""
        self._op("PUSH_NULL")

    # -- control --

    def jump(self, label: Label) -> None:
        """Go to a label, in either direction, without polling."""
        forward = label.index is None
        self.emit(OPCODE["JUMP_FORWARD" if forward else "JUMP_BACKWARD_NO_INTERRUPT"], 0, label)

    def jump_backward(self, label: Label) -> None:
        """Close a loop: signals and other threads get their chance here."""
        if label.index is None:
            raise ValueError("a loop's label must be placed before its end")
        self.emit(OPCODE["JUMP_BACKWARD"], 0, label)

    def jump_original(self, offset: int) -> None:
        """Go to the original body's instruction at that byte offset."""
        self.emit(OPCODE["JUMP_FORWARD"], 0, Original(offset))

    def pop_jump_if_true(self, label: Label, is_bool: bool = False) -> None:
        """Pop; go to the label when it is true."""
        self._pop_jump("TRUE", label, is_bool)

    def pop_jump_if_false(self, label: Label, is_bool: bool = False) -> None:
        """Pop; go to the label when it is false."""
        self._pop_jump("FALSE", label, is_bool)

    def pop_jump_if_none(self, label: Label) -> None:
        """Pop; go to the label when it is None."""
        self._pop_jump("NONE", label, True)

    def pop_jump_if_not_none(self, label: Label) -> None:
        """Pop; go to the label unless it is None."""
        self._pop_jump("NOT_NONE", label, True)

    def _pop_jump(self, condition: str, label: Label, is_bool: bool) -> None:
        if not is_bool:
            self.to_bool()
        if label.index is None:
            self.emit(OPCODE[CONDITIONAL + condition], 0, label)
            return
        over = self.label()
        self.emit(OPCODE[CONDITIONAL + INVERTED[condition]], 0, over)
        self.jump(label)
        self.place(over)

    def get_iter(self) -> None:
        """iterable -- iterator"""
        self._op("GET_ITER")

    def for_iter(self, done: Label) -> None:
        """iterator -- iterator, item; when exhausted the iterator is popped and `done` is next."""
        if not FOR_ITER_END and done.index is None:
            self.emit(OPCODE["FOR_ITER"], 0, done)
            return
        end = self.label()
        self._loop_ends.append((end, done))
        self.emit(OPCODE["FOR_ITER"], 0, end)

    def _place_loop_ends(self) -> None:
        """FOR_ITER looks for END_FOR at its target, so each loop has one out of the way."""
        self.position, self.handler = (None, None, None, None), None
        for end, done in self._loop_ends:
            self.place(end)
            for name in FOR_ITER_END:
                self._op(name)
            self.jump(done)
        self._loop_ends.clear()

    def return_value(self) -> None:
        """Leave the function with the top of the stack."""
        self._op("RETURN_VALUE")

    def reraise(self, lasti: int = 0) -> None:
        """Raise the exception on top; with `lasti`, as if from where the int at that depth below says."""
        self._op("RERAISE", lasti)

    def raise_(self, count: int) -> None:
        """Execute a raise statement with `count` operands."""
        self._op("RAISE_VARARGS", count)

    def raw(self, opcode: int, arg: int, target: Label | None = None) -> None:
        """One `(opcode, arg)` pair of `Instruction.raw`, with the jump's new target if it is one."""
        if target is not None and target.index is None:
            opcode = FORWARD_FORM.get(opcode, opcode)
        self.emit_raw(opcode, arg, target)

    # -- the original, and the end --

    def original_handler(self, offset: int) -> Region | None:
        """Give the original's exception-table entry that covers a byte offset: `.target`, `.depth`, `.lasti`."""
        return covering(self.code, offset)

    def finish(self) -> CodeType:
        """Lay out prologue, generated part and original body as one code object."""
        self._place_loop_ends()
        code = lay_out(self)
        if self.temporaries:
            self.hide(code, self.code.co_nlocals, self.temporaries)
        return code
