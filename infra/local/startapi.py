"""Serves the API with `sam local start-api`, which runs each function in a container: `make startapi`, `make e2e-sam`.

It runs in SAM's own Python. What SAM reads is written to `.linklet/sam`, and the functions are built into `target/sam`, so that
neither those of the local system nor those of a deployment are overwritten.
"""

import argparse
import contextlib
import ipaddress
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from samcli.yamlhelper import yaml_parse

from .client import send
from .forwarder import Forwarder
from .installer import ROOT, TOOLS, Failure, check_cargo, end_with, install, locked, say, shown
from .system import System, check_port, free_port, port_is_taken, wait_until, without_aws

FOLDER = ROOT / ".linklet" / "sam"
FUNCTIONS = ROOT / "target" / "sam"
HOST = "host.docker.internal"  # by which containers find this machine
# In a file of variables: those for all functions. Other sections are for the function of that name.
FOR_ALL = "Parameters"
RUNNING = "`sam local start-api` already runs for this working copy. End that one first."
PAGE, PROBLEM = "text/html; charset=utf-8", "application/problem+json"
# The answers to requests that SAM, the emulator and AWS could route differently.
ROUTED = {
    "HEAD /app": (200, PAGE),
    "HEAD /api/openapi.json": (200, "application/json"),
    "HEAD /api/me": (401, PROBLEM),
    "GET /nocode0/": (404, PROBLEM),
    "GET /no/such/route": (404, PROBLEM),
    "PUT /health": (404, PROBLEM),
}

Template = dict[str, Any]
Variables = dict[str, dict[str, str]]


def behind_the_api() -> list[str]:
    """A test keeps the routes of `make watch` and those of the template alike."""
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    routes = workspace["metadata"]["lambda"]["watch"]["router"].values()
    return sorted({each["function"] for methods in routes for each in methods})


def for_start_api(given: Variables) -> Template:
    """The template with the functions that are built here, in a form in which SAM finds its routes."""
    text = re.sub(r"target/lambda/([\w-]+)/", rf"{FUNCTIONS}/\1", (ROOT / "template.yaml").read_text())
    # SAM looks for an integration by its name, and for a function behind an integration by the function's ARN.
    text = re.sub(r"!Sub 'integrations/\$\{(\w+)\}'", r"integrations/\1", text)
    text = re.sub(r"!Ref (\w+Function)\.Alias", r"!GetAtt \1.Arn", text)
    template = yaml_parse(text)
    del template["Resources"]["Observability"]  # alarms and a dashboard, which containers don't have
    # If SAM meets a function before the API, it looks for routes in functions' events only, where we have none.
    template["Resources"] = {"HttpApi": template["Resources"].pop("HttpApi")} | template["Resources"]
    # SAM gives a container only variables that the template declares. Their values are in the file, which SAM reads as well.
    scopes = variables_of(template)
    known = {variable for variables in scopes.values() for variable in variables}
    for name, variables in given.items():
        scopes.get(name, {}).update({variable: "" for variable in variables if variable not in known})
    return template


def variables_of(template: Template) -> dict[str, dict[str, Any]]:
    """The variables that the template declares for all functions, and for each."""
    functions = {name: each["Properties"] for name, each in template["Resources"].items() if name.endswith("Function")}
    scopes = functions | {FOR_ALL: template["Globals"]["Function"]}
    return {name: each.setdefault("Environment", {}).setdefault("Variables", {}) for name, each in scopes.items()}


def missing(given: Variables) -> set[str]:
    """Variables of functions behind the API that only a deployed stack knows and that aren't given. SAM would make up a value."""
    template = for_start_api({})
    resources, folders = template["Resources"], {str(FUNCTIONS / name) for name in behind_the_api()}
    return {
        variable
        for name, variables in variables_of(template).items()
        if name != FOR_ALL and resources[name]["Properties"]["CodeUri"] in folders
        for variable, value in variables.items()
        if isinstance(value, dict) and ("Fn::GetAtt" in value or "Ref" in value and value["Ref"] not in template["Parameters"])
        and not (given.get(FOR_ALL, {}) | given.get(name, {})).get(variable)
    }


