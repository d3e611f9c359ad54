"""Prices, counts and assumptions, and the bill that is made of them."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .inputs import Failure

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Data:
    prices: dict[str, Any]
    """prices.toml: what AWS charges."""
    assumed: dict[str, Any]
    """assumptions.toml: what nobody has counted."""
    operations: dict[str, dict[str, float]]
    """units.json: request units of each operation, as a test measures them."""
    rows: dict[str, dict[str, Any]]
    """units.json: what is stored, and for how many days."""
    messages: dict[str, float]
    """units.json: how many bytes of a message are of one thing."""
    log_bytes: dict[str, dict[str, float]]
    """units.json: a function's `line`, what `metrics` add to it, and its other lines at level `info`."""
    template: dict[str, Any]
    """units.json: what template.yaml deploys."""

    @classmethod
    def load(cls, prices: str = "", assumptions: str = "") -> Data:
        """With these files of the user over ours."""
        counted = json.loads((HERE / "units.json").read_text())
        return cls(
            prices=merged(toml(HERE / "prices.toml"), prices),
            assumed=merged(toml(HERE / "assumptions.toml"), assumptions),
            operations=counted["operations"],
            rows=counted["rows"],
            messages=counted["messages"],
            log_bytes=counted["log_bytes"],
            template=counted["template"],
        )

    def usd(self, price: str, quantity: float, free: bool = False) -> float:
        """What so much of something costs in a month, less what is free each month if that counts."""
        known = self.prices[price]
        billed = max(0.0, quantity - known.get("free", 0)) if free else quantity
        steps = [(0, known["usd"]), *known.get("above", [])]
        ends = [start for start, _ in steps[1:]] + [float("inf")]
        parts = [max(0, min(billed, end) - start) * usd for (start, usd), end in zip(steps, ends)]
        return sum(parts) / known["per"]

    def amount(self, quantities: dict[str, float]) -> str:
        return ", ".join(readable(quantity, self.prices[price]["unit"]) for price, quantity in quantities.items())


def toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Failure(f"{path}: not TOML: {error}") from None


# What a price of the user may have although ours hasn't.
MAY_BE_ADDED: dict[str, Any] = {"above": [], "free": 0}


def merged(ours: dict[str, Any], path: str) -> dict[str, Any]:
    """Ours, with the members of the user's tables in their place."""
    if not path:
        return ours
    for name, table in toml(Path(path)).items():
        if name not in ours or not isinstance(table, dict):
            raise Failure(f"{path}: no such table: {name}")
        if "usd" in table:
            ours[name].pop("above", None)  # steps of our price say nothing about another one
        for member, value in table.items():
            check(f"{path}: {name}.{member}", ours[name].get(member, MAY_BE_ADDED.get(member)), value)
            ours[name][member] = value
    return ours


def check(place: str, before: Any, value: Any) -> None:
    """Whether a value can take the place of the one before."""
    if before is None:
        raise Failure(f"{place}: there is nothing of this name")
    if is_number(before) and not is_number(value):
        raise Failure(f"{place} = {value}: must be a number, not below 0")
    if isinstance(before, str) and not isinstance(value, str):
        raise Failure(f"{place} = {value}: must be text")
    if isinstance(before, list) and not (place.endswith(".above") and are_steps(value)):
        raise Failure(f"{place}: must be pairs of numbers, such as [[300_000_000, 0.90]]")


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def are_steps(value: Any) -> bool:
    pairs = isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)
    return pairs and all(is_number(number) for pair in value for number in pair)


@dataclass(frozen=True)
class Line:
    name: str
    quantities: dict[str, float]
    """How much of each thing that has a price, by the prices' names."""
    amount: str
    usd: float


@dataclass
class Bill:
    data: Data
    free: bool = False
    """Whether what is free each month is taken off."""
    entries: list[tuple[str, dict[str, float]]] = field(default_factory=list)

    def add(self, name: str, **quantities: float) -> None:
        """A line of things that cost something, by the names of their prices; none if there is nothing of them."""
        some = {price: quantity for price, quantity in quantities.items() if quantity}
        if some:
            self.entries.append((name, some))

    @property
    def amounts(self) -> dict[str, float]:
        """How much there is of each price, in all lines."""
        amounts: dict[str, float] = {}
        for _, quantities in self.entries:
            for price, quantity in quantities.items():
                amounts[price] = amounts.get(price, 0) + quantity
        return amounts

    @property
    def lines(self) -> list[Line]:
        """If several lines have something of a price, each pays its part of what all of it costs."""
        rates = {price: self.data.usd(price, amount, self.free) / amount for price, amount in self.amounts.items()}
        found = []
        for name, quantities in self.entries:
            usd = sum(quantity * rates[price] for price, quantity in quantities.items())
            found.append(Line(name, quantities, self.data.amount(quantities), usd))
        return found

    @property
    def total(self) -> float:
        return sum(self.data.usd(price, amount, self.free) for price, amount in self.amounts.items())


def readable(quantity: float, unit: str) -> str:
    if quantity == 1 and not unit.endswith("-s"):
        return f"1 {unit.removesuffix('s')}"
    if quantity >= 1_000_000:
        return f"{quantity / 1_000_000:,.2f} million {unit}"
    if quantity >= 100 or quantity == int(quantity):
        return f"{quantity:,.0f} {unit}"
    return f"{quantity:.2f} {unit}"
