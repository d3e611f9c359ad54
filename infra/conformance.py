"""Runs the integration tests against AWS's DynamoDB Local. `make conformance` runs it; docs/conformance.md tells more.

Tests that can't pass there are in tests/integration/conformance.toml, with the reason.

DynamoDB Local is installed from Maven Central, once, under `.linklet/tools`. It listens on loopback, keeps its data in memory,
and ends with this program. Where there is no Java or no Maven, a line says so, and that is no failure.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .local.installer import ROOT, Failure, check_cargo, check_python, end_with, install_jars, java, missing_java, say, shown
from .run_tests import Binary, build

# It lives for minutes: compiling its code better, or collecting garbage beside it, takes longer than it saves.
JAVA_OPTIONS = ["-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
LAUNCHER = ROOT / "infra" / "local" / "DynamoDbLocal.java"
EXCEPTIONS = ROOT / "tests" / "integration" / "conformance.toml"
LOG = ROOT / ".linklet" / "conformance" / "dynamodb-local.log"
BINARIES = ["integration", "exactness", "logs", "log-forgery", "runtime"]
# So many tests share a DynamoDB Local. It keeps five threads for the tables of each test, which never rest: with those of all
# tests it would need more processor time than the tests themselves.
BATCH = 100
# A test and DynamoDB Local mostly wait for each other.
THREADS = 2 * (os.cpu_count() or 1)
# Random schedules of clicks, each of which takes a quarter of a second.
SCHEDULES = "100"


# ------------------------------------------------------------------------------------------------------- DynamoDB Local


@contextlib.contextmanager
def dynamodb_local() -> Iterator[str]:
    """Its endpoint, while it runs. It ends with its input, so also when this program is killed."""
    home = install_jars("dynamodb-local", "DynamoDB Local")
    command = [java() or "java", *JAVA_OPTIONS, "-cp", f"{home}/*", LAUNCHER, "-inMemory", "-disableTelemetry"]
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with open(LOG, "w") as log:
        process = subprocess.Popen(
            command, env=os.environ | {"DDB_LOCAL_TELEMETRY": "0"}, stdin=subprocess.PIPE, stdout=log, stderr=log
        )
    try:
        yield f"http://127.0.0.1:{await_port(process)}"
        if process.poll() is not None:
            raise Failure(f"DynamoDB Local has ended before the tests did; its log is {shown(LOG)}.")
    finally:
        process.kill()
        process.wait()


def await_port(process: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + 60
    while not (found := re.search(r"^Listening on port (\d+)$", LOG.read_text(errors="replace"), re.MULTILINE)):
        if process.poll() is not None or time.monotonic() > deadline:
            tail = "".join(LOG.read_text(errors="replace").splitlines(keepends=True)[-20:])
            raise Failure(f"DynamoDB Local did not start. The end of {shown(LOG)}:\n{tail}")
        time.sleep(0.1)
    return found.group(1)


# ---------------------------------------------------------------------------------------------------------------- tests


@dataclass(frozen=True)
class Test:
    binary: Binary
    name: str


@dataclass(frozen=True)
class Plan:
    """Which tests to run, and which ones to leave out."""

    expected: list[Test]
    cannot_pass: list[Test]
    # Why tests are left out, and how many.
    reasons: Counter[str]

    @classmethod
    def of(cls, filters: list[str]) -> Plan:
        """All tests, or those whose name contains one of the filters. Builds them."""
        tests = all_tests()
        cannot_pass, too_long = exceptions("cannot_pass"), exceptions("too_long")
        left_out = cannot_pass | too_long
        if unknown := sorted(left_out.keys() - {test.name for test in tests}):
            raise Failure(f"{shown(EXCEPTIONS)} names tests that don't exist: {', '.join(unknown)}")
        wanted = [test for test in tests if not filters or any(text in test.name for text in filters)]
        if not wanted:
            raise Failure("No test has such a name.")
        return cls(
            [test for test in wanted if test.name not in left_out],
            [test for test in wanted if test.name in cannot_pass],
            Counter(left_out[test.name] for test in wanted if test.name in left_out),
        )

    def run(self, start: Callable[[], AbstractContextManager[str]], is_dynamodb_local: bool) -> bool:
        """True if each test does what is expected of it. `start` is DynamoDB's endpoint, while it runs."""
        is_fine = True
        for first in range(0, len(self.expected), BATCH):
            with start() as endpoint:
                is_fine = pass_all(self.expected[first : first + BATCH], endpoint) and is_fine
        for reason, count in self.reasons.items():
            say(f"conformance: left out {count}, since {reason}")
        if is_dynamodb_local and self.cannot_pass:
            # Another service may be able to do what DynamoDB Local isn't.
            with start() as endpoint:
                for name in passing(self.cannot_pass, endpoint):
                    say(f"conformance: {name} passes on DynamoDB Local; take it from {shown(EXCEPTIONS)}")
                    is_fine = False
        say(f"conformance: {len(self.expected)} tests, {'as expected' if is_fine else 'FAILED, see above'}")
        return is_fine


