"""What a job asks of the market."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Union


@dataclass(frozen=True)
class Buy:
    """Nodes at once, at the asked price; where too few are free, those that others leave within
    `wait_seconds`: a job's nodes are free again when the slot ends in which it ends."""

    wait_seconds: int = 60

    def shape(self) -> dict[str, Any]:
        return {"mechanism": "buy", "wait_seconds": self.wait_seconds}


@dataclass(frozen=True)
class Bid:
    """A sealed bid in the auction of the class."""

    divisible: bool = False

    def shape(self) -> dict[str, Any]:
        return {"mechanism": "ausubel", "divisible": self.divisible}


@dataclass(frozen=True)
class Want:
    """Nodes for a time. Prices are decimal text in credits per node-hour."""

    nodes: int = 1
    seconds: int = 600
    max_price: str | None = None
    budget: str | None = None
    class_name: str | None = None
    how: Union[Buy, Bid, dict[str, Any]] = field(default_factory=Buy)

    def shape(self) -> dict[str, Any]:
        how = self.how if isinstance(self.how, dict) else self.how.shape()
        return {
            "class": self.class_name,
            "nodes": self.nodes,
            "max_price": self.max_price,
            "seconds": self.seconds,
            "budget": self.budget,
            "how": how,
        }
