"""Runs Linklet on this machine: the real template, deployed with the real `sam deploy` to an AWS emulator on loopback.

The Makefile is the way in (`make up`, `make down`, `make url`, `make logs`, `make mails`, `make e2e`). Only Python's
standard library is needed to start; the tools it drives are installed, pinned, under `.linklet/tools`. Everything else that
it writes (process id, logs, the emulator's working files) is under `.linklet/local`, or for the tests' own systems under
`.linklet/e2e` and `.linklet/e2e-sam`.

The emulator keeps its data in memory: `make down`, a reboot or a crash ends it, and the next `make up` starts from an
empty system. A second `make up` over a running one keeps the data and deploys only if something changed.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gate import Gate

ROOT = Path(__file__).resolve().parents[2]
LAMBDA_DIR = ROOT / "target" / "lambda"
TOOLS = ROOT / ".linklet" / "tools"
REQUIREMENTS = ROOT / "infra" / "requirements"
EMULATOR = ROOT / "infra" / "local" / "emulator.py"
TEMPLATES = [ROOT / "template.yaml", ROOT / "infra" / "observability.yaml"]
PYTHON_AT_LEAST = (3, 11)
DEFAULT_PORT = 4566
REGION = "us-east-1"
STACK = "linklet"
# That of `make up`, that of `make e2e`, and that of `make e2e-sam`.
SYSTEMS = ["local", "e2e", "e2e-sam"]
# That of `make up`, unless the tests of the Makefile say that theirs is meant.
MEANT = os.environ.get("LINKLET_SYSTEM", "local")
# Load, an outage and a second deployment would disturb the other end-to-end tests, so their tests have a run of their own, and
# only on a system of our own. The deployment changes parameters, so nothing comes behind it.
LONG = ["targets", "watch-load", "outage", "redeploy", "admission"]
# The tests of the web application in a browser, which are no suite of Cargo's.
BROWSER = "browser"
# Targets of the Makefile that nothing else runs. The first of the long ones, since the others leave the system as nobody uses it.
TARGETS = "targets"


class Failure(Exception):
    """Something that the person at the keyboard can fix; the text says how."""


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


# ---------------------------------------------------------------------------------------------------------------- tools


def check_python() -> None:
    if sys.version_info < PYTHON_AT_LEAST:
        wanted = ".".join(map(str, PYTHON_AT_LEAST))
        raise Failure(
            f"Python {wanted} or later is needed, this is {platform.python_version()}. Install one (apt install "
            f"python3, brew install python, https://www.python.org/downloads), then `make PYTHON=/path/to/python3 …`."
        )
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        raise Failure("Python's venv module is missing. Debian and Ubuntu: `apt install python3-venv`.") from None


def check_cargo() -> None:
    if shutil.which("cargo") is None:
        raise Failure("cargo is missing. Install Rust from https://rustup.rs, then open a new shell.")


def install(tool: str) -> Path:
    """Installs `infra/requirements/<tool>.txt` into its own environment, once per version of that file."""
    check_python()
    requirements = REQUIREMENTS / f"{tool}.txt"
    # Scripts of an environment name its real folder, which several working copies can have by a link.
    home = (TOOLS / tool).resolve()
    stamp = home / "installed"
    wanted = hashlib.sha256(requirements.read_bytes() + f"{sys.version}\n{home}".encode()).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted:
        return home
    with locked(TOOLS):
        if stamp.is_file() and stamp.read_text() == wanted:  # another process was faster
            return home
        say(f"Installing {tool} (once) …")
        shutil.rmtree(home, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        pip = [str(home / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
        # The file has all that is needed. Left to itself, pip looks for other versions of a package that another one wants
        # with extras, and refuses them, since they have no hash.
        pinned = ["--require-hashes", "--no-deps", "--requirement", str(requirements)]
        if subprocess.run([*pip, "install", "--quiet", *pinned]).returncode != 0:
            raise Failure(f"Installing {tool} failed (see above). Is https://pypi.org or your own index reachable?")
        check = subprocess.run([*pip, "check"], capture_output=True, text=True)
        if check.returncode != 0:
            raise Failure(f"{requirements.name} is incomplete:\n{check.stdout}")
        stamp.write_text(wanted)
    return home


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One process at a time works in this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# ---------------------------------------------------------------------------------------------------------------- build


def build() -> None:
    """Builds the functions and puts each where the template expects it: target/lambda/<name>/bootstrap."""
    check_cargo()
    names = sorted(path.parent.name for path in ROOT.glob("functions/*/Cargo.toml"))
    if not names:
        raise Failure("There is nothing to build: no functions/*/Cargo.toml.")
    packages = [argument for name in names for argument in ("--package", name)]
    if subprocess.run(["cargo", "build", "--bins", *packages], cwd=ROOT).returncode != 0:
        raise Failure("The build failed, see above.")
    target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    for name in names:
        binary = target / "debug" / name
        bootstrap = LAMBDA_DIR / name / "bootstrap"
        if fingerprint(binary) != fingerprint(bootstrap):
            bootstrap.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(binary, bootstrap)  # keeps the modification time, which the fingerprint is made of


def fingerprint(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_size, status.st_mtime_ns


# --------------------------------------------------------------------------------------------------------- local system


@dataclass(frozen=True)
class Emulator:
    """A started emulator. The start time tells it from a process that got its number later, the version from one that
    was started before an update."""

    pid: int
    started: str
    port: int
    version: str = ""

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def api_url(self) -> str:
        # The emulator also answers at http://<api-id>.execute-api.localhost:<port>, but only curl and browsers resolve
        # such names everywhere: glibc without systemd-resolved, musl, macOS and thus most HTTP libraries do not.
        return f"{self.endpoint}/_aws/execute-api/{local_parameters()['EmulatorApiId']}"

    def runs(self) -> bool:
        return start_time(self.pid) == self.started

    def answers(self) -> bool:
        return get_status(f"{self.endpoint}/_ministack/health") == 200


def emulator_version() -> str:
    return hashlib.sha256(EMULATOR.read_bytes() + (REQUIREMENTS / "emulator.txt").read_bytes()).hexdigest()


def start_time(pid: int) -> str | None:
    """When this process started, or None without it. The C locale and UTC make the text comparable."""
    environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    answer = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, env=environment
    )
    state, _, started = answer.stdout.strip().partition(" ")
    return started.strip() if started and not state.startswith("Z") else None


def get_status(url: str) -> int | None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(url, timeout=5) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


def local_parameters() -> dict[str, str]:
    """The template's parameters in samconfig.toml's local environment."""
    import tomllib

    config = tomllib.loads((ROOT / "samconfig.toml").read_text())
    overrides = config["local"]["deploy"]["parameters"]["parameter_overrides"]
    return dict(override.split("=", 1) for override in overrides)


def aws_environment(endpoint: str) -> dict[str, str]:
    """Points any AWS SDK or tool to the emulator, and only there: no profile, no real credentials."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }


