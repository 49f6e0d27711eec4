"""Functions on leased nodes, as with `concurrent.futures`.

1. Calls wait for `linger` seconds, or until there are `batch` of them; then they are one job of up
   to `ranks` nodes, each of which makes its share. `map` does not wait: its calls are cut into as
   few jobs as there can be.
2. Functions, arguments and what they name travel by cloudpickle, so the node's python3 has to be
   of the same version (3.11, say) as this one. Modules that functions import have to be there;
   those named as `modules` travel along.
3. Results come from strangers, and are read as plain data unless `results="any"`
   (`gridbay.results`).
4. A call may run more than once if its job loses a node, and only its last result counts.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from concurrent.futures import Executor as _Base
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Iterable, Iterator

import cloudpickle

from ._sync import Client
from .errors import GridbayError, UnsafeResult
from .results import of_batch, value
from .wishes import Want

#: Calls of one job at the most.
BATCH = 10_000
#: Bytes of the calls of one job at the most.
CALL_BYTES = 64 << 20
#: Bytes of the results that a rank may bring: they are read into memory.
RESULT_BYTES = 1 << 30
#: Jobs of one executor at a time at the most.
JOBS = 8

_CALLS = "calls.bin"
_RESULTS = "results.bin"
_WORKER = "worker.py"


@dataclass(frozen=True)
class Statement:
    """What an executor did, and what that cost."""

    jobs: int
    calls: int
    failed: int
    nodes: int
    paid: Decimal
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.calls} calls ({self.failed} failed) in {self.jobs} jobs on {self.nodes} "
            f"nodes: {self.paid} credits, {self.seconds:.1f} s"
        )


@dataclass(eq=False)
class _Call:
    pickled: bytes
    future: Future[Any]


class Executor(_Base):
    """Makes calls on nodes that it leases for them."""

    def __init__(
        self,
        client: Client | None = None,
        *,
        want: Want | None = None,
        ranks: int = 1,
        batch: int = BATCH,
        linger: float = 0.05,
        python: str = "python3",
        results: str = "plain",
        modules: Iterable[ModuleType] = (),
        patience: float | None = None,
        project: str | None = None,
    ) -> None:
        """`want` says how nodes are bought, each job's number of them is up to `ranks`.

        `modules` are those of one's own that functions come from: they travel along. `patience` is
        how many seconds a job may take from its order to its end: one that takes longer is
        cancelled, and its calls end with `TimeoutError`. `project` pays for the jobs.
        """
        for module in modules:
            cloudpickle.register_pickle_by_value(module)
        if results not in ("plain", "any"):
            raise ValueError("results is 'plain' or 'any'")
        if ranks < 1 or not 1 <= batch <= BATCH:
            raise ValueError(f"want at least one rank, and batches of 1 to {BATCH} calls")
        self._client = client or Client()
        self._want = want or Want()
        self._ranks = ranks
        self._batch = batch
        self._linger = linger
        self._python = python
        self._trusted = results == "any"
        self._patience = patience
        self._project = project
        self._lock = threading.Condition()
        self._waiting: list[_Call] = []
        #: Calls whose jobs have not begun, those that wait among them.
        self._unsent: set[_Call] = set()
        self._closed = False
        self._process = os.getpid()
        self._jobs: list[str] = []
        self._counted = [0, 0]
        self._began = time.monotonic()
        self._pool = ThreadPoolExecutor(JOBS, thread_name_prefix="gridbay-job")
        self._gatherer = threading.Thread(target=self._gather, daemon=True, name="gridbay-gather")
        self._gatherer.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A call that shares a job with those that come soon after it."""
        self._refuse_if_forked()
        call = _call(fn, args, kwargs)
        with self._lock:
            self._refuse_if_closed()
            self._waiting.append(call)
            self._unsent.add(call)
            self._lock.notify()
        return call.future

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 0,
    ) -> Iterator[Any]:
        """The results in the order of the arguments; `chunksize` calls a job, all without it."""
        if chunksize < 0:
            raise ValueError("chunksize is the number of calls of a job, or 0 for all")
        self._refuse_if_forked()
        end = None if timeout is None else time.monotonic() + timeout
        calls = [_call(fn, args, {}) for args in zip(*iterables)]
        with self._lock:
            self._refuse_if_closed()
            self._unsent.update(calls)
            self._send(calls, min(chunksize, self._batch) or self._batch)
        return _in_turn([call.future for call in calls], end)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more calls, and with `cancel_futures` cancels those whose jobs have not begun.
        Jobs on their way end by themselves."""
        dropped: set[_Call] = set()
        with self._lock:
            self._closed = True
            if cancel_futures:
                dropped, self._unsent = self._unsent, dropped
                self._waiting = []
            self._lock.notify()
        # Without the lock: what waits for a future may use this executor.
        for call in dropped:
            if call.future.cancel():
                call.future.set_running_or_notify_cancel()
        if wait:
            self._gatherer.join()
            self._pool.shutdown()

    def statement(self) -> Statement:
        """What was done so far, and what it cost.

        A slot is paid when it ends, so what the last job costs can come a little later.
        """
        with self._lock:
            jobs, (calls, failed) = list(self._jobs), self._counted
        records = [self._client.jobs.show(job) for job in jobs]
        paid = sum((Decimal(record["paid"]) for record in records), Decimal(0))
        nodes = {seller["node"] for record in records for seller in record["sellers"]}
        seconds = time.monotonic() - self._began
        return Statement(len(jobs), calls, failed, len(nodes), paid, seconds)

    def _refuse_if_forked(self) -> None:
        # The threads that would make its calls are not there, and its lock may be held for ever.
        if os.getpid() != self._process:
            raise RuntimeError("this executor is of another process: make one here")

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise RuntimeError("cannot make calls after shutdown")

    def _gather(self) -> None:
        """Turns calls that wait into jobs, and lets the threads of jobs end after the last one."""
        try:
            self._gather_all()
        finally:
            self._pool.shutdown(wait=False)

    def _gather_all(self) -> None:
        while True:
            with self._lock:
                while not self._waiting and not self._closed:
                    self._lock.wait()
                if not self._waiting:
                    return
                end = time.monotonic() + self._linger
                while not self._closed and len(self._waiting) < self._batch:
                    left = end - time.monotonic()
                    if left <= 0 or not self._lock.wait(left):
                        break
                calls, self._waiting = self._waiting, []
                self._send(calls, self._batch)

    def _send(self, calls: list[_Call], most: int) -> None:
        begin = 0
        while begin < len(calls):
            end, room = begin, CALL_BYTES
            while end < len(calls) and end - begin < most and len(calls[end].pickled) <= room:
                room -= len(calls[end].pickled)
                end += 1
            try:
                self._pool.submit(self._run, calls[begin:end])
            except RuntimeError as error:
                # The interpreter ends: nobody would make these calls.
                for call in self._begun(calls[begin:end]):
                    call.future.set_exception(error)
            begin = end

    def _begun(self, calls: list[_Call]) -> list[_Call]:
        """Those of the calls that nobody cancelled: from now on nobody can."""
        with self._lock:
            own = [call for call in calls if call in self._unsent]
            self._unsent.difference_update(own)
        return [call for call in own if call.future.set_running_or_notify_cancel()]

    def _run(self, calls: list[_Call]) -> None:
        live = self._begun(calls)
        if not live:
            return
        try:
            self._settle(live)
        except BaseException as error:
            for call in live:
                if not call.future.done():
                    self._count(False)
                    call.future.set_exception(error)

    def _settle(self, calls: list[_Call]) -> None:
        size = min(self._ranks, len(calls))
        files = dict(_cloudpickle_files())
        files[_WORKER] = Path(__file__).with_name(_WORKER).read_bytes()
        version = tuple(sys.version_info[:2])
        files[_CALLS] = pickle.dumps((version, [call.pickled for call in calls]))
        jobs = self._client.jobs
        record = jobs.run(
            [self._python, _WORKER],
            replace(self._want, nodes=size),
            name="calls",
            inputs=files,
            outputs=[_RESULTS],
            project=self._project,
        )
        job = record["id"]
        with self._lock:
            self._jobs.append(job)
        record = self._waited(job)
        brought = {f["rank"]: f["bytes"] for f in record["files"] if f["path"] == _RESULTS}
        missing = [rank for rank in range(size) if rank not in brought]
        for rank, size_of in sorted(brought.items()):
            if size_of > RESULT_BYTES:
                why = f"rank {rank} of job {job} brought {size_of} bytes of results"
                raise UnsafeResult(f"{why}, and {RESULT_BYTES} are read: make fewer calls a job")
            found = of_batch(jobs.file(job, _RESULTS, rank=rank), rank, size, len(calls))
            for place, (worked, pickled) in found.items():
                self._end(calls[place], worked, pickled)
        if missing:
            said = jobs.output(job, rank=missing[0], stream="stderr")[-2_000:]
            raise GridbayError(
                f"job {job} is {record['state']} ({record['reason']}), and rank {missing[0]} "
                f"brought no results: {said.decode('utf-8', 'replace').strip()}"
            )

    def _waited(self, job: str) -> dict[str, Any]:
        """The record of a job that has ended. One that takes too long is cancelled: it would go on
        costing money, and nobody would hear of its results."""
        jobs = self._client.jobs
        try:
            return jobs.wait(job, timeout=self._patience)
        except TimeoutError as late:
            try:
                jobs.cancel(job)
            except GridbayError as error:
                raise TimeoutError(f"{late}, and could not be cancelled: {error}") from late
            raise TimeoutError(f"{late}, and is cancelled") from late

    def _end(self, call: _Call, worked: bool, pickled: bytes) -> None:
        try:
            result = value(worked, pickled, self._trusted)
        except Exception as error:
            self._count(False)
            call.future.set_exception(error)
        else:
            self._count(True)
            call.future.set_result(result)

    def _count(self, worked: bool) -> None:
        with self._lock:
            self._counted[0] += 1
            self._counted[1] += not worked


def _call(fn: Callable[..., Any], args: tuple[Any, ...], names: dict[str, Any]) -> _Call:
    pickled = cloudpickle.dumps((fn, args, names))
    if len(pickled) > CALL_BYTES:
        raise ValueError(f"a call of {len(pickled)} bytes, one has at most {CALL_BYTES}")
    return _Call(pickled, Future())


def _in_turn(futures: list[Future[Any]], end: float | None) -> Iterator[Any]:
    try:
        for future in futures:
            left = None if end is None else max(0.0, end - time.monotonic())
            yield future.result(left)
    finally:
        for future in futures:
            future.cancel()


def _cloudpickle_files() -> Iterator[tuple[str, bytes]]:
    """The package that reads functions, for nodes that do not have it."""
    folder = Path(cloudpickle.__file__).parent
    for file in sorted(folder.glob("*.py")):
        yield f"cloudpickle/{file.name}", file.read_bytes()
