"""What can go wrong."""

from __future__ import annotations

from typing import Any


def shown(text: str) -> str:
    """A text as it can be printed: strangers' words steer no terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


class GridbayError(Exception):
    """Every failure of this package.

    `key` is the idempotency key of the request that failed, if it had one: the same request under
    the same key is done at most once.
    """

    def __init__(self, text: str, *, key: str | None = None) -> None:
        super().__init__(text)
        self.key = key

    def __str__(self) -> str:
        return shown(super().__str__())


class ApiError(GridbayError):
    """A node's refusal: what happened, and what to do."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        hint: str,
        details: Any,
        *,
        key: str | None = None,
    ) -> None:
        super().__init__(f"{message} ({hint})" if hint else message, key=key)
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
        self.details = details


class RemoteError(GridbayError):
    """A call failed where it ran."""

    def __init__(self, kind: str, message: str, trace: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = shown(kind)
        self.trace = shown(trace)


class UnsafeResult(GridbayError):
    """A result holds more than plain data, and its sender is not trusted."""
