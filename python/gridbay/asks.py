"""Requests and answers as plain values: what both clients share, without a connection."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping
from urllib.parse import quote

from .errors import ApiError, GridbayError

#: Begins all addresses.
ROOT = "/api/v1"
#: Bytes of a JSON answer at the most.
ANSWER_BYTES = 64 << 20
#: Lines of a list that are asked for at a time.
PAGE = 200
#: Seconds for an answer. A node waits 60 for the block of a transfer.
TIMEOUT = 90.0
#: States after which nothing follows.
FINAL = frozenset({"done", "failed", "cancelled", "expired"})


@dataclass(frozen=True)
class Ask:
    """One request."""

    method: str
    path: str
    params: Mapping[str, Any] | None = None
    body: Any = None
    content: bytes | None = None
    #: Of a `POST`; a fresh one unless it is given.
    key: str | None = None

    def __post_init__(self) -> None:
        # Made once, so that each attempt at this request has the same.
        if self.method == "POST" and self.key is None:
            object.__setattr__(self, "key", secrets.token_hex(16))

    def arguments(self) -> dict[str, Any]:
        """Arguments of the HTTP library's `request`."""
        headers = {"idempotency-key": self.key} if self.key else {}
        content = self.content
        if self.body is not None:
            headers["content-type"] = "application/json"
            content = json.dumps(self.body).encode()
        params = {k: v for k, v in (self.params or {}).items() if v is not None}
        return {
            "method": self.method,
            "url": ROOT + self.path,
            "params": params,
            "headers": headers,
            "content": content,
        }


def unanswered(ask: Ask, error: Exception, sent: bool) -> GridbayError:
    """The failure of a request that brought no answer, although it was `sent` perhaps."""
    text = f"no answer of the node: {error}"
    if ask.key and sent:
        text += (
            "; it is not known whether what was asked is done, "
            f"and it is done once if it is asked again with key={ask.key!r}"
        )
    return GridbayError(text, key=ask.key)


def piece(text: str) -> str:
    """A piece of an address."""
    return quote(text, safe="")


@dataclass(frozen=True)
class Where:
    """A node's address: the socket of a data folder, or HTTP with a token."""

    base: str
    socket: str | None
    token: str | None

    @staticmethod
    def find(data: str | os.PathLike[str] | None, url: str | None, token: str | None) -> Where:
        if url is not None:
            return Where(url.rstrip("/"), None, token)
        folder = data or os.environ.get("GRIDBAY_DATA") or Path.home() / ".gridbay"
        return Where("http://localhost", str(Path(folder) / "api.sock"), token)

    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"} if self.token else {}


def failure(status: int, content: bytes, key: str | None = None) -> ApiError:
    """The failure of an answer to a request under this key; also of one that is no node's."""
    try:
        said = json.loads(content)
        words = said["code"], said["message"], said["hint"], said.get("details")
    except (ValueError, KeyError, TypeError):
        words = "internal", f"the node answered {status}", "is it a node?", None
    return ApiError(status, *words, key=key)


def parsed(content: bytes) -> Any:
    """The JSON of an answer."""
    if len(content) > ANSWER_BYTES:
        raise GridbayError(f"an answer of more than {ANSWER_BYTES} bytes")
    return json.loads(content)


@dataclass(frozen=True)
class Piece:
    """A piece of a stream of a rank."""

    content: bytes
    next_offset: int
    last: bool


@dataclass(frozen=True)
class Event:
    """A change that the node told."""

    id: str
    kind: str
    data: Any


class EventLines:
    """Puts events together from the lines of a stream that goes on behind the id `last`."""

    def __init__(self, last: str | None) -> None:
        self._parts: dict[str, str] = {}
        self.last = last

    def feed(self, line: str) -> Event | None:
        """The event that a line ends, if it ends one."""
        if line:
            name, _, text = line.partition(":")
            self._parts[name] = text.removeprefix(" ")
            return None
        parts, self._parts = self._parts, {}
        # A stream begins with an id that is no event's.
        self.last = parts.get("id", self.last)
        if "data" not in parts:
            return None
        return Event(parts.get("id", ""), parts.get("event", ""), json.loads(parts["data"]))
