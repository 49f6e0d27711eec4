"""A Dask cluster on leased nodes: `pip install 'gridbay[dask]'`.

1. One job with a network is ordered; each of its ranks runs a worker, and rank 0 the scheduler
   (`dask_rank.py`). Dask travels along, so that both sides have the same.
2. The scheduler listens inside the lease's network alone. A port of this machine's loopback leads
   to it through the node (`forward.py`).
3. All speak TLS with a key that is made for this cluster, so other users of this machine cannot use
   that port.
4. What comes back is read as pickles, as Dask does: the sellers' machines can run code here. So one
   has to say that one trusts them.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import os
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any, Iterable, Union

from ._async import AsyncClient
from ._sync import Client
from .asks import FINAL
from .errors import ApiError, GridbayError
from .wishes import Bid, Buy, Want

try:
    from distributed import rpc
    from distributed.core import Status
    from distributed.deploy import Cluster as _Base
    from tornado.ioloop import PeriodicCallback

    from . import dask_keys
except ImportError as error:
    raise ImportError(f"gridbay.dask needs Dask: pip install 'gridbay[dask]' ({error})") from error

from . import dask_rank
from .forward import Forward, is_away
from .luggage import pack

#: Seconds from the order until all workers are there, at the most.
PATIENCE = 300.0
#: Seconds without a word of this process after which a cluster gives its lease up by itself.
ABANDONED = 300.0
_LOOK = 0.3
_SCRIPT = "dask_rank.py"
_TRUST = (
    "results of Dask are read as pickles, so the nodes that are leased can run any code on this "
    "machine: say trust_workers=True if you trust their sellers as much as yourself, or use "
    "gridbay.Executor, which reads plain data alone"
)
_FIXED = "the nodes of a lease are fixed: open another Cluster with as many nodes as you want"

#: Jobs to give up when this process ends, with the words that reach their nodes.
_held: dict[str, tuple[int, dict[str, Any]]] = {}


class Cluster(_Base):  # type: ignore[misc]
    """Dask on `nodes` leased nodes, a worker on each; `close` gives the lease up.

    >>> with Cluster(nodes=4, class_="small", trust_workers=True) as cluster:
    ...     with distributed.Client(cluster) as client:
    ...         client.submit(sum, [1, 2, 3]).result()
    """

    _supports_scaling = False

    def __init__(
        self,
        nodes: int = 1,
        *,
        trust_workers: bool = False,
        class_: str | None = None,
        seconds: int = 3_600,
        max_price: str | int | Decimal | None = None,
        budget: str | int | Decimal | None = None,
        how: Union[Buy, Bid, dict[str, Any], None] = None,
        data: str | os.PathLike[str] | None = None,
        url: str | None = None,
        token: str | None = None,
        packages: Iterable[str] = (),
        threads: int = 1,
        python: str = "python3",
        patience: float = PATIENCE,
        name: str | None = None,
        asynchronous: bool = False,
        loop: Any = None,
    ) -> None:
        """`data`, `url` and `token` name the node that buys, as those of `Client` do.

        `packages` are distributions (numpy, say) that travel along with Dask. `patience` is how
        many seconds may pass from the order until all workers are there. With `asynchronous` the
        cluster is to be awaited, or used by `async with`.
        """
        if trust_workers is not True:
            raise ValueError(_TRUST)
        if isinstance(packages, str):
            raise TypeError("packages is a list of names, such as ['numpy']")
        if nodes < 1 or threads < 1:
            raise ValueError("want at least one node, and one thread of each worker")
        price, most = (None if each is None else str(each) for each in (max_price, budget))
        self._want = Want(nodes, seconds, price, most, class_, how or Buy())
        self._where = {"data": data, "url": url, "token": token}
        self._packages = ("distributed", *packages)
        self._threads = threads
        self._python = python
        self._patience = patience
        self._job: str | None = None
        self._node: AsyncClient | None = None
        self._forward: Forward | None = None
        self._order: asyncio.Future[dict[str, Any]] | None = None
        self._cert, self._key = dask_keys.made()
        self.security = dask_rank.secured({"cert": self._cert, "key": self._key})
        super().__init__(asynchronous=asynchronous, loop=loop, quiet=True, name=name)
        if not self.called_from_running_loop:
            self._loop_runner.start()
            try:
                self.sync(self._start)
            except BaseException:
                self._loop_runner.stop()
                raise

    def __await__(self) -> Any:
        async def started() -> Cluster:
            if self.status == Status.created:
                await self._start()
            return self

        return started().__await__()

    @property
    def job(self) -> str | None:
        """Its job at the node."""
        return self._job

    @property
    def paid(self) -> Decimal:
        """What it cost so far. A slot is paid when it ends, so the last can come a little later."""
        if self._job is None:
            return Decimal(0)
        with Client(**self._where) as node:
            return Decimal(node.jobs.show(self._job)["paid"])

    def scale(self, n: int) -> None:
        """Refused."""
        raise GridbayError(_FIXED)

    def adapt(self, *words: Any, **more: Any) -> Any:
        """Refused."""
        raise GridbayError(_FIXED)

    def close(self, timeout: float | None = None) -> Any:
        """Ends the workers and gives the lease up."""
        done = super().close(timeout)
        if not self.asynchronous:
            self._loop_runner.stop()
        return done

    async def _start(self) -> None:
        self.status = Status.starting
        try:
            await asyncio.wait_for(self._begin(), self._patience)
        except BaseException as error:
            await self._close()
            if isinstance(error, asyncio.TimeoutError):
                text = f"no Dask cluster within {self._patience:g} s, and its lease is given up"
                raise GridbayError(f"{text}: see gridbay job why {self._job}") from error
            raise

    async def _begin(self) -> None:
        self._node = node = AsyncClient(**self._where)
        files = await asyncio.to_thread(self._files)
        order = node.jobs.run(
            [self._python, _SCRIPT],
            self._want,
            name="dask",
            inputs=files,
            network=True,
        )
        # Who gives up meanwhile has to know what was ordered.
        self._order = asyncio.ensure_future(order)
        self._hold((await asyncio.shield(self._order))["id"])
        self._forward = Forward(node, self._held_job(), f"rank0:{dask_rank.PORT}")
        await self._reached(self._forward)
        address = f"tls://127.0.0.1:{await self._forward.start()}"
        words = self.security.get_connection_args("client")
        self.scheduler_comm = rpc(address, connection_args=words)
        await self.scheduler_comm.gridbay_alive()
        often_ms = 1_000 * min(10.0, ABANDONED / 5)
        self.periodic_callbacks["alive"] = PeriodicCallback(self._tell_alive, often_ms)
        await super()._start()
        await self._wait_for_workers(self._want.nodes)

    def _files(self) -> dict[str, bytes]:
        """What the job brings along."""
        plan = {
            "python": sys.version_info[:2],
            "threads": self._threads,
            "abandoned": ABANDONED,
            "cert": self._cert,
            "key": self._key,
        }
        return {
            _SCRIPT: Path(dask_rank.__file__).read_bytes(),
            "cluster.json": json.dumps(plan).encode(),
            "packages.zip": pack(self._packages),
        }

    def _hold(self, job: str) -> None:
        self._job = job
        _held[job] = (os.getpid(), self._where)

    def _held_job(self) -> str:
        assert self._job is not None
        return self._job

    async def _reached(self, forward: Forward) -> None:
        """Waits until the scheduler answers, and fails as soon as the job is over."""
        assert self._node is not None
        job, is_member = self._held_job(), False
        while True:
            record = await self._node.jobs.show(job)
            if record["state"] in FINAL:
                raise GridbayError(await self._why(record))
            try:
                if record["state"] == "running":
                    if not is_member:
                        await self._node.post(f"/leases/{job}/connect")
                        is_member = True
                    return await forward.reach()
            except ApiError as error:
                if not is_away(error):
                    raise
            await asyncio.sleep(_LOOK)

    async def _why(self, record: dict[str, Any]) -> str:
        assert self._node is not None
        job, text = record["id"], f"is {record['state']} ({record['reason']})"
        for rank in range(self._want.nodes):
            with contextlib.suppress(GridbayError):
                said = await self._node.jobs.output(job, rank=rank, stream="stderr")
                if words := said[-2_000:].decode("utf-8", "replace").strip():
                    return f"job {job} of the cluster {text}, and rank {rank} said: {words}"
        return f"job {job} of the cluster {text}: see gridbay job why {job}"

    async def _tell_alive(self) -> None:
        # A word that is lost is followed by others.
        with contextlib.suppress(OSError):
            await self.scheduler_comm.gridbay_alive()

    async def _close(self) -> None:
        if self.status in (Status.closed, Status.closing):
            return
        try:
            await self._give_up()
        finally:
            if self._forward is not None:
                await self._forward.close()
            await super()._close()
            if self._node is not None:
                await self._node.close()

    async def _give_up(self) -> None:
        """Ends the job, and with it the lease."""
        if self._job is None and self._order is not None:
            with contextlib.suppress(GridbayError):
                self._hold((await self._order)["id"])
        if self._job is not None and self._node is not None:
            record = await self._node.jobs.show(self._job)
            if record["state"] not in FINAL:
                await self._node.jobs.cancel(self._job)
            _held.pop(self._job, None)


@atexit.register
def _give_up_all() -> None:
    """Gives up the leases of clusters that nobody closed."""
    for job, (process, where) in list(_held.items()):
        # A process that was forked has the other one's list.
        if process == os.getpid():
            with contextlib.suppress(GridbayError), Client(**where, timeout=10) as node:
                node.jobs.cancel(job)
