"""What a stranger's pickle costs to read, counted without reading it.

1. An unpickler makes room for lengths and places that it is told, before it looks at the rest.
2. A tuple that holds another one twice, which holds another one twice, is small as a pickle and
   takes for ever to hash, since tuples do not keep their hashes. Keys and members of sets are
   hashed, and compared, while they are read.
3. The hash of a tuple within very many others overflows the stack, which ends the process.

So the steps of the pickle are followed with a weight and a depth for each object: those of its
hash. What is more than any honest result needs is refused.
"""

from __future__ import annotations

import pickletools
from typing import Any, Optional

from .errors import UnsafeResult

#: Steps that the hashes of one result may take in all, and that of a single object.
STEPS = 1 << 24
#: Tuples within one another at the most; a pickler of Python's own makes no more.
DEPTH = 1_000

#: Their hashes fail at once.
_LIGHT = frozenset(
    "EMPTY_LIST LIST APPEND APPENDS EMPTY_DICT DICT SETITEM SETITEMS EMPTY_SET ADDITEMS".split()
)
#: Take a mark and what is above it, and hash what the slice of that picks.
_HASHED = {
    "DICT": slice(0, None, 2),
    "SETITEMS": slice(0, None, 2),
    "ADDITEMS": slice(None),
    "FROZENSET": slice(None),
}
#: Weight and depth of an object on the stack; a mark has none.
_Item = Optional[tuple[int, int]]


def check(content: bytes) -> None:
    """Refuses a pickle that asks for more room or more time than its bytes are worth."""
    stack: list[_Item] = []
    memo: dict[int, _Item] = {}
    steps = 0
    for opcode, argument, _ in pickletools.genops(content):
        name = opcode.name
        if name == "MEMOIZE":
            memo[len(memo)] = _objects(stack[-1:], 1)[0]
        elif name in ("PUT", "BINPUT", "LONG_BINPUT"):
            if argument > len(content):
                raise UnsafeResult("a result asks for more room than its bytes can fill")
            memo[argument] = _objects(stack[-1:], 1)[0]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
        elif name == "MARK":
            stack.append(None)
        elif name == "POP":
            # Of a mark as well.
            stack.pop()
        elif name == "DUP":
            stack += _objects(stack[-1:], 1)
        else:
            taken = _taken(stack, opcode)
            hashed = taken[1:2] if name == "SETITEM" else taken[_HASHED.get(name, slice(0))]
            steps += sum(weight for weight, _ in hashed)
            if opcode.stack_after:
                made = (1, 1) if name in _LIGHT else _made(taken, argument)
                if made[1] > DEPTH:
                    raise UnsafeResult(f"a result has more than {DEPTH} tuples within tuples")
                stack.append(made)
                steps = max(steps, made[0])
            if steps > STEPS:
                raise UnsafeResult("a result would take very long to hash: tuples within tuples")


def _made(parts: list[tuple[int, int]], argument: Any) -> tuple[int, int]:
    """The weight and the depth of what is made of these, or of an argument."""
    # Large numbers do not keep their hashes.
    weight = argument.bit_length() >> 6 if isinstance(argument, int) else 0
    depth = 0
    for of_part, deep in parts:
        weight += of_part
        depth = max(depth, deep)
    return weight + 1, depth + 1


def _taken(stack: list[_Item], opcode: pickletools.OpcodeInfo) -> list[tuple[int, int]]:
    """Takes from the stack what the step takes: what is above a mark, or so many objects."""
    before = opcode.stack_before
    if pickletools.markobject not in before:
        return _cut(stack, len(before))
    above = 0
    while stack[-1 - above] is not None:
        above += 1
    taken = _cut(stack, above)
    stack.pop()
    # The collection below the mark is the step's outcome as well.
    _cut(stack, before.index(pickletools.markobject))
    return taken


def _cut(stack: list[_Item], count: int) -> list[tuple[int, int]]:
    begin = len(stack) - count
    taken = _objects(stack[begin:] if begin >= 0 else [], count)
    del stack[begin:]
    return taken


def _objects(items: list[_Item], count: int) -> list[tuple[int, int]]:
    objects = [item for item in items if item is not None]
    if len(objects) != count:
        raise ValueError("too few objects for a step")
    return objects