def all_tests() -> list[Test]:
    binaries = build([f"--test={name}" for name in BINARIES])
    return [Test(binary, name) for binary in binaries for name in names_in(binary)]


def names_in(binary: Binary) -> list[str]:
    command = [binary.path, "--list", "--format", "terse"]
    listing = subprocess.run(command, cwd=binary.folder, stdout=subprocess.PIPE, text=True, check=True)
    return re.findall(r"^(\S+): test$", listing.stdout, re.MULTILINE)


def exceptions(kind: str) -> dict[str, str]:
    """The tests that aren't run like the others, each with the reason."""
    import tomllib

    groups = tomllib.loads(EXCEPTIONS.read_text())[kind]
    return {test: group["reason"] for group in groups for test in group["tests"]}


def run(
    tests: list[Test], endpoint: str, *arguments: str, **options: Any
) -> Iterator[subprocess.CompletedProcess[str]]:
    """Runs them, which have to be sorted by their binary."""
    environment = {"PROPTEST_CASES": SCHEDULES} | os.environ | {"DYNAMODB_ENDPOINT": endpoint}
    for binary, group in itertools.groupby(tests, key=lambda test: test.binary):
        names = [test.name for test in group]
        command = [binary.path, "--exact", f"--test-threads={THREADS}", *arguments, *names]
        environment["CARGO_MANIFEST_DIR"] = str(binary.folder)
        yield subprocess.run(command, cwd=binary.folder, env=environment, text=True, **options)


def pass_all(tests: list[Test], endpoint: str) -> bool:
    return all([ended.returncode == 0 for ended in run(tests, endpoint, "--quiet")])


def passing(tests: list[Test], endpoint: str) -> list[str]:
    """Those of the tests that pass, while the others fail without a word."""
    output = "".join(ended.stdout for ended in run(tests, endpoint, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    verdicts = dict(re.findall(r"^test (\S+) \.\.\. (\w+)$", output, re.MULTILINE))
    if any(test.name not in verdicts for test in tests):
        raise Failure(f"Tests that can't pass did not run:\n{output}")
    return [test.name for test in tests if verdicts[test.name] == "ok"]


def conform(filters: list[str]) -> bool:
    if endpoint := os.environ.get("DYNAMODB_ENDPOINT"):
        return Plan.of(filters).run(lambda: contextlib.nullcontext(endpoint), is_dynamodb_local=False)
    if lacks := missing_java():
        say(f"conformance: not run, since {lacks}.")
        return True
    plan = Plan.of(filters)
    return plan.run(dynamodb_local, is_dynamodb_local=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="The integration tests against DynamoDB Local; see the Makefile")
    parser.add_argument("filters", nargs="*", help="run only tests whose name contains one of these")
    filters = parser.parse_args().filters
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that DynamoDB Local is ended
    check_python()
    check_cargo()
    return 0 if conform(filters) else 1


if __name__ == "__main__":
    end_with(main)
