"""Runs the end-to-end tests, against a system of their own unless API_URL names one: `make e2e`, `make suites`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from .gate import Gate
from .installer import ROOT, Failure, check_cargo, install
from .system import System, free_port

# Load, an outage and a second deployment would disturb the other end-to-end tests, so their tests have a run of their own, and
# only on a system of our own. The first of them tries targets of the Makefile that nothing else runs, since the others leave the
# system as nobody uses it. The last ones deploy other parameters, so nothing comes behind them.
TARGETS = "targets"
LONG = [TARGETS, "watch-load", "outage", "redeploy", "admission"]
# The tests of the web application in a browser, which are no suite of Cargo's.
BROWSER = "browser"
# All of them: Cargo's tests, the contract, the browser.
USUAL = "e2e"
# Each test mostly waits for the system, for a window of a limit, or for a key to be forgotten.
AT_ONCE = "--test-threads=8"
NAMES = [USUAL, BROWSER, *LONG]


def run(names: list[str], arguments: list[str]) -> int:
    """Runs these suites up to the first failure, with arguments for cargo test, or for pytest."""
    check_cargo()
    if os.environ.get("API_URL"):
        if names == LONG:
            raise Failure("These tests disturb the system that they run on, so they start their own: unset API_URL.")
        return run_in(dict(os.environ), names, arguments)
    system = System("e2e")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the finally below runs
    try:
        system.down()
        port = free_port()
        with Gate(port) as gate:
            # The servers that tests have checked are on this machine.
            loopback = {"WATCH_ALLOW_LOOPBACK": "yes-for-tests"}
            emulator = system.up(port, {"AWS_ENDPOINT_URL_DYNAMODB": gate.url} | loopback)
            control = {"TABLES_GATE": gate.control, "LINKLET_PYTHON": sys.executable}
            code = run_in(system.environment(emulator) | loopback | control, names, arguments)
            if code != 0:
                system.keep_function_logs()
            return code
    finally:
        system.down()


def run_in(environment: dict[str, str], names: list[str], arguments: list[str]) -> int:
    for command in [command for name in names for command in commands(name, arguments)]:
        code = subprocess.run(command, cwd=ROOT, env=environment).returncode
        if code != 0:
            return code
    return 0


def commands(name: str, arguments: list[str]) -> list[list[str | Path]]:
    """What runs the suite. The usual one has more than Cargo's, unless arguments choose some of that."""
    if name == BROWSER:
        return [[sys.executable, "-m", "infra.browser", "test", *arguments]]
    if name == TARGETS:
        return [[install("sam") / "bin" / "python", "-m", "infra.local.targets", *arguments]]
    # The whole workspace is named so that dependencies have the features that they were built with before.
    cargo: list[str | Path] = ["cargo", "test", "--workspace", "--test", name, *arguments]
    if name != USUAL or arguments:
        return [cargo]
    return [[*cargo, "--", AT_ONCE], [install("contract") / "bin" / "python", "-m", "infra.contract.run"], *commands(BROWSER, [])]
