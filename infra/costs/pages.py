"""Puts into the documents what the calculator says: `make units`.

It writes between `<!-- numbers: name -->` and `<!-- /numbers -->` and nowhere else. There, a table keeps its heading, and of each
row what no number is: the name in front, by which the numbers are found, and the words in the last column.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import islice

from ..local.installer import ROOT
from . import containers, linklet, report
from .inputs import Load, parse
from .tables import Data, Line

COSTS, LINKWATCH, SCALE = ROOT / "docs/costs.md", ROOT / "docs/linkwatch.md", ROOT / "docs/scale.md"
MILLION = 1_000_000
NOTHING = Load(clicks=0, links=0)
BLOCK = re.compile(r"(?<=<!-- numbers: )([a-z_]+) -->\n\n(.*?)\n\n(?=<!-- /numbers -->)", re.DOTALL)

# The numbers of a table's rows, by the names in front.
Rows = dict[str, list[str]]


def main() -> None:
    data = Data.load()
    for path in (COSTS, LINKWATCH, SCALE):
        path.write_text(with_numbers(path.read_text(), data))


def with_numbers(text: str, data: Data) -> str:
    return BLOCK.sub(lambda found: f"{found[1]} -->\n\n{BLOCKS[found[1]](found[2], data)}\n\n", text)


def answer(old: str, data: Data) -> str:
    """A command with what it prints."""
    fence, command = old.splitlines()[:2]
    return f"{fence}\n{command}\n{report.text(load_of(command.removeprefix('$ ')), data)}\n```"


def cells_of(row: str) -> list[str]:
    return [cell.strip() for cell in row[1:-1].split("|")]


def table(old: str, rows: Rows) -> str:
    """The table with these rows. One that is new has no words yet."""
    heading, rule, *before = old.splitlines()
    words = {cells[0]: cells[-1] for cells in map(cells_of, before)}
    width = len(cells_of(heading))
    filled = ([name, *numbers, words.get(name, "")][:width] for name, numbers in rows.items())
    return "\n".join([heading, rule, *(f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in cells)}|" for cells in filled)])


def fixed(rows: Callable[[Data], Rows]) -> Callable[[str, Data], str]:
    """A table whose rows the calculator knows."""
    return lambda old, data: table(old, rows(data))


def chosen(numbers: Callable[[Load, Data], list[str]]) -> Callable[[str, Data], str]:
    """A table whose rows the document names, by what would be given to `make cost`."""
    return lambda old, data: table(old, {name: numbers(load_of(name), data) for name in names_of(old)})


def names_of(old: str) -> list[str]:
    return [cells_of(row)[0] for row in old.splitlines()[2:]]


def load_of(inputs: str) -> Load:
    return parse(inputs.strip("`").removeprefix("make cost").split(), Load())


# ------------------------------------------------------------------------------------------- What something consists of


def idle(data: Data) -> Rows:
    """What is paid when nobody uses it."""
    lists, free = (linklet.bill(replace(NOTHING, free_tier=choice), data) for choice in ("no", "yes"))
    rows = {line.name: [line.amount, f"{line.usd:.2f}", f"{less.usd:.2f}"] for line, less in zip(lists.lines, free.lines) if line.usd}
    return rows | {"**Sum**": ["", f"**{lists.total:.2f}**", f"**{free.total:.2f}**"]}


def clicks(data: Data) -> Rows:
    """What clicks add, per million: alone, and in bursts."""
    lone, burst = lone_clicks(data), clicks_in_bursts(data)
    alone, together = ({line.name: line for line in lines} for lines in (lone, burst))
    rows = {name: [*parts_of(alone.get(name)), *parts_of(together.get(name))] for name in dict.fromkeys([*alone, *together])}
    return rows | {"**Sum**": ["", f"**{usd(lone):.2f}**", "", f"**{usd(burst):.2f}**"]}


def parts(lines: list[Line]) -> Rows:
    return {line.name: parts_of(line) for line in lines} | {"**Sum**": ["", f"**{usd(lines):.2f}**"]}


def parts_of(line: Line | None) -> list[str]:
    return [line.amount, f"{line.usd:.2f}"] if line else ["", ""]


def usd(lines: list[Line]) -> float:
    return sum(line.usd for line in lines)


def lone_clicks(data: Data) -> list[Line]:
    return per_million(replace(NOTHING, clicks=1_000), NOTHING, 1_000, data)


def clicks_in_bursts(data: Data) -> list[Line]:
    return per_million(replace(NOTHING, clicks=MILLION, hot=1.0), NOTHING, MILLION, data)


def links(data: Data) -> list[Line]:
    """What a million links add in their first month."""
    load = replace(NOTHING, views=0, months=1)
    return per_million(replace(load, links=MILLION), load, MILLION, data)


def terms(data: Data) -> Rows:
    """What a million more of something costs that terms of links bring, and the request units of one."""
    load, operations = replace(NOTHING, clicks=MILLION), data.operations
    use = {part: operations["redirect_limited"][part] - operations["redirect"][part] for part in ("reads", "writes")}
    change = operations["change_destination"]
    of_changes = MILLION * sum(data.usd(f"dynamodb_{part}", change[part]) for part in ("reads", "writes"))
    uses = more(load, replace(load, limited=MILLION), data)
    unlocks = usd(per_million(replace(NOTHING, unlocks=1_000), NOTHING, 1_000, data))
    answers = {
        "Clicks on links with a limit": (use, uses),
        "Passwords that open a link": (operations["unlock"], unlocks),
        "Changes of where a link leads": (change, of_changes),
    }
    return {what: [f"{units['reads']:g}", f"{units['writes']:g}", f"{cost:.2f}"] for what, (units, cost) in answers.items()}


def people(data: Data) -> Rows:
    """What a million logins cost, and a million changes of members, and the request units of one."""
    login, member = data.operations["login"], data.operations["change_member"]
    logins = usd(per_million(replace(NOTHING, logins=1_000), NOTHING, 1_000, data))
    of_members = MILLION * sum(data.usd(f"dynamodb_{part}", member[part]) for part in ("reads", "writes"))
    answers = {"Logins": (login, logins), "Changes of a member": (member, of_members)}
    return {what: [f"{units['reads']:g}", f"{units['writes']:g}", f"{cost:.2f}"] for what, (units, cost) in answers.items()}


def jobs(data: Data) -> Rows:
    """What jobs cost, and their request units."""
    operations = data.operations

    def row(links: int) -> list[str]:
        units = {part: operations["job"][part] + links / 100 * operations["rename_hundred"][part] for part in ("reads", "writes")}
        cost = more(NOTHING, replace(NOTHING, renamed=links), data)
        return [f"{units['reads']:,.0f}", f"{units['writes']:,.0f}", f"{cost:.4f}"]

    return {"A tag of one link": row(1), "A tag of 100 links": row(100), "A tag of 5,000 links": row(5_000)}


def checks(data: Data) -> list[Line]:
    """What a million checks consist of, with the rounds that they are part of."""
    none, thousand = (replace(NOTHING, targets=targets) for targets in (0, report.MORE_TARGETS))
    thousand = linklet.with_places(thousand, data)
    return per_million(thousand, none, linklet.checks_a_month(thousand, data), data)


GROUPS = {
    "requests and transfer": ("API Gateway", "Data transfer"),
    "Lambda": ("Lambda",),
    "tables, beside raw clicks": ("DynamoDB",),
    "raw clicks": ("Raw clicks",),
    "queues, topic, scheduler": ("SQS", "SNS", "Scheduler"),
    "logs": ("CloudWatch logs",),
    "alarms": ("CloudWatch alarms",),
    "secrets": ("Secrets Manager",),
}


def shares(data: Data) -> Rows:
    """What makes which part of the tables above."""
    columns = [linklet.bill(NOTHING, data).lines, lone_clicks(data), clicks_in_bursts(data), links(data)]
    return {group: [f"{share(lines, names):.0%}" for lines in columns] for group, names in GROUPS.items()}


def share(lines: list[Line], names: tuple[str, ...]) -> float:
    return usd([line for line in lines if line.name.startswith(names)]) / usd(lines)


def per_million(load: Load, before: Load, count: float, data: Data) -> list[Line]:
    """The lines of the bill that so many things make longer, as if there were a million of them."""
    known = {line.name: line for line in linklet.bill(before, data).lines}
    found = []
    for line in linklet.bill(load, data).lines:
        less = known.get(line.name)
        more_usd = line.usd - (less.usd if less else 0)
        quantities = {
            price: (quantity - (less.quantities.get(price, 0) if less else 0)) / count * MILLION
            for price, quantity in line.quantities.items()
        }
        # What is there anyway, such as secrets and pollers, is no part of one thing more.
        quantities = {price: quantity for price, quantity in quantities.items() if quantity > 1e-6}
        if more_usd > 1e-9:
            found.append(Line(line.name, quantities, data.amount(quantities), more_usd / count * MILLION))
    return found


# ------------------------------------------------------------------------------------------------------------- In short


def more_clicks(load: Load, data: Data) -> float:
    return more(load, replace(load, clicks=load.clicks + MILLION), data)


def more_links(load: Load, data: Data) -> float:
    return more(load, replace(load, links=load.links + MILLION), data)


def more(load: Load, after: Load, data: Data) -> float:
    """What the difference costs if as many pages are looked at."""
    bills = [linklet.bill(replace(each, views=load.pages), data) for each in (load, after)]
    return bills[1].total - bills[0].total


def turn(load: Load, data: Data) -> str:
    """Up to how many million clicks a month Linklet is cheaper, without a break."""
    found = list(islice(report.each_range(load, data), 2))
    if found[0][1] == report.CONTAINERS:
        return "never"
    if report.CONTAINERS not in [who for _, who in found]:
        return "always"
    return f"{found[0][0] / MILLION:,.0f}"


def most_extra(load: Load, data: Data) -> float:
    """By what share Linklet is dearer where it is most, which is where the next larger database is due."""
    ends = [last for last, who in report.ranges(load, data) if who == report.CONTAINERS]
    loads = [replace(load, clicks=last, views=load.pages) for last in ends]
    shares = [linklet.bill(each, data).total / containers.bill(each, data).total - 1 for each in loads]
    return max(shares, default=0.0)


def cost_of_watching(load: Load, data: Data) -> float:
    """What monitoring adds to a month."""
    return linklet.bill(load, data).total - linklet.bill(replace(load, targets=0), data).total


def most_targets(load: Load, data: Data) -> str:
    most, _ = report.most_targets(load, data, lambda more: report.cheaper(more, data) == report.CONTAINERS)
    return report.rounded(most)


def most_targets_of_a_monitor(load: Load, data: Data) -> str:
    """The same beside containers that do nothing but monitor."""

    def is_dearer(more: Load) -> bool:
        return containers.monitor(more, data).total < cost_of_watching(more, data)

    return report.rounded(report.most_targets(load, data, is_dearer)[0])


def in_short(data: Data) -> Rows:
    everything = Load(monitoring="full", tracing="Active", access_log="on", click_recovery="on")
    nothing, free = (linklet.bill(replace(NOTHING, free_tier=choice), data).total for choice in ("no", "yes"))
    answers = {
        "A month without use": f"${nothing:.2f}",
        "The same, after what AWS gives each month for nothing": f"${free:.2f}",
        "A million clicks more, one by one, as on a quiet system": f"${more_clicks(Load(), data):.2f}",
        "A million clicks more, in bursts on a few links": f"${more_clicks(Load(hot=1.0), data):.2f}",
        "A million new links, in their first month": f"${more_links(Load(months=1), data):.2f}",
        "A million checks of monitored URLs, with their rounds": f"${usd(checks(data)):.2f}",
        "Containers and PostgreSQL without use": f"${containers.bill(NOTHING, data).total:.0f}",
        "Linklet is cheaper than they are up to": f"{turn(Load(), data)} million clicks a month",
        "With everything switched on that can be, up to": f"{turn(everything, data)} million",
        "Beyond that, Linklet costs more by at most": f"{most_extra(Load(), data) * 100:.0f} %",
        "Monitored URLs with which Linklet isn't dearer than they yet": most_targets(Load(), data),
        "Monitored URLs with which Linkwatch isn't dearer yet than containers that only monitor": most_targets_of_a_monitor(Load(), data),
    }
    return {question: [found] for question, found in answers.items()}


def with_settings(load: Load, data: Data) -> list[str]:
    return [f"{linklet.bill(load, data).total:,.2f}", f"{more_clicks(load, data):,.2f}", turn(load, data)]


def months_of_clicks(load: Load, data: Data) -> list[str]:
    """What a month costs, and a million clicks of it."""
    total = linklet.bill(load, data).total
    return [f"{total:,.0f}", f"{total / load.clicks * MILLION:,.2f}"]


def months_of_checks(load: Load, data: Data) -> list[str]:
    """How many, what they add to a month, and how much of that a million of them is."""
    count, added = linklet.checks_a_month(load, data), cost_of_watching(load, data)
    return [f"{count:,.0f}", f"{added:,.2f}", f"{added / count * MILLION:,.2f}"]


# By the names in the documents.
BLOCKS: dict[str, Callable[[str, Data], str]] = {
    "answer": answer,
    "in_short": fixed(in_short),
    "idle": fixed(idle),
    "clicks": fixed(clicks),
    "links": fixed(lambda data: parts(links(data))),
    "terms": fixed(terms),
    "people": fixed(people),
    "jobs": fixed(jobs),
    "shares": fixed(shares),
    "settings": chosen(with_settings),
    "months_of_clicks": chosen(months_of_clicks),
    "checks": fixed(lambda data: parts(checks(data))),
    "months_of_checks": chosen(months_of_checks),
}


if __name__ == "__main__":
    main()
