"""Tests the web application in a real browser: `make browser` runs it, and `make e2e` at its end. `make screenshots` makes pictures.

The system is the one that API_URL names. The browser is a Chromium of this machine: the one that CHROMIUM names, or one that is
found. A machine without one is no failure: a line says that nothing was tested. With `BROWSER=required` it is one. What drives it
is installed once, as infra/requirements/browser.txt pins it. Arguments go to pytest: `python3 -m infra.browser test -k links`.
"""

import argparse
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from .local.installer import ROOT, Failure, end_with, install, say
from .local.suites import second_try

TESTS = ROOT / "tests" / "browser"
# The first one has no windows, and so needs a third of the time.
NAMES = ["chromium-headless-shell", "chromium", "google-chrome", "google-chrome-stable", "chromium-browser"]
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
# All tests go to so many processes, each with a browser of its own: a test mostly waits for the system, so two cores have enough to do.
AT_ONCE = ["--cache-clear", "--numprocesses", "4", "--dist", "worksteal"]
# Where pytest notes what failed.
CACHE = ROOT / ".linklet" / "pytest"
# The exit code of pytest if tests failed, and nothing else was wrong.
FAILURES = 1
HOW_TO_GET_ONE = "Install one (apt install chromium, brew install --cask google-chrome), or name yours: CHROMIUM=/path/to/it."


def find_chromium() -> str | None:
    """The one that CHROMIUM names, or else one that is installed."""
    named = os.environ.get("CHROMIUM")
    if named:
        return shutil.which(named)
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    return found or (str(MAC) if MAC.is_file() else None)


def find() -> int:
    """Says which one is used."""
    chromium = find_chromium()
    print(chromium or "There is no Chromium.")
    return 0 if chromium else 1


def start(command: str, arguments: list[str]) -> int:
    if not os.environ.get("API_URL"):
        raise Failure("API_URL names the system to look at; make sets it.")
    chromium = find_chromium()
    if chromium is None:
        lacks = f"CHROMIUM names no program: {os.environ['CHROMIUM']}." if os.environ.get("CHROMIUM") else f"There is no Chromium. {HOW_TO_GET_ONE}"
        if os.environ.get("BROWSER") == "required" or command != "test":
            raise Failure(lacks)
        say(f"The web application was not tested in a browser. {lacks}")
        return 0
    python = install("browser") / "bin" / "python"
    environment = os.environ | {"CHROMIUM": chromium, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)}

    def run(given: list[str]) -> int:
        command = [python, "-m", "pytest", f"--override-ini=cache_dir={CACHE}", *given]
        return subprocess.run(command, cwd=TESTS, env=environment).returncode

    if command == "screenshots":
        seed = [install("sam") / "bin" / "python", "-m", "infra.local.seed", "--links", "10"]  # those that have clicks
        account = json.loads(subprocess.run(seed, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
        environment["SEEDED"] = account["email"]
        return subprocess.run([python, TESTS / "screenshots.py", *arguments], cwd=TESTS, env=environment).returncode
    return run(arguments) if arguments else test_all(run)


def test_all(run: Callable[[list[str]], int]) -> int:
    """A test that fails is run once more, alone. If it passes then, the run goes on and names it."""
    code = run(AT_ONCE)
    failed = list(json.loads((CACHE / "v" / "cache" / "lastfailed").read_text())) if code == FAILURES else []
    return second_try(code, failed, lambda test: run([test]), "tests/browser/")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["find", "test", "screenshots"])
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    return find() if given.command == "find" else start(given.command, given.arguments)


if __name__ == "__main__":
    end_with(main)
