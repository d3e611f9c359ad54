"""Runs the integration tests against AWS's DynamoDB Local. `make conformance` runs it; docs/conformance.md tells more.

Tests that can't pass there are in tests/integration/conformance.toml, with the reason.

DynamoDB Local is installed from Maven Central, once, under `.linklet/tools`. It listens on loopback, keeps its data in memory,
and ends with this program. Where there is no Java or no Maven, a line says so, and that is no failure.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "local"))

from linklet import REQUIREMENTS, ROOT, TOOLS, Failure, check_cargo, check_python, locked, say, shown  # noqa: E402

JAVA_AT_LEAST = 17
# It lives for minutes: compiling its code better, or collecting garbage beside it, takes longer than it saves.
JAVA_OPTIONS = ["-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
POM = REQUIREMENTS / "dynamodb-local.xml"
LAUNCHER = ROOT / "infra" / "local" / "DynamoDbLocal.java"
EXCEPTIONS = ROOT / "tests" / "integration" / "conformance.toml"
LOG = ROOT / ".linklet" / "conformance" / "dynamodb-local.log"
BINARIES = ["integration", "exactness", "logs", "log-forgery", "runtime"]
CARGO_TEST = ["cargo", "test", "--workspace", "--no-fail-fast", *(f"--test={name}" for name in BINARIES)]
# A test and DynamoDB Local mostly wait for each other.
THREADS = 2 * (os.cpu_count() or 1)
# Random schedules of clicks, each of which takes a quarter of a second.
SCHEDULES = "100"


# ------------------------------------------------------------------------------------------------------- DynamoDB Local


def java() -> Path | str | None:
    """A Java that can run the launcher from its source, or None."""
    home = os.environ.get("JAVA_HOME")
    program = Path(home) / "bin" / "java" if home else shutil.which("java")
    try:
        answer = subprocess.run([program or "java", "--list-modules"], capture_output=True, text=True)
    except OSError:
        return None
    compiler = re.search(r"^jdk\.compiler@(\d+)", answer.stdout, re.MULTILINE)
    return program if compiler and int(compiler.group(1)) >= JAVA_AT_LEAST else None


def installed() -> Path:
    """The folder with DynamoDB Local's jars, which are downloaded once per version of the POM."""
    home = TOOLS / "dynamodb-local"
    stamp = home / "installed"
    wanted = hashlib.sha256(POM.read_bytes()).hexdigest()
    with locked(TOOLS):
        if stamp.is_file() and stamp.read_text() == wanted:
            return home
        say("Installing DynamoDB Local (once) …")
        shutil.rmtree(home, ignore_errors=True)
        maven = ["mvn", "--batch-mode", "--quiet", "--strict-checksums", "--file", POM, "dependency:copy-dependencies"]
        if subprocess.run([*maven, "-DincludeTypes=jar", f"-DoutputDirectory={home}"]).returncode != 0:
            raise Failure("Installing DynamoDB Local failed (see above). Is Maven Central or your own mirror reachable?")
        stamp.write_text(wanted)
    return home


@contextlib.contextmanager
def dynamodb_local(program: Path | str) -> Iterator[str]:
    """Its endpoint, while it runs. It ends with its input, so also when this program is killed."""
    command = [program, *JAVA_OPTIONS, "-cp", f"{installed()}/*", LAUNCHER, "-inMemory", "-disableTelemetry"]
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with open(LOG, "w") as log:
        process = subprocess.Popen(
            command, env=os.environ | {"DDB_LOCAL_TELEMETRY": "0"}, stdin=subprocess.PIPE, stdout=log, stderr=log
        )
    try:
        yield f"http://127.0.0.1:{await_port(process)}"
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
class Plan:
    """Which tests to run, and which ones to leave out, each of these with the reason."""

    expected: list[str]
    cannot_pass: dict[str, str]
    too_long: dict[str, str]

    @classmethod
    def of(cls, filters: list[str]) -> Plan:
        """All tests, or those whose name contains one of the filters. Builds them."""
        tests = all_tests()
        cannot_pass, too_long = exceptions("cannot_pass"), exceptions("too_long")
        if unknown := sorted((cannot_pass.keys() | too_long.keys()) - set(tests)):
            raise Failure(f"{shown(EXCEPTIONS)} names tests that don't exist: {', '.join(unknown)}")
        wanted = [test for test in tests if not filters or any(text in test for text in filters)]
        if not wanted:
            raise Failure("No test has such a name.")
        return cls(
            [test for test in wanted if test not in cannot_pass | too_long],
            {test: reason for test, reason in cannot_pass.items() if test in wanted},
            {test: reason for test, reason in too_long.items() if test in wanted},
        )

    def run(self, endpoint: str, is_dynamodb_local: bool) -> bool:
        """True if each test does what is expected of it."""
        is_fine = not self.expected or run(self.expected, endpoint).returncode == 0
        # Another service may be able to do what DynamoDB Local isn't.
        needless = passing(list(self.cannot_pass), endpoint) if is_dynamodb_local else []
        for reason, count in Counter([*self.cannot_pass.values(), *self.too_long.values()]).items():
            say(f"conformance: left out {count}, since {reason}")
        for test in needless:
            say(f"conformance: {test} passes on DynamoDB Local; take it from {shown(EXCEPTIONS)}")
        return is_fine and not needless


def all_tests() -> list[str]:
    command = [*CARGO_TEST, "--", "--list", "--format", "terse"]
    listing = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if listing.returncode != 0:
        raise Failure("The tests could not be built, see above.")
    return re.findall(r"^(\S+): test$", listing.stdout, re.MULTILINE)


def exceptions(kind: str) -> dict[str, str]:
    """The tests that aren't run like the others, each with the reason."""
    import tomllib

    groups = tomllib.loads(EXCEPTIONS.read_text())[kind]
    return {test: group["reason"] for group in groups for test in group["tests"]}


def run(tests: list[str], endpoint: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [*CARGO_TEST, "--", "--exact", f"--test-threads={THREADS}", *tests]
    environment = {"PROPTEST_CASES": SCHEDULES} | os.environ | {"DYNAMODB_ENDPOINT": endpoint}
    return subprocess.run(command, cwd=ROOT, env=environment, text=True, **options)


def passing(tests: list[str], endpoint: str) -> list[str]:
    """Those of the tests that pass, while the others fail without a word."""
    if not tests:
        return []
    output = run(tests, endpoint, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    verdicts = dict(re.findall(r"^test (\S+) \.\.\. (\w+)$", output, re.MULTILINE))
    if any(test not in verdicts for test in tests):
        raise Failure(f"Tests that can't pass did not run:\n{output}")
    return [test for test in tests if verdicts[test] == "ok"]


def conform(filters: list[str]) -> bool:
    if endpoint := os.environ.get("DYNAMODB_ENDPOINT"):
        return Plan.of(filters).run(endpoint, is_dynamodb_local=False)
    if (program := java()) is None:
        say(f"conformance: not run, since no JDK {JAVA_AT_LEAST} or later is installed.")
        return True
    if shutil.which("mvn") is None:
        say("conformance: not run, since Maven is not installed.")
        return True
    plan = Plan.of(filters)
    with dynamodb_local(program) as endpoint:
        return plan.run(endpoint, is_dynamodb_local=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="The integration tests against DynamoDB Local; see the Makefile")
    parser.add_argument("filters", nargs="*", help="run only tests whose name contains one of these")
    filters = parser.parse_args().filters
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that DynamoDB Local is ended
    try:
        check_python()
        check_cargo()
        sys.exit(0 if conform(filters) else 1)
    except Failure as failure:
        say(str(failure))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
