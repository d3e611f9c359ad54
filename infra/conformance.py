"""Runs the integration tests against other services than those in their process. docs/conformance.md tells more.

`make conformance` takes AWS's DynamoDB Local, `make localstack` takes LocalStack. Tests that can't pass there are in
tests/integration/<target>.toml, with the reason.
"""

import argparse
import itertools
import os
import re
import signal
import sys
from collections import Counter
from dataclasses import dataclass

from .services import DYNAMODB_LOCAL, LOCALSTACK, Service, at
from .local.installer import Failure, check_cargo, check_python, end_with, say, shown
from .run_tests import Binary, build, names_in, run, unmatched

# Those with tests that need a database.
BINARIES = ["tables", "routes", "pipeline", "exactness", "logs", "log-forgery", "runtime"]
# So many tests share a service. DynamoDB Local keeps five threads for the tables of each test, which never rest: with those of all
# tests it would need more processor time than the tests themselves.
BATCH = 100
# A test and a service mostly wait for each other.
THREADS = 2 * (os.cpu_count() or 1)
# What a test binary ends with if tests have failed.
SOME_FAILED = 101


@dataclass(frozen=True)
class Test:
    binary: Binary
    # Within the binary.
    path: str

    @property
    def name(self) -> str:
        return f"{self.binary.name}::{self.path}"


def conform(service: Service, filters: list[str], skipped: list[str]) -> bool:
    """Runs all tests, or those whose name contains one of the filters, and none of what is skipped. True if each does what is expected
    of it."""

    def tell(what: str) -> None:
        say(f"{service.name}: {what}")

    binaries = build([f"--test={name}" for name in BINARIES])
    tests = [Test(binary, name) for binary in binaries for name in names_in(binary)]
    cannot_pass, not_run = exceptions(service, "cannot_pass"), exceptions(service, "not_run")
    left_out = cannot_pass | not_run
    if unknown := sorted(left_out.keys() - {test.name for test in tests}):
        raise Failure(f"{shown(service.exceptions)} names tests that don't exist: {', '.join(unknown)}")
    if unknown := unmatched(filters + skipped, [test.name for test in tests]):
        raise Failure(f"No test has a name with {', '.join(unknown)}.")
    wanted = [test for test in tests if any(text in test.name for text in filters or [""])]
    wanted = [test for test in wanted if not any(text in test.name for text in skipped)]
    if not wanted:
        raise Failure("All of these tests are skipped.")

    expected = [test for test in wanted if test.name not in left_out]
    failed: list[Test] = []
    for first in range(0, len(expected), BATCH):
        batch = expected[first : first + BATCH]
        failed += failing(service, batch, THREADS)
        tell(f"{first + len(batch)} of {len(expected)} tests")
    if failed and service.is_racy:
        tell(f"once more, one by one: {', '.join(test.name for test in failed)}")
        failed = failing(service, failed, threads=1)
    for reason, count in Counter(left_out[test.name] for test in wanted if test.name in left_out).items():
        tell(f"left out {count}, since {reason}")
    # An unknown service may be able to do what ours can't.
    tried = [test for test in wanted if test.name in cannot_pass and service.is_known]
    still_failing = failing(service, tried, THREADS, is_silent=True) if tried else []
    needless = [test for test in tried if test not in still_failing]
    for test in needless:
        tell(f"{test.name} passes on {service.title}; take it from {shown(service.exceptions)}")
    is_fine = not failed and not needless
    tell(f"{len(expected)} tests, {'as expected' if is_fine else 'FAILED, see above'}")
    return is_fine


def failing(service: Service, tests: list[Test], threads: int, is_silent: bool = False) -> list[Test]:
    """Those of the tests that fail on a service of their own. They have to be sorted by their binary."""
    found: list[Test] = []
    schedules = os.environ.get("PROPTEST_CASES", str(service.schedules))
    with service.start() as variables:
        for binary, group in itertools.groupby(tests, key=lambda test: test.binary):
            asked = list(group)
            paths = [test.path for test in asked]
            ended = run(binary, ["--exact", f"--test-threads={threads}", *paths], variables | {"PROPTEST_CASES": schedules})
            if ended.returncode not in (0, SOME_FAILED):
                raise Failure(f"{binary.name} ended with {ended.returncode}:\n{ended.stdout}")
            if ended.returncode == SOME_FAILED:
                passed = re.findall(r"^test (\S+) \.\.\. ok$", ended.stdout, re.MULTILINE)
                found += [test for test in asked if test.path not in passed]
                print("" if is_silent else ended.stdout, end="", flush=True)
    return found


def exceptions(service: Service, kind: str) -> dict[str, str]:
    """The tests that aren't run like the others, each with the reason."""
    import tomllib  # not in a Python that is too old, which is said first

    groups = tomllib.loads(service.exceptions.read_text()).get(kind, [])
    return {test: group["reason"] for group in groups for test in group["tests"]}


def main() -> int:
    parser = argparse.ArgumentParser(description="The integration tests against another service; see the Makefile")
    parser.add_argument("--localstack", action="store_true", help="against LocalStack, instead of DynamoDB Local")
    parser.add_argument("filters", nargs="*", help="run only tests whose name contains one of these")
    parser.add_argument("--skip", action="append", default=[], help="run no tests whose name contains this")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the service is ended
    check_python()
    check_cargo()
    endpoint = os.environ.get("DYNAMODB_ENDPOINT")
    service = LOCALSTACK if arguments.localstack else at(endpoint) if endpoint else DYNAMODB_LOCAL
    if lacks := service.missing():
        say(f"{service.name}: not run, since {lacks}.")
        return 0
    return 0 if conform(service, arguments.filters, arguments.skip) else 1


if __name__ == "__main__":
    end_with(main)
