"""Installs one of the benchmark's peers and says how it is started: `install.py node`, `install.py python`.

The last line on standard output is a JSON object with the members name, package_dir, command, env and versions. If the
peer can't be installed, that line says why instead, and the exit code is 3. A second run only copies the handler.
Nothing but Python's standard library is needed.
"""

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CANNOT_INSTALL = 3
NODE_AT_LEAST = 20
PYTHON_AT_LEAST = (3, 11)

# What aws-lambda-ric's installation calls to compile its native part and the curl it brings, with Debian's packages.
BUILD_TOOLS = {
    "autoreconf": "autoconf",
    "automake": "automake",
    "cmake": "cmake",
    "g++": "g++",
    "libtoolize": "libtool",
    "make": "make",
    "npm": "npm",
}

# What npm calls the ways in which a registry can't be reached.
NO_REGISTRY = {
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "ENOTFOUND",
    "ERR_SOCKET_TIMEOUT",
    "ETIMEDOUT",
}


class CannotInstall(Exception):
    """Something that the person at the keyboard can change; the text is one line and says how."""


# A peer, which is a redirect in another language, has the source of its handler, and a `fingerprint` that changes when another
# installation is necessary. `build` installs all but the handler into `home / "package"`, which exists and is empty, and `description`
# is what the harness needs besides name and package.


class Node:
    """Node, with aws-lambda-ric and version 3 of the AWS SDK."""

    name = "peer-node"
    handler = HERE / "node" / "index.mjs"
    manifest = HERE / "node" / "package.json"
    lock = HERE / "node" / "package-lock.json"

    def __init__(self) -> None:
        node = shutil.which("node")
        if node is None:
            raise CannotInstall(f"node is missing: install Node.js {NODE_AT_LEAST} or later")
        # The program itself, since what is on the PATH may be a version manager's script, which takes time to start.
        question = "process.execPath + ' ' + process.versions.node"
        asked = subprocess.run([node, "-p", question], capture_output=True, text=True)
        self.program, _, self.version = asked.stdout.strip().rpartition(" ")
        if asked.returncode != 0 or int(self.version.partition(".")[0]) < NODE_AT_LEAST:
            raise CannotInstall(f"Node.js {NODE_AT_LEAST} or later is needed, {node} is {self.version or 'broken'}")

    def fingerprint(self) -> str:
        return f"{self.program} {self.version} {self.manifest.read_text()} {self.lock.read_text()}"

    def build(self, home: Path, log: Path) -> None:
        self.check_build_tools()
        package = home / "package"
        for file in (self.manifest, self.lock):
            shutil.copy2(file, package)
        install = ["npm", "ci", "--omit=dev", "--no-audit", "--no-fund", "--fetch-retries=1"]
        # The compiler's output belongs into the log, and whoever forbids scripts in general wouldn't get a native part.
        scripts = ["--foreground-scripts", "--ignore-scripts=false"]
        code = run([*install, *scripts], log, cwd=package, env=os.environ | self.node_gyp_settings())
        client = package / "node_modules" / "aws-lambda-ric"
        if code != 0 or not (client / "dist" / "rapid-client.node").is_file():
            raise CannotInstall(f"{self.reason(log)}, see {log}")
        # curl's and its other sources, 150 MB. Its own script means to remove them, but only bash understands how.
        shutil.rmtree(client / "deps", ignore_errors=True)

    @staticmethod
    def check_build_tools() -> None:
        missing = [tool for tool in BUILD_TOOLS if shutil.which(tool) is None]
        if missing:
            tools, packages = ", ".join(missing), " ".join(BUILD_TOOLS[tool] for tool in missing)
            raise CannotInstall(
                f"aws-lambda-ric can't be compiled without {tools}; Debian and Ubuntu: apt-get install {packages}"
            )

    def node_gyp_settings(self) -> dict[str, str]:
        """This Python, and Node's headers if they are where most installations have them: no download then."""
        settings = {"npm_config_python": sys.executable}
        prefix = Path(self.program).resolve().parents[1]
        if (prefix / "include" / "node" / "node_api.h").is_file():
            settings["npm_config_nodedir"] = str(prefix)
        return settings

    @staticmethod
    def reason(log: Path) -> str:
        found = re.search(r"^npm (?:error|ERR!) code (\w+)", log.read_text(errors="replace"), re.MULTILINE)
        code = found[1] if found else ""
        if code in NO_REGISTRY:
            return f"the npm registry could not be reached ({code})"
        if code.startswith("E"):
            return f"npm ci failed ({code})"
        return "aws-lambda-ric could not be compiled"

    def description(self, home: Path) -> dict[str, Any]:
        package = home / "package"
        start = package / "node_modules" / "aws-lambda-ric" / "bin" / "index.mjs"
        return {
            # The client looks for a relative handler in the working directory, which is the harness's business.
            "command": [self.program, str(start), str(package / "index.handler")],
            "env": {"LAMBDA_TASK_ROOT": str(package), "_HANDLER": "index.handler"},
            "versions": {"node": self.version, **json.loads(self.manifest.read_text())["dependencies"]},
        }