def without_aws(environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith("AWS_")}


class System:
    """One emulator with Linklet deployed to it, and the folder with all that belongs to it."""

    def __init__(self, name: str) -> None:
        self.folder = ROOT / ".linklet" / name
        self.record = self.folder / "emulator.json"
        self.deployed = self.folder / "deployed"
        self.log = self.folder / "emulator.log"
        self.deploy_log = self.folder / "deploy.log"
        self.scratch = self.folder / "tmp"

    # -- what there is

    def recorded(self) -> Emulator | None:
        try:
            return Emulator(**json.loads(self.record.read_text()))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def running(self) -> Emulator | None:
        emulator = self.recorded()
        return emulator if emulator and emulator.runs() else None

    def require(self) -> Emulator:
        emulator = self.running()
        if emulator is None or not self.deployed.is_file():
            raise Failure("Linklet is not running here. Start it with `make up`.")
        return emulator

    def environment(self, emulator: Emulator) -> dict[str, str]:
        """For a program that talks to this system: its API, its AWS endpoint, its stack."""
        own = {"API_URL": emulator.api_url, "STACK_NAME": STACK}
        return without_aws(dict(os.environ)) | aws_environment(emulator.endpoint) | own

    # -- up

    def up(self, port: int | None, variables: dict[str, str] | None = None) -> Emulator:
        """Builds, starts and deploys what isn't there yet. A newly started emulator hands `variables` to the functions."""
        check_python()
        check_cargo()
        if self.running() is None:
            check_port(port or DEFAULT_PORT)  # now, and not after minutes of building
        tools = {tool: install(tool) for tool in ("emulator", "sam")}
        build()
        with locked(self.folder):
            emulator = self.running()
            if emulator and port not in (None, emulator.port):
                raise Failure(f"Linklet already runs on port {emulator.port}. `make down` first to move it.")
            if emulator and not emulator.answers():
                say("The emulator runs but does not answer; starting a new one.")
                emulator = None
            if emulator and emulator.version != emulator_version():
                say("The emulator was updated; starting the new one.")
                emulator = None
            if emulator is None:
                self.stop()
                emulator = self.start(tools["emulator"], port or DEFAULT_PORT, variables or {})
            parameters = self.parameters(emulator)
            wanted = self.digest(parameters)
            if not (self.deployed.is_file() and self.deployed.read_text() == wanted):
                self.deploy(tools["sam"], emulator, parameters)
                self.deployed.write_text(wanted)
            self.await_health(emulator)
        return emulator

    def redeploy(self, changed: dict[str, str]) -> None:
        """Deploys what is running again, with some parameters changed."""
        emulator = self.require()
        with locked(self.folder):
            parameters = self.parameters(emulator) | changed
            self.deploy(install("sam"), emulator, parameters)
            self.deployed.write_text(self.digest(parameters))
            self.await_health(emulator)

    def parameters(self, emulator: Emulator) -> dict[str, str]:
        return local_parameters() | {
            "Architecture": "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64",
            "PublicBaseUrl": emulator.api_url,
        }

    def start(self, home: Path, port: int, variables: dict[str, str]) -> Emulator:
        check_port(port)
        self.scratch.mkdir(parents=True)
        # The functions inherit this environment, so it holds nothing of the caller's but what programs need to run.
        inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        environment = {
            **inherited,
            **aws_environment(f"http://127.0.0.1:{port}"),
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(port),
            "MINISTACK_REGION": REGION,
            "TMPDIR": str(self.scratch),
            # Enforces the functions' roles, so that a missing action fails here and not on AWS first.
            "AUTH": "true",
            # Listeners of services that Linklet doesn't use.
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            **variables,
        }
        say(f"Starting the emulator on 127.0.0.1:{port} …")
        with open(self.log, "w") as log:
            process = subprocess.Popen(
                [home / "bin" / "python", EMULATOR],
                cwd=self.scratch,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # survives this shell, and can be ended together with its functions
            )
        emulator = Emulator(process.pid, start_time(process.pid) or "", port, emulator_version())
        self.record.write_text(json.dumps(vars(emulator)))
        deadline = time.monotonic() + 60
        while not emulator.answers():
            if process.poll() is not None or time.monotonic() > deadline:
                tail = "".join(self.log.read_text(errors="replace").splitlines(keepends=True)[-20:])
                self.stop()
                raise Failure(f"The emulator did not start. The end of {shown(self.log)}:\n{tail}")
            time.sleep(0.1)
        return emulator

    def digest(self, parameters: dict[str, str]) -> str:
        """Changes when a deployment would."""
        seen = hashlib.sha256(json.dumps(parameters, sort_keys=True).encode())
        files = [*TEMPLATES, ROOT / "samconfig.toml", REQUIREMENTS / "sam.txt"]
        for path in [*files, *sorted(LAMBDA_DIR.glob("*/bootstrap"))]:
            with open(path, "rb") as file:
                seen.update(f"{path}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
        return seen.hexdigest()

    def deploy(self, home: Path, emulator: Emulator, parameters: dict[str, str]) -> None:
        first = not self.deployed.is_file()
        say("Deploying …")
        overrides = [f"{name}={value}" for name, value in parameters.items()]
        command = [str(home / "bin" / "sam"), "deploy", "--config-env", "local", "--parameter-overrides", *overrides]
        environment = self.environment(emulator) | {
            "SAM_CLI_TELEMETRY": "0",
            "__SAM_CLI_APP_DIR": str(self.scratch),
        }
        with open(self.deploy_log, "w") as log:
            code = subprocess.run(
                command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            ).returncode
        if code != 0:
            tail = "".join(self.deploy_log.read_text(errors="replace").splitlines(keepends=True)[-30:])
            if first:
                self.stop()  # a stack that was never created can't be updated; the next attempt starts afresh
            raise Failure(f"The deployment failed. The end of {shown(self.deploy_log)}:\n{tail}")

    def await_health(self, emulator: Emulator) -> None:
        deadline = time.monotonic() + 60
        while (status := get_status(f"{emulator.api_url}/health")) != 200:
            if time.monotonic() > deadline:
                raise Failure(f"GET {emulator.api_url}/health answers {status}. See `make logs` and {shown(self.log)}.")
            time.sleep(0.2)

    def keep_function_logs(self) -> None:
        """Saves what the functions logged, which otherwise ends with the emulator."""
        kept = self.folder / "functions.log"
        python = str(TOOLS / "emulator" / "bin" / "python")
        logs = [python, __file__, "logs", "--system", self.folder.name, "--no-follow", "--minutes", "60"]
        with open(kept, "w") as file:
            subprocess.run(logs, stdout=file)
        say(f"Logs of this run: {shown(kept)}, {shown(self.log)}")

    # -- down

    def down(self) -> bool:
        with locked(self.folder):
            return self.stop()

    def stop(self) -> bool:
        """Ends the emulator and every function it started, and forgets what was deployed. Logs stay."""
        emulator = self.running()
        if emulator:
            signal_group(emulator.pid, signal.SIGTERM)
            wait_until(lambda: not emulator.runs(), seconds=10)
            if emulator.runs():
                signal_group(emulator.pid, signal.SIGKILL)
                wait_until(lambda: not emulator.runs(), seconds=5)
        self.kill_functions()  # they outlive an emulator that was killed
        self.record.unlink(missing_ok=True)
        self.deployed.unlink(missing_ok=True)
        shutil.rmtree(self.scratch, ignore_errors=True)
        return emulator is not None

    def kill_functions(self) -> None:
        """Ends their processes in the middle of what they do. The emulator starts new ones when it needs them."""
        doomed = self.functions()
        for pid in doomed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not set(doomed) & set(self.functions()), seconds=10)

    def functions(self) -> list[int]:
        """Their processes. They run from our scratch folder, which nothing else does."""
        listing = subprocess.run(["ps", "-axww", "-o", "pid=,args="], capture_output=True, text=True, check=True)
        processes = (line.strip().partition(" ") for line in listing.stdout.splitlines())
        return [int(pid) for pid, _, command in processes if command.strip().startswith(f"{self.scratch}{os.sep}")]


def signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)


def wait_until(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.1)


def port_is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            raise Failure(f"Port {port} needs more rights; choose one above 1023.") from None
        except OSError:
            return True
    return False


def check_port(port: int, setting: str = "make up LINKLET_PORT") -> None:
    if port_is_taken(port):
        free = next(number for number in range(port + 1, 65536) if not port_is_taken(number))
        raise Failure(f"Port {port} is used by another program; run `{setting}={free}`.")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


# ------------------------------------------------------------------------------------------------------------- commands


def command_up(arguments: argparse.Namespace) -> None:
    emulator = System(MEANT).up(arguments.port)
    print(f"\nOpen Linklet in a browser:\n\n    {emulator.api_url}/app\n\nThe API:\n\n    {emulator.api_url}\n")
    print("Next: make demo, make logs, make down")


def command_down(arguments: argparse.Namespace) -> None:
    stopped = [System(name).down() for name in (SYSTEMS if arguments.all else [MEANT])]
    print("Stopped." if any(stopped) else "Nothing was running.")


def command_url(_: argparse.Namespace) -> None:
    print(System(MEANT).require().api_url)


def command_mails(_: argparse.Namespace) -> None:
    """Prints the mails that were sent, the oldest first. None has left the machine."""
    emulator = System(MEANT).require()
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(f"{emulator.endpoint}/_ministack/ses/messages", timeout=5) as answer:
        mails = [mail for mails in json.load(answer)["messages"].values() for mail in mails]
    for mail in sorted(mails, key=lambda each: each["Timestamp"]):
        sent = time.strftime("%H:%M:%S", time.localtime(mail["Timestamp"]))
        print(f"{sent}  To: {', '.join(mail['To'])}\nSubject: {mail['Subject']}\n\n{mail['BodyText'].rstrip()}\n")
    if not mails:
        print("No mail was sent.")


