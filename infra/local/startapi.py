"""Serves the API with `sam local start-api`, which runs each function in a container (`make startapi`, `make e2e-sam`).

Containers use the tables, secrets and queues of the local system, or those that a file of variables names. Only Python's
standard library is needed to start, and Docker. What SAM reads is written to `.linklet/sam`; the functions are built into
`target/sam`, so that neither those of the local system nor those of a deployment are overwritten.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from .containers import HOST, Engine, NoDocker
from .installer import ROOT, TOOLS, Failure, check_cargo, check_python, end_with, install, say, shown
from .system import System, check_port, free_port, without_aws

FOLDER = ROOT / ".linklet" / "sam"
FUNCTIONS = ROOT / "target" / "sam"
DEMO = ROOT / "infra" / "local" / "demo.py"
# Docker's own proxy settings get into every container, and would lead even to the local system.
UNPROXIED = f"{HOST},127.0.0.1,localhost"
SECONDS_TO_END = 20
SECONDS_TO_START = 120


# ---------------------------------------------------------------------------------------------------------- preparations


def functions_behind_the_api() -> list[str]:
    """A test keeps the routes of `make watch` and those of the template alike."""
    import tomllib  # not in a Python that is too old, which is then said first

    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    routes = workspace["metadata"]["lambda"]["watch"]["router"].values()
    return sorted({each["function"] for methods in routes for each in methods})


def build(architecture: str) -> None:
    """Builds for the containers' Linux, whatever runs here, as fast as it gets: nobody measures there."""
    tools = install("cargo-lambda") / "bin"
    packages = [argument for name in functions_behind_the_api() for argument in ("--package", name)]
    target = {"arm64": "--arm64", "x86_64": "--x86-64"}[architecture]
    command = ["cargo", "lambda", "build", target, "--lambda-dir", str(FUNCTIONS), *packages]
    environment = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    if subprocess.run(command, cwd=ROOT, env=environment).returncode != 0:
        raise Failure("The build failed, see above.")


def prepare(engine: Engine) -> None:
    check_cargo()
    engine.fetch_base_image()
    engine.remove_containers_of(FUNCTIONS)  # of a run that was killed; what they run could not be replaced
    build(engine.architecture)


def write_template(architecture: str, variables: Path) -> Path:
    template = FOLDER / "template.yaml"
    options = ["--architecture", architecture, "--functions", str(FUNCTIONS), "--variables", str(variables)]
    command = [install("sam") / "bin" / "python", "-m", "infra.local.sam_local", *options]
    written = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if written.returncode != 0:
        raise Failure(written.stderr.strip())
    template.write_text(written.stdout)
    return template


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """One run at a time in this working copy: another one would remove the first one's containers."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failure("`sam local start-api` already runs for this working copy. End that one first.") from None
        yield


# -------------------------------------------------------------------------------------------------------------- variables


@dataclass(frozen=True)
class Target:
    """What the functions work with: a file of variables for SAM, further options, and the environment that SAM runs in."""

    variables: Path
    options: list[str]
    environment: dict[str, str]


@contextlib.contextmanager
def stack(variables: Path) -> Iterator[Target]:
    """That which a file names, with the caller's profile and region."""
    yield Target(variables, ["--add-host", f"{HOST}:host-gateway"], dict(os.environ))


def check_format(variables: Path) -> None:
    try:
        sections = json.loads(variables.read_text())
    except FileNotFoundError:
        raise Failure(f"There is no file {variables}. docs/local-sam.md says what has to be in it.") from None
    except ValueError as error:
        raise Failure(f"{variables} is not JSON: {error}.") from None
    if not isinstance(sections, dict) or not all(isinstance(section, dict) for section in sections.values()):
        raise Failure(f'{variables} has another form than {{"Parameters": {{"LINKS_TABLE": "…", …}}}}.')


@contextlib.contextmanager
def local_system(engine: Engine, system: System, api: str) -> Iterator[Target]:
    """That of `make up`, or one like it. It listens on loopback, to which containers are shown the way meanwhile."""
    emulator = system.require()
    with engine.way_to(emulator.port) as (address, port):
        variables = deployed_variables(system, api) | {
            "AWS_ENDPOINT_URL": f"http://{HOST}:{port}",
            "NO_PROXY": UNPROXIED,
            "no_proxy": UNPROXIED,
        }
        path = FOLDER / "env.json"
        path.write_text(json.dumps({"Parameters": variables}, indent=2))
        yield Target(path, ["--add-host", f"{HOST}:{address}"], system.environment(emulator))


def deployed_variables(system: System, api: str) -> dict[str, str]:
    command = system.command_about_functions("env", "--public-base-url", api)
    listing = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return without_aws(dict(line.split("=", 1) for line in listing.splitlines()))


# ---------------------------------------------------------------------------------------------------------------- serving


