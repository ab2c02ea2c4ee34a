"""Run a test module of the standard library over code that leaves for the embedded original at random places.

    python cross.py test.test_with 4 1

Every code object imported gets a second copy of its body in front of the original. One in so many
instructions of the copy is preceded by a jump to the same instruction of the original; half of
the exception handlers lead there too. Whatever is on the stack goes along, inside loops, `try`,
`with`, generators and coroutines. The tests of a correct interpreter must not notice.
"""

import importlib.machinery
import random
import sys
import unittest
from types import CodeType

from minijit.codegen.buffer import Cover
from minijit.codegen.emitter import Emitter
from minijit.codegen.verify import verify
from minijit.interpreter.exception_table import read_regions
from minijit.interpreter.opcodes import OPNAME
from minijit.interpreter.raw import CannotEmbed, read

BEFORE = {"RESUME", "PRECALL", "CALL", "CALL_KW", "END_FOR", "END_SEND", "SEND", "END_ASYNC_FOR"}
"""What belongs to the instruction before it."""
counts = {"codes": 0, "instructions": 0, "exits": 0, "handlers": 0}


def cross(code, one_in, seed):
    """The code object with a copy of its body that leaves now and then."""
    emitter, raw, choose = Emitter(code), read(code), random.Random(seed ^ len(code.co_code))
    labels = {index: emitter.label() for index in range(raw.prologue(), len(raw.opcodes))}
    targets = _handlers(emitter, raw, labels, choose)
    covers, positions = _covers(code, raw, targets), raw.positions(code)
    for index, label in labels.items():
        emitter.position, emitter.handler = positions[index], covers.get(index)
        emitter.place(label)
        if _may_leave(raw, index) and not choose.randrange(one_in):
            emitter.jump_original(raw.offsets[index])
            counts["exits"] += 1
        target = raw.targets[index]
        emitter.raw(raw.opcodes[index], raw.args[index], labels[target] if target >= 0 else None)
    _place_pads(emitter, raw, labels, targets)
    new = emitter.finish()
    verify(new)
    counts["codes"] += 1
    counts["instructions"] += len(raw.opcodes)
    return new


def _may_leave(raw, index):
    name, before = OPNAME[raw.opcodes[index]], OPNAME[raw.opcodes[index - 1]]
    return index > raw.prologue() and name not in BEFORE and (before, name) != ("END_FOR", "POP_TOP")


def _handlers(emitter, raw, labels, choose):
    """Where each handler is: in the copy, or on a pad that leads to the original's."""
    starts = {raw.index(region.target) for region in read_regions(emitter.code.co_exceptiontable)}
    return {start: emitter.label() if choose.randrange(2) else labels[start] for start in sorted(starts)}


def _covers(code, raw, targets):
    covers = {}
    for region in read_regions(code.co_exceptiontable):
        cover = Cover(targets[raw.index(region.target)], region.depth, region.lasti)
        covers.update(dict.fromkeys(range(raw.index(region.start), raw.index(region.end)), cover))
    return covers


def _place_pads(emitter, raw, labels, targets):
    emitter.handler = None
    for index, label in targets.items():
        if label is not labels[index]:
            emitter.place(label)
            emitter.jump_original(raw.offsets[index])
            counts["handlers"] += 1


def cross_all(code, one_in, seed):
    """The same for every code object among the constants."""
    constants = tuple(cross_all(c, one_in, seed) if isinstance(c, CodeType) else c for c in code.co_consts)
    code = code.replace(co_consts=constants)
    try:
        return cross(code, one_in, seed)
    except CannotEmbed:
        return code


def install(one_in, seed):
    """Convert whatever is imported from source from now on."""
    original = importlib.machinery.SourceFileLoader.get_code

    def get_code(self, name):
        code = original(self, name)
        return code if code is None or name.startswith(("minijit", "random")) else cross_all(code, one_in, seed)

    importlib.machinery.SourceFileLoader.get_code = get_code


def main():
    """Print a line with the outcome and the counts; exit status 1 when a test failed."""
    module, one_in, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if one_in:
        install(one_in, seed)
    result = unittest.main(module=None, argv=["cross", module], exit=False, verbosity=0).result
    bad = result.failures + result.errors
    print("RESULT", module, "run", result.testsRun, "bad", len(bad), counts)
    for test, text in bad:
        print("   ", test, "|", text.strip().splitlines()[-1][:150])
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