def command_install(arguments: argparse.Namespace) -> None:
    for tool in arguments.tools:
        install(tool)


def command_run(arguments: argparse.Namespace) -> None:
    """Runs a program with API_URL and the AWS variables of the local system, whatever the caller has set."""
    system = System(MEANT)
    environment = system.environment(system.require())
    sys.exit(subprocess.run(arguments.program, env=environment).returncode)


def command_e2e(arguments: argparse.Namespace) -> None:
    """Runs the end-to-end tests, against a system of their own unless API_URL names one."""
    check_cargo()
    if os.environ.get("API_URL"):
        if arguments.long:
            raise Failure("These tests disturb the system that they run on, so they start their own: unset API_URL.")
        sys.exit(run_suites(arguments, dict(os.environ)))
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
            code = run_suites(arguments, system.environment(emulator) | loopback | control)
            if code != 0:
                system.keep_function_logs()
    finally:
        system.down()
    sys.exit(code)


def suite(name: str, arguments: list[str]) -> list[str | Path]:
    """The program that runs it."""
    if name == BROWSER:
        return [sys.executable, ROOT / "infra" / "browser.py", "test", *arguments]
    if name == TARGETS:
        return [install("sam") / "bin" / "python", ROOT / "infra" / "local" / "targets.py", *arguments]
    # The whole workspace is named so that dependencies have the features that they were built with before.
    return ["cargo", "test", "--workspace", "--test", name, *arguments]


