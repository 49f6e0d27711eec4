"""A gridbay node from Python: its nouns, and an executor over the market.

>>> with Client() as node:
...     node.jobs.list()

See docs/python.md of gridbay.
"""

from ._async import AsyncClient
from ._sync import Client
from .errors import ApiError, GridbayError, RemoteError, UnsafeResult
from .executor import Executor, Statement
from .wishes import Bid, Buy, Want

__all__ = [
    "ApiError",
    "AsyncClient",
    "Bid",
    "Buy",
    "Client",
    "Executor",
    "GridbayError",
    "RemoteError",
    "Statement",
    "UnsafeResult",
    "Want",
]
