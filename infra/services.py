"""The services that `infra/conformance.py` runs the tests against: DynamoDB Local, and LocalStack in front of it.

Both are installed once, under `.linklet/tools`. They listen on loopback, keep their data in memory, and end with the program
that has started them, also if it is killed. Where something is missing that they need, a line says so, and that is no failure.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from .local.installer import ROOT, Failure, end_of, install, install_jars, java, missing_java, shown
from .local.system import free_port, wait_until

# They live for minutes: compiling DynamoDB Local's code better, or collecting garbage beside it, takes longer than it saves.
JAVA_OPTIONS = ["-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
LAUNCHERS = ROOT / "infra" / "local"
# What LocalStack runs on: it is of March 2026, and its packages are as old.
PYTHONS = ["3.13", "3.12"]
# The second generation of what has one. Without the first setting, it would load a service when it is asked for the first time,
# with the tests waiting; the others keep it from asking the internet for anything.
SETTINGS = {
    "SERVICES": "dynamodb,dynamodbstreams,sqs,sns",
    "EAGER_SERVICE_LOADING": "1",
    "PROVIDER_OVERRIDE_DYNAMODB": "v2",
    "DNS_ADDRESS": "0",
    "DISABLE_EVENTS": "1",
    "SKIP_SSL_CERT_DOWNLOAD": "1",
    "LS_LOG": "warn",
}

Variables = dict[str, str]


@dataclass(frozen=True)
class Service:
    """A service that tests are run against."""

    # That of its target of the Makefile, and of what it has written down.
    name: str
    title: str
    # What a machine lacks to run it, if anything.
    missing: Callable[[], str | None]
    # Yields what tells the tests where it is, while it runs.
    start: Callable[[], AbstractContextManager[Variables]]
    # Of clicks, which are random and take long.
    schedules: int = 100
    # Whether it fails calls that come at the same time, so that a test may pass when it is run once more, alone.
    is_racy: bool = False
    # Whether the tests that it can't pass are tried.
    is_known: bool = True

    @property
    def exceptions(self) -> Path:
        return ROOT / "tests" / "integration" / f"{self.name}.toml"


def folder(name: str) -> Path:
    home = ROOT / ".linklet" / name
    home.mkdir(parents=True, exist_ok=True)
    return home


@contextlib.contextmanager
def running(title: str, command: list[str | Path], log: Path, ready: str, variables: Variables) -> Iterator[str]:
    """Runs a service that ends with its input. Yields what it says when it is ready, which `ready` describes."""
    with open(log, "w") as output:
        process = subprocess.Popen(command, env=variables, stdin=subprocess.PIPE, stdout=output, stderr=output)
    try:
        lines = re.compile(ready, re.MULTILINE)
        wait_until(lambda: lines.search(log.read_text(errors="replace")) or process.poll() is not None, seconds=60)
        found = lines.search(log.read_text(errors="replace"))
        if not found:
            raise Failure(f"{title} did not start. {end_of(log)}")
        yield found[0]
        if process.poll() is not None:
            raise Failure(f"{title} has ended before the tests did; its log is {shown(log)}.")
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def dynamodb_local(log: Path) -> Iterator[str]:
    """Its port, while it runs."""
    home = install_jars("dynamodb-local", "DynamoDB Local")
    launcher = LAUNCHERS / "DynamoDbLocal.java"
    command = [java() or "java", *JAVA_OPTIONS, "-cp", f"{home}/*", launcher, "-inMemory", "-disableTelemetry"]
    variables = os.environ | {"DDB_LOCAL_TELEMETRY": "0"}
    with running("DynamoDB Local", command, log, r"^Listening on port \d+$", variables) as line:
        yield line.rpartition(" ")[2]


@contextlib.contextmanager
def alone() -> Iterator[Variables]:
    with dynamodb_local(folder("conformance") / "dynamodb-local.log") as port:
        yield {"DYNAMODB_ENDPOINT": f"http://127.0.0.1:{port}"}


@contextlib.contextmanager
def localstack() -> Iterator[Variables]:
    python = install("localstack", python_for_localstack()) / "bin" / "python"
    home = folder("localstack")
    # It may not find what an earlier one has left, nor what belongs to one of the person at the keyboard.
    shutil.rmtree(home / "state", ignore_errors=True)
    temporary = home / "state" / "tmp"
    temporary.mkdir(parents=True)
    endpoint = f"127.0.0.1:{free_port()}"
    with dynamodb_local(home / "dynamodb-local.log") as port:
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(home / "state"),
            "TMPDIR": str(temporary),
            "DYNAMODB_LOCAL_PORT": port,
            "GATEWAY_LISTEN": endpoint,
        }
        command = [python, "-P", LAUNCHERS / "localstack_server.py"]
        with running("LocalStack", command, home / "localstack.log", r"^Ready\.$", variables | SETTINGS):
            yield {name: f"http://{endpoint}" for name in ("DYNAMODB_ENDPOINT", "LOCALSTACK_ENDPOINT")}


def python_for_localstack() -> str | None:
    """A Python that can run it: this one, or one that is found on this machine."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [str(path) for version in PYTHONS for path in sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)]
    for program in [sys.executable, *(f"python{version}" for version in PYTHONS), *found]:
        script = "import ensurepip, sys, venv; print(*sys.version_info[:2], sep='.')"
        # pyenv has a program for each version that somebody has installed, which fails if another one is chosen.
        with contextlib.suppress(OSError):
            answer = subprocess.run([program, "-c", script], capture_output=True, text=True)
            if answer.stdout.strip() in PYTHONS:
                return program
    return None


def missing_for_localstack() -> str | None:
    if python_for_localstack() is None:
        return f"no Python {' or '.join(PYTHONS)} is installed"
    return missing_java()


DYNAMODB_LOCAL = Service("conformance", "DynamoDB Local", missing_java, alone)
LOCALSTACK = Service("localstack", "LocalStack", missing_for_localstack, localstack, schedules=20, is_racy=True)


def at(endpoint: str) -> Service:
    """Another DynamoDB, from which the same is expected as from DynamoDB Local."""
    variables = {"DYNAMODB_ENDPOINT": endpoint}
    return Service("conformance", endpoint, lambda: None, lambda: contextlib.nullcontext(variables), is_known=False)
