"""Control flow as Python: loops and branches where that is possible, else labelled blocks in a loop.

A list of statements is made with a failure for each: what to do when it raises. `Writer` turns runs of
the same failure into one try statement.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from minijit.as_python.expressions import assign, call, constant, name
from minijit.interpreter.ir import Block, Branch, Edge, Exit, Failure, Jump, Next, Region, Return
from minijit.interpreter.ir_values import edges

if TYPE_CHECKING:
    from minijit.as_python.writer import Writer

__all__ = ["Statements", "Structure", "Unstructured", "labelled"]

Statements = list[tuple[ast.stmt, Failure]]
MOST_BLOCKS = 150
ENDS = (ast.Return, ast.Continue, ast.Break, ast.Raise)


class Unstructured(Exception):
    """Python has no statement for this control flow."""


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """Where statements stand: what comes after them, and the innermost loop's head and exit."""

    following: Block | None = None
    head: Block | None = None
    exit: Block | None = None
    heads: frozenset[Block] = frozenset()
    members: frozenset[Block] | None = None


class Structure:
    """Writes a region's control flow with `if`, `for` and `while`."""

    def __init__(self, region: Region, writer: Writer) -> None:
        self.writer = writer
        self.order = reverse_postorder(region.blocks[0])
        self.rank = {block: number for number, block in enumerate(self.order)}
        self.before: dict[Block, list[Block]] = {block: [] for block in self.order}
        for block in self.order:
            for edge in edges(block):
                self.before[edge.block].append(block)
        self.dominator = dominators(self.order, self.before, self.rank)
        self.loops = self._loops()
        self.emitted = 0

    def body(self) -> Statements:
        """All of it."""
        return self.sequence(self.order[0], Context())

    # -- the shape of the graph --

    def _dominates(self, block: Block, other: Block | None) -> bool:
        while other is not None and other is not block:
            other = self.dominator.get(other)
        return other is block

    def _loops(self) -> dict[Block, frozenset[Block]]:
        found: dict[Block, set[Block]] = {}
        for block in self.order:
            for head in (edge.block for edge in edges(block)):
                if self.rank[head] > self.rank[block]:
                    continue
                if not self._dominates(head, block):
                    raise Unstructured("a loop is entered in its middle")
                found.setdefault(head, {head}).update(self._reaching(block, head))
        return {head: frozenset(members) for head, members in found.items()}

    def _reaching(self, block: Block, head: Block) -> set[Block]:
        members, work = {head}, [block]
        while work:
            item = work.pop()
            if item not in members:
                members.add(item)
                work += self.before[item]
        return members

    def _forward(self, block: Block) -> int:
        return sum(self.rank[b] < self.rank[block] for b in self.before[block])

    def _merges(self, block: Block, context: Context) -> list[Block]:
        """Blocks where ways that part at `block` meet again, as far as they belong to the loop we are in."""
        children = [b for b in self.order if self.dominator.get(b) is block and self._forward(b) > 1]
        within = context.members
        return [b for b in children if (within is None or b in within) and b not in (context.exit, context.following)]

    # -- statements --

    def sequence(self, block: Block, context: Context) -> Statements:
        """A block and what is reached from it, up to what follows."""
        self.emitted += 1
        if self.emitted > MOST_BLOCKS:
            raise Unstructured("ways cross so often that copies of blocks would be needed")
        if block in self.loops and block not in context.heads:
            return self.loop(block, context)
        return self.straight(block, context)

    def straight(self, block: Block, context: Context) -> Statements:
        """A block that is no loop's head, or the body of the loop whose head it is."""
        merges = self._merges(block, context)
        following = [*merges, context.following]
        found = self.writer.operations(block)
        found += TERMINATORS[type(block.terminator)](self, block, replace(context, following=following[0]))
        for merge, after in zip(merges, following[1:], strict=True):
            found += self.sequence(merge, replace(context, following=after))
        return found

    def loop(self, head: Block, context: Context) -> Statements:
        """A loop and what comes after it."""
        members = self.loops[head]
        leaving = self._exit(head, members)
        inner = Context(head, head, leaving, context.heads | {head}, members)
        found: Statements = []
        step = head.terminator
        if isinstance(step, Next) and not self.writer.operations(head) and step.done.block is leaving \
                and self.writer.steps_quietly(step):
            found.append((self._for(step, inner), None))
        else:
            body = self.writer.group(self.straight(head, inner))
            found.append((ast.While(constant(True), body or [ast.Pass()], []), None))
        if leaving is not None:
            found += self.reach(leaving, context)
        return found

    def _for(self, step: Next, inner: Context) -> ast.stmt:
        """A for statement; what the edge at its end moves is in its else."""
        writer = self.writer
        body, otherwise = writer.group(self.goto(step.body, inner)), writer.group(writer.moves(step.done))
        target, iterator = writer.stored(step.result), writer.load(step.iterator)
        return ast.For(target, iterator, body or [ast.Pass()], otherwise, lineno=1)

    def _exit(self, head: Block, members: frozenset[Block]) -> Block | None:
        """Where `break` leads."""
        if isinstance(head.terminator, Next) and head.terminator.done.block not in members:
            return head.terminator.done.block
        outside = {edge.block for member in members for edge in edges(member)} - members
        return max(outside, key=lambda block: (self._forward(block) > 1, self.rank[block]), default=None)

    def goto(self, edge: Edge, context: Context) -> Statements:
        """Move an edge's values and go where it leads."""
        return self.writer.moves(edge) + self.reach(edge.block, context)

    def reach(self, block: Block, context: Context) -> Statements:
        """Go to a block."""
        if block is context.following:
            return []
        if block is context.head:
            return [(ast.Continue(), None)]
        if block is context.exit:
            return [(ast.Break(), None)]
        if block in context.heads:
            raise Unstructured("a jump goes to an outer loop")
        return self.sequence(block, context)

    def jump(self, block: Block, context: Context) -> Statements:
        """Go on."""
        assert isinstance(block.terminator, Jump)
        return self.goto(block.terminator.target, context)

    def branch(self, block: Block, context: Context) -> Statements:
        """An if statement."""
        branch = block.terminator
        assert isinstance(branch, Branch)
        test = self.writer.load(branch.condition)
        if branch.kind == "none":
            test = ast.Compare(test, [ast.Is()], [constant(None)])
        found: Statements = []
        if branch.failure is not None and branch.kind != "none":
            found.append((assign("truth", call("bool", test)), branch.failure))
            test = name("truth")
        return found + self.choice(test, self.goto(branch.then, context), self.goto(branch.otherwise, context))

    def choice(self, test: ast.expr, then: Statements, otherwise: Statements) -> Statements:
        """An if statement; what follows a side that never ends is not indented."""
        if not then and otherwise:
            test, then, otherwise = ast.UnaryOp(ast.Not(), test), otherwise, then
        group = self.writer.group
        if then and isinstance(then[-1][0], ENDS):
            return [(ast.If(test, group(then), []), None), *otherwise]
        return [(ast.If(test, group(then) or [ast.Pass()], group(otherwise)), None)]

    def next(self, block: Block, context: Context) -> Statements:
        """Advance an iterator where no for statement does."""
        step = block.terminator
        assert isinstance(step, Next)
        result = self.writer.names[step.result]
        advanced = call("next", self.writer.load(step.iterator), name("DONE"))
        found: Statements = [(assign(result, advanced), step.failure)]
        test = ast.Compare(name(result), [ast.Is()], [name("DONE")])
        return found + self.choice(test, self.goto(step.done, context), self.goto(step.body, context))

    def leave(self, block: Block, context: Context) -> Statements:
        """Return or go back to the original."""
        return self.writer.ending(block)