def read_variables(path: Path) -> Variables:
    """Those of a stack. Building takes minutes, so what is wrong with the file is said before."""
    try:
        given = json.loads(path.read_text())
        lacking = missing(given)
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise Failure(f"{path} can't be used: {error}. docs/local-sam.md says what has to be in it.") from None
    if lacking:
        raise Failure(f"{path} lacks {', '.join(sorted(lacking))}. docs/local-sam.md says where they come from.")
    return given


def docker(*arguments: str) -> str:
    """What the docker command prints."""
    if shutil.which("docker") is None:
        raise Failure("There is no docker command. Install Docker from https://docs.docker.com/get-docker.")
    answer = subprocess.run(["docker", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if answer.returncode != 0:
        raise Failure(f"`docker {arguments[0]}` failed: {' '.join(answer.stderr.split())}")
    return answer.stdout.strip()


def architecture() -> str:
    """That of Docker's engine, as Lambda calls it."""
    return docker("version", "--format", "{{.Server.Arch}}").replace("amd64", "x86_64")


def build() -> None:
    """Builds for the containers' Linux, whatever runs here, as fast as it gets: nobody measures there."""
    check_cargo()
    image = f"public.ecr.aws/lambda/provided:al2023-{architecture()}"
    if not docker("images", "--quiet", image):  # SAM would pull it during the first request, and look for a newer one before each
        say(f"Pulling {image} (once) …")
        docker("pull", "--quiet", image)
    remove_containers()  # of a run that was killed; what they run could not be replaced
    packages = [argument for name in behind_the_api() for argument in ("--package", name)]
    command = ["cargo", "lambda", "build", f"--{architecture().replace('_', '-')}", "--lambda-dir", str(FUNCTIONS), *packages]
    path = f"{install('cargo-lambda') / 'bin'}{os.pathsep}{os.environ['PATH']}"
    if subprocess.run(command, cwd=ROOT, env=os.environ | {"PATH": path}).returncode != 0:
        raise Failure("The build failed, see above.")


def remove_containers() -> None:
    """Removes those with functions of this working copy. SAM itself forgets those that were being started when it was stopped, and all
    of them when it is killed."""
    # Docker Desktop shows a folder of the Mac as one of its virtual machine.
    folders = [f"{prefix}{FUNCTIONS / name}" for name in behind_the_api() for prefix in ("", "/host_mnt")]
    if found := docker("ps", "--all", "--quiet", *(f"--filter=volume={folder}" for folder in folders)).split():
        docker("rm", "--force", *found)


@contextlib.contextmanager
def way_to(port: int) -> Iterator[int]:
    """Lets containers reach a port of our loopback. Gives the port that they have to call."""
    if sys.platform != "linux" or docker("info", "--format", "{{.OperatingSystem}}") == "Docker Desktop":
        yield port  # Docker Desktop leads to our loopback
        return
    bridge = bridge_address(json.loads(docker("network", "inspect", "bridge"))[0]["IPAM"]["Config"])
    try:
        forwarder = Forwarder(port, str(bridge.ip), clients=bridge.network)
    except OSError as error:
        raise Failure(f"Nothing can listen on {bridge.ip} ({error.strerror}): Docker's engine runs elsewhere, or rootless.") from None
    with forwarder:
        yield forwarder.port


def bridge_address(configurations: list[dict[str, str]]) -> ipaddress.IPv4Interface:
    """This machine's address on Docker's bridge. It is the network's first, unless somebody has said otherwise."""
    configuration = next(each for each in configurations if "." in each["Subnet"])
    network = ipaddress.IPv4Network(configuration["Subnet"])
    address = configuration.get("Gateway", str(network[1])).partition("/")[0]
    return ipaddress.IPv4Interface(f"{address}/{network.prefixlen}")


@contextlib.contextmanager
def serving(port: int, system: System, given: Variables | None = None, log: IO[str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Builds the functions, and serves them with the given variables, or on the system. Leaves no container behind."""
    with contextlib.ExitStack() as stack:
        environment = dict(os.environ)
        if given is None:
            emulator = system.require()
            environment = system.environment(emulator)
            command = system.command_about_functions("env", "--public-base-url", f"http://127.0.0.1:{port}")
            listing = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
            endpoint = f"http://{HOST}:{stack.enter_context(way_to(emulator.port))}"
            # Docker's own proxy settings get into every container, and would lead even to the local system.
            given = {FOR_ALL: {"AWS_ENDPOINT_URL": endpoint, "NO_PROXY": HOST, "no_proxy": HOST}}
            given[FOR_ALL] |= without_aws(dict(line.split("=", 1) for line in listing.splitlines()))
        template, variables = FOLDER / "template.json", FOLDER / "env.json"
        template.write_text(json.dumps(for_start_api(given)))
        variables.write_text(json.dumps(given))
        build()
        command = [str(TOOLS / "sam" / "bin" / "sam"), "local", "start-api", "--host", "127.0.0.1", "--port", str(port)]
        command += ["--template", str(template), "--env-vars", str(variables), "--add-host", f"{HOST}:host-gateway"]
        command += ["--language-extensions", "--parameter-overrides", f"Architecture={architecture()}"]
        # Kept containers make a function start once instead of with each request, and let redirect store a click behind its answer.
        command += ["--warm-containers", "LAZY", "--no-watch", "--skip-pull-image"]
        # SAM doesn't look at the contexts that the docker command has, such as Docker Desktop's.
        host = docker("context", "inspect", "--format", "{{.Endpoints.docker.Host}}")
        environment |= {"DOCKER_HOST": host, "SAM_CLI_TELEMETRY": "0", "__SAM_CLI_APP_DIR": str(FOLDER / "app")}
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            yield process
        finally:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)  # another Ctrl-C would leave containers behind
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)  # SAM stops its containers
            process.kill()
            remove_containers()


def serve(port: int, path: Path | None) -> None:
    """Serves the local system's API, or that of a stack whose variables are in a file, until Ctrl-C."""
    check_port(port, "make startapi STARTAPI_PORT")
    given = read_variables(path) if path else None
    with locked(FOLDER, RUNNING), serving(port, System("local"), given) as process, contextlib.suppress(KeyboardInterrupt):
        if process.wait() != 0:
            raise Failure("`sam local start-api` has ended, see above.")


def tour() -> None:
    """Takes the five-minute tour through `sam local start-api`, with a system of its own."""
    try:
        architecture()
    except Failure as reason:
        say(f"The tour through `sam local` was left out: {reason}")
        return
    system = System("e2e-sam")
    with locked(FOLDER, RUNNING):
        try:
            system.down()
            system.up(free_port())
            port, path = free_port(), system.folder / "sam.log"
            say(f"What SAM and the containers say: {shown(path)}")
            with open(path, "w") as log, serving(port, system, log=log) as process:
                wait_until(lambda: port_is_taken(port) or process.poll() is not None, seconds=120)
                environment = os.environ | {"API_URL": f"http://127.0.0.1:{port}"}
                demo = subprocess.run([sys.executable, "-m", "infra.local.demo"], cwd=ROOT, env=environment)
                code = demo.returncode or wrongly_routed(port)
                if code != 0:
                    system.keep_function_logs()
        finally:
            system.down()
    sys.exit(code)


def wrongly_routed(port: int) -> int:
    """How many of these requests get another answer."""
    wrong = 0
    for name, wanted in ROUTED.items():
        method, path = name.split()
        answer = send(method, f"http://127.0.0.1:{port}{path}", timeout=120)
        got = (answer.status, answer.headers["Content-Type"])
        say(f"{name}: {got}" + ("" if got == wanted else f", and not {wanted}"))
        wrong += got != wanted
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=3000)
    parser.add_argument("--env-vars", type=Path, help="a file with the variables of a stack; without one, the local system's are taken")
    parser.add_argument("--tour", action="store_true", help="take the five-minute tour through it, on a system of its own")
    arguments = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: sys.exit(128 + received))  # so that everything is cleaned up
    tour() if arguments.tour else serve(arguments.port, arguments.env_vars)


if __name__ == "__main__":
    end_with(main)
