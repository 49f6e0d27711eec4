"""A node and its nouns, for asyncio: derived from `_sync.py` by `python/twin`."""

from __future__ import annotations

import asyncio
import os
import time
from types import TracebackType
from typing import Any, AsyncIterator, Mapping, Sequence

import httpx

from .asks import (
    FINAL,
    PAGE,
    ROOT,
    TIMEOUT,
    Ask,
    Event,
    EventLines,
    Piece,
    Where,
    failure,
    parsed,
    piece,
    unanswered,
)
from .errors import GridbayError
from .wishes import Want

_Json = dict[str, Any]
_Rows = list[dict[str, Any]]


class AsyncClient:
    """One node, over the socket of its data folder, or over HTTP with a token."""

    def __init__(
        self,
        data: str | os.PathLike[str] | None = None,
        *,
        url: str | None = None,
        token: str | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        where = Where.find(data, url, token)
        # With a transport of its own no proxy of the environment is told the token.
        self._http = httpx.AsyncClient(
            base_url=where.base,
            headers=where.headers(),
            timeout=timeout,
            transport=httpx.AsyncHTTPTransport(uds=where.socket),
            trust_env=False,
        )
        self._process = os.getpid()
        self.node = Node(self)
        self.peers = Peers(self)
        self.market = Market(self)
        self.offers = Offers(self)
        self.jobs = Jobs(self)
        self.leases = Leases(self)
        self.auctions = Auctions(self)
        self.ledger = Ledger(self)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the connections."""
        await self._http.aclose()

    async def send(self, ask: Ask) -> httpx.Response:
        """The answer to a request. Where the connection breaks, one with a key is sent once more.

        Raises `ApiError` for a refusal, and `GridbayError` if no answer comes.
        """
        tries = 2 if ask.key else 1
        sent = False
        while True:
            try:
                answer = await self._own().request(**ask.arguments())
                break
            except httpx.HTTPError as error:
                tries -= 1
                sent = sent or not isinstance(error, httpx.ConnectError)
                # A node that is only slow still works on it.
                if tries == 0 or isinstance(error, httpx.TimeoutException):
                    raise unanswered(ask, error, sent) from error
        if answer.is_success:
            return answer
        raise failure(answer.status_code, answer.content, ask.key)

    def _own(self) -> httpx.AsyncClient:
        # Two processes at one connection would read each other's answers.
        if os.getpid() != self._process:
            raise GridbayError("this client is of another process: make one here")
        return self._http

    async def json(self, ask: Ask) -> Any:
        """The JSON of an answer."""
        answer = await self.send(ask)
        return parsed(answer.content)

    async def each(self, path: str, *, page: int = PAGE, **params: Any) -> AsyncIterator[_Json]:
        """The lines of a list below `/api/v1`, asked for by pages as one reads on. Whatever comes
        or goes meanwhile, no line comes twice, and none is missed that stays."""
        after = None
        while True:
            wish = {**params, "limit": page, "after": after}
            answer = await self.send(Ask("GET", path, wish))
            for row in parsed(answer.content):
                yield row
            after = answer.headers.get("gridbay-next")
            if after is None:
                return

    async def events(self, last: str | None = None) -> AsyncIterator[Event]:
        """What changes at the node, for as long as one reads: from now on, or behind the event
        whose id is `last`. The kind `reset` says that some were missed.

        Goes on by itself where a stream ends, and raises `GridbayError` when the node is gone.
        """
        while True:
            headers = {"last-event-id": last} if last else {}
            lines = EventLines(last)
            try:
                async with self._own().stream("GET", ROOT + "/events", headers=headers) as answer:
                    if not answer.is_success:
                        raise failure(answer.status_code, await answer.aread())
                    async for line in answer.aiter_lines():
                        event = lines.feed(line)
                        last = lines.last
                        if event is not None:
                            yield event
            except httpx.HTTPError as error:
                raise GridbayError(f"the stream of events broke off: {error}") from error

    async def get(self, path: str, **params: Any) -> Any:
        """JSON of an address below `/api/v1` that has no method here."""
        return await self.json(Ask("GET", path, params))

    async def post(self, path: str, body: Any = None, *, key: str | None = None) -> Any:
        """Asks an address below `/api/v1` that has no method here to do something, once for each
        `key` while the node runs."""
        return await self.json(Ask("POST", path, body=body, key=key))


class _Noun:
    def __init__(self, client: AsyncClient) -> None:
        self._client = client


class Node(_Noun):
    """The node itself."""

    async def status(self) -> _Json:
        """One screen about the node."""
        return await self._client.get("/node")

    async def drain(self) -> _Json:
        """Takes no new leases from now on."""
        return await self._client.post("/node/drain")

    async def resume(self) -> _Json:
        """Takes leases again."""
        return await self._client.post("/node/resume")


class Peers(_Noun):
    """Peers of the node."""

    async def list(self) -> _Json:
        """This node's own reachability, and its peers."""
        return await self._client.get("/peers")


class Market(_Noun):
    """Prices and prospects."""

    async def prices(self) -> _Rows:
        """Supply and prices of all classes."""
        return await self._client.get("/prices")

    async def quote(self, want: Want) -> _Json:
        """The cost of an order, as things stand."""
        return await self._client.post("/quote", want.shape())

    async def find(self, query: str, limit: int | None = None) -> _Json:
        """Sellers by a query."""
        return await self._client.post("/find", {"query": query, "limit": limit})


class Offers(_Noun):
    """Offers on the ledger."""

    async def list(self) -> _Rows:
        """All of them."""
        return await self._client.get("/offers")

    async def each(self) -> AsyncIterator[_Json]:
        """All of them, as one reads on."""
        async for row in self._client.each("/offers"):
            yield row

    async def set(self, class_name: str, units: int, reserve: str, **more: Any) -> _Json:
        """Sets an own offer."""
        body = {"class": class_name, "units": units, "reserve": reserve, "buy": None}
        ask = Ask("PUT", "/offers", body={"label": None, "notice_seconds": None, **body, **more})
        return await self._client.json(ask)

    async def withdraw(self, label: int) -> _Json:
        """Takes an own offer back."""
        return await self._client.json(Ask("DELETE", f"/offers/{label}"))


class Leases(_Noun):
    """Leases of the node."""

    async def list(self) -> _Rows:
        """Those that it buys or serves."""
        return await self._client.get("/leases")

    async def each(self) -> AsyncIterator[_Json]:
        """Those that it buys or serves, as one reads on."""
        async for row in self._client.each("/leases"):
            yield row

    async def show(self, lease: str) -> _Json:
        """One of them."""
        return await self._client.get(f"/leases/{piece(lease)}")


class Auctions(_Noun):
    """What was sold, and how."""

    async def list(self, class_name: str | None = None, limit: int | None = None) -> _Rows:
        """The last ones, newest first."""
        return await self._client.get("/auctions", **{"class": class_name, "limit": limit})

    async def each(self, class_name: str | None = None) -> AsyncIterator[_Json]:
        """All that are kept, newest first, as one reads on."""
        async for row in self._client.each("/auctions", **{"class": class_name}):
            yield row

    async def show(self, auction: str) -> _Json:
        """One with its proof."""
        return await self._client.get(f"/auctions/{piece(auction)}")


class Ledger(_Noun):
    """Money."""

    async def balance(self, account: str | None = None) -> _Json:
        """An account's balance; this node's own without a name."""
        return await self._client.get("/ledger/balance", account=account)

    async def history(self, account: str | None = None, limit: int | None = None) -> _Rows:
        """Movements of money, newest first."""
        return await self._client.get("/ledger/history", account=account, limit=limit)

    async def movements(self, account: str | None = None) -> AsyncIterator[_Json]:
        """All movements of money, newest first, as one reads on."""
        async for row in self._client.each("/ledger/history", account=account):
            yield row

    async def transfer(
        self, to: str, amount: str, memo: str | None = None, *, key: str | None = None
    ) -> _Json:
        """Moves money to another account, once for each `key`."""
        body = {"to": to, "amount": amount, "memo": memo}
        return await self._client.post("/ledger/transfer", body, key=key)

    async def transfers(
        self, transfers: Sequence[Mapping[str, str | None]], *, key: str | None = None
    ) -> _Rows:
        """Moves money by many transfers, each a mapping with `to`, `amount` and perhaps `memo`, and
        all once for each `key`: what was `done` of each, or its `error`."""
        body = {"transfers": [{"memo": None, **each} for each in transfers]}
        return await self._client.post("/ledger/transfers", body, key=key)

    async def head(self) -> _Json:
        """The last block."""
        return await self._client.get("/ledger/head")


class Jobs(_Noun):
    """Own jobs."""

    async def list(self, *, all: bool = False) -> _Rows:
        """Those that have not ended, or all."""
        return await self._client.get("/jobs", all="true" if all else None)

    async def each(self, *, all: bool = False) -> AsyncIterator[_Json]:
        """Those that have not ended, or all, as one reads on."""
        async for row in self._client.each("/jobs", all="true" if all else None):
            yield row

    async def show(self, job: str) -> _Json:
        """One of them."""
        return await self._client.get(f"/jobs/{piece(job)}")

    async def why(self, job: str) -> _Json:
        """Why it is in its state."""
        return await self._client.get(f"/jobs/{piece(job)}/why")

    async def cancel(self, job: str) -> _Json:
        """Ends it."""
        return await self._client.post(f"/jobs/{piece(job)}/cancel")

    async def stage(self, content: bytes) -> _Json:
        """Uploads a file for a job that follows: its hash and its size."""
        return await self._client.json(Ask("PUT", "/content", content=content))

    async def run(
        self,
        argv: Sequence[str],
        want: Want | None = None,
        *,
        name: str | None = None,
        env: Mapping[str, str] | None = None,
        inputs: Mapping[str, bytes] | None = None,
        outputs: Sequence[str] = (),
        network: bool = False,
        project: str | None = None,
        key: str | None = None,
    ) -> _Json:
        """Sends an order with its job, once for each `key`, and does not wait: the job's record.

        With `network` its ranks reach one another. `project` is the one that pays: a user's jobs
        need one.
        """
        if isinstance(argv, str) or isinstance(outputs, str):
            raise TypeError("argv and outputs are lists of words, such as ['sh', '-c', 'ls']")
        staged = []
        for path, content in sorted((inputs or {}).items()):
            kept = await self.stage(content)
            staged.append({"path": path, "executable": content[:2] == b"#!", **kept})
        body = {
            "name": name,
            "want": (want or Want()).shape(),
            "argv": list(argv),
            "env": sorted((env or {}).items()),
            "inputs": staged,
            "outputs": sorted(set(outputs)),
            "network": network,
            "project": project,
        }
        return await self._client.post("/jobs", body, key=key)

    async def wait(self, job: str, *, timeout: float | None = None) -> _Json:
        """Waits for the end of a job: its record.

        Raises `TimeoutError` when the time is over; the job goes on.
        """
        end = None if timeout is None else time.monotonic() + timeout
        pause = 0.1
        while True:
            record = await self.show(job)
            if record["state"] in FINAL:
                return record
            if end is not None and time.monotonic() > end:
                raise TimeoutError(f"job {job} is {record['state']} still")
            await asyncio.sleep(pause)
            pause = min(1.0, pause * 1.5)

    async def log(
        self, job: str, *, rank: int = 0, stream: str = "stdout", start: int = 0
    ) -> Piece:
        """A piece of a stream of a rank."""
        params = {"rank": rank, "stream": stream, "from": start}
        answer = await self._client.send(Ask("GET", f"/jobs/{piece(job)}/logs", params))
        following = int(answer.headers["gridbay-next-offset"])
        return Piece(answer.content, following, answer.headers["gridbay-last"] == "true")

    async def output(self, job: str, *, rank: int = 0, stream: str = "stdout") -> bytes:
        """All that a rank put out so far."""
        whole, at = [], 0
        while True:
            part = await self.log(job, rank=rank, stream=stream, start=at)
            whole.append(part.content)
            if part.last or part.next_offset == at:
                return b"".join(whole)
            at = part.next_offset

    async def file(self, job: str, path: str, *, rank: int = 0) -> bytes:
        """A file that a rank brought back."""
        place = "/".join(piece(part) for part in path.split("/"))
        answer = await self._client.send(Ask("GET", f"/jobs/{piece(job)}/files/{rank}/{place}"))
        return answer.content
