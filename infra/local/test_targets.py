"""That each target of the Makefile is run by continuous integration, or untried.toml says why not."""

from __future__ import annotations

import re
import tomllib
import unittest

from .installer import ROOT
from .targets import TRIALS

RULE = re.compile(r"^([a-z0-9-]+):([^=#\n]*)", re.MULTILINE)
CALL = re.compile(r"^[^#\n]*\bmake ([a-z0-9-]+)", re.MULTILINE)

TARGETS = {name: needed.split() for name, needed in RULE.findall((ROOT / "Makefile").read_text())}


def with_what_they_need(names: set[str]) -> set[str]:
    needed = {each for name in names for each in TARGETS[name]}
    return names if needed <= names else with_what_they_need(names | needed)


class Targets(unittest.TestCase):
    def test_each_is_tried_or_excused(self) -> None:
        in_ci = with_what_they_need(set(CALL.findall((ROOT / ".ci" / "run").read_text())))
        tried = {name for names in TRIALS for name in names}
        excused = set(tomllib.loads((ROOT / "infra" / "local" / "untried.toml").read_text()))

        self.assertGreater(len(in_ci), 10)
        self.assertEqual(set(TARGETS) - in_ci - tried - excused, set(), "neither tried by targets.py nor in untried.toml")
        self.assertEqual((tried | excused) - set(TARGETS), set(), "there is no such target")
        self.assertEqual((in_ci | tried) & excused, set(), "excused, but it is tried")

    def test_each_is_phony(self) -> None:
        phony = re.search(r"^\.PHONY: ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)

        self.assertEqual(set(phony[1].replace("\\\n", " ").split()) if phony else set(), set(TARGETS))


if __name__ == "__main__":
    unittest.main()
