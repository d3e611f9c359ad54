"""The local system: the real template, deployed with the real `sam deploy` to an AWS emulator on loopback.

What it writes (process id, logs, the emulator's working files) is under `.linklet/local`, or for the tests' own systems under
`.linklet/e2e` and `.linklet/e2e-sam`. The emulator keeps its data in memory: `make down`, a reboot or a crash ends it, and the
next `make up` starts from an empty system. A second `make up` over a running one keeps the data and deploys only if something
changed.
"""

import contextlib
import hashlib
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from ..release import lay_out, zip_bootstrap
from .client import send
from .installer import REQUIREMENTS, ROOT, Failure, check_cargo, check_python, end_of, install, locked, say, shown

# What is deployed, as a release: sam finds its settings and the packages there, and no `.aws-sam` that `sam build` has left.
LOCAL = ROOT / "target" / "local"
PACKAGES = LOCAL / "functions"
EMULATOR = ROOT / "infra" / "local" / "emulator.py"
TEMPLATES = [ROOT / "template.yaml", ROOT / "infra" / "observability.yaml"]
DEFAULT_PORT = 4566
REGION = "us-east-1"
STACK = "linklet"
# That of `make up`, that of `make e2e`, that of `make e2e-sam`, and that of `make upgrade`.
SYSTEMS = ["local", "e2e", "e2e-sam", "upgrade"]
# That of `make up`, unless the tests of the Makefile say that theirs is meant.
MEANT = os.environ.get("LINKLET_SYSTEM", "local")


def build(beside_tests: bool) -> None:
    """Builds the functions and packs each. Beside tests they have the features that tests bring into
    their dependencies, so that nothing which was built for the tests is built again."""
    check_cargo()
    names = sorted(path.parent.name for path in ROOT.glob("functions/*/Cargo.toml"))
    packages = [argument for name in names for argument in ("--package", name)]
    selection = ["--workspace", "--test", "logs"] if beside_tests else packages
    if subprocess.run(["cargo", "build", "--bins", *selection], cwd=ROOT).returncode != 0:
        raise Failure("The build failed, see above.")
    target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda name: pack(target / "debug" / name, PACKAGES / f"{name}.zip"), names))


