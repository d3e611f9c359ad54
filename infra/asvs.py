"""Looks whether docs/asvs.md has every requirement once, with a status that it may have, and names tests that exist: `make document`
runs it.

A test that gets another name would otherwise leave a line that says that something is shown, and nothing shows it.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "asvs.md"

# How many requirements each section of ASVS 4.0.3 has, from the first one on. Those of level 3 alone come last, and don't count.
SECTIONS = {
    "2.1": 12, "2.2": 3, "2.3": 3, "2.4": 5, "2.5": 7, "2.6": 3, "2.7": 6, "2.8": 7, "2.9": 3, "2.10": 4,
    "3.1": 1, "3.2": 4, "3.3": 4, "3.4": 5, "3.5": 3, "3.7": 1,
    "4.1": 5, "4.2": 2, "4.3": 3,
    "7.1": 4, "7.2": 2, "7.3": 4, "7.4": 3,
    "8.1": 4, "8.2": 3, "8.3": 8,
}  # fmt: skip
# The standard has taken them out, and kept their numbers.
DELETED = {"4.1.4", "7.3.2"}
STATUSES = {"met", "not applicable", "open"}

ROW = re.compile(r"^\| (?P<number>\d+\.\d+\.\d+) \|(?P<cells>.*)\|$")
LINK = re.compile(r"\[(?P<text>[^\]]+)\](?:\[(?P<reference>[^\]]+)\]|\((?P<target>[^)]+)\))")
REFERENCE = re.compile(r"^\[(?P<name>[^\]]+)\]: (?P<target>\S+)$", re.MULTILINE)
# What comes before the name of a test, and after it.
DEFINITIONS = {
    ".rs": r"#\[(?:tokio::)?test[^\n]*\]\n(?:\s*#\[[^\n]*\]\n)*\s*(?:async )?fn {name}\(",
    ".py": r"^\s*def {name}\(",
    ".mjs": r"^\s*test\('{name}',",
}


def requirements() -> set[str]:
    """Every number that the page has to have."""
    return {f"{section}.{number}" for section, most in SECTIONS.items() for number in range(1, most + 1)} - DELETED


def rows(text: str) -> list[tuple[str, list[str]]]:
    """The number of each requirement with the cells behind it."""
    found = map(ROW.match, text.splitlines())
    return [(row["number"], [cell.strip() for cell in row["cells"].split(" | ")]) for row in found if row]


def links(text: str, within: str) -> Iterator[tuple[str, str]]:
    """The text and the target of each link in a part of a page."""
    targets = {reference["name"]: reference["target"] for reference in REFERENCE.finditer(text)}
    for link in LINK.finditer(within):
        yield link["text"], link["target"] or targets.get(link["reference"], "")


def is_there(name: str, file: Path) -> bool:
    """Whether a file has the test with this name."""
    definition = DEFINITIONS[file.suffix].replace("{name}", re.escape(name))
    return file.is_file() and re.search(definition, file.read_text(), re.MULTILINE) is not None


def complaints(text: str, folder: Path) -> Iterator[str]:
    """What is wrong with a page that lies in a folder."""
    found = rows(text)
    counted = Counter(number for number, _ in found)
    yield from (f"{number} is missing" for number in sorted(requirements() - counted.keys()))
    yield from (f"{number} is no requirement of level 1 or 2" for number in sorted(counted.keys() - requirements()))
    yield from (f"{number} is there {times} times" for number, times in counted.items() if times > 1)
    for number, cells in found:
        yield from (f"{number}: {complaint}" for complaint in of_row(text, cells, folder))


def of_row(text: str, cells: list[str], folder: Path) -> Iterator[str]:
    if len(cells) != 3:
        yield f"{len(cells) + 1} cells, and not 4"
        return
    _, status, shown_by = cells
    named = list(links(text, shown_by))
    if status not in STATUSES:
        yield f"{status} is none of {', '.join(sorted(STATUSES))}"
    if status == "met" and not named:
        yield "nothing shows that it is met"
    if not shown_by:
        yield "there is no reason"
    for name, target in named:
        file = folder / target
        is_test = name.startswith("`") and file.suffix in DEFINITIONS
        if is_test and not is_there(name.strip("`"), file):
            yield f"there is no test {name} in {target}"


def main() -> int:
    found = list(complaints(PAGE.read_text(), PAGE.parent))
    for complaint in found:
        print(f"docs/asvs.md: {complaint}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
