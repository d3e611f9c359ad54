"""Puts into the documents what the calculator says: `make units`.

Numbers change and nothing else, wherever a document says in the same words what comes out.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from . import containers, linklet, report
from .inputs import Load, parse
from .tables import Data

DOCS = Path(__file__).resolve().parents[2] / "docs"
COSTS, LINKWATCH = DOCS / "costs.md", DOCS / "linkwatch.md"
MILLION = 1_000_000
NOTHING = Load(clicks=0, links=0)
UNTRACED = replace(NOTHING, tracing="PassThrough")

NUMBER = r"\d+(?:[.,]\d+)*"
ANSWER = re.compile(r"```console\n\$ (make cost.*)\n[^`]*```")
SETTING = re.compile(r"^(\| `([A-Z_]+=.*|make cost)` \| .* \|) [\d.,]+ \| [\d.,]+ \| [\d.]+ \|$", re.MULTILINE)
CHECKS = re.compile(r"^(\| ([\d,]+) targets \| (\d+) \| .* \|) [\d,]+ million \| \$[\d,]+ \|$", re.MULTILINE)


def main() -> None:
    data = Data.load()
    COSTS.write_text(costs(COSTS.read_text(), data))
    LINKWATCH.write_text(linkwatch(LINKWATCH.read_text(), data))


def costs(text: str, data: Data) -> str:
    """docs/costs.md with the numbers that come out. Its table of a click's parts is people's: they have to add up to them."""
    text = ANSWER.sub(lambda found: answer(found, data), text)
    text = SETTING.sub(lambda found: setting(found, data), text)
    for words in said(data):
        text = with_numbers(text, words)
    return text


def answer(found: re.Match[str], data: Data) -> str:
    """A command with what it prints."""
    command = found[1]
    return f"```console\n$ {command}\n{report.text(parse(command.split()[2:], Load()), data)}\n```"


def setting(found: re.Match[str], data: Data) -> str:
    """A row of the table of settings."""
    load = parse([] if found[2] == "make cost" else found[2].split(), Load())
    total = linklet.bill(load, data).total
    after = linklet.bill(replace(load, clicks=load.clicks + MILLION), data).total
    turn = report.ranges(load, data)[0][0] / MILLION
    return f"{found[1]} {total:,.2f} | {after - total:,.2f} | {turn:.1f} |"


def linkwatch(text: str, data: Data) -> str:
    """docs/linkwatch.md with the numbers that come out."""
    return CHECKS.sub(lambda found: month_of_checks(found, data), text)


def month_of_checks(found: re.Match[str], data: Data) -> str:
    targets, workers = (int(cell.replace(",", "")) for cell in (found[2], found[3]))
    load = replace(UNTRACED, targets=targets, max_concurrency=workers)
    checks = linklet.checks_a_month(load, data)
    return f"{found[1]} {checks / MILLION:,.0f} million | ${cost_of_checks(load, data):,.0f} |"


def cost_of_checks(load: Load, data: Data) -> float:
    """What monitoring adds to a month without anything, metrics aside."""
    watching, idle = (linklet.bill(each, data).lines for each in (load, UNTRACED))
    sums = [sum(line.usd for line in lines if line.name != "CloudWatch metrics") for lines in (watching, idle)]
    return sums[0] - sums[1]


def said(data: Data) -> list[str]:
    """What docs/costs.md says in short."""
    untraced = Load(tracing="PassThrough")
    bursts = replace(untraced, hot=1.0)

    def million_more(load: Load) -> float:
        load = replace(load, views=load.pages)
        more = replace(load, clicks=load.clicks + MILLION)
        return linklet.bill(more, data).total - linklet.bill(load, data).total

    def up_to(load: Load) -> float:
        return report.ranges(load, data)[0][0] / MILLION

    check = replace(UNTRACED, targets=100)
    million_checks = cost_of_checks(check, data) / linklet.checks_a_month(check, data) * MILLION
    return [
        f"Linklet is ${linklet.bill(NOTHING, data).total:.0f} a month",
        f"A million clicks more are ${million_more(Load()):.0f} if they come one by one",
        f"${million_more(untraced):.0f} without traces; ${million_more(bursts):.0f} if they come in bursts",
        f"Containers and PostgreSQL are ${containers.bill(NOTHING, data).total:.0f} a month",
        f"What doesn't depend on clicks is ${linklet.bill(NOTHING, data).total:.0f} a month",
        f"rom some {up_to(Load()):.0f} million clicks a month on they are cheaper",
        f"or from {up_to(untraced):.0f} million without traces, or from {up_to(bursts):.0f} million if all clicks",
        f"A million checks are ${million_checks:.2f}",
    ]


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
