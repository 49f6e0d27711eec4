"""A port of this machine's loopback that leads to a port of a rank, through the node."""

from __future__ import annotations

import asyncio
from typing import Any, Optional

import httpx

from ._async import AsyncClient
from .asks import ROOT, failure, piece
from .errors import ApiError, GridbayError

#: Connections at a time at the most: every user of the machine can open some.
CONNECTIONS = 64
_BYTES = 256 * 1024


class Forward:
    """Leads to `to`, `rank0:8786` say, of a job with a network, whichever lease it has."""

    def __init__(self, node: AsyncClient, job: str, to: str) -> None:
        self._node = node
        self._job = job
        self._to = to
        self._server: Optional[asyncio.Server] = None
        self._open: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        """Listens: the port."""
        self._server = await asyncio.start_server(self._taken, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def close(self) -> None:
        """Ends all connections."""
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def reach(self) -> None:
        """Opens a connection and ends it. Raises `GridbayError` if that cannot be."""
        async with self._stream() as answer:
            await _checked(answer)

    def _stream(self) -> Any:
        return self._node._own().stream(
            "POST",
            f"{ROOT}/leases/{piece(self._job)}/stream",
            params={"to": self._to},
            headers={"connection": "upgrade", "upgrade": "gridbay-stream"},
        )

    def _taken(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) >= CONNECTIONS:
            return writer.close()
        task = asyncio.ensure_future(self._carried(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _carried(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._carry(reader, writer)
        except (OSError, httpx.HTTPError, httpx.StreamError, GridbayError):
            # Who has connected sees the end of it.
            pass
        finally:
            writer.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with self._stream() as answer:
            there = await _checked(answer)

            async def up() -> None:
                while content := await reader.read(_BYTES):
                    await there.write(content)

            async def down() -> None:
                while content := await there.read(_BYTES):
                    writer.write(content)
                    await writer.drain()

            ways = [asyncio.ensure_future(way) for way in (up(), down())]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)


async def _checked(answer: httpx.Response) -> Any:
    """The bytes' stream of an answer that is no answer any more."""
    if answer.status_code != 101:
        raise failure(answer.status_code, await answer.aread())
    return answer.extensions["network_stream"]


def is_away(error: GridbayError) -> bool:
    """Whether the other end may come yet."""
    return isinstance(error, ApiError) and error.code in ("unreachable", "not_found", "busy")
