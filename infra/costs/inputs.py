"""What is asked: NAME=value, as make takes it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

DAYS = 30  # in a month
HOURS = DAYS * 24
SECONDS = HOURS * 3600

# A billion clicks a day and a little more, which docs/scale.md plans for, and the 100 new links a second that the stage lets through.
MOST_CLICKS = 12_000 * SECONDS
MOST_LINKS = 100 * SECONDS
# As many passwords of links as the template's HashesPerSecond may let through.
MOST_UNLOCKS = 1_000 * SECONDS


class Failure(Exception):
    """Something that the user can put right; its text is one line."""


@dataclass(frozen=True)
class Load:
    """A month's work, and the settings that change its price, by the names of the command line in lower case."""

    clicks: int = 1_000_000
    links: int = 10_000
    targets: int = 0
    workspace_targets: int = 10
    views: int | None = None
    limited: int = 0
    unlocks: int = 0
    renamed: int = 0
    logins: int = 0
    hot: float = 0.0
    peak: float = 10.0
    months: int = 13
    max_concurrency: int = 8
    log_days: int = 30
    log_level: str = "info"
    monitoring: str = "essential"
    tracing: str = "PassThrough"
    access_log: str = "off"
    click_days: int = 396
    click_recovery: str = "off"
    edge: str = "none"
    free_tier: str = "no"
    prices: str = ""
    assumptions: str = ""

    @property
    def pages(self) -> int:
        """How often somebody looks at a page of links and at the statistics of one: once per new link, if not said."""
        return self.links if self.views is None else self.views

    @property
    def is_free_tier(self) -> bool:
        """Whether what AWS gives each month for nothing, for good, is taken off."""
        return self.free_tier == "yes"

    @property
    def uses(self) -> int:
        """Clicks that take a use of a limit, also in a comparison with fewer clicks than were asked for."""
        return min(self.limited, self.clicks)

    @property
    def lone(self) -> float:
        """Clicks that come one by one."""
        return self.clicks * (1 - self.hot)

    @property
    def burst(self) -> float:
        """Clicks on links that many people follow at a time."""
        return self.clicks * self.hot

    @property
    def counted_alone(self) -> float:
        """What is counted one by one: lone clicks, and those of people who knew a password."""
        return self.lone + self.unlocks

    @property
    def all_clicks(self) -> float:
        """What is stored, with and without a password."""
        return self.clicks + self.unlocks


# From … to …, both included.
LIMITS: dict[str, tuple[float, float]] = {
    "clicks": (0, MOST_CLICKS),
    "links": (0, MOST_LINKS),
    "targets": (0, 1_000_000),
    "workspace_targets": (1, 100_000),
    "views": (0, MOST_LINKS),
    "limited": (0, MOST_CLICKS),
    "unlocks": (0, MOST_UNLOCKS),
    "renamed": (0, MOST_LINKS),
    "logins": (0, MOST_LINKS),
    "hot": (0, 1),
    "peak": (1, 1_000),
    "months": (1, 120),
    "max_concurrency": (2, 100),
    "log_days": (1, 3_653),
    "click_days": (1, 3_653),
}
CHOICES = {
    "log_level": ["error", "warn", "info"],
    "monitoring": ["essential", "full", "none"],
    "tracing": ["Active", "PassThrough"],
    "access_log": ["off", "on"],
    "click_recovery": ["off", "on"],
    "edge": ["none", "cloudfront"],
    "free_tier": ["no", "yes"],
}
FRACTIONS = ["hot", "peak"]


def parse(arguments: list[str], defaults: Load) -> Load:
    known = {field.name for field in fields(Load)}
    changes: dict[str, Any] = {}
    for argument in arguments:
        name, equals, text = argument.partition("=")
        member = name.lower()
        if not equals or name != name.upper() or member not in known:
            names = ", ".join(sorted(each.upper() for each in known))
            raise Failure(f"{argument}: not an input; there are {names}, each as NAME=value")
        changes[member] = value_of(name, text)
    load = replace(defaults, **changes)
    if load.limited > load.clicks:
        raise Failure(f"LIMITED={load.limited}: must be no more than CLICKS, of which there are {load.clicks:,}")
    return load


def value_of(name: str, text: str) -> Any:
    member = name.lower()
    if member in CHOICES:
        if text not in CHOICES[member]:
            raise Failure(f"{name}={text}: must be one of {', '.join(CHOICES[member])}")
        return text
    if member not in LIMITS:
        return text
    low, high = LIMITS[member]
    kind = "a number" if member in FRACTIONS else "a whole number"
    try:
        value = float(text) if member in FRACTIONS else int(text)
    except ValueError:
        value = None
    # Written so that it also refuses what is no number, with which no comparison is true.
    if value is None or not low <= value <= high:
        raise Failure(f"{name}={text}: must be {kind} from {low:,.0f} to {high:,.0f}")
    return value
