"""Tests the web application in a real browser: `make browser` runs it, and `make e2e` at its end. `make screenshots` makes pictures.

The system is the one that API_URL names. The browser is a Chromium of this machine: the one that CHROMIUM names, or one that is
found. A machine without one is no failure: a line says that nothing was tested. With `BROWSER=required` it is one. What drives it
is installed once, as infra/requirements/browser.txt pins it. Arguments go to pytest: `infra/browser.py test -k links`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests" / "browser"
sys.path[:0] = [str(ROOT / "infra" / "local"), str(TESTS)]

from linklet import Failure, install, say  # noqa: E402
from support.chromium import find_chromium  # noqa: E402

HOW_TO_GET_ONE = "Install one (apt install chromium, brew install --cask google-chrome), or name yours: CHROMIUM=/path/to/it."


def find() -> int:
    """Says which one is used."""
    chromium = find_chromium()
    print(chromium or "There is no Chromium.")
    return 0 if chromium else 1


def main(command: str, arguments: list[str]) -> int:
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
    environment = os.environ | {"CHROMIUM": chromium, "PYTHONDONTWRITEBYTECODE": "1"}
    programs = {"test": ["-m", "pytest", TESTS, *arguments], "screenshots": [TESTS / "screenshots.py", *arguments]}
    return subprocess.run([python, *programs[command]], cwd=TESTS, env=environment).returncode


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("find", "test", "screenshots"):
        sys.exit("browser: say find, test or screenshots")
    try:
        if sys.argv[1] == "find":
            sys.exit(find())
        sys.exit(main(sys.argv[1], sys.argv[2:]))
    except Failure as failure:
        sys.exit(f"browser: {failure}")
