"""Checks what Linklet is built from with cargo-deny and deny.toml. `make deny` runs it.

Licences, versions and sources are checked always. Known vulnerabilities are in a database on GitHub, which not every
machine reaches. Without it, a copy of the last 90 days will do; without that, the last line says that they were not
checked, and with `DENY_ADVISORIES=required` this is a failure.

A cargo-deny from the PATH is used if it is recent enough. Otherwise one is installed, once.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from .local.installer import ROOT, check_cargo, end_with, install, say

AT_LEAST = (0, 20)
CHECK = ["check", "--hide-inclusion-graph"]


def version_of(program: Path | str) -> tuple[int, ...] | None:
    """The version of a cargo-deny, or None if it does not run."""
    try:
        answer = subprocess.run([program, "--version"], capture_output=True, text=True)
    except OSError:
        return None
    found = re.match(r"cargo-deny (\d+)\.(\d+)\.(\d+)", answer.stdout)
    return tuple(map(int, found.groups())) if found else None


def cargo_deny() -> Path | str:
    check_cargo()
    installed = shutil.which("cargo-deny")
    if installed and (version_of(installed) or ()) >= AT_LEAST:
        return installed
    return install("cargo-deny") / "bin" / "cargo-deny"


def check(program: Path | str, *what: str) -> bool:
    return subprocess.run([program, "--locked", *CHECK, *what], cwd=ROOT).returncode == 0


def check_advisories(program: Path | str) -> bool:
    """True if nothing is known against any crate, or if nobody can say and that is allowed."""
    fetched = subprocess.run([program, "fetch", "db"], cwd=ROOT, capture_output=True, text=True)
    if fetched.returncode == 0:
        return check(program, "advisories")
    kept = subprocess.run([program, "--offline", *CHECK, "advisories"], cwd=ROOT, capture_output=True, text=True)
    report = kept.stdout + kept.stderr
    if "advisories ok" in report or "advisories FAILED" in report:
        say(f"{report}RustSec's database can't be fetched; the copy of an earlier run was used.")
        return kept.returncode == 0
    say("VULNERABILITIES WERE NOT CHECKED: RustSec's database (https://github.com/RustSec/advisory-db) can't be fetched.")
    return os.environ.get("DENY_ADVISORIES") != "required"


def main() -> int:
    program = cargo_deny()
    is_fine = check(program, "licenses", "bans", "sources")
    return 0 if check_advisories(program) and is_fine else 1


if __name__ == "__main__":
    end_with(main)
