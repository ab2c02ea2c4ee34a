"""Code objects that only embed: a stub in front of the original, and an identical second body."""

from __future__ import annotations

from types import CodeType

from minijit.codegen.buffer import Cover, Label
from minijit.codegen.emitter import Emitter
from minijit.interpreter.exception_table import read_regions
from minijit.interpreter.raw import CannotEmbed, Raw, read

__all__ = ["CannotEmbed", "identity", "stub"]


def stub(code: CodeType, entry: object) -> CodeType:
    """Ask `entry` for its truth at each call, then run the original either way."""
    emitter = Emitter(code)
    original = emitter.label()
    raw = read(code)
    body = raw.offsets[raw.prologue()]
    emitter.load_const(entry)
    emitter.pop_jump_if_false(original)
    emitter.jump_original(body)
    emitter.place(original)
    emitter.jump_original(body)
    return emitter.finish()


def identity(code: CodeType, entry: object) -> CodeType:
    """Run a second verbatim copy of the body when `entry` is true, else the original."""
    emitter = Emitter(code)
    raw = read(code)
    body = raw.prologue()
    original = emitter.label()
    emitter.load_const(entry)
    emitter.pop_jump_if_false(original)
    labels = {index: emitter.label() for index in range(body, len(raw.opcodes))}
    emitter.jump(labels[body])
    emitter.place(original)
    emitter.jump_original(raw.offsets[body])
    _copy(emitter, raw, labels)
    return emitter.finish()


def _copy(emitter: Emitter, raw: Raw, labels: dict[int, Label]) -> None:
    """Emit the instructions that have a label, as they are, under their own handlers."""
    positions = raw.positions(emitter.code)
    covers = _covers(emitter.code, raw, labels)
    for index, label in labels.items():
        emitter.place(label)
        emitter.position = positions[index]
        emitter.handler = covers.get(index)
        target = raw.targets[index]
        emitter.raw(raw.opcodes[index], raw.args[index], labels[target] if target >= 0 else None)


def _covers(code: CodeType, raw: Raw, labels: dict[int, Label]) -> dict[int, Cover]:
    covers = {}
    for region in read_regions(code.co_exceptiontable):
        cover = Cover(labels[raw.index(region.target)], region.depth, region.lasti)
        for index in range(raw.index(region.start), raw.index(region.end)):
            covers[index] = cover
    return covers