def run_suites(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Runs what is wanted, up to the first failure. All of the usual ones are: Cargo's tests, the contract, the browser."""
    names = LONG if arguments.long else [arguments.test or "e2e"]
    commands = [suite(name, arguments.arguments) for name in names]
    if not (arguments.long or arguments.test or arguments.arguments):
        commands += [[install("contract") / "bin" / "python", ROOT / "infra" / "contract" / "run.py"], suite(BROWSER, [])]
    for command in commands:
        code = subprocess.run(command, cwd=ROOT, env=environment).returncode
        if code != 0:
            return code
    return 0


def command_redeploy(arguments: argparse.Namespace) -> None:
    """Deploys the end-to-end tests' own system again, with these parameters instead of its own."""
    System("e2e").redeploy(dict(parameter.split("=", 1) for parameter in arguments.parameters))


def command_kill(_: argparse.Namespace) -> None:
    """Kills the functions of the end-to-end tests' own system."""
    System("e2e").kill_functions()


def command_env(arguments: argparse.Namespace) -> None:
    """Prints the environment variables of all deployed functions, one NAME=value a line, for `cargo lambda watch`."""
    import boto3

    emulator = System(arguments.system).require()
    os.environ.update(aws_environment(emulator.endpoint))
    variables: dict[str, str] = {}
    for page in boto3.client("lambda").get_paginator("list_functions").paginate():
        for function in page["Functions"]:
            if function["FunctionName"].startswith(f"{STACK}-"):
                variables |= function.get("Environment", {}).get("Variables", {})
    variables |= {name: value for name, value in aws_environment(emulator.endpoint).items() if name.startswith("AWS_")}
    if arguments.public_base_url:
        variables["PUBLIC_BASE_URL"] = arguments.public_base_url
    print("\n".join(f"{name}={value}" for name, value in sorted(variables.items()) if value))


def function_of(group: str) -> str:
    """The function of a log group: watch-tick of linklet-WatchTickLogs-1A2B3C4D5E6F."""
    name = group.removeprefix(f"{STACK}-").rsplit("-", 1)[0].removesuffix("Logs")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def command_logs(arguments: argparse.Namespace) -> None:
    """Prints the functions' log lines, and the emulator's warnings, as they come. Ends with Ctrl-C."""
    import boto3

    system = System(arguments.system)
    os.environ.update(aws_environment(system.require().endpoint))
    cloudwatch = boto3.client("logs")
    since = int((time.time() - arguments.minutes * 60) * 1000)
    printed: set[tuple[str, str, int, str]] = set()
    with open(system.log, errors="replace") as emulator_log, contextlib.suppress(KeyboardInterrupt):
        emulator_log.seek(0, os.SEEK_END)
        while True:
            events = []
            for page in cloudwatch.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=f"{STACK}-"):
                for group in (group["logGroupName"] for group in page["logGroups"]):
                    pages = cloudwatch.get_paginator("filter_log_events").paginate(logGroupName=group, startTime=since)
                    name = function_of(group)
                    events += [(event["timestamp"], name, event) for found in pages for event in found["events"]]
            for timestamp, name, event in sorted(events, key=lambda each: each[0]):
                line = event["message"].rstrip()
                key = (name, event["logStreamName"], timestamp, line)
                if key not in printed and not line.startswith(("START ", "END ", "REPORT ")):
                    print(f"{name:13} {line}", flush=True)
                printed.add(key)
            for line in emulator_log.readlines():
                if " WARNING " in line or " ERROR " in line:
                    print(f"{'emulator':13} {line.rstrip()}", flush=True)
            if not arguments.follow:
                return
            time.sleep(1)


