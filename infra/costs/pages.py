"""Puts into the documents what the calculator says: `make units`.

Tables whose heading is known here are written anew. Elsewhere numbers change and nothing else, wherever a document says
in the same words what comes out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from . import containers, linklet, report
from .inputs import Load, parse
from .tables import Data, Line

ROOT = Path(__file__).resolve().parents[2]
COSTS, LINKWATCH, README = ROOT / "docs/costs.md", ROOT / "docs/linkwatch.md", ROOT / "README.md"
MILLION = 1_000_000
NOTHING = Load(clicks=0, links=0)

NUMBER = r"\d+(?:[.,]\d+)*"
ANSWER = re.compile(r"```console\n\$ (make cost.*)\n[^`]*```")
SETTING = re.compile(
    r"^(\| `([A-Z_]+=.*|make cost)` \| .* \|) [\d.,]+ \| [\d.,]+ \| (?:[\d.,]+|never|always) \|$", re.MULTILINE
)
CHECKS = re.compile(r"^(\| ([\d,]+) targets \| (\d+) \| .* \|) [\d,]+ million \| \$[\d,]+ \|$", re.MULTILINE)


def main() -> None:
    data = Data.load()
    for path, write in PAGES.items():
        path.write_text(write(path.read_text(), data))


def costs(text: str, data: Data) -> str:
    """docs/costs.md with the numbers that come out."""
    text = ANSWER.sub(lambda found: answer(found, data), text)
    text = SETTING.sub(lambda found: setting(found, data), text)
    text = with_table(text, idle_parts(data))
    text = with_table(text, click_parts(data))
    text = with_table(text, link_parts(data))
    text = with_table(text, shares(data))
    return with_all_numbers(text, said(data))


def linkwatch(text: str, data: Data) -> str:
    """docs/linkwatch.md with the numbers that come out."""
    text = CHECKS.sub(lambda found: month_of_checks(found, data), text)
    text = with_table(text, check_parts(data))
    return with_all_numbers(text, said_of_checks(data)[1:])


def readme(text: str, data: Data) -> str:
    """The README with the number that comes out."""
    return with_all_numbers(text, said_in_readme(data))


PAGES: dict[Path, Callable[[str, Data], str]] = {COSTS: costs, LINKWATCH: linkwatch, README: readme}


def answer(found: re.Match[str], data: Data) -> str:
    """A command with what it prints."""
    command = found[1]
    return f"```console\n$ {command}\n{report.text(parse(command.split()[2:], Load()), data)}\n```"


def setting(found: re.Match[str], data: Data) -> str:
    """A row of the table of settings."""
    load = parse([] if found[2] == "make cost" else found[2].split(), Load())
    total = linklet.bill(load, data).total
    return f"{found[1]} {total:,.2f} | {more_clicks(load, data):,.2f} | {turn(load, data)} |"


# ------------------------------------------------------------------------------------------- What something consists of


def idle_parts(data: Data) -> list[str]:
    """A table of what is paid when nobody uses it."""
    lists, free = (linklet.bill(replace(NOTHING, free_tier=choice), data) for choice in ("no", "yes"))
    rows = ["| In an idle month | | USD | After what is free | What it is |", "|---|---|---|---|---|"]
    for line, less in zip(lists.lines, free.lines):
        if line.usd:
            words = idle_words(line.name, data)
            rows.append(f"| {line.name} | {line.amount} | {line.usd:.2f} | {less.usd:.2f} | {words} |")
    return [*rows, f"| **Sum** | | **{lists.total:.2f}** | **{free.total:.2f}** | |"]


def idle_words(name: str, data: Data) -> str:
    template, aws = data.template, data.assumed["aws"]
    queues = template["polled_standard_queues"] + template["polled_fifo_queues"]
    return {
        "Lambda watch-tick": "once a minute: is any URL monitored?",
        "DynamoDB reads": "the same question",
        "SQS": f"Lambda asks {queues} queues with {aws['pollers_of_a_queue']} calls "
        f"every {aws['poll_seconds']} seconds",
        "Scheduler": "the calls of watch-tick",
        "CloudWatch logs": "their lines",
        "CloudWatch alarms": "metrics that alarms look at",
        "Secrets Manager": "for tokens, and for visitors' addresses",
    }[name]


def click_parts(data: Data) -> list[str]:
    """A table of what clicks add, per million: alone, and in bursts."""
    few, many = replace(NOTHING, clicks=1_000), replace(NOTHING, clicks=MILLION, hot=1.0)
    lone, burst = (per_million(load, NOTHING, load.clicks, data) for load in (few, many))
    alone, together = ({line.name: line for line in lines} for lines in (lone, burst))
    rows = ["| A million clicks | Alone | USD | In bursts | USD | What it is |", "|---|---|---|---|---|---|"]
    for name in dict.fromkeys([*alone, *together]):
        cells = [f"{line.amount} | {line.usd:.2f}" if line else " | " for line in (alone.get(name), together.get(name))]
        rows.append(f"| {name} | {' | '.join(cells)} | {click_words(name, data)} |")
    sums = [sum(line.usd for line in lines) for lines in (lone, burst)]
    return [*rows, f"| **Sum** | | **{sums[0]:.2f}** | | **{sums[1]:.2f}** | |"]


def click_words(name: str, data: Data) -> str:
    units, rows, ms = data.operations, data.rows, data.assumed["milliseconds"]
    alone, together = units["count_lone_click"], units["count_full_batch"]
    a_day = data.assumed["traffic"]["clicks_a_day_on_an_ordinary_link"]
    overhead = f"and {data.assumed['aws']['row_overhead_bytes']} that DynamoDB adds"
    return {
        "API Gateway": "the request",
        "Data transfer": "1 KB of answer, assumed",
        "Lambda redirect": f"{ms['redirect']} ms, assumed",
        "Lambda relay": f"from the stream to the queue, {ms['relay'] + ms['relay_per_record']} ms alone, assumed",
        "Lambda analytics": f"counts; {ms['analytics'] + ms['analytics_per_click']} ms alone, assumed",
        "DynamoDB reads": f"the link {units['redirect']['reads']:g}, in a burst once a second; counting "
        f"{alone['reads']:g} alone, {together['reads']:g} for 500",
        "DynamoDB writes": f"counting: {alone['writes']:g} alone, {together['writes']:g} for 500 at once",
        "DynamoDB storage": f"a day's row, {rows['day']['bytes']} bytes {overhead}, is for {a_day} clicks; "
        "13 months of it",
        "DynamoDB point-in-time recovery": "the same",
        "Raw clicks writes": "the click",
        "Raw clicks storage": f"{rows['click']['bytes']} bytes {overhead}; 13 months of it",
        "SQS": "send, receive, delete; in a burst by tens",
        "CloudWatch logs": "the lines of redirect, relay and analytics, for a month",
    }[name]


def link_parts(data: Data) -> list[str]:
    """A table of what a million links add in their first month."""
    load = replace(NOTHING, views=0, months=1)
    lines = per_million(replace(load, links=MILLION), load, MILLION, data)
    words = link_words(data)
    return parts("A million links", lines, words)


def link_words(data: Data) -> dict[str, str]:
    units, rows, ms = data.operations, data.rows, data.assumed["milliseconds"]
    stored = sum(rows[name]["bytes"] for name in ("link", "total", "notification"))
    return {
        "API Gateway": "the request",
        "Data transfer": "1 KB of answer, assumed",
        "Lambda shorten": f"{ms['shorten']} ms, assumed",
        "Lambda relay": f"from the stream to the queue, {ms['relay'] + ms['relay_per_record']} ms, assumed",
        "Lambda notify": f"{ms['notify']} ms, assumed",
        "DynamoDB reads": f"{units['shorten']['reads']:g} to look for a link of the same URL and to create it, "
        f"{units['notify']['reads']:g} to notify",
        "DynamoDB writes": f"{units['shorten']['writes']:g} for the link and the counts of calls by person and by address, "
        f"{units['notify']['writes']:g} to notify",
        "DynamoDB storage": f"link, totals and notification: {stored:,} bytes with copies in indexes",
        "DynamoDB point-in-time recovery": "the same",
        "SQS": "send, receive, delete",
        "SNS": "that a link was created",
        "CloudWatch logs": "the lines of shorten, relay and notify, for a month",
        "Secrets Manager": "the secret of tokens, read again every five minutes",
    }


def check_parts(data: Data) -> list[str]:
    """A table of what a million checks consist of, beside the rounds that find them."""
    hundred, two_hundred = (replace(NOTHING, targets=targets) for targets in (100, 200))
    checks = linklet.checks_a_month(two_hundred, data) - linklet.checks_a_month(hundred, data)
    lines = per_million(two_hundred, hundred, checks, data)
    units, rows, aws = data.operations, data.rows, data.assumed["aws"]
    words = {
        "Lambda watch-check": f"{data.assumed['milliseconds']['watch-check']} ms, assumed, "
        "mostly waiting for the web site",
        "DynamoDB reads": f"{units['check']['reads']:g} for the result before, "
        f"{units['hundred_due_targets']['reads'] / 100:g} for the target, one of many that are read together",
        "DynamoDB writes": "the result",
        "DynamoDB storage": f"the result for {rows['result']['days']} days: {rows['result']['bytes']} bytes and "
        f"{aws['row_overhead_bytes']} that DynamoDB adds",
        "DynamoDB point-in-time recovery": "the same",
        "SQS": "send by ten, receive, delete",
        "CloudWatch logs": "its line, for a month",
    }
    return parts("A million checks", lines, words)


def parts(title: str, lines: list[Line], words: dict[str, str]) -> list[str]:
    rows = [f"| {title} | | USD | What it is |", "|---|---|---|---|"]
    rows += [f"| {line.name} | {line.amount} | {line.usd:.2f} | {words[line.name]} |" for line in lines]
    return [*rows, f"| **Sum** | | **{sum(line.usd for line in lines):.2f}** | |"]


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


def shares(data: Data) -> list[str]:
    """A table of what makes which part of the tables above."""
    links = replace(NOTHING, views=0, months=1)
    columns = [
        linklet.bill(NOTHING, data).lines,
        per_million(replace(NOTHING, clicks=1_000), NOTHING, 1_000, data),
        per_million(replace(NOTHING, clicks=MILLION, hot=1.0), NOTHING, MILLION, data),
        per_million(replace(links, links=MILLION), links, MILLION, data),
    ]
    rows = ["| Share of | An idle month | A lone click | One in a burst | A new link |", "|---|---|---|---|---|"]
    for group, names in GROUPS.items():
        cells = [f"{share(lines, names):.0%}" for lines in columns]
        rows.append(f"| {group} | {' | '.join(cells)} |")
    return rows


def share(lines: list[Line], names: tuple[str, ...]) -> float:
    return sum(line.usd for line in lines if line.name.startswith(names)) / sum(line.usd for line in lines)


def per_million(load: Load, before: Load, count: float, data: Data) -> list[Line]:
    """The lines of the bill that so many things make longer, as if there were a million of them."""
    known = {line.name: line for line in linklet.bill(before, data).lines}
    found = []
    for line in linklet.bill(load, data).lines:
        less = known.get(line.name)
        usd = line.usd - (less.usd if less else 0)
        quantities = {
            price: (quantity - (less.quantities.get(price, 0) if less else 0)) / count * MILLION
            for price, quantity in line.quantities.items()
        }
        # What is there anyway, such as secrets and pollers, is no part of one thing more.
        quantities = {price: quantity for price, quantity in quantities.items() if quantity > 1e-6}
        if usd > 1e-9:
            found.append(Line(line.name, quantities, data.amount(quantities), usd / count * MILLION))
    return found


def with_table(text: str, table: list[str]) -> str:
    """The text with this table in the place of the one with the same heading."""
    heading = re.escape(table[0])
    return re.sub(rf"^{heading}\n(\|.*\n)+", lambda _: "\n".join(table) + "\n", text, flags=re.MULTILINE)


# ------------------------------------------------------------------------------------------------------------ Sentences


def more_clicks(load: Load, data: Data) -> float:
    return more(load, replace(load, clicks=load.clicks + MILLION), data)


def more_links(load: Load, data: Data) -> float:
    return more(load, replace(load, links=load.links + MILLION), data)


def more(load: Load, after: Load, data: Data) -> float:
    """What the difference costs if as many pages are looked at."""
    bills = [linklet.bill(replace(each, views=load.pages), data) for each in (load, after)]
    return bills[1].total - bills[0].total


def up_to(load: Load, data: Data) -> float:
    """How many million clicks a month it takes until somebody else is cheaper."""
    return next(report.each_range(load, data))[0] / MILLION


def turn(load: Load, data: Data) -> str:
    """The same in words, where it is no number."""
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


def month_of_checks(found: re.Match[str], data: Data) -> str:
    targets, workers = (int(cell.replace(",", "")) for cell in (found[2], found[3]))
    load = replace(NOTHING, targets=targets, max_concurrency=workers)
    checks = linklet.checks_a_month(load, data)
    return f"{found[1]} {checks / MILLION:,.0f} million | ${cost_of_watching(load, data):,.0f} |"


def cost_of_watching(load: Load, data: Data) -> float:
    """What monitoring adds to a month."""
    return linklet.bill(load, data).total - linklet.bill(replace(load, targets=0), data).total


def most_targets(load: Load, data: Data) -> int:
    """With how many monitored URLs Linklet is not dearer yet."""
    targets = 0
    while report.cheaper(replace(load, targets=targets + 10), data) == report.LINKLET:
        targets += 10
    return targets


def said(data: Data) -> list[str]:
    """What docs/costs.md says in short."""
    bursts, first = Load(hot=1.0), Load(months=1)
    everything = Load(monitoring="full", tracing="Active", access_log="on", click_recovery="on")
    idle, free = (linklet.bill(replace(NOTHING, free_tier=choice), data).total for choice in ("no", "yes"))
    return [
        f"Linklet is ${idle:.2f} a month, or ${free:.2f} after what AWS gives each month for nothing",
        f"A million clicks more are ${more_clicks(Load(), data):.2f} if they come one by one",
        f"and ${more_clicks(bursts, data):.2f} if they come in bursts",
        f"A million new links are ${more_links(first, data):.2f} in their first month",
        f"Containers and PostgreSQL are ${containers.bill(NOTHING, data).total:.0f} a month",
        f"Up to some {up_to(Load(), data):.0f} million clicks a month Linklet is cheaper",
        f"costs at most {most_extra(Load(), data) * 100:.0f} % more than containers",
        f"up to {up_to(everything, data):.0f} million with everything switched on",
        f"Whoever monitors more than some {most_targets(Load(), data)} URLs",
        *said_of_checks(data)[:2],
    ]


def said_of_checks(data: Data) -> list[str]:
    """What the two pages say of checks: docs/costs.md the first two, docs/linkwatch.md all but the first."""
    lines = check_parts(data)
    targets, interval = 100_000, data.template["check_interval_seconds"]
    workers = math.ceil(targets / interval / data.assumed["aws"]["checks_a_second_per_worker"])
    each_slot = cost_of_watching(replace(NOTHING, targets=targets, max_concurrency=workers), data)
    rounds = cost_of_watching(replace(NOTHING, targets=1), data)
    sum_of_parts = re.findall(NUMBER, lines[-1])[0]
    return [
        f"A million checks are ${sum_of_parts}",
        f"olding rounds is ${rounds:.2f} a month",
        f"would take {workers:,} workers and cost ${round(each_slot, -3):,.0f} a month",
    ]


def said_in_readme(data: Data) -> list[str]:
    return [f"An idle system costs some ${linklet.bill(NOTHING, data).total:.0f} a month"]


def with_all_numbers(text: str, said: list[str]) -> str:
    for words in said:
        text = with_numbers(text, words)
    return text


def with_numbers(text: str, words: str) -> str:
    """The text with the numbers of these words, where it has the same words with others. Its line breaks stay."""
    numbers = re.findall(NUMBER, words)
    parts = (re.escape(part).replace(r"\ ", r"\s+") for part in re.split(NUMBER, words))

    def corrected(found: re.Match[str]) -> str:
        between = re.split(NUMBER, found[0])
        return between[0] + "".join(number + part for number, part in zip(numbers, between[1:]))

    return re.sub(f"({NUMBER})".join(parts), corrected, text)


if __name__ == "__main__":
    main()