class Python:
    """Python, with awslambdaric and boto3."""

    name = "peer-python"
    handler = HERE / "python" / "app.py"
    requirements = HERE / "python" / "requirements.txt"

    def __init__(self) -> None:
        self.version = ".".join(map(str, sys.version_info[:3]))
        if sys.version_info < PYTHON_AT_LEAST:
            wanted = ".".join(map(str, PYTHON_AT_LEAST))
            raise CannotInstall(f"Python {wanted} or later is needed, {sys.executable} is {self.version}")

    def fingerprint(self) -> str:
        return f"{sys.executable} {sys.version} {self.requirements.read_text()}"

    def build(self, home: Path, log: Path) -> None:
        # An environment of its own, so that nothing else that is installed on this machine is looked through or found.
        if run([sys.executable, "-m", "venv", "--clear", str(home / "venv")], log) != 0:
            raise CannotInstall(
                f"Python's venv module doesn't work (Debian and Ubuntu: apt-get install python3-venv), see {log}"
            )
        python, package = self.program(home), str(home / "package")
        pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--no-compile", "--require-hashes"]
        if run([*pip, "--target", package, "--requirement", str(self.requirements)], log) != 0:
            raise CannotInstall(f"pip could not install the packages (is the index reachable?), see {log}")
        # With bytecode it starts as from an image; outside the package, since a zip usually leaves it out.
        if run([python, "-m", "compileall", "-q", package], log, env=os.environ | self.bytecode(home)) != 0:
            raise CannotInstall(f"the packages could not be compiled to bytecode, see {log}")

    @staticmethod
    def program(home: Path) -> str:
        return str(home / "venv" / "bin" / "python")

    @staticmethod
    def bytecode(home: Path) -> dict[str, str]:
        return {"PYTHONPYCACHEPREFIX": str(home / "bytecode")}

    def description(self, home: Path) -> dict[str, Any]:
        package = str(home / "package")
        pinned = dict(re.findall(r"^([\w-]+)==([\w.]+)", self.requirements.read_text(), re.MULTILINE))
        return {
            "command": [self.program(home), "-m", "awslambdaric", "app.handler"],
            "env": {
                "LAMBDA_TASK_ROOT": package,
                "_HANDLER": "app.handler",
                "PYTHONPATH": package,
                **self.bytecode(home),
            },
            "versions": {"python": self.version, **{name: pinned[name] for name in ("boto3", "awslambdaric")}},
        }


PEERS: dict[str, type[Node] | type[Python]] = {"node": Node, "python": Python}


def run(command: list[str], log: Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> int:
    """Runs a command whose whole output goes to the end of the log."""
    with open(log, "a") as file:
        print("$", *command, file=file, flush=True)
        return subprocess.run(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT
        ).returncode


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One process at a time works in this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install(peer: Node | Python, home: Path) -> None:
    """Brings `home` to what the files here ask for, if it isn't there yet."""
    stamp, log, package = home / "installed", home / "install.log", home / "package"
    wanted = hashlib.sha256(f"{home} {Path(__file__).read_text()} {peer.fingerprint()}".encode()).hexdigest()
    with locked(home):
        if not (stamp.is_file() and stamp.read_text() == wanted):
            print(f"Installing {peer.name} (once) …", file=sys.stderr, flush=True)
            stamp.unlink(missing_ok=True)
            log.unlink(missing_ok=True)
            shutil.rmtree(package, ignore_errors=True)
            package.mkdir()
            peer.build(home, log)
            stamp.write_text(wanted)
        shutil.copy2(peer.handler, package)


def main() -> int:
    parser = argparse.ArgumentParser(description="Installs one of the benchmark's peers and says how it is started.")
    parser.add_argument("peer", choices=PEERS)
    arguments = parser.parse_args()
    home = ROOT / ".linklet" / "tools" / "peers" / arguments.peer
    try:
        peer = PEERS[arguments.peer]()
        install(peer, home)
    except CannotInstall as reason:
        print(f"peer-{arguments.peer}: {reason}")
        return CANNOT_INSTALL
    print(json.dumps({"name": peer.name, "package_dir": str(home / "package"), **peer.description(home)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