def main() -> None:
    parser = argparse.ArgumentParser(description="Linklet's local system; see the Makefile")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, function: Callable[[argparse.Namespace], None], text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text)
        added.set_defaults(function=function)
        return added

    up = command("up", command_up, "build, start and deploy; idempotent")
    up.add_argument("--port", type=int, default=None, help=f"of the emulator, default {DEFAULT_PORT}")
    down = command("down", command_down, "stop the emulator and its functions")
    down.add_argument("--all", action="store_true", help="also what interrupted end-to-end runs left")
    command("url", command_url, "print the API's base URL")
    command("mails", command_mails, "print the mails that were sent")
    logs = command("logs", command_logs, "follow the logs (needs the emulator's Python)")
    logs.add_argument("--minutes", type=float, default=2, help="how far to look back")
    logs.add_argument("--system", choices=SYSTEMS, default=MEANT)
    logs.add_argument("--no-follow", dest="follow", action="store_false")
    env = command("env", command_env, "print the functions' variables (needs the emulator's Python)")
    env.add_argument("--public-base-url", default="")
    env.add_argument("--system", choices=SYSTEMS, default=MEANT)
    e2e = command("e2e", command_e2e, "run the end-to-end tests")
    chosen = e2e.add_mutually_exclusive_group()
    chosen.add_argument("--test", choices=["e2e", BROWSER, *LONG], help="this suite instead of e2e")
    chosen.add_argument("--long", action="store_true", help="the suites that disturb the system, one after another")
    e2e.add_argument("arguments", nargs=argparse.REMAINDER, help="passed to cargo test, or to pytest")
    redeploy = command("redeploy", command_redeploy, "deploy the end-to-end tests' system again, for a test of it")
    redeploy.add_argument("parameters", nargs="+", metavar="Name=Value", help="parameters of the template")
    command("kill", command_kill, "kill the functions of the end-to-end tests' system, for the same test")
    run = command("run", command_run, "run a program in the local system's environment")
    run.add_argument("program", nargs=argparse.REMAINDER)
    tools = command("install", command_install, "install pinned tools")
    tools.add_argument("tools", nargs="+", choices=sorted(path.stem for path in REQUIREMENTS.glob("*.txt")))

    arguments = parser.parse_args()
    try:
        arguments.function(arguments)
    except Failure as failure:
        say(str(failure))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
