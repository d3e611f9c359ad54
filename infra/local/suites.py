"""Runs the end-to-end tests, against a system of their own unless API_URL names one: `make e2e`, `make suites`."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from .forwarder import FaultProxy
from .installer import ROOT, Failure, check_cargo, install, say
from .system import System, free_port

# Load, an outage and a second deployment would disturb the other end-to-end tests, so their modules run alone, and only on a system
# of our own. The first suite tries targets of the Makefile that nothing else runs, since the others leave the system as nobody uses
# it. The last ones deploy other parameters, so nothing comes behind them.
TARGETS = "targets"
DISTURBING = ["watch_load", "outage", "redeploy", "admission"]
# Signing in at identity providers, in a browser. It deploys them, and what a deployment doesn't name stays, so it comes before `admission`.
SIGN_IN = "sign_in"
LONG = [TARGETS, SIGN_IN, *DISTURBING]
# The tests of the web application in a browser, which are no suite of Cargo's.
BROWSER = "browser"
# All of them: Cargo's tests, the contract, the browser.
USUAL = "e2e"
NAMES = [USUAL, BROWSER, *LONG]
# The whole workspace is named so that dependencies have the features that they were built with before.
CARGO: list[str | Path] = ["cargo", "test", "--workspace", "--test", "e2e"]
# Each test mostly waits for the system, for a window of a limit, or for a key to be forgotten.
AT_ONCE = "--test-threads=8"
# Keeps how many minutes a suite took, of its budget.
STEP = ROOT / ".ci" / "step"
# The tests of a run that passed at their second try, one a line. .ci/run names them at its end.
FLAKY = ROOT / ".linklet" / "flaky"
# So many in a run may be an accident.
MOST_FLAKY = 2


def run(names: list[str], arguments: list[str]) -> int:
    """Runs these suites up to the first failure, with arguments for cargo test, or for pytest."""
    check_cargo()
    if os.environ.get("API_URL"):
        if names == LONG:
            raise Failure("These tests disturb the system that they run on, so they start their own: unset API_URL.")
        return run_in(lambda: dict(os.environ), names, arguments)
    system = System("e2e")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the finally below runs
    try:
        system.down()
        port = free_port()
        with FaultProxy(port) as tables:

            def start() -> dict[str, str]:
                """A new system, with the logs of one that was there kept."""
                if system.running():
                    system.keep_function_logs()
                system.down()
                tables.open()
                # The servers that tests have checked are on this machine.
                loopback = {"WATCH_ALLOW_LOOPBACK": "yes-for-tests"}
                emulator = system.up(port, {"AWS_ENDPOINT_URL_DYNAMODB": tables.url} | loopback)
                control = {"TABLES_PROXY": tables.control, "LINKLET_PYTHON": sys.executable}
                return system.environment(emulator) | loopback | control

            code = run_in(start, names, arguments)
            if code != 0:
                system.keep_function_logs()
            return code
    finally:
        system.down()


def run_in(start: Callable[[], dict[str, str]], names: list[str], arguments: list[str]) -> int:
    """Runs them on the system that `start` starts. A test of Cargo's that fails gets a second try, alone; one that disturbs the system
    gets it on a new one."""
    environment, flaky = start(), 0
    for name, command in [(name, command) for name in names for command in commands(name, arguments)]:
        code, failed = run_one(command, environment)

        def again(test: str) -> int:
            nonlocal environment
            environment = start() if name in DISTURBING else environment
            return run_one([*CARGO, "--", "--exact", test], environment)[0]

        if code != 0 and (arguments or (code := second_try(code, failed, again, f"{name}: ", flaky)) != 0):
            return code
        flaky += len(failed)
    return 0


def run_one(command: list[str | Path], environment: dict[str, str]) -> tuple[int, list[str]]:
    """The exit code, and which tests of Cargo's have failed. Without a test it is a failure, too."""
    if "cargo" not in command:
        return subprocess.run(command, cwd=ROOT, env=environment).returncode, []
    printed = ""
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or []:
            print(line, end="", flush=True)
            printed += line
    return process.returncode or int("\nrunning 0 tests\n" in printed), re.findall(r"^---- (\S+) stdout ----$", printed, re.MULTILINE)


def commands(name: str, arguments: list[str]) -> list[list[str | Path]]:
    """What runs the suite. The usual one has more than Cargo's, unless arguments choose some of that."""
    if name == BROWSER:
        return [[STEP, "9", sys.executable, "-m", "infra.browser", "test", *arguments]]
    if name == SIGN_IN:
        return [[STEP, "2", sys.executable, "-m", "infra.browser", "test", "sign_in.py"]]
    if name == TARGETS:
        return [[STEP, "3", install("sam") / "bin" / "python", "-m", "infra.local.targets", *arguments]]
    if name in DISTURBING:
        return [[STEP, "2", *CARGO, f"{name}::", *arguments]]
    if arguments:
        return [[*CARGO, *arguments]]
    others = [argument for module in DISTURBING for argument in ("--skip", f"{module}::")]
    contract = [STEP, "4", install("contract") / "bin" / "python", "-m", "infra.contract.run"]
    return [[STEP, "3", *CARGO, "--", AT_ONCE, *others], contract, *commands(BROWSER, [])]


def second_try(code: int, failed: list[str], again: Callable[[str], int], suite: str, before: int = 0) -> int:
    """Runs each test that has failed once more, alone, unless there are too many, with those `before`. Notes those that pass then. Returns
    the exit code."""
    if not 0 < len(failed) <= MOST_FLAKY - before:
        return code
    for test in failed:
        say(f"\n{test} has failed. Its second try:")
        if (code := again(test)) != 0:
            return code
        with FLAKY.open("a") as file:
            file.write(f"{suite}{test}\n")
    return 0
