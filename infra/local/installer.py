"""Installs what the Makefile's tools need, pinned by `infra/requirements`, once per version under `.linklet/tools`.

Only Python's standard library is needed to start, so everything else can import this.
"""

import contextlib
import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".linklet" / "tools"
REQUIREMENTS = ROOT / "infra" / "requirements"
PYTHON_AT_LEAST = (3, 11)
NODE_AT_LEAST = 18
JAVA_AT_LEAST = 17


class Failure(Exception):
    """Something that the person at the keyboard can fix; the text says how."""


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def end_of(log: Path) -> str:
    """For a message about what has failed."""
    return f"The end of {shown(log)}:\n" + "\n".join(log.read_text(errors="replace").splitlines()[-30:])


def end_with(program: Callable[[], int | None]) -> NoReturn:
    """Runs it and exits with its code, or with a line about what can be fixed."""
    try:
        sys.exit(program())
    except Failure as failure:
        say(str(failure))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


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


def missing_node() -> str | None:
    """What this machine lacks of Node.js, if anything."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return "Node.js with npm is missing"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    found = re.match(r"v(\d+)\.", version)
    if found is None or int(found[1]) < NODE_AT_LEAST:
        return f"Node.js {NODE_AT_LEAST} or later is needed, this is {version.strip()}"
    return None


def java() -> Path | str | None:
    """A Java that can compile, or None."""
    home = os.environ.get("JAVA_HOME")
    program = Path(home) / "bin" / "java" if home else shutil.which("java")
    try:
        answer = subprocess.run([program or "java", "--list-modules"], capture_output=True, text=True)
    except OSError:
        return None
    compiler = re.search(r"^jdk\.compiler@(\d+)", answer.stdout, re.MULTILINE)
    return program if compiler and int(compiler[1]) >= JAVA_AT_LEAST else None


def missing_java() -> str | None:
    """What this machine lacks to install and run jars, if anything."""
    if java() is None:
        return f"no JDK {JAVA_AT_LEAST} or later is installed"
    return "Maven is not installed" if shutil.which("mvn") is None else None


@contextlib.contextmanager
def locked(folder: Path, otherwise: str = "") -> Iterator[None]:
    """One process at a time works in this folder. Others wait, or fail with this message."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (fcntl.LOCK_NB if otherwise else 0))
        except BlockingIOError:
            raise Failure(otherwise) from None
        yield


def once(home: Path, what: str, pinned: bytes, fill: Callable[[], None]) -> Path:
    """The folder that `fill` fills, which it does once per version of what is pinned."""
    stamp = home / "installed"
    wanted = hashlib.sha256(pinned).hexdigest()

    def is_there() -> bool:
        return stamp.is_file() and stamp.read_text() == wanted

    if is_there():
        return home
    with locked(TOOLS):
        if not is_there():  # another process may have been faster
            say(f"Installing {what} (once) …")
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True)
            fill()
            stamp.write_text(wanted)
    return home


def fetch(what: str, source: str, command: list[str | Path], **options: Any) -> None:
    if subprocess.run(command, **options).returncode != 0:
        raise Failure(f"Installing {what} failed (see above). Is {source} or your own mirror reachable?")


def install(tool: str, python: str | None = None) -> Path:
    """An environment with the Python packages of `infra/requirements/<tool>.txt`, of this Python or another one."""
    check_python()
    requirements = REQUIREMENTS / f"{tool}.txt"
    # Scripts of an environment name its real folder, which several working copies can have by a link.
    home = (TOOLS / tool).resolve()
    pip: list[str | Path] = [home / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]

    def fill() -> None:
        subprocess.run([python or sys.executable, "-m", "venv", home], check=True)
        # The file has all that is needed. Left to itself, pip looks for other versions of a package that another one wants
        # with extras, and refuses them, since they have no hash.
        pinned = ["--require-hashes", "--no-deps", "--requirement", requirements]
        fetch(tool, "https://pypi.org", [*pip, "install", "--quiet", *pinned])
        check = subprocess.run([*pip, "check"], capture_output=True, text=True)
        if check.returncode != 0:
            raise Failure(f"{requirements.name} is incomplete:\n{check.stdout}")

    return once(home, tool, requirements.read_bytes() + f"{python or sys.version}\n{home}".encode(), fill)


def install_modules() -> Path:
    """The folder with the Node.js modules that the lock file in `infra/requirements/node` pins."""
    home = TOOLS / "node"
    files = [REQUIREMENTS / "node" / file for file in ("package.json", "package-lock.json")]

    def fill() -> None:
        for file in files:
            shutil.copy(file, home)
        command = ["npm", "ci", "--ignore-scripts", "--engine-strict", "--no-audit", "--no-fund", "--loglevel=error"]
        fetch("modules of Node.js", "https://registry.npmjs.org", command, cwd=home, stdout=subprocess.DEVNULL)

    return once(home, "modules of Node.js", b"".join(file.read_bytes() for file in files), fill) / "node_modules"


def install_crate(crate: str) -> Path:
    """The folder with a program of crates.io, such as name@1.0.0, built of what its own lock file pins."""
    home = TOOLS / crate.partition("@")[0]
    command = ["cargo", "install", "--quiet", "--locked", "--root", home, crate]
    return once(home, crate, crate.encode(), lambda: fetch(crate, "https://crates.io", command))


def install_jars(name: str, what: str) -> Path:
    """The folder with the jars of the POM `infra/requirements/<name>.xml`, whose hashes are beside it."""
    home = TOOLS / name
    pom = REQUIREMENTS / f"{name}.xml"
    pinned = REQUIREMENTS / f"{name}.sha256"  # as `sha256sum` writes it and reads it

    def fill() -> None:
        maven = ["mvn", "--batch-mode", "--quiet", "--strict-checksums", "--file", pom, "dependency:copy-dependencies"]
        fetch(what, "Maven Central", [*maven, "-DincludeTypes=jar", f"-DoutputDirectory={home}"])
        # Maven compares a jar only with the checksum that it gets from the same place, which whoever replaces the jar
        # replaces as well.
        wanted = {(name, digest) for digest, name in map(str.split, pinned.read_text().splitlines())}
        found = {(jar.name, hashlib.sha256(jar.read_bytes()).hexdigest()) for jar in home.glob("*.jar")}
        if found != wanted:
            names = ", ".join(sorted({name for name, _ in found ^ wanted}))
            raise Failure(f"These jars are not those of {shown(pinned)}: {names}.")

    return once(home, what, pom.read_bytes() + pinned.read_bytes(), fill)