@contextlib.contextmanager
def serving(engine: Engine, port: int, target: Target, log: IO[str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Builds the functions, runs `sam local start-api`, and leaves nothing of it behind."""
    template = write_template(engine.architecture, target.variables)
    prepare(engine)
    command = [str(TOOLS / "sam" / "bin" / "sam"), "local", "start-api", "--host", "127.0.0.1", "--port", str(port)]
    files = ["--template", str(template), "--env-vars", str(target.variables)]
    # Kept containers make a function start once instead of with each request, and let redirect store a click behind its answer.
    containers = ["--warm-containers", "LAZY", "--no-watch", "--skip-pull-image", *target.options]
    environment = target.environment | {
        "DOCKER_HOST": engine.address,
        "SAM_CLI_TELEMETRY": "0",
        "__SAM_CLI_APP_DIR": str(FOLDER / "app"),
    }
    process = subprocess.Popen([*command, *files, *containers], cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        yield process
    finally:
        with undisturbed():
            end(process)
            engine.remove_containers_of(FUNCTIONS)


def end(process: subprocess.Popen[bytes]) -> None:
    """Gives SAM the time to stop its containers, which it also does after a Ctrl-C that has reached it already."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Whoever is impatient and presses Ctrl-C again would leave containers behind."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def await_start(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while not is_listening(port):
        if process.poll() is not None or time.monotonic() > deadline:
            raise Failure("`sam local start-api` did not start.")
        time.sleep(0.2)


def is_listening(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


# --------------------------------------------------------------------------------------------------------------- commands


def command_serve(arguments: argparse.Namespace) -> None:
    """Serves the local system's API, or that of a stack, until Ctrl-C."""
    port, variables = arguments.port, arguments.env_vars
    system, api = System("local"), f"http://127.0.0.1:{port}"
    check_port(port, "make startapi STARTAPI_PORT")
    if variables:
        check_format(variables)
    else:
        system.require()
    engine = Engine.find()
    target = stack(variables) if variables else local_system(engine, system, api)
    with alone(), target as found, serving(engine, port, found) as process, contextlib.suppress(KeyboardInterrupt):
        await_start(process, port)
        say(f"\nThe API answers at {api}. The first call of each function takes seconds. Ctrl-C ends it.\n")
        if process.wait() != 0:
            raise Failure("`sam local start-api` has ended, see above.")


def command_tour(_: argparse.Namespace) -> None:
    """Takes the five-minute tour through `sam local start-api`, with a system of its own."""
    try:
        engine = Engine.find()
    except NoDocker as reason:
        say(f"The tour through `sam local` was left out: {reason}")
        return
    system = System("e2e-sam")
    with alone():
        engine.fetch_base_image()  # first of all, since it is what can be missing
        try:
            system.down()
            system.up(free_port())
            sys.exit(take_tour(engine, system))
        finally:
            system.down()


def take_tour(engine: Engine, system: System) -> int:
    port = free_port()
    api = f"http://127.0.0.1:{port}"
    path = system.folder / "sam.log"
    say(f"What SAM and the containers say: {shown(path)}")
    with open(path, "w") as log, local_system(engine, system, api) as target, serving(engine, port, target, log) as process:
        await_start(process, port)
        code = subprocess.run([sys.executable, DEMO], env=os.environ | {"API_URL": api}).returncode
        if code == 0:
            code = wrongly_routed(api)
        if code != 0:
            system.keep_function_logs()
    return code


def wrongly_routed(api: str) -> int:
    """How many requests get another answer than expected of those that SAM, the emulator and AWS could route differently."""
    page, problem = "text/html; charset=utf-8", "application/problem+json"
    expected = {
        "HEAD /app": (200, page),
        "HEAD /api/openapi.json": (200, "application/json"),
        "HEAD /api/me": (401, problem),
        "GET /nocode0/": (404, problem),
        "GET /no/such/route": (404, problem),
        "PUT /health": (404, problem),
    }
    wrong = 0
    for name, answer in expected.items():
        method, path = name.split()
        got = answer_to(urllib.request.Request(api + path, method=method))
        say(f"{name}: {got}" + ("" if got == answer else f", and not {answer}"))
        wrong += got != answer
    return wrong


def answer_to(request: urllib.request.Request) -> tuple[int, str]:
    """The status and type of the answer to a request."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(request, timeout=SECONDS_TO_START) as answer:
            return answer.status, answer.headers["Content-Type"]
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"]


def main() -> None:
    parser = argparse.ArgumentParser(description="The API in `sam local start-api`; see the Makefile")
    commands = parser.add_subparsers(required=True, metavar="command")
    serve = commands.add_parser("serve", help="until Ctrl-C")
    serve.set_defaults(function=command_serve)
    serve.add_argument("--port", type=int, default=3000)
    serve.add_argument("--env-vars", type=Path, help="a file with the variables of a stack; without one, the local system")
    tour = commands.add_parser("tour", help="take the five-minute tour through it, with a system of its own")
    tour.set_defaults(function=command_tour)

    arguments = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: sys.exit(128 + received))  # so that everything is cleaned up
    check_python()
    arguments.function(arguments)


if __name__ == "__main__":
    end_with(main)
