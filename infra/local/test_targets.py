"""That each target of the Makefile is run by continuous integration, or untried.toml says why not, and that none runs its arguments; and
that the local system's driver reads what CloudFormation has named."""

import re
import shlex
import subprocess
import tomllib
import unittest

from .functions import function_of
from .installer import ROOT
from .targets import TRIALS

RULE = re.compile(r"^([a-z0-9-]+):([^=#\n]*).*\n((?:\t.*\n)*)", re.MULTILINE)
CALL = re.compile(r"^[^#\n]*(?:\bmake|\$\(MAKE\)) ([a-z0-9 -]+)", re.MULTILINE)


def called(text: str) -> list[str]:
    return " ".join(CALL.findall(text)).split()


TARGETS = {name: needed.split() + called(recipe) for name, needed, recipe in RULE.findall((ROOT / "Makefile").read_text())}


def with_what_they_need(names: set[str]) -> set[str]:
    needed = {each for name in names for each in TARGETS[name]}
    return names if needed <= names else with_what_they_need(names | needed)


# Flags for sam, which are words of the shell on purpose, programs, and what make sets.
COMMANDS = {"DEPLOY_FLAGS", "PYTHON", "MAKE", "MAKEFILE_LIST"}
HOSTILE = "x'`id`;id>y"
# Within single quotes, where a shell runs nothing.
QUOTED = HOSTILE.replace("'", "'\\''") + "'"


def arguments() -> list[tuple[str, str]]:
    """Each target with each variable that somebody may give it."""
    recipes = {name: recipe for name, _, recipe in RULE.findall((ROOT / "Makefile").read_text())}
    fixed = set(re.findall(r"^([A-Z_]+) :?= ", (ROOT / "Makefile").read_text(), re.MULTILINE)) | COMMANDS
    named = {name: set(re.findall(r"\$\(([A-Z_]+)\)", recipe)) - fixed for name, recipe in recipes.items()}
    named["cost"] |= {"CLICKS"}
    return [(name, variable) for name, variables in named.items() for variable in sorted(variables)]


class Targets(unittest.TestCase):
    def test_none_runs_its_arguments(self) -> None:
        given = arguments()
        self.assertGreater(len(given), 20)
        for target, variable in given:
            command = ["make", "--dry-run", "--no-print-directory", target, f"{variable}={HOSTILE}"]
            printed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
            lines = [line for line in printed.replace("\\\n", " ").splitlines() if "`id`" in line]
            with self.subTest(f"make {target} {variable}=…"):
                for line in lines:
                    given = line.count("`id`")
                    self.assertEqual([given, given], [line.count(QUOTED), " ".join(shlex.split(line)).count(HOSTILE)], line)

    def test_each_is_tried_or_excused(self) -> None:
        in_ci = with_what_they_need(set(called((ROOT / ".ci" / "run").read_text())))
        in_ci |= {name for name, needed in TARGETS.items() if needed and set(needed) <= in_ci}
        tried = {name for names in TRIALS for name in names}
        excused = set(tomllib.loads((ROOT / "infra" / "local" / "untried.toml").read_text()))
        self.assertGreater(len(in_ci), 10)
        self.assertEqual(set(TARGETS) - in_ci - tried - excused, set(), "neither tried by targets.py nor in untried.toml")
        self.assertEqual((tried | excused) - set(TARGETS), set(), "there is no such target")
        self.assertEqual((in_ci | tried) & excused, set(), "excused, but it is tried")

    def test_each_is_phony(self) -> None:
        phony = re.search(r"^\.PHONY: ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
        self.assertEqual(set(phony[1].replace("\\\n", " ").split()) if phony else set(), set(TARGETS))


class LogGroups(unittest.TestCase):
    def test_a_log_group_tells_its_function(self) -> None:
        self.assertEqual(function_of("linklet-RedirectLogs-1A2B3C4D5E6F"), "redirect")
        self.assertEqual(function_of("linklet-WatchCheckLogs-0b1c2d3e4f5a"), "watch-check")
