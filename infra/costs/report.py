"""The two bills side by side, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from . import containers, linklet
from .inputs import LIMITS, MOST_CLICKS, Load
from .tables import Bill, Data

NAME, AMOUNT, USD = 32, 44, 14
MILLION = 1_000_000


def text(load: Load, data: Data) -> str:
    ours = linklet.bill(load, data)
    mine = "\n".join([table("Linklet", ours), more(load, data, ours)])
    return "\n\n".join([heading(load), mine, other(load, data), turns(load, data), turn_of_targets(load, data)])


def heading(load: Load) -> str:
    counts = f"{load.clicks:,} clicks, {load.links:,} new links, {load.pages:,} page views"
    prices = f", with those of {load.prices}" if load.prices else ""
    limited = f"{load.limited:,} of the clicks on links with a limit,\n" if load.limited else ""
    unlocks = f"{load.unlocks:,} more behind a password,\n" if load.unlocks else ""
    renamed = f"{load.renamed:,} links whose tag a job renames,\n" if load.renamed else ""
    logins = f"{load.logins:,} logins,\n" if load.logins else ""
    free = "after what is free each month" if load.is_free_tier else "without free tiers"
    return (
        f"A month with {counts}, {load.targets:,} monitored URLs,\n"
        f"{limited}{unlocks}{renamed}{logins}after {load.months} months of the same. List prices of us-east-1{prices}, in USD, {free}."
    )


def table(title: str, bill: Bill) -> str:
    rows = [f"{title:<{NAME + AMOUNT}}{'USD':>{USD}}"]
    rows += [f"  {line.name:<{NAME}}{line.amount:>{AMOUNT - 2}}{line.usd:>{USD},.2f}" for line in bill.lines]
    return "\n".join([*rows, row("Total", bill.total)])


def row(name: str, usd: float) -> str:
    return f"{name:<{NAME + AMOUNT}}{usd:>{USD},.2f}"


def more(load: Load, data: Data, ours: Bill) -> str:
    """What a million more adds, each month; unlike the total, it has nothing that has to be paid anyway."""
    load = replace(load, views=load.pages)
    clicks = linklet.bill(replace(load, clicks=load.clicks + MILLION), data).total - ours.total
    links = linklet.bill(replace(load, links=load.links + MILLION), data).total - ours.total
    rows = [*per_million(load, ours), row("A million clicks more", clicks), row("A million new links more", links)]
    return "\n".join([*rows, row("A million checks more", million_checks(load, data))])


MORE_TARGETS = 1_000


def million_checks(load: Load, data: Data) -> float:
    """Of those of a thousand URLs more, with the places that these need and, before the first URL, with the rounds."""
    loads = [
        linklet.with_places(replace(load, targets=load.targets + targets), data) for targets in (0, MORE_TARGETS)
    ]
    totals = [linklet.bill(each, data).total for each in loads]
    checks = [linklet.checks_a_month(each, data) for each in loads]
    return (totals[1] - totals[0]) / (checks[1] - checks[0]) * MILLION


def per_million(load: Load, bill: Bill) -> list[str]:
    return [row("Total per million clicks", bill.total / load.clicks * MILLION)] if load.clicks else []


def other(load: Load, data: Data) -> str:
    try:
        theirs = containers.bill(load, data)
    except containers.TooMuch as reason:
        return f"Containers and SQL: impossible as assumed, since {reason}"
    title = f"Containers and SQL: {containers.size(load, data)}"
    return "\n".join([table(title, theirs), *per_million(load, theirs)])


# ----------------------------------------------------------------------------------------------- Where one gets cheaper

LINKLET = "Linklet"
CONTAINERS = "containers and SQL"
TOO_MUCH = "Linklet, since one database can't do it"
EITHER = "one or the other, changing with each size of the database"


def cheaper(load: Load, data: Data) -> str:
    """Who is cheaper at so many clicks a month, if everything else stays."""
    try:
        theirs = containers.bill(load, data).total
    except containers.TooMuch:
        return TOO_MUCH
    return CONTAINERS if theirs < linklet.bill(load, data).total else LINKLET


def ranges(load: Load, data: Data) -> list[tuple[int, str]]:
    """Up to how many clicks a month who is cheaper, from nothing to all that Linklet takes."""
    return list(each_range(load, data))


def each_range(load: Load, data: Data) -> Iterator[tuple[int, str]]:
    """The same, one after another: each takes its time."""
    load = replace(load, views=load.pages)

    def at(clicks: int) -> str:
        return cheaper(replace(load, clicks=clicks), data)

    steps = [0, *(round(10 ** (exponent / 50)) for exponent in range(150, 521)), MOST_CLICKS]
    low, who = 0, at(0)
    for high in (step for step in steps if step <= MOST_CLICKS):
        then = at(high)
        if then != who:
            yield last_of(low, high, at), who
        low, who = high, then
    yield MOST_CLICKS, who


def last_of(low: int, high: int, at: Callable[[int], str]) -> int:
    """The last number for which the same is true as for `low`; it isn't for `high`."""
    same = at(low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if at(middle) == same else (low, middle)
    return low


def in_short(found: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """With one range in the place of many that take turns."""
    able = [each for each in found if each[1] != TOO_MUCH]
    if len(able) <= 3:
        return found
    return [able[0], (able[-2][0], EITHER), able[-1], *found[len(able) :]]


def turns(load: Load, data: Data) -> str:
    rows = ["Cheaper, by clicks a month, if all else stays"]
    for last, who in in_short(ranges(load, data)):
        rows.append(f"  up to {rounded(last):>16}  {who}")
    return "\n".join(rows)


STEP = 10  # nothing about numbers of URLs is more exact than that


def most_targets(load: Load, data: Data, is_dearer: Callable[[Load], bool]) -> tuple[int, bool]:
    """With how many monitored URLs Linklet is not dearer yet, and whether it is with more.

    Each URL is checked in each round, as long as the template gives the places for it.
    """
    targets = 0
    while True:
        more = linklet.with_places(replace(load, targets=targets + STEP), data)
        if more.max_concurrency > LIMITS["max_concurrency"][1]:
            return targets, False
        if is_dearer(more):
            return targets, True
        targets += STEP


def turn_of_targets(load: Load, data: Data) -> str:
    most, ends = most_targets(load, data, lambda more: cheaper(more, data) == CONTAINERS)
    rows = ["Cheaper, by monitored URLs, if all else stays and all are checked in each round"]
    if most:
        rows.append(f"  up to {rounded(most):>16}  {LINKLET}{'' if ends else ', and MaxConcurrency has no places for more'}")
    return "\n".join([*rows, *([f"  beyond {'':>15}  {CONTAINERS}"] if ends else [])])


def rounded(number: int) -> str:
    """To two digits: nothing here is more exact than that."""
    return f"{round(number, 2 - len(str(number))):,}"
