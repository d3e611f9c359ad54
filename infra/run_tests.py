"""Runs Rust test binaries side by side: arguments are `--lib`, or `--test routes --test exactness`.

`cargo test` runs one binary after another, and most of ours wait for something most of the time. Arguments choose the
binaries as they do for `cargo test`; what comes behind `--` goes to each binary. A binary's output is printed when it has
ended, so that outputs don't mix. With --twice each runs in two processes, for tests that draw other random inputs each time.
The exit code is 1 if any binary has failed, or if a filter is part of no test's name.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .local.installer import ROOT

# How long each binary took the last time, so that the longest one begins first.
DURATIONS = ROOT / "target" / "test-durations.json"
TWICE = "--twice"


@dataclass(frozen=True)
class Binary:
    name: str
    path: str
    # Where Cargo runs a package's tests.
    folder: Path


def main() -> int:
    given = [each for each in sys.argv[1:] if each != TWICE]
    position = given.index("--") if "--" in given else len(given)
    selectors, arguments = given[:position], given[position + 1 :]
    started = time.monotonic()
    binaries = build(selectors)
    if not binaries:
        print(f"No test binary for {' '.join(selectors)}.", file=sys.stderr)
        return 1
    if unknown := unmatched(arguments, [name for binary in binaries for name in names_in(binary)]):
        print(f"No test has a name with {', '.join(unknown)}.", file=sys.stderr)
        return 1
    built = time.monotonic()
    failed = run_all(binaries * 2 if TWICE in sys.argv else binaries, arguments)
    total = f"{len(binaries)} test binaries: built in {built - started:.0f} s, run in {time.monotonic() - built:.0f} s"
    print(f"\n{total}; {', '.join(failed)} failed" if failed else f"\n{total}; all passed", flush=True)
    return 1 if failed else 0


def build(selectors: list[str]) -> list[Binary]:
    """Builds the chosen binaries. All packages are named, so that dependencies are built once, with the same features."""
    command = ["cargo", "test", "--workspace", "--no-run", "--message-format=json-render-diagnostics", *selectors]
    process = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if process.returncode != 0:
        sys.exit(process.returncode)
    messages = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
    built = [message for message in messages if message.get("executable") and message["profile"]["test"]]
    return [Binary(named(each["target"]), each["executable"], Path(each["manifest_path"]).parent) for each in built]


def named(target: dict[str, Any]) -> str:
    return target["name"] + ("" if "test" in target["kind"] else " (unit tests)")


def names_in(binary: Binary) -> list[str]:
    command = [binary.path, "--list", "--format", "terse"]
    listing = subprocess.run(command, cwd=binary.folder, stdout=subprocess.PIPE, text=True, check=True)
    return re.findall(r"^(\S+): test$", listing.stdout, re.MULTILINE)


def unmatched(arguments: list[str], names: list[str]) -> list[str]:
    """The filters among the arguments that choose no test."""
    return [text for text in arguments if not text.startswith("-") and not any(text in name for name in names)]


def run_all(binaries: list[Binary], arguments: list[str]) -> list[str]:
    """Runs as many at once as there are processors. Returns the names of those that have failed."""
    durations: dict[str, float] = {}
    with contextlib.suppress(FileNotFoundError, ValueError):
        durations = json.loads(DURATIONS.read_text())
    failed = []

    def timed(binary: Binary) -> tuple[Binary, subprocess.CompletedProcess[str], float]:
        started = time.monotonic()
        return binary, run(binary, ["--quiet", *arguments]), time.monotonic() - started

    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        longest_first = sorted(binaries, key=lambda each: durations.get(each.name, float("inf")), reverse=True)
        for done in as_completed([pool.submit(timed, each) for each in longest_first]):
            binary, ended, seconds = done.result()
            if "running 0 tests" not in ended.stdout or ended.returncode != 0:
                print(f"\n── {binary.name}, {seconds:.1f} s\n{ended.stdout.strip()}", flush=True)
            durations[binary.name] = round(seconds, 1)
            if ended.returncode != 0:
                failed.append(binary.name)
    DURATIONS.write_text(json.dumps(durations, indent=1, sort_keys=True))
    return failed


def run(binary: Binary, arguments: list[str], variables: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs it where Cargo would, with what it prints in one text."""
    environment = os.environ | (variables or {}) | {"CARGO_MANIFEST_DIR": str(binary.folder)}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.run([binary.path, *arguments], cwd=binary.folder, env=environment, text=True, errors="replace", **pipes)


if __name__ == "__main__":
    sys.exit(main())
