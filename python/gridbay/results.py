"""Results of calls, which come from strangers' machines.

A pickle can run code where it is read. So results are read as plain data: numbers, texts, bytes,
and lists, tuples, sets and dictionaries of such. Whoever trusts the sellers can read all that a
pickle can hold.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from .bounds import check
from .errors import RemoteError, UnsafeResult

#: Names that plain data needs beside the pickle's own forms. None of them makes much of little, as
#: `bytearray(1 << 40)` would.
_PLAIN = {("builtins", name) for name in ("complex", "range", "slice")}


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        raise UnsafeResult(
            f"a result holds {module}.{name}, which is not plain data: return numbers, texts, "
            "bytes and collections of them, or trust the sellers with results='any'"
        )

    def persistent_load(self, pid: Any) -> Any:
        raise UnsafeResult("a result refers to something outside itself")


def plain(content: bytes) -> Any:
    """The plain data in a pickle.

    Raises `UnsafeResult` for anything else, also for bytes that are no pickle.
    """
    try:
        check(content)
        return _Plain(io.BytesIO(content)).load()
    except UnsafeResult:
        raise
    except Exception as error:
        raise UnsafeResult(f"a result cannot be read: {error}") from error


def of_batch(content: bytes, rank: int, size: int, calls: int) -> dict[int, tuple[bool, bytes]]:
    """The results of a rank by place, each whether it worked and its pickle.

    Raises `UnsafeResult` unless there is one for each call that the rank was due.
    """
    rows = plain(content)
    due = list(range(rank, calls, size))
    found: dict[int, tuple[bool, bytes]] = {}
    if isinstance(rows, list):
        for row in rows:
            match row:
                case (int(place), bool(worked), bytes(pickled)) if place not in found:
                    found[place] = (worked, pickled)
    if sorted(found) != due or len(rows) != len(due):
        raise UnsafeResult(f"rank {rank} sent results of other calls than its own")
    return found


def value(worked: bool, pickled: bytes, trusted: bool) -> Any:
    """The result of a call; its failure is raised as `RemoteError`."""
    if worked:
        return pickle.loads(pickled) if trusted else plain(pickled)
    match plain(pickled):
        case (str(kind), str(message), str(trace)):
            raise RemoteError(kind, message, trace)
        case _:
            raise UnsafeResult("a failure that makes no sense")
