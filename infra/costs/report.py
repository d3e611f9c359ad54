"""The two bills side by side, as text, and where one gets cheaper than the other."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import count
from types import SimpleNamespace

from . import containers, linklet
from .inputs import INPUTS, Load, parse
from .tables import Bill

MILLION = 1_000_000
WIDTH, USD = 76, 14
LINKLET = "Linklet"
CONTAINERS = "containers and SQL"
TOO_MUCH = "Linklet, since one database can't do it"
EITHER = "one or the other, changing with each size of the database"
STEP = 10  # Nothing about numbers of URLs is more exact than that.


def text(load: Load, tables: SimpleNamespace) -> str:
    ours = [
        *table("Linklet", linklet.bill(load, tables)),
        row("A million clicks more", more_of("clicks", load, tables)),
        row("A million new links more", more_of("links", load, tables)),
        row("A million checks more", million_checks(load, tables)),
    ]
    theirs, size = containers.bill(load, tables)
    title = f"Containers and SQL: {'' if theirs else 'impossible as assumed, since '}{size}"
    other = table(title, theirs) if theirs else [title]
    sections = [heading(load), ours, other, turns(load, tables), turns_of_targets(load, tables)]
    return "\n\n".join("\n".join(section) for section in sections)


def heading(load: Load) -> list[str]:
    usual = parse([]).but(clicks=load.clicks, links=load.links, views=load.views, targets=load.targets, months=load.months)
    others = [f"{name.upper()}={value}" for name, value in vars(load).items() if value != getattr(usual, name)]
    return [
        f"A month with {load.clicks:,} clicks, {load.links:,} new links, {load.views:,} page views,",
        f"{load.targets:,} monitored URLs, after {load.months} months of the same.",
        f"List prices of us-east-1, in USD.{' With ' if others else ''}{' '.join(others)}",
    ]


def table(title: str, bill: Bill) -> list[str]:
    usd, order, clicks = bill.usd, list(bill.tables.prices), bill.load.clicks
    rows = [f"{title:<{WIDTH}}{'USD':>{USD}}"]
    for name, quantities in sorted(bill.lines.items(), key=lambda line: min(map(order.index, line[1]))):
        amounts = (readable(quantity, bill.tables.prices[price]["unit"]) for price, quantity in quantities.items())
        rows.append(f"  {name:<32}{', '.join(amounts):>{WIDTH - 34}}{usd[name]:>{USD},.2f}")
    rows.append(row("Total", bill.total))
    return [*rows, row("Total per million clicks", bill.total / clicks * MILLION)] if clicks else rows


def row(name: str, usd: float) -> str:
    return f"{name:<{WIDTH}}{usd:>{USD},.2f}"


def readable(quantity: float, unit: str) -> str:
    if quantity == 1 and not unit.endswith("-s"):
        return f"1 {unit.removesuffix('s')}"
    if quantity >= MILLION:
        return f"{quantity / MILLION:,.2f} million {unit}"
    return f"{quantity:,.0f} {unit}" if quantity >= 100 or quantity == int(quantity) else f"{quantity:.2f} {unit}"


def rounded(number: int) -> str:
    """To two digits: no more of it is exact."""
    return f"{round(number, 2 - len(str(number))):,}"


def more_of(name: str, load: Load, tables: SimpleNamespace) -> float:
    """What a million more add to a month, without what has to be paid anyway."""
    after = load.but(**{name: getattr(load, name) + MILLION})
    return linklet.bill(after, tables).total - linklet.bill(load, tables).total


def million_checks(load: Load, tables: SimpleNamespace) -> float:
    """What a million checks of more URLs add, with the places that these need and, before the first URL, with the ticks."""
    loads = [linklet.with_places(load.but(targets=load.targets + more), tables) for more in (0, 1_000)]
    totals = [linklet.bill(each, tables).total for each in loads]
    checks = [linklet.ticks(each, tables).all_checks for each in loads]
    return (totals[1] - totals[0]) / (checks[1] - checks[0]) * MILLION


def cheaper(load: Load, tables: SimpleNamespace) -> str:
    theirs, _ = containers.bill(load, tables)
    if not theirs:
        return TOO_MUCH
    return CONTAINERS if theirs.total < linklet.bill(load, tables).total else LINKLET


def ranges(load: Load, tables: SimpleNamespace) -> Iterator[tuple[int, str]]:
    """Up to how many clicks a month who is cheaper, if all else stays, from nothing to all that Linklet takes."""
    most = INPUTS["CLICKS"]["most"]
    steps = [round(10 ** (exponent / 50)) for exponent in range(150, 521)]
    low, who = 0, cheaper(load.but(clicks=0), tables)
    for high in [step for step in steps if step < most] + [most]:
        then = cheaper(load.but(clicks=high), tables)
        if then != who:
            changes = bisect_left(range(low, high), True, key=lambda clicks: cheaper(load.but(clicks=clicks), tables) != who)
            yield low + changes - 1, who
        low, who = high, then
    yield most, who


def turns(load: Load, tables: SimpleNamespace) -> list[str]:
    found = list(ranges(load, tables))
    able = [each for each in found if each[1] != TOO_MUCH]
    if len(able) > 3:
        # One line in the place of many that take turns.
        found[1 : len(able) - 1] = [(able[-2][0], EITHER)]
    rows = [f"  up to {rounded(last):>16}  {who}" for last, who in found]
    return ["Cheaper, by clicks a month, if all else stays", *rows]


def most_targets(load: Load, tables: SimpleNamespace, is_dearer: Callable[[Load], bool]) -> tuple[int, bool]:
    """With how many monitored URLs Linklet isn't dearer yet, and whether it is with more, if there are places for these."""
    for targets in count(STEP, STEP):
        more = linklet.with_places(load.but(targets=targets), tables)
        has_places = more.max_concurrency <= INPUTS["MAX_CONCURRENCY"]["most"]
        if not has_places or is_dearer(more):
            return targets - STEP, has_places


def turns_of_targets(load: Load, tables: SimpleNamespace) -> list[str]:
    rows = ["Cheaper, by monitored URLs, if all else stays and all are checked in each tick"]
    for is_dearer, ours, theirs in (
        (lambda more: cheaper(more, tables) == CONTAINERS, LINKLET, CONTAINERS),
        (lambda more: containers.monitor(more, tables).total < linklet.watching(more, tables), "Linkwatch", "containers that only monitor"),
    ):
        most, ends = most_targets(load, tables, is_dearer)
        if most:
            rows.append(f"  up to {rounded(most):>16}  {ours}{'' if ends else ', and MaxConcurrency has no places for more'}")
        if ends:
            rows.append(f"  beyond {'':>15}  {theirs}")
    return rows