TERMINATORS: dict[type, Callable[[Structure, Block, Context], Statements]] = {
    Jump: Structure.jump,
    Branch: Structure.branch,
    Next: Structure.next,
    Return: Structure.leave,
    Exit: Structure.leave,
}


def labelled(region: Region, writer: Writer) -> Statements:
    """Blocks with numbers, and a loop that runs them: for control flow that Python has no statement for."""
    chain: list[ast.stmt] = []
    for block in reversed(region.blocks):
        body = writer.group([*writer.operations(block), *_labelled_end(block, writer)])
        test = ast.Compare(name("block"), [ast.Eq()], [constant(block.number)])
        chain = [ast.If(test, body, chain)]
    start = assign("block", constant(region.blocks[0].number))
    return [(start, None), (ast.While(constant(True), chain, []), None)]


def _labelled_end(block: Block, writer: Writer) -> Statements:
    end = block.terminator

    def way(edge: Edge) -> Statements:
        return [*writer.moves(edge), (assign("block", constant(edge.block.number)), None)]

    if isinstance(end, Jump):
        return way(end.target)
    if isinstance(end, Branch):
        test = writer.load(end.condition)
        if end.kind == "none":
            test = ast.Compare(test, [ast.Is()], [constant(None)])
        before: Statements = [(assign("truth", call("bool", test)), end.failure)]
        return [*before, (ast.If(name("truth"), writer.group(way(end.then)), writer.group(way(end.otherwise))), None)]
    if isinstance(end, Next):
        result = writer.names[end.result]
        step: Statements = [(assign(result, call("next", writer.load(end.iterator), name("DONE"))), end.failure)]
        test = ast.Compare(name(result), [ast.Is()], [name("DONE")])
        return [*step, (ast.If(test, writer.group(way(end.done)), writer.group(way(end.body))), None)]
    return writer.ending(block)


def reverse_postorder(entry: Block) -> list[Block]:
    """Blocks such that each comes before those it leads to, back edges aside."""
    order: list[Block] = []
    seen = {entry}
    work = [(entry, iter(edges(entry)))]
    while work:
        block, ways = work[-1]
        edge = next(ways, None)
        if edge is None:
            order.append(block)
            work.pop()
        elif edge.block not in seen:
            seen.add(edge.block)
            work.append((edge.block, iter(edges(edge.block))))
    return order[::-1]


def dominators(order: list[Block], before: dict[Block, list[Block]], rank: dict[Block, int]) -> dict[Block, Block]:
    """The immediate dominator of each block but the first."""
    found: dict[Block, Block] = {}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [b for b in before[block] if b is order[0] or b in found]
            new = known[0]
            for other in known[1:]:
                new = meet(new, other, found, rank)
            if found.get(block) is not new:
                found[block], changed = new, True
    return found


def meet(left: Block, right: Block, found: dict[Block, Block], rank: dict[Block, int]) -> Block:
    """The nearest block that dominates both."""
    while left is not right:
        if rank[left] > rank[right]:
            left = found[left]
        else:
            right = found[right]
    return left