def pack(executable: Path, package: Path) -> None:
    """Zips an executable without its symbols, unless that was done since it was built. `sam deploy` uploads a file as it
    is, and only if it has not done so, where it would zip a folder each time."""
    built = executable.stat().st_mtime_ns
    if package.is_file() and package.stat().st_mtime_ns == built:
        return
    PACKAGES.mkdir(parents=True, exist_ok=True)
    stripped, zipped = package.with_suffix(".stripped"), package.with_suffix(".zipped")
    subprocess.run(["strip", "-o", stripped, executable], check=True)
    zip_bootstrap(stripped.read_bytes(), zipped, level=1)
    stripped.unlink()
    os.utime(zipped, ns=(built, built))
    zipped.replace(package)


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
    answer = subprocess.run(["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, env=environment)
    state, _, started = answer.stdout.strip().partition(" ")
    return started.strip() if started and not state.startswith("Z") else None


def get_status(url: str) -> int | None:
    try:
        return send("GET", url, timeout=5).status
    except (OSError, HTTPException):
        return None


def local_parameters() -> dict[str, str]:
    """The template's parameters in samconfig.toml's local environment, for this machine's processor."""
    import tomllib

    config = tomllib.loads((ROOT / "samconfig.toml").read_text())
    overrides = config["local"]["deploy"]["parameters"]["parameter_overrides"]
    architecture = "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64"
    return dict(override.split("=", 1) for override in overrides) | {"Architecture": architecture}


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

    def running(self) -> Emulator | None:
        with contextlib.suppress(FileNotFoundError, ValueError, TypeError):
            emulator = Emulator(**json.loads(self.record.read_text()))
            return emulator if emulator.runs() else None
        return None

    def require(self) -> Emulator:
        emulator = self.running()
        if emulator is None or not self.deployed.is_file():
            raise Failure("Linklet is not running here. Start it with `make up`.")
        return emulator

    def environment(self, emulator: Emulator) -> dict[str, str]:
        """For a program that talks to this system: its API, its AWS endpoint, its stack."""
        own = {"API_URL": emulator.api_url, "STACK_NAME": STACK}
        return without_aws(dict(os.environ)) | aws_environment(emulator.endpoint) | own

    def up(self, port: int | None, variables: dict[str, str] | None = None) -> Emulator:
        """Builds, starts and deploys what isn't there yet. A newly started emulator hands `variables` to the functions."""
        check_python()
        check_cargo()
        if self.running() is None:
            check_port(port or DEFAULT_PORT)  # now, and not after minutes of building
        with ThreadPoolExecutor() as pool:
            tools = {tool: pool.submit(install, tool) for tool in ("emulator", "sam")}  # which mostly waits for downloads
            build(beside_tests=self.folder.name != "local")
        with locked(self.folder):
            emulator = self.running()
            if emulator and port not in (None, emulator.port):
                raise Failure(f"Linklet already runs on port {emulator.port}. `make down` first to move it.")
            if emulator and not (emulator.answers() and emulator.version == emulator_version()):
                say("The emulator doesn't answer, or was updated; starting a new one.")
                emulator = None
            if emulator is None:
                self.stop()
                emulator = self.start(tools["emulator"].result(), port or DEFAULT_PORT, variables or {})
            parameters = self.parameters(emulator)
            wanted = self.digest(parameters)
            if not (self.deployed.is_file() and self.deployed.read_text() == wanted):
                self.deploy(tools["sam"].result(), emulator, parameters)
                self.deployed.write_text(wanted)
            if subprocess.run(self.command_about_functions("update"), cwd=ROOT).returncode != 0:
                raise Failure("The functions could not be updated, see above. `make up` tries it again.")
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
        return local_parameters() | {"PublicBaseUrl": emulator.api_url}

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
                [home / "bin" / "python", EMULATOR], cwd=self.scratch, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,  # survives this shell, and can be ended together with its functions
            )
        emulator = Emulator(process.pid, start_time(process.pid) or "", port, emulator_version())
        self.record.write_text(json.dumps(vars(emulator)))
        if not wait_until(lambda: emulator.answers() or process.poll() is not None, seconds=60) or process.poll() is not None:
            self.stop()
            raise Failure(f"The emulator did not start. {end_of(self.log)}")
        return emulator

    def digest(self, parameters: dict[str, str]) -> str:
        """Of all that `sam deploy` depends on, except the functions' code."""
        files = [*TEMPLATES, ROOT / "samconfig.toml", REQUIREMENTS / "sam.txt"]
        texts = [json.dumps(parameters, sort_keys=True).encode(), *(path.read_bytes() for path in files)]
        return hashlib.sha256(b"\n".join(texts)).hexdigest()

    def deploy(self, home: Path, emulator: Emulator, parameters: dict[str, str]) -> None:
        first = not self.deployed.is_file()
        say("Deploying …")
        lay_out(LOCAL)
        overrides = [f"{name}={value}" for name, value in parameters.items()]
        command = [str(home / "bin" / "sam"), "deploy", "--template-file", str(LOCAL / "template.yaml"), "--config-env", "local"]
        command += ["--parameter-overrides", *overrides]
        environment = self.environment(emulator) | {"SAM_CLI_TELEMETRY": "0", "__SAM_CLI_APP_DIR": str(self.scratch)}
        with open(self.deploy_log, "w") as log:
            ended = subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if ended.returncode != 0:
            if first:
                self.stop()  # a stack that was never created can't be updated; the next attempt starts afresh
            raise Failure(f"The deployment failed. {end_of(self.deploy_log)}")

    def await_health(self, emulator: Emulator) -> None:
        health = f"{emulator.api_url}/health"
        if not wait_until(lambda: get_status(health) == 200, seconds=60):
            raise Failure(f"GET {health} answers {get_status(health)}. See `make logs` and {shown(self.log)}.")

    def command_about_functions(self, *arguments: str) -> list[str | Path]:
        """It needs boto3, which the emulator's Python has."""
        return [install("emulator") / "bin" / "python", "-m", "infra.local.functions", "--system", self.folder.name, *arguments]

    def keep_function_logs(self) -> None:
        """Saves what the functions logged, which otherwise ends with the emulator."""
        kept = self.folder / "functions.log"
        with open(kept, "w") as file:
            subprocess.run(self.command_about_functions("logs", "--no-follow", "--minutes", "60"), cwd=ROOT, stdout=file)
        say(f"Logs of this run: {shown(kept)}, {shown(self.log)}")

    def down(self) -> bool:
        with locked(self.folder):
            return self.stop()

    def stop(self) -> bool:
        """Ends the emulator and every function it started, and forgets what was deployed. Logs stay."""
        emulator = self.running()
        for number in (signal.SIGTERM, signal.SIGKILL):
            if emulator and emulator.runs():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(emulator.pid, number)
                wait_until(lambda: not emulator.runs(), seconds=10)
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


def wait_until(condition: Callable[[], object], seconds: float) -> bool:
    """Whether it has come about."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


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
