"""Installs one of the benchmark's peers and says how it is started: `python3 -m tests.bench.peers.install node`, or `python`.

The last line on standard output is a JSON object with the members name, package_dir, command, env and versions. If the
peer can't be installed, that line says why instead, and the exit code is 3. A second run only copies the handler.
Nothing but Python's standard library is needed.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from infra.local.installer import TOOLS, Failure, check_python, once

HERE = Path(__file__).resolve().parent
CANNOT_INSTALL = 3
NODE_AT_LEAST = 20
# What aws-lambda-ric's installation calls to compile its native part and the curl it brings, with Debian's packages.
BUILD_TOOLS = {tool: tool for tool in ("automake", "cmake", "g++", "make", "npm")} | {"autoreconf": "autoconf", "libtoolize": "libtool"}
# What npm calls the ways in which a registry can't be reached.
NO_REGISTRY = ("EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "ERR_SOCKET_TIMEOUT", "ETIMEDOUT")

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
            raise Failure(f"node is missing: install Node.js {NODE_AT_LEAST} or later")
        # The program itself, since what is on the PATH may be a version manager's script, which takes time to start.
        question = "process.execPath + ' ' + process.versions.node"
        asked = subprocess.run([node, "-p", question], capture_output=True, text=True)
        self.program, _, self.version = asked.stdout.strip().rpartition(" ")
        if asked.returncode != 0 or int(self.version.partition(".")[0]) < NODE_AT_LEAST:
            raise Failure(f"Node.js {NODE_AT_LEAST} or later is needed, {node} is {self.version or 'broken'}")

    def fingerprint(self) -> str:
        return f"{self.program} {self.version} {self.manifest.read_text()} {self.lock.read_text()}"

    def build(self, home: Path, log: Path) -> None:
        if missing := [tool for tool in BUILD_TOOLS if shutil.which(tool) is None]:
            packages = " ".join(BUILD_TOOLS[tool] for tool in missing)
            raise Failure(f"aws-lambda-ric can't be compiled without {', '.join(missing)}; Debian and Ubuntu: apt-get install {packages}")
        package = home / "package"
        for file in (self.manifest, self.lock):
            shutil.copy2(file, package)
        # The compiler's output belongs into the log, and whoever forbids scripts in general wouldn't get a native part.
        scripts = ["--foreground-scripts", "--ignore-scripts=false"]
        install = ["npm", "ci", "--omit=dev", "--no-audit", "--no-fund", "--fetch-retries=1", *scripts]
        code = run(install, log, cwd=package, env=os.environ | self.node_gyp_settings())
        client = package / "node_modules" / "aws-lambda-ric"
        if code != 0 or not (client / "dist" / "rapid-client.node").is_file():
            raise Failure(f"{self.reason(log)}, see {log}")
        # curl's and its other sources, 150 MB. Its own script means to remove them, but only bash understands how.
        shutil.rmtree(client / "deps", ignore_errors=True)

    def node_gyp_settings(self) -> dict[str, str]:
        """This Python, and Node's headers if they are where most installations have them: no download then."""
        prefix = Path(self.program).resolve().parents[1]
        has_headers = (prefix / "include" / "node" / "node_api.h").is_file()
        return {"npm_config_python": sys.executable} | ({"npm_config_nodedir": str(prefix)} if has_headers else {})

    @staticmethod
    def reason(log: Path) -> str:
        found = re.search(r"^npm (?:error|ERR!) code (E\w+)", log.read_text(errors="replace"), re.MULTILINE)
        if found is None:
            return "aws-lambda-ric could not be compiled"
        return f"the npm registry could not be reached ({found[1]})" if found[1] in NO_REGISTRY else f"npm ci failed ({found[1]})"

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
        check_python()

    def fingerprint(self) -> str:
        return f"{sys.executable} {sys.version} {self.requirements.read_text()}"

    def build(self, home: Path, log: Path) -> None:
        # An environment of its own, so that nothing else that is installed on this machine is looked through or found.
        if run([sys.executable, "-m", "venv", "--clear", str(home / "venv")], log) != 0:
            raise Failure(f"Python's venv module doesn't work (Debian and Ubuntu: apt-get install python3-venv), see {log}")
        python, package = self.program(home), str(home / "package")
        pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--no-compile", "--require-hashes"]
        if run([*pip, "--target", package, "--requirement", str(self.requirements)], log) != 0:
            raise Failure(f"pip could not install the packages (is the index reachable?), see {log}")
        # With bytecode it starts as from an image; outside the package, since a zip usually leaves it out.
        if run([python, "-m", "compileall", "-q", package], log, env=os.environ | self.bytecode(home)) != 0:
            raise Failure(f"the packages could not be compiled to bytecode, see {log}")

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
            "env": {"LAMBDA_TASK_ROOT": package, "_HANDLER": "app.handler", "PYTHONPATH": package, **self.bytecode(home)},
            "versions": {"python": sys.version.split()[0], **{name: pinned[name] for name in ("boto3", "awslambdaric")}},
        }


PEERS: dict[str, type[Node] | type[Python]] = {"node": Node, "python": Python}


def run(command: list[str], log: Path, **options: Any) -> int:
    """Runs a command whose whole output goes to the end of the log."""
    with open(log, "a") as file:
        print("$", *command, file=file, flush=True)
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, **options).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description="Installs one of the benchmark's peers and says how it is started.")
    parser.add_argument("peer", choices=PEERS)
    arguments = parser.parse_args()
    home = TOOLS / "peers" / arguments.peer
    package = home / "package"

    def fill() -> None:
        package.mkdir()
        peer.build(home, home / "install.log")

    try:
        peer = PEERS[arguments.peer]()
        once(home, peer.name, f"{home} {Path(__file__).read_text()} {peer.fingerprint()}".encode(), fill)
    except Failure as reason:
        print(f"peer-{arguments.peer}: {reason}")
        return CANNOT_INSTALL
    shutil.copy2(peer.handler, package)
    print(json.dumps({"name": peer.name, "package_dir": str(package), **peer.description(home)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
