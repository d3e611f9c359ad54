"""Puts into the documents what the calculator says: `make units`.

It writes between `<!-- numbers -->` and `<!-- /numbers -->` and nowhere else: what a command prints, or a table of which each
row begins with inputs of `make cost`. In a table it fills the columns that it knows by their headings.
"""

import re
from collections.abc import Callable
from functools import partial
from itertools import islice
from types import SimpleNamespace

from . import containers, linklet, report
from .inputs import Load, parse
from .tables import HERE, load_tables

ROOT = HERE.parents[1]
DOCUMENTS = [ROOT / "docs" / name for name in ("costs.md", "linkwatch.md", "scale.md")]
BLOCK = re.compile(r"(?<=<!-- numbers -->\n\n)(.*?)(?=\n\n<!-- /numbers -->)", re.DOTALL)


def with_numbers(text: str, tables: SimpleNamespace) -> str:
    return BLOCK.sub(lambda found: filled(found[1].splitlines(), tables), text)


def filled(lines: list[str], tables: SimpleNamespace) -> str:
    if lines[0].startswith("```"):
        command, _, last = lines[1].partition(" | tail -")
        printed = report.text(load_of(command), tables).splitlines()
        return "\n".join([*lines[:2], *printed[-int(last or 0) :], "```"])
    headings, rows = cells_of(lines[0]), lines[:2]
    for line in lines[2:]:
        cells = cells_of(line)
        load = load_of(cells[0])
        cells = [COLUMNS[name](load, tables) if name in COLUMNS else cell for name, cell in zip(headings, cells)]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def cells_of(row: str) -> list[str]:
    return [cell.strip() for cell in row[1:-1].split("|")]


def load_of(command: str) -> Load:
    return parse(word for word in command.strip("`").split() if word not in ("$", "make", "cost"))


def money(usd: float) -> str:
    return f"{usd:,.2f}" if usd < 1_000 else f"{usd:,.0f}"


def adds(load: Load, tables: SimpleNamespace, line: str = "") -> str:
    """What lines that begin so are more than in a month without use, or what they are in that month."""
    idle = parse(["CLICKS=0", "LINKS=0"])
    bills = [linklet.bill(each, tables).usd for each in (load, idle)]
    sums = [sum(usd for name, usd in bill.items() if name.startswith(line)) for bill in bills]
    return money(sums[0] if load == idle else sums[0] - sums[1])


def of_containers(load: Load, tables: SimpleNamespace) -> str:
    bill, _ = containers.bill(load, tables)
    return money(bill.total) if bill else "impossible"


def turn(load: Load, tables: SimpleNamespace) -> str:
    """Up to how many clicks a month Linklet is cheaper, without a break."""
    first, *others = islice(report.ranges(load, tables), 2)
    if first[1] == report.CONTAINERS:
        return "never"
    return report.rounded(first[0]) if report.CONTAINERS in [who for _, who in others] else "always"


def million_checks(load: Load, tables: SimpleNamespace) -> str:
    return money(linklet.watching(load, tables) / linklet.ticks(load, tables).all_checks * report.MILLION)


COLUMNS: dict[str, Callable[[Load, SimpleNamespace], str]] = {
    "Linklet": lambda load, tables: money(linklet.bill(load, tables).total),
    "Containers": of_containers,
    "A million clicks": lambda load, tables: money(linklet.bill(load, tables).total / load.clicks * report.MILLION),
    "A million clicks more": lambda load, tables: money(report.more_of("clicks", load, tables)),
    "Cheaper up to": turn,
    "Checks": lambda load, tables: f"{linklet.ticks(load, tables).all_checks:,.0f}",
    "Monitoring": lambda load, tables: money(linklet.watching(load, tables)),
    "A million checks": million_checks,
    "Adds": adds,
    **{name: partial(adds, line=name) for name in ("API Gateway", "Lambda", "DynamoDB", "Raw clicks", "SQS", "CloudWatch")},
}


if __name__ == "__main__":
    tables = load_tables()
    for path in DOCUMENTS:
        path.write_text(with_numbers(path.read_text(), tables))
