"""The tables of prices, units and assumptions, and the sum of quantities times prices."""

import json
import tomllib
from collections import Counter, defaultdict
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

HERE = Path(__file__).parent
DAYS = 30  # in a month
GB = 1e9


class Failure(Exception):
    """Something that the user can put right. Its text is one line."""


def load_tables(prices: str = "", assumptions: str = "") -> SimpleNamespace:
    """All tables by their names, with the values of the user's files in the place of ours."""
    return SimpleNamespace(
        prices=merged("prices.toml", prices),
        work=read_toml(HERE / "work.toml"),
        **merged("assumptions.toml", assumptions),
        **json.loads((HERE / "units.json").read_text()),
    )


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Failure(f"{path} can't be read as TOML: {error}") from None


def merged(name: str, path: str) -> dict[str, Any]:
    tables = read_toml(HERE / name)
    for name, members in read_toml(Path(path)).items() if path else ():
        if name not in tables or not isinstance(members, dict):
            raise Failure(f"{path}: no such table: {name}")
        if "usd" in members:
            tables[name].pop("above", None)  # The steps of our price don't fit another one.
        for member, value in members.items():
            # A price may get steps and an amount that is free.
            before = tables[name].get(member, {"above": [], "free": 0}.get(member))
            if before is None or not fits(before, value):
                raise Failure(f"{path}: {name}.{member} = {value}: there is no such value, or it is of another kind")
            tables[name][member] = value
    return tables


def fits(before: Any, value: Any) -> bool:
    """Whether a value can take the place of the one before. The only lists are pairs of numbers."""
    if isinstance(before, list) and isinstance(value, list):
        return all(isinstance(pair, list) and len(pair) == 2 and all(fits(0, number) for number in pair) for pair in value)
    if isinstance(before, str):
        return isinstance(value, str)
    return type(before) in (int, float) and type(value) in (int, float) and 0 <= value < inf


def cost(price: dict[str, Any], quantity: float, free: bool = False) -> float:
    """What so much costs in a month, less what is free if that counts."""
    billed = max(0.0, quantity - price.get("free", 0)) if free else quantity
    steps = [(0, price["usd"]), *price.get("above", [])]
    ends = [start for start, _ in steps[1:]] + [inf]
    return sum(max(0, min(billed, end) - start) * usd for (start, usd), end in zip(steps, ends)) / price["per"]


class Bill:
    """How much a month uses of everything that has a price: by lines, and in a line by the names of prices."""

    def __init__(self, load: SimpleNamespace, tables: SimpleNamespace) -> None:
        self.load, self.tables = load, tables
        self.lines: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, price: str, quantity: float, line: str = "") -> None:
        if quantity:
            self.lines[line or self.tables.prices[price]["line"]][price] += quantity

    def log(self, size: float) -> None:
        self.add("logs_written", size / GB)
        self.add("logs_kept", size / GB * self.load.log_days / DAYS)

    def send(self, answers: float, size: float) -> None:
        has_cloudfront = self.load.edge == "cloudfront"
        self.add("cloudfront_requests", answers if has_cloudfront else 0)
        # What goes from AWS to CloudFront is free.
        self.add("cloudfront_data_out" if has_cloudfront else "data_out", answers * size / GB)

    @property
    def usd(self) -> dict[str, float]:
        """What each line costs. Lines with the same price share its steps and what is free of it."""
        prices, free = self.tables.prices, self.load.free_tier == "yes"
        sums: Counter[str] = Counter()
        for quantities in self.lines.values():
            sums.update(quantities)
        rates = {price: cost(prices[price], quantity, free) / quantity for price, quantity in sums.items()}
        return {line: sum(quantity * rates[price] for price, quantity in used.items()) for line, used in self.lines.items()}

    @property
    def total(self) -> float:
        return sum(self.usd.values())
